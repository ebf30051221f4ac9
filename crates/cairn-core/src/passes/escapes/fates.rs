//! What becomes of each continuation whose receiver is known: which calls of it can be returns, and of which one use
//! is enough.
//!
//! The problem: a continuation goes where its variable goes, through procedures and closures. The idea: facts about
//! variables and lambdas start as true; what is seen of them refutes some, and what needs those falls with them.
//!
//! Invariant: a fact that is not refuted holds in every run.

use super::captures::{Captures, takes_one};
use crate::ir::{Expr, LabelId, Lambda, Program, Shots, TopForm, VarId};
use crate::passes::known::GlobalFacts;
use crate::prim::{Op, PrimOp};
use crate::walk::{deep, for_each_child, select_clause, visit};
use rustc_hash::{FxHashMap, FxHashSet};

/// What becomes of a continuation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fate {
    /// Calls of it can be returns: as they stand, or when the rest has become join points.
    pub(super) returns: Option<Returns>,
    /// One use is enough.
    pub(super) once: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Returns {
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

pub(super) struct Scan<'a> {
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
    pub(super) fn new(program: &'a Program, facts: &'a GlobalFacts, captures: &'a Captures) -> Scan<'a> {
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

    pub(super) fn fates(mut self) -> FxHashMap<VarId, Fate> {
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
