//! Rules for primitives: folding and algebra.
//!
//! Identities that drop an operand's check apply only when the check is proven or the operand is a constant.

use super::branch::boolean;
use super::state::{Ctx, Simplifier, Step, constant, truth, unit};
use crate::effects;
use crate::ir::{Expr, Literal};
use crate::passes::fold;
use crate::prim::{Kind, Op, PrimOp};
use cairn_layout::code::Site;
use cairn_num::{Int, Number};

fn small(e: &Expr) -> Option<i64> {
    match e {
        Expr::Const(l) => fold::fixnum(l),
        _ => None,
    }
}

fn same_variable(a: &Expr, b: &Expr) -> bool {
    matches!((a, b), (Expr::Local(x), Expr::Local(y)) if x == y)
}

impl Simplifier<'_> {
    /// A primitive applied to simplified operands.
    pub(super) fn rules(&mut self, op: PrimOp, mut args: Vec<Expr>, site: Site, proven: u8, ctx: Ctx) -> Expr {
        let literals: Option<Vec<&Literal>> = args
            .iter()
            .map(|e| match e {
                Expr::Const(l) => Some(l),
                _ => None,
            })
            .collect();
        if let Some(l) = literals.and_then(|ls| fold::fold(op, &ls)) {
            return constant(l, ctx);
        }
        // a constant operand of the right kind needs no check
        let mut proven = proven;
        for (i, e) in args.iter().enumerate().take(8) {
            if let (PrimOp::Op(_), Expr::Const(l)) = (op, e) {
                let (want, got) = (op.arg_kind(i), l.kind());
                // complex numbers are numbers, but have no order: they prove nothing
                let proves = match (want, l) {
                    (Kind::Number, Literal::Number(n)) => n.is_real(),
                    _ => got == Some(want),
                };
                proven |= u8::from(proves) << i;
            }
        }
        if ctx == Ctx::Effect {
            let own = effects::of_prim(op, proven);
            if own.within(effects::Effects::ALLOC.and(effects::Effects::READ)) {
                let mut steps = Vec::new();
                args.into_iter().for_each(|e| self.push_effect(e, &mut steps));
                return self.wrap(steps, unit());
            }
        }
        if let PrimOp::Op(o) = op
            && let Some(e) = self.algebra(o, &mut args, proven, ctx)
        {
            return e;
        }
        Expr::Prim { op, args, site, proven }
    }

    fn algebra(&mut self, op: Op, args: &mut Vec<Expr>, proven: u8, ctx: Ctx) -> Option<Expr> {
        let sure = |i: usize| proven & (1 << i) != 0;
        let pick = |args: &mut Vec<Expr>, i: usize| Some(args.swap_remove(i));
        match (op, &args[..]) {
            (Op::Not, [Expr::Prim { op: PrimOp::Op(Op::Not), args: inner, .. }]) => {
                let x = &inner[0];
                if ctx == Ctx::Test || boolean(x) {
                    let Expr::Prim { args: mut inner, .. } = args.pop()? else { return None };
                    return inner.pop();
                }
                None
            }
            (Op::Eq | Op::Eqv, [a, b]) if same_variable(a, b) => Some(constant(Literal::Bool(true), ctx)),
            (Op::Eq, [_, Expr::Const(Literal::Bool(false))]) => {
                let x = args.swap_remove(0);
                Some(not(x))
            }
            (Op::Eq, [Expr::Const(Literal::Bool(false)), _]) => {
                let x = args.pop()?;
                Some(not(x))
            }
            // `eqv?` differs from `eq?` on numbers only
            (Op::Eqv, [a, b]) => {
                let plain = |e: &Expr| match e {
                    Expr::Const(Literal::Number(Number::Int(Int::Fix(_)))) => true,
                    Expr::Const(Literal::Number(_)) => false,
                    Expr::Const(_) | Expr::Lambda(_) => true,
                    _ => false,
                };
                if plain(a) || plain(b) {
                    let args = std::mem::take(args);
                    return Some(self.rules(PrimOp::Op(Op::Eq), args, Site::NONE, 0, ctx));
                }
                None
            }
            (Op::Add, [_, z]) if small(z) == Some(0) && sure(0) => pick(args, 0),
            (Op::Add, [z, _]) if small(z) == Some(0) && sure(1) => pick(args, 1),
            (Op::Sub, [_, z]) if small(z) == Some(0) && sure(0) => pick(args, 0),
            (Op::Mul, [_, z]) if small(z) == Some(1) && sure(0) => pick(args, 0),
            (Op::Mul, [z, _]) if small(z) == Some(1) && sure(1) => pick(args, 1),
            (Op::FxAdd | Op::FxSub | Op::FxOr | Op::FxXor | Op::FxShl | Op::FxShr, [_, z])
                if small(z) == Some(0) && sure(0) =>
            {
                pick(args, 0)
            }
            (Op::FxAdd | Op::FxOr | Op::FxXor, [z, _]) if small(z) == Some(0) && sure(1) => pick(args, 1),
            (Op::FxMul, [_, z]) if small(z) == Some(1) && sure(0) => pick(args, 0),
            (Op::FxMul, [z, _]) if small(z) == Some(1) && sure(1) => pick(args, 1),
            // pieces of a pair just made
            (Op::Car | Op::Cdr, [Expr::Prim { op: PrimOp::Op(Op::Cons), .. }]) => {
                let Some(Expr::Prim { args: mut cell, .. }) = args.pop() else { return None };
                let (d, a) = (cell.pop()?, cell.pop()?);
                // both are evaluated, in order; the wanted one gives the value
                let mut steps = Vec::new();
                if op == Op::Cdr {
                    self.push_effect(a, &mut steps);
                    return Some(self.wrap(steps, d));
                }
                if self.discardable(&d) {
                    return Some(a);
                }
                let t = self.program.fresh_var("t");
                steps.push(Step::Bind(t, a));
                steps.push(Step::Do(d));
                Some(self.wrap(steps, Expr::Local(t)))
            }
            (Op::CompnumReal | Op::CompnumImag, [Expr::Local(z)]) => {
                self.complex_part(*z, usize::from(op == Op::CompnumImag))
            }
            (Op::IsPair, [Expr::Prim { op: PrimOp::Op(Op::Cons), .. }])
            | (Op::IsVector, [Expr::Prim { op: PrimOp::Vector, .. }])
            | (Op::IsRecord, [Expr::Prim { op: PrimOp::Record, .. }])
            | (Op::IsProcedure, [Expr::Lambda(_)]) => {
                let x = args.pop()?;
                let mut steps = Vec::new();
                self.push_effect(x, &mut steps);
                Some(self.wrap(steps, truth(true)))
            }
            (Op::Unbox, [Expr::Prim { op: PrimOp::Op(Op::MakeBox), .. }]) => {
                let Some(Expr::Prim { args: mut inner, .. }) = args.pop() else { return None };
                inner.pop()
            }
            _ => None,
        }
    }
}

fn not(x: Expr) -> Expr {
    Expr::Prim { op: PrimOp::Op(Op::Not), args: vec![x], site: Site::NONE, proven: 0 }
}
