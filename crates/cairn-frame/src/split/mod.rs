//! Splitting a procedure at its calls: one [`Function`] per piece.
//!
//! The problem: a call that is not a tail call must store what is live into a frame and continue in code that can
//! be entered with nothing but that frame. The idea:
//!
//! 1. [`joins`]: a join block of a few instructions is copied into each predecessor rather than
//!    becoming a function of its own;
//! 2. [`graph::extend_return_pieces`]: a return point gets its own copy of what it jumps to, and so keeps its frame;
//! 3. [`graph::pieces`]: every return point and every block shared between pieces is a root; [`cuts`]: very large
//!    pieces are cut;
//! 4. [`frame_slots`]: each variable that lives across a call gets one slot for the whole procedure (greedy coloring),
//!    so that a frame can be kept from call to call and only new values are stored; strategies without reuse number
//!    slots densely per call;
//! 5. [`pieces`]: each piece becomes a function. [`loads`]: frame slots and closure variables are loaded lazily: a load
//!    sinks to the block of its first use, and a variable that only passes through stays in its slot;
//! 6. [`checks`]: one heap check per block covers its allocations (and its heap frame).
//!
//! ```text
//!  b0: call g(x) -> t, then b1        f.0   Body(x)              call g(x) frame{slot0 := y} ret f.0.r1
//!  b1: u := + t y; return u           f.0.r1 Return{slot0} (t)   y := slot 0; u := + t y; return u
//! ```
//!
//! Safety for space: a frame's live map names exactly the variables that the code behind the return point can still
//! use.

mod checks;
mod cuts;
mod frame_slots;
mod joins;
mod loads;
mod pieces;

use crate::flow;
use crate::graph::{self, Proc, ProcTerm};
use crate::ir::*;
use cairn_layout::facts::StrategyFacts;
pub use cuts::{SIZES, Sizes};
use frame_slots::Slots;
use pieces::Splitter;
use std::collections::HashMap;

/// Splits `proc`; its first piece becomes function `body`, the others are appended to `functions`.
pub fn split(
    proc: Proc,
    body: FuncId,
    functions: &mut Vec<Option<Function>>,
    strategy: &'static StrategyFacts,
    sizes: Sizes,
) {
    let mut proc = proc;
    joins::duplicate_tiny(&mut proc);
    if strategy.reuse {
        graph::extend_return_pieces(&mut proc);
    }
    let cut = cuts::cut(&mut proc, sizes);
    let vast = cuts::is_vast(&proc, sizes);
    let live = flow::live_in(&proc);
    let roots = graph::pieces(&proc.blocks, &cut);
    let slots = Slots::assign(&proc, &live, strategy);
    let mut ids: HashMap<BlockId, FuncId> = HashMap::new();
    ids.insert(BlockId(0), body);
    for (i, r) in roots.iter().enumerate() {
        if r.0 as usize == i && i != 0 {
            functions.push(None);
            ids.insert(*r, FuncId(functions.len() as u32 - 1));
        }
    }
    // A call that returns to each return point; if there are several, they are copies and save the same variables.
    let mut call_of: HashMap<BlockId, usize> = HashMap::new();
    for (i, b) in proc.blocks.iter().enumerate() {
        if let ProcTerm::Call(.., next) = &b.term {
            call_of.insert(*next, i);
        }
    }
    let mut members: HashMap<BlockId, Vec<BlockId>> = HashMap::new();
    for (i, r) in roots.iter().enumerate() {
        members.entry(*r).or_default().push(BlockId(i as u32));
    }
    let splitter = Splitter { proc: &proc, live: &live, roots: &roots, slots: &slots, ids: &ids, strategy, vast };
    for (root, blocks) in members {
        let f = splitter.piece(root, &blocks, call_of.get(&root).copied());
        functions[ids[&root].0 as usize] = Some(f);
    }
}
