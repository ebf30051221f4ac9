//! Stack chunks: memory for activation records, never moved, lifetime decided by marks.
//!
//! A chunk is a power of two from 512 bytes to 16 KiB, cut from a shared block, or whole blocks. Each run of
//! blocks keeps three bitmaps over its at most 64 slots:
//!
//! * `used`: handed out;
//! * `marked`: reached by the collection under way;
//! * `old`: some promoted continuation refers to it, so minor collections leave it alone.
//!
//! After a minor collection, a chunk that is neither marked nor old is free. After a major one, every chunk that
//! is unmarked is free, and `old` is what continuations marked in this collection.
//!
//! The mutator may also free a chunk by hand, when it knows that nothing refers to it.

use crate::address::{Address, BLOCK_BYTES, BLOCK_SHIFT, BlockIndex, Span, blocks_for};
use crate::blocks::{BlockPool, Kind, poison};

const SMALLEST_SHIFT: u32 = 9;
/// Chunks that minor collections keep and that are probably dead: so many bytes are worth a look.
const WORTH_A_LOOK: u64 = 1 << 20;
/// Size classes; the last is one whole block.
const CLASSES: usize = (BLOCK_SHIFT - SMALLEST_SHIFT) as usize + 1;

#[derive(Clone, Copy, Debug, Default)]
struct Run {
    block: BlockIndex,
    blocks: u32,
    /// log2 of the slot size; `BLOCK_SHIFT` for whole blocks (one slot).
    shift: u32,
    used: u64,
    marked: u64,
    old: u64,
    /// Slots in `young`.
    listed: u64,
    /// In the list of runs with free slots of its class.
    partial: bool,
}

impl Run {
    fn slots(&self) -> u32 {
        1 << (BLOCK_SHIFT - self.shift)
    }
    fn all(&self) -> u64 {
        if self.slots() == 64 { u64::MAX } else { (1 << self.slots()) - 1 }
    }
    fn slot_bytes(&self) -> u64 {
        if self.shift == BLOCK_SHIFT { self.blocks as u64 * BLOCK_BYTES } else { 1 << self.shift }
    }
}

/// See the module's header.
#[derive(Default)]
pub struct ChunkSpace {
    runs: Vec<Run>,
    free_runs: Vec<u32>,
    partial: [Vec<u32>; CLASSES],
    young: Vec<Address>,
    bytes: u64,
    /// What the last collection left of them.
    kept: u64,
    /// What the last major collection left of them.
    left: u64,
    poison: bool,
}

/// A chunk: its extent and the state of its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkInfo {
    /// The chunk.
    pub span: Span,
    /// Referred to by a promoted continuation.
    pub old: bool,
}

impl ChunkSpace {
    /// An empty space.
    pub fn new(poison: bool) -> ChunkSpace {
        ChunkSpace { poison, ..ChunkSpace::default() }
    }
    /// A chunk of at least `bytes`, uninitialised.
    pub fn alloc(&mut self, pool: &mut BlockPool, bytes: u64, spare: u32) -> Option<Span> {
        let shift = bytes.next_power_of_two().trailing_zeros().clamp(SMALLEST_SHIFT, BLOCK_SHIFT);
        let id = if bytes <= BLOCK_BYTES {
            match self.partial[(shift - SMALLEST_SHIFT) as usize].last() {
                Some(&id) => id,
                None => self.new_run(pool, shift, 1, spare)?,
            }
        } else {
            self.new_run(pool, shift, blocks_for(bytes), spare)?
        };
        let run = &mut self.runs[id as usize];
        let slot = (!run.used).trailing_zeros();
        run.used |= 1 << slot;
        if run.used == run.all() && run.partial {
            run.partial = false;
            self.partial[(shift - SMALLEST_SHIFT) as usize].pop();
        }
        let start = pool.table.address_of(run.block).plus((slot as u64) << run.shift);
        let span = Span::new(start, start.plus(run.slot_bytes()));
        self.bytes += span.bytes();
        if run.listed & (1 << slot) == 0 {
            run.listed |= 1 << slot;
            self.young.push(start);
        }
        Some(span)
    }
    fn new_run(&mut self, pool: &mut BlockPool, shift: u32, blocks: u32, spare: u32) -> Option<u32> {
        let block = if blocks == 1 {
            if pool.free_singles() <= spare {
                return None;
            }
            pool.take()?.0
        } else {
            pool.take_run(blocks, spare)?
        };
        pool.table.set_run(block, blocks, Kind::Chunk, Kind::ChunkTail, 0);
        let partial = blocks == 1;
        let run = Run { block, blocks, shift, partial, ..Run::default() };
        let id = match self.free_runs.pop() {
            Some(id) => {
                self.runs[id as usize] = run;
                id
            }
            None => {
                self.runs.push(run);
                self.runs.len() as u32 - 1
            }
        };
        pool.table.set_cold(block, id);
        if partial {
            self.partial[(shift - SMALLEST_SHIFT) as usize].push(id);
        }
        Some(id)
    }
    /// Run and slot of the chunk at `a`, which must be inside the region.
    fn locate(&self, pool: &BlockPool, a: Address) -> Option<(u32, u32)> {
        let block = pool.table.block_of(a);
        if !pool.table.state(block).is(Kind::Chunk) {
            return None;
        }
        let id = pool.table.cold(block);
        let run = &self.runs[id as usize];
        Some((id, (a.offset_from(pool.table.address_of(block)) >> run.shift) as u32))
    }
    /// The chunk handed out at exactly this address.
    pub fn info(&self, pool: &BlockPool, a: Address) -> Option<ChunkInfo> {
        if !pool.table.covers(a) {
            return None;
        }
        let (id, slot) = self.locate(pool, a)?;
        let run = &self.runs[id as usize];
        let start = pool.table.address_of(run.block).plus((slot as u64) << run.shift);
        let span = Span::new(start, start.plus(run.slot_bytes()));
        let bit = 1 << slot;
        (run.used & bit != 0 && start == a).then_some(ChunkInfo { span, old: run.old & bit != 0 })
    }
    /// Marks the chunk at `a`; `promote` when a promoted continuation refers to it.
    #[inline]
    pub fn mark(&mut self, pool: &BlockPool, a: Address, promote: bool) {
        let Some((id, slot)) = self.locate(pool, a) else {
            debug_assert!(false, "{a:?} is not a stack chunk");
            return;
        };
        let run = &mut self.runs[id as usize];
        debug_assert!(run.used & (1 << slot) != 0, "{a:?} is a freed stack chunk");
        run.marked |= 1 << slot;
        if promote {
            run.old |= 1 << slot;
        }
    }
    /// Frees the chunk at `a`.
    pub fn free(&mut self, pool: &mut BlockPool, a: Address) {
        if let Some((id, slot)) = self.locate(pool, a) {
            self.free_slot(pool, id, slot);
        }
    }
    fn free_slot(&mut self, pool: &mut BlockPool, id: u32, slot: u32) {
        let run = &mut self.runs[id as usize];
        let bit = 1 << slot;
        debug_assert!(run.used & bit != 0, "stack chunk freed twice");
        run.used &= !bit;
        run.old &= !bit;
        run.marked &= !bit;
        self.bytes -= run.slot_bytes();
        if self.poison {
            let start = pool.table.address_of(run.block).plus((slot as u64) << run.shift);
            poison(Span::new(start, start.plus(run.slot_bytes())));
        }
        if run.blocks == 1 {
            // An empty run keeps its block until the next collection, so that a call that crosses a chunk boundary
            // again and again costs little.
            if !run.partial {
                run.partial = true;
                self.partial[(run.shift - SMALLEST_SHIFT) as usize].push(id);
            }
            return;
        }
        let (block, blocks) = (run.block, run.blocks);
        *run = Run::default();
        self.free_runs.push(id);
        if self.young.last() == Some(&pool.table.address_of(block)) {
            self.young.pop();
        }
        pool.give_run(block, blocks);
    }
    /// Gives back blocks without used slots.
    fn release_empty(&mut self, pool: &mut BlockPool) {
        for class in &mut self.partial {
            class.retain(|&id| {
                let run = &mut self.runs[id as usize];
                let empty = run.used == 0;
                if empty {
                    pool.give(run.block, false);
                    *run = Run::default();
                    self.free_runs.push(id);
                }
                !empty
            });
        }
    }
    /// Prepares for a major collection: no chunk is marked, and none old until a continuation marks it again.
    pub fn begin_major(&mut self) {
        for run in &mut self.runs {
            (run.marked, run.old) = (0, 0);
        }
    }
    /// After a minor collection.
    pub fn sweep_young(&mut self, pool: &mut BlockPool) {
        let mut young = std::mem::take(&mut self.young);
        // Long chunks freed by hand may be listed twice.
        young.sort_unstable();
        young.dedup();
        young.retain(|&a| {
            // The chunk may have been freed by hand, and its block reused.
            let Some((id, slot)) = self.locate(pool, a) else { return false };
            let bit = 1 << slot;
            let run = &mut self.runs[id as usize];
            let start = pool.table.address_of(run.block).plus((slot as u64) << run.shift);
            if run.listed & bit == 0 || start != a {
                return false;
            }
            let marked = run.marked & bit != 0;
            run.marked &= !bit;
            if run.used & bit == 0 || run.old & bit != 0 {
                run.listed &= !bit;
                return false;
            }
            if !marked {
                run.listed &= !bit;
                self.free_slot(pool, id, slot);
            }
            marked
        });
        self.young = young;
        self.release_empty(pool);
        self.kept = self.bytes;
    }
    /// After a major collection.
    pub fn sweep_all(&mut self, pool: &mut BlockPool) {
        self.young.clear();
        for id in 0..self.runs.len() as u32 {
            let run = &mut self.runs[id as usize];
            run.listed = 0;
            let mut dead = run.used & !run.marked;
            run.marked = 0;
            // Survivors that no continuation holds stay subject to minor collections.
            let young = run.used & !dead & !run.old;
            run.listed = young;
            let (block, shift) = (run.block, run.shift);
            let mut bits = young;
            while bits != 0 {
                let slot = bits.trailing_zeros() as u64;
                self.young.push(pool.table.address_of(block).plus(slot << shift));
                bits &= bits - 1;
            }
            while dead != 0 {
                let slot = dead.trailing_zeros();
                dead &= dead - 1;
                self.free_slot(pool, id, slot);
            }
        }
        self.release_empty(pool);
        (self.kept, self.left) = (self.bytes, self.bytes);
    }
    /// Have minor collections kept so many chunks since the last major one that it is time to look which are dead? The
    /// one that runs is promoted with any continuation that a minor collection finds, and is mostly done soon after: a
    /// program that captures one now and then would gain a block with each collection, up to the limit of the heap.
    /// Those made since the last collection do not count: most are dead, and the next minor one frees them.
    pub fn have_grown(&self) -> bool {
        self.kept.saturating_sub(self.left) > self.left.max(WORTH_A_LOOK)
    }
    /// All chunks handed out.
    pub fn in_use<'a>(&'a self, pool: &'a BlockPool) -> impl Iterator<Item = Span> + 'a {
        self.runs.iter().flat_map(move |run| {
            let slots = (0..64u64).filter(|slot| run.used >> slot & 1 != 0);
            slots.map(move |slot| {
                let start = pool.table.address_of(run.block).plus(slot << run.shift);
                Span::new(start, start.plus(run.slot_bytes()))
            })
        })
    }
    /// Bytes of all chunks handed out.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}
