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

use super::function_copy::{Copy, move_by, new_stride};
use super::instructions::NAMELESS;
use super::{Pool, Rewriter, View};
use crate::dsa::externals::{Allocator, Effect, allocator, effects};
use crate::dsa::points_to::{Cell, NodeId};
use crate::model::*;
use crate::plan::Decision;
use crate::shape::{Part, Shape, Version, any_extent, new_extent, resolved};
use cairn_llvm_c::{BasicBlockRef, ValueRef};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_uint;

/// A dynamic pool whose descriptor is complete when all pools are known.
pub(super) struct Unfinished {
    descriptor: ValueRef,
    base: u64,
    number: u64,
    name: String,
    shape: Shape,
    sources: BTreeSet<ValueRef>,
}

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
    /// The name of the object.
    name: ValueRef,
    /// The old offset, of an array's first element.
    offset: i64,
    narrow: Way,
    wide: Way,
}

/// An access divided by the form of a pool's objects.
struct Arms {
    narrow: BasicBlockRef,
    wide: BasicBlockRef,
    rest: BasicBlockRef,
    /// The first address of wide objects.
    base: ValueRef,
}

/// So many pools are asked before a call.
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
            let reach = if pool.sources.is_empty() { 1 << 62 } else { bits.reach() };
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
        match self.view_of(copy, root) {
            Some((_, cell)) if self.analysis.graph.find(cell).offset == 0 && view.delta == 0 => {}
            _ => return Err("a pointer into an object of a dynamic pool".into()),
        }
        let shape = &self.shapes[view.shape];
        let pool = view.pool.ok_or("a dynamic pool that isn't there")?;
        let mut place =
            Place { shape: view.shape, pool, name, offset: 0, narrow: Way::default(), wide: Way::default() };
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
        let start = self.e.wide_start(base, place.name, shape.object, shape.wide_size());
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
            && let Some((View { pool: Some(pool), .. }, _)) = self.view_of(copy, operand)
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
            let by_caller =
                || matches!(call.sizes[2], Size::Param(..)).then(|| any_extent(layout, to.offset)).flatten();
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

impl super::Emitter<'_> {
    /// The type and zeros of `struct dynamic_pool`.
    fn descriptor_value(&self, words: [ValueRef; 7], pointers: [ValueRef; 3], halves: [u64; 8]) -> ValueRef {
        let halves = halves.map(|n| self.half_number(n));
        let values: Vec<ValueRef> = words.into_iter().chain(pointers).chain(halves).collect();
        // SAFETY: constants of a live context.
        unsafe { (self.f.LLVMConstStructInContext)(self.context, values.as_ptr(), values.len() as c_uint, 0) }
    }

    fn half_number(&self, n: u64) -> ValueRef {
        // SAFETY: a live type.
        unsafe { (self.f.LLVMConstInt)(self.half, n, 0) }
    }

    fn dynamic_descriptor(&self) -> ValueRef {
        let value = self.descriptor_value([self.number(0); 7], [self.null(); 3], [0; 8]);
        self.internal_global(value, c"cairn.dynamic.pool")
    }

    #[allow(clippy::too_many_arguments)]
    fn finish_descriptor(
        &self,
        descriptor: ValueRef,
        base: u64,
        reach: u64,
        name: &str,
        parts: &[u64],
        sources: &[ValueRef],
        halves: [u64; 8],
    ) {
        let parts: Vec<ValueRef> = parts.iter().map(|n| self.half_number(*n)).collect();
        // SAFETY: constants of a live context, each array of one type.
        let (parts, sources) = unsafe {
            (
                (self.f.LLVMConstArray2)(self.half, parts.as_ptr(), parts.len() as u64),
                (self.f.LLVMConstArray2)(self.pointer, sources.as_ptr(), sources.len() as u64),
            )
        };
        let parts = self.internal_global(parts, c"cairn.pool.parts");
        let sources = self.internal_global(sources, c"cairn.pool.sources");
        let zero = self.number(0);
        let words = [zero, self.number(base), zero, zero, zero, self.number(reach), zero];
        let value = self.descriptor_value(words, [self.text(name), parts, sources], halves);
        // SAFETY: a live global variable of this type.
        unsafe { (self.f.LLVMSetInitializer)(descriptor, value) }
    }

    /// The steps of an address computation, each with the number that it takes.
    pub(super) fn steps(&self, gep: ValueRef, steps: &[Step]) -> Result<Vec<(Step, ValueRef)>, String> {
        let mut indices = self.indices(gep).into_iter();
        // The first index is a step only if it isn't zero.
        if !matches!(steps.first(), Some(Step::Along { .. } | Step::Bytes(_))) {
            indices.next();
        }
        let index = |i: Option<ValueRef>| i.ok_or("an address computation without indices".to_string());
        steps.iter().map(|step| Ok((*step, index(indices.next())?))).collect()
    }

    /// The flags of pools, joined: zero if the objects of all are narrow.
    fn flag(&self, descriptors: &[ValueRef]) -> ValueRef {
        let mut all: Option<ValueRef> = None;
        for &descriptor in descriptors {
            // SAFETY: the first word of a descriptor.
            unsafe {
                let load = (self.f.LLVMBuildLoad2)(self.builder, self.word, descriptor, NAMELESS);
                (self.f.LLVMSetMetadata)(load, self.tbaa, self.flag_tag());
                all = Some(match all {
                    Some(before) => (self.f.LLVMBuildOr)(self.builder, before, load, NAMELESS),
                    None => load,
                });
            }
        }
        all.expect("a pool")
    }

    /// A type for flags beside all types of C, for type-based alias analysis: what C code stores is no flag.
    unsafe fn flag_tag(&self) -> ValueRef {
        let f = self.f;
        // SAFETY: a live context.
        unsafe {
            let text = |t: &str| (f.LLVMMDStringInContext2)(self.context, t.as_ptr().cast(), t.len());
            let zero = (f.LLVMValueAsMetadata)(self.number(0));
            let root = text("Simple C/C++ TBAA");
            let root = (f.LLVMMDNodeInContext2)(self.context, &root, 1);
            let kind = [text("cairn dynamic pool flag"), root, zero];
            let kind = (f.LLVMMDNodeInContext2)(self.context, kind.as_ptr(), 3);
            let tag = [kind, kind, zero];
            let tag = (f.LLVMMDNodeInContext2)(self.context, tag.as_ptr(), 3);
            (f.LLVMMetadataAsValue)(self.context, tag)
        }
    }

    fn is_zero(&self, word: ValueRef) -> ValueRef {
        self.compare(super::instructions::EQUAL, word, self.number(0))
    }

    /// `first`, or `second` if that is zero.
    fn first_unless_zero(&self, first: ValueRef, second: ValueRef) -> ValueRef {
        let zero = self.is_zero(first);
        // SAFETY: integers of 64 bits.
        unsafe { (self.f.LLVMBuildSelect)(self.builder, zero, second, first, NAMELESS) }
    }

    fn select_narrow(&self, wide: ValueRef, narrow_address: ValueRef, wide_address: ValueRef) -> ValueRef {
        let zero = self.is_zero(wide);
        // SAFETY: pointers.
        unsafe { (self.f.LLVMBuildSelect)(self.builder, zero, narrow_address, wide_address, NAMELESS) }
    }

    /// The address, or null if the name is.
    fn null_if_null(&self, name: ValueRef, address: ValueRef) -> ValueRef {
        let null = self.compare(super::instructions::EQUAL, name, self.null());
        // SAFETY: pointers.
        unsafe { (self.f.LLVMBuildSelect)(self.builder, null, self.null(), address, NAMELESS) }
    }

    fn word_of(&self, name: ValueRef) -> ValueRef {
        // SAFETY: a pointer.
        unsafe { (self.f.LLVMBuildPtrToInt)(self.builder, name, self.word, NAMELESS) }
    }

    /// The address of the narrow object of this name.
    fn sum(&self, base: ValueRef, name: ValueRef) -> ValueRef {
        let name = self.word_of(name);
        // SAFETY: integers of 64 bits.
        unsafe {
            let word = (self.f.LLVMBuildAdd)(self.builder, base, name, NAMELESS);
            (self.f.LLVMBuildIntToPtr)(self.builder, word, self.pointer, NAMELESS)
        }
    }

    /// The address of the wide object of this name.
    fn wide_start(&self, base: ValueRef, name: ValueRef, narrow: u64, wide: u64) -> ValueRef {
        let name = self.word_of(name);
        // SAFETY: integers of 64 bits.
        unsafe {
            let number = (self.f.LLVMBuildExactUDiv)(self.builder, name, self.number(narrow), NAMELESS);
            let place = (self.f.LLVMBuildMul)(self.builder, number, self.number(wide), NAMELESS);
            let word = (self.f.LLVMBuildAdd)(self.builder, base, place, NAMELESS);
            (self.f.LLVMBuildIntToPtr)(self.builder, word, self.pointer, NAMELESS)
        }
    }

    /// The name for the lower half of one.
    fn name_of(&self, half: ValueRef) -> ValueRef {
        // SAFETY: an integer of 32 bits.
        unsafe {
            let word = (self.f.LLVMBuildZExt)(self.builder, half, self.word, NAMELESS);
            (self.f.LLVMBuildIntToPtr)(self.builder, word, self.pointer, NAMELESS)
        }
    }

    /// The same instruction once more, where the builder stands.
    fn another(&self, instruction: ValueRef) -> ValueRef {
        // SAFETY: a live instruction.
        unsafe {
            let copy = (self.f.LLVMInstructionClone)(instruction);
            self.insert(copy);
            copy
        }
    }

    fn is_void(&self, call: ValueRef) -> bool {
        // SAFETY: a live call.
        unsafe { (self.f.LLVMTypeOf)(call) == (self.f.LLVMVoidTypeInContext)(self.context) }
    }

    fn is_equality(&self, compare: ValueRef) -> bool {
        [super::instructions::EQUAL, super::instructions::EQUAL + 1].contains(&self.predicate(compare))
    }

    /// In place of a comparison for equality of names: are they of the same pool, or null?
    fn same_object(&self, compare: ValueRef, left_pool: ValueRef, right_pool: ValueRef) -> ValueRef {
        let (a, b) = (self.operand(compare, 0), self.operand(compare, 1));
        let equal = |a, b| self.compare(super::instructions::EQUAL, a, b);
        let (names, pools, null) = (equal(a, b), equal(left_pool, right_pool), equal(a, self.null()));
        // SAFETY: bits.
        unsafe {
            let either = (self.f.LLVMBuildOr)(self.builder, pools, null, NAMELESS);
            let same = (self.f.LLVMBuildAnd)(self.builder, names, either, NAMELESS);
            let wanted = (self.f.LLVMConstInt)(
                (self.f.LLVMTypeOf)(same),
                u64::from(self.predicate(compare) == super::instructions::EQUAL),
                0,
            );
            self.compare(super::instructions::EQUAL, same, wanted)
        }
    }

    /// In place of a comparison for equality: are both null?
    fn both_null(&self, compare: ValueRef) -> ValueRef {
        let (a, b) = (self.word_of(self.operand(compare, 0)), self.word_of(self.operand(compare, 1)));
        // SAFETY: integers of 64 bits.
        let any = unsafe { (self.f.LLVMBuildOr)(self.builder, a, b, NAMELESS) };
        self.compare(self.predicate(compare), any, self.number(0))
    }

    /// Divides a block before an instruction: what comes first asks the pools, and two new blocks lead to the rest.
    ///
    /// ```text
    ///  head: ... wide = flags; if wide == 0          (new; whoever went to the block comes here)
    ///  narrow:   wide:                               (new, empty)
    ///  rest: instruction ...                         (the block that was; whoever it goes to knows it)
    /// ```
    fn divide(&self, at: ValueRef, descriptors: &[ValueRef]) -> Arms {
        let f = self.f;
        // SAFETY: a live instruction in a complete block that is no constant's operand. Moved instructions keep their
        // order; while all that refers to the block is made to refer to its head, it has no terminator, so that phis
        // of its successors keep naming it.
        unsafe {
            let rest = (f.LLVMGetInstructionParent)(at);
            let block = || (f.LLVMInsertBasicBlockInContext)(self.context, rest, NAMELESS);
            let (head, narrow, wide) = (block(), block(), block());
            let end = (f.LLVMGetBasicBlockTerminator)(rest);
            (f.LLVMInstructionRemoveFromParent)(end);
            (f.LLVMReplaceAllUsesWith)((f.LLVMBasicBlockAsValue)(rest), (f.LLVMBasicBlockAsValue)(head));
            self.at_end(rest);
            self.insert(end);
            self.at_end(head);
            let mut next = (f.LLVMGetFirstInstruction)(rest);
            while next != at {
                let moved = next;
                next = (f.LLVMGetNextInstruction)(next);
                (f.LLVMInstructionRemoveFromParent)(moved);
                self.insert(moved);
            }
            let base = self.flag(descriptors);
            let branch = (f.LLVMBuildCondBr)(self.builder, self.is_zero(base), narrow, wide);
            let weights = "branch_weights";
            let weight = |n| (f.LLVMValueAsMetadata)(self.half_number(n));
            let text = (f.LLVMMDStringInContext2)(self.context, weights.as_ptr().cast(), weights.len());
            let weights = [text, weight(2000), weight(1)];
            let weights = (f.LLVMMDNodeInContext2)(self.context, weights.as_ptr(), 3);
            (f.LLVMSetMetadata)(branch, self.prof, (f.LLVMMetadataAsValue)(self.context, weights));
            Arms { narrow, wide, rest, base }
        }
    }

    /// Leads both arms to the rest, which begins with this instruction; the result is the one or the other value.
    fn unite(&self, arms: &Arms, at: ValueRef, values: Option<(ValueRef, ValueRef)>) -> ValueRef {
        // SAFETY: blocks without terminators; values of one type, each made in its arm.
        unsafe {
            for block in [arms.narrow, arms.wide] {
                self.at_end(block);
                (self.f.LLVMBuildBr)(self.builder, arms.rest);
            }
            let Some((a, b)) = values else { return std::ptr::null_mut() };
            self.before(at);
            let phi = self.phi(a);
            (self.f.LLVMAddIncoming)(phi, [a, b].as_ptr(), [arms.narrow, arms.wide].as_ptr(), 2);
            phi
        }
    }
}

/// Edges between pools of one group of nodes, for [`Rewriter::points_to`].
pub(super) fn edges(decisions: &BTreeMap<NodeId, Decision>) -> Vec<(NodeId, Vec<NodeId>)> {
    let dynamic = decisions.iter().filter(|(_, d)| d.shape.dynamic);
    dynamic.map(|(id, d)| (*id, d.targets.iter().copied().collect())).collect()
}
