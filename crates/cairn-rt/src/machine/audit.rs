//! The auditor: a second reading of frames, under zeal.
//!
//! The problem: a live map that forgets a slot shows much later, as a stale word in some frame. The idea: read the
//! frames once more, by code that shares nothing with [`super::frame_reader`], and believe nothing. Before a
//! descriptor is read, the return address must lie in the code of a loaded module. The descriptor must be one of a
//! return point, its sizes and maps must agree, the frames must fill their segment exactly, and below it must be an
//! underflow frame. Live slots go to the heap's checker, which demands valid values. All other slots are *spoiled*:
//! they get a word that is no value, so a slot that is used although its map does not show it is found at its first
//! use.
//!
//! ```text
//!   sp ──▶ │ return address │ … live: checked … dead: spoiled … │ return address │ … │ underflow ◀── base
//!           known? RETURN? size? map within size?                 known? …
//! ```
//!
//! Cost: linear in the frames of the segments that a walk of the heap meets.

use cairn_heap::RootVisitor;
use cairn_heap::address::Address;
use cairn_heap::blocks::POISON;
use cairn_layout::code::{
    LIVE_HIGH, LIVE_LOW, MV_ENTRY, RETURN_PREFIX, SHAPE, flags, mv_entry, shape_words, target,
};
use cairn_layout::limits::SHORT_MAP_WORDS;
use std::collections::HashMap;
use std::ops::Range;

/// A segment of frames, as somebody claims it to be.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// The chunk it lies in.
    pub chunk: u64,
    /// The youngest frame.
    pub sp: u64,
    /// The word after the oldest one.
    pub base: u64,
}

/// See the module's header.
#[derive(Debug, Default)]
pub struct Auditor {
    /// Address ranges of the modules' code, sorted.
    code: Vec<(u64, u64)>,
    /// Code addresses found good; of those that were found to be return points, the words of their frames, of others 0.
    known: HashMap<u64, u64>,
}

impl Auditor {
    /// An auditor that knows these ranges of code.
    #[cfg(test)]
    pub fn new(mut code: Vec<(u64, u64)>) -> Auditor {
        code.sort_unstable();
        Auditor { code, known: HashMap::new() }
    }

    /// Another module's code.
    pub fn add(&mut self, code: Range<u64>) {
        let at = self.code.partition_point(|(start, _)| *start < code.start);
        self.code.insert(at, (code.start, code.end));
    }

    fn is_code(&self, address: u64) -> bool {
        let i = self.code.partition_point(|(_, end)| *end <= address);
        self.code.get(i).is_some_and(|(start, _)| *start <= address)
    }

    /// Is this the address of code with a descriptor?
    pub fn code(&mut self, code: u64) -> Result<(), String> {
        if self.known.contains_key(&code) {
            return Ok(());
        }
        if !code.is_multiple_of(8) || !self.is_code(code) || !self.is_code(code - RETURN_PREFIX) {
            return Err(format!("{code:#x} is no code address"));
        }
        self.known.insert(code, 0);
        Ok(())
    }

    /// Checks the frames of a segment, hands their live slots to the visitor, spoils the others.
    ///
    /// # Safety
    /// `chunk_end` is one past the end of the chunk, which is readable and writable; nothing else uses it meanwhile.
    pub unsafe fn segment<V: RootVisitor>(
        &mut self,
        s: Segment,
        chunk_end: u64,
        visitor: &mut V,
    ) -> Result<(), String> {
        if !(s.chunk < s.sp && s.sp <= s.base && s.base < chunk_end && s.sp.is_multiple_of(8)) {
            return Err(format!("{s:x?} does not lie in its chunk, which ends at {chunk_end:#x}"));
        }
        let mut sp = s.sp;
        while sp < s.base {
            let at = |what: &str| format!("frame at {sp:#x} of {s:x?}: {what}");
            // SAFETY: `sp` lies within the chunk, which can be read and written (`# Safety`). `return_point` has
            // checked `code` before its descriptor is read, and `words` are compared with the segment's.
            let words = unsafe {
                let code = Address(sp).load();
                let words = self.return_point(code).map_err(|e| at(&e))?;
                if words > (s.base - sp) / 8 {
                    return Err(at(&format!("its {words} words reach beyond the segment")));
                }
                let shape = word(code, SHAPE);
                if shape & flags::UNDERFLOW != 0 || shape & flags::HALT != 0 && sp + 8 * words != s.base {
                    return Err(at("an underflow or outermost frame where there cannot be one"));
                }
                for i in 1..words {
                    let slot = Address(sp + 8 * i);
                    if is_live(code, words, i) {
                        visitor.slot(slot.words());
                    } else {
                        slot.store(POISON);
                    }
                }
                words
            };
            sp += 8 * words;
        }
        // SAFETY: `s.base` is within the chunk, see above; `self.code(end)` has checked `end` before its descriptor is
        // read.
        let end = unsafe { Address(s.base).load() };
        if self.code(end).is_err() || unsafe { word(end, SHAPE) } & flags::UNDERFLOW == 0 {
            return Err(format!("{s:x?} is not followed by an underflow frame"));
        }
        Ok(())
    }

    /// Size in words of the frames that return to `code`, whatever that is; an error if it is no return address.
    pub fn return_point(&mut self, code: u64) -> Result<u64, String> {
        if let Some(&words) = self.known.get(&code)
            && words > 0
        {
            return Ok(words);
        }
        self.code(code).map_err(|e| format!("its return address {e}"))?;
        // SAFETY: `self.code(code)` has just found that a descriptor stands before `code`.
        let words = unsafe { self.frame(code) }.map_err(|e| format!("its return point {code:#x} {e}"))?;
        self.known.insert(code, words);
        Ok(words)
    }

    /// Size in words of the frames that return to `code`, if its descriptor is that of a return point.
    ///
    /// # Safety
    /// [`Auditor::code`] has found that a descriptor stands before `code`.
    unsafe fn frame(&self, code: u64) -> Result<u64, String> {
        // SAFETY: `self.code` has found that a descriptor stands before `code` (`# Safety`).
        let (shape, mv) = unsafe { (word(code, SHAPE), word(code, MV_ENTRY)) };
        let mv = mv_entry(code, shape, mv);
        let words = shape_words(shape);
        if shape & flags::RETURN == 0 || shape >> 32 & !(flags::OF_RETURNS >> 32) != 0 || words == 0 {
            return Err(format!("has the shape {shape:#x}, not that of a return point"));
        }
        if !self.is_code(mv) {
            return Err(format!("has the multiple-value entry {mv:#x}, which is no code"));
        }
        if (shape & flags::LONG_MAP != 0) != (words > SHORT_MAP_WORDS) {
            return Err(format!("has the wrong kind of live map for {words} words"));
        }
        // The map's last words may speak of more than the frame has.
        let mapped = words.next_multiple_of(64).max(if words > SHORT_MAP_WORDS { 0 } else { SHORT_MAP_WORDS });
        // SAFETY: the shape is that of a return point, and its map's words have `mapped` bits.
        let stray = unsafe { is_live(code, words, 0) || (words..mapped).any(|i| is_live(code, words, i)) };
        if stray { Err("has a live map that shows words which are no slots".into()) } else { Ok(words) }
    }
}

/// Does the live map of return point `code`, for frames of this many words, show word `i`?
///
/// # Safety
/// The descriptor of `code` is that of a return point, and `i` is within its map.
unsafe fn is_live(code: u64, words: u64, i: u64) -> bool {
    // SAFETY: `code` has the descriptor of a return point, and `i` is within its map (`# Safety`).
    let map = unsafe {
        match (words > SHORT_MAP_WORDS, i / 64) {
            (true, n) => Address(target(code, word(code, LIVE_HIGH)) + 8 * n).load(),
            (false, 0) => word(code, LIVE_LOW),
            (false, _) => word(code, LIVE_HIGH),
        }
    };
    map >> (i % 64) & 1 != 0
}

/// A word of a descriptor.
///
/// # Safety
/// Before `code` stands a descriptor, of which a word is at `offset`.
unsafe fn word(code: u64, offset: i64) -> u64 {
    // SAFETY: `code` has a descriptor word at `offset` (`# Safety`).
    unsafe { Address(code.wrapping_add_signed(offset)).load() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_layout::Value;

    /// A stack of three frames of five words, a halt frame, an underflow frame; descriptors in data that passes for
    /// code.
    struct Stack {
        /// Three descriptors of 7 words each, the last word standing for the code: plain, underflow, halt.
        code: Box<[u64; 21]>,
        chunk: Vec<u64>,
    }

    struct Seen(Vec<u64>);
    impl RootVisitor for Seen {
        unsafe fn slot(&mut self, slot: *mut u64) {
            // SAFETY: `slot` is a word of the stack under test, as the auditor promises (`RootVisitor::slot`).
            self.0.push(unsafe { *slot });
        }
        fn mark_chunk(&mut self, _: Address) {}
    }

    const WORDS: usize = 40;

    impl Stack {
        fn new() -> Stack {
            let mut s = Stack { code: Box::new([0; 21]), chunk: vec![Value::fixnum(7).0; WORDS] };
            let kinds = [5, 1 | flags::UNDERFLOW, 1 | flags::HALT];
            for (k, shape) in kinds.into_iter().map(|k| k | flags::RETURN).enumerate() {
                let code = s.address(k);
                s.code[7 * k + 2] = code; // multiple-value entry
                s.code[7 * k + 5] = shape;
            }
            s.code[4] = 0b01010; // slots 1 and 3
            for frame in 0..3 {
                let at = WORDS - 2 - 5 * (frame + 1);
                s.chunk[at] = s.address(0);
            }
            s.chunk[WORDS - 2] = s.address(2);
            s.chunk[WORDS - 1] = s.address(1);
            s
        }
        fn address(&self, k: usize) -> u64 {
            &raw const self.code[7 * k + 6] as u64
        }
        fn audit(&mut self) -> Result<Vec<u64>, String> {
            let start = self.code.as_ptr() as u64;
            let mut auditor = Auditor::new(vec![(start, start + 8 * 21)]);
            let chunk = self.chunk.as_mut_ptr() as u64;
            let end = chunk + 8 * WORDS as u64;
            let s = Segment { chunk, sp: end - 8 * 17, base: end - 8 };
            let mut seen = Seen(vec![]);
            // SAFETY: the segment lies in `self.chunk`, whose end is `end`, and which nothing else uses meanwhile.
            unsafe { auditor.segment(s, end, &mut seen) }.map(|()| seen.0)
        }
        fn complaint(&mut self) -> String {
            self.audit().expect_err("the mistake went unnoticed")
        }
    }

    #[test]
    fn live_slots_are_seen_and_the_others_spoiled() {
        let mut s = Stack::new();
        assert_eq!(s.audit().unwrap(), [Value::fixnum(7).0; 6]);
        let spoiled: Vec<usize> = (0..WORDS).filter(|i| s.chunk[*i] == POISON).collect();
        assert_eq!(spoiled, [25, 27, 30, 32, 35, 37]);
    }
    #[test]
    fn an_unknown_return_address() {
        let mut s = Stack::new();
        s.chunk[28] = 0x1234_5678;
        assert!(s.complaint().contains("no code address"), "{}", s.complaint());
    }
    #[test]
    fn a_return_address_between_two_words() {
        let mut s = Stack::new();
        s.chunk[28] = s.address(0) + 4;
        assert!(s.complaint().contains("no code address"), "{}", s.complaint());
    }
    #[test]
    fn the_code_of_a_procedure() {
        let mut s = Stack::new();
        s.code[5] &= !flags::RETURN;
        assert!(s.complaint().contains("not that of a return point"), "{}", s.complaint());
    }
    #[test]
    fn a_wrong_size() {
        for (words, complaint) in [(4, "no code address"), (17, "beyond the segment"), (0, "shape")] {
            let mut s = Stack::new();
            s.code[5] = words | flags::RETURN;
            assert!(s.complaint().contains(complaint), "{words}: {}", s.complaint());
        }
    }
    #[test]
    fn a_map_of_more_than_the_frame() {
        for (word, bit) in [(4, 0), (4, 5), (4, 63), (3, 0)] {
            let mut s = Stack::new();
            s.code[word] |= 1 << bit;
            assert!(s.complaint().contains("no slots"), "{}", s.complaint());
        }
    }
    #[test]
    fn a_segment_without_an_end() {
        let mut s = Stack::new();
        s.chunk[WORDS - 1] = s.address(0);
        assert!(s.complaint().contains("not followed by an underflow frame"), "{}", s.complaint());
    }
    #[test]
    fn an_outermost_frame_in_the_middle() {
        let mut s = Stack::new();
        s.chunk[23] = s.address(2);
        s.code[7 * 2 + 5] = 5 | flags::RETURN | flags::HALT;
        assert!(s.complaint().contains("outermost frame"), "{}", s.complaint());
    }
}
