//! Collectors and what they ask of the language runtime.
//!
//! A collector composes spaces into an algorithm. It implements [`Plan`] and publishes its facts
//! (`cairn_layout::facts`) for code generation. The runtime is a [`Client`]: it knows where the roots are and
//! what the frames of a continuation look like; it shows both to a [`RootVisitor`]. All of this is generic,
//! never dynamic, so that visiting a slot inlines into the client's loops.
//!
//! Adding a collector: its facts in `cairn_layout::collector`; a folder `gc/NAME/` with its plan and, beside it, its
//! [`Constraints`], which must agree with the facts or nothing compiles; a variant in `heap::Selected` with two lines
//! there.

pub mod bdw;
mod budget;
pub mod r#gen;
pub mod marksweep;
pub mod mcc;

use crate::address::{Address, BLOCK_BYTES, Span};
use crate::config::HeapConfig;
use crate::error::{HeapError, OutOfMemory};
use crate::heap::Core;
use crate::model::ObjectModel;
use crate::space::nursery::Extent;
use crate::stats::Reason;
use cairn_layout::collector::{
    Allocation, Ambiguity, Barrier, COLLECTORS, CollectorFacts, FREE_LISTS, FreeList, Moving,
};
use cairn_layout::limits::CHECK_RESERVE;
use cairn_layout::object::AllocKind;

/// What is done with each root. Implemented by collectors and by the checker.
pub trait RootVisitor {
    /// Does the collection look at young objects only? Then a client need not show words that it has shown to an
    /// earlier collection and that have not been written since: what they refer to is not young any more.
    const YOUNG_ONLY: bool = false;

    /// Visits one word. If it refers to an object that moves, the word is updated.
    ///
    /// # Safety
    /// `slot` is a valid, 8-aligned word. If the object model takes it for a reference into the heap, it refers to a
    /// live object.
    unsafe fn slot(&mut self, slot: *mut u64);

    /// Visits `n` consecutive words.
    ///
    /// # Safety
    /// As for [`RootVisitor::slot`], for each word.
    #[inline(always)]
    unsafe fn words(&mut self, start: *mut u64, n: usize) {
        for i in 0..n {
            // SAFETY: by the contract of this function.
            unsafe { self.slot(start.add(i)) }
        }
    }

    /// Visits `n` words of static data, outside of the heap. Whoever stores a reference there marks the card of the
    /// word, as for words of objects; so a collection of young objects looks at dirty cards only, as far as no others
    /// have the same cards.
    ///
    /// # Safety
    /// As for [`RootVisitor::slot`], for each word.
    #[inline(always)]
    unsafe fn static_words(&mut self, start: *mut u64, n: usize) {
        // SAFETY: by the contract of this function.
        unsafe { self.words(start, n) }
    }

    /// Keeps the stack chunk at this address (as returned by `Heap::alloc_chunk`) through this collection.
    fn mark_chunk(&mut self, chunk: Address);
}

/// What is done with each word that may or may not refer to an object: integers of the size of an address among them,
/// and references to the middle of an object.
pub trait AmbiguousVisitor {
    /// Shows one word.
    fn ambiguous(&mut self, word: u64);

    /// Shows `n` consecutive words.
    ///
    /// # Safety
    /// They can be read.
    unsafe fn ambiguous_words(&mut self, start: *const u64, n: usize) {
        for i in 0..n {
            // SAFETY: by the contract of this function.
            self.ambiguous(unsafe { *start.add(i) });
        }
    }
}

/// What is known once everything reachable has been traced.
pub trait WeakVisitor: RootVisitor {
    /// Everything has been traced, not the young objects alone.
    const EVERYTHING: bool;

    /// What the reference `word` has become: `None` if its object is dead.
    ///
    /// # Safety
    /// `word` refers to an object that was alive after the last collection, or was made since.
    unsafe fn survivor(&self, word: u64) -> Option<u64>;
}

/// The language runtime, as the collector sees it.
///
/// A collection calls `visit_roots` first, and `trace_continuation` meanwhile; then `visit_dying`, and then
/// `visit_weak`. (One of everything does all of this twice: first for young objects.)
pub trait Client {
    /// Are there words that may or may not be references: does [`Client::visit_ambiguous`] show any? The same at every
    /// collection of a heap. Then nothing is unreachable for certain: such a client frees no stack chunk by hand.
    const AMBIGUOUS: bool = false;

    /// Shows every root that may or may not be a reference, before anything moves. What it refers to, at the start
    /// or in the middle of an object, lives on and stays in place; a word that refers to nothing does no harm.
    fn visit_ambiguous<V: AmbiguousVisitor>(&mut self, _visitor: &mut V) {}

    /// Shows the ambiguous roots to a check, which must leave behind nothing of what the client notes for a
    /// collection: it may not meet all that lives for an ambiguous word.
    fn audit_ambiguous<V: AmbiguousVisitor>(&mut self, visitor: &mut V) {
        self.visit_ambiguous(visitor);
    }

    /// Shows words that may or may not be references, of memory beside the heap that may be dead: what they refer to
    /// does not move, but nothing lives for them. Where something is found to be alive after all, its words are to be
    /// shown again: see [`Client::trace_continuation`]. Only collectors without generations ask.
    fn visit_pinning<V: AmbiguousVisitor>(&mut self, _visitor: &mut V) {}

    /// Visits every root: globals, literals, machine slots, spilled values, the frames of every current stack
    /// segment; and marks every current stack chunk.
    fn visit_roots<V: RootVisitor>(&mut self, visitor: &mut V);

    /// Visits the frames that the continuation object at `k` covers, and marks their chunk.
    ///
    /// Called once for each continuation that a collection copies. The object's raw words (chunk, sp, base) are valid;
    /// its values may not have been updated yet, and must be left alone: the collector visits them itself. A client
    /// with ambiguous roots may show the frames' words as such, if [`Client::visit_pinning`] has shown them, too.
    fn trace_continuation<V: RootVisitor + AmbiguousVisitor>(&mut self, k: Address, visitor: &mut V);

    /// What strong references reach is known. The client may keep other objects all the same, by visiting slots that
    /// refer to them: those that it has something to do for before they die.
    fn visit_dying<V: WeakVisitor>(&mut self, _visitor: &mut V) {}

    /// What survives is known: the client updates its weak references, and drops those to dead objects. It keeps
    /// nothing.
    fn visit_weak<V: WeakVisitor>(&mut self, _visitor: &mut V) {}

    /// For the checker: like [`Client::visit_roots`], but the frames are read by other means than the collector's,
    /// which complain of what is wrong with them, and may spoil what no live map speaks of.
    fn audit_roots<V: RootVisitor>(&mut self, visitor: &mut V) -> Result<(), String> {
        self.visit_roots(visitor);
        Ok(())
    }

    /// For the checker: like [`Client::trace_continuation`], likewise.
    fn audit_continuation<V: RootVisitor + AmbiguousVisitor>(
        &mut self,
        k: Address,
        visitor: &mut V,
    ) -> Result<(), String> {
        self.trace_continuation(k, visitor);
        Ok(())
    }

    /// For the checker, before it looks at the descriptor of a procedure or heap frame: is its code known?
    fn audit_code(&mut self, _code: u64) -> Result<(), String> {
        Ok(())
    }
}

/// What a collection is asked to cover.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request {
    /// Whatever the policy says.
    Auto,
    /// Young objects, unless the heap is at its maximum.
    Minor,
    /// Everything.
    Major,
}

/// What a collector needs of the heap that is made for it, as data beside its plan. What compiled code must know as
/// well is in the facts; that both say the same is checked when this crate is compiled.
pub(crate) struct Constraints {
    /// What is published for code generation.
    pub facts: &'static CollectorFacts,
    /// Quarters of the region that are set apart for new objects.
    pub young_quarters: u32,
    /// Young objects are collected alone: stores into old ones must be remembered.
    pub generational: bool,
    /// Survivors are copied: as much memory as they may take must be free when a collection begins.
    pub evacuates: bool,
    /// Clients and object models may show words of which it is not known if they are references.
    pub ambiguous: bool,
}

impl Constraints {
    /// Panics unless they agree with the facts.
    const fn check(&self) {
        let f = self.facts;
        assert!(
            self.generational == matches!(f.barrier, Barrier::Card),
            "cards are marked for the next minor collection"
        );
        assert!(self.evacuates == matches!(f.moving, Moving::AtSafepoints), "who copies, moves");
        assert!(
            self.ambiguous != matches!(f.ambiguity, Ambiguity::None),
            "ambiguous words are allowed, or they are not"
        );
        assert!(self.young_quarters < 4, "there is an old space");
        assert!(
            self.young_quarters == 0 || matches!(f.allocation, Allocation::TwoEnded),
            "only extents are cut from a range of their own"
        );
    }
    /// Blocks of a region that are not for new objects.
    pub const fn old_blocks(&self, region: u32) -> u32 {
        region / 4 * (4 - self.young_quarters)
    }
    /// The most that a heap with this many old blocks can hold, with room to evacuate.
    pub const fn most_bytes(&self, old_blocks: u32) -> u64 {
        let fifths = if self.evacuates { 2 } else { 4 };
        old_blocks as u64 * BLOCK_BYTES / 5 * fifths
    }
}

/// Those of all collectors, in the order of `cairn_layout::facts::COLLECTORS`.
pub(crate) const ALL: &[&Constraints] =
    &[&r#gen::CONSTRAINTS, &mcc::CONSTRAINTS, &marksweep::CONSTRAINTS, &bdw::CONSTRAINTS];

const _: () = {
    assert!(ALL.len() == COLLECTORS.len(), "every collector that has facts can be chosen");
    let mut i = 0;
    while i < ALL.len() {
        ALL[i].check();
        i += 1;
    }
};

/// The interface of a collector towards the heap.
pub(crate) trait Plan {
    /// A collector with this range for new objects.
    fn new<M: ObjectModel>(core: &mut Core, young: Span, config: &HeapConfig) -> Result<Self, HeapError>
    where
        Self: Sized;
    /// The filled extents when the mutator is at these cursors, in order.
    fn extents(&self, lo: Address, hi: Address) -> Vec<Extent>;
    /// Bounds of the extent being filled: its cursors right after it was handed out.
    fn current(&self) -> (Address, Address);
    /// The next extent, with room for `need` bytes, or `None` when a collection is due. The mutator is at a safepoint.
    fn refill<M: ObjectModel>(
        &mut self,
        core: &mut Core,
        model: &M,
        lo: Address,
        hi: Address,
        need: u64,
    ) -> Option<(Address, Address)>;
    /// Room for a small object, without collecting: beyond the end of the extent, and of the nursery, if need be. Its
    /// prefix is written, if it has one.
    fn allocate(
        &mut self,
        core: &mut Core,
        lo: &mut Address,
        hi: &mut Address,
        bytes: u64,
        kind: AllocKind,
    ) -> Result<Address, OutOfMemory>;
    /// Room for an untyped object, without collecting; cleared. `None` if such objects are to be cells.
    fn allocate_untyped(
        &mut self,
        _core: &mut Core,
        _lo: &mut Address,
        _hi: &mut Address,
        _bytes: u64,
    ) -> Option<Result<Address, OutOfMemory>> {
        None
    }
    /// Room for a large object. `None` if it is to come from the space that all collectors have.
    fn allocate_large(
        &mut self,
        _core: &mut Core,
        _bytes: u64,
        _kind: AllocKind,
    ) -> Option<Result<Address, OutOfMemory>> {
        None
    }
    /// A stack chunk, likewise.
    fn allocate_chunk(&mut self, _core: &mut Core, _bytes: u64) -> Option<Result<Span, OutOfMemory>> {
        None
    }
    /// Frees a stack chunk, if it is not from that space.
    fn free_chunk(&mut self, _chunk: Address) -> bool {
        false
    }
    /// The end of a stack chunk, likewise.
    fn chunk_end(&self, _chunk: Address) -> Option<Address> {
        None
    }
    /// Is this address in the heap?
    #[inline]
    fn owns(&self, core: &Core, a: Address) -> bool {
        core.pool.table.covers(a)
    }
    /// A chain of free cells for a list of compiled code's, without collecting. `None` if there are no such lists.
    fn cells(
        &mut self,
        _core: &mut Core,
        _lo: &mut Address,
        _hi: &mut Address,
        _list: FreeList,
    ) -> Option<Result<Address, OutOfMemory>> {
        None
    }
    /// Takes back what is left in the mutator's lists.
    fn return_cells(&mut self, _core: &mut Core, _lists: &mut [u64; FREE_LISTS]) {}
    /// The checker comes: what it is to find in tables must be there.
    fn settle(&mut self, _core: &mut Core) {}
    /// A fresh extent with room for `need` bytes, for a heap check that asks for more than the nursery has.
    fn close_and_extend(
        &mut self,
        core: &mut Core,
        lo: &mut Address,
        hi: &mut Address,
        need: u64,
    ) -> Result<(), OutOfMemory>;
    /// Leaves compiled code no more of its extent than `CHECK_RESERVE` bytes, which an earlier heap check may have
    /// promised it: so its next heap check fails, at the latest after this many bytes.
    fn hide(&mut self, core: &mut Core, lo: &mut Address, hi: &mut Address) -> Result<(), OutOfMemory>;
    /// Has a collection been asked for?
    fn wants_collection(&self) -> bool;
    /// Hides the extent from `lo` to `hi` if a collection has been asked for.
    fn hide_if_wanted(&mut self, core: &mut Core, lo: &mut u64, hi: &mut u64) -> Result<(), OutOfMemory> {
        if self.wants_collection() {
            let (mut l, mut h) = (Address(*lo), Address(*hi));
            self.hide(core, &mut l, &mut h)?;
            (*lo, *hi) = (l.0, h.0);
        }
        Ok(())
    }
    /// Is the mutator to come to a safepoint soon: for a collection, or for another reason?
    fn waits_for_safepoint(&self, _lo: Address, _hi: Address) -> bool {
        self.wants_collection()
    }
    /// Asks for a collection at the next refill.
    fn want(&mut self, reason: Reason, major: bool);
    /// Collects. Afterwards a fresh extent is current.
    fn collect<M: ObjectModel, C: Client>(
        &mut self,
        core: &mut Core,
        model: &M,
        client: &mut C,
        lo: Address,
        hi: Address,
        request: Request,
    ) -> Result<(), OutOfMemory>;
    /// Would the next collection move an object at this address, as a young one?
    fn is_young(&self, a: Address) -> bool;
    /// Gives pages that the mutator has not come to yet back to the system.
    fn trim(&mut self);
    /// Bytes the mutator has taken from the nursery since the last collection.
    fn nursery_used(&self) -> u64;
    /// Bytes taken by the mutator since the last collection, wherever they lie: survivors, for all that is known.
    fn unproven(&self, _core: &Core) -> u64 {
        self.nursery_used()
    }
    /// Have so many large objects been allocated that a collection is due?
    fn large_are_due(&self, core: &Core) -> bool {
        core.large.young_bytes() > core.sizing.large_young()
    }
    /// Have so many blocks been taken for typed or untyped cells that a collection is due?
    fn cells_are_due(&self, core: &Core) -> bool {
        core.used() - core.large.young_bytes() >= core.sizing.limit()
    }
    /// Have so many compact records been handed out that a collection is due?
    fn compact_are_due(&self, core: &Core) -> bool {
        core.used() - core.large.young_bytes() >= core.sizing.limit()
    }
    /// Bytes that allocation in runtime calls leaves in an extent: what a heap check may have promised.
    fn check_reserve(&self) -> u64 {
        CHECK_RESERVE
    }
    /// Blocks that must stay available for survivors.
    fn reserve(&self) -> u32;
}
