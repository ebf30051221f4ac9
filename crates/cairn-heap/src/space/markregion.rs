//! A mark-region space: the home of survivors (after Immix, Blackburn & McKinley 2008).
//!
//! Objects are put into *holes*, runs of free lines, bump-allocated from both ends: pairs from below, everything
//! else from above. A fresh block is one large hole. After marking, lines without a live object are free again:
//! blocks with none are given back whole, the others are *recycled*, hole by hole in address order, before fresh
//! blocks are taken. What does not fit a small hole goes to an overflow block. Leaves have blocks of their own
//! and are never looked into.
//!
//! The space also keeps what a collector has still to scan among the objects put here: for the hole being filled how
//! far each end has been scanned, and queued ranges of words: the grey set of Cheney's algorithm.
//!
//! ```text
//!   start of hole   scan_lo      lo                     hi       scan_hi      end of hole
//!   │ black pairs │ grey pairs │        free        │ grey others │ black others │
//! ```
//!
//! Invariant: every word of a scannable block is valid, dead or not: it is zero, was a word of an object once, or
//! is poison. So dirty cards can be scanned whole. Blocks that the mutator filled (`gc/gen/born_old.rs`) may be
//! *mixed*: there, the raw words of leaves are noted, to be left out. Fresh blocks are cleared when their contents may
//! be anything else.
//!
//! Differences from Immix: 128-byte lines, exact line marks, holes filled from both ends, start bits kept.

use crate::address::{Address, BLOCK_BYTES, BlockIndex, PAIR_BYTES, Span};
use crate::blocks::{BlockPool, Kind, State, poison};
use crate::marks::{LINE_BYTES, LINES_PER_BLOCK, Marks};
use crate::region::Cards;
use cairn_layout::limits::CHECK_RESERVE;
use std::collections::HashSet;

/// Shorter runs of free lines are left alone.
const LEAST_LINES: usize = 4;
/// Runs of free lines that the mutator gets; shorter ones are not worth a heap check's slow path.
const MUTATOR_LINES: usize = (2 * CHECK_RESERVE / LINE_BYTES) as usize;
/// Where so much of a block's live lines is no live object, and holes cannot use it, it is *crumbled*.
const CRUMBLED_BYTES: u64 = BLOCK_BYTES / 4;
/// Larger objects may go to an overflow block; smaller ones fit every hole.
const MEDIUM_BYTES: u64 = LEAST_LINES as u64 * LINE_BYTES;

/// The free part of the hole that is being filled.
#[derive(Clone, Copy, Default)]
struct Hole {
    lo: Address,
    hi: Address,
}

impl Hole {
    #[inline(always)]
    fn fits(&self, bytes: u64) -> bool {
        self.hi.0 - self.lo.0 >= bytes
    }
}

/// Words to be scanned.
#[derive(Clone, Copy)]
pub struct Grey {
    /// Where they are.
    pub span: Span,
    /// The objects there were copied from above to below. Scanned in that order, they bring their own referents into
    /// the order in which Cheney's algorithm has them, so that who goes through a tree or a vector of records goes
    /// through memory in one direction (`docs/measurements`).
    pub downwards: bool,
}

/// Recyclable blocks, to be used from the last to the first, and the next line to look at in the last.
#[derive(Default)]
struct Recycler {
    blocks: Vec<BlockIndex>,
    line: usize,
    /// Bytes of the holes not handed out yet.
    bytes: u64,
    /// Blocks with holes long enough for the mutator.
    long: Vec<BlockIndex>,
}

/// A block that is mostly empty, but in places too small to be holes.
struct Crumbled {
    /// Of its objects.
    bytes: u64,
    /// Live ones. Others, and it was refilled since.
    lines: usize,
    block: BlockIndex,
}

impl Recycler {
    fn next(&mut self, pool: &BlockPool, marks: &Marks) -> Option<Hole> {
        while let Some(&b) = self.blocks.last() {
            let start = pool.table.address_of(b);
            if let Some(lines) = marks.free_lines(start, self.line, LEAST_LINES) {
                self.line = lines.1;
                return Some(self.take(start, lines, marks));
            }
            self.blocks.pop();
            self.line = 0;
        }
        None
    }
    /// A hole of at least `lines` lines, in a block with one of [`MUTATOR_LINES`].
    fn next_long(&mut self, pool: &BlockPool, marks: &Marks, lines: usize) -> Option<Hole> {
        while let Some(&b) = self.long.last() {
            let start = pool.table.address_of(b);
            if let Some(lines) = marks.free_lines(start, 0, lines) {
                return Some(self.take(start, lines, marks));
            }
            self.long.pop();
        }
        None
    }
    /// The hole of these lines of the block at `start`, which are not free any more for whoever looks for holes.
    fn take(&mut self, start: Address, lines: (usize, usize), marks: &Marks) -> Hole {
        let span = span_of(start, lines);
        self.bytes -= span.bytes();
        marks.take_lines(span);
        Hole { lo: span.start, hi: span.end }
    }
}

/// One half of the space: scannable blocks, or leaf blocks.
#[derive(Default)]
struct Half {
    blocks: Vec<BlockIndex>,
    recycler: Recycler,
}

/// See the module's header.
#[derive(Default)]
pub struct MarkRegionSpace {
    hole: Hole,
    scan_lo: Address,
    scan_hi: Address,
    overflow: Hole,
    overflow_scan: Address,
    leaf: Hole,
    leaf_overflow: Hole,
    grey: Vec<Grey>,
    scannable: Half,
    leaves: Half,
    crumbled: Vec<Crumbled>,
    /// While a collection marks, lines say nothing yet: only fresh blocks are used.
    fresh_only: bool,
}

/// Which blocks a major collection evacuates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Evacuate {
    /// Those that had fewer live lines than this after the last one, and were not refilled since; the emptiest, as many
    /// as there is room for copies of what they hold.
    Below {
        /// Live lines of a block.
        lines: usize,
        /// Bytes for copies.
        room: u64,
    },
    /// Those with even (0) or odd (1) numbers: a test of moving and staying objects side by side.
    EveryOther(u32),
}

/// What the slow paths of allocation need besides the space.
pub struct Tables<'a> {
    /// Where blocks come from.
    pub pool: &'a mut BlockPool,
    /// Cards are cleaned for fresh blocks.
    pub cards: &'a Cards,
    /// Starts and lines.
    pub marks: &'a Marks,
}

impl MarkRegionSpace {
    /// Room for a pair.
    ///
    /// Like all allocation here, panics if the pool is exhausted, which the collector rules out by reserving room
    /// before it starts.
    #[inline(always)]
    pub fn alloc_pair(&mut self, t: &mut Tables) -> Address {
        if !self.hole.fits(PAIR_BYTES) {
            self.next_hole(t);
        }
        let a = self.hole.lo;
        self.hole.lo = a.plus(PAIR_BYTES);
        t.marks.set(a);
        a
    }
    /// Room for a scannable object or procedure of at most a block.
    #[inline(always)]
    pub fn alloc_scannable(&mut self, t: &mut Tables, bytes: u64) -> Address {
        if !self.hole.fits(bytes) {
            if bytes > MEDIUM_BYTES {
                return self.alloc_overflow(t, bytes);
            }
            self.next_hole(t);
        }
        self.hole.hi = self.hole.hi.minus(bytes);
        t.marks.set(self.hole.hi);
        self.hole.hi
    }
    /// Room for a leaf of at most a block.
    #[inline(always)]
    pub fn alloc_leaf(&mut self, t: &mut Tables, bytes: u64) -> Address {
        if !self.leaf.fits(bytes) {
            if bytes > MEDIUM_BYTES {
                return self.alloc_leaf_overflow(t, bytes);
            }
            self.next_leaf(t);
        }
        let a = self.leaf.lo;
        self.leaf.lo = a.plus(bytes);
        t.marks.set(a);
        a
    }
    #[cold]
    #[inline(never)]
    fn next_hole(&mut self, t: &mut Tables) {
        self.queue_hole();
        let recycled = if self.fresh_only { None } else { self.scannable.recycler.next(t.pool, t.marks) };
        self.hole = recycled.unwrap_or_else(|| self.fresh(t, false));
        (self.scan_lo, self.scan_hi) = (self.hole.lo, self.hole.hi);
    }
    #[cold]
    #[inline(never)]
    fn next_leaf(&mut self, t: &mut Tables) {
        let recycled = if self.fresh_only { None } else { self.leaves.recycler.next(t.pool, t.marks) };
        self.leaf = recycled.unwrap_or_else(|| self.fresh(t, true));
    }
    #[cold]
    #[inline(never)]
    fn alloc_overflow(&mut self, t: &mut Tables, bytes: u64) -> Address {
        if !self.overflow.fits(bytes) {
            self.queue_overflow();
            self.overflow = self.fresh(t, false);
            self.overflow_scan = self.overflow.hi;
        }
        self.overflow.hi = self.overflow.hi.minus(bytes);
        t.marks.set(self.overflow.hi);
        self.overflow.hi
    }
    #[cold]
    #[inline(never)]
    fn alloc_leaf_overflow(&mut self, t: &mut Tables, bytes: u64) -> Address {
        if !self.leaf_overflow.fits(bytes) {
            self.leaf_overflow = self.fresh(t, true);
        }
        self.leaf_overflow.hi = self.leaf_overflow.hi.minus(bytes);
        t.marks.set(self.leaf_overflow.hi);
        self.leaf_overflow.hi
    }
    /// A hole of at least so many bytes for scannable objects, which others will fill.
    pub fn take_hole(&mut self, t: &mut Tables, bytes: u64) -> Span {
        let lines = MUTATOR_LINES.max(bytes.div_ceil(LINE_BYTES) as usize);
        let long = self.scannable.recycler.next_long(t.pool, t.marks, lines);
        let hole = long.unwrap_or_else(|| self.fresh(t, false));
        Span::new(hole.lo, hole.hi)
    }
    fn fresh(&mut self, t: &mut Tables, leaf: bool) -> Hole {
        let (b, valid) = t.pool.take().expect("room for survivors was reserved");
        let lo = t.pool.table.address_of(b);
        let hole = Hole { lo, hi: lo.plus(BLOCK_BYTES) };
        t.marks.clear(lo);
        // Blocks filled while a collection marks are known by their `YOUNG` bit until it sweeps.
        let young = if self.fresh_only { State::YOUNG } else { 0 };
        if leaf {
            t.pool.table.set(b, Kind::Leaf, State::LEAF | young);
            self.leaves.blocks.push(b);
        } else {
            if !valid {
                // SAFETY: `b` was just taken from the pool, so the block is ours and nobody uses it.
                unsafe { std::ptr::write_bytes(lo.bytes(), 0, BLOCK_BYTES as usize) };
            }
            t.pool.table.set(b, Kind::Scannable, young);
            t.cards.clean_blocks(lo, 1);
            self.scannable.blocks.push(b);
        }
        hole
    }
    fn queue(&mut self, start: Address, end: Address, downwards: bool) {
        if start < end {
            self.grey.push(Grey { span: Span::new(start, end), downwards });
        }
    }
    fn queue_hole(&mut self) {
        self.queue(self.scan_lo, self.hole.lo, false);
        self.queue(self.hole.hi, self.scan_hi, true);
        (self.scan_lo, self.scan_hi) = (self.hole.lo, self.hole.hi);
    }
    fn queue_overflow(&mut self) {
        self.queue(self.overflow.hi, self.overflow_scan, true);
        self.overflow_scan = self.overflow.hi;
    }
    /// Number of queued ranges.
    #[inline]
    pub fn queued(&self) -> usize {
        self.grey.len()
    }
    /// Queues words of any space for scanning.
    #[inline]
    pub fn push_grey(&mut self, span: Span) {
        self.grey.push(Grey { span, downwards: false });
    }
    /// A range of grey words, the most recently copied first; `None` when nothing is grey. The range turns black.
    #[inline(always)]
    pub fn take_grey(&mut self) -> Option<Grey> {
        if self.scan_lo < self.hole.lo {
            let span = Span::new(self.scan_lo, self.hole.lo);
            self.scan_lo = self.hole.lo;
            return Some(Grey { span, downwards: false });
        }
        if self.hole.hi < self.scan_hi {
            let span = Span::new(self.hole.hi, self.scan_hi);
            self.scan_hi = self.hole.hi;
            return Some(Grey { span, downwards: true });
        }
        self.grey.pop().or_else(|| {
            self.queue_overflow();
            self.grey.pop()
        })
    }
    /// The scannable blocks.
    #[inline]
    pub fn scannable(&self) -> &[BlockIndex] {
        &self.scannable.blocks
    }
    /// Number of blocks.
    pub fn blocks(&self) -> u32 {
        (self.scannable.blocks.len() + self.leaves.blocks.len()) as u32
    }
    /// Bytes of the holes that allocation will fill before it takes fresh blocks.
    pub fn hole_bytes(&self) -> u64 {
        self.scannable.recycler.bytes + self.leaves.recycler.bytes
    }
    /// Before marking: forgets starts and lines, and chooses the blocks to be evacuated, none of `stay`.
    pub fn begin_marking(&mut self, t: &mut Tables, evacuate: Evacuate, stay: &HashSet<BlockIndex>) {
        debug_assert!(self.grey.is_empty() && self.scan_lo == self.hole.lo && self.scan_hi == self.hole.hi);
        if let Evacuate::Below { mut lines, room } = evacuate {
            if self.hole_bytes() > u64::from(self.blocks()) * BLOCK_BYTES / 4 {
                // Nobody has filled the holes: they are too short for what comes.
                lines = lines.max(LINES_PER_BLOCK / 8 * 5);
            }
            let recyclable = self.scannable.recycler.blocks.iter().chain(&self.leaves.recycler.blocks);
            let counted = recyclable.map(|&b| (live_lines(t, b), b)).filter(|(live, _)| *live < lines);
            let sparse = counted.map(|(live, b)| (live as u64 * LINE_BYTES, b)).collect();
            let room = evacuate_emptiest(t, sparse, room);
            let crumbled = self.take_crumbled(t);
            evacuate_emptiest(t, crumbled, room.min(u64::from(self.blocks()) * BLOCK_BYTES / 8));
        }
        for half in [&mut self.scannable, &mut self.leaves] {
            if let Evacuate::EveryOther(parity) = evacuate {
                for &b in half.blocks.iter().filter(|b| b.0 & 1 == parity) {
                    t.pool.table.add_bits(b, State::FROM);
                }
            }
            half.recycler = Recycler::default();
            for &b in &half.blocks {
                let start = t.pool.table.address_of(b);
                t.marks.keep_starts(start);
                t.marks.clear(start);
            }
            for &b in half.blocks.iter().filter(|b| stay.contains(b)) {
                t.pool.table.clear_bits(b, State::FROM);
            }
        }
        (self.hole, self.overflow) = (Hole::default(), Hole::default());
        (self.leaf, self.leaf_overflow) = (Hole::default(), Hole::default());
        (self.scan_lo, self.scan_hi, self.overflow_scan) = Default::default();
        self.fresh_only = true;
    }
    /// The crumbled blocks, with the bytes of their objects, where they are many. No more are evacuated at once than an
    /// eighth of the space takes in copies, so that pauses and the room for copies stay small.
    fn take_crumbled(&mut self, t: &Tables) -> Vec<(u64, BlockIndex)> {
        let crumbled = std::mem::take(&mut self.crumbled).into_iter();
        let left: Vec<_> =
            crumbled.filter(|c| live_lines(t, c.block) == c.lines).map(|c| (c.bytes, c.block)).collect();
        if left.len() < self.blocks() as usize / 8 { Vec::new() } else { left }
    }
    /// After marking: frees blocks without live lines and evacuated blocks; finds the holes of the others. Returns
    /// the bytes of live lines.
    pub fn sweep(&mut self, t: &mut Tables, poisoned: bool) -> u64 {
        self.fresh_only = false;
        let mut crumbled = Vec::new();
        let mut live = 0;
        for half in [&mut self.scannable, &mut self.leaves] {
            let mut free = 0;
            let recycler = &mut half.recycler;
            half.blocks.retain(|&b| {
                let state = t.pool.table.state(b);
                let start = t.pool.table.address_of(b);
                let mixed = state.is(Kind::Scannable) && state.has(State::MIXED);
                if state.has(State::FROM) {
                    free_block(t, b, state);
                    return false;
                }
                if state.has(State::YOUNG) {
                    t.pool.table.clear_bits(b, State::YOUNG);
                    live += BLOCK_BYTES;
                    return true;
                }
                let lines = live_lines(t, b);
                if lines == 0 {
                    free_block(t, b, state);
                    return false;
                }
                live += lines as u64 * LINE_BYTES;
                let (mut line, mut longest) = (0, 0);
                while let Some(free_lines) = t.marks.free_lines(start, line, LEAST_LINES) {
                    let hole = span_of(start, free_lines);
                    free += hole.bytes();
                    longest = longest.max(free_lines.1 - free_lines.0);
                    line = free_lines.1;
                    if mixed {
                        t.marks.unset_raw(hole);
                        // SAFETY: no object lies on the lines of `hole`, which are free.
                        unsafe { std::ptr::write_bytes(hole.start.bytes(), 0, hole.bytes() as usize) };
                    }
                    if poisoned {
                        poison(hole);
                    }
                }
                if longest > 0 {
                    recycler.blocks.push(b);
                }
                // The mutator fills no blocks of leaves.
                if longest >= MUTATOR_LINES && state.is(Kind::Scannable) {
                    recycler.long.push(b);
                }
                let bytes = t.marks.live_bytes(start);
                if bytes + CRUMBLED_BYTES < lines as u64 * LINE_BYTES {
                    crumbled.push(Crumbled { bytes, lines, block: b });
                }
                true
            });
            half.recycler.bytes = free;
            // Address order makes the walk over cards sequential, and the last recyclable block comes first.
            half.blocks.sort_unstable();
            half.recycler.blocks.sort_unstable_by(|a, b| b.cmp(a));
        }
        self.crumbled = crumbled;
        live
    }
}

/// Has these blocks evacuated, the emptiest first, as long as there is room for copies of the bytes beside them: what
/// is left of it.
fn evacuate_emptiest(t: &mut Tables, mut blocks: Vec<(u64, BlockIndex)>, room: u64) -> u64 {
    blocks.sort_unstable();
    let mut left = room;
    for (bytes, b) in blocks {
        let Some(rest) = left.checked_sub(bytes) else { return 0 };
        left = rest;
        t.pool.table.add_bits(b, State::FROM);
    }
    left
}

/// Gives back a block without live objects.
fn free_block(t: &mut Tables, b: BlockIndex, state: State) {
    let mixed = state.is(Kind::Scannable) && state.has(State::MIXED);
    if mixed {
        let start = t.pool.table.address_of(b);
        t.marks.unset_raw(Span::new(start, start.plus(BLOCK_BYTES)));
    }
    t.pool.give(b, state.is(Kind::Scannable) && !mixed);
}

/// The words of these lines, the first and one past the last, of the block at `start`.
fn span_of(start: Address, (first, end): (usize, usize)) -> Span {
    let at = |line| start.plus(line as u64 * LINE_BYTES);
    Span::new(at(first), at(end))
}

fn live_lines(t: &Tables, b: BlockIndex) -> usize {
    t.marks.lines(t.pool.table.address_of(b)).iter().map(|&l| l as usize).sum()
}
