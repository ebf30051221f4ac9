//! Which global procedures may be inlined, and in which order forms are optimized.
//!
//! * Loop breakers: a set of procedures that cuts every cycle of the mention graph. They are never inlined
//!   (Peyton Jones & Marlow 2002, "Secrets of the GHC inliner", section 4); the rest is acyclic.
//! * The order: callees before callers, so that what is copied has been optimized.
//!
//! Linear in the size of the program, except breaker selection, which is linear per breaker in the size of its
//! cycle.

use super::sizes::lambda_size;
use crate::ir::{Expr, GlobalId, Program};
use crate::passes::known::GlobalFacts;
use crate::walk::visit;
use rustc_hash::FxHashSet;

/// The plan.
pub(super) struct Plan {
    /// Indexed by form: a procedure that is never inlined.
    pub breaker: Vec<bool>,
    /// Clauses, by form and number, that call the procedure itself, where others do not: these may be inlined.
    pub recursive: FxHashSet<(usize, usize)>,
    /// All forms, callees first.
    pub order: Vec<usize>,
}

/// Plans the walk. Procedures of more than `limit` units are breakers.
pub(super) fn plan(program: &Program, facts: &GlobalFacts, limit: usize) -> Plan {
    let n = program.forms.len();
    let mut edges: Vec<Vec<u32>> = Vec::with_capacity(n);
    let mut mark = vec![usize::MAX; n];
    let mut recursive = FxHashSet::default();
    for (i, form) in program.forms.iter().enumerate() {
        let mut out = Vec::new();
        if let Expr::Lambda(l) = form.expr()
            && l.clauses.len() > 1
        {
            let calls_itself = |e: &Expr| mentions(e, |g| facts.lambda(facts.resolve(g)) == Some(i));
            let clauses: Vec<usize> = (0..l.clauses.len()).filter(|k| calls_itself(&l.clauses[*k].body)).collect();
            if clauses.len() < l.clauses.len() {
                // no edge to itself
                mark[i] = i;
                recursive.extend(clauses.into_iter().map(|k| (i, k)));
            }
        }
        visit(form.expr(), &mut |e| {
            if let Expr::Global(g, _) = e
                && let Some(f) = facts.lambda(facts.resolve(*g))
                && mark[f] != i
            {
                mark[f] = i;
                out.push(f as u32);
            }
        });
        edges.push(out);
    }
    let breaker = choose_breakers(program, facts, &edges, limit);
    let order = callees_first(&breaker, &edges);
    Plan { breaker, recursive, order }
}

fn mentions(e: &Expr, is_wanted: impl Fn(GlobalId) -> bool) -> bool {
    let mut found = false;
    visit(e, &mut |e| found |= matches!(e, Expr::Global(g, _) if is_wanted(*g)));
    found
}

/// Strongly connected components of the forms in `nodes`, following edges to `nodes` only.
struct Tarjan<'a> {
    edges: &'a [Vec<u32>],
    /// 1: unvisited; otherwise the order of the visit, counted from 2.
    index: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<u32>,
    next: u32,
    out: Vec<Vec<u32>>,
}

impl Tarjan<'_> {
    fn components(edges: &[Vec<u32>], nodes: &[u32], scratch: &mut [u32]) -> Vec<Vec<u32>> {
        // `scratch` is all zero on entry and on exit, so that small subgraphs cost nothing extra
        let mut t = Tarjan {
            edges,
            index: vec![1; nodes.len()],
            low: vec![0; nodes.len()],
            on_stack: vec![false; nodes.len()],
            stack: Vec::new(),
            next: 2,
            out: Vec::new(),
        };
        for (k, v) in nodes.iter().enumerate() {
            scratch[*v as usize] = k as u32 + 1;
        }
        for k in 0..nodes.len() {
            if t.index[k] == 1 {
                t.visit(k, nodes, scratch);
            }
        }
        for v in nodes {
            scratch[*v as usize] = 0;
        }
        t.out
    }

    /// Depth-first search with an explicit stack (chains of mentions can be long).
    fn visit(&mut self, root: usize, nodes: &[u32], local: &[u32]) {
        let mut work: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some((k, resume)) = work.pop() {
            if self.index[k] == 1 {
                self.index[k] = self.next;
                self.low[k] = self.next;
                self.next += 1;
                self.stack.push(k as u32);
                self.on_stack[k] = true;
            }
            let mut descend = None;
            for (i, t) in self.edges[nodes[k] as usize].iter().enumerate().skip(resume) {
                let Some(m) = (local[*t as usize] as usize).checked_sub(1) else { continue };
                if self.index[m] == 1 {
                    descend = Some((i + 1, m));
                    break;
                }
                if self.on_stack[m] {
                    self.low[k] = self.low[k].min(self.index[m]);
                }
            }
            if let Some((resume, m)) = descend {
                work.push((k, resume));
                work.push((m, 0));
                continue;
            }
            if self.low[k] == self.index[k] {
                let mut component = Vec::new();
                while let Some(m) = self.stack.pop() {
                    self.on_stack[m as usize] = false;
                    component.push(nodes[m as usize]);
                    if m as usize == k {
                        break;
                    }
                }
                self.out.push(component);
            } else if let Some((parent, _)) = work.last() {
                self.low[*parent] = self.low[*parent].min(self.low[k]);
            }
        }
    }
}

fn choose_breakers(program: &Program, facts: &GlobalFacts, edges: &[Vec<u32>], limit: usize) -> Vec<bool> {
    let n = program.forms.len();
    let mut breaker = vec![true; n];
    let mut sizes = vec![0; n];
    let mut nodes = Vec::new();
    for g in 0..program.globals.len() {
        if let Some(i) = facts.lambda(GlobalId(g as u32))
            && let Expr::Lambda(l) = program.forms[i].expr()
        {
            sizes[i] = lambda_size(l);
            if sizes[i] <= limit {
                breaker[i] = false;
                nodes.push(i as u32);
            }
        }
    }
    let mut scratch = vec![0; n];
    let mut work = Tarjan::components(edges, &nodes, &mut scratch);
    while let Some(mut component) = work.pop() {
        // procedures that call themselves gain nothing from inlining; then the largest
        let own = |f: &u32| edges[*f as usize].contains(f);
        let worst = component.iter().copied().max_by_key(|f| (own(f), sizes[*f as usize], std::cmp::Reverse(*f)));
        let Some(worst) = worst.filter(|f| component.len() > 1 || own(f)) else { continue };
        breaker[worst as usize] = true;
        component.retain(|f| *f != worst);
        work.extend(Tarjan::components(edges, &component, &mut scratch));
    }
    breaker
}

/// Every form once, after the inlinable procedures it mentions.
fn callees_first(breaker: &[bool], edges: &[Vec<u32>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(breaker.len());
    let mut seen = vec![false; breaker.len()];
    let mut work: Vec<(usize, usize)> = Vec::new();
    for root in 0..breaker.len() {
        if seen[root] {
            continue;
        }
        seen[root] = true;
        work.push((root, 0));
        while let Some((f, next)) = work.pop() {
            let found = edges[f].iter().enumerate().skip(next).find(|(_, t)| {
                let t = **t as usize;
                !breaker[t] && !seen[t]
            });
            match found {
                Some((k, t)) => {
                    seen[*t as usize] = true;
                    work.push((f, k + 1));
                    work.push((*t as usize, 0));
                }
                None => order.push(f),
            }
        }
    }
    order
}
