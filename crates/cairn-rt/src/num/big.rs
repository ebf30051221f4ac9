//! Integer results written into heap objects.
//!
//! The problem: the size of a result is known only after computing it, one limb more or less; a result may even be a
//! fixnum. The idea: a result of up to [`SMALL`] limbs is computed on the native stack and then allocated exactly; a
//! larger one is computed in a fresh object of the greatest possible size, which is then trimmed. Sums are allocated
//! without room for the carry, which is rare, and copied when there is one.
//!
//! Invariant: nothing here allocates outside the heap for operands of up to [`SMALL`] limbs.

use crate::access;
use crate::alloc::{alloc_object, shrink_last};
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::{self, FLAG_NEGATIVE, Type};
use cairn_num::limbs;
use cairn_num::signed::{self, Rounding, Signed, Written};
use std::cmp::Ordering;

/// Results up to this many limbs are computed on the native stack.
const SMALL: usize = 8;

/// Limbs of a fresh bignum, to be written.
fn limbs_mut<'a>(v: Value) -> &'a mut [u64] {
    debug_assert!(access::is(v, Type::Bignum));
    // SAFETY: a bignum's payload is `length` limbs; the object is fresh, so no other slice of it exists.
    unsafe { std::slice::from_raw_parts_mut(access::word_address(v, 0) as *mut u64, access::length(v)) }
}

fn flags(negative: bool) -> u8 {
    if negative { FLAG_NEGATIVE } else { 0 }
}

/// The canonical integer of a sign and a trimmed magnitude.
#[inline]
pub fn make(ctx: &mut Machine, negative: bool, magnitude: &[u64]) -> Value {
    if let Some(n) = signed::small(Signed { negative, limbs: magnitude }) {
        return Value::fixnum(n);
    }
    let v = alloc_object(ctx, Type::Bignum, flags(negative), magnitude.len() as u64);
    limbs_mut(v).copy_from_slice(magnitude);
    v
}

/// The canonical integer of a sign and a magnitude.
#[inline]
pub fn make_two_limbs(ctx: &mut Machine, negative: bool, magnitude: u128) -> Value {
    let limbs = [magnitude as u64, (magnitude >> 64) as u64];
    if limbs[1] == 0 {
        if let Some(n) = signed::small(Signed { negative, limbs: &limbs[..1] }) {
            return Value::fixnum(n);
        }
        let v = alloc_object(ctx, Type::Bignum, flags(negative), 1);
        limbs_mut(v)[0] = limbs[0];
        return v;
    }
    let v = alloc_object(ctx, Type::Bignum, flags(negative), 2);
    limbs_mut(v)[..2].copy_from_slice(&limbs);
    v
}

/// The canonical integer that `write` leaves in a slice of `room` limbs.
#[inline]
pub fn build(ctx: &mut Machine, room: usize, write: impl FnOnce(&mut [u64]) -> Written) -> Value {
    if room <= SMALL {
        let mut out = [0; SMALL];
        let w = write(&mut out[..room]);
        return make(ctx, w.negative, &out[..w.len]);
    }
    let v = alloc_object(ctx, Type::Bignum, 0, room as u64);
    let w = write(limbs_mut(v));
    finish(ctx, v, w)
}

/// Trims a fresh bignum to what was written, and gives it its sign.
fn finish(ctx: &mut Machine, v: Value, w: Written) -> Value {
    if let Some(n) = w.small(limbs_mut(v)) {
        shrink_last(ctx, v, 0);
        return Value::fixnum(n);
    }
    let v = if w.len < access::length(v) { shrink_last(ctx, v, w.len as u64) } else { v };
    set_sign(v, w.negative);
    v
}

fn set_sign(v: Value, negative: bool) {
    let header = object::header(Type::Bignum, flags(negative), access::length(v) as u64);
    // SAFETY: `v` is a fresh bignum that nobody else knows yet; its first word is its header.
    unsafe { *(v.address() as *mut u64) = header }
}

/// Sum of integers of which one is no fixnum, or the opposite of what is none.
#[inline]
pub fn add(ctx: &mut Machine, a: Signed, b: Signed) -> Value {
    let is_fixnum = |n: Signed| signed::small(n).is_some() && signed::small(n.negated()).is_some();
    debug_assert!(!is_fixnum(a) || !is_fixnum(b));
    let order = limbs::compare(a.limbs, b.limbs);
    let (long, short) = if order == Ordering::Less { (b, a) } else { (a, b) };
    let n = long.limbs.len();
    if a.negative != b.negative {
        if order == Ordering::Equal {
            return Value::fixnum(0);
        }
        return build(ctx, n, |out| Written {
            negative: long.negative,
            len: limbs::sub(out, long.limbs, short.limbs),
        });
    }
    let v = alloc_object(ctx, Type::Bignum, flags(long.negative), n as u64);
    if !limbs::add_carry(limbs_mut(v), long.limbs, short.limbs) {
        return v;
    }
    let wider = alloc_object(ctx, Type::Bignum, flags(long.negative), n as u64 + 1);
    let out = limbs_mut(wider);
    out[..n].copy_from_slice(limbs_mut(v));
    out[n] = 1;
    wider
}

/// Difference.
#[inline]
pub fn sub(ctx: &mut Machine, a: Signed, b: Signed) -> Value {
    add(ctx, a, b.negated())
}

/// Product.
#[inline]
pub fn mul(ctx: &mut Machine, a: Signed, b: Signed) -> Value {
    build(ctx, signed::mul_room(a, b), |out| signed::mul(out, a, b))
}

/// `f` with zeroed scratch space of `n` limbs.
#[inline]
fn with_scratch<R>(n: usize, f: impl FnOnce(&mut [u64]) -> R) -> R {
    if n <= 2 * SMALL { f(&mut [0; 2 * SMALL][..n]) } else { f(&mut vec![0; n]) }
}

/// Quotient, for `b` not zero.
pub fn quotient(ctx: &mut Machine, rounding: Rounding, a: Signed, b: Signed) -> Value {
    with_scratch(signed::rest_room(b), |rest| {
        build(ctx, signed::quotient_room(a, b), |out| signed::div_rem(rounding, out, rest, a, b).0)
    })
}

/// Rest with the sign of the dividend (`Truncate`) or of the divisor (`Floor`), for `b` not zero.
pub fn rest(ctx: &mut Machine, rounding: Rounding, a: Signed, b: Signed) -> Value {
    if let [d] = b.limbs {
        let mut m = limbs::rem_limb(a.limbs, *d);
        let mut negative = a.negative;
        if rounding == Rounding::Floor && a.negative != b.negative && m != 0 {
            (m, negative) = (d - m, b.negative);
        }
        return make(ctx, negative && m != 0, limbs::trim(&[m]));
    }
    with_scratch(signed::quotient_room(a, b), |quotient| {
        build(ctx, signed::rest_room(b), |out| signed::div_rem(rounding, quotient, out, a, b).1)
    })
}
