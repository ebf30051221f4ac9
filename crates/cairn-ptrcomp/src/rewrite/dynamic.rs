//! Accesses of dynamic pools: by name, in one of two forms.
//!
//! The problem: what `runtime/dynamic_pool.c` describes. A pointer is the name of an object; each access computes the
//! address, and has to ask the pool whether its objects are narrow or wide.
//!
//! ```text
//!  q = p->next      wide = load flag of the pool                           (flags alias nothing that C code stores)
//!                   if wide == 0:  q = zero-extended load i32 (base + p + narrow offset)
//!                   else:          q = load i64 (wide + p / narrow size * wide size + old offset)
//! ```
//!
//! Computations of addresses are left alone, and found again from each access: nothing may hold an address while a pool
//! is expanded. A function that allocates nothing, and calls nothing that does, has a second version, for objects that
//! are narrow; whoever calls it asks once (loop unswitching does the same for loops).
//!
//! Differences to Lattner & Adve (2005): names are numbers times the narrow size, so that the narrow form needs no
//! multiplication; pools have two bases; functions are copied; a pool is never younger than the program.
#![allow(unsafe_code)]

use super::dynamic_instructions::Arms;
use super::function_copy::{move_by, new_stride};
use super::state::{Copy, Pool, Rewriter, Unfinished, View};
use crate::dsa::externals::{Allocator, Effect, allocator, effects};
use crate::dsa::points_to::{Cell, NodeId};
use crate::model::*;
use crate::plan::Decision;
use crate::settings::Bits;
use crate::shape::{Part, Shape, Version, any_extent, new_extent, resolved};
use cairn_llvm_c::ValueRef;
use std::collections::BTreeSet;

/// How far an access is from the beginning of its object.
#[derive(Default)]
struct Way {
    bytes: i64,
    /// Numbers, times so many bytes each.
    variable: Vec<(ValueRef, u64)>,
}

/// What is accessed.
struct Place {
    shape: usize,
    pool: Pool,
    /// The name of the object, and `inner`.
    name: ValueRef,
    /// Where in the object the pointer points to from which the access is computed.
    inner: i64,
    /// The old offset, of an array's first element.
    offset: i64,
    narrow: Way,
    wide: Way,
}

/// At most this many pools are asked before a call.
const MOST_ASKED: usize = 6;

impl Shape {
    /// The size of an object of a dynamic pool that has been expanded.
    fn wide_size(&self) -> u64 {
        match &self.layout {
            Some(layout) => layout.size.next_multiple_of(layout.align.max(8)),
            None => self.object,
        }
    }
}

impl Rewriter<'_, '_> {
    /// A dynamic pool, to be finished.
    pub(super) fn dynamic_pool(&mut self, decision: &Decision, name: &str, base: u64, number: u64) -> Pool {
        let descriptor = self.e.dynamic_descriptor();
        let name = name.to_string();
        let shape = decision.shape.clone();
        self.dynamic_pools.push(Unfinished { descriptor, base, number, name, shape, sources: BTreeSet::new() });
        Pool { descriptor, base: self.e.number(base) }
    }

    /// Tells the pools that a pool's indices point to.
    pub(super) fn points_to(&mut self, source: Pool, targets: impl Iterator<Item = Option<Pool>>) {
        for target in targets.flatten() {
            let target = self.dynamic_pools.iter_mut().find(|p| p.descriptor == target.descriptor);
            target.expect("a dynamic pool").sources.insert(source.descriptor);
        }
    }

    /// The contents of the descriptors.
    pub(super) fn finish_pools(&mut self) {
        for pool in std::mem::take(&mut self.dynamic_pools) {
            let bits = self.settings.bits;
            // A pointer into the last object must fit, too.
            let reach = match bits {
                _ if pool.sources.is_empty() => 1 << 62,
                Bits::ThirtyTwo => bits.reach() - pool.shape.wide_size(),
                _ => bits.reach(),
            };
            let mut parts = vec![];
            match &pool.shape.layout {
                Some(layout) => layout.parts.iter().for_each(|p| rows(p, &mut parts)),
                None => parts.push([0, 0, pool.shape.object, 0, 0, 1, 0]),
            }
            let sources: Vec<ValueRef> = pool.sources.iter().copied().collect();
            let halves = [
                parts.len() as u64,
                sources.len() as u64,
                pool.shape.object,
                pool.shape.wide_size(),
                bits.bytes(),
                bits.unit(),
                pool.number,
                0,
            ];
            let parts: Vec<u64> = parts.into_iter().flatten().collect();
            self.e.finish_descriptor(pool.descriptor, pool.base, reach, &pool.name, &parts, &sources, halves);
        }
    }

    fn view_of(&self, copy: &Copy, operand: Operand) -> Option<(View, Cell)> {
        let (view, _, cell) = self.seen(copy, operand)?;
        self.shapes[view.shape].dynamic.then_some((view, cell))
    }

    /// Is this operand a name?
    pub(super) fn named(&self, copy: &Copy, operand: Operand) -> bool {
        self.view_of(copy, operand).is_some()
    }

    /// Where an access goes; nothing if that is in no dynamic pool. `now` is the operand in the copy.
    fn place(&self, copy: &Copy, operand: Operand, now: ValueRef) -> Result<Option<Place>, String> {
        let Some((view, _)) = self.view_of(copy, operand) else { return Ok(None) };
        let values = &self.analysis.module.function(copy.id).values;
        let (mut chain, mut root, mut name) = (vec![], operand, now);
        while let Operand::Value(v) = root {
            let Op::Address { base, steps } = &values[v.0 as usize].op else { break };
            let gep = copy.values[v.0 as usize];
            chain.push((gep, steps));
            (root, name) = (*base, self.e.operand(gep, 0));
        }
        let shape = &self.shapes[view.shape];
        let inner =
            self.view_of(copy, root).map(|(view, cell)| self.analysis.graph.find(cell).offset + view.delta);
        let inner = inner.filter(|&n| n >= 0 && shape.normal(n) == n);
        let inner = inner.ok_or("a pointer into an object of a dynamic pool")?;
        let pool = view.pool.ok_or("a dynamic pool that isn't there")?;
        let moved = shape.layout.as_ref().map_or(inner, |layout| layout.offset(inner));
        let mut place = Place {
            shape: view.shape,
            pool,
            name,
            inner,
            offset: inner,
            narrow: Way { bytes: moved - inner, variable: vec![] },
            wide: Way { bytes: inner, variable: vec![] },
        };
        for (gep, steps) in chain.into_iter().rev() {
            for (step, index) in self.e.steps(gep, steps)? {
                let by = match step {
                    Step::Field(n) => n as i64,
                    Step::Bytes(n) => n,
                    Step::Element { stride: 0, .. } => continue,
                    Step::Element { count, by: Some(0), .. } if count < 2 => continue,
                    Step::Along { stride, by } | Step::Element { stride, by, .. } => {
                        let new = match &shape.layout {
                            Some(layout) => new_stride(layout, shape, place.offset, stride)?,
                            None => stride,
                        };
                        match by {
                            Some(n) => {
                                place.wide.bytes += n * stride as i64;
                                place.narrow.bytes += n * new as i64;
                            }
                            None => {
                                place.wide.variable.push((index, stride));
                                place.narrow.variable.push((index, new));
                            }
                        }
                        continue;
                    }
                };
                place.wide.bytes += by;
                match &shape.layout {
                    Some(layout) => move_by(layout, shape, &mut place.offset, &mut place.narrow.bytes, by),
                    None => {
                        place.narrow.bytes += by;
                        place.offset += by;
                    }
                }
            }
        }
        Ok(Some(place))
    }

    fn narrow_address(&self, place: &Place) -> ValueRef {
        let start = self.e.sum(place.pool.base, place.name);
        self.e.offset(start, place.narrow.bytes, &place.narrow.variable, false)
    }

    fn wide_address(&self, place: &Place, base: ValueRef) -> ValueRef {
        let shape = &self.shapes[place.shape];
        let name = match place.inner {
            0 => place.name,
            inner => self.e.offset(place.name, -inner, &[], false),
        };
        let start = self.e.wide_start(base, name, shape.object, shape.wide_size());
        self.e.offset(start, place.wide.bytes, &place.wide.variable, false)
    }

    /// The address where that is one computation for both forms, or the form is known.
    fn single_address(&self, copy: &Copy, place: &Place) -> Option<ValueRef> {
        if copy.narrow {
            return Some(self.narrow_address(place));
        }
        if self.shapes[place.shape].layout.is_some() {
            return None;
        }
        let wide = self.e.flag(&[place.pool.descriptor]);
        let base = self.e.first_unless_zero(wide, place.pool.base);
        Some(self.e.offset(self.e.sum(base, place.name), place.narrow.bytes, &place.narrow.variable, false))
    }

    fn divide(&self, now: ValueRef, pool: Pool) -> Arms {
        self.e.divide(now, &[pool.descriptor])
    }

    /// A load; false if it isn't from a dynamic pool.
    pub(super) fn dynamic_load(&mut self, copy: &mut Copy, value: ValueId, from: Operand) -> Result<bool, String> {
        let now = copy.values[value.0 as usize];
        let Some(place) = self.place(copy, from, self.e.operand(now, 0))? else { return Ok(false) };
        self.done.rewritten += 1;
        let layout = self.shapes[place.shape].layout.clone();
        let small = layout.as_ref().is_some_and(|l| l.small_at(place.offset));
        if small {
            self.done.small_loads += 1;
        }
        self.e.before(now);
        let narrow = |this: &Self, address: ValueRef, load: ValueRef| {
            if small {
                let bits = this.settings.bits;
                return this.e.name_of(this.e.place_of(this.e.load_index(address, bits, now), bits));
            }
            this.e.set_operand(load, 0, address);
            if let Some(layout) = &layout {
                this.e.weaken_alignment(load, layout.alignment_at(place.offset));
            }
            load
        };
        if let Some(address) = self.single_address(copy, &place) {
            let new = narrow(self, address, now);
            if new != now {
                self.check_name(copy, Operand::Value(value), new);
                self.e.replace(now, new);
                copy.values[value.0 as usize] = new;
            }
            return Ok(true);
        }
        let arms = self.divide(now, place.pool);
        self.e.at_end(arms.narrow);
        let address = self.narrow_address(&place);
        let load = if small { now } else { self.e.another(now) };
        let a = narrow(self, address, load);
        self.e.at_end(arms.wide);
        let address = self.wide_address(&place, arms.base);
        let b = self.e.another(now);
        self.e.set_operand(b, 0, address);
        let new = self.e.unite(&arms, now, Some((a, b)));
        if small {
            self.e.before(now);
            self.check_name(copy, Operand::Value(value), new);
        }
        self.e.replace(now, new);
        copy.values[value.0 as usize] = new;
        Ok(true)
    }

    /// With `--check-indices`, before it is used or stored.
    fn check_name(&self, copy: &Copy, operand: Operand, name: ValueRef) {
        if self.settings.check
            && let Some((View { pool: Some(pool), delta, .. }, cell)) = self.view_of(copy, operand)
            && self.analysis.graph.find(cell).offset + delta == 0
        {
            self.e.call_runtime("cairn_dynamic_check", &[pool.descriptor, name], None);
        }
    }

    /// A store; false if it isn't to a dynamic pool.
    pub(super) fn dynamic_store(
        &mut self,
        copy: &mut Copy,
        value: ValueId,
        to: Operand,
        stored: Operand,
    ) -> Result<bool, String> {
        let now = copy.values[value.0 as usize];
        let Some(place) = self.place(copy, to, self.e.operand(now, 1))? else { return Ok(false) };
        self.done.rewritten += 1;
        let layout = self.shapes[place.shape].layout.clone();
        let small = layout.as_ref().is_some_and(|l| l.small_at(place.offset));
        if small {
            if !matches!(stored, Operand::Null | Operand::Data) && !self.named(copy, stored) {
                return Err("a small pointer is written as something else".into());
            }
            self.done.small_stores += 1;
        }
        self.e.before(now);
        if small {
            self.check_name(copy, stored, self.e.operand(now, 0));
        }
        let narrow = |this: &Self, address: ValueRef, store: ValueRef| {
            if small {
                let bits = this.settings.bits;
                let index = this.e.index_of(this.e.lower_half(this.e.operand(now, 0)), bits);
                return this.e.store_index(index, address, bits, now);
            }
            this.e.set_operand(store, 1, address);
            if let Some(layout) = &layout {
                this.e.weaken_alignment(store, layout.alignment_at(place.offset));
            }
            store
        };
        if let Some(address) = self.single_address(copy, &place) {
            copy.made.insert(value, vec![narrow(self, address, now)]);
            if small {
                self.e.erase(now);
            }
            return Ok(true);
        }
        let arms = self.divide(now, place.pool);
        self.e.at_end(arms.narrow);
        let address = self.narrow_address(&place);
        let store = if small { now } else { self.e.another(now) };
        let first = narrow(self, address, store);
        self.e.at_end(arms.wide);
        let address = self.wide_address(&place, arms.base);
        let store = self.e.another(now);
        self.e.set_operand(store, 1, address);
        copy.made.insert(value, vec![first, store]);
        self.e.unite(&arms, now, None);
        self.e.erase(now);
        copy.values[value.0 as usize] = std::ptr::null_mut();
        Ok(true)
    }

    /// A copy or fill; false if it isn't in a dynamic pool.
    pub(super) fn dynamic_extent(&mut self, copy: &mut Copy, value: ValueId, call: &Call) -> Result<bool, String> {
        let now = copy.values[value.0 as usize];
        let Some(to) = self.place(copy, call.arguments[0], self.e.operand(now, 0))? else { return Ok(false) };
        self.done.rewritten += 1;
        let from = match call.arguments.get(1) {
            Some(&from) => self.place(copy, from, self.e.operand(now, 1))?,
            None => None,
        };
        if from.as_ref().is_some_and(|f| f.pool.descriptor != to.pool.descriptor) {
            return Err("a copy from one dynamic pool to another".into());
        }
        let both = [(0, Some(&to)), (1, from.as_ref())].into_iter().filter_map(|(n, p)| Some((n, p?)));
        let both: Vec<(u32, &Place)> = both.collect();
        let layout = self.shapes[to.shape].layout.clone();
        let narrow = |this: &Self, now: ValueRef| {
            let Some(layout) = &layout else { return Ok(()) };
            let size = resolved(this.analysis, call.sizes[2], 0);
            let by_caller = || call.sizes[2].is_given().then(|| any_extent(layout, to.offset)).flatten();
            let length = new_extent(layout, to.offset, size).or_else(by_caller);
            let length = length.ok_or("a copy of a length that isn't understood")?;
            let old = this.e.operand(now, 2);
            let length = this.e.extent(length, old);
            this.e.set_operand(now, 2, length);
            this.e.forget_alignment(now, layout.alignment_at(to.offset));
            Ok::<(), String>(())
        };
        self.e.before(now);
        let single: Option<Vec<ValueRef>> = both.iter().map(|(_, p)| self.single_address(copy, p)).collect();
        if let Some(addresses) = single {
            narrow(self, now)?;
            for ((n, _), address) in both.iter().zip(addresses) {
                self.e.set_operand(now, *n, address);
            }
            copy.made.insert(value, vec![now]);
            return Ok(true);
        }
        let arms = self.divide(now, to.pool);
        self.e.at_end(arms.narrow);
        let addresses: Vec<ValueRef> = both.iter().map(|(_, p)| self.narrow_address(p)).collect();
        let one = self.e.another(now);
        for ((n, _), address) in both.iter().zip(addresses) {
            self.e.set_operand(one, *n, address);
        }
        self.e.before(one);
        narrow(self, one)?;
        self.e.at_end(arms.wide);
        let addresses: Vec<ValueRef> = both.iter().map(|(_, p)| self.wide_address(p, arms.base)).collect();
        let other = self.e.another(now);
        for ((n, _), address) in both.iter().zip(addresses) {
            self.e.set_operand(other, *n, address);
        }
        self.e.unite(&arms, now, None);
        self.e.erase(now);
        copy.made.insert(value, vec![one, other]);
        copy.values[value.0 as usize] = std::ptr::null_mut();
        Ok(true)
    }

    /// Gives code outside of the program addresses in place of names, for the time of a call.
    pub(super) fn addresses_for(&mut self, copy: &Copy, now: ValueRef, call: &Call) -> Result<(), String> {
        for (n, &argument) in call.arguments.iter().enumerate() {
            let Some(place) = self.place(copy, argument, self.e.operand(now, n as u32))? else { continue };
            self.e.before(now);
            let address = self.single_address(copy, &place).unwrap_or_else(|| {
                let wide = self.e.flag(&[place.pool.descriptor]);
                let narrow = self.narrow_address(&place);
                self.e.select_narrow(wide, narrow, self.wide_address(&place, wide))
            });
            let address = self.e.null_if_null(place.name, address);
            self.e.set_operand(now, n as u32, address);
            self.done.rewritten += 1;
        }
        Ok(())
    }

    /// Allocation in a dynamic pool.
    pub(super) fn dynamic_allocation(
        &mut self,
        copy: &mut Copy,
        value: ValueId,
        view: View,
        allocator: Allocator,
    ) {
        let now = copy.values[value.0 as usize];
        let pool = view.pool.expect("a dynamic pool");
        let size = self.e.number(self.shapes[view.shape].object);
        let (descriptor, base, pointer) = (pool.descriptor, pool.base, Some(self.e.pointer));
        let old = self.e.operand(now, 0);
        let new = match allocator {
            Allocator::Free => {
                let call = self.e.call_runtime("cairn_dynamic_free_one", &[descriptor, base, old], None);
                copy.made.insert(value, vec![call]);
                self.e.erase(now);
                copy.values[value.0 as usize] = std::ptr::null_mut();
                return;
            }
            Allocator::Malloc => self.e.call_runtime("cairn_dynamic_one", &[descriptor, base, size], pointer),
            Allocator::Calloc => self.e.call_runtime("cairn_dynamic_zeroed", &[descriptor, base, size], pointer),
            Allocator::Realloc => {
                self.e.call_runtime("cairn_dynamic_resize_one", &[descriptor, base, old, size], pointer)
            }
        };
        self.e.replace(now, new);
        copy.values[value.0 as usize] = new;
    }

    /// A comparison of names with what isn't of the same node; false if it isn't one. Two nodes of a function may be
    /// one for its caller, so names are equal if their pools are; other things are equal if both are null.
    pub(super) fn dynamic_compare(
        &mut self,
        copy: &mut Copy,
        value: ValueId,
        left: Operand,
        right: Operand,
    ) -> bool {
        let (l, r) = (self.view_of(copy, left), self.view_of(copy, right));
        if l.is_none() && r.is_none() {
            return false;
        }
        let is_null = |o| matches!(o, Operand::Null | Operand::Data);
        let node = |o| self.seen(copy, o).map(|(_, _, cell)| self.analysis.graph.find(cell).node);
        let now = copy.values[value.0 as usize];
        if is_null(left) || is_null(right) || node(left) == node(right) || !self.e.is_equality(now) {
            return true;
        }
        self.e.before(now);
        let pool = |seen: Option<(View, Cell)>| seen.and_then(|(view, _)| view.pool).map(|p| p.descriptor);
        let new = match (pool(l), pool(r)) {
            (Some(a), Some(b)) => self.e.same_object(now, a, b),
            _ => self.e.both_null(now),
        };
        self.e.replace(now, new);
        copy.values[value.0 as usize] = new;
        self.done.rewritten += 1;
        true
    }

    /// The dynamic pools that a call has to do with, if the objects of all of them can be known to stay as they are.
    pub(super) fn asked(&mut self, callee: FuncId, given: &[(usize, Option<Pool>)]) -> Option<Vec<ValueRef>> {
        let shared = self.quiet(callee)?;
        let given = given.iter().filter(|(shape, _)| self.shapes[*shape].dynamic).filter_map(|(_, pool)| *pool);
        let shared = shared.iter().filter_map(|n| self.shared.get(n).and_then(|v| v.pool));
        let mut all: Vec<ValueRef> = given.chain(shared).map(|p| p.descriptor).collect();
        all.sort();
        all.dedup();
        (!all.is_empty() && all.len() <= MOST_ASKED).then_some(all)
    }

    /// The shared nodes with dynamic pools that a function and all it calls have to do with, if none of them allocates.
    fn quiet(&mut self, id: FuncId) -> Option<BTreeSet<NodeId>> {
        if let Some(known) = self.quiet.get(&id) {
            return known.clone();
        }
        let answer = self.find_quiet(id);
        self.quiet.insert(id, answer.clone());
        answer
    }

    fn find_quiet(&self, id: FuncId) -> Option<BTreeSet<NodeId>> {
        let module = self.analysis.module;
        let (mut seen, mut work, mut shared) = (BTreeSet::from([id]), vec![id], BTreeSet::new());
        while let Some(id) = work.pop() {
            let function = module.function(id);
            if function.declared {
                let harmless = function.intrinsic
                    || ["free", "exit", "abort"].contains(&function.name.as_str())
                    || effects(&function.name, function.params.len()).is_some_and(|(_, e)| {
                        allocator(&function.name).is_none() && !e.contains(&Effect::Elements)
                    });
                if !harmless {
                    return None;
                }
                continue;
            }
            if function.fixed {
                return None;
            }
            for cell in self.analysis.functions[id.0 as usize].values.iter().flatten() {
                let node = self.analysis.graph.find(*cell).node;
                if self.shared.get(&node).is_some_and(|v| self.shapes[v.shape].dynamic) {
                    shared.insert(node);
                }
            }
            for value in &function.values {
                let Op::Call(call) = &value.op else { continue };
                let Callee::Known(callee) = call.callee else { return None };
                if seen.insert(callee) {
                    work.push(callee);
                }
            }
        }
        Some(shared)
    }

    /// A call of the version for narrow objects, or of the other.
    pub(super) fn ask_and_call(
        &mut self,
        now: ValueRef,
        asked: &[ValueRef],
        version: Version,
        nodes: &[NodeId],
        pools: &[ValueRef],
    ) -> (ValueRef, Vec<ValueRef>) {
        let narrow = self.version(Version { narrow: true, ..version.clone() }, nodes);
        let other = self.version(version, nodes);
        let arms = self.e.divide(now, asked);
        self.e.at_end(arms.narrow);
        let a = self.e.call_version(now, narrow, pools);
        self.e.at_end(arms.wide);
        let b = self.e.call_version(now, other, pools);
        (self.e.unite(&arms, now, (!self.e.is_void(now)).then_some((a, b))), vec![a, b])
    }
}

/// What the runtime copies when it expands an object.
fn rows(part: &Part, rows_of: &mut Vec<[u64; 7]>) {
    if part.inner.is_empty() {
        match part.small {
            true => rows_of.push([part.old, part.new, part.size, part.size, part.new_size, part.count, 1]),
            false => rows_of.push([part.old, part.new, part.size * part.count, 0, 0, 1, 0]),
        }
        return;
    }
    for inner in &part.inner {
        let small = u64::from(inner.small);
        let (old, new) = (part.old + inner.old, part.new + inner.new);
        rows_of.push([old, new, inner.size * inner.count, part.size, part.new_size, part.count, small]);
    }
}
