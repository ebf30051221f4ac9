//! What a collector is: a [`Plan`], and its [`Constraints`] as data beside it.

use crate::address::{Address, BLOCK_BYTES, Span};
use crate::client::Client;
use crate::config::HeapConfig;
use crate::error::{HeapError, OutOfMemory};
use crate::model::ObjectModel;
use crate::sampling::Sampling;
use crate::space::nursery::Extent;
use crate::space::own::OwnSpaces;
use crate::state::{Core, Request};
use crate::stats::Reason;
use cairn_layout::collector::{Allocation, Ambiguity, Barrier, CollectorFacts, FREE_LISTS, FreeList, Moving};
use cairn_layout::limits::CHECK_RESERVE;
use cairn_layout::machine::Cursors;
use cairn_layout::object::AllocKind;
use std::time::Instant;

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
    pub const fn check(&self) {
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

/// The interface of a collector towards the heap.
pub(crate) trait Plan {
    /// Those of its own spaces that others must know of.
    type Own: OwnSpaces;
    /// These spaces.
    fn own_spaces(&self) -> &Self::Own;
    /// A collector with this range for new objects.
    fn new<M: ObjectModel>(core: &mut Core, young: Span, config: &HeapConfig) -> Result<Self, HeapError>
    where
        Self: Sized;
    /// The filled extents when the mutator is at these cursors, in order.
    fn extents(&self, at: Cursors) -> Vec<Extent>;
    /// Bounds of the extent being filled: its cursors right after it was handed out.
    fn current(&self) -> Cursors;
    /// The next extent, with room for `need` bytes, or `None` when a collection is due. The mutator is at a safepoint.
    fn refill<M: ObjectModel>(&mut self, core: &mut Core, model: &M, at: Cursors, need: u64) -> Option<Cursors>;
    /// Room for a small object, without collecting: beyond the end of the extent, and of the nursery, if need be. Its
    /// prefix is written, if it has one.
    fn allocate(
        &mut self,
        core: &mut Core,
        at: &mut Cursors,
        bytes: u64,
        kind: AllocKind,
    ) -> Result<Address, OutOfMemory>;
    /// Room for an untyped object, without collecting; cleared. `None` if such objects are to be cells.
    fn allocate_untyped(
        &mut self,
        _core: &mut Core,
        _at: &mut Cursors,
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
    /// Minor collections, if there are any, must leave this large object alone, which was just made.
    fn stands_still(&mut self, _core: &mut Core, _a: Address) {}
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
        _at: &mut Cursors,
        _list: FreeList,
    ) -> Option<Result<Address, OutOfMemory>> {
        None
    }
    /// Takes back what is left in the mutator's lists.
    fn return_cells(&mut self, _core: &mut Core, _lists: &mut [u64; FREE_LISTS]) {}
    /// The checker comes: what it is to find in tables must be there.
    fn settle(&mut self, _core: &mut Core) {}
    /// A fresh extent with room for `need` bytes, for a heap check that asks for more than the nursery has.
    fn close_and_extend(&mut self, core: &mut Core, at: &mut Cursors, need: u64) -> Result<(), OutOfMemory>;
    /// Leaves compiled code no more of its extent than `CHECK_RESERVE` bytes, which an earlier heap check may have
    /// promised it: so its next heap check fails, at the latest after this many bytes.
    fn hide(&mut self, core: &mut Core, at: &mut Cursors) -> Result<(), OutOfMemory>;
    /// Has a collection been asked for?
    fn wants_collection(&self) -> bool;
    /// Hides the extent at hand if a collection has been asked for.
    fn hide_if_wanted(&mut self, core: &mut Core, at: &mut Cursors) -> Result<(), OutOfMemory> {
        if self.wants_collection() { self.hide(core, at) } else { Ok(()) }
    }
    /// Is the mutator to come to a safepoint soon: for a collection, or for another reason?
    fn waits_for_safepoint(&self, _at: Cursors) -> bool {
        self.wants_collection()
    }
    /// May the mutator have `bytes` more without a collection? Beyond the heap's maximum, a collection is asked
    /// for; and the answer is no when even a full collection would not help, because what survived the last one
    /// and what was allocated since the last minor one are too much already.
    fn admit(&mut self, core: &Core, bytes: u64) -> Result<(), OutOfMemory> {
        let nursery = self.nursery_used();
        let max = core.sizing.heap_max() + core.overdraft;
        if self.used(core) + nursery + bytes <= max {
            return Ok(());
        }
        self.want(Reason::HeapMax, true);
        let chunks = core.chunks.bytes().saturating_sub(core.chunk_bytes_at_collection);
        if core.sizing.live() + self.unproven(core) + core.large.young_bytes() + chunks + bytes > max {
            return Err(self.out_of_memory(core, bytes));
        }
        Ok(())
    }
    /// From now on there are samples of allocation, if the collector can take any. The extent at hand is given up.
    fn start_sampling(&mut self, _core: &mut Core, _at: &mut Cursors, _s: Sampling) -> bool {
        false
    }
    /// Asks for a collection at the next refill.
    fn want(&mut self, reason: Reason, major: bool);
    /// The mutator stands still at these cursors: what it was filling is closed, and tables say what was allocated.
    fn prepare<M: ObjectModel>(&mut self, core: &mut Core, model: &M, at: Cursors);
    /// Collects, in one [`Cycle`](super::driver::Cycle) or several. An error ends the program.
    fn trace<M: ObjectModel, C: Client>(
        &mut self,
        core: &mut Core,
        model: &M,
        client: &mut C,
        began: Instant,
        request: Request,
    ) -> Result<(), OutOfMemory>;
    /// Is there too little left below the maximum, after all that could be done?
    fn is_tight(&self, core: &Core) -> bool;
    /// The collection is over: what the mutator gets is current.
    fn resume(&mut self, core: &mut Core);
    /// Gives pages that the mutator has not come to yet back to the system.
    fn trim(&mut self);
    /// Bytes the mutator has taken from the nursery since the last collection.
    fn nursery_used(&self) -> u64;
    /// Bytes held outside the nursery.
    #[inline]
    fn used(&self, core: &Core) -> u64 {
        core.shared_bytes() + self.own_spaces().outside_pool()
    }
    /// The error for a request of `bytes` more.
    fn out_of_memory(&self, core: &Core, bytes: u64) -> OutOfMemory {
        let used = self.used(core) + self.nursery_used();
        OutOfMemory { requested: bytes, used, heap_max: core.sizing.heap_max() }
    }
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
        self.used(core) - core.large.young_bytes() >= core.sizing.limit()
    }
    /// Have so many compact records been handed out that a collection is due?
    fn compact_are_due(&self, core: &Core) -> bool {
        self.used(core) - core.large.young_bytes() >= core.sizing.limit()
    }
    /// Bytes that allocation in runtime calls leaves in an extent: what a heap check may have promised.
    fn check_reserve(&self) -> u64 {
        CHECK_RESERVE
    }
    /// Blocks that must stay available for survivors.
    fn reserve(&self) -> u32;
}
