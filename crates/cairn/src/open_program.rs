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

use crate::Error;
use crate::RunOptions;
use crate::background::Work;
use crate::compiler::Compiler;
use crate::pipeline;
use crate::sources::{Files, Source, Texts};
use cairn_core::tier::Request;
use cairn_eval::ahead;
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

/// A module of an executable, and what it is found by.
pub(crate) struct UnitObject {
    pub(crate) fingerprint: i64,
    pub(crate) text: u64,
    /// The lambdas that its makers are for.
    pub(crate) lambdas: Vec<usize>,
    pub(crate) object: Vec<u8>,
}

impl UnitObject {
    /// The name of the `n`th for the linker.
    pub(crate) fn name(n: usize) -> String {
        format!("cairn_unit_{n}")
    }
}

/// A form of so many lambdas is likely to be data: it is evaluated.
const MOST_LAMBDAS: usize = 20_000;

/// So many forms of a program have modules.
const MOST_UNITS: usize = 200;

impl OpenProgram {
    /// Modules for what the program's executable will load or evaluate. What cannot be compiled is evaluated.
    pub(crate) fn modules(&self, compiler: &Compiler) -> Vec<UnitObject> {
        let Some(library) = compiler.boot() else { return Vec::new() };
        let work = Work { compiler: compiler.clone(), source: self.source.clone(), texts: self.texts.clone() };
        let index = library.index();
        let session = pipeline::prepared(Session::on_library(index.clone()), &compiler.options);
        let mut files = compiler.files(&self.source);
        files.use_texts(&self.texts);
        let name = self.source.path.display().to_string();
        let forms = ahead::forms(session, &index, &mut files, (&name, &self.source.text));
        let wanted = forms.iter().filter(|f| f.lambdas <= MOST_LAMBDAS).take(MOST_UNITS);
        let mut modules = Vec::new();
        for form in wanted {
            let request = Request { ahead: true, ..Request::default() };
            let name = UnitObject::name(modules.len());
            let object = work.hot_module(Some(&form.unit), &request).and_then(|(module, makers)| {
                Ok((pipeline::object_beside(compiler, &module, &name)?, makers.lambdas))
            });
            modules.extend(object.ok().map(|(object, lambdas)| UnitObject {
                fingerprint: form.fingerprint,
                text: form.text,
                lambdas,
                object,
            }));
        }
        modules
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
