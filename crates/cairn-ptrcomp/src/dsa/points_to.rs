//! The points-to graph: nodes are sets of objects, unified as the program treats them alike.
//!
//! Each pointer has one target, a [`Cell`]: a node and an offset in its objects. Nodes have fields by offset, found by
//! the accesses that are seen, not by declared types. Where objects lie in a row (`stride`), and inside of arrays in an
//! object (`runs`), offsets mean those of the first element. A node whose accesses contradict each other *collapses*:
//! all of its offsets become one, and its layout is unknown.
//!
//! ```text
//!  unify (N, 8) with (M, 0):   M becomes part of N at offset 8; its fields move by 8
//!  same node, other offset:    collapse
//!  fields that overlap:        two of data become one larger field of data; a pointer and anything else: collapse
//! ```
//!
//! Two properties are inherited by everything that can be reached from a node: `ESCAPED` (code that isn't there may do
//! anything with it) and `SHARED` (it belongs to the whole program: reached from global variables, or from functions
//! that are called by address). Shared nodes stand for themselves in all functions and are never copied.
//!
//! After Lattner's Data Structure Analysis; different: one arena for all functions, with shared nodes in place of a
//! graph of globals; fields by access instead of declared types (opaque pointers have none).

pub use super::points_to_nodes::{Cell, Extent, Field, Node, NodeId, Run, Site, Sites, Text, Why, flag};
use crate::model::{At, Copied, FuncId, Reading, Step, ValueId};

enum Slot {
    Node(Box<Node>),
    /// It became part of another; a cell, so that who looks can shorten the way.
    Moved(std::cell::Cell<Cell>),
}

/// All nodes of a program.
#[derive(Default)]
pub struct Graph {
    slots: Vec<Slot>,
    /// Parameters and result of each function, for function pointers that escape.
    pub signatures: Vec<(Vec<Cell>, Cell)>,
    pending: Vec<(Cell, Cell)>,
    /// Copies that say of objects that they are one which lie in different places of others.
    pub to_split: Vec<(FuncId, ValueId, u64)>,
    /// The function whose parameters are joined with arguments, which call each other in a circle.
    pub joined: Option<FuncId>,
    /// Pointers that floats may be.
    floats: Option<Cell>,
    /// Functions that are given pointers into different places of one object by callers that they call.
    pub to_inline: Vec<FuncId>,
}

impl Graph {
    /// A new node.
    pub fn fresh(&mut self, flags: u16) -> Cell {
        self.insert(Node { flags, ..Node::default() })
    }

    /// Adds a node.
    pub fn insert(&mut self, node: Node) -> Cell {
        self.slots.push(Slot::Node(Box::new(node)));
        Cell { node: NodeId(self.slots.len() as u32 - 1), offset: 0 }
    }

    /// Number of slots.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Has this number still a node of its own?
    pub fn is_node(&self, id: NodeId) -> bool {
        matches!(self.slots[id.0 as usize], Slot::Node(_))
    }

    /// The node; its number must be that of a cell that was found.
    pub fn node(&self, id: NodeId) -> &Node {
        match &self.slots[id.0 as usize] {
            Slot::Node(node) => node,
            Slot::Moved(_) => unreachable!("the node of a found cell"),
        }
    }

    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        match &mut self.slots[id.0 as usize] {
            Slot::Node(node) => node,
            Slot::Moved(_) => unreachable!("the node of a found cell"),
        }
    }

    /// The cell as it is now. Halves the way there: in large programs nodes become parts of others thousands of times.
    pub fn find(&self, mut cell: Cell) -> Cell {
        loop {
            match &self.slots[cell.node.0 as usize] {
                Slot::Node(node) => {
                    return Cell { node: cell.node, offset: node.normal(cell.offset) };
                }
                Slot::Moved(to) => {
                    if let Slot::Moved(next) = &self.slots[to.get().node.0 as usize] {
                        to.set(next.get().and(to.get().offset));
                    }
                    cell = to.get().and(cell.offset);
                }
            }
        }
    }

    /// The node that a cell lies in.
    pub fn at(&self, cell: Cell) -> &Node {
        self.node(self.find(cell).node)
    }

    /// Gives a cell's node properties.
    pub fn mark(&mut self, cell: Cell, flags: u16) {
        let id = self.find(cell).node;
        let before = self.node(id).flags;
        self.node_mut(id).flags |= flags;
        let news = flags & !before & flag::INHERITED;
        if news != 0 {
            self.inherit(id, news);
        }
    }

    /// Passes inherited properties on. With `ESCAPED`, functions are called from outside.
    fn inherit(&mut self, id: NodeId, flags: u16) {
        let mut work = vec![];
        self.push_heirs(id, flags, &mut work);
        self.spread(work, flags);
    }

    /// Gives these cells and all that they reach inherited properties.
    fn spread(&mut self, mut work: Vec<(Cell, Option<Why>)>, flags: u16) {
        while let Some((cell, why)) = work.pop() {
            let id = self.find(cell).node;
            let node = self.node_mut(id);
            let news = flags & !node.flags;
            node.flags |= flags;
            if flags & flag::ESCAPED != 0 && node.escaped.is_none() {
                node.escaped = why;
            }
            if news != 0 {
                self.push_heirs(id, news, &mut work);
            }
        }
    }

    fn push_heirs(&self, id: NodeId, flags: u16, work: &mut Vec<(Cell, Option<Why>)>) {
        let node = self.node(id);
        work.extend(node.fields.values().filter_map(|f| Some((f.link?, node.escaped.clone()))));
        if flags & flag::ESCAPED != 0 {
            self.push_called(&node.functions, &node.escaped, work);
        }
    }

    /// What functions that are called from outside get and return.
    fn push_called(&self, functions: &[FuncId], why: &Option<Why>, work: &mut Vec<(Cell, Option<Why>)>) {
        for function in functions {
            if let Some((params, result)) = self.signatures.get(function.0 as usize) {
                work.extend(params.iter().chain([result]).map(|c| (*c, why.clone())));
            }
        }
    }

    /// Lets a cell's node escape.
    pub fn escape(&mut self, cell: Cell, text: &str, at: At) {
        let id = self.find(cell).node;
        let node = self.node_mut(id);
        node.escaped.get_or_insert_with(|| Why { text: text.to_string(), at });
        self.mark(cell, flag::ESCAPED);
    }

    /// The layout of this node must stay.
    pub fn freeze(&mut self, cell: Cell, text: &str, at: At) {
        let id = self.find(cell).node;
        self.node_mut(id).frozen.get_or_insert_with(|| Why { text: text.to_string(), at });
    }

    /// The bytes of this node are looked at by somebody.
    pub fn expose(&mut self, cell: Cell, text: &str, at: At) {
        self.freeze(cell, text, at);
        let id = self.find(cell).node;
        self.node_mut(id).opaque.get_or_insert_with(|| Why { text: text.to_string(), at });
        self.show_targets(id);
        self.settle();
    }

    /// The library looks at bytes from here on, `least` of them at least, and up to the next pointer.
    pub fn text(&mut self, cell: Cell, (least, align): (u64, u64), why: &str, at: At) {
        let cell = self.find(cell);
        self.add_text(cell, Text { least, align, why: Why { text: why.to_string(), at } });
        self.show_targets(cell.node);
        self.settle();
    }

    fn add_text(&mut self, cell: Cell, text: Text) {
        let cell = self.find(cell);
        let known = self.node_mut(cell.node).texts.entry(cell.offset).or_insert_with(|| text.clone());
        known.least = known.least.max(text.least);
        known.align = known.align.max(text.align);
    }

    /// What nodes without a known layout, and unions, point to can't have indices for addresses. Where such a pointer
    /// is read as a number that is kept, it may come back as a pointer anywhere.
    fn show_targets(&mut self, id: NodeId) {
        if let Some(why) = self.node(id).text_broken() {
            let node = self.node_mut(id);
            node.texts.clear();
            node.frozen.get_or_insert_with(|| why.clone());
            node.opaque.get_or_insert(why);
        }
        // A float that may be a pointer is looked at as an integer, or part of it.
        let looked_at =
            |f: &Field| f.link.is_none() && f.copied == Copied::Float && (f.reading.whole || f.reading.low);
        if self.node(id).fields.values().any(looked_at) {
            let floats = self.floats();
            self.mark(floats, flag::SEEN);
        }
        let node = self.node(id);
        let (any, opaque) = (node.collapsed.is_some(), node.opaque.is_some());
        let shown = node.fields.values().filter(|f| any || opaque || f.mixed);
        let shown = shown.filter_map(|f| Some((f.link?, f.mixed, f.reading, f.copied, f.at)));
        for (link, mixed, reading, copied, at) in shown.collect::<Vec<_>>() {
            let seen = if any || opaque || reading.whole { flag::SEEN } else { flag::MIXED };
            self.mark(link, if reading.low { seen | flag::ALIGNED } else { seen });
            if !any && !mixed {
                continue;
            }
            // Without a layout, what is read byte by byte may be a pointer on its way.
            if reading.carried && (reading.whole || any) {
                self.escape(link, "a pointer is read as a number", at);
            }
            if reading.float || copied != Copied::No {
                let floats = self.floats();
                self.pending.push((link, floats));
            }
        }
    }

    /// What pointers point to that may go from union to union as floats.
    pub fn floats(&mut self) -> Cell {
        let cell = self.floats.unwrap_or_else(|| self.fresh(flag::SHARED));
        self.floats = Some(cell);
        self.find(cell)
    }

    /// Changes a node's description.
    pub fn edit(&mut self, cell: Cell, change: impl FnOnce(&mut Node)) {
        let id = self.find(cell).node;
        change(self.node_mut(id));
    }

    /// An access of data: how it is read, or whether what is written may have been read elsewhere.
    pub fn access(&mut self, cell: Cell, size: u64, (read, copied): (Reading, Copied), align: u32, at: At) {
        let upper = self.find(cell).offset.rem_euclid(8) as u64 + size > 4;
        let reading = Reading { whole: read.whole || read.low && upper, ..read };
        self.add_field(cell, Field { size, pointer: false, mixed: false, reading, copied, align, link: None, at });
        self.settle();
    }

    /// What the pointer at this cell points to; an access that reads or writes it.
    pub fn target(&mut self, cell: Cell, align: u32, at: At) -> Cell {
        let target = self.fresh(0);
        self.add_field(cell, Field { size: 8, pointer: true, align, link: Some(target), at, ..Field::default() });
        self.settle();
        self.find(target)
    }

    /// A step of an address computation.
    pub fn step(&mut self, cell: Cell, step: Step, at: At) -> Cell {
        let cell = self.find(cell);
        match step {
            Step::Field(offset) => self.moved(cell, offset as i64),
            Step::Bytes(offset) => self.moved(cell, offset),
            Step::Along { stride, by: Some(0) } | Step::Along { stride: stride @ 0, .. } => {
                let _ = stride;
                cell
            }
            Step::Along { stride, .. } => {
                self.along(cell, stride, at);
                self.settle();
                self.find(cell)
            }
            Step::Element { stride: 0, .. } => cell,
            Step::Element { count, .. } if count < 2 => {
                if !matches!(step, Step::Element { by: Some(0), .. }) {
                    self.collapse(cell, "an array without bounds", at);
                }
                self.find(cell)
            }
            Step::Element { stride, count, .. } => {
                self.add_run(cell, Run { count, size: stride }, at);
                self.settle();
                self.find(cell)
            }
        }
    }

    fn moved(&mut self, cell: Cell, by: i64) -> Cell {
        self.find(Cell { node: cell.node, offset: cell.offset.wrapping_add(by) })
    }

    /// Objects in a row, or elements of an array that this cell is in.
    fn along(&mut self, cell: Cell, stride: u64, at: At) {
        let cell = self.find(cell);
        let node = self.node(cell.node);
        if node.collapsed.is_some() || node.stride == stride && cell.offset == 0 {
            return;
        }
        // A pointer into an array of the object.
        if node.runs.iter().any(|(&start, run)| start == cell.offset && stride.is_multiple_of(run.size)) {
            return;
        }
        if cell.offset != 0 || node.stride != 0 {
            self.give_up(cell, &format!("addressed in steps of {stride} bytes"), at);
            return;
        }
        self.set_stride(cell.node, stride, at);
        self.settle();
    }

    fn set_stride(&mut self, id: NodeId, stride: u64, at: At) {
        let node = self.node_mut(id);
        if node.runs.iter().any(|(&start, run)| start + (run.count * run.size) as i64 > stride as i64) {
            if !node.runs.iter().all(|(&s, run)| s == 0 && run.size == stride) {
                return self.give_up(
                    Cell { node: id, offset: 0 },
                    &format!("rows of {stride} bytes cut an array"),
                    at,
                );
            }
            // The whole object is that array.
            node.runs.clear();
        }
        node.stride = stride;
        self.refold(id);
    }

    /// Adds all fields again, after offsets mean something else.
    fn refold(&mut self, id: NodeId) {
        let node = self.node_mut(id);
        let (fields, texts) = (std::mem::take(&mut node.fields), std::mem::take(&mut node.texts));
        for (offset, text) in texts {
            self.add_text(Cell { node: id, offset }, text);
        }
        for (offset, field) in fields {
            self.add_field(Cell { node: id, offset }, field);
        }
        self.show_targets(id);
    }

    /// An array inside of an object.
    fn add_run(&mut self, cell: Cell, run: Run, at: At) {
        let cell = self.find(cell);
        let node = self.node(cell.node);
        if node.collapsed.is_some() {
            return;
        }
        let (start, end) = (cell.offset, cell.offset + (run.count * run.size) as i64);
        if node.stride != 0 && end > node.stride as i64 {
            if start == 0 && node.stride == run.size {
                // Objects in a row, seen as one array.
                return;
            }
            return self.give_up(cell, "an array across rows of objects", at);
        }
        if start < 0 {
            return self.give_up(cell, "addressed from its middle", at);
        }
        if let Some(&old) = node.runs.get(&start) {
            let (big, small) = if old.size >= run.size { (old, run) } else { (run, old) };
            let merged = if big.size == small.size {
                Run { count: big.count.max(small.count), size: big.size }
            } else if big.size % small.size == 0 && small.count * small.size <= big.size {
                Run { count: big.count * (big.size / small.size), size: small.size }
            } else {
                return self.give_up(cell, "arrays of different elements in one place", at);
            };
            if merged != old {
                self.node_mut(cell.node).runs.insert(start, merged);
                self.refold(cell.node);
            }
            return;
        }
        let overlap = |&(&s, r): &(&i64, &Run)| s < end && start < s + (r.count * r.size) as i64;
        if node.runs.iter().any(|r| overlap(&r)) {
            return self.give_up(cell, "arrays that overlap", at);
        }
        self.node_mut(cell.node).runs.insert(start, run);
        self.refold(cell.node);
    }

    /// Adds a field, or unifies it with those in its place.
    fn add_field(&mut self, cell: Cell, field: Field) {
        self.place_field(cell, field);
        let id = self.find(cell).node;
        self.show_targets(id);
    }

    fn place_field(&mut self, cell: Cell, mut field: Field) {
        let cell = self.find(cell);
        let node = self.node(cell.node);
        if let (Some(link), true) = (field.link, node.flags & flag::INHERITED != 0) {
            self.mark(link, node.flags & flag::INHERITED);
            let why = self.node(cell.node).escaped.clone();
            let to = self.find(link).node;
            if self.node(to).flags & flag::ESCAPED != 0 {
                let target = self.node_mut(to);
                target.escaped = target.escaped.take().or(why);
            }
        }
        let node = self.node(cell.node);
        if node.collapsed.is_some() {
            return self.add_collapsed(cell.node, field);
        }
        if let Some(text) = node.bounds_broken(cell.offset, &field) {
            self.give_up(cell, text, field.at);
            return self.place_field(cell, field);
        }
        let mut start = cell.offset;
        loop {
            let end = start + field.size as i64;
            let node = self.node(cell.node);
            let other = node.fields.iter().find(|(o, f)| **o < end && start < **o + f.size as i64);
            let Some((&offset, other)) = other else { break };
            if offset == start && other.size == field.size && other.pointer == field.pointer {
                let (align, link) = (other.align.max(field.align), other.link);
                let pair = link.zip(field.link);
                let node = self.node_mut(cell.node);
                let entry = node.fields.get_mut(&offset).expect("just found");
                entry.align = align;
                entry.mixed |= field.mixed;
                entry.reading = entry.reading.and(field.reading);
                entry.copied = entry.copied.max(field.copied);
                entry.link = link.or(field.link);
                self.pending.extend(pair);
                return;
            }
            if let Some((place, both)) = mixture((offset, other), (start, &field)) {
                self.node_mut(cell.node).fields.remove(&offset);
                (start, field) = (place, both);
                continue;
            }
            if other.pointer || field.pointer {
                let text = format!("a pointer at offset {offset} is also used as something else");
                self.give_up(cell, &text, field.at);
                return self.place_field(cell, field);
            }
            let other = self.node_mut(cell.node).fields.remove(&offset).expect("just found");
            let last = end.max(offset + other.size as i64);
            start = start.min(offset);
            field.size = (last - start) as u64;
            field.align = field.align.max(other.align);
            field.reading = field.reading.and(other.reading);
            field.copied = field.copied.max(other.copied);
        }
        self.node_mut(cell.node).fields.insert(start, field);
    }

    /// Collapsed nodes have one pointer.
    fn add_collapsed(&mut self, id: NodeId, field: Field) {
        let node = self.node_mut(id);
        match node.fields.get_mut(&0) {
            None => {
                node.fields.insert(0, field);
            }
            Some(old) => {
                old.pointer |= field.pointer;
                old.reading = old.reading.and(field.reading);
                old.copied = old.copied.max(field.copied);
                let pair = old.link.zip(field.link);
                old.link = old.link.or(field.link);
                self.pending.extend(pair);
            }
        }
    }

    /// Gives up telling the parts of a node's objects apart.
    pub fn collapse(&mut self, cell: Cell, text: &str, at: At) {
        self.give_up(cell, text, at);
        self.settle();
    }

    fn give_up(&mut self, cell: Cell, text: &str, at: At) {
        let id = self.find(cell).node;
        let node = self.node_mut(id);
        if node.collapsed.is_some() {
            return;
        }
        node.collapsed = Some(Why { text: text.to_string(), at });
        node.stride = 0;
        node.runs.clear();
        for field in std::mem::take(&mut node.fields).into_values() {
            self.add_collapsed(id, field);
        }
        self.show_targets(id);
    }

    /// Two pointers that may be one.
    pub fn unify(&mut self, a: Cell, b: Cell) {
        self.pending.push((a, b));
        self.settle();
    }

    fn settle(&mut self) {
        while let Some((a, b)) = self.pending.pop() {
            self.unify_now(a, b);
        }
    }

    fn unify_now(&mut self, a: Cell, b: Cell) {
        let (a, b) = (self.find(a), self.find(b));
        if a.node == b.node {
            if a.offset != b.offset {
                self.to_inline.extend(self.joined.filter(|_| self.node(a.node).collapsed.is_none()));
                let text = format!("offsets {} and {} are not told apart", a.offset, b.offset);
                self.give_up(a, &text, self.node(a.node).origin);
            }
            return;
        }
        // `from` becomes part of `into`, `by` bytes further.
        let (from, into) = if a.offset <= b.offset { (a, b) } else { (b, a) };
        let mut by = into.offset - from.offset;
        let (mut from, mut into) = (from.node, into.node);
        let objects = flag::HEAP | flag::STACK | flag::GLOBAL | flag::FUNCTION;
        // A pointer that walks along an array, and an object that begins with one.
        let walks = |walker: &Node, object: &Node| {
            by == 0
                && walker.stride != 0
                && walker.flags & objects == 0
                && object.runs.get(&0).is_some_and(|r| walker.stride.is_multiple_of(r.size))
        };
        if walks(self.node(into), self.node(from)) {
            std::mem::swap(&mut from, &mut into);
        }
        if walks(self.node(from), self.node(into)) {
            self.node_mut(from).stride = 0;
        }
        let (small, large) = (self.node(from), self.node(into));
        let either = small.collapsed.clone().or_else(|| large.collapsed.clone());
        let trouble = if either.is_some() {
            either
        } else if by != 0 && small.flags & (flag::HEAP | flag::FUNCTION) != 0 {
            // Others have sizes that matter to nobody: no node with objects of the stack or global ones has a pool.
            Some(Why { text: format!("objects also lie at offset {by} of others"), at: small.origin })
        } else if by != 0 && small.stride != 0 {
            let fits = large.runs.get(&by).is_some_and(|r| small.stride.is_multiple_of(r.size));
            (!fits).then(|| Why { text: "rows of objects inside of others".into(), at: small.origin })
        } else if by == 0 && small.stride != 0 && large.stride != 0 && small.stride != large.stride {
            let text = format!("rows of {} and of {} bytes", small.stride, large.stride);
            Some(Why { text, at: small.origin })
        } else {
            None
        };
        if let Some(why) = trouble {
            if by != 0 {
                let split = self.node(from).copied.clone();
                self.to_split.extend(split);
            }
            self.give_up(Cell { node: from, offset: 0 }, &why.text, why.at);
            self.give_up(Cell { node: into, offset: 0 }, &why.text, why.at);
            by = 0;
        }
        self.absorb(from, into, by);
    }

    fn absorb(&mut self, from: NodeId, into: NodeId, by: i64) {
        let moved = Slot::Moved(std::cell::Cell::new(Cell { node: into, offset: by }));
        let Slot::Node(old) = std::mem::replace(&mut self.slots[from.0 as usize], moved) else {
            unreachable!("the node of a found cell")
        };
        let (both, had_escaped) = (old.flags | self.node(into).flags, self.node(into).flags & flag::ESCAPED != 0);
        let node = self.node_mut(into);
        node.escaped = node.escaped.take().or(old.escaped);
        node.frozen = node.frozen.take().or(old.frozen);
        node.opaque = node.opaque.take().or(old.opaque);
        if node.origin.line == 0 || node.flags & flag::HEAP == 0 && old.flags & flag::HEAP != 0 {
            node.origin = old.origin;
        }
        let shift = |e: &Extent| Extent { offset: e.offset + by, ..*e };
        for (list, more) in [(&mut node.allocations, &old.allocations), (&mut node.copies, &old.copies)] {
            merge(list, more.iter().map(shift));
        }
        node.sites.add(old.sites);
        node.globals.extend(&old.globals);
        merge(&mut node.copied, old.copied.iter().copied());
        merge(&mut node.stack, old.stack.iter().map(|&(function, value, at)| (function, value, at + by)));
        merge(&mut node.homes, old.homes.iter().copied());
        merge(&mut node.functions, old.functions.iter().copied());
        let start = Cell { node: into, offset: by };
        self.mark(start, both);
        if had_escaped && old.flags & flag::ESCAPED == 0 && !old.functions.is_empty() {
            // Functions of a node that had escaped before they came.
            let mut work = vec![];
            self.push_called(&old.functions, &self.node(into).escaped, &mut work);
            self.spread(work, flag::ESCAPED);
        }
        if old.stride != 0
            && by == 0
            && self.node(into).collapsed.is_none()
            && self.node(into).stride != old.stride
        {
            self.set_stride(into, old.stride, old.origin);
        }
        for (offset, run) in old.runs {
            self.add_run(Cell { node: into, offset: offset + by }, run, old.origin);
        }
        for (offset, text) in old.texts {
            self.add_text(Cell { node: into, offset: offset + by }, text);
        }
        for (offset, mut field) in old.fields {
            // Lower halves may have become upper ones.
            field.reading.whole |= field.reading.low && by % 8 != 0;
            self.add_field(Cell { node: into, offset: offset + by }, field);
        }
        self.show_targets(into);
    }
}

/// A pointer and data in its place are one field of both kinds.
fn mixture(a: (i64, &Field), b: (i64, &Field)) -> Option<(i64, Field)> {
    let ((place, pointer), (start, data)) = if a.1.pointer { (a, b) } else { (b, a) };
    let inside = start >= place && start + data.size as i64 <= place + pointer.size as i64;
    let (align, copied) = (pointer.align.max(data.align), pointer.copied.max(data.copied));
    let mut reading = pointer.reading.and(data.reading);
    // Which half of such a pointer was read is not known.
    reading.whole |= reading.low && place % 8 != 0;
    let fits = pointer.pointer && !data.pointer && inside;
    fits.then(|| (place, Field { mixed: true, reading, copied, align, ..pointer.clone() }))
}

/// Adds to an ascending list.
fn merge<T: Ord>(list: &mut Vec<T>, more: impl ExactSizeIterator<Item = T>) {
    if more.len() > 0 {
        list.extend(more);
        list.sort();
        list.dedup();
    }
}
