//! The types of what operations return, and of the operands with which they can succeed.

use super::lattice::{LENGTH_MAX, Type, bits::*, mask, predicate};
use crate::ir::{Expr, Literal};
use crate::prim::{Numeric, Op};
use cairn_layout::c::{CType, direct};
use cairn_layout::object::numeric::NumericKind;
use cairn_layout::object::record::{FieldKind, Slot};
use cairn_layout::value::{FIXNUM_MAX, FIXNUM_MIN};
use cairn_num::{Int, Number};

/// Kinds of operand `i` with which the operation can succeed.
pub(super) fn allowed(o: Op, i: usize) -> u32 {
    match o {
        Op::NumLt | Op::NumLe | Op::NumGt | Op::NumGe => REAL,
        Op::Quotient | Op::Remainder | Op::Modulo | Op::FloorQuotient => INTEGER | FLONUM,
        _ => mask(o.info().args[i]),
    }
}

pub(super) fn is_index(o: Op, i: usize) -> bool {
    use Op::*;
    i == 1
        && (matches!(o.numeric(), Some((Numeric::Ref | Numeric::Set, _)))
            || matches!(o, VectorRef | VectorSet | StringRef | StringSet | BytevectorRef | BytevectorSet))
}

/// The type of the result, when the operands passed their checks.
pub(super) fn result(o: Op, types: &[Type]) -> Type {
    let a = types.first().copied().unwrap_or(Type::NONE);
    let b = types.get(1).copied().unwrap_or(Type::NONE);
    if let Some(kinds) = predicate(o) {
        return decide(a.within(kinds), !a.may_be(kinds));
    }
    let wide = |t: Type| (i128::from(t.lo), i128::from(t.hi));
    let wrapped = |lo: i128, hi: i128| {
        let t = Type::integers(lo, hi);
        if t.is_fixnum() { t } else { Type::of(FIXNUM) }
    };
    let ((al, ah), (bl, bh)) = (wide(a), wide(b));
    if let Some((access, kind)) = o.numeric() {
        return of_numeric(access, kind, a);
    }
    match o {
        Op::IsInstance | Op::IsCompact => decide(false, !a.may_be(RECORD)),
        Op::Eq | Op::Eqv => {
            let single = |t: Type| matches!(t.kinds, TRUE | FALSE | NULL | EOF | DEFAULT | UNSPECIFIED);
            let same = a == b && (single(a) || a.is_fixnum() && a.lo == a.hi);
            decide(same, a.meet(b).is_none())
        }
        Op::Add => of_naturals(a, b, arithmetic(a, b, |a, b| (a.0 + b.0, a.1 + b.1))),
        Op::Sub => arithmetic(a, b, |a, b| (a.0 - b.1, a.1 - b.0)),
        Op::Mul => of_naturals(a, b, arithmetic(a, b, product)),
        Op::Div => {
            let exact = if a.may_be(EXACT) && b.may_be(EXACT) { EXACT } else { 0 };
            inexact(a, b, Type::of(exact))
        }
        Op::Quotient | Op::FloorQuotient | Op::Remainder | Op::Modulo => division(o, a, b),
        Op::NumLt | Op::FxLt if a.is_fixnum() && b.is_fixnum() => decide(ah < bl, al >= bh),
        Op::NumLe | Op::FxLe if a.is_fixnum() && b.is_fixnum() => decide(ah <= bl, al > bh),
        Op::NumGt if a.is_fixnum() && b.is_fixnum() => decide(al > bh, ah <= bl),
        Op::NumGe if a.is_fixnum() && b.is_fixnum() => decide(al >= bh, ah < bl),
        Op::NumEq | Op::FxEq if a.is_fixnum() && b.is_fixnum() => decide(al == ah && a == b, a.meet(b).is_none()),
        Op::Sqrt if a.is_fixnum() && a.lo >= 0 => Type::of(FIXNUM | FLONUM).clamp(0, FIXNUM_MAX),
        Op::Sqrt | Op::FlSqrt if a.kinds == NATURAL_FLONUM => Type::of(NATURAL_FLONUM),
        Op::Sqrt if a.is_flonum() => Type::of(FLONUM | COMPNUM),
        Op::FlAbs => Type::of(NATURAL_FLONUM),
        Op::FlAdd | Op::FlMul if natural(a) && natural(b) => Type::of(NATURAL_FLONUM),
        Op::Sqrt => Type::of(NUMBER),
        Op::Inexact => {
            Type::of((if a.may_be(REAL) { FLONUM } else { 0 }) | (if a.may_be(COMPNUM) { COMPNUM } else { 0 }))
        }
        Op::FxAdd => wrapped(al + bl, ah + bh),
        Op::FxSub => wrapped(al - bh, ah - bl),
        Op::FxMul => {
            let (lo, hi) = product(wide(a), wide(b));
            wrapped(lo, hi)
        }
        Op::FxAnd if a.lo >= 0 || b.lo >= 0 => {
            let hi = if a.lo >= 0 && b.lo >= 0 {
                a.hi.min(b.hi)
            } else if a.lo >= 0 {
                a.hi
            } else {
                b.hi
            };
            Type::range(0, hi)
        }
        Op::FxShr if b.lo == b.hi && (0..=60).contains(&b.lo) => Type::range(a.lo >> b.lo, a.hi >> b.lo),
        Op::FxShr if a.lo >= 0 => Type::range(0, a.hi),
        Op::FlRectangular => Type::of(FLOCOMP),
        Op::CompnumReal | Op::CompnumImag if a.is_flocomp() => Type::of(FLONUM),
        Op::CompnumReal | Op::CompnumImag => Type::of(REAL),
        Op::FxOnes | Op::FxTrailing => Type::range(0, 61),
        Op::FxLength => Type::range(0, 60),
        Op::CharToInteger => Type::range(0, 0x10_FFFF),
        Op::VectorLength | Op::StringLength | Op::BytevectorLength => Type::range(0, LENGTH_MAX - 1),
        Op::BytevectorRef => Type::range(0, 255),
        Op::StringRef | Op::IntegerToChar => Type::of(CHAR),
        Op::PortTakeChar | Op::PortLookChar => Type::of(CHAR | FALSE),
        Op::PortTakeByte => Type::of(FALSE).join(Type::range(0, 255)),
        Op::PortPutChar | Op::PortPutByte => Type::BOOLEAN,
        _ => match o.info().result {
            crate::prim::Kind::Any if o.effect_is_write() => Type::UNSPECIFIED,
            kind => Type::of(mask(kind)),
        },
    }
}

/// The result of an operation on numeric vectors.
fn of_numeric(access: Numeric, kind: NumericKind, v: Type) -> Type {
    match access {
        Numeric::Is => decide(false, !v.may_be(NUMERIC)),
        Numeric::Length => Type::range(0, LENGTH_MAX - 1),
        Numeric::Set => Type::UNSPECIFIED,
        Numeric::Ref => match kind.part().integers() {
            Some((lo, hi)) => Type::integers(lo, hi),
            None if kind.is_complex() => Type::of(FLOCOMP),
            None => Type::of(FLONUM),
        },
    }
}

/// Sums and products of numbers that are not below zero are not, either. (Quotients are: `(/ 1. -0.)`.)
fn of_naturals(a: Type, b: Type, result: Type) -> Type {
    if natural(a) && natural(b) { result.only(!NEGATIVE_FLONUM) } else { result }
}

/// Real numbers that are not below zero?
fn natural(t: Type) -> bool {
    !t.may_be(NEGATIVE_FLONUM | LOW | RATNUM | COMPNUM) && (!t.may_be(FIXNUM) || t.lo >= 0)
}

fn al_of(t: Type) -> i128 {
    i128::from(t.lo)
}

fn ah_of(t: Type) -> i128 {
    i128::from(t.hi)
}

fn product(a: (i128, i128), b: (i128, i128)) -> (i128, i128) {
    let all = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
    all.iter().fold((all[0], all[0]), |(lo, hi), n| (lo.min(*n), hi.max(*n)))
}

fn decide(yes: bool, no: bool) -> Type {
    match (yes, no) {
        (true, false) => Type::boolean(true),
        (false, true) => Type::boolean(false),
        _ => Type::BOOLEAN,
    }
}

/// Adds what inexact and complex operands contribute to the exact results. A part of a complex number of flonums stays
/// a flonum, whatever real number it is combined with.
fn inexact(a: Type, b: Type, exact: Type) -> Type {
    if a.may_be(EXACTCOMP) || b.may_be(EXACTCOMP) {
        return Type::of(NUMBER);
    }
    let flonum = a.may_be(FLONUM) && b.may_be(REAL) || b.may_be(FLONUM) && a.may_be(REAL);
    let complex = a.may_be(FLOCOMP) || b.may_be(FLOCOMP);
    exact.join(Type::of(if flonum { FLONUM } else { 0 } | if complex { FLOCOMP } else { 0 }))
}

/// Sums, differences, products: `of_bounds` gives the bounds of the result of integers.
fn arithmetic(a: Type, b: Type, of_bounds: impl Fn((i128, i128), (i128, i128)) -> (i128, i128)) -> Type {
    let (x, y) = (a.only(EXACT), b.only(EXACT));
    let exact = match (x.bounds(), y.bounds()) {
        _ if x.is_none() || y.is_none() => Type::NONE,
        (Some(p), Some(q)) if x.within(INTEGER) && y.within(INTEGER) => {
            let (lo, hi) = of_bounds(p, q);
            Type::integers(lo, hi)
        }
        _ => Type::of(EXACT),
    };
    inexact(a, b, exact)
}

/// Quotients and remainders.
fn division(o: Op, a: Type, b: Type) -> Type {
    let (x, y) = (a.only(INTEGER), b.only(INTEGER));
    let exact = if x.is_none() || y.is_none() {
        Type::NONE
    } else if x.is_fixnum() && y.is_fixnum() {
        let size = ah_of(x).abs().max(al_of(x).abs());
        let rest = (ah_of(y).abs().max(al_of(y).abs()) - 1).max(0);
        match o {
            Op::Quotient | Op::FloorQuotient if y.lo > 0 && x.lo >= 0 => {
                Type::integers(al_of(x) / ah_of(y), ah_of(x) / al_of(y))
            }
            Op::Quotient if y.lo > 0 => Type::integers(al_of(x).min(0), ah_of(x).max(0)),
            Op::Quotient | Op::FloorQuotient => Type::integers(-size, size),
            Op::Remainder => {
                let lo = if x.lo < 0 { -rest.min(size) } else { 0 };
                let hi = if x.hi > 0 { rest.min(size) } else { 0 };
                Type::integers(lo, hi)
            }
            _ => Type::integers(if y.lo < 0 { -rest } else { 0 }, if y.hi > 0 { rest } else { 0 }),
        }
    } else if matches!(o, Op::Remainder | Op::Modulo) && y.is_fixnum() {
        Type::range(FIXNUM_MIN, FIXNUM_MAX)
    } else {
        Type::of(INTEGER)
    };
    inexact(a, b, exact)
}

impl Op {
    /// Stores and the like: the value is unspecified.
    fn effect_is_write(self) -> bool {
        self.info().effect == crate::prim::Effect::Write
    }
}

/// Results of runtime calls, by the names of the table; `ANY` when not listed.
pub(super) fn runtime(name: &str, types: &[Type]) -> Type {
    let a = types.first().copied().unwrap_or(Type::ANY);
    let b = types.get(1).copied().unwrap_or(Type::ANY);
    let real_function = |kinds: u32| Type::of(if a.is_flonum() { FLONUM } else { kinds });
    match name {
        "length" | "port-line" => Type::range(0, LENGTH_MAX),
        "string-hash" | "equal-hash" | "num-bit-count" | "num-integer-length" => Type::of(FIXNUM),
        "string-compare" => Type::range(-1, 1),
        "make-string" | "string-append" | "string-concat" | "substring" | "list->string" | "vector->string"
        | "string-upcase" | "string-downcase" | "string-foldcase" | "num->string" | "utf8->string"
        | "get-output-string" | "take-output-string" => Type::of(STRING),
        "make-vector" | "subvector" | "vector-append" | "list->vector" | "string->vector" => Type::of(VECTOR),
        "make-bytevector" | "subbytevector" | "bytevector-append" | "string->utf8" | "get-output-bytevector" => {
            Type::of(BYTES)
        }
        "string->symbol" | "generate-symbol" | "generate-symbol-named" => Type::of(SYMBOL),
        "char-upcase" | "char-downcase" | "char-foldcase" => Type::of(CHAR),
        "string->list" | "vector->list" => Type::of(NULL | PAIR),
        "num-floor" | "num-ceiling" | "num-truncate" | "num-round" => real_function(INTEGER | FLONUM),
        "num-sin" | "num-cos" | "num-tan" | "num-exp" | "num-atan" => real_function(NUMBER),
        "num-exact" if a.within(REAL) => Type::of(EXACT),
        "num-inexact" if a.within(REAL) => Type::of(FLONUM),
        "num-make-polar" if a.is_flonum() && b.is_flonum() => Type::of(FLOCOMP),
        "num-make-rectangular" if a.within(REAL) && b.is_flonum() => Type::of(FLOCOMP),
        "num-magnitude" if a.is_flocomp() => Type::of(NATURAL_FLONUM),
        "num-angle" if a.is_flocomp() => Type::of(FLONUM),
        "num-log"
        | "num-asin"
        | "num-acos"
        | "num-atan2"
        | "num-sqrt"
        | "num-expt"
        | "num-exact"
        | "num-inexact"
        | "num-make-rectangular"
        | "num-make-polar"
        | "num-real-part"
        | "num-imag-part"
        | "num-magnitude"
        | "num-angle"
        | "num-gcd"
        | "num-numerator"
        | "num-denominator" => Type::of(NUMBER),
        "num-and" | "num-or" | "num-xor" | "num-not" | "num-shift" => Type::of(INTEGER),
        "string->num" => Type::of(NUMBER | FALSE),
        "char-category" => Type::range(0, 29),
        "digit-value" => Type::of(FALSE).join(Type::range(0, 9)),
        "current-second" => Type::of(FLONUM),
        "current-jiffy" => Type::of(INTEGER),
        "open-input-string"
        | "open-output-string"
        | "open-input-bytevector"
        | "open-output-bytevector"
        | "standard-port" => Type::of(PORT),
        "read-char" | "peek-char" => Type::of(CHAR | EOF | FALSE),
        "read-u8" | "peek-u8" => Type::of(EOF | FALSE).join(Type::range(0, 255)),
        "eqv" | "equal" | "list?" | "string=?" | "file-exists?" => Type::BOOLEAN,
        _ if name.ends_with('?') => Type::BOOLEAN,
        _ => Type::ANY,
    }
}

/// What a field of this kind holds.
pub(super) fn field_type(slot: Slot) -> Type {
    match slot.kind {
        FieldKind::Any => Type::ANY,
        FieldKind::F64 | FieldKind::F32 => Type::of(FLONUM),
        FieldKind::Char => Type::of(CHAR),
        FieldKind::Bool => Type::of(BOOLEAN),
        FieldKind::Ref => Type::of(RECORD | FALSE),
        kind => {
            let (lo, hi) = kind.integers().unwrap_or((0, 0));
            Type::integers(lo, hi)
        }
    }
}

/// What a call of C of this signature returns.
pub(super) fn c_result(signature: &Expr) -> Type {
    let Expr::Const(Literal::Number(Number::Int(Int::Fix(code)))) = signature else { return Type::ANY };
    match direct::result(*code) {
        t if t.is_floating() => Type::of(FLONUM),
        CType::Bool => Type::BOOLEAN,
        CType::Char => Type::of(CHAR),
        // a word that is no fixnum is somewhere else, and this is `#f`
        CType::Pointer | CType::I64 | CType::U64 => Type::of(FIXNUM | FALSE),
        t => t.integers().map_or(Type::ANY, |(least, greatest)| Type::integers(least, greatest)),
    }
}
