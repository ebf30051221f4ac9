//! Variables of top-level closures become globals.
//!
//! ```text
//! before  (define @counter (let ((n (%box 0)))               after  (define @n 0)
//!                            (lambda () (%set-box! n …))))          (define @counter (lambda () (set! @n …)))
//! ```
//!
//! The problem: a global defined as a closure over private state is not a known procedure, so its calls are neither
//! direct nor inlined. The idea: a right-hand side at top level is evaluated once, so what it binds may live in a
//! global.
//!
//! Only bindings whose evaluation calls nothing are lifted: a continuation captured in a call could enter the rest of
//! the right-hand side twice, and then two closures must not share the variable. Boxes all of whose uses read or store
//! become assigned globals, without the box.
//!
//! Invariants: new globals are not library globals unless the definition is one. Complexity: linear in what is lifted.

use super::known::acts;
use crate::ir::{Expr, GlobalId, GlobalInfo, Program, TopForm, VarId};
use crate::prim::{Op, PrimOp};
use crate::walk::{rewrite, take, visit};
use cairn_layout::code::Site;
use rustc_hash::FxHashMap;

#[derive(Clone, Copy)]
struct Lifted {
    global: GlobalId,
    /// The variable held a box; the global holds its contents.
    boxed: bool,
}

/// Runs the pass.
pub fn run(program: &mut Program) {
    let forms = std::mem::take(&mut program.forms);
    let mut result = Vec::with_capacity(forms.len());
    for form in forms {
        match form {
            TopForm::Define(g, e) if is_closure(&e) => lift(program, g, e, &mut result),
            form => result.push(form),
        }
    }
    program.forms = result;
}

/// Bindings that call nothing around a lambda.
fn is_closure(e: &Expr) -> bool {
    let mut e = e;
    let mut bindings = false;
    loop {
        e = match e {
            Expr::Let(bs, body) if !bs.iter().any(|(_, e)| acts(e)) => body,
            Expr::Fix(_, body) => body,
            Expr::Lambda(_) | Expr::Local(_) => return bindings,
            _ => return false,
        };
        bindings = true;
    }
}

fn lift(program: &mut Program, g: GlobalId, mut e: Expr, forms: &mut Vec<TopForm>) {
    let library = program.globals[g.0 as usize].library;
    let boxes = plain_boxes(&e);
    let mut lifted: FxHashMap<VarId, Lifted> = FxHashMap::default();
    let mut definitions = Vec::new();
    let mut global = |program: &mut Program, v: VarId, boxed: bool| {
        let name = program.vars[v.0 as usize].name.clone();
        program.globals.push(GlobalInfo { assigned: boxed, library, ..GlobalInfo::new(name) });
        let global = GlobalId(program.globals.len() as u32 - 1);
        lifted.insert(v, Lifted { global, boxed });
        global
    };
    loop {
        match e {
            Expr::Let(bs, body) => {
                for (v, mut rhs) in bs {
                    let mut boxed = false;
                    if let Expr::Prim { op: PrimOp::Op(Op::MakeBox), args, .. } = &mut rhs
                        && boxes.contains(&v)
                    {
                        boxed = true;
                        rhs = args.pop().expect("one operand");
                    }
                    definitions.push(TopForm::Define(global(program, v, boxed), rhs));
                }
                e = *body;
            }
            Expr::Fix(bs, body) => {
                for (v, l) in bs {
                    definitions.push(TopForm::Define(global(program, v, false), Expr::Lambda(l)));
                }
                e = *body;
            }
            _ => break,
        }
    }
    definitions.push(TopForm::Define(g, e));
    for form in &mut definitions {
        rewrite(form.expr_mut(), &mut |e| replace(e, &lifted));
    }
    forms.append(&mut definitions);
}

fn replace(e: &mut Expr, lifted: &FxHashMap<VarId, Lifted>) {
    match e {
        Expr::Local(v) => {
            if let Some(l) = lifted.get(v) {
                *e = Expr::Global(l.global, Site::NONE);
            }
        }
        // operands were replaced before
        Expr::Prim { op: PrimOp::Op(op @ (Op::Unbox | Op::SetBox)), args, .. } => {
            if let Expr::Global(g, _) = args[0]
                && lifted.values().any(|l| l.boxed && l.global == g)
            {
                *e = match op {
                    Op::Unbox => Expr::Global(g, Site::NONE),
                    _ => Expr::SetGlobal(g, Box::new(take(&mut args[1])), Site::NONE),
                };
            }
        }
        _ => {}
    }
}

/// Variables bound to boxes that are only read and stored into.
fn plain_boxes(e: &Expr) -> Vec<VarId> {
    let mut boxes = Vec::new();
    let mut uses: FxHashMap<VarId, i32> = FxHashMap::default();
    visit(e, &mut |e| match e {
        Expr::Let(bs, _) => {
            for (v, e) in bs {
                if matches!(e, Expr::Prim { op: PrimOp::Op(Op::MakeBox), .. }) {
                    boxes.push(*v);
                }
            }
        }
        Expr::Local(v) => *uses.entry(*v).or_default() += 1,
        Expr::Prim { op: PrimOp::Op(Op::Unbox | Op::SetBox), args, .. } => {
            if let Expr::Local(v) = args[0] {
                *uses.entry(v).or_default() -= 1;
            }
        }
        _ => {}
    });
    boxes.retain(|v| uses.get(v).copied().unwrap_or(0) == 0);
    boxes
}
