//! Contification: procedures that always return to the same place become labels.
//!
//! ```text
//! before  (fix ((loop (lambda loop (i acc)            after  (labels ((L0 (i acc)
//!                 (if (%fx= i 0) acc                                    (if (%fx= i 0) acc
//!                     (loop (%fx- i 1) (%cons i acc))))))                   (jump L0 (%fx- i 1) (%cons i acc)))))
//!           (%length (loop 10 '())))                            ...)
//!                                                     inside the operand: (%length (labels … (jump L0 10 '())))
//! ```
//!
//! The problem: loops and join points are written as procedures; called as such they cost a closure, a call and a
//! frame. The idea (Fluet & Weeks, *Contification using dominators*, 2001): a *region* is a maximal tree of expressions
//! in tail position with respect to each other; its root is a procedure body or an operand. Build a graph with an edge
//! from a procedure clause to each procedure it tail-calls, and from the root node through a region to each procedure
//! called in that region when the region's value is needed by something else; procedures that escape hang from the
//! root. A procedure whose immediate dominator is not the root always returns to the same continuation: the region or
//! clause that is its ancestor just below the root. There it becomes a label: where its `Fix` stands, if that is in
//! tail position of the region, else at the region's root (its free variables are in scope there, for every call is).
//!
//! So a named `let` in an operand becomes a loop in the operand; a procedure called at one place moves there; mutual
//! recursion and several regions that merge are handled by dominance. A clause of a `case-lambda` is a node of its own;
//! all clauses that are called must find their place, else the procedure stays. A clause that nobody calls goes with
//! what only it calls.
//!
//! Invariants: only `Fix`-bound procedures are moved, code is never copied; jumps are in tail position of their
//! `Labels`. Complexity: near linear (dominators after Cooper, Harvey & Kennedy, 2001).

use crate::inlined::InlineTable;
use crate::ir::{Expr, Label, LabelId, Program, VarId};
use crate::walk::{deep, each_site, for_each_child_mut, list_expr, select_clause, take};
use cairn_layout::code::Site;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

type Region = usize;
type Node = usize;
const ROOT: Node = 0;

struct Procedure {
    var: VarId,
    /// Nodes of its clauses.
    nodes: Vec<Node>,
    /// Region of the `Fix` that binds it.
    home: Region,
    /// Number of that `Fix`, outer ones first.
    fix: usize,
    escapes: bool,
}

#[derive(Default)]
struct Scan<'a> {
    procedures: Vec<Procedure>,
    lambdas: FxHashMap<VarId, (usize, &'a crate::ir::Lambda)>,
    /// Root expression of each region, and the node of the clause whose body it is.
    regions: Vec<(*const Expr, Option<Node>)>,
    /// Region of each clause node.
    clause_region: FxHashMap<Node, Region>,
    /// Tail calls: region, callee's node.
    calls: Vec<(Region, Node)>,
    nodes: usize,
    fixes: usize,
    /// Clause nodes that no call reaches; known after `targets`.
    uncalled: FxHashSet<Node>,
}

impl<'a> Scan<'a> {
    fn region(&mut self, e: &'a Expr, clause: Option<Node>) {
        if clause.is_none() {
            match e {
                Expr::Const(_) | Expr::Global(..) => return,
                Expr::Local(v) => return self.escape(*v),
                _ => {}
            }
        }
        self.regions.push((e, clause));
        let r = self.regions.len() - 1;
        if let Some(n) = clause {
            self.clause_region.insert(n, r);
        }
        self.walk(e, r);
    }

    fn walk(&mut self, e: &'a Expr, r: Region) {
        deep(|| match e {
            Expr::Const(_) | Expr::Global(..) => {}
            Expr::Local(v) => self.escape(*v),
            Expr::SetLocal(_, e) | Expr::SetGlobal(_, e, _) | Expr::CallCc(_, e, _) => self.region(e, None),
            Expr::If(a, b, c) => {
                self.region(a, None);
                self.walk(b, r);
                self.walk(c, r);
            }
            Expr::Seq(es) => {
                let (last, init) = es.split_last().expect("a sequence is not empty");
                init.iter().for_each(|e| self.region(e, None));
                self.walk(last, r);
            }
            Expr::Values(es) | Expr::Jump(_, es) => es.iter().for_each(|e| self.region(e, None)),
            Expr::Prim { args, .. } => args.iter().for_each(|e| self.region(e, None)),
            Expr::Let(bs, body) => {
                bs.iter().for_each(|(_, e)| self.region(e, None));
                self.walk(body, r);
            }
            Expr::Letrec(..) => unreachable!("letrec fixing ran before"),
            Expr::Fix(bs, body) => {
                let fix = self.fixes;
                self.fixes += 1;
                for (v, l) in bs {
                    let nodes = l.clauses.iter().map(|_| self.fresh_node()).collect();
                    self.lambdas.insert(*v, (self.procedures.len(), l));
                    self.procedures.push(Procedure { var: *v, nodes, home: r, fix, escapes: false });
                }
                for (v, l) in bs {
                    for (i, c) in l.clauses.iter().enumerate() {
                        let node = self.procedures[self.lambdas[v].0].nodes[i];
                        self.region(&c.body, Some(node));
                    }
                }
                self.walk(body, r);
            }
            Expr::Lambda(l) => l.clauses.iter().for_each(|c| self.region(&c.body, None)),
            Expr::Call(f, es, _) => {
                match &**f {
                    Expr::Local(v) => {
                        if let Some((p, l)) = self.lambdas.get(v) {
                            match select_clause(l, es.len()) {
                                Some(i) => self.calls.push((r, self.procedures[*p].nodes[i])),
                                None => self.escape(*v), // raises when called
                            }
                        }
                    }
                    f => self.region(f, None),
                }
                es.iter().for_each(|e| self.region(e, None));
            }
            Expr::Apply(f, es, _) => {
                self.region(f, None);
                es.iter().for_each(|e| self.region(e, None));
            }
            Expr::Receive { producer, clause, .. } => {
                self.region(producer, None);
                self.walk(&clause.body, r);
            }
            Expr::Labels(ls, body) => {
                ls.iter().for_each(|l| self.walk(&l.body, r));
                self.walk(body, r);
            }
        })
    }

    fn escape(&mut self, v: VarId) {
        if let Some((p, _)) = self.lambdas.get(&v) {
            self.procedures[*p].escapes = true;
        }
    }

    fn fresh_node(&mut self) -> Node {
        self.nodes += 1;
        self.nodes // node 0 is the root
    }

    /// For each procedure: what becomes of it.
    fn targets(&mut self) -> Vec<Fate> {
        // nodes of regions that are not bodies of named clauses come after the clause nodes
        let mut region_node: Vec<Option<Node>> = self.regions.iter().map(|(_, n)| *n).collect();
        let mut node_region: FxHashMap<Node, Region> = self.clause_region.clone();
        let mut count = self.nodes + 1;
        let mut edges: Vec<Vec<Node>> = vec![Vec::new(); count];
        for (r, callee) in &self.calls {
            let from = *region_node[*r].get_or_insert_with(|| {
                node_region.insert(count, *r);
                edges.push(Vec::new());
                edges[ROOT].push(count);
                count += 1;
                count - 1
            });
            edges[from].push(*callee);
        }
        let mut rooted = vec![false; self.procedures.len()];
        loop {
            for (p, done) in self.procedures.iter().zip(&mut rooted) {
                if p.escapes && !std::mem::replace(done, true) {
                    edges[ROOT].extend(&p.nodes);
                }
            }
            let dominators = dominators(&edges);
            let mut changed = false;
            let targets = self
                .procedures
                .iter_mut()
                .map(|p| {
                    if p.escapes {
                        return Fate::Stays;
                    }
                    let mut target = None;
                    for n in &p.nodes {
                        let mut up = match dominators[*n] {
                            None => continue, // never called
                            Some(ROOT) => {
                                changed = true;
                                p.escapes = true;
                                return Fate::Stays;
                            }
                            Some(d) => d,
                        };
                        while let Some(d) = dominators[up]
                            && d != ROOT
                        {
                            up = d;
                        }
                        let region = node_region[&up];
                        if target.is_some_and(|t| t != region) {
                            changed = true;
                            p.escapes = true;
                            return Fate::Stays;
                        }
                        target = Some(region);
                    }
                    target.map_or(Fate::Dead, Fate::Moves)
                })
                .collect();
            if !changed {
                self.uncalled = (1..=self.nodes).filter(|n| dominators[*n].is_none()).collect();
                return targets;
            }
        }
    }
}

/// Immediate dominators; `None` for the root and for unreachable nodes.
fn dominators(edges: &[Vec<Node>]) -> Vec<Option<Node>> {
    let n = edges.len();
    // postorder numbers
    let mut number = vec![usize::MAX; n];
    let mut order = Vec::with_capacity(n);
    let mut seen = vec![false; n];
    let mut work = vec![(ROOT, 0)];
    seen[ROOT] = true;
    while let Some((v, i)) = work.pop() {
        if let Some(&w) = edges[v].get(i) {
            work.push((v, i + 1));
            if !std::mem::replace(&mut seen[w], true) {
                work.push((w, 0));
            }
        } else {
            number[v] = order.len();
            order.push(v);
        }
    }
    let mut predecessors = vec![Vec::new(); n];
    for v in &order {
        edges[*v].iter().for_each(|w| predecessors[*w].push(*v));
    }
    let mut idom: Vec<Option<Node>> = vec![None; n];
    idom[ROOT] = Some(ROOT);
    let mut changed = true;
    while changed {
        changed = false;
        for v in order.iter().rev().filter(|v| **v != ROOT) {
            let mut new: Option<Node> = None;
            for p in predecessors[*v].iter().filter(|p| idom[**p].is_some()) {
                new = Some(match new {
                    None => *p,
                    Some(mut a) => {
                        let mut b = *p;
                        while a != b {
                            while number[a] < number[b] {
                                a = idom[a].expect("processed");
                            }
                            while number[b] < number[a] {
                                b = idom[b].expect("processed");
                            }
                        }
                        a
                    }
                });
            }
            if idom[*v] != new {
                idom[*v] = new;
                changed = true;
            }
        }
    }
    idom[ROOT] = None;
    idom
}

/// What becomes of a procedure.
#[derive(Clone, Copy)]
enum Fate {
    Stays,
    /// Nobody calls it.
    Dead,
    /// Becomes labels in this region.
    Moves(Region),
}

/// Where a contified procedure goes.
struct Plan {
    labels: Vec<LabelId>,
    in_place: bool,
}

struct Rewrite {
    /// Procedures that nobody calls: dropped, for their bodies may mention moved ones.
    dead: FxHashSet<VarId>,
    /// Labels of clauses that nobody calls, likewise.
    uncalled: FxHashSet<LabelId>,
    plans: FxHashMap<VarId, Plan>,
    /// Labels to put around region roots: groups, outermost first.
    at_root: FxHashMap<*const Expr, Vec<Vec<LabelId>>>,
    /// Labels whose bodies were taken from their `Fix` and wait for their place.
    moved: FxHashMap<LabelId, Label>,
    /// The calls of each contified procedure, each with the one whose body it is in.
    entries: FxHashMap<VarId, Vec<(Site, Option<VarId>)>>,
    /// The procedure and its name, for each new label.
    origins: FxHashMap<LabelId, (VarId, Rc<str>)>,
    /// The one whose body [`Rewrite::calls`] is in.
    within: Option<VarId>,
    /// Clauses, for choosing the label of a call: parameter count and rest parameter.
    shapes: FxHashMap<VarId, Vec<(usize, bool)>>,
}

/// Runs the pass on the whole program. Returns whether anything changed.
pub fn run(program: &mut Program) -> bool {
    let mut forms = std::mem::take(&mut program.forms);
    let mut any = false;
    for form in &mut forms {
        any |= contify(program, form.expr_mut());
    }
    program.forms = forms;
    any
}

fn contify(program: &mut Program, e: &mut Expr) -> bool {
    let mut scan = Scan::default();
    scan.region(e, None);
    if scan.procedures.is_empty() {
        return false;
    }
    let targets = scan.targets();
    // the region that a region is part of once procedures have moved
    let target_of_node: FxHashMap<Node, Region> = (scan.procedures.iter().zip(&targets))
        .filter_map(|(p, fate)| match fate {
            Fate::Moves(t) => Some(p.nodes.iter().map(move |n| (*n, *t))),
            _ => None,
        })
        .flatten()
        .collect();
    let merged = |r: Region| scan.regions[r].1.and_then(|n| target_of_node.get(&n).copied()).unwrap_or(r);
    let mut rewrite = Rewrite {
        dead: FxHashSet::default(),
        uncalled: FxHashSet::default(),
        plans: FxHashMap::default(),
        at_root: FxHashMap::default(),
        moved: FxHashMap::default(),
        entries: FxHashMap::default(),
        origins: FxHashMap::default(),
        within: None,
        shapes: FxHashMap::default(),
    };
    let mut roots: Vec<(usize, Region, Vec<LabelId>)> = Vec::new();
    for (p, target) in scan.procedures.iter().zip(&targets) {
        let target = match *target {
            Fate::Stays => continue,
            Fate::Dead => {
                rewrite.dead.insert(p.var);
                continue;
            }
            Fate::Moves(target) => target,
        };
        let labels: Vec<_> = p.nodes.iter().map(|_| program.fresh_label()).collect();
        let in_place = merged(p.home) == target;
        let called = |(n, label): (&Node, &LabelId)| (!scan.uncalled.contains(n)).then_some(*label);
        if !in_place {
            roots.push((p.fix, target, p.nodes.iter().zip(&labels).filter_map(called).collect()));
        }
        rewrite
            .uncalled
            .extend(p.nodes.iter().zip(&labels).filter(|pair| called(*pair).is_none()).map(|(_, l)| *l));
        let clauses = &scan.lambdas[&p.var].1.clauses;
        rewrite.shapes.insert(p.var, clauses.iter().map(|c| (c.params.len(), c.rest.is_some())).collect());
        rewrite.plans.insert(p.var, Plan { labels, in_place });
    }
    if rewrite.plans.is_empty() && rewrite.dead.is_empty() {
        return false;
    }
    roots.sort_by_key(|(fix, ..)| *fix);
    let mut last: FxHashMap<Region, usize> = FxHashMap::default();
    for (fix, region, labels) in roots {
        let groups = rewrite.at_root.entry(scan.regions[region].0).or_default();
        if last.insert(region, fix) == Some(fix) {
            groups.last_mut().expect("just made").extend(labels);
        } else {
            groups.push(labels);
        }
    }
    rewrite.calls(e);
    rewrite.settle(e);
    rewrite.positions(&mut program.inlined, e, &mut Vec::new());
    true
}

impl Rewrite {
    /// Turns calls into jumps and `Fix` into `Labels`; moved labels stay behind with empty bodies.
    fn calls(&mut self, e: &mut Expr) {
        deep(|| {
            let groups = self.at_root.remove(&(&raw const *e));
            match e {
                Expr::Fix(bindings, body) => {
                    for (v, l) in bindings {
                        let outer = self.within;
                        if self.plans.contains_key(v) {
                            self.within = Some(*v);
                        }
                        l.clauses.iter_mut().for_each(|c| self.calls(&mut c.body));
                        self.within = outer;
                    }
                    self.calls(body);
                }
                _ => for_each_child_mut(e, &mut |c| self.calls(c)),
            }
            match e {
                Expr::Call(f, args, site) => {
                    if let Expr::Local(v) = **f
                        && let Some(plan) = self.plans.get(&v)
                    {
                        let site = *site;
                        let shapes = &self.shapes[&v];
                        let i =
                            shapes.iter().position(|(n, rest)| args.len() == *n || (*rest && args.len() >= *n));
                        let i = i.expect("calls that do not fit prevent contification");
                        let mut args = std::mem::take(args);
                        if shapes[i].1 {
                            let extra = args.split_off(shapes[i].0);
                            args.push(list_expr(extra));
                        }
                        self.entries.entry(v).or_default().push((site, self.within));
                        *e = Expr::Jump(plan.labels[i], args);
                    }
                }
                Expr::Fix(bindings, body)
                    if bindings.iter().any(|(v, _)| self.plans.contains_key(v) || self.dead.contains(v)) =>
                {
                    let (mut here, mut rest) = (Vec::new(), Vec::new());
                    for (v, l) in std::mem::take(bindings) {
                        let Some(plan) = self.plans.get(&v) else {
                            if !self.dead.contains(&v) {
                                rest.push((v, l));
                            }
                            continue;
                        };
                        for (id, c) in plan.labels.iter().zip(l.clauses) {
                            if self.uncalled.contains(id) {
                                continue;
                            }
                            self.origins.insert(*id, (v, l.name.clone()));
                            let params = c.params.into_iter().chain(c.rest).collect();
                            let label = Label { id: *id, params, body: c.body };
                            if plan.in_place {
                                here.push(label);
                            } else {
                                self.moved.insert(*id, label);
                            }
                        }
                    }
                    let mut result = take(body);
                    if !here.is_empty() {
                        result = Expr::Labels(here, Box::new(result));
                    }
                    if !rest.is_empty() {
                        result = Expr::Fix(rest, Box::new(result));
                    }
                    *e = result;
                }
                _ => {}
            }
            for group in groups.into_iter().flatten().rev() {
                let hollow =
                    |id| Label { id, params: Vec::new(), body: Expr::Const(crate::ir::Literal::Unspecified) };
                *e = Expr::Labels(group.into_iter().map(hollow).collect(), Box::new(take(e)));
            }
        })
    }

    /// Positions in procedures that are now part of other code, inner ones first. `around` are those whose labels are
    /// around `e`.
    fn positions(&self, table: &mut InlineTable, e: &mut Expr, around: &mut Vec<VarId>) {
        deep(|| {
            let Expr::Labels(labels, body) = e else {
                return for_each_child_mut(e, &mut |c| self.positions(table, c, around));
            };
            self.positions(table, body, around);
            for l in labels {
                let Some((v, name)) = self.origins.get(&l.id) else {
                    self.positions(table, &mut l.body, around);
                    continue;
                };
                around.push(*v);
                self.positions(table, &mut l.body, around);
                around.pop();
                if let Some(entry) = self.entry(table, *v, around, &mut vec![*v]) {
                    each_site(&mut l.body, false, &mut |s, nested| {
                        if !nested {
                            *s = table.inline(*s, name, entry);
                        }
                    });
                }
            }
        })
    }

    /// A call of the procedure `v` from outside: of itself, or of one that calls it in tail position.
    fn entry(&self, table: &InlineTable, v: VarId, around: &[VarId], tried: &mut Vec<VarId>) -> Option<Site> {
        let calls = self.entries.get(&v)?;
        let outside = |caller: &Option<VarId>| caller.is_none_or(|p| around.contains(&p));
        let mut found = calls.iter().filter(|(s, caller)| outside(caller) && !table.is_open(*s)).map(|(s, _)| *s);
        found.next().or_else(|| {
            calls.iter().find_map(|(_, caller)| {
                let p = caller.filter(|p| !tried.contains(p))?;
                tried.push(p);
                self.entry(table, p, around, tried)
            })
        })
    }

    /// Fills in the bodies of moved labels.
    fn settle(&mut self, e: &mut Expr) {
        if self.moved.is_empty() {
            return;
        }
        deep(|| {
            if let Expr::Labels(labels, _) = e {
                for l in labels {
                    if let Some(full) = self.moved.remove(&l.id) {
                        *l = full;
                    }
                }
            }
            for_each_child_mut(e, &mut |c| self.settle(c));
        })
    }
}
