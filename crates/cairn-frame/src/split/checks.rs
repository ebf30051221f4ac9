//! Heap checks and polls: where a function's blocks may collect.

use crate::flow::{self, FunctionFlow, VarSet};
use crate::ir::*;
use crate::uses;
use cairn_core::prim::PrimOp;
use cairn_layout::facts::StrategyFacts;
use cairn_layout::limits::CHECK_RESERVE;
use cairn_layout::object::headed_bytes;
use std::collections::HashMap;
use std::rc::Rc;

/// Bytes that one heap check may ask for: the runtime leaves at least this much in a nursery block, so that
/// allocation inside runtime calls never invalidates an outstanding check.
const CHECK_LIMIT: u32 = CHECK_RESERVE as u32;

/// Inserts heap checks: before the first allocation of a block, for all allocations of the block. A block that
/// allocates inside the runtime (strings, bignums, boxed flonums) gets a poll, a check of 0 bytes: every cycle through
/// allocating code passes a check or a poll. A check alone would not do there: when a collection is due the runtime
/// leaves `CHECK_LIMIT` bytes, enough for many small checks between which it may allocate objects of any size.
pub fn insert(f: &mut Function, closure: Option<Var>, strategy: &StrategyFacts) {
    let vars: Rc<[VarInfo]> = f.vars.clone().into();
    let needs: Vec<bool> = f.blocks.iter().map(|b| block_bytes(b, strategy) > 0).collect();
    let polls: Vec<Vec<usize>> = f.blocks.iter().zip(&needs).map(|(b, n)| poll_positions(b, *n, &vars)).collect();
    if !needs.contains(&true) && polls.iter().all(Vec::is_empty) {
        return;
    }
    let graph = FunctionFlow { blocks: &f.blocks, closure };
    let live = flow::live_in(&graph);
    let at_end: Vec<VarSet> = (0..f.blocks.len()).map(|i| flow::live_before_term(&graph, i, &live)).collect();
    for ((i, b), mut set) in f.blocks.iter_mut().enumerate().zip(at_end) {
        if !needs[i] && polls[i].is_empty() {
            continue;
        }
        // `set`: what is live before the terminator, then before each statement.
        let tagged =
            |set: &VarSet| -> Vec<Var> { set.iter().filter(|v| vars[v.0 as usize].rep == Rep::Tagged).collect() };
        // Walk backwards, cutting segments that stay within the limit. A group of closures that patch each other is
        // never cut: nothing in it calls the runtime, so it may exceed the limit.
        let mut bytes = frame_bytes(&b.term, strategy);
        let mut check_at: Option<(usize, Vec<Var>)> = (bytes > 0).then(|| (b.stmts.len(), tagged(&set)));
        let mut inserts: Vec<(usize, u32, Vec<Var>)> = vec![];
        let spans = patch_spans(b);
        if polls[i].contains(&b.stmts.len()) {
            inserts.push((b.stmts.len(), 0, tagged(&set)));
        }
        for (k, s) in b.stmts.iter().enumerate().rev() {
            let here = match s {
                Stmt::Assign(_, op) | Stmt::Effect(op) => op.alloc_bytes(),
                _ => 0,
            };
            let cuts = |at: usize| !spans.iter().any(|(made, patched)| *made < at && at <= *patched);
            if here > 0 && bytes + here > CHECK_LIMIT && check_at.as_ref().is_some_and(|(at, _)| cuts(*at)) {
                let (at, live) = check_at.take().expect("bytes without a check");
                inserts.push((at, bytes, live));
                bytes = 0;
            }
            flow::step_back(&mut set, s, closure);
            if polls[i].contains(&k) {
                inserts.push((k, 0, tagged(&set)));
            }
            if here > 0 {
                bytes += here;
                check_at = Some((k, tagged(&set)));
            }
        }
        if let Some((at, live)) = check_at {
            inserts.push((at, bytes, live));
        }
        // From last to first position; a poll comes before a check at the same place, right after its operation.
        inserts.sort_by_key(|(at, bytes, _)| std::cmp::Reverse((*at, *bytes)));
        for (at, bytes, live) in inserts {
            b.stmts.insert(at, Stmt::HeapCheck { bytes, live });
        }
    }
}

/// Before which statements a block that may allocate in the runtime should be polled: after the last call of the
/// runtime. If arithmetic is all that may allocate there, the polls are right after each operation: the back end puts
/// them into the slow paths, where they cost nothing. A poll for boxes of doubles is on every path, and so is that of a
/// block with very much arithmetic; where there is a heap check, that will do for such small objects. (One poll for all
/// arithmetic of a block, on every path, made `cairn build` 6 % faster, but `tak` 9 % slower.)
fn poll_positions(b: &Block, checked: bool, vars: &[VarInfo]) -> Vec<usize> {
    let boxes = |v: Var| vars[v.0 as usize].rep == Rep::Double;
    let arithmetic = |s: &Stmt| match s {
        Stmt::Assign(v, Op::Prim(p)) => p.boxes_its_result() && !boxes(*v),
        Stmt::Effect(Op::Prim(p)) => p.boxes_its_result(),
        _ => false,
    };
    let calls = |s: &Stmt| match s {
        Stmt::Assign(_, Op::Prim(p)) | Stmt::Effect(Op::Prim(p)) => {
            matches!(p.op, PrimOp::Rt(i) if i.row().flags & cairn_layout::calls::ALLOC != 0)
        }
        _ => false,
    };
    if let Some(k) = b.stmts.iter().rposition(calls) {
        return vec![k + 1];
    }
    if checked {
        return b.stmts.iter().rposition(arithmetic).map(|k| k + 1).into_iter().collect();
    }
    if boxes_double_at_end(b, boxes) || b.stmts.iter().any(|s| !arithmetic(s) && boxes_double(s, boxes)) {
        return vec![b.stmts.iter().position(arithmetic).unwrap_or(b.stmts.len())];
    }
    let each: Vec<usize> = (0..b.stmts.len()).filter(|k| arithmetic(&b.stmts[*k])).map(|k| k + 1).collect();
    if each.len() > SLOW_POLLS { vec![each[0] - 1] } else { each }
}

/// Most polls of a block that slow paths carry, each with code for all that lives on. A block with more arithmetic has
/// one poll, on every path.
const SLOW_POLLS: usize = 16;

/// Is an unboxed double used as a value by this operation? There it is encoded, and perhaps boxed.
fn encodes(p: &Prim, boxes: impl Fn(Var) -> bool) -> bool {
    let value = |i| p.op.arg_kind(i) != cairn_core::prim::Kind::Flonum;
    p.args.iter().enumerate().any(|(i, a)| matches!(a, Operand::Var(v) if boxes(*v) && value(i)))
}

/// Does this statement use an unboxed double as a value? There it is encoded, and perhaps boxed.
fn boxes_double(s: &Stmt, boxes: impl Fn(Var) -> bool) -> bool {
    match s {
        Stmt::Assign(_, Op::Prim(p)) | Stmt::Effect(Op::Prim(p)) => encodes(p, boxes),
        Stmt::Assign(v, Op::Copy(_)) if boxes(*v) => false,
        Stmt::Assign(_, op) | Stmt::Effect(op) => {
            let mut any = false;
            uses::op_uses(op, None, |v| any |= boxes(v));
            any
        }
        _ => false,
    }
}

/// Does the end of this block use an unboxed double as a value?
fn boxes_double_at_end(b: &Block, boxes: impl Fn(Var) -> bool) -> bool {
    match &b.term {
        Term::Branch { test: Test::Prim(p), .. } => encodes(p, boxes),
        term => {
            let mut any = false;
            uses::term_uses(term, |v| any |= boxes(v));
            any
        }
    }
}

/// The statements between which no check may come: from the allocation of a closure to the last patch of it. A
/// collection in between might promote the closure, and patches have no write barrier.
fn patch_spans(b: &Block) -> Vec<(usize, usize)> {
    let mut made: HashMap<Var, usize> = HashMap::new();
    let mut spans = vec![];
    for (k, s) in b.stmts.iter().enumerate() {
        match s {
            Stmt::Assign(v, Op::Closure { .. }) => {
                made.insert(*v, k);
            }
            Stmt::Effect(Op::ClosurePatch { closure, .. }) => spans.push((made[closure], k)),
            _ => {}
        }
    }
    spans
}

fn frame_bytes(t: &Term, strategy: &StrategyFacts) -> u32 {
    match t {
        Term::Call { frame, .. } if strategy.frames_in_heap => headed_bytes(frame.frame.words as usize - 1) as u32,
        _ => 0,
    }
}

fn block_bytes(b: &Block, strategy: &StrategyFacts) -> u32 {
    let stmts: u32 = b
        .stmts
        .iter()
        .map(|s| match s {
            Stmt::Assign(_, op) | Stmt::Effect(op) => op.alloc_bytes(),
            _ => 0,
        })
        .sum();
    stmts + frame_bytes(&b.term, strategy)
}
