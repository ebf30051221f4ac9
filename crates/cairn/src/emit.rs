//! `--emit=STAGE` prints a program at a stage of compilation; `--only=NAME` just the procedures of that name.
//!
//! The library takes part in every stage, so the whole text of a ten-line program has thousands of lines. In Core the
//! top-level forms are kept that a procedure of the name is part of, in Frame IR the functions it became. LLVM IR and
//! assembly are filtered as text: what is kept are the functions whose symbols belong to the procedure's Frame IR
//! functions.

use crate::diagnostics::Messages;
use crate::error::Error;
use crate::pipeline;
use crate::session::Compiler;
use crate::source::Source;
use crate::sources::Files;
use crate::stages;
use cairn_core::{passes, print};
use std::collections::HashSet;

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

/// The program at `stage`, or its procedures called `only`; and the warnings.
pub(crate) fn emit(
    compiler: &Compiler,
    source: &Source,
    files: &mut Files,
    stage: Stage,
    only: Option<&str>,
) -> Result<(String, Messages), Error> {
    let options = &compiler.options;
    let warnings;
    let text = match stage {
        Stage::Core | Stage::Opt => {
            let pipeline::Front { mut program, warnings: said, .. } = pipeline::front(source, files)?;
            warnings = said;
            if stage == Stage::Opt {
                stages::optimize(&mut program, options);
            } else {
                let facts = passes::known::analyze(&program);
                passes::shake::run(&mut program, &facts);
            }
            match only {
                None => print::print_program(&program),
                Some(name) => print::print_procedure(&program, name),
            }
        }
        Stage::Frame => {
            let front = pipeline::front(source, files)?;
            let (module, said, _) = pipeline::lower(compiler, front, source, files, false)?;
            warnings = said;
            match only {
                None => cairn_frame::print::print_module(&module),
                Some(name) => cairn_frame::print::print_procedure(&module, name),
            }
        }
        Stage::Llvm | Stage::Asm => {
            let front = pipeline::front(source, files)?;
            let (module, said, _) = pipeline::lower(compiler, front, source, files, false)?;
            warnings = said;
            let text = cairn_llvm::emit_module_with(&module, options.gc, stages::notes(compiler));
            let text = match stage {
                Stage::Llvm => text,
                _ => cairn_llvm::compile_to_assembly(&text, stages::llvm_level(options))?,
            };
            match only {
                None => text,
                Some(name) => {
                    let functions = module.functions.iter().filter(|f| &*f.procedure == name);
                    let symbols: HashSet<String> = functions.map(|f| cairn_llvm::symbol(&f.name)).collect();
                    match stage {
                        Stage::Llvm => llvm_functions(&text, |symbol| symbols.contains(symbol)),
                        _ => assembly_functions(&text, |symbol| symbols.contains(&format!("@\"{symbol}\""))),
                    }
                }
            }
        }
    };
    match only {
        Some(name) if text.is_empty() => Err(Error::Other(format!(
            "no procedure `{name}` at this stage: there is none in the program, or it was inlined wherever it is called \
             (--opt=low inlines less)"
        ))),
        _ => Ok((text, warnings)),
    }
}

/// The definitions in LLVM IR whose symbols are wanted: from `define` to the closing brace.
fn llvm_functions(text: &str, wanted: impl Fn(&str) -> bool) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("define ") {
            // define internal preserve_nonecc void @"scm.f.1"(…
            let symbol = line.find("@\"").and_then(|at| Some(&line[at..at + 3 + line[at + 2..].find('"')?]));
            inside = symbol.is_some_and(&wanted);
        }
        if inside {
            out += line;
            out += "\n";
        }
        inside &= line != "}";
    }
    out
}

/// The functions in ELF assembly whose symbols are wanted: from `.type` to `.size`.
fn assembly_functions(text: &str, wanted: impl Fn(&str) -> bool) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in text.lines() {
        let directive = line.trim_start();
        if let Some(symbol) = directive.strip_prefix(".type").and_then(|s| s.trim().strip_suffix(",@function")) {
            inside = wanted(symbol.trim_matches('"'));
        }
        if inside {
            out += line;
            out += "\n";
        }
        inside &= !directive.starts_with(".size");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn llvm_ir_is_cut_at_functions() {
        let text =
            "@x = global i64 0\ndefine void @\"scm.f.1\"() {\n  ret void\n}\n\ndefine void @\"scm.g.2\"() {\n}\n";
        assert_eq!(llvm_functions(text, |s| s == "@\"scm.f.1\""), "define void @\"scm.f.1\"() {\n  ret void\n}\n");
    }

    #[test]
    fn assembly_is_cut_at_functions() {
        let text = "\t.type\tscm.f.1,@function\nscm.f.1:\n\tret\n\t.size\tscm.f.1, 1\n\t.p2align 4\n\t.type\t\"scm.a->b.2\",@function\n\tnop\n";
        assert_eq!(
            assembly_functions(text, |s| s == "scm.f.1"),
            "\t.type\tscm.f.1,@function\nscm.f.1:\n\tret\n\t.size\tscm.f.1, 1\n"
        );
        assert_eq!(assembly_functions(text, |s| s == "scm.a->b.2"), "\t.type\t\"scm.a->b.2\",@function\n\tnop\n");
    }
}
