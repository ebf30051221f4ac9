//! Numbers to and from text: R7RS syntax, shortest doubles, round trips.

use cairn_num::{Number, format_number, parse_number};

#[path = "../../../tests/support/random.rs"]
mod random;
use random::Random;

/// `text` reads as a number that prints as `want`.
#[track_caller]
fn check(text: &str, want: &str) {
    let n = parse_number(text, 10).unwrap_or_else(|| panic!("{text:?} should be a number"));
    assert_eq!(format_number(&n, 10), want, "printing {text:?}");
}

#[track_caller]
fn check_not(text: &str) {
    if let Some(n) = parse_number(text, 10) {
        panic!("{text:?} should not be a number, but reads as {}", format_number(&n, 10));
    }
}

#[test]
fn integers() {
    check("1", "1");
    check("+1", "1");
    check("-1", "-1");
    check("-0", "0");
    check("007", "7");
    check("1152921504606846975", "1152921504606846975");
    check("1152921504606846976", "1152921504606846976");
    check("-1152921504606846977", "-1152921504606846977");
    check(
        "123456789012345678901234567890123456789012345678901234567890",
        "123456789012345678901234567890123456789012345678901234567890",
    );
}

#[test]
fn doubles() {
    check("1.", "1.0");
    check(".5", "0.5");
    check("-.5", "-0.5");
    check("-0.0", "-0.0");
    check("1e2", "100.0");
    check("1E2", "100.0");
    check("1s2", "100.0");
    check("1l-2", "0.01");
    check("1e100", "1e100");
    check("1e-7", "1e-7");
    check("1e16", "10000000000000000.0");
    check("123456789012345680000.0", "123456789012345680000.0");
    check("1e21", "1e21");
    check("1e400", "+inf.0");
    check("1e-400", "0.0");
    check("1e99999999999999999999", "+inf.0");
    check("4.9406564584124654e-324", "5e-324");
    check("1.7976931348623157e308", "1.7976931348623157e308");
    check("0.1", "0.1");
    check("3.141592653589793", "3.141592653589793");
    check("+INF.0", "+inf.0");
    check("-inf.0", "-inf.0");
    check("+nan.0", "+nan.0");
    check("-nan.0", "+nan.0");
}

#[test]
fn prefixes() {
    check("#x11", "17");
    check("#XaB", "171");
    check("#b-101", "-5");
    check("#o17", "15");
    check("#d9", "9");
    check("#e1.5", "3/2");
    check("#e1.5e3", "1500");
    check("#e-.0", "0");
    check("#i1/3", "0.3333333333333333");
    check("#i#x10", "16.0");
    check("#x#i1/10", "0.0625");
    check("#E#X10/2", "8");
    check("#x1e2", "482");
    check("#e1e40", "10000000000000000000000000000000000000000");
    check("#e1e-2", "1/100");
    check("#i-0", "-0.0");
    check("#e1@0", "1");
    for bad in ["#", "#x", "#xg", "#b2", "#x#x1", "#e#i1", "#e", "#q1", "1#", "#e+inf.0", "#e1e99999999999"] {
        check_not(bad);
    }
}

#[test]
fn ratios() {
    check("6/4", "3/2");
    check("-6/4", "-3/2");
    check("10/2", "5");
    check("0/10", "0");
    check("1/1152921504606846976", "1/1152921504606846976");
    for bad in ["1/0", "1/", "/2", "1/-2", "1/2/3", "1/2.0", "1.0/2", "1/2e3"] {
        check_not(bad);
    }
}

#[test]
fn complex() {
    check("1+2i", "1+2i");
    check("1-2I", "1-2i");
    check("+i", "+i");
    check("-i", "-i");
    check("0-1i", "-i");
    check("+2i", "+2i");
    check("-2.5+0i", "-2.5");
    check("-2.5+0.0i", "-2.5+0.0i");
    check("1.0+2i", "1.0+2.0i");
    check("1+2.0i", "1.0+2.0i");
    check("1e2+1.0i", "100.0+1.0i");
    check("1/2+3/4i", "1/2+3/4i");
    check("0.5+3/4i", "0.5+0.75i");
    check("+inf.0-inf.0i", "+inf.0-inf.0i");
    check("+nan.0+nan.0i", "+nan.0+nan.0i");
    check("+inf.0i", "0.0+inf.0i");
    check("#x10+11i", "16+17i");
    check("#e1.0+1.5i", "1+3/2i");
    check("1@0", "1");
    check("0@1", "0");
    check("-1.5@0", "-1.5");
    for bad in ["1+2", "1i", "i", "1+i2", "1+2i3", "+ii", "1@", "1@2i", "1@2@3", "1++2i", "1+2i+3i"] {
        check_not(bad);
    }
}

#[test]
fn other_tokens_are_not_numbers() {
    for bad in [
        "", "+", "-", ".", "...", "abc", "1 2", "1.2.3", "e5", ".e5", "1e", "1e+", "--1", "+-1", "inf.0",
        "+inf.1", "-foo", "1_000", "0x10", "é", "+é", "1é",
    ] {
        check_not(bad);
    }
}

#[test]
fn other_radices() {
    assert_eq!(parse_number("ff", 16), Some(Number::from(255)));
    assert_eq!(parse_number("#d10", 16), Some(Number::from(10)));
    assert_eq!(parse_number("zz", 36), Some(Number::from(1295)));
    let show = |x: f64, radix| format_number(&Number::Flo(x), radix);
    assert_eq!(show(0.5, 2), "0.1");
    assert_eq!(show(-10.0, 2), "-1010.0");
    assert_eq!(show(255.9375, 16), "ff.f");
    assert_eq!(show(1.0 / 3.0, 3), "0.1");
    assert_eq!(show(0.0, 7), "0.0");
    assert_eq!(show(2f64.powi(70), 16), "400000000000000000.0");
}

/// Deterministic pseudo-random words (Knuth's MMIX generator, high bits mixed down).
#[test]
fn every_number_reads_back() {
    let mut r = Random::seeded(7);
    for i in 0..20_000 {
        let x = f64::from_bits(r.next());
        let y = f64::from_bits(r.next() >> 2); // non-negative, below 2
        for n in [Number::Flo(x), Number::Flo(y), Number::rectangular(Number::Flo(x), Number::Flo(y))] {
            let text = format_number(&n, 10);
            assert_eq!(parse_number(&text, 10), Some(n), "{text}");
        }
        if i % 100 == 0 {
            for radix in [2, 3, 8, 12, 16] {
                let text = format_number(&Number::Flo(x), radix);
                assert_eq!(parse_number(&text, radix), Some(Number::Flo(x)), "{x:e} in radix {radix}: {text}");
            }
        }
    }
    // all powers of two, where the gap below is half the gap above
    for e in 0..2047u64 {
        let x = f64::from_bits(e << 52);
        let text = format_number(&Number::Flo(x), 16);
        assert_eq!(parse_number(&text, 16), Some(Number::Flo(x)), "{x:e} {text}");
    }
}

#[test]
fn short_and_long_forms_agree() {
    // the fast path handles up to 20 digits without prefix; `#d` takes the general one
    for text in [
        "12345678901234567890",
        "-12345678901234567890",
        "-0",
        "00012",
        "-1.25",
        "-.5",
        "-5.",
        "0.1",
        "-0.0",
        "1152921504606846976",
        "-1152921504606846976",
        "123456789.123456789",
    ] {
        let general = parse_number(&format!("#d{text}"), 10);
        assert!(general.is_some());
        assert_eq!(parse_number(text, 10), general, "{text}");
    }
}
