//! Signed integers on borrowed limbs.
//!
//! The problem: the runtime must not build a temporary `Vec` to add two bignums. The idea: an operand is a sign and a
//! borrowed magnitude, whatever owns it (a heap object, a `Vec`, one limb on the stack holding a fixnum); a result is
//! written into memory that the caller provides, sized by the `*_room` function next to each operation, and described
//! by a [`Written`] that says how much of it counts.
//!
//! Invariant: operands are trimmed; zero is the empty magnitude and not negative. Bit operations see the infinite
//! two's complement expansion.

use crate::limbs;
use std::cmp::Ordering;

/// An operand: `(-1)^negative * limbs`.
#[derive(Clone, Copy, Debug)]
pub struct Signed<'a> {
    /// Below zero?
    pub negative: bool,
    /// Trimmed magnitude.
    pub limbs: &'a [u64],
}

/// What an operation left in its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Below zero? Never for zero.
    pub negative: bool,
    /// Significant limbs.
    pub len: usize,
}

impl Written {
    fn new(negative: bool, len: usize) -> Written {
        Written { negative: negative && len != 0, len }
    }
    /// The value, when it fits `FIXNUM` range (61 bits), given the output.
    #[inline]
    pub fn small(self, out: &[u64]) -> Option<i64> {
        small(Signed { negative: self.negative, limbs: &out[..self.len] })
    }
}

/// The integer, when it fits 61 bits signed.
#[inline]
pub fn small(a: Signed) -> Option<i64> {
    match a.limbs {
        [] => Some(0),
        [m] if *m < 1 << 60 => Some(if a.negative { -(*m as i64) } else { *m as i64 }),
        [m] if *m == 1 << 60 && a.negative => Some(-(1 << 60)),
        _ => None,
    }
}

impl<'a> Signed<'a> {
    /// The operand of a machine integer; `buf` holds its magnitude.
    #[inline]
    pub fn of_i64(n: i64, buf: &'a mut [u64; 1]) -> Signed<'a> {
        buf[0] = n.unsigned_abs();
        Signed { negative: n < 0, limbs: if n == 0 { &[] } else { &buf[..] } }
    }
    /// Zero?
    #[inline]
    pub fn is_zero(self) -> bool {
        self.limbs.is_empty()
    }
    /// The opposite.
    #[inline]
    pub fn negated(self) -> Signed<'a> {
        Signed { negative: !self.negative && !self.limbs.is_empty(), limbs: self.limbs }
    }
}

/// Which is greater?
#[inline]
pub fn compare(a: Signed, b: Signed) -> Ordering {
    match (a.negative, b.negative) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (false, false) => limbs::compare(a.limbs, b.limbs),
        (true, true) => limbs::compare(b.limbs, a.limbs),
    }
}

/// Limbs that [`add`] and [`sub`] need.
#[inline]
pub fn add_room(a: Signed, b: Signed) -> usize {
    a.limbs.len().max(b.limbs.len()) + 1
}

/// `out = a + b`.
pub fn add(out: &mut [u64], a: Signed, b: Signed) -> Written {
    if a.negative == b.negative {
        return Written::new(a.negative, limbs::add(out, a.limbs, b.limbs));
    }
    match limbs::compare(a.limbs, b.limbs) {
        Ordering::Equal => Written::new(false, 0),
        Ordering::Greater => Written::new(a.negative, limbs::sub(out, a.limbs, b.limbs)),
        Ordering::Less => Written::new(b.negative, limbs::sub(out, b.limbs, a.limbs)),
    }
}

/// `out = a - b`.
pub fn sub(out: &mut [u64], a: Signed, b: Signed) -> Written {
    add(out, a, b.negated())
}

/// Limbs that [`mul`] needs.
#[inline]
pub fn mul_room(a: Signed, b: Signed) -> usize {
    a.limbs.len() + b.limbs.len()
}

/// `out = a * b`.
pub fn mul(out: &mut [u64], a: Signed, b: Signed) -> Written {
    Written::new(a.negative != b.negative, limbs::mul(out, a.limbs, b.limbs))
}

/// Which way a quotient is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// Towards zero; the rest has the sign of the dividend.
    Truncate,
    /// Towards negative infinity; the rest has the sign of the divisor.
    Floor,
}

/// Limbs that [`div_rem`] needs for the quotient.
#[inline]
pub fn quotient_room(a: Signed, b: Signed) -> usize {
    (a.limbs.len() + 2).saturating_sub(b.limbs.len()).max(1)
}

/// Limbs that [`div_rem`] needs for the rest.
#[inline]
pub fn rest_room(b: Signed) -> usize {
    b.limbs.len()
}

/// `quotient = a / b`, `rest = a - quotient * b`, for `b` not zero.
pub fn div_rem(
    rounding: Rounding,
    quotient: &mut [u64],
    rest: &mut [u64],
    a: Signed,
    b: Signed,
) -> (Written, Written) {
    let (qn, rn) = if a.limbs.len() < b.limbs.len() {
        rest[..a.limbs.len()].copy_from_slice(a.limbs);
        (0, a.limbs.len())
    } else {
        limbs::div_rem(quotient, rest, a.limbs, b.limbs)
    };
    let opposite = a.negative != b.negative;
    if rounding == Rounding::Floor && opposite && rn != 0 {
        quotient[qn] = 0;
        limbs::increment(&mut quotient[..qn + 1]);
        let qn = limbs::significant(&quotient[..qn + 1]);
        let rn = complement_rest(rest, rn, b.limbs);
        return (Written::new(true, qn), Written::new(b.negative, rn));
    }
    (Written::new(opposite, qn), Written::new(a.negative, rn))
}

/// `rest = b - rest` in place, for `0 < rest < b`.
fn complement_rest(rest: &mut [u64], len: usize, b: &[u64]) -> usize {
    let mut borrow = false;
    rest[len..b.len()].fill(0);
    for (r, &d) in rest.iter_mut().zip(b) {
        let (x, u1) = d.overflowing_sub(*r);
        let (x, u2) = x.overflowing_sub(borrow as u64);
        (*r, borrow) = (x, u1 || u2);
    }
    limbs::significant(&rest[..b.len()])
}

/// A bitwise operation of two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BitOp {
    /// Both.
    And,
    /// Either.
    Or,
    /// One of them.
    Xor,
}

/// Limbs that [`bitwise`] needs.
#[inline]
pub fn bitwise_room(a: Signed, b: Signed) -> usize {
    a.limbs.len().max(b.limbs.len()) + 1
}

/// `out = a op b` on two's complement expansions.
pub fn bitwise(out: &mut [u64], op: BitOp, a: Signed, b: Signed) -> Written {
    if !a.negative && !b.negative {
        return Written::new(false, magnitudes(out, op, a.limbs, b.limbs));
    }
    let n = bitwise_room(a, b);
    let (mut ca, mut cb) = (a.negative, b.negative);
    for (i, o) in out[..n].iter_mut().enumerate() {
        let x = twos(a, i, &mut ca);
        let y = twos(b, i, &mut cb);
        *o = match op {
            BitOp::And => x & y,
            BitOp::Or => x | y,
            BitOp::Xor => x ^ y,
        };
    }
    let negative = match op {
        BitOp::And => a.negative & b.negative,
        BitOp::Or => a.negative | b.negative,
        BitOp::Xor => a.negative ^ b.negative,
    };
    if negative {
        out[..n].iter_mut().for_each(|l| *l = !*l);
        limbs::increment(&mut out[..n]);
    }
    Written::new(negative, limbs::significant(&out[..n]))
}

/// `out = a op b` on numbers that are not negative; the length of the result.
fn magnitudes(out: &mut [u64], op: BitOp, a: &[u64], b: &[u64]) -> usize {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let common = out.iter_mut().zip(long.iter().zip(short));
    match op {
        BitOp::And => common.for_each(|(o, (x, y))| *o = x & y),
        BitOp::Or => common.for_each(|(o, (x, y))| *o = x | y),
        BitOp::Xor => common.for_each(|(o, (x, y))| *o = x ^ y),
    }
    let n = match op {
        BitOp::And => short.len(),
        BitOp::Or | BitOp::Xor => {
            out[short.len()..long.len()].copy_from_slice(&long[short.len()..]);
            long.len()
        }
    };
    limbs::significant(&out[..n])
}

/// Limb `i` of the two's complement expansion; `carry` starts as the sign.
#[inline]
fn twos(a: Signed, i: usize, carry: &mut bool) -> u64 {
    let l = a.limbs.get(i).copied().unwrap_or(0);
    if !a.negative {
        return l;
    }
    let (x, c) = (!l).overflowing_add(*carry as u64);
    *carry = c;
    x
}

/// Limbs that [`shift`] needs.
#[inline]
pub fn shift_room(a: Signed, left: i64) -> usize {
    let whole = (left.unsigned_abs() / 64) as usize;
    if left >= 0 { a.limbs.len() + whole + 1 } else { a.limbs.len().saturating_sub(whole) + 1 }
}

/// `out = floor(a * 2^left)`.
pub fn shift(out: &mut [u64], a: Signed, left: i64) -> Written {
    let bits = left.unsigned_abs() as usize;
    if left >= 0 {
        return Written::new(a.negative, limbs::shl(out, a.limbs, bits));
    }
    let (n, lost) = limbs::shr(out, a.limbs, bits);
    if !(lost && a.negative) {
        return Written::new(a.negative, n);
    }
    out[n] = 0;
    limbs::increment(&mut out[..n + 1]);
    Written::new(true, limbs::significant(&out[..n + 1]))
}

/// Number of bits of the two's complement form without its sign bit.
pub fn integer_length(a: Signed) -> usize {
    let n = limbs::bit_len(a.limbs);
    // -2^k needs one bit less than 2^k
    if a.negative && limbs::trailing_zeros(a.limbs) == n - 1 { n - 1 } else { n }
}

/// Ones of a non-negative number; zeros of the two's complement form of a negative one.
pub fn bit_count(a: Signed) -> usize {
    if !a.negative {
        return limbs::count_ones(a.limbs);
    }
    // zeros of -m are ones of m - 1: the lowest one bit goes, the zeros below it appear
    limbs::count_ones(a.limbs) - 1 + limbs::trailing_zeros(a.limbs)
}
