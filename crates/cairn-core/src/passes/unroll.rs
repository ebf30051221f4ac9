//! Unrolling: a small procedure that calls itself other than in tail position gets its body once more at those calls.
//!
//! ```text
//! (define fib                              (define fib
//!   (lambda (n)                              (lambda (n)
//!     (if (%< n 2)                             (if (%< n 2)
//!         n                                        n
//!         (%+ (fib (%- n 1))                       (%+ (let ((m (%- n 1)))
//!             (fib (%- n 2))))))                         (if (%< m 2) m (%+ (fib (%- m 1)) (fib (%- m 2)))))
//!                                                      (let ((m (%- n 2))) …)))))
//! ```
//!
//! The problem: in recursion over trees most calls are for leaves, which are decided at once; the frame, and above all
//! the return, an indirect jump that is hard to predict, cost more than the work. The idea: with the body inlined once,
//! a call for a leaf costs a test, and calls for inner nodes become fewer. Recursion over lists makes one frame for two
//! elements. Measured by hand on fib and tak: a quarter of the time saved; on append: an eighth.
//!
//! Only once, and only bodies up to [`LIMIT`]; all calls of the copies are real calls. Tail calls are left: they are
//! loops.
//!
//! All unrolled bodies of a program together have a budget, a fixed part and a part of the program's size; if it is not
//! enough, those come first that grow least. What is recursive in the library is always unrolled: it is compiled once.
//!
//! Invariants: dialect `Opt` in and out; operands are bound in order by `Let`. Linear but for sorting.

use super::recursion::{Name, for_each_procedure};
use crate::ir::{Clause, Expr, Lambda, Program, TopForm, VarId};
use crate::walk::{Positions, Renaming, copy_clause, deep, for_each_child_mut, size, visit_now};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Bodies of at most this many nodes are unrolled.
const LIMIT: usize = 48;
/// A body may grow to this many nodes.
const TOTAL: usize = 200;

/// What a program's own procedures may grow by in all: about a hundred usual ones. Programs of up to 2,500 lines want a
/// half of it.
const BUDGET: usize = 2500;
/// As much again as this part of the program's own code. (A compiler of 11,000 lines wants a sixteenth in all.)
const SHARE: usize = 16;

/// Unrolls small recursive procedures of `program`.
pub fn run(program: &mut Program) {
    let chosen = chosen(program);
    for_each_procedure(program, |program, l, name, library| {
        let may_be = library || chosen.as_ref().is_none_or(|c| c.contains(&name));
        if may_be && growth(l, name).is_some() {
            let template = l.clauses[0].clone();
            expand(program, &mut l.clauses[0].body, name, (&l.name, &template), true);
        }
    });
}

/// The program's own procedures that are unrolled; `None`: there is room for all.
fn chosen(program: &mut Program) -> Option<FxHashSet<Name>> {
    let mut wanted = Vec::new();
    for_each_procedure(program, |_, l, name, library| {
        wanted.extend(growth(l, name).filter(|_| !library).map(|n| (n, name)));
    });
    let own = |f: &&TopForm| !matches!(f, TopForm::Define(g, _) if program.globals[g.0 as usize].library);
    let own: usize = program.forms.iter().filter(own).map(|f| size(f.expr())).sum();
    let mut left = BUDGET + own / SHARE;
    if wanted.iter().map(|(n, _)| n).sum::<usize>() <= left {
        return None;
    }
    wanted.sort_by_key(|(n, _)| *n);
    let mut fits = |n: usize| left.checked_sub(n).map(|rest| left = rest).is_some();
    Some(wanted.into_iter().take_while(|(n, _)| fits(*n)).map(|(_, name)| name).collect())
}

/// What the procedure would grow by if it is to be unrolled.
fn growth(l: &Lambda, name: Name) -> Option<usize> {
    let [clause] = &l.clauses[..] else { return None };
    if clause.rest.is_some() {
        return None;
    }
    let n = size(&clause.body);
    if n > LIMIT {
        return None;
    }
    let calls = count_calls(&clause.body, name, clause.params.len());
    (calls > 0 && n * (calls + 1) <= TOTAL).then_some(n * calls)
}

/// Self calls outside lambdas, other than tail calls.
fn count_calls(body: &Expr, name: Name, n: usize) -> usize {
    let mut all = 0;
    visit_now(body, &mut |e| all += usize::from(name.is_called(e, n)));
    all - tail_calls(body, name, n)
}

fn tail_calls(e: &Expr, name: Name, n: usize) -> usize {
    deep(|| match e {
        Expr::If(_, a, b) => tail_calls(a, name, n) + tail_calls(b, name, n),
        Expr::Seq(es) => es.last().map_or(0, |e| tail_calls(e, name, n)),
        Expr::Let(_, body) | Expr::Fix(_, body) => tail_calls(body, name, n),
        Expr::Receive { clause, .. } => tail_calls(&clause.body, name, n),
        Expr::Labels(ls, body) => {
            ls.iter().map(|l| tail_calls(&l.body, name, n)).sum::<usize>() + tail_calls(body, name, n)
        }
        e => usize::from(name.is_called(e, n)),
    })
}

/// Replaces self calls outside lambdas that are not tail calls by the template, the body of the named procedure.
fn expand(program: &mut Program, e: &mut Expr, name: Name, template: (&Rc<str>, &Clause), tail: bool) {
    let mut inside = |e: &mut Expr, tail: bool| deep(|| expand(program, e, name, template, tail));
    match e {
        Expr::Lambda(_) => {}
        Expr::If(a, b, c) => {
            inside(a, false);
            inside(b, tail);
            inside(c, tail);
        }
        Expr::Seq(es) => {
            let last = es.len().saturating_sub(1);
            es.iter_mut().enumerate().for_each(|(i, e)| inside(e, tail && i == last));
        }
        Expr::Let(bs, body) => {
            bs.iter_mut().for_each(|(_, e)| inside(e, false));
            inside(body, tail);
        }
        Expr::Fix(_, body) => inside(body, tail),
        Expr::Receive { producer, clause, .. } => {
            inside(producer, false);
            inside(&mut clause.body, tail);
        }
        Expr::Labels(ls, body) => {
            ls.iter_mut().for_each(|l| inside(&mut l.body, tail));
            inside(body, tail);
        }
        _ => for_each_child_mut(e, &mut |c| inside(c, false)),
    }
    let (procedure, clause) = template;
    if !tail && name.is_called(e, clause.params.len()) {
        let Expr::Call(_, args, site) = e else { return };
        let args = std::mem::take(args);
        let positions = Positions::Inlined { procedure: procedure.clone(), at: *site };
        let copy = copy_clause(program, clause, &mut Renaming { positions, ..Renaming::default() });
        let bs: Vec<(VarId, Expr)> = copy.params.into_iter().zip(args).collect();
        *e = if bs.is_empty() { copy.body } else { Expr::Let(bs, Box::new(copy.body)) };
    }
}

#[cfg(test)]
mod tests {
    use crate::passes::inline::random::check_pass;
    use crate::verify::{Dialect, verify};

    #[test]
    fn random_programs_do_the_same_afterwards() {
        check_pass(200, |p| {
            super::run(p);
            assert_eq!(verify(p, Dialect::Opt), Ok(()));
        });
    }
}
