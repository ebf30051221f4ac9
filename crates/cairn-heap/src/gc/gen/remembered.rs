//! The remembered set: what a minor collection looks at outside the nursery.
//!
//! Only dirty cards, whole: what is dead there, or free, holds valid words too. Large and immortal objects are
//! clipped, since beyond them lies anything. The loops run over the blocks that existed when the collection began;
//! blocks filled meanwhile are scanned as grey.
//!
//! A dead object on a dirty card keeps alive what it refers to, until the next major collection. In return no old word,
//! dead or alive, refers to the nursery afterwards, so that the card may get dirty again later.

use super::trace::Tracer;
use crate::address::{Address, BLOCK_BYTES, BlockIndex, Span};
use crate::model::ObjectModel;

fn clip(card: Span, part: Span) -> Span {
    let start = card.start.max(part.start);
    Span::new(start, card.end.min(part.end).max(start))
}

impl<M: ObjectModel> Tracer<'_, M, false> {
    /// Scans the dirty cards of old, large and immortal objects, and cleans them.
    ///
    /// # Safety
    /// Filled parts of blocks hold valid words.
    pub(crate) unsafe fn visit_remembered(&mut self) {
        for i in 0..self.old.scannable().len() {
            let block = self.old.scannable()[i];
            // SAFETY: by the contract of this function; every word of a scannable block is valid.
            unsafe { self.dirty_cards(self.t.pool.table.address_of(block), |e, card| e.scan(card)) };
        }
        let extents: Vec<_> = self.immortal.extents().filter(|x| !x.leaf).map(|x| x.span).collect();
        let large: Vec<_> = (self.large.iter())
            .filter(|o| !o.leaf && !o.young)
            .map(|o| (o.block, o.bytes))
            .map(|(b, bytes): (BlockIndex, u64)| {
                let start = self.t.pool.table.address_of(b);
                Span::new(start, start.plus(bytes & !7))
            })
            .collect();
        for span in extents.into_iter().chain(large) {
            let mut block = Address(span.start.0 & !(BLOCK_BYTES - 1));
            while block < span.end {
                // SAFETY: as above.
                unsafe { self.dirty_cards(block, |e, card| e.scan(clip(card, span))) };
                block = block.plus(BLOCK_BYTES);
            }
        }
    }

    #[inline(always)]
    unsafe fn dirty_cards(&mut self, block: Address, mut f: impl FnMut(&mut Self, Span)) {
        let cards = self.t.cards;
        // SAFETY: the mutator stands still, and `block` is a block boundary.
        unsafe { cards.take_dirty(block, |card| f(self, card)) };
    }
}

impl<M: ObjectModel> Tracer<'_, M, true> {
    /// Scans every immortal object that holds values, and cleans its cards.
    ///
    /// # Safety
    /// As for `visit_remembered`.
    pub(crate) unsafe fn visit_immortals(&mut self) {
        let spans: Vec<_> = self.immortal.extents().filter(|x| !x.leaf).map(|x| x.span).collect();
        for span in spans {
            // SAFETY: by the contract of this function.
            unsafe { self.scan(span) };
            let mut block = Address(span.start.0 & !(BLOCK_BYTES - 1));
            while block < span.end {
                self.t.cards.clean_blocks(block, 1);
                block = block.plus(BLOCK_BYTES);
            }
        }
    }
}
