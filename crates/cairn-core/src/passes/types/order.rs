//! The walk: evaluation order.
//!
//! An expression's type is found after those of its parts, in the order in which they are evaluated, so that facts
//! which one establishes hold in the next. What is told apart by kind has a rule elsewhere: calls and labels
//! ([`super::control`]), operations ([`super::operations`]), tests ([`mod@super::test`]), several values
//! ([`super::several`]).

use super::env::either;
use super::lattice::{Type, bits::*};
use super::question::Question;
use super::state::Types;
use crate::ir::{Clause, Expr, GlobalId, Literal, TopForm, VarId};
use crate::prim::{Op, PrimOp};
use crate::walk::{deep, take};

impl Types {
    /// Walks a form, again until it learns nothing new from itself.
    pub(super) fn form(&mut self, i: usize, form: &mut TopForm) {
        self.forms.here = i;
        loop {
            self.forms.again = false;
            match form {
                TopForm::Define(g, e) => match (self.procedures.global(*g), e) {
                    (Some(p), Expr::Lambda(l)) => self.procedure_body(p, l),
                    (_, e) => {
                        let t = self.expr(e);
                        self.grow_global(*g, t);
                    }
                },
                TopForm::Expr(e) => {
                    self.expr(e);
                }
            }
            self.env.undo(0);
            if !self.forms.again || self.phase.rewrites() {
                break;
            }
        }
    }

    fn grow_global(&mut self, g: GlobalId, t: Type) {
        for f in self.slots.grow_global(g, t) {
            self.forms.enqueue(f);
        }
    }

    /// Walks a body; facts found in it stay there.
    pub(super) fn body(&mut self, e: &mut Expr) -> Type {
        let mark = self.env.mark();
        let t = self.tail(e);
        self.env.undo(mark.trail);
        t
    }

    // --- expressions

    /// The type of the value of `e`; `NONE` when it never returns normally.
    pub(super) fn expr(&mut self, e: &mut Expr) -> Type {
        self.for_receiver(None, |t| deep(|| t.expr_here(e)))
    }

    pub(super) fn expr_here(&mut self, e: &mut Expr) -> Type {
        match e {
            Expr::Const(l) => {
                self.slots.stored_flonums |= has_flonum(l);
                Type::literal(l)
            }
            Expr::Local(v) => {
                let v = *v;
                if let Some(p) = self.procedures.local(v) {
                    self.escape(p);
                }
                self.forms.again |= self.slots.lose_sight(v);
                self.env.get(v)
            }
            Expr::Global(g, _) => {
                let g = *g;
                match self.procedures.global(g) {
                    None => self.slots.global(g, self.forms.here),
                    Some(p) => {
                        self.escape(p);
                        Type::of(PROCEDURE)
                    }
                }
            }
            Expr::SetLocal(_, e) => {
                self.expr(e);
                Type::UNSPECIFIED
            }
            Expr::SetGlobal(g, e, _) => {
                let g = *g;
                let t = self.expr(e);
                if t.is_none() {
                    return t;
                }
                self.grow_global(g, t);
                Type::UNSPECIFIED
            }
            Expr::If(..) => self.if_(e),
            Expr::Seq(es) => {
                let Some((last, es)) = es.split_last_mut() else { return Type::UNSPECIFIED };
                for e in es {
                    if self.expr(e).is_none() {
                        return Type::NONE;
                    }
                }
                self.tail(last)
            }
            Expr::Let(bs, body) => {
                if !self.bindings(bs) {
                    return Type::NONE;
                }
                let t = self.tail(body);
                for (v, e) in bs {
                    if let (Expr::Lambda(l), Some(p)) = (e, self.procedures.local(*v)) {
                        self.later(p, l);
                    }
                }
                t
            }
            Expr::Letrec(bs, body) => {
                for (v, _) in bs.iter() {
                    self.env.bind(*v, Type::ANY);
                }
                for (_, e) in bs {
                    self.expr(e);
                }
                self.tail(body)
            }
            Expr::Fix(bs, body) => {
                for (v, l) in bs.iter() {
                    self.name(*v, l);
                }
                let t = self.tail(body);
                for (v, l) in bs {
                    let p = self.procedures.local(*v).expect("just named");
                    self.later(p, l);
                }
                t
            }
            Expr::Lambda(l) => self.for_receiver(None, |t| {
                l.clauses.iter_mut().for_each(|c| t.unknown_clause(c));
                Type::of(PROCEDURE)
            }),
            Expr::Call(f, args, _) => self.call(f, args),
            Expr::Apply(f, args, _) => {
                let mut dead = self.expr(f).is_none();
                for a in args.iter_mut() {
                    dead |= self.expr(a).is_none();
                }
                if dead {
                    return Type::NONE;
                }
                self.deliver_unknown();
                Type::ANY
            }
            Expr::Prim { .. } => self.prim(e).0,
            Expr::Values(es) => {
                let mut types = Vec::with_capacity(es.len());
                for e in es {
                    let t = self.expr(e);
                    if t.is_none() {
                        return t;
                    }
                    types.push(t);
                }
                if let [one] = types[..] {
                    return one;
                }
                self.deliver(&types);
                Type::ANY
            }
            Expr::Receive { producer, clause, .. } => self.receive(producer, clause),
            Expr::CallCc(_, f, _) => {
                // a call, and a place where anything may come back
                self.deliver_unknown();
                if let Expr::Local(_) | Expr::Global(..) = **f {
                    self.expr(f);
                } else if let Expr::Lambda(l) = &mut **f {
                    for c in &mut l.clauses {
                        if let ([k], None) = (&c.params[..], c.rest) {
                            self.env.bind(*k, Type::of(PROCEDURE));
                            self.for_receiver(None, |t| t.body(&mut c.body));
                        } else {
                            self.for_receiver(None, |t| {
                                t.unknown_clause(c);
                                Type::ANY
                            });
                        }
                    }
                } else {
                    self.expr(f);
                }
                Type::ANY
            }
            Expr::Labels(labels, body) => self.labels(labels, body),
            Expr::Jump(l, args) => {
                let (types, waited) = self.jump_arguments(args);
                if types.iter().any(|t| t.is_none()) {
                    return Type::NONE;
                }
                self.jump(*l, &types);
                self.pass_doubles(*l, args);
                let first = if waited && self.phase.rewrites() { self.before(args) } else { Vec::new() };
                if self.plans.splits.contains_key(l) {
                    let (l, args) = (*l, std::mem::take(args));
                    *e = self.split_jump(l, args);
                }
                if !first.is_empty() {
                    *e = Expr::Let(first, Box::new(take(e)));
                }
                Type::NONE
            }
        }
    }

    fn unknown_clause(&mut self, c: &mut Clause) {
        for v in &c.params {
            self.env.bind(*v, Type::ANY);
        }
        if let Some(v) = c.rest {
            self.env.bind(v, Type::of(NULL | PAIR));
        }
        self.body(&mut c.body);
    }

    /// Walks right-hand sides and binds; false when one never returns.
    pub(super) fn bindings(&mut self, bs: &mut [(VarId, Expr)]) -> bool {
        for (v, e) in bs {
            match e {
                Expr::Lambda(l) => self.name(*v, l),
                Expr::Prim { op: PrimOp::Op(Op::MakeBox), args, .. } => {
                    let t = self.expr(&mut args[0]);
                    if t.is_none() {
                        return false;
                    }
                    self.slots.make_box(*v);
                    self.forms.again |= self.slots.grow(*v, t);
                    self.env.bind(*v, Type::of(BOX));
                }
                e => {
                    let t = self.expr(e);
                    if t.is_none() {
                        return false;
                    }
                    self.env.bind(*v, t);
                }
            }
        }
        true
    }

    fn if_(&mut self, e: &mut Expr) -> Type {
        let Expr::If(test, then, other) = e else { return Type::ANY };
        let question = Question::of(test);
        let outcome = self.test(test);
        if outcome.ty.is_none() {
            return Type::NONE;
        }
        let mark = self.env.mark();
        let branch = |t: &mut Self, answer: bool, e: &mut Expr| {
            let (kinds, facts) = if answer { (ANY & !FALSE, &outcome.then) } else { (FALSE, &outcome.other) };
            t.env.assume(facts);
            let impossible = !outcome.ty.may_be(kinds) || t.env.contradicts(facts);
            let before = t.env.remember(question, answer);
            let ty = if impossible { Type::NONE } else { t.tail(e) };
            t.env.forget(before);
            (!impossible, ty, t.env.leave(mark))
        };
        let (then_possible, a, then_facts) = branch(self, true, then);
        let (other_possible, b, other_facts) = branch(self, false, other);
        match (a.is_none(), b.is_none()) {
            (false, false) => self.env.assume(&either(&then_facts, &other_facts)),
            (false, true) => self.env.assume(&then_facts),
            (true, false) => self.env.assume(&other_facts),
            (true, true) => {}
        }
        if self.phase.rewrites() && then_possible != other_possible {
            let taken = take(if then_possible { then } else { other });
            let test = take(test);
            *e = if self.discardable(&test) { taken } else { Expr::Seq(vec![test, taken]) };
        }
        a.join(b)
    }
}

/// Does a constant object contain a flonum? Looks at the first few elements only: it is for guessing.
fn has_flonum(l: &Literal) -> bool {
    let is_flonum = |l: &Literal| Type::literal(l).is_flonum();
    match l {
        Literal::Vector(items) => items.iter().take(16).any(is_flonum),
        Literal::Pair(p) => is_flonum(&p.0) || is_flonum(&p.1),
        _ => false,
    }
}
