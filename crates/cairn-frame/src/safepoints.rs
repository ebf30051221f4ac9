//! Safepoints everywhere: a requested stop (a signal, a thread switch) reaches every program that runs on.
//!
//! The problem: a loop that neither allocates nor makes frames would run for ever without passing through the runtime.
//! The idea: find the cycles that control can take without a statement that [`Stmt::stops`], and put a
//! [`Stmt::StopCheck`] on each. It tests one word of the machine context; a [`Stmt::StackCheck`] tests the same word,
//! so it serves stops for nothing.
//!
//! ```text
//!  b1: if (fx= i.0 n.1) b2 else b3             b1: if (fx= i.0 n.1) b2 else b3
//!  b3: i.0 = (fx+ i.0 '1)              ──▶     b3: i.0 = (fx+ i.0 '1)
//!      goto b1                                     goto b4
//!                                              b4: if (fx= i.0 n.1) b2 else b5       the second of four copies
//!                                              …
//!                                              b10: stop live (i.0 n.1)
//!                                                   goto b1
//! ```
//!
//! Which cycles there are:
//! 1. blocks of one function;
//! 2. tail calls: bodies that go to each other, directly or through procedures that nobody knows ([`Node::Unknown`]);
//! 3. calls that take the place of the incoming frame: a return point that calls, and is returned to, and calls again.
//!
//! 4. calls, where pushing a frame asks nothing (`StrategyFacts::every_push_asks`): recursion. There the stop also says
//!    that the stack has grown.
//!
//! That these are all follows from the number of frames. A frame beyond those there are costs a stack check or, in the
//! heap, a heap check; so control that passes neither comes to a number of frames that it never goes below again. From
//! there on it goes from block to block, from body to body in tail position, or through return points that keep their
//! frame. (Continuations that are invoked bring frames back: the code of continuations has a stop check of its own. An
//! error calls procedures of the library that make frames.)
//!
//! Cost: each round is linear in the module; rounds are as many as cycles are nested, two or three.

mod copies;
mod graph;

use crate::flow::{self, FunctionFlow};
use crate::ir::*;
use crate::uses;
use copies::Copies;
use graph::{LoopGraph, stops};

/// Inserts stack checks and stop checks into all functions.
pub fn insert(m: &mut Module) {
    for i in 0..m.functions.len() {
        let checks = stack_checks(m, &m.functions[i]);
        let f = &mut m.functions[i];
        checks.into_iter().for_each(|(block, check)| f.blocks[block].stmts.push(check));
    }
    let copies = copies::chosen(m);
    for (f, copies) in m.functions.iter_mut().zip(&copies) {
        cut_loops(f, copies);
    }
    cut_cycles_of_functions(m);
}

/// The stack checks of the blocks whose call makes the stack grow. They stand at the end, after other safepoints, which
/// might move the frames; and after the computation of operands, so that nothing stands between operations that the
/// back end can combine. (Earlier, where fewer variables live, the calls of `tak` took 15 % longer.)
fn stack_checks(m: &Module, f: &Function) -> Vec<(usize, Stmt)> {
    let check = |(i, b): (usize, &Block)| {
        let Term::Call { frame, .. } = &b.term else { return None };
        let words = m.stack_growth(f, &frame.frame)?;
        Some((i, Stmt::StackCheck { words, live: used_at_end(f, b) }))
    };
    f.blocks.iter().enumerate().filter_map(check).collect()
}

/// Tagged variables that the terminator of a block without successors uses.
fn used_at_end(f: &Function, b: &Block) -> Vec<Var> {
    let mut live = vec![];
    uses::term_uses(&b.term, |v| {
        if f.is_tagged(v) {
            live.push(v);
        }
    });
    live.sort_unstable();
    live.dedup();
    live
}

/// Cuts the cycles among a function's blocks, inner loops first: what goes back to a loop's header without a safepoint
/// goes by way of a new block that has one. Some small loops are copied a few times ([`copies`]), so that only every
/// second or fourth round asks; the jumps that are saved pay for the question.
fn cut_loops(f: &mut Function, copies: &Copies) {
    let (mut graph, headers) = LoopGraph::of(f);
    let mut stops: Vec<(usize, usize)> = vec![];
    for header in headers {
        let body = graph.quiet_loop(header);
        if !body.is_empty() {
            let copies = copies.get(&header).copied().unwrap_or(0);
            stops.push((graph.cut(f, header, &body, copies), header));
        }
    }
    let flow = FunctionFlow { blocks: &f.blocks, closure: f.closure() };
    let live = if stops.is_empty() { vec![] } else { flow::live_in(&flow) };
    for (block, header) in stops {
        let live = live[header].iter().filter(|v| f.is_tagged(*v)).collect();
        f.blocks[block].stmts.push(Stmt::StopCheck { live });
    }
}

/// What control goes to when it leaves a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Node {
    Function(FuncId),
    /// Some procedure that is called as a value.
    Unknown,
}

/// Where control may go from a function without a safepoint since it was entered, and from which block.
struct Exit {
    block: Option<usize>,
    to: Node,
}

///
/// Where pushing a frame asks nothing, calls are ways to go like tail calls, and so are tail calls of return points.
fn exits(m: &Module, f: &Function) -> Vec<Exit> {
    let asks = m.strategy.every_push_asks();
    let mut out = vec![];
    if let FuncKind::Entry { clauses, .. } = &f.kind {
        out.extend(clauses.iter().map(|c| Exit { block: None, to: Node::Function(c.body) }));
    }
    let returns = matches!(f.kind, FuncKind::Return { .. });
    let mut seen = vec![false; f.blocks.len()];
    let mut work: Vec<usize> = if f.blocks.is_empty() { vec![] } else { vec![0] };
    while let Some(i) = work.pop() {
        let b = &f.blocks[i];
        if std::mem::replace(&mut seen[i], true) || stops(b) {
            continue;
        }
        work.extend(uses::successors(&b.term).iter().map(|s| s.0 as usize));
        let mut goes = |to| out.push(Exit { block: Some(i), to });
        match &b.term {
            // A return point that goes to another function has one frame less.
            Term::TailCall { callee, .. } if !returns || !asks => goes(target(callee)),
            Term::Call { ret, callee, .. } => {
                goes(Node::Function(*ret));
                if !asks {
                    goes(target(callee));
                }
            }
            _ => {}
        }
    }
    out
}

fn target(callee: &Callee) -> Node {
    match callee {
        Callee::Known(g, _) | Callee::Unknown(Operand::Procedure(g)) => Node::Function(*g),
        _ => Node::Unknown,
    }
}

/// Cuts the cycles that functions form, by stop checks at the end of the blocks that go to one node of each.
fn cut_cycles_of_functions(m: &mut Module) {
    loop {
        let n = m.functions.len();
        let unknown = n;
        let index = |to: Node| match to {
            Node::Function(f) => f.0 as usize,
            Node::Unknown => unknown,
        };
        let mut edges: Vec<Vec<(usize, Option<usize>)>> =
            m.functions.iter().map(|f| exits(m, f).iter().map(|e| (index(e.to), e.block)).collect()).collect();
        let is_entry = |f: usize| f < n && matches!(m.functions[f].kind, FuncKind::Entry { .. });
        edges.push((0..n).filter(|f| is_entry(*f) && m.functions[*f].in_use()).map(|f| (f, None)).collect());
        let component = components(&edges);
        let mut cut: Vec<Option<usize>> = vec![None; n + 1];
        let mut cyclic = vec![false; n + 1];
        for (f, to) in edges.iter().enumerate() {
            for (t, _) in to.iter().filter(|(t, _)| component[*t] == component[f]) {
                cyclic[component[f]] = true;
                // Only edges that come from a block can be cut: those to the unknown, and those to entries once that is
                // gone.
                let better = |old: usize| t == &unknown || old != unknown && is_entry(*t) && !is_entry(old);
                if cut[component[f]].is_none_or(better) {
                    cut[component[f]] = Some(*t);
                }
            }
        }
        if !cyclic.contains(&true) {
            return;
        }
        for f in 0..n {
            let target = cut[component[f]];
            let mut blocks: Vec<usize> =
                edges[f].iter().filter(|(t, _)| Some(*t) == target).filter_map(|(_, b)| *b).collect();
            blocks.sort_unstable();
            blocks.dedup();
            for b in blocks {
                let live = used_at_end(&m.functions[f], &m.functions[f].blocks[b]);
                m.functions[f].blocks[b].stmts.push(Stmt::StopCheck { live });
            }
        }
    }
}

/// Strongly connected components (Tarjan 1972): the number of each node's.
fn components(edges: &[Vec<(usize, Option<usize>)>]) -> Vec<usize> {
    const NEW: usize = usize::MAX;
    let n = edges.len();
    let (mut index, mut low, mut component) = (vec![NEW; n], vec![0; n], vec![NEW; n]);
    let (mut next, mut found) = (0, 0);
    let mut open: Vec<usize> = vec![];
    for root in 0..n {
        if index[root] != NEW {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some((v, i)) = path.pop() {
            if i == 0 {
                (index[v], low[v]) = (next, next);
                next += 1;
                open.push(v);
            }
            match edges[v].get(i) {
                Some(&(w, _)) => {
                    path.push((v, i + 1));
                    if index[w] == NEW {
                        path.push((w, 0));
                    } else if component[w] == NEW {
                        low[v] = low[v].min(index[w]);
                    }
                }
                None => {
                    if low[v] == index[v] {
                        while let Some(w) = open.pop() {
                            component[w] = found;
                            if w == v {
                                break;
                            }
                        }
                        found += 1;
                    }
                    if let Some(&(parent, _)) = path.last() {
                        low[parent] = low[parent].min(low[v]);
                    }
                }
            }
        }
    }
    component
}
