//! A space of survivors, filled by copying and emptied by copying away.
//!
//! Two block lists: *scannable* blocks, filled from both ends (pairs from below, everything else from above),
//! and *leaf* blocks, filled from below and never looked into. The space keeps, for the scannable block being
//! filled, how far each end has been scanned, and queues what is unscanned in blocks that filled up: together
//! the grey set of Cheney's algorithm, as ranges of words.
//!
//! ```text
//!   start      scan_lo      lo                     hi       scan_hi      end
//!   │ black pairs │ grey pairs │        free        │ grey others │ black others │
//! ```

use crate::address::{Address, BLOCK_BYTES, BlockIndex, PAIR_BYTES, Span};
use crate::blocks::{BlockPool, Kind, State};
use crate::region::Cards;

/// The free part of a block that is being filled.
#[derive(Clone, Copy, Debug)]
struct Hole {
    lo: Address,
    hi: Address,
    block: BlockIndex,
}

const NO_HOLE: Hole = Hole { lo: Address(0), hi: Address(0), block: BlockIndex(u32::MAX) };

impl Hole {
    #[inline(always)]
    fn fits(&self, bytes: u64) -> bool {
        self.hi.0 - self.lo.0 >= bytes
    }
    fn is_block(&self) -> bool {
        self.block.0 != u32::MAX
    }
}

/// See the module's header.
pub struct CopySpace {
    hole: Hole,
    leaf: Hole,
    scan_lo: Address,
    scan_hi: Address,
    grey: Vec<Span>,
    scannable: Vec<BlockIndex>,
    leaves: Vec<BlockIndex>,
    from: Vec<BlockIndex>,
}

impl Default for CopySpace {
    fn default() -> Self {
        CopySpace {
            hole: NO_HOLE,
            leaf: NO_HOLE,
            scan_lo: Address(0),
            scan_hi: Address(0),
            grey: Vec::new(),
            scannable: Vec::new(),
            leaves: Vec::new(),
            from: Vec::new(),
        }
    }
}

impl CopySpace {
    /// Room for a pair.
    ///
    /// Panics if the pool is exhausted, which the collector rules out by reserving room before it starts.
    #[inline(always)]
    pub fn alloc_pair(&mut self, pool: &mut BlockPool, cards: &Cards) -> Address {
        if !self.hole.fits(PAIR_BYTES) {
            self.next_hole(pool, cards);
        }
        let a = self.hole.lo;
        self.hole.lo = a.plus(PAIR_BYTES);
        a
    }
    /// Room for a scannable object or procedure of at most a block.
    #[inline(always)]
    pub fn alloc_scannable(&mut self, pool: &mut BlockPool, cards: &Cards, bytes: u64) -> Address {
        if !self.hole.fits(bytes) {
            self.next_hole(pool, cards);
        }
        self.hole.hi = self.hole.hi.minus(bytes);
        self.hole.hi
    }
    /// Room for a leaf of at most a block.
    #[inline(always)]
    pub fn alloc_leaf(&mut self, pool: &mut BlockPool, bytes: u64) -> Address {
        if !self.leaf.fits(bytes) {
            self.next_leaf(pool);
        }
        let a = self.leaf.lo;
        self.leaf.lo = a.plus(bytes);
        a
    }
    #[cold]
    #[inline(never)]
    fn next_hole(&mut self, pool: &mut BlockPool, cards: &Cards) {
        self.queue_current();
        self.sync(pool);
        let (block, lo, hi) = fresh(pool, Kind::Scannable, 0);
        cards.clean_blocks(lo, 1);
        self.hole = Hole { lo, hi, block };
        (self.scan_lo, self.scan_hi) = (lo, hi);
        self.scannable.push(block);
    }
    #[cold]
    #[inline(never)]
    fn next_leaf(&mut self, pool: &mut BlockPool) {
        self.sync(pool);
        let (block, lo, hi) = fresh(pool, Kind::Leaf, State::LEAF);
        self.leaf = Hole { lo, hi, block };
        self.leaves.push(block);
    }
    fn queue_current(&mut self) {
        for s in [Span::new(self.scan_lo, self.hole.lo), Span::new(self.hole.hi, self.scan_hi)] {
            if s.bytes() > 0 {
                self.grey.push(s);
            }
        }
        (self.scan_lo, self.scan_hi) = (self.hole.lo, self.hole.hi);
    }
    /// Queues words of another space for scanning.
    pub fn push_grey(&mut self, span: Span) {
        self.grey.push(span);
    }
    /// A range of grey words, the most recently copied first; `None` when nothing is grey. The range turns black.
    #[inline(always)]
    pub fn take_grey(&mut self) -> Option<Span> {
        if self.scan_lo < self.hole.lo {
            let s = Span::new(self.scan_lo, self.hole.lo);
            self.scan_lo = self.hole.lo;
            return Some(s);
        }
        if self.hole.hi < self.scan_hi {
            let s = Span::new(self.hole.hi, self.scan_hi);
            self.scan_hi = self.hole.hi;
            return Some(s);
        }
        self.grey.pop()
    }
    /// Writes the fill limits of the blocks being filled into their descriptors.
    pub fn sync(&mut self, pool: &mut BlockPool) {
        for h in [self.hole, self.leaf] {
            if h.is_block() {
                pool.table.set_fill(h.block, h.lo, h.hi);
            }
        }
    }
    /// The scannable blocks.
    pub fn scannable(&self) -> &[BlockIndex] {
        &self.scannable
    }
    /// The leaf blocks.
    pub fn leaves(&self) -> &[BlockIndex] {
        &self.leaves
    }
    /// Number of blocks, those to be evacuated not counted.
    pub fn blocks(&self) -> u32 {
        (self.scannable.len() + self.leaves.len()) as u32
    }
    /// Marks all blocks as to be evacuated and starts afresh.
    pub fn flip(&mut self, pool: &mut BlockPool) {
        debug_assert!(self.grey.is_empty() && self.from.is_empty());
        self.sync(pool);
        self.from.append(&mut self.scannable);
        self.from.append(&mut self.leaves);
        for &b in &self.from {
            pool.table.add_bits(b, State::FROM);
        }
        self.hole = NO_HOLE;
        self.leaf = NO_HOLE;
        (self.scan_lo, self.scan_hi) = (Address(0), Address(0));
    }
    /// Frees the blocks that were to be evacuated.
    pub fn release_from(&mut self, pool: &mut BlockPool) {
        for b in self.from.drain(..) {
            pool.give(b);
        }
        // Address order makes the walk over their cards sequential.
        self.scannable.sort_unstable();
    }
}

fn fresh(pool: &mut BlockPool, kind: Kind, bits: u8) -> (BlockIndex, Address, Address) {
    let block = pool.take().expect("room for survivors was reserved");
    pool.table.set(block, kind, bits);
    let lo = pool.table.address_of(block);
    let hi = lo.plus(BLOCK_BYTES);
    pool.table.set_fill(block, lo, hi);
    (block, lo, hi)
}
