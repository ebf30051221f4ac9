//! References to elements of structure vectors: words that say the element's type and where in the heap's region it
//! lies.
//!
//! ```text
//!  63 62 61                                 26 25            3 2 0
//! ┌─────┬─────────────────────────────────────┬────────────────┬─────┐
//! │ 1 1 │ bytes from the region's start       │ number of type │ 010 │
//! └─────┴─────────────────────────────────────┴────────────────┴─────┘
//! ```
//!
//! To whoever does not know of them such a word is an immediate: nothing is allocated, and `eq?` compares words.
//! What it refers to never moves. With collectors that know nothing of such words, references are objects with the
//! header [`OBJECT`] instead.

use crate::machine::REGION_BITS;
use crate::object::record::{NUMBER_BITS, NUMBER_SHIFT, type_word};
use crate::value::{ELEMENT, TAG_BITS, Value};

/// Where the offset starts.
pub const OFFSET_SHIFT: u32 = TAG_BITS + NUMBER_BITS;
/// Bits above the offset.
pub const ABOVE: u32 = 2;
/// A type word is shifted right by this, so that its number is where references have it.
pub const NUMBER_DOWN: u32 = NUMBER_SHIFT - TAG_BITS;
/// The number in a reference.
pub const NUMBER_MASK: u64 = ((1 << NUMBER_BITS) - 1) << TAG_BITS;
/// What a reference is besides offset and number.
pub const FORM: u64 = ELEMENT;
/// The bits that say so.
pub const FORM_MASK: u64 = crate::value::ELEMENT_MASK;
/// All but the offset.
pub const KEY_MASK: u64 = FORM_MASK | NUMBER_MASK;

const _: () = assert!(OFFSET_SHIFT + REGION_BITS + ABOVE == 64);

/// What all references to elements of a type have in common.
pub const fn key(type_word: u64) -> u64 {
    type_word >> NUMBER_DOWN & NUMBER_MASK | FORM
}
/// The reference to the element of a type so many bytes behind the start of the region.
pub const fn reference(type_word: u64, offset: u64) -> u64 {
    offset << OFFSET_SHIFT | key(type_word)
}
/// Is it such a word?
#[inline]
pub const fn is(word: u64) -> bool {
    Value(word).is_element()
}
/// How many bytes behind the start of the region the element lies.
#[inline]
pub const fn offset(word: u64) -> u64 {
    word << ABOVE >> (ABOVE + OFFSET_SHIFT)
}
/// The number of its type.
#[inline]
pub const fn number(word: u64) -> u32 {
    ((word & NUMBER_MASK) >> TAG_BITS) as u32
}

/// Header of references that are objects. They have a number that no type has, and say that their type extends
/// another one, so that whoever does not find the type word it expects asks on.
///
/// ```text
///  storage   the vector or bytevector in which the element lies
///  offset    fixnum: bytes from its first word to the element
///  type      type word of the element
/// ```
pub const OBJECT: u64 = type_word(false, 1, (1 << NUMBER_BITS) - 1, 3);
/// The vector or bytevector in which the element lies.
pub const STORAGE: u64 = 0;
/// Fixnum: bytes from its first word to the element.
pub const OFFSET: u64 = 1;
/// Type word of the element.
pub const TYPE: u64 = 2;

const _: () = assert!(offset(reference(type_word(true, 2, 77, 3), 12_345)) == 12_345);
const _: () = assert!(number(reference(type_word(true, 2, 77, 3), u64::MAX >> 28)) == 77);
