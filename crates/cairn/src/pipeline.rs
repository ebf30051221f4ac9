//! Source text → object code, stage by stage.
//!
//! Compiling and printing a stage (`emit.rs`) go through these stages; they differ in where they stop.

use crate::Error;
use crate::boot;
use crate::compiler::{Compiler, Kind};
use crate::diagnostics::Messages;
use crate::open_program::OpenProgram;
use crate::options::{Backend, CompileOptions, Level};
use crate::sources::{Files, Source};
use crate::stage_report::StageReport;
use cairn_core::ir::{GlobalId, Program, TopForm};
use cairn_core::passes;
use cairn_core::{copies, globals};
use cairn_layout::calls::by_symbol;
use cairn_syntax::{CExport, Session};
use std::num::NonZeroU64;
use std::time::Instant;

/// Statements and ends of blocks.
fn statements(module: &cairn_frame::ir::Module) -> usize {
    module.functions.iter().flat_map(|f| &f.blocks).map(|b| b.stmts.len() + 1).sum()
}

/// Tells a session's observer what each stage took and made.
struct Clock<'a> {
    compiler: &'a Compiler,
    last: Instant,
}

impl Clock<'_> {
    fn start(compiler: &Compiler) -> Clock<'_> {
        Clock { compiler, last: Instant::now() }
    }
    /// A stage has ended; what it made is so large.
    fn lap(&mut self, stage: &str, size: impl FnOnce() -> usize, unit: &str) {
        if let Some(observer) = self.compiler.observer {
            let time = self.last.elapsed();
            observer(&StageReport { stage: stage.into(), time, size: size(), unit: unit.into() });
            self.last = Instant::now();
        }
    }
}

/// A program that was read and expanded.
pub(crate) struct Front {
    pub(crate) program: Program,
    pub(crate) warnings: Messages,
    /// What C may call in a shared library.
    pub(crate) exports: Vec<CExport>,
    /// When that began.
    began: Instant,
}

/// Reads and expands the program, as if it were none that is open to others.
pub(crate) fn front(source: &Source, files: &mut Files) -> Result<Front, Error> {
    expanded(&mut Session::new(), source, files)
}

/// A session that expands what is compiled so.
pub(crate) fn prepared(mut session: Session, options: &CompileOptions) -> Session {
    session.choose_compact(options.compact);
    if options.coverage {
        session.count_evaluations();
    }
    session
}

fn expanded(session: &mut Session, source: &Source, files: &mut Files) -> Result<Front, Error> {
    let began = Instant::now();
    match session.expand_program(&source.path.display().to_string(), &source.text, files) {
        Ok(expanded) => {
            let warnings = Messages::warnings(&expanded.warnings, &expanded.sources);
            let exports = expanded.c_exports;
            Ok(Front { program: without_hidden(source, expanded.program), warnings, exports, began })
        }
        Err(failed) => Err(Error::Rejected(Messages::errors(&failed.errors, &failed.sources))),
    }
}

/// Optimizes; says which globals are bound whenever they are read.
pub(crate) fn optimize(program: &mut Program, options: &CompileOptions) -> Vec<bool> {
    let level = match options.level {
        Level::Low => passes::Opt::Low,
        Level::Auto | Level::High => passes::Opt::High,
    };
    passes::optimize(program, level, options.verify, &mut |_, _| {});
    always_bound(program)
}

/// Which globals are bound whenever they are read.
pub(crate) fn always_bound(program: &Program) -> Vec<bool> {
    let facts = passes::known::analyze(program);
    (0..program.globals.len()).map(|g| facts.always_bound(GlobalId(g as u32))).collect()
}

/// The front of the compiler on the library compiled beforehand, with the forms of that, if its procedures are to be
/// inlined; `None` when the program needs what it does not export.
fn front_on(
    library: boot::Library,
    compiler: &Compiler,
    source: &Source,
    files: &mut Files,
) -> Result<Option<(Program, Vec<TopForm>, Messages)>, Error> {
    let mut session = prepared(Session::on_library(library.index()), &compiler.options);
    if compiler.options.level != Level::Low {
        session.keep_library_forms();
    }
    match session.expand_program(&source.path.display().to_string(), &source.text, files) {
        Ok(expanded) if expanded.missing.is_empty() => {
            compiler.note_points(&session)?;
            let warnings = Messages::warnings(&expanded.warnings, &expanded.sources);
            Ok(Some((without_hidden(source, expanded.program), expanded.library, warnings)))
        }
        Ok(_) => Ok(None),
        Err(failed) => Err(Error::Rejected(Messages::errors(&failed.errors, &failed.sources))),
    }
}

/// The program without the text of a source that is hidden.
fn without_hidden(source: &Source, mut program: Program) -> Program {
    let path = source.path.display().to_string();
    let same = program.sources.iter_mut().filter(|s| source.hidden && *s.path == *path);
    same.for_each(|s| s.library = true);
    program.hidden = source.hidden;
    program
}

/// The program, if it is one that is to be evaluated form by form; else as [`front`].
pub(crate) fn front_or_open(
    compiler: &Compiler,
    source: &Source,
    files: &mut Files,
) -> Result<Result<OpenProgram, Front>, Error> {
    let mut session = prepared(Session::new(), &compiler.options);
    if compiler.shared {
        session.serve_c();
        return expanded(&mut session, source, files).map(Err);
    }
    let front = expanded(&mut session, source, files);
    compiler.note_points(&session)?;
    // what is wrong may be what is loaded
    match OpenProgram::found(&session, source, files) {
        Some(open) => Ok(Ok(open)),
        None => front.map(Err),
    }
}

/// The program behind [`front`] as Frame IR, the warnings, and what it takes to run it. If it evaluates, it is compiled
/// `on_library`, if that is wanted and possible.
pub(crate) fn lower(
    compiler: &Compiler,
    Front { mut program, mut warnings, exports: _, began }: Front,
    source: &Source,
    files: &mut Files,
    on_library: bool,
) -> Result<(cairn_frame::ir::Module, Messages, Kind), Error> {
    let options = &compiler.options;
    let mut clock = Clock { compiler, last: began };
    let mut library_forms = Vec::new();
    let mut kind = Kind::Whole;
    if evaluates(&mut program) {
        kind = Kind::Evaluating;
        if on_library
            && let Some(library) = compiler.boot()
            && let Some(parts) = front_on(library, compiler, source, files)?
        {
            (program, library_forms, warnings) = parts;
            kind = Kind::OnLibrary;
        }
    }
    clock.lap("expand", || program.expressions(), "expressions");
    let copies = copies::add(&mut program, library_forms);
    let mut bound = optimize(&mut program, options);
    if kind == Kind::OnLibrary {
        copies::remove(&mut program, copies);
        globals::compact(&mut program);
        bound = always_bound(&program);
    }
    clock.lap("optimize", || program.expressions(), "expressions");
    let mut module = lower_program(compiler, &program, &bound);
    // All of the library is in programs that evaluate. They have no places: their code would be slower for nothing.
    module.shared = kind == Kind::Whole && module.calls(const { by_symbol("cairn_place_types") });
    Ok((module, warnings, kind))
}

/// Does the program evaluate? Then the variable that gives the evaluator what it needs is still in it without what
/// nothing needs.
pub(crate) fn evaluates(program: &mut Program) -> bool {
    let bindings = |f: &TopForm| match f {
        TopForm::Define(g, _) => Some(*g),
        TopForm::Expr(_) => None,
    };
    let is_it = |program: &Program, g: GlobalId| {
        let info = &program.globals[g.0 as usize];
        info.library && &*info.name == cairn_syntax::RUNNING_BINDINGS
    };
    let among = |program: &Program| program.forms.iter().filter_map(bindings).any(|g| is_it(program, g));
    if !among(program) {
        return false;
    }
    let facts = passes::known::analyze(program);
    passes::shake::run(program, &facts);
    among(program)
}

/// Optimized Core as Frame IR.
pub(crate) fn lower_program(
    compiler: &Compiler,
    program: &Program,
    always_bound: &[bool],
) -> cairn_frame::ir::Module {
    let mut clock = Clock::start(compiler);
    let module = cairn_frame::lower(program, always_bound, compiler.options.frames);
    if compiler.options.verify
        && let Err(complaints) = cairn_frame::verify::verify(&module)
    {
        panic!("the Frame IR is wrong:\n  {}", complaints.join("\n  "));
    }
    clock.lap("frame", || statements(&module), "statements");
    module
}

/// LLVM's level of optimization.
pub(crate) fn llvm_level(options: &CompileOptions) -> cairn_llvm::OptLevel {
    match (options.level, options.backend) {
        (Level::Auto | Level::High, Backend::Full) => cairn_llvm::OptLevel::High,
        _ if options.frames.native => cairn_llvm::OptLevel::LowNative,
        _ => cairn_llvm::OptLevel::Low,
    }
}

/// Compiles the module to object code.
pub(crate) fn object(compiler: &Compiler, module: &cairn_frame::ir::Module) -> Result<Vec<u8>, Error> {
    let mut clock = Clock::start(compiler);
    let text = text(compiler, module, &mut clock);
    let level = llvm_level(&compiler.options);
    // objects with debug information cannot be put together
    let object = match compiler.options.debug {
        one_part if compiler.shared => cairn_llvm::backend::compile_position_independent(&text, level, one_part)?,
        true => cairn_llvm::backend::compile_in_parts(&text, level, 1)?,
        false => cairn_llvm::compile_to_object(&text, level)?,
    };
    clock.lap("llvm", || object.len(), "bytes of object code");
    Ok(object)
}

/// What LLVM is to make of a module that a program waits for, more or less.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Effort {
    /// The best code if the module is small, and else code that can be replaced.
    BySize,
    /// Code that can be replaced.
    Quick,
    /// What takes the place of such code.
    Again,
}

/// A module of hot code.
#[derive(Clone, Debug)]
pub(crate) struct HotObject {
    pub(crate) object: Vec<u8>,
    /// Which LLVM IR it was made of, if it can be replaced or is to replace another one.
    pub(crate) text: Option<NonZeroU64>,
}

/// LLVM makes the best code of so many bytes of its IR in about a tenth of a second.
const SMALL: usize = 100_000;

/// Compiles a module of hot code to object code.
pub(crate) fn hot_object(
    compiler: &Compiler,
    module: &cairn_frame::ir::Module,
    effort: Effort,
) -> Result<HotObject, Error> {
    let mut clock = Clock::start(compiler);
    let text = text(compiler, module, &mut clock);
    let best = llvm_level(&compiler.options);
    let quick = llvm_level(&CompileOptions { backend: Backend::Quick, ..compiler.options });
    let is_best = effort == Effort::BySize && (text.len() <= SMALL || best == quick);
    let object = match effort {
        Effort::Again => cairn_llvm::backend::compile_functions(&text, best)?,
        _ if is_best => cairn_llvm::compile_to_object(&text, best)?,
        _ => cairn_llvm::backend::compile_replaceable(&text, quick)?,
    };
    clock.lap("llvm", || object.len(), "bytes of object code");
    let text = (!is_best).then(|| NonZeroU64::new(xxhash_rust::xxh3::xxh3_64(text.as_bytes()) | 1)).flatten();
    Ok(HotObject { object, text })
}

/// Compiles a module that is one of several in an executable to object code: see [`cairn_llvm::beside`].
pub(crate) fn object_beside(
    compiler: &Compiler,
    module: &cairn_frame::ir::Module,
    name: &str,
) -> Result<Vec<u8>, Error> {
    let mut clock = Clock::start(compiler);
    let text = cairn_llvm::beside(&text(compiler, module, &mut clock), name);
    let object = cairn_llvm::backend::compile_in_parts(&text, llvm_level(&compiler.options), 1)?;
    clock.lap("llvm", || object.len(), "bytes of object code");
    Ok(object)
}

/// What the code is to say of itself.
pub(crate) fn notes(compiler: &Compiler) -> cairn_llvm::Notes {
    let options = &compiler.options;
    cairn_llvm::Notes { sites: options.sites, debug: options.debug, anywhere: compiler.shared }
}

/// The module as LLVM IR.
fn text(compiler: &Compiler, module: &cairn_frame::ir::Module, clock: &mut Clock) -> String {
    let options = &compiler.options;
    let text = cairn_llvm::emit_module_with(module, options.gc, notes(compiler));
    if options.verify
        && let Err(complaint) = cairn_llvm::backend::verify(&text)
    {
        panic!("the LLVM IR is wrong:\n{complaint}");
    }
    clock.lap("emit", || text.len(), "bytes of LLVM IR");
    text
}
