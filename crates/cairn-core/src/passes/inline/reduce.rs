//! The walk: every expression once, with beta reduction, propagation of atoms and removal of dead bindings.

use super::{Extent, Inliner, Known, WITH_PROCEDURE, lambda_size, nothing, truth};
use crate::inlined::Inlined;
use crate::ir::{Clause, Expr, Lambda, Literal, VarId};
use crate::passes::known::copyable;
use crate::prim::{Op, PrimOp};
use crate::walk::{deep, take};
use cairn_layout::code::Site;
use cairn_num::{Int, Number};
use std::rc::Rc;

/// A piece of the context of an expression, outermost first: bindings and effects that come before it.
pub(super) enum Step {
    /// A walked right-hand side; bindings of the same group are parallel.
    Bind(u32, VarId, Expr),
    /// A walked expression whose value is not needed.
    Effect(Expr),
    /// Walked lambdas and lambdas that still wait in the table.
    Fix(Vec<(VarId, Option<Lambda>)>),
    /// A lambda that waits in the table for its call.
    Once(VarId),
}

/// Bindings and effects found so far.
#[derive(Default)]
pub(super) struct Steps {
    steps: Vec<Step>,
    groups: u32,
}

impl Steps {
    fn group(&mut self) -> u32 {
        self.groups += 1;
        self.groups
    }
}

impl Inliner<'_> {
    pub(super) fn expr(&mut self, e: Expr) -> Expr {
        deep(|| self.expr_here(e))
    }

    fn expr_here(&mut self, e: Expr) -> Expr {
        match e {
            Expr::Const(_) => e,
            Expr::Local(v) => self.local(v),
            Expr::Global(..) => self.global(e),
            Expr::SetLocal(v, e) => Expr::SetLocal(v, self.boxed(*e)),
            Expr::SetGlobal(g, e, s) => Expr::SetGlobal(g, self.boxed(*e), s),
            Expr::If(test, then, other) => self.if_(*test, *then, *other),
            Expr::Seq(es) => self.seq(es),
            Expr::Let(bs, body) => self.let_(bs, *body),
            Expr::Letrec(bs, body) => {
                let bs = bs.into_iter().map(|(v, e)| (v, self.expr(e))).collect();
                Expr::Letrec(bs, self.boxed(*body))
            }
            Expr::Fix(bs, body) => self.fix(bs, *body),
            Expr::Lambda(l) => Expr::Lambda(self.lambda(l)),
            Expr::Call(f, args, site) => self.call(*f, args, site),
            Expr::Apply(f, args, site) => self.apply(*f, args, site),
            Expr::Prim { op, args, site, proven } => {
                let args = self.all(args);
                self.prim(op, args, site, proven)
            }
            Expr::Values(es) => {
                let mut es = self.all(es);
                match es.len() {
                    1 if single_valued(&es[0]) => es.remove(0),
                    _ => Expr::Values(es),
                }
            }
            Expr::Receive { producer, clause, site } => self.receive(*producer, *clause, site),
            Expr::CallCc(n, f, s) => Expr::CallCc(n, Box::new(self.called(*f, true)), s),
            Expr::Labels(mut labels, body) => {
                let outside = self.runs_once;
                self.runs_once = outside && !self.once.is_loop(&labels);
                for l in &mut labels {
                    l.body = self.expr(take(&mut l.body));
                }
                self.runs_once = outside;
                Expr::Labels(labels, self.boxed(*body))
            }
            Expr::Jump(l, args) => Expr::Jump(l, self.all(args)),
        }
    }

    pub(super) fn boxed(&mut self, e: Expr) -> Box<Expr> {
        Box::new(self.expr(e))
    }

    pub(super) fn all(&mut self, es: Vec<Expr>) -> Vec<Expr> {
        es.into_iter().map(|e| self.expr(e)).collect()
    }

    pub(super) fn lambda(&mut self, l: Lambda) -> Lambda {
        self.lambda_run(l, false)
    }

    /// Walks a lambda of which is known whether its body runs once.
    pub(super) fn lambda_run(&mut self, mut l: Lambda, once: bool) -> Lambda {
        let outside = std::mem::replace(&mut self.runs_once, once);
        self.lambda_depth += 1;
        for c in &mut l.clauses {
            c.body = self.expr(take(&mut c.body));
        }
        self.lambda_depth -= 1;
        self.runs_once = outside;
        l
    }

    /// Walks what is called at most once where it stands, if `once`.
    pub(super) fn called(&mut self, e: Expr, once: bool) -> Expr {
        match e {
            Expr::Lambda(l) => Expr::Lambda(self.lambda_run(l, once && self.runs_once)),
            e => self.expr(e),
        }
    }

    /// Replaces a variable known to be an atom; a lambda that waits for a call must then be kept.
    fn local(&mut self, v: VarId) -> Expr {
        match &mut self.var(v).known {
            Known::Atom(a) => {
                let a = a.clone();
                self.var(v).uses -= 1;
                self.expr(a)
            }
            _ => Expr::Local(v),
        }
    }

    fn global(&mut self, e: Expr) -> Expr {
        let Expr::Global(g, site) = e else { return e };
        match self.global_value(g) {
            Some(Expr::Global(h, _)) => {
                let new = Expr::Global(h, site);
                self.uncount(&e);
                self.count(&new);
                self.global(new)
            }
            Some(new) => {
                self.uncount(&e);
                self.count(&new);
                new
            }
            None => e,
        }
    }

    fn if_(&mut self, test: Expr, then: Expr, other: Expr) -> Expr {
        let mut steps = Steps::default();
        let test = self.expr(test);
        let mut test = self.peel(test, &mut steps);
        self.settle(&mut test);
        let (mut then, mut other) = (then, other);
        while let Expr::Prim { op: PrimOp::Op(Op::Not), args, .. } = &mut test {
            test = args.swap_remove(0);
            std::mem::swap(&mut then, &mut other);
        }
        let known = truth(&test).or_else(|| match &test {
            Expr::Local(v) => match self.vars[v.0 as usize].known {
                Known::Nothing | Known::Atom(_) => None,
                _ => Some(true),
            },
            _ => None,
        });
        let e = match known {
            Some(choice) => {
                let (taken, dropped) = if choice { (then, other) } else { (other, then) };
                self.uncount(&test);
                self.uncount(&dropped);
                self.expr(taken)
            }
            None => {
                let then = self.boxed(then);
                Expr::If(Box::new(test), then, self.boxed(other))
            }
        };
        self.wrap(steps, e)
    }

    fn seq(&mut self, es: Vec<Expr>) -> Expr {
        let mut out = Vec::with_capacity(es.len());
        let last = es.len().saturating_sub(1);
        for (i, e) in es.into_iter().enumerate() {
            let e = self.expr(e);
            if i == last {
                push_seq(&mut out, e);
            } else {
                self.push_effect(&mut out, e);
            }
        }
        if out.len() == 1 { out.remove(0) } else { Expr::Seq(out) }
    }

    fn push_effect(&mut self, out: &mut Vec<Expr>, e: Expr) {
        match e {
            Expr::Seq(es) => es.into_iter().for_each(|e| self.push_effect(out, e)),
            e if self.discardable(&e) => self.uncount(&e),
            e => out.push(e),
        }
    }

    /// Binds in order, then walks the body.
    pub(super) fn let_(&mut self, bs: Vec<(VarId, Expr)>, body: Expr) -> Expr {
        let mut steps = Steps::default();
        let group = steps.group();
        for (v, e) in bs {
            self.bind(&mut steps, group, v, e);
        }
        let body = self.expr(body);
        self.wrap(steps, body)
    }

    /// Binds right-hand sides that are already walked, in order, then walks the body.
    pub(super) fn let_walked(&mut self, mut steps: Steps, bs: Vec<(VarId, Expr)>, body: Expr) -> Expr {
        let group = steps.group();
        for (v, e) in bs {
            self.bind_walked(&mut steps, group, v, e);
        }
        let body = self.expr(body);
        self.wrap(steps, body)
    }

    fn bind(&mut self, steps: &mut Steps, group: u32, v: VarId, e: Expr) {
        let e = match e {
            // a lambda handed on by its only use
            Expr::Local(w) => match std::mem::take(&mut self.var(w).known) {
                Known::Once(l) if self.var(w).uses == 1 => {
                    self.var(w).uses = 0;
                    Expr::Lambda(*l)
                }
                known => {
                    self.var(w).known = known;
                    Expr::Local(w)
                }
            },
            e => e,
        };
        match e {
            Expr::Lambda(l) if self.var(v).uses == 0 => self.uncount_lambda(&l),
            Expr::Lambda(l) if self.var(v).uses == 1 => {
                self.var(v).known = Known::Once(Box::new(l));
                steps.steps.push(Step::Once(v));
            }
            e => {
                let e = self.expr(e);
                self.bind_walked(steps, group, v, e);
            }
        }
    }

    fn bind_walked(&mut self, steps: &mut Steps, group: u32, v: VarId, e: Expr) {
        match self.peel(e, steps) {
            Expr::Const(l) if copyable(&l) || self.var(v).uses <= 1 => {
                self.var(v).known = Known::Atom(Expr::Const(l));
            }
            e @ Expr::Local(_) => self.bind_atom(v, e),
            e @ Expr::Global(g, _) if self.facts.is_constant(g) => self.bind_atom(v, e),
            Expr::Lambda(l) => {
                self.var(v).known = template(&l);
                steps.steps.push(Step::Bind(group, v, Expr::Lambda(l)));
            }
            e => {
                if let Some(items) = self.known_list(&e) {
                    self.var(v).known = Known::List(items);
                } else if let Some(l @ Literal::Pair(_)) = self.quoted(&e) {
                    let extent = if matches!(e, Expr::Const(_)) { Extent::Whole } else { Extent::Part };
                    self.var(v).known = Known::Quoted(l, extent);
                }
                steps.steps.push(Step::Bind(group, v, e));
            }
        }
    }

    /// All uses of `v` count as uses of the atom from now on: a procedure with two uses still to be replaced is not
    /// used once.
    fn bind_atom(&mut self, v: VarId, e: Expr) {
        for _ in 0..self.var(v).uses {
            self.count(&e);
        }
        self.uncount(&e);
        self.var(v).known = Known::Atom(e);
    }

    /// Moves bindings and effects that come before the value of walked `e` into `steps`; returns the rest.
    pub(super) fn peel(&mut self, mut e: Expr, steps: &mut Steps) -> Expr {
        loop {
            match e {
                Expr::Let(bs, body) => {
                    let group = steps.group();
                    steps.steps.extend(bs.into_iter().map(|(v, e)| Step::Bind(group, v, e)));
                    e = *body;
                }
                Expr::Fix(bs, body) => {
                    steps.steps.push(Step::Fix(bs.into_iter().map(|(v, l)| (v, Some(l))).collect()));
                    e = *body;
                }
                Expr::Seq(mut es) => {
                    e = es.pop().unwrap_or_else(nothing);
                    steps.steps.extend(es.into_iter().map(Step::Effect));
                }
                e => return e,
            }
        }
    }

    /// Puts `steps` around walked `body`; dead bindings vanish, waiting lambdas are walked now.
    pub(super) fn wrap(&mut self, steps: Steps, body: Expr) -> Expr {
        let mut body = body;
        let mut steps = steps;
        // (let ((x e)) x) is e
        if let (Expr::Local(x), Some(Step::Bind(_, v, e))) = (&body, steps.steps.last())
            && x == v
            && single_valued(e)
            && let Some(Step::Bind(_, v, e)) = steps.steps.pop()
        {
            self.var(v).uses -= 1;
            body = e;
        }
        // parallel bindings, last first
        let mut open: Option<(u32, Vec<(VarId, Expr)>)> = None;
        for step in steps.steps.into_iter().rev() {
            let (group, v, e) = match step {
                Step::Bind(group, v, e) => (group, v, e),
                Step::Once(v) => match std::mem::take(&mut self.var(v).known) {
                    Known::Once(l) if self.var(v).uses == 0 => {
                        self.uncount_lambda(&l);
                        continue;
                    }
                    Known::Once(l) => {
                        self.var(v).known = Known::Procedure;
                        (0, v, Expr::Lambda(self.lambda(*l)))
                    }
                    _ => continue,
                },
                Step::Effect(e) => {
                    body = close(open.take(), body);
                    let mut out = Vec::new();
                    self.push_effect(&mut out, e);
                    push_seq(&mut out, body);
                    body = if out.len() == 1 { out.remove(0) } else { Expr::Seq(out) };
                    continue;
                }
                Step::Fix(bs) => {
                    body = close(open.take(), body);
                    body = self.wrap_fix(bs, body);
                    continue;
                }
            };
            if self.var(v).uses == 0 {
                if self.discardable(&e) {
                    self.uncount(&e);
                } else {
                    body = close(open.take(), body);
                    let mut out = Vec::new();
                    push_seq(&mut out, e);
                    push_seq(&mut out, body);
                    body = Expr::Seq(out);
                }
                continue;
            }
            match &mut open {
                Some((g, bs)) if *g == group => bs.push((v, e)),
                _ => {
                    body = close(open.take(), body);
                    open = Some((group, vec![(v, e)]));
                }
            }
        }
        close(open, body)
    }

    fn wrap_fix(&mut self, mut bs: Vec<(VarId, Option<Lambda>)>, body: Expr) -> Expr {
        // lambdas still waiting may be the only users of others: walk those that are used until none is left
        loop {
            let mut again = false;
            for (v, l) in &mut bs {
                if l.is_none()
                    && self.var(*v).uses > 0
                    && let Known::Once(waiting) = std::mem::replace(&mut self.var(*v).known, Known::Procedure)
                {
                    *l = Some(self.lambda(*waiting));
                    again = true;
                }
            }
            if !again {
                break;
            }
        }
        let mut out = Vec::with_capacity(bs.len());
        for (v, l) in bs {
            match (l, self.var(v).uses) {
                (Some(l), 0) => self.uncount_lambda(&l),
                (Some(l), _) => out.push((v, l)),
                (None, _) => {
                    if let Known::Once(l) = std::mem::take(&mut self.var(v).known) {
                        self.uncount_lambda(&l);
                    }
                }
            }
        }
        // the parts of a broken group may be recursive in new ways
        for (v, _) in &out {
            self.var(*v).own_uses += 1;
        }
        if out.is_empty() { body } else { Expr::Fix(out, Box::new(body)) }
    }

    pub(super) fn fix(&mut self, mut bs: Vec<(VarId, Lambda)>, body: Expr) -> Expr {
        while let Some(dead) = bs.iter().position(|(v, _)| self.vars[v.0 as usize].uses == 0) {
            let (_, l) = bs.remove(dead);
            self.uncount_lambda(&l);
        }
        if bs.is_empty() {
            return self.expr(body);
        }
        if let [(v, _)] = &bs[..]
            && self.var(*v).own_uses == 0
        {
            return self.let_(bs.into_iter().map(|(v, l)| (v, Expr::Lambda(l))).collect(), body);
        }
        let mut steps = Steps::default();
        let group = bs.len() > 1;
        let mut waiting = Vec::with_capacity(bs.len());
        let mut ready = Vec::new();
        for (i, (v, l)) in bs.into_iter().enumerate() {
            let var = self.var(v);
            if group && var.uses == 1 && var.own_uses == 0 {
                var.known = Known::Once(Box::new(l));
                waiting.push((v, None));
            } else {
                var.known = Known::Procedure;
                waiting.push((v, None));
                ready.push((i, l));
            }
        }
        for (i, l) in ready {
            waiting[i].1 = Some(self.lambda(l));
        }
        let body = self.expr(body);
        steps.steps.push(Step::Fix(waiting));
        self.wrap(steps, body)
    }

    fn receive(&mut self, producer: Expr, clause: Clause, site: Site) -> Expr {
        let (clause, site) = self.direct_receiver(clause, site);
        let mut steps = Steps::default();
        let producer = self.expr(producer);
        let e = match self.peel(producer, &mut steps) {
            Expr::Values(es) if super::accepts(&clause, es.len()) => {
                return self.beta_walked(steps, clause, es);
            }
            e if single_valued(&e) && super::accepts(&clause, 1) => {
                return self.beta_walked(steps, clause, vec![e]);
            }
            e => e,
        };
        let clause = Clause { body: self.expr(clause.body), ..clause };
        self.wrap(steps, Expr::Receive { producer: Box::new(e), clause: Box::new(clause), site })
    }

    /// `(receive l p (apply f l))` becomes `(receive (a b) p (f a b))` when `f` is known to take two arguments. Another
    /// count of values is then what it was before: another count of arguments of `f`.
    fn direct_receiver(&mut self, clause: Clause, received: Site) -> (Clause, Site) {
        let Clause { params, rest: Some(list), body } = clause else { return (clause, received) };
        let (Expr::Apply(f, args, site), true) = (&body, params.is_empty()) else {
            return (Clause { params, rest: Some(list), body }, received);
        };
        let only_use = matches!(&args[..], [Expr::Local(v)] if *v == list) && self.var(list).uses == 1;
        let Some(l) = self.callee(f).filter(|l| only_use && l.clauses.len() == 1) else {
            return (Clause { params, rest: Some(list), body }, received);
        };
        let (count, more) = (l.clauses[0].params.len(), l.clauses[0].rest.is_some());
        let (name, place) = (l.name.clone(), l.site);
        let who = self.program.procedure_name(&name);
        // shown at the procedure, returns to where its values are received
        let row = Inlined { site: place, procedure: name, at: received.with_who(None) };
        let place = self.program.inlined.intern(row).with_who(Some(who)).tail();
        let site = *site;
        let params: Vec<VarId> = (0..count).map(|_| self.fresh(list)).collect();
        let mut args: Vec<Expr> = params.iter().map(|v| Expr::Local(*v)).collect();
        args.iter().for_each(|a| self.count(a));
        let Expr::Apply(f, _, _) = body else { return (Clause { params, rest: Some(list), body }, received) };
        let clause = if more {
            args.push(Expr::Local(list));
            Clause { params, rest: Some(list), body: Expr::Apply(f, args, site) }
        } else {
            self.var(list).uses = 0;
            Clause { params, rest: None, body: Expr::Call(f, args, site) }
        };
        (clause, place)
    }

    /// The lambda that `f` (not yet walked) certainly is.
    fn callee<'s>(&'s self, f: &'s Expr) -> Option<&'s Lambda> {
        match f {
            Expr::Lambda(l) => Some(l),
            Expr::Local(v) => match &self.vars[v.0 as usize].known {
                Known::Atom(a) => self.callee(a),
                Known::Once(l) => Some(l),
                Known::Template(l) => Some(l),
                Known::Nothing | Known::List(_) | Known::Procedure | Known::Quoted(..) => None,
            },
            Expr::Global(g, _) => self.global_lambda(self.facts.resolve(*g)).map(|(_, l)| l),
            _ => None,
        }
    }

    /// Folds a primitive whose operands are walked.
    fn prim(&mut self, op: PrimOp, mut args: Vec<Expr>, site: Site, proven: u8) -> Expr {
        let PrimOp::Op(o) = op else { return Expr::Prim { op, args, site, proven } };
        if let [a] = &args[..] {
            if let Some(items) = self.known_list(a) {
                match (o, items.split_first()) {
                    (Op::IsPair | Op::IsNull, first) => {
                        self.uncount(&args[0]);
                        return Expr::Const(Literal::Bool((o == Op::IsPair) == first.is_some()));
                    }
                    (Op::Car, Some((first, _))) => {
                        let first = first.clone();
                        self.count(&first);
                        self.uncount(&args[0]);
                        return self.expr(first);
                    }
                    (Op::Cdr, Some(_)) => return Expr::Prim { op, args, site, proven: proven | 1 },
                    _ => {}
                }
            }
            if let Some(l) = self.quoted(a)
                && let Some(part) = match (o, &l) {
                    (Op::Car, Literal::Pair(p)) => Some(p.0.clone()),
                    (Op::Cdr, Literal::Pair(p)) => Some(p.1.clone()),
                    (_, Literal::Pair(_)) => predicate(o, &l).map(Literal::Bool),
                    _ => None,
                }
            {
                if !copyable(&part) {
                    let proven = if self.is_whole(a) { proven | 1 } else { proven & !1 };
                    return Expr::Prim { op, args, site, proven };
                }
                self.uncount(&args[0]);
                return Expr::Const(part);
            }
            let known = match a {
                Expr::Const(l) => predicate(o, l),
                Expr::Lambda(_) => procedure_predicate(o),
                Expr::Local(v) => match self.vars[v.0 as usize].known {
                    Known::Procedure | Known::Template(_) | Known::Once(_) => procedure_predicate(o),
                    _ => None,
                },
                Expr::Global(g, _) if self.facts.lambda(*g).is_some() => procedure_predicate(o),
                _ => None,
            };
            if let Some(answer) = known {
                self.uncount(&args[0]);
                return Expr::Const(Literal::Bool(answer));
            }
        }
        if let (Op::Eq | Op::Eqv, [Expr::Const(a), Expr::Const(b)]) = (o, &args[..])
            && let Some(answer) = same(a, b)
        {
            return Expr::Const(Literal::Bool(answer));
        }
        if let (Op::Eq, [Expr::Local(a), Expr::Local(b)]) = (o, &args[..])
            && a == b
        {
            args.iter().for_each(|a| self.uncount(a));
            return Expr::Const(Literal::Bool(true));
        }
        args.shrink_to_fit();
        Expr::Prim { op, args, site, proven }
    }

    /// The constant that walked `e` is, when it is a quoted pair or a part of one.
    pub(super) fn quoted(&self, e: &Expr) -> Option<Literal> {
        match e {
            Expr::Const(l @ Literal::Pair(_)) => Some(l.clone()),
            Expr::Local(v) => match &self.vars[v.0 as usize].known {
                Known::Quoted(l, _) => Some(l.clone()),
                _ => None,
            },
            Expr::Prim { op: PrimOp::Op(o @ (Op::Car | Op::Cdr)), args, .. } => match &self.quoted(&args[0])? {
                Literal::Pair(p) => Some(if *o == Op::Car { p.0.clone() } else { p.1.clone() }),
                _ => None,
            },
            _ => None,
        }
    }

    /// Is walked `e`, which is quoted, a whole constant? Of a part only what was written is known: a program may have
    /// changed the pair that it is read from, which is an error, but must not lead to reads of what is no pair.
    fn is_whole(&self, e: &Expr) -> bool {
        match e {
            Expr::Const(_) => true,
            Expr::Local(v) => matches!(self.vars[v.0 as usize].known, Known::Quoted(_, Extent::Whole)),
            _ => false,
        }
    }

    /// Replaces results of a test that are certainly true.
    fn settle(&mut self, e: &mut Expr) {
        deep(|| match e {
            Expr::If(_, a, b) => {
                self.settle(a);
                self.settle(b);
            }
            Expr::Let(_, body) | Expr::Fix(_, body) => self.settle(body),
            Expr::Seq(es) => {
                if let Some(last) = es.last_mut() {
                    self.settle(last);
                }
            }
            Expr::Local(v) => {
                let v = *v;
                if !matches!(self.var(v).known, Known::Nothing | Known::Atom(_)) {
                    self.uncount(e);
                    *e = Expr::Const(Literal::Bool(true));
                }
            }
            Expr::Prim { .. } if self.quoted(e).is_some_and(|l| matches!(l, Literal::Pair(_))) => {
                self.uncount(e);
                *e = Expr::Const(Literal::Bool(true));
            }
            _ => {}
        })
    }

    /// The elements, when `e` is a list of known elements that nobody can change.
    pub(super) fn known_list(&self, e: &Expr) -> Option<Rc<[Expr]>> {
        match e {
            Expr::Local(v) => match &self.vars[v.0 as usize].known {
                Known::List(items) => Some(items.clone()),
                _ => None,
            },
            Expr::Prim { op: PrimOp::Op(Op::Cdr), args, .. } => {
                let items = self.known_list(&args[0])?;
                (!items.is_empty()).then(|| items[1..].into())
            }
            _ => None,
        }
    }
}

fn template(l: &Lambda) -> Known {
    if lambda_size(l) <= WITH_PROCEDURE { Known::Template(Rc::new(l.clone())) } else { Known::Procedure }
}

fn close(open: Option<(u32, Vec<(VarId, Expr)>)>, body: Expr) -> Expr {
    match open {
        Some((_, mut bs)) => {
            bs.reverse();
            Expr::Let(bs, Box::new(body))
        }
        None => body,
    }
}

fn push_seq(out: &mut Vec<Expr>, e: Expr) {
    match e {
        Expr::Seq(es) => out.extend(es),
        e => out.push(e),
    }
}

/// Does `e` certainly have exactly one value (if it returns)?
pub(super) fn single_valued(e: &Expr) -> bool {
    match e {
        Expr::Const(_) | Expr::Local(_) | Expr::Global(..) | Expr::Lambda(_) | Expr::Prim { .. } => true,
        Expr::SetGlobal(..) | Expr::SetLocal(..) => true,
        Expr::If(_, a, b) => single_valued(a) && single_valued(b),
        Expr::Seq(es) => es.last().is_some_and(single_valued),
        Expr::Let(_, body) | Expr::Fix(_, body) => single_valued(body),
        _ => false,
    }
}

/// The answer of a type predicate on a constant.
pub(super) fn predicate(op: Op, l: &Literal) -> Option<bool> {
    Some(match op {
        Op::Not => matches!(l, Literal::Bool(false)),
        Op::IsFixnum => matches!(l, Literal::Number(Number::Int(Int::Fix(_)))),
        Op::IsFlonum => matches!(l, Literal::Number(Number::Flo(_))),
        Op::IsBignum => matches!(l, Literal::Number(Number::Int(Int::Big { .. }))),
        Op::IsRatnum => matches!(l, Literal::Number(Number::Ratio(..))),
        Op::IsCompnum => matches!(l, Literal::Number(Number::Complex(..))),
        Op::IsNumber => matches!(l, Literal::Number(_)),
        Op::IsPair => matches!(l, Literal::Pair(_)),
        Op::IsNull => matches!(l, Literal::Nil),
        Op::IsBoolean => matches!(l, Literal::Bool(_)),
        Op::IsSymbol => matches!(l, Literal::Symbol(_)),
        Op::IsString => matches!(l, Literal::String(_)),
        Op::IsChar => matches!(l, Literal::Char(_)),
        Op::IsVector => matches!(l, Literal::Vector(_)),
        Op::IsBytevector => matches!(l, Literal::Bytes(_)),
        Op::IsEof => matches!(l, Literal::Eof),
        Op::IsDefault => matches!(l, Literal::Default),
        Op::IsProcedure | Op::IsRecord | Op::IsPort | Op::IsPromise | Op::IsOpaque => false,
        _ => return None,
    })
}

/// The answer of a type predicate on a procedure.
pub(super) fn procedure_predicate(op: Op) -> Option<bool> {
    match op {
        Op::IsProcedure => Some(true),
        op => predicate(op, &Literal::Unspecified),
    }
}

/// `eqv?` on constants, where it does not depend on sharing.
pub(super) fn same(a: &Literal, b: &Literal) -> Option<bool> {
    use Literal as L;
    Some(match (a, b) {
        (L::Char(a), L::Char(b)) => a == b,
        (L::Bool(a), L::Bool(b)) => a == b,
        (L::Symbol(a), L::Symbol(b)) => a == b,
        (L::Number(Number::Int(Int::Fix(a))), L::Number(Number::Int(Int::Fix(b)))) => a == b,
        (L::Nil, L::Nil) | (L::Unspecified, L::Unspecified) | (L::Eof, L::Eof) | (L::Default, L::Default) => true,
        (L::Number(_), L::Number(_)) => return None,
        (L::String(_), L::String(_)) | (L::Bytes(_), L::Bytes(_)) => return None,
        (L::Numbers(..), L::Numbers(..)) => return None,
        (L::Pair(_), L::Pair(_)) | (L::Vector(_), L::Vector(_)) | (L::Unbound, _) | (_, L::Unbound) => {
            return None;
        }
        _ => false,
    })
}
