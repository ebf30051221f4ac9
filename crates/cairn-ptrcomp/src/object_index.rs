//! Which nodes can have dynamic pools?
//!
//! The problem: objects of a dynamic pool move when the pool is expanded, so a pointer to one is its name, not its
//! address, wherever it is kept, and an address may only be there for the length of one access. That is possible where
//! objects are addressed as wholes (Lattner & Adve 2005, sections 3.1 and 4): one object is allocated at a time, all
//! pointers that are kept point to places that the graph knows, and what else is computed of one is accessed on the
//! spot. A pointer to a place behind the beginning is the object's name and the old offset of the place, which is the
//! same for all pointers of a cell.
//!
//! ```text
//!  p->x = 1;  strlen(p->text);  *p = *q      accesses
//!  int *x = &p->x;  f(&p->x)                 a pointer to the place at offset 8: the name of *p, and 8
//!  &p->a[i];  p + 1;  &p->x == &q->y         which place is not known, or one name may be another's: refused
//! ```
//!
//! Invariant: a node is refused if any function refuses it, or a node of its own that stands for it in a call. Of a
//! node that isn't, each pointer that is kept is an object's name and the offset of its cell.

use crate::dsa::Analysis;
use crate::dsa::externals::{Effect, allocator, effects};
use crate::dsa::points_to::{Cell, NodeId, Why};
use crate::model::*;
use std::collections::{BTreeMap, BTreeSet};

/// Why nodes can't have dynamic pools.
#[derive(Default)]
pub struct Refused {
    all: BTreeMap<NodeId, Why>,
    /// Where in objects pointers that are kept point to, but for the beginning.
    kept: BTreeSet<(NodeId, i64)>,
    /// Nodes whose pointers are compared with those of others.
    compared: BTreeSet<NodeId>,
}

impl Refused {
    /// The reason for this node.
    pub fn why(&self, node: NodeId) -> Option<&Why> {
        self.all.get(&node)
    }

    /// Looks at the whole program; `threads` says why there may be several.
    pub fn find(analysis: &Analysis, threads: Option<&str>) -> Refused {
        let mut refused = Refused::default();
        let module = analysis.module;
        if let Some(threads) = threads {
            let text = format!("{threads}: threads would see objects move");
            for node in (0..analysis.graph.len() as u32).map(NodeId).filter(|n| analysis.graph.is_node(*n)) {
                let at = analysis.graph.node(node).origin;
                refused.all.insert(node, Why { text: text.clone(), at });
            }
            return refused;
        }
        for node in (0..analysis.graph.len() as u32).map(NodeId).filter(|n| analysis.graph.is_node(*n)) {
            refused.node(analysis, node);
        }
        for id in module.function_ids().filter(|id| !module.function(*id).declared) {
            Uses { analysis, refused: &mut refused, id, at: At::default() }.function();
        }
        refused.spread(analysis);
        refused
    }

    fn node(&mut self, analysis: &Analysis, id: NodeId) {
        let node = analysis.graph.node(id);
        if let Some(why) = &node.collapsed {
            self.add(id, why.clone());
        }
        for field in node.fields.values() {
            if let Some(link) = field.link {
                self.inside(analysis, link, "a pointer into an object is stored", field.at);
            }
        }
    }

    fn add(&mut self, node: NodeId, why: Why) {
        self.all.entry(node).or_insert(why);
    }

    /// A pointer that is kept: refuses its node, if it is not known where in an object it points to.
    fn inside(&mut self, analysis: &Analysis, cell: Cell, text: &str, at: At) {
        let cell = analysis.graph.find(cell);
        if cell.offset == 0 {
            return;
        }
        let node = analysis.graph.node(cell.node);
        match cell.offset < 0 || node.run_at(cell.offset).is_some() {
            true => self.add(cell.node, Why { text: text.into(), at }),
            false => {
                self.kept.insert((cell.node, cell.offset));
            }
        }
    }

    /// What a function refuses of a caller's nodes is refused in the caller.
    fn spread(&mut self, analysis: &Analysis) {
        let size = |r: &Refused| r.all.len() + r.kept.len() + r.compared.len();
        loop {
            let before = size(self);
            for call in analysis.functions.iter().flat_map(|f| &f.calls) {
                for (&node, &cell) in &call.copies {
                    let cell = analysis.graph.find(cell);
                    let node = analysis.graph.find(Cell { node, offset: 0 }).node;
                    self.spread_one(analysis, node, cell);
                }
            }
            if size(self) == before {
                return;
            }
        }
    }

    /// From a node of a function to the one that it stands for in a call.
    fn spread_one(&mut self, analysis: &Analysis, node: NodeId, cell: Cell) {
        const TEXT: &str = "a function is given a pointer into an object";
        if let Some(why) = self.all.get(&node).cloned() {
            self.add(cell.node, why);
        }
        let at = analysis.graph.node(node).origin;
        let kept = self.kept.range((node, i64::MIN)..=(node, i64::MAX)).map(|(_, offset)| *offset);
        let kept: Vec<i64> = kept.chain([0]).collect();
        for offset in kept {
            let there = Cell { node: cell.node, offset: cell.offset + offset };
            match analysis.graph.find(there) == there {
                true => self.inside(analysis, there, TEXT, at),
                false => self.add(cell.node, Why { text: TEXT.into(), at }),
            }
        }
        if self.compared.contains(&node) {
            self.compared.insert(cell.node);
            if cell.offset != 0 {
                self.add(cell.node, Why { text: TEXT.into(), at });
            }
        }
    }
}

/// The uses of pointers in one function.
struct Uses<'a, 'm> {
    analysis: &'a Analysis<'m>,
    refused: &'a mut Refused,
    id: FuncId,
    at: At,
}

impl Uses<'_, '_> {
    fn function(&mut self) {
        let function = self.analysis.module.function(self.id);
        for (n, value) in function.values.iter().enumerate() {
            self.at = value.at;
            if function.fixed {
                self.refuse(Operand::Value(ValueId(n as u32)), "its function has a computed goto");
            }
            if !matches!(value.op, Op::Address { .. }) {
                self.kept(Operand::Value(ValueId(n as u32)), "a pointer into an object is kept");
            }
            self.op(&value.op);
        }
    }

    fn refuse(&mut self, operand: Operand, text: &str) {
        if let Some(cell) = self.analysis.known(self.id, operand) {
            self.refused.add(cell.node, Why { text: text.into(), at: self.at });
        }
    }

    /// A pointer that is more than the address of an access.
    fn kept(&mut self, operand: Operand, text: &str) {
        let computed = match operand {
            Operand::Value(v) => {
                let values = &self.analysis.module.function(self.id).values;
                matches!(values[v.0 as usize].op, Op::Address { .. })
            }
            _ => false,
        };
        if computed && self.offset(operand).is_none() {
            return self.refuse(operand, text);
        }
        if let Some(cell) = self.analysis.known(self.id, operand) {
            self.refused.inside(self.analysis, cell, text, self.at);
        }
    }

    /// Where in its object a pointer points to, if its cell tells that.
    fn offset(&self, operand: Operand) -> Option<i64> {
        let cell = self.analysis.known(self.id, operand)?;
        let values = &self.analysis.module.function(self.id).values;
        let address = match operand {
            Operand::Value(v) => Some(&values[v.0 as usize].op),
            _ => None,
        };
        let Some(Op::Address { base, steps }) = address else { return Some(cell.offset) };
        let mut offset = self.offset(*base)?;
        for step in steps {
            offset = offset.checked_add(match *step {
                Step::Field(n) => n as i64,
                Step::Bytes(n) => n,
                Step::Along { by: Some(0), .. } | Step::Element { by: Some(0), .. } => 0,
                Step::Along { .. } | Step::Element { .. } => return None,
            })?;
        }
        (offset == cell.offset).then_some(offset)
    }

    /// Pointers that are compared: those to different places of objects can be equal as names, but never are.
    fn compared(&mut self, left: Operand, right: Operand) {
        const TEXT: &str = "a pointer into an object is compared";
        for operand in [left, right] {
            self.kept(operand, TEXT);
        }
        let (Some(a), Some(b)) = (self.analysis.known(self.id, left), self.analysis.known(self.id, right)) else {
            return;
        };
        if a == b {
            return;
        }
        for cell in [a, b] {
            self.refused.compared.insert(cell.node);
            if a.offset != 0 || b.offset != 0 {
                self.refused.add(cell.node, Why { text: TEXT.into(), at: self.at });
            }
        }
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::Param | Op::Plain | Op::Alloca | Op::FromInteger | Op::BitsOfFloat | Op::Load { .. } => {}
            Op::Store { value, .. } => self.kept(*value, "a pointer into an object is stored"),
            Op::Atomic { on, values, .. } => {
                for &operand in values.iter().chain([on]) {
                    self.refuse(operand, "an atomic operation");
                }
            }
            Op::Address { base, steps } => {
                let along = |s: &Step| matches!(s, Step::Along { by, .. } if *by != Some(0));
                let computed = match base {
                    Operand::Value(v) => {
                        let values = &self.analysis.module.function(self.id).values;
                        matches!(values[v.0 as usize].op, Op::Address { .. })
                    }
                    _ => false,
                };
                if !computed && steps.iter().any(along) {
                    self.refuse(*base, "a step from an object to the next");
                }
            }
            Op::Join(operands) => {
                for &operand in operands {
                    self.kept(operand, "a pointer into an object is kept");
                }
            }
            Op::Compare { left, right } => self.compared(*left, *right),
            Op::ToInteger { of, .. } => self.refuse(*of, "its address becomes a number"),
            Op::Return(operand) => self.kept(*operand, "a pointer into an object is returned"),
            Op::Strange(operands) => {
                for &operand in operands {
                    self.refuse(operand, "an instruction that the analysis doesn't know");
                }
            }
            Op::Call(call) => self.call(call),
        }
    }

    fn call(&mut self, call: &Call) {
        let Callee::Known(id) = call.callee else {
            for &argument in &call.arguments {
                match call.callee {
                    Callee::Assembly => self.refuse(argument, "inline assembly gets it"),
                    _ => self.kept(argument, "a function is given a pointer into an object"),
                }
            }
            return;
        };
        let function = self.analysis.module.function(id);
        if !function.declared {
            for (n, &argument) in call.arguments.iter().enumerate() {
                match call.by_value.get(n) {
                    Some(true) => self.refuse(argument, "passed by value"),
                    _ => self.kept(argument, "a function is given a pointer into an object"),
                }
            }
            return;
        }
        let name = &function.name;
        if function.intrinsic {
            let base = name.trim_start_matches("llvm.");
            if !["memcpy", "memmove", "memset", "lifetime"].iter().any(|n| base.starts_with(n)) {
                for &argument in &call.arguments {
                    self.refuse(argument, &format!("{name} gets its address"));
                }
            }
            return;
        }
        if allocator(name).is_some() {
            for &argument in &call.arguments {
                let whole = self.analysis.known(self.id, argument).is_none_or(|c| c.offset == 0);
                match whole && self.offset(argument).is_some() {
                    true => self.kept(argument, &format!("{name} is given a pointer into an object")),
                    false => self.refuse(argument, &format!("{name} is given a pointer into an object")),
                }
            }
            return;
        }
        let known = effects(name, call.arguments.len());
        for (n, &argument) in call.arguments.iter().enumerate() {
            let bytes = known.as_ref().is_some_and(|(result, e)| {
                // A callback or a result would outlive the access.
                let kept = |(e, zero): (&Effect, &bool)| match e {
                    Effect::PointerInto(_) => !zero,
                    effect => *effect == Effect::Elements,
                };
                e[n] == Effect::Bytes
                    && (matches!(result, Effect::Own | Effect::Opaque | Effect::Fresh) || !call.used)
                    && !e.iter().zip(&call.zero).any(kept)
            });
            if !bytes {
                self.refuse(argument, &format!("{name} gets its address"));
            }
        }
    }
}
