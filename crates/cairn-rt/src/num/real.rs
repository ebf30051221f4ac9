//! Predicates, rounding, exactness, elementary functions, parts of complex numbers.

use crate::access;
use crate::alloc::{alloc_pair, make_flonum};
use crate::exhaustion;
use crate::failure;
use crate::num::arith::{flonum_parts, make_flonum_complex};
use crate::num::big;
use crate::num::operand::{Operand::*, fault, from_int, integer, make_integer, operand, slow1, slow2, to_number};
use crate::runtime::rt;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_num::division::Round;
use cairn_num::elementary::{self, Z};
use cairn_num::{Fault, Number, float, limbs};

/// `(integer? x)` for any object.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_is_integer(_ctx: &mut Machine, a: Value) -> Value {
    Value::bool(match operand(a) {
        Fix(_) | Big(_) => true,
        Flo(x) => x.is_finite() && x.fract() == 0.0,
        _ => false,
    })
}

/// `(rational? x)` for any object.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_is_rational(_ctx: &mut Machine, a: Value) -> Value {
    Value::bool(match operand(a) {
        Fix(_) | Big(_) | Ratio => true,
        Flo(x) => x.is_finite(),
        _ => false,
    })
}

/// `(exact? x)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_is_exact(ctx: &mut Machine, a: Value) -> Value {
    match operand(a) {
        Fix(_) | Big(_) | Ratio => Value::TRUE,
        Flo(_) => Value::FALSE,
        // both parts have one exactness
        Complex => cairn_num_is_exact(ctx, access::word(a, 1)),
        Other => failure::wrong_type(ctx, "exact?", 0, "a number", a),
    }
}

/// Does `test` hold for the double, or for a part of the complex number?
fn any_part(ctx: &mut Machine, who: &str, a: Value, test: fn(f64) -> bool) -> Value {
    match operand(a) {
        Fix(_) | Big(_) | Ratio => Value::FALSE,
        Flo(x) => Value::bool(test(x)),
        Complex => {
            let part = |i| matches!(operand(access::word(a, i)), Flo(x) if test(x));
            Value::bool(part(0) || part(1))
        }
        Other => failure::wrong_type(ctx, who, 0, "a number", a),
    }
}

/// `(nan? x)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_is_nan(ctx: &mut Machine, a: Value) -> Value {
    any_part(ctx, "nan?", a, f64::is_nan)
}

/// `(infinite? x)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_is_infinite(ctx: &mut Machine, a: Value) -> Value {
    any_part(ctx, "infinite?", a, f64::is_infinite)
}

/// `(finite? x)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_is_finite(ctx: &mut Machine, a: Value) -> Value {
    match any_part(ctx, "finite?", a, |x| !x.is_finite()) {
        Value::FAIL => Value::FAIL,
        v => Value::bool(v == Value::FALSE),
    }
}

/// `(numerator q)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_numerator(ctx: &mut Machine, a: Value) -> Value {
    match operand(a) {
        Fix(_) | Big(_) => a,
        Ratio => access::word(a, 0),
        _ => slow1(ctx, "numerator", a, Number::numerator),
    }
}

/// `(denominator q)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_denominator(ctx: &mut Machine, a: Value) -> Value {
    match operand(a) {
        Fix(_) | Big(_) => Value::fixnum(1),
        Ratio => access::word(a, 1),
        _ => slow1(ctx, "denominator", a, Number::denominator),
    }
}

fn round(ctx: &mut Machine, who: &str, a: Value, way: Round) -> Value {
    match operand(a) {
        Fix(_) | Big(_) => a,
        Flo(x) => make_flonum(ctx, way.f64(x)),
        Other => failure::wrong_type(ctx, who, 0, "a real number", a),
        _ => slow1(ctx, who, a, |n| n.round_to(way)),
    }
}

/// `(floor x)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_floor(ctx: &mut Machine, a: Value) -> Value {
    round(ctx, "floor", a, Round::Floor)
}

/// `(ceiling x)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_ceiling(ctx: &mut Machine, a: Value) -> Value {
    round(ctx, "ceiling", a, Round::Ceiling)
}

/// `(truncate x)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_truncate(ctx: &mut Machine, a: Value) -> Value {
    round(ctx, "truncate", a, Round::Truncate)
}

/// `(round x)`: ties to even.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_round(ctx: &mut Machine, a: Value) -> Value {
    round(ctx, "round", a, Round::Nearest)
}

/// A double or a fixnum where `in_domain` holds is done at once, but for 0 and 1, whose results may be exact, and a
/// complex number of doubles; the rest by way of `Number`.
#[inline]
fn function(
    ctx: &mut Machine,
    who: &str,
    a: Value,
    in_domain: fn(f64) -> bool,
    real: fn(f64) -> f64,
    complex: fn(Z) -> Z,
    general: impl FnOnce(&Number) -> Result<Number, Fault>,
) -> Value {
    match operand(a) {
        Flo(x) if in_domain(x) => return make_flonum(ctx, real(x)),
        Fix(n) if !(0..=1).contains(&n) && in_domain(n as f64) => return make_flonum(ctx, real(n as f64)),
        Complex => {
            if let Some(z) = of_flonums(ctx, a, complex) {
                return z;
            }
        }
        _ => {}
    }
    slow1(ctx, who, a, general)
}

/// `f` of a complex number of flonums.
fn of_flonums(ctx: &mut Machine, a: Value, f: fn(Z) -> Z) -> Option<Value> {
    let (re, im) = flonum_parts(a)?;
    let z = f(Z { re, im });
    Some(make_flonum_complex(ctx, (z.re, z.im)))
}

fn everywhere(_: f64) -> bool {
    true
}

/// `(exp z)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_exp(ctx: &mut Machine, a: Value) -> Value {
    function(ctx, "exp", a, everywhere, f64::exp, Z::exp, |n| Ok(n.exp()))
}

/// `(log z)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_log(ctx: &mut Machine, a: Value) -> Value {
    function(ctx, "log", a, |x| x >= 0.0 && x.is_sign_positive(), f64::ln, Z::ln, Number::log)
}

/// `(sin z)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_sin(ctx: &mut Machine, a: Value) -> Value {
    function(ctx, "sin", a, everywhere, f64::sin, elementary::sin, |n| Ok(n.sin()))
}

/// `(cos z)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_cos(ctx: &mut Machine, a: Value) -> Value {
    function(ctx, "cos", a, everywhere, f64::cos, elementary::cos, |n| Ok(n.cos()))
}

/// `(tan z)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_tan(ctx: &mut Machine, a: Value) -> Value {
    function(ctx, "tan", a, everywhere, f64::tan, elementary::tan, |n| Ok(n.tan()))
}

/// `(asin z)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_asin(ctx: &mut Machine, a: Value) -> Value {
    function(ctx, "asin", a, |x| x.abs() <= 1.0, f64::asin, elementary::asin, |n| Ok(n.asin()))
}

/// `(acos z)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_acos(ctx: &mut Machine, a: Value) -> Value {
    function(ctx, "acos", a, |x| x.abs() <= 1.0, f64::acos, elementary::acos, |n| Ok(n.acos()))
}

/// `(atan z)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_atan(ctx: &mut Machine, a: Value) -> Value {
    function(ctx, "atan", a, everywhere, f64::atan, elementary::atan, Number::atan)
}

/// `(atan y x)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_atan2(ctx: &mut Machine, a: Value, b: Value) -> Value {
    let double = |o| match o {
        Flo(x) => Some(x),
        Fix(n) => Some(n as f64),
        _ => None,
    };
    // the angle of an exact zero may be exact
    let (y, x) = (operand(a), operand(b));
    if !matches!(y, Fix(0))
        && let (Some(y), Some(x)) = (double(y), double(x))
    {
        return make_flonum(ctx, y.atan2(x));
    }
    slow2(ctx, "atan", a, b, Number::atan2)
}

/// `(sqrt z)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_sqrt(ctx: &mut Machine, a: Value) -> Value {
    if let Fix(n @ 0..) = operand(a) {
        // below 2^52 the nearest double of an irrational root is never an integer; above, integers decide
        let root = (n as f64).sqrt();
        if n < 1 << 52 {
            return if root.fract() == 0.0 { Value::fixnum(root as i64) } else { make_flonum(ctx, root) };
        }
    }
    match operand(a) {
        Flo(x) if x >= 0.0 || x.is_nan() => make_flonum(ctx, x.sqrt()),
        _ => match of_flonums(ctx, a, Z::sqrt) {
            Some(root) => root,
            None => slow1(ctx, "sqrt", a, |n| Ok(n.sqrt())),
        },
    }
}

/// `(exact-integer-sqrt n)`: a pair of root and rest.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_exact_integer_sqrt(ctx: &mut Machine, a: Value) -> Value {
    const WHO: &str = "exact-integer-sqrt";
    let expected = "an exact non-negative integer";
    let Some(n) = to_number(a) else { return failure::wrong_type(ctx, WHO, 0, expected, a) };
    match n.exact_integer_sqrt() {
        Ok((root, rest)) => {
            let (root, rest) = (from_int(ctx, &root), from_int(ctx, &rest));
            alloc_pair(ctx, root, rest)
        }
        Err(e) => fault(ctx, WHO, e, &[a]),
    }
}

/// `(expt z w)`. A power that cannot fit into the heap is out of memory at once, not after an hour's multiplications.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_expt(ctx: &mut Machine, a: Value, b: Value) -> Value {
    match (operand(a), operand(b)) {
        (Flo(x), Flo(y)) if x >= 0.0 => return make_flonum(ctx, x.powf(y)),
        // what is rounded once is the nearest
        (Flo(x), Fix(2)) => return make_flonum(ctx, x * x),
        (Flo(x), Fix(n)) if n.unsigned_abs() < 1 << f64::MANTISSA_DIGITS => {
            let size = x.abs().powf(n as f64);
            return make_flonum(ctx, if x.is_sign_negative() && n & 1 == 1 { -size } else { size });
        }
        // it is one divided by the power
        (Fix(0), Fix(..0)) => return failure::division_by_zero(ctx, "expt", Value::fixnum(1)),
        (Fix(x), Fix(n @ 0..64)) => {
            if let Some(power) = x.checked_pow(n as u32) {
                return make_integer(ctx, power);
            }
        }
        _ => {}
    }
    if let (Fix(n), Some(base)) = (operand(b), integer(a, &mut [0]))
        && (0..1 << 32).contains(&n)
    {
        // each factor adds at least this many bits
        let bits = (limbs::bit_len(base.limbs) as u64).saturating_sub(1);
        let bytes = bits.saturating_mul(n as u64) / 8;
        if bytes > rt(ctx).heap.heap_max() {
            exhaustion::refuse(ctx, bytes);
        }
    }
    slow2(ctx, "expt", a, b, Number::expt)
}

/// `(exact z)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_exact(ctx: &mut Machine, a: Value) -> Value {
    match operand(a) {
        Fix(_) | Big(_) | Ratio => return a,
        Flo(x) if x.is_finite() && x.fract() == 0.0 => {
            if x.abs() < (1u64 << 60) as f64 {
                return Value::fixnum(x as i64);
            }
            let mut limbs = [0; 17];
            let n = float::integer_limbs(x, &mut limbs);
            return big::make(ctx, x < 0.0, &limbs[..n]);
        }
        _ => {}
    }
    let not_finite = Fault::Type { argument: 1, expected: "a finite number" };
    slow1(ctx, "exact", a, |n| n.to_exact().ok_or(not_finite))
}

/// `(inexact z)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_inexact(ctx: &mut Machine, a: Value) -> Value {
    match operand(a) {
        Flo(_) => a,
        Fix(n) => make_flonum(ctx, n as f64),
        Big(n) => make_flonum(ctx, float::from_signed(n)),
        _ => slow1(ctx, "inexact", a, |n| Ok(n.to_inexact())),
    }
}

/// Fails unless both are real; then `f`.
fn of_reals(ctx: &mut Machine, who: &str, a: Value, b: Value, f: fn(&Number, &Number) -> Number) -> Value {
    for (i, v) in [a, b].into_iter().enumerate() {
        if matches!(operand(v), Complex | Other) {
            return failure::wrong_type(ctx, who, i as u32 + 1, "a real number", v);
        }
    }
    slow2(ctx, who, a, b, |x, y| Ok(f(x, y)))
}

/// `(make-rectangular x y)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_make_rectangular(ctx: &mut Machine, a: Value, b: Value) -> Value {
    match (operand(a), operand(b)) {
        (Flo(x), Flo(y)) => return make_flonum_complex(ctx, (x, y)),
        (Fix(x), Flo(y)) => return make_flonum_complex(ctx, (x as f64, y)),
        (Flo(x), Fix(y)) if y != 0 => return make_flonum_complex(ctx, (x, y as f64)),
        _ => {}
    }
    of_reals(ctx, "make-rectangular", a, b, |x, y| Number::rectangular(x.clone(), y.clone()))
}

/// `(make-polar magnitude angle)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_make_polar(ctx: &mut Machine, a: Value, b: Value) -> Value {
    // exact zeros are special
    let double = |v| match operand(v) {
        Flo(x) => Some(x),
        Fix(n) if n != 0 => Some(n as f64),
        _ => None,
    };
    match (double(a), double(b)) {
        (Some(m), Some(angle)) => make_flonum_complex(ctx, (m * angle.cos(), m * angle.sin())),
        _ => of_reals(ctx, "make-polar", a, b, Number::polar),
    }
}

/// `(real-part z)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_real_part(ctx: &mut Machine, a: Value) -> Value {
    match operand(a) {
        Complex => access::word(a, 0),
        Other => failure::wrong_type(ctx, "real-part", 0, "a number", a),
        _ => a,
    }
}

/// `(imag-part z)`: exact zero for real numbers.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_imag_part(ctx: &mut Machine, a: Value) -> Value {
    match operand(a) {
        Complex => access::word(a, 1),
        Other => failure::wrong_type(ctx, "imag-part", 0, "a number", a),
        _ => Value::fixnum(0),
    }
}

/// `(magnitude z)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_magnitude(ctx: &mut Machine, a: Value) -> Value {
    match operand(a) {
        Flo(x) => make_flonum(ctx, x.abs()),
        _ => match flonum_parts(a) {
            Some((re, im)) => make_flonum(ctx, re.hypot(im)),
            None => slow1(ctx, "magnitude", a, |n| Ok(n.magnitude())),
        },
    }
}

/// `(angle z)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_angle(ctx: &mut Machine, a: Value) -> Value {
    match flonum_parts(a) {
        Some((re, im)) => make_flonum(ctx, im.atan2(re)),
        None => slow1(ctx, "angle", a, |n| Ok(n.angle())),
    }
}
