//! The remembered set: what a minor collection looks at outside the nursery.
//!
//! Only dirty cards, whole: what is dead there, or free, holds valid words too. Large and immortal objects are
//! clipped, since beyond them lies anything. The loops run over the blocks that existed when the collection began;
//! blocks filled meanwhile are scanned as grey.
//!
//! A dead object on a dirty card keeps alive what it refers to, until the next major collection. In return no old word,
//! dead or alive, refers to the nursery afterwards, so that the card may get dirty again later. Where objects may be
//! pinned that does not hold: a word of an object long dead may refer to a pinned one that has died with it, in a
//! block that is the nursery's again. There, and where words do not describe themselves, only objects with a start
//! bit are looked at.

use super::trace::Tracer;
use crate::address::{Address, BLOCK_BYTES, Span, WORD};
use crate::blocks::State;
use crate::client::{Client, RootVisitor};
use crate::marks::Starts;
use crate::model::{Located, ObjectModel};
use crate::region::CARD_BYTES;

impl<M: ObjectModel, C: Client> Tracer<'_, M, C, false> {
    /// Cards of the old space are scanned whole.
    const BY_WORD: bool = M::SELF_DESCRIBING && !Self::AMBIGUOUS;

    /// Scans the dirty cards of old, large and immortal objects, and cleans them.
    ///
    /// # Safety
    /// Filled parts of blocks hold valid words; the mutator stands still.
    pub(crate) unsafe fn visit_remembered(&mut self) {
        for i in 0..self.old.scannable().len() {
            let block = self.old.scannable()[i];
            // SAFETY: filled parts of blocks hold valid words (`# Safety`), so every word of a scannable block is
            // valid, but for raw ones, which `scan_mixed` leaves out.
            unsafe {
                self.dirty_cards(self.t.pool.table.address_of(block), |e, card| {
                    if !Self::BY_WORD {
                        e.scan_started(card)
                    } else if e.t.pool.table.state(block).has(State::MIXED) {
                        e.scan_mixed(card)
                    } else {
                        e.scan(card)
                    }
                })
            };
        }
        let (cells, pinned) = (self.cells, self.pinned);
        for (block, class) in cells.blocks(false) {
            let start = self.t.pool.table.address_of(block);
            // SAFETY: `cells_in` shows cells with a start bit, and these are initialised.
            unsafe {
                self.dirty_cards(start, |e, card| {
                    class.cells_in(start, card, e.t.marks, |a| class.scan(a, card, e));
                });
            }
        }
        for block in pinned.blocks() {
            // SAFETY: `pinned` says where its objects are, and these are whole.
            unsafe {
                self.dirty_cards(self.t.pool.table.address_of(block), |e, card| {
                    pinned.overlapping(card).for_each(|o| o.scan(e.model, card, e));
                });
            }
        }
        let extents: Vec<_> = self.immortal.extents().filter(|x| !x.leaf).map(|x| x.span).collect();
        let large: Vec<_> = (self.large.iter()).filter(|o| !o.leaf && !o.young).map(|o| o.span()).collect();
        for span in large {
            // Card by card: their blocks may be shared.
            let cards = self.t.cards;
            // SAFETY: an old large object is whole, and `part` lies within `span`, which is its own.
            cards.take_dirty_in(span, |part| unsafe {
                if M::SELF_DESCRIBING { self.scan(part) } else { self.scan_objects(span, part) }
            });
        }
        for span in extents {
            let mut block = Address(span.start.0 & !(BLOCK_BYTES - 1));
            while block < span.end {
                // SAFETY: `part` is cut to `span`, an immortal extent that is filled with valid words (`# Safety`).
                unsafe {
                    self.dirty_cards(block, |e, card| {
                        let part = card.intersection(span);
                        if M::SELF_DESCRIBING { e.scan(part) } else { e.scan_objects(span, part) }
                    })
                };
                block = block.plus(BLOCK_BYTES);
            }
        }
    }

    /// Scans the words of a card that do not belong to leaves.
    ///
    /// # Safety
    /// All these words are valid.
    unsafe fn scan_mixed(&mut self, card: Span) {
        const { assert!(CARD_BYTES == 64 * WORD) };
        let mut valid = !self.t.marks.raw_words(card.start);
        while valid != 0 {
            // SAFETY: the bit says that this word of the card is valid, for it belongs to no leaf.
            unsafe { self.slot(card.start.words().add(valid.trailing_zeros() as usize)) };
            valid &= valid - 1;
        }
    }

    /// Scans the objects with start bits that lie at least partly on a card.
    ///
    /// # Safety
    /// A whole object is where a start bit is.
    unsafe fn scan_started(&mut self, card: Span) {
        let mut starts = std::mem::take(&mut self.starts);
        if !card.start.0.is_multiple_of(BLOCK_BYTES) {
            starts.extend(self.t.marks.last_start(card.start.minus(WORD), Starts::Now));
        }
        self.t.marks.starts_in(card, |a| starts.push(a));
        for a in starts.drain(..) {
            // SAFETY: `a` has a start bit, and the bit beside it says whether it is a pair, so such an object starts
            // there.
            unsafe {
                let pair = self.t.marks.is_pair(a);
                let o = if pair { Located::pair::<M>(a) } else { Located::headed(self.model, a) };
                o.scan(self.model, card, self);
            }
        }
        self.starts = starts;
    }

    /// Calls `f` with each dirty card of a block, and cleans it.
    ///
    /// # Safety
    /// `block` is the start of a block; the mutator stands still.
    #[inline(always)]
    unsafe fn dirty_cards(&mut self, block: Address, mut f: impl FnMut(&mut Self, Span)) {
        let cards = self.t.cards;
        // SAFETY: `block` is the start of a block, and no thread but this one uses the cards, for the mutator stands
        // still.
        unsafe { cards.take_dirty(block, |card| f(self, card)) };
    }
}

impl<M: ObjectModel, C: Client> Tracer<'_, M, C, true> {
    /// Scans every immortal object that holds values, and cleans its cards.
    ///
    /// # Safety
    /// Filled parts of blocks hold valid words; the mutator stands still.
    pub(crate) unsafe fn visit_immortals(&mut self) {
        let spans: Vec<_> = self.immortal.extents().filter(|x| !x.leaf).map(|x| x.span).collect();
        for span in spans {
            // SAFETY: filled extents of immortal objects hold valid words (`# Safety`).
            unsafe { self.scan(span) };
            let mut block = Address(span.start.0 & !(BLOCK_BYTES - 1));
            while block < span.end {
                self.t.cards.clean_blocks(block, 1);
                block = block.plus(BLOCK_BYTES);
            }
        }
    }
}
