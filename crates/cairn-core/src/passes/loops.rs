//! Loops: procedures that call themselves in tail position become loops inside.
//!
//! ```text
//! (define memq                            (define memq
//!   (lambda (x l)                           (lambda (x' l')
//!     (if (%pair? l)                          (labels ((L0 (x l)
//!         (if (%eq? x (%car l))                          (if (%pair? l)
//!             l                                              (if (%eq? x (%car l)) l (jump L0 x (%cdr l)))
//!             (memq x (%cdr l)))                             #f)))
//!         #f)))                                 (jump L0 x' l'))))
//! ```
//!
//! The problem: a call, even of itself, passes all arguments as tagged values and checks the stack. Contification turns
//! local loops that are entered from one place into labels; global procedures and procedures called from several
//! places are left. The idea: a self tail call is a jump to the start of the body.
//!
//! Only bodies without other calls outside tail position are treated: after a call the back end continues in another
//! piece of code, from which a jump to the start costs as much as a call.
//!
//! Invariants: dialect `Opt` in and out. Linear.

use super::recursion::{Name, for_each_procedure};
use crate::ir::{Expr, Label, LabelId, Lambda, Program, VarId};
use crate::walk::{deep, select_clause, take};

/// Makes loops of all procedures of `program` that call themselves in tail position.
pub fn run(program: &mut Program) {
    for_each_procedure(program, |program, l, name, _| procedure(program, l, name));
}

fn procedure(program: &mut Program, l: &mut Lambda, name: Name) {
    for k in 0..l.clauses.len() {
        if l.clauses[k].rest.is_some() {
            continue;
        }
        // which clause an argument count selects
        let n = l.clauses[k].params.len();
        if select_clause(l, n) != Some(k) {
            continue;
        }
        let c = &mut l.clauses[k];
        let mut calls = 0;
        if !is_loop(&c.body, name, n, &mut calls) || calls == 0 {
            continue;
        }
        let label = program.fresh_label();
        jumps(&mut c.body, name, n, label);
        let outer: Vec<VarId> = c
            .params
            .iter()
            .map(|v| {
                let info = program.vars[v.0 as usize].clone();
                program.vars.push(info);
                VarId(program.vars.len() as u32 - 1)
            })
            .collect();
        let enter = Expr::Jump(label, outer.iter().map(|v| Expr::Local(*v)).collect());
        let body = take(&mut c.body);
        let params = std::mem::replace(&mut c.params, outer);
        c.body = Expr::Labels(vec![Label { id: label, params, body }], Box::new(enter));
    }
}

/// Has `e`, in tail position, no calls but in tail position? Counts those that are to be jumps.
fn is_loop(e: &Expr, name: Name, n: usize, calls: &mut usize) -> bool {
    deep(|| match e {
        Expr::Call(f, args, _) => {
            *calls += usize::from(name.is_called(e, n));
            quiet(f) && args.iter().all(quiet)
        }
        Expr::If(a, b, c) => quiet(a) && is_loop(b, name, n, calls) && is_loop(c, name, n, calls),
        Expr::Seq(es) => match es.split_last() {
            Some((last, init)) => init.iter().all(quiet) && is_loop(last, name, n, calls),
            None => true,
        },
        Expr::Let(bs, body) => bs.iter().all(|(_, e)| quiet(e)) && is_loop(body, name, n, calls),
        Expr::Fix(_, body) => is_loop(body, name, n, calls),
        Expr::Labels(ls, body) => {
            ls.iter().all(|l| is_loop(&l.body, name, n, calls)) && is_loop(body, name, n, calls)
        }
        Expr::Apply(f, args, _) => quiet(f) && args.iter().all(quiet),
        Expr::Receive { producer, clause, .. } => quiet(producer) && is_loop(&clause.body, name, n, calls),
        e => quiet(e),
    })
}

/// No calls outside lambdas?
fn quiet(e: &Expr) -> bool {
    let mut quiet = true;
    crate::walk::visit_now(e, &mut |e| {
        quiet &= !matches!(e, Expr::Call(..) | Expr::Apply(..) | Expr::CallCc(..));
    });
    quiet
}

/// Replaces self tail calls.
fn jumps(e: &mut Expr, name: Name, n: usize, label: LabelId) {
    let own = name.is_called(e, n);
    deep(|| match e {
        Expr::Call(_, args, _) if own => *e = Expr::Jump(label, std::mem::take(args)),
        Expr::If(_, b, c) => {
            jumps(b, name, n, label);
            jumps(c, name, n, label);
        }
        Expr::Seq(es) => {
            if let Some(last) = es.last_mut() {
                jumps(last, name, n, label);
            }
        }
        Expr::Let(_, body) | Expr::Fix(_, body) => jumps(body, name, n, label),
        Expr::Labels(ls, body) => {
            ls.iter_mut().for_each(|l| jumps(&mut l.body, name, n, label));
            jumps(body, name, n, label);
        }
        Expr::Receive { clause, .. } => jumps(&mut clause.body, name, n, label),
        _ => {}
    })
}

#[cfg(test)]
mod tests {
    use crate::passes::inline::random::check_pass;

    #[test]
    fn random_programs_do_the_same_afterwards() {
        check_pass(300, super::run);
    }
}
