//! How open programs ([`crate::open_program`]) run, here or as executables.

use crate::background::Work;
use crate::error::Error;
use crate::open_program::OpenProgram;
use crate::session::Compiler;
use crate::source::Source;
use crate::stages;
use cairn_core::tier::Request;
use cairn_eval::ahead;
use cairn_layout::limits::HOT_ENTRIES;
use cairn_rt::Options as RunOptions;
use cairn_rt::evaluator::{Console, Data};
use cairn_syntax::Session;
use std::sync::{Arc, Mutex};

/// Key of the procedure that runs what the console gives it.
const RUN: &str = "(cairn evaluator) run-given-program";

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
    /// Runs it in this process; the result is its exit status.
    pub(crate) fn run(&self, compiler: &Compiler, options: RunOptions) -> Result<i32, Error> {
        let options = RunOptions { console: Some(Arc::new(Mutex::new(Given(self.clone())))), ..options };
        let program = "(import (cairn evaluator)) (run-given-program)";
        compiler.run_library_procedure(RUN, program, &self.source.path, options)
    }

    /// Modules for what the program's executable will load or evaluate. What cannot be compiled is evaluated.
    pub(crate) fn modules(&self, compiler: &Compiler) -> Vec<UnitObject> {
        let Some(library) = compiler.boot() else { return Vec::new() };
        let work = Work::new(compiler.clone(), self.source.clone(), self.texts.clone());
        let index = library.index();
        let session = stages::prepared(Session::on_library(index.clone()), &compiler.options);
        let mut files = compiler.files(&self.source);
        files.use_texts(&self.texts);
        let name = self.source.path.display().to_string();
        let forms = ahead::forms(session, &index, &mut files, (&name, &self.source.text));
        let count = |form: &ahead::Form| form.wanted.iter().filter(|wanted| **wanted).count();
        let wanted = forms.iter().filter(|f| (1..=MOST_LAMBDAS).contains(&count(f))).take(MOST_UNITS);
        let mut modules = Vec::new();
        for form in wanted {
            let entered = form.wanted.iter().map(|wanted| if *wanted { HOT_ENTRIES } else { 0 }).collect();
            let request = Request { entered, ahead: true, ..Request::default() };
            let name = UnitObject::name(modules.len());
            let object = work.hot_module(Some(&form.unit), &request).and_then(|(module, makers)| {
                Ok((stages::object_beside(compiler, &module, &name)?, makers.lambdas))
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
