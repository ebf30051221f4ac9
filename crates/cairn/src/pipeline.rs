//! Source file → object code, stage by stage.
//!
//! `run`, `build` and `--emit` all go through [`front`] and the stages below; they differ in where they stop.

use crate::Failure;
use crate::cli::{CompileOptions, Level};
use crate::diagnostics;
use crate::library::{BUILT_IN, Files, read_source};
use cairn_core::ir::{GlobalId, Program};
use cairn_core::passes;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A stage whose result can be printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Core after expansion.
    Core,
    /// Core after optimization.
    Opt,
    /// Frame IR.
    Frame,
    /// LLVM IR as emitted.
    Llvm,
    /// Assembly.
    Asm,
}

impl Stage {
    /// Names on the command line.
    pub const NAMES: [&'static str; 5] = ["core", "opt", "frame", "llvm", "asm"];

    /// The stage with this name.
    pub fn by_name(name: &str) -> Option<Stage> {
        let stages = [Stage::Core, Stage::Opt, Stage::Frame, Stage::Llvm, Stage::Asm];
        Stage::NAMES.iter().position(|n| *n == name).map(|i| stages[i])
    }
}

/// A compiled program.
pub struct Compiled {
    /// Object file.
    pub object: Vec<u8>,
    /// Files that were read (built-in libraries excluded).
    pub dependencies: Vec<PathBuf>,
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
fn front(file: &Path) -> Result<(Program, Vec<PathBuf>), Failure> {
    let text = read_source(file)?;
    let path = file.display().to_string();
    let mut files = Files::new(file);
    let mut session = cairn_syntax::Session::new();
    match session.expand_program(&path, &text, &mut files) {
        Ok(expanded) => {
            diagnostics::warnings(&expanded.warnings, &expanded.sources);
            let read = expanded.dependencies.into_iter().map(|(path, _)| path);
            let dependencies = std::iter::once(path)
                .chain(read.filter(|path| !path.starts_with(BUILT_IN)))
                .map(PathBuf::from)
                .collect();
            Ok((expanded.program, dependencies))
        }
        Err(failed) => {
            diagnostics::errors(&failed.errors, &failed.sources);
            Err(Failure::Reported)
        }
    }
}

fn optimize(program: &mut Program, options: &CompileOptions) -> Vec<bool> {
    let level = match options.level {
        Level::Low => passes::Opt::Low,
        Level::High => passes::Opt::High,
    };
    passes::optimize(program, level, options.verify, &mut |_, _| {});
    let facts = passes::known::analyze(program);
    (0..program.globals.len()).map(|g| facts.always_bound(GlobalId(g as u32))).collect()
}

fn lower(
    file: &Path,
    options: &CompileOptions,
    clock: &mut Clock,
) -> Result<(cairn_frame::ir::Module, Vec<PathBuf>), Failure> {
    let (mut program, dependencies) = front(file)?;
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
    Ok((module, dependencies))
}

fn emit_options() -> cairn_llvm::EmitOptions {
    cairn_llvm::EmitOptions::default()
}

fn llvm_level(options: &CompileOptions) -> cairn_llvm::OptLevel {
    match options.level {
        Level::Low => cairn_llvm::OptLevel::Low,
        Level::High => cairn_llvm::OptLevel::High,
    }
}

/// Compiles the program to object code.
pub fn compile(file: &Path, options: &CompileOptions) -> Result<Compiled, Failure> {
    let mut clock = Clock::new(options);
    let (module, dependencies) = lower(file, options, &mut clock)?;
    let text = cairn_llvm::emit_module(&module, &emit_options());
    clock.lap("emit");
    let object = cairn_llvm::compile_to_object(&text, llvm_level(options))?;
    clock.lap("llvm");
    Ok(Compiled { object, dependencies })
}

/// Prints a stage.
pub fn emit(file: &Path, options: &CompileOptions, stage: Stage) -> Result<String, Failure> {
    let mut clock = Clock::new(options);
    if matches!(stage, Stage::Core | Stage::Opt) {
        let (mut program, _) = front(file)?;
        if stage == Stage::Opt {
            optimize(&mut program, options);
        } else {
            let facts = passes::known::analyze(&program);
            passes::shake::run(&mut program, &facts);
        }
        return Ok(cairn_core::print::print_program(&program));
    }
    let (module, _) = lower(file, options, &mut clock)?;
    if stage == Stage::Frame {
        return Ok(cairn_frame::print::print_module(&module));
    }
    let text = cairn_llvm::emit_module(&module, &emit_options());
    if stage == Stage::Llvm {
        return Ok(text);
    }
    Ok(cairn_llvm::compile_to_assembly(&text, llvm_level(options))?)
}
