//! Flow analysis: which variables are live where, in a procedure before it is split and in a function afterwards.
//!
//! Both are graphs of blocks ([`FlowGraph`]); liveness is iterated backwards over them until nothing changes. Blocks
//! are best in reverse postorder: without loops one round suffices, and one more finds that nothing changes.

use crate::ir::{Block, Stmt, Var};
use crate::uses;

/// A set of variables: words of 64 bits in ascending order, those without members left out. Of a procedure's thousands
/// of variables few live at any place.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VarSet(Vec<(u32, u64)>);

impl VarSet {
    /// The empty set.
    pub fn new() -> VarSet {
        VarSet::default()
    }
    fn position(&self, word: u32) -> Result<usize, usize> {
        // most variables come in the order of their numbers
        match self.0.last() {
            None => Err(0),
            Some((last, _)) if *last < word => Err(self.0.len()),
            _ => self.0.binary_search_by_key(&word, |(w, _)| *w),
        }
    }
    /// Adds; was it new?
    pub fn insert(&mut self, v: Var) -> bool {
        let (w, b) = (v.0 / 64, 1u64 << (v.0 % 64));
        match self.position(w) {
            Ok(i) => {
                let new = self.0[i].1 & b == 0;
                self.0[i].1 |= b;
                new
            }
            Err(i) => {
                self.0.insert(i, (w, b));
                true
            }
        }
    }
    /// Removes.
    pub fn remove(&mut self, v: Var) {
        if let Ok(i) = self.position(v.0 / 64) {
            self.0[i].1 &= !(1u64 << (v.0 % 64));
            if self.0[i].1 == 0 {
                self.0.remove(i);
            }
        }
    }
    /// Member?
    pub fn contains(&self, v: Var) -> bool {
        self.position(v.0 / 64).is_ok_and(|i| self.0[i].1 & (1u64 << (v.0 % 64)) != 0)
    }
    /// Adds all; did it grow?
    pub fn union(&mut self, other: &VarSet) -> bool {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return !other.0.is_empty();
        }
        let (mut grew, mut i) = (false, 0);
        for (w, bits) in &other.0 {
            while i < self.0.len() && self.0[i].0 < *w {
                i += 1;
            }
            match self.0.get_mut(i) {
                Some((own, mine)) if own == w => {
                    grew |= bits & !*mine != 0;
                    *mine |= bits;
                }
                _ => {
                    self.0.insert(i, (*w, *bits));
                    grew = true;
                }
            }
        }
        grew
    }
    /// Members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Var> + '_ {
        self.0.iter().flat_map(|(i, w)| {
            let mut w = *w;
            std::iter::from_fn(move || {
                (w != 0).then(|| {
                    let b = w.trailing_zeros();
                    w &= w - 1;
                    Var(i * 64 + b)
                })
            })
        })
    }
}

/// Blocks of statements, as far as flow analysis looks at them.
pub trait FlowGraph {
    /// Number of blocks.
    fn blocks(&self) -> usize;
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
}

impl FlowGraph for FunctionFlow<'_> {
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
    let mut live = vec![VarSet::new(); g.blocks()];
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
    let mut set = VarSet::new();
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
