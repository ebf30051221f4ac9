//! Scheme's objects: tagged words, as `cairn_layout` lays them out.
//!
//! Tag 3 refers to a pair, tag 7 to an object with a header, tag 6 to a procedure: a closure, continuation or heap
//! frame whose first word is a code address, with a descriptor before the code. Any other word refers to nothing,
//! headers (tag 2) and code addresses (tag 0) among them.

use super::{Described, Measure, ObjectModel, RefKind};
use crate::address::{Address, BLOCK_BYTES, Span, WORD};
use crate::blocks::POISON;
use crate::client::{AmbiguousVisitor, RootVisitor};
use cairn_layout::Value;
use cairn_layout::code::{SHAPE, flags, shape_words};
use cairn_layout::collector::prefixed_bytes;
use cairn_layout::element;
use cairn_layout::object::{AllocKind, FIRST_LEAF, Type, header_is_leaf, header_length, record};
use cairn_layout::value::{TAG_FIXNUM, TAG_IMMEDIATE, TAG_MASK, TAG_OBJECT, TAG_PAIR, TAG_PROCEDURE};

/// See the module's header.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scheme;

/// log2 of the payload unit of each type, two bits per type code: 3 except strings (2), bytevectors
/// and numeric vectors (0).
const UNIT_SHIFTS: u64 = !(0b1101 << 32 | 0b11 << 44);

/// [`cairn_layout::object::object_bytes`]: for records, which are most objects with headers, in few instructions, else
/// without a branch on the type.
#[inline(always)]
const fn object_bytes(header: u64) -> u64 {
    const RECORD: u64 = (Type::Record as u64) << 3 | TAG_IMMEDIATE;
    if header & 0xFF == RECORD {
        let fields = header >> record::LENGTH_SHIFT;
        return (fields + (fields == 0) as u64 + 1) * WORD;
    }
    let unit = (UNIT_SHIFTS >> ((header >> 2) & 62)) & 3;
    let payload = ((header_length(header) << unit) + 7) & !7;
    if payload == 0 { 16 } else { payload + 8 }
}

/// The bit of a header that leaves have.
const LEAF_BIT: u64 = (FIRST_LEAF as u64) << 3;

const _: () = {
    use cairn_layout::object::header;
    let types = [
        Type::Vector,
        Type::Opaque,
        Type::String,
        Type::Bytevector,
        Type::NumericVector,
        Type::Bignum,
        Type::Flonum,
    ];
    let mut n = 0;
    while n < 20 {
        let (h, raw) = (record::type_word(false, 3, 7, n), record::type_word(true, 0, 1 << 26, n));
        assert!(object_bytes(h) == cairn_layout::object::object_bytes(h) && h & LEAF_BIT == 0);
        assert!(object_bytes(raw) == object_bytes(h) && raw & LEAF_BIT != 0);
        n += 1;
    }
    let mut i = 0;
    while i < types.len() {
        let mut n = 0;
        while n < 20 {
            let h = header(types[i], 2, n);
            assert!(object_bytes(h) == cairn_layout::object::object_bytes(h));
            assert!((h & LEAF_BIT != 0) == header_is_leaf(h));
            n += 1;
        }
        i += 1;
    }
};

impl ObjectModel for Scheme {
    const PAIR_MOVED: u64 = Value::FORWARDED.0;
    const BROKEN: u64 = Value::BROKEN.0;
    const SELF_DESCRIBING: bool = true;
    const AMBIGUOUS: bool = false;

    #[inline(always)]
    fn is_reference(word: u64) -> bool {
        const POINTER_TAGS: u64 = (1 << TAG_PAIR) | (1 << TAG_PROCEDURE) | (1 << TAG_OBJECT);
        (POINTER_TAGS >> (word & TAG_MASK)) & 1 != 0
    }
    #[inline(always)]
    fn is_indirect(word: u64) -> bool {
        Value(word).is_indirect()
    }
    #[inline(always)]
    fn inside(word: u64) -> Option<u64> {
        element::is(word).then(|| element::offset(word))
    }
    #[inline(always)]
    fn address(reference: u64) -> Address {
        Address(reference & !TAG_MASK)
    }
    #[inline(always)]
    fn is_pair(word: u64) -> bool {
        word & TAG_MASK == TAG_PAIR
    }
    #[inline(always)]
    fn is_object(reference: u64) -> bool {
        reference & TAG_MASK == TAG_OBJECT
    }
    #[inline(always)]
    fn pair_address(reference: u64) -> Address {
        Address(reference - TAG_PAIR)
    }
    #[inline(always)]
    fn reference(a: Address, kind: RefKind) -> u64 {
        a.0 | match kind {
            RefKind::Pair => TAG_PAIR,
            RefKind::Object => TAG_OBJECT,
            RefKind::Procedure => TAG_PROCEDURE,
        }
    }
    #[inline(always)]
    fn moved(kind: RefKind, first: u64) -> Option<u64> {
        let moved = match kind {
            RefKind::Object => first & TAG_MASK != TAG_IMMEDIATE,
            _ => first & TAG_MASK == TAG_PROCEDURE,
        };
        moved.then_some(first)
    }
    #[inline(always)]
    unsafe fn measure(&self, kind: RefKind, first: u64) -> Measure {
        if kind == RefKind::Object {
            Measure { bytes: object_bytes(first), leaf: first & LEAF_BIT != 0, continuation: false }
        } else {
            // SAFETY: `first` is the first word of a procedure (`# Safety`), so a code address, before which a
            // descriptor stands.
            let shape = unsafe { shape_of(first) };
            Measure {
                bytes: shape_words(shape) * WORD,
                leaf: false,
                continuation: shape & flags::CONTINUATION != 0,
            }
        }
    }

    #[inline(always)]
    fn kind_of(first: u64) -> RefKind {
        if first & TAG_MASK == TAG_IMMEDIATE { RefKind::Object } else { RefKind::Procedure }
    }
    #[inline(always)]
    unsafe fn scan<V: RootVisitor + AmbiguousVisitor>(&self, a: Address, bytes: u64, part: Span, visitor: &mut V) {
        let s = Span::new(a, a.plus(bytes)).intersection(part);
        // SAFETY: an initialised object of `bytes` bytes is at `a` (`# Safety`), `s` is cut to it, and every word
        // describes itself.
        unsafe { visitor.words(s.start.words(), (s.bytes() / WORD) as usize) }
    }

    #[inline(always)]
    fn is_prefixed(kind: RefKind) -> bool {
        kind != RefKind::Object
    }
    #[inline(always)]
    fn describe(&self, meta: u64) -> Described {
        if meta & TAG_MASK == TAG_IMMEDIATE {
            let leaf = meta & LEAF_BIT != 0;
            return Described { kind: RefKind::Object, whole: object_bytes(meta), leaf, untyped: false };
        }
        let pair = meta >> 8 & 0xFF == AllocKind::Pair as u64;
        let kind = if pair { RefKind::Pair } else { RefKind::Procedure };
        Described { kind, whole: WORD + prefixed_bytes(meta), leaf: false, untyped: false }
    }

    fn stray(word: u64) -> Option<&'static str> {
        if word == POISON {
            Some("freed memory")
        } else if word == Value::FORWARDED.0 {
            Some("the mark of an evacuated pair")
        } else {
            None
        }
    }
    unsafe fn audit(&self, a: Address) -> Result<(RefKind, Measure), String> {
        // SAFETY: the word at `a` is initialised (`# Safety`).
        let first = unsafe { a.load() };
        match first & TAG_MASK {
            TAG_IMMEDIATE if first == POISON => Err("freed memory".into()),
            TAG_IMMEDIATE => {
                let bytes = cairn_layout::object::object_bytes(first);
                Ok((RefKind::Object, Measure { bytes, leaf: header_is_leaf(first), continuation: false }))
            }
            TAG_FIXNUM if first > 0xFFFF => {
                // SAFETY: the word looks like a code address, so it is one, with a descriptor (`# Safety`).
                let shape = unsafe { shape_of(first) };
                match shape_words(shape) {
                    0 => Err("a procedure of no words".into()),
                    n if n * WORD > BLOCK_BYTES << 16 => Err(format!("a procedure of {n} words")),
                    n => {
                        let continuation = shape & flags::CONTINUATION != 0;
                        Ok((RefKind::Procedure, Measure { bytes: n * WORD, leaf: false, continuation }))
                    }
                }
            }
            TAG_PROCEDURE => Err("a forwarded object".into()),
            _ => Err(format!("neither header nor code address ({first:#x})")),
        }
    }
}

/// The shape in a descriptor.
///
/// # Safety
/// `code` is a code address, before which a descriptor stands.
#[inline(always)]
unsafe fn shape_of(code: u64) -> u64 {
    // SAFETY: a descriptor stands before `code` (`# Safety`), and `SHAPE` is a word of it.
    unsafe { Address(code.wrapping_add_signed(SHAPE)).load() }
}
