//! A program that is evaluated, and the native code that its host makes of it, as the runtime sees them: a trait. See
//! [`crate::native`].

use crate::expander::Data;
use std::fmt::Debug;

pub use crate::machine::stop_word::Stopper;
pub use crate::native_module::{BetterCode, Native, Progress};

/// A program that is evaluated. All threads of it may be asked.
pub trait Evaluated: Debug + Send + Sync {
    /// How many forms and lambdas it has; the number of the cell for the value of modules; how many cells.
    fn sizes(&self) -> [usize; 4];
    /// A list of the cells of variables that nothing defines.
    fn undefined(&self) -> &Data;
    /// What places in code refer to: `(#(path text) (number . #(path text)) …)`, the program's own text first.
    fn sources(&self) -> &Data;
    /// The code of a form.
    fn form(&self, n: usize) -> &Data;
    /// Evaluation has seen this much: how often lambdas were entered, which cells are bound. Will there be a module?
    /// Later there may be better code for it: then a stop is requested for [`cairn_layout::machine::stop::CODE`].
    fn request(&self, entered: Vec<u32>, bound: Vec<bool>, stopper: Stopper) -> bool;
    /// The module that was asked for last.
    fn ready(&self) -> Progress;
    /// The better code that has come since it was asked for.
    fn better_code(&self) -> Vec<BetterCode>;
}
