//! Frame slots of the variables that live across calls.

use crate::flow::{self, VarSet};
use crate::graph::{Proc, ProcTerm};
use crate::ir::{Frame, Var};
use cairn_layout::facts::StrategyFacts;
use std::collections::HashMap;

/// Frame slots of variables that live across calls.
pub struct Slots {
    /// For each block that ends in a call: the saved variables with their slots, by slot.
    pub at: HashMap<usize, Vec<(Var, u32)>>,
}

impl Slots {
    /// Gives a slot to each variable that lives across a call.
    pub fn assign(proc: &Proc, live: &[VarSet], strategy: &StrategyFacts) -> Slots {
        let mut sets: Vec<(usize, Vec<Var>)> = vec![];
        for (i, b) in proc.blocks.iter().enumerate() {
            if matches!(b.term, ProcTerm::Call(..)) {
                sets.push((i, flow::live_after_term(proc, i, live).iter().collect()));
            }
        }
        let mut at = HashMap::new();
        if !strategy.reuse {
            for (i, set) in sets {
                at.insert(i, set.into_iter().enumerate().map(|(s, v)| (v, s as u32)).collect());
            }
            return Slots { at };
        }
        // Interference among the variables saved together, then greedy coloring in order of first call.
        let mut together: HashMap<Var, Vec<usize>> = HashMap::new();
        for (k, (_, set)) in sets.iter().enumerate() {
            for v in set {
                together.entry(*v).or_default().push(k);
            }
        }
        let mut slot: HashMap<Var, u32> = HashMap::new();
        // the slots given to each set's variables so far, a bit for each
        let mut taken: Vec<Vec<u64>> = vec![vec![]; sets.len()];
        for (_, set) in &sets {
            for v in set {
                if slot.contains_key(v) {
                    continue;
                }
                let word_free = |w: usize| {
                    !together[v].iter().fold(0, |all, k| all | taken[*k].get(w).copied().unwrap_or_default())
                };
                let (w, free) = (0..).map(|w| (w, word_free(w))).find(|(_, free)| *free != 0).expect("a slot");
                let s = 64 * w as u32 + free.trailing_zeros();
                slot.insert(*v, s);
                for &k in &together[v] {
                    if taken[k].len() <= w {
                        taken[k].resize(w + 1, 0);
                    }
                    taken[k][w] |= 1 << (s % 64);
                }
            }
        }
        for (i, set) in sets {
            let mut saved: Vec<(Var, u32)> = set.into_iter().map(|v| (v, slot[&v])).collect();
            saved.sort_by_key(|x| x.1);
            at.insert(i, saved);
        }
        Slots { at }
    }

    /// The frame that the call at the end of block `call` makes.
    pub fn frame(&self, call: usize, strategy: &StrategyFacts) -> Frame {
        let saved = &self.at[&call];
        let top = saved.last().map_or(0, |(_, s)| s + 1);
        Frame { words: strategy.header_words + top, live: saved.iter().map(|x| x.1).collect() }
    }
}
