//! `+ - * /`, comparison, integer division and `gcd`.

use crate::access;
use crate::alloc::make_flonum;
use crate::failure;
use crate::num::big;
use crate::num::fraction;
use crate::num::operand::{
    Operand::{self, *},
    fault, integer, make_integer, make_parts, make_wide_integer, not_numbers, operand, slow2, to_number, wide,
};
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::Type;
use cairn_num::arith::divide_complex;
use cairn_num::division::{Division, EXACT_F64};
use cairn_num::signed::Signed;
use cairn_num::{Fault, Number, float, limbs, signed};
use std::cmp::Ordering;

/// Both parts of a complex number of flonums.
#[inline]
pub(super) fn flonum_parts(v: Value) -> Option<(f64, f64)> {
    if !access::is(v, Type::Compnum) {
        return None;
    }
    Some((access::flonum_of(access::word(v, 0))?, access::flonum_of(access::word(v, 1))?))
}

pub(super) fn make_flonum_complex(ctx: &mut Machine, (re, im): (f64, f64)) -> Value {
    let (re, im) = (make_flonum(ctx, re), make_flonum(ctx, im));
    make_parts(ctx, Type::Compnum, re, im)
}

/// Is there a flonum near it?
fn in_range(x: Signed) -> bool {
    float::from_signed(x).is_finite()
}

/// `(+ a b)`. Exact zero is the identity, also for `-0.0`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_add(ctx: &mut Machine, a: Value, b: Value) -> Value {
    if let (Some(x), Some(y)) = (wide(a), wide(b))
        && let Some(n) = x.checked_add(y)
    {
        return make_wide_integer(ctx, n);
    }
    sum(ctx, a, b)
}

#[inline(never)]
fn sum(ctx: &mut Machine, a: Value, b: Value) -> Value {
    if let Some(x) = integer(a, &mut [0])
        && let Some(y) = integer(b, &mut [0])
    {
        return big::add(ctx, x, y);
    }
    if let (Some(x), Some(y)) = (flonum_parts(a), flonum_parts(b)) {
        return make_flonum_complex(ctx, (x.0 + y.0, x.1 + y.1));
    }
    match (operand(a), operand(b)) {
        (Flo(x), Flo(y)) => make_flonum(ctx, x + y),
        (Fix(0), Flo(_)) => b,
        (Flo(_), Fix(0)) => a,
        (Fix(x), Flo(y)) => make_flonum(ctx, x as f64 + y),
        (Flo(x), Fix(y)) => make_flonum(ctx, x + y as f64),
        (Flo(x), Big(y)) if in_range(y) => make_flonum(ctx, x + float::from_signed(y)),
        (Big(x), Flo(y)) if in_range(x) => make_flonum(ctx, float::from_signed(x) + y),
        (Ratio | Fix(_), Ratio | Fix(_)) => ratios(ctx, "+", a, b, fraction::add, |x, y| Ok(x.add(y))),
        _ if are_complex(a, b) => by_parts(ctx, a, b, cairn_num_add),
        _ => slow2(ctx, "+", a, b, |x, y| Ok(x.add(y))),
    }
}

/// `(- a b)`. `(- 0 0.0)` is `-0.0`, so that `(- 0 x)` negates.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_sub(ctx: &mut Machine, a: Value, b: Value) -> Value {
    if let (Some(x), Some(y)) = (wide(a), wide(b))
        && let Some(n) = x.checked_sub(y)
    {
        return make_wide_integer(ctx, n);
    }
    difference(ctx, a, b)
}

#[inline(never)]
fn difference(ctx: &mut Machine, a: Value, b: Value) -> Value {
    if let Some(x) = integer(a, &mut [0])
        && let Some(y) = integer(b, &mut [0])
    {
        return big::sub(ctx, x, y);
    }
    if let (Some(x), Some(y)) = (flonum_parts(a), flonum_parts(b)) {
        return make_flonum_complex(ctx, (x.0 - y.0, x.1 - y.1));
    }
    match (operand(a), operand(b)) {
        (Flo(x), Flo(y)) => make_flonum(ctx, x - y),
        (Fix(0), Flo(y)) => make_flonum(ctx, -y),
        (Flo(_), Fix(0)) => a,
        (Fix(x), Flo(y)) => make_flonum(ctx, x as f64 - y),
        (Flo(x), Fix(y)) => make_flonum(ctx, x - y as f64),
        (Flo(x), Big(y)) if in_range(y) => make_flonum(ctx, x - float::from_signed(y)),
        (Big(x), Flo(y)) if in_range(x) => make_flonum(ctx, float::from_signed(x) - y),
        (Ratio | Fix(_), Ratio | Fix(_)) => ratios(ctx, "-", a, b, fraction::sub, |x, y| Ok(x.sub(y))),
        _ if are_complex(a, b) => by_parts(ctx, a, b, cairn_num_sub),
        _ => slow2(ctx, "-", a, b, |x, y| Ok(x.sub(y))),
    }
}

/// The product of two numbers below 2^64, when it is below 2^127.
#[inline]
fn small_product(x: i128, y: i128) -> Option<i128> {
    let magnitude = |n: i128| u64::try_from(n.unsigned_abs()).ok();
    let n = i128::try_from(magnitude(x)? as u128 * magnitude(y)? as u128).ok()?;
    Some(if (x < 0) != (y < 0) { -n } else { n })
}

/// `(* a b)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_mul(ctx: &mut Machine, a: Value, b: Value) -> Value {
    if let (Some(x), Some(y)) = (wide(a), wide(b))
        && let Some(n) = small_product(x, y)
    {
        return make_wide_integer(ctx, n);
    }
    product(ctx, a, b)
}

#[inline(never)]
fn product(ctx: &mut Machine, a: Value, b: Value) -> Value {
    if let Some(x) = integer(a, &mut [0])
        && let Some(y) = integer(b, &mut [0])
    {
        return big::mul(ctx, x, y);
    }
    if let (Some(x), Some(y)) = (flonum_parts(a), flonum_parts(b)) {
        return make_flonum_complex(ctx, (x.0 * y.0 - x.1 * y.1, x.0 * y.1 + x.1 * y.0));
    }
    match (operand(a), operand(b)) {
        (Flo(x), Flo(y)) => make_flonum(ctx, x * y),
        (Fix(x), Flo(y)) => make_flonum(ctx, x as f64 * y),
        (Flo(x), Fix(y)) => make_flonum(ctx, x * y as f64),
        (Flo(x), Big(y)) if in_range(y) => make_flonum(ctx, x * float::from_signed(y)),
        (Big(x), Flo(y)) if in_range(x) => make_flonum(ctx, float::from_signed(x) * y),
        (Ratio | Fix(_), Ratio | Fix(_)) => ratios(ctx, "*", a, b, fraction::mul, |x, y| Ok(x.mul(y))),
        _ if are_complex(a, b) => complex_product(ctx, a, b),
        _ => slow2(ctx, "*", a, b, |x, y| Ok(x.mul(y))),
    }
}

/// `(/ a b)`. Fails when `b` is exact zero.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_div(ctx: &mut Machine, a: Value, b: Value) -> Value {
    match (operand(a), operand(b)) {
        (Flo(x), Flo(y)) => make_flonum(ctx, x / y),
        (Other, _) => failure::wrong_type(ctx, "/", 0, "a number", a),
        (Flo(x), Fix(y)) => make_flonum(ctx, x / y as f64),
        (_, Fix(0)) => failure::division_by_zero(ctx, "/", a),
        (Fix(x), Fix(y)) => divide_fixnums(ctx, x, y),
        (Fix(x), Flo(y)) => make_flonum(ctx, x as f64 / y),
        (Complex, Flo(_) | Fix(_) | Big(_) | Ratio) => {
            let (re, im) = parts(a);
            let (re, im) = (cairn_num_div(ctx, re, b), cairn_num_div(ctx, im, b));
            make_rectangular(ctx, re, im)
        }
        _ => match (flonum_parts(a), flonum_parts(b)) {
            (Some(x), Some(y)) => make_flonum_complex(ctx, divide_complex(x, y)),
            _ => ratios(ctx, "/", a, b, fraction::div, |x, y| x.div(y).ok_or(Fault::DivisionByZero)),
        },
    }
}

/// Two numbers of which one is complex?
fn are_complex(a: Value, b: Value) -> bool {
    match (operand(a), operand(b)) {
        (Complex, x) | (x, Complex) => !x.is_other(),
        _ => false,
    }
}

/// Real and imaginary part of a number.
fn parts(v: Value) -> (Value, Value) {
    match operand(v) {
        Complex => (access::word(v, 0), access::word(v, 1)),
        _ => (v, Value::fixnum(0)),
    }
}

/// The complex number of two real ones, or a real one, in canonical form.
fn make_rectangular(ctx: &mut Machine, re: Value, im: Value) -> Value {
    if im == Value::fixnum(0) {
        return re;
    }
    let inexact = |v: Value| to_number(v).map_or(f64::NAN, |n| n.to_f64());
    match (operand(re), operand(im)) {
        (Flo(_), Flo(_)) => make_parts(ctx, Type::Compnum, re, im),
        (Flo(re), _) => make_flonum_complex(ctx, (re, inexact(im))),
        (_, Flo(im)) => make_flonum_complex(ctx, (inexact(re), im)),
        _ => make_parts(ctx, Type::Compnum, re, im),
    }
}

/// An operation that does with each part what it does with reals.
fn by_parts(
    ctx: &mut Machine,
    a: Value,
    b: Value,
    f: extern "C" fn(&mut Machine, Value, Value) -> Value,
) -> Value {
    let ((a, b), (c, d)) = (parts(a), parts(b));
    let (re, im) = (f(ctx, a, c), f(ctx, b, d));
    make_rectangular(ctx, re, im)
}

fn complex_product(ctx: &mut Machine, x: Value, y: Value) -> Value {
    let ((a, b), (c, d)) = (parts(x), parts(y));
    if !matches!((operand(x), operand(y)), (Complex, Complex)) {
        // A real factor has no imaginary part, not one that is zero.
        let ((re, im), real) = if matches!(operand(x), Complex) { ((a, b), c) } else { ((c, d), a) };
        let (re, im) = (cairn_num_mul(ctx, re, real), cairn_num_mul(ctx, im, real));
        return make_rectangular(ctx, re, im);
    }
    let (ac, bd) = (cairn_num_mul(ctx, a, c), cairn_num_mul(ctx, b, d));
    let (ad, bc) = (cairn_num_mul(ctx, a, d), cairn_num_mul(ctx, b, c));
    let (re, im) = (cairn_num_sub(ctx, ac, bd), cairn_num_add(ctx, ad, bc));
    make_rectangular(ctx, re, im)
}

/// An operation of fractions, by its quick way if both have small parts.
fn ratios(
    ctx: &mut Machine,
    who: &str,
    a: Value,
    b: Value,
    small: fn(&mut Machine, Value, Value) -> Option<Value>,
    f: impl FnOnce(&Number, &Number) -> Result<Number, Fault>,
) -> Value {
    match small(ctx, a, b) {
        Some(result) => result,
        None => slow2(ctx, who, a, b, f),
    }
}

fn divide_fixnums(ctx: &mut Machine, x: i64, y: i64) -> Value {
    if x % y == 0 {
        return make_integer(ctx, x / y);
    }
    // neither is zero here, and the gcd is below 2^60 unless it divides evenly
    let g = limbs::gcd_limb(x.unsigned_abs(), y.unsigned_abs()) as i64 * y.signum();
    let (n, d) = (make_integer(ctx, x / g), make_integer(ctx, y / g));
    make_parts(ctx, Type::Ratnum, n, d)
}

/// Order of two reals; `None` with NaN.
#[inline]
fn compare(a: Value, b: Value) -> Result<Option<Ordering>, ()> {
    Ok(match (operand(a), operand(b)) {
        (Fix(x), Fix(y)) => Some(x.cmp(&y)),
        (Flo(x), Flo(y)) => x.partial_cmp(&y),
        (Fix(x), Flo(y)) => float::compare_i64(x, y),
        (Flo(x), Fix(y)) => float::compare_i64(y, x).map(Ordering::reverse),
        (Big(x), Big(y)) => Some(signed::compare(x, y)),
        // a bignum is beyond every fixnum
        (Big(x), Fix(_)) => Some(if x.negative { Ordering::Less } else { Ordering::Greater }),
        (Fix(_), Big(y)) => Some(if y.negative { Ordering::Greater } else { Ordering::Less }),
        (Big(x), Flo(y)) => float::compare_signed(x, y),
        (Flo(x), Big(y)) => float::compare_signed(y, x).map(Ordering::reverse),
        (Complex | Other, _) | (_, Complex | Other) => return Err(()),
        _ => match fraction::compare(a, b) {
            Some(order) => Some(order),
            None => match (to_number(a), to_number(b)) {
                (Some(x), Some(y)) => x.compare(&y),
                _ => return Err(()),
            },
        },
    })
}

fn is_real(o: Operand) -> bool {
    !matches!(o, Complex | Other)
}

/// `(= a b)`: exact across exactness.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_eq(ctx: &mut Machine, a: Value, b: Value) -> Value {
    if let Ok(order) = compare(a, b) {
        return Value::bool(order == Some(Ordering::Equal));
    }
    if !are_complex(a, b) {
        return not_numbers(ctx, "=", "a number", a, b, |o| !o.is_other());
    }
    let ((a, b), (c, d)) = (parts(a), parts(b));
    Value::bool([(a, c), (b, d)].into_iter().all(|(x, y)| compare(x, y) == Ok(Some(Ordering::Equal))))
}

/// `(< a b)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_lt(ctx: &mut Machine, a: Value, b: Value) -> Value {
    match compare(a, b) {
        Ok(order) => Value::bool(order == Some(Ordering::Less)),
        Err(()) => not_numbers(ctx, "<", "a real number", a, b, is_real),
    }
}

/// `(<= a b)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_le(ctx: &mut Machine, a: Value, b: Value) -> Value {
    match compare(a, b) {
        Ok(order) => Value::bool(order.is_some_and(Ordering::is_le)),
        Err(()) => not_numbers(ctx, "<=", "a real number", a, b, is_real),
    }
}

/// `quotient` and its family.
#[inline(always)]
fn divide(ctx: &mut Machine, who: &str, op: Division, a: Value, b: Value) -> Value {
    let (Some(x), Some(y @ ..=-1 | y @ 1..)) = (wide(a), wide(b)) else { return divide_any(ctx, who, op, a, b) };
    let mut q = match (i64::try_from(x), i64::try_from(y)) {
        (Ok(x), Ok(y)) if x != i64::MIN => (x / y).into(),
        _ => x / y,
    };
    let mut r = x - q * y;
    if op.rounding() == signed::Rounding::Floor && r != 0 && (r < 0) != (y < 0) {
        (q, r) = (q - 1, r + y);
    }
    make_wide_integer(ctx, if op.wants_quotient() { q } else { r })
}

#[inline(never)]
fn divide_any(ctx: &mut Machine, who: &str, op: Division, a: Value, b: Value) -> Value {
    if let Some(x) = integer(a, &mut [0])
        && let Some(y) = integer(b, &mut [0])
    {
        if y.is_zero() {
            return fault(ctx, who, Fault::DivisionByZero, &[a, b]);
        }
        return if op.wants_quotient() {
            big::quotient(ctx, op.rounding(), x, y)
        } else {
            big::rest(ctx, op.rounding(), x, y)
        };
    }
    let inexact = match (operand(a), operand(b)) {
        (Flo(x), Flo(y)) => Some((x, y)),
        (Flo(x), Fix(y)) => Some((x, y as f64)),
        (Fix(x), Flo(y)) => Some((x as f64, y)),
        _ => None,
    };
    if let Some((x, y)) = inexact {
        let small = |x: f64| x.abs() < EXACT_F64 && x.fract() == 0.0;
        if small(x) && small(y) && y != 0.0 {
            return make_flonum(ctx, op.small_f64(x, y));
        }
    }
    slow_integers(ctx, who, a, b, |x, y| x.divide_integers(op, y))
}

/// The slow path of a binary operation on integers ([`slow2`] for all numbers).
fn slow_integers(
    ctx: &mut Machine,
    who: &str,
    a: Value,
    b: Value,
    f: impl FnOnce(&Number, &Number) -> Result<Number, Fault>,
) -> Value {
    for (i, v) in [a, b].into_iter().enumerate() {
        if operand(v).is_other() {
            return failure::wrong_type(ctx, who, i as u32 + 1, "an integer", v);
        }
    }
    slow2(ctx, who, a, b, f)
}

/// `(quotient a b)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_quotient(ctx: &mut Machine, a: Value, b: Value) -> Value {
    divide(ctx, "quotient", Division::Quotient, a, b)
}

/// `(remainder a b)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_remainder(ctx: &mut Machine, a: Value, b: Value) -> Value {
    divide(ctx, "remainder", Division::Remainder, a, b)
}

/// `(modulo a b)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_modulo(ctx: &mut Machine, a: Value, b: Value) -> Value {
    divide(ctx, "modulo", Division::Modulo, a, b)
}

/// `(floor-quotient a b)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_floor_quotient(ctx: &mut Machine, a: Value, b: Value) -> Value {
    divide(ctx, "floor-quotient", Division::FloorQuotient, a, b)
}

/// `(gcd a b)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_gcd(ctx: &mut Machine, a: Value, b: Value) -> Value {
    if let (Fix(x), Fix(y)) = (operand(a), operand(b)) {
        return make_integer(ctx, limbs::gcd_limb(x.unsigned_abs(), y.unsigned_abs()) as i64);
    }
    if let Some(x) = integer(a, &mut [0])
        && let Some(y) = integer(b, &mut [0])
    {
        let g = limbs::gcd(x.limbs, y.limbs);
        return big::make(ctx, false, &g);
    }
    let result = slow_integers(ctx, "gcd", a, b, Number::gcd);
    if let Some(failure) = &mut crate::runtime::rt(ctx).failure {
        failure.argument = 0; // they may be any two of many
    }
    result
}

/// A flonum from the raw bits of a double: the slow path of compiled code's boxing.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_box_flonum(ctx: &mut Machine, bits: Value) -> Value {
    make_flonum(ctx, f64::from_bits(bits.0))
}
