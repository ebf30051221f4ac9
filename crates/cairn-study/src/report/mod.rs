//! A report: what it says ([`document`]), and how it becomes text, CSV, SVG and one page of HTML, a file each.

mod csv;
mod document;
mod html;
mod svg;
mod text;
mod words;

pub use document::{
    Column, Content, Figure, Finding, Findings, Item, Number, Panel, Report, Row, Section, Table, grouped,
};
use std::path::{Path, PathBuf};

impl Report {
    /// The report as text.
    pub fn text(&self) -> String {
        text::render(self)
    }

    /// Writes `NAME.html`, and `NAME/` with text, CSV files and SVG files, into a directory; tells the page's path.
    pub fn write(&self, directory: &Path) -> Result<PathBuf, String> {
        let parts = directory.join(&self.name);
        let failed = |path: &Path, e: &dyn std::fmt::Display| format!("cannot write {}: {e}", path.display());
        std::fs::create_dir_all(&parts).map_err(|e| failed(&parts, &e))?;
        let put = |path: PathBuf, content: &str| std::fs::write(&path, content).map_err(|e| failed(&path, &e));
        put(parts.join("report.txt"), &self.text())?;
        for item in self.sections.iter().flat_map(|s| &s.items) {
            match item {
                Item::Table(t) => put(parts.join(format!("{}.csv", t.id)), &csv::render(t))?,
                Item::Figure(f) => put(parts.join(format!("{}.svg", f.id)), &svg::render(f, svg::Colours::Fixed))?,
                Item::Text(_) | Item::Findings(_) => {}
            }
        }
        let page = directory.join(format!("{}.html", self.name));
        put(page.clone(), &html::render(self))?;
        Ok(page)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A small report with one item of each kind.
    pub(crate) fn sample() -> Report {
        let table = Table {
            id: "table-1".into(),
            title: "Table 1: speed".into(),
            label: "program".into(),
            columns: vec![Column::beside("time (s)", 2), Column::new("memory (KB)", 0)],
            rows: vec![
                Row {
                    label: "life & death".into(),
                    values: vec![Number::beside(Some(1.234), Some(2.0)), Number::ours(Some(12345.0))],
                },
                Row { label: "logic".into(), values: vec![Number::beside(None, Some(3.5)), Number::ours(None)] },
            ],
            note: "A remark.".into(),
        };
        let figure = Figure {
            id: "figure-1".into(),
            title: "Figure 1".into(),
            legend: vec!["gen".into(), "mcc".into()],
            panels: vec![
                Panel {
                    title: "life".into(),
                    content: Content::Curves {
                        axes: ("heap".into(), "seconds".into()),
                        series: vec![vec![(1.0, 3.0), (2.0, 2.0)], vec![(2.0, 4.0), (4.0, 1.0)]],
                    },
                },
                Panel { title: "shares".into(), content: Content::Shares(vec![("life".into(), vec![0.25, 0.5])]) },
                Panel {
                    title: "bars".into(),
                    content: Content::Bars { axis: "%".into(), rows: vec![("life".into(), vec![-3.0, 12.0])] },
                },
            ],
            note: String::new(),
        };
        let finding =
            |claim: &str, holds, evidence: &str| Finding { claim: claim.into(), holds, evidence: evidence.into() };
        let findings = Findings {
            paper: vec![
                (finding("A beats B.", Some(true), "1.2 against 2.4 s."), "table-1"),
                (finding("B is small.", None, "no B here."), "table-2"),
            ],
            ours: vec![(finding("B takes no time.", Some(false), "1 s."), "table-1")],
            partial: false,
        };
        let items = vec![
            Item::Text("Some words <here>.".into()),
            Item::Table(table),
            Item::Figure(figure),
            Item::Findings(findings),
        ];
        Report {
            name: "sample".into(),
            title: "A sample".into(),
            paper: "A paper".into(),
            conditions: vec![("machine".into(), "this one".into())],
            sections: vec![Section { title: "One".into(), items }],
        }
    }

    #[test]
    fn digits_in_groups() {
        for (value, decimals, text) in [
            (1_234_567.0, 0, "1,234,567"),
            (999.0, 0, "999"),
            (-1234.5, 1, "-1,234.5"),
            (-0.001, 1, "0.0"),
            (0.5, 2, "0.50"),
        ] {
            assert_eq!(grouped(value, decimals), text);
        }
    }
}
