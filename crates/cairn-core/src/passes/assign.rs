//! Assignment conversion: assigned local variables live in boxes.
//!
//! ```text
//! before  (lambda count (n) (seq (set! n (%+ n 1)) n))
//! after   (lambda count (n') (let ((n (%box n'))) (seq (%set-box!:1 n (%+ (%unbox:1 n) 1)) (%unbox:1 n))))
//! ```
//!
//! The problem: a variable captured by a closure and assigned must be shared, not copied. The idea: after this pass
//! every variable is bound once and never changes, so later passes copy and move variables freely.
//!
//! Invariants: no `SetLocal` is left, no variable of these forms is marked assigned, and those of other forms stay as
//! they were; accesses to these boxes are proven (`proven` = 1). Complexity: linear.

use crate::ir::{Clause, Expr, Literal, Program, VarId};
use crate::prim::{Op, PrimOp};
use crate::walk::{deep, for_each_child_mut, take, visit};
use cairn_layout::code::Site;
use rustc_hash::FxHashSet;

/// Runs the pass.
pub fn run(program: &mut Program) {
    let mut forms = std::mem::take(&mut program.forms);
    // the flags decide until the end, so that a variable's reads and its binding agree
    let assigned: Vec<bool> = program.vars.iter().map(|v| v.assigned).collect();
    if assigned.contains(&true) {
        for form in &mut forms {
            convert(program, &assigned, form.expr_mut());
        }
    }
    program.forms = forms;
}

fn prim(op: Op, args: Vec<Expr>, proven: u8) -> Expr {
    Expr::Prim { op: PrimOp::Op(op), args, site: Site::NONE, proven }
}

fn convert(program: &mut Program, assigned: &[bool], e: &mut Expr) {
    deep(|| {
        for_each_child_mut(e, &mut |c| convert(program, assigned, c));
        let is = |v: VarId| assigned.get(v.0 as usize) == Some(&true);
        match e {
            Expr::Local(v) if is(*v) => *e = prim(Op::Unbox, vec![Expr::Local(*v)], 1),
            Expr::SetLocal(v, rhs) => *e = prim(Op::SetBox, vec![Expr::Local(*v), take(rhs)], 1),
            Expr::Let(bindings, _) => {
                for (v, rhs) in bindings.iter_mut().filter(|(v, _)| is(*v)) {
                    program.vars[v.0 as usize].assigned = false;
                    *rhs = prim(Op::MakeBox, vec![take(rhs)], 0);
                }
            }
            Expr::Fix(bindings, _) => {
                let clauses = bindings.iter_mut().flat_map(|(_, l)| &mut l.clauses);
                clauses.for_each(|c| box_parameters(program, assigned, c));
            }
            Expr::Lambda(l) => l.clauses.iter_mut().for_each(|c| box_parameters(program, assigned, c)),
            Expr::Receive { clause, .. } => box_parameters(program, assigned, clause),
            Expr::Labels(labels, _) => {
                for l in labels {
                    let mut clause =
                        Clause { params: std::mem::take(&mut l.params), rest: None, body: take(&mut l.body) };
                    box_parameters(program, assigned, &mut clause);
                    (l.params, l.body) = (clause.params, clause.body);
                }
            }
            _ => {}
        }
    })
}

/// The variables that are boxes of assigned ones, after the pass.
pub fn boxes(program: &Program) -> FxHashSet<VarId> {
    let mut found = FxHashSet::default();
    for form in &program.forms {
        visit(form.expr(), &mut |e| {
            if let Expr::Let(bs, _) = e {
                let made = bs.iter().filter(|(_, x)| matches!(x, Expr::Prim { op: PrimOp::Op(Op::MakeBox), .. }));
                found.extend(made.map(|(v, _)| *v));
            }
        });
    }
    found
}

/// The boxes keep the variables' names; the parameters get fresh ones.
fn box_parameters(program: &mut Program, assigned: &[bool], clause: &mut Clause) {
    let mut boxes = Vec::new();
    for v in clause.params.iter_mut().chain(&mut clause.rest) {
        if assigned.get(v.0 as usize) == Some(&true) {
            let info = &mut program.vars[v.0 as usize];
            info.assigned = false;
            let name = info.name.clone();
            let fresh = program.fresh_var(&name);
            boxes.push((*v, prim(Op::MakeBox, vec![Expr::Local(fresh)], 0)));
            *v = fresh;
        }
    }
    if !boxes.is_empty() {
        let body = std::mem::replace(&mut clause.body, Expr::Const(Literal::Unspecified));
        clause.body = Expr::Let(boxes, Box::new(body));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_program;
    use crate::print::print_program;

    /// Forms of a library that is kept are prepared later than those of the program.
    #[test]
    fn variables_of_other_forms_stay_marked() {
        let text = "(var n.0 assigned) (var m.1 assigned) (var k.2 assigned)
                    (define @f.0 (lambda f (n.0) (seq (set! n.0 1) n.0)))
                    (define @g.1 (lambda g (m.1) (let ((k.2 m.1)) (seq (set! k.2 2) (set! m.1 3) k.2))))";
        let mut program = parse_program(text).expect("parses");
        let later = program.forms.split_off(1);
        let marked = |program: &Program| -> Vec<bool> { program.vars[..3].iter().map(|v| v.assigned).collect() };
        run(&mut program);
        assert_eq!(marked(&program), [false, true, true]);
        program.forms = later;
        run(&mut program);
        assert_eq!(marked(&program), [false; 3]);
        let text = print_program(&program);
        assert_eq!(text.matches("%set-box!").count(), 2, "{text}");
    }
}
