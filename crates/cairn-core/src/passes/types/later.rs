//! Steps of counters that wait for the other arguments of a jump.
//!
//! ```text
//! (jump L (%+ j 1) (%+ s (%vector-ref v j)))
//! ```
//! becomes
//! ```text
//! (let ((t (%+ s (%vector-ref v j)))) (jump L (%fx+:3 j 1) t))
//! ```
//!
//! The problem: a loop that is written as a named `let` steps its counter before it uses it as an index, so nothing
//! bounds the counter where it is stepped, and it may become a bignum. The idea: a sum of integers cannot fail, reads
//! nothing and writes nothing, so it can as well be evaluated last, where the index has been found to be one. The other
//! arguments keep their order.
//!
//! A sum always waits in the analysis: what the jump passes is the same number in either order. The program changes
//! only where this makes the sum one of fixnums; there, the sum must not come first, since a fixnum operation on
//! anything else makes a word that is no value.

use super::lattice::{Type, bits::*};
use super::results::result;
use super::state::Types;
use crate::ir::{Expr, VarId};
use crate::prim::{Op, PrimOp};
use std::mem::replace;

impl Types {
    /// Walks the arguments of a jump, sums of integers last. Returns their types, and whether it matters that the sums
    /// come last.
    pub(super) fn jump_arguments(&mut self, args: &mut [Expr]) -> (Vec<Type>, bool) {
        let early: Vec<Option<Type>> = args.iter().map(|a| self.sum_of_integers(a)).collect();
        let mut types = vec![Type::NONE; args.len()];
        for waits in [false, true] {
            for (i, a) in args.iter_mut().enumerate().filter(|(i, _)| early[*i].is_some() == waits) {
                types[i] = self.expr(a);
            }
        }
        let gained = |(early, t): (&Option<Type>, &Type)| early.is_some_and(|e| !e.is_fixnum()) && t.is_fixnum();
        let matters = early.iter().zip(&types).any(gained);
        (types, matters)
    }

    /// The type of `e` here, if it is a sum or difference of integer variables and constants.
    fn sum_of_integers(&self, e: &Expr) -> Option<Type> {
        let Expr::Prim { op: PrimOp::Op(op @ (Op::Add | Op::Sub)), args, .. } = e else { return None };
        let operands = args.iter().map(|a| match a {
            Expr::Local(v) => Some(self.env.get(*v)),
            Expr::Const(l) => Some(Type::literal(l)),
            _ => None,
        });
        let operands: Vec<Type> = operands.collect::<Option<_>>()?;
        operands.iter().all(|t| !t.is_none() && t.within(INTEGER)).then(|| result(*op, &operands))
    }

    /// Gives names to the walked arguments that must come before sums of fixnums, in their order.
    pub(super) fn before(&mut self, args: &mut [Expr]) -> Vec<(VarId, Expr)> {
        let mut first = Vec::new();
        for a in args.iter_mut() {
            let simple = match a {
                Expr::Const(_) | Expr::Local(_) => true,
                Expr::Prim { op: PrimOp::Op(Op::FxAdd | Op::FxSub), args, .. } => {
                    args.iter().all(|a| matches!(a, Expr::Const(_) | Expr::Local(_)))
                }
                _ => false,
            };
            if !simple {
                let v = self.fresh();
                first.push((v, replace(a, Expr::Local(v))));
            }
        }
        first
    }
}
