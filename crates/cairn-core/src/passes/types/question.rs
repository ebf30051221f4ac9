//! Comparisons of variables and small constants: asked again, the answer is the same.

use super::lattice::Type;
use crate::ir::{Expr, Literal, TopForm, VarId};
use crate::prim::{Op, PrimOp};
use crate::walk::visit;
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Question(Op, [Operand; 2]);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operand {
    Var(VarId),
    Fixnum(i64),
    Char(char),
}

impl Question {
    pub(super) fn of(e: &Expr) -> Option<Question> {
        use Op::{CharEq, CharLt, Eq, Eqv, FxEq, FxLe, FxLt, NumEq, NumGe, NumGt, NumLe, NumLt};
        let Expr::Prim { op: PrimOp::Op(op), args, .. } = e else { return None };
        let asked =
            matches!(op, NumEq | NumLt | NumLe | NumGt | NumGe | FxEq | FxLt | FxLe | Eq | Eqv | CharEq | CharLt);
        let operand = |e: &Expr| match e {
            Expr::Local(v) => Some(Operand::Var(*v)),
            Expr::Const(Literal::Char(c)) => Some(Operand::Char(*c)),
            Expr::Const(l) => Some(Type::literal(l)).filter(|t| t.is_fixnum()).map(|t| Operand::Fixnum(t.lo)),
            _ => None,
        };
        match &args[..] {
            [a, b] if asked => Some(Question(*op, [operand(a)?, operand(b)?])),
            _ => None,
        }
    }
}

/// The fixnums that variables are tested for equality with.
pub(super) fn compared_constants(forms: &[TopForm]) -> FxHashMap<VarId, Vec<i64>> {
    let mut constants: FxHashMap<VarId, Vec<i64>> = FxHashMap::default();
    for form in forms {
        let (TopForm::Define(_, e) | TopForm::Expr(e)) = form;
        visit(e, &mut |e| {
            if let Some(Question(Op::NumEq | Op::FxEq | Op::Eq | Op::Eqv, operands)) = Question::of(e)
                && let [Operand::Var(v), Operand::Fixnum(n)] | [Operand::Fixnum(n), Operand::Var(v)] = operands
            {
                constants.entry(v).or_default().push(n);
            }
        });
    }
    constants
}
