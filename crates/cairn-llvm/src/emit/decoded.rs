//! Which variables' doubles are at hand: a flonum is decoded once.
//!
//! The problem: a flonum that sits in a value word is decoded by each operation on it, and each time a cold path for
//! boxed ones joins behind it, which keeps LLVM from seeing that the doubles are the same. A test for a flonum looks at
//! the same bits first. The idea: beside such a variable there is one for its double, `%d`. The first operation sets
//! it, and a test for a flonum sets it on the way to where the answer is yes; what comes after only reads it.
//!
//! ```text
//!  branch flonum? x then b1 else b2          x: immediate ──▶ %d = decode x ──▶ b1
//!                                               boxed     ──▶ %d = load     ──▶ b1
//!  b1: y = fl* x x                           b1: y = %d * %d
//! ```
//!
//! Invariants: at the start of a block a double is at hand if it is on every edge that leads there; assigning the
//! variable takes it away. A collection moves the object behind the word, not the double.
//!
//! Complexity: blocks × variables that some operation decodes, for each turn of nested loops.

use cairn_core::prim::{Kind, Op as Primitive, PrimOp};
use cairn_frame::ir::*;
use cairn_frame::uses;
use std::collections::BTreeSet;

/// Variables whose doubles are at hand.
pub(crate) type Doubles = BTreeSet<Var>;

/// See the module's header.
pub(crate) struct Decoded {
    /// Variables that have one for their double.
    pub twins: Doubles,
    /// For each block, those at hand at its start.
    pub at_start: Vec<Doubles>,
}

impl Decoded {
    /// Looks through a function.
    pub(crate) fn of(f: &Function) -> Decoded {
        let mut twins = Doubles::new();
        let mut wanted = |p: &Prim| {
            for v in flonums(p) {
                if f.vars[v.0 as usize].rep == Rep::Tagged {
                    twins.insert(v);
                }
            }
        };
        for b in &f.blocks {
            for s in &b.stmts {
                if let Stmt::Assign(_, Op::Prim(p)) | Stmt::Effect(Op::Prim(p)) = s {
                    wanted(p);
                }
            }
            if let Term::Branch { test: Test::Prim(p), .. } = &b.term {
                wanted(p);
            }
        }
        let mut decoded = Decoded { twins, at_start: Vec::new() };
        decoded.spread(f);
        decoded
    }

    /// Finds what holds at the start of blocks.
    fn spread(&mut self, f: &Function) {
        if self.twins.is_empty() {
            self.at_start = vec![Doubles::new(); f.blocks.len()];
            return;
        }
        // none yet: every double is; entries have none
        let mut at_start: Vec<Option<Doubles>> = vec![None; f.blocks.len()];
        let mut targets = vec![false; f.blocks.len()];
        for b in &f.blocks {
            uses::successors(&b.term).iter().for_each(|s| targets[s.0 as usize] = true);
        }
        let mut todo = Vec::new();
        for (i, target) in targets.iter().enumerate() {
            if i == 0 || !target {
                at_start[i] = Some(Doubles::new());
                todo.push(i);
            }
        }
        while let Some(i) = todo.pop() {
            let mut doubles = at_start[i].clone().unwrap_or_default();
            let b = &f.blocks[i];
            for s in &b.stmts {
                self.after(s, &mut doubles);
            }
            if let Term::Branch { test: Test::Prim(p), .. } = &b.term {
                doubles.extend(decodes(p).filter(|v| self.twins.contains(v)));
            }
            for s in uses::successors(&b.term) {
                let mut edge = doubles.clone();
                if let Term::Branch { test: Test::Prim(p), then, els } = &b.term
                    && (s == *then && s != *els)
                {
                    edge.extend(tested(p).filter(|v| self.twins.contains(v)));
                }
                let old = &mut at_start[s.0 as usize];
                let new: Doubles = match old {
                    Some(old) => old.intersection(&edge).copied().collect(),
                    None => edge,
                };
                if old.as_ref().is_none_or(|old| old.len() != new.len()) {
                    *old = Some(new);
                    todo.push(s.0 as usize);
                }
            }
        }
        self.at_start = at_start.into_iter().map(Option::unwrap_or_default).collect();
    }

    /// What a statement adds and takes away.
    fn after(&self, s: &Stmt, doubles: &mut Doubles) {
        let (Stmt::Assign(_, op) | Stmt::Effect(op)) = s else { return };
        if let Op::Prim(p) = op {
            doubles.extend(decodes(p).filter(|v| self.twins.contains(v)));
        }
        if let Stmt::Assign(v, _) = s {
            doubles.remove(v);
        }
    }
}

/// The variables that the operation has as doubles.
fn flonums(p: &Prim) -> impl Iterator<Item = Var> {
    p.args.iter().enumerate().filter_map(|(i, o)| match o {
        Operand::Var(v) if p.op.arg_kind(i) == Kind::Flonum => Some(*v),
        _ => None,
    })
}

/// Of those, the ones it decodes whichever way it goes on.
fn decodes(p: &Prim) -> impl Iterator<Item = Var> {
    flonums(p).filter(|_| keeps_doubles(p))
}

/// Arithmetic and comparisons of flonums, which decode their operands before they do anything else.
pub(crate) fn keeps_doubles(p: &Prim) -> bool {
    use Primitive::*;
    let arithmetic =
        matches!(p.op, PrimOp::Op(FlAdd | FlSub | FlMul | FlDiv | FlSqrt | FlAbs | FlFloor | FlCeiling));
    arithmetic || matches!(p.op, PrimOp::Op(FlTruncate | FlRound | FlEq | FlLt | FlLe))
}

/// The variable that a test finds to be a flonum.
pub(crate) fn tested(p: &Prim) -> Option<Var> {
    match (p.op, &p.args[..]) {
        (PrimOp::Op(Primitive::IsFlonum), [Operand::Var(v)]) => Some(*v),
        _ => None,
    }
}
