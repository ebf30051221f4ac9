//! Source file → object code, stage by stage.
//!
//! `run`, `build` and `--emit` (`emit.rs`) all go through these stages; they differ in where they stop.

use crate::Failure;
use crate::cli::{CompileOptions, Level};
use crate::diagnostics;
use crate::library::{BUILT_IN, Files, read_source};
use cairn_core::ir::{GlobalId, Program};
use cairn_core::passes;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A compiled program.
pub struct Compiled {
    /// Object file.
    pub object: Vec<u8>,
    /// What it depends on.
    pub source: Source,
}

/// What a program was made of, and what there was to say about it.
pub struct Source {
    /// Files that were read (built-in libraries excluded).
    pub files: Vec<PathBuf>,
    /// Warnings, as they were shown.
    pub warnings: String,
}

/// Measures stages for `--time`.
struct Clock {
    on: bool,
    last: Instant,
}

impl Clock {
    fn new(options: &CompileOptions) -> Clock {
        Clock { on: options.time, last: Instant::now() }
    }
    fn lap(&mut self, stage: &str) {
        if self.on {
            eprintln!("{stage:>10} {:8.1} ms", self.last.elapsed().as_secs_f64() * 1e3);
            self.last = Instant::now();
        }
    }
}

/// Reads and expands the program.
pub fn front(file: &Path) -> Result<(Program, Source), Failure> {
    let text = read_source(file)?;
    let path = file.display().to_string();
    let mut files = Files::new(file);
    let mut session = cairn_syntax::Session::new();
    match session.expand_program(&path, &text, &mut files) {
        Ok(expanded) => {
            let warnings = diagnostics::warnings(&expanded.warnings, &expanded.sources);
            eprint!("{warnings}");
            let read = expanded.dependencies.into_iter().map(|(path, _)| path);
            let files = std::iter::once(path)
                .chain(read.filter(|path| !path.starts_with(BUILT_IN)))
                .map(PathBuf::from)
                .collect();
            Ok((expanded.program, Source { files, warnings }))
        }
        Err(failed) => {
            diagnostics::errors(&failed.errors, &failed.sources);
            Err(Failure::Reported)
        }
    }
}

/// Optimizes; says which globals are bound whenever they are read.
pub fn optimize(program: &mut Program, options: &CompileOptions) -> Vec<bool> {
    let level = match options.level {
        Level::Low => passes::Opt::Low,
        Level::High => passes::Opt::High,
    };
    passes::optimize(program, level, options.verify, &mut |_, _| {});
    let facts = passes::known::analyze(program);
    (0..program.globals.len()).map(|g| facts.always_bound(GlobalId(g as u32))).collect()
}

/// The program as Frame IR, and where it comes from.
pub fn lower(file: &Path, options: &CompileOptions) -> Result<(cairn_frame::ir::Module, Source), Failure> {
    let mut clock = Clock::new(options);
    let (mut program, source) = front(file)?;
    clock.lap("expand");
    let always_bound = optimize(&mut program, options);
    clock.lap("optimize");
    let module = cairn_frame::lower(&program, &always_bound, options.frames);
    if options.verify
        && let Err(complaints) = cairn_frame::verify::verify(&module)
    {
        panic!("the Frame IR is wrong:\n  {}", complaints.join("\n  "));
    }
    clock.lap("frame");
    Ok((module, source))
}

/// The module as LLVM IR.
pub fn llvm(module: &cairn_frame::ir::Module) -> String {
    cairn_llvm::emit_module(module)
}

/// LLVM's level of optimization.
pub fn llvm_level(options: &CompileOptions) -> cairn_llvm::OptLevel {
    match options.level {
        Level::Low => cairn_llvm::OptLevel::Low,
        Level::High => cairn_llvm::OptLevel::High,
    }
}

/// Compiles the program to object code.
pub fn compile(file: &Path, options: &CompileOptions) -> Result<Compiled, Failure> {
    let (module, source) = lower(file, options)?;
    let mut clock = Clock::new(options);
    let text = llvm(&module);
    if options.verify
        && let Err(complaint) = cairn_llvm::backend::verify(&text)
    {
        panic!("the LLVM IR is wrong:\n{complaint}");
    }
    clock.lap("emit");
    let object = cairn_llvm::compile_to_object(&text, llvm_level(options))?;
    clock.lap("llvm");
    Ok(Compiled { object, source })
}
