//! Frames of callers of procedures that never return, and of library procedures.
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
//! Calls of library procedures, `(reverse x)`, are in tail position as often, and fail as often. A procedure that
//! returns one value, and makes tail calls of such procedures only, gets something to return to as well. One that ends
//! with a call of what the program gave it does not: the program could loop through it. One that may return several
//! values, as `dynamic-wind`, gets something that takes them in a list and returns them again.
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
//! What is known of procedures ([`Callees`]) is found before inlining, which hides it, and holds for good: globals keep
//! their numbers.
//!
//! Invariants: only calls at positions in user code change. Dialect and everything else stay. Linear apart from the
//! rounds of the fixpoints, at most as many as such calls are nested, and from guards in clauses of guards, which are
//! looked through once for each.

use super::known::GlobalFacts;
use crate::ir::{Clause, Expr, GlobalId, GlobalInfo, Lambda, Literal, Program, TopForm, VarId};
use crate::walk::{deep, tail_calls, take, visit};
use rustc_hash::{FxHashMap, FxHashSet};

/// The procedure of the library that `guard` calls: `(guard* handler thunk)`.
const GUARD: &str = "guard*";

/// Procedures of the library that must call others by tail calls (`any` and `every`: SRFI 1; `string-any`: SRFI 13;
/// `exists` and `for-all`: R6RS; handlers of prompts), or tell by their continuation that they were called so (SRFI
/// 248; the marks of SRFI 226). For the clauses of `guard` there is [`Ends`].
pub const TAIL_CALLING: [&str; 19] = [
    "any",
    "apply",
    "call-with-escape-continuation",
    "call/ec",
    "call-with-continuation-prompt",
    "call-with-immediate-continuation-mark",
    "call-with-marks",
    "call-with-current-continuation",
    "call/cc",
    "call-with-values",
    "eval",
    "every",
    "exists",
    "for-all",
    "force",
    "raise-continuable",
    "string-any",
    "string-every",
    "with-unwind-handler",
];

/// Is a tail call of this variable shown in backtraces, if that costs nothing?
pub fn shown(variable: &GlobalInfo) -> bool {
    variable.operation || variable.library && !TAIL_CALLING.contains(&&*variable.name)
}

/// Which tail calls of library procedures no loop can pass: there the caller's frame may be kept.
///
/// The clauses of `guard` are in tail position (R7RS 4.2.7), but seldom part of a loop: most are constants, or say what
/// has happened.
#[derive(Default)]
pub struct Ends {
    /// For each global: is it a procedure whose tail calls are all of such procedures, or of the library's? Empty where
    /// the program is not known as a whole.
    holds: Vec<bool>,
}

impl Ends {
    /// The greatest fixpoint: a procedure that only calls itself never gets back to a loop around it.
    pub fn new(program: &Program, facts: &GlobalFacts) -> Ends {
        let mut holds: Vec<bool> = program.globals.iter().map(returns_by_itself).collect();
        let mut candidates =
            procedures(program, facts, |e, facts, callees| exits_with(Values::Any, e, &[], facts, callees));
        candidates.retain(|(g, _)| {
            let info = &program.globals[g.0 as usize];
            !info.library && !info.operation
        });
        candidates.iter().for_each(|(g, _)| holds[g.0 as usize] = true);
        greatest(&mut candidates, &mut holds);
        Ends { holds }
    }

    /// May the frame around this tail call, of the procedure of the library `g`, be kept?
    pub fn may_keep(&self, program: &Program, facts: &GlobalFacts, call: &Expr, g: GlobalId) -> bool {
        let variable = &program.globals[g.0 as usize];
        if !variable.library || &*variable.name != GUARD {
            return shown(variable);
        }
        let Expr::Call(_, args, _) = call else { return false };
        let Some(handler @ Expr::Lambda(_)) = args.first() else { return false };
        // it returns a procedure of no arguments for the clause that applies
        let (mut end, mut called) = (true, Vec::new());
        visit(handler, &mut |e| {
            let Expr::Lambda(l) = e else { return };
            end &= l.clauses.iter().all(|c| exits_with(Values::Any, &c.body, &[], facts, &mut called));
        });
        let ends = |g: &GlobalId| {
            self.holds
                .get(g.0 as usize)
                .copied()
                .unwrap_or_else(|| returns_by_itself(&program.globals[g.0 as usize]))
        };
        end && called.iter().all(ends)
    }
}

/// Is it an operation or a procedure of the library that makes no tail calls of what it is given?
fn returns_by_itself(variable: &GlobalInfo) -> bool {
    shown(variable) && &*variable.name != GUARD
}

/// What callers may rely on, for each global.
pub struct Callees {
    /// Is it a procedure that never returns?
    never: Vec<bool>,
    /// Is it a library procedure that returns one value, and ends with no call but of such procedures?
    one_value: Vec<bool>,
    /// Is it a library procedure that returns any number of values, and ends with no call but of such procedures?
    any_values: Vec<bool>,
}

impl Callees {
    fn never_return(&self, g: GlobalId) -> bool {
        self.never.get(g.0 as usize) == Some(&true)
    }

    fn return_one_value(&self, g: GlobalId) -> bool {
        self.one_value.get(g.0 as usize) == Some(&true)
    }

    fn return_values(&self, g: GlobalId) -> bool {
        self.any_values.get(g.0 as usize) == Some(&true)
    }
}

/// Finds out.
pub fn callees(program: &Program, facts: &GlobalFacts) -> Callees {
    Callees {
        never: never_return(program, facts),
        one_value: returning(program, facts, Values::One),
        any_values: returning(program, facts, Values::Any),
    }
}

/// Keeps the frames of the callers of such procedures. With `all`, of all library procedures that need not make tail
/// calls of what the program gave them, as evaluated code does: where nothing is inlined, nothing else tells who called
/// them.
pub fn run(program: &mut Program, facts: &GlobalFacts, callees: &Callees, all: bool) {
    let mut forms = std::mem::take(&mut program.forms);
    let ends = all.then(|| Ends::new(program, facts));
    let return_list = program.globals.iter().position(|g| g.library && &*g.name == "list->values");
    let return_list = return_list.map(|g| GlobalId(g as u32)).filter(|g| facts.lambda(*g).is_some());
    for form in &mut forms {
        let loops = library_loops(program, form.expr(), facts, callees);
        tail_calls(form.expr_mut(), &mut |e| {
            let (Expr::Call(f, _, site) | Expr::Apply(f, _, site)) = &*e else { return };
            if !program.is_users(*site) {
                return;
            }
            let g = callee(program, e).map(|g| facts.resolve(g));
            if g.is_some_and(|g| callees.never_return(g)) {
                *e = Expr::Seq(vec![take(e), Expr::Const(Literal::Unspecified)]);
                return;
            }
            // a mark says that the call is in tail position of a procedure of the library, too
            let is_loop = matches!(&**f, Expr::Local(v) if loops.contains(v));
            if (is_loop || g.is_some_and(|g| callees.return_one_value(g))) && !site.is_tail() {
                let value = program.fresh_var("value");
                *e = Expr::Let(vec![(value, take(e))], Expr::Local(value).into());
            } else if g.is_some_and(|g| {
                callees.return_values(g) || ends.as_ref().is_some_and(|ends| ends.may_keep(program, facts, e, g))
            }) && !site.is_tail()
                && let Some(return_list) = return_list
            {
                let (site, values) = (*site, program.fresh_var("values"));
                let again = Expr::Call(Expr::Global(return_list, site).into(), vec![Expr::Local(values)], site);
                let clause = Clause { params: Vec::new(), rest: Some(values), body: again };
                *e = Expr::Receive { producer: take(e).into(), clause: clause.into(), site };
            }
        });
    }
    program.forms = forms;
}

/// Local procedures of inlined library code that return one value, and make tail calls of such procedures only.
fn library_loops(program: &Program, e: &Expr, facts: &GlobalFacts, callees: &Callees) -> FxHashSet<VarId> {
    let mut loops = FxHashSet::default();
    visit(e, &mut |e| {
        let Expr::Fix(bs, _) = e else { return };
        for (v, l) in bs {
            let mut called = Vec::new();
            let library = l.site.is_known() && !program.is_users(l.site);
            // the whole of `bs`: they may call each other
            if library && l.clauses.iter().all(|c| exits_with(Values::One, &c.body, bs, facts, &mut called)) {
                let back = called.iter().all(|g| callees.never_return(*g) || callees.return_one_value(*g));
                loops.extend(back.then_some(*v));
            }
        }
    });
    loops
}

/// The global procedure that a call is of, if that is known: of `(apply f x)`, `f`.
pub fn callee(program: &Program, call: &Expr) -> Option<GlobalId> {
    let (Expr::Call(f, args, _) | Expr::Apply(f, args, _)) = call else { return None };
    let Expr::Global(g, _) = **f else { return None };
    let info = &program.globals[g.0 as usize];
    match args.first() {
        Some(Expr::Global(applied, _)) if info.library && &*info.name == "apply" => Some(*applied),
        _ => Some(g),
    }
}

/// How many values an exit returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    One,
    Any,
}

/// Library procedures that return so many values, and end with no call but of such procedures. The greatest fixpoint:
/// a loop has no exit of its own.
fn returning(program: &Program, facts: &GlobalFacts, values: Values) -> Vec<bool> {
    // `values` ends with a call of machine code
    let builtin = |g: &GlobalInfo| values == Values::Any && g.library && &*g.name == "return-values";
    let mut holds: Vec<bool> = program.globals.iter().map(builtin).collect();
    let mut candidates =
        procedures(program, facts, |e, facts, callees| exits_with(values, e, &[], facts, callees));
    candidates.retain(|(g, _)| shown(&program.globals[g.0 as usize]));
    candidates.iter().for_each(|(g, _)| holds[g.0 as usize] = true);
    greatest(&mut candidates, &mut holds);
    holds
}

/// Takes out, again and again, what ends with a call of something that does not hold.
fn greatest(candidates: &mut Vec<(GlobalId, Vec<GlobalId>)>, holds: &mut [bool]) {
    loop {
        let before = candidates.len();
        candidates.retain(|(g, callees)| {
            let stays = callees.iter().all(|c| holds[c.0 as usize]);
            holds[g.0 as usize] = stays;
            stays
        });
        if candidates.len() == before {
            return;
        }
    }
}

/// Marks the sites of calls in tail position of their procedure, except those whose frames [`run`] will keep.
pub fn mark_tail_calls(program: &mut Program, facts: &GlobalFacts, callees: &Callees) {
    let shown: Vec<bool> = program.globals.iter().map(shown).collect();
    let mut forms = std::mem::take(&mut program.forms);
    for form in &mut forms {
        tail_calls(form.expr_mut(), &mut |e| {
            let g = callee(program, e).map(|g| facts.resolve(g));
            let (Expr::Call(_, _, site) | Expr::Apply(_, _, site)) = e else { return };
            let keeps = |g: GlobalId| shown[g.0 as usize] || callees.never_return(g) && program.is_users(*site);
            if !g.is_some_and(keeps) {
                *site = program.inlined.tail(*site);
            }
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
    each_exit(e, &mut |e| match e {
        Expr::Prim { op, .. } => !op.returns(),
        Expr::Call(f, ..) => is_global(f, facts, callees),
        _ => false,
    })
}

/// Do all exits of `e` return so many values, or are calls of globals? These are added to `callees`.
/// `around` are procedures that `e` may call.
fn exits_with(
    values: Values,
    e: &Expr,
    around: &[(VarId, Lambda)],
    facts: &GlobalFacts,
    callees: &mut Vec<GlobalId>,
) -> bool {
    // those that were not called yet
    let mut procedures: FxHashMap<VarId, Option<&Lambda>> = around.iter().map(|(v, l)| (*v, Some(l))).collect();
    visit(e, &mut |e| {
        if let Expr::Fix(bs, _) = e {
            procedures.extend(bs.iter().map(|(v, l)| (*v, Some(l))));
        }
    });
    // bodies of procedures that are called at an exit have their own exits
    let mut bodies = vec![e];
    while let Some(body) = bodies.pop() {
        let holds = each_exit(body, &mut |e| match e {
            Expr::Call(f, ..) | Expr::Apply(f, ..) => match &**f {
                Expr::Local(v) => match procedures.get_mut(v) {
                    Some(called) => {
                        bodies.extend(called.take().iter().flat_map(|l| &l.clauses).map(|c| &c.body));
                        true
                    }
                    None => false,
                },
                f => is_global(f, facts, callees),
            },
            Expr::CallCc(..) => false,
            Expr::Values(es) => values == Values::Any || es.len() == 1,
            _ => true,
        });
        if !holds {
            return false;
        }
    }
    true
}

fn is_global(f: &Expr, facts: &GlobalFacts, callees: &mut Vec<GlobalId>) -> bool {
    if let Expr::Global(g, _) = f {
        callees.push(facts.resolve(*g));
    }
    matches!(f, Expr::Global(..))
}

/// Does `holds` hold for every exit of `e`? Jumps are none.
fn each_exit<'a>(e: &'a Expr, holds: &mut impl FnMut(&'a Expr) -> bool) -> bool {
    deep(|| match e {
        Expr::If(_, a, b) => each_exit(a, holds) && each_exit(b, holds),
        Expr::Seq(es) => es.last().is_some_and(|e| each_exit(e, holds)),
        Expr::Let(_, body) | Expr::Letrec(_, body) | Expr::Fix(_, body) => each_exit(body, holds),
        Expr::Receive { clause, .. } => each_exit(&clause.body, holds),
        Expr::Labels(ls, body) => ls.iter().all(|l| each_exit(&l.body, holds)) && each_exit(body, holds),
        Expr::Jump(..) => true,
        e => holds(e),
    })
}
