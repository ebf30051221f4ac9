//! What the objects of a node are called, of all that is said of them.
//!
//! Of several structures that begin in one place, it is the one that has the size that is allocated, or of which a row
//! has; of functions that hand memory on, what they say of it is of their headers, and counts where nothing else does.

use super::places::{Places, Spot};
use super::types::Types;
use crate::dsa::Analysis;
use crate::dsa::points_to::{Node, NodeId, Sites};
use crate::model::*;
use crate::shape;
use std::collections::BTreeSet;

/// Objects of which nothing is known.
pub(super) const UNKNOWN: &str = "objects";

impl Types {
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

    /// What the objects of a node that are allocated in this place are called, and whether their size says so, too.
    pub(super) fn of_spot(&self, places: &Places, id: NodeId, spot: &Spot) -> (String, bool) {
        let analysis = places.analysis;
        let (function, value) = spot.chosen().call;
        let cell = analysis.known(function, Operand::Value(value));
        let offset = cell.map_or(0, |c| c.offset);
        let headers = self.headers(analysis, spot);
        let sizes = places.sizes(spot);
        let each = || sizes.iter().flat_map(|&size| [(offset, size), (0, size)]);
        let find = |but: &BTreeSet<u32>| {
            let all: Vec<_> = each().filter_map(|(o, size)| self.compound(analysis, id, o, size, but)).collect();
            all.iter().find(|(_, exact)| *exact).or(all.first()).cloned()
        };
        let found = find(&headers).or_else(|| find(&BTreeSet::new()));
        found.unwrap_or_else(|| (self.plain(analysis, id, sizes[0]), false))
    }

    /// What the objects of a node are called of which no place is known.
    pub(super) fn anywhere(&self, analysis: &Analysis, id: NodeId) -> String {
        let compound = self.compound(analysis, id, 0, Size::Unknown, &BTreeSet::new());
        compound.map_or_else(|| self.plain(analysis, id, Size::Unknown), |(name, _)| name)
    }

    /// The structure at this offset of a node's objects; and whether the size that is allocated is its own, or that of
    /// a row of them.
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
        let all: Vec<&TypeName> = said.map(|(_, of)| &types[*of as usize]).collect();
        let all = decided(&all);
        let fits = |bytes: u64| match size {
            Size::Const(n) | Size::Multiple(n) => bytes > 0 && n.is_multiple_of(bytes),
            _ => false,
        };
        if let Some(&(name, bytes)) = all.iter().filter(|t| fits(t.1)).max_by_key(|t| t.1) {
            let row = if size == Size::Const(bytes) { "" } else { "[]" };
            return Some((format!("{name}{row}"), true));
        }
        // More than the structure, behind which lies something else; or less, so it is another's beginning.
        let most = if let Size::Const(n) = size { n } else { u64::MAX };
        // Of a node without a layout, what is said may be of other objects.
        let unsure = all.len() != 1 || matches!(size, Size::Const(_));
        if unsure && analysis.graph.node(id).collapsed.is_some() {
            return None;
        }
        let inside = all.iter().filter(|t| t.1 <= most).max_by_key(|t| t.1);
        inside.or(all.iter().min_by_key(|t| t.1)).map(|t| (t.0.to_string(), false))
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
        if node.collapsed.is_some() {
            let vague = matches!(size, Size::Unknown | Size::Multiple(1));
            let text = at_start().all(|t| t.name == "char") && (vague || at_start().next().is_some());
            return match (text, vague) {
                (true, _) => "char[]".into(),
                (false, true) => "bytes".into(),
                _ => sized,
            };
        }
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

/// Several types as one.
pub(super) fn together(names: impl Iterator<Item = String>) -> String {
    let mut found: Vec<String> = vec![];
    for name in names {
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

/// Names and sizes; of a type that may be one of two, the one that something else says, too.
fn decided<'t>(all: &[&'t TypeName]) -> Vec<(&'t str, u64)> {
    let unclear = |t: &&&TypeName| t.name.contains(EITHER);
    let clear = all.iter().filter(|t| !unclear(t));
    let mut found: Vec<(&str, u64)> = clear.map(|t| (t.name.as_str(), t.size)).collect();
    for one in all.iter().filter(unclear) {
        let mut meant = false;
        for known in found.iter_mut().filter(|known| one.name.split(EITHER).any(|name| name == known.0)) {
            known.1 = known.1.max(one.size);
            meant = true;
        }
        if !meant {
            found.push((&one.name, one.size));
        }
    }
    found
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
