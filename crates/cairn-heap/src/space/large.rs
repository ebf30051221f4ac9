//! Large objects: each in blocks of its own, never moved, marked instead of copied.
//!
//! An entry per object holds its extent and state; the block descriptor of the first block holds the index of
//! the entry. Objects that hold values are scanned word by word when marked; leaves never. Young objects are
//! those allocated since the last collection, so that a minor collection can free them too.

use crate::address::{Address, BlockIndex, Span, blocks_for};
use crate::blocks::{BlockPool, Kind, State};
use crate::model::RefKind;
use crate::region::Cards;

/// A large object.
#[derive(Clone, Copy, Debug)]
pub struct LargeObject {
    /// First block.
    pub block: BlockIndex,
    /// Size in bytes; 0 for a free entry.
    pub bytes: u64,
    /// Holds no values.
    pub leaf: bool,
    /// Allocated since the last collection.
    pub young: bool,
    /// Reached by the collection under way.
    pub marked: bool,
    /// Kind of the references to it.
    pub kind: RefKind,
}

/// See the module's header.
#[derive(Default)]
pub struct LargeSpace {
    objects: Vec<LargeObject>,
    free: Vec<u32>,
    young: Vec<u32>,
    young_bytes: u64,
    bytes: u64,
}

impl LargeSpace {
    /// Room for an object of `bytes`, uninitialised. `spare` single blocks stay available to others.
    pub fn alloc(
        &mut self,
        pool: &mut BlockPool,
        bytes: u64,
        kind: RefKind,
        leaf: bool,
        spare: u32,
    ) -> Option<Address> {
        let n = blocks_for(bytes);
        let block = pool.take_run(n, spare)?;
        let bits = State::YOUNG | if leaf { State::LEAF } else { 0 };
        pool.table.set_run(block, n, Kind::Large, Kind::LargeTail, bits);
        let object = LargeObject { block, bytes, leaf, young: true, marked: false, kind };
        let id = match self.free.pop() {
            Some(id) => {
                self.objects[id as usize] = object;
                id
            }
            None => {
                self.objects.push(object);
                self.objects.len() as u32 - 1
            }
        };
        pool.table.set_cold(block, id);
        self.young.push(id);
        self.young_bytes += bytes;
        self.bytes += bytes;
        Some(pool.table.address_of(block))
    }
    /// Marks the object at this block. Returns its words if it was unmarked and holds values.
    #[inline]
    pub fn mark(&mut self, pool: &BlockPool, block: BlockIndex) -> Option<Span> {
        let o = &mut self.objects[pool.table.cold(block) as usize];
        if o.marked {
            return None;
        }
        o.marked = true;
        let start = pool.table.address_of(block);
        if o.leaf { None } else { Some(Span::new(start, start.plus(o.bytes & !7))) }
    }
    /// After a minor collection: frees young objects that are unmarked, makes the others old.
    pub fn sweep_young(&mut self, pool: &mut BlockPool, cards: &Cards) {
        for id in std::mem::take(&mut self.young) {
            self.sweep_one(pool, cards, id);
        }
        self.young_bytes = 0;
    }
    /// After a major collection: frees every object that is unmarked, makes the others old.
    pub fn sweep_all(&mut self, pool: &mut BlockPool, cards: &Cards) {
        for id in 0..self.objects.len() as u32 {
            if self.objects[id as usize].bytes > 0 {
                self.sweep_one(pool, cards, id);
            }
        }
        self.young.clear();
        self.young_bytes = 0;
    }
    fn sweep_one(&mut self, pool: &mut BlockPool, cards: &Cards, id: u32) {
        let o = &mut self.objects[id as usize];
        let n = blocks_for(o.bytes);
        if o.marked {
            o.marked = false;
            o.young = false;
            for i in 0..n {
                pool.table.clear_bits(o.block.plus(i), State::YOUNG);
            }
            if !o.leaf {
                cards.clean_blocks(pool.table.address_of(o.block), n);
            }
        } else {
            let block = o.block;
            self.bytes -= o.bytes;
            o.bytes = 0;
            self.free.push(id);
            pool.give_run(block, n);
        }
    }
    /// The object whose first block this is.
    pub fn at(&self, pool: &BlockPool, block: BlockIndex) -> &LargeObject {
        &self.objects[pool.table.cold(block) as usize]
    }
    /// First block of the object around this block, which is one of a large object's.
    pub fn head(&self, pool: &BlockPool, block: BlockIndex) -> BlockIndex {
        let mut b = block.0;
        while pool.table.state(BlockIndex(b)).is(Kind::LargeTail) {
            b -= 1;
        }
        BlockIndex(b)
    }
    /// All objects.
    pub fn iter(&self) -> impl Iterator<Item = &LargeObject> {
        self.objects.iter().filter(|o| o.bytes > 0)
    }
    /// Bytes allocated since the last collection.
    pub const fn young_bytes(&self) -> u64 {
        self.young_bytes
    }
}
