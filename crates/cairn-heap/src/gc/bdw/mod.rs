//! `bdw`: the conservative collector of Boehm, Demers and Weiser, as the system's libgc, on the interfaces of this
//! crate.
//!
//! The problem: the literature compares with this collector, so numbers without it say little; but it is a library with
//! ideas of its own about roots, threads and when to collect. The idea: libgc allocates, marks and sweeps; all else is
//! ours. It is loaded when it is chosen ([`libgc`]).
//!
//! * Compiled code pops cells from free lists, as under `marksweep`; the chains come from `GC_malloc_many`. Objects
//!   without references come from `GC_malloc_atomic`.
//! * References are tagged: their displacements are registered, so that references to the middle of objects, which we
//!   have none of, need not be recognized (`GC_set_all_interior_pointers(0)`).
//! * `GC_disable` holds except at safepoints of compiled code: values in Rust's hands are invisible to libgc. When to
//!   collect is decided as by the other collectors ([`crate::sizing`]).
//! * Roots are what the client shows, and nothing else: libgc's own (static data, the native stack) are cleared, or
//!   cut down to the collector's own frames. Precise words are gathered; static data and ambiguous words are shown in
//!   place.
//! * Stack chunks are objects of libgc that it does not look into: what is left of frames that have returned would keep
//!   whole histories of continuations alive. Continuations that libgc has marked are found among the objects of their
//!   size, and their frames are traced by [`rest`].
//! * Immortal objects stay in the region, and are roots.
//! * What is weak is dealt with between marking and sweeping ([`rest`]).
//!
//! One heap in a process, since libgc's state is the process's; Scheme's objects only, since references to the middle
//! of C's untyped objects would not be recognized.

mod constraints;
mod libgc;
mod rest;

pub(crate) use constraints::CONSTRAINTS;

use super::budget::Budget;
use crate::address::{Address, Span, WORD};
use crate::client::{AmbiguousVisitor, Client, RootVisitor};
use crate::config::HeapConfig;
use crate::error::{HeapError, OutOfMemory};
use crate::gc::driver::{Cycle, Survivors};
use crate::gc::plan::Plan;
use crate::model::{ObjectModel, RefKind};
use crate::space::nursery::Extent;
use crate::state::Core;
use crate::state::Request;
use crate::stats::{CollectionKind, Reason};
use crate::weak::WeakTracing;
use cairn_layout::collector::{BDW, CELL_GRANULE, FREE_LISTS, FreeList, LARGEST_CELL};
use cairn_layout::machine::Cursors;
use cairn_layout::object::AllocKind;
use libgc::{Libgc, MARK_END, StackBase};
use rest::Rest;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};
use std::time::Instant;

/// What `GC_malloc_many` hands out at once, about: libgc's unit of memory.
const CHAIN_BYTES: u64 = 4 << 10;
/// Sizes of cells, in granules, and none.
const CELLS: usize = (LARGEST_CELL / CELL_GRANULE) as usize + 1;
/// libgc gives back the pages of blocks that were free already at an earlier collection, so what a collection has found
/// dead goes back after so many. Those after the first trace little, or do not happen.
const UNTIL_UNMAPPED: usize = 3;
/// Fewer words are copied rather than shown in place: libgc's stack has room for some thousand places.
const FEW_WORDS: usize = 512;

/// What this collector remembers between collections.
pub(crate) struct Bdw {
    gc: Libgc,
    budget: Budget,
    wanted: Option<Reason>,
    /// Free cells in the runtime's hands, by their size in granules.
    cells: [u64; CELLS],
    /// Bytes taken since the last collection: at least what the mutator has allocated.
    taken: u64,
    roots: Roots,
}

/// Roots as libgc is shown them.
#[derive(Default)]
struct Roots {
    places: Vec<Span>,
    words: Vec<u64>,
}

impl Roots {
    /// Notes words to be shown: copies of them, or their place.
    ///
    /// # Safety
    /// `n` words can be read at `start` until the collection is over.
    unsafe fn show(&mut self, start: *const u64, n: usize) {
        if n == 0 {
            return; // `start` may be null
        }
        if n < FEW_WORDS {
            // SAFETY: `n` words can be read at `start` (`# Safety`), and `n` is not 0.
            self.words.extend_from_slice(unsafe { std::slice::from_raw_parts(start, n) });
        } else {
            let start = Address(start as u64);
            self.places.push(Span::new(start, start.plus(n as u64 * WORD)));
        }
    }
}

impl RootVisitor for Roots {
    unsafe fn slot(&mut self, slot: *mut u64) {
        // SAFETY: `slot` is a valid word, as `RootVisitor::slot` demands of whoever calls it.
        self.words.push(unsafe { *slot });
    }
    unsafe fn words(&mut self, start: *mut u64, n: usize) {
        // SAFETY: `n` valid words are at `start`, as `RootVisitor::words` demands; roots stay where they are through
        // the collection.
        unsafe { self.show(start, n) }
    }
    fn mark_chunk(&mut self, chunk: Address) {
        self.words.push(chunk.0);
    }
}

impl AmbiguousVisitor for Roots {
    fn ambiguous(&mut self, word: u64) {
        self.words.push(word);
    }
    unsafe fn ambiguous_words(&mut self, start: *const u64, n: usize) {
        // SAFETY: `n` words can be read at `start`, as `AmbiguousVisitor` demands; roots stay where they are through
        // the collection.
        unsafe { self.show(start, n) }
    }
}

/// The collection under way, for libgc's callbacks, which have no argument of ours.
struct Round<'a> {
    roots: &'a Roots,
    push_all: unsafe extern "C" fn(*const c_void, *const c_void),
    after_marking: &'a mut dyn FnMut(),
}

static ROUND: AtomicPtr<Round<'static>> = AtomicPtr::new(std::ptr::null_mut());

unsafe extern "C" fn push_roots() {
    // SAFETY: null, or set by `run`, whose `round` stays until libgc is done; libgc calls this meanwhile, on the same
    // thread.
    let Some(round) = (unsafe { ROUND.load(SeqCst).as_ref() }) else { return };
    let words = round.roots.words.as_ptr_range();
    let words = Span::new(Address(words.start as u64), Address(words.end as u64));
    for s in round.roots.places.iter().chain([&words]) {
        // SAFETY: the words of `words` and of the places can be read (`Roots::show`), and this is where libgc wants to
        // be told of them.
        unsafe { (round.push_all)(s.start.bytes() as *const c_void, s.end.bytes() as *const c_void) };
    }
}

unsafe extern "C" fn on_event(event: c_int) {
    if event == MARK_END {
        // SAFETY: null, or set by `run`, whose `round` stays until libgc is done. libgc calls this on the same thread,
        // and not while it asks for roots, so no other reference to it is alive.
        if let Some(round) = unsafe { ROUND.load(SeqCst).as_mut() } {
            (round.after_marking)();
        }
    }
}

/// Overwrites what earlier calls have left where libgc's frames will be: it reads these, too.
#[inline(never)]
fn clear_stack() {
    std::hint::black_box(&mut [0u64; 2 << 10]);
}

impl Bdw {
    fn owns(&self, a: Address) -> bool {
        // SAFETY: `is_heap_ptr` may be asked about any address.
        unsafe { (self.gc.functions.is_heap_ptr)(a.bytes() as *const c_void) != 0 }
    }
    /// The collection is to come soon, if the program is beyond its maximum; or the error.
    fn admit(&mut self, core: &mut Core, at: &mut Cursors, bytes: u64) -> Result<(), OutOfMemory> {
        Plan::admit(self, core, bytes)?;
        if self.wanted.is_some() { self.hide(core, at) } else { Ok(()) }
    }
    /// What a call of libgc's allocator has brought.
    fn got(&mut self, core: &Core, p: *mut c_void, bytes: u64) -> Result<Address, OutOfMemory> {
        if p.is_null() {
            return Err(self.out_of_memory(core, bytes));
        }
        self.taken += bytes;
        Ok(Address(p as u64))
    }
    /// A chain of cells of so many granules.
    fn chain(&mut self, core: &mut Core, at: &mut Cursors, granules: usize) -> Result<Address, OutOfMemory> {
        self.admit(core, at, CHAIN_BYTES)?;
        // SAFETY: `granules` is at most that of the largest cell, a size that `malloc_many` serves.
        let p = unsafe { (self.gc.functions.malloc_many)(granules * CELL_GRANULE as usize) };
        self.got(core, p, CHAIN_BYTES)
    }
    /// Memory for one object.
    fn one(&mut self, core: &Core, bytes: u64, leaf: bool) -> Result<Address, OutOfMemory> {
        // SAFETY: `bytes` has been compared with the heap's maximum (`admit`), or is that of a chunk; null means that
        // there is none.
        let p = unsafe {
            if leaf {
                (self.gc.functions.malloc_atomic)(bytes as usize)
            } else {
                (self.gc.functions.malloc)(bytes as usize)
            }
        };
        self.got(core, p, bytes)
    }

    /// libgc collects.
    ///
    /// # Safety
    /// The mutator stands still, and what it has allocated is initialised.
    unsafe fn run<M: ObjectModel, C: Client>(
        &mut self,
        core: &mut Core,
        model: &M,
        client: &mut C,
        release: bool,
    ) {
        let gc = self.gc.functions;
        let Core { weak, cards, .. } = core;
        let mut after_marking = || {
            let mut rest = Rest::new(model, gc);
            // SAFETY: what the mutator has allocated is initialised (`# Safety`); libgc has marked, and does nothing
            // else until this is over.
            unsafe {
                rest.find_continuations();
                WeakTracing::<C>::trace(&mut rest, client);
                if weak.is_idle(true) {
                    client.visit_dying(&mut rest);
                    WeakTracing::<C>::trace(&mut rest, client);
                    client.visit_weak(&mut rest);
                } else {
                    weak.settle::<M, C, _>(&mut rest, client, cards);
                }
            }
        };
        let mut round = Round { roots: &self.roots, push_all: gc.push_all, after_marking: &mut after_marking };
        // Nothing above this is a root.
        let base = StackBase { base: (&raw mut round).cast() };
        ROUND.store((&raw mut round).cast(), SeqCst);
        // SAFETY: one thread uses libgc; its callbacks find `round`, which outlives the call, in `ROUND`. Above
        // `base` are no roots.
        unsafe {
            (gc.set_stackbottom)(std::ptr::null_mut(), &raw const base);
            (gc.set_push_other_roots)(Some(push_roots));
            (gc.set_on_collection_event)(Some(on_event));
            (gc.enable)();
            clear_stack();
            if release {
                (gc.gcollect_and_unmap)()
            } else {
                (gc.gcollect)()
            }
            (gc.disable)();
        }
        ROUND.store(std::ptr::null_mut(), SeqCst);
    }
}

impl Plan for Bdw {
    type Own = Libgc;

    fn own_spaces(&self) -> &Libgc {
        &self.gc
    }

    fn new<M: ObjectModel>(core: &mut Core, _: Span, _: &HeapConfig) -> Result<Bdw, HeapError> {
        if M::AMBIGUOUS {
            return Err(HeapError::NotForModel(BDW.name));
        }
        let displacements = [RefKind::Pair, RefKind::Object, RefKind::Procedure];
        let gc = Libgc::claim(&displacements.map(|kind| M::reference(Address(0), kind) as usize))?;
        let mut plan = Bdw {
            gc,
            budget: Budget::new(core.region.span().end),
            wanted: None,
            cells: [0; CELLS],
            taken: 0,
            roots: Roots::default(),
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
        if core.zeal_collects(core.sizing.live()) || self.wanted.is_some() || !self.budget.has(at, need.max(1)) {
            return None;
        }
        self.budget.close(&mut core.stats, at);
        Some(self.budget.grant(zeal.then_some(need)))
    }

    fn allocate(
        &mut self,
        core: &mut Core,
        at: &mut Cursors,
        bytes: u64,
        kind: AllocKind,
    ) -> Result<Address, OutOfMemory> {
        let a = if kind == AllocKind::Leaf || bytes > LARGEST_CELL {
            self.admit(core, at, bytes)?;
            self.one(core, bytes, kind == AllocKind::Leaf)?
        } else {
            let granules = bytes.div_ceil(CELL_GRANULE) as usize;
            if self.cells[granules] == 0 {
                self.cells[granules] = self.chain(core, at, granules)?.0;
            }
            let cell = Address(self.cells[granules]);
            // SAFETY: `cell` is the head of a chain, not 0: a free cell, whose first word is the link.
            self.cells[granules] = unsafe { cell.load() };
            cell
        };
        self.budget.spend(&mut core.stats, at, bytes);
        Ok(a)
    }

    fn allocate_large(
        &mut self,
        core: &mut Core,
        bytes: u64,
        kind: AllocKind,
    ) -> Option<Result<Address, OutOfMemory>> {
        Some(self.one(core, bytes, kind == AllocKind::Leaf))
    }

    fn allocate_chunk(&mut self, core: &mut Core, bytes: u64) -> Option<Result<Span, OutOfMemory>> {
        Some(self.one(core, bytes, true).map(|a| Span::new(a, a.plus(bytes))))
    }

    fn free_chunk(&mut self, chunk: Address) -> bool {
        // SAFETY: `chunk` came from `allocate_chunk`, so it is an object of libgc's, and callers free what nobody
        // refers to.
        unsafe { (self.gc.functions.free)(chunk.bytes().cast()) };
        true
    }

    fn chunk_end(&self, chunk: Address) -> Option<Address> {
        self.gc.object_around(chunk).filter(|o| o.start == chunk).map(|o| o.end)
    }

    fn cells(
        &mut self,
        core: &mut Core,
        at: &mut Cursors,
        list: FreeList,
    ) -> Option<Result<Address, OutOfMemory>> {
        Some(self.chain(core, at, (BDW.cell_bytes(list) / CELL_GRANULE) as usize))
    }

    /// Nothing refers to these cells, so libgc finds them by itself.
    fn return_cells(&mut self, _: &mut Core, lists: &mut [u64; FREE_LISTS]) {
        lists.fill(0);
    }

    fn close_and_extend(&mut self, core: &mut Core, at: &mut Cursors, need: u64) -> Result<(), OutOfMemory> {
        Plan::admit(self, core, need)?;
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
        self.cells.fill(0);
    }

    fn trace<M: ObjectModel, C: Client>(
        &mut self,
        core: &mut Core,
        model: &M,
        client: &mut C,
        began: Instant,
        request: Request,
    ) -> Result<(), OutOfMemory> {
        let before = self.used(core);
        core.stats.peak = core.stats.peak.max(before);
        let wanted = self.wanted.take();
        let release = wanted == Some(Reason::Request);
        for _ in 0..if release { UNTIL_UNMAPPED } else { 1 } {
            // Each time anew: what is weak may have come back.
            self.roots.places.clear();
            self.roots.words.clear();
            client.visit_ambiguous(&mut self.roots);
            self.roots.places.extend(core.immortal.extents().filter(|x| !x.leaf).map(|x| x.span));
            client.visit_roots(&mut self.roots);
            // SAFETY: collections are asked for at safepoints only: the mutator stands still, and what it has allocated
            // is initialised.
            unsafe { self.run(core, model, client, release) };
            if self.used(core) > before / 2 {
                break;
            }
        }
        let after = self.used(core);
        let nursery = std::mem::take(&mut self.taken);
        core.sizing.after_major(after, 0);
        core.sizing.note_age(before, core.stats.allocated);
        let limit = core.sizing.limit();
        self.budget.renew(limit.saturating_sub(after));
        let reason = core.cause(wanted, request);
        let cycle = Cycle { kind: CollectionKind::Major, reason, began, before, nursery };
        cycle.end(core, Survivors { after, copied: 0, limit, needed: after });
        Ok(())
    }

    fn is_tight(&self, core: &Core) -> bool {
        self.used(core) + core.sizing.breathing_room() > core.sizing.heap_max()
    }

    fn resume(&mut self, core: &mut Core) {
        if !core.zeal.every_safepoint {
            self.budget.grant(None);
        }
    }

    fn trim(&mut self) {}

    fn owns(&self, _: &Core, a: Address) -> bool {
        self.owns(a)
    }

    fn nursery_used(&self) -> u64 {
        0
    }

    fn unproven(&self, _: &Core) -> u64 {
        self.taken
    }

    fn large_are_due(&self, _: &Core) -> bool {
        self.taken >= self.budget.total()
    }

    fn check_reserve(&self) -> u64 {
        0
    }

    fn reserve(&self) -> u32 {
        32
    }
}
