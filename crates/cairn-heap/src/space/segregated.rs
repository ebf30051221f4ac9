//! Segregated fits: blocks cut into cells of one size, each for objects of one sort.
//!
//! The problem: a collector that moves nothing must find room between the objects that live on, fast, and compiled code
//! wants to take it without a call. The idea: all cells of a block have one size, so any free one fits; the free cells
//! of a block are chained through their first words, a few at a time, when they are needed (*lazy sweeping*), and the
//! chain is handed out.
//!
//! ```text
//!  block   │ obj │ ──▶ │ obj │ obj │ ──▶ │  … ·  obj │ free │ free │ obj │ …
//!            already chained, handed out ▲           not swept yet: what is unmarked is free
//!                                     cursor
//! ```
//!
//! Three sorts lie apart: pairs, which have no header; leaves, whose blocks are never looked into; and all else. So the
//! block of a word says where its object begins, whether it is a pair, and whether there is anything to scan.
//!
//! Which cells hold objects is known exactly only when asked for ([`SegregatedSpace::settle`]): before the cursor all
//! of them but those in chains that nobody has taken yet; behind it those that are marked. Chains are handed back for
//! that. Start bits are the marks, so what a collection leaves unmarked is free without another look.
//!
//! Cost: a collection's part is a count of the marks of each block, some 30 ns. Sweeping is linear in the cells.

use crate::address::{Address, BLOCK_BYTES, BlockIndex, Span, WORD};
use crate::blocks::{BlockPool, BlockTable, Kind, State, poison};
use crate::marks::Marks;
use crate::space::own::{Holds, OwnSpaces, Place};
use cairn_layout::collector::{CELL_GRANULE, LARGEST_CELL};
use cairn_layout::object::{AllocKind, LARGE_BYTES};

/// Sizes up to here are multiples of the granule; larger ones fill a block with as many cells as possible.
const FINE: u64 = LARGEST_CELL;
/// How many cells a block has of the larger sizes.
const PER_BLOCK: [u64; 20] = [56, 48, 40, 36, 32, 28, 24, 20, 18, 16, 14, 12, 11, 10, 9, 8, 7, 6, 5, 4];
const FINE_SIZES: usize = (FINE / CELL_GRANULE) as usize;
const SIZES: usize = FINE_SIZES + PER_BLOCK.len();
/// Bytes chained at once, about: few enough to stay in the nearest cache until they are taken.
const CHAIN_BYTES: u64 = 4 << 10;

const _: () = assert!(BLOCK_BYTES / PER_BLOCK[PER_BLOCK.len() - 1] == LARGE_BYTES && FINE_SIZES * 16 == 512);

/// What the cells of a block hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sort {
    /// Pairs.
    Pairs,
    /// Objects whose first word says what they are.
    Headed,
    /// Objects whose first word says what they are, without references.
    Leaves,
}

/// Number of a class of cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClassId(u32);

impl ClassId {
    /// The class of an object's cells; objects are no larger than `LARGE_BYTES`.
    #[inline]
    pub const fn of(kind: AllocKind, bytes: u64) -> ClassId {
        let size = if bytes <= FINE {
            bytes.div_ceil(CELL_GRANULE) as u32 - 1
        } else {
            COARSE[((bytes - FINE - 1) / WORD) as usize] as u32
        };
        match kind {
            AllocKind::Pair => ClassId(0),
            AllocKind::Leaf => ClassId(1 + SIZES as u32 + size),
            AllocKind::Procedure | AllocKind::Scannable => ClassId(1 + size),
        }
    }
}

/// Bytes of the cells of each size.
const fn size_bytes(size: usize) -> u64 {
    if size < FINE_SIZES {
        (size as u64 + 1) * CELL_GRANULE
    } else {
        (BLOCK_BYTES / PER_BLOCK[size - FINE_SIZES]) & !(CELL_GRANULE - 1)
    }
}

/// The number of the size for each larger number of words.
const COARSE: [u8; ((LARGE_BYTES - FINE) / WORD) as usize] = {
    let mut table = [0; ((LARGE_BYTES - FINE) / WORD) as usize];
    let (mut i, mut size) = (0, FINE_SIZES);
    while i < table.len() {
        while size_bytes(size) < FINE + (i as u64 + 1) * WORD {
            size += 1;
        }
        table[i] = size as u8;
        i += 1;
    }
    table
};

/// Cells of one size and sort.
#[derive(Debug)]
pub struct Class {
    bytes: u64,
    sort: Sort,
    /// In the order in which they are swept; those without free cells first.
    blocks: Vec<BlockIndex>,
    /// Index of the block that is being swept, and where the cursor stands in it.
    open: usize,
    next: u64,
    /// Chains of free cells, by their first.
    chains: Vec<u64>,
}

impl Class {
    /// The start of the cell around `a`, in a block of this class at `block`; what is left behind the last cell is no
    /// cell.
    #[inline]
    pub fn cell_around(&self, block: Address, a: Address) -> Option<Address> {
        let i = a.offset_from(block) as u32 / self.bytes as u32;
        ((i as u64 + 1) * self.bytes <= BLOCK_BYTES).then(|| block.plus(i as u64 * self.bytes))
    }
    fn cells(&self, block: Address) -> impl Iterator<Item = Address> + use<> {
        let bytes = self.bytes;
        (0..BLOCK_BYTES / bytes).map(move |i| block.plus(i * bytes))
    }
}

/// What a collection has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Left {
    /// Bytes of cells in use.
    pub live: u64,
    /// Bytes of the blocks.
    pub held: u64,
}

/// See the module's header.
#[derive(Debug)]
pub struct SegregatedSpace {
    classes: Vec<Class>,
    blocks: u32,
    /// Bytes of the cells chained since the last collection.
    taken: u64,
}

impl Default for SegregatedSpace {
    fn default() -> Self {
        let class =
            |bytes, sort| Class { bytes, sort, blocks: vec![], open: 0, next: 0, chains: Vec::with_capacity(4) };
        let sorts = [Sort::Headed, Sort::Leaves];
        let others = sorts.into_iter().flat_map(|sort| (0..SIZES).map(move |size| class(size_bytes(size), sort)));
        let pairs = std::iter::once(class(CELL_GRANULE, Sort::Pairs));
        SegregatedSpace { classes: pairs.chain(others).collect(), blocks: 0, taken: 0 }
    }
}

impl SegregatedSpace {
    /// The class of the cells of this block.
    #[inline]
    pub fn class_of(&self, table: &BlockTable, block: BlockIndex) -> &Class {
        &self.classes[table.cold(block) as usize]
    }
    /// Bytes of all blocks.
    pub const fn bytes(&self) -> u64 {
        self.blocks as u64 * BLOCK_BYTES
    }
    /// Bytes of the cells chained since the last collection.
    pub const fn taken(&self) -> u64 {
        self.taken
    }

    // ---- handing out

    /// One cell, from a chain that is at hand.
    #[inline]
    pub fn pop(&mut self, class: ClassId) -> Option<Address> {
        let head = self.classes[class.0 as usize].chains.last_mut()?;
        let cell = Address(*head);
        // SAFETY: a chain in the list is never 0, so `cell` is a free cell, whose first word is the link.
        *head = unsafe { cell.load() };
        if *head == 0 {
            self.classes[class.0 as usize].chains.pop();
        }
        Some(cell)
    }
    /// A chain: one at hand, or made by sweeping. `None` if all blocks of the class have been swept.
    pub fn chain(&mut self, table: &BlockTable, marks: &Marks, class: ClassId) -> Option<Address> {
        if let Some(head) = self.classes[class.0 as usize].chains.pop() {
            return Some(Address(head));
        }
        self.sweep_some(table, marks, class)
    }
    /// Takes a chain back.
    pub fn give_back(&mut self, class: ClassId, head: Address) {
        self.classes[class.0 as usize].chains.push(head.0);
    }
    /// Adds a block to a class of which all are swept, if more than `spare` are left. Afterwards there is a chain.
    pub fn grow(&mut self, pool: &mut BlockPool, marks: &Marks, class: ClassId, spare: u32) -> Option<()> {
        let c = &mut self.classes[class.0 as usize];
        c.blocks.try_reserve(1).ok()?;
        if pool.free_singles() <= spare {
            return None;
        }
        let (b, _) = pool.take()?;
        let bits = if c.sort == Sort::Leaves { State::LEAF } else { 0 };
        pool.table.set(b, Kind::Segregated, bits);
        pool.table.set_cold(b, class.0);
        marks.clear_starts(pool.table.address_of(b));
        c.blocks.push(b);
        self.blocks += 1;
        Some(())
    }
    /// Moves the cursor on until a chain is found.
    fn sweep_some(&mut self, table: &BlockTable, marks: &Marks, class: ClassId) -> Option<Address> {
        let c = &mut self.classes[class.0 as usize];
        while let Some(&b) = c.blocks.get(c.open) {
            let start = table.address_of(b);
            let (mut first, mut last, mut n) = (0, Address(0), 0);
            while c.next + c.bytes <= BLOCK_BYTES && n * c.bytes < CHAIN_BYTES {
                let a = start.plus(c.next);
                c.next += c.bytes;
                if marks.is_set(a) {
                    continue;
                }
                if n == 0 {
                    first = a.0;
                } else {
                    // SAFETY: `n > 0`, so `last` is the free cell before, which is nobody's yet.
                    unsafe { last.store(a.0) };
                }
                (last, n) = (a, n + 1);
            }
            if n > 0 {
                // SAFETY: `n > 0`, so `last` is a free cell, which is nobody's yet.
                unsafe { last.store(0) };
                self.taken += n * c.bytes;
                return Some(Address(first));
            }
            (c.open, c.next) = (c.open + 1, 0);
        }
        None
    }

    // ---- collections

    /// Brings the start bits up to date: set where objects are. All chains have been handed back; they stay.
    pub fn settle(&mut self, table: &BlockTable, marks: &Marks) {
        for c in &self.classes {
            for (i, &b) in c.blocks.iter().enumerate().take(c.open + 1) {
                let start = table.address_of(b);
                let end = start.plus(if i < c.open { BLOCK_BYTES } else { c.next });
                for a in c.cells(start).take_while(|a| *a < end) {
                    marks.set(a);
                }
            }
            for &head in &c.chains {
                let mut a = Address(head);
                while a.0 != 0 {
                    marks.unset(a);
                    // SAFETY: `a` is not 0, so it is a free cell of a chain that was handed back, whose first word is
                    // the link.
                    a = Address(unsafe { a.load() });
                }
            }
        }
    }
    /// Before marking: no cell is marked, no chain in use.
    pub fn begin_marking(&mut self, table: &BlockTable, marks: &Marks) {
        for c in &mut self.classes {
            c.chains.clear();
            for &b in &c.blocks {
                let start = table.address_of(b);
                marks.keep_starts(start);
                marks.clear_starts(start);
            }
        }
    }
    /// After marking: what is unmarked is free, and empty blocks go back.
    pub fn end_marking(&mut self, pool: &mut BlockPool, marks: &Marks, poisoned: bool) -> Left {
        let mut left = Left::default();
        self.taken = 0;
        self.blocks = 0;
        for c in &mut self.classes {
            (c.open, c.next) = (0, 0);
            let bytes = c.bytes;
            // Full blocks come to the front, where nobody looks for free cells.
            let (mut kept, mut full) = (0, 0);
            for i in 0..c.blocks.len() {
                let b = c.blocks[i];
                let start = pool.table.address_of(b);
                let live = marks.count_starts(start);
                if live == 0 {
                    pool.give(b, false);
                    continue;
                }
                left.live += live * bytes;
                c.blocks[kept] = b;
                if live == BLOCK_BYTES / bytes {
                    c.blocks.swap(kept, full);
                    full += 1;
                } else if poisoned {
                    let cells = (0..BLOCK_BYTES / bytes).map(|i| start.plus(i * bytes));
                    cells.filter(|a| !marks.is_set(*a)).for_each(|a| poison(Span::new(a, a.plus(bytes))));
                }
                kept += 1;
            }
            c.blocks.truncate(kept);
            c.open = full;
            self.blocks += c.blocks.len() as u32;
        }
        left.held = self.bytes();
        left
    }
}

impl OwnSpaces for SegregatedSpace {
    #[inline]
    fn place(&self, table: &BlockTable, a: Address) -> Option<Place> {
        if !table.covers(a) {
            return None;
        }
        let block = table.block_of(a);
        if !table.state(block).is(Kind::Segregated) {
            return None;
        }
        let class = self.class_of(table, block);
        let start = class.cell_around(table.address_of(block), a)?;
        let holds = match class.sort {
            Sort::Pairs => Holds::Pair,
            Sort::Headed => Holds::Headed,
            Sort::Leaves => Holds::Leaf,
        };
        Some(Place { span: Span::new(start, start.plus(class.bytes)), holds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::Region;

    #[test]
    fn every_size_has_the_smallest_cell_that_fits() {
        for bytes in (16..=LARGE_BYTES).step_by(8) {
            let space = SegregatedSpace::default();
            for kind in [AllocKind::Procedure, AllocKind::Scannable, AllocKind::Leaf] {
                let ClassId(id) = ClassId::of(kind, bytes);
                let (class, smaller) = (&space.classes[id as usize], &space.classes[id as usize - 1]);
                assert!(class.bytes >= bytes && (bytes == 16 || bytes <= 16 || smaller.bytes < bytes), "{bytes}");
                assert_eq!(class.sort == Sort::Leaves, kind == AllocKind::Leaf);
                // A fifth of a large cell is unused, at most, and of a block by its cells.
                assert!(bytes <= 512 || class.bytes - bytes <= class.bytes / 5 + 8, "{bytes} in {}", class.bytes);
                assert!(BLOCK_BYTES % class.bytes <= BLOCK_BYTES / 16, "cells of {}", class.bytes);
            }
        }
        assert_eq!(ClassId::of(AllocKind::Pair, 16), ClassId(0));
    }

    #[test]
    fn cells_are_found_from_their_middle() {
        let space = SegregatedSpace::default();
        let block = Address(1 << 20);
        for class in &space.classes {
            for i in 0..BLOCK_BYTES / class.bytes {
                let cell = block.plus(i * class.bytes);
                for a in [cell, cell.plus(class.bytes - 1), cell.plus(class.bytes / 2)] {
                    assert_eq!(class.cell_around(block, a), Some(cell));
                }
            }
            let rest = BLOCK_BYTES % class.bytes;
            assert_eq!(class.cell_around(block, block.plus(BLOCK_BYTES - 1)).is_none(), rest > 0);
        }
    }

    /// Chains are taken and given back, objects live and die: no cell is ever in two hands.
    #[test]
    fn what_is_handed_out_is_free_and_what_is_settled_is_in_use() {
        let r = Region::reserve(28, None).unwrap();
        let (mut pool, marks) = (BlockPool::new(&r, r.blocks(), true).unwrap(), Marks::new(&r).unwrap());
        let mut space = SegregatedSpace::default();
        let mut used: std::collections::BTreeSet<u64> = Default::default();
        let mut n = 0u64;
        for round in 0..40u64 {
            let bytes = [16, 48, 512, 816, 8192][round as usize % 5];
            let class = ClassId::of(AllocKind::Scannable, bytes);
            for _ in 0..(100 << 10) / bytes {
                let cell = loop {
                    match space.pop(class) {
                        Some(cell) => break cell,
                        None => match space.chain(&pool.table, &marks, class) {
                            Some(chain) => space.give_back(class, chain),
                            None => space.grow(&mut pool, &marks, class, 0).unwrap(),
                        },
                    }
                };
                assert!(used.insert(cell.0), "{cell:?} handed out twice");
            }
            space.settle(&pool.table, &marks);
            let starts: u64 = space
                .classes
                .iter()
                .flat_map(|c| &c.blocks)
                .map(|b| marks.count_starts(pool.table.address_of(*b)))
                .sum();
            assert_eq!(starts, used.len() as u64);
            assert!(used.iter().all(|a| marks.is_set(Address(*a))));
            space.begin_marking(&pool.table, &marks);
            // A third dies; now and then nearly all.
            used.retain(|_| {
                n += 1;
                !n.is_multiple_of(3) && (round % 8 != 7 || n % 100 == 1)
            });
            let live: u64 = used
                .iter()
                .map(|a| {
                    assert!(marks.set(Address(*a)));
                    space.class_of(&pool.table, pool.table.block_of(Address(*a))).bytes
                })
                .sum();
            let left = space.end_marking(&mut pool, &marks, true);
            assert_eq!((left.live, left.held), (live, pool.bytes_in_use()));
        }
    }
}
