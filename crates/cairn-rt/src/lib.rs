//! # cairn-rt: what compiled Scheme calls
//!
//! Compiled code does the common case of most operations inline; the rest is here, behind the table of runtime
//! calls (`cairn_layout::calls`). A [`Runtime`] is a value: it owns a heap, the symbols, the ports and one
//! machine context, and nothing in this crate is global.
//!
//! | module | its one job |
//! |---|---|
//! | [`machine`] | entering compiled code, frames, continuations, collections, module loading |
//! | [`runtime`] | the runtime value and its options |
//! | [`calls`] | the table of function pointers |
//! | [`access`], [`alloc`] | reading and making heap objects |
//! | [`error`] | failures of runtime calls and of inline checks, turned into the error hook's arguments |
//! | [`num`] | the numeric tower on heap values |
//! | [`equality`] | `eqv?`, `equal?` and hashing |
//! | [`chars`], [`string`], [`symbol`], [`vector`], [`bytes`], [`list`], [`record`] | data types; [`sequence`] is what three of them share |
//! | [`port`], [`print`] | input and output |
//! | [`system`], [`report`] | clocks, exit, environment; the report of an uncaught error |
//!
//! Invariants: a runtime call never collects, so values in Rust locals stay valid until it returns; it never
//! panics on a user's mistake; a store into an object that may be old marks its card ([`alloc::write_barrier`]).
#![allow(unsafe_code)]

mod access;
mod alloc;
mod bytes;
mod calls;
mod chars;
mod equality;
pub mod error;
mod list;
pub mod machine;
mod num;
mod port;
mod print;
mod record;
mod report;
pub mod runtime;
mod sequence;
mod string;
mod symbol;
mod system;
#[cfg(test)]
mod testing;
mod vector;

pub use runtime::{Options, Runtime, rt};
