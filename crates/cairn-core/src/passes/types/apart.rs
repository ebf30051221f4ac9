//! Arithmetic of a flonum and an integer that may be a bignum, or zero where that is special: fixnums apart.
//!
//! ```text
//! (%/ 1.0 n)                              ; n is an integer
//! ```
//! becomes
//! ```text
//! (if (%fixnum? n)
//!     (if (%fx= n 0)
//!         (%fl*:3 (%/ 1.0 n) 1.0)         ; whatever that is
//!         (%fl/:3 1.0 (%fixnum->flonum:1 n)))
//!     (%fl*:3 (%/ 1.0 n) 1.0))
//! ```
//!
//! The problem: the result is a flonum, but the operation is the generic one, which encodes it. The idea: all ways
//! give a double, so the result stays one; multiplying by one is the conversion ([`super::unbox`]). The generic
//! operation remains for bignums, since converting one first is not the same: it may be beyond the flonums. And for
//! zero, where that is special: as a divisor, and in sums, for `(+ 0 -0.0)` is `-0.0`.

use super::lattice::{Type, bits::*};
use super::state::{Phase, Types};
use crate::ir::{Expr, Literal};
use crate::prim::{Op, PrimOp};
use crate::walk::take;
use cairn_layout::code::Site;
use cairn_num::{Int, Number};

impl Types {
    /// Rewrites `e`, which is generic, if one operand is a flonum and the other an integer that needs a test.
    pub(super) fn integers_apart(&mut self, e: &mut Expr, o: Op, types: &[Type]) {
        let [a, b] = *types else { return };
        if !matches!(e, Expr::Prim { op: PrimOp::Op(now), .. } if *now == o) {
            return; // it is another operation already
        }
        let integer = usize::from(a.is_flonum());
        let (n, x) = (types[integer], types[1 - integer]);
        let (fast, zero_is_special) = match o {
            Op::Add => (Op::FlAdd, true),
            Op::Sub => (Op::FlSub, integer == 0),
            Op::Mul => (Op::FlMul, false),
            Op::Div => (Op::FlDiv, integer == 1),
            _ => return,
        };
        if !x.is_flonum() || !n.within(INTEGER) || !n.may_be(FIXNUM) {
            return;
        }
        let fixnums = n.only(FIXNUM);
        let zero = zero_is_special && fixnums.lo <= 0 && fixnums.hi >= 0;
        if zero && fixnums.lo == fixnums.hi {
            return;
        }
        if self.phase == Phase::Plan {
            // it would be no part of a tree any more ([`super::speculate`])
            self.plans.another_round = true;
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
        let prim = |op, args, proven| Expr::Prim { op: PrimOp::Op(op), args, site: Site::NONE, proven };
        let slow = |args| {
            let one = Expr::Const(Literal::Number(Number::Flo(1.0)));
            prim(Op::FlMul, vec![Expr::Prim { op, args, site, proven }, one], 3)
        };
        let mut doubles = args.clone();
        inexact_operands(&mut doubles, &[a, b].map(|t| if t.is_flonum() { t } else { fixnums }));
        let mut choice = prim(fast, doubles, 3);
        if zero {
            let none = Expr::Const(Literal::Number(Number::Int(Int::Fix(0))));
            let test = prim(Op::FxEq, vec![args[integer].clone(), none], 3);
            choice = Expr::If(Box::new(test), Box::new(slow(args.clone())), Box::new(choice));
        }
        if n.may_be(BIGNUM) {
            let test = prim(Op::IsFixnum, vec![args[integer].clone()], 0);
            choice = Expr::If(Box::new(test), Box::new(choice), Box::new(slow(args)));
        }
        *e = if bindings.is_empty() { choice } else { Expr::Let(bindings, Box::new(choice)) };
    }
}

/// Converts the fixnums among the operands.
pub(super) fn inexact_operands(args: &mut [Expr], types: &[Type]) {
    for (a, t) in args.iter_mut().zip(types) {
        if !t.is_fixnum() {
            continue;
        }
        if let Expr::Const(Literal::Number(n)) = a {
            *a = Expr::Const(Literal::Number(n.to_inexact()));
        } else {
            let site = Site::NONE;
            *a = Expr::Prim { op: PrimOp::Op(Op::FixnumToFlonum), args: vec![take(a)], site, proven: 1 };
        }
    }
}
