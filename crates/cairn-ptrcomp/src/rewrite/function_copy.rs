//! One version of a function: a copy of its instructions, with the accesses changed that the shapes of its nodes
//! demand.
//!
//! First all is copied as it is; then each instruction that is concerned is replaced. What can't be rewritten stops the
//! rewriting, which begins again without the pool of the node concerned.
#![allow(unsafe_code)]

use super::function_bodies::Body;
use super::state::{Copy, Pool, Rewriter, Stop, View};
use crate::dsa::points_to::{Cell, NodeId, Why};
use crate::model::*;
use crate::plan::{Decision, Outer, edges};
use crate::shape::Version;
use cairn_llvm_c::ValueRef;
use std::collections::{BTreeMap, HashMap};

impl Rewriter<'_, '_> {
    /// Fills a version; true if anything in it isn't as before. `decided`: the caller's nodes for those of the
    /// interface.
    pub(super) fn copy(
        &mut self,
        version: &Version,
        function: ValueRef,
        decided: &[NodeId],
    ) -> Result<bool, Stop> {
        let Version { function: id, key, .. } = version;
        let original = self.analysis.module.function(*id);
        let mut views = BTreeMap::new();
        let mut next = original.params.len() as u32;
        for ((&node, &(shape, delta)), &decided) in self.analysis.interface(*id).iter().zip(key).zip(decided) {
            let pool = self.shapes[shape].pooled.then(|| {
                let pool = self.e.pool_parameter(function, next);
                next += 2;
                pool
            });
            views.insert(node, View { shape, delta, pool, decided });
        }
        let outer = |node: NodeId| {
            let shape = |v: &View| &self.shapes[v.shape];
            let (given, shared) = (views.get(&node).map(shape), self.shared.get(&node).map(shape));
            match given.or(shared) {
                Some(shape) if shape.indexed => Outer::Index,
                // A pool that a caller gives is not known, so it can't be told what indices point to it.
                Some(shape) if shape.dynamic && given.is_none() => Outer::Name,
                _ => Outer::Plain,
            }
        };
        let own = self.planner.own(*id, &outer);
        self.fill(version, function, views, own)
    }

    /// Fills a version, with what is known of the nodes of its interface, and what was decided for its own.
    fn fill(
        &mut self,
        version: &Version,
        function: ValueRef,
        views: BTreeMap<NodeId, View>,
        own: BTreeMap<NodeId, Decision>,
    ) -> Result<bool, Stop> {
        let id = &version.function;
        let original = self.analysis.module.function(*id);
        let edges = edges(&own);
        self.e.forget_line();
        let Body { values, entry, labels } = self.e.copy_body(original.handle, function, &original.values);
        self.labels.extend(labels);
        if let Some(lines) = &self.lines {
            lines.copy(function, &original.values, &values);
        }
        let mut copy = Copy {
            id: *id,
            views,
            values,
            narrow: version.narrow,
            made: HashMap::new(),
            expanded: HashMap::new(),
        };
        let mut opened = vec![];
        for (node, decision) in own {
            if decision.shape.is_plain() {
                self.record(&decision, node);
                continue;
            }
            let pool = if !decision.shape.pooled || decision.shape.dynamic || self.program_wide(*id) {
                self.program_pool(&decision, node)
            } else {
                let name = self.record(&decision, node);
                let pool = self.e.open_pool(entry, &name, self.reach(&decision));
                opened.push(pool);
                Some(pool)
            };
            let shape = self.shape(decision.shape);
            copy.views.insert(node, View { shape, delta: 0, pool, decided: node });
        }
        for (node, targets) in edges {
            if let Some(source) = copy.views[&node].pool {
                let pool = |n: &NodeId| self.shared.get(n).or_else(|| copy.views.get(n)).and_then(|v| v.pool);
                let targets: Vec<Option<Pool>> = targets.iter().map(pool).collect();
                self.points_to(source, targets.into_iter());
            }
        }
        let concerned = self.shared.values().chain(copy.views.values()).any(|v| v.shape != 0);
        for index in 0..copy.values.len() {
            if !copy.values[index].is_null() {
                let value = ValueId(index as u32);
                self.rewrite(&mut copy, value).map_err(|text| self.stop(&copy, value, text))?;
            }
        }
        self.carry_indices(&mut copy);
        if !opened.is_empty() {
            self.e.close_pools(function, &opened);
        }
        if let Some(lines) = &self.lines {
            lines.complete(function);
        }
        self.check(function, &copy)?;
        Ok(concerned && copy.views.values().any(|v| v.shape != 0))
    }

    /// What can't be done with this instruction, and whose pool is to blame: the first of the nodes that it works on.
    pub(super) fn stop(&self, copy: &Copy, value: ValueId, text: String) -> Stop {
        let Value { op, at, .. } = &self.analysis.module.function(copy.id).values[value.0 as usize];
        let operands = match op {
            Op::Load { from, .. } => vec![*from],
            Op::Store { to, value, .. } => vec![*to, *value],
            Op::Atomic { on, values, .. } => [*on].into_iter().chain(values.iter().copied()).collect(),
            Op::Address { base, .. } => vec![*base],
            Op::Compare { left, right } => vec![*left, *right],
            Op::ToInteger { of, .. } | Op::Return(of) => vec![*of],
            Op::Join(all) | Op::Strange(all) => all.clone(),
            Op::Call(call) => call.arguments.clone(),
            Op::Param | Op::Plain | Op::Alloca | Op::FromInteger | Op::BitsOfFloat => vec![],
        };
        let views = operands.into_iter().chain([Operand::Value(value)]).filter_map(|o| self.seen(copy, o));
        let node = views.map(|(view, _, _)| view).find(|v| v.shape != 0).map(|v| v.decided);
        // A call has to do with all that its arguments lead to.
        let any = || copy.views.values().chain(self.shared.values()).find(|v| v.shape != 0).map(|v| v.decided);
        let node = node.or_else(|| matches!(op, Op::Call(_)).then(any).flatten());
        Stop { why: Why { text, at: *at }, node }
    }

    /// What is known of an operand's target: the view, and the offset in its objects.
    pub(super) fn seen(&self, copy: &Copy, operand: Operand) -> Option<(View, i64, Cell)> {
        let cell = self.analysis.known(copy.id, operand)?;
        let (view, offset) = self.view(&copy.views, cell);
        Some((view, offset, cell))
    }

    /// The view of an operand whose shape has a new layout.
    fn relaid(&self, copy: &Copy, operand: Operand) -> Option<(View, i64)> {
        let (view, offset, _) = self.seen(copy, operand)?;
        let shape = &self.shapes[view.shape];
        (shape.layout.is_some() && !shape.dynamic).then_some((view, offset))
    }

    /// May this operand be a null in its other form?
    pub(super) fn indexed(&self, copy: &Copy, operand: Operand) -> bool {
        self.seen(copy, operand).is_some_and(|(view, _, _)| self.shapes[view.shape].indexed)
    }

    fn rewrite(&mut self, copy: &mut Copy, value: ValueId) -> Result<(), String> {
        let original = &self.analysis.module.function(copy.id).values[value.0 as usize];
        let now = copy.values[value.0 as usize];
        match &original.op {
            Op::Load { from, .. } if self.dynamic_load(copy, value, *from)? => Ok(()),
            Op::Store { to, value: stored, .. } if self.dynamic_store(copy, value, *to, *stored)? => Ok(()),
            Op::Compare { left, right, .. }
                if self.named(copy, *left) && self.indexed(copy, *right)
                    || self.indexed(copy, *left) && self.named(copy, *right) =>
            {
                Err("a pointer to a dynamic pool is compared with one to a static pool".into())
            }
            Op::Compare { left, right, .. } if self.dynamic_compare(copy, value, *left, *right) => Ok(()),
            Op::Atomic { on, .. } if self.named(copy, *on) => Err("an atomic operation".into()),
            Op::Load { from, .. } => self.load(copy, value, *from, original.kind),
            Op::Store { to, value: stored, kind, .. } => self.store(copy, value, *to, *stored, *kind),
            Op::Address { base, .. } if self.named(copy, *base) => {
                // A name lies within no object, but from name to name it is as far as from address to address.
                self.e.forget_bounds(now);
                Ok(())
            }
            Op::Address { base, steps } => self.address(copy, value, *base, steps),
            Op::Compare { left, right, .. } => self.compare(copy, value, *left, *right),
            Op::ToInteger { of, .. } => {
                if self.indexed(copy, *of) {
                    self.e.before(now);
                    let proper = self.e.proper(self.e.operand(now, 0));
                    self.e.set_operand(now, 0, proper);
                }
                Ok(())
            }
            Op::Call(call) => self.call(copy, value, call),
            Op::Atomic { on, .. } if self.relaid(copy, *on).is_some() => Err("an atomic operation".into()),
            _ => Ok(()),
        }
    }

    fn load(&mut self, copy: &mut Copy, value: ValueId, from: Operand, kind: Kind) -> Result<(), String> {
        let now = copy.values[value.0 as usize];
        let Some((view, offset)) = self.relaid(copy, from) else { return Ok(()) };
        self.done.rewritten += 1;
        let layout = self.shapes[view.shape].layout.as_ref().expect("relaid");
        let small = layout.small_at(offset);
        if !small {
            self.e.weaken_alignment(now, layout.alignment_at(offset));
            return Ok(());
        }
        if kind != Kind::Pointer {
            return Err("a small pointer is read as something else".into());
        }
        let Some((Some(pool), shape)) = self.seen(copy, Operand::Value(value)).map(|(v, _, _)| (v.pool, v.shape))
        else {
            return Err("a small pointer to no pool".into());
        };
        if !self.shapes[shape].indexed {
            return Err("a small pointer to a pool without indices".into());
        }
        self.e.before(now);
        let bits = self.settings.bits;
        let index = self.e.load_index(self.e.operand(now, 0), bits, now);
        let place = self.e.place_of(index, bits);
        if self.settings.check {
            self.e.check_place(pool.descriptor, place, bits);
        }
        let address = self.e.address(pool.base, place);
        self.e.replace(now, address);
        copy.values[value.0 as usize] = address;
        copy.expanded.insert(address, place);
        self.done.small_loads += 1;
        Ok(())
    }

    /// Where a loop goes from object to object, the index is what it carries, so that the next load needs only
    /// that: the base is part of the load's address, not of the chain.
    ///
    /// ```text
    ///  p = phi q, base | i         i' = phi (lower half of q), i
    ///  i = load p + next           p = base | i'
    /// ```
    fn carry_indices(&self, copy: &mut Copy) {
        for (n, original) in self.analysis.module.function(copy.id).values.iter().enumerate() {
            let now = copy.values[n];
            if original.kind != Kind::Pointer || now.is_null() || !self.e.is_phi(now) {
                continue;
            }
            let seen = self.seen(copy, Operand::Value(ValueId(n as u32)));
            if let Some(view) = seen.map(|(v, _, _)| v)
                && let Some(pool) = view.pool.filter(|_| self.shapes[view.shape].indexed)
            {
                copy.values[n] = self.e.carry_index(now, pool.base, &copy.expanded);
            }
        }
    }

    fn store(
        &mut self,
        copy: &mut Copy,
        value: ValueId,
        to: Operand,
        stored: Operand,
        kind: Kind,
    ) -> Result<(), String> {
        let now = copy.values[value.0 as usize];
        let Some((view, offset)) = self.relaid(copy, to) else { return Ok(()) };
        self.done.rewritten += 1;
        let layout = self.shapes[view.shape].layout.as_ref().expect("relaid");
        if !layout.small_at(offset) {
            self.e.weaken_alignment(now, layout.alignment_at(offset));
            return Ok(());
        }
        let in_pool = matches!(stored, Operand::Null | Operand::Data) || self.indexed(copy, stored);
        if kind != Kind::Pointer || !in_pool {
            return Err("a small pointer is written as something else".into());
        }
        self.e.before(now);
        let bits = self.settings.bits;
        let place = self.e.lower_half(self.e.operand(now, 0));
        if self.settings.check
            && let Some(pool) = self.seen(copy, stored).and_then(|(v, _, _)| v.pool)
        {
            self.e.check_place(pool.descriptor, place, bits);
        }
        let new = self.e.store_index(self.e.index_of(place, bits), self.e.operand(now, 1), bits, now);
        copy.values[value.0 as usize] = new;
        self.e.erase(now);
        self.done.small_stores += 1;
        Ok(())
    }

    fn address(&mut self, copy: &mut Copy, value: ValueId, base: Operand, steps: &[Step]) -> Result<(), String> {
        let Some((view, start)) = self.relaid(copy, base) else { return Ok(()) };
        let shape = &self.shapes[view.shape];
        let layout = shape.layout.as_ref().expect("relaid");
        let now = copy.values[value.0 as usize];
        let (mut offset, mut bytes, mut variable) = (start, 0i64, vec![]);
        for (step, index) in self.e.steps(now, steps)? {
            match step {
                Step::Field(n) => move_by(layout, shape, &mut offset, &mut bytes, n as i64),
                Step::Bytes(n) => move_by(layout, shape, &mut offset, &mut bytes, n),
                Step::Element { stride: 0, .. } => {}
                Step::Element { count, by: Some(0), .. } if count < 2 => {}
                Step::Along { stride, by } | Step::Element { stride, by, .. } => {
                    let stride = new_stride(layout, shape, offset, stride)?;
                    match by {
                        Some(n) => bytes += n * stride as i64,
                        None => variable.push((index, stride)),
                    }
                }
            }
        }
        self.e.before(now);
        let address = self.e.offset(self.e.operand(now, 0), bytes, &variable, self.e.is_inbounds(now));
        let unchanged = address == self.e.operand(now, 0);
        self.e.replace(now, address);
        copy.values[value.0 as usize] = if unchanged { std::ptr::null_mut() } else { address };
        self.done.rewritten += 1;
        Ok(())
    }

    fn compare(&mut self, copy: &mut Copy, value: ValueId, left: Operand, right: Operand) -> Result<(), String> {
        let (l, r) = (self.indexed(copy, left), self.indexed(copy, right));
        if !l && !r {
            return Ok(());
        }
        let now = copy.values[value.0 as usize];
        let (a, b) = (self.e.operand(now, 0), self.e.operand(now, 1));
        self.e.before(now);
        let node = |o| self.seen(copy, o).map(|(_, _, cell)| cell.node);
        let is_null = |o| matches!(o, Operand::Null | Operand::Data);
        let alike = is_null(left) || is_null(right) || node(left) == node(right);
        let (a, b) = if alike {
            (self.e.lower_half(a), self.e.lower_half(b))
        } else {
            (if l { self.e.proper(a) } else { a }, if r { self.e.proper(b) } else { b })
        };
        let new = self.e.compare(self.e.predicate(now), a, b);
        self.e.replace(now, new);
        copy.values[value.0 as usize] = new;
        self.done.rewritten += 1;
        Ok(())
    }

    fn call(&mut self, copy: &mut Copy, value: ValueId, call: &Call) -> Result<(), String> {
        let now = copy.values[value.0 as usize];
        match call.callee {
            Callee::Known(id) if !self.analysis.module.function(id).declared => self.call_version(copy, value, id),
            Callee::Known(id) => self.memory_call(copy, value, call, id),
            Callee::Indirect(_) => Ok(()),
            Callee::Assembly => {
                self.proper_arguments(copy, now, call);
                Ok(())
            }
        }
    }

    /// Gives code outside of the program pointers as it knows them.
    pub(super) fn proper_arguments(&mut self, copy: &Copy, now: ValueRef, call: &Call) {
        for (n, &argument) in call.arguments.iter().enumerate() {
            if self.indexed(copy, argument) {
                self.e.before(now);
                let proper = self.e.proper(self.e.operand(now, n as u32));
                self.e.set_operand(now, n as u32, proper);
            }
        }
    }

    fn call_version(&mut self, copy: &mut Copy, value: ValueId, callee: FuncId) -> Result<(), String> {
        let now = copy.values[value.0 as usize];
        let sites = &self.analysis.functions[copy.id.0 as usize].calls;
        let site = sites.iter().find(|s| s.value == value).ok_or("a call that the analysis hasn't seen")?;
        let (mut key, mut pools, mut given, mut nodes) = (vec![], vec![], vec![], vec![]);
        for &node in self.analysis.interface(callee).iter() {
            let cell = site.copies.get(&node).copied().unwrap_or(Cell { node, offset: 0 });
            let found = self.analysis.graph.find(cell);
            let view = self.shared.get(&found.node).or_else(|| copy.views.get(&found.node)).copied();
            let view = view.unwrap_or(View::plain(found.node));
            nodes.push(view.decided);
            let pool = self.shapes[view.shape].pooled.then_some(view.pool).flatten();
            key.push(if view.shape == 0 { (0, 0) } else { (view.shape, found.offset + view.delta) });
            if self.shapes[view.shape].pooled {
                let pool: Pool = pool.ok_or("a pool that isn't there")?;
                pools.extend([pool.descriptor, pool.base]);
                given.push((view.shape, Some(pool)));
            }
        }
        // Blocks whose addresses are taken are not divided.
        let fixed = self.analysis.module.function(copy.id).fixed;
        let asked = if fixed { None } else { self.asked(callee, &given) };
        let version = Version { function: callee, key, narrow: copy.narrow && asked.is_some() };
        let (new, made) = match asked {
            Some(asked) if !copy.narrow => self.ask_and_call(now, &asked, version, &nodes, &pools),
            _ => {
                let function = self.version(version, &nodes);
                self.e.before(now);
                let new = self.e.call_version(now, function, &pools);
                (new, vec![new])
            }
        };
        copy.made.insert(value, made);
        if new.is_null() {
            self.e.erase(now);
        } else {
            self.e.replace(now, new);
        }
        copy.values[value.0 as usize] = new;
        Ok(())
    }
}

pub(super) fn move_by(
    layout: &crate::shape::Layout,
    shape: &crate::shape::Shape,
    offset: &mut i64,
    bytes: &mut i64,
    by: i64,
) {
    *bytes += layout.offset(*offset + by) - layout.offset(*offset);
    *offset = shape.normal(*offset + by);
}

/// The distance of objects or elements that were so far apart.
pub(super) fn new_stride(
    layout: &crate::shape::Layout,
    shape: &crate::shape::Shape,
    offset: i64,
    stride: u64,
) -> Result<u64, String> {
    if let Some(array) = layout.array_at(offset)
        && stride.is_multiple_of(array.size)
    {
        return Ok(stride / array.size * array.new_size);
    }
    if stride == shape.stride || stride == layout.size {
        return Ok(layout.new_size);
    }
    // Arrays of data inside.
    let part = layout.parts.iter().find(|p| p.old as i64 <= offset && offset < (p.old + p.size * p.count) as i64);
    match part {
        Some(part) if part.inner.is_empty() && !part.small => Ok(stride),
        // An array that nobody reads or writes.
        None => Ok(0),
        _ => Err(format!("steps of {stride} bytes at offset {offset}")),
    }
}
