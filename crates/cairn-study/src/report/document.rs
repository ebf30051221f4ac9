//! What a report says, as data: sections of prose, tables, figures and findings. What is measured stands here as
//! numbers.

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
    Findings(Findings),
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

/// Whose a sentence is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Whose {
    /// A claim of the paper: it holds or does not.
    Paper,
    /// A goal of this project, or a comparison with others that it makes: reached or missed.
    Ours,
}

/// What the paper claims and what this project aims at, apart: a goal that was missed says nothing against the paper.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The paper's claims, in its order; each with the name of the table or figure that has its numbers.
    pub paper: Vec<(Finding, &'static str)>,
    /// Goals of this project, likewise.
    pub ours: Vec<(Finding, &'static str)>,
    /// Were only some programs measured, so that nothing can be said of all?
    pub partial: bool,
}

impl Findings {
    /// Both groups that have sentences, with a heading that counts: "The paper's claims: 5 of 9 hold".
    pub fn groups(&self) -> impl Iterator<Item = (Whose, String, &[(Finding, &'static str)])> {
        let groups = [(Whose::Paper, &self.paper[..]), (Whose::Ours, &self.ours[..])];
        groups
            .into_iter()
            .filter(|(_, all)| !all.is_empty())
            .map(|(whose, all)| (whose, self.heading(whose, all), all))
    }

    fn heading(&self, whose: Whose, all: &[(Finding, &'static str)]) -> String {
        let (name, verb) = match whose {
            Whose::Paper => ("The paper's claims", "hold"),
            Whose::Ours => ("Goals of this project", "reached"),
        };
        if self.partial {
            return format!("{name}: not judged, since only some programs were measured");
        }
        let count = |verdict| all.iter().filter(|(f, _)| f.holds == verdict).count();
        let missing = match count(None) {
            0 => String::new(),
            n => format!(", {n} not measured"),
        };
        format!("{name}: {} of {} {verb}{missing}", count(Some(true)), all.len())
    }

    /// One word or two about a sentence.
    pub fn verdict(&self, whose: Whose, finding: &Finding) -> &'static str {
        match (finding.holds, whose) {
            _ if self.partial => "not judged",
            (None, _) => "not measured",
            (Some(true), Whose::Paper) => "holds",
            (Some(false), Whose::Paper) => "does not hold",
            (Some(true), Whose::Ours) => "reached",
            (Some(false), Whose::Ours) => "missed",
        }
    }
}

/// A claim of the paper or a goal of ours, tried today.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What is claimed, and by whom.
    pub claim: String,
    /// Does it hold? `None`: it could not be measured.
    pub holds: Option<bool>,
    /// The numbers that say so.
    pub evidence: String,
}

impl Report {
    /// The names of its tables and figures.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.sections.iter().flat_map(|s| &s.items).filter_map(|item| match item {
            Item::Table(t) => Some(&*t.id),
            Item::Figure(f) => Some(&*f.id),
            Item::Text(_) | Item::Findings(_) => None,
        })
    }

    /// Marks the report as one of some programs only: it says which, and judges nothing.
    pub fn only_of(&mut self, programs: &[String]) {
        self.conditions.insert(0, ("only".into(), programs.join(", ")));
        for item in self.sections.iter_mut().flat_map(|s| &mut s.items) {
            if let Item::Findings(findings) = item {
                findings.partial = true;
            }
        }
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
