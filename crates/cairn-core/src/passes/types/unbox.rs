//! Loop parameters that stay doubles: what jumps pass to them is the result of a flonum operation.
//!
//! ```text
//! (jump L x)   becomes   (jump L (%fl* x 1.0))        ; x came as a value; L computes with its parameter
//! ```
//!
//! The problem: a variable is kept as a raw double if *all* its values are results of flonum operations
//! (`cairn_frame::reps`); one jump that passes a parameter of the procedure or the result of a call makes the loop
//! decode and encode in every iteration. The idea: convert at that jump, at each end of the expression whose value it
//! passes. Multiplying by one is the conversion: it changes nothing and LLVM removes it.

use super::state::Types;
use crate::ir::{Expr, Label, LabelId, Literal, VarId};
use crate::prim::{Kind, Op, PrimOp};
use crate::walk::{take, visit};
use cairn_layout::c::direct;
use cairn_layout::code::Site;
use cairn_num::{Int, Number};

impl Types {
    /// Decides which parameters of loops are to be doubles, now that their types are final.
    pub(super) fn plan_doubles(&mut self, labels: &[Label]) {
        for l in labels {
            if !self.is_loop(l.id) {
                continue;
            }
            let doubles: Vec<bool> =
                l.params.iter().map(|v| self.slots.get(*v).is_flonum() && computes(*v, &l.body)).collect();
            if doubles.contains(&true) {
                self.plans.doubles.insert(l.id, doubles);
            }
        }
    }

    /// Makes the operands of a walked jump doubles.
    pub(super) fn pass_doubles(&self, l: LabelId, args: &mut [Expr]) {
        let Some(doubles) = self.plans.doubles.get(&l) else { return };
        for (e, _) in args.iter_mut().zip(doubles).filter(|(_, wanted)| **wanted) {
            as_double(e);
        }
    }
}

/// Makes the expression, whose value is a flonum, end with flonum operations, whichever way it takes. Jumps at its ends
/// are to labels in it, whose bodies are its ends, too.
fn as_double(e: &mut Expr) {
    match e {
        Expr::Const(_) | Expr::Jump(..) => {}
        Expr::Prim { op, .. } if op.result() == Kind::Flonum => {}
        Expr::If(_, then, other) => [then, other].into_iter().for_each(|e| as_double(e)),
        Expr::Let(_, body) | Expr::Letrec(_, body) | Expr::Fix(_, body) => as_double(body),
        Expr::Seq(es) if !es.is_empty() => es.last_mut().into_iter().for_each(as_double),
        Expr::Labels(labels, body) => {
            labels.iter_mut().for_each(|l| as_double(&mut l.body));
            as_double(body);
        }
        e => {
            let one = Expr::Const(Literal::Number(Number::Flo(1.0)));
            let args = vec![take(e), one];
            *e = Expr::Prim { op: PrimOp::Op(Op::FlMul), args, site: Site::NONE, proven: 3 };
        }
    }
}

/// Is `v` an operand of arithmetic, and besides passed on by jumps, and used as a value (the loop's result, say) at
/// most once?
fn computes(v: VarId, body: &Expr) -> bool {
    let is_v = |e: &&Expr| matches!(e, Expr::Local(x) if *x == v);
    let (mut all, mut operand, mut passed) = (0, 0, 0);
    visit(body, &mut |e| match e {
        Expr::Local(x) if *x == v => all += 1,
        Expr::Prim { op: PrimOp::Op(o), args, .. }
            if matches!(
                o.info().args,
                [Kind::Flonum] | [Kind::Flonum, Kind::Flonum] | [Kind::Number, Kind::Number]
            ) && *o != Op::FlRectangular =>
        {
            operand += args.iter().filter(is_v).count();
        }
        Expr::Prim { op: PrimOp::CCall, args, .. } => {
            if let Expr::Const(Literal::Number(Number::Int(Int::Fix(signature)))) = &args[0] {
                // signature, address and number of an inlined function come first
                let floats = args[3..].iter().enumerate();
                let floats = floats.filter(|(i, _)| direct::argument(*signature, *i).is_floating());
                operand += floats.filter(|(_, e)| is_v(e)).count();
            }
        }
        Expr::Jump(_, args) => passed += args.iter().filter(is_v).count(),
        // decided, for it is one
        Expr::Prim { op: PrimOp::Op(Op::IsFlonum), args, .. } => passed += args.iter().filter(is_v).count(),
        _ => {}
    });
    operand > 0 && all <= operand + passed + 1
}
