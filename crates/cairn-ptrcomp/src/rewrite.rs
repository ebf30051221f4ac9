//! The program with pools and small pointers.
//!
//! Most pointers in registers stay addresses: only what is stored in objects of a new layout is an index, the lower
//! half of the address. A pool begins at a multiple of 2^32, so storing is a truncation and loading an addition of the
//! base; null is any address whose lower half is zero, since a null that was loaded becomes the base. So what the
//! rewriting has to find are accesses of objects whose layout changes, and every place where the whole of an address
//! is looked at: comparisons, and calls that leave the program.
//!
//! ```text
//!  q = p->next           i = load i32 (p + new offset);  q = base | i
//!  p->next = q           store i32 (lower half of q), p + new offset
//!  q == NULL, q == r     the lower halves are compared
//!  free(q)               the pool's, or q is made a proper null first
//! ```
//!
//! With `--pool-bits=8` or `16` an index is the lower half divided by four, so it is shifted besides.
//!
//! A function has a version for each combination of shapes that its callers' nodes have; for each node of its interface
//! that lies in a pool it gets two parameters more, the pool and its base.
//!
//! Where addresses from several blocks meet and one is made of an index, it is indices that meet: a loop over a list
//! carries the index, so that the base is not in the chain from load to load.
//!
//! Differences to Lattner & Adve (2005): they keep all indices in registers. Pools that can be expanded are another
//! thing: `dynamic`.

mod checker;
mod dynamic;
mod dynamic_instructions;
mod function_bodies;
mod function_copy;
mod instructions;
mod lines;
mod memory_calls;
mod state;

use crate::dsa::points_to::{Cell, NodeId, Why, flag};
use crate::model::*;
use crate::plan::{Decision, Planner, edges};
use crate::settings::Settings;
use crate::shape::{Key, Shape, Version};
use cairn_llvm_c::{ContextRef, ModuleFunctions, ModuleRef, ValueRef};
use instructions::Emitter;
pub use state::Done;
use state::{Pool, View};
pub(crate) use state::{Rewriter, Stop};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// The reach of a pool that no indices point to.
const NO_INDICES: u64 = 1 << 62;

/// Where the first pool of a program begins: below are the program itself and its heap, far above its stack.
const FIRST_BASE: u64 = 0x1000_0000_0000;

impl<'a, 'm> Rewriter<'a, 'm> {
    pub(crate) fn new(
        f: &'a ModuleFunctions,
        context: ContextRef,
        module: ModuleRef,
        planner: &'a Planner<'a, 'm>,
        settings: &'a Settings,
        lines: bool,
    ) -> Rewriter<'a, 'm> {
        Rewriter {
            e: Emitter::new(f, context, module),
            analysis: planner.analysis,
            planner,
            settings,
            shapes: vec![Shape::default()],
            shared: BTreeMap::new(),
            versions: HashMap::new(),
            queue: VecDeque::new(),
            next_pool: 0,
            program_wide: BTreeMap::new(),
            dynamic_pools: vec![],
            quiet: BTreeMap::new(),
            labels: vec![],
            lines: lines.then(|| lines::Lines::new(f, context, module)),
            done: Done::default(),
        }
    }

    /// Rewrites all that can be reached; false if there is nothing to do.
    pub(crate) fn run(&mut self) -> Result<bool, Stop> {
        let shared = self.planner.shared();
        let edges = edges(&shared);
        let mut any = false;
        for (id, decision) in shared {
            let pool = self.program_pool(&decision, id);
            any |= !decision.shape.is_plain();
            let view = View { shape: self.shape(decision.shape), delta: 0, pool, decided: id };
            self.shared.insert(id, view);
        }
        for (node, targets) in edges {
            if let Some(source) = self.shared[&node].pool {
                let targets: Vec<_> = targets.iter().map(|n| self.shared.get(n).and_then(|v| v.pool)).collect();
                self.points_to(source, targets.into_iter());
            }
        }
        let module = self.analysis.module;
        for id in module.function_ids() {
            let function = module.function(id);
            if !function.declared && (function.kept || function.address_taken) {
                let nodes = self.analysis.interface(id);
                let key = vec![(0, 0); nodes.len()];
                self.version(Version { function: id, key, narrow: false }, &nodes);
            }
        }
        while let Some((version, function, nodes)) = self.queue.pop_front() {
            any |= self.copy(&version, function, &nodes)?;
            if self.versions.len() > 40 * module.functions.len() + 1000 {
                let why = Why { text: "too many versions of functions".into(), at: At::default() };
                return Err(Stop { why, node: None });
            }
        }
        self.finish_pools();
        if let Some(lines) = &self.lines {
            lines.finish();
        }
        self.done.versions = self.versions.len();
        if any {
            self.replace();
        }
        Ok(any)
    }

    fn shape(&mut self, shape: Shape) -> usize {
        if shape.is_plain() {
            return 0;
        }
        self.shapes.iter().position(|s| *s == shape).unwrap_or_else(|| {
            self.shapes.push(shape);
            self.shapes.len() - 1
        })
    }

    /// Notes what was decided for a node, for the report; gives the name that its pool has in messages.
    fn record(&mut self, decision: &Decision, id: NodeId) -> String {
        let name = self.planner.name(id).to_string();
        let list = if decision.shape.is_plain() { &mut self.done.refused } else { &mut self.done.pools };
        if self.analysis.graph.node(id).flags & flag::HEAP != 0 && !list.iter().any(|(_, _, n)| *n == id) {
            list.push((name.clone(), decision.clone(), id));
        }
        name
    }

    /// A pool that is as old as the program, if the node has one.
    fn program_pool(&mut self, decision: &Decision, id: NodeId) -> Option<Pool> {
        let name = self.record(decision, id);
        if !decision.shape.pooled {
            return None;
        }
        let base = FIRST_BASE + (self.next_pool << 32);
        if decision.shape.dynamic {
            self.next_pool += 1;
            return Some(self.dynamic_pool(decision, &name, base, self.next_pool - 1));
        }
        let descriptor = self.e.pool_descriptor(&name, base, self.next_pool, self.reach(decision));
        self.next_pool += 1;
        Some(Pool { descriptor, base: self.e.number(base) })
    }

    /// Bytes that a pool may have: what indices reach, if there are any.
    fn reach(&self, decision: &Decision) -> u64 {
        if decision.shape.indexed { self.settings.bits.reach() } else { NO_INDICES }
    }

    /// The function for a version; it is filled later.
    fn version(&mut self, version: Version, nodes: &[NodeId]) -> ValueRef {
        if let Some(&function) = self.versions.get(&version) {
            return function;
        }
        let pools = version.key.iter().filter(|(shape, _)| self.shapes[*shape].pooled).count();
        let plain = !version.narrow && version.key.iter().all(|(shape, _)| *shape == 0);
        let original = self.analysis.module.function(version.function);
        let external = plain && original.kept;
        let function = self.e.declare_version(original.handle, &original.name, 2 * pools, external);
        if let Some(lines) = &mut self.lines {
            lines.describe(original.handle, function, &original.name);
        }
        self.versions.insert(version.clone(), function);
        self.queue.push_back((version, function, nodes.to_vec()));
        function
    }

    /// What a version's code knows of a cell, with the offset in the objects of its shape.
    fn view(&self, views: &BTreeMap<NodeId, View>, cell: Cell) -> (View, i64) {
        let cell = self.analysis.graph.find(cell);
        let view = self.shared.get(&cell.node).or_else(|| views.get(&cell.node));
        let view = view.copied().unwrap_or(View::plain(cell.node));
        let offset = match view.shape {
            0 => cell.offset,
            shape => self.shapes[shape].normal(cell.offset + view.delta),
        };
        (view, offset)
    }

    /// Puts the versions in the place of the functions they are made of.
    fn replace(&mut self) {
        let module = self.analysis.module;
        for label in &self.labels {
            self.e.replace_label(label);
        }
        let mut copied = vec![];
        for id in module.function_ids().filter(|id| !module.function(*id).declared) {
            let function = module.function(id);
            let key: Key = vec![(0, 0); self.analysis.interface(id).len()];
            let plain = self.versions.get(&Version { function: id, key, narrow: false }).copied();
            // What nobody calls stays if its labels may be in tables: those are nowhere else.
            if function.fixed && plain.is_none() {
                continue;
            }
            let wanted = function.kept || function.address_taken || function.fixed;
            self.e.replace_function(function.handle, plain.filter(|_| wanted), &function.name);
            copied.push(function.handle);
        }
        for function in copied {
            self.e.delete_function(function);
        }
    }

    /// Must the pools of this function's own nodes be as old as the program? So it is if that is no longer than a
    /// call, if several calls may be under way, since a pool takes much of the address space, or if a call may end
    /// without return.
    fn program_wide(&mut self, id: FuncId) -> bool {
        if let Some(&known) = self.program_wide.get(&id) {
            return known;
        }
        let module = self.analysis.module;
        let leaves = self.planner.threaded || module.functions.iter().any(|f| f.name.contains("longjmp"));
        let main = module.function(id).name == "main";
        let answer = main || leaves || self.may_return_to(id);
        self.program_wide.insert(id, answer);
        answer
    }

    /// May this function be called again before it returns?
    fn may_return_to(&self, id: FuncId) -> bool {
        let module = self.analysis.module;
        let (mut seen, mut work) = (BTreeSet::new(), vec![id]);
        while let Some(next) = work.pop() {
            for value in &module.function(next).values {
                let Op::Call(call) = &value.op else { continue };
                let Callee::Known(callee) = call.callee else { return true };
                if callee == id {
                    return true;
                }
                let function = module.function(callee);
                // Whoever is given functions may call them.
                let gives = |a: &Operand| self.analysis.known(next, *a).is_some_and(|c| self.is_function(c));
                if function.declared && call.arguments.iter().any(gives) {
                    return true;
                }
                if !function.declared && seen.insert(callee) {
                    work.push(callee);
                }
            }
        }
        false
    }

    fn is_function(&self, cell: Cell) -> bool {
        self.analysis.graph.at(cell).flags & flag::FUNCTION != 0
    }
}
