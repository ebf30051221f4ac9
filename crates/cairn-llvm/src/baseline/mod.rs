//! Our own code generator, for code that is needed at once.
//!
//! The problem: LLVM takes a millisecond for each function, so a program that is evaluated at first waits long for
//! native code, and one that is short never gets it. The idea: what [`crate::emit`] writes is a small language, some
//! forty instructions, so one pass over its text can be a compiler of its own: no optimizer, but registers for the
//! variables, addresses and comparisons that go into the instructions which use them, and tail calls that are jumps.
//! It serves every strategy of frames and every collector, for all of them speak that language.
//!
//! ```text
//!  text ──read──▶ instructions ──forms──▶ what needs a place ──live──▶ ranges ──allocate──▶ registers
//!                                                                                              │
//!                              ELF object ◀──objects── bytes ◀──select, calls, x86─────────────┘
//! ```
//!
//! What is not its work it says ([`Refusal`]), and LLVM does it: source lines for debuggers, C functions that are
//! inlined, calls of C with doubles. Native frames are never given to it.
//!
//! Invariants: code behaves as LLVM's of the same text, keeps to the same conventions, and has the same symbols, so
//! that LLVM's code can take its place ([`crate::replace`]).

mod allocate;
mod calls;
mod conditions;
mod data;
mod forms;
mod ir;
mod live;
mod moves;
mod objects;
mod operations;
mod read;
mod select;
mod selector;
mod text;
mod x86;

/// Why there is no code.
#[derive(Debug, PartialEq)]
pub enum Refusal {
    /// This is left to LLVM.
    Foreign,
    /// This should be known.
    Unknown(String),
}

/// What is only in modules that are left to LLVM.
const FOREIGN: [&str; 3] = ["!dbg ", " asm sideeffect alignstack ", " (...) "];

/// An ELF object with the module's code, for the low 2 GiB.
pub fn compile(ir: &str) -> Result<Vec<u8>, Refusal> {
    generate(ir).map_err(|what| match FOREIGN.iter().any(|mark| ir.contains(mark)) {
        true => Refusal::Foreign,
        false => Refusal::Unknown(what),
    })
}

fn generate(ir: &str) -> Result<Vec<u8>, String> {
    let module = read::module(ir)?;
    let mut code = x86::Code::default();
    let mut starts = Vec::with_capacity(module.functions.len());
    for f in &module.functions {
        let start = select::function(&mut code, f)
            .map_err(|e| format!("{}: {e}", module.symbols.names[f.symbol as usize]))?;
        starts.push((start, code.bytes.len()));
    }
    objects::write(&module, code, &starts)
}
