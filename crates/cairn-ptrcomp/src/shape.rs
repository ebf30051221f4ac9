//! What becomes of the objects of a node: are they in a pool, and what is their new layout?
//!
//! The two conditions of Lattner & Adve (2005, section 3.2), for nodes whose points-to graph is complete:
//! *index conversion*: all of its objects are the heap's, and nobody outside of the program, and nothing that looks at
//! bytes, sees their addresses; *index compression*: the layout of the objects that hold the pointer may change, since
//! every access, every allocation and every copy is understood in terms of whole fields.
//!
//! ```text
//!  struct { int x; struct node *next; double d; }        24 bytes  →  16
//!  old   x:0..4  next:8..16  d:16..24
//!  new   x:0..4  next:4..8   d:8..16
//! ```
//!
//! Parts of objects that no access touches have no place in the new layout.

use crate::dsa::Analysis;
use crate::dsa::points_to::{Cell, Extent, Field, Node, Run, Why, flag};
use crate::model::{At, FuncId, Op, Size};
use crate::settings::Bits;
use std::collections::BTreeMap;

/// Objects of pools are of multiples of so many bytes: what is free holds an index of 32 bits.
pub const LEAST: u64 = 4;

/// Part of an object.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Part {
    pub old: u64,
    pub new: u64,
    /// Old size; of an array's element, if it is one.
    pub size: u64,
    pub new_size: u64,
    /// Elements.
    pub count: u64,
    /// What an element consists of, if this is an array of structures or pointers.
    pub inner: Vec<Part>,
    /// A pointer that becomes an index.
    pub small: bool,
}

/// The layout of an object.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Layout {
    pub size: u64,
    pub new_size: u64,
    pub align: u64,
    pub parts: Vec<Part>,
}

/// What becomes of a node.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Shape {
    /// Its objects are in a pool.
    pub pooled: bool,
    /// Pointers to it may be indices, so null has two forms.
    pub indexed: bool,
    /// Objects of the pool are of different sizes.
    pub array: bool,
    /// Pointers to its objects are names: `runtime/dynamic_pool.c`.
    pub dynamic: bool,
    /// Size of an object, if all are of one.
    pub object: u64,
    /// Only if it changes.
    pub layout: Option<Layout>,
    pub stride: u64,
    pub runs: Vec<(i64, u64, u64)>,
}

impl Shape {
    /// Is there anything to do?
    pub fn is_plain(&self) -> bool {
        !self.pooled && self.layout.is_none()
    }

    /// The offset that stands for this one, as [`Node::normal`].
    pub fn normal(&self, offset: i64) -> i64 {
        let mut node = Node { stride: self.stride, ..Node::default() };
        node.runs = self.runs.iter().map(|&(s, count, size)| (s, Run { count, size })).collect();
        node.normal(offset)
    }
}

fn moved(parts: &[Part], offset: u64, new_end: u64) -> u64 {
    for part in parts {
        let end = part.old + part.size * part.count;
        if offset < part.old {
            return part.new;
        }
        if offset < end {
            let inside = offset - part.old;
            let (element, rest) = (inside / part.size, inside % part.size);
            let rest = if part.inner.is_empty() { rest } else { moved(&part.inner, rest, part.new_size) };
            return part.new + element * part.new_size + rest;
        }
    }
    new_end
}

impl Layout {
    /// The new offset of what was at this one; objects may lie in a row.
    pub fn offset(&self, old: i64) -> i64 {
        let size = self.size as i64;
        let (object, inside) = (old.div_euclid(size), old.rem_euclid(size) as u64);
        object * self.new_size as i64 + moved(&self.parts, inside, self.new_size) as i64
    }

    /// Is the pointer at this offset an index?
    pub fn small_at(&self, offset: i64) -> bool {
        fn search(parts: &[Part], offset: u64) -> bool {
            parts.iter().any(|p| {
                let inside = offset.wrapping_sub(p.old);
                if inside >= p.size * p.count {
                    return false;
                }
                if p.inner.is_empty() { p.small } else { search(&p.inner, inside % p.size) }
            })
        }
        search(&self.parts, offset.rem_euclid(self.size as i64) as u64)
    }

    /// What an access at this offset can rely on.
    pub fn alignment_at(&self, offset: i64) -> u64 {
        let inside = offset.rem_euclid(self.size as i64) as u64;
        let array =
            self.parts.iter().find(|p| p.count > 1 && inside >= p.old && inside < p.old + p.size * p.count);
        let bits = self.offset(inside as i64) as u64 | self.align | array.map_or(0, |p| p.new_size);
        1 << bits.trailing_zeros()
    }

    /// The array that begins at this offset.
    pub fn array_at(&self, offset: i64) -> Option<&Part> {
        self.parts.iter().find(|p| p.old as i64 == offset && p.count > 1)
    }

    /// Does a number of its elements that begins with it change by their sizes alone? From the start of an object, it
    /// may be the whole object.
    fn scales_with(&self, array: &Part) -> bool {
        array.old != 0 || array.count * array.size == self.size
    }

    /// Is this plain data, of which nothing moves against the rest?
    fn stays_together(&self, start: u64, end: u64) -> bool {
        let shift = |p: &Part| p.new.wrapping_sub(p.old);
        let mut at = start;
        let mut first = None;
        for part in self.parts.iter().filter(|p| p.old + p.size * p.count > start && p.old < end) {
            let same = *first.get_or_insert(shift(part)) == shift(part);
            if part.small || !part.inner.is_empty() || !same || part.old > at {
                return false;
            }
            at = part.old + part.size * part.count;
        }
        start < end && at >= end
    }

    /// The pointers that became indices, in all elements of arrays.
    pub fn small_count(&self) -> u64 {
        fn count(parts: &[Part]) -> u64 {
            parts
                .iter()
                .map(|p| p.count * if p.inner.is_empty() { u64::from(p.small) } else { count(&p.inner) })
                .sum()
        }
        count(&self.parts)
    }
}

/// Can addresses of this node's objects be indices?
pub fn indexable(node: &Node) -> Result<(), Why> {
    let no = |text: &str| Err(Why { text: text.into(), at: node.origin });
    if let Some(why) = node.escaped.clone().filter(|_| node.flags & flag::ESCAPED != 0) {
        return Err(why);
    }
    if node.flags & flag::ESCAPED != 0 {
        return no("code outside reaches it");
    }
    if node.flags & flag::HEAP == 0 {
        return no("no object of the heap");
    }
    if node.flags & flag::GLOBAL != 0 {
        return no("some of its objects are global variables");
    }
    if node.flags & flag::STACK != 0 {
        return no("some of its objects are on the stack");
    }
    if node.flags & flag::FUNCTION != 0 {
        return no("some of its objects are functions");
    }
    if node.flags & flag::SEEN != 0 {
        return no("objects without a known layout point to it");
    }
    Ok(())
}

/// The size of the objects of a dynamic pool whose layout stays: all numbers of them are aligned for their fields.
pub fn stays(node: &Node, size: u64) -> u64 {
    let widest = node.fields.values().map(|f| f.size).chain(node.runs.values().map(|r| r.size)).max();
    match widest.unwrap_or(1) {
        16.. => size.next_multiple_of(16),
        _ => size.max(8).next_multiple_of(8),
    }
}

/// What is known of sizes, with parameters replaced by what all callers give.
pub fn resolved(analysis: &Analysis, size: Size, depth: u32) -> Size {
    let (Size::Param(function, _) | Size::Product(function, ..)) = size else { return size };
    let f = analysis.module.function(function);
    if f.address_taken || f.kept || depth > 4 {
        return Size::Unknown;
    }
    let mut all: Option<Size> = None;
    for &(caller, value) in &analysis.callers[function.0 as usize] {
        let Op::Call(call) = &analysis.module.function(caller).values[value.0 as usize].op else { continue };
        let here = size.given(function, |n| call.sizes.get(n as usize).copied().unwrap_or(Size::Unknown));
        // A recursive call that passes the parameter on says nothing new.
        if here == size {
            continue;
        }
        let here = resolved(analysis, here, depth + 1);
        all = Some(all.map_or(here, |before| either(before, here)));
    }
    all.unwrap_or(Size::Unknown)
}

fn either(a: Size, b: Size) -> Size {
    match (a, b) {
        (a, b) if a == b => a,
        (Size::Const(a) | Size::Multiple(a), Size::Const(b) | Size::Multiple(b)) => Size::Multiple(gcd(a, b)),
        _ => Size::Unknown,
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The size of an object of this node, and whether several may be allocated together.
pub fn object_size(analysis: &Analysis, node: &Node) -> Result<(u64, bool), Why> {
    let no = |text: String, at: At| Err(Why { text, at });
    let mut common: Option<Size> = None;
    let mut last = node.origin;
    for allocation in &node.allocations {
        let size = match resolved(analysis, allocation.size, 0) {
            Size::Unknown | Size::Param(..) | Size::Product(..) => {
                return no("allocated with a size of which nothing is known".into(), allocation.at);
            }
            size => size,
        };
        last = allocation.at;
        common = Some(common.map_or(size, |before| either(before, size)));
    }
    let (unit, single) = match common {
        Some(Size::Const(n)) => (n, true),
        Some(Size::Multiple(n)) => (n, false),
        _ => return no("no allocation is known".into(), last),
    };
    if unit == 0 {
        return no("objects without size".into(), last);
    }
    let (size, array) = match node.stride {
        0 => (unit, !single),
        stride if unit % stride != 0 && single => {
            return no(format!("{unit} bytes are allocated for objects of {stride}"), last);
        }
        stride if unit % stride != 0 => {
            return no(format!("allocated with a size that isn't known to be a multiple of {stride}"), last);
        }
        stride => (stride, !(single && unit == stride)),
    };
    // A whole object takes the place of one on the stack, if objects are allocated one by one.
    match node.homes.iter().find(|h| if array { h.2 % size != 0 } else { h.2 > size }) {
        Some((.., bytes)) => no(format!("an object of {bytes} bytes on the stack"), last),
        None => Ok((size, array)),
    }
}

/// Fields in one place: of an array, relative to its element.
struct Group<'a> {
    start: u64,
    run: Option<Run>,
    fields: Vec<(u64, &'a Field)>,
}

/// The fields of a node, in order, by the arrays they are in.
fn groups(node: &Node) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<u64, Group> = BTreeMap::new();
    for (&start, &run) in &node.runs {
        let start = start as u64;
        groups.insert(start, Group { start, run: Some(run), fields: vec![] });
    }
    for (&offset, field) in &node.fields {
        let offset = offset as u64;
        let owner = node.runs.iter().find(|(s, r)| offset >= **s as u64 && offset < **s as u64 + r.size);
        let start = owner.map_or(offset, |(s, _)| *s as u64);
        let group = groups.entry(start).or_insert(Group { start, run: None, fields: vec![] });
        group.fields.push((offset - start, field));
    }
    groups.into_values().collect()
}

/// Puts parts one behind the other.
#[derive(Default)]
struct Packing {
    parts: Vec<Part>,
    end: u64,
    align: u64,
}

impl Packing {
    fn add(&mut self, mut part: Part, align: u64) {
        part.new = placed(self.end, align, part.old);
        self.end = part.new + part.new_size * part.count;
        self.align = self.align.max(align);
        self.parts.push(part);
    }

    /// What follows stays together, as it begins here.
    fn begin(&mut self, old: u64, align: u64) {
        self.end = placed(self.end, align, old);
        self.align = self.align.max(align);
    }

    fn size(&self) -> u64 {
        self.end.next_multiple_of(self.align.max(1))
    }
}

fn field_part(old: u64, field: &Field, bits: Option<Bits>) -> (Part, u64) {
    let small = bits.is_some();
    let new_size = bits.map_or(field.size, Bits::bytes);
    (Part { old, new: 0, size: field.size, new_size, count: 1, inner: vec![], small }, alignment(old, field, bits))
}

/// An array: without pointers that change, it stays as it is.
fn run_part(group: &Group, run: Run, small: &dyn Fn(&Field) -> Option<Bits>) -> (Part, u64) {
    let mut packing = Packing::default();
    for &(offset, field) in &group.fields {
        let (part, align) = field_part(offset, field, small(field));
        packing.add(part, align);
    }
    let whole = Part {
        old: group.start,
        new: 0,
        size: run.size,
        new_size: run.size,
        count: run.count,
        inner: vec![],
        small: false,
    };
    if packing.parts.iter().any(|p| p.small) {
        return (Part { new_size: packing.size(), inner: packing.parts, ..whole }, packing.align);
    }
    // The sizes of elements are multiples of what these are aligned for.
    let natural = 1 << group.start.trailing_zeros().min(run.size.trailing_zeros()).min(4);
    (whole, packing.align.max(natural))
}

/// Part of an object that stays as it is, for the library looks at it.
struct Stretch {
    start: u64,
    end: u64,
    align: u64,
}

/// What the library looks at goes on up to the next pointer.
fn stretches(node: &Node, size: u64) -> Result<Vec<Stretch>, Why> {
    let mut all: BTreeMap<u64, Stretch> = BTreeMap::new();
    for (&offset, text) in &node.texts {
        let next = node.pointers().map(|(from, _)| from as u64).filter(|&from| from > offset as u64).min();
        let end = next.unwrap_or(size).min(size);
        let field = node.fields.range(..=offset).next_back();
        let field = field.filter(|(start, f)| *start + f.size as i64 > offset).map(|(start, _)| *start);
        let run = node.run_at(offset).map(|(start, _)| start);
        let start = run.or(field).unwrap_or(offset) as u64;
        if start + text.least.max(1) > end {
            return Err(text.why.clone());
        }
        // Types that only the library knows are aligned as far as they can be.
        let align = text.align.min(1 << start.trailing_zeros().min(3));
        let stretch = all.entry(end).or_insert(Stretch { start, end, align });
        stretch.start = stretch.start.min(start);
        stretch.align = stretch.align.max(align);
    }
    Ok(all.into_values().collect())
}

/// What is between the parts of a stretch is part of it, too.
fn fill(parts: &mut Vec<(Part, u64)>, stretch: &Stretch) {
    let mut at = stretch.start;
    let known: Vec<(u64, u64)> = parts.iter().map(|(p, _)| (p.old, p.old + p.size * p.count)).collect();
    for (start, end) in known.into_iter().chain([(stretch.end, stretch.end)]) {
        if start >= stretch.start && start <= stretch.end {
            if start > at {
                let (size, inner) = (start - at, vec![]);
                parts.push((Part { old: at, new: 0, size, new_size: size, count: 1, inner, small: false }, 1));
            }
            at = at.max(end);
        }
    }
    parts.sort_by_key(|(part, _)| part.old);
}

/// Do all pointers into objects of this node, of which one is known to be at `offset`, lie at multiples of what indices
/// count by? A pointer to the start of an object does, also of one in a row; more is not known of layouts to come.
pub fn in_units(node: &Node, offset: i64, bits: Bits) -> bool {
    let starts = node.normal(offset) == 0 && !node.runs.contains_key(&0);
    bits == Bits::ThirtyTwo || (node.collapsed.is_none() && starts && node.stride.is_multiple_of(bits.unit()))
}

/// The layout after pointers for which `small` holds have become indices; or why it stays.
pub fn layout(
    analysis: &Analysis,
    node: &Node,
    bits: Bits,
    small: &dyn Fn(Cell) -> bool,
) -> Result<(Layout, bool), Why> {
    if let Some(why) = node.collapsed.as_ref().or(node.frozen.as_ref()) {
        return Err(why.clone());
    }
    let (size, array) = object_size(analysis, node)?;
    let no = |text: &str| Err(Why { text: text.into(), at: node.origin });
    let fields_end = node.fields.iter().map(|(&o, f)| o as u64 + f.size).max();
    let runs_end = node.runs.iter().map(|(&o, r)| o as u64 + r.count * r.size).max();
    if fields_end.max(runs_end).unwrap_or(0) > size {
        return no("accessed beyond the size that is allocated");
    }
    let small = |field: &Field| field.link.filter(|&l| field.pointer && !field.mixed && small(l)).map(|_| bits);
    let mut parts = vec![];
    for group in groups(node) {
        parts.push(match group.run {
            Some(run) => run_part(&group, run, &small),
            None => field_part(group.start, group.fields[0].1, small(group.fields[0].1)),
        });
    }
    let stretches = stretches(node, size)?;
    let sorted = match stretches.is_empty() && node.copies.iter().all(|c| is_whole(analysis, node, c, size)) {
        true => sorted(&parts),
        false => Packing::default(),
    };
    let mut packing = Packing::default();
    for stretch in &stretches {
        fill(&mut parts, stretch);
    }
    for (part, align) in &parts {
        if let Some(stretch) = stretches.iter().find(|s| s.start == part.old) {
            let inside = parts.iter().filter(|(p, _)| p.old >= stretch.start && p.old < stretch.end);
            packing.begin(stretch.start, inside.map(|(_, align)| *align).max().unwrap_or(1).max(stretch.align));
        }
        packing.add(part.clone(), *align);
    }
    if !sorted.parts.is_empty() && sorted.size() < packing.size() {
        packing = sorted;
    }
    let new_size = packing.size().max(LEAST).next_multiple_of(LEAST);
    let layout = Layout { size, new_size, align: packing.align, parts: packing.parts };
    if layout.small_count() == 0 {
        return no("it has no pointer to a pool");
    }
    if layout.new_size >= layout.size {
        return no("smaller pointers would not make its objects smaller");
    }
    for copy in &node.copies {
        copied(analysis, node, &layout, copy)?;
    }
    Ok((layout, array))
}

/// The parts in another order, so that less is between them: those that are aligned most come first, or last. The first
/// stays where it is, for pointers to objects point there. In [`Layout::parts`] they keep the order that they had.
fn sorted(parts: &[(Part, u64)]) -> Packing {
    let Some(((first, align), rest)) = parts.split_first() else { return Packing::default() };
    let pack = |rest: &[&(Part, u64)]| {
        let mut packing = Packing::default();
        packing.add(first.clone(), *align);
        for (part, align) in rest {
            // Its old place says nothing of the new one.
            packing.add(Part { old: part.old.next_multiple_of(*align), ..part.clone() }, *align);
            packing.parts.last_mut().expect("just added").old = part.old;
        }
        packing.parts.sort_by_key(|p| p.old);
        packing
    };
    let mut rest: Vec<&(Part, u64)> = rest.iter().collect();
    rest.sort_by_key(|(_, align)| *align);
    let ascending = pack(&rest);
    rest.sort_by_key(|(_, align)| std::cmp::Reverse(*align));
    let descending = pack(&rest);
    if ascending.size() < descending.size() { ascending } else { descending }
}

/// Are whole objects copied or cleared?
fn is_whole(analysis: &Analysis, node: &Node, extent: &Extent, object: u64) -> bool {
    let whole = match resolved(analysis, extent.size, 0) {
        Size::Const(n) | Size::Multiple(n) => n % object == 0,
        _ => false,
    };
    whole && node.normal(extent.offset) == 0
}

/// The first place from `end` on that is to the alignment as the old one was.
fn placed(end: u64, align: u64, old: u64) -> u64 {
    end + (old % align + align - end % align) % align
}

/// A number keeps its own alignment; a larger field of several accesses what they rely on.
fn alignment(old: u64, field: &Field, small: Option<Bits>) -> u64 {
    if let Some(bits) = small {
        return bits.bytes();
    }
    if field.size.is_power_of_two() {
        return field.size.min(16);
    }
    u64::from(field.align.max(1)).max(1 << old.trailing_zeros().min(4)).min(16)
}

/// Can a copy of this extent be made with the new layout?
fn copied(analysis: &Analysis, node: &Node, layout: &Layout, copy: &Extent) -> Result<(), Why> {
    let offset = node.normal(copy.offset);
    let size = resolved(analysis, copy.size, 0);
    if new_extent(layout, offset, size).is_some() {
        return Ok(());
    }
    Err(Why {
        text: "copied or cleared by a number of bytes that isn't known to end with a field".into(),
        at: copy.at,
    })
}

/// How a number of bytes at this offset changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NewExtent {
    Const(u64),
    /// Divided by the first, times the second.
    Scaled(u64, u64),
}

/// The new number of bytes for an extent that begins at this (normal) offset.
pub fn new_extent(layout: &Layout, offset: i64, size: Size) -> Option<NewExtent> {
    if offset == 0 {
        match size {
            Size::Const(n) | Size::Multiple(n) if n % layout.size == 0 => {
                return Some(match size {
                    Size::Const(n) => NewExtent::Const(n / layout.size * layout.new_size),
                    _ => NewExtent::Scaled(layout.size, layout.new_size),
                });
            }
            _ => {}
        }
    }
    if let Some(array) = layout.array_at(offset) {
        return match size {
            Size::Const(n) if n % array.size == 0 && n <= array.size * array.count => {
                Some(NewExtent::Const(n / array.size * array.new_size))
            }
            Size::Multiple(n) if n % array.size == 0 && layout.scales_with(array) => {
                Some(NewExtent::Scaled(array.size, array.new_size))
            }
            _ => None,
        };
    }
    let Size::Const(n) = size else { return None };
    let (start, end) = (offset as u64, offset as u64 + n);
    if end > layout.size {
        return None;
    }
    let boundary = |at: u64| layout.parts.iter().all(|p| at <= p.old || at >= p.old + p.size * p.count);
    if layout.stays_together(start, end) {
        return Some(NewExtent::Const(n));
    }
    if !boundary(start) || !boundary(end) {
        return None;
    }
    let last = layout.parts.iter().rfind(|p| p.old < end && p.old >= start);
    let new_start = layout.offset(offset) as u64;
    Some(NewExtent::Const(last.map_or(0, |p| p.new + p.new_size * p.count - new_start)))
}

/// The new number of bytes for an extent of unknown size that [`new_extent`] accepts as a [`Size::Multiple`].
pub fn any_extent(layout: &Layout, offset: i64) -> Option<NewExtent> {
    match layout.array_at(offset) {
        Some(array) if layout.scales_with(array) => Some(NewExtent::Scaled(array.size, array.new_size)),
        _ if offset == 0 => Some(NewExtent::Scaled(layout.size, layout.new_size)),
        _ => None,
    }
}

/// The shapes that the nodes of an interface have, and where in their objects those of the function begin.
pub type Key = Vec<(usize, i64)>;

/// A version of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Version {
    pub function: FuncId,
    pub key: Key,
    /// It is only called while no dynamic pool that it has to do with has been expanded, and expands none.
    pub narrow: bool,
}
