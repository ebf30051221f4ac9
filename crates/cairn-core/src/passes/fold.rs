//! Constant folding of primitives.
//!
//! ```text
//! before  (%+ 1 2)   (%num-expt 2 64)       (%symbol? 'a)   (%fx< 3 1)   (%car 5)
//! after   3          18446744073709551616   #t              #f           (%car 5)
//! ```
//!
//! An operation folds when all operands are constants, it depends on its operands only, and it does not fail: what
//! would fail stays, to fail at run time. Arithmetic is that of `cairn_num`, the same as the runtime's. Contents of
//! literal pairs, vectors and strings are not folded, for programs do mutate them; their lengths are.

use crate::ir::Literal;
use crate::prim::{Kind, Op, PrimOp, count_bits};
use cairn_num::division::Division;
use cairn_num::signed::BitOp;
use cairn_num::{Int, Number};
use std::cmp::Ordering;

/// The result of applying `op` to constants, if it may be computed now.
pub fn fold(op: PrimOp, args: &[&Literal]) -> Option<Literal> {
    let op = match op {
        PrimOp::Op(op) => op,
        PrimOp::Rt(_) => return integers(op.name(), args),
        _ => return None,
    };
    match *args {
        [a] => unary(op, a),
        [a, b] => binary(op, a, b),
        _ => None,
    }
}

/// The fixnum that the literal is.
pub(super) fn fixnum(l: &Literal) -> Option<i64> {
    match l {
        Literal::Number(Number::Int(Int::Fix(n))) => Some(*n),
        _ => None,
    }
}

fn flonum(l: &Literal) -> Option<f64> {
    match l {
        Literal::Number(Number::Flo(x)) => Some(*x),
        _ => None,
    }
}

fn number(l: &Literal) -> Option<&Number> {
    match l {
        Literal::Number(n) => Some(n),
        _ => None,
    }
}

fn truth(b: bool) -> Option<Literal> {
    Some(Literal::Bool(b))
}

/// A fixnum, wrapped to 61 bits.
fn wrapped(n: i64) -> Option<Literal> {
    Some(Literal::Number(Number::Int(Int::Fix((n << 3) >> 3))))
}

fn float(x: f64) -> Option<Literal> {
    Some(Literal::Number(Number::Flo(x)))
}

/// `eq?` on constants, where the answer does not depend on how they are represented.
pub fn same(a: &Literal, b: &Literal) -> Option<bool> {
    match (a, b) {
        (Literal::Number(Number::Int(Int::Fix(x))), Literal::Number(Number::Int(Int::Fix(y)))) => Some(x == y),
        (Literal::Number(_), Literal::Number(_)) => None, // bignums, boxed flonums: identity
        (Literal::Char(x), Literal::Char(y)) => Some(x == y),
        (Literal::Bool(x), Literal::Bool(y)) => Some(x == y),
        (Literal::Symbol(x), Literal::Symbol(y)) => Some(x == y),
        (Literal::Nil, Literal::Nil)
        | (Literal::Unspecified, Literal::Unspecified)
        | (Literal::Eof, Literal::Eof)
        | (Literal::Default, Literal::Default)
        | (Literal::Unbound, Literal::Unbound) => Some(true),
        (Literal::String(_), Literal::String(_))
        | (Literal::Bytes(_), Literal::Bytes(_))
        | (Literal::Numbers(..), Literal::Numbers(..))
        | (Literal::Pair(_), Literal::Pair(_))
        | (Literal::Vector(_), Literal::Vector(_)) => None, // identity
        _ => Some(false),
    }
}

fn unary(op: Op, a: &Literal) -> Option<Literal> {
    let is = |k: Kind| truth(a.kind() == Some(k));
    match op {
        Op::IsFixnum => is(Kind::Fixnum),
        Op::IsFlonum => is(Kind::Flonum),
        Op::IsBignum => truth(matches!(a, Literal::Number(Number::Int(Int::Big { .. })))),
        Op::IsRatnum => truth(matches!(a, Literal::Number(Number::Ratio(..)))),
        Op::IsCompnum => truth(matches!(a, Literal::Number(Number::Complex(..)))),
        Op::IsNumber => truth(number(a).is_some()),
        Op::IsPair => is(Kind::Pair),
        Op::IsNull => truth(matches!(a, Literal::Nil)),
        Op::IsBoolean => is(Kind::Boolean),
        Op::IsSymbol => is(Kind::Symbol),
        Op::IsString => is(Kind::String),
        Op::IsChar => is(Kind::Char),
        Op::IsVector => is(Kind::Vector),
        Op::IsBytevector => is(Kind::Bytevector),
        Op::IsProcedure | Op::IsRecord | Op::IsPort | Op::IsPromise | Op::IsOpaque => truth(false),
        Op::IsEof => truth(matches!(a, Literal::Eof)),
        Op::IsDefault => truth(matches!(a, Literal::Default)),
        Op::Not => truth(matches!(a, Literal::Bool(false))),
        Op::Inexact => Some(Literal::Number(number(a)?.to_inexact())),
        Op::CompnumReal | Op::CompnumImag => {
            let z = number(a).filter(|z| !z.is_real())?;
            Some(Literal::Number(if op == Op::CompnumReal { z.real_part() } else { z.imag_part() }))
        }
        Op::FlSqrt => float(flonum(a)?.sqrt()),
        Op::FlAbs => float(flonum(a)?.abs()),
        Op::FlFloor => float(flonum(a)?.floor()),
        Op::FlCeiling => float(flonum(a)?.ceil()),
        Op::FlTruncate => float(flonum(a)?.trunc()),
        Op::FlRound => float(flonum(a)?.round_ties_even()),
        Op::FixnumToFlonum => float(fixnum(a)? as f64),
        Op::FxOnes | Op::FxLength | Op::FxTrailing => wrapped(count_bits(op, fixnum(a)?)),
        Op::CharToInteger => match a {
            Literal::Char(c) => wrapped(*c as i64),
            _ => None,
        },
        Op::IntegerToChar => char::from_u32(u32::try_from(fixnum(a)?).ok()?).map(Literal::Char),
        Op::VectorLength => match a {
            Literal::Vector(v) => wrapped(v.len() as i64),
            _ => None,
        },
        Op::StringLength => match a {
            Literal::String(s) => wrapped(s.chars().count() as i64),
            _ => None,
        },
        Op::BytevectorLength => match a {
            Literal::Bytes(b) => wrapped(b.len() as i64),
            _ => None,
        },
        _ => None,
    }
}

fn binary(op: Op, a: &Literal, b: &Literal) -> Option<Literal> {
    match op {
        Op::Eq => return same(a, b).map(Literal::Bool),
        Op::Eqv => {
            return match (a, b) {
                (Literal::Number(Number::Int(x)), Literal::Number(Number::Int(y))) => truth(x == y),
                (Literal::Number(x), Literal::Number(y)) if x.is_exact() != y.is_exact() => truth(false),
                (Literal::Number(_), Literal::Number(_)) => None,
                _ => same(a, b).map(Literal::Bool),
            };
        }
        Op::CharEq | Op::CharLt => {
            return match (a, b) {
                (Literal::Char(x), Literal::Char(y)) => truth(if op == Op::CharEq { x == y } else { x < y }),
                _ => None,
            };
        }
        _ => {}
    }
    let (x, y) = (number(a)?, number(b)?);
    let fx = || Some((fixnum(a)?, fixnum(b)?));
    let fl = || Some((flonum(a)?, flonum(b)?));
    let arithmetic = |n: Number| Some(Literal::Number(n)).filter(modest);
    let divide = |d: Division| x.divide_integers(d, y).ok().and_then(arithmetic);
    let ordered = |wanted: &[Ordering]| {
        // complex numbers have no order, and say so at run time
        if !x.is_real() || !y.is_real() { None } else { truth(x.compare(y).is_some_and(|o| wanted.contains(&o))) }
    };
    match op {
        Op::Add => arithmetic(x.add(y)),
        Op::Sub => arithmetic(x.sub(y)),
        Op::Mul => arithmetic(x.mul(y)),
        Op::Div => arithmetic(x.div(y)?),
        Op::NumEq => truth(x.num_eq(y)),
        Op::NumLt => ordered(&[Ordering::Less]),
        Op::NumLe => ordered(&[Ordering::Less, Ordering::Equal]),
        Op::NumGt => ordered(&[Ordering::Greater]),
        Op::NumGe => ordered(&[Ordering::Greater, Ordering::Equal]),
        Op::Quotient => divide(Division::Quotient),
        Op::Remainder => divide(Division::Remainder),
        Op::Modulo => divide(Division::Modulo),
        Op::FloorQuotient => divide(Division::FloorQuotient),
        Op::FxAdd => fx().and_then(|(x, y)| wrapped(x.wrapping_add(y))),
        Op::FxSub => fx().and_then(|(x, y)| wrapped(x.wrapping_sub(y))),
        Op::FxMul => fx().and_then(|(x, y)| wrapped(x.wrapping_mul(y))),
        Op::FxEq => fx().and_then(|(x, y)| truth(x == y)),
        Op::FxLt => fx().and_then(|(x, y)| truth(x < y)),
        Op::FxLe => fx().and_then(|(x, y)| truth(x <= y)),
        Op::FxAnd => fx().and_then(|(x, y)| wrapped(x & y)),
        Op::FxOr => fx().and_then(|(x, y)| wrapped(x | y)),
        Op::FxXor => fx().and_then(|(x, y)| wrapped(x ^ y)),
        Op::FxShl => fx().filter(|(_, y)| (0..=60).contains(y)).and_then(|(x, y)| wrapped(x << y)),
        Op::FxShr => fx().filter(|(_, y)| (0..=60).contains(y)).and_then(|(x, y)| wrapped(x >> y)),
        Op::FlAdd => fl().and_then(|(x, y)| float(x + y)),
        Op::FlSub => fl().and_then(|(x, y)| float(x - y)),
        Op::FlMul => fl().and_then(|(x, y)| float(x * y)),
        Op::FlDiv => fl().and_then(|(x, y)| float(x / y)),
        Op::FlEq => fl().and_then(|(x, y)| truth(x == y)),
        Op::FlLt => fl().and_then(|(x, y)| truth(x < y)),
        Op::FlLe => fl().and_then(|(x, y)| truth(x <= y)),
        Op::FlRectangular => fl().map(|(x, y)| {
            let part = |x: f64| Box::new(Number::Flo(x));
            Literal::Number(Number::Complex(part(x), part(y)))
        }),
        _ => None,
    }
}

/// Calls of the runtime on exact integers, such as `(expt 2 64)`.
fn integers(name: &str, args: &[&Literal]) -> Option<Literal> {
    let int = |i: usize| match number(args.get(i)?)? {
        Number::Int(n) => Some(n),
        _ => None,
    };
    let bits = |op: BitOp| Some(int(0)?.bitwise(op, int(1)?));
    let n = match name {
        "num-expt" => {
            let (base, power) = (int(0)?, fixnum(args.get(1)?)?);
            if power < 0 || base.bits().checked_mul(power.unsigned_abs())? > MODEST {
                return None;
            }
            return Some(Literal::Number(number(args[0])?.expt(number(args[1])?).ok()?));
        }
        "num-shift" => {
            let left = fixnum(args.get(1)?).filter(|n| n.unsigned_abs() <= MODEST)?;
            int(0)?.shift(left)?
        }
        "num-and" => bits(BitOp::And)?,
        "num-or" => bits(BitOp::Or)?,
        "num-xor" => bits(BitOp::Xor)?,
        _ => return None,
    };
    Some(Literal::Number(Number::Int(n))).filter(modest)
}

/// Bits of numbers that are worth a place in the program.
const MODEST: u64 = 4096;

/// Small enough to write into the program: a chain of squarings must not fill it with megabytes of digits.
fn modest(l: &Literal) -> bool {
    match l {
        Literal::Number(Number::Int(n)) => n.bits() <= MODEST,
        Literal::Number(Number::Ratio(n, d)) => n.bits() + d.bits() <= MODEST,
        _ => true,
    }
}
