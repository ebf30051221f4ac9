//! Which nodes get pools and small pointers: for the shared nodes once, for those of a function when a version of it is
//! made.
//!
//! Invariant: the shape of a node is decided where it is complete: shared nodes with the whole program known; a node
//! that neither parameters nor result of a function reach, in that function; any other where its caller decides.
//!
//! Where static and dynamic pools are mixed, it is a node's own affair which it gets: static if no run of the program
//! can outgrow its indices, else dynamic, else neither. An index to a dynamic pool only lies in one of its sources,
//! which are dynamic, for they are expanded with it; all others hold its objects' names as they are. Dynamic pools hold
//! addresses of static ones.

use crate::allocation_counts::Bounds;
use crate::dsa::Analysis;
use crate::dsa::points_to::{Cell, Node, NodeId, Why, flag};
use crate::model::FuncId;
use crate::names::{Name, Names};
use crate::object_index::Refused;
use crate::settings::{Bits, Mode};
use crate::shape::{self, Shape};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// What `malloc` gives is aligned for anything.
const MALLOC_ALIGNMENT: u64 = 16;

/// Decides shapes.
pub struct Planner<'a, 'm> {
    pub analysis: &'a Analysis<'m>,
    pub mode: Mode,
    pub bits: Bits,
    /// What can have no dynamic pool; empty in modes without.
    pub refused: Refused,
    pub bounds: Bounds,
    /// What an earlier attempt could not rewrite.
    pub dropped: &'a BTreeMap<NodeId, Why>,
    /// There may be several threads.
    pub threaded: bool,
    /// What nodes are called; found when the first is asked for.
    pub names: OnceCell<Names>,
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
    /// Why the pool is static or dynamic, where both are possible.
    pub because: Option<Why>,
}

/// How pointers to a node's objects can be made small.
pub enum Form {
    Not(Why),
    /// Indices that end the program when they don't suffice, or always do; of the latter, the reason.
    Static(Option<Why>),
    /// Names, of objects of so many bytes; and why not static.
    Dynamic(u64, Option<Why>),
}

/// What pointers to a node of a caller, or of all, are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outer {
    Plain,
    Index,
    Name,
}

impl Planner<'_, '_> {
    /// What a node's objects are called.
    pub fn name(&self, id: NodeId) -> Name {
        self.names().of(self.analysis, id)
    }

    /// All names.
    pub fn names(&self) -> &Names {
        self.names.get_or_init(|| Names::find(self.analysis))
    }

    /// The shared nodes.
    pub fn shared(&self) -> BTreeMap<NodeId, Decision> {
        let graph = &self.analysis.graph;
        let nodes: Vec<NodeId> = (0..graph.len() as u32)
            .map(NodeId)
            .filter(|&id| graph.is_node(id) && graph.node(id).flags & flag::SHARED != 0)
            .collect();
        self.decide(&nodes, &|_| Outer::Plain)
    }

    /// The nodes that are a function's own. `outer` tells what pointers to the others are.
    pub fn own(&self, id: FuncId, outer: &dyn Fn(NodeId) -> Outer) -> BTreeMap<NodeId, Decision> {
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

    /// Can addresses of this node be indices, wherever they are looked at?
    fn indexable(&self, id: NodeId, node: &Node) -> Result<(), Why> {
        match self.dropped.get(&id) {
            Some(why) => Err(why.clone()),
            None => shape::indexable(node),
        }
    }

    /// Why an address can't be an index where it lies in a union: the number must be zero if the pointer is null.
    fn in_unions(&self, node: &Node) -> Option<Why> {
        let text = "its addresses lie in unions with numbers".to_string();
        (node.flags & flag::MIXED != 0).then_some(Why { text, at: node.origin })
    }

    fn form(&self, id: NodeId) -> Form {
        let node = self.analysis.graph.node(id);
        match (self.mode, self.indexable(id, node)) {
            (Mode::Dynamic, _) => self.dynamic(id).map_or_else(Form::Not, |size| Form::Dynamic(size, None)),
            (_, Err(why)) => Form::Not(why),
            (Mode::Auto, Ok(())) => self.form_that_suffices(id),
            (_, Ok(())) => self.in_unions(node).map_or(Form::Static(None), Form::Not),
        }
    }

    fn form_that_suffices(&self, id: NodeId) -> Form {
        let reach = self.bits.reach();
        let unknown = match self.bounds.most(self.analysis, id) {
            _ if self.in_unions(self.analysis.graph.node(id)).is_some() => {
                return self.dynamic_in_unions(id);
            }
            Ok(most) if most.fits(reach) => {
                let text = format!("{most}");
                return Form::Static(Some(Why { text, at: self.analysis.graph.node(id).origin }));
            }
            Ok(most) => Why { text: format!("{most}"), at: self.analysis.graph.node(id).origin },
            Err(why) => why,
        };
        match self.dynamic(id) {
            Ok(size) => Form::Dynamic(size, Some(unknown)),
            Err(Why { text, at }) => {
                let place = self.names().line(self.analysis, id, unknown.at);
                let text = format!(
                    "it may outgrow its indices ({} at {place}) and can't be dynamic: {text}",
                    unknown.text
                );
                Form::Not(Why { text, at })
            }
        }
    }

    fn dynamic_in_unions(&self, id: NodeId) -> Form {
        let why = self.in_unions(self.analysis.graph.node(id));
        self.dynamic(id).map_or_else(Form::Not, |size| Form::Dynamic(size, why))
    }

    /// Can the layout of this node's objects change, as far as they are concerned?
    fn owned(&self, id: NodeId, form: &Form) -> Result<(), Why> {
        let node = self.analysis.graph.node(id);
        match (self.mode, form) {
            (Mode::Dynamic, Form::Not(why)) => Err(why.clone()),
            (_, Form::Dynamic(..)) => Ok(()),
            _ => self.indexable(id, &Node { flags: node.flags & !flag::SEEN, ..node.clone() }),
        }
    }

    fn decide(&self, nodes: &[NodeId], outer: &dyn Fn(NodeId) -> Outer) -> BTreeMap<NodeId, Decision> {
        let graph = &self.analysis.graph;
        let forms: BTreeMap<NodeId, Form> = nodes.iter().map(|&id| (id, self.form(id))).collect();
        // Can this pointer be small in an object of a dynamic pool, or in another?
        let small_link = |link: Cell, in_dynamic: bool| {
            let cell = graph.find(link);
            // A name and an offset is no multiple of what shorter indices count by.
            let fits = cell.offset == 0 || self.bits == Bits::ThirtyTwo;
            match forms.get(&cell.node) {
                Some(Form::Not(_)) => false,
                Some(Form::Dynamic(..)) => in_dynamic && fits,
                Some(Form::Static(_)) => {
                    !in_dynamic && shape::in_units(graph.node(cell.node), cell.offset, self.bits)
                }
                // How a caller's pointers may lie in the object is not known here, unless they are names.
                None => match outer(cell.node) {
                    Outer::Plain => false,
                    Outer::Name => in_dynamic && fits,
                    Outer::Index => !in_dynamic && self.bits == Bits::ThirtyTwo,
                },
            }
        };
        let mut decisions = BTreeMap::new();
        for (&id, form) in &forms {
            let node = graph.node(id);
            let in_dynamic = matches!(form, Form::Dynamic(..));
            let small_link = |link: Cell| small_link(link, in_dynamic);
            let layout = match (self.mode, self.owned(id, form)) {
                (Mode::Static | Mode::Dynamic | Mode::Auto, Ok(())) => {
                    shape::layout(self.analysis, node, self.bits, &small_link)
                }
                (_, Ok(())) => Err(Why { text: "--ptrcomp=pool".into(), at: node.origin }),
                (_, Err(why)) => Err(why),
            };
            let no_pool = if let Form::Not(why) = form { Some(why.clone()) } else { None };
            let mut shape = Shape { stride: node.stride, ..Shape::default() };
            shape.runs = node.runs.iter().map(|(&s, r)| (s, r.count, r.size)).collect();
            let no_layout = layout.as_ref().err().cloned();
            let mut own_targets: BTreeSet<NodeId> = BTreeSet::new();
            if let Ok((layout, _)) = layout {
                let pointers = node.fields.values().filter(|f| f.pointer && !f.mixed);
                let links = pointers.filter_map(|f| f.link).filter(|&l| small_link(l));
                own_targets.extend(links.map(|l| graph.find(l).node));
                shape.layout = Some(layout);
            }
            let decision = Decision { shape, no_pool, no_layout, targets: own_targets, because: None };
            decisions.insert(id, decision);
        }
        while let Some((id, why)) =
            decisions.iter().find_map(|(&id, d)| Some((id, self.too_little(id, d, &decisions)?)))
        {
            let decision: &mut Decision = decisions.get_mut(&id).expect("just found");
            (decision.shape.layout, decision.no_layout) = (None, Some(why));
            decision.targets.clear();
        }
        let targets: BTreeSet<NodeId> = decisions.values().flat_map(|d| d.targets.iter().copied()).collect();
        for (&id, decision) in &mut decisions {
            let wanted = targets.contains(&id) || decision.shape.layout.is_some() || self.mode == Mode::Pool;
            if wanted && self.mode != Mode::Off {
                self.pool(id, &forms[&id], targets.contains(&id), decision);
            }
        }
        decisions
    }

    /// Why a new layout is not worth it, where we choose: each use of a small pointer costs a little, and if it leads
    /// to objects that stay as large as they are, what is saved must be something beside these, too.
    fn too_little(&self, id: NodeId, decision: &Decision, all: &BTreeMap<NodeId, Decision>) -> Option<Why> {
        let layout = decision.shape.layout.as_ref().filter(|_| self.mode == Mode::Auto)?;
        let graph = &self.analysis.graph;
        let node = graph.node(id);
        let mut bytes = layout.size;
        for (offset, field) in node.fields.iter().filter(|(_, f)| f.pointer) {
            let Some(target) = field.link.map(|l| graph.find(l).node).filter(|n| decision.targets.contains(n))
            else {
                continue;
            };
            let run =
                node.runs.range(..=offset).next_back().filter(|(s, r)| **s + (r.count * r.size) as i64 > *offset);
            if all.get(&target).is_some_and(|d| d.shape.layout.is_none()) {
                let (size, _) = shape::object_size(self.analysis, graph.node(target)).unwrap_or_default();
                bytes += size * run.map_or(1, |(_, r)| r.count);
            }
        }
        let saved = layout.size - layout.new_size;
        let text = format!("smaller pointers would save only {saved} of {bytes} bytes");
        (saved * 5 < bytes).then_some(Why { text, at: node.origin })
    }

    /// Gives a node the pool that its form asks for.
    fn pool(&self, id: NodeId, form: &Form, target: bool, decision: &mut Decision) {
        let node = self.analysis.graph.node(id);
        let shape = &mut decision.shape;
        let size = shape.layout.as_ref().map(|l| l.new_size);
        match form {
            Form::Not(_) => {}
            Form::Dynamic(old, because) => {
                shape.pooled = true;
                shape.dynamic = true;
                shape.object = size.unwrap_or_else(|| shape::stays(node, *old));
                if node.flags & flag::ALIGNED != 0 {
                    shape.object = shape.object.next_multiple_of(MALLOC_ALIGNMENT);
                }
                decision.because = because.clone();
            }
            Form::Static(because) => {
                let (object, array) = shape::object_size(self.analysis, node).unwrap_or((0, true));
                shape.pooled = true;
                shape.indexed = target;
                shape.array = array;
                shape.object = size.unwrap_or(object);
                decision.because = because.clone();
            }
        }
    }
}

/// Edges between pools of one group of nodes, for `Rewriter::points_to`.
pub fn edges(decisions: &BTreeMap<NodeId, Decision>) -> Vec<(NodeId, Vec<NodeId>)> {
    let dynamic = decisions.iter().filter(|(_, d)| d.shape.dynamic);
    dynamic.map(|(id, d)| (*id, d.targets.iter().copied().collect())).collect()
}
