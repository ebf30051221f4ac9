//! Cells: blocks divided into equal parts, which never move.
//!
//! A class of cells fixes their size and what their words are: *typed* cells are elements without headers, of which a
//! map says which words are references; of the words of *untyped* cells nothing is known. The block's cold word is
//! the number of the class, so that a reference, even to the middle of a cell, leads to its start and its map by
//! arithmetic.
//!
//! ```text
//!  block  │ cell │ cell │ cell │ cell │ … │ rest │        start bit set: in use, or not known to be dead
//! ```
//!
//! Cells are born old: their cards are dirty, so that what is stored while they are initialised is seen. A new cell
//! is the next whose start bit is clear; after marking, start bits are the marks, so sweeping costs nothing but a
//! look for empty blocks.

use crate::address::{Address, BLOCK_BYTES, BlockIndex, Span, WORD};
use crate::blocks::{BlockPool, BlockTable, Kind, poison};
use crate::client::{AmbiguousVisitor, RootVisitor};
use crate::marks::Marks;
use crate::region::Cards;

/// Number of a class of typed cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CellType(u32);

/// What the words of a cell are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CellWords {
    /// A bit for each word that is a reference.
    Typed(u64),
    /// Each may or may not be one.
    Untyped,
}

/// Cells of one size and type, and where the next free one is looked for.
#[derive(Debug)]
pub struct CellClass {
    bytes: u64,
    words: CellWords,
    blocks: Vec<BlockIndex>,
    /// Index of the block that is being filled, and the offset there.
    open: usize,
    next: u64,
}

impl CellClass {
    /// The start of the cell around `a`, in a block of this class at `block`. What is left of the block behind the last
    /// cell never has a start bit.
    pub const fn cell_around(&self, block: Address, a: Address) -> Address {
        block.plus(a.offset_from(block) / self.bytes * self.bytes)
    }
    /// Calls `f` with each cell in use, of the block at `block`, that lies at least partly in a span of the block.
    pub fn cells_in(&self, block: Address, span: Span, marks: &Marks, mut f: impl FnMut(Address)) {
        let mut offset = span.start.offset_from(block) / self.bytes * self.bytes;
        while offset + self.bytes <= BLOCK_BYTES && block.plus(offset) < span.end {
            if marks.is_set(block.plus(offset)) {
                f(block.plus(offset));
            }
            offset += self.bytes;
        }
    }
    /// Bytes of a cell.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
    /// What its words are.
    pub const fn words(&self) -> CellWords {
        self.words
    }
    /// Shows the visitor the words within `part` of the cell at `a` that refer to something, or may.
    ///
    /// # Safety
    /// It is an initialised cell of this class that nobody else uses meanwhile.
    pub unsafe fn scan<V: RootVisitor + AmbiguousVisitor>(&self, a: Address, part: Span, visitor: &mut V) {
        let part = Span::new(a, a.plus(self.bytes)).intersection(part);
        // SAFETY: an initialised cell of this class is at `a`, and nobody else uses it (`# Safety`); `part` is cut to
        // it.
        unsafe {
            match self.words {
                CellWords::Untyped => visitor.ambiguous_words(part.start.words(), (part.bytes() / WORD) as usize),
                CellWords::Typed(map) => {
                    let mut bits = map;
                    while bits != 0 {
                        let slot = a.plus(bits.trailing_zeros() as u64 * WORD);
                        bits &= bits - 1;
                        if part.contains(slot) {
                            visitor.slot(slot.words());
                        }
                    }
                }
            }
        }
    }
}

/// See the module's header.
#[derive(Debug, Default)]
pub struct CellSpace {
    classes: Vec<CellClass>,
}

impl CellSpace {
    /// Largest untyped object in a cell.
    pub const UNTYPED_MAX: u64 = 8 << 10;

    /// A class of typed cells of 2 to 64 words.
    pub fn define(&mut self, words: u32, references: u64) -> CellType {
        assert!((2..=64).contains(&words) && (words == 64 || references >> words == 0), "no such cells");
        CellType(self.add(words as u64 * WORD, CellWords::Typed(references)))
    }
    fn add(&mut self, bytes: u64, words: CellWords) -> u32 {
        self.classes.push(CellClass { bytes, words, blocks: Vec::new(), open: 0, next: 0 });
        self.classes.len() as u32 - 1
    }
    /// Room for a typed cell, cleared.
    pub fn alloc_typed(
        &mut self,
        pool: &mut BlockPool,
        cards: &Cards,
        marks: &Marks,
        ty: CellType,
        spare: u32,
    ) -> Option<Span> {
        self.alloc(pool, cards, marks, ty.0, spare)
    }
    /// Room for an untyped object of this size, cleared.
    pub fn alloc_untyped(
        &mut self,
        pool: &mut BlockPool,
        cards: &Cards,
        marks: &Marks,
        bytes: u64,
        spare: u32,
    ) -> Option<Span> {
        let bytes = CellSpace::round(bytes);
        let class = self.classes.iter().position(|c| c.words == CellWords::Untyped && c.bytes == bytes);
        let class = class.map_or_else(|| self.add(bytes, CellWords::Untyped), |i| i as u32);
        self.alloc(pool, cards, marks, class, spare)
    }
    /// The size of the cell for an untyped object: four sizes for each power of two, to keep the classes few.
    const fn round(bytes: u64) -> u64 {
        let step = if bytes <= 64 { 16 } else { bytes.next_power_of_two() / 8 };
        bytes.next_multiple_of(step)
    }
    fn alloc(
        &mut self,
        pool: &mut BlockPool,
        cards: &Cards,
        marks: &Marks,
        class: u32,
        spare: u32,
    ) -> Option<Span> {
        let c = &mut self.classes[class as usize];
        loop {
            if let Some(&b) = c.blocks.get(c.open) {
                let start = pool.table.address_of(b);
                while c.next + c.bytes <= BLOCK_BYTES {
                    let a = start.plus(c.next);
                    c.next += c.bytes;
                    if marks.set(a) {
                        let cell = Span::new(a, a.plus(c.bytes));
                        cards.mark_span(cell);
                        // SAFETY: `marks.set` has just found the cell without a start bit, so it was free, and now it
                        // is ours.
                        unsafe { std::ptr::write_bytes(a.bytes(), 0, c.bytes as usize) };
                        return Some(cell);
                    }
                }
                (c.open, c.next) = (c.open + 1, 0);
                continue;
            }
            if pool.free_singles() <= spare {
                return None;
            }
            let (b, _) = pool.take()?;
            let start = pool.table.address_of(b);
            pool.table.set(b, if c.words == CellWords::Untyped { Kind::Untyped } else { Kind::Typed }, 0);
            pool.table.set_cold(b, class);
            marks.clear(start);
            cards.clean_blocks(start, 1);
            c.blocks.push(b);
        }
    }
    /// The class of the cells of this block.
    pub fn class_of(&self, table: &BlockTable, block: BlockIndex) -> &CellClass {
        &self.classes[table.cold(block) as usize]
    }
    /// All blocks of typed, or of untyped, cells.
    pub fn blocks(&self, untyped: bool) -> impl Iterator<Item = (BlockIndex, &CellClass)> {
        (self.classes.iter())
            .filter(move |c| (c.words == CellWords::Untyped) == untyped)
            .flat_map(|c| c.blocks.iter().map(move |&b| (b, c)))
    }
    /// Before marking: forgets which cells are in use.
    pub fn begin_marking(&mut self, table: &BlockTable, marks: &Marks) {
        for &b in self.classes.iter().flat_map(|c| &c.blocks) {
            let start = table.address_of(b);
            marks.keep_starts(start);
            marks.clear(start);
        }
    }
    /// After marking: what is unmarked is free, and empty blocks go back.
    pub fn sweep(&mut self, pool: &mut BlockPool, marks: &Marks, poisoned: bool) {
        for c in &mut self.classes {
            (c.open, c.next) = (0, 0);
            let bytes = c.bytes;
            c.blocks.retain(|&b| {
                let start = pool.table.address_of(b);
                let mut live = 0;
                marks.starts_in(Span::new(start, start.plus(BLOCK_BYTES)), |_| live += 1);
                if live == 0 {
                    pool.give(b, false);
                } else if poisoned {
                    for a in (0..BLOCK_BYTES / bytes).map(|i| start.plus(i * bytes)) {
                        if !marks.is_set(a) {
                            poison(Span::new(a, a.plus(bytes)));
                        }
                    }
                }
                live > 0
            });
        }
    }
}
