//! `marksweep`: mark-sweep collection with segregated fits, as in the collectors that Smith & Morrisett (1998) compare
//! theirs with (Boehm & Weiser 1988), but precise where roots are.
//!
//! The problem: copying needs room for copies, and words that may or may not be references forbid it. The idea: nothing
//! moves. Objects lie in cells of their size ([`crate::space::segregated`]); a collection sets a bit for each that can
//! be reached ([`marking`]), and what has none is free, found again when room of that size is wanted.
//!
//! * Compiled code pops cells from free lists; a call brings the next chain. What may be allocated until the next
//!   collection is a budget, which heap checks spend: `lo..hi` is a number, not memory.
//! * Objects without references lie in blocks of their own, which are never looked into.
//! * The start bits are the marks, beside the objects.
//! * Two threads trace a heap of several megabytes, one a small one ([`sharing`]).
//! * Large objects, stack chunks and typed cells have spaces of their own, and are marked by the same bits.
//! * The heap grows as all heaps here do ([`crate::sizing`]): by what lives. Blocks that a collection finds empty go
//!   back to the pool at once, and their pages to the system, but for those that the budget will need.
//! * Memory is counted in blocks, the budget in bytes of objects. Where little lives in many blocks, the heap may
//!   exceed its maximum for lack of cells of one size; when it is a quarter larger, it has run out of memory.
//!
//! Cost: linear in what lives, plus 30 ns for each block of 32 KB; sweeping is paid for by allocation.

mod constraints;
mod marking;
mod sharing;
#[cfg(test)]
mod sharing_tests;

pub(crate) use constraints::CONSTRAINTS;

use super::budget::Budget;
use crate::address::{Address, BLOCK_BYTES, Span, WORD, blocks_for};
use crate::client::Client;
use crate::client::{AmbiguousVisitor, RootVisitor};
use crate::config::{HeapConfig, Tracing};
use crate::error::{HeapError, OutOfMemory};
use crate::find::Finder;
use crate::gc::driver::{Cycle, Survivors};
use crate::gc::plan::Plan;
use crate::model::{Located, ObjectModel};
use crate::space::immortal::ImmortalSpace;
use crate::space::nursery::Extent;
use crate::space::segregated::{ClassId, SegregatedSpace};
use crate::state::Core;
use crate::state::Request;
use crate::stats::{CollectionKind, Reason};
use cairn_layout::collector::{FREE_LISTS, FreeList, MARKSWEEP};
use cairn_layout::machine::Cursors;
use cairn_layout::object::AllocKind;
use marking::{Marker, Shared, Stacks};
use std::time::Instant;

/// The space of this collector and what it remembers between collections.
pub(crate) struct MarkSweep {
    segregated: SegregatedSpace,
    budget: Budget,
    wanted: Option<Reason>,
    tracing: Tracing,
    stacks: Vec<Stacks>,
    /// Bytes that lived after the last collection.
    survived: u64,
}

impl MarkSweep {
    /// A chain of free cells of this class.
    fn chain(&mut self, core: &mut Core, at: &mut Cursors, class: ClassId) -> Result<Address, OutOfMemory> {
        if let Some(chain) = self.segregated.chain(&core.pool.table, &core.marks, class) {
            return Ok(chain);
        }
        if !self.may_exceed(core) {
            self.admit(core, BLOCK_BYTES)?;
            if self.wanted.is_some() {
                self.hide(core, at)?;
            }
        }
        let grown = self.segregated.grow(&mut core.pool, &core.marks, class, self.reserve());
        grown.ok_or_else(|| self.out_of_memory(core, BLOCK_BYTES))?;
        let chain = self.segregated.chain(&core.pool.table, &core.marks, class);
        Ok(chain.expect("a fresh block is empty"))
    }
    /// May the heap grow beyond its maximum? Cells may be free, but of other sizes: then a collection for each block
    /// that is wanted would be one too many.
    fn may_exceed(&self, core: &Core) -> bool {
        let max = core.sizing.heap_max();
        self.segregated.taken() < self.budget.total() / 16 && self.used(core) + BLOCK_BYTES <= max + max / 4
    }
    /// Has as much been allocated, wherever it lies, as may be?
    fn is_due(&self, core: &Core) -> bool {
        self.segregated.taken() + core.large.young_bytes() + core.compact.young_bytes() >= self.budget.total()
    }

    /// Marks everything that can be reached: how many ambiguous words refer to an object, and how often stacks were too
    /// small.
    ///
    /// # Safety
    /// The mutator stands still, and what it has allocated is initialised. Start bits are clear; those of before are
    /// kept if words are ambiguous.
    unsafe fn mark<M: ObjectModel, C: Client>(
        &mut self,
        core: &mut Core,
        model: &M,
        client: &mut C,
    ) -> Result<(u64, u64), OutOfMemory> {
        let Core { pool, marks, large, cells, compact, chunks, immortal, weak, cards, region, .. } = core;
        let finder = Finder { model, pool, marks, large, cells, own: &self.segregated };
        let (first, others) = self.stacks.split_first_mut().expect("one thread at least");
        let parallel = !others.is_empty() && self.survived >= self.tracing.least;
        let shared = Shared::new(finder, compact, region, 1 + others.len());
        let (mut found, mut overflows) = (0, 0);
        // SAFETY: the mutator stands still and all it allocated is initialised (`# Safety`), so what holds in `marking`
        // holds here. While several threads trace, all markers set bits atomically.
        unsafe {
            if parallel {
                let mut marker = Marker::<M, true>::new(&shared, first, Some(&mut *chunks));
                show_roots(model, immortal, client, &mut marker);
                let shared = &shared;
                let room = crate::region::room_for_threads();
                std::thread::scope(|scope| {
                    for (i, stacks) in others.iter_mut().enumerate() {
                        if i >= room {
                            shared.sharing.without_one();
                            continue;
                        }
                        let work = move || Marker::<M, true>::new(shared, stacks, None).work();
                        let thread = std::thread::Builder::new().name("cairn-mark".into());
                        if thread.spawn_scoped(scope, work).is_err() {
                            shared.sharing.without_one();
                        }
                    }
                    marker.trace_all(client);
                });
                found += marker.found;
            }
            let mut marker = Marker::<M, false>::new(&shared, first, Some(chunks));
            if !parallel {
                show_roots(model, immortal, client, &mut marker);
            }
            marker.trace_all(client);
            if weak.is_idle(true) {
                client.visit_dying(&mut marker);
                marker.trace_all(client);
                client.visit_weak(&mut marker);
            } else {
                marker.watching = true;
                weak.settle::<M, C, _>(&mut marker, client, cards);
            }
            found += marker.found;
            overflows += marker.overflows;
        }
        Ok((found, overflows))
    }
}

/// Shows all roots.
///
/// # Safety
/// Immortal objects and the client's roots are consistent.
unsafe fn show_roots<M: ObjectModel, C: Client>(
    model: &M,
    immortal: &ImmortalSpace,
    client: &mut C,
    marker: &mut (impl RootVisitor + AmbiguousVisitor),
) {
    client.visit_ambiguous(marker);
    for x in immortal.extents().filter(|x| !x.leaf) {
        // SAFETY: immortal objects are consistent (`# Safety`), so `a` goes from object to object until the extent's
        // end.
        unsafe {
            if M::SELF_DESCRIBING {
                marker.words(x.span.start.words(), (x.span.bytes() / WORD) as usize);
                continue;
            }
            let mut a = x.span.start;
            while a < x.span.end {
                let o = Located::headed(model, a);
                o.scan(model, o.span(), marker);
                a = o.span().end;
            }
        }
    }
    client.visit_roots(marker);
}

impl Plan for MarkSweep {
    type Own = SegregatedSpace;

    fn own_spaces(&self) -> &SegregatedSpace {
        &self.segregated
    }

    fn new<M: ObjectModel>(core: &mut Core, _: Span, config: &HeapConfig) -> Result<MarkSweep, HeapError> {
        let tracing = config.tracing;
        let stack = || Stacks::new(config.mark_stack).map_err(std::io::Error::from);
        let mut plan = MarkSweep {
            segregated: SegregatedSpace::default(),
            budget: Budget::new(core.region.span().end),
            wanted: None,
            tracing,
            stacks: (0..tracing.threads.max(1)).map(|_| stack()).collect::<Result<_, _>>()?,
            survived: 0,
        };
        plan.budget.renew(core.sizing.limit());
        Ok(plan)
    }

    fn extents(&self, _: Cursors) -> Vec<Extent> {
        Vec::new()
    }

    fn current(&self) -> Cursors {
        self.budget.current()
    }

    fn refill<M: ObjectModel>(&mut self, core: &mut Core, _model: &M, at: Cursors, need: u64) -> Option<Cursors> {
        let zeal = core.zeal.every_safepoint;
        if core.zeal_collects(self.survived) || self.wanted.is_some() || !self.budget.has(at, need.max(1)) {
            return None;
        }
        self.budget.close(&mut core.stats, at);
        // When every check is to fail, it gets no more than it asks for.
        Some(self.budget.grant(zeal.then_some(need)))
    }

    fn allocate(
        &mut self,
        core: &mut Core,
        at: &mut Cursors,
        bytes: u64,
        kind: AllocKind,
    ) -> Result<Address, OutOfMemory> {
        let class = ClassId::of(kind, bytes);
        let cell = match self.segregated.pop(class) {
            Some(cell) => cell,
            None => {
                let chain = self.chain(core, at, class)?;
                self.segregated.give_back(class, chain);
                self.segregated.pop(class).expect("a chain has a cell")
            }
        };
        self.budget.spend(&mut core.stats, at, bytes);
        Ok(cell)
    }

    fn allocate_untyped(
        &mut self,
        core: &mut Core,
        at: &mut Cursors,
        bytes: u64,
    ) -> Option<Result<Address, OutOfMemory>> {
        let a = self.allocate(core, at, bytes, AllocKind::Scannable);
        if let Ok(a) = a {
            // SAFETY: `allocate` has just given `bytes` bytes at `a`.
            unsafe { std::ptr::write_bytes(a.bytes(), 0, bytes as usize) };
        }
        Some(a)
    }

    fn cells(
        &mut self,
        core: &mut Core,
        at: &mut Cursors,
        list: FreeList,
    ) -> Option<Result<Address, OutOfMemory>> {
        Some(self.chain(core, at, class_of_list(list)))
    }

    fn return_cells(&mut self, _: &mut Core, lists: &mut [u64; FREE_LISTS]) {
        for (i, head) in lists.iter_mut().enumerate().filter(|(_, head)| **head != 0) {
            self.segregated.give_back(class_of_list(FreeList(i as u8)), Address(std::mem::take(head)));
        }
    }

    fn settle(&mut self, core: &mut Core) {
        self.segregated.settle(&core.pool.table, &core.marks);
    }

    fn close_and_extend(&mut self, core: &mut Core, at: &mut Cursors, need: u64) -> Result<(), OutOfMemory> {
        self.admit(core, need)?;
        self.budget.close(&mut core.stats, *at);
        *at = self.budget.grant(Some(need));
        Ok(())
    }

    fn hide(&mut self, core: &mut Core, at: &mut Cursors) -> Result<(), OutOfMemory> {
        *at = self.budget.close(&mut core.stats, *at);
        Ok(())
    }

    fn wants_collection(&self) -> bool {
        self.wanted.is_some()
    }

    fn waits_for_safepoint(&self, at: Cursors) -> bool {
        self.wanted.is_some() || !self.budget.has(at, 1)
    }

    fn want(&mut self, reason: Reason, _: bool) {
        self.wanted.get_or_insert(reason);
    }

    fn prepare<M: ObjectModel>(&mut self, core: &mut Core, _: &M, at: Cursors) {
        self.budget.close(&mut core.stats, at);
        if core.ambiguous == Some(true) {
            self.settle(core);
        }
    }

    fn trace<M: ObjectModel, C: Client>(
        &mut self,
        core: &mut Core,
        model: &M,
        client: &mut C,
        began: Instant,
        request: Request,
    ) -> Result<(), OutOfMemory> {
        let nursery = self.segregated.taken();
        let before = self.used(core);
        core.stats.peak = core.stats.peak.max(before);
        core.chunks.begin_major();
        core.cells.begin_marking(&core.pool.table, &core.marks);
        core.compact.begin_marking();
        self.segregated.begin_marking(&core.pool.table, &core.marks);
        // SAFETY: collections come at safepoints: the mutator stands still, what it allocated is initialised.
        // `begin_marking` has cleared start bits, and has kept those of before.
        let (found, overflows) = unsafe { self.mark(core, model, client)? };
        core.large.adopt_marks(&core.marks);
        core.large.sweep_all(&mut core.pool, &core.cards);
        core.cells.sweep(&mut core.pool, &core.marks, core.zeal.poison);
        core.compact.sweep();
        let left = self.segregated.end_marking(&mut core.pool, &core.marks, core.zeal.poison);
        core.chunks.sweep_all(&mut core.pool);
        let s = &mut core.stats;
        s.pinned += found;
        s.overflows += overflows;
        self.survived = self.used(core) - core.large.hole_bytes() - left.held + left.live;
        core.sizing.after_major(self.survived, 0);
        core.sizing.note_age(before, core.stats.allocated);
        self.budget.renew(core.sizing.limit().saturating_sub(self.survived));
        let wanted = self.wanted.take();
        if !core.zeal.poison {
            // What the budget will need beyond the free cells stays; where it was asked for, nothing does.
            let holes = left.held - left.live;
            let keep = if wanted == Some(Reason::Request) { 0 } else { self.budget.total().saturating_sub(holes) };
            core.pool.release(blocks_for(keep));
        }
        let reason = core.cause(wanted, request);
        let (after, limit) = (self.survived, core.sizing.limit());
        let cycle = Cycle { kind: CollectionKind::Major, reason, began, before, nursery };
        cycle.end(core, Survivors { after, copied: 0, limit, needed: after });
        Ok(())
    }

    fn is_tight(&self, core: &Core) -> bool {
        let max = core.sizing.heap_max();
        self.survived + core.sizing.breathing_room() > max || self.used(core) > max + max / 4
    }

    fn resume(&mut self, core: &mut Core) {
        if !core.zeal.every_safepoint {
            self.budget.grant(None);
        }
    }

    fn trim(&mut self) {}

    fn nursery_used(&self) -> u64 {
        0
    }

    fn unproven(&self, _: &Core) -> u64 {
        self.segregated.taken()
    }

    fn large_are_due(&self, core: &Core) -> bool {
        self.is_due(core)
    }

    fn cells_are_due(&self, core: &Core) -> bool {
        self.used(core) - self.segregated.bytes() >= core.sizing.limit()
    }

    fn compact_are_due(&self, core: &Core) -> bool {
        self.is_due(core)
    }

    fn check_reserve(&self) -> u64 {
        0
    }

    fn reserve(&self) -> u32 {
        32
    }
}

/// The class of the cells that a list holds.
const fn class_of_list(list: FreeList) -> ClassId {
    let kind = if list.is_of_pairs() { AllocKind::Pair } else { AllocKind::Scannable };
    ClassId::of(kind, MARKSWEEP.cell_bytes(list))
}
