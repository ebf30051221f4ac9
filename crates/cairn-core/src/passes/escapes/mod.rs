//! Continuations that are only called while their `call/cc` is under way need no full capture.
//!
//! ```text
//! (call/cc (lambda (k) (if t (k 1) (f))))                (if t 1 (f))                              returns
//! (call/cc (lambda (k) (seq (if t (k 1) (g)) (f))))      (labels ((J () (f))) (if t 1 (seq (g) (jump J))))   jumps
//! (define @g (lambda (k x) (if x (k x) (@g k (h)))))
//! (call/cc (lambda (k) (@g k y)))                        (@g @values y)
//! (call/cc (lambda (k) (%cons 1 (@h (lambda (x) (k x))))))   the same with call/1cc, if @h only calls its parameter
//! ```
//!
//! The problem: capturing costs an object and a return that copies frames, and what is captured hides a loop or a
//! return from all other passes. The idea, for the `k` of a receiver that is known:
//!
//! * **returns**: `k` is called in tail position with respect to the receiver: that is a return. Also by known
//!   procedures that `k` is passed to in tail calls; they get the procedure `@values`, which returns its arguments.
//! * **jumps**: `k` is called anywhere in the receiver, but in no procedure nested in it. What would be done with the
//!   call's value is never done, so the rest becomes a join point which only the other paths reach; then every call of
//!   `k` is in tail position.
//! * **once**: `k` is only called or passed on *downwards*: nothing keeps it, nor a procedure that it is free in,
//!   beyond the receiver's activation. Then a one-shot continuation does. What enters the activation again must have
//!   been captured in it, and promotes `k`.
//!
//! A parameter of a known procedure is downward if the procedure does nothing with it but call it or pass it to such a
//! parameter; a `lambda` is if it is called where it stands, passed for such a parameter, or bound to a variable of
//! which the same is true. Facts start optimistically and fall together.
//!
//! Invariants: `k` is replaced by a return only where winders, handlers and parameters are those of the capture: no
//! procedure it is called in sets a slot of the machine (library code that does so restores it behind calls). And
//! frames can go on elsewhere in programs that compose continuations (`lib/cairn/prompts.scm`), where `k` leads back to
//! its old place and a return does not: in such programs only receivers that call nothing are rewritten so.
//!
//! Complexity: linear, but for nests of lambdas around an occurrence, a step each; and join points are placed in
//! receivers of limited size only.

mod captures;
mod exit_joins;
mod fates;

use super::known::{self, GlobalFacts};
use crate::ir::{Clause, Expr, GlobalId, GlobalInfo, Lambda, Literal, Program, Shots, TopForm, VarId};
use crate::prim::PrimOp;
use crate::walk::{deep, for_each_child_mut, rewrite, size_at_most, take, visit, visit_now};
use cairn_layout::code::Site;
use cairn_layout::module::builtin;
use captures::{Captures, takes_one};
pub(super) use exit_joins::Joins;
use fates::{Fate, Returns, Scan};
use rustc_hash::{FxHashMap, FxHashSet};

/// Captures that contain one another are rewritten from the inside out, a level each time.
const ROUNDS: usize = 4;

/// Join points are placed in receivers of at most this size: each level of nesting is searched for calls.
const JOINED: usize = 4_000;

/// Runs the pass on the whole program.
pub fn run(program: &mut Program) {
    for _ in 0..ROUNDS {
        if !round(program) {
            return;
        }
    }
}

/// Returns whether anything changed.
fn round(program: &mut Program) -> bool {
    let facts = known::analyze(program);
    let captures = Captures { wrappers: wrappers(program, &facts) };
    let any = program.forms.iter().any(|f| contains(f.expr(), &|e| captures.captures(e)));
    if !any {
        return false;
    }
    let mut forms = std::mem::take(&mut program.forms);
    forms.iter_mut().for_each(|f| place_receivers(f.expr_mut(), &captures));
    program.forms = forms;
    let fates = Scan::new(program, &facts, &captures).fates();
    if fates.is_empty() {
        return false;
    }
    let composes = composes(program);
    let forms = std::mem::take(&mut program.forms);
    let mut r = Rewrite { program, captures, fates, composes, returner: None, changed: false };
    let mut forms = forms;
    forms.iter_mut().for_each(|f| r.expr(f.expr_mut()));
    let (returner, changed) = (r.returner, r.changed);
    if let Some(g) = returner {
        forms.insert(0, TopForm::Define(g, returns_arguments(program)));
    }
    program.forms = forms;
    changed
}

/// Does `f` hold for a part of `e`?
fn contains(e: &Expr, f: &dyn Fn(&Expr) -> bool) -> bool {
    let mut found = false;
    visit(e, &mut |e| found |= f(e));
    found
}

/// May frames go on on top of others than those they were made on? Prompts and generators start from a base that the
/// library notes; modules of other code may have them.
fn composes(program: &Program) -> bool {
    let notes = |e: &Expr| matches!(e, Expr::Prim { op: op @ PrimOp::Rt(_), .. } if op.name() == "note-base");
    let base = program.forms.iter().position(|f| contains(f.expr(), &notes));
    let used = |form: &TopForm| {
        let others = program.forms.iter().enumerate().filter(|(i, _)| Some(*i) != base).map(|(_, f)| f);
        match form {
            TopForm::Define(g, _) => {
                others.into_iter().any(|f| contains(f.expr(), &|e| matches!(e, Expr::Global(h, _) if h == g)))
            }
            TopForm::Expr(_) => true,
        }
    };
    program.globals.iter().any(|g| g.import.is_some()) || base.is_some_and(|i| used(&program.forms[i]))
}

/// Global procedures that only capture for their argument, as `call-with-current-continuation` is.
fn wrappers(program: &Program, facts: &GlobalFacts) -> FxHashMap<GlobalId, Shots> {
    let wrapped = |f: &TopForm| {
        let TopForm::Define(g, Expr::Lambda(l)) = f else { return None };
        facts.lambda(*g)?;
        let [Clause { params, rest: None, body: Expr::CallCc(shots, receiver, _) }] = &l.clauses[..] else {
            return None;
        };
        matches!((&params[..], &**receiver), ([p], Expr::Local(v)) if p == v).then_some((*g, *shots))
    };
    program.forms.iter().filter_map(wrapped).collect()
}

/// `(fix ((r (lambda …))) … (call/cc r) …)`: a receiver that is used once goes where it is used.
fn place_receivers(e: &mut Expr, captures: &Captures) {
    let mut uses: FxHashMap<VarId, u32> = FxHashMap::default();
    let mut received: FxHashSet<VarId> = FxHashSet::default();
    visit(e, &mut |e| {
        if let Expr::Local(v) = e {
            *uses.entry(*v).or_default() += 1;
        }
        if let Some((_, Expr::Local(v), _)) = captures.receiver(e) {
            received.insert(*v);
        }
    });
    received.retain(|v| uses[v] == 1);
    if received.is_empty() {
        return;
    }
    let mut moving: FxHashMap<VarId, Lambda> = FxHashMap::default();
    rewrite(e, &mut |e| {
        let Expr::Fix(bindings, body) = e else { return };
        if !bindings.iter().any(|(v, _)| received.contains(v)) {
            return;
        }
        let (mut kept, mut here) = (Vec::new(), Vec::new());
        let mut used = FxHashSet::default();
        visit(body, &mut |e| {
            if let Expr::Local(v) = e {
                used.insert(*v);
            }
        });
        for (v, l) in std::mem::take(bindings) {
            // one that is used by another of these procedures stays
            if received.contains(&v) && used.contains(&v) { here.push((v, l)) } else { kept.push((v, l)) }
        }
        moving.extend(here);
        let body = take(body);
        *e = if kept.is_empty() { body } else { Expr::Fix(kept, Box::new(body)) };
    });
    // outermost first: what has moved may contain others
    fn settle(e: &mut Expr, captures: &Captures, moving: &mut FxHashMap<VarId, Lambda>) {
        deep(|| {
            if let Some(receiver) = captures.receiver_mut(e)
                && let Expr::Local(v) = receiver
                && let Some(l) = moving.remove(v)
            {
                *receiver = Expr::Lambda(l);
            }
            for_each_child_mut(e, &mut |c| settle(c, captures, moving));
        })
    }
    settle(e, captures, &mut moving);
    debug_assert!(moving.is_empty());
}

/// `(case-lambda ((x) x) (xs (apply values xs)))`
fn returns_arguments(program: &mut Program) -> Expr {
    let (x, xs) = (program.fresh_var("x"), program.fresh_var("xs"));
    let values = Expr::Prim {
        op: PrimOp::by_name("machine-builtin").expect("a runtime call"),
        args: vec![Expr::Const(Literal::Number(cairn_num::Number::Int(cairn_num::Int::Fix(
            builtin::RETURN_VALUES as i64,
        ))))],
        site: Site::NONE,
        proven: 0,
    };
    let many = Expr::Apply(Box::new(values), vec![Expr::Local(xs)], Site::NONE);
    let clauses = vec![
        Clause { params: vec![x], rest: None, body: Expr::Local(x) },
        Clause { params: Vec::new(), rest: Some(xs), body: many },
    ];
    Expr::Lambda(Lambda { name: "values".into(), clauses, site: Site::NONE })
}

struct Rewrite<'a> {
    program: &'a mut Program,
    captures: Captures,
    fates: FxHashMap<VarId, Fate>,
    composes: bool,
    /// The global procedure that returns its arguments, once needed.
    returner: Option<GlobalId>,
    changed: bool,
}

impl Rewrite<'_> {
    /// Inner captures first.
    fn expr(&mut self, e: &mut Expr) {
        deep(|| {
            for_each_child_mut(e, &mut |c| self.expr(c));
            let Some((_, receiver, site)) = self.captures.receiver(e) else { return };
            let Some((l, k)) = takes_one(receiver) else { return };
            let Some(Fate { returns, once }) = self.fates.get(&k).copied() else { return };
            let body = &l.clauses[0].body;
            let returns = returns
                .filter(|_| !self.composes || calls_nothing_but(body, k))
                .filter(|r| *r == Returns::AsItStands || size_at_most(body, JOINED));
            if returns.is_none() && !once {
                return;
            }
            self.changed = true;
            let Some(Expr::Lambda(mut l)) = self.captures.receiver_mut(e).map(take) else {
                unreachable!("just seen")
            };
            let Some(returns) = returns else {
                *e = Expr::CallCc(Shots::One, Box::new(Expr::Lambda(l)), site);
                return;
            };
            let mut body = l.clauses.pop().expect("one clause").body;
            if site.is_known() {
                self.program.inlined.move_body(&mut body, &l.name, site);
            }
            if returns == Returns::WithJoins {
                body = Joins { program: self.program, k }.place(body, None);
            }
            self.calls_return(&mut body, k);
            *e = body;
        })
    }

    /// All calls of `k` return; the procedures that it is passed to get one that returns.
    fn calls_return(&mut self, e: &mut Expr, k: VarId) {
        rewrite(e, &mut |e| {
            if let Expr::Call(f, args, _) = e
                && matches!(**f, Expr::Local(v) if v == k)
            {
                *e = match args.len() {
                    1 => args.pop().expect("one"),
                    _ => Expr::Values(std::mem::take(args)),
                };
            }
        });
        let returner = &mut self.returner;
        let program = &mut *self.program;
        rewrite(e, &mut |e| {
            if matches!(e, Expr::Local(v) if *v == k) {
                let g = *returner.get_or_insert_with(|| {
                    program.globals.push(GlobalInfo { library: true, ..GlobalInfo::new("values") });
                    GlobalId(program.globals.len() as u32 - 1)
                });
                *e = Expr::Global(g, Site::NONE);
            }
        });
    }
}

/// Does the evaluation of `e` call nothing but `k`?
fn calls_nothing_but(e: &Expr, k: VarId) -> bool {
    let mut quiet = true;
    visit_now(e, &mut |e| match e {
        Expr::Call(f, ..) => quiet &= matches!(**f, Expr::Local(v) if v == k),
        Expr::Apply(..) | Expr::CallCc(..) => quiet = false,
        _ => {}
    });
    quiet
}
