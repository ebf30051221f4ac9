//! Procedures as control-flow graphs, before splitting: successors, pruning, dominators.
//!
//! In a [`Proc`] a call's continuation is an ordinary successor. Dominators are the simple iterative scheme of Cooper,
//! Harvey & Kennedy (2001), near-linear on reducible graphs, which is all that Core can express.

use crate::flow::FlowGraph;
use crate::ir::{BlockId, Callee, Operand, Results, Stmt, Test, Var, VarInfo};
use crate::uses;
use cairn_layout::code::Site;
use std::rc::Rc;

/// A clause as a control-flow graph, before splitting.
pub struct Proc {
    /// Name for people.
    pub name: Rc<str>,
    /// From lib/.
    pub library: bool,
    /// Parameters, lifted free variables last.
    pub params: Vec<Var>,
    /// Closure, when the code needs one.
    pub closure: Option<Var>,
    /// Free variables found in the closure: `free[i]` is word `1 + i`.
    pub free: Vec<Var>,
    /// Variables.
    pub vars: Vec<VarInfo>,
    /// Blocks; 0 is the entry.
    pub blocks: Vec<ProcBlock>,
}

/// A block of a [`Proc`].
pub struct ProcBlock {
    /// Statements (no heap checks yet).
    pub stmts: Vec<Stmt>,
    /// Terminator.
    pub term: ProcTerm,
}

/// A terminator before splitting.
#[derive(Clone)]
pub enum ProcTerm {
    /// Unconditional.
    Goto(BlockId),
    /// Conditional.
    Branch(Test, BlockId, BlockId),
    /// Returns one value.
    Return(Operand),
    /// Returns several.
    ReturnMulti(Vec<Operand>),
    /// Tail call.
    TailCall(Callee, Vec<Operand>, Site),
    /// Call; control continues in the block.
    Call(Callee, Vec<Operand>, Site, Results, BlockId),
    /// Not yet closed, or unreachable.
    None,
}

/// Calls `f` with each successor.
pub fn successors(term: &ProcTerm, mut f: impl FnMut(BlockId)) {
    match term {
        ProcTerm::Goto(b) => f(*b),
        ProcTerm::Branch(_, a, b) => {
            f(*a);
            f(*b);
        }
        ProcTerm::Call(.., next) => f(*next),
        _ => {}
    }
}

/// Calls `f` with each successor, to change it.
pub fn successors_mut(term: &mut ProcTerm, mut f: impl FnMut(&mut BlockId)) {
    match term {
        ProcTerm::Goto(b) => f(b),
        ProcTerm::Branch(_, a, b) => {
            f(a);
            f(b);
        }
        ProcTerm::Call(.., next) => f(next),
        _ => {}
    }
}

/// Calls `f` with each variable a terminator uses itself (not what its frame must keep).
fn term_uses(t: &ProcTerm, mut f: impl FnMut(Var)) {
    match t {
        ProcTerm::Goto(_) | ProcTerm::None => {}
        ProcTerm::Branch(t, ..) => uses::test_uses(t, f),
        ProcTerm::Return(o) => uses::operand(o, &mut f),
        ProcTerm::ReturnMulti(os) => os.iter().for_each(|o| uses::operand(o, &mut f)),
        ProcTerm::TailCall(c, args, _) | ProcTerm::Call(c, args, ..) => {
            uses::callee_uses(c, &mut f);
            args.iter().for_each(|o| uses::operand(o, &mut f));
        }
    }
}

impl FlowGraph for Proc {
    fn blocks(&self) -> usize {
        self.blocks.len()
    }
    fn closure(&self) -> Option<Var> {
        self.closure
    }
    fn stmts(&self, block: usize) -> &[Stmt] {
        &self.blocks[block].stmts
    }
    fn successors(&self, block: usize, mut f: impl FnMut(usize)) {
        successors(&self.blocks[block].term, |s| f(s.0 as usize));
    }
    fn term_defs(&self, block: usize, f: impl FnMut(Var)) {
        if let ProcTerm::Call(_, _, _, results, _) = &self.blocks[block].term {
            uses::results_defs(results, f);
        }
    }
    fn term_uses(&self, block: usize, f: impl FnMut(Var)) {
        term_uses(&self.blocks[block].term, f);
    }
}

/// Shortcuts empty blocks that only go elsewhere, and removes unreachable blocks, keeping block 0 first and the others
/// in reverse postorder.
pub fn prune(proc: &mut Proc) {
    let n = proc.blocks.len();
    let mut forward: Vec<BlockId> = (0..n as u32).map(BlockId).collect();
    for (start, forward) in forward.iter_mut().enumerate().skip(1) {
        let mut b = start;
        let mut steps = 0;
        while let (ProcTerm::Goto(t), true) = (&proc.blocks[b].term, proc.blocks[b].stmts.is_empty()) {
            b = t.0 as usize;
            steps += 1;
            if steps > n {
                break; // an empty infinite loop stays as it is
            }
        }
        if steps <= n {
            *forward = BlockId(b as u32);
        }
    }
    for b in &mut proc.blocks {
        // A call keeps its own continuation block: a return point has one predecessor.
        if !matches!(b.term, ProcTerm::Call(..)) {
            successors_mut(&mut b.term, |s| *s = forward[s.0 as usize]);
        }
    }
    renumber(proc);
}

/// Puts blocks in reverse postorder and drops unreachable ones.
pub fn renumber(proc: &mut Proc) {
    let n = proc.blocks.len();
    let order = reverse_postorder(&proc.blocks);
    let mut number = vec![u32::MAX; n];
    for (i, b) in order.iter().enumerate() {
        number[b.0 as usize] = i as u32;
    }
    let mut old: Vec<Option<ProcBlock>> = std::mem::take(&mut proc.blocks).into_iter().map(Some).collect();
    for b in order {
        let mut block = old[b.0 as usize].take().expect("each block once");
        successors_mut(&mut block.term, |s| *s = BlockId(number[s.0 as usize]));
        proc.blocks.push(block);
    }
}

/// Blocks reachable from block 0 in reverse postorder.
pub fn reverse_postorder(blocks: &[ProcBlock]) -> Vec<BlockId> {
    let mut seen = vec![false; blocks.len()];
    let mut order = vec![];
    let mut stack = vec![(BlockId(0), 0usize)];
    seen[0] = true;
    while let Some((b, i)) = stack.pop() {
        // Visit the last successor first, so that the first ends up right after its predecessor.
        let mut succs = vec![];
        successors(&blocks[b.0 as usize].term, |s| succs.push(s));
        let next = succs.iter().rev().nth(i).copied();
        match next {
            Some(s) => {
                stack.push((b, i + 1));
                if !seen[s.0 as usize] {
                    seen[s.0 as usize] = true;
                    stack.push((s, 0));
                }
            }
            None => order.push(b),
        }
    }
    order.reverse();
    order
}

/// The roots of the pieces a procedure is split into: block 0, the continuation of every call, every block that is
/// `cut` off (if the slice names it), and every block that more than one piece reaches. Returns for each block the root
/// of its piece.
///
/// In the graph with a virtual entry before all return points and block 0, a block belongs to the piece whose root is
/// the child of the virtual entry on its dominator path; blocks dominated by the virtual entry alone are roots
/// themselves.
pub fn pieces(blocks: &[ProcBlock], cut: &[bool]) -> Vec<BlockId> {
    let n = blocks.len();
    let mut is_root = cut.to_vec();
    is_root.resize(n, false);
    is_root[0] = true;
    let mut preds: Vec<Vec<u32>> = vec![vec![]; n];
    for (i, b) in blocks.iter().enumerate() {
        if let ProcTerm::Call(.., next) = &b.term {
            is_root[next.0 as usize] = true;
        } else {
            successors(&b.term, |s| preds[s.0 as usize].push(i as u32));
        }
    }
    // idom over block numbers shifted by one; 0 is the virtual entry.
    const NONE: u32 = u32::MAX;
    let mut idom = vec![NONE; n + 1];
    idom[0] = 0;
    let intersect = |idom: &[u32], mut a: u32, mut b: u32| {
        while a != b {
            while a > b {
                a = idom[a as usize];
            }
            while b > a {
                b = idom[b as usize];
            }
        }
        a
    };
    loop {
        let mut changed = false;
        for i in 0..n {
            let mut new = if is_root[i] { 0 } else { NONE };
            for &p in &preds[i] {
                let p = p + 1;
                if idom[p as usize] != NONE {
                    new = if new == NONE { p } else { intersect(&idom, p, new) };
                }
            }
            if new != NONE && idom[i + 1] != new {
                idom[i + 1] = new;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let mut root = vec![BlockId(0); n];
    for i in 0..n {
        // Blocks are in reverse postorder, so a dominator has a smaller number.
        root[i] = if idom[i + 1] == 0 || idom[i + 1] == NONE {
            BlockId(i as u32)
        } else {
            root[idom[i + 1] as usize - 1]
        };
    }
    root
}

/// A piece of more statements and blocks than this is not copied into return points. (With 60, large programs had a
/// sixteenth more code, and ran as fast.)
const COPY_LIMIT: usize = 20;

/// Copies the shared pieces that return points jump to into these.
///
/// The problem: a loop around a call is a piece of its own, entered from outside and from the return point. To go there
/// the return point leaves its frame, only for the loop to make the same frame again. With a copy of the loop's body in
/// the return point's piece, the frame stays, and with it every variable that the loop does not change:
///
/// ```text
///  b0: goto h                                   b0: goto h
///  h:  if … then call g(x) -> t, then r         h:  if … then call g(x) -> t, then r
///      else return y                      ──▶       else return y
///  r:  x := cdr x; goto h                       r:  x := cdr x; goto h'
///                                               h': if … then call g(x) -> t, then r   frame in place: stores x
///                                                   else return y
/// ```
///
/// Pieces without calls need no frame: they stay shared. Copies of a call return to the same point: they save the same
/// variables. The size of a procedure at most doubles.
pub fn extend_return_pieces(proc: &mut Proc) {
    let mut budget = COPY_LIMIT + proc.blocks.iter().map(|b| 1 + b.stmts.len()).sum::<usize>();
    for _ in 0..3 {
        let roots = pieces(&proc.blocks, &[]);
        let n = roots.len();
        let mut returns = vec![false; n];
        let mut members: Vec<Vec<u32>> = vec![vec![]; n];
        for (i, b) in proc.blocks.iter().enumerate() {
            members[roots[i].0 as usize].push(i as u32);
            if let ProcTerm::Call(.., next) = &b.term {
                returns[next.0 as usize] = true;
            }
        }
        // edges from a return point's piece to a shared piece
        let mut edges: Vec<(u32, u32)> = vec![];
        for (i, b) in proc.blocks.iter().enumerate() {
            let from = roots[i].0;
            if !returns[from as usize] || matches!(b.term, ProcTerm::Call(..)) {
                continue;
            }
            successors(&b.term, |s| {
                let shared = roots[s.0 as usize] == s && s.0 != 0 && !returns[s.0 as usize];
                if shared && !edges.contains(&(from, s.0)) {
                    edges.push((from, s.0));
                }
            });
        }
        let mut copied = false;
        for (from, to) in edges {
            let piece = &members[to as usize];
            let size: usize = piece.iter().map(|b| 1 + proc.blocks[*b as usize].stmts.len()).sum();
            let calls = piece.iter().any(|b| matches!(proc.blocks[*b as usize].term, ProcTerm::Call(..)));
            if !calls || size > COPY_LIMIT.min(budget) {
                continue;
            }
            budget -= size;
            copied = true;
            let first = proc.blocks.len() as u32;
            let copy_of = |s: BlockId| piece.iter().position(|b| *b == s.0).map(|i| BlockId(first + i as u32));
            for b in piece {
                let ProcBlock { stmts, term } = &proc.blocks[*b as usize];
                let (stmts, mut term) = (stmts.clone(), term.clone());
                if !matches!(term, ProcTerm::Call(..)) {
                    successors_mut(&mut term, |s| *s = copy_of(*s).unwrap_or(*s));
                }
                proc.blocks.push(ProcBlock { stmts, term });
            }
            let entry = copy_of(BlockId(to)).expect("a piece has its root");
            for b in &members[from as usize] {
                let term = &mut proc.blocks[*b as usize].term;
                if !matches!(term, ProcTerm::Call(..)) {
                    successors_mut(term, |s| {
                        if s.0 == to {
                            *s = entry;
                        }
                    });
                }
            }
        }
        if !copied {
            return;
        }
        renumber(proc);
    }
}
