//! Native code that takes the place of evaluated code, as its host hands it to the runtime. See [`crate::native`].

use cairn_layout::module::ModuleTable;
use std::ops::Range;

/// A module of a program, or form, that is evaluated. It puts a vector into the cell for that: makers of these lambdas,
/// then procedures that are the values of these cells.
#[derive(Debug)]
pub struct Native {
    /// Where it is. It stays.
    pub code: (*const ModuleTable, Range<u64>),
    /// Numbers of lambdas.
    pub lambdas: Vec<usize>,
    /// Numbers of cells.
    pub cells: Vec<u32>,
}

/// Better code of a module that is loaded.
pub struct BetterCode {
    /// Where the first is.
    pub old: Range<u64>,
    /// Where this is. It stays.
    pub code: Range<u64>,
    /// Makes whoever enters the first come to this. To be called at a safepoint.
    pub install: Box<dyn FnOnce() + Send>,
}

impl std::fmt::Debug for BetterCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BetterCode({:x?} for {:x?})", self.code, self.old)
    }
}

/// How far a module that was asked for has come. Nobody waits for one: the program runs without it.
#[derive(Debug)]
pub enum Progress {
    /// It is being made.
    UnderWay,
    /// Here it is. It is handed out once.
    Made(Native),
    /// There is none, and will be none.
    Failed,
}

// SAFETY: the addresses are of code and tables that stay loaded; nobody touches them before one thread, the runtime's,
// loads the module.
unsafe impl Send for Native {}
