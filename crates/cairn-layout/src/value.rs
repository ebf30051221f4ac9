//! The value word.
//!
//! ```text
//!  63                                        3 2 0
//! ┌──────────────────────────────────────────┬─────┐
//! │ 61-bit two's complement integer          │ 000 │ fixnum
//! │ double, rotated left by 4, plus 1        │ 001 │ flonum with exponent 000… (0.0, tiny)
//! │ kind and payload                         │ 010 │ immediate, object header
//! │ address of a pair                        │ 011 │ pair (headerless, two words)
//! │ double, rotated left by 4, plus 1        │ 100 │ flonum with exponent 011… (magnitude < 2)
//! │ double, rotated left by 4, plus 1        │ 101 │ flonum with exponent 100… (magnitude >= 2)
//! │ address of a procedure                   │ 110 │ closure, continuation, heap frame
//! │ address of an object with a header       │ 111 │ vector, string, boxed flonum, …
//! └──────────────────────────────────────────┴─────┘
//! ```
//!
//! Self-tagging doubles (Melançon, Serrano & Feeley, OOPSLA 2025): rotating a double left by four puts its top
//! three exponent bits into the tag position. Ordinary magnitudes (2^-255 to 2^257) and zero have one of three
//! patterns there; adding one moves them off the fixnum tag. All other doubles (huge, infinite, NaN, tiny) are
//! boxed.
//!
//! Invariant: every word of a scannable heap object, frame or global is a `Value`, or a raw word whose low
//! three bits are not a pointer tag (code addresses and chunk addresses are 8-aligned and look like fixnums;
//! headers look like immediates). So the collector scans memory word by word, without parsing objects.

/// Number of tag bits.
pub const TAG_BITS: u32 = 3;
/// Mask of the tag bits.
pub const TAG_MASK: u64 = 7;
/// Tag of fixnums (value shifted left by [`TAG_BITS`]).
pub const TAG_FIXNUM: u64 = 0;
/// Tag of immediates and of header words.
pub const TAG_IMMEDIATE: u64 = 2;
/// Tag of pairs.
pub const TAG_PAIR: u64 = 3;
/// Tag of procedures: first word is a code address.
pub const TAG_PROCEDURE: u64 = 6;
/// Tag of objects whose first word is a header.
pub const TAG_OBJECT: u64 = 7;
/// `bt` mask: bit `i` (mod 8) is set when tag `i` means a self-tagged flonum (tags 1, 4, 5).
pub const FLONUM_TAGS: u64 = 0x3232_3232_3232_3232;
/// How far a double is rotated left.
pub const FLONUM_ROTATE: u32 = 4;
/// What is added after the rotation.
pub const FLONUM_BIAS: u64 = 1;

/// Smallest fixnum.
pub const FIXNUM_MIN: i64 = -(1 << 60);
/// Largest fixnum.
pub const FIXNUM_MAX: i64 = (1 << 60) - 1;

/// Low byte of characters; the scalar value sits in bits 8 and up.
pub const CHAR_BYTE: u64 = 0x42;
/// What references to elements of structure vectors are besides type and place ([`crate::element`]): both of the
/// highest bits, which no other word with this tag has.
pub const ELEMENT: u64 = 3 << 62 | TAG_IMMEDIATE;
/// The bits of [`ELEMENT`].
pub const ELEMENT_MASK: u64 = 3 << 62 | TAG_MASK;
/// Where the scalar value of a character starts.
pub const CHAR_SHIFT: u32 = 8;

/// A value word.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Value(pub u64);

impl Value {
    /// `#f`.
    pub const FALSE: Value = Value(0x02);
    /// `#t`.
    pub const TRUE: Value = Value(0x0A);
    /// The empty list.
    pub const NIL: Value = Value(0x12);
    /// The unspecified value.
    pub const UNSPECIFIED: Value = Value(0x1A);
    /// The end-of-file object.
    pub const EOF: Value = Value(0x22);
    /// Stands for an absent optional argument.
    pub const DEFAULT: Value = Value(0x2A);
    /// Contents of a global or letrec variable before its definition ran.
    pub const UNBOUND: Value = Value(0x32);
    /// What a failing runtime call returns; never visible to Scheme (see `calls`).
    pub const FAIL: Value = Value(0x3A);
    /// First word of an evacuated pair; the second word is its new address.
    pub const FORWARDED: Value = Value(0x4A);
    /// Where something was that is gone: a deleted entry of a table, a weak reference to what has died.
    pub const BROKEN: Value = Value(0x52);

    /// A fixnum; `n` must be in `FIXNUM_MIN..=FIXNUM_MAX`.
    #[inline]
    pub const fn fixnum(n: i64) -> Value {
        debug_assert!(n >= FIXNUM_MIN && n <= FIXNUM_MAX);
        Value((n << TAG_BITS) as u64)
    }
    /// A fixnum if `n` is in range.
    #[inline]
    pub const fn try_fixnum(n: i64) -> Option<Value> {
        if n >= FIXNUM_MIN && n <= FIXNUM_MAX { Some(Value((n << TAG_BITS) as u64)) } else { None }
    }
    /// A character.
    #[inline]
    pub const fn char(c: u32) -> Value {
        Value(((c as u64) << CHAR_SHIFT) | CHAR_BYTE)
    }
    /// `#t` or `#f`.
    #[inline]
    pub const fn bool(b: bool) -> Value {
        if b { Value::TRUE } else { Value::FALSE }
    }
    /// The self-tagged word of `x`, when its exponent allows it.
    #[inline]
    pub const fn try_flonum(x: f64) -> Option<Value> {
        let w = x.to_bits().rotate_left(FLONUM_ROTATE).wrapping_add(FLONUM_BIAS);
        if (FLONUM_TAGS >> (w & 7)) & 1 != 0 { Some(Value(w)) } else { None }
    }
    /// The tag bits.
    #[inline]
    pub const fn tag(self) -> u64 {
        self.0 & TAG_MASK
    }
    /// Is it a fixnum?
    #[inline]
    pub const fn is_fixnum(self) -> bool {
        self.tag() == TAG_FIXNUM
    }
    /// The integer of a fixnum.
    #[inline]
    pub const fn as_fixnum(self) -> i64 {
        (self.0 as i64) >> TAG_BITS
    }
    /// Is it a self-tagged flonum? (Boxed flonums are objects.)
    #[inline]
    pub const fn is_immediate_flonum(self) -> bool {
        (FLONUM_TAGS >> self.tag()) & 1 != 0
    }
    /// The double of a self-tagged flonum.
    #[inline]
    pub const fn as_immediate_flonum(self) -> f64 {
        f64::from_bits(self.0.wrapping_sub(FLONUM_BIAS).rotate_right(FLONUM_ROTATE))
    }
    /// Is it a pair?
    #[inline]
    pub const fn is_pair(self) -> bool {
        self.tag() == TAG_PAIR
    }
    /// Is it a procedure (closure or continuation)?
    #[inline]
    pub const fn is_procedure(self) -> bool {
        self.tag() == TAG_PROCEDURE
    }
    /// Is it an object with a header?
    #[inline]
    pub const fn is_object(self) -> bool {
        self.tag() == TAG_OBJECT
    }
    /// Does it point into memory (pair, procedure or object)?
    #[inline]
    pub const fn is_pointer(self) -> bool {
        // tags 3, 6, 7
        (0b1100_1000 >> self.tag()) & 1 != 0
    }
    /// Is it a character?
    #[inline]
    pub const fn is_char(self) -> bool {
        self.0 & 0xFF == CHAR_BYTE
    }
    /// Is it a reference to a compact record?
    #[inline]
    pub const fn is_compact(self) -> bool {
        self.is_indirect() && !self.is_element()
    }
    /// Is it a word that refers to an element of a structure vector?
    #[inline]
    pub const fn is_element(self) -> bool {
        self.0 & ELEMENT_MASK == ELEMENT
    }
    /// Does it refer to a record without being its address: to a compact one, or to an element of a structure vector?
    #[inline]
    pub const fn is_indirect(self) -> bool {
        self.tag() == TAG_IMMEDIATE && (self.0 as i64) < 0 && self.0 as u32 != TAG_IMMEDIATE as u32
    }
    /// The scalar value of a character.
    #[inline]
    pub const fn as_char(self) -> u32 {
        (self.0 >> 8) as u32
    }
    /// Anything but `#f`.
    #[inline]
    pub const fn is_true(self) -> bool {
        self.0 != Value::FALSE.0
    }
    /// The untagged address of a pointer.
    #[inline]
    pub const fn address(self) -> u64 {
        self.0 & !TAG_MASK
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            v if v.is_fixnum() => write!(f, "{}", v.as_fixnum()),
            v if v.is_immediate_flonum() => write!(f, "{:?}", v.as_immediate_flonum()),
            v => write!(f, "#<word {:#x}>", v.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_doubles_tag_themselves_and_come_back() {
        for x in [0.0, -0.0, 1.0, -1.5, 3.25e40, -2.5e-70, 1e77, f64::EPSILON] {
            let v = Value::try_flonum(x).unwrap_or_else(|| panic!("{x} should be immediate"));
            assert!(!v.is_pointer() && !v.is_fixnum());
            assert_eq!(v.as_immediate_flonum().to_bits(), x.to_bits());
        }
        for x in [f64::INFINITY, f64::NAN, 1e200] {
            assert!(Value::try_flonum(x).is_none(), "{x} must be boxed");
        }
    }

    #[test]
    fn immediates_are_distinct_and_never_pointers() {
        let all = [
            Value::FALSE,
            Value::TRUE,
            Value::NIL,
            Value::UNSPECIFIED,
            Value::EOF,
            Value::DEFAULT,
            Value::UNBOUND,
            Value::FAIL,
            Value::FORWARDED,
            Value::BROKEN,
            Value::char(0),
            Value(crate::object::record::compact::word(1)),
            Value(crate::object::record::compact::reference(crate::object::record::compact::word(1), 1)),
            Value(ELEMENT | 1 << 3),
        ];
        for (i, a) in all.iter().enumerate() {
            assert_eq!(a.tag(), TAG_IMMEDIATE);
            assert!(!a.is_pointer());
            assert!(all[..i].iter().all(|b| a != b));
        }
    }
}
