//! Calls of the runtime that take the place of longer ones where they can: `(%table-ref-known table key default)` finds
//! most keys, and returns the default object if it cannot say. What is called then is cold.

use crate::ir::{Expr, GlobalId, Program};
use crate::prim::{Op, PrimOp};
use crate::walk::visit;
use cairn_layout::calls::QUICK;

/// Is there such a call in `body`?
pub(super) fn makes_quick_call(body: &Expr) -> bool {
    let mut found = false;
    visit(body, &mut |e| {
        found |= matches!(e, Expr::Prim { op: PrimOp::Rt(i), .. } if i.row().flags & QUICK != 0);
    });
    found
}

/// The procedures that are called where one could not say. In their callers they would only make these large.
pub(super) fn called_otherwise(program: &Program) -> Vec<GlobalId> {
    let mut out = Vec::new();
    for form in program.forms.iter().map(|f| f.expr()).filter(|e| makes_quick_call(e)) {
        visit(form, &mut |e| {
            if let Expr::If(test, otherwise, _) = e
                && matches!(&**test, Expr::Prim { op: PrimOp::Op(Op::IsDefault), .. })
            {
                visit(otherwise, &mut |e| {
                    if let Expr::Call(f, ..) = e
                        && let Expr::Global(g, _) = &**f
                    {
                        out.push(*g);
                    }
                });
            }
        });
    }
    out
}
