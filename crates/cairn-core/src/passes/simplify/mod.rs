//! Simplification: local rewriting, in one walk.
//!
//! ```text
//! (let ((x 1)) (%+ x 2))                        3                         constants, copies
//! (if (if a b #f) c d)                          (labels ((L () d)) (if a (if b c (jump L)) (jump L)))
//! (if (%not a) b c)                             (if a c b)
//! (let ((x (let ((y a)) b))) c)                 (let ((y a)) (let ((x b)) c))
//! (let ((x (%car p))) (if x a b))               (if (%car p) a b)         used once, at the first place evaluated
//! (receive (a b) (if t (values 1 2) (f)) c)     a join label with parameters a, b
//! (apply f 1 (%cons 2 '()))                     (f 1 2)
//! (call (lambda (x) b) e)                       (let ((x e)) b)
//! ```
//!
//! Every expression is simplified for a *context* ([`Ctx`]): its value is needed, or only whether it is true, or only
//! its effects. Substitutions of variables (constants, other variables, constant globals) are kept in an environment
//! indexed by variable; names are unique, so it needs no scopes. What a test says about a variable (`(if x …)`: true in
//! the first branch, `#f` in the second) is undone after the branch.
//!
//! | file | what |
//! |---|---|
//! | this one | the walk; variables, lets, sequences, calls, primitives |
//! | [`branch`] | `if`: tests that branch themselves become join labels; `receive` |
//! | [`labels`] | labels used once or tiny ones move to their jumps |
//! | [`place`] | moving a right-hand side to the single use of its variable |
//!
//! Invariants: evaluation order of effects is kept; `uses` never underestimates the number of occurrences of a variable
//! (copies add to it). A rewritten expression is not simplified again in the same run (the pipeline runs the pass
//! several times), so the cost is linear, apart from effect queries.

mod algebra;
mod branch;
mod labels;
mod place;
mod state;

use super::keep_frames::shown;
use super::known::{GlobalFacts, copyable};
use crate::effects::{self, Effects};
use crate::ir::{Clause, Expr, GlobalId, Lambda, Literal, Program, TopForm, VarId};
use crate::prim::{Op, PrimOp};
use crate::walk::{bind_clause, count_uses, deep, select_clause, visit};
use cairn_layout::code::Site;
use rustc_hash::{FxHashMap, FxHashSet};
pub(super) use state::Ctx;
use state::{Atom, Simplifier, Step, constant, truth, unit};

/// At most this many steps move out of one expression.
const PEEL: usize = 30;

/// Runs the pass.
pub fn run(program: &mut Program, facts: &GlobalFacts) {
    let uses = count_uses(program);
    let mut label_uses = vec![0; program.labels as usize];
    for form in &program.forms {
        visit(form.expr(), &mut |e| {
            if let Expr::Jump(l, _) = e {
                label_uses[l.0 as usize] += 1;
            }
        });
    }
    let count = program.vars.len();
    let endless = endless(program, facts);
    let mut forms = std::mem::take(&mut program.forms);
    let mut s = Simplifier {
        program,
        facts,
        env: vec![None; count],
        truths: vec![false; count],
        uses,
        complexes: FxHashMap::default(),
        labels: FxHashMap::default(),
        label_uses,
        endless,
        form: 0,
        lambdas: 0,
    };
    let last = forms.len().saturating_sub(1);
    for (i, form) in forms.iter_mut().enumerate() {
        // the last form's value is that of the program
        let ctx = if i < last && matches!(form, TopForm::Expr(_)) { Ctx::Effect } else { Ctx::Value };
        let e = crate::walk::take(form.expr_mut());
        s.form = i;
        *form.expr_mut() = s.simplify(e, ctx);
    }
    let mut i = 0;
    forms.retain(|f| {
        i += 1;
        i > last || !matches!(f, TopForm::Expr(Expr::Const(Literal::Unspecified)))
    });
    program.forms = forms;
}

/// `(lambda (a b) (g a b))`, where `g` is a global procedure of exactly these parameters: the same as `g`. But where a
/// program calls the library, or what never returns, messages show the call.
fn forwards_to(l: &Lambda, program: &Program, facts: &GlobalFacts) -> Option<(GlobalId, Site)> {
    let [c] = &l.clauses[..] else { return None };
    let Expr::Call(f, args, site) = &c.body else { return None };
    let Expr::Global(g, s) = **f else { return None };
    // the calls whose frames will be kept are those that were not marked as tail calls
    let kept = shown(&program.globals[facts.resolve(g).0 as usize]) || !site.is_tail();
    if kept && program.is_users(*site) {
        return None;
    }
    let fits = c.rest.is_none()
        && args.len() == c.params.len()
        && c.params.iter().zip(args).all(|(p, a)| matches!(a, Expr::Local(v) if v == p));
    let form = facts.lambda(g).filter(|_| fits)?;
    // its forms are out of the program while we work on them: only facts about others can be used
    let arity = facts.arity(form)?;
    (arity == [(c.params.len(), false)]).then_some((g, s))
}

/// Global procedures from which there is no end to following [`forwards_to`].
fn endless(program: &Program, facts: &GlobalFacts) -> FxHashSet<GlobalId> {
    let mut next: FxHashMap<GlobalId, GlobalId> = FxHashMap::default();
    for form in &program.forms {
        if let TopForm::Define(g, Expr::Lambda(l)) = form
            && let Some((to, _)) = forwards_to(l, program, facts)
        {
            next.insert(*g, to);
        }
    }
    let mut endless = FxHashSet::default();
    let starts: Vec<GlobalId> = next.keys().copied().collect();
    for start in starts {
        // what has been followed once is not in `next` any more
        let mut path = vec![start];
        let mut at = start;
        while let Some(to) = next.remove(&at) {
            path.push(to);
            at = to;
        }
        let cycle = path.iter().position(|g| *g == at).is_some_and(|i| i + 1 < path.len());
        if cycle || endless.contains(&at) {
            endless.extend(path);
        }
    }
    endless
}

impl Simplifier<'_> {
    fn uses(&self, v: VarId) -> u32 {
        self.uses.get(v.0 as usize).copied().unwrap_or(2) // fresh in this run: unknown
    }

    fn set_env(&mut self, v: VarId, atom: Atom) {
        if let Atom::Local(y) = atom {
            let n = self.uses(v);
            if let Some(u) = self.uses.get_mut(y.0 as usize) {
                *u += n;
            }
        }
        let i = v.0 as usize;
        if self.env.len() <= i {
            self.env.resize(i + 1, None);
        }
        self.env[i] = Some(atom);
    }

    fn lookup(&self, v: VarId) -> Option<&Atom> {
        self.env.get(v.0 as usize).and_then(|a| a.as_ref())
    }

    fn known_true(&self, v: VarId) -> bool {
        self.truths.get(v.0 as usize) == Some(&true)
    }

    fn effects(&self, e: &Expr) -> Effects {
        let facts = self.facts;
        effects::of(e, &|g| facts.read_effects(g))
    }

    fn discardable(&self, e: &Expr) -> bool {
        let facts = self.facts;
        effects::discardable(e, &|g| facts.read_effects(g))
    }

    /// The atom that a simplified expression is, if copies of it may replace a variable.
    fn atom(&self, e: &Expr) -> Option<Atom> {
        match e {
            Expr::Const(l) if copyable(l) => Some(Atom::Const(l.clone())),
            Expr::Local(v) => Some(Atom::Local(*v)),
            Expr::Global(g, s) if self.facts.is_constant(*g) => Some(Atom::Global(*g, *s)),
            _ => None,
        }
    }

    fn simplify(&mut self, e: Expr, ctx: Ctx) -> Expr {
        deep(|| self.step(e, ctx))
    }

    fn all(&mut self, es: Vec<Expr>) -> Vec<Expr> {
        es.into_iter().map(|e| self.simplify(e, Ctx::Value)).collect()
    }

    fn step(&mut self, e: Expr, ctx: Ctx) -> Expr {
        match e {
            Expr::Const(l) => constant(l, ctx),
            Expr::Local(v) => match self.lookup(v).cloned() {
                Some(Atom::Const(l)) => constant(l, ctx),
                Some(a) => self.read(a.expr(), ctx),
                None => self.read(Expr::Local(v), ctx),
            },
            Expr::Global(g, site) => {
                let g = self.facts.resolve(g);
                match self.facts.constant(g) {
                    Some(l) => constant(l.clone(), ctx),
                    None => self.read(Expr::Global(g, site), ctx),
                }
            }
            Expr::SetLocal(v, e) => Expr::SetLocal(v, Box::new(self.simplify(*e, Ctx::Value))),
            Expr::SetGlobal(g, e, s) => Expr::SetGlobal(g, Box::new(self.simplify(*e, Ctx::Value)), s),
            Expr::If(t, a, b) => {
                let t = self.simplify(*t, Ctx::Test);
                self.branch(t, branch::Arm::Raw(*a), branch::Arm::Raw(*b), ctx)
            }
            Expr::Seq(mut es) => {
                let last = es.pop().unwrap_or_else(unit);
                let mut steps = Vec::new();
                for e in es {
                    let e = self.simplify(e, Ctx::Effect);
                    let value = self.peel(e, &mut steps);
                    self.push_effect(value, &mut steps);
                }
                let last = self.simplify(last, ctx);
                match (&last, steps.pop()) {
                    // `(seq (f) #!unspecified)` for effect
                    (Expr::Const(_), Some(Step::Do(e))) if ctx == Ctx::Effect => self.wrap(steps, e),
                    (_, step) => {
                        steps.extend(step);
                        self.wrap(steps, last)
                    }
                }
            }
            Expr::Let(bindings, body) => {
                let mut steps = Vec::new();
                for (v, e) in bindings {
                    let needed = if self.uses(v) == 0 { Ctx::Effect } else { Ctx::Value };
                    let e = self.simplify(e, needed);
                    self.bind(v, e, &mut steps);
                }
                let body = self.simplify(*body, ctx);
                self.wrap(steps, body)
            }
            Expr::Letrec(..) => unreachable!("letrec fixing ran before"),
            Expr::Fix(bindings, body) => {
                let mut kept = Vec::new();
                for (v, l) in bindings {
                    if self.uses(v) > 0 {
                        match self.alias(&l) {
                            Some(a) => self.set_env(v, a),
                            None => kept.push((v, l)),
                        }
                    }
                }
                let kept: Vec<_> = kept.into_iter().map(|(v, l)| (v, self.lambda(l))).collect();
                let body = self.simplify(*body, ctx);
                if kept.is_empty() { body } else { Expr::Fix(kept, Box::new(body)) }
            }
            Expr::Lambda(l) => match ctx {
                Ctx::Value => match self.alias(&l) {
                    Some(a) => a.expr(),
                    None => Expr::Lambda(self.lambda(l)),
                },
                Ctx::Test => truth(true),
                Ctx::Effect => unit(),
            },
            Expr::Call(f, args, site) => self.call(*f, args, site, ctx),
            Expr::Apply(f, args, site) => self.apply(*f, args, site, ctx),
            Expr::Prim { op, args, site, proven } => self.prim(op, args, site, proven, ctx),
            Expr::Values(mut es) => {
                if es.len() == 1 {
                    let e = es.pop().expect("one");
                    return self.simplify(e, ctx);
                }
                if ctx == Ctx::Effect {
                    es.push(unit());
                    return self.simplify(Expr::Seq(es), ctx);
                }
                let mut steps = Vec::new();
                let es = self.operands(es, &mut steps);
                self.wrap(steps, Expr::Values(es))
            }
            Expr::Receive { producer, clause, site } => self.receive(*producer, *clause, site, ctx),
            Expr::CallCc(shots, f, site) => {
                let f = self.simplify(*f, Ctx::Value);
                if let Expr::Lambda(l) = &f
                    && let [c] = &l.clauses[..]
                    && let ([k], None) = (&c.params[..], c.rest)
                    && self.uses(*k) == 0
                {
                    let Expr::Lambda(mut l) = f else { unreachable!("just seen") };
                    return l.clauses.pop().expect("one clause").body;
                }
                Expr::CallCc(shots, Box::new(f), site)
            }
            Expr::Labels(ls, body) => self.labels(ls, *body, ctx),
            Expr::Jump(l, args) => self.jump(l, args, ctx),
        }
    }

    /// A simplified variable in context.
    fn read(&mut self, e: Expr, ctx: Ctx) -> Expr {
        match (&e, ctx) {
            (_, Ctx::Value) => e,
            (Expr::Local(v), Ctx::Test) if self.known_true(*v) => truth(true),
            (Expr::Global(g, _), Ctx::Test) if self.facts.lambda(*g).is_some() => truth(true),
            (_, Ctx::Effect) if self.discardable(&e) => unit(),
            _ => e,
        }
    }

    fn lambda(&mut self, mut l: Lambda) -> Lambda {
        self.lambdas += 1;
        for c in &mut l.clauses {
            let body = crate::walk::take(&mut c.body);
            c.body = self.simplify(body, Ctx::Value);
        }
        self.lambdas -= 1;
        l
    }

    /// The global procedure that does the same as `l`. Procedures that call each other and nothing else, or themselves,
    /// stay: no definition may come to be of itself.
    ///
    /// The lambda reads the global when it is called, its replacement where it stands. In a lambda that is no earlier
    /// than the facts allow for; at top level the global must be defined by a form above.
    fn alias(&self, l: &Lambda) -> Option<Atom> {
        let (g, site) = forwards_to(l, self.program, self.facts)?;
        let defined = self.lambdas > 0 || self.facts.get(g).form.is_some_and(|f| f < self.form);
        (defined && !self.endless.contains(&g)).then_some(Atom::Global(g, site))
    }

    /// Splits a simplified expression into what is evaluated first and the rest. Takes a limited number of steps, for
    /// each level of a nest peels what is below.
    fn peel(&mut self, mut e: Expr, steps: &mut Vec<Step>) -> Expr {
        let start = steps.len();
        loop {
            if steps.len() > start + PEEL || matches!(&e, Expr::Seq(es) if es.len() > PEEL) {
                return e;
            }
            match e {
                Expr::Let(bindings, body) => {
                    steps.extend(bindings.into_iter().map(|(v, e)| Step::Bind(v, e)));
                    e = *body;
                }
                Expr::Seq(mut es) => {
                    let last = es.pop().unwrap_or_else(unit);
                    steps.extend(es.into_iter().map(Step::Do));
                    e = last;
                }
                Expr::Fix(bindings, body) => {
                    steps.push(Step::Fix(bindings));
                    e = *body;
                }
                Expr::Receive { producer, clause, site } => {
                    let Clause { params, rest, body } = *clause;
                    steps.push(Step::Receive(*producer, params, rest, site));
                    e = body;
                }
                e => return e,
            }
        }
    }

    /// Adds the effects of a simplified expression.
    fn push_effect(&mut self, e: Expr, steps: &mut Vec<Step>) {
        if !self.discardable(&e) {
            steps.push(Step::Do(e));
        }
    }

    /// Binds a variable to a simplified expression.
    fn bind(&mut self, v: VarId, e: Expr, steps: &mut Vec<Step>) {
        let e = self.peel(e, steps);
        if self.uses(v) == 0 {
            return self.push_effect(e, steps);
        }
        if let Some(a) = self.atom(&e) {
            return self.set_env(v, a);
        }
        match e {
            Expr::Lambda(l) => match self.alias(&l) {
                Some(a) => self.set_env(v, a),
                None => steps.push(Step::Fix(vec![(v, l)])),
            },
            mut e => {
                if let Expr::Prim { op: PrimOp::Op(Op::FlRectangular), args, .. } = &mut e {
                    let parts = [0, 1].map(|i| self.named(&mut args[i], steps));
                    self.complexes.insert(v, parts);
                }
                steps.push(Step::Bind(v, e));
            }
        }
    }

    /// Makes an operand an atom.
    fn named(&mut self, e: &mut Expr, steps: &mut Vec<Step>) -> Atom {
        if let Some(a) = self.atom(e) {
            return a;
        }
        let t = self.program.fresh_var("part");
        steps.push(Step::Bind(t, std::mem::replace(e, Expr::Local(t))));
        Atom::Local(t)
    }

    /// A part of the complex number bound to `v`, instead of one occurrence of `v`.
    fn complex_part(&mut self, v: VarId, i: usize) -> Option<Expr> {
        let part = self.complexes.get(&v)?[i].expr();
        if let Expr::Local(x) = part
            && let Some(u) = self.uses.get_mut(x.0 as usize)
        {
            *u += 1;
        }
        if let Some(u) = self.uses.get_mut(v.0 as usize) {
            *u = u.saturating_sub(1);
        }
        Some(part)
    }

    /// Simplifies operands; what an operand evaluates first moves out while nothing before it has effects.
    fn operands(&mut self, es: Vec<Expr>, steps: &mut Vec<Step>) -> Vec<Expr> {
        let mut free = true;
        let mut result = Vec::with_capacity(es.len());
        for e in es {
            let mut e = self.simplify(e, Ctx::Value);
            if free && matches!(e, Expr::Let(..) | Expr::Seq(_) | Expr::Fix(..) | Expr::Receive { .. }) {
                e = self.peel(e, steps);
            }
            free &= matches!(e, Expr::Const(_) | Expr::Local(_) | Expr::Lambda(_));
            result.push(e);
        }
        result
    }

    /// Puts steps in front of a simplified expression.
    fn wrap(&mut self, steps: Vec<Step>, body: Expr) -> Expr {
        let mut body = body;
        let mut run: Vec<Expr> = Vec::new(); // a sequence under construction, reversed, in front of `body`
        fn close(body: Expr, run: &mut Vec<Expr>) -> Expr {
            if run.is_empty() {
                return body;
            }
            let mut es: Vec<Expr> = run.drain(..).rev().collect();
            match body {
                Expr::Seq(rest) => es.extend(rest),
                e => es.push(e),
            }
            Expr::Seq(es)
        }
        for step in steps.into_iter().rev() {
            if let Step::Do(e) = step {
                run.push(e);
                continue;
            }
            body = close(body, &mut run);
            body = match step {
                Step::Do(_) => unreachable!("handled above"),
                Step::Bind(v, e) => self.finish_bind(v, e, body),
                Step::Fix(bindings) => match body {
                    // `(let ((f (lambda …))) f)`
                    Expr::Local(v) if bindings.len() == 1 && bindings[0].0 == v && self.uses(v) == 1 => {
                        let (_, l) = bindings.into_iter().next().expect("one");
                        Expr::Lambda(l)
                    }
                    body => Expr::Fix(bindings, Box::new(body)),
                },
                Step::Receive(producer, params, rest, site) => Expr::Receive {
                    producer: Box::new(producer),
                    clause: Box::new(Clause { params, rest, body }),
                    site,
                },
            };
        }
        close(body, &mut run)
    }

    fn finish_bind(&mut self, v: VarId, e: Expr, mut body: Expr) -> Expr {
        if matches!(body, Expr::Local(x) if x == v) {
            return e;
        }
        if self.uses(v) == 0 && self.complexes.contains_key(&v) && self.discardable(&e) {
            return body;
        }
        let mut e = Some(e);
        if self.uses(v) == 1 {
            self.place(v, &mut e, &mut body);
        }
        match e {
            None => body,
            Some(e) => Expr::Let(vec![(v, e)], Box::new(body)),
        }
    }

    /// Binds variables to simplified expressions around a body yet to be simplified.
    fn enter(&mut self, bindings: Vec<(VarId, Expr)>, body: Expr, ctx: Ctx) -> Expr {
        let mut steps = Vec::new();
        for (v, e) in bindings {
            self.bind(v, e, &mut steps);
        }
        let body = self.simplify(body, ctx);
        self.wrap(steps, body)
    }

    fn call(&mut self, f: Expr, mut args: Vec<Expr>, site: Site, ctx: Ctx) -> Expr {
        if let Expr::Lambda(l) = f {
            if let Some(i) = select_clause(&l, args.len()) {
                let clause = self.clause_at(l, i, site);
                return self.simplify(bind_clause(clause, args), ctx);
            }
            let args = self.all(args);
            return Expr::Call(Box::new(Expr::Lambda(self.lambda(l))), args, site);
        }
        let mut steps = Vec::new();
        let f = self.simplify(f, Ctx::Value);
        let f = self.peel(f, &mut steps);
        if let Expr::Lambda(l) = f {
            return match select_clause(&l, args.len()) {
                Some(i) => {
                    // the body was simplified before its parameters were known: once more
                    let args = self.all(args);
                    let clause = self.clause_at(l, i, site);
                    let e = self.enter_clause(clause, args, ctx);
                    self.wrap(steps, e)
                }
                None => {
                    let args = self.all(args);
                    self.wrap(steps, Expr::Call(Box::new(Expr::Lambda(l)), args, site))
                }
            };
        }
        if args.len() == 1 && matches!(f, Expr::Global(g, _) if self.facts.is_identity(g)) {
            let e = self.simplify(args.pop().expect("one"), ctx);
            return self.wrap(steps, e);
        }
        // the operator is evaluated first: operands' steps may pass it when it is a variable
        let atom = matches!(f, Expr::Local(_)) || self.atom(&f).is_some();
        let args = if atom { self.operands(args, &mut steps) } else { self.all(args) };
        self.wrap(steps, Expr::Call(Box::new(f), args, site))
    }

    /// Clause `i`, which becomes part of the code around the call at `site`.
    fn clause_at(&mut self, mut l: Lambda, i: usize, site: Site) -> Clause {
        let mut clause = l.clauses.swap_remove(i);
        if site.is_known() {
            self.program.inlined.move_body(&mut clause.body, &l.name, site);
        }
        clause
    }

    fn apply(&mut self, f: Expr, args: Vec<Expr>, site: Site, ctx: Ctx) -> Expr {
        let mut args = args;
        let Some(mut last) = args.pop() else { return Expr::Apply(Box::new(f), args, site) };
        let mut flat = false;
        loop {
            match last {
                Expr::Prim { op: PrimOp::Op(Op::Cons), args: mut cell, .. } => {
                    last = cell.pop().expect("two operands");
                    args.push(cell.pop().expect("two operands"));
                }
                Expr::Const(Literal::Pair(ref p)) if copyable(&p.0) => {
                    args.push(Expr::Const(p.0.clone()));
                    last = Expr::Const(p.1.clone());
                }
                Expr::Const(Literal::Nil) => {
                    flat = true;
                    break;
                }
                Expr::Local(v) if matches!(self.lookup(v), Some(Atom::Const(Literal::Nil))) => {
                    flat = true;
                    break;
                }
                _ => break,
            }
        }
        if flat {
            return self.call(f, args, site, ctx);
        }
        args.push(last);
        let f = self.simplify(f, Ctx::Value);
        Expr::Apply(Box::new(f), self.all(args), site)
    }

    fn prim(&mut self, op: PrimOp, args: Vec<Expr>, site: Site, proven: u8, ctx: Ctx) -> Expr {
        let mut steps = Vec::new();
        let args = if op == PrimOp::Op(Op::Not) {
            let [x] = <[Expr; 1]>::try_from(args).expect("one operand");
            let x = self.simplify(x, Ctx::Test);
            vec![self.peel(x, &mut steps)]
        } else {
            self.operands(args, &mut steps)
        };
        let e = self.rules(op, args, site, proven, ctx);
        let e = self.peel(e, &mut steps);
        self.wrap(steps, e)
    }
}
