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
