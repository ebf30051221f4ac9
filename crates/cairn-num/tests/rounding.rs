//! Text to double and back, against exact arithmetic.
//!
//! The oracle knows nothing of floating point but its definition: the double nearest to a rational number, of two
//! equally near the one with the even mantissa. It compares `numerator/denominator` with the midpoints around the
//! answer, by products of integers kept as digits in base 10⁹, so that it shares no code with what it checks.

use cairn_num::{Number, format_number, parse_number};
use std::cmp::Ordering;

#[path = "../../../tests/support/random.rs"]
mod random;
use random::Random;

/// A natural number: digits in base 10⁹, least significant first, no leading zeros.
#[derive(Clone, PartialEq, Debug)]
struct Natural(Vec<u32>);

const BASE: u64 = 1_000_000_000;

impl Natural {
    fn from(n: u64) -> Natural {
        Natural(vec![]).times_plus(1, n)
    }
    fn trim(mut self) -> Natural {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }
    /// `self * by + plus`.
    fn times_plus(&self, by: u64, plus: u64) -> Natural {
        let mut carry = plus as u128;
        let mut out = vec![];
        for d in &self.0 {
            carry += *d as u128 * by as u128;
            out.push((carry % BASE as u128) as u32);
            carry /= BASE as u128;
        }
        while carry > 0 {
            out.push((carry % BASE as u128) as u32);
            carry /= BASE as u128;
        }
        Natural(out).trim()
    }
    fn power(base: u64, n: u64) -> Natural {
        (0..n).fold(Natural::from(1), |x, _| x.times_plus(base, 0))
    }
    fn times(&self, other: &Natural) -> Natural {
        let mut out = vec![0u64; self.0.len() + other.0.len() + 1];
        for (i, a) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (j, b) in other.0.iter().enumerate() {
                let x = out[i + j] + *a as u64 * *b as u64 + carry;
                out[i + j] = x % BASE;
                carry = x / BASE;
            }
            out[i + other.0.len()] += carry;
        }
        Natural(out.iter().map(|d| *d as u32).collect()).trim()
    }
    fn from_decimal(digits: &str) -> Natural {
        digits.bytes().fold(Natural(vec![]), |n, d| n.times_plus(10, (d - b'0') as u64))
    }
    fn decimal(&self) -> String {
        let mut out = String::new();
        for (i, d) in self.0.iter().rev().enumerate() {
            out += &if i == 0 { d.to_string() } else { format!("{d:09}") };
        }
        if out.is_empty() { "0".into() } else { out }
    }
    fn compare(&self, other: &Natural) -> Ordering {
        (self.0.len().cmp(&other.0.len())).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

/// `mantissa * 2^exponent` of a positive finite double.
fn parts(x: f64) -> (u64, i64) {
    let bits = x.to_bits();
    let (e, m) = ((bits >> 52) as i64 & 0x7FF, bits & ((1 << 52) - 1));
    if e == 0 { (m, -1074) } else { (m | 1 << 52, e - 1075) }
}

/// Compares `n/d` with `m * 2^e`.
fn compare(n: &Natural, d: &Natural, m: u64, e: i64) -> Ordering {
    let (mut left, mut right) = (n.clone(), d.times(&Natural::from(m)));
    let power = Natural::power(2, e.unsigned_abs());
    if e > 0 {
        right = right.times(&power)
    } else {
        left = left.times(&power)
    }
    left.compare(&right)
}

/// Is this the double nearest to `n/d`?
fn is_nearest(x: f64, n: &Natural, d: &Natural) -> bool {
    if x.is_infinite() {
        // from half-way between the greatest double and 2^1024 on
        return compare(n, d, (1 << 54) - 1, 970) != Ordering::Less;
    }
    let (m, e) = parts(x);
    // midpoints with the neighbours, in units of a quarter; below a power of two the doubles are twice as dense
    let above = compare(n, d, 4 * m + 2, e - 2);
    let below = if m == 0 {
        Ordering::Greater
    } else if m == 1 << 52 && e > -1074 {
        compare(n, d, 4 * m - 1, e - 2)
    } else {
        compare(n, d, 4 * m - 2, e - 2)
    };
    match (below, above) {
        (Ordering::Greater, Ordering::Less) => true,
        (Ordering::Equal, _) | (_, Ordering::Equal) => m % 2 == 0,
        _ => false,
    }
}

fn read(text: &str) -> f64 {
    match parse_number(text, 10) {
        Some(Number::Flo(x)) => x,
        other => panic!("{text} reads as {other:?}"),
    }
}

/// The exact decimal digits of `m * 2^e`, and the power of ten that they are multiplied with.
fn exact(m: u64, e: i64) -> (String, i64) {
    let n = Natural::from(m);
    if e >= 0 {
        (n.times(&Natural::power(2, e as u64)).decimal(), 0)
    } else {
        (n.times(&Natural::power(5, e.unsigned_abs())).decimal(), e)
    }
}

/// This number in one of the ways to write it.
fn written(r: &mut Random, digits: &str, exponent: i64) -> String {
    let zeros = "0".repeat(r.below(4usize));
    match r.below(4u32) {
        0 => format!("{zeros}{digits}e{exponent}"),
        1 => {
            let at = r.below(digits.len());
            let point = exponent + (digits.len() - at) as i64;
            format!("{zeros}{}.{}e{point}", &digits[..at], &digits[at..])
        }
        2 => {
            // zeros after the digits do not matter
            let more = r.below(30usize);
            format!("{digits}{}E{}", "0".repeat(more), exponent - more as i64)
        }
        // positional, as long as that may be
        _ if exponent <= 0 => {
            let padded = format!("{}{digits}", "0".repeat(exponent.unsigned_abs() as usize));
            let at = padded.len() - exponent.unsigned_abs() as usize;
            format!("{}.{}", &padded[..at], &padded[at..])
        }
        _ => format!("{digits}{}.", "0".repeat(exponent as usize)),
    }
}

#[track_caller]
fn check(r: &mut Random, digits: &str, exponent: i64) {
    let n = Natural::from_decimal(digits);
    let power = Natural::power(10, exponent.unsigned_abs());
    let (n, d) = if exponent >= 0 { (n.times(&power), Natural::from(1)) } else { (n, power) };
    let text = written(r, digits, exponent);
    let x = read(&text);
    assert!(is_nearest(x, &n, &d), "{text} reads as {x:e}");
    assert_eq!(read(&format!("-{text}")), -x, "-{text}");
    assert_eq!(read(&format!("#i{text}")).to_bits(), x.to_bits(), "#i{text}");
    // the exact number of this text, rounded, is the same
    if let Some(exact) = parse_number(&format!("#e{text}"), 10) {
        assert_eq!(exact.to_f64().to_bits(), x.to_bits(), "#e{text}");
    }
}

fn any_exponent(r: &mut Random) -> u64 {
    // most numbers are of ordinary size; the ends of the range are special
    match r.below(8u32) {
        0 => 0,
        1 => 1 + r.below(3u64),
        2 => 2046 - r.below(3u64),
        3 => r.below(2047u64),
        _ => 900 + r.below(250u64),
    }
}

/// Exactly half-way between two doubles, and one unit of the last digit (or of one much further on) to either side.
#[test]
fn halves_round_to_even_and_nothing_else_does() {
    let mut r = Random::seeded(11);
    let count = if cfg!(debug_assertions) { 400 } else { 2_000 };
    for _ in 0..count {
        let mantissa = match r.below(4u32) {
            0 => 0,
            1 => (1 << 52) - 1,
            _ => r.next() >> 12,
        };
        let x = f64::from_bits(any_exponent(&mut r) << 52 | mantissa);
        let (m, e) = parts(x);
        let (digits, exponent) = exact(2 * m + 1, e - 1);
        check(&mut r, &digits, exponent);
        // far beyond the 19 digits that fit a word
        let more = 1 + r.below(40usize);
        let (up, down) = (format!("{digits}{}1", "0".repeat(more - 1)), Natural::from_decimal(&digits));
        check(&mut r, &up, exponent - more as i64);
        let below = down.times(&Natural::power(10, more as u64)).decimal();
        let below = below.trim_end_matches('0');
        // one less: …5000 becomes …4999
        let last = below.as_bytes()[below.len() - 1] - 1;
        let nines = "9".repeat(digits.len() + more - below.len());
        let below = format!("{}{}{nines}", &below[..below.len() - 1], last as char);
        check(&mut r, &below, exponent - more as i64);
    }
}

#[test]
fn any_digits_are_rounded_correctly() {
    let mut r = Random::seeded(12);
    let count = if cfg!(debug_assertions) { 3_000 } else { 20_000 };
    for _ in 0..count {
        let length = 1 + if r.below(2u32) == 0 { r.below(22usize) } else { r.below(60usize) };
        let mut digits: String = (0..length).map(|_| (b'0' + r.below(10u8)) as char).collect();
        if digits.trim_start_matches('0').is_empty() {
            digits.push('7');
        }
        let exponent = r.below(60i64) - 40 - if r.below(4u32) == 0 { 290 } else { 0 };
        check(&mut r, digits.trim_start_matches('0'), exponent);
    }
}

/// What is written reads back, and with a digit less it would not.
#[test]
fn what_is_written_is_shortest() {
    let mut r = Random::seeded(13);
    for _ in 0..3_000 {
        let x = f64::from_bits(any_exponent(&mut r) << 52 | r.next() >> 12);
        let text = format_number(&Number::Flo(x), 10);
        assert_eq!(read(&text).to_bits(), x.to_bits(), "{text}");
        let (body, exponent) = text.split_once('e').map_or((text.as_str(), 0), |(b, e)| (b, e.parse().unwrap()));
        let (whole, fraction) = body.split_once('.').unwrap_or((body, ""));
        let digits = format!("{whole}{fraction}");
        let exponent: i64 = exponent - fraction.len() as i64;
        let digits = digits.trim_start_matches('0');
        let zeros = digits.len() - digits.trim_end_matches('0').len();
        let (digits, exponent) = (&digits[..digits.len() - zeros], exponent + zeros as i64);
        if digits.len() < 2 {
            continue;
        }
        // the two numbers with a digit less on either side
        let shorter = digits[..digits.len() - 1].to_string();
        let next = Natural::from_decimal(&shorter).times_plus(1, 1).decimal();
        for other in [shorter, next] {
            assert_ne!(
                read(&format!("{other}e{}", exponent + 1)).to_bits(),
                x.to_bits(),
                "{text} could be {other}"
            );
        }
    }
}

/// Ratios and bignums become doubles by one correct rounding, in every radix.
#[test]
fn exact_numbers_round_correctly() {
    let mut r = Random::seeded(14);
    for _ in 0..3_000 {
        let number = |r: &mut Random| {
            let bits = 1 + r.below(200u64);
            (0..bits).fold(Natural::from(1), |n, _| n.times_plus(2, r.below(2u64)))
        };
        let (mut n, mut d) = (number(&mut r), number(&mut r));
        if r.below(3u32) == 0 {
            // a half, exactly
            let m = (1 << 52 | r.next() >> 12) * 2 + 1;
            (n, d) = (Natural::from(m), Natural::power(2, r.below(80u64)));
            let both = number(&mut r);
            (n, d) = (n.times(&both), d.times(&both));
        }
        let text = format!("{}/{}", n.decimal(), d.decimal());
        let x = parse_number(&text, 10).unwrap().to_f64();
        assert!(is_nearest(x, &n, &d), "{text} becomes {x:e}");
        let product = n.times(&d);
        let whole = parse_number(&product.decimal(), 10).unwrap();
        assert!(is_nearest(whole.to_f64(), &product, &Natural::from(1)), "{}", product.decimal());
        for radix in [2, 3, 7, 16, 36] {
            let text = format_number(&whole, radix);
            assert_eq!(parse_number(&text, radix).as_ref(), Some(&whole), "{text} in radix {radix}");
        }
    }
}

/// A prefix makes of a number what `exact` or `inexact` makes of it without one, where no digits are lost.
#[test]
fn prefixes_convert() {
    let parts = ["1", "-2", "0", "1.5", "-0.25", "3/4", "1e3", "12345678901234567890"];
    let mut texts: Vec<String> = parts.iter().map(|p| p.to_string()).collect();
    for (i, a) in parts.iter().enumerate() {
        let b = parts[(i * 4 + 1) % parts.len()];
        let sign = if b.starts_with('-') { "" } else { "+" };
        texts.extend([format!("{a}{sign}{b}i"), format!("{a}@{b}"), format!("{sign}{b}i"), format!("{a}-i")]);
    }
    for text in texts {
        let n = parse_number(&text, 10).unwrap_or_else(|| panic!("{text}"));
        let exact = parse_number(&format!("#e{text}"), 10).unwrap_or_else(|| panic!("#e{text}"));
        assert!(exact.is_exact(), "#e{text}");
        assert_eq!(Some(&exact), n.to_exact().as_ref(), "#e{text}");
        if text.contains('@') {
            continue; // the angle of zero is lost, or is not
        }
        let inexact = parse_number(&format!("#i{text}"), 10).unwrap_or_else(|| panic!("#i{text}"));
        assert_eq!(inexact, n.to_inexact(), "#i{text}");
    }
}
