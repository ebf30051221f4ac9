//! What came of tests, as JUnit XML: what Jenkins, GitLab and others show.
//!
//! A program is a `testsuite`; a test's class is the program and its groups. What is wrong with a program itself is an
//! `error` of a test that has the program's name.

use super::events::Kind;
use super::outcome::{Came, Case, Outcome};
use super::report;
use std::fmt::Write as _;
use std::time::Duration;

/// The whole document.
pub(super) fn document(outcomes: &[Outcome], time: Duration) -> String {
    let suites: Vec<&Outcome> = outcomes.iter().filter(|o| !o.cases.is_empty() || o.failed()).collect();
    let sum = |of: fn(&Outcome) -> usize| suites.iter().map(|o| of(o)).sum::<usize>();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuites name=\"cairn\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\">",
        sum(tests),
        sum(failures),
        sum(errors),
        sum(skipped),
        seconds(time)
    );
    suites.iter().for_each(|o| suite(o, &mut out));
    out + "</testsuites>\n"
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

fn suite(o: &Outcome, out: &mut String) {
    let _ = writeln!(
        out,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\">",
        escaped(&o.program),
        tests(o),
        failures(o),
        errors(o),
        skipped(o),
        seconds(o.time)
    );
    o.cases.iter().for_each(|c| case(o, c, out));
    for problem in &o.problems {
        let (program, problem) = (escaped(&o.program), escaped(problem));
        let _ = writeln!(out, "    <testcase name=\"{program}\" classname=\"{program}\" time=\"0\">");
        let _ = writeln!(out, "      <error message=\"the program {problem}\"/>");
        out.push_str("    </testcase>\n");
    }
    if !o.output.is_empty() {
        let _ = writeln!(out, "    <system-out>{}</system-out>", escaped(&o.output));
    }
    out.push_str("  </testsuite>\n");
}

fn case(o: &Outcome, c: &Case, out: &mut String) {
    let class: Vec<&str> =
        std::iter::once(o.program.as_str()).chain(c.groups.iter().map(|g| g.as_str())).collect();
    let (name, class) = (escaped(&c.name), escaped(&class.join(".")));
    let place =
        c.place.as_ref().map_or(String::new(), |p| format!(" file=\"{}\" line=\"{}\"", escaped(&p.file), p.line));
    let _ = write!(out, "    <testcase name=\"{name}\" classname=\"{class}\"{place} time=\"{}\"", seconds(c.time));
    if c.failed() {
        let why = report::why(c);
        let message = why.lines().map(str::trim).filter(|l| *l != "^").take(2).collect::<Vec<&str>>().join("; ");
        let place = c.place.as_ref().map_or(String::new(), |p| format!("{}:{}\n", p.file, p.line));
        let _ = writeln!(
            out,
            ">\n      <failure message=\"{}\">{}</failure>",
            escaped(&message),
            escaped(&(place + &why))
        );
        out.push_str("    </testcase>\n");
    } else if c.came == Came::Of(Kind::Skip) {
        out.push_str(">\n      <skipped/>\n    </testcase>\n");
    } else {
        out.push_str("/>\n");
    }
}

/// Text for XML, in attributes too. Characters that XML does not have become U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => out.push(c),
            _ => out.push('\u{fffd}'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn text_is_escaped() {
        assert_eq!(
            super::escaped("<a b=\"c\">&\n\u{1}λ\u{fffe}"),
            "&lt;a b=&quot;c&quot;&gt;&amp;&#10;\u{fffd}λ\u{fffd}"
        );
    }
}
