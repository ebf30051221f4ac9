//! The remembered set: what a minor collection looks at outside the nursery.
//!
//! Only dirty cards, clipped to the filled parts of their blocks, since free parts hold stale words. The loops
//! run over the blocks that existed when the collection began; blocks filled meanwhile are scanned as grey.

use super::evacuate::Evacuator;
use crate::address::{Address, BLOCK_BYTES, BlockIndex, Span};

fn clip(card: Span, part: Span) -> Span {
    let start = card.start.max(part.start);
    Span::new(start, card.end.min(part.end).max(start))
}

impl Evacuator<'_, false> {
    /// Scans the dirty cards of old, large and immortal objects, and cleans them.
    ///
    /// # Safety
    /// Descriptors are up to date; filled parts of blocks hold valid words.
    pub(crate) unsafe fn visit_remembered(&mut self) {
        for i in 0..self.old.scannable().len() {
            let block = self.old.scannable()[i];
            let (pairs, others) = self.pool.table.fill(block);
            // SAFETY: by the contract of this function; the clipped card lies in a filled part.
            unsafe {
                self.dirty_cards(self.pool.table.address_of(block), |e, card| {
                    e.scan(clip(card, pairs));
                    e.scan(clip(card, others));
                });
            }
        }
        let extents: Vec<_> = self.immortal.extents().filter(|x| !x.leaf).map(|x| x.span).collect();
        let large: Vec<_> = (self.large.iter())
            .filter(|o| !o.leaf && !o.young)
            .map(|o| (o.block, o.bytes))
            .map(|(b, bytes): (BlockIndex, u64)| {
                let start = self.pool.table.address_of(b);
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
        let cards = self.cards;
        // SAFETY: the mutator stands still, and `block` is a block boundary.
        unsafe { cards.take_dirty(block, |card| f(self, card)) };
    }
}

impl Evacuator<'_, true> {
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
                self.cards.clean_blocks(block, 1);
                block = block.plus(BLOCK_BYTES);
            }
        }
    }
}
