//! Tiny join blocks: copied into their predecessors instead of becoming functions of their own.

use crate::graph::{self, Proc, ProcBlock, ProcTerm};
use crate::ir::{BlockId, Stmt};

/// Copies tiny blocks that several pieces would share into their predecessors.
pub fn duplicate_tiny(proc: &mut Proc) {
    for _ in 0..2 {
        let roots = graph::pieces(&proc.blocks, &[]);
        let mut initial = vec![false; proc.blocks.len()];
        for b in &proc.blocks {
            if let ProcTerm::Call(.., next) = &b.term {
                initial[next.0 as usize] = true;
            }
        }
        let tiny: Vec<bool> = proc
            .blocks
            .iter()
            .enumerate()
            .map(|(i, b)| {
                i != 0
                    && roots[i].0 as usize == i
                    && !initial[i]
                    && b.stmts.len() <= 2
                    && b.stmts.iter().all(|s| match s {
                        Stmt::Assign(_, op) | Stmt::Effect(op) => op.alloc_bytes() == 0,
                        _ => false,
                    })
                    && match &b.term {
                        ProcTerm::Return(_) => true,
                        ProcTerm::Goto(t) => t.0 as usize != i,
                        ProcTerm::TailCall(_, args, _) => args.len() <= 6,
                        _ => false,
                    }
            })
            .collect();
        if !tiny.contains(&true) {
            return;
        }
        for i in 0..proc.blocks.len() {
            let mut term = proc.blocks[i].term.clone();
            if let (ProcTerm::Goto(t), false) = (&term, tiny[i]) {
                if tiny[t.0 as usize] {
                    let copy = copy_block(&proc.blocks[t.0 as usize]);
                    proc.blocks[i].stmts.extend(copy.stmts);
                    proc.blocks[i].term = copy.term;
                }
                continue;
            }
            if matches!(term, ProcTerm::Call(..)) || tiny[i] {
                continue;
            }
            graph::successors_mut(&mut term, |s| {
                if tiny[s.0 as usize] {
                    let copy = copy_block(&proc.blocks[s.0 as usize]);
                    proc.blocks.push(copy);
                    *s = BlockId(proc.blocks.len() as u32 - 1);
                }
            });
            proc.blocks[i].term = term;
        }
        graph::renumber(proc);
    }
}

fn copy_block(b: &ProcBlock) -> ProcBlock {
    ProcBlock { stmts: b.stmts.clone(), term: b.term.clone() }
}
