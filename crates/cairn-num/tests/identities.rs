//! Laws of arithmetic where representations change: fixnum and bignum, exact and inexact, real and complex.

use cairn_num::{Int, Number, parse_number};

#[path = "../../../tests/support/random.rs"]
mod random;
use random::Random;

fn number(text: &str) -> Number {
    parse_number(text, 10).unwrap_or_else(|| panic!("{text}"))
}

/// Doubles around which something changes: powers of two, their neighbours, the ends.
fn edges() -> Vec<f64> {
    let mut found = vec![0.5, 9.3e18, 9.2e18, 1e300, 5e-324, f64::MAX, 1.5, 0.1];
    for e in [0, 1, 31, 32, 52, 53, 54, 59, 60, 61, 62, 63, 64, 65, 100] {
        let x = 2f64.powi(e);
        found.extend([x, f64::from_bits(x.to_bits() + 1), f64::from_bits(x.to_bits() - 1), x - 1.0, x + 1.0]);
    }
    let negative: Vec<f64> = found.iter().map(|x| -x).collect();
    found.extend(negative);
    found
}

#[test]
fn doubles_and_exact_numbers_convert_without_loss() {
    for x in edges() {
        let exact = Number::Flo(x).to_exact().expect("finite");
        assert_eq!(exact.to_f64(), x, "{x:e}");
        assert!(exact.num_eq(&Number::Flo(x)), "{x:e}");
        // canonical: equal to the same number made otherwise
        let text = cairn_num::format_number(&exact, 10);
        assert_eq!(number(&text), exact, "{x:e}");
        if x.fract() == 0.0 {
            assert_eq!(Number::Int(Int::from_f64(x)), exact, "{x:e}");
        }
    }
}

/// Integers and doubles compare as the exact numbers that they are.
#[test]
fn comparison_is_exact() {
    let mut integers: Vec<Int> = vec![];
    for x in edges().into_iter().filter(|x| x.abs() < 1e30) {
        let n = Int::from_f64(x.trunc());
        integers.extend([n.sub(&Int::ONE), n.add(&Int::ONE), n]);
    }
    for x in edges() {
        let exact = Number::Flo(x).to_exact().expect("finite");
        for n in &integers {
            let n = Number::Int(n.clone());
            assert_eq!(n.compare(&Number::Flo(x)), n.compare(&exact), "{n:?} and {x:e}");
            assert_eq!(Number::Flo(x).compare(&n), exact.compare(&n), "{x:e} and {n:?}");
        }
        assert_eq!(number("7").compare(&Number::Flo(f64::NAN)), None);
    }
}

#[test]
fn powers_are_products() {
    for base in ["-1", "0", "1", "2", "-3", "1152921504606846976", "-7"] {
        let Number::Int(base) = number(base) else { panic!("an integer") };
        let mut product = Int::ONE;
        for n in 0..12 {
            assert_eq!(base.pow(n), Some(product.clone()), "{base:?}^{n}");
            product = product.mul(&base);
        }
    }
}

/// What was multiplied comes back by division: exactly for exact numbers, nearly for doubles, also where squares
/// overflow.
#[test]
fn division_undoes_multiplication() {
    let mut r = Random::seeded(41);
    let parts = ["0", "1", "-2", "3/4", "-5/3", "1152921504606846976"];
    for _ in 0..400 {
        let mut pick = || Number::rectangular(number(r.pick(&parts)), number(r.pick(&parts)));
        let (x, y) = (pick(), pick());
        if !y.is_zero() {
            assert_eq!(x.mul(&y).div(&y), Some(x.clone()), "{x:?} {y:?}");
        }
    }
    let scales = [1.0, 2.5, -0.125, 1e-3, 40.0];
    for big in [1.0, 1e200, 1e-200] {
        for _ in 0..400 {
            let mut pick = || scales[r.below(scales.len())];
            let (a, b, c, d) = (pick(), pick(), pick(), pick());
            let z = |re: f64, im: f64| Number::rectangular(Number::Flo(re), Number::Flo(im));
            let (x, y) = (z(a, b), z(c * big, d * big));
            let quotient = x.mul(&z(c, d)).div(&y).expect("not by zero");
            for (part, want) in [(quotient.real_part(), a / big), (quotient.imag_part(), b / big)] {
                let limit = 1e-9 * (a.abs() + b.abs()) / big;
                assert!((part.to_f64() - want).abs() <= limit, "({a} {b}) ({c} {d}) × {big:e}: {quotient:?}");
            }
            // an exact number by an inexact one is a quotient of doubles
            let one = number("1").div(&y).expect("not by zero");
            let back = one.mul(&y);
            assert!((back.real_part().to_f64() - 1.0).abs() < 1e-9, "1/{y:?} is {one:?}");
            assert!(back.imag_part().to_f64().abs() < 1e-9, "1/{y:?} is {one:?}");
        }
    }
}

#[test]
fn angles() {
    for (text, angle) in [
        ("2.5", 0.0),
        ("-2.5", std::f64::consts::PI),
        ("-3", std::f64::consts::PI),
        ("0.0+1.0i", std::f64::consts::FRAC_PI_2),
    ] {
        assert_eq!(number(text).angle().to_f64(), angle, "{text}");
    }
    assert_eq!(number("4").angle(), number("0"));
    assert!(number("+nan.0").angle().to_f64().is_nan());
}

/// Zero stays zero whatever its exponent; other numbers of that size are none.
#[test]
fn exact_zero_has_any_exponent() {
    for text in ["#e0e999999999999", "#e0.000e-99999999", "#e-0e99999999999999999999"] {
        assert_eq!(number(text), number("0"), "{text}");
    }
    assert_eq!(parse_number("#e1e999999999999", 10), None);
}
