//! Every cycle that control can take has a safepoint: see [`crate::safepoints`] for which cycles there are.
//!
//! A graph without cycles loses all its nodes when those that nothing leads to are taken away again and again; what
//! stays lies on cycles or behind them.

use super::reads;
use crate::ir::*;

/// Complaints about cycles without a safepoint.
pub fn without_safepoint(m: &Module) -> Vec<String> {
    let mut errors = vec![];
    for f in &m.functions {
        let quiet = |b: usize| !f.blocks[b].stmts.iter().any(Stmt::stops);
        let edges: Vec<Vec<usize>> = (0..f.blocks.len())
            .map(|b| if quiet(b) { reads::next(&f.blocks[b].term) } else { vec![] })
            .map(|to| to.into_iter().filter(|s| quiet(*s)).collect())
            .collect();
        if let Some(b) = on_a_cycle(&edges) {
            errors.push(format!("{} b{b}: a loop has no safepoint", f.name));
        }
    }
    if !errors.is_empty() {
        return errors;
    }
    // The last node stands for all procedures that may be called as values.
    let unknown = m.functions.len();
    let mut edges: Vec<Vec<usize>> = m.functions.iter().map(|f| quiet_exits(m, f, unknown)).collect();
    let entry = |f: &Function| f.in_use() && matches!(f.kind, FuncKind::Entry { .. });
    edges.push((0..unknown).filter(|f| entry(&m.functions[*f])).collect());
    if let Some(f) = on_a_cycle(&edges) {
        let name = m.functions.get(f).map_or("unknown procedures", |f| &f.name);
        errors.push(format!("{name}: control may come back for ever without a safepoint"));
    }
    errors
}

/// The functions that control may go to from `f`, with no fewer frames, having passed no safepoint in it; with any
/// number of frames, where that may grow without a check.
fn quiet_exits(m: &Module, f: &Function, unknown: usize) -> Vec<usize> {
    if let FuncKind::Entry { clauses, .. } = &f.kind {
        return clauses.iter().map(|c| c.body.0 as usize).collect();
    }
    let unchecked = !m.strategy.limit_check && !m.strategy.frames_in_heap;
    let called = |callee: &Callee| match callee {
        Callee::Known(g, _) | Callee::Unknown(Operand::Procedure(g)) => g.0 as usize,
        _ => unknown,
    };
    let mut quiet = vec![false; f.blocks.len()];
    let mut out = vec![];
    let mut work = vec![0];
    while let Some(b) = work.pop() {
        let Block { stmts, term } = &f.blocks[b];
        if quiet[b] || stmts.iter().any(Stmt::stops) {
            continue;
        }
        quiet[b] = true;
        work.extend(reads::next(term));
        match (term, &f.kind) {
            (Term::Call { ret, callee, .. }, _) => {
                out.push(ret.0 as usize);
                if unchecked {
                    out.push(called(callee));
                }
            }
            (Term::TailCall { callee, .. }, FuncKind::Body { .. }) => out.push(called(callee)),
            (Term::TailCall { callee, .. }, _) if unchecked => out.push(called(callee)),
            _ => {}
        }
    }
    out
}

/// The first node that lies on a cycle, if there is one.
fn on_a_cycle(edges: &[Vec<usize>]) -> Option<usize> {
    let behind = remaining(edges);
    let mut reversed = vec![vec![]; edges.len()];
    for (from, to) in edges.iter().enumerate() {
        to.iter().for_each(|t| reversed[*t].push(from));
    }
    let before = remaining(&reversed);
    (0..edges.len()).find(|n| behind[*n] && before[*n])
}

/// What stays when nodes without edges to them are taken away again and again.
fn remaining(edges: &[Vec<usize>]) -> Vec<bool> {
    let mut into = vec![0usize; edges.len()];
    edges.iter().flatten().for_each(|t| into[*t] += 1);
    let mut stays = vec![true; edges.len()];
    let mut work: Vec<usize> = (0..edges.len()).filter(|n| into[*n] == 0).collect();
    while let Some(n) = work.pop() {
        stays[n] = false;
        for &t in &edges[n] {
            into[t] -= 1;
            if into[t] == 0 {
                work.push(t);
            }
        }
    }
    stays
}
