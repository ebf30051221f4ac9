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
use crate::check;
use crate::client::Client;
use crate::config::{HeapConfig, Proposals};
use crate::error::{HeapError, OutOfMemory};
use crate::gc::plan::Plan;
use crate::model::ObjectModel;
use crate::space::nursery::Extent;
use crate::space::pages::{PageId, PageSpace, Role};
use crate::state::Request;
use crate::state::{Core, Volume};
use crate::stats::{CollectionKind, Reason};
use cairn_layout::collector::{MCC, prefix};
use cairn_layout::limits::CHECK_RESERVE;
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
    lo: Address,
    hi: Address,
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
        Some(Open { page, start: span.start, lo: span.start, hi: end, end, hole: false })
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
        Some(Open { page, start: s.start, lo: s.start, hi: s.end, end: s.end, hole: true })
    }
    /// Makes what is free of a hole one that can be walked over.
    fn cover(lo: Address, hi: Address) {
        // SAFETY: free words, within or at the end of what was a hole.
        unsafe {
            match hi.offset_from(lo) {
                0 => {}
                WORD => lo.store(0),
                free => lo.store(meta_words::hole(free)),
            }
        }
    }
    fn close_one(&mut self, core: &mut Core, o: Open, lo: Address, hi: Address) {
        if o.hole {
            Mcc::cover(lo, hi);
            core.stats.mostly_copying.refilled += lo.offset_from(o.start) + o.end.offset_from(hi);
        } else {
            self.pages.fill(o.page, lo, hi, o.end);
        }
        core.stats.allocated += lo.offset_from(o.start) + o.end.offset_from(hi);
    }
    fn close_current(&mut self, core: &mut Core, lo: Address, hi: Address) {
        if let Some(o) = self.current.take() {
            self.close_one(core, o, lo, hi);
        }
    }
    fn close_own(&mut self, core: &mut Core) {
        if let Some(o) = self.own.take() {
            self.close_one(core, o, o.lo, o.hi);
        }
    }
    /// A fresh page for compiled code.
    fn extend(&mut self, core: &mut Core, need: u64) -> Option<(Address, Address)> {
        let open = self.open_hole(core, need).or_else(|| self.open(core, need))?;
        self.current = Some(open);
        Some((open.lo, open.hi))
    }
    /// Opens a page for compiled code, if it is not to ask for each.
    fn begin(&mut self, core: &mut Core) {
        if !core.zeal.every_safepoint {
            self.extend(core, 1);
        }
    }
    /// Bytes held elsewhere than on pages.
    fn elsewhere(&self, core: &Core) -> u64 {
        core.used() - self.pages.block_bytes()
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
        let step = if core.used() > core.sizing.heap_max() { AT_MAXIMUM } else { least };
        self.pages.bytes() >= wish.max(self.survived + step.max(self.pages.page_bytes()))
    }
    /// What survives has to fit twice: where it is, and where it is copied to. If it does not, or so nearly that the
    /// next collection would come at once, the heap is full.
    fn is_tight(&self, core: &Core) -> bool {
        let needed = self.elsewhere(core) + 2 * self.pages.bytes();
        needed + Mcc::margin(core) > core.sizing.heap_max()
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
    fn bump(lo: &mut Address, hi: &mut Address, bytes: u64, kind: AllocKind) -> Address {
        let before = MCC.prefix_bytes(kind);
        let at = if kind == AllocKind::Pair {
            let at = *lo;
            *lo = at.plus(before + bytes);
            at
        } else {
            *hi = hi.minus(before + bytes);
            *hi
        };
        if before > 0 {
            // SAFETY: the first word of fresh memory.
            unsafe { at.store(prefix(kind, bytes)) };
        }
        at.plus(before)
    }
}

impl Plan for Mcc {
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
        mcc.begin(core);
        Ok(mcc)
    }

    fn extents(&self, lo: Address, hi: Address) -> Vec<Extent> {
        if self.current.is_some_and(|o| o.hole) {
            Mcc::cover(lo, hi);
        }
        if let Some(o) = self.own.filter(|o| o.hole) {
            Mcc::cover(o.lo, o.hi);
        }
        let mut all: Vec<Extent> = (self.pages.iter())
            .map(|id| {
                let p = self.pages.page(id);
                let (mut lo_, mut hi_, mut end) = (p.lo, p.hi, p.end);
                if let Some(o) = self.own.filter(|o| o.page == id && !o.hole) {
                    (lo_, hi_, end) = (o.lo, o.hi, o.end);
                } else if let Some(o) = self.current.filter(|o| o.page == id && !o.hole) {
                    (lo_, hi_, end) = (lo, hi, o.end);
                }
                Extent { span: Span::new(p.span.start, end), lo: lo_, hi: hi_ }
            })
            .collect();
        all.sort_unstable_by_key(|x| x.span.start);
        all
    }

    fn current(&self) -> (Address, Address) {
        self.current.map_or((self.nowhere, self.nowhere), |o| (o.lo, o.hi))
    }

    fn refill<M: ObjectModel>(
        &mut self,
        core: &mut Core,
        _model: &M,
        lo: Address,
        hi: Address,
        need: u64,
    ) -> Option<(Address, Address)> {
        if core.zeal_collects(core.used()) || self.wanted.is_some() || self.is_due(core) {
            return None;
        }
        self.close_current(core, lo, hi);
        self.extend(core, need)
    }

    fn allocate(
        &mut self,
        core: &mut Core,
        lo: &mut Address,
        hi: &mut Address,
        bytes: u64,
        kind: AllocKind,
    ) -> Result<Address, OutOfMemory> {
        let whole = bytes + MCC.prefix_bytes(kind);
        if hi.0 - lo.0 >= whole + RESERVE {
            return Ok(Mcc::bump(lo, hi, bytes, kind));
        }
        if self.own.is_none_or(|o| o.hi.0 - o.lo.0 < whole) {
            self.close_own(core);
            let open = match self.open_hole(core, whole + WORD) {
                Some(hole) => hole,
                None => {
                    self.admit(core, whole)?;
                    self.open(core, whole + WORD).ok_or_else(|| core.out_of_memory(whole, 0))?
                }
            };
            // No object begins with the page: that might be where compiled code's `hi` is, and the runtime may give
            // back the end of an object there.
            // SAFETY: the first word of an empty page.
            unsafe { open.lo.store(0) };
            self.own = Some(Open { lo: open.lo.plus(WORD), ..open });
            if self.is_due(core) {
                self.want(Reason::Nursery, true);
                self.hide(core, lo, hi)?;
            }
        }
        let o = self.own.as_mut().expect("just opened");
        Ok(Mcc::bump(&mut o.lo, &mut o.hi, bytes, kind))
    }

    fn allocate_untyped(
        &mut self,
        core: &mut Core,
        lo: &mut Address,
        hi: &mut Address,
        bytes: u64,
    ) -> Option<Result<Address, OutOfMemory>> {
        let a = self.allocate(core, lo, hi, bytes, AllocKind::Scannable);
        if let Ok(a) = a {
            self.untyped.push(a);
            // SAFETY: fresh memory of this size.
            unsafe { std::ptr::write_bytes(a.bytes(), 0, bytes as usize) };
        }
        Some(a)
    }

    fn close_and_extend(
        &mut self,
        core: &mut Core,
        lo: &mut Address,
        hi: &mut Address,
        need: u64,
    ) -> Result<(), OutOfMemory> {
        self.admit(core, need)?;
        self.close_current(core, *lo, *hi);
        (*lo, *hi) = self.extend(core, need).ok_or_else(|| core.out_of_memory(need, 0))?;
        Ok(())
    }

    fn hide(&mut self, core: &mut Core, lo: &mut Address, hi: &mut Address) -> Result<(), OutOfMemory> {
        if hi.0 - lo.0 > RESERVE && !core.zeal.every_safepoint {
            let end = lo.plus(RESERVE);
            // What lies between is nothing.
            // SAFETY: the free part of the page.
            unsafe { std::ptr::write_bytes(end.bytes(), 0, hi.offset_from(end) as usize) };
            *hi = end;
        }
        Ok(())
    }

    fn wants_collection(&self) -> bool {
        self.wanted.is_some()
    }

    fn want(&mut self, reason: Reason, _: bool) {
        self.wanted.get_or_insert(reason);
    }

    fn collect<M: ObjectModel, C: Client>(
        &mut self,
        core: &mut Core,
        model: &M,
        client: &mut C,
        lo: Address,
        hi: Address,
        request: Request,
    ) -> Result<(), OutOfMemory> {
        let began = Instant::now();
        core.learn_ambiguity(M::AMBIGUOUS || C::AMBIGUOUS);
        let nursery = self.filled();
        self.close_current(core, lo, hi);
        self.close_own(core);
        let walks = core.zeal.verify && core.pace.walks();
        if walks {
            let report = check::demand("before", core, model, &self.extents(lo, hi), client);
            core.pace.walked(report.words);
        }
        let before = core.used();
        let chain = std::mem::take(&mut self.untyped);
        let (counts, used);
        let mut stages = Stopwatch::new();
        // SAFETY: pages, large and immortal objects are consistent between collections, and the client's roots are by
        // its contract. The mutator stands still, and has initialised what it allocated.
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
        s.major += 1;
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
        core.stats.live = core.stats.live.max(core.used());
        self.survived = self.pages.bytes();
        core.sizing.after_major(core.used(), 0);
        core.chunk_bytes_at_collection = core.chunks.bytes();
        self.resize(core);
        if !core.zeal.poison {
            core.pool.release(blocks_for((self.size / 3 * 2).saturating_sub(core.used())));
        }
        let reason = core.cause(self.wanted.take(), request);
        let (after, copied, limit) = (core.used(), counts.copied, self.size);
        let bytes = Volume { nursery, before, after, copied, limit, needed: after + self.pages.bytes() };
        core.collected(CollectionKind::Major, reason, began, bytes);
        if walks {
            check::demand("after", core, model, &self.extents(lo, hi), client);
        }
        let tight = self.is_tight(core);
        self.begin(core);
        if tight { Err(core.out_of_memory(0, 0)) } else { Ok(()) }
    }

    fn is_young(&self, _: Address) -> bool {
        false // whatever moves may do so at every collection
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
