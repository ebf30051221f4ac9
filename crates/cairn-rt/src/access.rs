//! Typed readers of heap objects.
//!
//! A `Value` says what it is in its tag and header; these functions test that and read the payload. The slices
//! they return point into the heap: they are valid until the runtime call returns (no call collects), as long
//! as nothing else writes the same object meanwhile. Functions ending in `_of` return `None` for other types.

use cairn_layout::Value;
use cairn_layout::object::{self, Type};
use cairn_layout::value::TAG_PAIR;

/// The header of an object; `v` must be an object.
#[inline]
pub fn header(v: Value) -> u64 {
    debug_assert!(v.is_object());
    // SAFETY: an object's first word is its header.
    unsafe { *(v.address() as *const u64) }
}

/// Is `v` an object of type `t`?
#[inline]
pub fn is(v: Value, t: Type) -> bool {
    v.is_object() && header(v) as u8 == object::type_byte(t)
}

/// The type code of an object, `None` for anything else.
#[inline]
pub fn type_code(v: Value) -> Option<u8> {
    v.is_object().then(|| object::header_type_code(header(v)))
}

/// The length in an object's header.
#[inline]
pub fn length(v: Value) -> usize {
    object::header_length(header(v)) as usize
}

/// The length of an object that is no record, which needs no look at the type.
#[inline]
fn sequence_length(v: Value) -> usize {
    debug_assert_eq!(header(v) >> object::LENGTH_SHIFT, length(v) as u64);
    (header(v) >> object::LENGTH_SHIFT) as usize
}

/// Address of payload word `i` of an object.
#[inline]
pub fn word_address(v: Value, i: usize) -> *mut Value {
    debug_assert!(v.is_object());
    (v.address() + 8 + 8 * i as u64) as *mut Value
}

/// Payload word `i`, which is below its length, of an object of values.
#[inline]
pub fn word(v: Value, i: u64) -> Value {
    debug_assert!((i as usize) < length(v));
    // SAFETY: `i` is below the object's length (asserted above in debug builds), and it is an object of values, all
    // initialised.
    unsafe { *word_address(v, i as usize) }
}

/// First of a pair; `v` must be a pair.
#[inline]
pub fn car(v: Value) -> Value {
    debug_assert!(v.is_pair());
    // SAFETY: a pair is two words at its address.
    unsafe { *((v.0 - TAG_PAIR) as *const Value) }
}

/// Second of a pair; `v` must be a pair.
#[inline]
pub fn cdr(v: Value) -> Value {
    debug_assert!(v.is_pair());
    // SAFETY: a pair is two words at its address.
    unsafe { *((v.0 - TAG_PAIR + 8) as *const Value) }
}

/// The values of a vector, record, opaque object or other object of values.
#[inline]
pub fn words<'a>(v: Value) -> &'a [Value] {
    debug_assert!(!object::header_is_leaf(header(v)));
    // SAFETY: the header's length counts the initialised value words that follow it.
    unsafe { std::slice::from_raw_parts(word_address(v, 0), length(v)) }
}

/// The values of an object, to be written. The writer marks cards unless the object is fresh and small.
#[inline]
#[allow(clippy::mut_from_ref)]
pub fn words_mut<'a>(v: Value) -> &'a mut [Value] {
    debug_assert!(!object::header_is_leaf(header(v)));
    // SAFETY: the header's length counts the initialised value words that follow it. A runtime call has the heap to
    // itself, and callers keep no other slice of the same object.
    unsafe { std::slice::from_raw_parts_mut(word_address(v, 0), length(v)) }
}

/// The elements of a vector.
#[inline]
pub fn vector_of<'a>(v: Value) -> Option<&'a [Value]> {
    is(v, Type::Vector).then(|| words(v))
}

/// The characters of a string (scalar values).
#[inline]
pub fn string_of<'a>(v: Value) -> Option<&'a [u32]> {
    is(v, Type::String).then(|| string_chars(v))
}

/// `None` for a literal: literal strings and bytevectors lie in read-only memory.
#[inline]
pub fn mutable(v: Value) -> Option<Value> {
    (header(v) >> object::FLAGS_SHIFT & object::FLAG_LITERAL as u64 == 0).then_some(v)
}

/// The characters of `v`, which must be a string.
#[inline]
pub fn string_chars<'a>(v: Value) -> &'a [u32] {
    debug_assert!(is(v, Type::String));
    // SAFETY: a string's payload is `length` 4-byte characters.
    unsafe { std::slice::from_raw_parts(word_address(v, 0) as *const u32, sequence_length(v)) }
}

/// The characters of a string, to be written.
#[inline]
pub fn string_chars_mut<'a>(v: Value) -> &'a mut [u32] {
    debug_assert!(is(v, Type::String));
    // SAFETY: a string's payload is `length` 4-byte characters; a runtime call has the heap to itself, and callers keep
    // no other slice of the same string.
    unsafe { std::slice::from_raw_parts_mut(word_address(v, 0) as *mut u32, sequence_length(v)) }
}

/// The bytes of a bytevector.
#[inline]
pub fn bytes_of<'a>(v: Value) -> Option<&'a [u8]> {
    is(v, Type::Bytevector).then(|| byte_slice(v))
}

/// The bytes of `v`, which must be a bytevector.
#[inline]
pub fn byte_slice<'a>(v: Value) -> &'a [u8] {
    debug_assert!(is(v, Type::Bytevector));
    // SAFETY: a bytevector's payload is `length` bytes.
    unsafe { std::slice::from_raw_parts(word_address(v, 0) as *const u8, sequence_length(v)) }
}

/// The bytes of a bytevector, to be written.
#[inline]
pub fn byte_slice_mut<'a>(v: Value) -> &'a mut [u8] {
    debug_assert!(is(v, Type::Bytevector));
    // SAFETY: a bytevector's payload is `length` bytes; a runtime call has the heap to itself, and callers keep no
    // other slice of the same bytevector.
    unsafe { std::slice::from_raw_parts_mut(word_address(v, 0) as *mut u8, sequence_length(v)) }
}

/// The limbs of `v`, which must be a bignum.
#[inline]
pub fn limbs<'a>(v: Value) -> &'a [u64] {
    debug_assert!(is(v, Type::Bignum));
    // SAFETY: a bignum's payload is `length` limbs.
    unsafe { std::slice::from_raw_parts(word_address(v, 0) as *const u64, sequence_length(v)) }
}

/// Is `v` a negative bignum? `v` must be a bignum.
#[inline]
pub fn is_negative_bignum(v: Value) -> bool {
    object::header_flags(header(v)) & object::FLAG_NEGATIVE != 0
}

/// The double of a flonum, immediate or boxed.
#[inline]
pub fn flonum_of(v: Value) -> Option<f64> {
    if v.is_immediate_flonum() {
        Some(v.as_immediate_flonum())
    } else if is(v, Type::Flonum) {
        // SAFETY: a boxed flonum's payload is one double.
        Some(unsafe { *(word_address(v, 0) as *const f64) })
    } else {
        None
    }
}

/// A fixnum's integer.
#[inline]
pub fn fixnum_of(v: Value) -> Option<i64> {
    v.is_fixnum().then(|| v.as_fixnum())
}

/// The text of a string, as UTF-8.
pub fn string_text(v: Value) -> String {
    string_chars(v).iter().map(|c| to_char(*c)).collect()
}

/// Are all of these scalar values ASCII? Parts without branches inside, which the compiler vectorizes.
pub fn are_ascii(chars: &[u32]) -> bool {
    chars.chunks(256).all(|part| part.iter().fold(0, |all, c| all | c) < 0x80)
}

/// The name of a symbol, as UTF-8.
pub fn symbol_text(v: Value) -> String {
    debug_assert!(is(v, Type::Symbol));
    string_text(word(v, object::symbol::NAME))
}

/// A scalar value as `char`; what is none (never stored by checked code) becomes U+FFFD.
#[inline]
pub fn to_char(c: u32) -> char {
    char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// A list's elements, in order. Stops at the first cdr that is no pair; the list must not be circular.
pub fn list_items(list: Value) -> impl Iterator<Item = Value> {
    let mut rest = list;
    std::iter::from_fn(move || {
        rest.is_pair().then(|| {
            let item = car(rest);
            rest = cdr(rest);
            item
        })
    })
}
