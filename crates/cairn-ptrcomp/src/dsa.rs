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
mod assumed;
mod bottom_up;
mod calls_by_address;
pub mod externals;
mod local;
pub mod points_to;
mod points_to_nodes;
mod printers;

use crate::model::*;
pub use analysis::Analysis;
pub use assumed::{Assumed, Singles};
use points_to::Graph;
use std::cell::RefCell;

/// Analyses a program: again and again until calls by address call no more than was assumed.
pub fn analyze(module: &Module, singles: Singles) -> Analysis<'_> {
    analyze_again(module, Assumed::new(singles))
}

/// Analyses a program for which this was assumed in the end.
pub fn analyze_again(module: &Module, mut assumed: Assumed) -> Analysis<'_> {
    loop {
        let analysis = once(module, assumed.clone());
        if !assumed.add(&analysis) {
            return analysis;
        }
    }
}

fn once(module: &Module, assumed: Assumed) -> Analysis<'_> {
    let mut analysis = Analysis {
        module,
        graph: Graph::default(),
        functions: vec![],
        globals: vec![None; module.globals.len()],
        function_cells: vec![None; module.functions.len()],
        assumed,
        printers: printers::find(module),
        indirect: vec![],
        called_back: vec![],
        callers: vec![vec![]; module.functions.len()],
        interfaces: RefCell::default(),
    };
    local::build(&mut analysis);
    bottom_up::run(&mut analysis);
    analysis.interfaces.borrow_mut().clear();
    for caller in module.function_ids() {
        for call in &analysis.functions[caller.0 as usize].calls {
            analysis.callers[call.callee.0 as usize].push((caller, call.value));
        }
    }
    analysis
}
