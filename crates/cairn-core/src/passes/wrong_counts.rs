//! Frames of callers that give a wrong number of arguments.
//!
//! ```text
//! (let loop ((i 0) (acc '()))                  (let loop ((i 0) (acc '()))
//!   (if (= i n) acc                              (if (= i n) acc
//!       (loop (+ i 1))))                             (begin (loop (+ i 1)) <unspecified>)))
//! ```
//!
//! The problem: a procedure notices that it has got a wrong number of arguments, and if it was called by a tail call,
//! nothing tells where that stands. The idea: where the callee is known, so is that the call will fail; it is given
//! something to return to, as calls of procedures that never return are ([`super::keep_frames`]).
//!
//! Callees are procedures bound by `fix`, which are the same for good, and with facts about globals those too. Linear.

use super::known::GlobalFacts;
use crate::ir::{Clause, Expr, Literal, Program, VarId};
use crate::walk::{deep, for_each_child, tail_calls, take};
use rustc_hash::FxHashMap;

/// How many arguments each clause takes, and whether it takes more.
type Counts = Vec<(usize, bool)>;

/// Keeps the frames of such calls.
pub fn run(program: &mut Program, facts: Option<&GlobalFacts>) {
    let mut locals = FxHashMap::default();
    program.forms.iter().for_each(|f| bound_by_fix(f.expr(), &mut locals));
    for form in &mut program.forms {
        tail_calls(form.expr_mut(), &mut |e| {
            let Expr::Call(f, args, _) = &*e else { return };
            let fails = match &**f {
                Expr::Local(v) => locals.get(v).is_some_and(|counts| !accepted(counts, args.len())),
                Expr::Global(..) => facts.is_some_and(|facts| fails(facts, f, args.len())),
                _ => false,
            };
            if fails {
                *e = Expr::Seq(vec![take(e), Expr::Const(Literal::Unspecified)]);
            }
        });
    }
}

/// Is `f` a global procedure that does not take so many arguments?
pub fn fails(facts: &GlobalFacts, f: &Expr, count: usize) -> bool {
    let Expr::Global(g, _) = f else { return false };
    facts.lambda(*g).and_then(|form| facts.arity(form)).is_some_and(|counts| !accepted(counts, count))
}

fn accepted(counts: &[(usize, bool)], count: usize) -> bool {
    counts.iter().any(|(required, more)| count == *required || *more && count > *required)
}

fn bound_by_fix(e: &Expr, found: &mut FxHashMap<VarId, Counts>) {
    deep(|| {
        if let Expr::Fix(bs, _) = e {
            let count = |c: &Clause| (c.params.len(), c.rest.is_some());
            found.extend(bs.iter().map(|(v, l)| (*v, l.clauses.iter().map(count).collect())));
        }
        for_each_child(e, &mut |c| bound_by_fix(c, found));
    })
}
