//! Block descriptors and the block allocator.
//!
//! The descriptor table answers, from an address alone and with one load, what kind of memory a word points
//! into. It is two arrays: a hot one of one byte per block, read while tracing, and a cold one of 32 bits.
//!
//! ```text
//!  state byte:  7      6       5      4        3      0
//!             ┌──────┬───────┬──────┬────────┬─────────┐
//!             │ FROM │ YOUNG │ LEAF │ WARM   │ kind    │
//!             └──────┴───────┴──────┴────────┴─────────┘
//!  cold word: index of the entry in the space that owns a large object or a chunk; class of cells (type, stride, size)
//! ```
//!
//! Blocks come from two sides of one range (see [`crate::region`]): single blocks from below, runs from above.
//! Freed single blocks are reused last in, first out, while warm; runs by best fit, coalescing neighbours.
//! `WARM` says that the block's pages may be resident: what [`BlockPool::release`] looks for.

use crate::address::{Address, BLOCK_BYTES, BlockIndex, Span, WORD};
use crate::region::{Mapping, Region, advise_huge, populate_pages, release_pages};
use std::collections::{BTreeMap, BTreeSet};

/// What a block holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// Nothing.
    Free = 0,
    /// New objects: pairs from below, others from above.
    Nursery = 1,
    /// Survivors that hold values.
    Scannable = 2,
    /// Survivors that hold none.
    Leaf = 3,
    /// First block of a large object.
    Large = 4,
    /// Another block of a large object.
    LargeTail = 5,
    /// First block of stack chunks.
    Chunk = 6,
    /// Another block of a long stack chunk.
    ChunkTail = 7,
    /// Objects that live as long as the heap.
    Immortal = 8,
    /// Another block of a long immortal object.
    ImmortalTail = 9,
    /// Elements of one type, without headers; the cold word is the number of the type.
    Typed = 10,
    /// Cells of one size whose words may or may not be references; the cold word is the number of the class.
    Untyped = 11,
    /// Of the nursery, with pinned objects besides new ones.
    Pinned = 12,
    /// Of a group of blocks that large objects share; the cold word is the number of the group.
    Shared = 13,
    /// One page, or cut into pages: objects of all kinds together; the cold word counts pages in use.
    Page = 14,
    /// Cells of one size for objects of one sort; the cold word is the number of their class.
    Segregated = 15,
}

const KINDS: [Kind; 16] = [
    Kind::Free,
    Kind::Nursery,
    Kind::Scannable,
    Kind::Leaf,
    Kind::Large,
    Kind::LargeTail,
    Kind::Chunk,
    Kind::ChunkTail,
    Kind::Immortal,
    Kind::ImmortalTail,
    Kind::Typed,
    Kind::Untyped,
    Kind::Pinned,
    Kind::Shared,
    Kind::Page,
    Kind::Segregated,
];

/// A state byte.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct State(pub u8);

impl State {
    /// Objects in this block are to be evacuated by a major collection.
    pub const FROM: u8 = 0x80;
    /// Allocated since the last collection (large objects).
    pub const YOUNG: u8 = 0x40;
    /// Holds no values.
    pub const LEAF: u8 = 0x20;
    /// Pages may be resident.
    pub const WARM: u8 = 0x10;
    /// Of a scannable block: there are leaves among its objects, and [`crate::marks`] knows their raw words.
    pub const MIXED: u8 = 0x20;
    /// Of a free block: its words are valid, as those of scannable blocks have to be.
    pub const VALID: u8 = 0x40;

    /// The kind.
    #[inline(always)]
    pub const fn kind(self) -> Kind {
        KINDS[(self.0 & 15) as usize]
    }
    /// Is this the kind? Cheaper than comparing [`State::kind`].
    #[inline(always)]
    pub const fn is(self, kind: Kind) -> bool {
        self.0 & 15 == kind as u8
    }
    /// Is it a block of the old space's (scannable, or leaves) that is not evacuated?
    #[inline(always)]
    pub const fn stays_in_old_space(self) -> bool {
        const { assert!(Kind::Scannable as u8 ^ 1 == Kind::Leaf as u8) };
        self.0 & (State::FROM | 14) == Kind::Scannable as u8
    }
    /// Are these bits set?
    #[inline(always)]
    pub const fn has(self, bits: u8) -> bool {
        self.0 & bits != 0
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}/{:#04x}", self.kind(), self.0 & 0xF0)
    }
}

/// Descriptors of all blocks of a region.
pub struct BlockTable {
    state: Mapping,
    cold: Mapping,
    base: Address,
    count: u32,
}

impl BlockTable {
    /// Descriptors for this region, all free.
    pub fn new(region: &Region) -> std::io::Result<BlockTable> {
        let count = region.blocks();
        Ok(BlockTable {
            state: Mapping::reserve(count as u64)?,
            cold: Mapping::reserve(count as u64 * 4)?,
            base: region.base(),
            count,
        })
    }
    /// The array of state bytes, for tracing loops.
    #[inline(always)]
    pub const fn states(&self) -> *const u8 {
        self.state.base().bytes()
    }
    /// State of a block.
    #[inline(always)]
    pub fn state(&self, b: BlockIndex) -> State {
        debug_assert!(b.0 < self.count);
        // SAFETY: `b` is below `count` (asserted in debug builds): block indices come from the pool, or from
        // `Region::block_of` of an address inside the region.
        State(unsafe { *self.states().add(b.0 as usize) })
    }
    /// Sets the kind and bits of a block, keeping `WARM`, which every use implies.
    pub fn set(&mut self, b: BlockIndex, kind: Kind, bits: u8) {
        self.put(b, State(kind as u8 | bits | State::WARM));
    }
    /// Sets the state of `n` blocks: `head` for the first, `tail` for the others.
    pub fn set_run(&mut self, b: BlockIndex, n: u32, head: Kind, tail: Kind, bits: u8) {
        for i in 0..n {
            self.set(b.plus(i), if i == 0 { head } else { tail }, bits);
        }
    }
    /// Sets bits of a block.
    #[inline]
    pub fn add_bits(&mut self, b: BlockIndex, bits: u8) {
        self.put(b, State(self.state(b).0 | bits));
    }
    /// Clears bits of a block.
    #[inline]
    pub fn clear_bits(&mut self, b: BlockIndex, bits: u8) {
        self.put(b, State(self.state(b).0 & !bits));
    }
    #[inline(always)]
    fn put(&mut self, b: BlockIndex, s: State) {
        debug_assert!(b.0 < self.count);
        // SAFETY: `b` is below `count`, so the byte is in the table; `&mut self` makes the write exclusive.
        unsafe { *self.state.base().bytes().add(b.0 as usize) = s.0 }
    }
    /// The cold word of a block.
    #[inline(always)]
    pub fn cold(&self, b: BlockIndex) -> u32 {
        debug_assert!(b.0 < self.count);
        // SAFETY: `b` is below `count`, and the table of cold words has four bytes per block.
        unsafe { *(self.cold.base().bytes() as *const u32).add(b.0 as usize) }
    }
    /// Sets the cold word of a block.
    #[inline(always)]
    pub fn set_cold(&mut self, b: BlockIndex, word: u32) {
        debug_assert!(b.0 < self.count);
        // SAFETY: `b` is below `count`, and the table has four bytes per block; `&mut self` makes the write exclusive.
        unsafe { *(self.cold.base().bytes() as *mut u32).add(b.0 as usize) = word }
    }
    /// First byte of a block.
    #[inline(always)]
    pub const fn address_of(&self, b: BlockIndex) -> Address {
        Address(self.base.0 + b.0 as u64 * BLOCK_BYTES)
    }
    /// The block around an address inside the region.
    #[inline(always)]
    pub const fn block_of(&self, a: Address) -> BlockIndex {
        BlockIndex((a.offset_from(self.base) / BLOCK_BYTES) as u32)
    }
    /// Is the address inside the region?
    #[inline(always)]
    pub const fn covers(&self, a: Address) -> bool {
        a.offset_from(self.base) < self.count as u64 * BLOCK_BYTES
    }
}

/// What freed memory is filled with under zeal: words with the immediate tag, equal to no defined immediate.
pub const POISON: u64 = 0x5A5A_5A5A_5A5A_5A5A;

const _: () = assert!(POISON & 7 == cairn_layout::value::TAG_IMMEDIATE);

/// A free run in the order of best fit: by length, then by address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Fit {
    len: u32,
    at: u32,
}

impl Ord for Fit {
    fn cmp(&self, other: &Fit) -> std::cmp::Ordering {
        #[cfg(test)]
        COMPARED.with(|n| n.set(n.get() + 1));
        (self.len, self.at).cmp(&(other.len, other.at))
    }
}

impl PartialOrd for Fit {
    fn partial_cmp(&self, other: &Fit) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
thread_local! {
    /// How many runs searches have looked at.
    static COMPARED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Free runs, found by address to be joined and by length to be handed out: both in logarithmic time.
#[derive(Default)]
struct FreeRuns {
    by_address: BTreeMap<u32, u32>,
    by_length: BTreeSet<Fit>,
}

impl FreeRuns {
    fn insert(&mut self, at: u32, len: u32) {
        self.by_address.insert(at, len);
        self.by_length.insert(Fit { len, at });
    }
    /// Takes out the run that begins at this block; its length.
    fn remove(&mut self, at: u32) -> Option<u32> {
        let len = self.by_address.remove(&at)?;
        self.by_length.remove(&Fit { len, at });
        Some(len)
    }
    /// The shortest run of at least `len` blocks, the lowest of several.
    fn best(&self, len: u32) -> Option<Fit> {
        self.by_length.range(Fit { len, at: 0 }..).next().copied()
    }
    /// The last run that begins below this block: first block and length.
    fn before(&self, at: u32) -> Option<(u32, u32)> {
        self.by_address.range(..at).next_back().map(|(&at, &len)| (at, len))
    }
}

/// The block allocator and the descriptors it keeps.
pub struct BlockPool {
    /// Descriptors.
    pub table: BlockTable,
    /// Where single blocks were last taken from; all blocks from here to `runs_start` are free.
    frontier: u32,
    singles: Vec<BlockIndex>,
    /// First block of the run side.
    runs_start: u32,
    runs_end: u32,
    runs: FreeRuns,
    in_use: u32,
    peak: u32,
    poison: bool,
    /// Where the lowest address of the run side is told.
    told: Option<Told>,
}

/// A place of the client's.
struct Told(*mut u64);

// SAFETY: whoever called `publish_runs` has promised that the place stays as long as the pool, wherever that goes.
unsafe impl Send for Told {}

/// Blocks that are side by side are handed out from above to below, groups of so many from below to above. Objects fill
/// their blocks from above to below, too; and to go through a tree that was built in blocks of the other order takes
/// three times as long, for it jumps to and fro between them.
const GROUP: u32 = 16;

/// A run of so many bytes gets huge pages, where the system has them: all of it is written at once, and a fault for
/// each of 512 small pages costs several times what it takes to clear them.
const HUGE_RUN: u64 = 8 << 20;

impl BlockPool {
    /// A pool over blocks `0..end` of the region.
    pub fn new(region: &Region, end: u32, poison: bool) -> std::io::Result<BlockPool> {
        Ok(BlockPool {
            table: BlockTable::new(region)?,
            frontier: 0,
            singles: Vec::new(),
            runs_start: end,
            runs_end: end,
            runs: FreeRuns::default(),
            in_use: 0,
            peak: 0,
            poison,
            told: None,
        })
    }
    /// From now on, `*place` is the lowest address of the run side.
    ///
    /// # Safety
    /// The place stays as long as the pool, and nobody else writes there.
    pub unsafe fn publish_runs(&mut self, place: *mut u64) {
        self.told = Some(Told(place));
        self.tell();
    }
    fn tell(&self) {
        if let Some(Told(place)) = self.told {
            // SAFETY: whoever called `publish_runs` has promised that the place stays as long as the pool, and that
            // nobody else writes it.
            unsafe { *place = self.runs_address().0 }
        }
    }
    /// Is freed memory filled with [`POISON`]?
    pub const fn poisons(&self) -> bool {
        self.poison
    }
    /// Number of blocks handed out.
    pub const fn in_use(&self) -> u32 {
        self.in_use
    }
    /// Bytes of the blocks handed out.
    pub const fn bytes_in_use(&self) -> u64 {
        self.in_use as u64 * BLOCK_BYTES
    }
    /// Most blocks ever handed out at once.
    pub const fn peak(&self) -> u32 {
        self.peak
    }
    /// Number of blocks that single-block requests can still get.
    pub fn free_singles(&self) -> u32 {
        self.singles.len() as u32 + self.runs_start - self.frontier
    }
    /// Lowest address of the run side.
    pub const fn runs_address(&self) -> Address {
        self.table.address_of(BlockIndex(self.runs_start))
    }
    fn count(&mut self, n: u32) {
        self.in_use += n;
        self.peak = self.peak.max(self.in_use);
    }
    /// One block; the caller describes it. Are its words valid already, as those of scannable blocks have to be?
    pub fn take(&mut self) -> Option<(BlockIndex, bool)> {
        if self.singles.is_empty() {
            let n = GROUP.min(self.runs_start - self.frontier);
            self.singles.extend((self.frontier..self.frontier + n).map(BlockIndex));
            self.frontier += n;
        }
        let b = self.singles.pop()?;
        self.count(1);
        let state = self.table.state(b);
        if !state.has(State::WARM) {
            self.populate(b);
        }
        Some((b, !state.has(State::WARM) || state.has(State::VALID)))
    }
    /// Has the system provide the pages of a block, and, while a heap grows that is large already, of some more: those
    /// that are taken next.
    #[cold]
    fn populate(&mut self, b: BlockIndex) {
        let most = (self.in_use / 64).clamp(1, GROUP);
        let mut first = b.0;
        for &next in self.singles.iter().rev().take(most as usize - 1) {
            if next.0 + 1 != first || self.table.state(next).has(State::WARM) {
                break;
            }
            self.table.add_bits(next, State::WARM | State::VALID);
            first = next.0;
        }
        populate_pages(Span::new(self.table.address_of(BlockIndex(first)), self.table.address_of(b.plus(1))));
    }
    /// Takes a single block back. `valid`: its words are valid, whatever they were part of.
    pub fn give(&mut self, b: BlockIndex, valid: bool) {
        self.freed(b, 1);
        if valid || self.poison {
            self.table.add_bits(b, State::VALID);
        }
        self.singles.push(b);
    }
    /// `n` neighbouring blocks, provided that `spare` single blocks stay available.
    pub fn take_run(&mut self, n: u32, spare: u32) -> Option<BlockIndex> {
        if let Some(Fit { at, len }) = self.runs.best(n) {
            self.runs.remove(at);
            if len > n {
                self.runs.insert(at + n, len - n);
            }
            self.count(n);
            return Some(BlockIndex(at));
        }
        // Extend downwards, starting with a free run at the very bottom if there is one.
        let below = self.runs.by_address.get(&self.runs_start).copied().unwrap_or(0);
        let more = n - below;
        if self.free_singles() < spare.saturating_add(more) || self.runs_start - self.frontier < more {
            return None;
        }
        self.runs.remove(self.runs_start);
        self.runs_start -= more;
        self.tell();
        self.count(n);
        Some(BlockIndex(self.runs_start))
    }
    /// Has the system provide those pages of a run that may not be there, which costs less than a fault for each: all
    /// of it is about to be written. To be called before the blocks are described.
    pub fn populate_run(&self, b: BlockIndex, n: u32) {
        let cold = |i: &u32| !self.table.state(BlockIndex(*i)).has(State::WARM);
        let (mut at, end) = (b.0, b.0 + n);
        while let Some(first) = (at..end).find(cold) {
            at = (first..end).find(|i| !cold(i)).unwrap_or(end);
            let start = self.table.address_of(BlockIndex(first));
            let span = Span::new(start, start.plus((at - first) as u64 * BLOCK_BYTES));
            if span.bytes() >= HUGE_RUN {
                advise_huge(span);
            }
            populate_pages(span);
        }
    }
    /// Takes a run back.
    pub fn give_run(&mut self, b: BlockIndex, n: u32) {
        self.freed(b, n);
        let (mut at, mut len) = (b.0, n);
        if let Some((prev, prev_len)) = self.runs.before(at)
            && prev + prev_len == at
        {
            self.runs.remove(prev);
            at = prev;
            len += prev_len;
        }
        if let Some(next_len) = self.runs.remove(at + len) {
            len += next_len;
        }
        self.runs.insert(at, len);
        debug_assert!(at + len <= self.runs_end);
    }
    fn freed(&mut self, b: BlockIndex, n: u32) {
        for i in 0..n {
            self.table.set(b.plus(i), Kind::Free, 0);
            self.table.set_cold(b.plus(i), 0);
        }
        self.in_use -= n;
        if self.poison {
            let start = self.table.address_of(b);
            poison(Span::new(start, start.plus(n as u64 * BLOCK_BYTES)));
        }
    }
    /// After a collection: orders free blocks by address, moves the frontiers back over free blocks, and returns
    /// the pages of all but `keep` of the free blocks to the system. Single blocks are preferred for keeping.
    pub fn release(&mut self, keep: u32) {
        self.singles.sort_unstable_by_key(|b| std::cmp::Reverse(b.0));
        let mut keep = keep;
        // The last elements are handed out first: keep those warm.
        let table = &mut self.table;
        let mut cold = Vec::new();
        for &b in self.singles.iter().rev() {
            if table.state(b).has(State::WARM) {
                if keep > 0 {
                    keep -= 1;
                } else {
                    cold.push(b.0);
                }
            }
        }
        for (&at, &len) in &self.runs.by_address {
            for i in at..at + len {
                if table.state(BlockIndex(i)).has(State::WARM) {
                    if keep > 0 {
                        keep -= 1;
                    } else {
                        cold.push(i);
                    }
                }
            }
        }
        for run in cold.chunk_by(|a, b| a + 1 == *b) {
            let start = table.address_of(BlockIndex(run[0]));
            release_pages(Span::new(start, start.plus(run.len() as u64 * BLOCK_BYTES)));
            for &b in run {
                table.clear_bits(BlockIndex(b), State::WARM | State::VALID);
            }
        }
        // Free blocks next to the frontiers rejoin the common middle, so that either side can use them.
        let mut drop = 0;
        while drop < self.singles.len() && self.singles[drop].0 + 1 == self.frontier {
            self.frontier -= 1;
            drop += 1;
        }
        self.singles.drain(..drop);
        self.singles.sort_unstable_by_key(|b| (std::cmp::Reverse(b.0 / GROUP), b.0));
        if let Some(len) = self.runs.remove(self.runs_start) {
            self.runs_start += len;
            self.tell();
        }
    }
}

/// Fills a span of the region, which is free, with [`POISON`].
pub fn poison(span: Span) {
    let words = (span.bytes() / WORD) as usize;
    // SAFETY: callers pass free memory of the region, into which nobody has a reference; every `u64` pattern is allowed
    // there.
    unsafe { std::slice::from_raw_parts_mut(span.start.words(), words) }.fill(POISON);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> BlockPool {
        let r = Region::reserve(28, None).unwrap();
        // The pool needs no pages of the region unless it poisons.
        BlockPool::new(&r, 100, false).unwrap()
    }

    #[test]
    fn runs_coalesce_and_never_take_the_spare_singles() {
        let mut p = pool();
        let a = p.take_run(10, 0).unwrap();
        let b = p.take_run(10, 0).unwrap();
        assert_eq!((a, b), (BlockIndex(90), BlockIndex(80)));
        p.give_run(a, 10);
        p.give_run(b, 10);
        let c = p.take_run(20, 0).unwrap();
        assert_eq!(c, BlockIndex(80));
        assert!(p.take_run(50, 31).is_none());
        assert!(p.take_run(50, 30).is_some());
        assert_eq!(p.in_use(), 70);
    }

    #[test]
    fn a_run_extends_the_free_run_at_the_frontier() {
        let mut p = pool();
        let a = p.take_run(4, 0).unwrap();
        p.give_run(a, 4);
        assert_eq!(p.take_run(6, 0).unwrap(), BlockIndex(94));
    }

    #[test]
    fn a_run_is_found_among_thousands_by_looking_at_few() {
        let r = Region::reserve(32, None).unwrap();
        let mut p = BlockPool::new(&r, r.blocks(), false).unwrap();
        // Free runs of one to seven blocks that cannot be joined.
        let runs: Vec<_> = (0..24_000).map(|i| (p.take_run(1 + i / 2 % 7, 0).unwrap(), 1 + i / 2 % 7)).collect();
        for &(at, n) in runs.iter().step_by(2) {
            p.give_run(at, n);
        }
        COMPARED.set(0);
        for _ in 0..1000 {
            let at = p.take_run(7, 0).unwrap();
            p.give_run(at, 7);
        }
        // Six operations on a tree of 12,000, whose nodes hold up to eleven.
        assert!(COMPARED.get() < 1000 * 6 * 60, "{} runs looked at", COMPARED.get());
        assert!(COMPARED.get() > 0);
    }

    #[test]
    fn releasing_moves_frontiers_back() {
        let mut p = pool();
        let mut blocks: Vec<_> = (0..20).map(|_| p.take().unwrap().0).collect();
        assert!(blocks[..16].iter().rev().map(|b| b.0).eq(0..16), "a group, from above to below");
        assert!(blocks[16..].iter().rev().map(|b| b.0).eq(28..32), "the next");
        // What remains in use lies below.
        blocks.sort_unstable();
        let run = p.take_run(30, 0).unwrap();
        for &b in &blocks[5..] {
            p.give(b, false);
        }
        p.give_run(run, 30);
        p.release(0);
        assert_eq!(p.free_singles(), 95);
        assert!(p.take_run(95, 0).is_some());
        p.give(blocks[4], false);
        p.give(blocks[2], false);
        p.give(blocks[1], false);
        p.release(0);
        let again: Vec<_> = (0..3).map(|_| p.take().unwrap().0.0).collect();
        assert_eq!((again, p.take()), (vec![2, 1, 4], None), "groups are kept when free blocks are sorted");
    }
}
