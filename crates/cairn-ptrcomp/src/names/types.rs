//! Of which types the objects of nodes are, as far as code says.
//!
//! LLVM's pointers have no types, and the points-to graph needs none. But the computation of a field's address names
//! its structure, and an access tells the field of which structure it means ([`Hint`]). Each hint belongs to the node
//! that its pointer points to; what a callee says of objects, it says of its callers' objects, too.

use super::places::{Places, Spot};
use crate::dsa::Analysis;
use crate::dsa::points_to::{Cell, Node, NodeId, Sites, flag};
use crate::model::*;
use crate::shape;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Objects of which nothing is known.
pub(super) const UNKNOWN: &str = "objects";

/// Of more types than this, a node's objects are anything.
const MOST_TYPES: usize = 48;

/// Places in objects with what is said to begin there, by the type's number.
type Said = BTreeSet<(i64, u32)>;

/// What is said of nodes.
pub(super) struct Types {
    said: HashMap<NodeId, Said>,
    /// By one function alone.
    own: HashMap<(FuncId, NodeId), Said>,
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

    /// What the functions say that hand memory on to a place: their headers, not what comes behind.
    fn headers(&self, analysis: &Analysis, spot: &Spot) -> BTreeSet<u32> {
        let mut all = BTreeSet::new();
        for (function, value) in spot.inner().map(|frame| frame.call) {
            let cell = analysis.known(function, Operand::Value(value));
            let said = cell.and_then(|c| self.own.get(&(function, c.node)));
            all.extend(said.into_iter().flatten().map(|(_, of)| *of));
        }
        all
    }

    /// What the objects of a node that are allocated in these places are called.
    pub(super) fn what(&self, places: &Places, id: NodeId, spots: &[Spot]) -> String {
        let analysis = places.analysis;
        let mut found: Vec<String> = vec![];
        let (mut exact, mut vague) = (vec![], vec![]);
        for spot in spots {
            let (function, value) = spot.chosen().call;
            let cell = analysis.known(function, Operand::Value(value));
            let offset = cell.map_or(0, |c| c.offset);
            let headers = self.headers(analysis, spot);
            let sizes = places.sizes(spot);
            let each = || sizes.iter().flat_map(|&size| [(offset, size), (0, size)]);
            let find = |but: &BTreeSet<u32>| {
                let all: Vec<_> =
                    each().filter_map(|(o, size)| self.compound(analysis, id, o, size, but)).collect();
                all.iter().find(|(_, exact)| *exact).or(all.first()).cloned()
            };
            match find(&headers).or_else(|| find(&BTreeSet::new())) {
                Some((name, true)) => exact.push(name),
                Some((name, false)) => vague.push(name),
                None => vague.push(self.plain(analysis, id, sizes[0])),
            }
        }
        if spots.is_empty() {
            let compound = self.compound(analysis, id, 0, Size::Unknown, &BTreeSet::new());
            vague.push(compound.map_or_else(|| self.plain(analysis, id, Size::Unknown), |(name, _)| name));
        }
        for name in exact.into_iter().chain(vague) {
            let known = |n: &String| n.trim_end_matches("[]") == name.trim_end_matches("[]");
            match found.iter_mut().find(|n| known(n)) {
                Some(same) if name.len() > same.len() => *same = name,
                Some(_) => {}
                None => found.push(name),
            }
        }
        match &found[..] {
            [] => UNKNOWN.into(),
            [one] => one.clone(),
            [one, two] => format!("{one} and {two}"),
            [one, two, ..] => format!("{one}, {two} and others"),
        }
    }

    /// The structure at this offset of a node's objects; and whether the size that is allocated is its own, or that of a
    /// row of them.
    fn compound(
        &self,
        analysis: &Analysis,
        id: NodeId,
        offset: i64,
        size: Size,
        but: &BTreeSet<u32>,
    ) -> Option<(String, bool)> {
        let types = &analysis.module.types;
        let said = self.said.get(&id)?.iter().filter(|(at, of)| *at == offset && types[*of as usize].compound);
        let said = said.filter(|(_, of)| !but.contains(of));
        let all = decided(said.map(|(_, of)| &types[*of as usize]).collect());
        let fits = |t: &&TypeName| match size {
            Size::Const(n) | Size::Multiple(n) => t.size > 0 && n.is_multiple_of(t.size),
            _ => false,
        };
        if let Some(best) = all.iter().filter(fits).max_by_key(|t| t.size) {
            let row = if size == Size::Const(best.size) { "" } else { "[]" };
            return Some((format!("{}{row}", best.name), true));
        }
        // More than the structure, behind which lies something else; or less, so it is another's beginning.
        let (least, most) = match size {
            Size::Const(n) => (0, n),
            _ => (0, u64::MAX),
        };
        let inside = all.iter().filter(|t| (least..=most).contains(&t.size)).max_by_key(|t| t.size);
        inside.or(all.iter().min_by_key(|t| t.size)).map(|t| (t.name.clone(), false))
    }

    /// Numbers, text, or pointers.
    fn plain(&self, analysis: &Analysis, id: NodeId, size: Size) -> String {
        let node = analysis.graph.node(id);
        let types = &analysis.module.types;
        let said = self.said.get(&id);
        let at_start =
            || said.into_iter().flatten().filter(|(at, _)| *at == 0).map(|(_, of)| &types[*of as usize]);
        let elsewhere = node.fields.keys().any(|&o| o != 0 && !node.runs.contains_key(&0));
        let sized = match size {
            Size::Const(n) => format!("{n}-byte objects"),
            _ => UNKNOWN.into(),
        };
        if elsewhere {
            return sized;
        }
        let array = |element: &str, bytes: u64| match size {
            Size::Const(n) if n == bytes => element.to_string(),
            _ => format!("{element}[]"),
        };
        if let Some(target) = node.fields.get(&0).filter(|f| f.pointer).and_then(|f| f.link) {
            let target = analysis.graph.find(target);
            let one = unit(analysis, analysis.graph.node(target.node));
            let clear = analysis.graph.node(target.node).collapsed.is_none() && one != Size::Unknown;
            let pointee = self.compound(analysis, target.node, target.offset, one, &BTreeSet::new());
            return match pointee.filter(|(_, exact)| clear && *exact) {
                Some((name, _)) => array(&format!("{} *", name.trim_end_matches("[]")), 8),
                None => "pointers".into(),
            };
        }
        let numbers = at_start().filter(|t| !t.compound && t.name != "char").min_by_key(|t| t.name.clone());
        match (numbers, node.fields.get(&0)) {
            (Some(number), Some(field)) => array(&number.name, field.size),
            (None, Some(field)) if field.size == 1 => array("char", 1),
            _ if at_start().any(|t| t.name == "char") => array("char", 1),
            (None, None) if size == Size::Unknown || matches!(size, Size::Multiple(1)) => "char[]".into(),
            _ => sized,
        }
    }
}

/// Of a type that may be one of two, the one that something else says, too.
fn decided(all: Vec<&TypeName>) -> Vec<TypeName> {
    let (unclear, mut clear): (Vec<TypeName>, Vec<TypeName>) =
        all.into_iter().cloned().partition(|t| t.name.contains(EITHER));
    for one in unclear {
        let mut meant = clear.iter_mut().filter(|t| one.name.split(EITHER).any(|name| name == t.name)).peekable();
        match meant.peek() {
            Some(_) => meant.for_each(|t| t.size = t.size.max(one.size)),
            None => {
                drop(meant);
                clear.push(one);
            }
        }
    }
    clear
}

/// The size of a node's objects, if they are all alike.
fn unit(analysis: &Analysis, node: &Node) -> Size {
    match &node.sites {
        Sites::All(sites) if !sites.is_empty() => {
            let mut sizes = sites.iter().map(|s| shape::resolved(analysis, s.size, 0));
            let first = sizes.next().unwrap_or(Size::Unknown);
            if sizes.all(|s| s == first) { first } else { Size::Unknown }
        }
        _ => Size::Unknown,
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
