//! Control flow: procedures whose calls are seen, and labels.
//!
//! Types flow from calls and jumps into slots of parameters, from bodies into results. A procedure is walked in the
//! form that defines it, after the scope of its name; a label after the body of its `Labels`, with the facts that all
//! jumps share, unless it is a loop.

use super::env::either;
use super::lattice::{Type, bits::*};
use super::state::{Phase, Receiver, Types};
use super::targets::ProcedureId;
use crate::ir::{Expr, Label, LabelId, Lambda, VarId};
use cairn_layout::limits::OPERANDS_MAX;

/// What an argument of type `t`, one of so many, says about its parameter. Nothing where they will travel in a list:
/// types that wander from parameter to parameter, one place with each walk, would take as many walks.
fn passed(t: Type, arguments: usize) -> Type {
    if arguments <= OPERANDS_MAX || t.is_none() { t } else { Type::ANY }
}

impl Types {
    // --- procedures

    /// A procedure is used as a value: anybody may call it.
    pub(super) fn escape(&mut self, p: ProcedureId) {
        let procedure = self.procedures.get(p);
        if std::mem::replace(&mut procedure.escaped, true) {
            return;
        }
        procedure.reached.fill(true);
        let form = procedure.form;
        for (params, rest) in procedure.clauses.clone() {
            for v in params {
                self.slots.grow(v, Type::ANY);
            }
            if let Some(v) = rest {
                self.slots.grow(v, Type::of(NULL | PAIR));
            }
        }
        self.forms.touch(form);
    }

    /// A call of a known procedure.
    fn call_known(&mut self, p: ProcedureId, types: &[Type]) -> Type {
        let procedure = self.procedures.get(p);
        let n = types.len();
        let fits = |(params, rest): &(Vec<VarId>, Option<VarId>)| {
            params.len() == n || (rest.is_some() && params.len() <= n)
        };
        let Some(k) = procedure.clauses.iter().position(fits) else { return Type::NONE };
        let (params, rest) = procedure.clauses[k].clone();
        let mut changed = !std::mem::replace(&mut procedure.reached[k], true);
        for (v, t) in params.iter().zip(types) {
            changed |= self.slots.grow(*v, passed(*t, n));
        }
        if let Some(v) = rest {
            let t = Type::of(if n > params.len() { PAIR } else { NULL });
            changed |= self.slots.grow(v, t);
        }
        if changed {
            self.forms.touch(procedure.form);
        }
        let here = self.forms.here;
        if procedure.form != here && !procedure.callers.contains(&here) {
            procedure.callers.push(here);
        }
        let t = procedure.result.ty;
        if !t.is_none() {
            self.deliver_results(p);
        }
        t
    }

    /// With `news`, those who use the results must be walked again.
    pub(super) fn returns_more(&mut self, p: ProcedureId, news: bool) {
        if news {
            let procedure = self.procedures.get(p);
            let form = procedure.form;
            for f in std::mem::take(&mut procedure.callers) {
                self.forms.enqueue(f);
            }
            self.forms.touch(form);
        }
    }

    /// Walks the clauses of a known procedure that are called.
    pub(super) fn procedure_body(&mut self, p: ProcedureId, l: &mut Lambda) {
        for (k, c) in l.clauses.iter_mut().enumerate() {
            if !self.procedures.get(p).reached[k] {
                continue;
            }
            for v in c.params.iter().chain(&c.rest) {
                self.env.bind(*v, self.slots.get(*v));
            }
            let t = self.for_receiver(Some(Receiver::Callers(p)), |t| t.body(&mut c.body));
            if self.phase == Phase::Plan {
                self.plan_procedure(p, c);
            }
            let news = self.procedures.get(p).result.grow(t, &[]);
            self.returns_more(p, news);
        }
    }

    /// Walks the lambda of a procedure after the scope of its name, whose calls were then seen. Facts of the scope
    /// are about the same variables but may not hold when the procedure was called, so they are taken back meanwhile.
    pub(super) fn later(&mut self, p: ProcedureId, l: &mut Lambda) {
        let facts = self.env.take_back(self.procedures.bound_at(p));
        self.procedure_body(p, l);
        for (v, t) in facts {
            self.env.refine(v, t);
        }
    }

    /// Gives a lambda a name by which its calls are known.
    pub(super) fn name(&mut self, v: VarId, l: &Lambda) {
        self.env.bind(v, Type::of(PROCEDURE));
        self.procedures.bind(v, l, self.forms.here, self.env.mark().trail);
    }

    pub(super) fn call(&mut self, f: &mut Expr, args: &mut [Expr]) -> Type {
        let p = self.procedures.named(f);
        let mut dead = p.is_none() && self.expr(f).is_none();
        let mut types = Vec::with_capacity(args.len());
        for a in args.iter_mut() {
            let t = self.expr(a);
            dead |= t.is_none();
            types.push(t);
            if dead {
                return Type::NONE;
            }
        }
        if dead {
            return Type::NONE;
        }
        self.fill_vector(args, &types);
        if let Some(p) = p {
            return self.call_known(p, &types);
        }
        if let Expr::Local(v) = f {
            let t = self.env.get(*v).only(PROCEDURE);
            if t.is_none() {
                return t;
            }
            self.env.refine(*v, t);
        }
        self.deliver_unknown();
        Type::ANY
    }

    // --- labels

    pub(super) fn jump(&mut self, l: LabelId, types: &[Type]) {
        let Some(target) = self.labels.get_mut(&l) else { return };
        self.forms.again |= !std::mem::replace(&mut target.reached, true);
        if target.entered {
            self.forms.again |= !std::mem::replace(&mut target.looping, true);
            if self.phase.rewrites() {
                target.inner.resize(types.len(), Type::NONE);
                target.inner.iter_mut().zip(types).for_each(|(t, u)| *t = t.join(*u));
            }
        } else if !target.looping {
            let known = self.env.since(target.mark);
            target.facts = Some(match target.facts.take() {
                Some(facts) => either(&facts, &known),
                None => known,
            });
        }
        for (v, t) in target.params.iter().zip(types) {
            self.forms.again |= self.slots.grow(*v, passed(*t, types.len()));
        }
    }

    pub(super) fn labels(&mut self, labels: &mut [Label], body: &mut Expr) -> Type {
        if self.phase.rewrites() {
            self.plan_doubles(labels);
        }
        if self.phase == Phase::Finish {
            self.plan_splits(labels);
        }
        let mark = self.env.mark();
        for l in labels.iter() {
            let target = self.labels.entry(l.id).or_default();
            if target.params.is_empty() {
                target.params.clone_from(&l.params);
            }
            (target.entered, target.mark, target.facts) = (false, mark, None);
        }
        let mut t = self.tail(body);
        let facts = self.env.leave(mark);
        let mut exit = (!t.is_none()).then_some(facts);
        let alone = labels.len() == 1;
        for l in labels.iter_mut() {
            let Some(target) = self.labels.get_mut(&l.id).filter(|t| t.reached) else { continue };
            target.entered = true;
            let facts = target.facts.take().filter(|_| !target.looping).unwrap_or_default();
            self.env.assume(&facts);
            for v in &l.params {
                self.env.bind(*v, self.slots.get(*v));
            }
            let value = self.tail(&mut l.body);
            if self.phase == Phase::Plan {
                if alone && self.stabilizes(l) {
                    self.plans.peels.insert(l.id);
                    self.plans.another_round = true;
                }
                let splittable = self.splittable(l).any(|s| s);
                self.plans.another_round |= splittable;
            }
            self.split_label(l);
            t = t.join(value);
            let facts = self.env.leave(mark);
            if self.phase == Phase::Plan && alone && !self.plans.peels.contains(&l.id) {
                self.plan_loop(l);
            }
            if !value.is_none() {
                exit = Some(match exit {
                    Some(before) => either(&before, &facts),
                    None => facts,
                });
            }
        }
        self.env.assume(&exit.unwrap_or_default());
        t
    }
}
