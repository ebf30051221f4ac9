//! What a call would cost after inlining: the size of a body when some parameters are known.
//!
//! The estimate walks the body once and leaves out branches that known arguments decide. It is cut off when it
//! exceeds its limit, so a rejected candidate costs time in proportion to the limit.

use super::weight;
use crate::ir::{Clause, Expr, Literal, VarId};
use crate::passes::fold::fold;
use crate::prim::{Op, PrimOp};
use crate::walk::{deep, for_each_child};

/// What the caller knows about an argument.
#[derive(Clone, Debug)]
pub(super) enum Arg {
    /// Nothing.
    Unknown,
    /// This constant.
    Const(Literal),
    /// A procedure whose body is known.
    Procedure,
}

/// Result of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Estimate {
    /// Units of code, at most the limit plus a little.
    pub size: usize,
    /// A known procedure is called in the body.
    pub calls_argument: bool,
}

/// Estimates the body of `clause` for these arguments (the rest parameter has its own cost). Calls of globals that are
/// `cold` cost nothing. `None`: above `limit`.
pub(super) fn estimate(clause: &Clause, args: &[Arg], limit: usize, cold: &[bool]) -> Option<Estimate> {
    let known: Vec<(VarId, &Arg)> =
        clause.params.iter().copied().zip(args).filter(|(_, a)| !matches!(a, Arg::Unknown)).collect();
    let mut e = Estimator { known, limit, cold, out: Estimate { size: 0, calls_argument: false } };
    if clause.rest.is_some() {
        e.out.size += 2 * (args.len() - clause.params.len());
    }
    e.expr(&clause.body);
    (e.out.size <= limit).then_some(e.out)
}

struct Estimator<'a> {
    known: Vec<(VarId, &'a Arg)>,
    limit: usize,
    /// Indexed by `GlobalId`; those beyond it are not cold.
    cold: &'a [bool],
    out: Estimate,
}

/// Is the callee a global of these?
pub(super) fn is_cold(f: &Expr, cold: &[bool]) -> bool {
    matches!(f, Expr::Global(g, _) if cold.get(g.0 as usize) == Some(&true))
}

impl Estimator<'_> {
    fn arg(&self, e: &Expr) -> Option<&Arg> {
        match e {
            Expr::Local(v) => self.known.iter().find(|(k, _)| k == v).map(|(_, a)| *a),
            _ => None,
        }
    }

    /// The constant that `e` is, when arguments are known.
    fn constant<'e>(&'e self, e: &'e Expr) -> Option<&'e Literal> {
        match (e, self.arg(e)) {
            (Expr::Const(l), _) | (_, Some(Arg::Const(l))) => Some(l),
            _ => None,
        }
    }

    fn expr(&mut self, e: &Expr) {
        if self.out.size > self.limit {
            return;
        }
        deep(|| self.expr_here(e))
    }

    fn expr_here(&mut self, e: &Expr) {
        match e {
            Expr::If(test, then, other) => match self.decide(test) {
                Some(true) => self.expr(then),
                Some(false) => self.expr(other),
                None => {
                    self.out.size += weight(e);
                    for_each_child(e, &mut |c| self.expr(c));
                }
            },
            Expr::Call(f, ..) if is_cold(f, self.cold) => {}
            Expr::Call(f, args, _) => {
                if let Some(Arg::Procedure) = self.arg(f) {
                    self.out.calls_argument = true;
                } else {
                    self.out.size += weight(e);
                    self.expr(f);
                }
                args.iter().for_each(|a| self.expr(a));
            }
            _ => {
                self.out.size += weight(e);
                for_each_child(e, &mut |c| self.expr(c));
            }
        }
    }

    /// The outcome of a test, when arguments decide it.
    fn decide(&self, test: &Expr) -> Option<bool> {
        match test {
            Expr::Const(l) => Some(!matches!(l, Literal::Bool(false))),
            Expr::Local(_) => match self.arg(test)? {
                Arg::Const(l) => Some(!matches!(l, Literal::Bool(false))),
                Arg::Procedure => Some(true),
                Arg::Unknown => None,
            },
            Expr::Prim { op: PrimOp::Op(op), args, .. } => match (op, &args[..]) {
                (Op::Not, [x]) => Some(!self.decide(x)?),
                (Op::Eq | Op::Eqv, [a, b]) => super::reduce::same(self.constant(a)?, self.constant(b)?),
                (Op::FxEq | Op::FxLt | Op::FxLe, [a, b]) => {
                    let folded = fold(PrimOp::Op(*op), &[self.constant(a)?, self.constant(b)?])?;
                    Some(!matches!(folded, Literal::Bool(false)))
                }
                (_, [x]) => match self.arg(x)? {
                    Arg::Const(l) => super::reduce::predicate(*op, l),
                    Arg::Procedure => super::reduce::procedure_predicate(*op),
                    Arg::Unknown => None,
                },
                _ => None,
            },
            Expr::If(a, b, c) => {
                if self.decide(a)? {
                    self.decide(b)
                } else {
                    self.decide(c)
                }
            }
            _ => None,
        }
    }
}
