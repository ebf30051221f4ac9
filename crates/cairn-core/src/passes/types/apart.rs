//! Arithmetic of a flonum and an integer that may be a bignum: fixnums apart.
//!
//! ```text
//! (%/ 1.0 n)                              ; n is a positive integer
//! ```
//! becomes
//! ```text
//! (if (%fixnum? n)
//!     (%fl/:3 1.0 (%fixnum->flonum:1 n))
//!     (%fl*:3 (%/ 1.0 n) 1.0))
//! ```
//!
//! The problem: the result is a flonum, but the operation is the generic one, which encodes it. The idea: both ways
//! give a double, so the result stays one; multiplying by one is the conversion ([`super::unbox`]). The generic
//! operation remains for bignums, since converting one first is not the same: it may be beyond the flonums.

use super::lattice::{Type, bits::*};
use super::operations::{flonum_like, inexact_operands};
use super::rounds::Types;
use crate::ir::{Expr, Literal};
use crate::prim::{Op, PrimOp};
use crate::walk::take;
use cairn_layout::code::Site;
use cairn_num::Number;

impl Types {
    /// Rewrites `e`, which is generic, if one operand is a flonum and the other an integer of either kind.
    pub(super) fn integers_apart(&mut self, e: &mut Expr, o: Op, types: &[Type]) {
        let [a, b] = *types else { return };
        let (a, b) = if a.is_flonum() { (a, b) } else { (b, a) };
        let mixed = |t: Type| t.within(INTEGER) && t.may_be(FIXNUM) && t.may_be(BIGNUM);
        let fast = match o {
            Op::Add => Op::FlAdd,
            Op::Sub => Op::FlSub,
            Op::Mul => Op::FlMul,
            Op::Div => Op::FlDiv,
            _ => return,
        };
        let fixnums: Vec<Type> = types.iter().map(|t| if mixed(*t) { t.only(FIXNUM) } else { *t }).collect();
        if !a.is_flonum() || !mixed(b) || !flonum_like(o, fixnums[0], fixnums[1]) {
            return;
        }
        let Expr::Prim { op, mut args, site, proven } = take(e) else { return };
        let mut bindings = Vec::new();
        for a in &mut args {
            if !matches!(a, Expr::Const(_) | Expr::Local(_)) {
                let v = self.fresh();
                bindings.push((v, std::mem::replace(a, Expr::Local(v))));
            }
        }
        let integer = usize::from(mixed(types[1]));
        let prim = |op, args, proven| Expr::Prim { op: PrimOp::Op(op), args, site: Site::NONE, proven };
        let test = prim(Op::IsFixnum, vec![args[integer].clone()], 0);
        let mut doubles = args.clone();
        inexact_operands(&mut doubles, &fixnums);
        let generic = Expr::Prim { op, args, site, proven };
        let one = Expr::Const(Literal::Number(Number::Flo(1.0)));
        let slow = prim(Op::FlMul, vec![generic, one], 3);
        let choice = Expr::If(Box::new(test), Box::new(prim(fast, doubles, 3)), Box::new(slow));
        *e = if bindings.is_empty() { choice } else { Expr::Let(bindings, Box::new(choice)) };
    }
}
