//! Objects as a C program lays them out: raw pointers, one header word.
//!
//! ```text
//!  63                            24 23              4 3  1   0
//! ┌────────────────────────────────┬─────────────────┬──────┬───┐
//! │ count                          │ layout          │nature│ 1 │
//! └────────────────────────────────┴─────────────────┴──────┴───┘
//!  bits 62 and 63 are the collector's while it runs
//!  typed    count elements, each as the layout says: a number of words, of which the pointer map names the references
//!  untyped  count words, each of which may or may not be a reference, to the middle of an object, too
//!  atomic   count words without references
//! ```
//!
//! A reference is the address of the header, which is odd: so it is told from the new address that stands in its place
//! while the object moves. In typed objects references to the middle are not allowed, null pointers and pointers out
//! of the heap are.
//!
//! Untyped objects are allocated with `Heap::alloc_untyped`. Whether they move is the collector's business: `gen` has
//! blocks of their own for them.

use super::{Described, Measure, ObjectModel, RefKind};
use crate::address::{Address, BLOCK_BYTES, Span, WORD};
use crate::blocks::POISON;
use crate::client::{AmbiguousVisitor, RootVisitor};

/// Number of a layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LayoutId(u32);

/// What an object consists of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nature {
    /// This number of elements of this layout.
    Typed(LayoutId, u64),
    /// This number of words that may or may not be references.
    Untyped(u64),
    /// This number of words without references.
    Atomic(u64),
}

const TYPED: u64 = 0;
const UNTYPED: u64 = 1;
const ATOMIC: u64 = 2;
const LAYOUT_SHIFT: u32 = 4;
const LAYOUT_MASK: u64 = (1 << 20) - 1;
const COUNT_SHIFT: u32 = 24;

/// Words of an element, and a bit for each that is a reference.
#[derive(Clone, Copy, Debug)]
struct Layout {
    words: u32,
    references: u64,
}

/// See the module's header. Holds the table of layouts.
#[derive(Clone, Debug, Default)]
pub struct CObjects {
    layouts: Vec<Layout>,
}

impl CObjects {
    /// A layout of 1 to 64 words, with a bit in `references` for each word that is a reference.
    pub fn define(&mut self, words: u32, references: u64) -> LayoutId {
        assert!((1..=64).contains(&words) && (words == 64 || references >> words == 0), "no such layout");
        assert!((self.layouts.len() as u64) < LAYOUT_MASK, "too many layouts");
        self.layouts.push(Layout { words, references });
        LayoutId(self.layouts.len() as u32 - 1)
    }
    /// The header of such an object.
    pub fn header(&self, nature: Nature) -> u64 {
        let (nature, layout, count) = match nature {
            Nature::Typed(layout, count) => (TYPED, layout.0 as u64, count),
            Nature::Untyped(words) => (UNTYPED, 0, words),
            Nature::Atomic(words) => (ATOMIC, 0, words),
        };
        count << COUNT_SHIFT | layout << LAYOUT_SHIFT | nature << 1 | 1
    }
    /// Whole size of such an object, header included.
    pub fn bytes(&self, nature: Nature) -> u64 {
        let words = match nature {
            Nature::Typed(layout, count) => count * self.layouts[layout.0 as usize].words as u64,
            Nature::Untyped(words) | Nature::Atomic(words) => words,
        };
        WORD + words.max(1) * WORD
    }
    #[inline(always)]
    fn layout(&self, header: u64) -> Layout {
        self.layouts[(header >> LAYOUT_SHIFT & LAYOUT_MASK) as usize]
    }
}

#[inline(always)]
fn nature(header: u64) -> u64 {
    header >> 1 & 7
}

impl ObjectModel for CObjects {
    const PAIR_MOVED: u64 = 0;
    const BROKEN: u64 = 0;
    const SELF_DESCRIBING: bool = false;
    const AMBIGUOUS: bool = true;

    #[inline(always)]
    fn is_reference(word: u64) -> bool {
        word & 7 == 0 && word != 0
    }
    #[inline(always)]
    fn is_pair(_: u64) -> bool {
        false
    }
    #[inline(always)]
    fn is_object(_: u64) -> bool {
        true
    }
    #[inline(always)]
    fn address(reference: u64) -> Address {
        Address(reference)
    }
    #[inline(always)]
    fn pair_address(reference: u64) -> Address {
        Address(reference)
    }
    #[inline(always)]
    fn reference(a: Address, _: RefKind) -> u64 {
        a.0
    }
    #[inline(always)]
    fn moved(_: RefKind, first: u64) -> Option<u64> {
        (first & 1 == 0).then_some(first)
    }
    #[inline(always)]
    unsafe fn measure(&self, _: RefKind, first: u64) -> Measure {
        let mut words = first >> COUNT_SHIFT;
        if nature(first) == TYPED {
            words *= self.layout(first).words as u64;
        }
        Measure { bytes: WORD + words.max(1) * WORD, leaf: nature(first) == ATOMIC, continuation: false }
    }
    #[inline(always)]
    fn kind_of(_: u64) -> RefKind {
        RefKind::Object
    }
    #[inline(always)]
    unsafe fn scan<V: RootVisitor + AmbiguousVisitor>(&self, a: Address, bytes: u64, part: Span, visitor: &mut V) {
        // SAFETY: an object of `bytes` bytes is at `a` (`# Safety`): its header, and behind that its elements.
        unsafe {
            let header = a.load();
            let payload = Span::new(a.plus(WORD), a.plus(bytes));
            let part = payload.intersection(part);
            if nature(header) == UNTYPED {
                return visitor.ambiguous_words(part.start.words(), (part.bytes() / WORD) as usize);
            }
            let layout = self.layout(header);
            if header >> COUNT_SHIFT == 0 || layout.references == 0 {
                return;
            }
            if layout.words == 1 {
                return visitor.words(part.start.words(), (part.bytes() / WORD) as usize);
            }
            let element = layout.words as u64 * WORD;
            let mut start = payload.start;
            if part.start > start {
                start = start.plus(part.start.offset_from(start) / element * element);
            }
            while start < part.end {
                let mut bits = layout.references;
                while bits != 0 {
                    let slot = start.plus(bits.trailing_zeros() as u64 * WORD);
                    bits &= bits - 1;
                    if part.contains(slot) {
                        visitor.slot(slot.words());
                    }
                }
                start = start.plus(element);
            }
        }
    }

    fn is_prefixed(_: RefKind) -> bool {
        false
    }
    #[inline(always)]
    fn describe(&self, meta: u64) -> Described {
        // SAFETY: without prefixes the meta word of an object is its header.
        let m = unsafe { self.measure(RefKind::Object, meta) };
        Described { kind: RefKind::Object, whole: m.bytes, leaf: m.leaf, untyped: nature(meta) == UNTYPED }
    }

    fn stray(word: u64) -> Option<&'static str> {
        (word == POISON).then_some("freed memory")
    }
    unsafe fn audit(&self, a: Address) -> Result<(RefKind, Measure), String> {
        // SAFETY: the word at `a` is initialised (`# Safety`).
        let first = unsafe { a.load() };
        let count = first >> COUNT_SHIFT;
        if first == POISON {
            return Err("freed memory".into());
        }
        if first & 1 == 0 {
            return Err(format!("no header ({first:#x})"));
        }
        let payload = match nature(first) {
            TYPED => match self.layouts.get((first >> LAYOUT_SHIFT & LAYOUT_MASK) as usize) {
                Some(layout) => count.checked_mul(8 * layout.words as u64),
                None => return Err(format!("a layout that is not defined ({first:#x})")),
            },
            UNTYPED | ATOMIC if first >> LAYOUT_SHIFT & LAYOUT_MASK == 0 => count.checked_mul(8),
            _ => return Err(format!("no nature that there is ({first:#x})")),
        };
        match payload {
            Some(bytes) if bytes <= BLOCK_BYTES << 16 => {
                let bytes = 8 + if bytes == 0 { 8 } else { bytes };
                Ok((RefKind::Object, Measure { bytes, leaf: nature(first) == ATOMIC, continuation: false }))
            }
            _ => Err(format!("an object of {count} elements")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen {
        slots: Vec<u64>,
        words: Vec<u64>,
    }
    impl RootVisitor for Seen {
        unsafe fn slot(&mut self, slot: *mut u64) {
            self.slots.push(slot as u64);
        }
        fn mark_chunk(&mut self, _: Address) {}
    }
    impl AmbiguousVisitor for Seen {
        fn ambiguous(&mut self, word: u64) {
            self.words.push(word);
        }
    }

    #[test]
    fn scanning_shows_what_the_header_says_and_no_more() {
        let mut m = CObjects::default();
        m.define(1, 1);
        let layout = m.define(3, 0b101);
        let mut memory = [7u64; 8];
        let a = Address(memory.as_mut_ptr() as u64);
        let (seen, whole) = (
            |m: &CObjects, part: Span| {
                let mut seen = Seen::default();
                // SAFETY: `memory` holds a header and 56 bytes in all, and outlives the call.
                unsafe { m.scan(a, 56, part, &mut seen) };
                (seen.slots.iter().map(|s| (s - a.0) / 8).collect::<Vec<_>>(), seen.words)
            },
            Span::new(a, a.plus(56)),
        );
        memory[0] = m.header(Nature::Typed(layout, 2));
        assert_eq!(m.bytes(Nature::Typed(layout, 2)), 56);
        assert_eq!(seen(&m, whole), (vec![1, 3, 4, 6], vec![]));
        assert_eq!(seen(&m, Span::new(a.plus(24), a.plus(40))), (vec![3, 4], vec![]));
        assert_eq!(seen(&m, Span::new(a, a.plus(16))), (vec![1], vec![]));
        memory[0] = m.header(Nature::Untyped(6));
        assert_eq!(seen(&m, Span::new(a.plus(40), a.plus(64))), (vec![], vec![memory[5], memory[6]]));
    }

    #[test]
    fn both_measures_of_an_object_agree() {
        let mut m = CObjects::default();
        let layouts = [m.define(1, 0), m.define(64, !0), m.define(5, 0b10001)];
        for count in [0, 1, 2, 7, 1000] {
            for nature in layouts
                .map(|l| Nature::Typed(l, count))
                .into_iter()
                .chain([Nature::Untyped(count), Nature::Atomic(count)])
            {
                let mut header = m.header(nature);
                // SAFETY: `header` is one that the model made, in a variable of its own, which is all that is read.
                let (fast, slow) = unsafe {
                    (m.measure(RefKind::Object, header), m.audit(Address(&raw mut header as u64)).unwrap().1)
                };
                assert_eq!(fast, slow);
                assert_eq!(fast.bytes, m.bytes(nature));
                assert_eq!(CObjects::moved(RefKind::Object, header), None);
            }
        }
        for header in [0, POISON, m.header(Nature::Atomic(1)) | 6, m.header(Nature::Typed(LayoutId(3), 1))] {
            // SAFETY: `header` is a word in a variable of its own, which is all that is read.
            assert!(unsafe { m.audit(Address(&raw const header as u64)) }.is_err(), "{header:#x}");
        }
    }
}
