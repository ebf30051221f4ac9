//! Records that are no elements of structure vectors.
//!
//! ```text
//!  (if (%record-instance? p point)                       (if (%record-instance?:2 p point)        ; a point's header?
//!      (%+ (%record-ref p point 0)                ⟶          (%+ (%record-ref:1 p point 0) (%record-ref:1 p point 1))
//!          (%record-ref p point 1))                          (if (%record-instance? p point) (%+ …) 0))
//!      0)
//! ```
//!
//! The problem: where a program keeps references to elements of structure vectors, that `p` has passed for a point does
//! not say where its fields are, and each access asks again. The idea: code that asks several times is there twice, and
//! one comparison with the header of plain records decides which is run. What elements take is as it was.
//!
//! It comes after [`super::types`], which says of the operations what they need not ask. Only code up to [`SMALL`]
//! without lambdas is copied, and a form grows by no more than its own size and [`GROWTH_FREE`].
//!
//! Invariants: dialect `Opt` in and out; variables are bound once. Each node is looked at with at most [`SMALL`] units
//! below it: linear.

use super::inline::weight;
use crate::ir::{Expr, GlobalId, Literal, Program, VarId};
use crate::prim::{HAS_PASSED, IN_NO_VECTOR, NEVER_EXTENDED, Op, PrimOp};
use crate::walk::{
    Renaming, copy_fresh, deep, for_each_binder, for_each_child, for_each_child_mut, rewrite, take, visit,
};
use cairn_layout::code::Site;

/// Units of the largest code that is copied.
const SMALL: usize = 60;
/// Units that every form may grow by.
const GROWTH_FREE: usize = 100;

/// Gives plain records code of their own where that saves questions.
pub fn run(program: &mut Program) {
    if !program.globals.iter().any(|g| g.elements) {
        return;
    }
    let mut forms = std::mem::take(&mut program.forms);
    for form in &mut forms {
        let (mut asks, mut size) = (false, 0);
        visit(form.expr(), &mut |e| {
            asks |= question(program, e).is_some();
            size += weight(e);
        });
        if asks {
            walk(program, form.expr_mut(), &mut (size + GROWTH_FREE));
        }
    }
    program.forms = forms;
}

/// A variable, and the type that is asked for.
type Subject = (VarId, GlobalId);

/// Whether what is in the variable is a record of the type: if `e` asks that, and elements may answer.
fn question(program: &Program, e: &Expr) -> Option<Subject> {
    let Expr::Prim { op: PrimOp::Op(op), args, proven, .. } = e else { return None };
    if !op.asks_type() || proven & (NEVER_EXTENDED | IN_NO_VECTOR) != 0 || is_access(e) && proven & 1 != 0 {
        return None;
    }
    match &args[..2] {
        [Expr::Local(v), Expr::Global(g, _)] if program.globals[g.0 as usize].elements => Some((*v, *g)),
        _ => None,
    }
}

fn is_access(e: &Expr) -> bool {
    matches!(e, Expr::Prim { op: PrimOp::Op(op), .. } if op.is_field_access())
}

fn walk(program: &mut Program, e: &mut Expr, growth: &mut usize) {
    deep(|| {
        if let Some((subject, size)) = asked_often(program, e)
            && size <= *growth
        {
            *growth -= size;
            let other = copy_fresh(program, e, &mut Renaming::default());
            rewrite(e, &mut |e| {
                if question(program, e) == Some(subject) {
                    answer(e);
                }
            });
            walk(program, e, growth);
            let (v, g) = subject;
            let test = Expr::Prim {
                op: PrimOp::Op(Op::IsInstance),
                args: vec![Expr::Local(v), Expr::Global(g, Site::NONE)],
                site: Site::NONE,
                proven: NEVER_EXTENDED,
            };
            *e = Expr::If(test.into(), take(e).into(), other.into());
            return;
        }
        for_each_child_mut(e, &mut |c| walk(program, c, growth));
    });
}

/// The answer for a plain record of the type.
fn answer(e: &mut Expr) {
    if is_access(e) {
        if let Expr::Prim { proven, .. } = e {
            *proven = *proven & !HAS_PASSED | 1;
        }
    } else {
        *e = Expr::Const(Literal::Bool(true));
    }
}

/// What `e` asks several times, but no part of it as often, for an access among others; and the size of `e`.
fn asked_often(program: &Program, e: &Expr) -> Option<(Subject, usize)> {
    let mut asked: Vec<(Subject, usize, bool)> = Vec::new();
    let mut bound: Vec<VarId> = Vec::new();
    let (mut size, mut work) = (0, vec![e]);
    while let Some(e) = work.pop() {
        size += weight(e);
        if size > SMALL || matches!(e, Expr::Lambda(_) | Expr::Fix(..)) {
            return None;
        }
        if let Some(subject) = question(program, e) {
            match asked.iter_mut().find(|(s, ..)| *s == subject) {
                Some((_, times, accessed)) => {
                    *times += 1;
                    *accessed |= is_access(e);
                }
                None => asked.push((subject, 1, is_access(e))),
            }
        }
        for_each_binder(e, &mut |v| bound.push(v));
        for_each_child(e, &mut |c| work.push(c));
    }
    asked.retain(|((v, _), times, accessed)| *times > 1 && *accessed && !bound.contains(v));
    let (subject, times, _) = asked.into_iter().max_by_key(|(s, times, _)| (*times, std::cmp::Reverse(s.0)))?;
    let mut whole = false;
    for_each_child(e, &mut |c| {
        let mut n = 0;
        visit(c, &mut |e| n += usize::from(question(program, e) == Some(subject)));
        whole |= n == times;
    });
    (!whole).then_some((subject, size))
}
