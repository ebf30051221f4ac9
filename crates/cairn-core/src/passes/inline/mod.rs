//! Inlining: procedures are replaced by their bodies where that makes programs faster or smaller.
//!
//! # Example
//!
//! ```text
//! (define (map f l)                                ; library
//!   (fix ((loop (lambda (l) (if (%pair? l) (let ((x (f (%car l)))) (%cons x (loop (%cdr l)))) '()))))
//!     (loop l)))
//! (define (inc-all l n) (map (lambda (x) (+ x n)) l))
//! ```
//! becomes
//! ```text
//! (define (inc-all l n)
//!   (fix ((loop (lambda (l) (if (%pair? l) (let ((x (%+ (%car l) n))) (%cons x (loop (%cdr l)))) '()))))
//!     (loop l)))
//! ```
//!
//! # Idea
//!
//! One walk over every form, callees before callers ([`candidates`]). Variables are bound exactly once program-wide, so
//! what is known about a variable lives in a table indexed by `VarId` and needs no environment; a body is copied
//! with fresh binders first, then walked in place with its parameters bound by an ordinary `Let`. So beta
//! reduction, copy and constant propagation, and dropping of dead bindings are the same code ([`reduce`]).
//!
//! * A lambda used once is not walked where it is bound: it waits in the table (`Known::Once`) and is walked at
//!   its call, where its arguments are known, without being copied. Otherwise it is walked first and the result
//!   serves as the template for copies (as in Waddell & Dybvig 1997, "Fast and effective procedure inlining",
//!   we inline what has already been simplified). The same holds for globals, which are their own templates.
//! * Whether to copy is decided before copying by an estimate of the residual size ([`estimate`]) that knows
//!   which parameters get constants or procedures. Waddell & Dybvig try and abandon; an estimate needs no undo.
//! * Where code runs once ([`once`]) nothing is copied that does not make it smaller.
//! * Cold code stays where it is: procedures that never return ([`crate::passes::keep_frames::never_return`]),
//!   which raise, are not inlined, not even at their only call. A large cold branch would keep its caller from being
//!   inlined. Nor is what is called where a quick call of the runtime could not say ([`quick`]).
//! * Recursive procedures are never inlined ([`candidates`] breaks cycles), but their loops are copied around known
//!   procedures ([`specialize`]); nesting and growth are bounded.
//!
//! # Invariants
//!
//! Input and output are of dialect `Fixed` or `Opt`. Evaluation order and effects are kept: operands are bound by
//! `Let` in order, dropped only if discardable. `uses[v]` is never below the number of occurrences of `v`.
//! Positions in a body remember the call that it replaces ([`crate::inlined`]).
//!
//! Complexity: linear in the size of the program plus the size of all copies, which is bounded by [`GROWTH`].

mod call;
mod candidates;
mod estimate;
mod once;
mod quick;
mod reduce;
mod search;
mod sizes;
mod specialize;

#[cfg(test)]
#[path = "../../../../../tests/support/core_programs.rs"]
pub(crate) mod random;

use super::keep_frames;
use super::known::{self, GlobalFacts};
use crate::effects;
use crate::ir::{Clause, Expr, GlobalId, Lambda, Literal, Program, TopForm, VarId, VarInfo};
use crate::walk::{Positions, Renaming, copy_clause, deep, for_each_binder, for_each_child, take, visit};
use cairn_layout::code::Site;
use once::Once;
use rustc_hash::FxHashSet;
pub(crate) use sizes::lambda_size;
use sizes::size;
pub(super) use sizes::weight;
use std::rc::Rc;

/// A call is replaced by a body of at most this many units ([`size`]) beyond the call's own. About the size of a call
/// with its argument moves, return point and frame traffic.
pub(crate) const SMALL: usize = 14;
/// The limit in place of [`SMALL`] for a body that makes a reference to an element of a structure vector
/// ([`super::elements`]): where it is inlined, object and look-up mostly vanish.
const WITH_ELEMENT: usize = 56;
/// The limit in place of [`SMALL`] for a body that is a call of C with its checks: inlined, they meet what is known of
/// the arguments, doubles stay unboxed, and the way to C is as short as it can be.
const WITH_C_CALL: usize = 80;
/// The limit in place of [`SMALL`] for a body that is arithmetic on its parameters and their fields and nothing else:
/// inlined, its operands and its result stay doubles, and the loop around it has no call.
const WITH_ARITHMETIC: usize = 28;
/// The limit in place of [`SMALL`] for arithmetic that tests its operands and results (`fx+`, `fl*`), and calls what
/// raises when a test fails; those calls do not count. Inlined, most tests meet what is known.
const WITH_CHECKS: usize = 64;
/// The limit in place of [`SMALL`] for a body that reaches an element of an array in a record, with the test of the
/// index: inlined, that is two comparisons and a load, and a loop knows the answer.
const WITH_INDEX: usize = 40;
/// The limit in place of [`SMALL`] for a body with a runtime call that is [`QUICK`](cairn_layout::calls::QUICK).
const WITH_QUICK_CALL: usize = 32;
/// The limit in place of [`SMALL`] in code that runs once ([`once`]).
const SMALL_ONCE: usize = 0;
/// Allowed for a body that calls a parameter whose argument is a known procedure: whole library loops.
const WITH_PROCEDURE: usize = 160;
/// What [`SMALL`] and [`WITH_PROCEDURE`] are where the program's own code has more than so many units: about three
/// thousand lines. Code that is worth copies is a small part of a large program, and LLVM's time is in proportion to
/// all of it: a compiler of 11,000 lines is compiled in two thirds of the time and runs 1.02 times as long.
const LARGE: (usize, Limits) = (16_000, Limits { small: 8, with_procedure: 80 });
/// Procedures with one call are moved to it up to this size; moving costs nothing, but register allocation and
/// LLVM are not linear in the size of a function.
const ONCE: usize = 600;
/// How deep they may move into one another: each adds to what lives across the calls of the inner ones, and to the
/// positions of their code.
const MOVES: usize = 24;
/// A top-level form may grow to this multiple of its size plus [`GROWTH_FREE`].
const GROWTH: usize = 3;
/// Growth granted to every form.
const GROWTH_FREE: usize = 400;
/// How many copies may be nested in one another.
const DEPTH: usize = 12;

/// How large a copied body may be.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Beyond the call's own size.
    small: usize,
    /// If it calls a parameter whose argument is a known procedure.
    with_procedure: usize,
}

impl Limits {
    fn of(program: &Program) -> Limits {
        let own = |f: &&TopForm| match f {
            TopForm::Define(g, _) => !program.globals[g.0 as usize].library,
            TopForm::Expr(_) => true,
        };
        let (large, limits) = LARGE;
        let n: usize = program.forms.iter().filter(own).map(|f| size(f.expr())).sum();
        if n <= large { Limits { small: SMALL, with_procedure: WITH_PROCEDURE } } else { limits }
    }
}

/// Inlines throughout `program`.
pub fn run(program: &mut Program) {
    run_sparing(program, None)
}

/// Inlines throughout `program`, but for calls of the procedure `spared`.
pub fn run_sparing(program: &mut Program, spared: Option<GlobalId>) {
    inline(program, spared, FxHashSet::default());
}

/// Inlines procedures of the library, and operations on records, and copies no other code of the program.
pub fn run_library(program: &mut Program) {
    let mut own = FxHashSet::default();
    for form in &program.forms {
        if !matches!(form, TopForm::Define(g, _) if program.globals[g.0 as usize].library) {
            visit(form.expr(), &mut |e| {
                for_each_binder(e, &mut |v| {
                    own.insert(v);
                });
            });
        }
    }
    inline(program, None, own);
}

fn inline(program: &mut Program, spared: Option<GlobalId>, own: FxHashSet<VarId>) {
    let limits = Limits::of(program);
    let facts = known::analyze(program);
    let mut plan = candidates::plan(program, &facts, ONCE);
    if let Some(form) = spared.and_then(|g| facts.lambda(g)) {
        plan.breaker[form] = true;
    }
    // what never returns runs once at most: in its callers it would only make them large
    let cold = keep_frames::never_return(program, &facts);
    for (g, _) in cold.iter().enumerate().filter(|(_, never)| **never) {
        if let Some(form) = facts.lambda(GlobalId(g as u32)) {
            plan.breaker[form] = true;
        }
    }
    for g in quick::called_otherwise(program) {
        if let Some(form) = facts.lambda(g) {
            plan.breaker[form] = true;
        }
    }
    if !own.is_empty() {
        for (i, form) in program.forms.iter().enumerate() {
            let copied = |g: &GlobalId| {
                let info = &program.globals[g.0 as usize];
                info.library || info.operation
            };
            plan.breaker[i] |= !matches!(form, TopForm::Define(g, _) if copied(g));
        }
    }
    let mut inliner = Inliner {
        own,
        limits,
        facts,
        cold,
        breaker: plan.breaker,
        recursive: plan.recursive,
        vars: Vec::new(),
        global_uses: vec![0; program.globals.len()],
        removed: vec![false; program.forms.len()],
        lambda_depth: 0,
        once: Once::default(),
        runs_once: false,
        depth: 0,
        growth: 0,
        program,
    };
    inliner.forms(plan.order);
}

/// What is known about a local variable.
#[derive(Clone, Debug, Default)]
enum Known {
    /// Nothing.
    #[default]
    Nothing,
    /// Equal to this constant, variable or global: every occurrence is replaced.
    Atom(Expr),
    /// A lambda, already walked, that can be copied.
    Template(Rc<Lambda>),
    /// A lambda with a single use, not yet walked; moved to its call.
    Once(Box<Lambda>),
    /// A fresh list of these atoms that nobody can change (a rest parameter of known length).
    List(Rc<[Expr]>),
    /// Certainly a procedure, not copied.
    Procedure,
    /// This constant pair, whose identity matters: not copied, but what it contains is known.
    Quoted(Literal, Extent),
}

/// Where a quoted pair comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Extent {
    /// It is a constant.
    Whole,
    /// It is read from one.
    Part,
}

#[derive(Clone, Debug, Default)]
struct Var {
    /// Occurrences in the program.
    uses: u32,
    /// Occurrences inside the lambda bound to the variable.
    own_uses: u32,
    /// Being inside of that lambda, while counting.
    inside: bool,
    known: Known,
}

struct Inliner<'a> {
    program: &'a mut Program,
    /// Variables whose lambdas are not copied.
    own: FxHashSet<VarId>,
    limits: Limits,
    facts: GlobalFacts,
    /// Indexed by `GlobalId`: procedures that never return.
    cold: Vec<bool>,
    /// Indexed by form: defines a procedure that is never inlined.
    breaker: Vec<bool>,
    /// Clauses, by form and number, that call the procedure itself, where others do not.
    recursive: FxHashSet<(usize, usize)>,
    /// Indexed by `VarId`.
    vars: Vec<Var>,
    /// Indexed by `GlobalId`.
    global_uses: Vec<u32>,
    /// Forms whose procedure was moved to its only call.
    removed: Vec<bool>,
    /// Lambdas around the expression being walked.
    lambda_depth: usize,
    /// What runs once.
    once: Once,
    /// Does the expression being walked?
    runs_once: bool,
    /// Copies around the expression being walked.
    depth: usize,
    /// Units the form may still grow.
    growth: usize,
}

impl Inliner<'_> {
    fn forms(&mut self, order: Vec<usize>) {
        self.vars.resize(self.program.vars.len(), Var::default());
        for i in 0..self.program.forms.len() {
            let e = take(self.program.forms[i].expr_mut());
            self.count(&e);
            *self.program.forms[i].expr_mut() = e;
        }
        self.once = once::analyze(self.program, &self.facts, &self.global_uses);
        // procedures used once wait for the walk of their use; those still there at the end are walked then
        let mut waiting = Vec::new();
        for i in order {
            match &self.program.forms[i] {
                TopForm::Define(g, _) if !self.breaker[i] && self.global_uses[g.0 as usize] == 1 => {
                    waiting.push(i)
                }
                _ => self.form(i),
            }
        }
        for i in waiting {
            if !self.removed[i] {
                self.form(i);
            }
        }
        let mut removed = std::mem::take(&mut self.removed).into_iter();
        self.program.forms.retain(|_| !removed.next().unwrap_or(false));
    }

    fn form(&mut self, i: usize) {
        let e = take(self.program.forms[i].expr_mut());
        self.growth = GROWTH_FREE + GROWTH * size(&e);
        self.runs_once = true;
        *self.program.forms[i].expr_mut() = match (&self.program.forms[i], e) {
            (TopForm::Define(..), Expr::Lambda(l)) => Expr::Lambda(self.lambda_run(l, self.once.form(i))),
            (_, e) => self.expr(e),
        };
    }

    fn fresh(&mut self, like: VarId) -> VarId {
        let name = self.program.vars[like.0 as usize].name.clone();
        self.program.vars.push(VarInfo::new(name));
        self.vars.push(Var::default());
        VarId(self.program.vars.len() as u32 - 1)
    }

    /// A copy of `c` with fresh binders; its occurrences are counted.
    fn copy(&mut self, c: &Clause, positions: Positions) -> Clause {
        let mut names = Renaming { positions, ..Renaming::default() };
        let copy = copy_clause(self.program, c, &mut names);
        self.vars.resize(self.program.vars.len(), Var::default());
        self.count(&copy.body);
        copy
    }

    fn var(&mut self, v: VarId) -> &mut Var {
        &mut self.vars[v.0 as usize]
    }

    /// The lambda of a global procedure and its form, unless it is being walked.
    fn global_lambda(&self, g: GlobalId) -> Option<(usize, &Lambda)> {
        let form = self.facts.lambda(g)?;
        match self.program.forms[form].expr() {
            Expr::Lambda(l) => Some((form, l)),
            _ => None,
        }
    }

    /// The constant or the other global that every read of `g` may be replaced by.
    fn global_value(&self, g: GlobalId) -> Option<Expr> {
        let h = self.facts.resolve(g);
        match self.facts.constant(h) {
            Some(l) => Some(Expr::Const(l.clone())),
            None => (h != g).then_some(Expr::Global(h, Site::NONE)),
        }
    }

    /// Counts the occurrences in `e` (which becomes part of the program).
    fn count(&mut self, e: &Expr) {
        deep(|| match e {
            Expr::Local(v) => {
                let var = self.var(*v);
                var.uses += 1;
                var.own_uses += u32::from(var.inside);
                // a use of a variable that stands for an atom is a use of the atom
                if let Known::Atom(a) = &var.known {
                    let a = a.clone();
                    self.count(&a);
                }
            }
            Expr::Global(g, _) => self.global_uses[g.0 as usize] += 1,
            Expr::Fix(bindings, body) => {
                for (v, l) in bindings {
                    self.var(*v).inside = true;
                    for c in &l.clauses {
                        self.count(&c.body);
                    }
                    self.var(*v).inside = false;
                }
                self.count(body);
            }
            _ => for_each_child(e, &mut |c| self.count(c)),
        })
    }

    /// Takes back the occurrences in `e`, which leaves the program.
    fn uncount(&mut self, e: &Expr) {
        visit(e, &mut |e| match e {
            Expr::Local(v) => {
                let var = self.var(*v);
                var.uses -= 1;
                if let Known::Atom(a) = &var.known {
                    let a = a.clone();
                    self.uncount(&a);
                }
            }
            Expr::Global(g, _) => self.global_uses[g.0 as usize] -= 1,
            _ => {}
        });
    }

    fn uncount_lambda(&mut self, l: &Lambda) {
        for c in &l.clauses {
            self.uncount(&c.body);
        }
    }

    /// Can `e` be left out when its value is not needed?
    fn discardable(&self, e: &Expr) -> bool {
        effects::discardable(e, &|g| self.facts.read_effects(g))
    }
}

/// The value of what has no interesting value.
fn nothing() -> Expr {
    Expr::Const(Literal::Unspecified)
}

fn accepts(c: &Clause, n: usize) -> bool {
    if c.rest.is_some() { n >= c.params.len() } else { n == c.params.len() }
}

/// A constant truth value, if known.
fn truth(e: &Expr) -> Option<bool> {
    match e {
        Expr::Const(l) => Some(!matches!(l, Literal::Bool(false))),
        Expr::Lambda(_) => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{random, run};

    #[test]
    fn random_programs_do_the_same_afterwards() {
        random::check_pass(600, run);
    }

    #[test]
    fn twice_is_as_good_as_once() {
        random::check_pass(300, |p| {
            run(p);
            run(p);
        });
    }
}
