//! Hashes of words, which tables, symbols and strings share.
//!
//! Invariant: what is `eqv?` has the same key; a hash is a fixnum that is not negative.

/// Equal for doubles that are `eqv?`: the bits, but all NaNs are one, whatever their signs and payloads.
pub fn flonum_key(x: f64) -> u64 {
    if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
}

/// Hash of a sequence of words: 0 to 2^60 - 1, a fixnum.
pub fn hash_words(words: impl Iterator<Item = u64>) -> i64 {
    finish(words.fold(0, mix))
}

/// One more word of a sequence.
pub fn mix(h: u64, x: u64) -> u64 {
    (h.rotate_left(5) ^ x).wrapping_mul(0x517C_C1B7_2722_0A95)
}

/// The hash of a sequence of which this is left: 0 to 2^60 - 1, a fixnum.
pub fn finish(h: u64) -> i64 {
    ((h ^ (h >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 4) as i64
}

/// 32 well-mixed bits of a number.
pub fn spread(n: u64) -> u32 {
    let h = (n ^ (n >> 32)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((h ^ (h >> 32)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 32) as u32
}

/// Keeps what lies or counts side by side side by side, in any order: no two of them are in each other's way. Those
/// whose numbers are further apart are put anywhere.
#[inline]
pub fn near(n: u64) -> u32 {
    let far = (n >> 16).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32;
    (n as u32).wrapping_add(far as u32)
}
