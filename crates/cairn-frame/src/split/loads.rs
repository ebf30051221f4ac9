//! Loads of frame slots and closure variables: each sinks to the block of its first use.

use crate::flow::{self, FunctionFlow, VarSet};
use crate::ir::*;
use crate::uses;

/// Inserts the loads of frame slots and closure variables, each as late as the control flow allows.
pub fn place(blocks: &mut [Block], pending: Vec<(Var, Op)>, closure: Option<Var>, assigned: &VarSet) {
    if pending.is_empty() {
        return;
    }
    let live = flow::live_in(&FunctionFlow { blocks, closure });
    let mut preds = vec![0u32; blocks.len()];
    preds[0] = 1;
    for b in blocks.iter() {
        for s in uses::successors(&b.term) {
            preds[s.0 as usize] += 1;
        }
    }
    for (v, op) in pending {
        if !live[0].contains(v) {
            continue;
        }
        if assigned.contains(v) {
            blocks[0].stmts.insert(0, Stmt::Assign(v, op));
            continue;
        }
        let mut work = vec![0usize];
        while let Some(b) = work.pop() {
            let first_use = blocks[b].stmts.iter().position(|s| {
                let mut hit = false;
                uses::stmt_uses(s, closure, |u| hit |= u == v);
                hit
            });
            if let Some(at) = first_use {
                blocks[b].stmts.insert(at, Stmt::Assign(v, op.clone()));
                continue;
            }
            let mut hit = false;
            uses::term_uses(&blocks[b].term, |u| hit |= u == v);
            let succs: Vec<BlockId> =
                uses::successors(&blocks[b].term).into_iter().filter(|s| live[s.0 as usize].contains(v)).collect();
            if hit || succs.iter().any(|s| preds[s.0 as usize] > 1) {
                blocks[b].stmts.push(Stmt::Assign(v, op.clone()));
            } else {
                work.extend(succs.iter().map(|s| s.0 as usize));
            }
        }
    }
}
