//! Frames of callers of procedures that never return.
//!
//! ```text
//! (define (withdraw balance amount)            (define (withdraw balance amount)
//!   (if (> amount balance)                       (if (> amount balance)
//!       (error "not enough:" balance)                (begin (error "not enough:" balance) <unspecified>)
//!       (- balance amount)))                         (- balance amount)))
//! ```
//!
//! The problem: most calls of `error` and `raise` are in tail position. So when they fail, the frame that tells where
//! the call stands is gone, and the message points at some caller far away. The idea: such a call is given something to
//! return to. A procedure that never returns cannot be part of a loop, so this costs one frame in all, and a program
//! cannot notice.
//!
//! Which procedures never return is the least fixpoint: those whose exits are all primitives that do not return, or
//! calls of such procedures. The least, because a loop must not count: `(define (serve) (serve))` needs its tail call.
//!
//! [`mark_tail_calls`] runs before inlining: a call whose frame goes away must not appear in backtraces as one that it
//! was inlined at ([`crate::inlined`]).
//!
//! Calls of library procedures are not marked: when they are inlined, a reader expects to see who called `map`. Those
//! that have to make tail calls themselves, [`TAIL_CALLING`], are excepted.
//!
//! Invariants: only calls at positions in user code change. Dialect and everything else stay. Linear apart from the
//! rounds of the fixpoint, at most as many as such calls are nested.

use super::known::GlobalFacts;
use crate::inlined::InlineTable;
use crate::ir::{Expr, GlobalId, GlobalInfo, Literal, Program, TopForm};
use crate::walk::{deep, for_each_child, tail_calls, take};

/// Procedures of the library that must call others by tail calls, or tell by their continuation that they were called
/// so (SRFI 248; the marks of SRFI 226).
pub const TAIL_CALLING: [&str; 9] = [
    "apply",
    "call-with-immediate-continuation-mark",
    "call-with-marks",
    "call-with-current-continuation",
    "call/cc",
    "call-with-values",
    "eval",
    "force",
    "raise-continuable",
];

/// Is a tail call of this variable shown in backtraces, if that costs nothing?
pub fn shown(variable: &GlobalInfo) -> bool {
    variable.library && !TAIL_CALLING.contains(&&*variable.name)
}

/// Keeps the frames of all calls that never return.
pub fn run(program: &mut Program, facts: &GlobalFacts) {
    each_tail_call(program, facts, |e, keeps, _| {
        if keeps {
            *e = Expr::Seq(vec![take(e), Expr::Const(Literal::Unspecified)]);
        }
    });
}

/// Keeps the frames of the user's calls of library procedures that are *leaves*: they call nobody but each other, and
/// return one value, so a program cannot notice. Where nothing is inlined, arithmetic and the like are such calls.
pub fn run_for_leaves(program: &mut Program, facts: &GlobalFacts) {
    let leaves = leaves(program, facts);
    let mut forms = std::mem::take(&mut program.forms);
    for form in &mut forms {
        tail_calls(form.expr_mut(), &mut |e| {
            let Expr::Call(f, _, site) = &*e else { return };
            let is_leaf = matches!(**f, Expr::Global(g, _) if leaves[facts.resolve(g).0 as usize]);
            if is_leaf && program.is_users(*site) {
                let value = program.fresh_var("value");
                *e = Expr::Let(vec![(value, take(e))], Expr::Local(value).into());
            }
        });
    }
    program.forms = forms;
}

/// For each global: is it a library procedure that calls nobody but such procedures, and returns one value?
fn leaves(program: &Program, facts: &GlobalFacts) -> Vec<bool> {
    let mut leaves = vec![false; program.globals.len()];
    let mut candidates = procedures(program, facts, calls_known);
    candidates.retain(|(g, _)| program.globals[g.0 as usize].library);
    candidates.iter().for_each(|(g, _)| leaves[g.0 as usize] = true);
    loop {
        let before = candidates.len();
        candidates.retain(|(g, callees)| {
            let stays = callees.iter().all(|c| leaves[c.0 as usize]);
            leaves[g.0 as usize] = stays;
            stays
        });
        if candidates.len() == before {
            return leaves;
        }
    }
}

/// Are all calls in `e` of globals, which are added to `callees`, and is there neither a procedure nor several values?
fn calls_known(e: &Expr, facts: &GlobalFacts, callees: &mut Vec<GlobalId>) -> bool {
    deep(|| {
        let mut all = match e {
            Expr::Call(f, ..) => match **f {
                Expr::Global(g, _) => {
                    callees.push(facts.resolve(g));
                    true
                }
                _ => false,
            },
            Expr::Apply(..) | Expr::CallCc(..) | Expr::Values(_) | Expr::Lambda(_) | Expr::Fix(..) => false,
            _ => true,
        };
        for_each_child(e, &mut |c| all = all && calls_known(c, facts, callees));
        all
    })
}

/// Marks the sites of calls in tail position of their procedure, except those whose frames [`run`] will keep.
pub fn mark_tail_calls(program: &mut Program, facts: &GlobalFacts) {
    let shown: Vec<bool> = program.globals.iter().map(shown).collect();
    let is_shown = |f: &Expr| matches!(f, Expr::Global(g, _) if shown[facts.resolve(*g).0 as usize]);
    each_tail_call(program, facts, |e, keeps, inlined| {
        if let (false, Expr::Call(f, _, site) | Expr::Apply(f, _, site)) = (keeps, e)
            && !is_shown(f)
        {
            *site = inlined.tail(*site);
        }
    });
}

/// Calls `f` on every tail call, whether its frame is kept, and the table of inlined positions.
fn each_tail_call(
    program: &mut Program,
    facts: &GlobalFacts,
    mut f: impl FnMut(&mut Expr, bool, &mut InlineTable),
) {
    let never = never_return(program, facts);
    let mut forms = std::mem::take(&mut program.forms);
    for form in &mut forms {
        tail_calls(form.expr_mut(), &mut |e| {
            let keeps = match &*e {
                Expr::Call(f, _, site) | Expr::Apply(f, _, site) => match **f {
                    Expr::Global(g, _) => never[facts.resolve(g).0 as usize] && program.is_users(*site),
                    _ => false,
                },
                _ => false,
            };
            f(e, keeps, &mut program.inlined);
        });
    }
    program.forms = forms;
}

/// For each global: is it a procedure that never returns?
pub fn never_return(program: &Program, facts: &GlobalFacts) -> Vec<bool> {
    let imported = |g: &GlobalInfo| g.import.is_some_and(|i| i.never_returns);
    let mut never: Vec<bool> = program.globals.iter().map(imported).collect();
    // procedures without other exits than calls of these
    let mut candidates = procedures(program, facts, exits);
    loop {
        let before = candidates.len();
        candidates.retain(|(g, callees)| {
            let stays = !callees.iter().all(|c| never[c.0 as usize]);
            never[g.0 as usize] |= !stays;
            stays
        });
        if candidates.len() == before {
            return never;
        }
    }
}

/// The global procedures of whose bodies `holds` is true, each with the globals that it adds.
fn procedures(
    program: &Program,
    facts: &GlobalFacts,
    holds: impl Fn(&Expr, &GlobalFacts, &mut Vec<GlobalId>) -> bool,
) -> Vec<(GlobalId, Vec<GlobalId>)> {
    let mut found = Vec::new();
    for (i, form) in program.forms.iter().enumerate() {
        if let TopForm::Define(g, Expr::Lambda(l)) = form
            && facts.lambda(*g) == Some(i)
        {
            let mut callees = Vec::new();
            if l.clauses.iter().all(|c| holds(&c.body, facts, &mut callees)) {
                found.push((*g, callees));
            }
        }
    }
    found
}

/// Are all exits of `e` primitives that do not return, or calls of globals? These are added to `callees`.
fn exits(e: &Expr, facts: &GlobalFacts, callees: &mut Vec<GlobalId>) -> bool {
    deep(|| match e {
        Expr::If(_, a, b) => exits(a, facts, callees) && exits(b, facts, callees),
        Expr::Seq(es) => es.last().is_some_and(|e| exits(e, facts, callees)),
        Expr::Let(_, body) | Expr::Letrec(_, body) | Expr::Fix(_, body) => exits(body, facts, callees),
        Expr::Receive { clause, .. } => exits(&clause.body, facts, callees),
        Expr::Labels(ls, body) => ls.iter().all(|l| exits(&l.body, facts, callees)) && exits(body, facts, callees),
        Expr::Jump(..) => true,
        Expr::Prim { op, .. } => !op.returns(),
        Expr::Call(f, ..) => match **f {
            Expr::Global(g, _) => {
                callees.push(facts.resolve(g));
                true
            }
            _ => false,
        },
        _ => false,
    })
}
