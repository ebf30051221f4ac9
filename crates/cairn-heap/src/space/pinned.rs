//! Pinned objects: young ones that became old where they were, because a word that may be a reference refers to them.
//!
//! They lie in blocks of the nursery's range, which the nursery leaves out until the last pinned object there has died;
//! whatever else was in such a block has moved away or is dead. An entry per object holds its extent; a start bit is its
//! mark. The grain is the object for what stays and lives, the block for what the nursery cannot use meanwhile.

use crate::address::{Address, BLOCK_BYTES, BlockIndex, Span};
use crate::blocks::{BlockTable, Kind, State, poison};
use crate::marks::Marks;
use crate::model::Located;
use crate::region::Cards;
use std::collections::BTreeMap;

/// See the module's header.
#[derive(Default)]
pub struct PinnedSpace {
    objects: BTreeMap<Address, Located>,
    /// Objects by block; one that crosses from block to block counts in each.
    blocks: BTreeMap<u32, u32>,
}

impl PinnedSpace {
    fn blocks_of(table: &BlockTable, o: &Located) -> std::ops::RangeInclusive<u32> {
        let s = o.span();
        table.block_of(s.start).0..=table.block_of(s.end.minus(1)).0
    }
    /// From now on this object, in the nursery's range, stays where it is. Was it to move?
    pub fn pin(&mut self, table: &mut BlockTable, marks: &Marks, o: Located) -> bool {
        let start = o.reference.address();
        if !marks.set(start) {
            return false;
        }
        self.objects.insert(start, o);
        for b in PinnedSpace::blocks_of(table, &o) {
            *self.blocks.entry(b).or_insert(0) += 1;
            table.set(BlockIndex(b), Kind::Pinned, 0);
        }
        true
    }
    /// The object around `a`.
    pub fn around(&self, a: Address) -> Option<&Located> {
        self.objects.range(..=a).next_back().map(|(_, o)| o).filter(|o| o.span().contains(a))
    }
    /// The objects that lie at least partly in this span, in order.
    pub fn overlapping(&self, span: Span) -> impl Iterator<Item = &Located> {
        let first = self.around(span.start).map_or(span.start, |o| o.reference.address());
        self.objects.range(first..span.end).map(|(_, o)| o)
    }
    /// Runs of the blocks that the nursery leaves out, in order.
    pub fn islands(&self, table: &BlockTable) -> Vec<Span> {
        let mut islands: Vec<Span> = Vec::new();
        for &b in self.blocks.keys() {
            let start = table.address_of(BlockIndex(b));
            match islands.last_mut() {
                Some(last) if last.end == start => last.end = start.plus(BLOCK_BYTES),
                _ => islands.push(Span::new(start, start.plus(BLOCK_BYTES))),
            }
        }
        islands
    }
    /// The blocks.
    pub fn blocks(&self) -> impl Iterator<Item = BlockIndex> + '_ {
        self.blocks.keys().map(|&b| BlockIndex(b))
    }
    /// Bytes of the blocks.
    pub fn bytes(&self) -> u64 {
        self.blocks.len() as u64 * BLOCK_BYTES
    }
    /// Before marking: no object is marked.
    pub fn begin_marking(&mut self, marks: &Marks) {
        self.objects.keys().for_each(|&a| marks.unset(a));
    }
    /// After marking: forgets what is unmarked; blocks without objects are the nursery's again.
    pub fn sweep(&mut self, table: &mut BlockTable, marks: &Marks) {
        let blocks = &mut self.blocks;
        self.objects.retain(|&a, o| {
            let live = marks.is_set(a);
            if !live {
                for b in PinnedSpace::blocks_of(table, o) {
                    let n = blocks.get_mut(&b).expect("blocks of pinned objects are counted");
                    *n -= 1;
                    if *n == 0 {
                        blocks.remove(&b);
                        table.set(BlockIndex(b), Kind::Nursery, State::FROM | State::YOUNG);
                    }
                }
            }
            live
        });
    }
    /// Cleans the cards of all blocks: nothing there refers to a young object.
    pub fn clean_cards(&self, table: &BlockTable, cards: &Cards) {
        self.blocks().for_each(|b| cards.clean_blocks(table.address_of(b), 1));
    }
    /// Fills what is free in the blocks with poison.
    pub fn poison_gaps(&self, table: &BlockTable) {
        for island in self.islands(table) {
            let mut at = island.start;
            for o in self.overlapping(island) {
                poison(Span::new(at, o.span().start));
                at = o.span().end;
            }
            poison(Span::new(at, island.end));
        }
    }
}
