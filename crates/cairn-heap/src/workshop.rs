//! What the heap walker ([`crate::check`]) keeps from walk to walk.

use crate::address::{Address, Span, WORD};
use crate::model::{ObjectReference, RefKind};
use crate::region::Mapping;
use std::collections::HashMap;

/// What one walk knows about the words of the region, a byte each. Kept from walk to walk, empty between them.
///
/// ```text
///  bits 0–1: met as a reference to a pair (1), a procedure (2), an object (3)
///  bit 2: parsed as the start of an object      bit 3: of one that is immortal; bits 2 and 3 then stay
///  bit 4: of a pair, on a page
/// ```
pub(crate) struct Notes {
    map: Mapping,
    base: Address,
    /// Words with a note.
    noted: Vec<u64>,
}

impl Notes {
    pub(crate) const MET: u8 = 3;
    pub(crate) const START: u8 = 4;
    pub(crate) const IMMORTAL_START: u8 = 4 | 8;
    pub(crate) const PAIR: u8 = 16;

    pub(crate) fn new(region: Span) -> std::io::Result<Notes> {
        Ok(Notes { map: Mapping::reserve(region.bytes() / WORD)?, base: region.start, noted: Vec::new() })
    }
    pub(crate) fn met(r: ObjectReference) -> u8 {
        match r.kind() {
            RefKind::Pair => 1,
            RefKind::Procedure => 2,
            RefKind::Object => 3,
        }
    }
    #[inline(always)]
    pub(crate) fn at(&self, a: Address) -> u8 {
        debug_assert!((a.offset_from(self.base) / WORD) < self.map.bytes());
        // SAFETY: `a` is inside the region (asserted in debug builds), and the table has a byte for each of its words.
        unsafe { *self.map.base().bytes().add((a.offset_from(self.base) / WORD) as usize) }
    }
    #[inline(always)]
    pub(crate) fn add(&mut self, a: Address, note: u8) {
        let i = a.offset_from(self.base) / WORD;
        debug_assert!(i < self.map.bytes());
        // SAFETY: `a` is inside the region (asserted in debug builds), so `i` is below the size of the table, which is
        // ours alone.
        unsafe { *self.map.base().bytes().add(i as usize) |= note };
        if note != Notes::IMMORTAL_START {
            self.noted.push(i);
        }
    }
    pub(crate) fn clear(&mut self) {
        for i in self.noted.drain(..) {
            // SAFETY: `i` was noted by `add`, so it is below the size of the table, which is ours alone.
            unsafe {
                let byte = self.map.base().bytes().add(i as usize);
                *byte =
                    if *byte & Notes::IMMORTAL_START == Notes::IMMORTAL_START { Notes::IMMORTAL_START } else { 0 };
            }
        }
    }
}

/// What the checker keeps from walk to walk, so that none begins by asking for memory.
#[derive(Default)]
pub(crate) struct Workshop {
    pub(crate) notes: Option<Notes>,
    pub(crate) parsed: HashMap<Address, Result<(), String>>,
    pub(crate) immortal: HashMap<Address, Address>,
    pub(crate) queue: Vec<ObjectReference>,
}
