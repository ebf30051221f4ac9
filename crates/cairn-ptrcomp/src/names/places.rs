//! Where a programmer would look for an allocation.
//!
//! The way to an allocation leads through calls. A function on it *hands memory on* if it returns the objects without
//! knowing what they are: it takes their size from its parameters, and nothing in it, or in what it calls, accesses
//! them as a structure. The place to look at is in the innermost function that isn't of this kind.
//!
//! ```text
//!  xmalloc(n) { return malloc(n); }              hands on
//!  xstrdup(s) { return strcpy(xmalloc(strlen(s) + 1), s); }   hands on
//!  cons(x) { p = xmalloc(sizeof *p); p->x = x; return p; }    the place
//! ```
//!
//! Functions that were put where they are called are frames of the way like others, told by debug locations. Where all
//! of a way hands memory on, since functions that are called by address or in a circle share their callers' nodes, it
//! goes on with each call whose result is of the node.

use super::types::Types;
use crate::dsa::Analysis;
use crate::dsa::points_to::{NodeId, Site, flag};
use crate::model::*;
use crate::shape;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

/// One function of a way, and the line in it.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub function: String,
    pub at: At,
    /// It hands memory on.
    hands_on: bool,
    /// The call; with that of the function it now is part of.
    pub call: (FuncId, ValueId),
}

/// A way to an allocation.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    /// Innermost first.
    frames: Vec<Frame>,
    /// What is known of the size there.
    pub size: Size,
    /// Memory that was there before gets larger.
    again: bool,
}

impl Spot {
    fn index(&self) -> usize {
        self.frames.iter().position(|f| !f.hands_on).unwrap_or(self.frames.len() - 1)
    }

    /// Where to look.
    pub(super) fn chosen(&self) -> &Frame {
        &self.frames[self.index()]
    }

    /// What it is called for, innermost first.
    pub(super) fn outer(&self) -> impl Iterator<Item = &Frame> {
        self.frames[self.index() + 1..].iter()
    }

    /// What hands memory on to it, innermost first.
    pub(super) fn inner(&self) -> impl DoubleEndedIterator<Item = &Frame> {
        self.frames[..self.index()].iter()
    }

    /// Is it a way in which memory that was there before gets larger?
    pub(super) fn grows(&self) -> bool {
        self.again
    }

    /// The line of the allocating function's call.
    pub(super) fn allocation(&self) -> At {
        self.frames[0].at
    }
}

/// A node with more ways is shown with some of them.
const MOST_SPOTS: usize = 40;

/// Finds places.
pub(super) struct Places<'a, 'm> {
    pub(super) analysis: &'a Analysis<'m>,
    types: &'a Types,
    /// Calls of each function, by name or by address.
    callers: Vec<Vec<(FuncId, ValueId)>>,
    known: RefCell<HashMap<(FuncId, ValueId), bool>>,
}

impl<'a, 'm> Places<'a, 'm> {
    pub(super) fn new(analysis: &'a Analysis<'m>, types: &'a Types) -> Places<'a, 'm> {
        let mut callers = analysis.callers.clone();
        for (caller, value, callee) in analysis.by_address() {
            callers[callee.0 as usize].push((caller, value));
        }
        Places { analysis, types, callers, known: RefCell::default() }
    }

    /// The places of a node, the likeliest first.
    pub(super) fn of(&self, id: NodeId) -> Vec<Spot> {
        let mut spots = vec![];
        for site in self.analysis.graph.node(id).sites.known() {
            self.follow(id, self.spot(site), &mut BTreeSet::new(), &mut spots);
        }
        spots.sort_by_cached_key(|s| {
            let inner: Vec<At> = s.inner().map(|f| f.at).collect();
            (s.again, s.chosen().at.line == 0, s.chosen().at, inner)
        });
        spots
    }

    /// The way of a site.
    fn spot(&self, site: &Site) -> Spot {
        let mut frames = vec![];
        for &(function, value) in site.way.iter().rev() {
            self.push(function, value, &mut frames);
        }
        Spot { frames, size: shape::resolved(self.analysis, site.size, 0), again: self.again(site.way.last()) }
    }

    fn again(&self, allocation: Option<&(FuncId, ValueId)>) -> bool {
        let module = self.analysis.module;
        allocation.is_some_and(|&(function, value)| match &module.function(function).values[value.0 as usize].op {
            Op::Call(call) => {
                matches!(call.callee, Callee::Known(id) if module.function(id).name == "realloc")
            }
            _ => false,
        })
    }

    /// Adds the frames of one call: several, if other functions were put where it is.
    fn push(&self, function: FuncId, value: ValueId, frames: &mut Vec<Frame>) {
        let module = self.analysis.module;
        let hands_on = self.hands_on(function, value);
        let at = module.function(function).values[value.0 as usize].at;
        let name = &module.function(function).name;
        let Some((last, inner)) = module.inlined.get(&(function, value)).and_then(|w| w.split_last()) else {
            frames.push(Frame { function: name.clone(), at, hands_on, call: (function, value) });
            return;
        };
        for (inside, at) in inner {
            let hands_on = !self.types.told_inside(self.analysis, function, value, inside);
            frames.push(Frame { function: inside.clone(), at: *at, hands_on, call: (function, value) });
        }
        frames.push(Frame { function: name.clone(), at: last.1, hands_on, call: (function, value) });
    }

    /// Goes on to callers while memory is only handed on.
    fn follow(&self, id: NodeId, spot: Spot, seen: &mut BTreeSet<FuncId>, out: &mut Vec<Spot>) {
        let last = spot.frames.last().expect("a way has calls").call.0;
        if spot.frames.iter().all(|f| f.hands_on) && seen.insert(last) && out.len() < MOST_SPOTS {
            let before = out.len();
            for &(caller, value) in &self.callers[last.0 as usize] {
                let result = self.analysis.known(caller, Operand::Value(value));
                if result.is_some_and(|c| c.node == id) && !seen.contains(&caller) {
                    let mut longer = spot.clone();
                    self.push(caller, value, &mut longer.frames);
                    self.follow(id, longer, seen, out);
                }
            }
            seen.remove(&last);
            if out.len() > before {
                return;
            }
        }
        out.push(spot);
    }

    /// The sizes that an object may have, as far as is known: what is asked for in the place, which is one number or,
    /// as of `calloc`, two; and what is allocated.
    pub(super) fn sizes(&self, spot: &Spot) -> Vec<Size> {
        let (function, value) = spot.chosen().call;
        let numbers = self.numbers(function, value).into_iter().map(|s| shape::resolved(self.analysis, s, 0));
        let asked = match numbers.collect::<Vec<_>>()[..] {
            [one] => one,
            [Size::Const(a), Size::Const(b)] => Size::Const(a.saturating_mul(b)),
            [Size::Const(n), size] | [size, Size::Const(n)] if size == Size::Unknown || size.is_given() => {
                Size::Multiple(n)
            }
            _ => spot.size,
        };
        match asked {
            Size::Const(_) | Size::Multiple(_) if asked != spot.size => vec![asked, spot.size],
            _ => vec![spot.size],
        }
    }

    /// What is known of the numbers that a call gives.
    fn numbers(&self, function: FuncId, value: ValueId) -> Vec<Size> {
        let values = &self.analysis.module.function(function).values;
        let Op::Call(call) = &values[value.0 as usize].op else { return vec![] };
        let number = |i: &usize| match call.arguments[*i] {
            Operand::Value(v) => values[v.0 as usize].kind == Kind::Data,
            Operand::Data => true,
            _ => false,
        };
        (0..call.arguments.len()).filter(number).map(|i| call.sizes[i]).collect()
    }

    /// Does the function hand on what this call gives it?
    fn hands_on(&self, function: FuncId, value: ValueId) -> bool {
        let known = self.known.borrow().get(&(function, value)).copied();
        known.unwrap_or_else(|| {
            let found = self.find_hands_on(function, value);
            self.known.borrow_mut().insert((function, value), found);
            found
        })
    }

    fn find_hands_on(&self, function: FuncId, value: ValueId) -> bool {
        let Some(cell) = self.analysis.known(function, Operand::Value(value)) else { return false };
        if self.analysis.module.function(function).params.is_empty() {
            return false;
        }
        let Some(offset) = self.given_back(function, cell.node) else { return false };
        let numbers = self.numbers(function, value);
        let constant = |s: &Size| matches!(s, Size::Const(_));
        if !numbers.is_empty() && numbers.iter().all(constant) {
            return false;
        }
        if self.moved_on(function, value) {
            return true;
        }
        let (compound, any) = self.types.told(self.analysis, function, cell.node, offset);
        let rows = numbers.iter().any(|s| matches!(s, Size::Multiple(n) if *n > 1));
        !(compound || rows && any)
    }

    /// Does the function return an address behind the beginning of what this call gives it, as one that keeps a header
    /// of its own does?
    fn moved_on(&self, function: FuncId, value: ValueId) -> bool {
        let values = &self.analysis.module.function(function).values;
        let returned =
            values.iter().filter_map(|v| if let Op::Return(o) = v.op { Some((o, false)) } else { None });
        let (mut work, mut seen): (Vec<_>, BTreeSet<_>) = (returned.collect(), BTreeSet::new());
        while let Some((operand, moved)) = work.pop() {
            let Operand::Value(id) = operand else { continue };
            if id == value && moved {
                return true;
            }
            if !seen.insert((id, moved)) {
                continue;
            }
            match &values[id.0 as usize].op {
                Op::Address { base, steps } => work.push((*base, moved || !steps.is_empty())),
                Op::Join(all) => work.extend(all.iter().map(|&o| (o, moved))),
                _ => {}
            }
        }
        false
    }

    /// Where in its objects the pointer to a node points that a function returns, or stores for who calls it.
    fn given_back(&self, function: FuncId, node: NodeId) -> Option<i64> {
        let graph = &self.analysis.graph;
        let (params, result) = &graph.signatures[function.0 as usize];
        let returned = graph.find(*result);
        if self.analysis.module.function(function).result.has_pointer() && returned.node == node {
            return Some(returned.offset);
        }
        params.iter().find_map(|p| {
            let holder = graph.find(*p);
            let field = graph.node(holder.node).fields.get(&holder.offset)?;
            let stored = graph.find(field.link?);
            let only = graph.node(holder.node).fields.len() == 1;
            let own = graph.node(holder.node).flags & flag::HEAP == 0;
            (stored.node == node && holder.node != node && only && own).then_some(stored.offset)
        })
    }
}
