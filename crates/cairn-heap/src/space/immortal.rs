//! Objects that live as long as the heap and never move: the symbols of modules and their names.
//!
//! Bump allocation from below in blocks of two sorts, with values and without. Every object has a header.
//! Those with values are roots: a collector scans them through their cards, or whole.

use crate::address::{Address, BLOCK_BYTES, Span, blocks_for};
use crate::blocks::{BlockPool, Kind, State};
use crate::region::Cards;

/// A filled extent.
#[derive(Clone, Copy, Debug)]
pub struct ImmortalExtent {
    /// The filled part.
    pub span: Span,
    /// Holds no values.
    pub leaf: bool,
}

#[derive(Default)]
struct Side {
    full: Vec<Span>,
    start: Address,
    next: Address,
    end: Address,
}

/// See the module's header.
#[derive(Default)]
pub struct ImmortalSpace {
    sides: [Side; 2],
}

impl ImmortalSpace {
    /// Room for an object of `bytes`, a multiple of 8; the caller initialises it at once.
    pub fn alloc(
        &mut self,
        pool: &mut BlockPool,
        cards: &Cards,
        bytes: u64,
        leaf: bool,
        spare: u32,
    ) -> Option<Address> {
        let side = &mut self.sides[leaf as usize];
        let bits = if leaf { State::LEAF } else { 0 };
        let a = if side.end.0 - side.next.0 >= bytes {
            side.next
        } else if bytes > BLOCK_BYTES / 4 {
            let n = blocks_for(bytes);
            let b = pool.take_run(n, spare)?;
            pool.table.set_run(b, n, Kind::Immortal, Kind::ImmortalTail, bits);
            let a = pool.table.address_of(b);
            side.full.push(Span::new(a, a.plus(bytes)));
            cards.clean_blocks(a, n);
            cards.mark_span(Span::new(a, a.plus(bytes)));
            return Some(a);
        } else {
            if pool.free_singles() <= spare {
                return None;
            }
            let (b, _) = pool.take()?;
            pool.table.set(b, Kind::Immortal, bits);
            if side.start < side.next {
                side.full.push(Span::new(side.start, side.next));
            }
            side.start = pool.table.address_of(b);
            side.end = side.start.plus(BLOCK_BYTES);
            cards.clean_blocks(side.start, 1);
            side.start
        };
        side.next = a.plus(bytes);
        // Whatever is stored while initialising must be seen by the next collection.
        cards.mark_span(Span::new(a, a.plus(bytes)));
        Some(a)
    }
    /// All filled extents.
    pub fn extents(&self) -> impl Iterator<Item = ImmortalExtent> + '_ {
        [false, true].into_iter().flat_map(move |leaf| {
            let side = &self.sides[leaf as usize];
            let last = Span::new(side.start, side.next);
            side.full
                .iter()
                .copied()
                .chain((last.bytes() > 0).then_some(last))
                .map(move |span| ImmortalExtent { span, leaf })
        })
    }
}
