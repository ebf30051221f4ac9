//! `+ - * /`, comparison and exactness over the whole tower.
//!
//! The problem: five representations meet in every operation. The idea: real arithmetic first ([`Number::Int`],
//! [`Number::Ratio`], [`Number::Flo`]; a double in any operand makes the result a double), complex arithmetic on top of
//! it by components. Exact zero is an identity that keeps even the sign of a double zero: `(- 0 0.0)` is `-0.0`.
//!
//! Invariant: constructors [`Number::ratio`] and [`Number::rectangular`] restore canonical form; nothing else builds
//! ratios and complex numbers.

use crate::float;
use crate::number::{Int, Number};
use std::cmp::Ordering;

impl From<i64> for Number {
    fn from(n: i64) -> Number {
        Number::Int(Int::from(n))
    }
}

impl From<f64> for Number {
    fn from(x: f64) -> Number {
        Number::Flo(x)
    }
}

impl From<Int> for Number {
    fn from(n: Int) -> Number {
        Number::Int(n)
    }
}

/// Structural equality: `eqv?`. Same exactness, same value, doubles by bits (all NaNs are one).
impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a == b,
            (Number::Ratio(a, b), Number::Ratio(c, d)) => a == c && b == d,
            (Number::Flo(a), Number::Flo(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            (Number::Complex(a, b), Number::Complex(c, d)) => a == c && b == d,
            _ => false,
        }
    }
}

impl Number {
    /// Exact zero.
    pub const ZERO: Number = Number::Int(Int::ZERO);
    /// Exact one.
    pub const ONE: Number = Number::Int(Int::ONE);

    /// `numerator / denominator` in canonical form; `None` when the denominator is zero.
    pub fn ratio(numerator: Int, denominator: Int) -> Option<Number> {
        if denominator.is_zero() {
            return None;
        }
        let g = numerator.gcd(&denominator);
        let (mut n, mut d) = (numerator.div_exact(&g), denominator.div_exact(&g));
        if d.is_negative() {
            (n, d) = (n.neg(), d.neg());
        }
        Some(if d.is_one() { Number::Int(n) } else { Number::Ratio(n, d) })
    }

    /// `re + im*i` in canonical form; both parts are real.
    pub fn rectangular(re: Number, im: Number) -> Number {
        debug_assert!(re.is_real() && im.is_real());
        if im.is_exact_zero() {
            return re;
        }
        let (re, im) = match (re.is_exact(), im.is_exact()) {
            (true, false) => (Number::Flo(re.to_f64()), im),
            (false, true) => (re, Number::Flo(im.to_f64())),
            _ => (re, im),
        };
        Number::Complex(Box::new(re), Box::new(im))
    }

    /// Not complex?
    pub fn is_real(&self) -> bool {
        !matches!(self, Number::Complex(..))
    }
    /// Integer or ratio, or complex of such?
    pub fn is_exact(&self) -> bool {
        match self {
            Number::Int(_) | Number::Ratio(..) => true,
            Number::Flo(_) => false,
            Number::Complex(re, _) => re.is_exact(),
        }
    }
    /// Exact zero?
    pub fn is_exact_zero(&self) -> bool {
        matches!(self, Number::Int(Int::Fix(0)))
    }
    /// Exact one?
    pub fn is_exact_one(&self) -> bool {
        matches!(self, Number::Int(Int::Fix(1)))
    }
    /// Zero of any kind?
    pub fn is_zero(&self) -> bool {
        match self {
            Number::Int(n) => n.is_zero(),
            Number::Ratio(..) => false,
            Number::Flo(x) => *x == 0.0,
            Number::Complex(re, im) => re.is_zero() && im.is_zero(),
        }
    }
    /// `integer?`: also doubles without fraction.
    pub fn is_integer(&self) -> bool {
        match self {
            Number::Int(_) => true,
            Number::Flo(x) => x.is_finite() && x.fract() == 0.0,
            _ => false,
        }
    }
    /// Sign of a real number: less than zero? Looks through `-0.0` (not negative).
    pub fn is_negative(&self) -> bool {
        match self {
            Number::Int(n) | Number::Ratio(n, _) => n.is_negative(),
            Number::Flo(x) => *x < 0.0,
            Number::Complex(..) => false,
        }
    }
    /// Real part.
    pub fn real_part(&self) -> Number {
        match self {
            Number::Complex(re, _) => (**re).clone(),
            n => n.clone(),
        }
    }
    /// Imaginary part: exact zero for reals.
    pub fn imag_part(&self) -> Number {
        match self {
            Number::Complex(_, im) => (**im).clone(),
            _ => Number::ZERO,
        }
    }

    /// The nearest double of a real number; the real part of a complex one.
    pub fn to_f64(&self) -> f64 {
        match self {
            Number::Int(n) => n.to_f64(),
            Number::Ratio(n, d) => float::from_ratio(n.signed(&mut [0]), d.signed(&mut [0])),
            Number::Flo(x) => *x,
            Number::Complex(re, _) => re.to_f64(),
        }
    }
    /// `inexact`.
    pub fn to_inexact(&self) -> Number {
        match self {
            Number::Complex(re, im) => {
                Number::Complex(Box::new(Number::Flo(re.to_f64())), Box::new(Number::Flo(im.to_f64())))
            }
            n => Number::Flo(n.to_f64()),
        }
    }
    /// `exact`: `None` for infinities and NaN.
    pub fn to_exact(&self) -> Option<Number> {
        match self {
            Number::Flo(x) => exact_f64(*x),
            Number::Complex(re, im) => Some(Number::rectangular(re.to_exact()?, im.to_exact()?)),
            n => Some(n.clone()),
        }
    }

    /// Opposite: `(- x)`.
    pub fn neg(&self) -> Number {
        match self {
            Number::Int(n) => Number::Int(n.neg()),
            Number::Ratio(n, d) => Number::Ratio(n.neg(), d.clone()),
            Number::Flo(x) => Number::Flo(-x),
            Number::Complex(re, im) => Number::Complex(Box::new(re.neg()), Box::new(im.neg())),
        }
    }

    /// Can the nearest double, `x`, not stand for this real among flonums? Not if it is infinite, or zero, for an exact
    /// number that is not.
    pub(crate) fn is_beyond_f64(&self, x: f64) -> bool {
        self.is_exact() && (x.is_infinite() || x == 0.0 && !self.is_exact_zero())
    }

    /// An operation of two reals of which one is a flonum. An exact number beyond the range of flonums is finite and
    /// not zero all the same: with a finite flonum the result is that of exact numbers, rounded, and else it is that
    /// of any number of its sign.
    fn mixed(
        &self,
        b: &Number,
        op: impl Fn(f64, f64) -> f64,
        exact: impl Fn(&Number, &Number) -> Option<Number>,
    ) -> f64 {
        let (nearest, nearest_b) = (self.to_f64(), b.to_f64());
        if !self.is_beyond_f64(nearest) && !b.is_beyond_f64(nearest_b) {
            return op(nearest, nearest_b);
        }
        if let (Some(x), Some(y)) = (self.to_exact(), b.to_exact())
            && let Some(result) = exact(&x, &y)
            && !result.is_exact_zero()
        {
            return result.to_f64();
        }
        let sign = |n: &Number| match n {
            Number::Flo(x) => *x,
            n if n.is_negative() => -1.0,
            _ => 1.0,
        };
        op(sign(self), sign(b))
    }

    /// Sum.
    pub fn add(&self, b: &Number) -> Number {
        use Number::*;
        match (self, b) {
            (Int(x), Int(y)) => Int(x.add(y)),
            (Complex(..), _) | (_, Complex(..)) => {
                Number::rectangular(self.real_part().add(&b.real_part()), self.imag_part().add(&b.imag_part()))
            }
            (Flo(x), Flo(y)) => Flo(x + y),
            _ if self.is_exact_zero() => b.clone(),
            _ if b.is_exact_zero() => self.clone(),
            (Flo(_), _) | (_, Flo(_)) => Flo(self.mixed(b, |x, y| x + y, |x, y| Some(x.add(y)))),
            _ => self.add_ratio(b, crate::number::Int::add),
        }
    }

    /// Difference.
    pub fn sub(&self, b: &Number) -> Number {
        use Number::*;
        match (self, b) {
            (Int(x), Int(y)) => Int(x.sub(y)),
            (Complex(..), _) | (_, Complex(..)) => {
                Number::rectangular(self.real_part().sub(&b.real_part()), self.imag_part().sub(&b.imag_part()))
            }
            (Flo(x), Flo(y)) => Flo(x - y),
            _ if self.is_exact_zero() => b.neg(),
            _ if b.is_exact_zero() => self.clone(),
            (Flo(_), _) | (_, Flo(_)) => Flo(self.mixed(b, |x, y| x - y, |x, y| Some(x.sub(y)))),
            _ => self.add_ratio(b, crate::number::Int::sub),
        }
    }

    /// `n/d ± m/e` over the least common denominator (Knuth 4.5.1): the gcd of the result divides that of the
    /// denominators, so the last gcd is of small numbers.
    fn add_ratio(&self, b: &Number, op: fn(&Int, &Int) -> Int) -> Number {
        let ((n, d), (m, e)) = (self.fraction(), b.fraction());
        let g = d.gcd(&e);
        if g.is_one() {
            let num = op(&n.mul(&e), &m.mul(&d));
            let den = d.mul(&e);
            return if den.is_one() { Number::Int(num) } else { Number::Ratio(num, den) };
        }
        let (d1, e1) = (d.div_exact(&g), e.div_exact(&g));
        let t = op(&n.mul(&e1), &m.mul(&d1));
        let h = t.gcd(&g);
        let (num, den) = (t.div_exact(&h), d1.mul(&e.div_exact(&h)));
        if den.is_one() { Number::Int(num) } else { Number::Ratio(num, den) }
    }

    /// Numerator and denominator of an exact real.
    pub(crate) fn fraction(&self) -> (Int, Int) {
        match self {
            Number::Int(n) => (n.clone(), Int::ONE),
            Number::Ratio(n, d) => (n.clone(), d.clone()),
            _ => unreachable!("exact reals only"),
        }
    }

    /// Product.
    pub fn mul(&self, b: &Number) -> Number {
        use Number::*;
        match (self, b) {
            (Int(x), Int(y)) => Int(x.mul(y)),
            (Flo(x), Flo(y)) => Flo(x * y),
            (Complex(a, b), Complex(c, d)) => {
                Number::rectangular(a.mul(c).sub(&b.mul(d)), a.mul(d).add(&b.mul(c)))
            }
            (Complex(re, im), x) | (x, Complex(re, im)) => Number::rectangular(re.mul(x), im.mul(x)),
            (Flo(_), _) | (_, Flo(_)) => Flo(self.mixed(b, |x, y| x * y, |x, y| Some(x.mul(y)))),
            _ => {
                let ((n, d), (m, e)) = (self.fraction(), b.fraction());
                let (g, h) = (n.gcd(&e), m.gcd(&d));
                if n.is_zero() || m.is_zero() {
                    return Number::ZERO;
                }
                let num = n.div_exact(&g).mul(&m.div_exact(&h));
                let den = d.div_exact(&h).mul(&e.div_exact(&g));
                if den.is_one() { Int(num) } else { Ratio(num, den) }
            }
        }
    }

    /// Quotient; `None` when the divisor is exact zero and `self` is no flonum.
    pub fn div(&self, b: &Number) -> Option<Number> {
        use Number::*;
        Some(match (self, b) {
            // a flonum by exact zero is infinite or NaN, as by 0.0
            _ if b.is_exact_zero() && !matches!(self, Flo(_)) => return None,
            (Int(x), Int(y)) => return Number::ratio(x.clone(), y.clone()),
            (Flo(x), Flo(y)) => Flo(x / y),
            (_, Complex(c, d)) if b.is_exact() && self.is_exact() => {
                // (a + bi)(c - di) / (c² + d²)
                let norm = c.mul(c).add(&d.mul(d));
                let product = self.mul(&Complex(c.clone(), Box::new(d.neg())));
                Number::rectangular(product.real_part().div(&norm)?, product.imag_part().div(&norm)?)
            }
            (_, Complex(..)) => {
                let (x, y) = (self.complex_f64(), b.complex_f64());
                let (re, im) = divide_complex(x, y);
                Complex(Box::new(Flo(re)), Box::new(Flo(im)))
            }
            (Complex(re, im), x) => Number::rectangular(re.div(x)?, im.div(x)?),
            (Flo(_), _) | (_, Flo(_)) => Flo(self.mixed(b, |x, y| x / y, |x, y| x.div(y))),
            _ => {
                let (m, e) = b.fraction();
                let inverse = if m.is_negative() { (e.neg(), m.neg()) } else { (e, m) };
                let inverse = if inverse.1.is_one() { Int(inverse.0) } else { Ratio(inverse.0, inverse.1) };
                self.mul(&inverse)
            }
        })
    }

    /// Real and imaginary part as doubles.
    pub fn complex_f64(&self) -> (f64, f64) {
        match self {
            Number::Complex(re, im) => (re.to_f64(), im.to_f64()),
            n => (n.to_f64(), 0.0),
        }
    }

    /// `=`: exact, and so transitive.
    pub fn num_eq(&self, b: &Number) -> bool {
        match (self, b) {
            (Number::Complex(..), _) | (_, Number::Complex(..)) => {
                self.real_part().num_eq(&b.real_part()) && self.imag_part().num_eq(&b.imag_part())
            }
            _ => self.compare(b) == Some(Ordering::Equal),
        }
    }

    /// Order of two reals, without rounding; `None` with NaN or complex numbers.
    pub fn compare(&self, b: &Number) -> Option<Ordering> {
        use Number::*;
        match (self, b) {
            (Int(x), Int(y)) => Some(x.cmp(y)),
            (Flo(x), Flo(y)) => x.partial_cmp(y),
            (Int(x), Flo(y)) => x.compare_f64(*y),
            (Flo(x), Int(y)) => y.compare_f64(*x).map(Ordering::reverse),
            (Complex(..), _) | (_, Complex(..)) => None,
            (Flo(_), Ratio(..)) => b.compare(self).map(Ordering::reverse),
            (Ratio(..), Flo(y)) => match exact_f64(*y) {
                Some(y) => self.compare(&y),
                None => 0.0.partial_cmp(y), // infinities and NaN
            },
            _ => {
                let ((n, d), (m, e)) = (self.fraction(), b.fraction());
                Some(n.mul(&e).cmp(&m.mul(&d)))
            }
        }
    }

    /// A hash that agrees with `eqv?`.
    pub fn hash_value(&self) -> u64 {
        match self {
            Number::Int(n) => n.hash_value(),
            Number::Flo(x) => float::hash(*x),
            Number::Ratio(a, b) => a.hash_value().rotate_left(7) ^ b.hash_value(),
            Number::Complex(a, b) => a.hash_value().rotate_left(13) ^ b.hash_value(),
        }
    }
}

/// The exact value of a double; `None` when it is not finite.
pub fn exact_f64(x: f64) -> Option<Number> {
    if !x.is_finite() {
        return None;
    }
    if x.fract() == 0.0 {
        return Some(Number::Int(Int::from_f64(x)));
    }
    // a fraction: the exponent is negative and the mantissa can be made odd
    let p = float::decompose(x);
    let zeros = p.mantissa.trailing_zeros();
    let m = (p.mantissa >> zeros) as i64;
    let shift = -(p.exponent as i64 + zeros as i64);
    let den = Int::ONE.shift(shift).expect("at most 1074 bits");
    Some(Number::Ratio(Int::Fix(if p.negative { -m } else { m }), den))
}

/// The quotient of two complex numbers, by Smith's algorithm, which avoids overflow of the norm.
pub fn divide_complex((a, b): (f64, f64), (c, d): (f64, f64)) -> (f64, f64) {
    if c.abs() >= d.abs() {
        let r = d / c;
        let den = c + d * r;
        ((a + b * r) / den, (b - a * r) / den)
    } else {
        let r = c / d;
        let den = c * r + d;
        ((a * r + b) / den, (b * r - a) / den)
    }
}
