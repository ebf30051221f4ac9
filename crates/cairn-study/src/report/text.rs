//! Reports for a terminal.

use super::document::{Column, Finding, Item, Number, Report, Table, grouped};
use comfy_table::{CellAlignment, presets};

pub(super) fn render(report: &Report) -> String {
    let mut out = format!("{}\n{}\n\n{}\n", report.title, "=".repeat(report.title.chars().count()), report.paper);
    for (name, value) in &report.conditions {
        out += &format!("{name}: {value}\n");
    }
    for section in &report.sections {
        out += &format!("\n{}\n{}\n", section.title, "-".repeat(section.title.chars().count()));
        for item in &section.items {
            match item {
                Item::Text(text) => out += &format!("\n{}\n", wrapped(text, "")),
                Item::Table(t) => out += &format!("\n{}", table(t)),
                Item::Figure(_) => {}
                Item::Findings(findings) => {
                    for (whose, heading, all) in findings.groups() {
                        out += &format!("\n{heading}.\n");
                        all.iter().for_each(|(f, _)| out += &finding(findings.verdict(whose, f), f));
                    }
                }
            }
        }
    }
    out
}

fn finding(verdict: &str, f: &Finding) -> String {
    format!("\n* {verdict}: {}\n", wrapped(&format!("{} {}", f.claim, f.evidence), "  "))
}

/// Lines of at most 100 columns.
fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("never empty");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + word.chars().count() < 96 {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(format!("{indent}{word}"));
        }
    }
    lines.join("\n")
}

fn table(t: &Table) -> String {
    let mut grid = comfy_table::Table::new();
    grid.load_preset(presets::NOTHING);
    let head = |c: &Column| if c.published { format!("{} [paper]", c.name) } else { c.name.clone() };
    grid.set_header(std::iter::once(t.label.clone()).chain(t.columns.iter().map(head)));
    for row in &t.rows {
        let values = row.values.iter().zip(&t.columns).map(|(v, c)| cell(*v, c));
        grid.add_row(std::iter::once(row.label.clone()).chain(values));
    }
    for column in grid.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let body: String = grid.to_string().lines().map(|l| format!("{}\n", l.trim_end())).collect();
    let note = if t.note.is_empty() { String::new() } else { format!("  {}\n", wrapped(&t.note, "  ")) };
    format!("{}\n{body}{note}", t.title)
}

fn cell(value: Number, column: &Column) -> String {
    let show = |v: Option<f64>| v.map_or("–".into(), |v| grouped(v, column.decimals));
    if column.published { format!("{} [{}]", show(value.ours), show(value.published)) } else { show(value.ours) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_report_as_text() {
        let text = super::render(&super::super::tests::sample());
        let expected = "\
A sample
========

A paper
machine: this one

One
---

Some words <here>.

Table 1: speed
 program       time (s) [paper]  memory (KB)
 life & death       1.23 [2.00]       12,345
 logic                 – [3.50]            –
  A remark.

The paper's claims: 1 of 2 hold, 1 not measured.

* holds: A beats B. 1.2 against 2.4 s.

* not measured: B is small. no B here.

Goals of this project: 0 of 1 reached.

* missed: B takes no time. 1 s.
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_run_of_some_programs_judges_nothing() {
        let mut report = super::super::tests::sample();
        report.only_of(&["life".into(), "logic".into()]);
        let text = super::render(&report);
        assert!(text.contains("\nonly: life, logic\n"), "{text}");
        assert!(text.contains("claims: not judged, since only some programs were measured."), "{text}");
        assert_eq!(text.matches("* not judged: ").count(), 3, "{text}");
        assert!(!text.contains("holds:") && !text.contains("missed:"), "{text}");
    }
}
