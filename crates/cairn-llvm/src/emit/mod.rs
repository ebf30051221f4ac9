//! Frame IR to LLVM text.
//!
//! The problem: turn every Frame IR function into one LLVM function with the uniform prototype, so that calls are
//! `musttail` jumps. The idea: generate *text*: it can be read, diffed and tested without linking LLVM. Variables become
//! `alloca`s (LLVM's SROA makes SSA form of them), so the emitter needs no dominance and no phi placement.
//!
//! | file | what it emits |
//! |---|---|
//! | `module` | module-wide tables: symbols, globals, descriptors' strings, `@cairn_module` |
//! | `literals` | constants of the program |
//! | `prelude` | functions every module has: entry from C, halt, underflow, continuations, throwing |
//! | `function` | blocks, statements, terminators of one function |
//! | `entry` | argument count dispatch and return points with many values |
//! | `regs` | who sits in which register of the uniform prototype |
//! | `calls` | runtime calls, cold calls, throws |
//! | `prims/` | primitive operations |
//!
//! ```text
//!  HeapCheck 16            %t3 = sub i64 %t2, %t1 ; hi - lo
//!  v2 = cons v0 v1    ▶    %t4 = icmp ult i64 %t3, 16
//!                          br i1 %t4, label %c0, label %l1, !prof !1
//! ```
//!
//! Invariants: nothing here asks which frame strategy or collector is in use (`crate::strategy` does, from published
//! facts); every slow path leaves the fast path by a branch marked unlikely and never by a C call in line, because a C
//! call makes LLVM adjust the stack on the fast path too.

mod calls;
mod entry;
pub(crate) mod function;
mod literals;
mod module;
mod prelude;
mod prims;
mod regs;
pub(crate) mod text;

pub(crate) use function::Emitter;

/// LLVM text of a module.
pub fn emit_module(module: &cairn_frame::ir::Module) -> String {
    module::emit(module)
}
