//! Data structure analysis: what each pointer of the program points to.
//!
//! Three phases, after Lattner (2005): *local*, each function for itself; *bottom-up*, where a caller gets a copy of
//! what its callees do with their parameters, so that a list made by `make_list` here and one made there are two; and
//! top-down, which is here done by whoever wants to know: `FunctionGraph::calls` tells for each call which nodes
//! of the callee stand for which of the caller.
//!
//! Invariant: if at run time two pointers can have the same value, or one can be computed from the other, they have the
//! same node; of shared nodes this holds for the whole program, of others within each function and its call sites.

mod analysis;
mod bottom_up;
pub mod externals;
mod local;
pub mod points_to;
mod points_to_nodes;

use crate::model::*;
pub use analysis::Analysis;
use points_to::{Graph, flag};
use std::cell::RefCell;

/// Analyses a program.
pub fn analyze(module: &Module) -> Analysis<'_> {
    let mut analysis = Analysis {
        module,
        graph: Graph::default(),
        functions: vec![],
        globals: vec![None; module.globals.len()],
        function_cells: vec![None; module.functions.len()],
        indirect: vec![],
        callers: vec![vec![]; module.functions.len()],
        interfaces: RefCell::default(),
    };
    local::build(&mut analysis);
    bottom_up::run(&mut analysis);
    analysis.calls_of_unknown_addresses();
    analysis.interfaces.borrow_mut().clear();
    for caller in module.function_ids() {
        for call in &analysis.functions[caller.0 as usize].calls {
            analysis.callers[call.callee.0 as usize].push((caller, call.value));
        }
    }
    analysis
}

impl Analysis<'_> {
    /// Addresses that came from outside may be of functions outside.
    fn calls_of_unknown_addresses(&mut self) {
        loop {
            let mut changed = false;
            for (function, value, target) in self.indirect.clone() {
                let node = self.graph.at(target);
                if node.flags & flag::ESCAPED == 0 && node.collapsed.is_none() {
                    continue;
                }
                let Op::Call(call) = &self.module.function(function).values[value.0 as usize].op else { continue };
                let at = self.module.function(function).values[value.0 as usize].at;
                let result = Operand::Value(value);
                for operand in call.arguments.iter().copied().chain([result]) {
                    if let Some(cell) = self.operand(Some(function), operand)
                        && self.graph.at(cell).flags & flag::ESCAPED == 0
                    {
                        self.graph.escape(cell, "escapes through a function pointer from outside", at);
                        changed = true;
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }
}
