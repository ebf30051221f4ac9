//! Arithmetic on heap values against the owned numbers of `cairn-num`, which have their own tests.

use super::operand::{from_number, make_parts};
use super::*;
use crate::access;
use crate::bare_runtime::TestRuntime;
use crate::equality::eqv;
use cairn_layout::Value;
use cairn_layout::machine::{Machine, error as kind};
use cairn_layout::object::Type;
use cairn_num::division::{Division, Round};
use cairn_num::signed::BitOp;
use cairn_num::{Int, Number, format_number, parse_number};
use std::cmp::Ordering;

#[path = "../../../../tests/support/random.rs"]
mod random;
use random::Random;

/// Fails unless every part of `v` is in canonical form.
#[track_caller]
fn canonical(v: Value) {
    if access::is(v, Type::Bignum) {
        let limbs = access::limbs(v);
        assert!(limbs.last().is_some_and(|l| *l != 0), "leading zero limb");
        let negative = access::is_negative_bignum(v);
        assert!(!matches!(Int::from_limbs(negative, limbs.to_vec()), Int::Fix(_)), "bignum fits a fixnum");
    } else if access::is(v, Type::Flonum) {
        let x = access::flonum_of(v).unwrap();
        assert!(Value::try_flonum(x).is_none(), "{x} is boxed without need");
    } else if access::is(v, Type::Ratnum) || access::is(v, Type::Compnum) {
        access::words(v).iter().for_each(|part| canonical(*part));
    }
}

impl Random {
    fn int(&mut self) -> Int {
        let n = match self.below(20) {
            0..8 => 1,
            8..12 => 2,
            12..18 => self.below(12),
            18 => self.below(60),
            _ => self.below(3) * 700, // up to beyond the size of large objects
        };
        let limbs: Vec<u64> = (0..n)
            .map(|_| match self.below(4) {
                0 => 0,
                1 => u64::MAX,
                _ => self.next(),
            })
            .collect();
        let int = Int::from_limbs(self.below(2) == 0, limbs);
        match self.below(3) {
            0 => int.shift(-(self.below(64) as i64)).unwrap(),
            1 => {
                Int::from((int.to_i64().unwrap_or(1 << 60) >> self.below(64)) as i128 + self.below(3) as i128 - 1)
            }
            _ => int,
        }
    }
    fn real(&mut self) -> Number {
        match self.below(8) {
            0..4 => Number::Int(self.int()),
            4 => {
                let den = Int::from(self.next() >> self.below(64));
                Number::ratio(self.int(), den.add(&Int::ONE)).unwrap()
            }
            5 => Number::Flo(self.below(2000) as f64 / 8.0 - 100.0),
            6 => Number::Flo([0.0, -0.0, f64::INFINITY, f64::NAN, 1e300, 1e-300][self.below(6) as usize]),
            _ => Number::Flo(f64::from_bits(self.next())),
        }
    }
    fn number(&mut self) -> Number {
        if self.below(8) == 0 { Number::rectangular(self.real(), self.real()) } else { self.real() }
    }
}

/// Unwraps what must not have failed.
#[track_caller]
fn value(v: Value) -> Value {
    assert_ne!(v, Value::FAIL, "the call failed");
    canonical(v);
    v
}

fn show(n: &Number) -> String {
    let text = format_number(n, 10);
    if text.len() > 200 { format!("{}… ({} characters)", &text[..60], text.len()) } else { text }
}

type Call2 = extern "C" fn(&mut Machine, Value, Value) -> Value;

#[test]
fn arithmetic_agrees_with_owned_numbers() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let mut r = Random::seeded(11);
    for _ in 0..5_000 {
        let (x, y) = (r.number(), r.number());
        let y = if r.below(16) == 0 { x.clone() } else { y };
        let a = value(from_number(ctx, &x));
        let b = if x == y { a } else { value(from_number(ctx, &y)) };
        assert_eq!(to_number(a).unwrap(), x, "there and back");
        let calls: [(&str, Call2, Number); 3] =
            [("+", cairn_num_add, x.add(&y)), ("-", cairn_num_sub, x.sub(&y)), ("*", cairn_num_mul, x.mul(&y))];
        for (name, call, want) in calls {
            let got = to_number(value(call(ctx, a, b))).unwrap();
            assert_eq!(got, want, "({name} {} {})", show(&x), show(&y));
        }
        let quotient = cairn_num_div(ctx, a, b);
        match x.div(&y) {
            Some(want) => assert_eq!(to_number(value(quotient)).unwrap(), want, "(/ {} {})", show(&x), show(&y)),
            None => assert_eq!(quotient, Value::FAIL),
        }
        assert_eq!(cairn_num_eq(ctx, a, b), Value::bool(x.num_eq(&y)), "(= {} {})", show(&x), show(&y));
        if x.is_real() && y.is_real() {
            let order = x.compare(&y);
            assert_eq!(cairn_num_lt(ctx, a, b), Value::bool(order == Some(Ordering::Less)));
            assert_eq!(cairn_num_le(ctx, a, b), Value::bool(order.is_some_and(Ordering::is_le)));
        } else {
            assert_eq!(cairn_num_lt(ctx, a, b), Value::FAIL);
        }
        assert!(eqv(a, b) == (x == y) && eqv(a, a));
        let exact = cairn_num_exact(ctx, a);
        match x.to_exact() {
            Some(want) => assert_eq!(to_number(value(exact)).unwrap(), want, "(exact {})", show(&x)),
            None => assert_eq!(exact, Value::FAIL),
        }
        assert_eq!(to_number(value(cairn_num_inexact(ctx, a))).unwrap(), x.to_inexact());
        if x.is_real() {
            let calls: [(extern "C" fn(&mut Machine, Value) -> Value, Round); 4] = [
                (cairn_num_floor, Round::Floor),
                (cairn_num_ceiling, Round::Ceiling),
                (cairn_num_truncate, Round::Truncate),
                (cairn_num_round, Round::Nearest),
            ];
            for (call, way) in calls {
                assert_eq!(
                    to_number(value(call(ctx, a))).unwrap(),
                    x.round_to(way).unwrap(),
                    "{way:?} {}",
                    show(&x)
                );
            }
        }
    }
}

/// Fractions with parts at the edges of fixnums, of machine words and of what is coprime.
#[test]
fn fractions_agree_with_owned_numbers() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let edge = 1_i64 << 60;
    let parts = [0, 1, -1, 2, -3, 6, 1 << 30, -(1 << 31), 3 << 40, edge - 1, edge, -edge, -edge - 1, i64::MAX];
    let numbers: Vec<Number> = (parts.iter())
        .flat_map(|n| parts.iter().map(|d| (Int::from(i128::from(*n)), Int::from(i128::from(*d)))))
        .filter_map(|(n, d)| Number::ratio(n, d))
        .collect();
    for x in &numbers {
        for y in &numbers {
            let (a, b) = (value(from_number(ctx, x)), value(from_number(ctx, y)));
            let calls: [(&str, Call2, Option<Number>); 4] = [
                ("+", cairn_num_add, Some(x.add(y))),
                ("-", cairn_num_sub, Some(x.sub(y))),
                ("*", cairn_num_mul, Some(x.mul(y))),
                ("/", cairn_num_div, x.div(y)),
            ];
            for (name, call, want) in calls {
                let got = call(ctx, a, b);
                match want {
                    Some(want) => {
                        assert_eq!(to_number(value(got)), Some(want), "({name} {} {})", show(x), show(y));
                    }
                    None => assert_eq!(got, Value::FAIL),
                }
            }
            assert_eq!(cairn_num_eq(ctx, a, b), Value::bool(x.num_eq(y)), "(= {} {})", show(x), show(y));
            let less = x.compare(y) == Some(Ordering::Less);
            assert_eq!(cairn_num_lt(ctx, a, b), Value::bool(less), "(< {} {})", show(x), show(y));
        }
    }
}

#[test]
fn integer_operations_agree_with_owned_integers() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let mut r = Random::seeded(12);
    for _ in 0..5_000 {
        let (x, y) = (r.int(), r.int());
        let (a, b) = (from_number(ctx, &Number::Int(x.clone())), from_number(ctx, &Number::Int(y.clone())));
        let int = |v: Value| match to_number(value(v)) {
            Some(Number::Int(n)) => n,
            n => panic!("not an exact integer: {n:?}"),
        };
        let divisions: [(Call2, Division); 4] = [
            (cairn_num_quotient, Division::Quotient),
            (cairn_num_remainder, Division::Remainder),
            (cairn_num_modulo, Division::Modulo),
            (cairn_num_floor_quotient, Division::FloorQuotient),
        ];
        for (call, op) in divisions {
            let got = call(ctx, a, b);
            match op.exact(&x, &y) {
                Some(want) => assert_eq!(int(got), want, "{op:?} of {x} and {y}"),
                None => assert_eq!(got, Value::FAIL),
            }
        }
        assert_eq!(int(cairn_num_gcd(ctx, a, b)), x.gcd(&y), "gcd of {x} and {y}");
        let bits: [(Call2, BitOp); 3] =
            [(cairn_num_and, BitOp::And), (cairn_num_or, BitOp::Or), (cairn_num_xor, BitOp::Xor)];
        for (call, op) in bits {
            assert_eq!(int(call(ctx, a, b)), x.bitwise(op, &y), "{op:?} of {x} and {y}");
        }
        assert_eq!(int(cairn_num_not(ctx, a)), x.not());
        let left = r.below(300) as i64 - 150;
        assert_eq!(int(cairn_num_shift(ctx, a, Value::fixnum(left))), x.shift(left).unwrap(), "{x} << {left}");
        assert_eq!(cairn_num_bit_count(ctx, a), Value::fixnum(x.bit_count() as i64));
        assert_eq!(cairn_num_integer_length(ctx, a), Value::fixnum(x.integer_length() as i64));
        let root = cairn_num_exact_integer_sqrt(ctx, a);
        match x.sqrt_rem() {
            Some((p, q)) => assert_eq!((int(access::car(root)), int(access::cdr(root))), (p, q), "root of {x}"),
            None => assert_eq!(root, Value::FAIL),
        }
    }
}

/// Reads, applies, prints.
#[track_caller]
fn check1(call: extern "C" fn(&mut Machine, Value) -> Value, x: &str, want: &str) {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let a = from_number(ctx, &parse_number(x, 10).unwrap());
    let got = to_number(value(call(ctx, a))).unwrap();
    assert_eq!(format_number(&got, 10), want);
}

#[test]
fn functions_of_one_argument() {
    check1(cairn_num_sqrt, "16", "4");
    check1(cairn_num_sqrt, "-4", "+2i");
    check1(cairn_num_sqrt, "4503599761588225", "67108865"); // (2^26 + 1)²
    check1(cairn_num_sqrt, "4503599761588226", "67108865.0"); // not exact
    check1(cairn_num_sqrt, "-2.25", "0.0+1.5i");
    check1(cairn_num_exp, "0", "1");
    check1(cairn_num_log, "1", "0");
    check1(cairn_num_log, "0.0", "-inf.0");
    check1(cairn_num_asin, "0", "0");
    check1(cairn_num_atan, "0", "0");
    check1(cairn_num_numerator, "6/4", "3");
    check1(cairn_num_denominator, "0.75", "4.0");
    check1(cairn_num_real_part, "1+2i", "1");
    check1(cairn_num_imag_part, "7", "0");
    check1(cairn_num_magnitude, "3+4i", "5");
    check1(cairn_num_magnitude, "-7/2", "7/2");
    check1(cairn_num_angle, "5", "0");
}

#[test]
fn predicates_take_any_object_or_fail() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let cases = [
        // text, integer?, rational?, exact?, nan?, infinite?
        ("5", [true, true, true, false, false]),
        ("100000000000000000000", [true, true, true, false, false]),
        ("1/2", [false, true, true, false, false]),
        ("5.0", [true, true, false, false, false]),
        ("5.5", [false, true, false, false, false]),
        ("+inf.0", [false, false, false, false, true]),
        ("+nan.0", [false, false, false, true, false]),
        ("1+2i", [false, false, true, false, false]),
        ("1.0+inf.0i", [false, false, false, false, true]),
        ("+nan.0+inf.0i", [false, false, false, true, true]),
    ];
    for (text, want) in cases {
        let v = from_number(ctx, &parse_number(text, 10).unwrap());
        let got = [
            cairn_num_is_integer(ctx, v),
            cairn_num_is_rational(ctx, v),
            cairn_num_is_exact(ctx, v),
            cairn_num_is_nan(ctx, v),
            cairn_num_is_infinite(ctx, v),
        ];
        assert_eq!(got, want.map(Value::bool), "{text}");
        assert_eq!(cairn_num_is_finite(ctx, v), Value::bool(!want[3] && !want[4]), "finite? {text}");
    }
    assert_eq!(cairn_num_is_integer(ctx, Value::NIL), Value::FALSE);
    assert_eq!(cairn_num_is_rational(ctx, Value::TRUE), Value::FALSE);
    assert_eq!(cairn_num_is_exact(ctx, Value::NIL), Value::FAIL);
    assert_eq!(cairn_num_is_finite(ctx, Value::NIL), Value::FAIL);
}

#[test]
fn mistakes_fail_with_their_kind() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let (one, zero, nil) = (Value::fixnum(1), Value::fixnum(0), Value::NIL);
    let half = make_parts(ctx, Type::Ratnum, one, Value::fixnum(2));
    let calls: [(Call2, Value, Value, i64); 18] = [
        (cairn_num_add, one, nil, kind::TYPE),
        (cairn_num_add, nil, one, kind::TYPE),
        (cairn_num_mul, Value::TRUE, half, kind::TYPE),
        (cairn_num_div, nil, zero, kind::TYPE),
        (cairn_num_div, one, zero, kind::DIVISION),
        (cairn_num_div, half, zero, kind::DIVISION),
        (cairn_num_quotient, one, zero, kind::DIVISION),
        (cairn_num_modulo, one, half, kind::TYPE),
        (cairn_num_modulo, nil, one, kind::TYPE),
        (cairn_num_gcd, half, one, kind::TYPE),
        (cairn_num_lt, one, nil, kind::TYPE),
        (cairn_num_eq, nil, nil, kind::TYPE),
        (cairn_num_and, one, half, kind::TYPE),
        (cairn_num_shift, one, Value::fixnum(1 << 50), kind::RANGE),
        (cairn_num_expt, Value::fixnum(3), Value::fixnum(1 << 50), kind::RANGE),
        (cairn_num_expt, zero, Value::fixnum(-1), kind::DIVISION),
        (cairn_num_to_string, one, Value::fixnum(1), kind::TYPE),
        (cairn_num_from_string, one, Value::fixnum(10), kind::TYPE),
    ];
    for (i, (call, a, b, want)) in calls.into_iter().enumerate() {
        assert_eq!(call(ctx, a, b), Value::FAIL, "case {i}");
        let failure = crate::runtime::rt(ctx).failure.take();
        assert_eq!(failure.map(|f| f.kind), Some(want), "case {i}");
    }
}

#[test]
fn text_goes_both_ways() {
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    for (text, radix, want) in [
        ("12345678901234567890123", 10, Some("12345678901234567890123")),
        ("ff", 16, Some("ff")),
        ("#xff", 10, Some("255")),
        ("1e2", 10, Some("100.0")),
        ("-1/2+3i", 10, Some("-1/2+3i")),
        ("abc", 10, None),
        ("1é", 10, None),
        ("", 10, None),
    ] {
        let s = crate::alloc::make_string(ctx, text);
        let n = cairn_num_from_string(ctx, s, Value::fixnum(radix));
        match want {
            None => assert_eq!(n, Value::FALSE, "{text}"),
            Some(want) => {
                let back = cairn_num_to_string(ctx, value(n), Value::fixnum(radix));
                assert_eq!(access::string_text(back), want);
            }
        }
    }
}

/// What is computed at once is what the owned numbers say: of fixnums and doubles in every pair.
#[test]
fn functions_are_those_of_the_owned_numbers() {
    type Function = (fn(&mut Machine, Value) -> Value, fn(&Number) -> Option<Number>);
    let functions: [Function; 9] = [
        (|c, v| cairn_num_exp(c, v), |n| Some(n.exp())),
        (|c, v| cairn_num_log(c, v), |n| n.log().ok()),
        (|c, v| cairn_num_sin(c, v), |n| Some(n.sin())),
        (|c, v| cairn_num_cos(c, v), |n| Some(n.cos())),
        (|c, v| cairn_num_tan(c, v), |n| Some(n.tan())),
        (|c, v| cairn_num_asin(c, v), |n| Some(n.asin())),
        (|c, v| cairn_num_acos(c, v), |n| Some(n.acos())),
        (|c, v| cairn_num_atan(c, v), |n| n.atan().ok()),
        (|c, v| cairn_num_sqrt(c, v), |n| Some(n.sqrt())),
    ];
    type Operation = (fn(&mut Machine, Value, Value) -> Value, fn(&Number, &Number) -> Option<Number>);
    let operations: [Operation; 6] = [
        (|c, a, b| cairn_num_atan2(c, a, b), |a, b| a.atan2(b).ok()),
        (|c, a, b| cairn_num_expt(c, a, b), |a, b| a.expt(b).ok()),
        (|c, a, b| cairn_num_quotient(c, a, b), |a, b| a.divide_integers(Division::Quotient, b).ok()),
        (|c, a, b| cairn_num_remainder(c, a, b), |a, b| a.divide_integers(Division::Remainder, b).ok()),
        (|c, a, b| cairn_num_modulo(c, a, b), |a, b| a.divide_integers(Division::Modulo, b).ok()),
        (|c, a, b| cairn_num_floor_quotient(c, a, b), |a, b| a.divide_integers(Division::FloorQuotient, b).ok()),
    ];
    let fixnums = [0, 1, -1, 2, -2, 3, 7, -7, 31, 62, 63, 64, 100, -100, (1 << 53) + 1, (1 << 60) - 1, -(1 << 60)];
    let doubles = [0.0, -0.0, 0.5, 1.0, -1.0, 2.0, -2.5, 3.0, -7.0, 64.0, 1e17, 9007199254740993.0, f64::INFINITY];
    let mut numbers: Vec<Number> = fixnums.into_iter().map(|n| Number::Int(Int::Fix(n))).collect();
    numbers.extend(doubles.into_iter().chain([f64::NEG_INFINITY, f64::NAN]).map(Number::Flo));
    numbers.extend(
        ["1.5+2.5i", "-2.0+0.0i", "-2.0-0.0i", "0.0-1.0i", "1e200-1e200i", "3+4i", "1/2-2i"]
            .map(|z| parse_number(z, 10).expect("a number")),
    );
    let mut t = TestRuntime::new();
    let ctx = t.ctx();
    let text = |n: &Number| format_number(n, 10);
    let check = |ctx: &mut Machine, found: Value, wanted: Option<Number>, what: &str| match wanted {
        None => {
            assert_eq!(found, Value::FAIL, "{what}");
            crate::runtime::rt(ctx).failure = None;
        }
        Some(wanted) => {
            canonical(found);
            let found = super::operand::to_number(found).unwrap();
            assert_eq!(text(&found), text(&wanted), "{what}");
        }
    };
    for (i, a) in numbers.iter().enumerate() {
        for (f, (call, of)) in functions.iter().enumerate() {
            let v = from_number(ctx, a);
            let found = call(ctx, v);
            check(ctx, found, of(a), &format!("function {f} of {}", text(a)));
        }
        // powers with large exponents take all memory
        for b in &numbers[..] {
            for (f, (call, of)) in operations.iter().enumerate() {
                let huge = |n: &Number| matches!(n, Number::Int(Int::Fix(n)) if n.unsigned_abs() > 100);
                if f == 1 && huge(b) && (i > 2 && i < fixnums.len()) {
                    continue;
                }
                let (x, y) = (from_number(ctx, a), from_number(ctx, b));
                let found = call(ctx, x, y);
                check(ctx, found, of(a, b), &format!("operation {f} of {} and {}", text(a), text(b)));
            }
        }
    }
}
