//! # cairn-syntax: from text to Core
//!
//! ```text
//! text ──read──▶ Syntax (datums with spans) ──expand──▶ Core `Program`, dialect Source
//! ```
//!
//! [`read`] knows R7RS lexical syntax, [`expand`] knows scoping, `syntax-rules`, libraries and the derived forms;
//! [`lint`] finds what a correct text may still have wrong, [`mod@format`] indents it.
//! The crate does no I/O: files come from a [`expand::Loader`]. Problems in the user's text are [`Diagnostic`]s.

pub mod diagnostic;
pub mod expand;
pub mod format;
pub mod lint;
mod loads;
pub mod read;
pub mod syntax;

pub use diagnostic::{Diagnostic, Span};
pub use expand::{
    BootLibrary, BootProgram, CDeclared, CExport, CStruct, Checked, Checkpoint, Counted, DEFAULT_LIBRARIES,
    Entity, Environment, Expanded, Exported, Failed, Form, Imported, LibraryName, Loader, Mention, OpenText,
    Point, RUNNING_BINDINGS, Role, Session, expand_program, primitive_key,
};
