//! Which loops are copied, and how often: a loop whose turns take a few cycles should not ask for a stop in each.
//!
//! The problem: a copy costs as much code, and as much of LLVM's time, as the loop; a program of a thousand small loops
//! would be a multiple of itself. The idea: copies have a budget, a fixed part, which is more than what programs of
//! usual size want, and a part of the program's own size. If it is not enough, loops inside of other loops come first,
//! and of those and of the others the ones that are cheapest to copy: they also take the fewest cycles a turn.
//!
//! Complexity: linear in the module, but for sorting.

use super::graph::LoopGraph;
use crate::ir::*;
use cairn_core::prim::{IN_RANGE, Kind, PrimOp, fixnum_bit};
use std::collections::HashMap;

/// By the block that is a loop's header: how many copies there will be beside the loop itself.
pub(super) type Copies = HashMap<usize, usize>;

/// Statements and blocks of a loop of which there will be eight copies: it may take a cycle a round, which a question
/// every fourth round makes an eighth longer.
const TINY: usize = 6;
/// Statements and blocks of a loop of which there will be four copies. Copies of larger loops cost more by the
/// registers they take than they save; loops of the library, of which few are hot, get one copy.
const SMALL: usize = 10;
/// Statements and blocks of a loop that reads globals, of which there will be two copies (`fit` of `puzzle` takes 0.83
/// of the time).
const MIDDLING: usize = 24;

/// What the copies of a program's loops may cost at least ([`cost`]): those of about sixty loops. Programs of up to
/// 2,500 lines want a half of it.
const BUDGET: usize = 6000;
/// As much again as this part of what the program itself costs. (A compiler of 11,000 lines wants a thirteenth.)
const SHARE: usize = 16;

/// Copies that a loop would have.
struct Wish {
    function: usize,
    header: usize,
    copies: usize,
    /// What one costs.
    cost: usize,
    /// Is it in another loop of the function?
    nested: bool,
}

/// The copies of each function's loops. Those of the library do not count: it is compiled once, and a program has few.
pub(super) fn chosen(m: &Module) -> Vec<Copies> {
    let mut chosen = vec![Copies::default(); m.functions.len()];
    let mut wishes = vec![];
    for (i, f) in m.functions.iter().enumerate() {
        wishes_of(f, i, &mut wishes);
    }
    let own = |f: &&Function| !f.library;
    let size: usize = m.functions.iter().filter(own).flat_map(|f| &f.blocks).map(cost).sum();
    let mut budget = BUDGET + size / SHARE;
    wishes.sort_by_key(|w| (!m.functions[w.function].library, !w.nested, w.cost * w.copies));
    for w in wishes {
        if !m.functions[w.function].library {
            let Some(rest) = budget.checked_sub(w.cost * w.copies) else { break };
            budget = rest;
        }
        chosen[w.function].insert(w.header, w.copies);
    }
    chosen
}

fn wishes_of(f: &Function, function: usize, wishes: &mut Vec<Wish>) {
    let (graph, headers) = LoopGraph::of(f);
    if headers.is_empty() {
        return;
    }
    let mut is_header = vec![false; f.blocks.len()];
    headers.iter().for_each(|h| is_header[*h] = true);
    let mut inside = vec![false; f.blocks.len()];
    for &header in headers.iter().rev() {
        let loop_ = graph.whole_loop(header);
        let nested = inside[header];
        loop_.iter().for_each(|b| inside[*b] = true);
        let body = graph.quiet_loop(header);
        if body.is_empty() || body.iter().any(|b| *b != header && is_header[*b]) {
            continue;
        }
        let size: usize = body.iter().map(|b| 1 + f.blocks[*b].stmts.len()).sum();
        let any = |test: fn(&Stmt) -> bool| body.iter().any(|b| f.blocks[*b].stmts.iter().any(test));
        let copies = match size {
            _ if any(calls_runtime) => 0,
            _ if size > SMALL => (!f.library && size <= MIDDLING && any(reads_global)) as usize,
            _ if f.library => 1,
            ..=TINY => 7,
            _ => 3,
        };
        if copies > 0 {
            let cost = body.iter().map(|b| cost(&f.blocks[*b])).sum();
            wishes.push(Wish { function, header, copies, cost, nested });
        }
    }
}

/// Between two stops the back end reads a global, and finds out what its value is, once: a copy does without.
fn reads_global(s: &Stmt) -> bool {
    matches!(s, Stmt::Assign(_, Op::Global(_) | Op::GlobalChecked(..)))
}

/// Such loops take their time anyway.
fn calls_runtime(s: &Stmt) -> bool {
    matches!(s, Stmt::Assign(_, Op::Prim(p)) | Stmt::Effect(Op::Prim(p)) if matches!(p.op, PrimOp::Rt(_)))
}

/// What LLVM has to do for a block, in instructions or so.
fn cost(b: &Block) -> usize {
    let of_prim = |p: &Prim| match p.op {
        op if op.is_generic() => {
            let fixnums = (0..2).filter(|i| p.proven & fixnum_bit(*i) != 0).count();
            40 - 14 * fixnums
        }
        _ if p.proven & IN_RANGE != 0 => 4,
        PrimOp::Op(o) if o.info().args.iter().any(|k| *k != Kind::Any) => {
            4 + 4 * (0..p.args.len()).filter(|i| p.proven >> i & 1 == 0).count()
        }
        _ => 6,
    };
    let of_statement = |s: &Stmt| match s {
        Stmt::Assign(_, Op::Prim(p)) | Stmt::Effect(Op::Prim(p)) => of_prim(p),
        Stmt::Assign(_, Op::Copy(_)) => 2,
        _ => 6,
    };
    3 + b.stmts.iter().map(of_statement).sum::<usize>()
}
