//! How deep code and constants may be nested, and the native stack for the deepest.

use std::sync::OnceLock;

/// Forms nested deeper than this are encoded with room for the deepest: that has its price, and few forms are.
pub(crate) const USUAL_DEPTH: usize = 10_000;
/// Forms and constants nested deeper than this are refused, programs compiled as a whole: enough for a hundred thousand
/// variables, each in the scope of the one before, or clauses, and what is around them.
const MAX_PROGRAM_DEPTH: usize = 125_000;
/// Native stack for each level.
const LEVEL_BYTES: usize = 8192;

/// [`MAX_PROGRAM_DEPTH`], or less where the process may not take addresses for so much stack (`ulimit -v`).
pub(crate) fn max_program_depth() -> usize {
    static DEPTH: OnceLock<usize> = OnceLock::new();
    *DEPTH.get_or_init(|| {
        let room = usize::try_from(cairn_rt::addresses_left().0 / 4).unwrap_or(usize::MAX);
        MAX_PROGRAM_DEPTH.min((room / LEVEL_BYTES).max(1000))
    })
}

/// Runs `work` with enough native stack to drop the deepest code recursively; what is not used is never touched.
pub fn with_room<R>(work: impl FnOnce() -> R) -> R {
    stacker::grow(max_program_depth() * LEVEL_BYTES, work)
}
