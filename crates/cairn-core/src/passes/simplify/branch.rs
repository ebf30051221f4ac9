//! `if` and `receive`: tests and producers that branch themselves.
//!
//! ```text
//! before  (if (if a b #f) (f) (g))
//! after   (labels ((L () (g))) (if a (if b (f) (jump L)) (jump L)))
//!
//! before  (receive (x y) (if a (values 1 2) (h)) (f x y))
//! after   (labels ((L (x y) (f x y))) (if a (jump L 1 2) (receive (s t) (h) (jump L s t))))
//! ```
//!
//! An arm that one exit of the test leads to moves there (and profits from what the test says); an arm that several
//! exits lead to becomes a label, or is copied when it is tiny. So `and`, `or`, `case` and searching loops in a test
//! become plain control flow, without code growth.

use super::state::{Atom, Ctx, Simplifier, single_valued, truth, unit};
use crate::ir::{Clause, Expr, Label, LabelId, Literal, VarId};
use crate::prim::{Kind, Op, PrimOp};
use crate::walk::{bind_clause, deep, list_expr, take};
use cairn_layout::code::Site;

/// An arm of an `if`.
pub(super) enum Arm {
    /// To be simplified where it lands; used once.
    Raw(Expr),
    /// Simplified and tiny, or a jump: copied.
    Done(Expr),
    /// Used up, or unreachable.
    Gone,
}

impl Arm {
    fn take(&mut self) -> Arm {
        match self {
            Arm::Done(e) => Arm::Done(e.clone()),
            arm => std::mem::replace(arm, Arm::Gone),
        }
    }
}

/// The test looks only at this variable: what its outcome says.
enum Says {
    Nothing,
    /// Variable true in the first arm, `#f` in the second.
    Truth(VarId),
    /// Variable is this constant in the first arm.
    Equal(VarId, Literal),
}

fn says(test: &Expr) -> Says {
    match test {
        Expr::Local(v) => Says::Truth(*v),
        Expr::Prim { op: PrimOp::Op(op), args, .. } => match (op, &args[..]) {
            (Op::IsNull, [Expr::Local(v)]) => Says::Equal(*v, Literal::Nil),
            (Op::IsEof, [Expr::Local(v)]) => Says::Equal(*v, Literal::Eof),
            (Op::Eq, [Expr::Local(v), Expr::Const(l)] | [Expr::Const(l), Expr::Local(v)])
                if super::super::fold::same(l, l) == Some(true) =>
            {
                Says::Equal(*v, l.clone())
            }
            _ => Says::Nothing,
        },
        _ => Says::Nothing,
    }
}

/// Is the value always a boolean?
pub(super) fn boolean(e: &Expr) -> bool {
    match e {
        Expr::Const(Literal::Bool(_)) => true,
        Expr::Prim { op, .. } => op.result() == Kind::Boolean,
        Expr::If(_, a, b) => boolean(a) && boolean(b),
        Expr::Let(_, body) | Expr::Fix(_, body) => boolean(body),
        Expr::Seq(es) => es.last().is_some_and(boolean),
        _ => false,
    }
}

fn branches(e: &Expr) -> bool {
    match e {
        Expr::If(..) | Expr::Labels(..) => true,
        Expr::Let(_, body) | Expr::Fix(_, body) => branches(body),
        Expr::Seq(es) => es.last().is_some_and(branches),
        Expr::Receive { clause, .. } => branches(&clause.body),
        _ => false,
    }
}

/// Calls `f` on every exit: expressions in tail position that are not branches themselves, and not jumps.
fn exits(e: &Expr, f: &mut dyn FnMut(&Expr)) {
    deep(|| match e {
        Expr::If(_, a, b) => {
            exits(a, f);
            exits(b, f);
        }
        Expr::Let(_, body) | Expr::Fix(_, body) => exits(body, f),
        Expr::Seq(es) => exits(es.last().expect("not empty"), f),
        Expr::Receive { clause, .. } => exits(&clause.body, f),
        Expr::Labels(ls, body) => {
            ls.iter().for_each(|l| exits(&l.body, f));
            exits(body, f);
        }
        Expr::Jump(..) => {}
        e => f(e),
    })
}

/// Replaces every exit.
fn map_exits(e: &mut Expr, f: &mut dyn FnMut(Expr) -> Expr) {
    deep(|| match e {
        Expr::If(_, a, b) => {
            map_exits(a, f);
            map_exits(b, f);
        }
        Expr::Let(_, body) | Expr::Fix(_, body) => map_exits(body, f),
        Expr::Seq(es) => map_exits(es.last_mut().expect("not empty"), f),
        Expr::Receive { clause, .. } => map_exits(&mut clause.body, f),
        Expr::Labels(ls, body) => {
            ls.iter_mut().for_each(|l| map_exits(&mut l.body, f));
            map_exits(body, f);
        }
        Expr::Jump(..) => {}
        e => *e = f(take(e)),
    })
}

impl Simplifier<'_> {
    /// An `if` whose test is simplified.
    pub(super) fn branch(&mut self, test: Expr, mut a: Arm, mut b: Arm, ctx: Ctx) -> Expr {
        if !branches(&test) {
            let mut steps = Vec::new();
            let test = self.peel(test, &mut steps);
            let e = self.decide(test, &mut a, &mut b, ctx);
            return self.wrap(steps, e);
        }
        let (mut to_a, mut to_b) = (0, 0);
        exits(&test, &mut |e| match e {
            Expr::Const(Literal::Bool(false)) => to_b += 1,
            Expr::Const(_) => to_a += 1,
            _ => {
                to_a += 1;
                to_b += 1;
            }
        });
        let mut labels = Vec::new();
        let mut a = self.share(a, to_a, ctx, &mut labels);
        let mut b = self.share(b, to_b, ctx, &mut labels);
        let e = self.push(test, &mut a, &mut b, ctx);
        if labels.is_empty() { e } else { Expr::Labels(labels, Box::new(e)) }
    }

    /// Makes an arm fit to be used `count` times.
    fn share(&mut self, arm: Arm, count: usize, ctx: Ctx, labels: &mut Vec<Label>) -> Arm {
        let Arm::Raw(e) = arm else { return arm };
        if count < 2 {
            return Arm::Raw(e);
        }
        let e = self.simplify(e, ctx);
        match &e {
            Expr::Const(l) if crate::passes::known::copyable(l) => Arm::Done(e),
            Expr::Local(v) => {
                if let Some(u) = self.uses.get_mut(v.0 as usize) {
                    *u += count as u32;
                }
                Arm::Done(e)
            }
            Expr::Jump(l, args) if args.is_empty() => {
                *self.label_uses(*l) += count as u32;
                Arm::Done(e)
            }
            _ => {
                let id = self.program.fresh_label();
                labels.push(Label { id, params: Vec::new(), body: e });
                Arm::Done(Expr::Jump(id, Vec::new()))
            }
        }
    }

    /// Pushes the decision into the exits of a test.
    fn push(&mut self, test: Expr, a: &mut Arm, b: &mut Arm, ctx: Ctx) -> Expr {
        deep(|| match test {
            Expr::If(t, x, y) => {
                let says = says(&t);
                let x = self.knowing(&says, true, |s| s.push(*x, a, b, ctx));
                let y = self.knowing(&says, false, |s| s.push(*y, a, b, ctx));
                self.finish_if(*t, x, y, ctx)
            }
            Expr::Let(bs, body) => Expr::Let(bs, Box::new(self.push(*body, a, b, ctx))),
            Expr::Fix(bs, body) => Expr::Fix(bs, Box::new(self.push(*body, a, b, ctx))),
            Expr::Seq(mut es) => {
                let last = es.pop().expect("not empty");
                let last = self.push(last, a, b, ctx);
                self.wrap(es.into_iter().map(super::state::Step::Do).collect(), last)
            }
            Expr::Receive { producer, mut clause, site } => {
                let body = take(&mut clause.body);
                clause.body = self.push(body, a, b, ctx);
                Expr::Receive { producer, clause, site }
            }
            Expr::Labels(mut ls, body) => {
                let body = Box::new(self.push(*body, a, b, ctx));
                for l in &mut ls {
                    let body = take(&mut l.body);
                    l.body = self.push(body, a, b, ctx);
                }
                Expr::Labels(ls, body)
            }
            Expr::Jump(..) => test,
            leaf => self.decide(leaf, a, b, ctx),
        })
    }

    /// An `if` whose test is simplified and does not branch.
    fn decide(&mut self, test: Expr, a: &mut Arm, b: &mut Arm, ctx: Ctx) -> Expr {
        match test {
            Expr::Const(l) => {
                let arm = if super::state::is_true(&l) { a.take() } else { b.take() };
                self.land(arm, ctx)
            }
            Expr::Jump(..) => test,
            Expr::Prim { op: PrimOp::Op(Op::Not), mut args, .. } => {
                let inner = args.pop().expect("one operand");
                if branches(&inner) {
                    return self.branch(inner, b.take(), a.take(), ctx);
                }
                self.decide(inner, b, a, ctx)
            }
            test => {
                let says = says(&test);
                let (a, b) = (a.take(), b.take());
                let a = self.knowing(&says, true, |s| s.land(a, ctx));
                let b = self.knowing(&says, false, |s| s.land(b, ctx));
                self.finish_if(test, a, b, ctx)
            }
        }
    }

    fn land(&mut self, arm: Arm, ctx: Ctx) -> Expr {
        match arm {
            Arm::Raw(e) => self.simplify(e, ctx),
            Arm::Done(e) => e,
            Arm::Gone => unreachable!("exits were counted"),
        }
    }

    /// Works with what a test says in one arm.
    fn knowing<R>(&mut self, says: &Says, arm: bool, work: impl FnOnce(&mut Self) -> R) -> R {
        match says {
            Says::Truth(v) if arm => {
                let i = v.0 as usize;
                if self.truths.len() <= i {
                    self.truths.resize(i + 1, false);
                }
                let before = std::mem::replace(&mut self.truths[i], true);
                let r = work(self);
                self.truths[i] = before;
                r
            }
            Says::Truth(v) => self.replacing(*v, Literal::Bool(false), work),
            Says::Equal(v, l) if arm => self.replacing(*v, l.clone(), work),
            _ => work(self),
        }
    }

    fn replacing<R>(&mut self, v: VarId, l: Literal, work: impl FnOnce(&mut Self) -> R) -> R {
        if self.lookup(v).is_some() {
            return work(self);
        }
        self.set_env(v, Atom::Const(l));
        let r = work(self);
        self.env[v.0 as usize] = None;
        r
    }

    /// An `if` of simplified parts.
    fn finish_if(&mut self, test: Expr, a: Expr, b: Expr, ctx: Ctx) -> Expr {
        match (&a, &b) {
            (Expr::Const(Literal::Bool(true)), Expr::Const(Literal::Bool(false)))
                if ctx == Ctx::Test || boolean(&test) =>
            {
                return test;
            }
            (Expr::Const(Literal::Bool(false)), Expr::Const(Literal::Bool(true))) => {
                return Expr::Prim { op: PrimOp::Op(Op::Not), args: vec![test], site: Site::NONE, proven: 0 };
            }
            (Expr::Const(Literal::Unspecified), Expr::Const(Literal::Unspecified)) if ctx == Ctx::Effect => {
                return if self.discardable(&test) { unit() } else { test };
            }
            (Expr::Const(x), Expr::Const(y)) if super::super::fold::same(x, y) == Some(true) => {
                let mut steps = Vec::new();
                self.push_effect(test, &mut steps);
                return self.wrap(steps, a);
            }
            (Expr::Local(x), Expr::Local(y)) if x == y => {
                let mut steps = Vec::new();
                self.push_effect(test, &mut steps);
                return self.wrap(steps, a);
            }
            (Expr::Local(x), Expr::Const(Literal::Bool(false))) if matches!(test, Expr::Local(t) if t == *x) => {
                return a;
            }
            _ => {}
        }
        Expr::If(Box::new(test), Box::new(a), Box::new(b))
    }

    pub(super) fn receive(&mut self, producer: Expr, clause: Clause, site: Site, ctx: Ctx) -> Expr {
        let mut steps = Vec::new();
        let producer = self.simplify(producer, Ctx::Value);
        let producer = self.peel(producer, &mut steps);
        let e = self.receive_from(producer, clause, site, ctx);
        self.wrap(steps, e)
    }

    fn receive_from(&mut self, mut producer: Expr, mut clause: Clause, site: Site, ctx: Ctx) -> Expr {
        let wanted = clause.params.len();
        let fits = |n: usize| n == wanted || (clause.rest.is_some() && n > wanted);
        if let Some(values) = values_of(&producer)
            && fits(values)
        {
            return self.enter_clause(clause, take_values(producer), ctx);
        }
        if !branches(&producer) {
            let body = take(&mut clause.body);
            clause.body = self.simplify(body, ctx);
            return Expr::Receive { producer: Box::new(producer), clause: Box::new(clause), site };
        }
        let (mut good, mut bad) = (0, 0);
        exits(&producer, &mut |e| if values_of(e).is_some_and(fits) { good += 1 } else { bad += 1 });
        if good == 0 {
            let body = take(&mut clause.body);
            clause.body = self.simplify(body, ctx);
            return Expr::Receive { producer: Box::new(producer), clause: Box::new(clause), site };
        }
        if good == 1 && bad == 0 {
            let mut clause = Some(clause);
            map_exits(&mut producer, &mut |e| {
                let clause = clause.take().expect("one exit");
                self.enter_clause(clause, take_values(e), ctx)
            });
            return producer;
        }
        let Clause { params, rest, body } = clause;
        let body = self.simplify(body, ctx);
        let id = self.program.fresh_label();
        let all: Vec<VarId> = params.iter().copied().chain(rest).collect();
        let fits = |n: usize| n == params.len() || (rest.is_some() && n > params.len());
        map_exits(&mut producer, &mut |e| {
            if values_of(&e).is_some_and(fits) {
                return jump_with(id, params.len(), rest.is_some(), take_values(e));
            }
            // a call, or values that do not fit: received here, passed on
            let fresh: Vec<VarId> = all
                .iter()
                .map(|v| {
                    let name = self.program.vars[v.0 as usize].name.clone();
                    self.program.fresh_var(&name)
                })
                .collect();
            let args = fresh.iter().map(|v| Expr::Local(*v)).collect();
            let (names, more) = fresh.split_at(params.len());
            let clause =
                Clause { params: names.to_vec(), rest: more.first().copied(), body: Expr::Jump(id, args) };
            Expr::Receive { producer: Box::new(e), clause: Box::new(clause), site }
        });
        Expr::Labels(vec![Label { id, params: all, body }], Box::new(producer))
    }

    pub(super) fn enter_clause(&mut self, clause: Clause, values: Vec<Expr>, ctx: Ctx) -> Expr {
        match bind_clause(Clause { body: unit(), ..clause_head(&clause) }, values) {
            Expr::Let(bindings, _) => self.enter(bindings, clause.body, ctx),
            _ => self.simplify(clause.body, ctx),
        }
    }
}

fn clause_head(c: &Clause) -> Clause {
    Clause { params: c.params.clone(), rest: c.rest, body: truth(false) }
}

/// How many values a simplified expression gives, if that is plain.
fn values_of(e: &Expr) -> Option<usize> {
    match e {
        Expr::Values(es) => Some(es.len()),
        e if single_valued(e) => Some(1),
        _ => None,
    }
}

fn take_values(e: Expr) -> Vec<Expr> {
    match e {
        Expr::Values(es) => es,
        e => vec![e],
    }
}

fn jump_with(id: LabelId, wanted: usize, rest: bool, mut values: Vec<Expr>) -> Expr {
    if rest {
        let extra = values.split_off(wanted);
        values.push(list_expr(extra));
    }
    Expr::Jump(id, values)
}
