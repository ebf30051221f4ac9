//! What is wrong with a text, without running it: `cairn check`.
//!
//! The reader, the expander and [`cairn_syntax::lint`] find it; here it becomes text with source lines, or JSON, one
//! object a line:
//!
//! ```json
//! {"file":"a.scm","line":3,"column":1,"endLine":3,"endColumn":4,"severity":"warning","message":"`foo` is not defined",
//!  "help":"did you mean `for`?","notes":[{"file":"a.scm","line":1,"column":1,"message":"…"}]}
//! ```
//!
//! Lines and columns count from 1, columns in characters; the end is behind the last character.

use crate::diagnostics::Messages;
use crate::session::Compiler;
use crate::source::Source;
use cairn_core::ir::SourceFile;
use cairn_syntax::diagnostic::line_column;
use cairn_syntax::lint::Checker;
use cairn_syntax::{Diagnostic, Span};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What there is to say about one file.
pub struct Findings {
    /// Everything that was found, one by one.
    pub said: Vec<Said>,
    /// Everything that was found, as text with source lines.
    pub messages: Messages,
}

/// One message.
#[derive(Debug)]
pub struct Said {
    /// Is the text wrong, or only suspicious?
    pub error: bool,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub place: Place,
    /// What to do.
    pub help: Option<String>,
    /// Other places that matter, and why.
    pub notes: Vec<(Place, String)>,
}

/// A piece of a file: lines and columns from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Path of the file.
    pub file: String,
    /// Where it begins.
    pub start: (usize, usize),
    /// Behind its end.
    pub end: (usize, usize),
}

/// The file that says what the file means: a file that is part of a library, `x.scm` with `(include "x.scm")` in a
/// `.sld` beside it, or `(include "d/x.scm")` in one beside its directory, means nothing alone.
pub fn whole(path: &Path) -> PathBuf {
    let part = || {
        let name = path.file_name()?.to_str().filter(|n| !n.ends_with(".sld"))?;
        let directory = path.parent()?;
        let beside = || library_that_says(directory, name);
        let above = || {
            let name = format!("{}/{name}", directory.file_name()?.to_str()?);
            library_that_says(directory.parent()?, &name)
        };
        beside().or_else(above)
    };
    part().unwrap_or_else(|| path.to_path_buf())
}

/// The first library in a directory in which a text stands in quotation marks.
fn library_that_says(directory: &Path, text: &str) -> Option<PathBuf> {
    let quoted = format!("\"{text}\"");
    let here = if directory == Path::new("") { Path::new(".") } else { directory };
    let names = std::fs::read_dir(here).ok()?.filter_map(|e| Some(directory.join(e.ok()?.file_name())));
    let mut libraries: Vec<PathBuf> = names.filter(|p| p.extension().is_some_and(|e| e == "sld")).collect();
    libraries.sort();
    libraries.into_iter().find(|l| std::fs::read_to_string(l).is_ok_and(|text| text.contains(&quoted)))
}

pub(crate) fn all<'a>(
    compiler: &'a Compiler,
    sources: impl Iterator<Item = Source> + 'a,
) -> impl Iterator<Item = Findings> + 'a {
    let mut checker = Checker::default();
    sources.map(move |source| {
        let report = checker.check(&source.path.display().to_string(), &source.text, &mut compiler.files(&source));
        let sources = checker.session().sources();
        let warnings: Vec<&Diagnostic> = report.warnings.iter().map(|f| &f.message).collect();
        let errors = report.errors.iter().map(|d| said(d, true, sources));
        Findings {
            said: errors.chain(warnings.iter().map(|d| said(d, false, sources))).collect(),
            messages: Messages::both(&report.errors, &warnings, sources),
        }
    })
}

fn said(d: &Diagnostic, error: bool, sources: &[SourceFile]) -> Said {
    Said {
        error,
        message: d.message.clone(),
        place: place(d.span, sources),
        help: d.help.clone(),
        notes: d.notes.iter().map(|(s, text)| (place(*s, sources), text.clone())).collect(),
    }
}

fn place(span: Span, sources: &[SourceFile]) -> Place {
    let (file, text) = sources.get(span.file as usize).map_or(("", ""), |s| (&*s.path, &*s.text));
    Place { file: file.into(), start: line_column(text, span.start), end: line_column(text, span.end) }
}

impl Findings {
    /// As JSON, one object a line.
    pub fn json(&self) -> String {
        self.said.iter().map(|s| format!("{}\n", s.json())).collect()
    }
}

impl Said {
    fn json(&self) -> Value {
        let notes: Vec<Value> =
            self.notes.iter().map(|(p, text)| with_place(json!({ "message": text }), p)).collect();
        let severity = if self.error { "error" } else { "warning" };
        let message = json!({ "severity": severity, "message": self.message, "help": self.help, "notes": notes });
        with_place(message, &self.place)
    }
}

/// The object with the fields of a place.
fn with_place(mut object: Value, place: &Place) -> Value {
    object["file"] = place.file.as_str().into();
    object["line"] = place.start.0.into();
    object["column"] = place.start.1.into();
    object["endLine"] = place.end.0.into();
    object["endColumn"] = place.end.1.into();
    object
}
