//! Exact integers against 128-bit machine arithmetic and against algebraic identities.

use cairn_num::Int;
use cairn_num::signed::{BitOp, Rounding};
use std::cmp::Ordering;

#[path = "../../../tests/support/random.rs"]
mod random;
use random::Random;

impl Random {
    /// A signed number of up to 126 bits; edges (powers of two and neighbours) are frequent.
    fn wide(&mut self) -> i128 {
        let bits = self.below(126) as u32;
        let m = (((self.next() as u128) << 64 | self.next() as u128) >> (127 - bits)) as i128;
        let m = match self.below(4) {
            0 => (1i128 << bits) + self.below(3) as i128 - 1,
            _ => m,
        };
        if self.below(2) == 0 { -m } else { m }
    }
    /// An integer of up to `limbs` limbs, with runs of ones and zeros.
    fn int(&mut self, limbs: u64) -> Int {
        let n = self.below(limbs + 1) as usize;
        let limbs = (0..n)
            .map(|_| match self.below(4) {
                0 => 0,
                1 => u64::MAX,
                _ => self.next(),
            })
            .collect();
        Int::from_limbs(self.below(2) == 0, limbs)
    }
}

/// Canonical: what fits a fixnum is one, and no leading zero limb.
#[track_caller]
fn canonical(n: &Int) -> &Int {
    if let Int::Big { limbs, .. } = n {
        assert_ne!(limbs.last(), Some(&0));
        assert!(limbs.len() > 1 || limbs[0] >= 1 << 60, "{n} should be a fixnum");
        assert_ne!(*n, Int::Big { negative: true, limbs: vec![1 << 60] });
    }
    n
}

#[track_caller]
fn same(got: Int, want: i128, what: &str, a: i128, b: i128) {
    canonical(&got);
    assert_eq!(got, Int::from(want), "{what} of {a} and {b}");
}

#[test]
fn agrees_with_machine_arithmetic() {
    let mut r = Random::seeded(1);
    for _ in 0..100_000 {
        let (a, b) = (r.wide(), r.wide());
        let (x, y) = (Int::from(a), Int::from(b));
        same(x.add(&y), a + b, "sum", a, b);
        same(x.sub(&y), a - b, "difference", a, b);
        if let Some(p) = a.checked_mul(b) {
            same(x.mul(&y), p, "product", a, b);
        }
        assert_eq!(x.cmp(&y), a.cmp(&b), "{a} against {b}");
        for (op, want) in [(BitOp::And, a & b), (BitOp::Or, a | b), (BitOp::Xor, a ^ b)] {
            same(x.bitwise(op, &y), want, "bits", a, b);
        }
        same(x.not(), !a, "not", a, 0);
        same(x.neg(), -a, "neg", a, 0);
        let s = r.below(140) as u32;
        same(x.shift(-(s as i64)).unwrap(), a >> s.min(127), "right shift", a, s as i128);
        if a.unsigned_abs().leading_zeros() > s + 1 {
            same(x.shift(s as i64).unwrap(), a << s, "left shift", a, s as i128);
        }
        let (ones, zeros) = (a.count_ones() as usize, a.count_zeros() as usize);
        assert_eq!(x.bit_count(), if a < 0 { zeros } else { ones }, "bit count of {a}");
        let length = 128 - if a < 0 { a.leading_ones() } else { a.leading_zeros() };
        assert_eq!(x.integer_length(), length as usize, "length of {a}");
        assert_eq!(x.to_f64().to_bits(), (a as f64).to_bits(), "double of {a}");
        assert_eq!(x.to_string(), a.to_string());
        if b != 0 {
            let (q, m) = x.div_rem(&y, Rounding::Truncate).unwrap();
            same(q, a / b, "quotient", a, b);
            same(m, a % b, "remainder", a, b);
            let (q, m) = x.div_rem(&y, Rounding::Floor).unwrap();
            let (fq, fm) =
                if a % b != 0 && (a % b < 0) != (b < 0) { (a / b - 1, a % b + b) } else { (a / b, a % b) };
            same(q, fq, "floor quotient", a, b);
            same(m, fm, "modulo", a, b);
        } else {
            assert_eq!(x.div_rem(&y, Rounding::Floor), None);
        }
    }
}

#[test]
fn identities_of_long_numbers() {
    let mut r = Random::seeded(2);
    for i in 0..4_000 {
        let size = if i % 40 == 0 { 200 } else { 9 };
        let (a, b, c) = (r.int(size), r.int(size), r.int(size / 2));
        let sum = a.add(&b);
        assert_eq!(*canonical(&sum.sub(&b)), a, "{a} + {b} - {b}");
        assert_eq!(a.mul(&c).add(&b.mul(&c)), *canonical(&sum.mul(&c)), "({a} + {b}) * {c}");
        assert_eq!(a.mul(&a).sub(&b.mul(&b)), sum.mul(&a.sub(&b)), "{a}² - {b}²");
        if !c.is_zero() {
            for rounding in [Rounding::Truncate, Rounding::Floor] {
                let (q, m) = a.div_rem(&c, rounding).unwrap();
                assert_eq!(canonical(&q).mul(&c).add(canonical(&m)), a, "{a} / {c}, {rounding:?}");
                assert_eq!(m.abs().cmp(&c.abs()), Ordering::Less, "{a} % {c}, {rounding:?}");
                let sign_of = if rounding == Rounding::Floor { &c } else { &a };
                assert!(m.is_zero() || m.is_negative() == sign_of.is_negative(), "{a} % {c}, {rounding:?}");
            }
            assert_eq!(a.mul(&c).div_rem(&c, Rounding::Truncate), Some((a.clone(), Int::ZERO)));
        }
        let g = a.gcd(&b);
        if !g.is_zero() {
            assert!(!canonical(&g).is_negative());
            let (x, y) = (a.div_exact(&g), b.div_exact(&g));
            assert_eq!(x.mul(&g), a);
            assert_eq!(y.mul(&g), b);
            assert!(x.gcd(&y).is_one(), "gcd of {a} and {b}");
        }
        assert_eq!(a.mul(&c).gcd(&b.mul(&c)), g.mul(&c.abs()), "gcd of multiples of {c}");
        // a & b + a | b = a + b; a ^ b = (a | b) - (a & b)
        let (and, or) = (a.bitwise(BitOp::And, &b), a.bitwise(BitOp::Or, &b));
        assert_eq!(canonical(&and).add(canonical(&or)), sum);
        assert_eq!(a.bitwise(BitOp::Xor, &b), or.sub(&and));
        let k = r.below(300) as i64;
        let power = Int::Fix(2).pow(k as u64).unwrap();
        assert_eq!(a.shift(k).unwrap(), a.mul(&power));
        assert_eq!(a.shift(-k), a.div_rem(&power, Rounding::Floor).map(|(q, _)| q), "{a} >> {k}");
        let (root, rest) = a.abs().sqrt_rem().unwrap();
        assert_eq!(root.mul(&root).add(&rest), a.abs());
        assert!(rest <= root.add(&root), "root of {a}");
        assert_eq!(a.mul(&a).exact_sqrt(), Some(a.abs()));
    }
}

#[test]
fn digits_in_every_radix() {
    let mut r = Random::seeded(3);
    for radix in 2..=36 {
        for _ in 0..60 {
            let a = r.int(12);
            let mut text = String::new();
            a.push_digits(&mut text, radix);
            let digits: Vec<u8> =
                text.trim_start_matches('-').chars().map(|c| c.to_digit(radix).unwrap() as u8).collect();
            assert!(digits.len() == 1 || digits[0] != 0, "{text}");
            // Horner's rule, independent of the kernels' radix conversion
            let value =
                digits.iter().fold(Int::ZERO, |n, &d| n.mul(&Int::Fix(radix as i64)).add(&Int::Fix(d as i64)));
            assert_eq!(value, a.abs(), "{text} in radix {radix}");
            assert_eq!(Int::from_digits(&digits, radix), a.abs());
        }
    }
}

#[test]
fn powers() {
    let p = Int::Fix(-3).pow(101).unwrap();
    assert_eq!(p.to_string(), "-1546132562196033993109383389296863818106322566003");
    assert_eq!(Int::Fix(10).pow(0), Some(Int::ONE));
    assert_eq!(Int::Fix(0).pow(0), Some(Int::ONE));
    assert_eq!(Int::Fix(0).pow(u64::MAX), Some(Int::ZERO));
    assert_eq!(Int::Fix(-1).pow(u64::MAX), Some(Int::Fix(-1)));
    assert_eq!(Int::Fix(2).pow(1 << 40), None);
    assert_eq!(Int::Fix(1).shift(1 << 50), None);
    assert_eq!(Int::Fix(-24).pow(5), Some(Int::from(-7962624i64)));
    assert_eq!(Int::Fix(-5).shift(i64::MIN), Some(Int::Fix(-1)));
}

#[test]
fn doubles_are_rounded_once() {
    let mut r = Random::seeded(4);
    for _ in 0..20_000 {
        let a = r.int(5);
        // the standard library reads decimal digits with correct rounding
        let want: f64 = a.to_string().parse().unwrap();
        assert_eq!(a.to_f64().to_bits(), (want + 0.0).to_bits(), "{a}");
        let back = Int::from_f64(want);
        assert_eq!(canonical(&back).to_f64(), want);
        assert_eq!(a.compare_f64(want), Some(a.cmp(&back)), "{a} against {want}");
    }
    assert_eq!(Int::Fix(10).pow(309).unwrap().to_f64(), f64::INFINITY);
    assert_eq!(Int::Fix(10).pow(309).unwrap().compare_f64(f64::INFINITY), Some(Ordering::Less));
    assert_eq!(Int::Fix(1).compare_f64(f64::NAN), None);
    let n = (1i64 << 53) + 1;
    assert_eq!(Int::from(n).compare_f64(n as f64), Some(Ordering::Greater));
    assert_eq!(Int::Fix(0).compare_f64(-0.0), Some(Ordering::Equal));
    assert_eq!(Int::Fix(-3).compare_f64(-2.5), Some(Ordering::Less));
}
