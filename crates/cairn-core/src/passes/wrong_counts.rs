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
//! Callees are procedures bound by `fix`, which are the same for good, and with facts about globals those too. Without
//! facts, more definitions may come later, as at the prompt. Then a global counts as what it was defined as so far
//! ([`crate::ir::GlobalInfo::takes`]): a call of it that does not fit fails, unless somebody defines it otherwise
//! before, and then its caller has a frame more than it needs. Linear.

use super::known::GlobalFacts;
use crate::ir::{Expr, GlobalId, Lambda, Literal, Program, TopForm, VarId};
use crate::walk::{deep, for_each_child, tail_calls, take, visit};
use rustc_hash::FxHashMap;

/// How many arguments each clause takes, and whether it takes more.
type Counts = Vec<(usize, bool)>;

/// Any number.
const ANYTHING: (usize, bool) = (0, true);

/// Keeps the frames of such calls.
pub fn run(program: &mut Program, facts: Option<&GlobalFacts>) {
    if facts.is_none() {
        note_definitions(program);
    }
    let globals = std::mem::take(&mut program.globals);
    let mut locals = FxHashMap::default();
    program.forms.iter().for_each(|f| bound_by_fix(f.expr(), &mut locals));
    for form in &mut program.forms {
        tail_calls(form.expr_mut(), &mut |e| {
            let Expr::Call(f, args, _) = &*e else { return };
            let fails = match &**f {
                Expr::Local(v) => locals.get(v).is_some_and(|counts| !accepted(counts, args.len())),
                Expr::Global(g, _) => match facts {
                    Some(facts) => self::fails(facts, f, args.len()),
                    None => {
                        let takes = &globals[g.0 as usize].takes;
                        !takes.is_empty() && !accepted(takes, args.len())
                    }
                },
                _ => false,
            };
            if fails {
                *e = Expr::Seq(vec![take(e), Expr::Const(Literal::Unspecified)]);
            }
        });
    }
    program.globals = globals;
}

/// Takes up what the program's forms define and assign, for [`run`] without facts. It does so itself.
pub fn note_definitions(program: &mut Program) {
    let Program { forms, globals, .. } = program;
    let mut note = |g: &GlobalId, counts: Counts| {
        let info = &mut globals[g.0 as usize];
        if !info.library {
            let new: Counts = counts.into_iter().filter(|c| !info.takes.contains(c)).collect();
            info.takes.extend(new);
        }
    };
    for form in forms {
        if let TopForm::Define(g, e) = form {
            note(g, if let Expr::Lambda(l) = e { counts(l) } else { vec![ANYTHING] });
        }
        visit(form.expr(), &mut |e| {
            if let Expr::SetGlobal(g, ..) = e {
                note(g, vec![ANYTHING]);
            }
        });
    }
}

/// Is `f` a global procedure that does not take so many arguments?
pub fn fails(facts: &GlobalFacts, f: &Expr, count: usize) -> bool {
    let Expr::Global(g, _) = f else { return false };
    facts.lambda(*g).and_then(|form| facts.arity(form)).is_some_and(|counts| !accepted(counts, count))
}

fn counts(l: &Lambda) -> Counts {
    l.clauses.iter().map(|c| (c.params.len(), c.rest.is_some())).collect()
}

fn accepted(counts: &[(usize, bool)], count: usize) -> bool {
    counts.iter().any(|(required, more)| count == *required || *more && count > *required)
}

fn bound_by_fix(e: &Expr, found: &mut FxHashMap<VarId, Counts>) {
    deep(|| {
        if let Expr::Fix(bs, _) = e {
            found.extend(bs.iter().map(|(v, l)| (*v, counts(l))));
        }
        for_each_child(e, &mut |c| bound_by_fix(c, found));
    })
}
