//! Pinned objects: young ones that became old where they were, because a word that may be a reference refers to them.
//!
//! They lie in the nursery's range. Whatever else was there has moved away or is dead, so the nursery goes on using
//! what is between them, except *islands*: the lines that they lie on, and gaps too short to be of use.
//!
//! ```text
//!   nursery  │ extent       │▒▒island▒▒│ extent │▒▒▒▒▒island▒▒▒▒▒▒▒│ extent                │
//!   pinned                    ███                ██  █████      ██
//! ```
//!
//! An entry per object holds its extent; a start bit is its mark, and tells it from the young objects of the same
//! block.

use crate::address::{Address, BlockIndex, Span};
use crate::blocks::{BlockTable, Kind, State, poison};
use crate::marks::{LINE_BYTES, Marks};
use crate::model::Located;
use crate::region::Cards;
use crate::space::own::{Holds, OwnSpaces, Place};
use std::collections::BTreeMap;

/// See the module's header.
#[derive(Default)]
pub struct PinnedSpace {
    objects: BTreeMap<Address, Located>,
    /// Objects by block; one that crosses from block to block counts in each.
    blocks: BTreeMap<u32, u32>,
    /// As of the last [`PinnedSpace::settle`].
    islands: Vec<Span>,
    /// Of the islands.
    bytes: u64,
}

/// Shorter gaps between objects belong to an island: the slow path of a heap check costs more than they are worth.
const SHORTEST_GAP: u64 = 4 << 10;

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
    /// What the nursery leaves out, in order.
    pub fn islands(&self) -> &[Span] {
        &self.islands
    }
    /// After objects were pinned, or forgotten: finds the islands, and cleans the cards, since nothing there refers
    /// to a young object.
    pub fn settle(&mut self, table: &BlockTable, cards: &Cards) {
        self.islands.clear();
        for o in self.objects.values() {
            let line = |a: Address| Address(a.0 & !(LINE_BYTES - 1));
            let (start, end) = (line(o.span().start), line(o.span().end.plus(LINE_BYTES - 1)));
            match self.islands.last_mut() {
                Some(last) if start.0 < last.end.0 + SHORTEST_GAP => last.end = end,
                _ => self.islands.push(Span::new(start, end)),
            }
        }
        self.bytes = self.islands.iter().map(|i| i.bytes()).sum();
        self.blocks().for_each(|b| cards.clean_blocks(table.address_of(b), 1));
    }
    /// The blocks.
    pub fn blocks(&self) -> impl Iterator<Item = BlockIndex> + '_ {
        self.blocks.keys().map(|&b| BlockIndex(b))
    }
    /// Before marking: no object is marked.
    pub fn begin_marking(&mut self, marks: &Marks) {
        self.objects.keys().for_each(|&a| marks.unset(a));
    }
    /// After marking: forgets what is unmarked; blocks without objects are the nursery's alone again.
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
    /// Fills what is free on the islands with poison.
    pub fn poison_gaps(&self) {
        for &island in &self.islands {
            let mut at = island.start;
            for o in self.overlapping(island) {
                poison(Span::new(at, o.span().start));
                at = o.span().end;
            }
            poison(Span::new(at, island.end));
        }
    }
}

impl OwnSpaces for PinnedSpace {
    fn place(&self, table: &BlockTable, a: Address) -> Option<Place> {
        if !table.covers(a) || !table.state(table.block_of(a)).is(Kind::Pinned) {
            return None;
        }
        self.around(a).map(|o| Place { span: o.span(), holds: Holds::One(*o) })
    }
    /// Islands are of the nursery's range.
    fn outside_pool(&self) -> u64 {
        self.bytes
    }
}
