//! What `cairn test` says on the terminal.
//!
//! ```text
//!     PASS  0.031 s  list-test.scm: 12 tests
//!     FAIL  0.022 s  text-test.scm: 1 of 5 tests failed
//!
//! text-test.scm: words: upcase
//!  --> text-test.scm:12:29
//!    |
//! 12 |   (test-equal "upcase" "ABC" (upcase "abd"))
//!    |                              ^^^^^^^^^^^^^^
//!   expected: "ABC"
//!        got: "ABD"
//!                ^
//! ```

use super::chosen::Tests;
use super::events::{Kind, Place};
use super::outcome::{Came, Case, Outcome};
use crate::diagnostics::excerpt;
use std::fmt::Write as _;
use std::time::Duration;

/// Escape sequences, or none.
struct Style {
    good: &'static str,
    bad: &'static str,
    dull: &'static str,
    bold: &'static str,
    reset: &'static str,
}

impl Style {
    fn of(tests: &Tests) -> Style {
        if tests.color {
            Style { good: "\x1b[1;32m", bad: "\x1b[1;31m", dull: "\x1b[33m", bold: "\x1b[1m", reset: "\x1b[0m" }
        } else {
            Style { good: "", bad: "", dull: "", bold: "", reset: "" }
        }
    }
}

/// The names of a program's tests, a line each.
pub(super) fn listed(outcome: &Outcome) -> String {
    let mut out = format!("{}\n", outcome.program);
    for case in outcome.cases.iter().filter(|c| c.came == Came::Listed) {
        let _ = writeln!(out, "    {}", one_line(&case.name));
    }
    for problem in &outcome.problems {
        let _ = writeln!(out, "    (the program {problem})");
    }
    out
}

/// What came of a program.
pub(super) fn program(outcome: &Outcome, tests: &Tests) -> String {
    let style = Style::of(tests);
    let nothing = outcome.cases.is_empty() && !outcome.failed();
    if outcome.filtered && nothing {
        return String::new();
    }
    let (word, color) = match () {
        _ if outcome.failed() => ("FAIL", style.bad),
        _ if outcome.interrupted => ("STOP", style.dull),
        _ => ("PASS", style.good),
    };
    let mut out = line(word, color, &style, outcome.time, &format!("{}: {}", outcome.program, counts(outcome)));
    if tests.verbose {
        for case in &outcome.cases {
            let (word, color) = match case.came {
                Came::Of(Kind::Pass | Kind::XFail) => ("pass", style.good),
                Came::Of(Kind::Skip) | Came::Listed => ("skip", style.dull),
                _ => ("fail", style.bad),
            };
            out += &line(word, color, &style, case.time, &format!("  {}", one_line(&case.full_name())));
        }
    }
    if outcome.failed() {
        outcome.cases.iter().filter(|c| c.failed()).for_each(|c| out += &failure(outcome, c, &style, tests.color));
        for problem in &outcome.problems {
            let _ = write!(out, "\n{}{}{}: the program {problem}\n", style.bold, outcome.program, style.reset);
        }
    }
    if outcome.failed() || tests.verbose {
        out += &output(outcome, tests.verbose);
    }
    if outcome.failed() {
        out.push('\n');
    }
    out
}

fn line(word: &str, color: &str, style: &Style, time: Duration, text: &str) -> String {
    format!("    {color}{word}{} {:>7.3} s  {text}\n", style.reset, time.as_secs_f64())
}

/// "3 tests", "1 of 3 tests failed", and what is unusual.
fn counts(outcome: &Outcome) -> String {
    let all = outcome.cases.len();
    let failed = outcome.count(Case::failed);
    if all == 0 && outcome.failed() {
        return "no test has run".to_string();
    }
    let mut text = match failed {
        1 if all == 1 => "1 test failed".to_string(),
        0 => plural(all, "test"),
        _ => format!("{failed} of {} failed", plural(all, "test")),
    };
    let unusual = [(Kind::Skip, "skipped"), (Kind::XFail, "failed as expected")];
    for (kind, what) in unusual {
        match outcome.count(|c| c.came == Came::Of(kind)) {
            0 => {}
            n => {
                let _ = write!(text, ", {n} {what}");
            }
        }
    }
    text
}

fn plural(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// A text on one line, without what a terminal might obey.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Why a test has failed.
fn failure(outcome: &Outcome, case: &Case, style: &Style, color: bool) -> String {
    let name = match one_line(&case.full_name()) {
        name if name == outcome.program => name,
        name => format!("{}: {name}", outcome.program),
    };
    let mut out = format!("\n{}{name}{}\n", style.bold, style.reset);
    if let Some(place) = &case.place {
        out += &shown(place, color);
    }
    out += &why(case);
    out
}

/// The place in its text.
fn shown(place: &Place, color: bool) -> String {
    let text = std::fs::read_to_string(&place.file).ok().filter(|t| t.get(place.bytes.0..place.bytes.1).is_some());
    match text {
        Some(text) => excerpt(&place.file, &text, place.bytes.0..place.bytes.1, color),
        None => format!(" --> {}:{}", place.file, place.line) + "\n",
    }
}

/// Why a test has failed, without its place.
pub(super) fn why(case: &Case) -> String {
    let mut out = String::new();
    match case.came {
        Came::Died => out += "  the program ended in the midst of this test\n",
        Came::Of(Kind::XPass) => out += "  it passed, but was expected to fail\n",
        _ => {}
    }
    for (_, problem) in case.facts.iter().filter(|(name, _)| name == "problem") {
        let _ = writeln!(out, "  the program {problem}");
    }
    if case.came == Came::Of(Kind::XPass) {
        return out;
    }
    let report = case.fact("report");
    let (expected, got) = (case.fact("expected-value"), case.fact("actual-value"));
    match (expected, case.fact("expected-error"), got) {
        (Some(expected), _, Some(got)) => out += &compared(expected, got),
        (Some(expected), _, None) => out += &value("expected", expected),
        (None, Some(kind), got) => {
            let kind =
                if kind == "#t" { "an error".to_string() } else { format!("an error that satisfies {kind}") };
            out += &value("expected", &kind);
            if let Some(got) = got {
                out += &value("got", &format!("no error, but {got}"));
            }
        }
        (None, None, Some(got)) => {
            out += &value("expected", "any value but #f");
            out += &value("got", got);
        }
        _ => {}
    }
    if let Some(report) = report {
        report.lines().for_each(|l| {
            let _ = writeln!(out, "  {l}");
        });
    }
    out
}

/// Columns for the name of a value.
const NAMES: usize = 10;
/// Characters of a value before the first difference that are shown.
const BEFORE: usize = 50;
/// Characters of a value that are shown.
const WIDEST: usize = 2000;

fn value(name: &str, text: &str) -> String {
    let mut lines = text.lines();
    let mut out = format!("{name:>NAMES$}: {}\n", cut(lines.next().unwrap_or("")));
    for line in lines {
        let _ = writeln!(out, "{:NAMES$}  {}", "", cut(line));
    }
    out
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}… ({} characters)", one_line(&line[..end]), line.chars().count()),
        None => one_line(line),
    }
}

/// Two values, one above the other, and a mark where they begin to differ, if that is not at once.
fn compared(expected: &str, got: &str) -> String {
    let same = expected.chars().zip(got.chars()).take_while(|(a, b)| a == b).count();
    let is_line = |text: &str| !text.contains('\n');
    if !is_line(expected) || !is_line(got) || same < 2 {
        return value("expected", expected) + &value("got", got);
    }
    let from = if same > BEFORE + 20 { same - BEFORE } else { 0 };
    let start = if from > 0 { "…" } else { "" };
    let part = |text: &str| format!("{start}{}", text.chars().skip(from).collect::<String>());
    let mut out = value("expected", &part(expected)) + &value("got", &part(got));
    let _ = writeln!(out, "{:1$}^", "", NAMES + 2 + start.chars().count() + same - from);
    out
}

/// Lines of output that are shown.
const LINES: usize = 100;

/// What the program printed.
fn output(outcome: &Outcome, all: bool) -> String {
    let text = outcome.output.trim_end();
    if text.is_empty() {
        return String::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let left_out = if all { 0 } else { lines.len().saturating_sub(LINES) };
    let mut out = format!("\n  {} prints:\n", outcome.program);
    if left_out > 0 {
        let _ = writeln!(out, "  | … {left_out} lines before; --verbose shows them");
    }
    for line in &lines[left_out..] {
        let _ = writeln!(out, "  | {}", cut(&line.replace('\t', "    ")));
    }
    out
}

/// How many of what, in all, and what has failed.
pub(super) fn summary(outcomes: &[Outcome], left: usize, time: Duration, tests: &Tests) -> String {
    let style = Style::of(tests);
    let count = |is_it: &dyn Fn(&Case) -> bool| outcomes.iter().map(|o| o.count(is_it)).sum::<usize>();
    let ran: Vec<&Outcome> =
        outcomes.iter().filter(|o| !o.cases.is_empty() || o.failed() || !o.filtered).collect();
    let (all, failed) = (count(&|_| true), count(&Case::failed));
    let broken = ran.iter().filter(|o| o.failed()).count();
    let mut parts = vec![format!("{} passed", count(&|c| c.came == Came::Of(Kind::Pass)))];
    let mut add = |n: usize, what: &str| {
        if n > 0 {
            parts.push(format!("{n} {what}"));
        }
    };
    add(failed, "failed");
    add(count(&|c| c.came == Came::Of(Kind::Skip)), "skipped");
    add(count(&|c| c.came == Came::Of(Kind::XFail)), "failed as expected");
    match outcomes.iter().filter(|o| !o.problems.is_empty()).count() {
        0 => {}
        n => parts.push(format!("{} ended badly", plural(n, "program"))),
    }
    let color = if broken > 0 { style.bad } else { style.good };
    let mut out = format!(
        "{color}{:>8}{} {:>7.3} s  {} in {}: {}\n",
        if broken > 0 { "Failed" } else { "Passed" },
        style.reset,
        time.as_secs_f64(),
        plural(all, "test"),
        plural(ran.len(), "program"),
        parts.join(", ")
    );
    if all == 0 && broken == 0 {
        out = "nothing matches the filter\n".to_string();
    }
    if left > 0 {
        let _ = writeln!(out, "         {} not run", plural(left, "program"));
    }
    for outcome in ran.iter().filter(|o| o.failed()) {
        for case in outcome.cases.iter().filter(|c| c.failed()) {
            let place = case.place.as_ref().map_or(outcome.program.clone(), |p| format!("{}:{}", p.file, p.line));
            let name = one_line(&case.full_name());
            let _ = match place == name {
                true => writeln!(out, "         {name}"),
                false => writeln!(out, "         {place}  {name}"),
            };
        }
        for problem in &outcome.problems {
            let _ = writeln!(out, "         {}  {problem}", outcome.program);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_where_values_begin_to_differ() {
        assert_eq!(
            compared("(1 2 3)", "(1 2 4)"),
            "  expected: (1 2 3)\n       got: (1 2 4)\n                 ^\n"
        );
        assert_eq!(compared("1", "2"), "  expected: 1\n       got: 2\n");
        let long = |last: char| format!("\"{}{last}\"", "x".repeat(200));
        let text = compared(&long('a'), &long('b'));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("  expected: …xxx") && lines[0].ends_with("xa\""), "{text}");
        assert_eq!(lines[0].chars().position(|c| c == 'a'), lines[2].chars().position(|c| c == '^'), "{text}");
    }

    #[test]
    fn what_a_terminal_might_obey_is_not_printed() {
        assert_eq!(value("got", "a\x1b[31mb\nc"), "       got: a [31mb\n            c\n");
    }
}
