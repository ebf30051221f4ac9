//! Which nodes can have dynamic pools?
//!
//! The problem: objects of a dynamic pool move when the pool is expanded, so a pointer to one is its name, not its
//! address, wherever it is kept, and an address may only be there for the length of one access. That is possible where
//! objects are addressed as wholes (Lattner & Adve 2005, sections 3.1 and 4): one object is allocated at a time, all
//! pointers that are kept point to the beginning, and what is computed of one is accessed on the spot.
//!
//! ```text
//!  p->x = 1;  strlen(p->text);  *p = *q      accesses
//!  int *x = &p->x;  f(&p->x);  p + 1         a pointer into an object, or to the next: refused
//! ```
//!
//! Invariant: a node is refused if any function refuses it, or a node of its own that stands for it in a call.

use crate::dsa::Analysis;
use crate::dsa::externals::{Effect, allocator, effects};
use crate::dsa::points_to::{Cell, NodeId, Why};
use crate::model::*;
use std::collections::BTreeMap;

/// Why nodes can't have dynamic pools.
#[derive(Default)]
pub struct Refused(BTreeMap<NodeId, Why>);

impl Refused {
    /// The reason for this node.
    pub fn why(&self, node: NodeId) -> Option<&Why> {
        self.0.get(&node)
    }

    /// Looks at the whole program; `threads` says why there may be several.
    pub fn find(analysis: &Analysis, threads: Option<&str>) -> Refused {
        let mut refused = Refused::default();
        let module = analysis.module;
        if let Some(threads) = threads {
            let text = format!("{threads}: threads would see objects move");
            for node in (0..analysis.graph.len() as u32).map(NodeId).filter(|n| analysis.graph.is_node(*n)) {
                let at = analysis.graph.node(node).origin;
                refused.0.insert(node, Why { text: text.clone(), at });
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
        self.0.entry(node).or_insert(why);
    }

    /// Refuses the node of a pointer that is kept, if it doesn't point to the beginning.
    fn inside(&mut self, analysis: &Analysis, cell: Cell, text: &str, at: At) {
        let cell = analysis.graph.find(cell);
        if cell.offset != 0 {
            self.add(cell.node, Why { text: text.into(), at });
        }
    }

    /// What a function refuses of a caller's nodes is refused in the caller.
    fn spread(&mut self, analysis: &Analysis) {
        loop {
            let before = self.0.len();
            for call in analysis.functions.iter().flat_map(|f| &f.calls) {
                for (&node, &cell) in &call.copies {
                    let cell = analysis.graph.find(cell);
                    let node = analysis.graph.find(Cell { node, offset: 0 }).node;
                    if let Some(why) = self.0.get(&node).cloned() {
                        self.add(cell.node, why);
                    }
                    let at = analysis.graph.node(node).origin;
                    self.inside(analysis, cell, "a function is given a pointer into an object", at);
                }
            }
            if self.0.len() == before {
                return;
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
        if computed {
            return self.refuse(operand, text);
        }
        if let Some(cell) = self.analysis.known(self.id, operand) {
            self.refused.inside(self.analysis, cell, text, self.at);
        }
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::Param | Op::Plain | Op::Alloca | Op::FromInteger | Op::Load { .. } => {}
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
            Op::Compare { left, right } => {
                for operand in [*left, *right] {
                    self.kept(operand, "a pointer into an object is compared");
                }
            }
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
                self.kept(argument, &format!("{name} is given a pointer into an object"));
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
                    && (*result == Effect::Own || !call.used)
                    && !e.iter().zip(&call.zero).any(kept)
            });
            if !bytes {
                self.refuse(argument, &format!("{name} gets its address"));
            }
        }
    }
}
