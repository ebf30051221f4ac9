//! Doubles as exact numbers.
//!
//! The problem: conversions between doubles and exact numbers must be correctly rounded (nearest, ties to even, also
//! for subnormals), and comparisons across exactness must not round at all, or `=` is not transitive. The idea: an
//! exact value is brought to a 64-bit mantissa, an exponent and a *sticky* bit that says whether anything non-zero was
//! cut off; one function, [`compose`], rounds that. Comparison never converts the exact side.
//!
//! ```text
//!  63                    11 10 9              0
//! ┌────────────────────────┬──┬────────────────┐
//! │ the 53 bits that stay  │ h│ rest           │ sticky    up when h and (rest or sticky or odd)
//! └────────────────────────┴──┴────────────────┘
//! ```

use crate::limbs;
use crate::signed::Signed;
use std::cmp::Ordering;

/// `mantissa * 2^exponent` of a finite double, with its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Sign bit (set for -0.0 too).
    pub negative: bool,
    /// Integer mantissa, below 2^53.
    pub mantissa: u64,
    /// Binary exponent.
    pub exponent: i32,
}

/// Takes a finite double apart.
pub fn decompose(x: f64) -> Parts {
    let bits = x.to_bits();
    let biased = (bits >> 52 & 0x7FF) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, exponent) = if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
    Parts { negative: bits >> 63 != 0, mantissa, exponent }
}

/// The double nearest to `mantissa * 2^exponent` plus a bit when `sticky`; `mantissa` has its top bit set.
pub fn compose(mantissa: u64, exponent: i64, sticky: bool) -> f64 {
    debug_assert!(mantissa >> 63 == 1);
    let top = exponent + 63; // weight of the leading bit
    if top > 1023 {
        return f64::INFINITY;
    }
    let keep = if top >= -1022 { 53 } else { 53 - (-1022 - top) };
    if keep < 0 {
        return 0.0;
    }
    let cut = 64 - keep as u32;
    let kept = mantissa.checked_shr(cut).unwrap_or(0);
    let half = 1u64 << (cut - 1);
    let tail = if cut == 64 { mantissa } else { mantissa & ((1 << cut) - 1) };
    let up = tail > half || (tail == half && (sticky || kept & 1 == 1));
    // a carry out of the mantissa moves into the exponent field, which is the right number
    let base = if top >= -1022 { ((top + 1023) as u64) << 52 } else { 0 };
    let hidden = if top >= -1022 { 1 << 52 } else { 0 };
    f64::from_bits(base + (kept - hidden) + up as u64)
}

/// The top 64 bits of a non-zero magnitude (normalised), the exponent, and whether bits were cut off.
fn top_bits(a: &[u64]) -> (u64, i64, bool) {
    let n = a.len();
    let z = a[n - 1].leading_zeros();
    if n == 1 {
        return (a[0] << z, -(z as i64), false);
    }
    let mut m = a[n - 1] << z;
    let mut sticky = a[..n - 2].iter().any(|&l| l != 0);
    if z == 0 {
        sticky |= a[n - 2] != 0;
    } else {
        m |= a[n - 2] >> (64 - z);
        sticky |= a[n - 2] << z != 0;
    }
    (m, (n as i64 - 1) * 64 - z as i64, sticky)
}

/// The double nearest to an integer.
pub fn from_signed(a: Signed) -> f64 {
    if a.is_zero() {
        return 0.0;
    }
    let (m, e, sticky) = top_bits(a.limbs);
    let x = compose(m, e, sticky);
    if a.negative { -x } else { x }
}

/// The double nearest to `a / b`, for `b` not zero.
pub fn from_ratio(a: Signed, b: Signed) -> f64 {
    if a.is_zero() {
        return 0.0;
    }
    // A quotient of two doubles is rounded once.
    const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;
    if let ([n], [d]) = (a.limbs, b.limbs)
        && *n <= EXACT
        && *d <= EXACT
    {
        let x = *n as f64 / *d as f64;
        return if a.negative != b.negative { -x } else { x };
    }
    // Scale so that the quotient has 65 to 66 bits; then the rest only matters as the sticky bit.
    let scale = limbs::bit_len(b.limbs) as i64 + 65 - limbs::bit_len(a.limbs) as i64;
    let shifted = |x: &[u64], bits: i64| {
        let mut out = vec![0; x.len() + bits as usize / 64 + 1];
        let n = limbs::shl(&mut out, x, bits as usize);
        out.truncate(n);
        out
    };
    let (num, den) = (shifted(a.limbs, scale.max(0)), shifted(b.limbs, (-scale).max(0)));
    let mut quotient = vec![0; num.len() - den.len() + 1];
    let mut rest = vec![0; den.len()];
    let (qn, rn) = limbs::div_rem(&mut quotient, &mut rest, &num, &den);
    let (m, e, cut) = top_bits(&quotient[..qn]);
    let x = compose(m, e - scale, cut || rn != 0);
    if a.negative != b.negative { -x } else { x }
}

/// Exact comparison of a machine integer and a double; `None` for NaN.
#[inline]
pub fn compare_i64(n: i64, x: f64) -> Option<Ordering> {
    if n.unsigned_abs() <= 1 << 53 {
        return (n as f64).partial_cmp(&x);
    }
    if x.is_nan() {
        return None;
    }
    if x >= 9.3e18 {
        return Some(Ordering::Less);
    }
    if x <= -9.3e18 {
        return Some(Ordering::Greater);
    }
    // |x| < 2^64: its floor is exact as a wide integer
    let floor = x.floor();
    let order = (n as i128).cmp(&(floor as i128));
    Some(if order == Ordering::Equal && floor < x { Ordering::Less } else { order })
}

/// Exact comparison of an integer and a double; `None` for NaN.
pub fn compare_signed(a: Signed, x: f64) -> Option<Ordering> {
    if x.is_nan() {
        return None;
    }
    let sign = |negative: bool| if negative { Ordering::Less } else { Ordering::Greater };
    if x == 0.0 {
        return Some(if a.is_zero() { Ordering::Equal } else { sign(a.negative) });
    }
    if a.is_zero() || a.negative != (x < 0.0) {
        return Some(sign(x > 0.0));
    }
    // same sign: compare magnitudes, by length first
    let order = if x.is_infinite() {
        Ordering::Less
    } else {
        let p = decompose(x.abs());
        let x_bits = 64 - p.mantissa.leading_zeros() as i64 + p.exponent as i64;
        (limbs::bit_len(a.limbs) as i64).cmp(&x_bits).then_with(|| {
            let (m, _, sticky) = top_bits(a.limbs);
            m.cmp(&(p.mantissa << p.mantissa.leading_zeros())).then(sticky.cmp(&false))
        })
    };
    Some(if a.negative { order.reverse() } else { order })
}

/// Writes the magnitude of the integer part of a finite double; returns its limbs, at most 17.
pub fn integer_limbs(x: f64, out: &mut [u64; 17]) -> usize {
    let p = decompose(x);
    if p.exponent <= 0 {
        let m = p.mantissa.checked_shr(p.exponent.unsigned_abs()).unwrap_or(0);
        out[0] = m;
        return (m != 0) as usize;
    }
    limbs::shl(out, &[p.mantissa], p.exponent as usize)
}

/// A hash that agrees with `eqv?` (equal bits, and one hash for all NaNs).
pub fn hash(x: f64) -> u64 {
    let bits = if x.is_nan() { 0x7FF8_0000_0000_0000 } else { x.to_bits() };
    limbs::hash(true, &[bits])
}
