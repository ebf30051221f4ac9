//! Text to number: the numeric syntax of R7RS section 7.1.1.
//!
//! ```text
//!  number  = prefix* ( real | real "@" real | real? sign ureal? "i" | real? infnan "i" )
//!  prefix  = "#" (x b o d e i)      one radix and one exactness, either order, either case
//!  real    = sign? ureal | infnan
//!  ureal   = digits | digits "/" digits | digits "." digits? exponent?     (exponent in radix 10)
//! ```
//!
//! The idea: one pass without backtracking over bytes; a real is first taken apart ([`Real`]) without computing,
//! because its exactness and value depend on the prefix: `#e1.5` is exact, `#i1/3` is one rounding of an exact ratio.
//! Doubles in radix 10 are read by Rust's correctly rounded `f64` parser; in other radices a point is accepted as an
//! extension, so that what `number->string` writes can be read.
//!
//! Limits: exact numbers whose exponent would make them longer than [`crate::int::MAX_BITS`] are not numbers.

use crate::number::{Int, Number};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Exactness {
    Exact,
    Inexact,
    ByForm,
}

/// A real as written.
enum Real {
    /// `+inf.0` and friends.
    Special(f64),
    /// Digits.
    Finite {
        negative: bool,
        /// Digit values, point removed.
        digits: Vec<u8>,
        /// Digits after the point; `None` without point and exponent.
        scale: Option<i64>,
        denominator: Option<Vec<u8>>,
    },
}

/// The number that `text` denotes, or `None` when it is not the syntax of a number (or divides by zero).
///
/// `radix` (2..=36) is what holds without a radix prefix.
pub fn parse_number(text: &str, radix: u32) -> Option<Number> {
    if let Some(n) = parse_plain(text.as_bytes(), radix) {
        return Some(n);
    }
    let mut p = Parser { text: text.as_bytes(), at: 0, radix, exactness: Exactness::ByForm };
    p.prefixes()?;
    p.complex()
}

/// Fast path for what most numbers look like: a small decimal or other integer, or a plain decimal fraction. `None`
/// says nothing.
fn parse_plain(text: &[u8], radix: u32) -> Option<Number> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.is_empty() || digits.len() > 20 {
        return None;
    }
    let mut n = 0;
    let all_digits = digits.iter().all(|c| match (*c as char).to_digit(radix) {
        Some(d) => {
            n = n * radix as i128 + d as i128; // 36^20 < 2^104
            true
        }
        None => false,
    });
    if all_digits {
        return Some(Number::Int(Int::from(if digits.len() < text.len() { -n } else { n })));
    }
    // Rust's floats are Scheme's when they have a point and neither letters nor exponents
    let is_fraction =
        radix == 10 && digits.iter().all(|c| c.is_ascii_digit() || *c == b'.') && digits.contains(&b'.');
    if !is_fraction {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok().map(Number::Flo)
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    radix: u32,
    exactness: Exactness,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).map(u8::to_ascii_lowercase)
    }
    fn eat(&mut self, c: u8) -> bool {
        let found = self.peek() == Some(c);
        self.at += found as usize;
        found
    }
    fn at_end(&self) -> bool {
        self.at == self.text.len()
    }

    fn prefixes(&mut self) -> Option<()> {
        let (mut radix, mut exactness) = (false, false);
        while self.eat(b'#') {
            let c = self.peek()?;
            self.at += 1;
            let base = match c {
                b'x' => 16,
                b'b' => 2,
                b'o' => 8,
                b'd' => 10,
                b'e' | b'i' if !exactness => {
                    exactness = true;
                    self.exactness = if c == b'e' { Exactness::Exact } else { Exactness::Inexact };
                    continue;
                }
                _ => return None,
            };
            if std::mem::replace(&mut radix, true) {
                return None;
            }
            self.radix = base;
        }
        Some(())
    }

    fn complex(&mut self) -> Option<Number> {
        let signed = matches!(self.peek(), Some(b'+' | b'-'));
        if signed && self.is_unit() {
            return self.imaginary(Number::ZERO);
        }
        let first = self.real()?;
        match self.peek() {
            None => self.value(first),
            Some(b'i') if signed => {
                self.at += 1;
                let im = self.value(first)?;
                self.at_end().then(|| Number::rectangular(Number::ZERO, im))
            }
            Some(b'@') => {
                self.at += 1;
                let angle = self.real()?;
                if !self.at_end() {
                    return None;
                }
                let polar = Number::polar(&self.value(first)?, &self.value(angle)?);
                if self.exactness == Exactness::Exact { polar.to_exact() } else { Some(polar) }
            }
            Some(b'+' | b'-') => {
                let re = self.value(first)?;
                self.imaginary(re)
            }
            _ => None,
        }
    }

    /// Just a sign and the final `i`?
    fn is_unit(&self) -> bool {
        self.text.len() == self.at + 2 && self.text[self.at + 1].eq_ignore_ascii_case(&b'i')
    }

    /// The signed imaginary part and its `i`, to the end.
    fn imaginary(&mut self, re: Number) -> Option<Number> {
        let im = if self.is_unit() {
            let unit = Real::Finite { negative: self.eat(b'-'), digits: vec![1], scale: None, denominator: None };
            self.at = self.text.len() - 1;
            unit
        } else {
            self.real()?
        };
        let im = self.value(im)?;
        (self.eat(b'i') && self.at_end()).then(|| Number::rectangular(re, im))
    }

    fn real(&mut self) -> Option<Real> {
        let negative = match self.peek()? {
            c @ (b'+' | b'-') => {
                self.at += 1;
                if let Some(word) = self.text.get(self.at..self.at + 5) {
                    let special = match word.to_ascii_lowercase().as_slice() {
                        b"inf.0" if c == b'-' => Some(f64::NEG_INFINITY),
                        b"inf.0" => Some(f64::INFINITY),
                        b"nan.0" => Some(f64::NAN),
                        _ => None,
                    };
                    if let Some(x) = special {
                        self.at += 5;
                        return Some(Real::Special(x));
                    }
                }
                c == b'-'
            }
            _ => false,
        };
        let mut digits = Vec::new();
        self.digits(&mut digits);
        let whole = digits.len();
        if whole > 0 && self.eat(b'/') {
            let mut denominator = Vec::new();
            self.digits(&mut denominator);
            let denominator = (!denominator.is_empty()).then_some(denominator)?;
            return Some(Real::Finite { negative, digits, scale: None, denominator: Some(denominator) });
        }
        let mut scale = None;
        if self.eat(b'.') {
            self.digits(&mut digits);
            scale = Some((digits.len() - whole) as i64);
        }
        if digits.is_empty() {
            return None;
        }
        if self.radix == 10 && matches!(self.peek(), Some(b'e' | b's' | b'f' | b'd' | b'l')) {
            scale = Some(scale.unwrap_or(0) - self.exponent()?);
        }
        Some(Real::Finite { negative, digits, scale, denominator: None })
    }

    fn digits(&mut self, out: &mut Vec<u8>) {
        while let Some(d) = self.peek().and_then(|c| (c as char).to_digit(self.radix)) {
            out.push(d as u8);
            self.at += 1;
        }
    }

    /// Exponent, saturating far outside what doubles and exact numbers can hold.
    fn exponent(&mut self) -> Option<i64> {
        self.at += 1;
        let negative = self.eat(b'-');
        if !negative {
            self.eat(b'+');
        }
        let (start, mut n) = (self.at, 0i64);
        while let Some(d) = self.peek().filter(u8::is_ascii_digit) {
            n = (n * 10 + (d - b'0') as i64).min(1 << 48);
            self.at += 1;
        }
        (self.at > start).then_some(if negative { -n } else { n })
    }

    fn value(&self, real: Real) -> Option<Number> {
        let (negative, digits, scale, denominator) = match real {
            Real::Special(x) => return (self.exactness != Exactness::Exact).then_some(Number::Flo(x)),
            Real::Finite { negative, digits, scale, denominator } => (negative, digits, scale, denominator),
        };
        let inexact =
            self.exactness == Exactness::Inexact || (self.exactness == Exactness::ByForm && scale.is_some());
        if inexact && self.radix == 10 && denominator.is_none() {
            return Some(Number::Flo(decimal(negative, &digits, -scale.unwrap_or(0))));
        }
        let mut n = Int::from_digits(&digits, self.radix);
        let negative_zero = negative && n.is_zero();
        if negative {
            n = n.neg();
        }
        let exact = match (denominator, scale) {
            (Some(d), _) => Number::ratio(n, Int::from_digits(&d, self.radix))?,
            (None, None | Some(0)) => Number::Int(n),
            (None, Some(_)) if n.is_zero() => Number::Int(n),
            (None, Some(scale)) => {
                let power = Int::Fix(self.radix as i64).pow(scale.unsigned_abs())?;
                if scale < 0 { Number::Int(n.mul(&power)) } else { Number::ratio(n, power)? }
            }
        };
        if !inexact {
            return Some(exact);
        }
        Some(Number::Flo(if negative_zero { -0.0 } else { exact.to_f64() }))
    }
}

/// `digits * 10^exponent`, correctly rounded.
fn decimal(negative: bool, digits: &[u8], exponent: i64) -> f64 {
    let mut text = String::with_capacity(digits.len() + 24);
    if negative {
        text.push('-');
    }
    text.extend(digits.iter().map(|d| (b'0' + d) as char));
    text.push('e');
    text.push_str(&exponent.to_string());
    text.parse().expect("digits and an exponent are a float literal")
}
