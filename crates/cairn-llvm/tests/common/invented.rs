//! Collectors that exist in these tests only: every way of allocating, with and without everything else.

use cairn_layout::collector::*;

/// Free lists; nothing moves, nothing is remembered.
pub const LISTS: CollectorFacts = CollectorFacts {
    name: "test-lists",
    allocation: Allocation::FreeLists { largest: 48 },
    barrier: Barrier::None,
    prefix: Prefix::None,
    moving: Moving::Never,
    pinning: Pinning::None,
    ambiguity: Ambiguity::Words,
    indirect: false,
    summary: "",
};

/// Free lists with prefixes and cards.
pub const PREFIXED_LISTS: CollectorFacts = CollectorFacts {
    name: "test-prefixed-lists",
    allocation: Allocation::FreeLists { largest: 512 },
    barrier: Barrier::Card,
    prefix: Prefix::Headerless,
    moving: Moving::AtSafepoints,
    ambiguity: Ambiguity::None,
    ..LISTS
};

/// Everything asked of the runtime.
pub const CALLS: CollectorFacts =
    CollectorFacts { name: "test-calls", allocation: Allocation::Call, prefix: Prefix::Headerless, ..LISTS };

const _: () = {
    LISTS.check();
    PREFIXED_LISTS.check();
    CALLS.check();
};

/// These and the real ones.
pub fn all() -> Vec<&'static CollectorFacts> {
    let mut all = COLLECTORS.to_vec();
    all.extend([&LISTS, &PREFIXED_LISTS, &CALLS]);
    all
}
