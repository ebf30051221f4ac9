//! The compiler as a value: sources in, programs out.

use crate::check::Findings;
use crate::compiled::{Compiled, Kind};
use crate::diagnostics::Messages;
use crate::emit::{self, Stage};
use crate::error::Error;
use crate::evaluated::{self, Evaluation};
use crate::open_run::UnitObject;
use crate::session::Compiler;
use crate::source::Source;
use crate::sources::Files;
use crate::unit_modules::UnitModules;
use crate::{boot, check, link, pipeline, shared_library, stages};
use cairn_layout::module::ModuleTable;
use cairn_rt::MakeEvaluator;
use cairn_rt::Options as RunOptions;
use cairn_rt::start::{OnLibrary, run_on_library, run_program};
use link::Link;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

impl Compiler {
    /// The program, compiled: from the cache, or now. One that evaluates is compiled on the library that was compiled
    /// beforehand.
    pub fn compile(&self, source: &Source) -> Result<Compiled, Error> {
        if self.shared {
            shared_library::check(&self.options)?;
        }
        match self.compiled_before(source) {
            Some(compiled) => Ok(compiled),
            None => self.compile_with(source, &mut self.files(source)),
        }
    }

    /// The program to be evaluated in this process, and compiled where it is hot; `None` when it must be compiled as a
    /// whole.
    pub fn evaluate(&self, source: &Source) -> Result<Option<Evaluation>, Error> {
        evaluated::prepare(self, source, &mut self.files(source))
    }

    /// The program, if it was compiled before and nothing has changed since.
    pub fn compiled_before(&self, source: &Source) -> Option<Compiled> {
        self.entry(source)?.find()
    }

    /// Compiles and keeps what is compiled.
    pub(crate) fn compile_with(&self, source: &Source, files: &mut Files) -> Result<Compiled, Error> {
        let front = match pipeline::front_or_open(self, source, files)? {
            Err(front) => front,
            Ok((open, warnings)) => {
                let kind = Kind::OnLibrary;
                let (object, exports) = (Vec::new(), Vec::new());
                return Ok(Compiled { object, warnings, kind, open: Some(open), exports, c_sources: Vec::new() });
            }
        };
        let exports = front.exports.clone();
        // the library compiled beforehand has a fixed place, where only one could be
        let (module, warnings, kind) = pipeline::lower(self, front, source, files, !self.shared)?;
        let object = stages::object(self, &module)?;
        let c_sources = files.c_sources();
        let compiled = Compiled { object, warnings, kind, open: None, exports, c_sources };
        if let (Some(entry), Some(dependencies)) = (self.entry(source), files.dependencies()) {
            entry.keep(&compiled, dependencies);
        }
        Ok(compiled)
    }

    /// Compiles the library beforehand, unless that was done.
    pub fn prepare(&self) -> Result<(), Error> {
        boot::find_or_make(self).map(|_| ())
    }

    /// Runs a procedure of the library that takes no arguments, by its key. `program` does the same, for when another
    /// library stands for the one that was compiled. `path` names what is run.
    pub(crate) fn run_library_procedure(
        &self,
        key: &str,
        program: &str,
        path: &Path,
        options: RunOptions,
    ) -> Result<i32, Error> {
        let Some(library) = self.boot() else {
            let program = format!("{}{program}", self.compiled_imports());
            return self.compile(&Source::new(path, program))?.run(self, options);
        };
        let index = library.index();
        let export = index.number(key).ok_or_else(|| format!("the library has no {key}"))?;
        let loaded = library.load()?;
        let modules = Arc::new(UnitModules::new(self, path));
        let evaluator = MakeEvaluator(Arc::new(move |o: &RunOptions| {
            cairn_eval::on_library(o, index.clone(), Some(modules.clone()))
        }));
        let options = RunOptions { evaluator: Some(evaluator), ..options };
        // SAFETY: `loaded` keeps the library's table and code until the end of this function, and `code` says where the
        // code lies.
        #[allow(unsafe_code)]
        Ok(unsafe { run_on_library(options, (loaded.table, loaded.code.code()), OnLibrary::Export(export)) })
    }

    /// Imports of the libraries of a directory for which evaluation would not do: their primitives are compiled code's.
    fn compiled_imports(&self) -> String {
        let Some(directory) = &self.library else { return String::new() };
        let names = cairn_eval::library_loader::compiled_names().into_iter();
        let own = names.filter(|name| name.path().starts_with("cairn/"));
        let there = own.filter(|name| directory.join(format!("{}.sld", name.path())).is_file());
        there.map(|name| format!("(import (only {name}))")).collect()
    }

    /// What there is to say about each of these programs and files of libraries, without compiling them.
    pub fn check<'a>(&'a self, sources: impl Iterator<Item = Source> + 'a) -> impl Iterator<Item = Findings> + 'a {
        check::all(self, sources)
    }

    /// The program as text at a stage of compilation, or its procedures called `only`; and the warnings.
    pub fn emit(&self, source: &Source, stage: Stage, only: Option<&str>) -> Result<(String, Messages), Error> {
        emit::emit(self, source, &mut self.files(source), stage, only)
    }
}

impl Compiled {
    /// Runs the program in this process, in a runtime of its own, and returns its exit status. A program that calls
    /// `exit`, or leaves an exception uncaught, ends the process. `compiler` compiled it.
    pub fn run(&self, compiler: &Compiler, options: RunOptions) -> Result<i32, Error> {
        if let Some(open) = &self.open {
            if std::io::stderr().is_terminal() {
                eprintln!(
                    "cairn: this program loads or evaluates code that may define its names again: it is evaluated, and \
                     what is hot compiled, whatever --opt says"
                );
            }
            return open.run(compiler, options);
        }
        let code = cairn_llvm::Jit::load_object(&self.object)?;
        let table = code.lookup("cairn_module").ok_or("the compiled program has no module table".to_string())?
            as *const ModuleTable;
        if compiler.options.debug {
            code.announce(&self.object)?;
        }
        let mut options = options;
        options.evaluator = Some(MakeEvaluator(Arc::new(cairn_eval::new)));
        let mut library = None;
        if self.kind == Kind::OnLibrary {
            let file = boot::find_or_make_soon(compiler)?;
            library = Some(file.load()?);
            let index = file.index();
            options.evaluator =
                Some(MakeEvaluator(Arc::new(move |o| cairn_eval::on_library(o, index.clone(), None))));
        }
        // SAFETY: `code` and `library` keep tables and code until the end of this function, and say where the code
        // lies.
        #[allow(unsafe_code)]
        Ok(unsafe {
            match &library {
                None => run_program(options, table, code.code()),
                Some(library) => {
                    let program = OnLibrary::Module((table, code.code()));
                    run_on_library(options, (library.table, library.code.code()), program)
                }
            }
        })
    }

    /// Makes an executable of the program, which needs nothing else; or a shared library with a header beside it, if
    /// that is what the session makes. `compiler` compiled it.
    pub fn build(&self, compiler: &Compiler, output: &Path) -> Result<(), Error> {
        if compiler.shared {
            return shared_library::build(self, compiler.options.debug, output);
        }
        if let Some(open) = &self.open {
            let (whole, units) = (compiler.compile(&open.whole())?, open.modules(compiler));
            let with_units = whole.link(compiler, &units, output);
            // what a module wants of C may be there only when the program runs
            return if units.is_empty() || with_units.is_ok() {
                with_units
            } else {
                whole.link(compiler, &[], output)
            };
        }
        self.link(compiler, &[], output)
    }

    /// Makes the executable, with these modules for what the program loads or evaluates.
    fn link(&self, compiler: &Compiler, units: &[UnitObject], output: &Path) -> Result<(), Error> {
        let library = match self.kind {
            Kind::OnLibrary => Some(boot::find_or_make(compiler)?),
            Kind::Whole | Kind::Evaluating => None,
        };
        let runtime = match &library {
            Some(library) => Link::OnLibrary(library.parts(), units),
            None if self.kind == Kind::Evaluating => Link::Evaluating,
            None => Link::Runtime,
        };
        link::executable(self, runtime, compiler.options.debug, output)
    }
}
