//! Values as operands, results as values.

use crate::access;
use crate::alloc::{alloc_object, make_flonum};
use crate::failure;
use crate::num::big;
use cairn_layout::Value;
use cairn_layout::machine::Machine;
use cairn_layout::object::{self, Type};
use cairn_num::signed::Signed;
use cairn_num::{Fault, Int, Number};

/// What a value is as a number.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// Fixnum.
    Fix(i64),
    /// Double, self-tagged or boxed.
    Flo(f64),
    /// Bignum.
    Big(Signed<'a>),
    /// Ratnum.
    Ratio,
    /// Compnum.
    Complex,
    /// Not a number.
    Other,
}

/// Looks at a value.
#[inline]
pub fn operand<'a>(v: Value) -> Operand<'a> {
    if v.is_fixnum() {
        return Operand::Fix(v.as_fixnum());
    }
    if v.is_immediate_flonum() {
        return Operand::Flo(v.as_immediate_flonum());
    }
    if !v.is_object() {
        return Operand::Other;
    }
    const BIGNUM: u8 = Type::Bignum as u8;
    const FLONUM: u8 = Type::Flonum as u8;
    const RATNUM: u8 = Type::Ratnum as u8;
    const COMPNUM: u8 = Type::Compnum as u8;
    let header = access::header(v);
    match object::header_type_code(header) {
        BIGNUM => Operand::Big(Signed {
            negative: object::header_flags(header) & object::FLAG_NEGATIVE != 0,
            limbs: access::limbs(v),
        }),
        FLONUM => access::flonum_of(v).map_or(Operand::Other, Operand::Flo),
        RATNUM => Operand::Ratio,
        COMPNUM => Operand::Complex,
        _ => Operand::Other,
    }
}

impl Operand<'_> {
    /// Not a number?
    pub fn is_other(self) -> bool {
        matches!(self, Operand::Other)
    }
}

/// An integer whose magnitude is below 2^127. What fits two limbs is calculated in registers: hashes, random numbers
/// and products modulo a number leave the fixnums by a few bits.
#[inline(always)]
pub fn wide(v: Value) -> Option<i128> {
    const NEGATIVE: u64 =
        object::header(Type::Bignum, object::FLAG_NEGATIVE, 0) ^ object::header(Type::Bignum, 0, 0);
    const ONE_LIMB: u64 = object::header(Type::Bignum, 0, 1);
    const TWO_LIMBS: u64 = object::header(Type::Bignum, 0, 2);
    if v.is_fixnum() {
        return Some(v.as_fixnum().into());
    }
    if !v.is_object() {
        return None;
    }
    let header = access::header(v);
    let limb = |i| access::word(v, i).0;
    let magnitude = match header & !NEGATIVE {
        ONE_LIMB => limb(0).into(),
        TWO_LIMBS if limb(1) < 1 << 63 => (limb(1) as i128) << 64 | limb(0) as i128,
        _ => return None,
    };
    Some(if header & NEGATIVE != 0 { -magnitude } else { magnitude })
}

/// A fixnum or bignum, as an integer; `buf` holds the fixnum's magnitude. Quicker than [`operand`].
#[inline(always)]
pub fn integer(v: Value, buf: &mut [u64; 1]) -> Option<Signed<'_>> {
    if v.is_fixnum() {
        return Some(Signed::of_i64(v.as_fixnum(), buf));
    }
    if !v.is_object() {
        return None;
    }
    let header = access::header(v);
    let negative = object::header_flags(header) & object::FLAG_NEGATIVE != 0;
    (object::header_type_code(header) == Type::Bignum as u8).then(|| Signed { negative, limbs: access::limbs(v) })
}

/// The owned exact integer of a fixnum or bignum.
pub fn to_int(v: Value) -> Option<Int> {
    match operand(v) {
        Operand::Fix(n) => Some(Int::Fix(n)),
        Operand::Big(n) => Some(Int::from_signed(n)),
        _ => None,
    }
}

/// The owned number of a value.
pub fn to_number(v: Value) -> Option<Number> {
    Some(match operand(v) {
        Operand::Fix(n) => Number::Int(Int::Fix(n)),
        Operand::Flo(x) => Number::Flo(x),
        Operand::Big(n) => Number::Int(Int::from_signed(n)),
        Operand::Ratio => Number::Ratio(to_int(access::word(v, 0))?, to_int(access::word(v, 1))?),
        Operand::Complex => {
            Number::Complex(Box::new(to_number(access::word(v, 0))?), Box::new(to_number(access::word(v, 1))?))
        }
        Operand::Other => return None,
    })
}

/// The value of an owned integer.
pub fn from_int(ctx: &mut Machine, n: &Int) -> Value {
    match n {
        Int::Fix(n) => Value::fixnum(*n),
        Int::Big { negative, limbs } => big::make(ctx, *negative, limbs),
    }
}

/// The value of an owned number.
pub fn from_number(ctx: &mut Machine, n: &Number) -> Value {
    match n {
        Number::Int(n) => from_int(ctx, n),
        Number::Flo(x) => make_flonum(ctx, *x),
        Number::Ratio(a, b) => {
            let (a, b) = (from_int(ctx, a), from_int(ctx, b));
            make_parts(ctx, Type::Ratnum, a, b)
        }
        Number::Complex(a, b) => {
            let (a, b) = (from_number(ctx, a), from_number(ctx, b));
            make_parts(ctx, Type::Compnum, a, b)
        }
    }
}

/// A ratnum or compnum of canonical parts.
#[inline(always)]
pub fn make_parts(ctx: &mut Machine, ty: Type, a: Value, b: Value) -> Value {
    let v = alloc_object(ctx, ty, 0, 2);
    access::words_mut(v).copy_from_slice(&[a, b]);
    v
}

/// An integer that fits a machine word.
#[inline]
pub fn make_integer(ctx: &mut Machine, n: i64) -> Value {
    match Value::try_fixnum(n) {
        Some(v) => v,
        None => big::make_two_limbs(ctx, n < 0, n.unsigned_abs().into()),
    }
}

/// An integer that fits two machine words.
#[inline]
pub fn make_wide_integer(ctx: &mut Machine, n: i128) -> Value {
    match i64::try_from(n) {
        Ok(n) => make_integer(ctx, n),
        Err(_) => big::make_two_limbs(ctx, n < 0, n.unsigned_abs()),
    }
}

/// `who: expected a number, got x` for the first of two arguments that is no number. They may be any two of many: no
/// positions.
#[cold]
pub fn not_numbers(
    ctx: &mut Machine,
    who: &str,
    expected: &str,
    a: Value,
    b: Value,
    ok: fn(Operand) -> bool,
) -> Value {
    failure::wrong_type(ctx, who, 0, expected, if ok(operand(a)) { b } else { a })
}

/// Turns a fault of an operation on `args` into a failure.
#[cold]
pub fn fault(ctx: &mut Machine, who: &str, fault: Fault, args: &[Value]) -> Value {
    let position = |argument: u32| if args.len() == 1 { 0 } else { argument };
    match fault {
        Fault::DivisionByZero => failure::division_by_zero(ctx, who, args[0]),
        Fault::Type { argument, expected } => {
            failure::wrong_type(ctx, who, position(argument), expected, args[argument as usize - 1])
        }
        Fault::Range { argument } => failure::out_of_range(ctx, who, argument, args[argument as usize - 1]),
    }
}

/// An operation of one number by way of `Number`.
#[cold]
pub fn slow1(ctx: &mut Machine, who: &str, a: Value, f: impl FnOnce(&Number) -> Result<Number, Fault>) -> Value {
    let Some(x) = to_number(a) else { return failure::wrong_type(ctx, who, 0, "a number", a) };
    match f(&x) {
        Ok(n) => from_number(ctx, &n),
        Err(e) => fault(ctx, who, e, &[a]),
    }
}

/// An operation of two numbers by way of `Number`.
#[cold]
pub fn slow2(
    ctx: &mut Machine,
    who: &str,
    a: Value,
    b: Value,
    f: impl FnOnce(&Number, &Number) -> Result<Number, Fault>,
) -> Value {
    let (Some(x), Some(y)) = (to_number(a), to_number(b)) else {
        return not_numbers(ctx, who, "a number", a, b, |o| !o.is_other());
    };
    match f(&x, &y) {
        Ok(n) => from_number(ctx, &n),
        Err(e) => fault(ctx, who, e, &[a, b]),
    }
}
