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

use super::known::{self, GlobalFacts};
use crate::ir::{
    Clause, Expr, GlobalId, GlobalInfo, Label, LabelId, Lambda, Literal, Program, Shots, TopForm, VarId,
};
use crate::prim::{Op, PrimOp};
use crate::walk::{
    deep, for_each_child, for_each_child_mut, rewrite, select_clause, size_at_most, take, visit, visit_now,
};
use cairn_layout::code::Site;
use cairn_layout::module::builtin;
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

/// Which expressions capture.
struct Captures {
    wrappers: FxHashMap<GlobalId, Shots>,
}

impl Captures {
    fn captures(&self, e: &Expr) -> bool {
        self.receiver(e).is_some()
    }

    /// How an expression captures, and for what.
    fn receiver<'a>(&self, e: &'a Expr) -> Option<(Shots, &'a Expr, Site)> {
        match e {
            Expr::CallCc(shots, f, site) => Some((*shots, f, *site)),
            Expr::Call(f, args, site) => match (&**f, &args[..]) {
                (Expr::Global(g, _), [receiver]) => Some((*self.wrappers.get(g)?, receiver, *site)),
                _ => None,
            },
            _ => None,
        }
    }

    fn receiver_mut<'a>(&self, e: &'a mut Expr) -> Option<&'a mut Expr> {
        match e {
            Expr::CallCc(_, f, _) => Some(f),
            Expr::Call(f, args, _) => match (&**f, &mut args[..]) {
                (Expr::Global(g, _), [receiver]) if self.wrappers.contains_key(g) => Some(receiver),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The lambda of a receiver that takes a continuation, and the continuation.
fn takes_one(receiver: &Expr) -> Option<(&Lambda, VarId)> {
    let Expr::Lambda(l) = receiver else { return None };
    match &l.clauses[..] {
        [Clause { params, rest: None, .. }] if params.len() == 1 => Some((l, params[0])),
        _ => None,
    }
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

/// What becomes of a continuation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Fate {
    /// Calls of it can be returns: as they stand, or when the rest has become join points.
    returns: Option<Returns>,
    /// One use is enough.
    once: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Returns {
    AsItStands,
    WithJoins,
}

/// A fact that holds until shown otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Fact {
    /// The variable is only called in tail position, in the procedure that binds it or in one called there.
    Tail(VarId),
    /// The variable is only called in the procedure that binds it, or as `Tail` says.
    Local(VarId),
    /// The variable is only called, or passed to what only calls it.
    Downward(VarId),
    /// The lambda of this number is only called.
    Lambda(usize),
}

/// A procedure body, or the body of a receiver whose capture is not in tail position.
#[derive(Default)]
struct Region {
    /// Variables bound in it.
    vars: Vec<VarId>,
    sets_state: bool,
}

struct Scan<'a> {
    facts: &'a GlobalFacts,
    program: &'a Program,
    captures: &'a Captures,
    /// Procedures bound by `Fix`.
    bound: FxHashMap<VarId, &'a Lambda>,
    labels: FxHashMap<LabelId, &'a [VarId]>,
    /// Region and number of lambdas around the binding, of variables that may hold a continuation.
    homes: FxHashMap<VarId, (usize, usize)>,
    regions: Vec<Region>,
    /// Lambdas around the present expression.
    nest: Vec<usize>,
    lambdas: usize,
    false_facts: Vec<Fact>,
    /// If the first is false, the second is.
    needs: FxHashMap<Fact, Vec<Fact>>,
    /// Continuations of receivers that are known.
    continuations: Vec<(VarId, Shots)>,
}

impl<'a> Scan<'a> {
    fn new(program: &'a Program, facts: &'a GlobalFacts, captures: &'a Captures) -> Scan<'a> {
        let mut s = Scan {
            facts,
            program,
            captures,
            bound: FxHashMap::default(),
            labels: FxHashMap::default(),
            homes: FxHashMap::default(),
            regions: Vec::new(),
            nest: Vec::new(),
            lambdas: 0,
            false_facts: Vec::new(),
            needs: FxHashMap::default(),
            continuations: Vec::new(),
        };
        for form in &program.forms {
            visit(form.expr(), &mut |e| match e {
                Expr::Fix(bindings, _) => s.bound.extend(bindings.iter().map(|(v, l)| (*v, l))),
                Expr::Labels(labels, _) => s.labels.extend(labels.iter().map(|l| (l.id, &l.params[..]))),
                _ => {}
            });
        }
        for form in &program.forms {
            match form {
                TopForm::Define(_, Expr::Lambda(l)) => s.lambda(l, None),
                form => {
                    let region = s.region();
                    s.expr(form.expr(), true, region);
                }
            }
        }
        s
    }

    fn region(&mut self) -> usize {
        self.regions.push(Region::default());
        self.regions.len() - 1
    }

    fn bind(&mut self, vars: impl IntoIterator<Item = VarId>, region: usize) {
        for v in vars {
            self.homes.insert(v, (region, self.nest.len()));
            self.regions[region].vars.push(v);
        }
    }

    fn refute(&mut self, fact: Fact) {
        self.false_facts.push(fact);
    }

    fn needs(&mut self, fact: Fact, other: Fact) {
        self.needs.entry(other).or_default().push(fact);
    }

    /// A procedure: its bodies are regions of their own, or part of `within`, if that is where it is called.
    fn lambda(&mut self, l: &'a Lambda, within: Option<usize>) {
        for c in &l.clauses {
            let region = within.unwrap_or_else(|| self.region());
            self.bind(c.params.iter().copied(), region);
            self.expr(&c.body, true, region);
        }
    }

    /// A procedure that is a value or bound to a variable.
    fn closure(&mut self, l: &'a Lambda, within: Option<usize>) -> Fact {
        let id = self.lambdas;
        self.lambdas += 1;
        self.nest.push(id);
        self.lambda(l, within);
        self.nest.pop();
        Fact::Lambda(id)
    }

    /// The parameter that argument `i` of a call with `count` arguments is bound to, if the procedure is known.
    fn parameter(&self, f: &Expr, count: usize, i: usize) -> Option<VarId> {
        let l = match f {
            Expr::Global(g, _) => match self.program.forms[self.facts.lambda(*g)?].expr() {
                Expr::Lambda(l) => l,
                _ => return None,
            },
            Expr::Local(f) => self.bound.get(f)?,
            _ => return None,
        };
        l.clauses[select_clause(l, count)?].params.get(i).copied()
    }

    /// All that may be known of a variable here depends on the lambdas between its binding and this place.
    fn occurs(&mut self, v: VarId, region: usize, tail: bool) {
        let Some((home, depth)) = self.homes.get(&v).copied() else { return };
        for i in depth..self.nest.len() {
            self.needs(Fact::Downward(v), Fact::Lambda(self.nest[i]));
        }
        if home != region || !tail {
            self.refute(Fact::Tail(v));
        }
        if home != region || !tail && self.nest.len() > depth {
            self.refute(Fact::Local(v));
        }
    }

    fn refute_all(&mut self, v: VarId) {
        if self.homes.contains_key(&v) {
            [Fact::Tail(v), Fact::Local(v), Fact::Downward(v)].into_iter().for_each(|f| self.refute(f));
        }
    }

    /// An argument for parameter `to`, if that is known.
    fn argument(&mut self, e: &'a Expr, to: Option<VarId>, tail: bool, region: usize) {
        match (e, to) {
            (Expr::Local(v), Some(p)) => {
                self.occurs(*v, region, tail);
                if !tail {
                    self.refute(Fact::Local(*v));
                }
                self.needs(Fact::Tail(*v), Fact::Tail(p));
                self.needs(Fact::Local(*v), Fact::Tail(p));
                self.needs(Fact::Downward(*v), Fact::Downward(p));
            }
            (Expr::Lambda(l), to) => {
                let fact = self.closure(l, None);
                match to {
                    Some(p) => self.needs(fact, Fact::Downward(p)),
                    None => self.refute(fact),
                }
            }
            (e, _) => self.expr(e, false, region),
        }
    }

    fn operator(&mut self, f: &'a Expr, tail: bool, region: usize) {
        match f {
            Expr::Local(v) => self.occurs(*v, region, tail),
            Expr::Lambda(l) => {
                self.closure(l, None);
            }
            f => self.expr(f, false, region),
        }
    }

    fn expr(&mut self, e: &'a Expr, tail: bool, region: usize) {
        deep(|| {
            if let Some((shots, receiver, _)) = self.captures.receiver(e) {
                return self.capture(shots, receiver, tail, region);
            }
            match e {
                Expr::Local(v) => self.refute_all(*v),
                Expr::Lambda(l) => {
                    let fact = self.closure(l, None);
                    self.refute(fact);
                }
                Expr::If(t, a, b) => {
                    self.expr(t, false, region);
                    self.expr(a, tail, region);
                    self.expr(b, tail, region);
                }
                Expr::Seq(es) => {
                    let last = es.len().saturating_sub(1);
                    es.iter().enumerate().for_each(|(i, e)| self.expr(e, tail && i == last, region));
                }
                Expr::Let(bs, body) => {
                    bs.iter().for_each(|(_, e)| self.expr(e, false, region));
                    self.expr(body, tail, region);
                }
                Expr::Fix(bindings, body) => {
                    self.bind(bindings.iter().map(|(v, _)| *v), region);
                    for (v, l) in bindings {
                        let fact = self.closure(l, None);
                        self.needs(fact, Fact::Downward(*v));
                    }
                    self.expr(body, tail, region);
                }
                Expr::Call(f, args, _) => {
                    self.operator(f, tail, region);
                    for (i, a) in args.iter().enumerate() {
                        let to = self.parameter(f, args.len(), i);
                        self.argument(a, to, tail, region);
                    }
                }
                Expr::Apply(f, args, _) => {
                    self.operator(f, tail, region);
                    args.iter().for_each(|a| self.expr(a, false, region));
                }
                Expr::Receive { producer, clause, .. } => {
                    self.expr(producer, false, region);
                    self.expr(&clause.body, tail, region);
                }
                Expr::Labels(labels, body) => {
                    for l in labels {
                        self.bind(l.params.iter().copied(), region);
                        self.expr(&l.body, tail, region);
                    }
                    self.expr(body, tail, region);
                }
                Expr::Jump(label, args) => {
                    let params = self.labels[label];
                    args.iter().zip(params).for_each(|(a, p)| self.argument(a, Some(*p), tail, region));
                }
                e => {
                    if let Expr::Prim { op: PrimOp::Op(Op::MachineSet), .. } = e {
                        self.regions[region].sets_state = true;
                    }
                    for_each_child(e, &mut |c| self.expr(c, false, region));
                }
            }
        })
    }

    /// The receiver of a capture in tail position returns to where the procedure around it does.
    fn capture(&mut self, shots: Shots, receiver: &'a Expr, tail: bool, region: usize) {
        match receiver {
            Expr::Lambda(l) => {
                let within = if tail { region } else { self.region() };
                // not with `closure`: the variable is bound outside of the lambdas that count
                if let Some((_, k)) = takes_one(receiver) {
                    self.continuations.push((k, shots));
                    self.nest.push(self.lambdas);
                    self.lambdas += 1;
                    self.bind([k], within);
                    self.expr(&l.clauses[0].body, true, within);
                    self.nest.pop();
                } else {
                    self.closure(l, Some(within));
                }
            }
            f => self.operator(f, false, region),
        }
    }

    fn fates(mut self) -> FxHashMap<VarId, Fate> {
        for region in &self.regions {
            if region.sets_state {
                self.false_facts.extend(region.vars.iter().flat_map(|v| [Fact::Tail(*v), Fact::Local(*v)]));
            }
        }
        let mut known: FxHashSet<Fact> = FxHashSet::default();
        while let Some(f) = self.false_facts.pop() {
            if known.insert(f) {
                self.false_facts.extend(self.needs.get(&f).into_iter().flatten());
            }
        }
        let holds = |f: Fact| !known.contains(&f);
        let fate = |(k, shots): &(VarId, Shots)| {
            let returns = match (holds(Fact::Tail(*k)), holds(Fact::Local(*k))) {
                (true, _) => Some(Returns::AsItStands),
                (false, true) => Some(Returns::WithJoins),
                _ => None,
            };
            let once = *shots == Shots::Many && holds(Fact::Downward(*k));
            (returns.is_some() || once).then_some((*k, Fate { returns, once }))
        };
        self.continuations.iter().filter_map(fate).collect()
    }
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

/// What is done with the value of an expression that is not in tail position: a label, and what it gets.
#[derive(Clone, Copy)]
pub(super) struct Then {
    label: LabelId,
    gets: Gets,
}

#[derive(Clone, Copy)]
enum Gets {
    Nothing,
    Value,
    /// So many values, and whether the rest in a list.
    Values(usize, bool, Site),
}

/// Moves calls of `k` to tail position: what would come after them becomes a label that the other paths jump to.
pub(super) struct Joins<'a> {
    pub(super) program: &'a mut Program,
    pub(super) k: VarId,
}

impl Joins<'_> {
    /// Is there a call of `k` in `e`, apart from procedures in it?
    fn leaves(&self, e: &Expr) -> bool {
        let mut found = false;
        visit_now(e, &mut |e| found |= self.is_exit(e));
        found
    }

    fn is_exit(&self, e: &Expr) -> bool {
        matches!(e, Expr::Call(f, ..) | Expr::Apply(f, ..) if matches!(**f, Expr::Local(v) if v == self.k))
    }

    /// `e` and `then`, with all calls of `k` in tail position.
    pub(super) fn place(&mut self, e: Expr, then: Option<Then>) -> Expr {
        deep(|| match e {
            Expr::If(t, a, b) => {
                let (a, b) = (self.place(*a, then), self.place(*b, then));
                if !self.leaves(&t) {
                    return Expr::If(t, Box::new(a), Box::new(b));
                }
                let v = self.program.fresh_var("test");
                let rest = Expr::If(Box::new(Expr::Local(v)), Box::new(a), Box::new(b));
                self.join(*t, Gets::Value, vec![v], rest)
            }
            Expr::Seq(mut es) => match es.iter().position(|e| self.leaves(e)) {
                Some(i) if i + 1 < es.len() => {
                    let rest = self.place(sequence(es.split_off(i + 1)), then);
                    let e = es.pop().expect("that one");
                    es.push(self.join(e, Gets::Nothing, Vec::new(), rest));
                    sequence(es)
                }
                _ => {
                    let last = es.pop().expect("a sequence is not empty");
                    es.push(self.place(last, then));
                    sequence(es)
                }
            },
            Expr::Let(mut bs, body) => match bs.iter().position(|(_, e)| self.leaves(e)) {
                Some(i) => {
                    let rest = bs.split_off(i + 1);
                    let (v, e) = bs.pop().expect("that one");
                    let rest = if rest.is_empty() { *body } else { Expr::Let(rest, body) };
                    let rest = self.place(rest, then);
                    let e = self.join(e, Gets::Value, vec![v], rest);
                    if bs.is_empty() { e } else { Expr::Let(bs, Box::new(e)) }
                }
                None => Expr::Let(bs, Box::new(self.place(*body, then))),
            },
            Expr::Fix(bs, body) => Expr::Fix(bs, Box::new(self.place(*body, then))),
            Expr::Labels(labels, body) => {
                let labels = labels.into_iter().map(|l| Label { body: self.place(l.body, then), ..l }).collect();
                Expr::Labels(labels, Box::new(self.place(*body, then)))
            }
            Expr::Receive { producer, clause, site } => {
                let Clause { params, rest, body } = *clause;
                let body = self.place(body, then);
                if !self.leaves(&producer) {
                    let clause = Box::new(Clause { params, rest, body });
                    return Expr::Receive { producer, clause, site };
                }
                let gets = Gets::Values(params.len(), rest.is_some(), site);
                self.join(*producer, gets, params.into_iter().chain(rest).collect(), body)
            }
            e if self.leaves(&e) => self.operands(e, then),
            e => self.deliver(e, then),
        })
    }

    /// An expression whose operands may leave: the first that does is evaluated by itself, those before get names.
    fn operands(&mut self, mut e: Expr, then: Option<Then>) -> Expr {
        let mut children = Vec::new();
        for_each_child(&e, &mut |c| children.push(self.leaves(c)));
        let Some(first) = children.iter().position(|leaves| *leaves) else {
            return e; // it leaves itself
        };
        let (mut i, mut operands) = (0, Vec::new());
        for_each_child_mut(&mut e, &mut |c| {
            if i <= first && !matches!(c, Expr::Const(_) | Expr::Local(_) | Expr::Lambda(_)) {
                let v = self.program.fresh_var("operand");
                operands.push((v, std::mem::replace(c, Expr::Local(v))));
            }
            i += 1;
        });
        let (v, leaving) = operands.pop().expect("what leaves is no atom");
        let rest = self.place(e, then);
        let e = self.join(leaving, Gets::Value, vec![v], rest);
        operands.into_iter().rev().fold(e, |e, binding| Expr::Let(vec![binding], Box::new(e)))
    }

    /// The value of an expression without inner structure that does not leave.
    fn deliver(&mut self, e: Expr, then: Option<Then>) -> Expr {
        let Some(Then { label, gets }) = then else { return e };
        match (e, gets) {
            (e @ Expr::Jump(..), _) => e,
            (Expr::Const(_) | Expr::Local(_), Gets::Nothing) => Expr::Jump(label, Vec::new()),
            (e, Gets::Nothing) => Expr::Seq(vec![e, Expr::Jump(label, Vec::new())]),
            (e, Gets::Value) => Expr::Jump(label, vec![e]),
            (e, Gets::Values(count, more, site)) => {
                let params: Vec<VarId> = (0..count).map(|_| self.program.fresh_var("value")).collect();
                let rest = more.then(|| self.program.fresh_var("values"));
                let args = params.iter().chain(&rest).map(|v| Expr::Local(*v)).collect();
                let clause = Box::new(Clause { params, rest, body: Expr::Jump(label, args) });
                Expr::Receive { producer: Box::new(e), clause, site }
            }
        }
    }

    /// `e`, then `rest`, whose parameters get its value.
    fn join(&mut self, e: Expr, gets: Gets, params: Vec<VarId>, rest: Expr) -> Expr {
        let label = self.program.fresh_label();
        let e = self.place(e, Some(Then { label, gets }));
        Expr::Labels(vec![Label { id: label, params, body: rest }], Box::new(e))
    }
}

fn sequence(mut es: Vec<Expr>) -> Expr {
    if es.len() == 1 { es.pop().expect("one") } else { Expr::Seq(es) }
}
