//! Which nodes get pools and small pointers: for the shared nodes once, for those of a function when a version of it is
//! made.
//!
//! Invariant: the shape of a node is decided where it is complete: shared nodes with the whole program known; a node
//! that neither parameters nor result of a function reach, in that function; any other where its caller decides.

use crate::dsa::Analysis;
use crate::dsa::points_to::{Cell, Node, NodeId, Why, flag};
use crate::model::FuncId;
use crate::object_index::Refused;
use crate::settings::{Bits, Mode};
use crate::shape::{self, Shape};
use std::collections::{BTreeMap, BTreeSet};

/// Decides shapes.
pub struct Planner<'a, 'm> {
    pub analysis: &'a Analysis<'m>,
    pub mode: Mode,
    pub bits: Bits,
    /// What can have no dynamic pool; empty in other modes.
    pub refused: Refused,
    /// What an earlier attempt could not rewrite.
    pub dropped: &'a BTreeMap<NodeId, Why>,
}

/// What was decided for a node, and why no more.
#[derive(Clone, Debug)]
pub struct Decision {
    pub shape: Shape,
    /// Why its objects are in no pool.
    pub no_pool: Option<Why>,
    /// Why its layout stays.
    pub no_layout: Option<Why>,
    /// The nodes of the dynamic pools that its indices point to.
    pub targets: BTreeSet<NodeId>,
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

    /// Can this node have a dynamic pool? Then the size of its objects.
    fn dynamic(&self, id: NodeId) -> Result<u64, Why> {
        let node = self.analysis.graph.node(id);
        let no = |text: &str| Err(Why { text: text.into(), at: node.origin });
        shape::indexable(node)?;
        if let Some(why) = self.dropped.get(&id) {
            return Err(why.clone());
        }
        if let Some(why) = self.refused.why(id) {
            return Err(why.clone());
        }
        let (size, array) = shape::object_size(self.analysis, node)?;
        let fields_end = node.fields.iter().map(|(&o, f)| o as u64 + f.size).max();
        let runs_end = node.runs.iter().map(|(&o, r)| o as u64 + r.count * r.size).max();
        match fields_end.max(runs_end).unwrap_or(0) > size {
            _ if array => no("several objects are allocated together: they have no number"),
            true => no("accessed beyond the size that is allocated"),
            false => Ok(size),
        }
    }

    fn decide(&self, nodes: &[NodeId], outer: &dyn Fn(NodeId) -> bool) -> BTreeMap<NodeId, Decision> {
        let graph = &self.analysis.graph;
        let here: BTreeSet<NodeId> = nodes.iter().copied().collect();
        let indexable = |target: NodeId, node: &Node| match self.dropped.get(&target) {
            Some(why) => Err(why.clone()),
            None => shape::indexable(node),
        };
        let small = |target: NodeId| match here.contains(&target) {
            true if self.mode == Mode::Dynamic => self.dynamic(target).is_ok(),
            true => indexable(target, graph.node(target)).is_ok(),
            // How a caller's pointers may lie in the object is not known here, unless they are names.
            false => outer(target) && (self.bits == Bits::ThirtyTwo || self.mode == Mode::Dynamic),
        };
        let small_link = |link: Cell| {
            let cell = graph.find(link);
            let unit = |n| self.mode == Mode::Dynamic || shape::in_units(n, cell.offset, self.bits);
            small(cell.node) && unit(graph.node(cell.node))
        };
        let mut decisions = BTreeMap::new();
        let mut targets: BTreeSet<NodeId> = BTreeSet::new();
        for &id in nodes {
            let node = graph.node(id);
            let owned = match self.mode {
                Mode::Dynamic => self.dynamic(id).map(drop),
                _ => indexable(id, &Node { flags: node.flags & !flag::SEEN, ..node.clone() }),
            };
            let layout = match (self.mode, &owned) {
                (Mode::Static | Mode::Dynamic, Ok(())) => {
                    shape::layout(self.analysis, node, self.bits, &small_link)
                }
                (_, Ok(())) => Err(Why { text: "--ptrcomp=pool".into(), at: node.origin }),
                (_, Err(why)) => Err(why.clone()),
            };
            let no_pool = match self.mode {
                Mode::Dynamic => owned.err(),
                _ => indexable(id, node).err(),
            };
            let mut shape = Shape { stride: node.stride, ..Shape::default() };
            shape.runs = node.runs.iter().map(|(&s, r)| (s, r.count, r.size)).collect();
            let no_layout = layout.as_ref().err().cloned();
            let mut own_targets: BTreeSet<NodeId> = BTreeSet::new();
            if let Ok((layout, _)) = layout {
                let pointers = node.fields.values().filter(|f| f.pointer);
                let links = pointers.filter_map(|f| f.link).filter(|&l| small_link(l));
                own_targets.extend(links.map(|l| graph.find(l).node));
                targets.extend(&own_targets);
                shape.layout = Some(layout);
            }
            decisions.insert(id, Decision { shape, no_pool, no_layout, targets: own_targets });
        }
        for (&id, decision) in &mut decisions {
            let node = graph.node(id);
            let wanted = targets.contains(&id) || decision.shape.layout.is_some() || self.mode == Mode::Pool;
            if decision.no_pool.is_none() && wanted && self.mode != Mode::Off {
                decision.shape.pooled = true;
                if self.mode == Mode::Dynamic {
                    decision.shape.dynamic = true;
                    let layout = decision.shape.layout.as_ref().map(|l| l.new_size);
                    let size = || shape::stays(node, self.dynamic(id).unwrap_or(0));
                    decision.shape.object = layout.unwrap_or_else(size);
                    continue;
                }
                decision.shape.indexed = targets.contains(&id);
                let (object, array) = shape::object_size(self.analysis, node).unwrap_or((0, true));
                decision.shape.array = array;
                decision.shape.object = decision.shape.layout.as_ref().map_or(object, |l| l.new_size);
            }
        }
        decisions
    }
}
