//! Which nodes get pools and small pointers: for the shared nodes once, for those of a function when a version of it is
//! made.
//!
//! Invariant: the shape of a node is decided where it is complete: shared nodes with the whole program known; a node
//! that neither parameters nor result of a function reach, in that function; any other where its caller decides.

use crate::dsa::Analysis;
use crate::dsa::points_to::{Cell, Node, NodeId, Why, flag};
use crate::model::FuncId;
use crate::settings::{Bits, Mode};
use crate::shape::{self, Shape};
use std::collections::{BTreeMap, BTreeSet};

/// Decides shapes.
pub struct Planner<'a, 'm> {
    pub analysis: &'a Analysis<'m>,
    pub mode: Mode,
    pub bits: Bits,
}

/// What was decided for a node, and why no more.
#[derive(Clone, Debug)]
pub struct Decision {
    pub shape: Shape,
    /// Why its objects are in no pool.
    pub no_pool: Option<Why>,
    /// Why its layout stays.
    pub no_layout: Option<Why>,
}

impl Planner<'_, '_> {
    /// The shared nodes.
    pub fn shared(&self) -> BTreeMap<NodeId, Decision> {
        let graph = &self.analysis.graph;
        let nodes: Vec<NodeId> = (0..graph.len() as u32)
            .map(NodeId)
            .filter(|&id| graph.is_node(id) && graph.node(id).flags & flag::SHARED != 0)
            .collect();
        self.decide(&nodes, &|_| false)
    }

    /// The nodes that are a function's own. `outer` tells of the others whether their addresses are indices.
    pub fn own(&self, id: FuncId, outer: &dyn Fn(NodeId) -> bool) -> BTreeMap<NodeId, Decision> {
        let graph = &self.analysis.graph;
        let interface: BTreeSet<NodeId> = self.analysis.interface(id).iter().copied().collect();
        let function = &self.analysis.functions[id.0 as usize];
        let mut work: Vec<Cell> = function.values.iter().flatten().copied().collect();
        work.extend(function.calls.iter().flat_map(|c| c.copies.values().copied()));
        let mut seen = BTreeSet::new();
        while let Some(cell) = work.pop() {
            let node = graph.find(cell).node;
            if graph.node(node).flags & flag::SHARED != 0 || interface.contains(&node) || !seen.insert(node) {
                continue;
            }
            work.extend(graph.node(node).fields.values().filter_map(|f| f.link));
        }
        self.decide(&seen.into_iter().collect::<Vec<_>>(), outer)
    }

    fn decide(&self, nodes: &[NodeId], outer: &dyn Fn(NodeId) -> bool) -> BTreeMap<NodeId, Decision> {
        let graph = &self.analysis.graph;
        let here: BTreeSet<NodeId> = nodes.iter().copied().collect();
        let small = |target: NodeId| match here.contains(&target) {
            true => shape::indexable(graph.node(target)).is_ok(),
            // How a caller's pointers may lie in the object is not known here.
            false => outer(target) && self.bits == Bits::ThirtyTwo,
        };
        let small_link = |link: Cell| {
            let cell = graph.find(link);
            small(cell.node) && shape::in_units(graph.node(cell.node), cell.offset, self.bits)
        };
        let mut decisions = BTreeMap::new();
        let mut targets = BTreeSet::new();
        for &id in nodes {
            let node = graph.node(id);
            let owned = shape::indexable(&Node { flags: node.flags & !flag::SEEN, ..node.clone() });
            let layout = match (self.mode, &owned) {
                (Mode::Static, Ok(())) => shape::layout(self.analysis, node, self.bits, &small_link),
                (_, Ok(())) => Err(Why { text: "--ptrcomp=pool".into(), at: node.origin }),
                (_, Err(why)) => Err(why.clone()),
            };
            let no_pool = shape::indexable(node).err();
            let mut shape = Shape { stride: node.stride, ..Shape::default() };
            shape.runs = node.runs.iter().map(|(&s, r)| (s, r.count, r.size)).collect();
            let no_layout = layout.as_ref().err().cloned();
            if let Ok((layout, _)) = layout {
                let pointers = node.fields.values().filter(|f| f.pointer);
                let links = pointers.filter_map(|f| f.link).filter(|&l| small_link(l));
                targets.extend(links.map(|l| graph.find(l).node));
                shape.layout = Some(layout);
            }
            decisions.insert(id, Decision { shape, no_pool, no_layout });
        }
        for (&id, decision) in &mut decisions {
            let node = graph.node(id);
            let wanted = targets.contains(&id) || decision.shape.layout.is_some() || self.mode == Mode::Pool;
            if decision.no_pool.is_none() && wanted && self.mode != Mode::Off {
                decision.shape.pooled = true;
                decision.shape.indexed = targets.contains(&id);
                let (object, array) = shape::object_size(self.analysis, node).unwrap_or((0, true));
                decision.shape.array = array;
                decision.shape.object = decision.shape.layout.as_ref().map_or(object, |l| l.new_size);
            }
        }
        decisions
    }
}
