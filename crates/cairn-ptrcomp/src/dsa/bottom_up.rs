//! The bottom-up phase: what callees do with their parameters is copied into callers.
//!
//! Functions that call each other in a circle share one graph: their calls unify arguments with parameters. Any other
//! call gets a copy of the part of the callee's graph that parameters and result reach, but for shared nodes. Copies
//! are made when the callee's own calls are done, so they are complete.
//!
//! An allocation whose size is a parameter has, in each copy, the size that is known of the argument.

use super::analysis::{Analysis, CallSite};
use super::points_to::{Cell, NodeId};
use crate::model::*;
use std::collections::BTreeMap;

pub(super) fn run(analysis: &mut Analysis) {
    for circle in circles(analysis) {
        for &id in &circle {
            let mut calls = std::mem::take(&mut analysis.functions[id.0 as usize].calls);
            for call in &mut calls {
                let inside = circle.contains(&call.callee);
                let module = analysis.module;
                let Op::Call(site) = &module.function(id).values[call.value.0 as usize].op else { continue };
                let shared = analysis.assumed.is_entered(call.callee);
                if !inside && !shared {
                    call.copies = copy(analysis, id, call, site);
                }
                analysis.graph.joined = inside.then_some(call.callee);
                connect(analysis, id, call, site);
                analysis.graph.joined = None;
            }
            analysis.functions[id.0 as usize].calls = calls;
        }
    }
}

/// Circles of calls, callees first.
fn circles(analysis: &Analysis) -> Vec<Vec<FuncId>> {
    let count = analysis.functions.len();
    let callees: Vec<Vec<usize>> =
        analysis.functions.iter().map(|f| f.calls.iter().map(|c| c.callee.0 as usize).collect()).collect();
    let mut state = Tarjan {
        callees: &callees,
        index: vec![0; count],
        low: vec![0; count],
        on: vec![false; count],
        next: 1,
        stack: vec![],
        out: vec![],
    };
    for v in 0..count {
        if state.index[v] == 0 {
            state.visit(v);
        }
    }
    state.out
}

/// Tarjan's algorithm (1972), with a stack of its own: programs call deeply.
struct Tarjan<'a> {
    callees: &'a [Vec<usize>],
    index: Vec<u32>,
    low: Vec<u32>,
    on: Vec<bool>,
    next: u32,
    stack: Vec<usize>,
    out: Vec<Vec<FuncId>>,
}

impl Tarjan<'_> {
    fn open(&mut self, v: usize) {
        self.index[v] = self.next;
        self.low[v] = self.next;
        self.next += 1;
        self.stack.push(v);
        self.on[v] = true;
    }

    fn visit(&mut self, root: usize) {
        self.open(root);
        let mut work = vec![(root, 0usize)];
        while let Some((v, position)) = work.pop() {
            if let Some(&w) = self.callees[v].get(position) {
                work.push((v, position + 1));
                if self.index[w] == 0 {
                    self.open(w);
                    work.push((w, 0));
                } else if self.on[w] {
                    self.low[v] = self.low[v].min(self.index[w]);
                }
                continue;
            }
            if let Some(&(parent, _)) = work.last() {
                self.low[parent] = self.low[parent].min(self.low[v]);
            }
            if self.low[v] == self.index[v] {
                let mut circle = vec![];
                loop {
                    let w = self.stack.pop().expect("v is on the stack");
                    self.on[w] = false;
                    circle.push(FuncId(w as u32));
                    if w == v {
                        break;
                    }
                }
                self.out.push(circle);
            }
        }
    }
}

/// Copies the callee's interface.
fn copy(analysis: &mut Analysis, caller: FuncId, call: &CallSite, site: &Call) -> BTreeMap<NodeId, Cell> {
    let nodes = analysis.interface(call.callee);
    let mut copies = BTreeMap::new();
    for &node in nodes.iter() {
        let mut copied = analysis.graph.node(node).clone();
        for extent in &mut copied.allocations {
            extent.size = substituted(extent.size, call.callee, site);
        }
        let size = |size| substituted(size, call.callee, site);
        copied.sites = copied.sites.called(caller, call.value, &size);
        for extent in &mut copied.copies {
            // The callee's code is the same for all lengths, so it can't know this one.
            extent.size = match (extent.size, size(extent.size)) {
                (given, Size::Const(n)) if given.is_given() => Size::Multiple(n),
                (_, size) => size,
            };
        }
        copies.insert(node, analysis.graph.insert(copied));
    }
    for &cell in copies.values() {
        let moved: Vec<(i64, Cell)> = analysis
            .graph
            .node(cell.node)
            .fields
            .iter()
            .filter_map(|(&offset, field)| {
                let link = analysis.graph.find(field.link?);
                let to = copies.get(&link.node)?;
                Some((offset, Cell { node: to.node, offset: link.offset }))
            })
            .collect();
        analysis.graph.edit(cell, |node| {
            for (offset, link) in moved {
                node.fields.get_mut(&offset).expect("just read").link = Some(link);
            }
        });
    }
    copies
}

fn substituted(size: Size, callee: FuncId, site: &Call) -> Size {
    size.given(callee, |index| site.sizes.get(index as usize).copied().unwrap_or(Size::Unknown))
}

/// Unifies arguments and result with those of the callee, or its copy.
fn connect(analysis: &mut Analysis, caller: FuncId, call: &CallSite, site: &Call) {
    let (params, result) = analysis.graph.signatures[call.callee.0 as usize].clone();
    let there = |analysis: &Analysis, cell: Cell| {
        let cell = analysis.graph.find(cell);
        match call.copies.get(&cell.node) {
            Some(copy) => Cell { node: copy.node, offset: copy.offset + cell.offset },
            None => cell,
        }
    };
    for (i, param) in params.into_iter().enumerate() {
        let function = analysis.module.function(call.callee);
        let Some(&argument) = site.arguments.get(i) else { break };
        let pointer = function.params[i].has_pointer();
        let target = there(analysis, param);
        match analysis.operand(Some(caller), argument) {
            Some(cell) if pointer => analysis.graph.unify(target, cell),
            Some(cell) => analysis.graph.escape(cell, "passed as a number", At::default()),
            None if pointer && argument != Operand::Null => {
                analysis.graph.escape(target, "comes as a number", At::default());
            }
            None => {}
        }
    }
    let value = &analysis.module.function(caller).values[call.value.0 as usize];
    let returns = analysis.module.function(call.callee).result.has_pointer();
    match (returns, value.kind.has_pointer()) {
        (true, true) => {
            let target = there(analysis, result);
            let cell = analysis.value(caller, call.value);
            analysis.graph.unify(target, cell);
        }
        (false, true) => {
            let cell = analysis.value(caller, call.value);
            analysis.graph.escape(cell, "comes as a number from a function", At::default());
        }
        (true, false) if value.kind == Kind::Data => {
            let target = there(analysis, result);
            analysis.graph.escape(target, "returned as a number", At::default());
        }
        _ => {}
    }
}
