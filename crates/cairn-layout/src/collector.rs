//! Facts that collectors publish, and what of a collector's way of keeping memory compiled code and runtime share.
//!
//! The problem: collectors differ in how compiled code gets memory, what it does at a store, what it may keep across a
//! safepoint. The idea: each publishes what of this it needs ([`CollectorFacts`]); code generation interprets the facts
//! and never asks which collector it is. In all of them the heap check of compiled code is the only safepoint:
//!
//! | allocation | heap check of n bytes | a new object | who keeps the state |
//! |---|---|---|---|
//! | two-ended | `hi - lo >= n` | `lo += 16` (pair), `hi -= bytes` (other) | the registers `lo`, `hi` |
//! | free lists | `hi - lo >= n`, then `hi -= n` | popped from `Machine::free[list]`, refilled | the context |
//! | call | `hi - lo >= n` | asked of the runtime, which spends the budget | the runtime |
//!
//! Where memory does not come from the extent `lo..hi`, that is a *budget*: the bytes that may be allocated before the
//! next collection. Refills and calls never collect.
//!
//! A *cell* is memory for one object. The cells of a list are chained through their first words; the last link is 0,
//! and the links are 8-aligned, so that a collector that meets one sees a fixnum.

use crate::object::{AllocKind, PAIR_BYTES};

/// How compiled code gets memory for a new object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// From both ends of the extent `Machine::lo..hi`: pairs from `lo` up, everything else from `hi` down.
    TwoEnded,
    /// From lists of cells, one for pairs and one for each size of other objects; larger ones as by
    /// [`Allocation::Call`].
    FreeLists {
        /// Bytes of the largest cells that have a list: a multiple of [`CELL_GRANULE`], at most [`LARGEST_CELL`].
        largest: u64,
    },
    /// From the runtime, each.
    Call,
}

/// What compiled code does after it has stored a word that may be a pointer into an object that may be old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// Nothing.
    None,
    /// If the word is not below `Machine::young`, marks the card of the slot:
    /// `Machine::cards[(slot >> CARD_SHIFT) & card_mask] = DIRTY`.
    Card,
}

/// The word before an object, for collectors that must recognize objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// There is none.
    None,
    /// Objects whose own layout does not begin with a header (pairs, procedures, frames in the heap) have a [`prefix`]
    /// at `address - 8`. Addresses and offsets of fields are the same as without.
    Headerless,
}

/// When objects change their addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moving {
    /// Never: what compiled code had in hand before a safepoint is still valid after it.
    Never,
    /// At any safepoint.
    AtSafepoints,
}

/// Whether objects can be kept from moving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pinning {
    /// They cannot; or nothing moves.
    None,
    /// An object that a client pins stays where it is.
    Objects,
    /// With a pinned object, everything on its page stays.
    Pages,
}

/// Whether roots may be words of which it is not known if they are pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ambiguity {
    /// All roots are known precisely.
    None,
    /// Clients may show words that may or may not be references: what they refer to lives, and does not move. Addresses
    /// of the middle of an object refer to nothing.
    References,
    /// Clients may show words that may or may not be pointers; what they seem to point to lives, and does not move.
    Words,
}

/// What code generation and runtime need to know about a collector.
#[derive(Debug, PartialEq, Eq)]
pub struct CollectorFacts {
    /// The one name: flag value, folder, test folder, report row.
    pub name: &'static str,
    /// How compiled code gets memory.
    pub allocation: Allocation,
    /// What follows a store into an object.
    pub barrier: Barrier,
    /// What stands before an object.
    pub prefix: Prefix,
    /// When objects move.
    pub moving: Moving,
    /// Whether they can be pinned.
    pub pinning: Pinning,
    /// Whether roots may be ambiguous.
    pub ambiguity: Ambiguity,
    /// Whether it knows words that refer to something without being its address: whether there can be compact records,
    /// and references to elements of structure vectors that are no objects.
    pub indirect: bool,
    /// One line for the manual.
    pub summary: &'static str,
}

/// Generational: copying nursery, mark-region old space (the default).
pub const GEN: CollectorFacts = CollectorFacts {
    name: "gen",
    allocation: Allocation::TwoEnded,
    barrier: Barrier::Card,
    prefix: Prefix::None,
    moving: Moving::AtSafepoints,
    pinning: Pinning::Objects,
    ambiguity: Ambiguity::Words,
    indirect: true,
    summary: "generational: bump-allocated nursery, mark-region old space, card marks",
};

/// Mostly-copying, after Smith & Morrisett (1998).
pub const MCC: CollectorFacts = CollectorFacts {
    name: "mcc",
    allocation: Allocation::TwoEnded,
    barrier: Barrier::None,
    prefix: Prefix::Headerless,
    moving: Moving::AtSafepoints,
    pinning: Pinning::Pages,
    ambiguity: Ambiguity::Words,
    indirect: true,
    summary: "mostly-copying (Smith & Morrisett 1998): bump allocation in pages, pinned pages stay",
};

/// Mark-sweep with segregated fits.
pub const MARKSWEEP: CollectorFacts = CollectorFacts {
    name: "marksweep",
    allocation: Allocation::FreeLists { largest: LARGEST_CELL },
    barrier: Barrier::None,
    prefix: Prefix::None,
    moving: Moving::Never,
    pinning: Pinning::None,
    ambiguity: Ambiguity::Words,
    indirect: true,
    summary: "mark-sweep: segregated fits, lazy sweeping, two tracing threads; nothing moves",
};

/// The system's libgc.
pub const BDW: CollectorFacts = CollectorFacts {
    name: "bdw",
    ambiguity: Ambiguity::References,
    indirect: false,
    summary: "the collector of Boehm, Demers and Weiser: the system's libgc, loaded when it is chosen",
    ..MARKSWEEP
};

/// All collectors, the default first.
pub const COLLECTORS: &[&CollectorFacts] = &[&GEN, &MCC, &MARKSWEEP, &BDW];

const _: () = {
    let mut i = 0;
    while i < COLLECTORS.len() {
        COLLECTORS[i].check();
        i += 1;
    }
};

/// The collector with this name.
pub fn collector(name: &str) -> Option<&'static CollectorFacts> {
    COLLECTORS.iter().copied().find(|c| c.name == name)
}

/// Sizes of cells are multiples of this many bytes.
pub const CELL_GRANULE: u64 = 16;
/// Bytes of the largest cell that can have a list.
pub const LARGEST_CELL: u64 = 512;
/// Number of lists: that of pairs, then one for each size.
pub const FREE_LISTS: usize = 1 + (LARGEST_CELL / CELL_GRANULE) as usize;

/// A list of free cells: index into `Machine::free`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FreeList(pub u8);

impl FreeList {
    /// The list of pairs' cells.
    pub const PAIRS: FreeList = FreeList(0);

    /// Does it hold cells for pairs? All others hold cells for anything else of their size.
    pub const fn is_of_pairs(self) -> bool {
        self.0 == 0
    }
}

impl CollectorFacts {
    /// The list of cells for an object of `bytes` bytes, its prefix included; none if the runtime is to be asked.
    pub const fn free_list(&self, kind: AllocKind, bytes: u64) -> Option<FreeList> {
        match self.allocation {
            Allocation::FreeLists { largest } if bytes <= largest => match kind {
                AllocKind::Pair => Some(FreeList::PAIRS),
                _ => Some(FreeList(bytes.div_ceil(CELL_GRANULE) as u8)),
            },
            _ => None,
        }
    }

    /// Bytes of the cells in a list.
    pub const fn cell_bytes(&self, list: FreeList) -> u64 {
        match list {
            FreeList::PAIRS => (PAIR_BYTES + self.prefix_bytes(AllocKind::Pair)).next_multiple_of(CELL_GRANULE),
            FreeList(i) => i as u64 * CELL_GRANULE,
        }
    }

    /// Bytes before an object of this kind.
    pub const fn prefix_bytes(&self, kind: AllocKind) -> u64 {
        match (self.prefix, kind) {
            (Prefix::Headerless, AllocKind::Pair | AllocKind::Procedure) => 8,
            _ => 0,
        }
    }

    /// What a heap check for objects of `bytes` bytes in all asks for: room for prefixes too, however small the objects
    /// are.
    pub const fn checked_bytes(&self, bytes: u64) -> u64 {
        match self.prefix {
            Prefix::None => bytes,
            Prefix::Headerless => bytes + bytes.div_ceil(2).next_multiple_of(8),
        }
    }

    /// Panics if the facts contradict each other.
    pub const fn check(&self) {
        if let Allocation::FreeLists { largest } = self.allocation {
            assert!(
                largest.is_multiple_of(CELL_GRANULE) && largest <= LARGEST_CELL,
                "lists beyond the largest cell"
            );
            assert!(largest >= PAIR_BYTES + self.prefix_bytes(AllocKind::Pair), "pairs have a list");
        }
        let pinnable = !matches!((self.moving, self.pinning), (Moving::AtSafepoints, Pinning::None));
        assert!(
            pinnable || matches!(self.ambiguity, Ambiguity::None),
            "what an ambiguous word points to must not move"
        );
    }
}

/// The word before an object of this size, itself not counted: a fixnum, of which the two highest bits are the
/// collector's, as in the headers of objects that have one.
///
/// ```text
///  63 62 61           16 15      8 7   3 2 0
/// ┌─────┬───────────────┬─────────┬─────┬─────┐
/// │ 0 0 │ bytes         │ kind    │ 0   │ 000 │
/// └─────┴───────────────┴─────────┴─────┴─────┘
/// ```
pub const fn prefix(kind: AllocKind, bytes: u64) -> u64 {
    bytes << 16 | (kind as u64) << 8
}

/// Bytes of the object behind a prefix whose two highest bits are clear.
pub const fn prefixed_bytes(prefix: u64) -> u64 {
    prefix >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTS: CollectorFacts = CollectorFacts {
        name: "lists",
        allocation: Allocation::FreeLists { largest: 128 },
        prefix: Prefix::Headerless,
        moving: Moving::Never,
        ..GEN
    };

    #[test]
    fn cells_are_as_large_as_their_objects() {
        for bytes in (16..=512).step_by(8) {
            for kind in [AllocKind::Pair, AllocKind::Procedure, AllocKind::Scannable] {
                match LISTS.free_list(kind, bytes) {
                    Some(list) if kind == AllocKind::Pair => assert!(list.is_of_pairs()),
                    Some(list) => {
                        let cell = LISTS.cell_bytes(list);
                        assert!(cell >= bytes && cell < bytes + CELL_GRANULE && (list.0 as usize) < FREE_LISTS);
                    }
                    None => assert!(bytes > 128),
                }
            }
        }
        assert!(LISTS.cell_bytes(FreeList::PAIRS) >= 24);
        assert_eq!(GEN.free_list(AllocKind::Pair, 16), None);
    }

    #[test]
    fn a_heap_check_covers_prefixes() {
        for n in 0..100 {
            assert!(LISTS.checked_bytes(16 * n) >= 24 * n);
            assert_eq!(GEN.checked_bytes(16 * n), 16 * n);
        }
    }

    #[test]
    #[should_panic(expected = "must not move")]
    fn contradicting_facts_are_noticed() {
        CollectorFacts { pinning: Pinning::None, ..GEN }.check();
    }
}
