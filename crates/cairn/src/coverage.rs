//! Which parts of programs were evaluated, and how often: `cairn test --coverage`.
//!
//! The expander puts counters into programs (`cairn_syntax::expand`, coverage). The process of a program writes what
//! they count to one file and counts in another; here both are read, those of several programs are added up, and
//! written as an lcov file and as HTML.
//!
//! A line's count is the largest of what begins on it. A line on which nothing begins that is evaluated has none.

use crate::error::Error;
use crate::unfinished::write_whole;
use cairn_html::{Html, add, document, html};
use cairn_rt::counts::Counts;
use cairn_rt::describe_io;
use cairn_syntax::diagnostic::line_column;
use cairn_syntax::{Counted, Point, Session};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file of that name, with a suffix.
fn with_suffix(files: &Path, suffix: &str) -> PathBuf {
    let mut name = files.as_os_str().to_os_string();
    name.push(suffix);
    name.into()
}

/// Writes down what the counters of a session count: number of the file, line, place, kind, name; then the files.
pub(crate) fn write_points(files: &Path, session: &Session) -> Result<(), Error> {
    let mut text = String::new();
    for Point { span, what, name } in session.points() {
        let source = &session.sources()[span.file as usize];
        let line = line_column(&source.text, span.start).0;
        let (kind, way) = match what {
            Counted::Expression => ("expression", 0),
            Counted::Procedure => ("procedure", 0),
            Counted::Way(n) => ("way", *n),
        };
        let (start, end) = (span.start, span.end);
        let clean = |s: &str| s.replace(['\t', '\n', '\r'], " ");
        let _ = writeln!(text, "{}\t{line}\t{start}\t{end}\t{kind}\t{way}\t{}", clean(&source.path), clean(name));
    }
    let file = with_suffix(files, ".points");
    std::fs::write(&file, text).map_err(|e| unwritable(&file, &e).into())
}

fn unwritable(file: &Path, e: &std::io::Error) -> String {
    format!("cannot write {}: {}", file.display(), describe_io(e))
}

/// Makes the counters for the points that were written down.
pub(crate) fn start(files: &Path) -> Result<Arc<Counts>, Error> {
    let points = std::fs::read_to_string(with_suffix(files, ".points")).unwrap_or_default();
    let file = with_suffix(files, ".counts");
    let counts = Counts::new(&file, points.lines().count()).map_err(|e| unwritable(&file, &e))?;
    Ok(Arc::new(counts))
}

/// A point of a file: line, place, kind, way, name.
type Key = (usize, (u32, u32), Kind, u32, String);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Expression,
    Procedure,
    Way,
}

/// What was counted in files, by their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coverage {
    files: BTreeMap<String, BTreeMap<Key, u64>>,
}

/// What a file comes to.
struct Sums {
    /// Counts of lines, from 1.
    lines: BTreeMap<usize, u64>,
    /// Line, name and count of each procedure.
    procedures: Vec<(usize, String, u64)>,
    /// Line and counts of each conditional.
    ways: Vec<(usize, Vec<u64>)>,
}

impl Coverage {
    /// Adds what a process has left behind, and removes its files.
    pub(crate) fn add(&mut self, files: &Path) {
        let (points, counts) = (with_suffix(files, ".points"), with_suffix(files, ".counts"));
        let text = std::fs::read_to_string(&points).unwrap_or_default();
        let bytes = std::fs::read(&counts).unwrap_or_default();
        for (n, line) in text.lines().enumerate() {
            let word = bytes.get(n * 8..n * 8 + 8).and_then(|b| b.try_into().ok());
            let count = word.map_or(0, u64::from_ne_bytes);
            let fields: Vec<&str> = line.split('\t').collect();
            let [path, line, start, end, kind, way, name] = fields[..] else { continue };
            let kind = match kind {
                "procedure" => Kind::Procedure,
                "way" => Kind::Way,
                _ => Kind::Expression,
            };
            let number = |s: &str| s.parse::<u32>().unwrap_or(0);
            let key = (number(line) as usize, (number(start), number(end)), kind, number(way), name.to_string());
            *self.files.entry(normal(path)).or_default().entry(key).or_default() += count;
        }
        let _ = (std::fs::remove_file(points), std::fs::remove_file(counts));
    }

    /// Leaves out files: test programs.
    pub(crate) fn leave_out(&mut self, paths: impl Iterator<Item = PathBuf>) {
        paths.for_each(|p| {
            self.files.remove(&normal(&p.display().to_string()));
        });
    }

    /// As lcov writes it.
    pub(crate) fn lcov(&self) -> String {
        let mut out = String::new();
        for (path, points) in &self.files {
            let Sums { lines, procedures, ways } = sums(points);
            let _ = write!(out, "TN:\nSF:{path}\n");
            procedures.iter().for_each(|(line, name, _)| out += &format!("FN:{line},{name}\n"));
            procedures.iter().for_each(|(_, name, n)| out += &format!("FNDA:{n},{name}\n"));
            let hit = procedures.iter().filter(|(.., n)| *n > 0).count();
            let _ = write!(out, "FNF:{}\nFNH:{hit}\n", procedures.len());
            for (block, (line, counts)) in ways.iter().enumerate() {
                let never = counts.iter().all(|n| *n == 0);
                for (way, n) in counts.iter().enumerate() {
                    let taken = if never { "-".to_string() } else { n.to_string() };
                    let _ = writeln!(out, "BRDA:{line},{block},{way},{taken}");
                }
            }
            let all = || ways.iter().flat_map(|(_, counts)| counts);
            let _ = write!(out, "BRF:{}\nBRH:{}\n", all().count(), all().filter(|n| **n > 0).count());
            lines.iter().for_each(|(line, n)| out += &format!("DA:{line},{n}\n"));
            let hit = lines.values().filter(|n| **n > 0).count();
            let _ = write!(out, "LF:{}\nLH:{hit}\nend_of_record\n", lines.len());
        }
        out
    }

    /// A line for each file: how much of it was evaluated, and which lines were not.
    pub(crate) fn table(&self) -> String {
        let mut out = String::from("\n  lines covered\n");
        let mut all = (0, 0);
        for (path, points) in &self.files {
            let lines = sums(points).lines;
            let hit = lines.values().filter(|n| **n > 0).count();
            all = (all.0 + hit, all.1 + lines.len());
            let missing = ranges(&lines);
            let missing = if missing.is_empty() { missing } else { format!("; not: {missing}") };
            let _ = writeln!(out, "  {:>7}  {path}: {hit} of {}{missing}", percent(hit, lines.len()), lines.len());
        }
        match self.files.len() {
            0 => "\n  nothing was measured but the tests themselves\n".to_string(),
            1 => out,
            _ => out + &format!("  {:>7}  in all: {} of {}\n", percent(all.0, all.1), all.0, all.1),
        }
    }

    /// Writes `lcov.info`, `index.html` and a page for each file into a directory.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), Error> {
        let write = |name: &str, text: &str| {
            let file = directory.join(name);
            write_whole(&file, text.as_bytes()).map_err(|e| Error::Other(unwritable(&file, &e)))
        };
        std::fs::create_dir_all(directory).map_err(|e| unwritable(directory, &e))?;
        write("lcov.info", &self.lcov())?;
        let mut rows = Html::new();
        for (path, points) in &self.files {
            let sums = sums(points);
            let hit = sums.lines.values().filter(|n| **n > 0).count();
            let all_ways: Vec<u64> = sums.ways.iter().flat_map(|(_, counts)| counts.iter().copied()).collect();
            let share = |hit: usize, all: usize| {
                let part = if all == 0 { 100.0 } else { 100.0 * hit as f64 / all as f64 };
                html!(
                    "<td>{}<td>{} of {}<td><meter min=0 max=100 low=60 high=90 optimum=100 value={:.1}></meter>",
                    percent(hit, all),
                    hit,
                    all,
                    part
                )
            };
            let page = page_name(path);
            add!(
                rows,
                "<tr><td><a href=\"{}\">{}</a>{}{}\n",
                page,
                path,
                share(hit, sums.lines.len()),
                share(all_ways.iter().filter(|n| **n > 0).count(), all_ways.len())
            );
            // whoever has changed it since sees the lines as they are now
            let text = std::fs::read_to_string(path).unwrap_or_default();
            write(&page, &document(path, STYLE, &source_page(path, &text, &sums)))?;
        }
        let table = html!(
            "<h1>Coverage</h1>\n<table class=files><tr><th>file<th colspan=3>lines<th colspan=3>ways through conditionals\n\
             {}</table>",
            rows
        );
        write("index.html", &document("Coverage", STYLE, &table))
    }
}

/// A path as all programs call it.
fn normal(path: &str) -> String {
    let here = std::env::current_dir().and_then(|d| d.canonicalize()).unwrap_or_default();
    let whole = Path::new(path).canonicalize().unwrap_or_else(|_| path.into());
    whole.strip_prefix(&here).unwrap_or(&whole).display().to_string()
}

fn percent(part: usize, whole: usize) -> String {
    if whole == 0 { "-".to_string() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
}

fn sums(points: &BTreeMap<Key, u64>) -> Sums {
    let mut sums = Sums { lines: BTreeMap::new(), procedures: Vec::new(), ways: Vec::new() };
    let mut conditionals: BTreeMap<(usize, (u32, u32)), Vec<u64>> = BTreeMap::new();
    for ((line, place, kind, _, name), n) in points {
        match kind {
            Kind::Way => {
                conditionals.entry((*line, *place)).or_default().push(*n);
                continue;
            }
            Kind::Procedure => {
                let again = sums.procedures.iter().any(|(_, other, _)| other == name) || name == "lambda";
                let name = if again { format!("{name}:{line}") } else { name.clone() };
                sums.procedures.push((*line, name, *n));
            }
            Kind::Expression => {}
        }
        let count = sums.lines.entry(*line).or_default();
        *count = (*count).max(*n);
    }
    sums.ways = conditionals.into_iter().map(|((line, _), counts)| (line, counts)).collect();
    sums
}

/// Lines that were not evaluated: `3, 5-9`.
fn ranges(lines: &BTreeMap<usize, u64>) -> String {
    let mut out: Vec<(usize, usize)> = Vec::new();
    let mut open = false;
    for (line, n) in lines {
        match out.last_mut() {
            Some(last) if open && *n == 0 => last.1 = *line,
            _ if *n == 0 => out.push((*line, *line)),
            _ => {}
        }
        open = *n == 0;
    }
    let range = |(a, b): &(usize, usize)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    out.iter().map(range).collect::<Vec<String>>().join(", ")
}

/// The name of a file's page.
fn page_name(path: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-._".contains(c) { c.to_string() } else { "_".to_string() };
    // two paths must not have one page
    let hash = xxhash_rust::xxh3::xxh3_64(path.as_bytes()) as u16;
    format!("{}-{hash:04x}.html", path.chars().map(plain).collect::<String>().trim_start_matches(['.', '_']))
}

/// A file with its lines coloured.
fn source_page(path: &str, text: &str, sums: &Sums) -> Html {
    let mut out = html!("<p><a href=\"index.html\">all files</a></p>\n<h1>{}</h1>\n<table class=source>\n", path);
    for (i, line) in text.lines().enumerate() {
        let number = i + 1;
        let half = sums.ways.iter().filter(|(l, _)| *l == number).any(|(_, counts)| {
            let taken = counts.iter().filter(|n| **n > 0).count();
            taken > 0 && taken < counts.len()
        });
        let (class, count) = match sums.lines.get(&number) {
            None => ("", String::new()),
            Some(0) => ("no", "0".to_string()),
            Some(n) if half => ("half", format!("{n}")),
            Some(n) => ("yes", n.to_string()),
        };
        let title = half.then(|| html!(" title=\"not every way from here was taken\""));
        add!(out, "<tr id=L{} class=\"{}\"{}><td>{}<td>{}<td>", number, class, title, number, count);
        add!(out, "<pre>{}</pre>\n", line);
    }
    add!(out, "</table>\n");
    out
}

const STYLE: &str = "
:root { color-scheme: light dark; --yes: #dcf5dc; --no: #ffdcdc; --half: #fff3c4; --dull: #777; }
@media (prefers-color-scheme: dark) { :root { --yes: #143d1c; --no: #542020; --half: #4d4110; --dull: #999; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 1rem auto; max-width: 70rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; }
.files td, .files th { padding: .2rem .6rem; text-align: left; }
.source { display: block; overflow-x: auto; font: 13px/1.4 ui-monospace, monospace; }
.source td { padding: 0 .6rem; } .source pre { margin: 0; font: inherit; }
.source td:nth-child(-n+2) { color: var(--dull); text-align: right; user-select: none; }
.yes td { background: var(--yes); } .no td { background: var(--no); } .half td { background: var(--half); }
";
