//! Flow analysis: which variables are live where, in a procedure before it is split and in a function afterwards.
//!
//! Both are graphs of blocks ([`FlowGraph`]); liveness is iterated backwards over them until nothing changes. Blocks
//! are best in reverse postorder: without loops one round suffices, and one more finds that nothing changes.

use crate::ir::{Block, Stmt, Var};
use crate::uses;

/// A dense set of variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VarSet(Vec<u64>);

impl VarSet {
    /// The empty set over `n` variables.
    pub fn new(n: usize) -> VarSet {
        VarSet(vec![0; n.div_ceil(64)])
    }
    /// Adds; was it new?
    pub fn insert(&mut self, v: Var) -> bool {
        let (w, b) = (v.0 as usize / 64, 1u64 << (v.0 % 64));
        let new = self.0[w] & b == 0;
        self.0[w] |= b;
        new
    }
    /// Removes.
    pub fn remove(&mut self, v: Var) {
        self.0[v.0 as usize / 64] &= !(1u64 << (v.0 % 64));
    }
    /// Member?
    pub fn contains(&self, v: Var) -> bool {
        self.0[v.0 as usize / 64] & (1u64 << (v.0 % 64)) != 0
    }
    /// Adds all; did it grow?
    pub fn union(&mut self, other: &VarSet) -> bool {
        let mut grew = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            grew |= *b & !*a != 0;
            *a |= *b;
        }
        grew
    }
    /// Members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Var> + '_ {
        self.0.iter().enumerate().flat_map(|(i, w)| {
            let mut w = *w;
            std::iter::from_fn(move || {
                (w != 0).then(|| {
                    let b = w.trailing_zeros();
                    w &= w - 1;
                    Var(i as u32 * 64 + b)
                })
            })
        })
    }
}

/// Blocks of statements, as far as flow analysis looks at them.
pub trait FlowGraph {
    /// Number of blocks.
    fn blocks(&self) -> usize;
    /// Number of variables.
    fn variables(&self) -> usize;
    /// The variable through which free variables are read.
    fn closure(&self) -> Option<Var>;
    /// A block's statements.
    fn stmts(&self, block: usize) -> &[Stmt];
    /// Calls `f` with each block that control may enter next.
    fn successors(&self, block: usize, f: impl FnMut(usize));
    /// Calls `f` with each variable that the terminator assigns before control enters a successor.
    fn term_defs(&self, block: usize, f: impl FnMut(Var));
    /// Calls `f` with each variable that the terminator uses itself.
    fn term_uses(&self, block: usize, f: impl FnMut(Var));
}

/// The blocks of a function under construction.
pub struct FunctionFlow<'a> {
    /// Blocks; 0 is the entry.
    pub blocks: &'a [Block],
    /// The closure variable.
    pub closure: Option<Var>,
    /// Number of variables.
    pub variables: usize,
}

impl FlowGraph for FunctionFlow<'_> {
    fn blocks(&self) -> usize {
        self.blocks.len()
    }
    fn variables(&self) -> usize {
        self.variables
    }
    fn closure(&self) -> Option<Var> {
        self.closure
    }
    fn stmts(&self, block: usize) -> &[Stmt] {
        &self.blocks[block].stmts
    }
    fn successors(&self, block: usize, mut f: impl FnMut(usize)) {
        uses::successors(&self.blocks[block].term).iter().for_each(|s| f(s.0 as usize));
    }
    /// Calls leave the function.
    fn term_defs(&self, _: usize, _: impl FnMut(Var)) {}
    fn term_uses(&self, block: usize, f: impl FnMut(Var)) {
        uses::term_uses(&self.blocks[block].term, f);
    }
}

/// Variables live on entry to each block.
pub fn live_in(g: &impl FlowGraph) -> Vec<VarSet> {
    let mut live = vec![VarSet::new(g.variables()); g.blocks()];
    loop {
        let mut changed = false;
        for b in (0..g.blocks()).rev() {
            let mut set = live_before_term(g, b, &live);
            for s in g.stmts(b).iter().rev() {
                step_back(&mut set, s, g.closure());
            }
            changed |= live[b].union(&set);
        }
        if !changed {
            return live;
        }
    }
}

/// Variables live when a block's terminator hands over control: into successors, or across the call.
pub fn live_after_term(g: &impl FlowGraph, block: usize, live: &[VarSet]) -> VarSet {
    let mut set = VarSet::new(g.variables());
    g.successors(block, |s| {
        set.union(&live[s]);
    });
    g.term_defs(block, |v| set.remove(v));
    set
}

/// Variables live before a block's terminator.
pub fn live_before_term(g: &impl FlowGraph, block: usize, live: &[VarSet]) -> VarSet {
    let mut set = live_after_term(g, block, live);
    g.term_uses(block, |v| {
        set.insert(v);
    });
    set
}

/// From the variables live after a statement to those live before it.
pub fn step_back(set: &mut VarSet, s: &Stmt, closure: Option<Var>) {
    if let Stmt::Assign(v, _) = s {
        set.remove(*v);
    }
    uses::stmt_uses(s, closure, |v| {
        set.insert(v);
    });
}
