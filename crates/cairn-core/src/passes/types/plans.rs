//! What the last walk of the first round decides: copies of code for which all is analysed once more, and what becomes
//! of parameters.
//!
//! The rules of the walk take plans down, each in the file that also carries them out: [`super::peel`],
//! [`super::version`], [`super::paths`] between the rounds, [`super::complex`] and [`super::unbox`] in the walk itself.

use super::budget::{self, Copied};
use super::twice::Test;
use crate::ir::{LabelId, Program, TopForm, VarId, VarInfo};
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

/// How many operations would have a variable as a flonum ([`super::paths`]).
pub(super) type Wishes = FxHashMap<VarId, u32>;

/// The new parameters of a label that was split ([`super::complex`]): two for some of the old ones.
pub(super) type Split = Vec<Option<[VarId; 2]>>;

/// What is to be versioned ([`super::version`]).
#[derive(Default)]
pub(super) struct Versions {
    /// Loops, with the variables that must be fixnums or flonums, and the tests for that.
    pub(super) loops: FxHashMap<LabelId, Vec<Test>>,
    /// Procedures by their first parameter, with those that must be fixnums.
    pub(super) procedures: FxHashMap<VarId, Vec<VarId>>,
}

impl Versions {
    /// The loops that get one.
    pub(super) fn labels(&self) -> FxHashSet<LabelId> {
        self.loops.keys().copied().collect()
    }

    /// Keeps what there is room for ([`budget`]).
    pub(super) fn fit(&mut self, program: &Program, forms: &[TopForm]) {
        let loops = self.loops.keys().map(|l| Copied::Loop(*l));
        let wanted = loops.chain(self.procedures.keys().map(|v| Copied::Procedure(*v))).collect();
        let chosen = budget::chosen(program, forms, wanted);
        self.loops.retain(|l, _| chosen.contains(&Copied::Loop(*l)));
        self.procedures.retain(|v, _| chosen.contains(&Copied::Procedure(*v)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.loops.is_empty() && self.procedures.is_empty()
    }
}
