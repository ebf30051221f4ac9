//! What the points-to graph consists of: nodes, cells in them, the fields of their objects, and what is known of those.
//!
//! Invariant: an offset in a node's `fields` is one that [`Node::normal`] gives back unchanged.

use crate::model::{At, Copied, FuncId, GlobalId, Reading, Size, ValueId};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A node, by its number in the arena.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// A place in the objects of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cell {
    pub node: NodeId,
    pub offset: i64,
}

impl Cell {
    /// The cell `offset` bytes further.
    pub(super) fn and(self, offset: i64) -> Cell {
        Cell { node: self.node, offset: self.offset.wrapping_add(offset) }
    }
}

/// What objects of a node are.
pub mod flag {
    /// Some are of the heap.
    pub const HEAP: u16 = 1;
    /// Of the stack.
    pub const STACK: u16 = 2;
    /// Global variables.
    pub const GLOBAL: u16 = 4;
    /// Functions.
    pub const FUNCTION: u16 = 8;
    /// Read.
    pub const READ: u16 = 16;
    /// Written.
    pub const WRITTEN: u16 = 32;
    /// Belongs to the whole program. Inherited.
    pub const SHARED: u16 = 64;
    /// Code that isn't there may do anything with it. Inherited.
    pub const ESCAPED: u16 = 128;
    /// Freed.
    pub const FREED: u16 = 256;
    /// Somebody sees its addresses as they are: they can't become indices.
    pub const SEEN: u16 = 512;
    /// Its addresses lie in unions with numbers, which tell nothing of them that is not also true of names.
    pub const MIXED: u16 = 1024;
    /// The lowest bits of its addresses are seen: they are zero, as those of what `malloc` gives.
    pub const ALIGNED: u16 = 2048;

    pub const INHERITED: u16 = SHARED | ESCAPED;
}

/// Why something is as it is, and the line that says so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Why {
    pub text: String,
    pub at: At,
}

/// Part of an object that is accessed as a whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Field {
    pub size: u64,
    pub pointer: bool,
    /// A pointer in whose place there are also numbers, as in a union: it stays as it is.
    pub mixed: bool,
    /// How it is read as data.
    pub reading: Reading,
    /// What is written may have been read elsewhere.
    pub copied: Copied,
    pub align: u32,
    pub link: Option<Cell>,
    pub at: At,
}

/// An array inside of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    pub count: u64,
    pub size: u64,
}

/// Bytes of objects that the C library looks at or writes: so many at least, and no more than up to the next pointer,
/// for they are a member that is no pointer, such as `char name[20]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    pub least: u64,
    pub align: u64,
    pub why: Why,
}

/// A number of bytes that is allocated, copied or cleared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Extent {
    pub offset: i64,
    pub size: Size,
    pub at: At,
}

/// Where objects are allocated: the calls that lead there from a function, the allocation last.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Site {
    pub way: Vec<(FuncId, ValueId)>,
    pub size: Size,
    pub at: At,
}

/// All sites of a node, unless they are too many to tell apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sites {
    All(Vec<Site>),
    /// Some of them, for names in reports, as seen from where they became too many.
    TooMany(Rc<[Site]>),
}

impl Default for Sites {
    fn default() -> Sites {
        Sites::All(vec![])
    }
}

/// A node with more sites is taken to be one with any number of objects.
const MOST_SITES: usize = 24;
/// That many are kept of those that are too many.
const EXAMPLES: usize = 2;

impl Sites {
    /// Those of one more set of objects, none of which is met twice.
    pub(super) fn add(&mut self, more: Sites) {
        let all = match (&mut *self, more) {
            (Sites::TooMany(_), _) => return,
            (_, more @ Sites::TooMany(_)) => {
                *self = more;
                return;
            }
            (Sites::All(all), Sites::All(more)) => {
                all.extend(more);
                all
            }
        };
        all.sort();
        all.dedup();
        if all.len() > MOST_SITES {
            all.truncate(EXAMPLES);
            *self = Sites::TooMany(std::mem::take(all).into());
        }
    }

    /// The sites that are known.
    pub fn known(&self) -> &[Site] {
        match self {
            Sites::All(sites) => sites,
            Sites::TooMany(sites) => sites,
        }
    }

    /// This as seen from a caller, at this call; `size` tells what a size is there.
    pub(super) fn called(&self, caller: FuncId, call: ValueId, size: &dyn Fn(Size) -> Size) -> Sites {
        let all = match self {
            Sites::TooMany(_) => return self.clone(),
            Sites::All(all) => all,
        };
        let seen = |site: &Site| {
            let way = [(caller, call)].into_iter().chain(site.way.iter().copied()).collect();
            Site { way, size: size(site.size), at: site.at }
        };
        Sites::All(all.iter().map(seen).collect())
    }
}

/// A set of objects.
#[derive(Clone, Default, Debug)]
pub struct Node {
    pub flags: u16,
    /// Objects lie in rows, this far apart; 0 if none is seen.
    pub stride: u64,
    pub fields: BTreeMap<i64, Field>,
    pub runs: BTreeMap<i64, Run>,
    /// What the library looks at, by where it begins.
    pub texts: BTreeMap<i64, Text>,
    pub allocations: Vec<Extent>,
    /// Where the objects are allocated, to be counted.
    pub sites: Sites,
    pub copies: Vec<Extent>,
    /// Copies of small structures that made this node of two.
    pub copied: Vec<(FuncId, ValueId, u64)>,
    /// Objects on the stack, by what makes them, and where in the node's objects they begin.
    pub stack: Vec<(FuncId, ValueId, i64)>,
    /// Objects that were on the stack, with their sizes: a whole object of a pool takes their place.
    pub homes: Vec<(FuncId, ValueId, u64)>,
    pub globals: Vec<GlobalId>,
    pub functions: Vec<FuncId>,
    /// Offsets mean nothing.
    pub collapsed: Option<Why>,
    /// The layout can't change.
    pub frozen: Option<Why>,
    /// Its bytes are looked at: what it points to must keep its addresses.
    pub opaque: Option<Why>,
    pub escaped: Option<Why>,
    /// Where the first of its objects comes from.
    pub origin: At,
}

impl Node {
    /// The offset that stands for this one.
    pub fn normal(&self, mut offset: i64) -> i64 {
        if self.collapsed.is_some() {
            return 0;
        }
        if self.stride != 0 {
            offset = offset.rem_euclid(self.stride as i64);
        }
        if let Some((start, run)) = self.run_at(offset) {
            offset = start + (offset - start) % run.size as i64;
        }
        offset
    }

    /// The array that a place lies in.
    pub fn run_at(&self, offset: i64) -> Option<(i64, Run)> {
        let (&start, &run) = self.runs.range(..=offset).next_back()?;
        (offset < start + (run.count * run.size) as i64).then_some((start, run))
    }

    /// Where pointers are: from where to where, an array with pointers as a whole.
    pub fn pointers(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        let linked = self.fields.iter().filter(|(_, f)| f.link.is_some());
        linked.map(|(&offset, field)| match self.run_at(offset) {
            Some((start, run)) => (start, start + (run.count * run.size) as i64),
            None => (offset, offset + field.size as i64),
        })
    }

    /// Why the library sees more than data, if it does.
    pub(super) fn text_broken(&self) -> Option<Why> {
        let broken = |(&offset, text): (&i64, &Text)| {
            let end = offset + text.least.max(1) as i64;
            let across = self.stride != 0 && end > self.stride as i64;
            offset < 0 || across || self.pointers().any(|(from, to)| from < end && offset < to)
        };
        let found = self.texts.iter().find(|t| self.collapsed.is_some() || broken(*t));
        found.map(|(_, text)| text.why.clone())
    }

    /// What is wrong with a field in this place.
    pub(super) fn bounds_broken(&self, offset: i64, field: &Field) -> Option<&'static str> {
        let end = offset + field.size as i64;
        if offset < 0 {
            return Some("addressed from its middle");
        }
        if self.stride != 0 && end > self.stride as i64 {
            return Some("accessed across rows of objects");
        }
        for (&start, run) in &self.runs {
            let (first_end, all_end) = (start + run.size as i64, start + (run.count * run.size) as i64);
            let inside = offset >= start && end <= first_end;
            if offset < all_end && start < end && !inside {
                return Some("accessed across the elements of an array");
            }
        }
        None
    }
}
