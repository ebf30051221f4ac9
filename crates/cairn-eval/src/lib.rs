//! # cairn-eval: the expander inside a running program
//!
//! The problem: `eval` needs reader, expander and the macros of the libraries while a program runs, also in an
//! executable that was made by `cairn build` and knows nothing of Cairn's compiler. The idea: reader and expander need
//! no LLVM and are linked into programs that evaluate; what they make, Core, is [`encode`]d as vectors that an
//! evaluator written in Scheme (`lib/cairn/evaluator.sld`) turns into closures. So evaluated code has the frames, tail
//! calls, continuations and collector of the program itself, under every strategy, and the runtime knows nothing of it.
//!
//! | module | what |
//! |---|---|
//! | [`encode`] | Core → code of the evaluator |
//! | [`library`] | the sources of `lib/`, which are part of the program |
//!
//! Invariants: libraries that are part of the running program are expanded for their macros only, their variables are
//! the program's own ([`cairn_syntax::Session::definitions`]); other libraries are expanded and evaluated when they are
//! first imported. A session holds no values of the heap.

pub mod encode;
pub mod library_loader;

use cairn_rt::evaluator::{Data, Evaluator};
use cairn_rt::start::{ModuleTable, run_executable};
use cairn_rt::{MakeEvaluator, Options};
use cairn_syntax::{BootLibrary, Environment, Failed, LibraryName, Session};
use encode::Names;
use library_loader::Files;
use std::ffi::{c_char, c_int};
use std::sync::Arc;

/// The expander of one runtime.
#[derive(Default)]
pub struct Expander {
    session: Session,
    files: Files,
    names: Names,
    environments: Vec<Environment>,
    /// The program runs on a library that was compiled beforehand.
    on_library: bool,
}

/// A new expander, for [`cairn_rt::Options::evaluator`].
pub fn new(options: &Options) -> Box<dyn Evaluator> {
    Box::new(Expander { files: Files::new(options.library_path.clone()), ..Expander::default() })
}

/// A new expander for programs on a library that was compiled beforehand.
pub fn on_library(options: &Options, library: Arc<dyn BootLibrary>) -> Box<dyn Evaluator> {
    Box::new(Expander {
        files: Files::new(options.library_path.clone()),
        names: Names::on_library(library.clone()).with_cells_from(options.first_cell),
        session: Session::on_library(library),
        on_library: true,
        ..Expander::default()
    })
}

impl Evaluator for Expander {
    fn start(&mut self, libraries: Vec<String>, keys: Vec<String>) -> Result<(), String> {
        if self.on_library {
            return Ok(()); // it tells all that is to be known
        }
        let libraries: Vec<LibraryName> = libraries.iter().filter_map(|l| LibraryName::parse(l)).collect();
        self.session.preload(&libraries, &mut self.files).map_err(message)?;
        self.names = Names::new(&self.session, &keys);
        Ok(())
    }

    fn environment(&mut self, sets: Option<&str>) -> Result<i64, String> {
        self.environments.push(self.session.environment(sets, &mut self.files).map_err(message)?);
        Ok(self.environments.len() as i64 - 1)
    }

    fn expand(&mut self, text: &str, environment: i64) -> Result<Data, String> {
        let environment = usize::try_from(environment).ok().and_then(|n| self.environments.get(n));
        let environment = *environment.ok_or("no such environment")?;
        let names = &mut self.names;
        let code = self.session.expand_in(environment, text, &mut self.files, |program| {
            cairn_core::passes::prepare(program);
            encode::program(program, names)
        });
        code.map_err(message)?
    }
}

/// The first message, with the text that it is about.
fn message(failed: Failed) -> String {
    let Some(d) = failed.errors.first() else { return "this cannot be expanded".into() };
    let text = failed.sources.get(d.span.file as usize).map_or("", |f| &f.text);
    let place = text.get(d.span.start as usize..d.span.end as usize).unwrap_or("");
    let place: String = place.chars().take(80).collect();
    let mut message = d.message.clone();
    if !place.is_empty() {
        message += &format!(": {place}");
    }
    if let Some(help) = &d.help {
        message += &format!(" ({help})");
    }
    message
}

/// `main` of an executable that evaluates: [`cairn_rt::start::cairn_rt_main`] with an expander.
///
/// # Safety
/// Called by the executable's `main` with its arguments, its module, and where its code begins and ends.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_eval_main(
    argc: c_int,
    argv: *const *const c_char,
    table: *const ModuleTable,
    code: *const c_char,
    code_end: *const c_char,
) -> c_int {
    // SAFETY: by the contract of this function.
    unsafe { run_executable(argc, argv, table, code as u64..code_end as u64, Some(MakeEvaluator(Arc::new(new)))) }
}
