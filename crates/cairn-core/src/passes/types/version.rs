//! Versions for fixnums: a loop or a recursive procedure whose numbers have no known type gets a second body for
//! fixnums.
//!
//! ```text
//! (labels ((L (i sum) (if (%< i 0) sum (jump L (%- i 1) (%+ i sum)))))
//!   (jump L n 0))
//! ```
//! becomes
//! ```text
//! (labels ((L (i sum) …))                                        ; as before
//!   (labels ((E (i sum)
//!              (if (%fixnum? i)
//!                  (labels ((F (i sum)                           ; i and sum are fixnums
//!                             (if (%< i 0)
//!                                 sum
//!                                 (let ((a (%- i 1)) (b (%+ i sum)))
//!                                   (if (if (%fixnum? a) (%fixnum? b) #f) (jump F a b) (jump L a b))))))
//!                    (jump F i sum))
//!                  (jump L i sum))))
//!     (jump E n 0)))
//! ```
//! and a procedure's body becomes `(if (%fixnum? n) body body)`.
//!
//! The problem: generic operations test their operands and have a slow path that ends where the fast one does, so
//! nothing is known afterwards and the next operation tests again. The idea: test once, outside; an operation that
//! overflows leaves for the general body for good. The next walk finds the fixnums: it removes the tests of what cannot
//! overflow, and the emitter makes one of the overflow check and the test of the result.
//!
//! Sums of flonums, which would be flonums if only operands out of objects were, are treated alike: in the version
//! they are flonums, tested where the jump's argument ends ([`super::speculate`] has made one end of it a flonum
//! operation, which needs no test).
//!
//! ```text
//! (labels ((L (j sum)                       ; sum starts at 0.0; what the vector has is not known
//!            (if (%fx< j n) (jump L (%fx+ j 1) (%+ sum (%vector-ref v j))) sum)))
//!   (jump L 0 0.0))
//! ```
//!
//! The least or greatest of such trees is a sum in this sense, too. The copy of a loop is looked through for paths
//! ([`super::paths`]) as other code is.
//!
//! Which variables: parameters, and variables from outside, that are operands of generic arithmetic and may be fixnums;
//! a parameter of a loop only if every jump of the loop passes an expression that gives a fixnum for fixnums except for
//! overflow.
//!
//! What a loop does when it ends is not copied: it becomes a label of its own that both versions jump to
//! ([`super::twice`]).
//!
//! Invariants: innermost loops without calls and lambdas, except in what comes after them; procedures that call
//! themselves, without loops and lambdas. Both of limited size, so the program at most doubles. Linear apart from the
//! search of stable parameters and of exits, which are bounded by the sizes.

use super::lattice::{Type, bits::*};
use super::plans::{Versions, Wishes};
use super::state::Types;
use super::targets::ProcedureId;
use super::twice::{Test, copied_loop, enter_by, if_all, inside, on_flonums, redirect, take_exits};
use crate::ir::{Clause, Expr, Label, LabelId, Program, TopForm, VarId};
use crate::prim::{Kind, Op, PrimOp};
use crate::walk::{Renaming, copy_fresh, deep, for_each_binder, for_each_child_mut, size_at_most, take, visit};
use rustc_hash::{FxHashMap, FxHashSet};

/// Larger loop bodies are not copied, exits not counted.
const LOOP_LIMIT: usize = 120;
/// Where a flonum is summed up, after [`super::speculate`] has given each step that may fail a slow path: most of it is
/// cold.
const SUM_LIMIT: usize = 400;
/// Nor are loops looked at that are larger with their exits.
const SEARCH_LIMIT: usize = 4000;
/// Nor larger procedures.
const PROCEDURE_LIMIT: usize = 200;
/// A procedure needs this many operands of generic arithmetic that are its parameters.
const MIN_OPERANDS: usize = 3;

/// What a survey of a body found.
#[derive(Default)]
struct Survey<'a> {
    /// Generic operations that may be on fixnums.
    operations: Vec<&'a [Expr]>,
    /// Variables bound inside, those by `let` with their values.
    bound: FxHashMap<VarId, Option<&'a Expr>>,
    /// Arguments of the loop's own jumps.
    jumps: Vec<&'a [Expr]>,
}

impl Types {
    /// Decides about a loop that has been walked for the last time.
    pub(super) fn plan_loop(&mut self, l: &Label) {
        if !self.is_loop(l.id) || !size_at_most(&l.body, SEARCH_LIMIT) {
            return;
        }
        let mut body = Vec::new();
        inside(&l.body, l.id, &mut Vec::new(), &mut |e| body.push(e));
        let calls = |e: &&Expr| matches!(e, Expr::Call(..) | Expr::Apply(..) | Expr::CallCc(..));
        if body.len() > SUM_LIMIT || body.iter().any(calls) {
            return;
        }
        let is_large = body.len() > LOOP_LIMIT;
        let Some(survey) = self.look_through(body, Some(l.id)) else { return };
        let mut wanted: FxHashSet<VarId> =
            survey.operations.iter().flat_map(|args| args.iter().filter_map(local)).collect();
        wanted.retain(|v| !survey.bound.contains_key(v) && self.may_become_fixnum(*v));
        // parameters that stay fixnums
        loop {
            let unstable = |(i, v): (usize, &VarId)| {
                wanted.contains(v)
                    && !survey.jumps.iter().all(|args| self.stable(&args[i], &wanted, &survey.bound))
            };
            let Some((_, v)) = l.params.iter().enumerate().find(|x| unstable(*x)) else { break };
            wanted.remove(v);
        }
        // variables that an operation on fixnums alone needs
        let mut used: FxHashSet<VarId> = FxHashSet::default();
        for args in &survey.operations {
            if args.iter().all(|e| self.stable(e, &wanted, &survey.bound)) {
                used.extend(args.iter().filter_map(local).filter(|v| wanted.contains(v)));
            }
        }
        let sums = self.sums(l, &survey, &wanted);
        if (used.is_empty() || is_large) && sums.is_empty() {
            return;
        }
        // in an order that does not depend on hashing
        wanted.retain(|v| used.contains(v) || !used.is_empty() && l.params.contains(v));
        let mut wanted: Vec<Test> = wanted.into_iter().map(|v| (v, Op::IsFixnum)).collect();
        wanted.extend(sums.into_iter().map(|v| (v, Op::IsFlonum)));
        wanted.sort();
        self.plans.versions.loops.insert(l.id, wanted);
        self.plans.another_round = true;
    }

    /// Parameters of a loop that start as flonums and probably stay flonums, but are none that is proven. `fixnums`:
    /// those that are to be fixnums.
    fn sums(&self, l: &Label, survey: &Survey, fixnums: &FxHashSet<VarId>) -> FxHashSet<VarId> {
        let candidate = |v: &&VarId| {
            let t = self.env.get(**v);
            t.may_be(FLONUM) && !t.is_flonum() && !fixnums.contains(*v)
        };
        let mut sums: FxHashSet<VarId> = l.params.iter().filter(candidate).copied().collect();
        loop {
            let unstable = |(i, v): (usize, &VarId)| {
                let own = |args: &&[Expr]| matches!(&args[i], Expr::Local(x) if x == v);
                sums.contains(v)
                    && (survey.jumps.iter().all(own)
                        || !survey.jumps.iter().all(|args| self.floats(&args[i], &sums, &survey.bound)))
            };
            let Some((_, v)) = l.params.iter().enumerate().find(|x| unstable(*x)) else { return sums };
            sums.remove(v);
        }
    }

    /// Does `e` give a flonum when the variables in `given` are flonums, and operands of which nothing is known are
    /// real?
    fn floats(&self, e: &Expr, given: &FxHashSet<VarId>, bound: &FxHashMap<VarId, Option<&Expr>>) -> bool {
        deep(|| match e {
            Expr::Const(l) => Type::literal(l).is_flonum(),
            Expr::Local(v) => {
                given.contains(v)
                    || self.env.get(*v).is_flonum()
                    || bound.get(v).copied().flatten().is_some_and(|e| self.floats(e, given, bound))
            }
            Expr::Prim { op: PrimOp::Op(o), args, .. } => match o {
                Op::Add | Op::Sub | Op::Mul | Op::Div => {
                    args.iter().any(|a| self.floats(a, given, bound))
                        || args.iter().any(|a| self.probably_floats(a))
                            && !args.iter().any(|a| self.stable(a, &FxHashSet::default(), bound))
                }
                o => o.info().result == Kind::Flonum,
            },
            Expr::If(_, a, b) => self.floats(a, given, bound) && self.floats(b, given, bound),
            Expr::Let(_, body) => self.floats(body, given, bound),
            Expr::Seq(es) => es.last().is_some_and(|e| self.floats(e, given, bound)),
            Expr::Labels(labels, body) => {
                labels.iter().map(|l| &l.body).chain([&**body]).all(|e| self.floats(e, given, bound))
            }
            // to one of the labels above
            Expr::Jump(..) => true,
            _ => false,
        })
    }

    /// Does the operand come out of an object, in a program that stores flonums in objects?
    fn probably_floats(&self, e: &Expr) -> bool {
        match e {
            Expr::Local(v) => {
                let t = self.env.get(*v);
                t.hint && t.may_be(FLONUM)
            }
            Expr::Prim { op: PrimOp::Op(Op::VectorRef | Op::RecordRef | Op::Car | Op::Cdr), .. } => {
                self.slots.stored_flonums
            }
            _ => false,
        }
    }

    /// Decides about a clause of procedure `p`, walked for the last time.
    pub(super) fn plan_procedure(&mut self, p: ProcedureId, c: &Clause) {
        if c.rest.is_some() || c.params.is_empty() || !size_at_most(&c.body, PROCEDURE_LIMIT) {
            return;
        }
        let (mut recursive, mut body) = (false, Vec::new());
        visit(&c.body, &mut |e| {
            body.push(e);
            if let Expr::Call(f, ..) = e {
                recursive |= self.procedures.named(f) == Some(p);
            }
        });
        if !recursive {
            return;
        }
        let Some(survey) = self.look_through(body, None) else { return };
        let uses: Vec<VarId> = (survey.operations.iter().flat_map(|args| args.iter().filter_map(local)))
            .filter(|v| c.params.contains(v) && self.may_become_fixnum(*v))
            .collect();
        if uses.len() < MIN_OPERANDS {
            return;
        }
        let wanted = c.params.iter().copied().filter(|v| uses.contains(v)).collect();
        self.plans.versions.procedures.insert(c.params[0], wanted);
        self.plans.another_round = true;
    }

    fn may_become_fixnum(&self, v: VarId) -> bool {
        let t = self.env.get(v);
        t.may_be(FIXNUM) && !t.is_fixnum() && !t.hint
    }

    /// Looks through a body; `None` if it has lambdas or loops.
    fn look_through<'a>(&self, body: Vec<&'a Expr>, own: Option<LabelId>) -> Option<Survey<'a>> {
        let mut s = Survey::default();
        let mut simple = true;
        for e in body {
            match e {
                Expr::Lambda(_) | Expr::Fix(..) | Expr::Letrec(..) => simple = false,
                Expr::Labels(labels, _) => simple &= !labels.iter().any(|l| self.is_loop(l.id)),
                Expr::Jump(l, args) if Some(*l) == own => s.jumps.push(args),
                Expr::Prim { op, args, .. } if op.is_generic() && !args.iter().any(|a| self.is_inexact(a)) => {
                    s.operations.push(args);
                }
                _ => {}
            }
            for_each_binder(e, &mut |v| {
                s.bound.entry(v).or_insert(None);
            });
            if let Expr::Let(bs, _) = e {
                s.bound.extend(bs.iter().map(|(v, e)| (*v, Some(e))));
            }
        }
        simple.then_some(s)
    }

    /// Is the value certainly, or in all likelihood, no fixnum?
    fn is_inexact(&self, e: &Expr) -> bool {
        let t = match e {
            Expr::Const(l) => Type::literal(l),
            Expr::Local(v) => self.env.get(*v),
            Expr::Prim { op, .. } => return op.result() == Kind::Flonum,
            _ => return false,
        };
        !t.may_be(FIXNUM) || t.hint
    }

    /// Does `e` give a fixnum, or overflow, when the variables in `given` are fixnums?
    fn stable(&self, e: &Expr, given: &FxHashSet<VarId>, bound: &FxHashMap<VarId, Option<&Expr>>) -> bool {
        deep(|| match e {
            Expr::Const(l) => Type::literal(l).is_fixnum(),
            Expr::Local(v) => {
                given.contains(v)
                    || self.env.get(*v).is_fixnum()
                    || bound.get(v).copied().flatten().is_some_and(|e| self.stable(e, given, bound))
            }
            Expr::Prim { op: PrimOp::Op(o), args, .. } => match o {
                Op::Add | Op::Sub | Op::Mul | Op::Quotient | Op::Remainder | Op::Modulo | Op::FloorQuotient => {
                    args.iter().all(|a| self.stable(a, given, bound))
                }
                o => o.info().result == Kind::Fixnum,
            },
            Expr::If(_, a, b) => self.stable(a, given, bound) && self.stable(b, given, bound),
            Expr::Let(_, body) => self.stable(body, given, bound),
            Expr::Seq(es) => es.last().is_some_and(|e| self.stable(e, given, bound)),
            _ => false,
        })
    }
}

fn local(e: &Expr) -> Option<VarId> {
    match e {
        Expr::Local(v) => Some(*v),
        _ => None,
    }
}

/// Makes the versions that were planned.
pub(super) fn run(program: &mut Program, forms: &mut [TopForm], versions: &Versions, wishes: &mut Wishes) {
    for form in forms {
        version(program, form.expr_mut(), versions, wishes);
    }
}

fn version(program: &mut Program, e: &mut Expr, versions: &Versions, wishes: &mut Wishes) {
    deep(|| {
        for_each_child_mut(e, &mut |e| version(program, e, versions, wishes));
        match e {
            Expr::Lambda(l) => l.clauses.iter_mut().for_each(|c| procedure(program, c, versions)),
            Expr::Fix(bs, _) => {
                bs.iter_mut()
                    .for_each(|(_, l)| l.clauses.iter_mut().for_each(|c| procedure(program, c, versions)));
            }
            Expr::Labels(labels, _) => {
                if let [l] = &mut labels[..]
                    && let Some(wanted) = versions.loops.get(&l.id)
                {
                    let mut bound: FxHashSet<VarId> = l.params.iter().copied().collect();
                    inside(&l.body, l.id, &mut Vec::new(), &mut |e| {
                        for_each_binder(e, &mut |v| {
                            bound.insert(v);
                        });
                    });
                    let mut exits = Vec::new();
                    take_exits(program, &mut l.body, l.id, &bound, &mut Vec::new(), &mut exits);
                    let (id, entry) = (l.id, in_front(program, l, wanted, wishes));
                    enter_by(e, id, entry, exits);
                }
            }
            _ => {}
        }
    })
}

fn procedure(program: &mut Program, c: &mut Clause, versions: &Versions) {
    let Some(wanted) = c.params.first().and_then(|v| versions.procedures.get(v)) else { return };
    let copy = copy_fresh(program, &c.body, &mut Renaming::default());
    c.body = if_all(wanted.iter().map(|v| (*v, Op::IsFixnum)), copy, take(&mut c.body));
}

/// The label that tests, enters the version, or goes to `l`.
fn in_front(program: &mut Program, l: &Label, wanted: &[Test], wishes: &mut Wishes) -> Label {
    let test = |v: &VarId| wanted.iter().find(|w| w.0 == *v).map(|w| w.1);
    let tests: Vec<Option<Op>> = l.params.iter().map(test).collect();
    let mut copy = copied_loop(program, l, &l.body);
    redirect(&mut copy.fast.body, copy.fast.id, &mut |args| guarded(program, args, &tests, copy.fast.id, l.id));
    // what operations would have in the loop they would have in the copy
    for (v, name) in &copy.inner {
        if let Some(wished) = wishes.get(v).copied() {
            wishes.insert(*name, wished);
        }
    }
    let outside = |(v, test): &Test| (copy.outer.get(v).copied().unwrap_or(*v), *test);
    let wanted: Vec<Test> = wanted.iter().map(outside).collect();
    let general = copy.general(l);
    copy.entered(program, |_, _, inside| if_all(wanted.into_iter(), inside, general))
}

/// A jump to `fast` if its tested arguments pass, else to `slow`.
fn guarded(program: &mut Program, args: Vec<Expr>, tests: &[Option<Op>], fast: LabelId, slow: LabelId) -> Expr {
    // fixnums first, which most tests of flonums need
    let (mut bindings, mut tested, mut names, mut sums) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (mut e, test) in args.into_iter().zip(tests) {
        if !matches!(e, Expr::Local(_) | Expr::Const(_)) {
            let v = program.fresh_var("next");
            let e = std::mem::replace(&mut e, Expr::Local(v));
            if *test == Some(Op::IsFlonum) {
                sums.push((v, e));
            } else {
                bindings.push((v, e));
            }
        }
        if let (Expr::Local(v), Some(test)) = (&e, test)
            && !sums.iter().any(|(sum, _)| sum == v)
        {
            tested.push((*v, *test));
        }
        names.push(e);
    }
    let turn = Turn { fast, slow, names, tested };
    let body = after_sums(program, &turn, &sums);
    bindings.into_iter().rev().fold(body, |body, b| Expr::Let(vec![b], Box::new(body)))
}

/// The end of an iteration.
struct Turn {
    fast: LabelId,
    slow: LabelId,
    /// The arguments, by name.
    names: Vec<Expr>,
    tested: Vec<Test>,
}

impl Turn {
    /// The jump to `fast`, if these pass their tests, too; else to `slow`.
    fn choose(&self, more: impl Iterator<Item = Test>) -> Expr {
        let tests: Vec<Test> = self.tested.iter().copied().chain(more).collect();
        let jump = |l| Expr::Jump(l, self.names.clone());
        if_all(tests.into_iter(), jump(self.fast), jump(self.slow))
    }
}

/// The end of an iteration, after these variables were bound to the values of sums. Where the expression of a sum ends
/// in a flonum operation, its value is neither tested nor encoded; one such end goes on to the next sum. The other
/// ends, which are slow already, evaluate the rest as it is, and then test all.
fn after_sums(program: &mut Program, turn: &Turn, sums: &[(VarId, Expr)]) -> Expr {
    let Some(((v, e), rest)) = sums.split_first() else { return turn.choose([].into_iter()) };
    let mut fast = Some(after_sums(program, turn, rest));
    let all = turn.choose(sums.iter().map(|(v, _)| (*v, Op::IsFlonum)));
    let slow = rest.iter().rev().fold(all, |body, sum| Expr::Let(vec![sum.clone()], Box::new(body)));
    let mut e = e.clone();
    tails(&mut e, &mut |e| by_flonums(program, e));
    tails(&mut e, &mut |e| {
        let next = if is_flonum(e) { fast.take() } else { None };
        let mut names = Renaming::default();
        let sum = names.bind(program, *v);
        let body = copy_fresh(program, next.as_ref().unwrap_or(&slow), &mut names);
        *e = Expr::Let(vec![(sum, take(e))], Box::new(body));
    });
    e
}

/// Two of a generic operation on values: the first after a test of its operands for flonums.
fn by_flonums(program: &mut Program, e: &mut Expr) {
    let Expr::Prim { op, args, .. } = &*e else { return };
    let quick = |a: &Expr| match a {
        Expr::Prim { op, args, .. } => {
            op.result() == Kind::Any && args.iter().all(|a| matches!(a, Expr::Local(_) | Expr::Const(_)))
        }
        a => matches!(a, Expr::Local(_) | Expr::Const(_)),
    };
    let is_arithmetic = matches!(op, PrimOp::Op(Op::Add | Op::Sub | Op::Mul | Op::Div));
    if !is_arithmetic || !args.iter().all(quick) {
        return;
    }
    on_flonums(program, e);
}

/// Calls `f` with the expressions that give the value of `e`. Jumps in it go to labels of its own.
fn tails(e: &mut Expr, f: &mut impl FnMut(&mut Expr)) {
    deep(|| match e {
        Expr::If(_, a, b) => {
            tails(a, f);
            tails(b, f);
        }
        Expr::Let(_, body) => tails(body, f),
        Expr::Seq(es) if !es.is_empty() => tails(es.last_mut().expect("it is not empty"), f),
        Expr::Labels(labels, body) => {
            labels.iter_mut().for_each(|l| tails(&mut l.body, f));
            tails(body, f);
        }
        Expr::Jump(..) => {}
        e => f(e),
    })
}

/// Does the expression give a flonum, as one can see?
fn is_flonum(e: &Expr) -> bool {
    match e {
        Expr::Const(l) => Type::literal(l).is_flonum(),
        Expr::Prim { op, .. } => op.result() == Kind::Flonum,
        _ => false,
    }
}
