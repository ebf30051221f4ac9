//! Bitwise operations on exact integers, as if in infinite two's complement.

use crate::failure;
use crate::num::big;
use crate::num::operand::{Operand::*, integer, make_wide_integer, operand, wide};
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_num::int::MAX_BITS;
use cairn_num::limbs;
use cairn_num::signed::{self, BitOp, Signed};

const EXPECTED: &str = "an exact integer";

#[inline(always)]
fn bitwise(ctx: &mut Machine, who: &str, op: BitOp, a: Value, b: Value) -> Value {
    let (Some(x), Some(y)) = (wide(a), wide(b)) else { return bitwise_limbs(ctx, who, op, a, b) };
    let n = match op {
        BitOp::And => x & y,
        BitOp::Or => x | y,
        BitOp::Xor => x ^ y,
    };
    make_wide_integer(ctx, n)
}

#[cold]
fn bitwise_limbs(ctx: &mut Machine, who: &str, op: BitOp, a: Value, b: Value) -> Value {
    let (mut buf1, mut buf2) = ([0], [0]);
    let Some(x) = integer(a, &mut buf1) else { return failure::wrong_type(ctx, who, 0, EXPECTED, a) };
    let Some(y) = integer(b, &mut buf2) else { return failure::wrong_type(ctx, who, 0, EXPECTED, b) };
    big::build(ctx, signed::bitwise_room(x, y), |out| signed::bitwise(out, op, x, y))
}

/// `(bitwise-and a b)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_and(ctx: &mut Machine, a: Value, b: Value) -> Value {
    bitwise(ctx, "bitwise-and", BitOp::And, a, b)
}

/// `(bitwise-or a b)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_or(ctx: &mut Machine, a: Value, b: Value) -> Value {
    bitwise(ctx, "bitwise-or", BitOp::Or, a, b)
}

/// `(bitwise-xor a b)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_xor(ctx: &mut Machine, a: Value, b: Value) -> Value {
    bitwise(ctx, "bitwise-xor", BitOp::Xor, a, b)
}

/// `(bitwise-not a)`: `-1 - a`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_not(ctx: &mut Machine, a: Value) -> Value {
    match operand(a) {
        Fix(n) => Value::fixnum(!n),
        Big(n) => big::sub(ctx, Signed { negative: true, limbs: &[1] }, n),
        _ => failure::wrong_type(ctx, "bitwise-not", 0, EXPECTED, a),
    }
}

/// `(arithmetic-shift n count)`: left when `count` is positive.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_shift(ctx: &mut Machine, a: Value, b: Value) -> Value {
    if let (Some(n), Fix(left)) = (wide(a), operand(b)) {
        if left <= 0 {
            return make_wide_integer(ctx, n >> left.unsigned_abs().min(127));
        }
        if left < 127 && (n << left) >> left == n {
            return make_wide_integer(ctx, n << left);
        }
    }
    shift_limbs(ctx, a, b)
}

#[cold]
fn shift_limbs(ctx: &mut Machine, a: Value, b: Value) -> Value {
    const WHO: &str = "arithmetic-shift";
    let mut buf = [0];
    let Some(n) = integer(a, &mut buf) else { return failure::wrong_type(ctx, WHO, 1, EXPECTED, a) };
    let left = match operand(b) {
        Fix(left) => left,
        Big(y) if y.negative => i64::MIN, // everything is shifted out
        Big(_) if n.is_zero() => 0,
        Big(_) => return failure::out_of_range(ctx, WHO, 2, b),
        _ => return failure::wrong_type(ctx, WHO, 2, EXPECTED, b),
    };
    if n.is_zero() {
        return Value::fixnum(0);
    }
    if left > 0 && left as u64 + limbs::bit_len(n.limbs) as u64 > MAX_BITS {
        return failure::out_of_range(ctx, WHO, 2, b);
    }
    big::build(ctx, signed::shift_room(n, left), |out| signed::shift(out, n, left))
}

/// `(bit-count n)`: ones of a non-negative number, zeros of a negative one.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_bit_count(ctx: &mut Machine, a: Value) -> Value {
    match integer(a, &mut [0]) {
        Some(n) => Value::fixnum(signed::bit_count(n) as i64),
        None => failure::wrong_type(ctx, "bit-count", 0, EXPECTED, a),
    }
}

/// `(integer-length n)`: bits of the two's complement form without its sign.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_num_integer_length(ctx: &mut Machine, a: Value) -> Value {
    match integer(a, &mut [0]) {
        Some(n) => Value::fixnum(signed::integer_length(n) as i64),
        None => failure::wrong_type(ctx, "integer-length", 0, EXPECTED, a),
    }
}
