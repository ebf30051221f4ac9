//! How large code is, in about the instructions that it becomes.

use crate::ir::{Expr, Lambda};
use crate::prim::{Op, PrimOp};
use crate::walk::visit;

/// Size of the machine code of `e` alone, in rough units of one simple instruction group.
pub(in crate::passes) fn weight(e: &Expr) -> usize {
    match e {
        Expr::Const(_) | Expr::Local(_) | Expr::Seq(_) | Expr::Let(..) | Expr::Letrec(..) | Expr::Labels(..) => 0,
        Expr::Global(..) | Expr::If(..) | Expr::SetLocal(..) | Expr::Values(_) | Expr::Jump(..) => 1,
        Expr::SetGlobal(..) => 2,
        Expr::Fix(bs, _) => 2 * bs.len(),
        Expr::Lambda(_) => 3,
        Expr::Call(_, args, _) => 2 + args.len(),
        Expr::Apply(_, args, _) => 4 + args.len(),
        Expr::Receive { .. } => 4,
        Expr::CallCc(..) => 4,
        Expr::Prim { op, args, .. } => prim_weight(*op, args.len()),
    }
}

fn prim_weight(op: PrimOp, operands: usize) -> usize {
    match op {
        PrimOp::Op(Op::Add | Op::Sub | Op::NumEq | Op::NumLt | Op::NumLe | Op::NumGt | Op::NumGe) => 2,
        PrimOp::Op(Op::Mul | Op::Div | Op::Quotient | Op::Remainder | Op::Modulo | Op::FloorQuotient) => 3,
        PrimOp::Op(
            Op::VectorRef
            | Op::StringRef
            | Op::VectorSet
            | Op::StringSet
            | Op::RecordRef
            | Op::RecordSet
            | Op::RecordFlRef
            | Op::RecordFlSet
            | Op::RecordAt
            | Op::RecordAtSet
            | Op::RecordFlAt
            | Op::RecordFlAtSet
            | Op::StructureRef
            | Op::StructureSet
            | Op::StructureFlRef
            | Op::StructureFlSet,
        ) => 2,
        PrimOp::Op(Op::Cons) => 2,
        PrimOp::Op(_) => 1,
        PrimOp::Vector | PrimOp::Record | PrimOp::Opaque => 2 + operands,
        PrimOp::Rt(_) | PrimOp::CCall => 3 + operands,
    }
}

/// Size of `e` in units of [`weight`].
pub(super) fn size(e: &Expr) -> usize {
    let mut n = 0;
    visit(e, &mut |e| n += weight(e));
    n
}

pub(crate) fn lambda_size(l: &Lambda) -> usize {
    l.clauses.iter().map(|c| size(&c.body)).sum()
}
