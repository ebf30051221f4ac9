//! The walk: evaluation order, control flow, procedures, and the slots that tie the walks together.

use super::complex::Split;
use super::lattice::{Slot, Type, bits::*};
use super::peel;
use super::version::{self, Versions};
use crate::effects;
use crate::ir::{Clause, Expr, GlobalId, Label, LabelId, Lambda, Program, TopForm, VarId, VarInfo};
use crate::passes::known::{self, GlobalFacts, Known};
use crate::prim::{Op, PrimOp};
use crate::walk::{deep, take};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

pub(super) fn run(program: &mut Program) {
    let facts = known::analyze(program);
    let forms = std::mem::take(&mut program.forms);
    let mut types = Types::new(program, facts, &forms);
    types.speculating = true;
    let mut forms = types.all(forms);
    program.vars.append(&mut types.fresh);
    if !types.peels.is_empty() {
        peel::run(program, &mut forms, &types.peels);
    }
    if !types.versions.is_empty() {
        version::run(program, &mut forms, &types.versions);
    }
    if types.speculated {
        // the fast paths of speculated trees still have generic operations; parameters are split in code without dead branches
        let facts = std::mem::take(&mut types.facts);
        let mut types = Types::new(program, facts, &forms);
        forms = types.all(forms);
        program.vars.append(&mut types.fresh);
    }
    program.forms = forms;
}

/// What is known about a procedure that is called by name.
struct Procedure {
    /// Parameters and rest parameter of each clause.
    clauses: Vec<(Vec<VarId>, Option<VarId>)>,
    /// Clauses that are called by some code reached so far.
    reached: Vec<bool>,
    /// May be called by code we do not see.
    escaped: bool,
    result: Slot,
    /// The form it is defined in.
    form: usize,
    /// Forms that use the result.
    callers: Vec<usize>,
}

/// What is known about a label.
#[derive(Default)]
struct Target {
    params: Vec<VarId>,
    reached: bool,
    /// Some jump to it comes from its own body or a later one: what other jumps know may not hold.
    looping: bool,
    /// In this walk, its body has been entered.
    entered: bool,
    /// The trail and the clock where its `Labels` begins.
    mark: (usize, u32),
    /// In the last walk: the types of the arguments of jumps after it was entered.
    inner: Vec<Type>,
    /// What all jumps seen in this walk know.
    facts: Option<Vec<(VarId, Type)>>,
}

/// Jumps that know more say nothing: comparing facts must stay cheap.
const MAX_FACTS: usize = 64;

pub(super) struct Types {
    pub(super) facts: GlobalFacts,
    /// What holds here, indexed by `VarId`.
    pub(super) env: Vec<Type>,
    /// Facts to take back when leaving a branch: the variable and what held before.
    trail: Vec<(VarId, Type)>,
    /// When a variable was bound, in ticks of `clock`.
    born: Vec<u32>,
    clock: u32,
    /// Types of parameters of labels and of known procedures; contents of boxes. Indexed by `VarId`.
    slots: Vec<Slot>,
    /// The fixnums that parameters are tested for.
    constants: FxHashMap<VarId, Vec<i64>>,
    /// Boxes whose every use is seen.
    boxes: FxHashMap<VarId, bool>,
    procedures: Vec<Procedure>,
    /// Index into `procedures`, plus one.
    local_procedure: Vec<u32>,
    global_procedure: Vec<u32>,
    /// Length of the trail where a local procedure was bound.
    marks: FxHashMap<u32, usize>,
    /// Contents of other globals.
    globals: Vec<Slot>,
    /// Forms that read them.
    readers: Vec<Vec<usize>>,
    /// Some definition is in the program.
    defined: Vec<bool>,
    labels: FxHashMap<LabelId, Target>,
    queue: VecDeque<usize>,
    queued: Vec<bool>,
    form: usize,
    /// The form must be walked again.
    again: bool,
    /// Last walk: rewrite.
    pub(super) rewriting: bool,
    /// The rewriting walk may speculate, and did.
    pub(super) speculating: bool,
    pub(super) speculated: bool,
    /// The expression being walked is an operand inside an arithmetic tree.
    pub(super) inside_tree: bool,
    /// Some flonum is stored in some object: what comes out of objects may be one.
    pub(super) stored_flonums: bool,
    /// Answers of the tests around the expression being walked.
    answers: Vec<(Question, bool)>,
    /// Loops whose first iteration gets a copy.
    pub(super) peels: FxHashSet<LabelId>,
    /// Loops and procedures that get a body for fixnums.
    pub(super) versions: Versions,
    /// Which parameters of loops are to be doubles.
    pub(super) doubles: FxHashMap<LabelId, Vec<bool>>,
    /// Labels some of whose parameters become two.
    pub(super) splits: FxHashMap<LabelId, Split>,
    /// Variables made by this pass; they come after those of the program.
    fresh: Vec<VarInfo>,
}

impl Types {
    fn new(program: &Program, facts: GlobalFacts, forms: &[TopForm]) -> Types {
        let (vars, globals) = (program.vars.len(), program.globals.len());
        let mut t = Types {
            facts,
            env: vec![Type::ANY; vars],
            trail: Vec::new(),
            born: vec![0; vars],
            clock: 0,
            slots: vec![Slot::default(); vars],
            constants: compared_constants(forms),
            boxes: FxHashMap::default(),
            procedures: Vec::new(),
            local_procedure: vec![0; vars],
            global_procedure: vec![0; globals],
            marks: FxHashMap::default(),
            globals: vec![Slot::default(); globals],
            readers: vec![Vec::new(); globals],
            defined: vec![false; globals],
            labels: FxHashMap::default(),
            queue: VecDeque::new(),
            queued: vec![false; forms.len()],
            form: 0,
            again: false,
            rewriting: false,
            speculating: false,
            speculated: false,
            inside_tree: false,
            stored_flonums: false,
            answers: Vec::new(),
            peels: FxHashSet::default(),
            versions: Versions::default(),
            doubles: FxHashMap::default(),
            splits: FxHashMap::default(),
            fresh: Vec::new(),
        };
        for (i, form) in forms.iter().enumerate() {
            if let TopForm::Define(g, e) = form {
                t.defined[g.0 as usize] = true;
                if let (Expr::Lambda(l), Known::Lambda { .. }) = (e, &t.facts.get(*g).value) {
                    t.global_procedure[g.0 as usize] = t.procedure(l, i);
                    continue;
                }
            }
            t.enqueue(i);
        }
        t
    }

    /// Walks until nothing grows, then rewrites.
    fn all(&mut self, mut forms: Vec<TopForm>) -> Vec<TopForm> {
        while let Some(i) = self.queue.pop_front() {
            self.queued[i] = false;
            self.form(i, &mut forms[i]);
        }
        self.rewriting = true;
        for (i, form) in forms.iter_mut().enumerate() {
            self.form(i, form);
            self.drop_whole_jumps(form.expr_mut());
        }
        debug_assert!(self.queue.is_empty(), "the last walk found something new");
        forms
    }

    fn form(&mut self, i: usize, form: &mut TopForm) {
        self.form = i;
        loop {
            self.again = false;
            match form {
                TopForm::Define(g, Expr::Lambda(l)) if self.global_procedure[g.0 as usize] != 0 => {
                    self.procedure_body(self.global_procedure[g.0 as usize], l);
                }
                TopForm::Define(g, e) => {
                    let g = *g;
                    let t = self.expr(e);
                    self.grow_global(g, t);
                }
                TopForm::Expr(e) => {
                    self.expr(e);
                }
            }
            self.undo(0);
            if !self.again || self.rewriting {
                break;
            }
        }
    }

    fn enqueue(&mut self, form: usize) {
        if !std::mem::replace(&mut self.queued[form], true) {
            self.queue.push_back(form);
        }
    }

    /// A variable for an intermediate result.
    pub(super) fn fresh(&mut self) -> VarId {
        self.fresh.push(VarInfo { name: "leaf".into(), assigned: false });
        self.env.push(Type::ANY);
        VarId(self.env.len() as u32 - 1)
    }

    // --- facts about variables

    /// Binds `v`.
    pub(super) fn bind(&mut self, v: VarId, t: Type) {
        self.clock += 1;
        self.born[v.0 as usize] = self.clock;
        self.env[v.0 as usize] = t;
    }

    /// From here on, `v` has type `t`, which is within what was known.
    pub(super) fn refine(&mut self, v: VarId, t: Type) {
        let old = std::mem::replace(&mut self.env[v.0 as usize], t);
        if old != t {
            self.trail.push((v, old));
        }
    }

    /// Where the trail and the clock are.
    pub(super) fn mark(&self) -> (usize, u32) {
        (self.trail.len(), self.clock)
    }

    fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            if let Some((v, t)) = self.trail.pop() {
                self.env[v.0 as usize] = t;
            }
        }
    }

    /// Takes back the facts since `mark`; returns them for variables bound before `clock`.
    pub(super) fn leave(&mut self, mark: usize, clock: u32) -> Vec<(VarId, Type)> {
        let mut facts: Vec<(VarId, Type)> = Vec::new();
        while self.trail.len() > mark {
            let Some((v, old)) = self.trail.pop() else { break };
            let now = std::mem::replace(&mut self.env[v.0 as usize], old);
            if self.born[v.0 as usize] <= clock {
                facts.push((v, now));
            }
        }
        // the last fact about a variable is the strongest and came off the trail first
        let mut seen = rustc_hash::FxHashSet::default();
        facts.retain(|(v, _)| seen.insert(*v));
        facts
    }

    pub(super) fn assume(&mut self, facts: &[(VarId, Type)]) {
        for (v, t) in facts {
            let t = self.env[v.0 as usize].meet(*t);
            self.refine(*v, t);
        }
    }

    // --- slots

    fn grow_local(&mut self, v: VarId, t: Type) {
        self.again |= self.grow_slot(v, t);
    }

    pub(super) fn is_loop(&self, l: LabelId) -> bool {
        self.labels.get(&l).is_some_and(|t| t.looping)
    }

    /// Types of the arguments of jumps to the label from its own body, in the last walk.
    pub(super) fn inner_types(&self, l: LabelId) -> Option<&[Type]> {
        self.labels.get(&l).map(|t| &t.inner[..]).filter(|t| !t.is_empty())
    }

    pub(super) fn slot_type(&self, v: VarId) -> Type {
        self.slots[v.0 as usize].ty
    }

    fn grow_slot(&mut self, v: VarId, t: Type) -> bool {
        let constants = self.constants.get(&v).map_or(&[][..], |c| c);
        self.slots[v.0 as usize].grow(t, constants)
    }

    fn grow_global(&mut self, g: GlobalId, t: Type) {
        if self.globals[g.0 as usize].grow(t, &[]) {
            for f in self.readers[g.0 as usize].clone() {
                self.enqueue(f);
            }
        }
    }

    // --- procedures

    fn procedure(&mut self, l: &Lambda, form: usize) -> u32 {
        self.procedures.push(Procedure {
            clauses: l.clauses.iter().map(|c| (c.params.clone(), c.rest)).collect(),
            reached: vec![false; l.clauses.len()],
            escaped: false,
            result: Slot::default(),
            form,
            callers: Vec::new(),
        });
        self.procedures.len() as u32
    }

    fn touch(&mut self, form: usize) {
        if form == self.form {
            self.again = true;
        } else {
            self.enqueue(form);
        }
    }

    fn escape(&mut self, p: u32) {
        let Some(i) = (p as usize).checked_sub(1) else { return };
        if std::mem::replace(&mut self.procedures[i].escaped, true) {
            return;
        }
        let proc = &mut self.procedures[i];
        proc.reached.fill(true);
        let form = proc.form;
        for (params, rest) in proc.clauses.clone() {
            for v in params {
                self.grow_slot(v, Type::ANY);
            }
            if let Some(v) = rest {
                self.grow_slot(v, Type::of(NULL | PAIR));
            }
        }
        self.touch(form);
    }

    /// A call of a known procedure.
    fn call_known(&mut self, p: u32, types: &[Type]) -> Type {
        let i = p as usize - 1;
        let n = types.len();
        let fits = |(params, rest): &(Vec<VarId>, Option<VarId>)| {
            params.len() == n || (rest.is_some() && params.len() <= n)
        };
        let Some(k) = self.procedures[i].clauses.iter().position(fits) else { return Type::NONE };
        let (params, rest) = self.procedures[i].clauses[k].clone();
        let mut changed = !std::mem::replace(&mut self.procedures[i].reached[k], true);
        for (v, t) in params.iter().zip(types) {
            changed |= self.grow_slot(*v, *t);
        }
        if let Some(v) = rest {
            let t = Type::of(if n > params.len() { PAIR } else { NULL });
            changed |= self.grow_slot(v, t);
        }
        let form = self.procedures[i].form;
        if changed {
            self.touch(form);
        }
        let here = self.form;
        let callers = &mut self.procedures[i].callers;
        if form != here && !callers.contains(&here) {
            callers.push(here);
        }
        self.procedures[i].result.ty
    }

    /// Walks the clauses of a known procedure that are called.
    fn procedure_body(&mut self, p: u32, l: &mut Lambda) {
        let i = p as usize - 1;
        for (k, c) in l.clauses.iter_mut().enumerate() {
            if !self.procedures[i].reached[k] {
                continue;
            }
            for v in c.params.iter().chain(&c.rest) {
                self.bind(*v, self.slots[v.0 as usize].ty);
            }
            let t = self.body(&mut c.body);
            if self.rewriting && self.speculating {
                self.plan_procedure(p, c);
            }
            let proc = &mut self.procedures[i];
            if proc.result.grow(t, &[]) {
                for f in std::mem::take(&mut proc.callers) {
                    self.enqueue(f);
                }
                let form = self.procedures[i].form;
                self.touch(form);
            }
        }
    }

    /// Walks a procedure that anybody may call.
    fn unknown_lambda(&mut self, l: &mut Lambda) {
        l.clauses.iter_mut().for_each(|c| self.unknown_clause(c));
    }

    /// Walks a body; facts found in it stay there.
    fn body(&mut self, e: &mut Expr) -> Type {
        let mark = self.trail.len();
        let t = self.expr(e);
        self.undo(mark);
        t
    }

    // --- expressions

    /// The type of the value of `e`; `NONE` when it never returns normally.
    pub(super) fn expr(&mut self, e: &mut Expr) -> Type {
        deep(|| self.expr_here(e))
    }

    fn expr_here(&mut self, e: &mut Expr) -> Type {
        match e {
            Expr::Const(l) => {
                self.stored_flonums |= has_flonum(l);
                Type::literal(l)
            }
            Expr::Local(v) => {
                let v = *v;
                self.escape(self.local_procedure[v.0 as usize]);
                if let Some(seen) = self.boxes.get_mut(&v)
                    && std::mem::replace(seen, false)
                {
                    self.again = true;
                }
                self.env[v.0 as usize]
            }
            Expr::Global(g, _) => {
                let g = *g;
                match self.global_procedure[g.0 as usize] {
                    0 => self.global(g),
                    p => {
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
                let mut t = Type::UNSPECIFIED;
                for e in es {
                    t = self.expr(e);
                    if t.is_none() {
                        break;
                    }
                }
                t
            }
            Expr::Let(bs, body) => {
                if !self.bindings(bs) {
                    return Type::NONE;
                }
                let t = self.expr(body);
                for (v, e) in bs {
                    if let (Expr::Lambda(l), p @ 1..) = (e, self.local_procedure[v.0 as usize]) {
                        self.later(p, l);
                    }
                }
                t
            }
            Expr::Letrec(bs, body) => {
                for (v, _) in bs.iter() {
                    self.bind(*v, Type::ANY);
                }
                for (_, e) in bs {
                    self.expr(e);
                }
                self.expr(body)
            }
            Expr::Fix(bs, body) => {
                for (v, l) in bs.iter() {
                    self.name(*v, l);
                }
                let t = self.expr(body);
                for (v, l) in bs {
                    self.later(self.local_procedure[v.0 as usize], l);
                }
                t
            }
            Expr::Lambda(l) => {
                self.unknown_lambda(l);
                Type::of(PROCEDURE)
            }
            Expr::Call(f, args, _) => self.call(f, args),
            Expr::Apply(f, args, _) => {
                let mut dead = self.expr(f).is_none();
                for a in args.iter_mut() {
                    dead |= self.expr(a).is_none();
                }
                if dead { Type::NONE } else { Type::ANY }
            }
            Expr::Prim { .. } => self.prim(e).0,
            Expr::Values(es) => {
                let mut one = Type::ANY;
                let n = es.len();
                for e in es {
                    let t = self.expr(e);
                    if t.is_none() {
                        return t;
                    }
                    one = t;
                }
                if n == 1 { one } else { Type::ANY }
            }
            Expr::Receive { producer, clause, .. } => {
                if self.expr(producer).is_none() {
                    return Type::NONE;
                }
                for v in &clause.params {
                    self.bind(*v, Type::ANY);
                }
                if let Some(v) = clause.rest {
                    self.bind(v, Type::of(NULL | PAIR));
                }
                self.expr(&mut clause.body)
            }
            Expr::CallCc(f, _) => {
                // a call, and a place where anything may come back
                if let Expr::Local(_) | Expr::Global(..) = **f {
                    self.expr(f);
                } else if let Expr::Lambda(l) = &mut **f {
                    for c in &mut l.clauses {
                        if let ([k], None) = (&c.params[..], c.rest) {
                            self.bind(*k, Type::of(PROCEDURE));
                            self.body(&mut c.body);
                        } else {
                            self.unknown_clause(c);
                        }
                    }
                } else {
                    self.expr(f);
                }
                Type::ANY
            }
            Expr::Labels(labels, body) => self.labels(labels, body),
            Expr::Jump(l, args) => {
                let types = args.iter_mut().map(|a| self.expr(a)).collect::<Vec<_>>();
                if types.iter().any(|t| t.is_none()) {
                    return Type::NONE;
                }
                self.jump(*l, &types);
                self.pass_doubles(*l, args);
                if self.splits.contains_key(l) {
                    let (l, args) = (*l, std::mem::take(args));
                    *e = self.split_jump(l, args);
                }
                Type::NONE
            }
        }
    }

    fn unknown_clause(&mut self, c: &mut Clause) {
        for v in &c.params {
            self.bind(*v, Type::ANY);
        }
        if let Some(v) = c.rest {
            self.bind(v, Type::of(NULL | PAIR));
        }
        self.body(&mut c.body);
    }

    /// Walks the lambda of a procedure after the scope of its name, whose calls were then seen. Facts of the scope
    /// are about the same variables but may not hold when the procedure was called, so they are taken back meanwhile.
    fn later(&mut self, p: u32, l: &mut Lambda) {
        let mark = self.marks.get(&p).copied().unwrap_or(0);
        let clock = self.clock;
        let facts = self.leave(mark, clock);
        self.procedure_body(p, l);
        for (v, t) in facts {
            self.refine(v, t);
        }
    }

    /// Gives a lambda a name by which its calls are known.
    fn name(&mut self, v: VarId, l: &Lambda) {
        self.bind(v, Type::of(PROCEDURE));
        if self.local_procedure[v.0 as usize] == 0 {
            self.local_procedure[v.0 as usize] = self.procedure(l, self.form);
        }
        let p = self.local_procedure[v.0 as usize];
        self.marks.insert(p, self.trail.len());
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
                    self.boxes.entry(*v).or_insert(true);
                    self.grow_local(*v, t);
                    self.bind(*v, Type::of(BOX));
                }
                e => {
                    let t = self.expr(e);
                    if t.is_none() {
                        return false;
                    }
                    self.bind(*v, t);
                }
            }
        }
        true
    }

    /// Is `v` bound to a fresh box?
    pub(super) fn is_box(&self, v: VarId) -> bool {
        self.boxes.contains_key(&v)
    }

    /// Contents of a box whose uses are all seen, else `ANY`.
    pub(super) fn contents(&mut self, v: VarId) -> Type {
        if self.boxes.get(&v) == Some(&true) { self.slots[v.0 as usize].ty } else { Type::ANY }
    }

    /// A store into the box bound to `v`.
    pub(super) fn store(&mut self, v: VarId, t: Type) {
        if self.boxes.contains_key(&v) {
            self.grow_local(v, t);
        }
    }

    fn global(&mut self, g: GlobalId) -> Type {
        let at = g.0 as usize;
        if !self.defined[at] {
            return Type::ANY;
        }
        if !self.readers[at].contains(&self.form) {
            self.readers[at].push(self.form);
        }
        self.globals[at].ty
    }

    /// The procedure that `f` names, 0 if none is known.
    pub(super) fn procedure_of(&self, f: &Expr) -> u32 {
        match f {
            Expr::Local(v) => self.local_procedure[v.0 as usize],
            Expr::Global(g, _) => self.global_procedure[g.0 as usize],
            _ => 0,
        }
    }

    fn call(&mut self, f: &mut Expr, args: &mut [Expr]) -> Type {
        let p = self.procedure_of(f);
        let mut dead = p == 0 && self.expr(f).is_none();
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
        if p != 0 {
            return self.call_known(p, &types);
        }
        if let Expr::Local(v) = f {
            let t = self.env[v.0 as usize].only(PROCEDURE);
            if t.is_none() {
                return t;
            }
            self.refine(*v, t);
        }
        Type::ANY
    }

    fn jump(&mut self, l: LabelId, types: &[Type]) {
        let Some(target) = self.labels.get_mut(&l) else { return };
        self.again |= !std::mem::replace(&mut target.reached, true);
        if target.entered {
            self.again |= !std::mem::replace(&mut target.looping, true);
            if self.rewriting {
                target.inner.resize(types.len(), Type::NONE);
                target.inner.iter_mut().zip(types).for_each(|(t, u)| *t = t.join(*u));
            }
        } else if !target.looping {
            let (mark, clock) = target.mark;
            let mut known = Vec::new();
            if self.trail.len() - mark <= MAX_FACTS {
                for (v, _) in &self.trail[mark..] {
                    if self.born[v.0 as usize] <= clock && !known.iter().any(|(k, _)| k == v) {
                        known.push((*v, self.env[v.0 as usize]));
                    }
                }
            }
            target.facts = Some(match target.facts.take() {
                Some(facts) => either(&facts, &known),
                None => known,
            });
        }
        for (v, t) in target.params.clone().into_iter().zip(types) {
            self.grow_local(v, *t);
        }
    }

    fn labels(&mut self, labels: &mut [Label], body: &mut Expr) -> Type {
        if self.rewriting {
            self.plan_doubles(labels);
            if !self.speculating {
                self.plan_splits(labels);
            }
        }
        let (mark, clock) = self.mark();
        for l in labels.iter() {
            let target = self.labels.entry(l.id).or_default();
            if target.params.is_empty() {
                target.params.clone_from(&l.params);
            }
            (target.entered, target.mark, target.facts) = (false, (mark, clock), None);
        }
        let mut t = self.expr(body);
        let facts = self.leave(mark, clock);
        let mut exit = (!t.is_none()).then_some(facts);
        let alone = labels.len() == 1;
        for l in labels.iter_mut() {
            let Some(target) = self.labels.get_mut(&l.id).filter(|t| t.reached) else { continue };
            target.entered = true;
            let facts = target.facts.take().filter(|_| !target.looping).unwrap_or_default();
            self.assume(&facts);
            for v in &l.params {
                self.bind(*v, self.slots[v.0 as usize].ty);
            }
            let value = self.expr(&mut l.body);
            if self.rewriting && self.speculating {
                if alone && self.stabilizes(l) {
                    self.peels.insert(l.id);
                    self.speculated = true;
                }
                let splittable = self.splittable(l).any(|s| s);
                self.speculated |= splittable;
            }
            self.split_label(l);
            t = t.join(value);
            let facts = self.leave(mark, clock);
            if self.rewriting && self.speculating && alone && !self.peels.contains(&l.id) {
                self.plan_loop(l);
            }
            if !value.is_none() {
                exit = Some(match exit {
                    Some(before) => either(&before, &facts),
                    None => facts,
                });
            }
        }
        self.assume(&exit.unwrap_or_default());
        t
    }

    fn if_(&mut self, e: &mut Expr) -> Type {
        let Expr::If(test, then, other) = e else { return Type::ANY };
        let question = Question::of(test);
        let outcome = self.test(test);
        if outcome.ty.is_none() {
            return Type::NONE;
        }
        let (mark, clock) = (self.trail.len(), self.clock);
        let branch = |t: &mut Self, answer: bool, e: &mut Expr| {
            let (kinds, facts) = if answer { (ANY & !FALSE, &outcome.then) } else { (FALSE, &outcome.other) };
            t.assume(facts);
            let impossible = !outcome.ty.may_be(kinds) || facts.iter().any(|(v, _)| t.env[v.0 as usize].is_none());
            let answers = t.answers.len();
            t.answers.extend(question.map(|q| (q, answer)));
            let ty = if impossible { Type::NONE } else { t.expr(e) };
            t.answers.truncate(answers);
            (!impossible, ty, t.leave(mark, clock))
        };
        let (then_possible, a, then_facts) = branch(self, true, then);
        let (other_possible, b, other_facts) = branch(self, false, other);
        match (a.is_none(), b.is_none()) {
            (false, false) => self.assume(&either(&then_facts, &other_facts)),
            (false, true) => self.assume(&then_facts),
            (true, false) => self.assume(&other_facts),
            (true, true) => {}
        }
        if self.rewriting && then_possible != other_possible {
            let taken = take(if then_possible { then } else { other });
            let test = take(test);
            *e = if self.discardable(&test) { taken } else { Expr::Seq(vec![test, taken]) };
        }
        a.join(b)
    }

    pub(super) fn discardable(&self, e: &Expr) -> bool {
        effects::discardable(e, &|g| self.facts.read_effects(g))
    }
}

/// A comparison of variables and small constants: asked again, the answer is the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Question(Op, [Operand; 2]);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operand {
    Var(VarId),
    Fixnum(i64),
    Char(char),
}

/// The fixnums that variables are tested for equality with.
fn compared_constants(forms: &[TopForm]) -> FxHashMap<VarId, Vec<i64>> {
    let mut constants: FxHashMap<VarId, Vec<i64>> = FxHashMap::default();
    for form in forms {
        let (TopForm::Define(_, e) | TopForm::Expr(e)) = form;
        crate::walk::visit(e, &mut |e| {
            if let Some(Question(Op::NumEq | Op::FxEq | Op::Eq | Op::Eqv, operands)) = Question::of(e)
                && let [Operand::Var(v), Operand::Fixnum(n)] | [Operand::Fixnum(n), Operand::Var(v)] = operands
            {
                constants.entry(v).or_default().push(n);
            }
        });
    }
    constants
}

/// How many answers are looked at.
const MEMORY: usize = 16;

impl Question {
    pub(super) fn of(e: &Expr) -> Option<Question> {
        use Op::{CharEq, CharLt, Eq, Eqv, FxEq, FxLe, FxLt, NumEq, NumGe, NumGt, NumLe, NumLt};
        let Expr::Prim { op: PrimOp::Op(op), args, .. } = e else { return None };
        let asked =
            matches!(op, NumEq | NumLt | NumLe | NumGt | NumGe | FxEq | FxLt | FxLe | Eq | Eqv | CharEq | CharLt);
        let operand = |e: &Expr| match e {
            Expr::Local(v) => Some(Operand::Var(*v)),
            Expr::Const(crate::ir::Literal::Char(c)) => Some(Operand::Char(*c)),
            Expr::Const(l) => Some(Type::literal(l)).filter(|t| t.is_fixnum()).map(|t| Operand::Fixnum(t.lo)),
            _ => None,
        };
        match &args[..] {
            [a, b] if asked => Some(Question(*op, [operand(a)?, operand(b)?])),
            _ => None,
        }
    }
}

impl Types {
    /// The answer, if the question was asked on the way here.
    pub(super) fn answered(&self, q: Question) -> Option<bool> {
        self.answers.iter().rev().take(MEMORY).find(|(p, _)| *p == q).map(|(_, answer)| *answer)
    }
}

/// Facts that hold whichever of two ways was taken.
fn either(a: &[(VarId, Type)], b: &[(VarId, Type)]) -> Vec<(VarId, Type)> {
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let other: FxHashMap<VarId, Type> = b.iter().copied().collect();
    a.iter().filter_map(|(v, t)| other.get(v).map(|u| (*v, t.join(*u)))).collect()
}

/// Does a constant object contain a flonum? Looks at the first few elements only: it is for guessing.
fn has_flonum(l: &crate::ir::Literal) -> bool {
    use crate::ir::Literal;
    let is_flonum = |l: &Literal| Type::literal(l).is_flonum();
    match l {
        Literal::Vector(items) => items.iter().take(16).any(is_flonum),
        Literal::Pair(p) => is_flonum(&p.0) || is_flonum(&p.1),
        _ => false,
    }
}
