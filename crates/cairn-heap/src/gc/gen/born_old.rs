//! Objects born old: while nearly everything survives, the mutator gets room in the old space instead of the nursery.
//!
//! The problem: where a program builds up what it keeps, all of the nursery survives, again and again. To copy it costs
//! more than everything else the collector does, and gains nothing. The idea: after a minor collection that nearly all
//! objects have survived, the next so many bytes (`sizing.rs`) are old from the start. No collection comes between;
//! then the nursery is used again, and what survives of it says how to go on. So a run of old births is a part of the
//! cycle that ends with the next minor collection:
//!
//! ```text
//!   minor │ old births ....................... │ nursery ......... │ minor
//!         └ begins with an empty nursery       └ `end`: from here on there are young objects
//! ```
//!
//! Invariants. While a run lasts, nothing is young but large objects, and they become old when it ends: so initializing
//! stores into objects born old need no card. The mutator is moved on to the nursery at safepoints only: no object is
//! under construction then. Whoever finds the budget spent between safepoints, as calls of the runtime may, sees to it
//! that the next one comes soon (`Plan::hide`). Filled extents are *settled* at the next safepoint, which makes their
//! blocks what the old space expects: objects have start bits, what was left free is zero, and raw words of leaves are
//! noted (a block with leaves among its objects is *mixed*, and its dirty cards are scanned by that).
//!
//! A stack chunk is young until a continuation that refers to it is promoted. That of one born old never is; whether it
//! is dead, and its chunk long gone, only a major collection can tell. So one comes next, and old births are given up
//! for a while.
//!
//! Cost: settling touches each object's first word once, while the block is in the cache.

use crate::address::{Address, BLOCK_BYTES, PAIR_BYTES, Span, WORD};
use crate::blocks::{Kind, State};
use crate::marks::Marks;
use crate::model::{Measure, ObjectModel};
use crate::space::markregion::{MarkRegionSpace, Tables};
use crate::space::nursery::{Extent, Nursery};
use crate::state::Core;

/// After a continuation was born old, so many collections have no old births; twice as many after the next one.
const FIRST_BAN: u64 = 64;

/// The run of old births of this cycle.
pub(super) struct BornOld {
    under_way: bool,
    budget: u64,
    /// Bytes of blocks taken since the last collection.
    taken: u64,
    /// There are filled extents that were not settled yet.
    unsettled: bool,
    /// A continuation was born old since the last collection.
    continuation: bool,
    ban: u64,
    banned: u64,
}

impl Default for BornOld {
    fn default() -> BornOld {
        BornOld {
            under_way: false,
            budget: 0,
            taken: 0,
            unsettled: false,
            continuation: false,
            ban: FIRST_BAN,
            banned: 0,
        }
    }
}

impl BornOld {
    /// Are objects being born old?
    pub(super) const fn is_under_way(&self) -> bool {
        self.under_way
    }
    /// Bytes of blocks taken since the last collection.
    pub(super) const fn bytes(&self) -> u64 {
        self.taken
    }
    /// After a collection, with so many bytes held: may the next objects be born old?
    pub(super) fn begin(&mut self, core: &Core, held: u64) {
        debug_assert!(!self.under_way && !self.unsettled);
        (self.taken, self.continuation) = (0, false);
        self.banned = self.banned.saturating_sub(1);
        // Who verifies wants objects to be young, and collections to come often.
        let zealous = core.zeal.every_safepoint || core.zeal.verify && !core.zeal.old_births;
        let quiet = self.banned == 0 && core.sampling.is_none() && !zealous;
        if !quiet {
            return;
        }
        let budget = core.sizing.old_births(held, core.zeal.old_births);
        (self.under_way, self.budget) = (budget >= BLOCK_BYTES, budget);
    }

    /// A hole or a block for the mutator, whatever the budget says, unless survivors need the last `reserve` blocks or
    /// too much is asked for.
    pub(super) fn take(
        &mut self,
        core: &mut Core,
        old: &mut MarkRegionSpace,
        need: u64,
        reserve: u32,
    ) -> Option<Span> {
        if need > BLOCK_BYTES || core.pool.free_singles() <= reserve {
            return None;
        }
        let mut t = Tables { pool: &mut core.pool, cards: &core.cards, marks: &core.marks };
        let span = old.take_hole(&mut t, need);
        self.taken += span.bytes();
        self.unsettled = true;
        Some(span)
    }

    /// Does the run go on when the mutator needs so many bytes, at a heap check or in a call of the runtime's, with so
    /// many bytes held?
    pub(super) fn goes_on(&self, core: &Core, need: u64, held: u64) -> bool {
        self.under_way
            && need <= BLOCK_BYTES
            && self.taken < self.budget
            && !self.continuation
            && held < core.sizing.limit()
    }

    /// From now on objects are young again. Only at a safepoint.
    pub(super) fn end(&mut self, core: &mut Core) {
        if self.under_way {
            self.under_way = false;
            core.large.keep_young(&mut core.pool, &core.cards);
        }
    }

    /// A collection begins, with all extents closed. Must it be one of everything?
    ///
    /// # Safety
    /// The mutator stands still, and has initialised what it allocated.
    pub(super) unsafe fn gather<M: ObjectModel>(
        &mut self,
        core: &mut Core,
        model: &M,
        nursery: &mut Nursery,
    ) -> bool {
        self.end(core);
        // SAFETY: the mutator stands still, and has initialised what it allocated (`# Safety`).
        unsafe { self.settle(core, model, nursery) };
        if self.continuation {
            self.banned = self.ban;
            self.ban = self.ban.saturating_mul(2);
        }
        self.continuation
    }

    /// Settles the closed extents of the old space.
    ///
    /// # Safety
    /// The mutator stands still, and has initialised what it allocated.
    pub(super) unsafe fn settle<M: ObjectModel>(&mut self, core: &mut Core, model: &M, nursery: &mut Nursery) {
        if !std::mem::take(&mut self.unsettled) {
            return;
        }
        for x in nursery.take_closed_elsewhere() {
            // SAFETY: `x` is closed, so it is full up to its cursors; what was allocated there is initialised (`#
            // Safety`).
            let found = unsafe { settle_extent(model, &core.marks, x) };
            core.stats.born_old += x.span.bytes() - x.hi.offset_from(x.lo);
            self.continuation |= found.continuation;
            if found.leaf {
                let block = core.pool.table.block_of(x.span.start);
                debug_assert!(core.pool.table.state(block).is(Kind::Scannable));
                core.pool.table.add_bits(block, State::MIXED);
            }
        }
        self.unsettled = nursery.is_open() && self.under_way;
    }
}

/// What there is among the objects of an extent.
#[derive(Default)]
struct Found {
    leaf: bool,
    continuation: bool,
}

/// Sets the start bits of the objects of an extent, and clears what is free of it.
///
/// # Safety
/// The extent is closed, and filled with initialised objects up to its cursors.
unsafe fn settle_extent<M: ObjectModel>(model: &M, marks: &Marks, x: Extent) -> Found {
    let mut found = Found::default();
    let mut a = x.span.start;
    while a < x.lo {
        marks.set(a);
        marks.note_pair(a, true);
        a = a.plus(PAIR_BYTES);
    }
    // SAFETY: `lo..hi` is what the mutator has left of the extent, which is closed, so nobody uses it.
    unsafe { std::ptr::write_bytes(x.lo.bytes(), 0, x.hi.offset_from(x.lo) as usize) };
    let mut a: Address = x.hi;
    // What lies side by side is often of one kind. Then the next address does not wait for a size to be worked out of
    // a header that is still on its way, but is foreseen by the processor: a third of the time.
    let (mut last, mut m) = (0, Measure { bytes: WORD, leaf: false, continuation: false });
    while a < x.span.end {
        // SAFETY: `a` is between `hi` and the end, the part filled with objects, which are initialised (`# Safety`).
        let first = unsafe { a.load() };
        if first != last {
            if first == 0 {
                // The mutator shortened the leaf before this word.
                a = a.plus(WORD);
                continue;
            }
            // SAFETY: `a` is the start of an object behind `hi`, where there are no pairs, and `first` its first word.
            m = unsafe { model.measure(M::kind_of(first), first) };
            last = first;
            found.continuation |= m.continuation;
        }
        marks.set(a);
        marks.note_pair(a, false);
        if m.leaf {
            found.leaf = true;
            marks.set_raw(Span::new(a.plus(WORD), a.plus(m.bytes)));
        }
        a = a.plus(m.bytes);
    }
    found
}
