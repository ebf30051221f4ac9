//! Of which types the objects of nodes are, as far as code says.
//!
//! LLVM's pointers have no types, and the points-to graph needs none. But the computation of a field's address names
//! its structure, and an access tells the field of which structure it means ([`Hint`]). Each hint belongs to the node
//! that its pointer points to; what a callee says of objects, it says of its callers' objects, too.

use crate::dsa::Analysis;
use crate::dsa::points_to::{Cell, NodeId, flag};
use crate::model::*;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Of more types than this, a node's objects are anything.
const MOST_TYPES: usize = 48;

/// Places in objects with what is said to begin there, by the type's number.
pub(super) type Said = BTreeSet<(i64, u32)>;

/// What is said of nodes.
pub(super) struct Types {
    pub(super) said: HashMap<NodeId, Said>,
    /// By one function alone.
    pub(super) own: HashMap<(FuncId, NodeId), Said>,
    /// Functions, by name, that were put into another and access a node there as a structure.
    inside: HashSet<(FuncId, Box<str>, NodeId)>,
}

impl Types {
    pub(super) fn find(analysis: &Analysis) -> Types {
        let mut types = Types { said: HashMap::new(), own: HashMap::new(), inside: HashSet::new() };
        for hint in &analysis.module.hints {
            let Some(cell) = analysis.known(hint.function, hint.pointer) else { continue };
            let collapsed = analysis.graph.node(cell.node).collapsed.is_some();
            let start = if collapsed { 0 } else { cell.offset - hint.back as i64 };
            let (node, said) = (cell.node, (start, hint.of));
            types.said.entry(node).or_default().insert(said);
            types.own.entry((hint.function, node)).or_default().insert(said);
            if let (Some(name), true) = (&hint.inside, analysis.module.types[hint.of as usize].compound) {
                types.inside.insert((hint.function, name.clone(), node));
            }
        }
        let order = callees_first(analysis);
        while order.iter().filter(|&&id| types.rise(analysis, id)).count() > 0 {}
        types
    }

    /// What callees say of a function's nodes; true if that is news.
    fn rise(&mut self, analysis: &Analysis, caller: FuncId) -> bool {
        let graph = &analysis.graph;
        let mut news = false;
        for call in &analysis.functions[caller.0 as usize].calls {
            for (&node, &cell) in &call.copies {
                let there = graph.find(Cell { node, offset: 0 }).node;
                let Some(said) = self.said.get(&there).cloned() else { continue };
                let here = graph.find(cell);
                let collapsed = graph.node(here.node).collapsed.is_some();
                let all = self.said.entry(here.node).or_default();
                for (offset, of) in said {
                    let offset = if collapsed { 0 } else { offset + here.offset };
                    news |= all.len() < MOST_TYPES && all.insert((offset, of));
                }
            }
        }
        news
    }

    /// What the function, and what it calls, says of what lies there in a node's objects: that it is a structure, and
    /// that it is anything at all.
    pub(super) fn told(&self, analysis: &Analysis, function: FuncId, node: NodeId, offset: i64) -> (bool, bool) {
        // All of the program speaks of a shared node.
        let shared = analysis.graph.node(node).flags & flag::SHARED != 0;
        let said = if shared { self.own.get(&(function, node)) } else { self.said.get(&node) };
        let Some(said) = said else { return (false, false) };
        let compound = |(at, of): &(i64, u32)| *at == offset && analysis.module.types[*of as usize].compound;
        (said.iter().any(compound), true)
    }

    /// Does a function that was put into another say what the objects are that this call gives?
    pub(super) fn told_inside(&self, analysis: &Analysis, function: FuncId, value: ValueId, inside: &str) -> bool {
        let cell = analysis.known(function, Operand::Value(value));
        cell.is_some_and(|c| self.inside.contains(&(function, inside.into(), c.node)))
    }
}

/// Functions, callees before their callers but in circles.
fn callees_first(analysis: &Analysis) -> Vec<FuncId> {
    let mut order = vec![];
    let mut seen = vec![false; analysis.functions.len()];
    for root in analysis.module.function_ids() {
        let mut work = vec![(root, 0usize)];
        while let Some((id, next)) = work.pop() {
            if next == 0 && std::mem::replace(&mut seen[id.0 as usize], true) {
                continue;
            }
            match analysis.functions[id.0 as usize].calls.get(next) {
                Some(call) => {
                    work.push((id, next + 1));
                    if !seen[call.callee.0 as usize] {
                        work.push((call.callee, 0));
                    }
                }
                None => order.push(id),
            }
        }
    }
    order
}
