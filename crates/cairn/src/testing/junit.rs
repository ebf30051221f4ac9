//! What came of tests, as JUnit XML: what Jenkins, GitLab and others show.
//!
//! A program is a `testsuite`; a test's class is the program and its groups. What is wrong with a program itself is an
//! `error` of a test that has the program's name.

use super::events::Kind;
use super::outcome::{Came, Case, Outcome};
use super::report;
use cairn_html::{Html, add, html, xml};
use std::time::Duration;

/// The whole document.
pub(super) fn document(outcomes: &[Outcome], time: Duration) -> String {
    let suites: Vec<&Outcome> = outcomes.iter().filter(|o| !o.cases.is_empty() || o.failed()).collect();
    let sum = |of: fn(&Outcome) -> usize| suites.iter().map(|o| of(o)).sum::<usize>();
    let mut out = html!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    add!(
        out,
        "<testsuites name=\"cairn\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\">\n",
        sum(tests),
        sum(failures),
        sum(errors),
        sum(skipped),
        seconds(time)
    );
    suites.iter().for_each(|o| suite(o, &mut out));
    add!(out, "</testsuites>\n");
    out.into()
}

fn tests(o: &Outcome) -> usize {
    o.cases.len() + errors(o)
}

fn failures(o: &Outcome) -> usize {
    o.count(Case::failed)
}

fn errors(o: &Outcome) -> usize {
    o.problems.len()
}

fn skipped(o: &Outcome) -> usize {
    o.count(|c| c.came == Came::Of(Kind::Skip))
}

fn seconds(time: Duration) -> String {
    format!("{:.6}", time.as_secs_f64())
}

fn suite(o: &Outcome, out: &mut Html) {
    add!(
        out,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\">\n",
        xml(&o.program),
        tests(o),
        failures(o),
        errors(o),
        skipped(o),
        seconds(o.time)
    );
    o.cases.iter().for_each(|c| case(o, c, out));
    for problem in &o.problems {
        let program = xml(&o.program);
        add!(out, "    <testcase name=\"{}\" classname=\"{}\" time=\"0\">\n", program, program);
        add!(out, "      <error message=\"the program {}\"/>\n    </testcase>\n", xml(problem));
    }
    if !o.output.is_empty() {
        add!(out, "    <system-out>{}</system-out>\n", xml(&o.output));
    }
    add!(out, "  </testsuite>\n");
}

fn case(o: &Outcome, c: &Case, out: &mut Html) {
    let class: Vec<&str> =
        std::iter::once(o.program.as_str()).chain(c.groups.iter().map(|g| g.as_str())).collect();
    let place = c.place.as_ref().map(|p| html!(" file=\"{}\" line=\"{}\"", xml(&p.file), p.line));
    let (name, class, time) = (xml(&c.name), xml(&class.join(".")), seconds(c.time));
    add!(out, "    <testcase name=\"{}\" classname=\"{}\"{} time=\"{}\"", name, class, place, time);
    if c.failed() {
        let why = report::why(c);
        let message = why.lines().map(str::trim).filter(|l| *l != "^").take(2).collect::<Vec<&str>>().join("; ");
        let place = c.place.as_ref().map_or(String::new(), |p| format!("{}:{}\n", p.file, p.line));
        add!(out, ">\n      <failure message=\"{}\">{}</failure>\n", xml(&message), xml(&(place + &why)));
        add!(out, "    </testcase>\n");
    } else if c.came == Came::Of(Kind::Skip) {
        add!(out, ">\n      <skipped/>\n    </testcase>\n");
    } else {
        add!(out, "/>\n");
    }
}
