//! Owned exact integers.
//!
//! The problem: most integers are small, any may become large. The idea: [`Int`] is a machine integer or a sign with
//! limbs; operations try the machine integers first (in 128 bits, where no product of fixnums overflows), then view
//! both operands as [`Signed`] and use the kernels.
//!
//! Invariant: results are canonical, so derived equality and hashing are numeric equality.

use crate::float;
use crate::limbs;
use crate::number::Int;
use crate::signed::{self, BitOp, Rounding, Signed, Written};
use std::cmp::Ordering;

const MIN: i64 = -(1 << 60);
const MAX: i64 = (1 << 60) - 1;

/// Integers longer than this many bits are refused by operations that could ask for them by accident (`expt`, left
/// shifts, exact decimals): 2^32 bits are half a gigabyte.
pub const MAX_BITS: u64 = 1 << 32;

impl From<i64> for Int {
    fn from(n: i64) -> Int {
        Int::from(n as i128)
    }
}

impl From<u64> for Int {
    fn from(n: u64) -> Int {
        Int::from(n as i128)
    }
}

impl From<i128> for Int {
    fn from(n: i128) -> Int {
        if n >= MIN as i128 && n <= MAX as i128 {
            return Int::Fix(n as i64);
        }
        let m = n.unsigned_abs();
        Int::from_limbs(n < 0, vec![m as u64, (m >> 64) as u64])
    }
}

impl Int {
    /// Zero.
    pub const ZERO: Int = Int::Fix(0);
    /// One.
    pub const ONE: Int = Int::Fix(1);

    /// The integer of a sign and any magnitude (leading zero limbs are dropped).
    pub fn from_limbs(negative: bool, mut limbs: Vec<u64>) -> Int {
        limbs.truncate(limbs::significant(&limbs));
        match signed::small(Signed { negative, limbs: &limbs }) {
            Some(n) => Int::Fix(n),
            None => Int::Big { negative, limbs },
        }
    }

    /// The integer of a view.
    pub fn from_signed(a: Signed) -> Int {
        match signed::small(a) {
            Some(n) => Int::Fix(n),
            None => Int::Big { negative: a.negative, limbs: a.limbs.to_vec() },
        }
    }

    fn written(w: Written, mut out: Vec<u64>) -> Int {
        out.truncate(w.len);
        Int::from_limbs(w.negative, out)
    }

    /// A view; `buf` holds the magnitude of a small integer.
    #[inline]
    pub fn signed<'a>(&'a self, buf: &'a mut [u64; 1]) -> Signed<'a> {
        match self {
            Int::Fix(n) => Signed::of_i64(*n, buf),
            Int::Big { negative, limbs } => Signed { negative: *negative, limbs },
        }
    }

    fn with<R>(&self, f: impl FnOnce(Signed) -> R) -> R {
        f(self.signed(&mut [0]))
    }

    fn with2<R>(&self, b: &Int, f: impl FnOnce(Signed, Signed) -> R) -> R {
        f(self.signed(&mut [0]), b.signed(&mut [0]))
    }

    /// Zero?
    pub fn is_zero(&self) -> bool {
        *self == Int::Fix(0)
    }
    /// One?
    pub fn is_one(&self) -> bool {
        *self == Int::Fix(1)
    }
    /// Below zero?
    pub fn is_negative(&self) -> bool {
        match self {
            Int::Fix(n) => *n < 0,
            Int::Big { negative, .. } => *negative,
        }
    }
    /// Odd?
    pub fn is_odd(&self) -> bool {
        match self {
            Int::Fix(n) => n & 1 != 0,
            Int::Big { limbs, .. } => limbs[0] & 1 != 0,
        }
    }
    /// The value as `i64`, when it fits.
    pub fn to_i64(&self) -> Option<i64> {
        match self {
            Int::Fix(n) => Some(*n),
            Int::Big { negative, limbs } => match (limbs.as_slice(), negative) {
                ([m], false) => i64::try_from(*m).ok(),
                ([m], true) => 0i64.checked_sub_unsigned(*m),
                _ => None,
            },
        }
    }
    /// Number of bits of the magnitude.
    pub fn bits(&self) -> u64 {
        self.with(|a| limbs::bit_len(a.limbs) as u64)
    }

    /// Sum.
    pub fn add(&self, b: &Int) -> Int {
        if let (Int::Fix(x), Int::Fix(y)) = (self, b) {
            return Int::from(x + y);
        }
        self.with2(b, |a, b| {
            let mut out = vec![0; signed::add_room(a, b)];
            Int::written(signed::add(&mut out, a, b), out)
        })
    }
    /// Difference.
    pub fn sub(&self, b: &Int) -> Int {
        if let (Int::Fix(x), Int::Fix(y)) = (self, b) {
            return Int::from(x - y);
        }
        self.with2(b, |a, b| {
            let mut out = vec![0; signed::add_room(a, b)];
            Int::written(signed::sub(&mut out, a, b), out)
        })
    }
    /// Product.
    pub fn mul(&self, b: &Int) -> Int {
        if let (Int::Fix(x), Int::Fix(y)) = (self, b) {
            return Int::from(*x as i128 * *y as i128);
        }
        self.with2(b, |a, b| {
            let mut out = vec![0; signed::mul_room(a, b)];
            Int::written(signed::mul(&mut out, a, b), out)
        })
    }
    /// Opposite.
    pub fn neg(&self) -> Int {
        match self {
            Int::Fix(n) => Int::from(-n),
            Int::Big { negative, limbs } => Int::from_limbs(!negative, limbs.clone()),
        }
    }
    /// Absolute value.
    pub fn abs(&self) -> Int {
        if self.is_negative() { self.neg() } else { self.clone() }
    }
    /// Quotient and rest; `None` when `b` is zero.
    pub fn div_rem(&self, b: &Int, rounding: Rounding) -> Option<(Int, Int)> {
        match (self, b) {
            (_, Int::Fix(0)) => None,
            (Int::Fix(x), Int::Fix(y)) => {
                let (mut q, mut r) = (x / y, x % y);
                if rounding == Rounding::Floor && r != 0 && (r < 0) != (*y < 0) {
                    (q, r) = (q - 1, r + y);
                }
                Some((Int::from(q), Int::Fix(r)))
            }
            _ => Some(self.with2(b, |a, b| {
                let mut q = vec![0; signed::quotient_room(a, b)];
                let mut r = vec![0; signed::rest_room(b)];
                let (qw, rw) = signed::div_rem(rounding, &mut q, &mut r, a, b);
                (Int::written(qw, q), Int::written(rw, r))
            })),
        }
    }
    /// `self / b` where `b` is known to divide.
    pub fn div_exact(&self, b: &Int) -> Int {
        if b.is_one() {
            return self.clone();
        }
        self.div_rem(b, Rounding::Truncate).expect("divisor is not zero").0
    }
    /// Greatest common divisor, never negative.
    pub fn gcd(&self, b: &Int) -> Int {
        if let (Int::Fix(x), Int::Fix(y)) = (self, b) {
            return Int::from(limbs::gcd_limb(x.unsigned_abs(), y.unsigned_abs()));
        }
        self.with2(b, |a, b| Int::from_limbs(false, limbs::gcd(a.limbs, b.limbs)))
    }
    /// Power, `None` when the result would exceed [`MAX_BITS`].
    pub fn pow(&self, exponent: u64) -> Option<Int> {
        match self {
            Int::Fix(0) => return Some(Int::Fix((exponent == 0) as i64)),
            Int::Fix(1) => return Some(Int::ONE),
            Int::Fix(-1) => return Some(Int::Fix(if exponent & 1 == 0 { 1 } else { -1 })),
            _ if (self.bits() - 1).saturating_mul(exponent) > MAX_BITS => return None,
            _ => {}
        }
        // powers of two by shifting; the odd part by squaring
        let zeros = self.with(|a| limbs::trailing_zeros(a.limbs)) as i64;
        if zeros > 0 {
            let odd = self.shift(-zeros)?;
            return odd.pow(exponent)?.shift(zeros * exponent as i64);
        }
        let mut result = Int::ONE;
        for i in (0..64 - exponent.leading_zeros()).rev() {
            result = result.mul(&result);
            if exponent >> i & 1 == 1 {
                result = result.mul(self);
            }
        }
        Some(result)
    }
    /// `floor(self * 2^left)`, `None` when the result would exceed [`MAX_BITS`].
    pub fn shift(&self, left: i64) -> Option<Int> {
        if let Int::Fix(n) = self {
            if *n == 0 || left <= 0 {
                return Some(Int::Fix(n >> left.unsigned_abs().min(63)));
            }
            if left < 64 {
                return Some(Int::from((*n as i128) << left));
            }
        }
        if left > 0 && left as u64 + self.bits() > MAX_BITS {
            return None;
        }
        Some(self.with(|a| {
            let mut out = vec![0; signed::shift_room(a, left)];
            Int::written(signed::shift(&mut out, a, left), out)
        }))
    }
    /// Bitwise operation on the two's complement expansions.
    pub fn bitwise(&self, op: BitOp, b: &Int) -> Int {
        if let (Int::Fix(x), Int::Fix(y)) = (self, b) {
            return Int::Fix(match op {
                BitOp::And => x & y,
                BitOp::Or => x | y,
                BitOp::Xor => x ^ y,
            });
        }
        self.with2(b, |a, b| {
            let mut out = vec![0; signed::bitwise_room(a, b)];
            Int::written(signed::bitwise(&mut out, op, a, b), out)
        })
    }
    /// Bitwise complement: `-1 - self`.
    pub fn not(&self) -> Int {
        Int::Fix(-1).sub(self)
    }
    /// See [`signed::bit_count`].
    pub fn bit_count(&self) -> usize {
        self.with(signed::bit_count)
    }
    /// See [`signed::integer_length`].
    pub fn integer_length(&self) -> usize {
        self.with(signed::integer_length)
    }
    /// Integer square root and rest; `None` for negative numbers.
    pub fn sqrt_rem(&self) -> Option<(Int, Int)> {
        if self.is_negative() {
            return None;
        }
        if self.is_zero() {
            return Some((Int::ZERO, Int::ZERO));
        }
        Some(self.with(|a| {
            let mut root = vec![0; a.limbs.len().div_ceil(2)];
            let mut rest = vec![0; a.limbs.len()];
            let (n, r) = limbs::sqrt_rem(&mut root, &mut rest, a.limbs);
            root.truncate(n);
            rest.truncate(r);
            (Int::from_limbs(false, root), Int::from_limbs(false, rest))
        }))
    }
    /// The square root of a perfect square.
    pub fn exact_sqrt(&self) -> Option<Int> {
        self.sqrt_rem().and_then(|(root, rest)| rest.is_zero().then_some(root))
    }
    /// The nearest double (infinite when too large).
    pub fn to_f64(&self) -> f64 {
        match self {
            Int::Fix(n) => *n as f64, // Rust rounds to nearest even
            Int::Big { negative, limbs } => float::from_signed(Signed { negative: *negative, limbs }),
        }
    }
    /// The integer part of a finite double.
    pub fn from_f64(x: f64) -> Int {
        if x.abs() < (1u64 << 60) as f64 {
            return Int::Fix(x as i64);
        }
        let mut out = [0; 17];
        let n = float::integer_limbs(x, &mut out);
        Int::from_limbs(x < 0.0, out[..n].to_vec())
    }
    /// The integer of digit values (not characters), most significant first.
    pub fn from_digits(digits: &[u8], radix: u32) -> Int {
        if digits.len() <= 11 {
            // 36^11 < 2^60
            return Int::Fix(digits.iter().fold(0, |n, &d| n * radix as i64 + d as i64));
        }
        Int::from_limbs(false, limbs::from_digits(digits, radix))
    }
    /// Appends the digits, with `-` when negative.
    pub fn push_digits(&self, out: &mut String, radix: u32) {
        if self.is_negative() {
            out.push('-');
        }
        self.with(|a| limbs::push_digits(out, a.limbs, radix));
    }
    /// Hash of the value.
    pub fn hash_value(&self) -> u64 {
        self.with(|a| limbs::hash(a.negative, a.limbs))
    }
    /// Exact comparison with a double; `None` for NaN.
    pub fn compare_f64(&self, x: f64) -> Option<Ordering> {
        match self {
            Int::Fix(n) => float::compare_i64(*n, x),
            _ => self.with(|a| float::compare_signed(a, x)),
        }
    }
}

impl PartialOrd for Int {
    fn partial_cmp(&self, b: &Int) -> Option<Ordering> {
        Some(self.cmp(b))
    }
}

impl Ord for Int {
    fn cmp(&self, b: &Int) -> Ordering {
        match (self, b) {
            (Int::Fix(x), Int::Fix(y)) => x.cmp(y),
            _ => self.with2(b, signed::compare),
        }
    }
}

impl std::fmt::Display for Int {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut s = String::new();
        self.push_digits(&mut s, 10);
        f.write_str(&s)
    }
}
