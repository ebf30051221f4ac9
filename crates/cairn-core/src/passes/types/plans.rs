//! What the last walk of the first round decides: copies of code for which all is analysed once more, and what becomes
//! of parameters.

use super::complex::Split;
use super::paths::Wishes;
use super::version::Versions;
use crate::ir::{LabelId, VarInfo};
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Default)]
pub(super) struct Plans {
    /// Loops whose first iteration gets a copy.
    pub(super) peels: FxHashSet<LabelId>,
    /// Loops and procedures that get a body for fixnums.
    pub(super) versions: Versions,
    /// Which variables operations would have as flonums.
    pub(super) wishes: Wishes,
    /// Which parameters of loops are to be doubles.
    pub(super) doubles: FxHashMap<LabelId, Vec<bool>>,
    /// Labels some of whose parameters become two.
    pub(super) splits: FxHashMap<LabelId, Split>,
    /// There is something that only another round can use.
    pub(super) another_round: bool,
    /// Variables made by this pass; they come after those of the program.
    pub(super) fresh: Vec<VarInfo>,
}
