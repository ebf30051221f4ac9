//! Fractions of fixnums, without owned numbers.
//!
//! The problem: a ratnum whose parts are fixnums is what programs that use ratios mostly have, and its way through
//! `cairn_num::Number` costs about a thousand instructions. The idea: the parts are below 2^60, so cross products fit
//! 128 bits, and greatest common divisors are taken of the parts, which fit a machine word, before anything is
//! multiplied (Knuth, TAOCP 4.5.1).
//!
//! Every function answers `None` if an operand is no such fraction; the caller takes the long way.

use crate::access;
use crate::num::operand::{make_parts, make_wide_integer};
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::Type;
use cairn_num::limbs::gcd_limb;
use std::cmp::Ordering;

/// Numerator and denominator in lowest terms; the denominator is positive.
type Fraction = (i64, i64);

#[inline]
fn of(v: Value) -> Option<Fraction> {
    if v.is_fixnum() {
        return Some((v.as_fixnum(), 1));
    }
    if !access::is(v, Type::Ratnum) {
        return None;
    }
    let (n, d) = (access::word(v, 0), access::word(v, 1));
    (n.is_fixnum() && d.is_fixnum()).then(|| (n.as_fixnum(), d.as_fixnum()))
}

#[inline]
fn gcd(a: i64, b: i64) -> i64 {
    gcd_limb(a.unsigned_abs(), b.unsigned_abs()) as i64
}

/// A number in lowest terms.
fn make(ctx: &mut Machine, numerator: i128, denominator: i128) -> Value {
    let n = make_wide_integer(ctx, numerator);
    if denominator == 1 {
        return n;
    }
    let d = make_wide_integer(ctx, denominator);
    make_parts(ctx, Type::Ratnum, n, d)
}

/// `(+ a b)`.
pub(super) fn add(ctx: &mut Machine, a: Value, b: Value) -> Option<Value> {
    Some(sum(ctx, of(a)?, of(b)?))
}

/// `(- a b)`.
pub(super) fn sub(ctx: &mut Machine, a: Value, b: Value) -> Option<Value> {
    let (a, (n, d)) = (of(a)?, of(b)?);
    Some(sum(ctx, a, (-n, d)))
}

fn sum(ctx: &mut Machine, (n, d): Fraction, (m, e): Fraction) -> Value {
    let g = gcd(d, e);
    let (left, right) = (d / g, e / g);
    let t = i128::from(n) * i128::from(right) + i128::from(m) * i128::from(left);
    // of the sum and the common denominator, nothing but a factor of `g` can be common
    let h = gcd((t % i128::from(g)) as i64, g);
    make(ctx, t / i128::from(h), i128::from(left) * i128::from(e / h))
}

/// `(* a b)`.
pub(super) fn mul(ctx: &mut Machine, a: Value, b: Value) -> Option<Value> {
    Some(product(ctx, of(a)?, of(b)?))
}

/// `(/ a b)`; `None` also if `b` is zero.
pub(super) fn div(ctx: &mut Machine, a: Value, b: Value) -> Option<Value> {
    let (a, (m, e)) = (of(a)?, of(b)?);
    match m.cmp(&0) {
        Ordering::Equal => None,
        Ordering::Greater => Some(product(ctx, a, (e, m))),
        Ordering::Less => Some(product(ctx, a, (-e, -m))),
    }
}

fn product(ctx: &mut Machine, (n, d): Fraction, (m, e): Fraction) -> Value {
    let (g, h) = (gcd(n, e), gcd(m, d));
    make(ctx, i128::from(n / g) * i128::from(m / h), i128::from(d / h) * i128::from(e / g))
}

/// The order of two fractions.
#[inline]
pub(super) fn compare(a: Value, b: Value) -> Option<Ordering> {
    let ((n, d), (m, e)) = (of(a)?, of(b)?);
    Some((i128::from(n) * i128::from(e)).cmp(&(i128::from(m) * i128::from(d))))
}
