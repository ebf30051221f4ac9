//! Names of pools for people: of which type the objects are, and where a programmer would look for them.
//!
//! The problem: in most programs all of the heap comes from one line, in a function like `xmalloc`; named after that
//! line, all pools have one name. So a name has two parts. The type is what accesses call the objects ([`types`],
//! [`words`]). The place is the line of the innermost function on the way to the allocation that knows what it
//! allocates ([`places`]); what hands memory on as bytes is only told beside it:
//!
//! ```text
//!  struct list at main.c:30, by way of xcalloc (util.c:20), xmalloc (util.c:12)
//! ```
//!
//! Where two pools would have one name, they also have the calls that tell them apart, and numbers if none does.
//!
//! Invariant: no two nodes that a report is about have the same name.

mod places;
mod types;
mod words;

use crate::dsa::Analysis;
use crate::dsa::points_to::{Cell, NodeId, Sites, flag};
use crate::model::{At, FuncId};
use places::{Frame, Places, Spot};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use types::Types;

/// More lines than are known.
pub const MANY: usize = usize::MAX;

/// What a node's objects are called.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Name {
    /// Their type.
    pub what: String,
    /// The line where they are allocated, as a reader of the program sees it.
    pub place: String,
    /// How many other such lines there are; or [`MANY`].
    pub others: usize,
    /// The functions that allocate for the place, outermost first, and the lines in them; of each way that there is.
    pub by_way_of: Vec<String>,
    /// Functions that call the place's, and where: those that tell this node from others.
    pub callers: Vec<String>,
    /// Tells it from others where nothing else does; 0 if something does.
    pub number: usize,
}

impl Name {
    /// The name without the type.
    pub fn after_type(&self) -> String {
        let whole = self.to_string();
        whole[self.what.len()..].trim_start().to_string()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} at {}", self.what, self.place)?;
        match self.others {
            0 => {}
            1 => write!(f, " and one more line")?,
            MANY => write!(f, " and more lines")?,
            n => write!(f, " and {n} more lines")?,
        }
        match &self.by_way_of[..] {
            [] => {}
            [one] => write!(f, ", by way of {one}")?,
            [one, two] => write!(f, ", by way of {one} or {two}")?,
            [one, more @ ..] => write!(f, ", by way of {one} or {} others", more.len())?,
        }
        for (i, caller) in self.callers.iter().enumerate() {
            write!(f, "{}{caller}", if i == 0 { ", for " } else { ", " })?;
        }
        if self.number > 0 { write!(f, ", no. {}", self.number) } else { Ok(()) }
    }
}

/// The names of a program's nodes.
pub struct Names {
    names: HashMap<NodeId, Name>,
    /// Of each node: the lines of its allocations, and what a reader is shown in their place.
    lines: HashMap<NodeId, BTreeMap<At, String>>,
}

/// A name while it is being made.
struct Draft {
    id: NodeId,
    name: Name,
    /// Who calls the place's function, innermost first.
    callers: Vec<String>,
}

impl Names {
    /// Names all nodes that a report may be about.
    pub fn find(analysis: &Analysis) -> Names {
        let types = Types::find(analysis);
        let places = Places::new(analysis, &types);
        let mut names = Names { names: HashMap::new(), lines: HashMap::new() };
        let mut drafts = vec![];
        for id in reported(analysis) {
            let mut spots: Vec<(Spot, String, bool)> = vec![];
            for spot in places.of(id) {
                let (what, sure) = types.of_spot(&places, id, &spot);
                spots.push((spot, what, sure));
            }
            // A line whose objects are known to be of a type stands for all of them.
            spots.sort_by_key(|(spot, _, sure)| (spot.grows(), !sure));
            let what = match spots.is_empty() {
                true => types.anywhere(analysis, id),
                false => words::together(spots.iter().map(|(_, what, _)| what.clone())),
            };
            let all = matches!(analysis.graph.node(id).sites, Sites::All(_));
            let spots: Vec<Spot> = spots.into_iter().map(|(spot, ..)| spot).collect();
            let text = |frame: &Frame| format!("{} ({})", frame.function, analysis.module.place(frame.at));
            let mut lines = BTreeMap::new();
            for spot in &spots {
                let shown = spot.chosen();
                lines.entry(spot.allocation()).or_insert_with(|| analysis.module.place(shown.at));
            }
            let distinct: BTreeSet<At> = spots.iter().map(|s| s.chosen().at).collect();
            let origin = analysis.module.place(analysis.graph.node(id).origin);
            let first: Option<&Spot> = spots.first();
            let name = Name {
                what,
                place: first.map_or(origin, |s| analysis.module.place(s.chosen().at)),
                others: if all { distinct.len().saturating_sub(1) } else { MANY },
                by_way_of: first.map_or(vec![], |first| {
                    let mut ways: Vec<String> = vec![];
                    for spot in spots.iter().filter(|s| s.chosen().at == first.chosen().at) {
                        let way = spot.inner().rev().map(text).collect::<Vec<_>>().join(", ");
                        if !way.is_empty() && !ways.contains(&way) {
                            ways.push(way);
                        }
                    }
                    ways
                }),
                ..Name::default()
            };
            let callers = first.map_or(vec![], |s| s.outer().map(text).collect());
            names.lines.insert(id, lines);
            drafts.push(Draft { id, name, callers });
        }
        tell_apart(&mut drafts);
        names.names = drafts.into_iter().map(|d| (d.id, d.name)).collect();
        names
    }

    /// The name of a node.
    pub fn of(&self, analysis: &Analysis, id: NodeId) -> Name {
        self.names.get(&id).cloned().unwrap_or_else(|| {
            let place = analysis.module.place(analysis.graph.node(id).origin);
            Name { what: words::UNKNOWN.into(), place, ..Name::default() }
        })
    }

    /// The line to show for one that has to do with a node: not that of an allocation for others.
    pub fn line(&self, analysis: &Analysis, id: NodeId, at: At) -> String {
        let shown = self.lines.get(&id).and_then(|l| l.get(&at));
        shown.cloned().unwrap_or_else(|| analysis.module.place(at))
    }
}

/// The nodes with objects of the heap whose shapes are decided somewhere: shared ones, and each function's own.
fn reported(analysis: &Analysis) -> BTreeSet<NodeId> {
    let graph = &analysis.graph;
    let all = (0..graph.len() as u32).map(NodeId).filter(|&id| graph.is_node(id));
    let mut found: BTreeSet<NodeId> = all.filter(|&id| graph.node(id).flags & flag::SHARED != 0).collect();
    for id in analysis.module.function_ids().filter(|&id| !analysis.module.function(id).declared) {
        found.extend(own(analysis, id));
    }
    found.retain(|&id| graph.node(id).flags & flag::HEAP != 0);
    found
}

/// The nodes that are reached in a function, but not by those who call it.
fn own(analysis: &Analysis, id: FuncId) -> HashSet<NodeId> {
    let graph = &analysis.graph;
    let interface: HashSet<NodeId> = analysis.interface(id).iter().copied().collect();
    let function = &analysis.functions[id.0 as usize];
    let mut work: Vec<Cell> = function.values.iter().flatten().copied().collect();
    work.extend(function.calls.iter().flat_map(|c| c.copies.values().copied()));
    let mut seen = HashSet::new();
    while let Some(cell) = work.pop() {
        let node = graph.find(cell).node;
        if graph.node(node).flags & flag::SHARED != 0 || interface.contains(&node) || !seen.insert(node) {
            continue;
        }
        work.extend(graph.node(node).fields.values().filter_map(|f| f.link));
    }
    seen
}

/// Gives those that have the same name what tells them apart.
fn tell_apart(drafts: &mut [Draft]) {
    let deepest = drafts.iter().map(|d| d.callers.len()).max().unwrap_or(0);
    for level in 0..deepest {
        for group in groups(drafts) {
            let here = |&i: &usize| drafts[i].callers.get(level).cloned();
            let different: BTreeSet<_> = group.iter().map(here).collect();
            if different.len() > 1 {
                for &i in &group {
                    let caller = drafts[i].callers.get(level).cloned();
                    drafts[i].name.callers.extend(caller);
                }
            }
        }
    }
    for group in groups(drafts) {
        for (number, &i) in group.iter().enumerate() {
            if drafts[i].name.callers.is_empty() {
                let caller = drafts[i].callers.first().cloned();
                drafts[i].name.callers.extend(caller);
            }
            drafts[i].name.number = number + 1;
        }
    }
}

/// Those that have the same name as another.
fn groups(drafts: &[Draft]) -> Vec<Vec<usize>> {
    let mut all: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (i, draft) in drafts.iter().enumerate() {
        all.entry(draft.name.to_string()).or_default().push(i);
    }
    all.into_values().filter(|group| group.len() > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(id: u32, place: &str, callers: &[(&str, &str)]) -> Draft {
        let callers = callers.iter().map(|(f, p)| format!("{f} ({p})")).collect();
        let name = Name { what: "struct n".into(), place: place.into(), ..Name::default() };
        Draft { id: NodeId(id), name, callers }
    }

    #[test]
    fn names_that_are_equal_are_told_apart() {
        let mut drafts = [
            draft(1, "a.c:1", &[("make", "a.c:5"), ("f", "a.c:7")]),
            draft(2, "a.c:1", &[("make", "a.c:5"), ("g", "a.c:9")]),
            draft(3, "a.c:2", &[("f", "a.c:7")]),
            draft(4, "a.c:3", &[("f", "a.c:7")]),
            draft(5, "a.c:3", &[("f", "a.c:7")]),
            draft(6, "a.c:3", &[]),
        ];
        tell_apart(&mut drafts);
        let names: Vec<String> = drafts.iter().map(|d| d.name.to_string()).collect();
        assert_eq!(
            names,
            [
                "struct n at a.c:1, for f (a.c:7)",
                "struct n at a.c:1, for g (a.c:9)",
                "struct n at a.c:2",
                "struct n at a.c:3, for f (a.c:7), no. 1",
                "struct n at a.c:3, for f (a.c:7), no. 2",
                "struct n at a.c:3",
            ]
        );
        assert_eq!(drafts[3].name.after_type(), "at a.c:3, for f (a.c:7), no. 1");
    }
}
