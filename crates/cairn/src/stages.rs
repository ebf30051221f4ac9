//! The stages behind the expander, each by itself: Core is optimized, lowered to Frame IR, and made object code.

use crate::error::Error;
use crate::options::{Backend, CompileOptions, Level};
use crate::session::Compiler;
use crate::stage_report::StageReport;
use cairn_core::ir::{GlobalId, Program};
use cairn_core::passes;
use cairn_syntax::Session;
use std::num::NonZeroU64;
use std::time::Instant;

/// Statements and ends of blocks.
fn statements(module: &cairn_frame::ir::Module) -> usize {
    module.functions.iter().flat_map(|f| &f.blocks).map(|b| b.stmts.len() + 1).sum()
}

/// Tells a session's observer what each stage took and made.
pub(crate) struct Clock<'a> {
    pub(crate) compiler: &'a Compiler,
    pub(crate) last: Instant,
}

impl Clock<'_> {
    fn start(compiler: &Compiler) -> Clock<'_> {
        Clock { compiler, last: Instant::now() }
    }
    /// A stage has ended; what it made is so large.
    pub(crate) fn lap(&mut self, stage: &str, size: impl FnOnce() -> usize, unit: &str) {
        if let Some(observer) = self.compiler.observer {
            let time = self.last.elapsed();
            observer(&StageReport { stage: stage.into(), time, size: size(), unit: unit.into() });
            self.last = Instant::now();
        }
    }
}

/// A session that expands what is compiled so.
pub(crate) fn prepared(mut session: Session, options: &CompileOptions) -> Session {
    session.choose_compact(options.compact);
    if options.coverage {
        session.count_evaluations();
    }
    session
}

/// Optimizes; says which globals are bound whenever they are read.
pub(crate) fn optimize(program: &mut Program, options: &CompileOptions) -> Vec<bool> {
    let level = match options.level {
        Level::Low => passes::Opt::Low,
        Level::Auto | Level::High => passes::Opt::High,
    };
    passes::optimize_without(program, level, options.disabled, options.verify, &mut |_, _| {});
    always_bound(program)
}

/// Which globals are bound whenever they are read.
pub(crate) fn always_bound(program: &Program) -> Vec<bool> {
    let facts = passes::known::analyze(program);
    (0..program.globals.len()).map(|g| facts.always_bound(GlobalId(g as u32))).collect()
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

/// Who makes machine code, and how well.
pub(crate) fn llvm_level(options: &CompileOptions) -> cairn_llvm::OptLevel {
    match (options.level, options.backend) {
        (Level::Auto | Level::High, Backend::Full) => cairn_llvm::OptLevel::High,
        _ if options.frames.is_joined() => cairn_llvm::OptLevel::LowNative,
        _ => cairn_llvm::OptLevel::Own,
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
    clock.lap(maker(level), || object.len(), "bytes of object code");
    Ok(object)
}

/// What makes object code at a level, as a stage.
fn maker(level: cairn_llvm::OptLevel) -> &'static str {
    match level {
        cairn_llvm::OptLevel::Own => "own code",
        _ => "llvm",
    }
}

/// What is to be made of a module that a program waits for, more or less.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Effort {
    /// Code that is there at once and can be replaced. Where only LLVM can make it, the best code of a small module.
    First,
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

/// LLVM makes the best code of so many bytes of its IR in the time for which a module gets room for an expression.
const BYTES: usize = 83;
/// Of so many bytes, the best code is made at once however short the program has run: a quarter of a second.
const AT_ONCE: usize = 264_000;

/// Compiles a module of hot code, for which there was so much room, to object code. The best code at once may take as
/// long as the program has run.
pub(crate) fn hot_object(
    compiler: &Compiler,
    module: &cairn_frame::ir::Module,
    effort: Effort,
    room: usize,
) -> Result<HotObject, Error> {
    let mut clock = Clock::start(compiler);
    let text = text(compiler, module, &mut clock);
    let best = llvm_level(&compiler.options);
    let quick = llvm_level(&CompileOptions { backend: Backend::Own, ..compiler.options });
    let is_small = quick != cairn_llvm::OptLevel::Own && text.len() <= AT_ONCE.max(room * BYTES);
    let is_best = effort == Effort::First && (best == quick || is_small);
    let (object, level) = match effort {
        Effort::Again => (cairn_llvm::backend::compile_functions(&text, best)?, best),
        _ if is_best => (cairn_llvm::compile_to_object(&text, best)?, best),
        _ => (cairn_llvm::backend::compile_replaceable(&text, quick)?, quick),
    };
    clock.lap(maker(level), || object.len(), "bytes of object code");
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
    let level = llvm_level(&compiler.options);
    let object = cairn_llvm::backend::compile_in_parts(&text, level, 1)?;
    clock.lap(maker(level), || object.len(), "bytes of object code");
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
