//! Number to text.
//!
//! The problem: text must read back as the same number, and be as short as that allows. The idea: exact numbers are
//! digits of integers; for doubles in radix 10 Rust's own shortest digits, laid out as Scheme programs expect
//! (positional up to `1e21`, always with a point or an exponent); for doubles in other radices the free-format
//! algorithm of Steele & White (1990) in exact integers, positional always, since `e` may be a digit.
//!
//! ```text
//!  1.0   0.5   -0.0   100000000000000000000.0   1e21   1.5e-7   +inf.0   -inf.0   +nan.0   1/3   1+2i   -i   0.0+1.5i
//! ```

use crate::float;
use crate::number::{Int, Number};
use std::fmt::Write;

/// Text of a number in `radix` (2..=36), which reads back as the same number in the same radix.
pub fn format_number(n: &Number, radix: u32) -> String {
    let mut out = String::new();
    push_number(&mut out, n, radix);
    out
}

/// Appends what [`format_number`] returns.
pub fn push_number(out: &mut String, n: &Number, radix: u32) {
    match n {
        Number::Int(n) => n.push_digits(out, radix),
        Number::Ratio(n, d) => {
            n.push_digits(out, radix);
            out.push('/');
            d.push_digits(out, radix);
        }
        Number::Flo(x) => push_f64(out, *x, radix),
        Number::Complex(re, im) => {
            if !re.is_exact_zero() {
                push_number(out, re, radix);
            }
            let mut part = String::new();
            match &**im {
                Number::Int(Int::Fix(1)) => part.push('+'),
                Number::Int(Int::Fix(-1)) => part.push('-'),
                im => push_number(&mut part, im, radix),
            }
            if !part.starts_with(['+', '-']) {
                out.push('+');
            }
            out.push_str(&part);
            out.push('i');
        }
    }
}

/// Appends a double.
pub fn push_f64(out: &mut String, x: f64, radix: u32) {
    if !x.is_finite() {
        out.push_str(if x.is_nan() {
            "+nan.0"
        } else if x > 0.0 {
            "+inf.0"
        } else {
            "-inf.0"
        });
        return;
    }
    if radix != 10 {
        return push_f64_radix(out, x, radix);
    }
    let size = x.abs();
    // writing to a String cannot fail
    if (1e16..1e21).contains(&size) {
        let _ = write!(out, "{x}.0");
    } else {
        let _ = write!(out, "{x:?}");
    }
}

/// Steele & White's free-format algorithm: the shortest digits that identify `x` among doubles.
fn push_f64_radix(out: &mut String, x: f64, radix: u32) {
    let p = float::decompose(x);
    if p.negative {
        out.push('-');
    }
    if p.mantissa == 0 {
        out.push_str("0.0");
        return;
    }
    let int = |n: u64| Int::from(n);
    let two = |n: i64| Int::ONE.shift(n).expect("exponents of doubles are small");
    let base = int(radix as u64);
    // x = r/s, and half the gaps to the neighbours are low/s and high/s
    let e = p.exponent as i64;
    let narrow = p.mantissa == 1 << 52 && p.exponent > -1074; // the gap below is half the gap above
    let factor = if narrow { 4 } else { 2 };
    let (mut r, mut s) =
        (int(p.mantissa).mul(&int(factor)).mul(&two(e.max(0))), int(factor).mul(&two((-e).max(0))));
    let low = two(e.max(0));
    let high = if narrow { low.add(&low) } else { low.clone() };
    let (mut low, mut high) = (low, high);
    let even = p.mantissa & 1 == 0;
    // find the position of the first digit: x + high < radix^k
    let mut k = 0i64;
    let too_big = |r: &Int, h: &Int, s: &Int| {
        let t = r.add(h);
        if even { t >= *s } else { t > *s }
    };
    while too_big(&r, &high, &s) {
        s = s.mul(&base);
        k += 1;
    }
    while !too_big(&r.mul(&base), &high.mul(&base), &s) {
        (r, low, high) = (r.mul(&base), low.mul(&base), high.mul(&base));
        k -= 1;
    }
    let mut digits = Vec::new();
    loop {
        (r, low, high) = (r.mul(&base), low.mul(&base), high.mul(&base));
        let (d, rest) = r.div_rem(&s, crate::signed::Rounding::Truncate).expect("scale is not zero");
        r = rest;
        let d = d.to_i64().expect("a digit") as u8;
        let under = if even { r <= low } else { r < low };
        let over = too_big(&r, &high, &s);
        if !under && !over {
            digits.push(d);
            continue;
        }
        let round_up = if under && over { r.add(&r) >= s } else { over };
        digits.push(d + round_up as u8);
        break;
    }
    let text = |d: &u8| char::from_digit(*d as u32, radix).expect("digit below the radix");
    if k <= 0 {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', -k as usize));
        out.extend(digits.iter().map(text));
        return;
    }
    let whole = (k as usize).min(digits.len());
    out.extend(digits[..whole].iter().map(text));
    out.extend(std::iter::repeat_n('0', k as usize - whole));
    out.push('.');
    out.extend(digits[whole..].iter().map(text));
    if whole == digits.len() {
        out.push('0');
    }
}
