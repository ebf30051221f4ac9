//! A report: sections of prose, tables, figures and findings. What is measured stands here as numbers; the files beside
//! this one turn it into text, CSV, SVG and one page of HTML.

mod csv;
mod html;
mod svg;
mod text;

use std::path::{Path, PathBuf};

/// What a study has found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The study's name, for file names.
    pub name: String,
    /// Title.
    pub title: String,
    /// The paper.
    pub paper: String,
    /// What the reader must know of this run: machine, date, sizes.
    pub conditions: Vec<(String, String)>,
    /// The body.
    pub sections: Vec<Section>,
}

/// A part of a report.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Heading.
    pub title: String,
    /// Paragraphs, tables, figures, findings in order.
    pub items: Vec<Item>,
}

/// A piece of a section.
#[derive(Clone, Debug)]
pub enum Item {
    /// A paragraph.
    Text(String),
    /// A table.
    Table(Table),
    /// A figure.
    Figure(Figure),
    /// Claims, and whether they hold.
    Findings(Vec<Finding>),
}

/// A table of numbers; the rows' labels are words.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Name of its CSV file, such as `table-2`.
    pub id: String,
    /// Title.
    pub title: String,
    /// What the rows are.
    pub label: String,
    /// The columns after the label.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
    /// A remark below.
    pub note: String,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Heading, with its unit.
    pub name: String,
    /// Digits after the point.
    pub decimals: usize,
    /// Has it published numbers beside ours?
    pub published: bool,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub struct Row {
    /// What the row is about.
    pub label: String,
    /// One for each column.
    pub values: Vec<Number>,
}

/// A number, measured here and published there; either may be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Number {
    /// Measured.
    pub ours: Option<f64>,
    /// Published.
    pub published: Option<f64>,
}

impl Number {
    /// A number of ours that no paper has.
    pub fn ours(value: Option<f64>) -> Number {
        Number { ours: value, published: None }
    }
    /// Both.
    pub fn beside(ours: Option<f64>, published: Option<f64>) -> Number {
        Number { ours, published }
    }
}

impl Column {
    /// A column of our numbers alone.
    pub fn new(name: impl Into<String>, decimals: usize) -> Column {
        Column { name: name.into(), decimals, published: false }
    }
    /// A column whose numbers have published ones beside them.
    pub fn beside(name: impl Into<String>, decimals: usize) -> Column {
        Column { published: true, ..Column::new(name, decimals) }
    }
}

/// A figure: panels side by side.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// Name of its SVG file.
    pub id: String,
    /// Title.
    pub title: String,
    /// What series' colours mean.
    pub legend: Vec<String>,
    /// The panels.
    pub panels: Vec<Panel>,
    /// A remark below.
    pub note: String,
}

/// A diagram of a figure.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Title.
    pub title: String,
    /// What it shows.
    pub content: Content,
}

/// What a diagram shows. Series and parts are in the order of the figure's legend.
#[derive(Clone, Debug)]
pub enum Content {
    /// Curves over a logarithmic axis.
    Curves {
        /// Names of the axes.
        axes: (String, String),
        /// Points of each series.
        series: Vec<Vec<(f64, f64)>>,
    },
    /// Shares of a whole as one bar a row: `(row, shares)`, which sum to at most 1.
    Shares(Vec<(String, Vec<f64>)>),
    /// Bars from zero, several a row: `(row, values)`.
    Bars {
        /// What the values are.
        axis: String,
        /// The rows.
        rows: Vec<(String, Vec<f64>)>,
    },
}

/// A claim of the paper or of ours, tried today.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What is claimed, and by whom.
    pub claim: String,
    /// Does it hold? `None`: it could not be measured.
    pub holds: Option<bool>,
    /// The numbers that say so.
    pub evidence: String,
}

impl Finding {
    /// "holds", "does not hold", "not measured".
    pub fn verdict(&self) -> &'static str {
        match self.holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "not measured",
        }
    }
}

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

/// A number with digits grouped by thousands: `1,234,567.0`.
pub fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(w, f)| (w, Some(f)));
    let mut result = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            result.push(',');
        }
        result.push(digit);
    }
    if let Some(fraction) = fraction {
        result = format!("{result}.{fraction}");
    }
    let zero = result.chars().all(|c| matches!(c, '0' | '.' | ','));
    if value < 0.0 && !zero { format!("-{result}") } else { result }
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
        let findings = vec![
            Finding { claim: "A beats B.".into(), holds: Some(true), evidence: "1.2 against 2.4 s.".into() },
            Finding { claim: "B is small.".into(), holds: None, evidence: "no B here.".into() },
        ];
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
