//! A compiled program: what it consists of, and what it takes to run it.

use crate::c_headers::CSource;
use crate::diagnostics::Messages;
use crate::open_program::OpenProgram;
use cairn_syntax::CExport;

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// ELF object file.
    pub(crate) object: Vec<u8>,
    /// What there was to say about the program.
    pub(crate) warnings: Messages,
    /// What it takes to run it.
    pub(crate) kind: Kind,
    /// The program, if it is run form by form: there is no object then.
    pub(crate) open: Option<OpenProgram>,
    /// What C may call in a shared library.
    pub(crate) exports: Vec<CExport>,
    /// C sources that are parts of it.
    pub(crate) c_sources: Vec<CSource>,
}

/// What a compiled program needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Nothing else.
    Whole,
    /// It calls `eval` or its like: an expander.
    Evaluating,
    /// The library compiled beforehand, and an expander.
    OnLibrary,
}

impl Compiled {
    /// What there was to say about the program.
    pub fn warnings(&self) -> &Messages {
        &self.warnings
    }

    /// The ELF object file; empty for a program that loads, or evaluates in the interaction environment.
    pub fn object(&self) -> &[u8] {
        &self.object
    }
}
