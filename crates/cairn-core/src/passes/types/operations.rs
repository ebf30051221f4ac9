//! Primitive operations: what success says about the operands, what proves their checks, and cheaper operations.

use super::apart::inexact_operands;
use super::lattice::{LENGTH_MAX, Type, bits::*};
use super::question::Question;
use super::records::field_of;
use super::results::{allowed, c_result, field_type, is_index, result, runtime};
use super::speculate;
use super::state::{Phase, Types};
use crate::ir::{Expr, GlobalId, Literal, VarId};
use crate::passes::known::Known;
use crate::prim::{
    HAS_PASSED, IN_NO_VECTOR, MAKE_RECORD_TYPE, NEVER_EXTENDED, Op, PrimOp, fixnum_bit, scalar_bit,
};
use crate::walk::take;
use cairn_layout::object::record::FieldKind;
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
                self.fill_vector(args, &types);
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
                if let Some(g) = rtd
                    && t.kinds == RECORD
                    && t.rtd == rtd
                {
                    bits |= if self.slots.records.may_be_elements(g) { HAS_PASSED } else { 1 };
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
        let held = match (o, args.first()) {
            (Op::Unbox, Some(Expr::Local(v))) => self.slots.held.in_box(*v),
            (Op::Car, Some(Expr::Global(g, _))) => self.slots.held.in_cell(*g),
            (Op::VectorRef, Some(v)) => self.slots.held.element_of(v),
            (Op::RecordRef, _) if closed.is_none() && field_of(&args[2]).kind == FieldKind::Any => {
                rtd.and_then(|g| self.slots.held.field(g, field_of(&args[2]).code()))
            }
            _ => None,
        };
        let ty = match o {
            _ if held.is_some() => held.unwrap_or(Type::ANY),
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
            if let Expr::Prim { args, .. } = &mut *e
                && let Some(types) = self.combines_parts(o, args, &unchecked)
            {
                *e = self.by_parts(o, args, types);
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

    /// A call whose operands have these types may make a vector.
    pub(super) fn fill_vector(&mut self, args: &[Expr], types: &[Type]) {
        if let ([_, fill], [_, t]) = (args, types)
            && !self.phase.rewrites()
        {
            for f in self.slots.vectors.filled(fill, *t) {
                self.forms.touch(f);
            }
        }
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

/// The exponent, when `t` is a single power of two.
fn power(t: Type) -> Option<i64> {
    (t.is_fixnum() && t.lo == t.hi && t.lo > 0 && t.lo & (t.lo - 1) == 0).then(|| i64::from(t.lo.trailing_zeros()))
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
