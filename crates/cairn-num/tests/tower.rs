//! The whole tower through text: `check("(+ 1/2 1/3)", "5/6")` style, and identities of ratios.

use cairn_num::division::{Division, Round};
use cairn_num::{Fault, Number, format_number, parse_number};
use std::cmp::Ordering;

#[path = "../../../tests/support/random.rs"]
mod random;
use random::Random;

fn n(text: &str) -> Number {
    parse_number(text, 10).unwrap_or_else(|| panic!("bad number in test: {text}"))
}

#[track_caller]
fn check(got: Number, want: &str) {
    assert_eq!(format_number(&got, 10), want);
}

/// Within a few units in the last place, component by component.
#[track_caller]
fn near(got: Number, want: &str) {
    let ((a, b), (c, d)) = (got.complex_f64(), n(want).complex_f64());
    let close = |x: f64, y: f64| (x - y).abs() <= 1e-14 * y.abs().max(1.0);
    assert!(close(a, c) && close(b, d) && !got.is_exact(), "got {}, want {want}", format_number(&got, 10));
}

#[test]
fn sums_and_products() {
    check(n("1/2").add(&n("1/3")), "5/6");
    check(n("1/6").add(&n("1/3")), "1/2");
    check(n("1/2").add(&n("1/2")), "1");
    check(n("1/2").sub(&n("1/2")), "0");
    check(n("2/3").mul(&n("3/2")), "1");
    check(n("2/3").mul(&n("0")), "0");
    check(n("1/3").mul(&n("6")), "2");
    check(n("1.5").add(&n("1/2")), "2.0");
    check(n("0").add(&n("-0.0")), "-0.0");
    check(n("0").sub(&n("0.0")), "-0.0");
    check(n("-3/2-i").add(&n("3/2")), "-i");
    check(n("1+i").mul(&n("1-i")), "2");
    check(n("1+2i").sub(&n("1+2i")), "0");
    check(n("1.0+2i").sub(&n("1+2i")), "0.0+0.0i");
    check(n("3/2+i").neg(), "-3/2-i");
}

/// Exact numbers beyond the range of flonums, as Chez Scheme has them.
#[test]
fn flonums_with_exact_numbers_out_of_their_range() {
    let big = format!("1{}", "0".repeat(400));
    let (huge, tiny, near) = (n(&big), n(&format!("1/{big}")), n(&format!("{big}1/{big}0")));
    let minus = huge.neg();
    for (flonum, exact, want) in [
        ("-inf.0", &huge, ["-inf.0", "-inf.0", "-inf.0", "-inf.0"]),
        ("+inf.0", &minus, ["+inf.0", "+inf.0", "-inf.0", "-inf.0"]),
        ("+inf.0", &tiny, ["+inf.0", "+inf.0", "+inf.0", "+inf.0"]),
        ("+nan.0", &huge, ["+nan.0", "+nan.0", "+nan.0", "+nan.0"]),
        ("0.0", &huge, ["+inf.0", "-inf.0", "0.0", "0.0"]),
        ("0.0", &minus, ["-inf.0", "+inf.0", "-0.0", "-0.0"]),
        ("1e-200", &huge, ["+inf.0", "-inf.0", "1e200", "0.0"]),
        ("1e200", &tiny, ["1e200", "1e200", "1e-200", "+inf.0"]),
        ("1.0", &near, ["2.0", "0.0", "1.0", "1.0"]),
    ] {
        let x = n(flonum);
        check(x.add(exact), want[0]);
        check(x.sub(exact), want[1]);
        check(x.mul(exact), want[2]);
        check(x.div(exact).unwrap(), want[3]);
        check(exact.add(&x), want[0]);
        check(exact.mul(&x), want[2]);
    }
    for (a, b, want) in
        [(&huge, "1e300", "1e100"), (&huge, "+inf.0", "0.0"), (&minus, "0.0", "-inf.0"), (&tiny, "0.0", "+inf.0")]
    {
        check(a.div(&n(b)).unwrap(), want);
    }
    for (a, b, want) in [
        ("-2.5", "+inf.0", "+inf.0"),
        ("-1", "-inf.0", "1.0"),
        (&big, "+inf.0", "+inf.0"),
        (&big, "-inf.0", "0.0"),
        (&big, "0.0", "1.0"),
        ("0.0", &format!("1/{big}"), "0.0"),
        ("+inf.0", &format!("-1/{big}"), "0.0"),
    ] {
        check(n(a).expt(&n(b)).unwrap(), want);
    }
    near_one(&tiny);
}

/// The root of a tiny number is no zero.
fn near_one(tiny: &Number) {
    check(tiny.expt(&n("1e-300")).unwrap(), "1.0");
}

#[test]
fn quotients() {
    let div = |a: &str, b: &str| n(a).div(&n(b)).map(|q| format_number(&q, 10));
    assert_eq!(div("3", "4").as_deref(), Some("3/4"));
    assert_eq!(div("-6", "-4").as_deref(), Some("3/2"));
    assert_eq!(div("6", "-4").as_deref(), Some("-3/2"));
    assert_eq!(div("1", "-2/3").as_deref(), Some("-3/2"));
    assert_eq!(div("2/3", "2").as_deref(), Some("1/3"));
    assert_eq!(div("1", "0"), None);
    assert_eq!(div("1.5", "0").as_deref(), Some("+inf.0"));
    assert_eq!(div("1+i", "0"), None);
    assert_eq!(div("1", "0.0").as_deref(), Some("+inf.0"));
    assert_eq!(div("1", "-0.0").as_deref(), Some("-inf.0"));
    assert_eq!(div("0", "5/7").as_deref(), Some("0"));
    assert_eq!(div("1+i", "1-i").as_deref(), Some("+i"));
    assert_eq!(div("5", "2+i").as_deref(), Some("2-i"));
    assert_eq!(div("1.0+i", "1e300+1e300i").as_deref(), Some("1e-300+0.0i"));
    assert_eq!(div("-4611686018427387904", "-1").as_deref(), Some("4611686018427387904"));
}

#[test]
fn comparison_never_rounds() {
    let cmp = |a: &str, b: &str| n(a).compare(&n(b));
    assert_eq!(cmp("9007199254740992.0", "9007199254740993"), Some(Ordering::Less));
    assert_eq!(cmp("1/3", "0.3333333333333333"), Some(Ordering::Greater));
    assert_eq!(cmp("1/2", "0.5"), Some(Ordering::Equal));
    assert_eq!(cmp("1/2", "+inf.0"), Some(Ordering::Less));
    assert_eq!(cmp("-inf.0", "-1/2"), Some(Ordering::Less));
    assert_eq!(cmp("1/3", "+nan.0"), None);
    assert_eq!(cmp("-1/3", "1/2"), Some(Ordering::Less));
    // Alan Bawden's example of R7RS 6.2.6
    let big = n("2").expt(&n("1000")).unwrap();
    let (a, b, c) = (big.sub(&n("1")), big.to_inexact(), big.add(&n("1")));
    assert!(!a.num_eq(&b) && !b.num_eq(&c) && big.num_eq(&b));
    assert_eq!((a.compare(&b), b.compare(&c)), (Some(Ordering::Less), Some(Ordering::Less)));
    assert!(n("1").num_eq(&n("1.0+0.0i")));
    assert!(!n("1").num_eq(&n("1.0+1.0i")));
    assert!(!n("+nan.0").num_eq(&n("+nan.0")));
    assert!(n("+nan.0") == n("+nan.0") && n("0.0") != n("-0.0") && n("1") != n("1.0"));
}

#[test]
fn exactness() {
    let exact = |a: &str| n(a).to_exact().map(|e| format_number(&e, 10));
    assert_eq!(exact("2.5").as_deref(), Some("5/2"));
    assert_eq!(exact("-0.125").as_deref(), Some("-1/8"));
    assert_eq!(exact("-0.0").as_deref(), Some("0"));
    assert_eq!(exact("1e18").as_deref(), Some("1000000000000000000"));
    assert_eq!(exact("-1e25").as_deref(), Some("-10000000000000000905969664"));
    assert_eq!(exact("0.1").as_deref(), Some("3602879701896397/36028797018963968"));
    assert_eq!(exact("1.5+0.0i").as_deref(), Some("3/2"));
    assert_eq!(exact("1.5-2.0i").as_deref(), Some("3/2-2i"));
    assert_eq!(exact("+inf.0"), None);
    assert_eq!(exact("+nan.0"), None);
    for x in [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1, -1e-310] {
        let e = Number::Flo(x).to_exact().unwrap();
        assert!(e.is_exact());
        assert_eq!(e.to_inexact(), Number::Flo(x));
    }
    // halfway between two subnormals: to even
    let tiny = Number::Flo(5e-324).to_exact().unwrap();
    check(tiny.div(&n("2")).unwrap().to_inexact(), "0.0");
    check(tiny.mul(&n("3")).div(&n("2")).unwrap().to_inexact(), "1e-323");
    check(n("1/3").to_inexact(), "0.3333333333333333");
    let huge = n("10").expt(&n("400")).unwrap();
    check(huge.div(&huge.mul(&n("3"))).unwrap().to_inexact(), "0.3333333333333333");
    check(huge.add(&n("1")).div(&huge.mul(&n("4"))).unwrap().to_inexact(), "0.25");
    check(n("1").div(&huge).unwrap().to_inexact(), "0.0");
}

/// Deterministic pseudo-random words.
impl Random {
    fn ratio(&mut self) -> Number {
        let (shift, wide) = (self.next() % 64, self.next().is_multiple_of(3));
        let num = cairn_num::Int::from((self.next() as i64) >> shift);
        let num = if wide { num.mul(&num).mul(&num) } else { num };
        let den = cairn_num::Int::from((self.next() >> (self.next() % 64)).max(1));
        Number::ratio(num, den).unwrap()
    }
}

#[test]
fn ratios_are_a_field() {
    let mut r = Random::seeded(5);
    for _ in 0..3_000 {
        let (a, b, c) = (r.ratio(), r.ratio(), r.ratio());
        for x in [a.add(&b), a.sub(&b), a.mul(&b)] {
            if let Number::Ratio(p, q) = &x {
                assert!(p.gcd(q).is_one() && !q.is_negative() && !q.is_one(), "{p}/{q} is not in lowest terms");
            }
        }
        assert_eq!(a.add(&b).sub(&b), a);
        assert_eq!(a.add(&b).mul(&c), a.mul(&c).add(&b.mul(&c)));
        if !b.is_zero() {
            assert_eq!(a.div(&b).unwrap().mul(&b), a);
            assert_eq!(a.div(&b).unwrap().is_negative(), !a.is_zero() && a.is_negative() != b.is_negative());
        }
        assert_eq!(a.compare(&b), a.sub(&b).compare(&Number::ZERO));
        // a correctly rounded double is at most half a unit from the exact value
        let (x, exact) = (a.to_f64(), a.clone());
        if x != 0.0 {
            let error = |y: f64| Number::Flo(y).to_exact().unwrap().sub(&exact).magnitude();
            let (next, previous) = (f64::from_bits(x.to_bits() + 1), f64::from_bits(x.to_bits() - 1));
            for other in [next, previous] {
                assert_ne!(error(x).compare(&error(other)), Some(Ordering::Greater), "{exact:?} rounded to {x:e}");
            }
        }
        let z = Number::rectangular(a.clone(), b.clone());
        let w = Number::rectangular(c.clone(), a.clone());
        if !w.is_zero() {
            assert_eq!(z.mul(&w).div(&w).unwrap(), z);
        }
    }
}

#[test]
fn integer_division_across_exactness() {
    use Division::*;
    let div = |op, a: &str, b: &str| n(a).divide_integers(op, &n(b)).map(|q| format_number(&q, 10));
    let ok = |s: &str| Ok(s.to_string());
    assert_eq!(div(Quotient, "-7", "2"), ok("-3"));
    assert_eq!(div(FloorQuotient, "-7", "2"), ok("-4"));
    assert_eq!(div(Remainder, "-13", "4"), ok("-1"));
    assert_eq!(div(Modulo, "-13", "4"), ok("3"));
    assert_eq!(div(Modulo, "13", "-4"), ok("-3"));
    assert_eq!(div(Remainder, "-13", "-4.0"), ok("-1.0"));
    assert_eq!(div(Quotient, "-5.0", "2"), ok("-2.0"));
    assert_eq!(div(Modulo, "-4.0", "2.0"), ok("0.0"));
    assert_eq!(div(FloorQuotient, "-5.0", "2.0"), ok("-3.0"));
    assert_eq!(div(Modulo, "-5.0", "2.0"), ok("1.0"));
    assert_eq!(div(Modulo, "1e20", "7"), ok("2.0"));
    assert_eq!(div(Quotient, "-4611686018427387904", "-1"), ok("4611686018427387904"));
    assert_eq!(div(Quotient, "1", "0"), Err(Fault::DivisionByZero));
    assert_eq!(div(Modulo, "1.0", "0.0"), Err(Fault::DivisionByZero));
    assert_eq!(div(Modulo, "1", "2.5"), Err(Fault::Type { argument: 2, expected: "an integer" }));
    assert_eq!(div(Modulo, "1/2", "2"), Err(Fault::Type { argument: 1, expected: "an integer" }));
    assert_eq!(div(Modulo, "+inf.0", "2"), Err(Fault::Type { argument: 1, expected: "an integer" }));
    check(n("32").gcd(&n("-36")).unwrap(), "4");
    check(n("32.0").gcd(&n("-36")).unwrap(), "4.0");
    check(n("6/4").numerator().unwrap(), "3");
    check(n("5.5").numerator().unwrap(), "11.0");
    check(n("5.5").denominator().unwrap(), "2.0");
    check(n("5").denominator().unwrap(), "1");
    assert!(n("+inf.0").denominator().is_err());
}

#[test]
fn rounding() {
    let round = |a: &str, way| format_number(&n(a).round_to(way).unwrap(), 10);
    for (x, floor, ceiling, truncate, nearest) in [
        ("7/2", "3", "4", "3", "4"),
        ("5/2", "2", "3", "2", "2"),
        ("-7/2", "-4", "-3", "-3", "-4"),
        ("-7/10", "-1", "0", "0", "-1"),
        ("7/10", "0", "1", "0", "1"),
        ("7", "7", "7", "7", "7"),
        ("-4.3", "-5.0", "-4.0", "-4.0", "-4.0"),
        ("3.5", "3.0", "4.0", "3.0", "4.0"),
        ("2.5", "2.0", "3.0", "2.0", "2.0"),
        ("-0.5", "-1.0", "-0.0", "-0.0", "-0.0"),
        ("+inf.0", "+inf.0", "+inf.0", "+inf.0", "+inf.0"),
    ] {
        assert_eq!(round(x, Round::Floor), floor, "floor of {x}");
        assert_eq!(round(x, Round::Ceiling), ceiling, "ceiling of {x}");
        assert_eq!(round(x, Round::Truncate), truncate, "truncation of {x}");
        assert_eq!(round(x, Round::Nearest), nearest, "rounding of {x}");
    }
    assert!(n("1+i").round_to(Round::Floor).is_err());
}

#[test]
fn square_roots() {
    check(n("16").sqrt(), "4");
    check(n("-4").sqrt(), "+2i");
    check(n("4/9").sqrt(), "2/3");
    check(n("-4/9").sqrt(), "+2/3i");
    check(n("-3+4i").sqrt(), "1+2i");
    check(n("-3-4i").sqrt(), "1-2i");
    check(n("+2i").sqrt(), "1+i");
    check(n("16.0").sqrt(), "4.0");
    check(n("-4.0").sqrt(), "0.0+2.0i");
    check(n("-1.0-0.0i").sqrt(), "0.0+1.0i");
    check(n("-0.0").sqrt(), "-0.0");
    check(n("2").sqrt(), "1.4142135623730951");
    check(n("-2").sqrt(), "0.0+1.4142135623730951i");
    near(n("1+i").sqrt(), "1.09868411346781+0.45508986056222733i");
    let huge = n("10").expt(&n("800")).unwrap();
    assert!(huge.sqrt().num_eq(&n("10").expt(&n("400")).unwrap()));
    check(n("10").expt(&n("601")).unwrap().sqrt(), "3.1622776601683795e300");
    check(n("1").div(&n("10").expt(&n("601")).unwrap()).unwrap().sqrt(), "3.1622776601683794e-301");
    near(n("1e308+1e308i").sqrt().div(&n("1e154")).unwrap(), "1.09868411346781+0.45508986056222733i");
    assert_eq!(n("17").exact_integer_sqrt().map(|(a, b)| (a.to_i64(), b.to_i64())), Ok((Some(4), Some(1))));
    assert!(n("-1").exact_integer_sqrt().is_err() && n("4.0").exact_integer_sqrt().is_err());
}

#[test]
fn powers() {
    let expt = |a: &str, b: &str| n(a).expt(&n(b)).map(|p| format_number(&p, 10));
    let ok = |s: &str| Ok(s.to_string());
    assert_eq!(expt("0", "0"), ok("1"));
    assert_eq!(expt("0", "1"), ok("0"));
    assert_eq!(expt("0.0", "0"), ok("1.0"));
    assert_eq!(expt("0", "1.0"), ok("0.0"));
    assert_eq!(expt("0", "-1"), Err(Fault::DivisionByZero));
    assert_eq!(expt("2", "100"), ok("1267650600228229401496703205376"));
    assert_eq!(expt("2", "-3"), ok("1/8"));
    assert_eq!(expt("-2/3", "3"), ok("-8/27"));
    assert_eq!(expt("-2/3", "-3"), ok("-27/8"));
    assert_eq!(expt("2/3", "0"), ok("1"));
    assert_eq!(expt("+i", "2"), ok("-1"));
    assert_eq!(expt("1+i", "-2"), ok("-1/2i"));
    assert_eq!(expt("1+i", "8"), ok("16"));
    assert_eq!(expt("4", "1/2"), ok("2"));
    assert_eq!(expt("4/9", "-3/2"), ok("27/8"));
    assert_eq!(expt("2.0", "3"), ok("8.0"));
    assert_eq!(expt("-2.0", "3"), ok("-8.0"));
    assert_eq!(expt("-2.0", "9007199254740993"), ok("-inf.0"));
    assert_eq!(expt("2", "0.5"), ok("1.4142135623730951"));
    assert_eq!(expt("2", "100000000000000000000"), Err(Fault::Range { argument: 2 }));
    assert_eq!(expt("-1", "100000000000000000001"), ok("-1"));
    near(n("-1").expt(&n("0.5")).unwrap(), "0.0+1.0i");
    near(n("+i").expt(&n("+i")).unwrap(), "0.20787957635076193");
    let root = n("10").expt(&n("400")).unwrap().expt(&n("0.25")).unwrap();
    near(root.div(&n("1e100")).unwrap().mul(&n("0.1")), "0.1");
}

#[test]
fn elementary_functions() {
    check(n("0").exp(), "1");
    check(n("1").log().unwrap(), "0");
    assert_eq!(n("0").log(), Err(Fault::Range { argument: 1 }));
    check(n("0.0").log().unwrap(), "-inf.0");
    near(n("-1").log().unwrap(), "0.0+3.141592653589793i");
    near(n("10").expt(&n("1000")).unwrap().log().unwrap(), "2302.5850929940457");
    near(n("1").div(&n("10").expt(&n("1000")).unwrap()).unwrap().log().unwrap(), "-2302.5850929940457");
    check(n("0").sin(), "0");
    check(n("0").cos(), "1");
    check(n("1").acos(), "0");
    near(n("1").tan(), "1.5574077246549023");
    near(n("1+i").sin(), "1.2984575814159773+0.6349639147847361i");
    near(n("1+i").cos(), "0.8337300251311491-0.9888977057628651i");
    near(n("1+i").tan(), "0.2717525853195117+1.0839233273386946i");
    near(n("1+800i").tan().sub(&n("+i")).add(&n("1.0")), "1.0");
    near(n("1+i").exp(), "1.4686939399158851+2.2873552871788423i");
    near(n("2").asin(), "1.5707963267948966-1.3169578969248166i");
    near(n("-2").asin(), "-1.5707963267948966+1.3169578969248166i");
    near(n("2").acos(), "0.0+1.3169578969248166i");
    near(n("1+i").asin(), "0.6662394324925153+1.0612750619050357i");
    near(n("1+i").acos(), "0.9045568943023814-1.0612750619050357i");
    near(n("1+i").atan().unwrap(), "1.0172219678978514+0.4023594781085251i");
    assert_eq!(n("+i").atan(), Err(Fault::Range { argument: 1 }));
}

#[test]
fn angles() {
    let atan2 = |y: &str, x: &str| n(y).atan2(&n(x)).unwrap();
    check(atan2("0", "1"), "0");
    check(atan2("-0.0", "1.0"), "-0.0");
    near(atan2("1", "1"), "0.7853981633974483");
    near(atan2("1", "0"), "1.5707963267948966");
    near(atan2("0", "-1"), "3.141592653589793");
    near(atan2("-0.0", "-1.0"), "-3.141592653589793");
    near(atan2("-1", "-1"), "-2.356194490192345");
    assert_eq!(n("0").atan2(&n("0")), Err(Fault::Range { argument: 2 }));
    let huge = n("10").expt(&n("400")).unwrap();
    near(huge.atan2(&huge.mul(&n("-1"))).unwrap(), "2.356194490192345");
    check(n("3+4i").magnitude(), "5");
    near(n("1+2i").magnitude(), "2.23606797749979");
    near(n("1+2i").angle(), "1.1071487177940904");
    check(n("-5").magnitude(), "5");
    check(n("5").angle(), "0");
    near(n("-5").angle(), "3.141592653589793");
    near(Number::polar(&n("1"), &n("1")), "0.5403023058681398+0.8414709848078965i");
    check(Number::polar(&n("5"), &n("0")), "5");
}
