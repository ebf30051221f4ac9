//! Large pieces are cut: the time that LLVM needs for a function grows faster than the function.
//!
//! A straight line of many thousand operations is one block, in one piece. It is cut into blocks, and blocks become
//! roots, so that no piece is much larger than [`Sizes::part`]. Pieces that people write are smaller than
//! [`Sizes::large`]: they stay whole.
//!
//! A procedure of very many pieces is marked ([`is_vast`]): it touches more memory than any cache holds, and each
//! statement runs once in a call, so optimizing gains little; but LLVM would take most of its time.

use crate::graph::{self, Proc, ProcBlock, ProcTerm};
use crate::ir::{BlockId, Op, Stmt, Var};
use std::collections::HashMap;

/// How large pieces may be. A value, so that tests can cut ordinary programs.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// A piece of more statements and blocks than this is cut.
    pub large: usize,
    /// Into pieces of about this size.
    pub part: usize,
    /// A procedure of more, without loops, is not optimized.
    pub vast: usize,
}

/// What lowering goes by.
pub const SIZES: Sizes = Sizes { large: 1000, part: 400, vast: 8000 };

/// Cuts long blocks, and names the blocks that are to be roots although no two pieces share them.
pub fn cut(proc: &mut Proc, Sizes { large, part, .. }: Sizes) -> Vec<bool> {
    let long = |b: &ProcBlock| b.stmts.len() > large;
    if proc.blocks.iter().any(long) {
        for b in 0..proc.blocks.len() {
            if long(&proc.blocks[b]) {
                cut_block(proc, b, part);
            }
        }
        graph::renumber(proc);
    }
    let mut cut = vec![false; proc.blocks.len()];
    loop {
        let roots = graph::pieces(&proc.blocks, &cut);
        let mut sizes = vec![0; roots.len()];
        for (b, root) in proc.blocks.iter().zip(&roots) {
            sizes[root.0 as usize] += 1 + b.stmts.len();
        }
        // Blocks come in reverse postorder: each takes its place in its piece's current part.
        let (mut filled, mut again) = (vec![0; roots.len()], false);
        for (i, b) in proc.blocks.iter().enumerate() {
            let root = roots[i].0 as usize;
            if sizes[root] <= large {
                continue;
            }
            let size = 1 + b.stmts.len();
            filled[root] += size;
            if root != i && filled[root] > part + size {
                (cut[i], filled[root], again) = (true, size, true);
            }
        }
        if !again {
            return cut;
        }
    }
}

/// Is it a procedure that only a program writes, whose statements run once in a call? Blocks come in reverse postorder.
pub fn is_vast(proc: &Proc, sizes: Sizes) -> bool {
    let statements: usize = proc.blocks.iter().map(|b| b.stmts.len()).sum();
    let mut loops = false;
    for (i, b) in proc.blocks.iter().enumerate() {
        graph::successors(&b.term, |s| loops |= s.0 as usize <= i);
    }
    statements > sizes.vast && !loops
}

/// Makes several blocks out of one, but never between a closure and a patch of it.
fn cut_block(proc: &mut Proc, b: usize, part: usize) {
    let block = &mut proc.blocks[b];
    let mut stmts = std::mem::take(&mut block.stmts);
    let mut term = std::mem::replace(&mut block.term, ProcTerm::None);
    let mut made: HashMap<Var, usize> = HashMap::new();
    let mut open = vec![0i32; stmts.len() + 1];
    for (k, s) in stmts.iter().enumerate() {
        match s {
            Stmt::Assign(v, Op::Closure { .. }) => {
                made.insert(*v, k);
            }
            Stmt::Effect(Op::ClosurePatch { closure, .. }) => {
                open[made[closure] + 1] += 1;
                open[k + 1] -= 1;
            }
            _ => {}
        }
    }
    for k in 1..open.len() {
        open[k] += open[k - 1];
    }
    // from the end on: the last part keeps the terminator
    while stmts.len() > part {
        let Some(at) = (1..=stmts.len() - part).rev().find(|k| open[*k] == 0) else { break };
        let tail = stmts.split_off(at);
        proc.blocks.push(ProcBlock { stmts: tail, term });
        term = ProcTerm::Goto(BlockId(proc.blocks.len() as u32 - 1));
    }
    proc.blocks[b] = ProcBlock { stmts, term };
}
