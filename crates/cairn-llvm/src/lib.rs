//! # cairn-llvm: Frame IR to machine code
//!
//! The problem: turn Frame IR, where every call is a jump and every frame explicit, into fast x86-64 code quickly. The
//! idea: generate LLVM text ([`emit_module`]), let LLVM 19 optimize it with a short list of passes and write an ELF
//! object ([`backend`]), and either link that object into an executable or map it into this process ([`loader`]).
//!
//! ```text
//!  Frame IR ──emit──▶ LLVM text ──split──▶ parts ──backend──▶ ELF objects ──merge──▶ ELF object
//!               ▲                                                                      │
//!    strategy, alloc: by facts                 linker: executable ◀────────────────────┴──▶ loader: this process
//! ```
//!
//! Entry points: [`emit_module`], [`compile_to_object`], [`Jit::load_object`].
//!
//! Invariants: only [`backend`] touches LLVM, through the table of `cairn-llvm-c`, which loads it when it is first
//! needed, so a cached object runs without it; only `activations` knows how procedures are called and left, only
//! `strategy` how frames are kept, and only `alloc` how memory is taken and what follows a store, all from published
//! facts; code is not position independent and lives in the low 2 GiB (shorter instructions, return addresses stored as
//! immediates).
#![allow(unsafe_code)]

mod activations;
mod alloc;
pub mod backend;
pub mod baseline;
mod beside;
mod c_functions;
pub mod c_source;
mod debuggers;
mod elf;
mod emit;
mod loader;
mod merge;
mod replace;
mod split;
mod strategy;

pub use backend::{OptLevel, available, compile_to_assembly, compile_to_object, version};
pub use beside::beside;
pub use emit::ir_text::symbol;
pub use emit::prims::c::c_type_name;
pub use emit::{Notes, emit_module, emit_module_with};
pub use loader::{Image, Jit};
pub use replace::{Replaceable, Replacement};
