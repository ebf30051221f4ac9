//! `mcc`: mostly-copying collection, after Smith & Morrisett, *Comparing mostly-copying and mark-sweep conservative
//! collection* (ISMM 1998), who build on Bartlett (1988).
//!
//! The problem: a compiler that goes through C, or calls it, cannot say which words of a stack are pointers; yet
//! copying is the faster way to collect when little lives. The idea: what is referred to by a word that may or may not
//! be a pointer (a *quasi-pointer*) is *pinned*; all else is copied. Memory consists of pages
//! ([`crate::space::pages`]) instead of two halves, so what is pinned is "copied" by linking its page into to-space.
//!
//! * Objects of all sizes, typed and untyped, lie side by side in the order of allocation, which is a bump of a
//!   pointer. Each has a *meta word*: its size, what it is, two state bits ([`meta_words`]). Headers of our objects are
//!   meta words; what has no header (pairs, procedures) gets a prefix, as the facts say.
//! * Untyped objects are chained: the words of all of them are quasi-pointers. They never move: all are pinned.
//! * A collection comes when the heap is two-thirds full. Its stages are *pin*, *root*, *graph*, *free*, *sweep*, each
//!   a function of this name in [`collection`].
//! * Quasi-pointers are found by walking a page from its start ([`quasi_pointers`]). They may refer to the middle of an
//!   object.
//! * Large objects, stack chunks and typed cells have spaces of their own, and are marked. Immortal objects and the
//!   client's static data are roots.
//! * What the sweep frees on promoted pages is not used again before the next collection, which copies what is left
//!   there, unless it is pinned again.
//!
//! Where we differ: a page is filled from both ends by compiled code (pairs from below, all else from above), since
//! that is how extents are filled under every collector; roots are precise unless the client shows ambiguous ones; the
//! heap grows up to its maximum, as 4½ times what lives ([`crate::HeapConfig::fixed_heap`] turns that off). A heap
//! check larger than a page gets a longer one.
//!
//! Cost: linear in what lives, plus the promoted pages, plus pages freed. Half a page is walked for each quasi-pointer.

mod collection;
mod constraints;
mod meta_words;
mod quasi_pointers;

pub(crate) use constraints::CONSTRAINTS;

use crate::address::{Address, BLOCK_BYTES, Span, WORD, blocks_for};
use crate::client::Client;
use crate::config::{HeapConfig, Proposals};
use crate::error::{HeapError, OutOfMemory};
use crate::gc::driver::{Cycle, Survivors};
use crate::gc::plan::Plan;
use crate::model::ObjectModel;
use crate::space::nursery::Extent;
use crate::space::own::NoSpaces;
use crate::space::pages::{PageId, PageSpace, Role};
use crate::state::Core;
use crate::state::Request;
use crate::stats::{CollectionKind, Reason};
use cairn_layout::collector::{MCC, prefix};
use cairn_layout::limits::CHECK_RESERVE;
use cairn_layout::machine::Cursors;
use cairn_layout::object::AllocKind;
use collection::Collection;
use std::time::Instant;

/// What a heap check may have promised, prefixes included.
const RESERVE: u64 = MCC.checked_bytes(CHECK_RESERVE);

/// Bytes allocated between two collections, at least, while the heap is beyond its maximum.
const AT_MAXIMUM: u64 = 64 << 10;

/// How many holes are looked at for one that is long enough.
const HOLES_LOOKED_AT: usize = 8;

/// A page that is being filled: its cursors.
#[derive(Clone, Copy, Debug)]
struct Open {
    page: PageId,
    start: Address,
    at: Cursors,
    end: Address,
    /// It is a hole among objects of a promoted page.
    hole: bool,
}

/// What this collector remembers between collections.
pub(crate) struct Mcc {
    pages: PageSpace,
    /// The page that compiled code fills, with its cursors as they were handed out.
    current: Option<Open>,
    /// The page that the runtime fills when that has too little room: so nothing is taken away that a heap check may
    /// have promised.
    own: Option<Open>,
    /// Holes to be filled before the next page; the last first.
    holes: Vec<Span>,
    proposals: Proposals,
    /// All untyped objects on pages.
    untyped: Vec<Address>,
    wanted: Option<Reason>,
    /// Size of the heap: when two thirds of it are full, a collection is due.
    size: u64,
    fixed: bool,
    /// Bytes of pages after the last collection.
    survived: u64,
    /// Somewhere in the region, for cursors without a page.
    nowhere: Address,
}

impl Mcc {
    fn open(&mut self, core: &mut Core, need: u64) -> Option<Open> {
        if core.pool.free_singles() <= self.reserve() {
            return None;
        }
        let page = self.pages.take(&mut core.pool, need, Role::FROM)?;
        let span = self.pages.page(page).span;
        // An exact extent is just as large as asked for, so that every heap check fails.
        let exact = core.zeal.every_safepoint;
        let end = if exact { span.start.plus(need.next_multiple_of(WORD)) } else { span.end };
        Some(Open { page, start: span.start, at: between(span.start, end), end, hole: false })
    }
    /// A hole with room for `need` bytes.
    fn open_hole(&mut self, core: &Core, need: u64) -> Option<Open> {
        if core.zeal.every_safepoint {
            return None;
        }
        let last = self.holes.len().saturating_sub(HOLES_LOOKED_AT);
        let i = last + self.holes[last..].iter().rposition(|h| h.bytes() >= need)?;
        let s = self.holes.remove(i);
        let page = self.pages.id(s.start);
        Some(Open { page, start: s.start, at: between(s.start, s.end), end: s.end, hole: true })
    }
    /// Makes what is free of a hole one that can be walked over.
    fn cover(at: Cursors) {
        // SAFETY: `lo..hi` are free words, within or at the end of what was a hole, which nobody uses.
        unsafe {
            match at.room() {
                0 => {}
                WORD => Address(at.lo).store(0),
                free => Address(at.lo).store(meta_words::hole(free)),
            }
        }
    }
    fn close_one(&mut self, core: &mut Core, o: Open, at: Cursors) {
        let allocated = o.end.offset_from(o.start) - at.room();
        if o.hole {
            Mcc::cover(at);
            core.stats.mostly_copying.refilled += allocated;
        } else {
            self.pages.fill(o.page, Address(at.lo), Address(at.hi), o.end);
        }
        core.stats.allocated += allocated;
    }
    fn close_current(&mut self, core: &mut Core, at: Cursors) {
        if let Some(o) = self.current.take() {
            self.close_one(core, o, at);
        }
    }
    fn close_own(&mut self, core: &mut Core) {
        if let Some(o) = self.own.take() {
            self.close_one(core, o, o.at);
        }
    }
    /// A page or a hole for the runtime, with room for `whole` bytes.
    #[cold]
    #[inline(never)]
    fn open_own(&mut self, core: &mut Core, at: &mut Cursors, whole: u64) -> Result<(), OutOfMemory> {
        self.close_own(core);
        let open = match self.open_hole(core, whole + WORD) {
            Some(hole) => hole,
            None => {
                self.admit(core, whole)?;
                self.open(core, whole + WORD).ok_or_else(|| self.out_of_memory(core, whole))?
            }
        };
        // No object begins with the page: that might be where compiled code's `hi` is, and the runtime may give back
        // the end of an object there.
        // SAFETY: `open` is an empty page or hole of more than a word, which nobody uses yet.
        unsafe { open.start.store(0) };
        self.own = Some(Open { at: between(open.start.plus(WORD), open.end), ..open });
        if self.is_due(core) {
            self.want(Reason::Nursery, true);
            self.hide(core, at)?;
        }
        Ok(())
    }
    /// A fresh page for compiled code.
    fn extend(&mut self, core: &mut Core, need: u64) -> Option<Cursors> {
        let open = self.open_hole(core, need).or_else(|| self.open(core, need))?;
        self.current = Some(open);
        Some(open.at)
    }
    /// Bytes held elsewhere than on pages.
    fn elsewhere(&self, core: &Core) -> u64 {
        self.used(core) - self.pages.block_bytes()
    }
    /// Bytes of pages taken since the last collection.
    fn filled(&self) -> u64 {
        self.pages.bytes() - self.survived
    }
    /// Two thirds of the heap are full, and there is more on pages than just after the last collection; or survivors
    /// might soon not fit twice.
    fn is_due(&self, core: &Core) -> bool {
        let elsewhere = self.elsewhere(core);
        let room = self.size.saturating_sub(elsewhere);
        // (The paper's heap, of a fixed size, counts on garbage.)
        let fits_twice = if self.fixed { room } else { core.sizing.heap_max().saturating_sub(elsewhere) / 2 };
        let wish = (room / 3 * 2).max(self.survived + self.size / 16).min(fits_twice);
        // At its maximum the heap may have been filled by what was no page: stack chunks, for example.
        let least = (Mcc::margin(core) / 2).min(self.size / 16);
        let step = if self.used(core) > core.sizing.heap_max() { AT_MAXIMUM } else { least };
        self.pages.bytes() >= wish.max(self.survived + step.max(self.pages.page_bytes()))
    }
    /// Room for what is allocated between two collections when the heap is nearly full, and for its copies: each of
    /// them copies everything, so it is twice what other collectors leave.
    fn margin(core: &Core) -> u64 {
        2 * core.sizing.breathing_room()
    }
    fn resize(&mut self, core: &Core) {
        let max = core.sizing.heap_max();
        let wish = self.elsewhere(core) * 2 + self.pages.bytes() / 2 * 9;
        let least = core.sizing.least() / 2 * 3;
        self.size = if self.fixed { max } else { wish.max(least).min(max) };
    }
    /// Takes an object's memory from a page, with its prefix.
    fn bump(at: &mut Cursors, bytes: u64, kind: AllocKind) -> Address {
        let before = MCC.prefix_bytes(kind);
        let start = if kind == AllocKind::Pair {
            at.lo += before + bytes;
            Address(at.lo - before - bytes)
        } else {
            at.hi -= before + bytes;
            Address(at.hi)
        };
        if before > 0 {
            // SAFETY: `before` is not 0, so `start` is the first word of what was just taken from between the cursors:
            // the prefix.
            unsafe { start.store(prefix(kind, bytes)) };
        }
        start.plus(before)
    }
}

/// The cursors of memory that is free from here to there.
const fn between(start: Address, end: Address) -> Cursors {
    Cursors { lo: start.0, hi: end.0 }
}

impl Plan for Mcc {
    /// Of its pages the checker learns by its extents, and the finder is asked about other memory only.
    type Own = NoSpaces;

    fn own_spaces(&self) -> &NoSpaces {
        &NoSpaces
    }

    fn new<M: ObjectModel>(core: &mut Core, _: Span, config: &HeapConfig) -> Result<Mcc, HeapError> {
        let pages = PageSpace::new(&core.region, config.page_bytes)?;
        let mut mcc = Mcc {
            pages,
            current: None,
            own: None,
            holes: Vec::new(),
            proposals: config.proposals,
            untyped: Vec::new(),
            wanted: None,
            size: 0,
            fixed: config.fixed_heap,
            survived: 0,
            nowhere: core.region.base(),
        };
        mcc.resize(core);
        mcc.resume(core);
        Ok(mcc)
    }

    fn extents(&self, at: Cursors) -> Vec<Extent> {
        if self.current.is_some_and(|o| o.hole) {
            Mcc::cover(at);
        }
        if let Some(o) = self.own.filter(|o| o.hole) {
            Mcc::cover(o.at);
        }
        let mut all: Vec<Extent> = (self.pages.iter())
            .map(|id| {
                let p = self.pages.page(id);
                let (filled, end) = if let Some(o) = self.own.filter(|o| o.page == id && !o.hole) {
                    (o.at, o.end)
                } else if let Some(o) = self.current.filter(|o| o.page == id && !o.hole) {
                    (at, o.end)
                } else {
                    (between(p.lo, p.hi), p.end)
                };
                Extent::filled_to(Span::new(p.span.start, end), filled)
            })
            .collect();
        all.sort_unstable_by_key(|x| x.span.start);
        all
    }

    fn current(&self) -> Cursors {
        self.current.map_or(between(self.nowhere, self.nowhere), |o| o.at)
    }

    fn refill<M: ObjectModel>(&mut self, core: &mut Core, _model: &M, at: Cursors, need: u64) -> Option<Cursors> {
        if core.zeal_collects(self.used(core)) || self.wanted.is_some() || self.is_due(core) {
            return None;
        }
        self.close_current(core, at);
        self.extend(core, need)
    }

    fn allocate(
        &mut self,
        core: &mut Core,
        at: &mut Cursors,
        bytes: u64,
        kind: AllocKind,
    ) -> Result<Address, OutOfMemory> {
        let whole = bytes + MCC.prefix_bytes(kind);
        if at.room() >= whole + RESERVE {
            return Ok(Mcc::bump(at, bytes, kind));
        }
        if self.own.is_none_or(|o| o.at.room() < whole) {
            self.open_own(core, at, whole)?;
        }
        let o = self.own.as_mut().expect("just opened");
        Ok(Mcc::bump(&mut o.at, bytes, kind))
    }

    fn allocate_untyped(
        &mut self,
        core: &mut Core,
        at: &mut Cursors,
        bytes: u64,
    ) -> Option<Result<Address, OutOfMemory>> {
        let a = self.allocate(core, at, bytes, AllocKind::Scannable);
        if let Ok(a) = a {
            self.untyped.push(a);
            // SAFETY: `allocate` has just given `bytes` bytes at `a`.
            unsafe { std::ptr::write_bytes(a.bytes(), 0, bytes as usize) };
        }
        Some(a)
    }

    fn close_and_extend(&mut self, core: &mut Core, at: &mut Cursors, need: u64) -> Result<(), OutOfMemory> {
        self.admit(core, need)?;
        self.close_current(core, *at);
        *at = self.extend(core, need).ok_or_else(|| self.out_of_memory(core, need))?;
        Ok(())
    }

    fn hide(&mut self, core: &mut Core, at: &mut Cursors) -> Result<(), OutOfMemory> {
        if at.room() > RESERVE && !core.zeal.every_safepoint {
            let end = Address(at.lo + RESERVE);
            // What lies between is nothing.
            // SAFETY: `end..hi` lies between the mutator's cursors, so it is free, and this thread is the mutator's.
            unsafe { std::ptr::write_bytes(end.bytes(), 0, Address(at.hi).offset_from(end) as usize) };
            at.hi = end.0;
        }
        Ok(())
    }

    fn wants_collection(&self) -> bool {
        self.wanted.is_some()
    }

    fn want(&mut self, reason: Reason, _: bool) {
        self.wanted.get_or_insert(reason);
    }

    fn prepare<M: ObjectModel>(&mut self, core: &mut Core, _: &M, at: Cursors) {
        self.close_current(core, at);
        self.close_own(core);
    }

    fn trace<M: ObjectModel, C: Client>(
        &mut self,
        core: &mut Core,
        model: &M,
        client: &mut C,
        began: Instant,
        request: Request,
    ) -> Result<(), OutOfMemory> {
        let nursery = self.filled();
        let before = self.used(core);
        let chain = std::mem::take(&mut self.untyped);
        let (counts, used);
        let mut stages = Stopwatch::new();
        // SAFETY: pages, large and immortal objects are consistent between collections, which `check` verifies under
        // zeal, and so are the roots that a `Client` shows. The mutator stands still, and has initialised what it
        // allocated.
        unsafe {
            let mut c = Collection::<M, C>::new(model, core, &mut self.pages, self.proposals);
            c.pin(&chain, client);
            stages.lap();
            c.root(client);
            stages.lap();
            c.graph(client);
            stages.lap();
            used = before + c.counts.copied;
            c.free();
            stages.lap();
            c.sweep();
            stages.lap();
            self.untyped = std::mem::take(&mut c.untyped);
            self.holes = std::mem::take(&mut c.holes);
            counts = c.counts;
        }
        core.stats.peak = core.stats.peak.max(used);
        core.old_moves += u64::from(counts.copied > 0);
        let s = &mut core.stats;
        s.copied += counts.copied;
        s.pinned += counts.pinned;
        let m = &mut s.mostly_copying;
        m.stages.iter_mut().zip(&stages.laps).for_each(|(sum, lap)| *sum += *lap);
        m.collections += 1;
        m.objects += counts.copies + counts.pinned;
        m.roots_per_page += counts.roots as f64 / counts.promoted.max(1) as f64;
        m.tested += counts.tested;
        m.walked += counts.walked;
        m.roots += counts.roots;
        m.promoted_pages += counts.promoted;
        m.pinned_bytes += counts.pinned_bytes;
        m.holes += counts.holes;
        self.survived = self.pages.bytes();
        core.sizing.after_major(self.used(core), 0);
        self.resize(core);
        if !core.zeal.poison {
            core.pool.release(blocks_for((self.size / 3 * 2).saturating_sub(self.used(core))));
        }
        let reason = core.cause(self.wanted.take(), request);
        let (after, copied, limit) = (self.used(core), counts.copied, self.size);
        let cycle = Cycle { kind: CollectionKind::Major, reason, began, before, nursery };
        cycle.end(core, Survivors { after, copied, limit, needed: after + self.pages.bytes() });
        Ok(())
    }

    /// What survives has to fit twice: where it is, and where it is copied to. If it does not, or so nearly that the
    /// next collection would come at once, the heap is full.
    fn is_tight(&self, core: &Core) -> bool {
        let needed = self.elsewhere(core) + 2 * self.pages.bytes();
        needed + Mcc::margin(core) > core.sizing.heap_max()
    }

    /// Opens a page for compiled code, if it is not to ask for each.
    fn resume(&mut self, core: &mut Core) {
        if !core.zeal.every_safepoint {
            self.extend(core, 1);
        }
    }

    fn trim(&mut self) {}

    fn nursery_used(&self) -> u64 {
        0
    }

    fn unproven(&self, _: &Core) -> u64 {
        self.filled()
    }

    fn large_are_due(&self, core: &Core) -> bool {
        self.is_due(core) || core.large.young_bytes() > core.sizing.large_young().max(self.size / 3)
    }

    fn check_reserve(&self) -> u64 {
        // With small extents the runtime soon has a page of its own.
        if self.pages.page_bytes() == BLOCK_BYTES && !self.proposals.reuse_holes { RESERVE } else { 0 }
    }

    fn reserve(&self) -> u32 {
        let blocks = blocks_for(self.pages.block_bytes());
        blocks + blocks / 4 + 32
    }
}

/// Measures stages.
struct Stopwatch {
    since: Instant,
    laps: Vec<std::time::Duration>,
}

impl Stopwatch {
    fn new() -> Stopwatch {
        Stopwatch { since: Instant::now(), laps: Vec::with_capacity(5) }
    }
    fn lap(&mut self) {
        let now = Instant::now();
        self.laps.push(now - self.since);
        self.since = now;
    }
}
