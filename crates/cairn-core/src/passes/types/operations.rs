//! Primitive operations: the type of the result, what success says about the operands, and cheaper operations.

use super::lattice::{LENGTH_MAX, Type, bits::*, mask, predicate};
use super::question::Question;
use super::rounds::{Phase, Types};
use super::speculate;
use crate::ir::{Expr, GlobalId, Literal, VarId};
use crate::passes::known::Known;
use crate::prim::{IN_NO_VECTOR, MAKE_RECORD_TYPE, NEVER_EXTENDED, Numeric, Op, PrimOp, fixnum_bit, scalar_bit};
use crate::walk::take;
use cairn_layout::c::{CType, direct};
use cairn_layout::object::numeric::NumericKind;
use cairn_layout::object::record::{FieldKind, Slot};
use cairn_layout::value::{FIXNUM_MAX, FIXNUM_MIN};
use cairn_num::{Int, Number};

/// The operands of an operation of the table, as they were when it was evaluated.
pub(super) struct Operands {
    pub op: Op,
    /// Those of the first two that are variables.
    pub vars: [Option<VarId>; 2],
    pub types: [Type; 2],
    /// For operations on records: the type descriptor.
    pub rtd: Option<GlobalId>,
}

impl Types {
    /// The type of a primitive's result (and its operands, for tests). Rewrites in the last walk.
    pub(super) fn prim(&mut self, e: &mut Expr) -> (Type, Option<Operands>) {
        let Expr::Prim { op, args, proven, .. } = e else { return (Type::ANY, None) };
        if let (PrimOp::Op(o @ (Op::Unbox | Op::SetBox)), Some(Expr::Local(v))) = (*op, args.first())
            && self.slots.is_box(*v)
        {
            let v = *v;
            *proven |= u8::from(self.phase.rewrites());
            if o == Op::Unbox {
                return (self.slots.contents(v), None);
            }
            let t = self.expr(&mut args[1]);
            if !t.is_none() {
                self.forms.again |= self.slots.grow(v, t);
            }
            if let (true, Expr::Prim { proven, .. }) = (self.phase.rewrites() && t.within(SCALAR), e) {
                *proven |= scalar_bit(1);
            }
            return (if t.is_none() { t } else { Type::UNSPECIFIED }, None);
        }
        let question = Question::of(e);
        let Expr::Prim { op, args, proven, .. } = e else { return (Type::ANY, None) };
        let stored = std::mem::take(&mut self.stored);
        let root = self.phase == Phase::Plan && !self.inside_tree && speculate::is_root(*op);
        let tree = self.phase.rewrites() && speculate::is_inner(*op) || root;
        let mut types = Vec::with_capacity(args.len());
        for (i, a) in args.iter_mut().enumerate() {
            self.stored = op.stored_operand() == Some(i) && matches!(a, Expr::Prim { .. });
            self.inside_tree = tree && matches!(a, Expr::Prim { op, .. } if speculate::is_inner(*op));
            let t = self.expr(a);
            self.inside_tree = false;
            if t.is_none() {
                return (t, None);
            }
            types.push(t);
        }
        if stores(*op) {
            self.slots.stored_flonums |= types.iter().any(|t| t.is_flonum());
        }
        let o = match *op {
            PrimOp::Record if self.slots.records.is_closed(&args[0]) => {
                let rtd = self.rtd(&args[0]);
                for (i, t) in types[1..].iter().enumerate() {
                    self.grow_field(rtd, i as i64, *t);
                }
                return (Type { rtd, ..Type::of(RECORD) }, None);
            }
            PrimOp::Op(Op::RawRecord | Op::CompactRecord) => {
                let rtd = args.first().and_then(|a| self.rtd(a));
                return (Type { rtd, ..Type::of(RECORD) }, None);
            }
            PrimOp::Op(o) => o,
            PrimOp::Vector => return (Type::of(VECTOR), None),
            PrimOp::Opaque => return (Type::of(OPAQUE), None),
            PrimOp::CCall => return (c_result(&args[0]), None),
            PrimOp::Record => {
                let rtd = args.first().and_then(|a| self.rtd(a));
                return (Type { rtd, ..Type::of(RECORD) }, None);
            }
            PrimOp::Rt(_) if !op.returns() => return (Type::NONE, None),
            MAKE_RECORD_TYPE => return (Type::of(RECORD_TYPE), None),
            PrimOp::Rt(i) => {
                let t = runtime(i.row().name, &types);
                if self.phase.rewrites() {
                    equal_as_eq(e, &types);
                }
                return (t, None);
            }
        };
        self.wish(o, args, &types);
        // operands that passed their checks
        let rtd = o.asks_type().then(|| self.rtd(&args[1])).flatten();
        let mut bits = 0;
        let unchecked = types.clone();
        for (i, t) in types.iter_mut().enumerate() {
            let allowed = allowed(o, i);
            let passed = if o.is_field_access() && i == 0 {
                let passed = Type { rtd, ..Type::of(RECORD) };
                if t.kinds == RECORD && rtd.is_some_and(|g| !self.slots.records.may_be_elements(g)) && t.rtd == rtd
                {
                    bits |= 1;
                }
                t.meet(passed)
            } else {
                if t.within(allowed) && o.info().args[i] != crate::prim::Kind::Any {
                    bits |= 1 << i;
                }
                let t = t.only(allowed);
                if is_index(o, i) { t.clamp(0, LENGTH_MAX - 1) } else { t }
            };
            if passed.is_none() {
                return (passed, None); // always fails
            }
            if op.stored_operand() == Some(i) && passed.within(SCALAR) {
                bits |= scalar_bit(i);
            }
            *t = passed;
            if let Expr::Local(v) = args[i] {
                let known = self.env.get(v).meet(passed);
                self.env.refine(v, known);
            }
        }
        let closed = rtd.filter(|g| self.slots.records.has(*g));
        if o.asks_type() && rtd.is_some_and(|g| !self.slots.records.may_be_elements(g)) {
            bits |= if closed.is_some() { NEVER_EXTENDED } else { IN_NO_VECTOR };
        }
        if let (Op::RecordSet, Some(_)) = (o, closed) {
            self.grow_field(closed, field_of(&args[2]).code(), types[3]);
        }
        if o == Op::VectorSet {
            for f in self.slots.vectors.grow(&args[0], types[2]) {
                self.forms.touch(f);
            }
        }
        if o == Op::StructureSet {
            // which type the element has is not said
            for f in self.slots.records.grow_of_element(field_of(&args[2]).code(), types[3]) {
                self.forms.touch(f);
            }
        }
        let ty = match o {
            Op::RecordRef if closed.is_some() && field_of(&args[2]).kind == FieldKind::Any => {
                self.field(closed, field_of(&args[2]).code())
            }
            Op::StructureRef if field_of(&args[2]).kind == FieldKind::Any => {
                let held = self.slots.records.get_of_element(field_of(&args[2]).code(), self.forms.here);
                Type { hint: held.hint || self.slots.stored_flonums, ..held }
            }
            Op::IsInstance | Op::IsCompact if rtd.is_some() && types[0].kinds == RECORD && types[0].rtd == rtd => {
                Type::boolean(true)
            }
            Op::RecordRef if rtd.is_some() && field_of(&args[2]).compact.is_some_and(|p| p.own) => {
                Type { rtd, ..Type::of(RECORD | FALSE) }
            }
            Op::RecordRef | Op::RecordAt | Op::StructureRef if field_of(&args[2]).kind != FieldKind::Any => {
                field_type(field_of(&args[2]))
            }
            Op::VectorRef => {
                let held = self.slots.vectors.get(&args[0], self.forms.here);
                held.unwrap_or(Type { hint: self.slots.stored_flonums, ..Type::ANY })
            }
            Op::Car | Op::Cdr | Op::RecordRef => Type { hint: self.slots.stored_flonums, ..Type::ANY },
            Op::Mul | Op::FlMul if is_square(args) && types[0].is_flonum() => Type::of(NATURAL_FLONUM),
            Op::Add | Op::Sub | Op::Mul | Op::Div => {
                Type { hint: types.iter().any(|t| t.hint || t.is_flonum()), ..result(o, &types) }
            }
            _ => match question.and_then(|q| self.env.answered(q)) {
                Some(answer) => Type::boolean(answer),
                None => result(o, &types),
            },
        };
        let var = |e: Option<&Expr>| match e {
            Some(Expr::Local(v)) => Some(*v),
            _ => None,
        };
        let operands = Operands {
            op: o,
            vars: [var(args.first()), var(args.get(1))],
            types: [types.first().copied().unwrap_or(Type::ANY), types.get(1).copied().unwrap_or(Type::ANY)],
            rtd,
        };
        if self.phase.rewrites() {
            *proven |= bits;
            let complex = [0, 1].map(|i| unchecked.get(i).is_some_and(|t| t.is_flocomp()));
            let real = [0, 1].map(|i| unchecked.get(i).is_some_and(|t| t.is_flonum()));
            let by_parts = match o {
                Op::Add | Op::Sub | Op::Mul => complex != [false; 2] && (0..2).all(|i| complex[i] || real[i]),
                Op::NumEq => complex == [true; 2],
                _ => false,
            };
            if let (true, Expr::Prim { args, .. }) = (by_parts, &mut *e) {
                if let Some(parts) = self.by_parts(o, args, complex) {
                    *e = parts;
                }
                return (ty, Some(operands));
            }
            self.rewrite(e, o, &unchecked, ty);
            self.integers_apart(e, o, &unchecked);
            if root && matches!(e, Expr::Prim { op, .. } if speculate::is_root(*op)) {
                self.speculate(e, stored);
            }
        }
        (ty, Some(operands))
    }

    /// What a field of a closed type holds so far.
    fn field(&mut self, rtd: Option<GlobalId>, code: i64) -> Type {
        let Some(g) = rtd else { return Type::ANY };
        self.slots.records.get(g, code, self.forms.here)
    }

    fn grow_field(&mut self, rtd: Option<GlobalId>, code: i64, t: Type) {
        let Some(g) = rtd else { return };
        for f in self.slots.records.grow(g, code, t) {
            self.forms.touch(f);
        }
    }

    /// The global that holds the type descriptor `e`, if it always holds the same.
    fn rtd(&self, e: &Expr) -> Option<GlobalId> {
        match e {
            Expr::Global(g, _) if !matches!(self.facts.get(*g).value, Known::Unknown) => Some(*g),
            _ => None,
        }
    }

    /// Chooses a cheaper operation, now that the types of the operands (before their checks) and of the result are
    /// final.
    fn rewrite(&self, e: &mut Expr, o: Op, types: &[Type], ty: Type) {
        let Expr::Prim { op, args, proven, .. } = e else { return };
        if matches!(ty.kinds, TRUE | FALSE) && !op.can_fail(*proven) {
            let answer = Literal::Bool(ty.kinds == TRUE);
            let mut kept: Vec<Expr> = args.drain(..).filter(|a| !self.discardable(a)).collect();
            kept.push(Expr::Const(answer));
            *e = if kept.len() == 1 { kept.swap_remove(0) } else { Expr::Seq(kept) };
            return;
        }
        let mut become_op = |new: Op, bits: u8| {
            *op = PrimOp::Op(new);
            *proven = bits;
        };
        let (a, b) = (types[0], types.get(1).copied().unwrap_or(Type::NONE));
        let fixnums = a.is_fixnum() && b.is_fixnum();
        let flonums = flonum_like(o, a, b);
        match o {
            Op::Add if fixnums && ty.is_fixnum() => become_op(Op::FxAdd, 3),
            Op::Sub if fixnums && ty.is_fixnum() => become_op(Op::FxSub, 3),
            Op::Mul if fixnums && ty.is_fixnum() => become_op(Op::FxMul, 3),
            Op::NumEq if fixnums => become_op(Op::FxEq, 3),
            Op::NumLt if fixnums => become_op(Op::FxLt, 3),
            Op::NumLe if fixnums => become_op(Op::FxLe, 3),
            Op::NumGt | Op::NumGe if (fixnums || flonums) && self.may_swap(args) => {
                let strict = o == Op::NumGt;
                let new = match (fixnums, strict) {
                    (true, true) => Op::FxLt,
                    (true, false) => Op::FxLe,
                    (false, true) => Op::FlLt,
                    (false, false) => Op::FlLe,
                };
                become_op(new, 3);
                args.swap(0, 1);
                if flonums {
                    inexact_operands(args, &[b, a]);
                }
            }
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::NumEq | Op::NumLt | Op::NumLe if flonums => {
                let new = match o {
                    Op::Add => Op::FlAdd,
                    Op::Sub => Op::FlSub,
                    Op::Mul => Op::FlMul,
                    Op::Div => Op::FlDiv,
                    Op::NumEq => Op::FlEq,
                    Op::NumLt => Op::FlLt,
                    _ => Op::FlLe,
                };
                become_op(new, 3);
                inexact_operands(args, types);
            }
            Op::Sqrt if a.kinds == NATURAL_FLONUM => become_op(Op::FlSqrt, 1),
            Op::Inexact if a.is_fixnum() => become_op(Op::FixnumToFlonum, 1),
            Op::Inexact if a.is_flonum() => *e = take(&mut args[0]),
            // powers of two
            Op::Modulo | Op::Remainder
                if power(b).is_some() && a.is_fixnum() && (o == Op::Modulo || a.lo >= 0) =>
            {
                become_op(Op::FxAnd, 3);
                args[1] = fixnum(b.lo - 1);
            }
            Op::FloorQuotient | Op::Quotient if a.is_fixnum() && (o == Op::FloorQuotient || a.lo >= 0) => {
                if let Some(shift) = power(b) {
                    become_op(Op::FxShr, 3);
                    args[1] = fixnum(shift);
                }
            }
            Op::Eqv if a.within(!EQV_DEEP) || b.within(!EQV_DEEP) => become_op(Op::Eq, 0),
            _ if op.is_generic() => {
                for (i, (t, e)) in types.iter().zip(args).enumerate() {
                    if t.is_fixnum() && !matches!(e, Expr::Const(_)) {
                        *proven |= fixnum_bit(i);
                    }
                }
            }
            _ => {}
        }
    }

    /// May the two operands be evaluated in the other order?
    fn may_swap(&self, args: &[Expr]) -> bool {
        args.iter().any(|a| matches!(a, Expr::Const(_) | Expr::Local(_)))
    }
}

/// Are both operands the same variable, or the same field of one?
fn is_square(args: &[Expr]) -> bool {
    match args {
        [Expr::Local(a), Expr::Local(b)] => a == b,
        [Expr::Prim { op: f, args: a, .. }, Expr::Prim { op: g, args: b, .. }] => match (&a[..], &b[..]) {
            ([Expr::Local(v), Expr::Global(t, _), a], [Expr::Local(w), Expr::Global(u, _), b]) => {
                let read = matches!(f, PrimOp::Op(Op::RecordRef | Op::RecordFlRef));
                read && f == g && v == w && t == u && field_of(a).code() == field_of(b).code()
            }
            _ => false,
        },
        _ => false,
    }
}

/// The field that operand 2 of an access names.
pub fn field_of(e: &Expr) -> Slot {
    match e {
        Expr::Const(Literal::Number(Number::Int(Int::Fix(code)))) => Slot::of(*code),
        _ => Slot::of(0),
    }
}

/// What a field of this kind holds.
fn field_type(slot: Slot) -> Type {
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

/// The exponent, when `t` is a single power of two.
fn power(t: Type) -> Option<i64> {
    (t.is_fixnum() && t.lo == t.hi && t.lo > 0 && t.lo & (t.lo - 1) == 0).then(|| i64::from(t.lo.trailing_zeros()))
}

/// What a call of C of this signature returns.
fn c_result(signature: &Expr) -> Type {
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

fn fixnum(n: i64) -> Expr {
    Expr::Const(Literal::Number(Number::Int(Int::Fix(n))))
}

/// Can the generic operation be done on doubles, converting a fixnum operand? One operand must be a flonum. Exact zero
/// is special in sums (`(+ 0 -0.0)` is `-0.0`), and comparisons are exact, so not every conversion is allowed.
pub(super) fn flonum_like(o: Op, a: Type, b: Type) -> bool {
    let convertible = |t: Type| {
        t.is_flonum()
            || t.is_fixnum()
                && match o {
                    Op::Add | Op::Sub => t.lo > 0 || t.hi < 0,
                    Op::Mul => true,
                    Op::NumEq | Op::NumLt | Op::NumLe | Op::NumGt | Op::NumGe => {
                        t.lo >= -(1 << 53) && t.hi <= 1 << 53
                    }
                    _ => false,
                }
    };
    match o {
        Op::Div => {
            a.is_flonum() && (b.is_flonum() || b.is_fixnum() && (b.lo > 0 || b.hi < 0))
                || a.is_fixnum() && b.is_flonum()
        }
        _ => (a.is_flonum() || b.is_flonum()) && convertible(a) && convertible(b),
    }
}

pub(super) fn inexact_operands(args: &mut [Expr], types: &[Type]) {
    for (a, t) in args.iter_mut().zip(types) {
        if !t.is_fixnum() {
            continue;
        }
        if let Expr::Const(Literal::Number(n)) = a {
            *a = Expr::Const(Literal::Number(n.to_inexact()));
        } else {
            let site = cairn_layout::code::Site::NONE;
            *a = Expr::Prim { op: PrimOp::Op(Op::FixnumToFlonum), args: vec![take(a)], site, proven: 1 };
        }
    }
}

/// Does the operation put its operands into an object?
fn stores(op: PrimOp) -> bool {
    match op {
        PrimOp::Vector | PrimOp::Record => true,
        PrimOp::Op(o) => {
            matches!(
                o,
                Op::Cons
                    | Op::SetCar
                    | Op::SetCdr
                    | Op::VectorSet
                    | Op::RecordSet
                    | Op::RecordAtSet
                    | Op::StructureSet
            )
        }
        PrimOp::Rt(i) => i.row().name == "make-vector",
        PrimOp::Opaque | PrimOp::CCall => false,
    }
}

/// `equal?` compares words when one operand has no structure.
fn equal_as_eq(e: &mut Expr, types: &[Type]) {
    if let Expr::Prim { op, .. } = e
        && op.name() == "equal"
        && types.iter().any(|t| t.within(EQUAL_SHALLOW))
    {
        *op = PrimOp::Op(Op::Eq);
    }
}

/// Kinds of operand `i` with which the operation can succeed.
fn allowed(o: Op, i: usize) -> u32 {
    match o {
        Op::NumLt | Op::NumLe | Op::NumGt | Op::NumGe => REAL,
        Op::Quotient | Op::Remainder | Op::Modulo | Op::FloorQuotient => INTEGER | FLONUM,
        _ => mask(o.info().args[i]),
    }
}

fn is_index(o: Op, i: usize) -> bool {
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

/// Adds what inexact and complex operands contribute to the exact results.
fn inexact(a: Type, b: Type, exact: Type) -> Type {
    let flonums = |t: Type| t.within(FLONUM | FLOCOMP);
    if flonums(a) && flonums(b) && (a.is_flocomp() || b.is_flocomp()) {
        return exact.join(Type::of(FLOCOMP));
    }
    if a.may_be(COMPNUM) || b.may_be(COMPNUM) {
        return Type::of(NUMBER);
    }
    let flonum = a.may_be(FLONUM) && b.may_be(REAL) || b.may_be(FLONUM) && a.may_be(REAL);
    if flonum { exact.join(Type::of(FLONUM)) } else { exact }
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
fn runtime(name: &str, types: &[Type]) -> Type {
    let a = types.first().copied().unwrap_or(Type::ANY);
    let real_function = |kinds: u32| Type::of(if a.is_flonum() { FLONUM } else { kinds });
    match name {
        "length" | "port-line" => Type::range(0, LENGTH_MAX),
        "string-hash" | "equal-hash" | "num-bit-count" | "num-integer-length" => Type::of(FIXNUM),
        "string-compare" => Type::range(-1, 1),
        "make-string" | "string-append" | "string-concat" | "substring" | "list->string" | "vector->string"
        | "string-upcase" | "string-downcase" | "string-foldcase" | "num->string" | "utf8->string"
        | "get-output-string" => Type::of(STRING),
        "make-vector" | "subvector" | "vector-append" | "list->vector" | "string->vector" => Type::of(VECTOR),
        "make-bytevector" | "subbytevector" | "bytevector-append" | "string->utf8" | "get-output-bytevector" => {
            Type::of(BYTES)
        }
        "string->symbol" | "generate-symbol" => Type::of(SYMBOL),
        "char-upcase" | "char-downcase" | "char-foldcase" => Type::of(CHAR),
        "string->list" | "vector->list" => Type::of(NULL | PAIR),
        "num-floor" | "num-ceiling" | "num-truncate" | "num-round" => real_function(INTEGER | FLONUM),
        "num-sin" | "num-cos" | "num-tan" | "num-exp" | "num-atan" => real_function(NUMBER),
        "num-exact" if a.within(REAL) => Type::of(EXACT),
        "num-inexact" if a.within(REAL) => Type::of(FLONUM),
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
