//! Programs that are open worlds: they call `load`, or evaluate in the interaction environment.
//!
//! The problem: what such a program loads or evaluates uses its variables, macros and imports, defines more, and
//! defines them again; and what it loads may define macros that its own later forms use. The idea: it is run like a
//! session at the prompt, whose input is its text (`lib/cairn/evaluator.sld`, `run-open-program`). Its forms become
//! native where they are hot, as units ([`crate::unit_modules`]); an executable has the program's text, those of its
//! libraries and of the files that it includes, and the evaluator. What is loaded is read when it is loaded.
//!
//! ```text
//!  run:    (cairn evaluator) run-given-program ──"program"──▶ this, as a console
//!  build:  (import (cairn evaluator))
//!          (run-open-program "name" "text" #("directory" …) #("path" "text" …))      compiled
//! ```
//!
//! An executable has native code for the forms that can be told beforehand ([`cairn_eval::ahead`]).
//!
//! Errors in the program's syntax are those of evaluation: only there it is known what loaded files have defined.

use crate::source::{Source, Texts};
use crate::sources::Files;
use cairn_eval::library_loader;
use cairn_syntax::Session;
use std::cell::LazyCell;
use std::collections::BTreeSet;

/// Such a program.
#[derive(Clone, Debug)]
pub(crate) struct OpenProgram {
    pub(crate) source: Source,
    /// What was read for it, and where libraries were looked for.
    pub(crate) texts: Texts,
    directories: Vec<String>,
}

impl OpenProgram {
    /// The program that a session has tried to expand, if it is one.
    pub(crate) fn found(session: &Session, source: &Source, files: &Files) -> Option<OpenProgram> {
        let compiled = LazyCell::new(|| BTreeSet::from_iter(library_loader::compiled_names()));
        session.is_open(|name| compiled.contains(name)).then(|| OpenProgram {
            source: source.clone(),
            texts: files.texts(),
            directories: files.directories().iter().map(|d| d.display().to_string()).collect(),
        })
    }

    /// A program that needs no files and does the same.
    pub(crate) fn whole(&self) -> Source {
        let mut text = "(import (cairn evaluator))\n(run-open-program ".to_string();
        quote(&self.source.path.display().to_string(), &mut text);
        quote(&self.source.text, &mut text);
        text += "#(";
        self.directories.iter().for_each(|d| quote(d, &mut text));
        text += ") #(";
        for (path, contents) in &self.texts {
            if let Some(contents) = contents {
                quote(&path.display().to_string(), &mut text);
                quote(contents, &mut text);
            }
        }
        text += "))\n";
        Source { hidden: true, ..Source::new(&self.source.path, text) }
    }
}

/// A string as Scheme writes it, and a space.
fn quote(s: &str, out: &mut String) {
    out.push('"');
    for c in s.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            // the reader takes other ends of lines for this one
            '\r' => *out += "\\r",
            c => out.push(c),
        }
    }
    *out += "\" ";
}
