//! What chunks record of the sealed frames in them (frame strategy `chunks`): words below the red zone.
//!
//! ```text
//!  chunk │ its end │ low water │ live bytes │ … │ red zone │ free … │ sealed frames │
//! ```
//!
//! The low-water mark is kept while a chunk is not the current one; the live bytes are those that a collection of
//! everything has found, with its number, so nobody need clear them.

use crate::machine::audit::Segment;
use cairn_heap::address::Address;
use cairn_layout::limits::BELOW_RED_ZONE;
use cairn_layout::object::continuation::{STATE, state::PRIVATE};

/// Most continuations that are noted: a collection of a million threads is no time to need memory for them.
const MOST: usize = 1 << 16;

/// Where a chunk that is not the current one records the lowest address of sealed frames in it.
pub fn low_water(chunk: u64) -> *mut u64 {
    (chunk + 8) as *mut u64
}

/// Sets that mark, of a chunk in use.
pub fn set_low_water(chunk: u64, address: u64) {
    // SAFETY: callers pass a chunk in use, whose second word, below the red zone (see the assertion below), is the
    // mark.
    unsafe { *low_water(chunk) = address }
}

/// What a collection of everything has found in continuations.
#[derive(Default)]
pub struct Found {
    /// Which collection this is, counted from 1, modulo 2³².
    number: u32,
    /// Private continuations: chunk and object.
    pub private: Vec<(u64, u64)>,
}

/// Where a chunk records the live bytes of sealed frames in it: the number of a collection above, a count below.
pub fn live_word(chunk: u64) -> *mut u64 {
    (chunk + 16) as *mut u64
}

const _: () = assert!(BELOW_RED_ZONE >= 24);

impl Found {
    /// A collection begins: what was found before has been used, or is of no use.
    pub fn begin(&mut self) {
        self.number = self.number.wrapping_add(1);
        self.private.clear();
    }

    /// It has come to a continuation, which covers frames.
    ///
    /// # Safety
    /// `k` is a continuation object, at the place that it will have afterwards, and covers `s`.
    pub unsafe fn note(&mut self, k: Address, s: &Segment) {
        let live = self.live(s.chunk) + (s.base + 8 - s.sp);
        // SAFETY: `k` is a continuation object and `s` what it covers (`# Safety`), so `s.chunk` is in use; its third
        // word, below the red zone, is for this.
        unsafe {
            *live_word(s.chunk) = u64::from(self.number) << 32 | live.min(u64::from(u32::MAX));
            if self.private.len() < MOST && k.plus(8 * STATE).load() == PRIVATE {
                self.private.push((s.chunk, k.0));
            }
        }
    }

    /// Bytes of a chunk, which is in use, that the collection has found live.
    pub fn live(&self, chunk: u64) -> u64 {
        // SAFETY: callers pass a chunk in use; `enter_chunk` or `fresh` has initialised its third word.
        let word = unsafe { *live_word(chunk) };
        if word >> 32 == u64::from(self.number) { word & u64::from(u32::MAX) } else { 0 }
    }
}
