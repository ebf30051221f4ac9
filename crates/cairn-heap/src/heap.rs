//! The heap: what a runtime holds and calls.
//!
//! A heap is a value; several can live in one process, of different object models, too. It is the shared parts
//! ([`Core`]: address space, block pool, cards, the spaces that several collectors have) and the chosen collector.
//!
//! How a runtime uses it:
//!
//! ```text
//!   compiled code:  hi - lo >= bytes?  ── yes ─▶ lo += 16 (pair)   or   hi -= bytes (other)
//!                        │ no: spill live values
//!                        ▼
//!   runtime:        heap.safepoint(&mut cursors, bytes, client)?       may collect; client shows the roots
//!
//!   runtime (Rust): heap.alloc(&mut cursors, bytes, kind)?             never collects
//! ```
//!
//! Where compiled code takes cells from free lists instead, `lo..hi` is a budget, and memory comes from
//! [`Heap::cells`].
//!
//! Memory from `alloc` is uninitialised: every word of a pair, procedure or scannable object must be a valid
//! value, or a raw word without pointer tag, before the next safepoint. Stores into objects afterwards mark the
//! card of the slot (`cairn_layout::machine`).
//!
//! A heap check may be followed by calls into the runtime before the memory is used. So allocation from Rust
//! leaves compiled code at least `CHECK_RESERVE` bytes, or, when a collection is wanted, what is left of so many:
//! then the runtime allocates in an extent of its own, and compiled code soon runs into the end of its extent and
//! comes to `safepoint`. It comes at once if its check is `hi - lo >= bytes + CHECK_RESERVE`.

use crate::address::{Address, BLOCK_BYTES, BLOCK_SHIFT, BlockIndex, PAIR_BYTES, Span};
use crate::blocks::{BlockPool, Kind};
use crate::census::{self, Census};
use crate::check;
use crate::client::Client;
use crate::config::{HeapConfig, physical_memory};
use crate::error::{HeapError, OutOfMemory};
use crate::gc;
use crate::gc::plan::Plan;
use crate::gc::{Selected, driver, with_plan};
use crate::idle::Idle;
use crate::marks::Marks;
use crate::model::c::{CObjects, Nature};
use crate::model::{ObjectModel, RefKind};
use crate::region::{Cards, OwnCards, Region, advise_huge, suitable_bits};
use crate::sampling::{Sample, Sampling};
use crate::sizing::Sizing;
use crate::space::cells::{CellSpace, CellType};
use crate::space::compact::{CompactSpace, PoolStats};
use crate::space::immortal::ImmortalSpace;
use crate::space::large::LargeSpace;
use crate::space::stack_chunks::ChunkSpace;
use crate::state::{Core, Request};
use crate::stats::{Observer, Reason, Stats};
use crate::weak::{GivenBack, WeakHandle, WeakKind, WeakObjects};
use crate::workshop::Workshop;
use crate::zeal::Pace;
use cairn_layout::collector::{Allocation, Barrier, FREE_LISTS, FreeList, Prefix};
use cairn_layout::facts::CollectorFacts;
use cairn_layout::limits::CHECK_RESERVE;
pub use cairn_layout::machine::Cursors;
pub use cairn_layout::object::AllocKind;
use cairn_layout::object::LARGE_BYTES;
use cairn_layout::object::record::FieldKind;
use cairn_layout::object::record::compact::{BIAS, Widths};
use std::time::Duration;

/// What the mutator gets when its extent is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refill {
    /// A new extent.
    Block(Cursors),
    /// A collection is due.
    Collect,
}

/// How often objects have moved; see [`Heap::moves`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moves {
    /// Collections so far.
    pub collections: u64,
    /// Those of them that moved objects which were not young.
    pub old: u64,
}

/// A garbage-collected heap whose objects are laid out as `M` says.
pub struct Heap<M: ObjectModel> {
    core: Core,
    model: M,
    selected: Selected,
    facts: &'static CollectorFacts,
    /// Where young objects are, which the next collection moves; empty if no objects are young.
    young: Span,
    /// Objects up to this size are taken from the extent at hand without asking the collector.
    unasked: u64,
}

impl<M: ObjectModel> Heap<M> {
    /// Reserves address space and makes an empty heap of objects of this model.
    pub fn new(model: M, config: HeapConfig) -> Result<Heap<M>, HeapError> {
        let facts = config.collector;
        let Some(constraints) = gc::ALL.iter().find(|c| c.facts == facts) else {
            return Err(HeapError::NoSuchCollector(facts.name.to_owned()));
        };
        assert!(constraints.ambiguous || !M::AMBIGUOUS, "`{}` cannot keep untyped objects", facts.name);
        // The last part of the region stays unused: there, cards belong to static data.
        let usable = |blocks: u32| blocks - blocks / 64;
        let old_blocks = |blocks: u32| constraints.old_blocks(blocks).min(usable(blocks));
        let asked = config.heap_max.unwrap_or(0);
        let holds_it = |bits: &u32| constraints.most_bytes(old_blocks(1 << (bits - BLOCK_SHIFT))) >= asked;
        let least = (BLOCK_SHIFT + 1..config.region_bits).find(holds_it).unwrap_or(config.region_bits);
        let bits = suitable_bits(config.region_bits, least, config.region_share);
        let region = Region::reserve(bits, config.static_data.map(Address))?;
        let (usable, old_blocks) = (usable(region.blocks()), old_blocks(region.blocks()));
        let most = constraints.most_bytes(old_blocks);
        let heap_max = match config.heap_max {
            // Beyond physical memory is the user's choice: addresses are reserved, pages come when they are touched.
            Some(asked) if asked > most => return Err(HeapError::TooLarge { asked, most }),
            Some(asked) => asked,
            None => (physical_memory() / 2).min(most),
        };
        let young = region.span_of(BlockIndex(old_blocks), usable - old_blocks);
        let cards = Cards::new(&region)?;
        let own_cards = OwnCards::around(config.static_data.map(Address), region.base(), young.end, &cards);
        if config.huge_pages {
            // Not where a small program would get a huge page for a few bytes.
            let small = 4 << 20;
            advise_huge(Span::new(region.base().plus(small), young.start.minus(small)));
            if young.bytes() > small {
                advise_huge(Span::new(young.start.plus(small / 2), young.end));
            }
        }
        let mut core = Core {
            cards,
            marks: Marks::new(&region)?,
            pool: BlockPool::new(&region, old_blocks, config.zeal.poison)?,
            region,
            large: LargeSpace::default(),
            chunks: ChunkSpace::new(config.zeal.poison),
            immortal: ImmortalSpace::default(),
            cells: CellSpace::default(),
            compact: CompactSpace::new(config.zeal.poison, config.zeal.every_safepoint, config.mark_stack)?,
            weak: WeakObjects::default(),
            sizing: Sizing::new(config.sizing, heap_max),
            stats: Stats::default(),
            zeal: config.zeal,
            mark_stack: config.mark_stack,
            own_cards,
            generational: constraints.generational,
            pace: Pace::new(config.zeal.thorough, config.zeal.unpaced),
            workshop: Workshop::default(),
            chunk_bytes_at_collection: 0,
            ambiguous: None,
            sampling: None,
            old_moves: 0,
            charged: 0,
            overdraft: 0,
            released_at: 0,
            idle: Idle::default(),
            meagre: 0,
            observer: None,
        };
        if M::AMBIGUOUS {
            core.marks.expect_ambiguity()?;
        }
        let selected = Selected::new::<M>(facts, &mut core, young, &config)?;
        let unasked =
            if facts.allocation == Allocation::TwoEnded && facts.prefix == Prefix::None { LARGE_BYTES } else { 0 };
        let young = if constraints.generational { young } else { Span::default() };
        Ok(Heap { core, model, selected, facts, young, unasked })
    }

    /// The object model.
    pub fn model(&self) -> &M {
        &self.model
    }
    /// The object model, to add to its tables.
    pub fn model_mut(&mut self) -> &mut M {
        &mut self.model
    }
    /// What the collector publishes for code generation.
    pub fn facts(&self) -> &'static CollectorFacts {
        self.facts
    }
    /// Base of the card table: `Machine::cards`.
    pub fn cards_ptr(&self) -> *mut u8 {
        self.core.cards.base()
    }
    /// Mask of its indices: `Machine::card_mask`.
    pub fn card_mask(&self) -> u64 {
        self.core.cards.mask()
    }
    /// From now on, `*place` is the lowest address of objects that a minor collection may move or free: a store of a
    /// lower one need not be noted. All ones where no store need be.
    ///
    /// # Safety
    /// The place stays as long as the heap, and nobody else writes there.
    pub unsafe fn publish_young(&mut self, place: *mut u64) {
        match self.facts.barrier {
            // SAFETY: the place stays as long as the heap, and nobody else writes there (`# Safety`).
            Barrier::None => unsafe { *place = u64::MAX },
            // SAFETY: the place stays as long as the heap, and so as its pool, and nobody else writes there (`#
            // Safety`).
            Barrier::Card => unsafe { self.core.pool.publish_runs(place) },
        }
    }
    /// Marks the card of a slot that was written: what compiled code does inline.
    #[inline(always)]
    pub fn mark_card(&self, slot: u64) {
        self.core.cards.mark(Address(slot));
    }
    /// Marks the cards of `count` slots from `first` on.
    pub fn mark_cards(&self, first: u64, count: u64) {
        if count > 0 {
            self.core.cards.mark_span(Span::new(Address(first), Address(first + 8 * count)));
        }
    }
    /// Marks the cards of static data that the client shows by `RootVisitor::static_words`, when it has filled them.
    pub fn mark_static(&self, start: *const u64, n: usize) {
        let start = Address(start as u64);
        self.core.cards.mark_span(Span::new(start, start.plus(8 * n as u64)));
    }
    /// Is this address inside the heap's region?
    #[inline]
    pub fn contains(&self, address: u64) -> bool {
        with_plan!(&self.selected, p => p.owns(&self.core, Address(address)))
            || self.core.pool.table.covers(Address(address))
    }
    /// Is this address in a block of the heap that is in use, and so can be read?
    pub fn is_in_use(&self, address: u64) -> bool {
        let (a, table) = (Address(address), &self.core.pool.table);
        table.covers(a) && table.state(table.block_of(a)).kind() != Kind::Free
    }
    /// Is this the word of an object that lives and stays where it is as long as the heap?
    pub fn is_immortal(&self, word: u64) -> bool {
        let (a, table) = (M::address(word), &self.core.pool.table);
        !self.contains(a.0)
            || table.covers(a)
                && matches!(table.state(table.block_of(a)).kind(), Kind::Immortal | Kind::ImmortalTail)
    }
    /// Which collections have moved objects, for tables that find objects by their addresses: an address is good until
    /// the next collection if it [is young](Heap::is_young), else until the next one that moves old objects.
    #[inline]
    pub fn moves(&self) -> Moves {
        Moves { collections: self.core.stats.minor + self.core.stats.major, old: self.core.old_moves }
    }
    /// Would the next collection move an object at this address, as a young one?
    #[inline]
    pub fn is_young(&self, address: u64) -> bool {
        self.young.contains(Address(address))
    }
    /// What the slow path of a heap check asks for besides the bytes that are missing: room for runtime calls. When
    /// every check is to fail, they find it elsewhere.
    pub fn check_reserve(&mut self) -> u64 {
        if self.core.zeal.every_safepoint || self.core.sampling.is_some() {
            0
        } else {
            with_plan!(&mut self.selected, p => p.check_reserve())
        }
    }
    /// The cursors of the extent just handed out by `new` or `collect`.
    pub fn current(&mut self) -> Cursors {
        with_plan!(&mut self.selected, p => p.current())
    }
    /// Called when there are less than `need` bytes between the cursors.
    pub fn refill(&mut self, at: Cursors, need: u64) -> Refill {
        match with_plan!(&mut self.selected, p => p.refill(&mut self.core, &self.model, at, need)) {
            Some(fresh) => Refill::Block(fresh),
            None => Refill::Collect,
        }
    }
    /// The slow path of a heap check: afterwards there are `need` bytes between the cursors, after a collection if one
    /// was due.
    ///
    /// On an error the heap is intact, and the runtime may go on allocating a little to report it.
    pub fn safepoint<C: Client>(
        &mut self,
        at: &mut Cursors,
        need: u64,
        client: &mut C,
    ) -> Result<(), OutOfMemory> {
        match self.refill(*at, need) {
            Refill::Block(fresh) => {
                *at = fresh;
                Ok(())
            }
            Refill::Collect => self.collect_for(at, need, client),
        }
    }
    /// What [`Heap::refill`] asks for: a collection, and room for `need` bytes. To ask `refill` again instead might
    /// find that none is due any more: under zeal it counts how often it is asked.
    pub fn collect_for<C: Client>(
        &mut self,
        at: &mut Cursors,
        need: u64,
        client: &mut C,
    ) -> Result<(), OutOfMemory> {
        let outcome = self.collect(at, client, Request::Auto);
        if at.room() < need {
            match self.refill(*at, need) {
                Refill::Block(fresh) => *at = fresh,
                // `need` is larger than the nursery.
                Refill::Collect => {
                    with_plan!(&mut self.selected, p => p.close_and_extend(&mut self.core, at, need))?;
                }
            }
        }
        outcome
    }
    /// Collects now; the cursors become those of a fresh extent.
    ///
    /// On an error the collection has happened all the same: what is left is too much for the heap's maximum.
    pub fn collect<C: Client>(
        &mut self,
        at: &mut Cursors,
        client: &mut C,
        request: Request,
    ) -> Result<(), OutOfMemory> {
        let outcome = with_plan!(&mut self.selected, p => driver::collect(p, &mut self.core, &self.model, client, *at, request));
        *at = self.current();
        if outcome.is_ok() && self.core.crawls() {
            return Err(with_plan!(&mut self.selected, p => p.out_of_memory(&self.core, 0)));
        }
        outcome
    }
    /// Has the client's words of which nothing is known in mind before the first collection, which could not report
    /// that there is no address space for them. Of use where [`Client::AMBIGUOUS`] holds.
    pub fn expect_ambiguity(&mut self) -> Result<(), HeapError> {
        Ok(self.core.marks.expect_ambiguity()?)
    }
    /// Asks for a collection at the next heap check.
    pub fn request_collection(&mut self, at: &mut Cursors, major: bool) -> Result<(), OutOfMemory> {
        with_plan!(&mut self.selected, p => {
            p.want(Reason::Request, major);
            p.hide(&mut self.core, at)
        })
    }

    /// Memory for a new object: `bytes` is a multiple of 8, and 16 for a pair. Never collects.
    #[inline]
    pub fn alloc(&mut self, at: &mut Cursors, bytes: u64, kind: AllocKind) -> Result<u64, OutOfMemory> {
        match self.alloc_at_hand(at, bytes, kind) {
            Some(a) => Ok(a),
            None => self.alloc_slow(at, bytes, kind),
        }
    }
    /// Allocates in the extent at hand, if that has room for it.
    #[inline(always)]
    pub fn alloc_at_hand(&self, at: &mut Cursors, bytes: u64, kind: AllocKind) -> Option<u64> {
        if at.room() < bytes + CHECK_RESERVE || bytes > self.unasked {
            return None;
        }
        if kind == AllocKind::Pair {
            let a = at.lo;
            at.lo += PAIR_BYTES;
            return Some(a);
        }
        at.hi -= bytes;
        Some(at.hi)
    }
    /// Does allocation go on beyond what was planned until the mutator comes to a safepoint? Where that is not at a
    /// heap check, which fails then, the runtime has to see to it.
    pub fn waits_for_safepoint(&self, at: Cursors) -> bool {
        with_plan!(&self.selected, p => p.waits_for_safepoint(at))
    }
    /// Cells for a free list of compiled code's that is empty: the first of a chain. Never collects. A collector that
    /// has no such lists hands out one cell.
    pub fn cells(&mut self, at: &mut Cursors, list: FreeList) -> Result<u64, OutOfMemory> {
        let chain = with_plan!(&mut self.selected, p => p.cells(&mut self.core, at, list));
        if let Some(chain) = chain {
            return chain.map(|a| a.0);
        }
        let kind = if list.is_of_pairs() { AllocKind::Pair } else { AllocKind::Scannable };
        let cell = self.alloc(at, self.facts.cell_bytes(list), kind)?;
        // SAFETY: `alloc` has just given `cell_bytes(list)` bytes, at least a word, at `cell`.
        unsafe { Address(cell).store(0) };
        Ok(cell)
    }
    /// Takes back the cells that are left in compiled code's free lists. Comes before every collection, and every
    /// [`Heap::check`].
    pub fn return_cells(&mut self, lists: &mut [u64; FREE_LISTS]) {
        with_plan!(&mut self.selected, p => p.return_cells(&mut self.core, lists));
    }
    /// The object of `old` bytes at `address`, which nobody else knows yet, needs `new` bytes only. If the rest can
    /// be given back, the address to which the object is to be moved.
    pub fn shrink(&mut self, at: &mut Cursors, address: u64, old: u64, new: u64) -> Option<u64> {
        if address != at.hi || new >= old {
            return None;
        }
        at.hi = address + (old - new);
        Some(at.hi)
    }
    /// [`Heap::alloc`] when the object is large or the extent has less than `bytes + CHECK_RESERVE` left.
    #[cold]
    pub fn alloc_slow(&mut self, at: &mut Cursors, bytes: u64, kind: AllocKind) -> Result<u64, OutOfMemory> {
        debug_assert!(bytes >= 16 && bytes.is_multiple_of(8));
        let result = if bytes > LARGE_BYTES {
            self.alloc_large(at, bytes, kind)
        } else {
            with_plan!(&mut self.selected, p => p.allocate(&mut self.core, at, bytes, kind))
        };
        result.map(|a| a.0)
    }
    fn alloc_large(&mut self, at: &mut Cursors, bytes: u64, kind: AllocKind) -> Result<Address, OutOfMemory> {
        let core = &mut self.core;
        let ref_kind = if kind == AllocKind::Procedure { RefKind::Procedure } else { RefKind::Object };
        with_plan!(&mut self.selected, p => {
            // Before anything else: an absurd size must not overflow the sums below.
            if bytes > core.sizing.heap_max() {
                return Err(p.out_of_memory(core, bytes));
            }
            p.admit(core, bytes)?;
            let a = match p.allocate_large(core, bytes, kind) {
                Some(a) => a?,
                None => (core.large)
                    .alloc(&mut core.pool, bytes, ref_kind, kind == AllocKind::Leaf, p.reserve())
                    .ok_or_else(|| p.out_of_memory(core, bytes))?,
            };
            core.stats.allocated += bytes;
            if let Some(s) = &mut core.sampling {
                s.take_large(a, bytes, kind);
            }
            if p.large_are_due(core) {
                p.want(Reason::Large, false);
            }
            if p.wants_collection() {
                p.hide(core, at)?;
            }
            Ok(a)
        })
    }
    /// Memory for an object with a header that never moves, and that words which say no more than a place in the region
    /// keep alive ([`ObjectModel::inside`]). Only with collectors that know such words.
    pub fn alloc_still(&mut self, at: &mut Cursors, bytes: u64, leaf: bool) -> Result<u64, OutOfMemory> {
        assert!(self.facts.indirect, "`{}` knows no indirect references", self.facts.name);
        let kind = if leaf { AllocKind::Leaf } else { AllocKind::Scannable };
        let a = self.alloc_large(at, bytes, kind)?;
        let core = &mut self.core;
        with_plan!(&mut self.selected, p => {
            p.stands_still(core, a);
            p.hide_if_wanted(core, at)?;
        });
        Ok(a.0)
    }
    /// Where the region starts.
    pub fn region_start(&self) -> u64 {
        self.core.region.base().0
    }
    /// The reference to the object that a word says no more of than a place inside it ([`ObjectModel::inside`]).
    pub fn holder(&self, word: u64) -> Option<u64> {
        let o = self.core.large.holder(&self.core.pool, M::inside(word)?)?;
        Some(M::reference(o.start, o.kind))
    }
    /// Frees the object at this address now, if it is a large one: nothing refers to it any more.
    pub fn free_large(&mut self, address: u64) {
        let core = &mut self.core;
        if core.pool.table.covers(Address(address)) {
            core.large.free(&mut core.pool, &core.cards, Address(address));
        }
    }
    /// The object of this reference, just made, is a weak one: to the object model a leaf with a header word, followed
    /// by so many weak words, which are set.
    pub fn made_weak(&mut self, reference: u64, words: u32, kind: WeakKind) {
        self.core.weak.made(reference, words, kind);
    }
    /// A reference was stored into such an object, and the card of the word was marked.
    pub fn stored_weak(&mut self, reference: u64, words: u32, kind: WeakKind) {
        if !self.core.weak.is_last_stored::<M>(reference) && !self.is_young(M::address(reference).0) {
            self.core.weak.stored::<M>(reference, words, kind);
        }
    }
    /// When nothing but guardians and weak references refers to `object` any more, `companion` (the object itself, or
    /// something in its place) is [given back](Heap::take_given_back) to the guardian, an object, provided that it is
    /// still alive itself.
    pub fn guard(&mut self, object: u64, companion: u64, guardian: u64) {
        self.core.weak.guard(object, companion, guardian);
    }
    /// What collections have given back to guardians since the last call.
    pub fn take_given_back(&mut self) -> Vec<GivenBack> {
        self.core.weak.take_given_back()
    }
    /// A weak reference to this object, for those who live outside the heap.
    pub fn make_weak_handle(&mut self, reference: u64) -> WeakHandle {
        self.core.weak.make_handle(reference)
    }
    /// The object of a weak reference; `None` if it has died.
    pub fn weak_handle(&self, handle: WeakHandle) -> Option<u64> {
        self.core.weak.handle::<M>(handle)
    }
    /// Gives a weak reference back.
    pub fn free_weak_handle(&mut self, handle: WeakHandle) {
        self.core.weak.free_handle::<M>(handle);
    }
    /// A type of cells: 2 to 64 words, a bit in `references` for each that is one.
    pub fn define_cells(&mut self, words: u32, references: u64) -> CellType {
        self.core.cells.define(words, references)
    }
    /// A cell of this type, cleared. It has no header and never moves.
    pub fn alloc_cell(&mut self, at: &mut Cursors, ty: CellType) -> Result<u64, OutOfMemory> {
        self.alloc_in_cells(at, |core, spare| {
            core.cells.alloc_typed(&mut core.pool, &core.cards, &core.marks, ty, spare)
        })
    }
    /// `Machine::pools`.
    pub fn pools_ptr(&self) -> *mut u8 {
        self.core.compact.table().wrapping_sub(BIAS as usize)
    }
    /// The error for a request of `bytes` more.
    fn out_of_memory(&self, bytes: u64) -> OutOfMemory {
        with_plan!(&self.selected, p => p.out_of_memory(&self.core, bytes))
    }
    /// Makes the pool of a type of compact records: its number, what each field holds, and whether that is references
    /// to records of the type itself. Only with collectors that have compact records.
    pub fn define_pool(
        &mut self,
        number: u32,
        fields: Vec<(FieldKind, bool)>,
        widths: Widths,
    ) -> Result<(), OutOfMemory> {
        assert!(self.facts.indirect, "`{}` has no compact records", self.facts.name);
        let defined = self.core.compact.define(number, fields, widths);
        defined.map_err(|_| self.out_of_memory(BLOCK_BYTES))
    }
    /// Lets the mutator have more records of the type with this number, without collecting.
    pub fn refill_pool(&mut self, at: &mut Cursors, number: u32) -> Result<(), OutOfMemory> {
        let core = &mut self.core;
        with_plan!(&mut self.selected, p => {
            p.admit(core, 0)?;
            let bytes = core.compact.refill(number).map_err(|_| p.out_of_memory(core, BLOCK_BYTES))?;
            core.stats.allocated += bytes;
            if p.compact_are_due(core) {
                p.want(Reason::Limit, true);
            }
            p.hide_if_wanted(core, at)?;
            Ok(())
        })
    }
    /// Makes the references in compact records of a type wide enough for records of this number.
    pub fn widen_pool(&mut self, type_number: u32, for_number: u32) -> Result<(), OutOfMemory> {
        let widened = self.core.compact.widen(type_number, for_number);
        widened.map_err(|_| self.out_of_memory(BLOCK_BYTES))
    }
    /// What is known of the pools of compact records.
    pub fn pools(&self) -> Vec<PoolStats> {
        self.core.compact.stats()
    }
    /// Memory for an object of `bytes` whose words may or may not be references; cleared.
    pub fn alloc_untyped(&mut self, at: &mut Cursors, bytes: u64) -> Result<u64, OutOfMemory> {
        const { assert!(M::AMBIGUOUS, "this object model has no untyped objects") };
        debug_assert!(bytes >= 16 && bytes.is_multiple_of(8));
        if bytes > CellSpace::UNTYPED_MAX {
            let a = self.alloc_large(at, bytes, AllocKind::Scannable);
            let a = a?;
            // SAFETY: `alloc_large` has just given `bytes` bytes at `a`.
            unsafe { std::ptr::write_bytes(a.bytes(), 0, bytes as usize) };
            return Ok(a.0);
        }
        if let Some(a) = with_plan!(&mut self.selected, p => p.allocate_untyped(&mut self.core, at, bytes)) {
            return a.map(|a| a.0);
        }
        self.alloc_in_cells(at, |core, spare| {
            core.cells.alloc_untyped(&mut core.pool, &core.cards, &core.marks, bytes, spare)
        })
    }
    fn alloc_in_cells(
        &mut self,
        at: &mut Cursors,
        alloc: impl FnOnce(&mut Core, u32) -> Option<Span>,
    ) -> Result<u64, OutOfMemory> {
        let core = &mut self.core;
        with_plan!(&mut self.selected, p => {
            let before = core.pool.in_use();
            let cell = alloc(core, p.reserve()).ok_or_else(|| p.out_of_memory(core, BLOCK_BYTES))?;
            if core.pool.in_use() > before {
                if let Err(e) = p.admit(core, 0) {
                    core.marks.unset(cell.start);
                    return Err(e);
                }
                if p.cells_are_due(core) {
                    p.want(Reason::Limit, true);
                }
                p.hide_if_wanted(core, at)?;
            }
            core.stats.allocated += cell.bytes();
            Ok(cell.start.0)
        })
    }
    /// Memory for an object with a header that never moves and is never freed. Initialise it at once.
    pub fn alloc_immortal(&mut self, bytes: u64, leaf: bool) -> Result<u64, OutOfMemory> {
        let core = &mut self.core;
        with_plan!(&mut self.selected, p => {
            p.admit(core, bytes)?;
            (core.immortal)
                .alloc(&mut core.pool, &core.cards, bytes, leaf, p.reserve())
                .map(|a| a.0)
                .ok_or_else(|| p.out_of_memory(core, bytes))
        })
    }
    /// A stack chunk of at least `bytes`: its address and size. It never moves, and lives while marked; see
    /// [`crate::space::stack_chunks`].
    pub fn alloc_chunk(&mut self, bytes: u64) -> Result<(u64, u64), OutOfMemory> {
        let core = &mut self.core;
        with_plan!(&mut self.selected, p => {
            if bytes > core.sizing.heap_max() {
                return Err(p.out_of_memory(core, bytes));
            }
            p.admit(core, bytes)?;
            let s = match p.allocate_chunk(core, bytes) {
                Some(s) => s?,
                None => (core.chunks)
                    .alloc(&mut core.pool, bytes, p.reserve())
                    .ok_or_else(|| p.out_of_memory(core, bytes))?,
            };
            Ok((s.start.0, s.bytes()))
        })
    }
    /// Have stack chunks so grown since the last collection that another one is due? Then the next safepoint collects.
    pub fn chunks_are_due(&mut self) -> bool {
        let core = &self.core;
        let grown = core.chunks.bytes().saturating_sub(core.chunk_bytes_at_collection);
        let due = grown > core.sizing.large_young().max(core.chunk_bytes_at_collection);
        if due {
            with_plan!(&mut self.selected, p => p.want(Reason::Large, false));
        }
        due
    }
    /// The stack chunks in use: address and size.
    pub fn stack_chunks(&self) -> Vec<(u64, u64)> {
        self.core.chunks.in_use(&self.core.pool).map(|s| (s.start.0, s.bytes())).collect()
    }
    /// One past the last byte of the chunk in use at this address.
    pub fn chunk_end(&self, chunk: u64) -> u64 {
        if let Some(end) = with_plan!(&self.selected, p => p.chunk_end(Address(chunk))) {
            return end.0;
        }
        let info = self.core.chunks.info(&self.core.pool, Address(chunk));
        info.expect("an address from `alloc_chunk`").span.end.0
    }
    /// A continuation that has survived a collection refers to this stack chunk from now on: minor collections leave it
    /// alone.
    pub fn keep_chunk(&mut self, chunk: u64) {
        if with_plan!(&self.selected, p => p.chunk_end(Address(chunk))).is_none() {
            self.core.chunks.mark(&self.core.pool, Address(chunk), true);
        }
    }
    /// Frees a stack chunk that nothing refers to.
    pub fn free_chunk(&mut self, chunk: u64) {
        if !with_plan!(&mut self.selected, p => p.free_chunk(Address(chunk))) {
            self.core.chunks.free(&mut self.core.pool, Address(chunk));
        }
    }
    /// Is this the address of a chunk in use, and does a promoted continuation refer to it? `None` for no chunk.
    pub fn chunk_is_old(&self, chunk: u64) -> Option<bool> {
        if with_plan!(&self.selected, p => p.chunk_end(Address(chunk))).is_some() {
            return Some(true);
        }
        self.core.chunks.info(&self.core.pool, Address(chunk)).map(|i| i.old)
    }

    /// Lets the heap hold `bytes` beyond its maximum until told otherwise: for a client that was refused memory where
    /// it could not fail, and for one that reports that there is none. Collections go on to report what is beyond the
    /// maximum.
    pub fn set_overdraft(&mut self, bytes: u64) {
        self.core.overdraft = bytes;
    }
    /// Is the heap beyond its maximum and what may be overdrawn?
    pub fn is_overdrawn(&mut self) -> bool {
        self.bytes_in_use() > self.core.sizing.heap_max() + self.core.overdraft
    }
    /// Counts `bytes` that the client is about to hold outside the heap, but that its maximum is to bound, too.
    pub fn charge(&mut self, bytes: u64) -> Result<(), OutOfMemory> {
        let core = &mut self.core;
        with_plan!(&mut self.selected, p => p.admit(core, bytes))?;
        core.charged += bytes;
        Ok(())
    }
    /// The client has given back this many of the bytes it had [charged](Heap::charge).
    pub fn discharge(&mut self, bytes: u64) {
        self.core.charged -= bytes;
    }

    /// Should a program that waits collect meanwhile, to give back what it has dropped? Then this says how long it must
    /// have waited: see [`Idle`].
    pub fn idle_collection(&mut self, at: Cursors) -> Option<Duration> {
        let used = self.bytes_in_use().saturating_sub(at.hi.saturating_sub(at.lo));
        let core = &mut self.core;
        let longest = core.stats.major_pauses.max().max(core.stats.minor_pauses.max());
        let collections = core.stats.minor + core.stats.major;
        core.idle.patience(collections, used, longest).filter(|_| !core.zeal.poison)
    }
    /// Asks for the collection of an idle program at the next heap check.
    pub fn request_idle_collection(&mut self, at: &mut Cursors) -> Result<(), OutOfMemory> {
        let used = self.bytes_in_use().saturating_sub(at.hi.saturating_sub(at.lo));
        self.core.idle.asked(self.core.stats.minor + self.core.stats.major, used);
        self.request_collection(at, true)
    }

    /// Has a collection left pages that [`Heap::release_free`] may find?
    pub fn may_release(&self) -> bool {
        self.core.stats.minor + self.core.stats.major != self.core.released_at && !self.core.zeal.poison
    }
    /// Gives the pages of all that is free back to the system: for a program that waits, and may wait for long. Does
    /// not collect. Costs nothing when nothing was collected since the last time.
    pub fn release_free(&mut self) {
        if self.may_release() {
            let core = &mut self.core;
            core.released_at = core.stats.minor + core.stats.major;
            core.pool.release(0);
            with_plan!(&mut self.selected, p => p.trim());
        }
    }

    /// Counters. `allocated` leaves out what has been allocated in the current extent.
    pub fn stats(&mut self) -> Stats {
        let mut stats = self.core.stats.clone();
        stats.peak = stats.peak.max(self.bytes_in_use());
        stats
    }
    /// Bytes the heap holds now, the filled part of the nursery included.
    pub fn bytes_in_use(&mut self) -> u64 {
        with_plan!(&self.selected, p => p.used(&self.core) + p.nursery_used())
    }
    /// The most that the heap may hold.
    pub fn heap_max(&self) -> u64 {
        self.core.sizing.heap_max()
    }
    /// Who is told about each collection.
    pub fn set_observer(&mut self, observer: Option<Box<dyn Observer>>) {
        self.core.observer = observer;
    }
    /// From now on allocation is sampled; each sample is given what the word at `tag` says when it is made. Extents
    /// become short, so that heap checks come to their slow path after `interval` bytes on average, sooner at first.
    /// Nothing happens with collectors that do not hand out extents.
    ///
    /// # Safety
    /// The word can be read as long as the heap exists.
    pub unsafe fn sample_allocation(&mut self, at: &mut Cursors, tag: *const u64, interval: u64) {
        // SAFETY: the word at `tag` can be read as long as the heap exists (`# Safety`), which owns the sampling.
        let sampling = unsafe { Sampling::new(tag, interval) };
        if with_plan!(&mut self.selected, p => p.start_sampling(&mut self.core, at, sampling)) {
            self.unasked = 0;
        }
    }
    /// Is allocation being sampled?
    pub fn is_sampling(&self) -> bool {
        self.core.sampling.is_some()
    }
    /// The samples whose objects may be alive; [`Heap::census`] tells which of them are.
    ///
    /// # Safety
    /// The mutator stands still at these cursors, and has initialised what it allocated.
    pub unsafe fn samples(&mut self, at: Cursors) -> &[Sample] {
        let current = with_plan!(&mut self.selected, p => p.extents(at));
        let Some(s) = &mut self.core.sampling else { return &[] };
        if let Some(x) = current.into_iter().find(|x| x.cursors() == at) {
            s.look_at_current(x);
        }
        // SAFETY: what the mutator has allocated is initialised (`# Safety`), and where it was, for no collection has
        // come between.
        unsafe { s.find(&self.model) };
        s.objects()
    }
    /// Walks over everything that strong references of the client reach, without changing anything, and tells `visit`
    /// the reference to each object and its size. Objects that live forever are left out, and so is what only weak or
    /// ambiguous words refer to.
    pub fn census<C: Client>(&mut self, client: &mut C, visit: impl FnMut(u64, u64)) -> std::io::Result<Census> {
        census::walk(&mut self.core, &self.model, client, visit)
    }
    /// Walks everything reachable and reports what is wrong, independently of the collector's code.
    pub fn check<C: Client>(&mut self, at: Cursors, client: &mut C) -> Result<check::Report, Vec<check::Problem>> {
        let core = &mut self.core;
        with_plan!(&mut self.selected, p => {
            p.settle(core);
            check::check(core, &self.model, &p.extents(at), p.own_spaces(), client)
        })
    }
}

impl Heap<CObjects> {
    /// A cleared object. Never collects.
    pub fn make(&mut self, at: &mut Cursors, nature: Nature) -> Result<u64, OutOfMemory> {
        let (header, bytes) = (self.model().header(nature), self.model().bytes(nature));
        let a = match nature {
            Nature::Untyped(_) => self.alloc_untyped(at, bytes)?,
            Nature::Atomic(_) => self.alloc(at, bytes, AllocKind::Leaf)?,
            Nature::Typed(..) => self.alloc(at, bytes, AllocKind::Scannable)?,
        };
        // SAFETY: one of the three above has just given `bytes` bytes at `a`.
        unsafe {
            std::ptr::write_bytes(a as *mut u8, 0, bytes as usize);
            Address(a).store(header);
        }
        Ok(a)
    }
}
