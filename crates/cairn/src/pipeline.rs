//! Source text → object code, stage by stage.
//!
//! Compiling and printing a stage (`emit.rs`) go through these stages; they differ in where they stop.

use crate::boot;
use crate::compiled::Kind;
use crate::diagnostics::Messages;
use crate::error::Error;
use crate::open_program::OpenProgram;
use crate::options::Level;
use crate::session::Compiler;
use crate::source::Source;
use crate::sources::Files;
use crate::stages::{Clock, always_bound, lower_program, optimize, prepared};
use cairn_core::ir::{GlobalId, Program, TopForm};
use cairn_core::passes;
use cairn_core::{copies, globals};
use cairn_layout::calls::by_symbol;
use cairn_syntax::{CExport, Session};
use std::time::Instant;

/// A program that was read and expanded.
pub(crate) struct Front {
    pub(crate) program: Program,
    pub(crate) warnings: Messages,
    /// Those that hold whatever the program loads or evaluates.
    pub(crate) certain: Messages,
    /// What C may call in a shared library.
    pub(crate) exports: Vec<CExport>,
    /// When that began.
    began: Instant,
}

/// Reads and expands the program, as if it were none that is open to others.
pub(crate) fn front(source: &Source, files: &mut Files) -> Result<Front, Error> {
    expanded(&mut Session::new(), source, files)
}

fn expanded(session: &mut Session, source: &Source, files: &mut Files) -> Result<Front, Error> {
    let began = Instant::now();
    match session.expand_program(&source.path.display().to_string(), &source.text, files) {
        Ok(expanded) => {
            let warnings = Messages::warnings(&expanded.warnings, &expanded.sources);
            let certain = Messages::certain(&expanded.warnings, &expanded.sources);
            let exports = expanded.c_exports;
            Ok(Front { program: without_hidden(source, expanded.program), warnings, certain, exports, began })
        }
        Err(failed) => Err(Error::Rejected(Messages::errors(&failed.errors, &failed.sources))),
    }
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

/// The program, if it is one that is to be evaluated form by form, and warnings; else as [`front`].
pub(crate) fn front_or_open(
    compiler: &Compiler,
    source: &Source,
    files: &mut Files,
) -> Result<Result<(OpenProgram, Messages), Front>, Error> {
    let mut session = prepared(Session::new(), &compiler.options);
    if compiler.shared {
        session.serve_c();
        return expanded(&mut session, source, files).map(Err);
    }
    let front = expanded(&mut session, source, files);
    compiler.note_points(&session)?;
    // what is wrong may be what is loaded
    match OpenProgram::found(&session, source, files) {
        Some(open) => Ok(Ok((open, front.map_or_else(|_| Messages::default(), |f| f.certain)))),
        None => front.map(Err),
    }
}

/// The program behind [`front`] as Frame IR, the warnings, and what it takes to run it. If it evaluates, it is compiled
/// `on_library`, if that is wanted and possible.
pub(crate) fn lower(
    compiler: &Compiler,
    Front { mut program, mut warnings, certain: _, exports: _, began }: Front,
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
