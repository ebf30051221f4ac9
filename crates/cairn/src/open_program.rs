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
//! Errors in the program's syntax are those of evaluation: only there it is known what loaded files have defined.

use crate::Error;
use crate::RunOptions;
use crate::compiler::Compiler;
use crate::sources::{Files, Source, Texts};
use cairn_rt::evaluator::{Console, Data};
use cairn_syntax::Session;
use std::sync::{Arc, Mutex};

/// Key of the procedure that runs what the console gives it.
const RUN: &str = "(cairn evaluator) run-given-program";

/// Such a program.
#[derive(Clone, Debug)]
pub(crate) struct OpenProgram {
    source: Source,
    /// What was read for it, and where libraries were looked for.
    texts: Texts,
    directories: Vec<String>,
}

impl OpenProgram {
    /// The program that a session has tried to expand, if it is one.
    pub(crate) fn found(session: &Session, source: &Source, files: &Files) -> Option<OpenProgram> {
        session.is_open().then(|| OpenProgram {
            source: source.clone(),
            texts: files.texts(),
            directories: files.directories().iter().map(|d| d.display().to_string()).collect(),
        })
    }

    /// Runs it in this process; the result is its exit status.
    pub(crate) fn run(&self, compiler: &Compiler, options: RunOptions) -> Result<i32, Error> {
        let options = RunOptions { console: Some(Arc::new(Mutex::new(Given(self.clone())))), ..options };
        let program = "(import (cairn evaluator)) (run-given-program)";
        compiler.run_library_procedure(RUN, program, &self.source.path, options)
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

#[derive(Debug)]
struct Given(OpenProgram);

impl Console for Given {
    fn request(&mut self, what: &str, _: &str, _: &dyn Fn() -> Vec<(String, bool)>) -> Result<Data, String> {
        let Source { path, text, .. } = &self.0.source;
        match what {
            "program" => {
                let name = path.display().to_string();
                Ok(Data::Vector(vec![Data::String(name), Data::String(text.clone())]))
            }
            _ => Err("this program has no terminal".into()),
        }
    }
}
