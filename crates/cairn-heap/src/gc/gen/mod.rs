//! `gen`: generational, the default collector.
//!
//! The problem: most objects die young; the rest should cost little, stay compact and be found again quickly.
//! The idea: new objects go to a bump-allocated nursery. A *minor* collection copies what is reachable from the
//! roots and from the remembered set out of the nursery, which is then empty. When the old space has grown to
//! its limit, a *major* collection follows a minor one: it marks what is reachable in the old space where it lies,
//! frees empty blocks, and leaves the holes of the others to be filled by the next survivors.
//!
//! * Promotion is en masse: every survivor of a minor collection becomes old (no aging). So after a minor
//!   collection no old object refers to a young one, and the remembered set is empty. Frames captured by a
//!   continuation need not be remembered: they do not change, and were promoted with it.
//! * While nearly everything survives, objects are born old, and not copied at all ([`born_old`]).
//! * The remembered set is the dirty cards of blocks that hold values. A whole dirty card is scanned, word by
//!   word, without finding object starts: every word there describes itself.
//! * Young large objects are marked, not copied; a minor collection frees those unmarked.
//! * Survivors lie in depth-first order along lists ([`trace`]), breadth-first otherwise, with values and
//!   leaves in blocks apart (`space::markregion`).
//! * Fragmentation: a major collection evacuates the blocks that were sparse after the last one and that no survivor
//!   has filled since; all sparse blocks, and at once, when the heap is near its maximum.
//! * What ambiguous words refer to is pinned before anything moves ([`pins`]); young objects become old in place.
//! * Cells (typed and untyped blocks) are born old and marked in place (`space::cells`).
//! * Stack chunks do not move; continuations keep them alive (`space::stack_chunks`).
//!
//! Invariants between collections: nothing is grey; clean cards cover no reference to a young object; no word of
//! a scannable block refers to the nursery. Survivors need free blocks: [`Plan::reserve`] says how many, and every
//! allocation outside the nursery leaves that many alone.
//!
//! Cost: minor, linear in survivors, dirty cards and one cache line per old block; major, linear in what is
//! live, plus 768 bytes of tables per block. The nursery's size follows what survives (`sizing.rs`).
//!
//! Rejected: aging in the nursery. An object that ages is copied twice before it is old, having survived between one
//! and two nurseries: at least what is promoted from a nursery of twice the size, which takes the same memory and
//! copies once. The bytes that collections copy decide (docs/measurements): binary trees of pairs, 264 MB with 1 MB,
//! 237 MB with 2 MB; aging in 2 × 1 MB would copy at least the sum. Also rejected: copying the old space (measured:
//! twice the peak memory, and fresh pages cost more than the tracing); a second thread that marks (measured: lists take
//! twice the time, trees two thirds; docs/measurements/2026-12-01-parallel-marking.md).

mod born_old;
mod constraints;
mod pins;
mod remembered;
mod trace;

pub(crate) use constraints::CONSTRAINTS;

use crate::address::{Address, BLOCK_BYTES, PAIR_BYTES, Span, blocks_for};
use crate::client::{Client, WeakVisitor};
use crate::config::HeapConfig;
use crate::error::{HeapError, OutOfMemory};
use crate::gc::driver::{Cycle, Survivors};
use crate::gc::plan::Plan;
use crate::marks::LINES_PER_BLOCK;
use crate::model::ObjectModel;
use crate::sampling::Sampling;
use crate::space::markregion::{Evacuate, MarkRegionSpace, Tables};
use crate::space::nursery::{Extent, Nursery};
use crate::space::pinned::PinnedSpace;
use crate::state::Core;
use crate::state::Request;
use crate::stats::{CollectionKind, Reason};
use born_old::BornOld;
use cairn_layout::limits::CHECK_RESERVE;
use cairn_layout::machine::Cursors;
use cairn_layout::object::AllocKind;
use pins::{Pins, Stays};
use std::time::Instant;
use trace::{Spaces, Tracer};

/// A block with fewer live lines after a major collection is evacuated by the next one, unless it is refilled first.
const SPARSE: usize = LINES_PER_BLOCK / 3;
/// [`SPARSE`] when the heap is near its maximum.
const SPARSE_WHEN_TIGHT: usize = LINES_PER_BLOCK / 8 * 7;
/// Collections in a row that evacuate blocks to get below the maximum.
const TIGHT_ROUNDS: usize = 4;

/// The spaces of this collector and what it remembers between collections.
pub(crate) struct Gen {
    nursery: Nursery,
    old: MarkRegionSpace,
    pinned: PinnedSpace,
    born_old: BornOld,
    /// While a collection is wanted, compiled code is left just the bytes that an earlier heap check may have
    /// promised it, so that its next one fails; the runtime allocates here instead.
    hidden: Option<Extent>,
    wanted: Option<Reason>,
    major_wanted: bool,
    nursery_bytes: u64,
}

impl Gen {
    /// Opens the first extent of an empty nursery.
    fn begin(&mut self, core: &mut Core) {
        // In an exact nursery, the first heap check decides how large it is.
        if !core.zeal.every_safepoint {
            self.extend(core, 1).expect("an empty nursery has a block");
        }
    }
    /// Closes the current extent at the cursors, and the hidden one.
    fn close(&mut self, core: &mut Core, at: Cursors) {
        let span = self.nursery.current();
        let bytes = self.nursery.close(at);
        core.stats.allocated += bytes;
        if let Some(s) = &mut core.sampling
            && span.bytes() > 0
        {
            s.closed(Extent::filled_to(span, at), bytes);
        }
        if let Some(x) = self.hidden.take() {
            core.stats.allocated += self.nursery.add_closed(x);
        }
    }
    /// The next extent: of the nursery, unless objects are born old.
    fn take(&mut self, core: &mut Core, need: u64) -> Option<Span> {
        if self.born_old.is_under_way() {
            let reserve = self.reserve_blocks();
            return self.born_old.take(core, &mut self.old, need, reserve);
        }
        self.nursery.take(&mut core.pool.table, need)
    }
    fn extend(&mut self, core: &mut Core, need: u64) -> Option<Cursors> {
        if let Some(s) = &core.sampling {
            self.nursery.set_most(s.until_next());
        }
        let s = self.take(core, need)?;
        self.nursery.open(s);
        Some(empty(s))
    }
    /// More room for a heap check of compiled code, which may become a sample.
    fn extend_for_check(&mut self, core: &mut Core, need: u64) -> Option<Cursors> {
        let Some(s) = &mut core.sampling else { return self.extend(core, need) };
        self.nursery.set_most(s.extent(need));
        let s = self.nursery.take(&mut core.pool.table, need)?;
        self.nursery.open(s);
        Some(empty(s))
    }
    /// Replaces the hidden extent by one with room for `bytes`.
    fn take_hidden(&mut self, core: &mut Core, bytes: u64) -> Result<(), OutOfMemory> {
        let span = (self.take(core, bytes + PAIR_BYTES)).ok_or_else(|| self.out_of_memory(core, bytes))?;
        // A pair of nothing: see `hide`.
        let lo = span.start.plus(PAIR_BYTES);
        // SAFETY: `span` is a fresh extent, which nobody uses yet, of more than the two words of a pair.
        unsafe { span.start.words().write_bytes(0, 2) };
        if let Some(x) = self.hidden.replace(Extent { span, lo, hi: span.end }) {
            core.stats.allocated += self.nursery.add_closed(x);
        }
        Ok(())
    }

    /// See [`Plan::allocate`].
    fn allocate_small(
        &mut self,
        core: &mut Core,
        at: &mut Cursors,
        bytes: u64,
        from_below: bool,
    ) -> Result<Address, OutOfMemory> {
        if let Some(x) = &mut self.hidden {
            if x.cursors().room() >= bytes {
                return Ok(bump_in(x, bytes, from_below));
            }
        } else if at.room() >= bytes + CHECK_RESERVE && core.sampling.is_none() {
            return Ok(bump(at, bytes, from_below));
        }
        self.admit(core, bytes)?;
        let need = bytes + CHECK_RESERVE;
        let births = self.born_old.is_under_way();
        let has_room = if births { self.old_births_go_on(core, need) } else { self.nursery.has_room(need) };
        if self.wanted.is_none() && has_room && !core.zeal.every_safepoint {
            if core.sampling.is_some() {
                // The extent at hand is for compiled code alone.
                self.take_hidden(core, bytes.max(CHECK_RESERVE))?;
                let x = self.hidden.as_mut().expect("just taken");
                return Ok(bump_in(x, bytes, from_below));
            }
            self.close(core, *at);
            *at = self.extend(core, need).ok_or_else(|| self.out_of_memory(core, bytes))?;
            return Ok(bump(at, bytes, from_below));
        }
        // Where a run of old births is over, no collection is due yet: the next heap check goes on in the nursery.
        if !births && (!core.zeal.every_safepoint || !self.nursery.has_room(need)) {
            self.wanted.get_or_insert(Reason::Nursery);
        }
        self.hide(core, at)?;
        let fits = self.hidden.is_some_and(|x| x.cursors().room() >= bytes);
        if !fits {
            self.take_hidden(core, bytes)?;
        }
        let x = self.hidden.as_mut().expect("there is a hidden extent");
        Ok(bump_in(x, bytes, from_below))
    }

    fn evacuation(&self, core: &Core, reason: Reason) -> Evacuate {
        if core.zeal.evacuate {
            Evacuate::EveryOther(core.stats.major as u32 & 1)
        } else {
            self.evacuate_below(core, if reason == Reason::HeapMax { SPARSE_WHEN_TIGHT } else { SPARSE })
        }
    }

    /// Blocks with fewer live lines. Copies take what is left below the maximum, or beyond it a sixteenth of that.
    fn evacuate_below(&self, core: &Core, lines: usize) -> Evacuate {
        let max = core.sizing.heap_max();
        Evacuate::Below { lines, room: max.saturating_sub(self.used(core) + self.nursery.used()).max(max / 16) }
    }

    fn why_major(&self, core: &mut Core, request: Request) -> Option<Reason> {
        match request {
            Request::Major => Some(Reason::Request),
            _ if core.zeal.always_major => Some(Reason::Zeal),
            Request::Auto if core.zeal.every_safepoint && core.pace.is_major(self.used(core)) => {
                Some(Reason::Zeal)
            }
            _ if self.major_wanted => Some(self.wanted.unwrap_or(Reason::Limit)),
            // Large objects that no minor collection has seen yet are probably garbage.
            Request::Auto if self.held(core) - core.large.young_bytes() >= core.sizing.limit() => {
                Some(Reason::Limit)
            }
            Request::Auto if core.chunks.have_grown() && self.held(core) < core.sizing.least() => {
                Some(Reason::Stale)
            }
            Request::Auto if core.sizing.is_stale(self.held(core), core.stats.allocated) => Some(Reason::Stale),
            _ => None,
        }
    }

    /// Copies what is live in the nursery to the old space. Returns the bytes copied.
    fn promote<M: ObjectModel, C: Client>(
        &mut self,
        core: &mut Core,
        model: &M,
        client: &mut C,
        major: bool,
    ) -> u64 {
        let young = Span::new(core.pool.runs_address(), self.nursery.span().end);
        let pins = if M::AMBIGUOUS || C::AMBIGUOUS {
            let mut extents = self.nursery.closed().to_vec();
            extents.sort_unstable_by_key(|x| x.span.start);
            // SAFETY: collections come at safepoints: the mutator stands still, and has initialised what it allocated.
            // `extents` were just sorted.
            unsafe { pins::pin_young(core, model, client, &mut self.pinned, &extents) }
        } else {
            Pins::default()
        };
        let mut sampling = core.sampling.take();
        let spaces = Spaces { old: &mut self.old, pinned: &self.pinned, nursery: self.nursery.span() };
        let mut t = Tracer::<M, C, false>::new(model, core, spaces, young);
        // SAFETY: the old space, large and immortal objects are consistent between collections, which `check`
        // verifies under zeal, and so are the roots that a `Client` shows. The mutator stands still.
        let copied = unsafe {
            t.visit_remembered();
            t.visit_pins(&pins);
            client.visit_roots(&mut t);
            t.finish(client);
            if let Some(s) = &mut sampling {
                s.survivors(false, |w| t.survivor(w));
            }
            t.copied()
        };
        let looked_at = t.static_looked_at;
        core.stats.static_words += looked_at;
        core.sampling = sampling;
        core.large.sweep_young(&mut core.pool, &core.cards);
        if !major {
            // A continuation that was born old may refer to one that seems unused.
            core.chunks.sweep_young(&mut core.pool);
        }
        self.pinned.settle(&core.pool.table, &core.cards);
        core.stats.promoted += copied;
        if self.nursery.used() > 0 {
            core.sizing.note_survivors(self.nursery.filled(), self.nursery.pairs(), copied);
        }
        copied
    }

    /// A collection begins.
    fn cycle(&self, core: &Core, kind: CollectionKind, reason: Reason, began: Instant) -> Cycle {
        Cycle { kind, reason, began, before: self.held(core), nursery: self.nursery.used() }
    }

    fn minor<M: ObjectModel, C: Client>(
        &mut self,
        core: &mut Core,
        model: &M,
        client: &mut C,
        began: Instant,
        reason: Reason,
    ) {
        let cycle = self.cycle(core, CollectionKind::Minor, reason, began);
        let copied = self.promote(core, model, client, false);
        self.finish(core, cycle, copied);
    }

    /// Promotes, then marks everything.
    fn major<M: ObjectModel, C: Client>(
        &mut self,
        core: &mut Core,
        model: &M,
        client: &mut C,
        began: Instant,
        reason: Reason,
        evacuate: Evacuate,
    ) {
        let cycle = self.cycle(core, CollectionKind::Major, reason, began);
        let (before, nursery) = (cycle.before, cycle.nursery);
        let promoted = self.promote(core, model, client, true);
        core.stats.peak = core.stats.peak.max(self.used(core) + nursery);
        let stays = if M::AMBIGUOUS || C::AMBIGUOUS {
            // SAFETY: collections come at safepoints: the mutator stands still, and has initialised what it allocated.
            unsafe { pins::stay(core, model, client, &self.pinned) }
        } else {
            Stays::default()
        };
        core.chunks.begin_major();
        core.cells.begin_marking(&core.pool.table, &core.marks);
        self.pinned.begin_marking(&core.marks);
        core.compact.begin_marking();
        let mut tables = Tables { pool: &mut core.pool, cards: &core.cards, marks: &core.marks };
        self.old.begin_marking(&mut tables, evacuate, &stays.blocks);
        let region = core.region.span();
        let mut sampling = core.sampling.take();
        let spaces = Spaces { old: &mut self.old, pinned: &self.pinned, nursery: self.nursery.span() };
        let mut t = Tracer::<M, C, true>::new(model, core, spaces, region);
        // SAFETY: spaces are consistent after `promote`, and so are the roots that a `Client` shows, and the
        // mutator stands still.
        let (copied, overflows) = unsafe {
            client.visit_roots(&mut t);
            t.visit_stays(&stays);
            t.visit_immortals();
            t.finish(client);
            if let Some(s) = &mut sampling {
                s.survivors(true, |w| t.survivor(w));
            }
            (t.copied(), t.overflows)
        };
        core.sampling = sampling;
        core.stats.overflows += overflows;
        core.stats.peak = core.stats.peak.max(self.used(core) + nursery);
        let mut tables = Tables { pool: &mut core.pool, cards: &core.cards, marks: &core.marks };
        let small = self.old.sweep(&mut tables, core.zeal.poison);
        core.large.sweep_all(&mut core.pool, &core.cards);
        core.cells.sweep(&mut core.pool, &core.marks, core.zeal.poison);
        self.pinned.sweep(&mut core.pool.table, &core.marks);
        self.pinned.settle(&core.pool.table, &core.cards);
        core.compact.sweep();
        core.chunks.sweep_all(&mut core.pool);
        core.stats.copied += copied;
        core.old_moves += u64::from(copied > 0);
        let blocks = self.old.blocks() as u64 * BLOCK_BYTES;
        core.sizing.after_major(self.used(core) - core.large.hole_bytes() - blocks + small, self.nursery_bytes);
        core.sizing.note_age(before, core.stats.allocated);
        self.major_wanted = false;
        // What the mutator will fill until the next major collection stays: as much as the limit allows, or as it
        // held this time (young large objects come on top of the limit) unless the program asked for the collection
        // or has not needed it for long. The rest goes back to the system.
        if !core.zeal.poison {
            let again = if matches!(reason, Reason::Request | Reason::Stale) { 0 } else { before };
            core.pool.release(blocks_for(core.sizing.limit().max(again).saturating_sub(self.held(core))));
        }
        self.finish(core, cycle, promoted + copied);
    }
    /// Does a run of old births go on when the mutator needs so many bytes?
    fn old_births_go_on(&self, core: &Core, need: u64) -> bool {
        self.wanted.is_none() && self.born_old.goes_on(core, need, self.held(core))
    }

    /// Bytes held outside the nursery, holes not counted.
    fn held(&self, core: &Core) -> u64 {
        self.used(core) - self.old.hole_bytes() - core.large.hole_bytes()
    }

    /// A cycle is over, in which so many bytes were copied: the nursery is empty.
    fn finish(&mut self, core: &mut Core, cycle: Cycle, copied: u64) {
        core.stats.peak = core.stats.peak.max(self.used(core) + cycle.nursery);
        let mut soft = core.sizing.nursery(self.nursery_bytes, self.used(core));
        if core.sampling.is_some() {
            // A profile looks at the heap after collections: often, so that it does not miss the peak of a small one.
            soft = soft.min(self.used(core) / 8).max(4 * BLOCK_BYTES);
        }
        self.nursery.set_soft_limit(soft);
        self.nursery.reset(self.pinned.islands(), core.zeal.poison);
        if core.zeal.poison {
            self.pinned.poison_gaps();
        }
        self.wanted = None;
        let after = self.held(core);
        cycle.end(core, Survivors { after, copied, limit: core.sizing.limit(), needed: after });
    }
}

impl Plan for Gen {
    type Own = PinnedSpace;

    fn own_spaces(&self) -> &PinnedSpace {
        &self.pinned
    }

    fn new<M: ObjectModel>(core: &mut Core, young: Span, config: &HeapConfig) -> Result<Gen, HeapError> {
        let soft = core.sizing.nursery(config.nursery_bytes, 0);
        let nursery = Nursery::new(young, soft, core.zeal.every_safepoint);
        let mut r#gen = Gen {
            nursery,
            old: MarkRegionSpace::default(),
            pinned: PinnedSpace::default(),
            born_old: BornOld::default(),
            hidden: None,
            wanted: None,
            major_wanted: false,
            nursery_bytes: config.nursery_bytes,
        };
        r#gen.begin(core);
        Ok(r#gen)
    }

    fn extents(&self, at: Cursors) -> Vec<Extent> {
        let mut all = self.nursery.closed().to_vec();
        if self.nursery.is_open() {
            all.push(Extent::filled_to(self.nursery.current(), at));
        }
        all.extend(self.hidden);
        all.sort_unstable_by_key(|x| x.span.start);
        all
    }

    fn current(&self) -> Cursors {
        empty(self.nursery.current())
    }

    fn refill<M: ObjectModel>(&mut self, core: &mut Core, model: &M, at: Cursors, need: u64) -> Option<Cursors> {
        if self.born_old.is_under_way() && self.wanted.is_none() {
            self.close(core, at);
            // SAFETY: this is a heap check, in which the mutator waits, and what it allocated before is initialised.
            unsafe { self.born_old.settle(core, model, &mut self.nursery) };
            if self.old_births_go_on(core, need)
                && let Some(extent) = self.extend(core, need)
            {
                return Some(extent);
            }
            self.born_old.end(core);
        }
        let due = self.wanted.is_some() || !self.nursery.has_room(need) || core.zeal.every_safepoint;
        if due && (self.nursery.used() > 0 || self.wanted.is_some()) {
            return None;
        }
        self.close(core, at);
        self.extend_for_check(core, need)
    }

    fn allocate(
        &mut self,
        core: &mut Core,
        at: &mut Cursors,
        bytes: u64,
        kind: AllocKind,
    ) -> Result<Address, OutOfMemory> {
        let sample = core.sampling.as_mut().and_then(|s| s.asked(bytes));
        let a = self.allocate_small(core, at, bytes, kind == AllocKind::Pair)?;
        if let (Some(sample), Some(s)) = (sample, &mut core.sampling) {
            s.take(a, bytes, kind, sample);
        }
        Ok(a)
    }

    fn start_sampling(&mut self, core: &mut Core, at: &mut Cursors, s: Sampling) -> bool {
        self.close(core, *at);
        self.born_old.end(core);
        *at = empty(Span::new(self.nursery.current().end, self.nursery.current().end));
        core.sampling = Some(Box::new(s));
        true
    }

    fn close_and_extend(&mut self, core: &mut Core, at: &mut Cursors, need: u64) -> Result<(), OutOfMemory> {
        self.admit(core, need)?;
        self.close(core, *at);
        self.born_old.end(core);
        let extent = self.extend_for_check(core, need);
        *at = extent.ok_or_else(|| self.out_of_memory(core, need))?;
        Ok(())
    }

    fn hide(&mut self, core: &mut Core, at: &mut Cursors) -> Result<(), OutOfMemory> {
        if self.hidden.is_some() {
            if core.sampling.is_some() && at.room() > CHECK_RESERVE {
                // While there are samples, the runtime has an extent of its own all the time.
                let (end, hi) = (Address(at.lo + CHECK_RESERVE), Address(at.hi));
                let rest = self.nursery.split(end, end.plus(PAIR_BYTES).min(hi), hi);
                core.stats.allocated += self.nursery.add_closed(rest);
                at.hi = end.0;
            }
            return Ok(());
        }
        if core.zeal.every_safepoint {
            // The extent is no more than an earlier heap check was promised.
            return self.take_hidden(core, CHECK_RESERVE);
        }
        if !self.nursery.is_open() || at.room() < CHECK_RESERVE {
            self.close(core, *at);
            let extent = self.extend(core, CHECK_RESERVE);
            *at = extent.ok_or_else(|| self.out_of_memory(core, CHECK_RESERVE))?;
        }
        // No object of the hidden extent begins at the mutator's `hi`: a runtime may give back the end of the object
        // there.
        let (end, hi) = (Address(at.lo + CHECK_RESERVE), Address(at.hi));
        let start = end.plus(PAIR_BYTES).min(hi);
        // SAFETY: `end..start` lies between the mutator's cursors, so it is free, and this thread is the mutator's;
        // should it be a block of old objects, all its words must be valid.
        unsafe { std::ptr::write_bytes(end.bytes(), 0, start.offset_from(end) as usize) };
        let rest = self.nursery.split(end, start, hi);
        self.hidden = Some(rest);
        at.hi = end.0;
        Ok(())
    }

    fn wants_collection(&self) -> bool {
        self.wanted.is_some()
    }

    fn waits_for_safepoint(&self, _: Cursors) -> bool {
        self.wanted.is_some() || self.born_old.is_under_way() && self.hidden.is_some()
    }

    fn want(&mut self, reason: Reason, major: bool) {
        self.wanted.get_or_insert(reason);
        self.major_wanted |= major;
    }

    fn prepare<M: ObjectModel>(&mut self, core: &mut Core, model: &M, at: Cursors) {
        self.close(core, at);
        // SAFETY: the mutator stands still, and has initialised what it allocated.
        self.major_wanted |= unsafe { self.born_old.gather(core, model, &mut self.nursery) };
        if let Some(s) = &mut core.sampling {
            // SAFETY: the mutator stands still, and nothing has moved yet.
            unsafe { s.find(model) };
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
        let why = self.why_major(core, request);
        let major = why.is_some();
        match why {
            Some(reason) => {
                let evacuate = self.evacuation(core, reason);
                self.major(core, model, client, began, reason, evacuate);
            }
            None => {
                let reason = self.wanted.unwrap_or(match request {
                    Request::Auto => Reason::Nursery,
                    _ => Reason::Request,
                });
                self.minor(core, model, client, began, reason);
            }
        }
        if !major && self.is_tight(core) {
            let evacuate = self.evacuate_below(core, SPARSE);
            self.major(core, model, client, Instant::now(), Reason::HeapMax, evacuate);
        }
        for _ in 0..TIGHT_ROUNDS {
            if !self.is_tight(core) || self.old.hole_bytes() == 0 {
                break;
            }
            let before = self.used(core);
            let evacuate = self.evacuate_below(core, SPARSE_WHEN_TIGHT);
            self.major(core, model, client, Instant::now(), Reason::HeapMax, evacuate);
            if before.saturating_sub(self.used(core)) < core.sizing.breathing_room() / 4 {
                break;
            }
        }
        Ok(())
    }

    fn is_tight(&self, core: &Core) -> bool {
        self.used(core) + core.sizing.breathing_room() > core.sizing.heap_max()
    }

    /// Opens the first extent of an empty nursery.
    fn resume(&mut self, core: &mut Core) {
        let held = self.held(core);
        self.born_old.begin(core, held);
        self.begin(core);
    }

    #[inline]
    fn trim(&mut self) {
        self.nursery.trim();
    }

    fn nursery_used(&self) -> u64 {
        self.nursery.used()
    }
    fn unproven(&self, _core: &Core) -> u64 {
        self.nursery.used() + self.born_old.bytes()
    }
    fn settle(&mut self, core: &mut Core) {
        if self.born_old.is_under_way() {
            core.large.keep_young(&mut core.pool, &core.cards);
        }
    }

    fn stands_still(&mut self, core: &mut Core, a: Address) {
        core.large.is_born_old(&mut core.pool, a);
        if self.compact_are_due(core) {
            self.want(Reason::Limit, true);
        }
    }

    fn compact_are_due(&self, core: &Core) -> bool {
        self.held(core) - core.large.young_bytes() >= core.sizing.limit()
    }

    fn reserve(&self) -> u32 {
        self.reserve_blocks()
    }
}

impl Gen {
    fn reserve_blocks(&self) -> u32 {
        // Blocks filled from both ends stay less than a quarter empty even when all objects are as large as they may
        // be.
        let blocks = self.old.blocks() + (self.nursery.used() / BLOCK_BYTES) as u32;
        blocks + blocks / 4 + 32
    }
}

/// Cursors of an extent in which there is nothing yet.
const fn empty(s: Span) -> Cursors {
    Cursors { lo: s.start.0, hi: s.end.0 }
}

#[inline(always)]
fn bump(at: &mut Cursors, bytes: u64, from_below: bool) -> Address {
    if from_below {
        at.lo += bytes;
        Address(at.lo - bytes)
    } else {
        at.hi -= bytes;
        Address(at.hi)
    }
}

fn bump_in(x: &mut Extent, bytes: u64, from_below: bool) -> Address {
    let mut at = x.cursors();
    let object = bump(&mut at, bytes, from_below);
    *x = Extent::filled_to(x.span, at);
    object
}
