//! # cairn-rt: what compiled Scheme calls
//!
//! Compiled code does the common case of most operations inline; the rest is here, behind the table of runtime
//! calls (`cairn_layout::calls`). A [`Runtime`] is a value: it owns a heap, the symbols, the ports and one
//! machine context. Global is only what a process has once: signal handlers with what they read, and the numbers of
//! record types.
//!
//! | module | its one job |
//! |---|---|
//! | [`machine`] | entering compiled code, frames, continuations, collections, module loading |
//! | [`runtime`], [`start_options`] | the runtime value: state alone, and what can be chosen |
//! | [`start`], [`fatal`] | making a runtime and running a program; how a run ends |
//! | [`library`] | a program that is a shared library |
//! | [`calls`] | the table of function pointers |
//! | [`access`], [`alloc`] | reading and making heap objects |
//! | [`failure`], [`arguments`] | failures of runtime calls; the checks that most of them make |
//! | [`throw`] | failures, also those of inline checks, turned into the error hook's arguments |
//! | [`exhaustion`] | what happens when memory runs out |
//! | [`num`] | the numeric tower on heap values |
//! | [`equality`], [`hashing`] | `eqv?`, `equal?` and hashing |
//! | [`weak`] | weak objects, guardians |
//! | [`table`] with [`table_index`] | finding keys whose addresses change |
//! | [`chars`], [`string`], [`symbol`], [`symbol_table`], [`vector`], [`bytes`], [`list`], [`record`] with [`record_types`], [`structure`] with [`elements`] | data types; [`sequence`] is what three of them share |
//! | [`port`], [`mod@print`] | input and output |
//! | [`evaluator`], [`expander`] | what `eval` asks of the expander |
//! | [`net`], [`process`] | sockets, other programs |
//! | [`c`] | calls of C functions, callbacks |
//! | [`events`] | what threads wait for: files, time |
//! | [`places`] | runtimes beside this one, and messages between them |
//! | [`native`], [`evaluated_program`] | a program that is evaluated, and the native code that takes its place where it is hot |
//! | [`evaluated_marks`] | evaluated code as messages see it |
//! | [`time_profile`], [`timeline`] | where processor time goes, who ran when; [`json`] is for them and for the profile of the heap |
//! | [`system`], [`report`] with [`passage`] | clocks, exit, environment; the report of an uncaught error, places in texts |
//!
//! Invariants: a runtime call never collects, so values in Rust locals stay valid until it returns; it never
//! panics on a user's mistake; a store into an object that may be old marks its card ([`alloc::write_barrier`]).
#![allow(unsafe_code)]

mod access;
mod alloc;
mod allocation_profile;
mod arguments;
#[cfg(test)]
mod bare_runtime;
mod bytes;
mod c;
mod call_place;
mod calls;
mod chars;
pub mod compact;
pub mod counts;
mod elements;
mod equality;
pub mod evaluated_marks;
pub mod evaluated_program;
pub mod evaluator;
mod events;
mod exhaustion;
mod expander;
mod failure;
pub mod fatal;
mod hashing;
mod heap_profile;
mod helpers;
mod jobs;
mod json;
pub mod library;
mod list;
pub mod machine;
mod native;
mod native_module;
mod net;
mod num;
mod numeric;
mod passage;
pub(crate) mod places;
mod port;
mod print;
mod process;
mod record;
mod record_types;
mod report;
pub mod runtime;
mod scan;
mod sequence;
pub mod start;
pub mod start_options;
mod string;
mod structure;
mod symbol;
mod symbol_table;
mod sync;
mod system;
mod table;
mod table_index;
mod text;
mod throw;
pub mod time_profile;
pub mod timeline;
mod vector;
mod waiting;
mod weak;

pub use c::c_calls::is_taken;
pub use c::sources::C_SOURCES;
pub use cairn_heap::{addresses_left, room_for_threads};
pub use failure::describe_io;
pub use runtime::{Runtime, rt};
pub use start_options::{Host, MakeEvaluator, Options};
