//! Large objects: never moved, marked instead of copied.
//!
//! An entry per object holds its extent and state. Objects of more than [`SHARED_BYTES`] have blocks of their own, and
//! the descriptor of the first block holds the index of the entry. Smaller ones would waste too much of their last
//! block: they share *groups* of neighbouring blocks, in units of a card.
//!
//! ```text
//!  group   │ 1 1 1 1 1 1 … 1 │ 0 0 0 0 │ 2 2 2 … 2 │ 0 0 │      the entry + 1 of each unit's object, 0 where it is free
//! ```
//!
//! A group is as long as it has to be for objects of the size that it is made for to fill it to fifteen sixteenths. An
//! object goes to the first free place that is long enough. The blocks of a group have its number in their descriptors.
//!
//! Objects that hold values are scanned word by word when marked; leaves never. Young objects are those allocated since
//! the last collection, so that a minor collection can free them too.

use crate::address::{Address, BLOCK_BYTES, BlockIndex, Span, blocks_for};
use crate::blocks::{BlockPool, Kind, State, poison};
use crate::marks::Marks;
use crate::model::RefKind;
use crate::region::{CARD_BYTES, Cards};

/// Larger objects have blocks of their own.
pub const SHARED_BYTES: u64 = 64 << 10;
/// Units per block.
const UNITS: u64 = BLOCK_BYTES / CARD_BYTES;
/// From here on sizes, in units, are told apart by sixteens.
const SMALL_UNITS: usize = 16;
/// Classes of sizes.
const CLASSES: usize = SMALL_UNITS + SHARED_BYTES as usize / CARD_BYTES as usize / SMALL_UNITS;
/// While all objects that share blocks are no more than this, groups are as short as can be.
const FEW_BYTES: u64 = 256 << 10;

/// A large object.
#[derive(Clone, Copy, Debug)]
pub struct LargeObject {
    /// Where it starts.
    pub start: Address,
    /// Size in bytes; 0 for a free entry.
    pub bytes: u64,
    /// Holds no values.
    pub leaf: bool,
    /// Allocated since the last collection.
    pub young: bool,
    /// Reached by the collection under way.
    pub marked: bool,
    /// Marked, but its words are still to be looked at.
    deferred: bool,
    /// Kind of the references to it.
    pub kind: RefKind,
    /// Has blocks of its own.
    own: bool,
}

impl LargeObject {
    /// The words, or the bytes, of the object.
    pub fn span(&self) -> Span {
        Span::new(self.start, self.start.plus(self.bytes & !7))
    }
}

/// Blocks that several objects share.
#[derive(Default)]
struct Group {
    block: BlockIndex,
    blocks: u32,
    /// Of each unit the entry of its object + 1, or 0.
    owners: Vec<u32>,
    free: usize,
    /// No free place is longer than this.
    longest: usize,
}

impl Group {
    /// The first free place of this many units.
    fn place(&mut self, units: usize) -> Option<usize> {
        if self.longest < units {
            return None;
        }
        let (mut at, mut longest) = (0, 0);
        while let Some(skip) = self.owners[at..].iter().position(|o| *o == 0) {
            let start = at + skip;
            let len = self.owners[start..].iter().take_while(|o| **o == 0).take(units).count();
            if len == units {
                return Some(start);
            }
            longest = longest.max(len);
            at = start + len;
        }
        self.longest = longest;
        None
    }
}

fn units_for(bytes: u64) -> usize {
    bytes.div_ceil(CARD_BYTES) as usize
}

/// The class of objects of so many units, and whether these are the smallest in it: one for each size up to
/// [`SMALL_UNITS`], then one for every so many.
const fn class_of(units: usize) -> (usize, bool) {
    if units < SMALL_UNITS {
        (units, true)
    } else {
        (SMALL_UNITS - 1 + units / SMALL_UNITS, units.is_multiple_of(SMALL_UNITS))
    }
}

/// Blocks of a group for objects of this many units.
fn group_blocks(units: usize) -> u32 {
    let lost = |n: u64| n * UNITS % units as u64;
    let least = (units as u64).div_ceil(UNITS).max(4);
    (least..).find(|&n| lost(n) * 16 <= n * UNITS).expect("the remainder is less than an object") as u32
}

/// See the module's header.
#[derive(Default)]
pub struct LargeSpace {
    groups: Vec<Group>,
    free_groups: Vec<u32>,
    /// Bytes of the objects that share blocks.
    shared: u64,
    /// Bytes of the groups' blocks.
    grouped: u64,
    /// Groups before this one have no place for an object of this class.
    first_fit: [usize; CLASSES],
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
        let object = LargeObject {
            start: Address(0),
            bytes,
            leaf,
            young: true,
            marked: false,
            deferred: false,
            kind,
            own: true,
        };
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
        let shared = if bytes <= SHARED_BYTES { self.share(pool, bytes, id, spare) } else { None };
        let o = &mut self.objects[id as usize];
        if let Some(start) = shared {
            (o.start, o.own) = (start, false);
            self.shared += bytes;
        } else if let Some(block) = pool.take_run(blocks_for(bytes), spare) {
            // What holds values is written before it is used; a leaf may be a buffer that is never filled.
            if !leaf {
                pool.populate_run(block, blocks_for(bytes));
            }
            let bits = State::YOUNG | if leaf { State::LEAF } else { 0 };
            pool.table.set_run(block, blocks_for(bytes), Kind::Large, Kind::LargeTail, bits);
            pool.table.set_cold(block, id);
            o.start = pool.table.address_of(block);
        } else {
            o.bytes = 0;
            self.free.push(id);
            return None;
        }
        let start = o.start;
        self.young.push(id);
        self.young_bytes += bytes;
        self.bytes += bytes;
        Some(start)
    }
    /// The object at `a`, the last one made, is old from now on: minor collections leave it alone.
    pub fn is_born_old(&mut self, pool: &mut BlockPool, a: Address) {
        let id = self.young.pop().expect("an object was made");
        let o = &mut self.objects[id as usize];
        assert_eq!(o.start, a, "the last object");
        o.young = false;
        self.young_bytes -= o.bytes;
        if o.own {
            let block = pool.table.block_of(a);
            (0..blocks_for(o.bytes)).for_each(|i| pool.table.clear_bits(block.plus(i), State::YOUNG));
        }
    }
    /// A place in a group for an object, which is entered there.
    fn share(&mut self, pool: &mut BlockPool, bytes: u64, id: u32, spare: u32) -> Option<Address> {
        let units = units_for(bytes);
        let (class, exact) = class_of(units);
        let from = self.first_fit[class];
        let found = (from..self.groups.len()).find_map(|g| Some((g, self.groups[g].place(units)?)));
        // Within a class sizes differ: smaller ones may yet fit where this one does not.
        if exact {
            self.first_fit[class] = found.map_or(self.groups.len(), |(g, _)| g);
        }
        let (g, at) = match found {
            Some(found) => found,
            None => (self.new_group(pool, units, spare)?, 0),
        };
        let group = &mut self.groups[g];
        group.owners[at..at + units].fill(id + 1);
        group.free -= units;
        Some(pool.table.address_of(group.block).plus(at as u64 * CARD_BYTES))
    }
    fn new_group(&mut self, pool: &mut BlockPool, units: usize, spare: u32) -> Option<usize> {
        let few = blocks_for(units as u64 * CARD_BYTES);
        let n = if self.shared < FEW_BYTES { few } else { group_blocks(units) };
        let block = pool.take_run(n, spare)?;
        pool.table.set_run(block, n, Kind::Shared, Kind::Shared, 0);
        self.grouped += u64::from(n) * BLOCK_BYTES;
        let size = n as usize * UNITS as usize;
        let group = Group { block, blocks: n, owners: vec![0; size], free: size, longest: size };
        let g = match self.free_groups.pop() {
            Some(g) => {
                self.groups[g as usize] = group;
                g as usize
            }
            None => {
                self.groups.push(group);
                self.groups.len() - 1
            }
        };
        for i in 0..n {
            pool.table.set_cold(block.plus(i), g as u32);
        }
        self.first_fit.iter_mut().for_each(|f| *f = g.min(*f));
        Some(g)
    }
    /// Entry of the object around `a`, if there is one.
    #[inline]
    fn entry(&self, pool: &BlockPool, a: Address) -> Option<usize> {
        let mut b = pool.table.block_of(a);
        let state = pool.table.state(b);
        if state.is(Kind::Shared) {
            let group = &self.groups[pool.table.cold(b) as usize];
            let unit = a.offset_from(pool.table.address_of(group.block)) / CARD_BYTES;
            return group.owners[unit as usize].checked_sub(1).map(|id| id as usize);
        }
        while pool.table.state(b).is(Kind::LargeTail) {
            b.0 -= 1;
        }
        pool.table.state(b).is(Kind::Large).then(|| pool.table.cold(b) as usize)
    }
    /// Marks the object at `a`, if it is young, or all are to be. Returns its words if it was unmarked and holds
    /// values.
    #[inline]
    pub fn mark(&mut self, pool: &BlockPool, a: Address, all: bool) -> Option<Span> {
        let id = self.entry(pool, a)?;
        let o = &mut self.objects[id];
        if o.marked || !all && !o.young {
            return None;
        }
        o.marked = true;
        if o.leaf { None } else { Some(o.span()) }
    }
    /// Marked are the objects whose start bit is set; the bits are cleared.
    pub fn adopt_marks(&mut self, marks: &Marks) {
        for o in self.objects.iter_mut().filter(|o| o.bytes > 0) {
            o.marked = marks.is_set(o.start);
            marks.unset(o.start);
        }
    }
    /// Notes that the marked object which these are the words of is still to be looked at.
    pub fn defer(&mut self, pool: &BlockPool, words: Span) {
        let id = self.entry(pool, words.start).expect("words of a large object");
        self.objects[id].deferred = true;
    }
    /// The words of a deferred object, from this entry on, and the entry after it.
    pub fn take_deferred(&mut self, from: usize) -> Option<(Span, usize)> {
        let id = from + self.objects.get(from..)?.iter().position(|o| o.deferred)?;
        self.objects[id].deferred = false;
        Some((self.objects[id].span(), id + 1))
    }
    /// After a minor collection: frees young objects that are unmarked, makes the others old.
    pub fn sweep_young(&mut self, pool: &mut BlockPool, cards: &Cards) {
        for id in std::mem::take(&mut self.young) {
            self.sweep_one(pool, cards, id);
        }
        self.young_bytes = 0;
    }
    /// Makes all young objects old, while no others are young.
    pub fn keep_young(&mut self, pool: &mut BlockPool, cards: &Cards) {
        for &id in &self.young {
            self.objects[id as usize].marked = true;
        }
        self.sweep_young(pool, cards);
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
    /// Frees the object around `a`, if there is one: nothing refers to it.
    pub fn free(&mut self, pool: &mut BlockPool, cards: &Cards, a: Address) {
        let Some(id) = self.entry(pool, a).map(|id| id as u32) else { return };
        let o = self.objects[id as usize];
        if o.young {
            self.young.retain(|young| *young != id);
            self.young_bytes -= o.bytes;
        }
        self.sweep_one(pool, cards, id);
    }
    fn sweep_one(&mut self, pool: &mut BlockPool, cards: &Cards, id: u32) {
        let o = &mut self.objects[id as usize];
        let block = pool.table.block_of(o.start);
        if o.marked {
            o.marked = false;
            o.young = false;
            if o.own {
                for i in 0..blocks_for(o.bytes) {
                    pool.table.clear_bits(block.plus(i), State::YOUNG);
                }
            }
            if !o.leaf {
                cards.clean_span(o.span());
            }
            return;
        }
        let (start, bytes) = (o.start, std::mem::take(&mut o.bytes));
        self.bytes -= bytes;
        self.free.push(id);
        if o.own {
            return pool.give_run(block, blocks_for(bytes));
        }
        self.shared -= bytes;
        let g = pool.table.cold(block) as usize;
        let group = &mut self.groups[g];
        let at = (start.offset_from(pool.table.address_of(group.block)) / CARD_BYTES) as usize;
        group.owners[at..at + units_for(bytes)].fill(0);
        group.free += units_for(bytes);
        if group.free < group.owners.len() {
            group.longest = group.free;
            if pool.poisons() {
                poison(Span::new(start, start.plus(units_for(bytes) as u64 * CARD_BYTES)));
            }
            self.first_fit.iter_mut().for_each(|f| *f = g.min(*f));
        } else {
            self.grouped -= u64::from(group.blocks) * BLOCK_BYTES;
            pool.give_run(group.block, group.blocks);
            *group = Group::default();
            self.free_groups.push(g as u32);
        }
    }
    /// The object around `a`, which is in a block of this space.
    pub fn around(&self, pool: &BlockPool, a: Address) -> Option<&LargeObject> {
        self.entry(pool, a).map(|id| &self.objects[id])
    }
    /// The object in which lies what is so many bytes behind the start of the region, for words that say no more.
    pub fn holder(&self, pool: &BlockPool, offset: u64) -> Option<&LargeObject> {
        let a = pool.table.address_of(BlockIndex(0)).plus(offset);
        if pool.table.covers(a) { self.around(pool, a) } else { None }
    }
    /// All objects.
    pub fn iter(&self) -> impl Iterator<Item = &LargeObject> {
        self.objects.iter().filter(|o| o.bytes > 0)
    }
    /// Bytes of blocks in groups that further objects can fill.
    pub const fn hole_bytes(&self) -> u64 {
        self.grouped - self.shared
    }
    /// Bytes allocated since the last collection.
    pub const fn young_bytes(&self) -> u64 {
        self.young_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::Region;

    #[test]
    fn objects_that_share_blocks_waste_less_than_a_seventh() {
        let r = Region::reserve(30, None).unwrap();
        for bytes in (8200..=SHARED_BYTES).step_by(1208) {
            let mut pool = BlockPool::new(&r, r.blocks(), false).unwrap();
            let mut large = LargeSpace::default();
            let n = (16 << 20) / bytes;
            for _ in 0..n {
                large.alloc(&mut pool, bytes, RefKind::Object, true, 0).unwrap();
            }
            let waste = 1.0 - (n * bytes) as f64 / pool.bytes_in_use() as f64;
            assert!(waste < 0.14, "{bytes}: {waste}");
        }
    }

    /// How many of the pages of a span the system has provided.
    fn resident(span: Span) -> usize {
        let mut pages = vec![0u8; (span.bytes() / 4096) as usize];
        // SAFETY: the span lies in a mapping of ours, and `pages` has a byte for each of its pages.
        let r =
            unsafe { libc::mincore(span.start.0 as *mut libc::c_void, span.bytes() as usize, pages.as_mut_ptr()) };
        assert_eq!(r, 0);
        pages.iter().filter(|p| **p & 1 != 0).count()
    }

    #[test]
    fn pages_of_what_is_about_to_be_written_come_at_once() {
        let r = Region::reserve(28, None).unwrap();
        let (mut pool, cards) = (BlockPool::new(&r, r.blocks(), false).unwrap(), Cards::new(&r).unwrap());
        let mut large = LargeSpace::default();
        let bytes = 4 * BLOCK_BYTES;
        let pages = |n: u64| (n * BLOCK_BYTES / 4096) as usize;
        // A leaf may be a buffer that nobody fills.
        let leaf = large.alloc(&mut pool, bytes, RefKind::Object, true, 0).unwrap();
        assert_eq!(resident(Span::new(leaf, leaf.plus(bytes))), 0);
        // Its blocks count as resident from now on, and are the upper part of the next run; below is what is new.
        large.sweep_all(&mut pool, &cards);
        let more = large.alloc(&mut pool, 2 * bytes, RefKind::Object, false, 0).unwrap();
        assert_eq!(more.plus(bytes), leaf);
        assert_eq!(resident(Span::new(more, leaf)), pages(4), "Linux 5.14 or later");
        assert_eq!(resident(Span::new(leaf, leaf.plus(bytes))), 0);
        // What has been released is new again.
        large.sweep_all(&mut pool, &cards);
        pool.release(0);
        assert_eq!(resident(Span::new(more, more.plus(2 * bytes))), 0);
        let again = large.alloc(&mut pool, 2 * bytes, RefKind::Object, false, 0).unwrap();
        assert_eq!((again, resident(Span::new(more, more.plus(2 * bytes)))), (more, pages(8)));
    }

    #[test]
    fn small_objects_fill_their_groups_and_are_found_by_what_lies_in_them() {
        let r = Region::reserve(28, None).unwrap();
        let (mut pool, cards) = (BlockPool::new(&r, r.blocks(), false).unwrap(), Cards::new(&r).unwrap());
        let mut large = LargeSpace::default();
        let made: Vec<(Address, u64)> = (0..20_000u64)
            .map(|i| {
                let bytes = 16 + 8 * (i % 200);
                let a = large.alloc(&mut pool, bytes, RefKind::Object, true, 0).unwrap();
                large.is_born_old(&mut pool, a);
                (a, bytes)
            })
            .collect();
        let units: u64 = made.iter().map(|(_, bytes)| bytes.div_ceil(CARD_BYTES) * CARD_BYTES).sum();
        assert!(pool.bytes_in_use() < units + units / 8, "{} for {units}", pool.bytes_in_use());
        for (a, bytes) in &made {
            for inside in [0, 8, bytes - 1] {
                let offset = a.plus(inside).offset_from(r.base());
                assert_eq!(large.holder(&pool, offset).unwrap().start, *a);
            }
        }
        assert!(large.holder(&pool, r.span().bytes() + 8).is_none());
        // A minor collection leaves them alone, marked or not; a major one does not.
        assert_eq!(large.young_bytes(), 0);
        large.sweep_young(&mut pool, &cards);
        assert_eq!(large.iter().count(), made.len());
        made.iter().step_by(2).for_each(|(a, _)| assert!(large.mark(&pool, *a, true).is_none()));
        large.sweep_all(&mut pool, &cards);
        assert_eq!(large.iter().count(), made.len() / 2);
    }

    #[test]
    fn places_are_found_again_and_empty_groups_given_back() {
        let r = Region::reserve(28, None).unwrap();
        let (mut pool, cards) = (BlockPool::new(&r, r.blocks(), false).unwrap(), Cards::new(&r).unwrap());
        let mut large = LargeSpace::default();
        let sizes = [9_000u64, 20_000, 33_000, 64_000, 12_345, 50_001];
        let mut objects: Vec<(Address, u64)> = Vec::new();
        let mut most = 0;
        for round in 0..50u64 {
            for i in 0..100u64 {
                let bytes = sizes[((i * 7 + round) % 6) as usize];
                let a = large.alloc(&mut pool, bytes, RefKind::Object, true, 0).unwrap();
                let span = Span::new(a, a.plus(bytes));
                assert!(objects.iter().all(|&(b, n)| b >= span.end || b.plus(n) <= a), "overlap");
                assert_eq!(large.around(&pool, a.plus(bytes - 1)).unwrap().start, a);
                objects.push((a, bytes));
            }
            most = most.max(pool.bytes_in_use());
            // A third survives this round.
            let kept: Vec<_> = objects.drain(..).enumerate().filter(|(i, _)| i % 3 == 0).map(|(_, o)| o).collect();
            kept.iter().for_each(|(a, _)| assert!(large.mark(&pool, *a, true).is_none()));
            large.sweep_all(&mut pool, &cards);
            objects = kept;
        }
        let live = 150 * sizes.iter().sum::<u64>() / 6;
        assert!(most < live + live / 2, "{most} for {live}");
        large.sweep_all(&mut pool, &cards);
        assert_eq!(pool.bytes_in_use(), 0);
    }
}
