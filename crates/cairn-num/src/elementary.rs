//! Elementary functions: `exp`, `log`, trigonometry, `sqrt`, `expt`, polar form.
//!
//! The problem: these are defined on the whole complex plane, must give exact results where the standard or common
//! sense asks for it (`(sqrt 16)`, `(exp 0)`, `(expt 2/3 5)`), and must not fail on exact numbers beyond the range of
//! doubles. The idea: exact cases first; then doubles through the C library's functions; complex arguments through
//! formulas on pairs of doubles. Branch cuts are those of R7RS 6.2.6.
//!
//! Inverse sine and cosine follow Kahan, "Branch cuts for complex elementary functions" (1987), because the textbook
//! formula loses all digits near the cuts; a real argument is placed on the side of the cut that R7RS asks for.

use crate::fault::Fault;
use crate::float;
use crate::number::{Int, Number};
use crate::signed::Rounding;
use std::f64::consts::{LN_2, PI};

/// A complex number in doubles.
#[derive(Clone, Copy, Debug)]
pub struct Z {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Z {
    fn of(n: &Number) -> Z {
        let (re, im) = n.complex_f64();
        Z { re, im }
    }
    fn number(self) -> Number {
        Number::rectangular(Number::Flo(self.re), Number::Flo(self.im))
    }
    fn mul(self, w: Z) -> Z {
        Z { re: self.re * w.re - self.im * w.im, im: self.re * w.im + self.im * w.re }
    }
    /// `exp`.
    pub fn exp(self) -> Z {
        let m = self.re.exp();
        Z { re: m * self.im.cos(), im: m * self.im.sin() }
    }
    /// `log`.
    pub fn ln(self) -> Z {
        Z { re: self.re.hypot(self.im).ln(), im: self.im.atan2(self.re) }
    }
    /// Principal root: real part positive, or zero and imaginary part not negative.
    fn root(self) -> Z {
        if self.re == 0.0 && self.im == 0.0 {
            return Z { re: 0.0, im: self.im };
        }
        if self.im.is_infinite() {
            return Z { re: f64::INFINITY, im: self.im };
        }
        // halve first where the norm would overflow
        let scale = if self.re.abs().max(self.im.abs()) > 1e300 { 0.25 } else { 1.0 };
        let (re, im) = (self.re * scale, self.im * scale);
        let t = ((re.abs() + re.hypot(im)) * 0.5).sqrt();
        let back = 1.0 / scale.sqrt();
        let other = im.abs() / (2.0 * t);
        if re >= 0.0 {
            Z { re: t * back, im: other.copysign(self.im) * back }
        } else {
            Z { re: other * back, im: t.copysign(self.im) * back }
        }
    }
    /// `sqrt`: the principal root, whose imaginary part is not negative where the real part is zero.
    pub fn sqrt(self) -> Z {
        let z = self.root();
        Z { im: if z.re == 0.0 { z.im.abs() } else { z.im }, ..z }
    }
}

/// Applies a real function inside its real domain, a complex one elsewhere.
fn apply(n: &Number, in_domain: fn(f64) -> bool, real: fn(f64) -> f64, complex: fn(Z) -> Z) -> Number {
    if n.is_real() {
        let x = n.to_f64();
        if in_domain(x) || x.is_nan() {
            return Number::Flo(real(x));
        }
    }
    complex(Z::of(n)).number()
}

fn everywhere(_: f64) -> bool {
    true
}

fn unit(x: f64) -> bool {
    x.abs() <= 1.0
}

/// `sin` of a complex number.
pub fn sin(z: Z) -> Z {
    Z { re: z.re.sin() * z.im.cosh(), im: z.re.cos() * z.im.sinh() }
}

/// `cos` of a complex number.
pub fn cos(z: Z) -> Z {
    Z { re: z.re.cos() * z.im.cosh(), im: -(z.re.sin() * z.im.sinh()) }
}

/// `tan` of a complex number.
pub fn tan(z: Z) -> Z {
    if z.im.abs() > 20.0 {
        // cosh swamps cos: avoid its overflow
        return Z { re: 2.0 * (2.0 * z.re).sin() * (-2.0 * z.im.abs()).exp(), im: 1f64.copysign(z.im) };
    }
    let den = (2.0 * z.re).cos() + (2.0 * z.im).cosh();
    Z { re: (2.0 * z.re).sin() / den, im: (2.0 * z.im).sinh() / den }
}

/// `sqrt(1 - z)` and `sqrt(1 + z)`; an argument on a cut of asin and acos is taken as continuous with quadrant II on
/// the left and quadrant IV on the right.
fn roots(z: Z) -> (Z, Z) {
    let im = if z.im == 0.0 { 0f64.copysign(-z.re) } else { z.im };
    (Z { re: 1.0 - z.re, im: -im }.root(), Z { re: 1.0 + z.re, im }.root())
}

/// `asin` of a complex number.
pub fn asin(z: Z) -> Z {
    let (minus, plus) = roots(z);
    let product = minus.mul(plus);
    let cross = minus.re * plus.im - minus.im * plus.re; // Im(conj(minus) * plus)
    Z { re: z.re.atan2(product.re), im: cross.asinh() }
}

/// `acos` of a complex number.
pub fn acos(z: Z) -> Z {
    let (minus, plus) = roots(z);
    let cross = plus.re * minus.im - plus.im * minus.re; // Im(conj(plus) * minus)
    Z { re: 2.0 * minus.re.atan2(plus.re), im: cross.asinh() }
}

/// `atan` of a complex number.
pub fn atan(z: Z) -> Z {
    let Z { re: a, im: b } = z;
    let re = 0.5 * (2.0 * a).atan2(1.0 - a * a - b * b);
    let im = 0.25 * ((a * a + (b + 1.0) * (b + 1.0)) / (a * a + (b - 1.0) * (b - 1.0))).ln();
    Z { re, im }
}

impl Number {
    /// `exp`; exact 0 gives exact 1.
    pub fn exp(&self) -> Number {
        if self.is_exact_zero() { Number::ONE } else { apply(self, everywhere, f64::exp, Z::exp) }
    }
    /// `sin`; exact 0 gives exact 0.
    pub fn sin(&self) -> Number {
        if self.is_exact_zero() { Number::ZERO } else { apply(self, everywhere, f64::sin, sin) }
    }
    /// `cos`; exact 0 gives exact 1.
    pub fn cos(&self) -> Number {
        if self.is_exact_zero() { Number::ONE } else { apply(self, everywhere, f64::cos, cos) }
    }
    /// `tan`; exact 0 gives exact 0.
    pub fn tan(&self) -> Number {
        if self.is_exact_zero() { Number::ZERO } else { apply(self, everywhere, f64::tan, tan) }
    }
    /// `asin`; exact 0 gives exact 0.
    pub fn asin(&self) -> Number {
        if self.is_exact_zero() { Number::ZERO } else { apply(self, unit, f64::asin, asin) }
    }
    /// `acos`; exact 1 gives exact 0.
    pub fn acos(&self) -> Number {
        if self.is_exact_one() { Number::ZERO } else { apply(self, unit, f64::acos, acos) }
    }
    /// `atan` of one argument; exact 0 gives exact 0. Fails at `+i` and `-i`.
    pub fn atan(&self) -> Result<Number, Fault> {
        if self.is_exact_zero() {
            return Ok(Number::ZERO);
        }
        if let Number::Complex(re, im) = self
            && re.is_exact_zero()
            && matches!(**im, Number::Int(Int::Fix(1 | -1)))
        {
            return Err(Fault::Range { argument: 1 });
        }
        Ok(apply(self, everywhere, f64::atan, atan))
    }
    /// `(atan y x)` on reals: the angle of `x + yi`.
    pub fn atan2(&self, x: &Number) -> Result<Number, Fault> {
        for (n, argument) in [(self, 1), (x, 2)] {
            if !n.is_real() {
                return Err(Fault::kind(argument, "a real number"));
            }
        }
        if self.is_exact_zero() && x.is_exact() {
            if x.is_exact_zero() {
                return Err(Fault::Range { argument: 2 });
            }
            if !x.is_negative() {
                return Ok(Number::ZERO);
            }
        }
        let (mut a, mut b) = (self.to_f64(), x.to_f64());
        if self.is_exact() && x.is_exact() && !x.is_zero() && (a.is_infinite() || b.is_infinite()) {
            // only the ratio matters
            a = self.div(x).map_or(a, |r| r.to_f64());
            b = 1.0;
            if x.is_negative() {
                (a, b) = (-a, -b);
            }
        }
        Ok(Number::Flo(a.atan2(b)))
    }

    /// Natural logarithm; exact 1 gives exact 0. Negative reals give complex results; exact 0 fails.
    pub fn log(&self) -> Result<Number, Fault> {
        if self.is_exact_one() {
            return Ok(Number::ZERO);
        }
        if self.is_exact_zero() {
            return Err(Fault::Range { argument: 1 });
        }
        Ok(match self {
            Number::Complex(..) => Z::of(self).ln().number(),
            // The imaginary part is the angle, of a negative zero as well.
            Number::Flo(x) if *x == 0.0 && x.is_sign_negative() => {
                Number::rectangular(Number::Flo(f64::NEG_INFINITY), Number::Flo(PI))
            }
            n if n.is_negative() => Number::rectangular(Number::Flo(ln_positive(&n.neg())), Number::Flo(PI)),
            n => Number::Flo(ln_positive(n)),
        })
    }

    /// Principal square root, exact for squares of rational numbers.
    pub fn sqrt(&self) -> Number {
        match self {
            Number::Complex(..) => self.sqrt_complex(),
            Number::Flo(x) if *x < 0.0 => Number::rectangular(Number::Flo(0.0), Number::Flo((-x).sqrt())),
            Number::Flo(x) => Number::Flo(x.sqrt()),
            n if n.is_negative() => Number::rectangular(Number::ZERO, sqrt_positive(&n.neg())),
            n => sqrt_positive(n),
        }
    }

    fn sqrt_complex(&self) -> Number {
        if let (Number::Complex(a, b), true) = (self, self.is_exact()) {
            // with m = |z|: sqrt(z) = sqrt((m + a) / 2) ± i sqrt((m - a) / 2)
            let m = sqrt_positive(&a.mul(a).add(&b.mul(b)));
            if m.is_exact() {
                let half = |x: Number| x.div(&Number::from(2)).expect("two is not zero");
                let (re, im) = (sqrt_positive(&half(m.add(a))), sqrt_positive(&half(m.sub(a))));
                if re.is_exact() && im.is_exact() {
                    return Number::rectangular(re, if b.is_negative() { im.neg() } else { im });
                }
            }
        }
        Z::of(self).sqrt().number()
    }

    /// `expt`: exact for exact base and integer exponent.
    pub fn expt(&self, exponent: &Number) -> Result<Number, Fault> {
        match exponent {
            Number::Int(n) => self.expt_integer(n),
            Number::Ratio(n, Int::Fix(2)) if self.is_exact() && self.is_real() && !self.is_negative() => {
                match self.sqrt() {
                    root if root.is_exact() => root.expt_integer(n),
                    _ => self.expt_inexact(exponent),
                }
            }
            _ => self.expt_inexact(exponent),
        }
    }

    fn expt_integer(&self, n: &Int) -> Result<Number, Fault> {
        match self {
            Number::Flo(x) => {
                let y = n.to_f64();
                let size = x.abs().powf(y);
                Ok(Number::Flo(if x.is_sign_negative() && n.is_odd() { -size } else { size }))
            }
            Number::Complex(..) if !self.is_exact() && n.bits() > 10 => self.expt_inexact(&Number::Int(n.clone())),
            _ if n.is_negative() => Number::ONE.div(&self.expt_integer(&n.neg())?).ok_or(Fault::DivisionByZero),
            Number::Int(b) => Ok(Number::Int(power(b, n)?)),
            // powers of coprime numbers are coprime
            Number::Ratio(a, b) => Ok(Number::Ratio(power(a, n)?, power(b, n)?)).map(|r| match r {
                Number::Ratio(_, d) if d.is_one() => Number::ONE,
                r => r,
            }),
            Number::Complex(..) => {
                let mut k = n.to_i64().filter(|k| *k < 1 << 32).ok_or(Fault::Range { argument: 2 })?;
                let (mut result, mut square) = (Number::ONE, self.clone());
                while k > 0 {
                    if k & 1 == 1 {
                        result = result.mul(&square);
                    }
                    k >>= 1;
                    if k > 0 {
                        square = square.mul(&square);
                    }
                }
                Ok(result)
            }
        }
    }

    fn expt_inexact(&self, exponent: &Number) -> Result<Number, Fault> {
        if self.is_real() && exponent.is_real() {
            let (x, y) = (self.to_f64(), exponent.to_f64());
            if exponent.is_beyond_f64(y) && y == 0.0 && (self.is_zero() || x.is_infinite() && !self.is_exact()) {
                // the exponent is not zero
                let y = if exponent.is_negative() { -1.0 } else { 1.0 };
                return Ok(Number::Flo(x.abs().powf(y)));
            }
            let odd_domain = x < 0.0 && y.is_finite() && y.fract() != 0.0;
            if !odd_domain && !self.is_beyond_f64(x) {
                return Ok(Number::Flo(x.powf(y)));
            }
            if self.is_beyond_f64(x) && !y.is_finite() {
                let size = if x == 0.0 { 0.5 } else { 2.0_f64 };
                return Ok(Number::Flo(size.powf(y)));
            }
        }
        if self.is_zero() {
            // 0^z is 0 when the real part of z is positive
            return match exponent.real_part().compare(&Number::ZERO) {
                Some(std::cmp::Ordering::Greater) => {
                    Ok(if self.is_exact() { Number::ZERO } else { Number::Flo(0.0) })
                }
                _ => Err(Fault::DivisionByZero),
            };
        }
        Ok(exponent.mul(&self.log()?).exp())
    }

    /// `make-polar`; an exact zero angle or magnitude gives an exact result.
    pub fn polar(magnitude: &Number, angle: &Number) -> Number {
        if angle.is_exact_zero() || magnitude.is_exact_zero() {
            return magnitude.clone();
        }
        let (m, a) = (magnitude.to_f64(), angle.to_f64());
        Number::rectangular(Number::Flo(m * a.cos()), Number::Flo(m * a.sin()))
    }

    /// `magnitude`; `abs` on reals.
    pub fn magnitude(&self) -> Number {
        match self {
            Number::Complex(a, b) if self.is_exact() => sqrt_positive(&a.mul(a).add(&b.mul(b))),
            Number::Complex(a, b) => Number::Flo(a.to_f64().hypot(b.to_f64())),
            Number::Flo(x) => Number::Flo(x.abs()),
            n if n.is_negative() => n.neg(),
            n => n.clone(),
        }
    }

    /// `angle`: exact 0 for exact non-negative reals.
    pub fn angle(&self) -> Number {
        match self {
            Number::Complex(a, b) => Number::Flo(b.to_f64().atan2(a.to_f64())),
            Number::Flo(x) if x.is_nan() => Number::Flo(*x),
            Number::Flo(x) => Number::Flo(if x.is_sign_negative() { PI } else { 0.0 }),
            n if n.is_negative() => Number::Flo(PI),
            _ => Number::ZERO,
        }
    }
}

/// Power of an integer with any non-negative exponent.
fn power(b: &Int, n: &Int) -> Result<Int, Fault> {
    let too_large = Fault::Range { argument: 2 };
    match (b, n) {
        (Int::Fix(0 | 1), n) => b.pow(!n.is_zero() as u64).ok_or(too_large),
        (Int::Fix(-1), n) => b.pow(n.is_odd() as u64).ok_or(too_large),
        (_, Int::Fix(n)) => b.pow(*n as u64).ok_or(too_large),
        _ => Err(too_large),
    }
}

/// Natural logarithm of a real that is not negative, also outside the range of doubles.
fn ln_positive(n: &Number) -> f64 {
    match n {
        Number::Int(i) => ln_int(i),
        Number::Ratio(a, b) => {
            let x = n.to_f64();
            if x.is_normal() { x.ln() } else { ln_int(a) - ln_int(b) }
        }
        n => n.to_f64().ln(),
    }
}

fn ln_int(n: &Int) -> f64 {
    let x = n.to_f64();
    if x.is_finite() {
        return x.ln();
    }
    let cut = n.bits() as i64 - 1000;
    let top = n.shift(-cut).expect("right shifts always fit").to_f64();
    top.ln() + cut as f64 * LN_2
}

/// Square root of an exact number that is not negative.
fn sqrt_positive(n: &Number) -> Number {
    match n {
        Number::Int(i) => {
            if let Some(root) = i.exact_sqrt() {
                return Number::Int(root);
            }
            let x = i.to_f64();
            if x.is_finite() {
                return Number::Flo(x.sqrt());
            }
            // the integer root has hundreds of bits, enough for one rounding
            i.sqrt_rem().map_or(Number::Flo(f64::NAN), |(root, _)| Number::Flo(root.to_f64()))
        }
        Number::Ratio(a, b) => {
            if let (Some(p), Some(q)) = (a.exact_sqrt(), b.exact_sqrt()) {
                return Number::Ratio(p, q);
            }
            let x = n.to_f64();
            if x.is_normal() {
                return Number::Flo(x.sqrt());
            }
            // out of range: scale the ratio to a large integer by an even power of two
            let shift = (b.bits() as i64 - a.bits() as i64 + 200) & !1;
            let (a, b) =
                if shift >= 0 { (a.shift(shift), Some(b.clone())) } else { (Some(a.clone()), b.shift(-shift)) };
            let (Some(a), Some(b)) = (a, b) else { return Number::Flo(x.sqrt()) };
            let whole = a.div_rem(&b, Rounding::Truncate).map_or(Int::ZERO, |(q, _)| q);
            let root = whole.sqrt_rem().map_or(Int::ZERO, |(r, _)| r).to_f64();
            Number::Flo(scale_by_power(root, -shift / 2))
        }
        n => n.sqrt(),
    }
}

/// `x * 2^e` in steps that stay in range.
fn scale_by_power(mut x: f64, mut e: i64) -> f64 {
    while e != 0 && x != 0.0 && x.is_finite() {
        let step = e.clamp(-1000, 1000);
        x *= float::compose(1 << 63, step - 63, false);
        e -= step;
    }
    x
}
