//! # cairn-syntax: from text to Core
//!
//! ```text
//! text ──read──▶ Syntax (datums with spans) ──expand──▶ Core `Program`, dialect Source
//! ```
//!
//! [`read`] knows R7RS lexical syntax, [`expand`] knows scoping, `syntax-rules`, libraries and the derived forms.
//! The crate does no I/O: files come from a [`expand::Loader`]. Problems in the user's text are [`Diagnostic`]s.

pub mod diagnostic;
pub mod expand;
pub mod read;
pub mod syntax;

pub use diagnostic::{Diagnostic, Span};
pub use expand::{
    BootLibrary, BootProgram, Environment, Expanded, Exported, Failed, LibraryName, Loader, OpenText,
    RUNNING_BINDINGS, Session, expand_program, primitive_key,
};
