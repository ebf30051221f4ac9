//! # cairn-layout: every bit that the compiler and the runtime must agree on
//!
//! The problem: compiled code and the runtime are written in different languages (LLVM IR and Rust) and look
//! at the same words. The idea: each shared fact is defined here, once, as data; the compiler interprets it
//! when it emits code, the runtime when it runs.
//!
//! | module | what it fixes |
//! |---|---|
//! | [`value`] | the 64-bit value word: tags, immediates, self-tagged doubles |
//! | [`object`] | headers, type codes, field offsets of heap objects |
//! | [`element`] | words that refer to elements of structure vectors |
//! | [`limits`] | how much of anything both sides may hand each other |
//! | [`code`] | the words before a code address: procedure and frame descriptors |
//! | [`machine`] | the machine context that compiled code carries in a register |
//! | [`calls`] | the table of runtime calls |
//! | [`c`] | types of C |
//! | [`module`] | what a compiled program hands to the runtime |
//! | [`facts`] | what frame strategies and collectors publish about themselves |
//! | [`fingerprint`] | which compiler a runtime library belongs to |
//! | [`lexeme`] | where the lexemes of a program's text end |
//! | [`quasi`] | where the words of frames from a free list are |
//! | `slot` | bytes of fields of records, elements of arrays |
//! | [`collector`] | the collectors' facts; cells and free lists |
//!
//! Invariant: this crate holds no behaviour beyond encoding and decoding; it depends on nothing.

pub mod c;
pub mod calls;
pub mod code;
pub mod collector;
pub mod element;
pub mod facts;
pub mod fields;
pub mod fingerprint;
pub mod lexeme;
pub mod limits;
pub mod machine;
pub mod module;
pub mod object;
pub mod quasi;
mod slot;
pub mod value;

pub use value::Value;
