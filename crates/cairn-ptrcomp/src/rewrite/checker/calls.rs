//! Calls of a version: of other versions with their pools, of allocation, copies, and of code that isn't there.
#![allow(unsafe_code)]

use super::linear_forms::Form;
use super::{Checked, Checker, ensure};
use crate::dsa::externals::{Allocator, allocator};
use crate::dsa::points_to::Cell;
use crate::llvm_codes::opcode;
use crate::model::*;
use crate::shape::{Layout, NewExtent, Version, any_extent, new_extent, resolved};
use cairn_llvm_c::ValueRef;

impl Checker<'_, '_, '_> {
    pub(super) fn call(&self, id: ValueId, old: ValueRef, new: Option<ValueRef>, call: &Call) -> Checked {
        let there = || new.ok_or("the checker misses a call".to_string());
        let module = self.plan.analysis.module;
        match call.callee {
            Callee::Known(callee) if !module.function(callee).declared => self.version(id, old, callee),
            Callee::Known(callee) => {
                let function = module.function(callee);
                let name = function.name.trim_start_matches("llvm.");
                if !function.intrinsic
                    && let Some(allocator) = allocator(&function.name)
                {
                    return self.allocation(id, old, new, call, allocator);
                }
                if function.intrinsic && ["memcpy", "memmove", "memset"].iter().any(|n| name.starts_with(n)) {
                    return self.extent(id, old, new, call);
                }
                if function.intrinsic && name.starts_with("lifetime") {
                    return self.same(old, there()?);
                }
                self.outside(old, there()?, call)
            }
            Callee::Indirect(_) => self.same(old, there()?),
            Callee::Assembly => self.outside(old, there()?, call),
        }
    }

    /// A call of code that isn't there: it gets pointers as it knows them.
    fn outside(&self, old: ValueRef, new: ValueRef, call: &Call) -> Checked {
        self.same_kind(old, new)?;
        self.explain(new);
        for (n, argument) in call.arguments.iter().enumerate() {
            let n = n as u32;
            let (from, to) = (self.image(self.forms.operand(old, n)), self.forms.operand(new, n));
            let fits = match (self.indexed(*argument), self.named(*argument)) {
                (true, _) => self.is_proper(from, to),
                (_, true) => self.is_address_of_name(old, n, *argument, to)?,
                _ => self.same_operand(old, new, n),
            };
            ensure(fits, "an argument that is no address")?;
        }
        ensure(self.same_operand(old, new, call.arguments.len() as u32), "another function called")
    }

    /// A call of a version of a function: the one for these objects, with their pools.
    fn version(&self, id: ValueId, old: ValueRef, callee: FuncId) -> Checked {
        let (graph, analysis) = (&self.plan.analysis.graph, self.plan.analysis);
        let sites = &analysis.functions[self.copy.id.0 as usize].calls;
        let site = sites.iter().find(|s| s.value == id).ok_or("the checker finds an unknown call")?;
        let (mut key, mut pools) = (vec![], vec![]);
        for &node in analysis.interface(callee).iter() {
            let cell = graph.find(site.copies.get(&node).copied().unwrap_or(Cell { node, offset: 0 }));
            let view = self.plan.shared.get(&cell.node).or_else(|| self.copy.views.get(&cell.node));
            match view.filter(|v| v.shape != 0) {
                Some(view) => {
                    key.push((view.shape, cell.offset + view.delta));
                    if self.shape(*view).pooled {
                        let pool = view.pool.ok_or("the checker finds no pool")?;
                        pools.extend([pool.descriptor, pool.base]);
                    }
                }
                None => key.push((0, 0)),
            }
        }
        let calls = self.copy.made.get(&id).map_or(&[][..], |c| c);
        ensure(!calls.is_empty(), "a call that is gone")?;
        for (n, &call) in calls.iter().enumerate() {
            ensure(self.forms.opcode(call) == opcode::CALL, "no call")?;
            self.explain(call);
            let narrow = self.copy.narrow && calls.len() == 1 && self.is_narrow(callee, &key, call);
            let narrow = narrow || (calls.len() == 2 && n == 0);
            let version = Version { function: callee, key: key.clone(), narrow };
            let wanted = self.plan.versions.get(&version).copied();
            // SAFETY: `call` was found to be a call, and `old` is one, as its `Op::Call` says.
            let (called, count) =
                unsafe { ((self.forms.f.LLVMGetCalledValue)(call), (self.forms.f.LLVMGetNumArgOperands)(old)) };
            ensure(wanted == Some(called), "a call of another version")?;
            ensure((0..count).all(|n| self.same_operand(old, call, n)), "another argument")?;
            let given = (count..).zip(&pools).all(|(n, pool)| self.forms.operand(call, n) == *pool);
            ensure(given, "a call with another pool")?;
        }
        if let (&[a, b], Some(&phi)) = (calls, self.images.get(&old)) {
            ensure(
                self.forms.opcode(phi) == opcode::PHI && self.arms(phi)? == [a, b],
                "another result of a call",
            )?;
        }
        self.asked(calls, &pools)
    }

    fn is_narrow(&self, function: FuncId, key: &[(usize, i64)], call: ValueRef) -> bool {
        let version = Version { function, key: key.to_vec(), narrow: true };
        // SAFETY: the caller has found that `call` is a call.
        let called = unsafe { (self.forms.f.LLVMGetCalledValue)(call) };
        self.plan.versions.get(&version) == Some(&called)
    }

    fn extent(&self, id: ValueId, old: ValueRef, new: Option<ValueRef>, call: &Call) -> Checked {
        if self.named(call.arguments[0]) {
            return self.named_extent(id, old, call);
        }
        let new = new.ok_or("the checker misses a copy")?;
        let Some((_, layout, offset)) = self.relaid(call.arguments[0]) else { return self.same(old, new) };
        self.same_kind(old, new)?;
        self.explain(new);
        ensure([0, 1, 3, 4].iter().all(|n| self.same_operand(old, new, *n)), "a copy from or to elsewhere")?;
        let length = self.length(old, call, layout, offset)?;
        ensure(self.forms.of(self.forms.operand(new, 2)) == length, "a copy of another length")
    }

    /// The new length of a copy or fill.
    pub(super) fn length(&self, old: ValueRef, call: &Call, layout: &Layout, offset: i64) -> Result<Form, String> {
        let size = resolved(self.plan.analysis, call.sizes[2], 0);
        let by_caller = || call.sizes[2].is_given().then(|| any_extent(layout, offset)).flatten();
        match new_extent(layout, offset, size).or_else(by_caller) {
            Some(NewExtent::Const(n)) => Ok(Form::number(n)),
            Some(NewExtent::Scaled(from, to)) => {
                Ok(self.forms.of(self.image(self.forms.operand(old, 2))).divided(from).times(to))
            }
            None => Err("the checker finds a copy of unknown length".into()),
        }
    }

    fn allocation(
        &self,
        id: ValueId,
        old: ValueRef,
        new: Option<ValueRef>,
        call: &Call,
        allocator: Allocator,
    ) -> Checked {
        let subject = if allocator == Allocator::Free { call.arguments[0] } else { Operand::Value(id) };
        let view = self.meaning(subject).map(|m| m.0).filter(|v| v.shape != 0);
        let in_pool = view.is_some_and(|v| self.shape(v).pooled);
        let Some(view) = view.filter(|_| in_pool || allocator != Allocator::Free) else {
            return self.same(old, new.ok_or("the checker misses an allocation")?);
        };
        let shape = self.shape(view);
        let new = new.or_else(|| self.copy.made.get(&id).and_then(|c| c.first().copied()));
        let new = new.ok_or("the checker misses an allocation")?;
        ensure(self.forms.opcode(new) == opcode::CALL, "no allocation")?;
        self.explain(new);
        let argument = |n| self.forms.of(self.image(self.forms.operand(old, n)));
        let bytes = match allocator {
            Allocator::Malloc => argument(0),
            Allocator::Realloc => argument(1),
            Allocator::Calloc => argument(0).product(&argument(1)),
            Allocator::Free => Form::default(),
        };
        let bytes = match &shape.layout {
            Some(layout) => bytes.divided(layout.size).times(layout.new_size),
            None => bytes,
        };
        let (pool, base) = match view.pool {
            Some(pool) => (self.forms.of(pool.descriptor), self.forms.of(pool.base)),
            None => Default::default(),
        };
        let object = Form::number(shape.object.max(4).next_multiple_of(4));
        use Allocator::*;
        let (name, wanted) = match (allocator, view.pool.is_some(), shape.dynamic, shape.array) {
            (Free, _, true, _) => ("cairn_dynamic_free_one", vec![pool, base, argument(0)]),
            (Free, _, false, true) => ("cairn_pool_free_array", vec![pool, argument(0)]),
            (Free, _, false, false) => ("cairn_pool_free_one", vec![pool, argument(0)]),
            (Malloc, _, true, _) => ("cairn_dynamic_one", vec![pool, base, Form::number(shape.object)]),
            (Calloc, _, true, _) => ("cairn_dynamic_zeroed", vec![pool, base, Form::number(shape.object)]),
            (Realloc, _, true, _) => {
                ("cairn_dynamic_resize_one", vec![pool, base, argument(0), Form::number(shape.object)])
            }
            (Realloc, false, ..) => ("realloc", vec![argument(0), bytes.clone()]),
            (Calloc, false, ..) => ("calloc", vec![Form::number(1), bytes.clone()]),
            (_, false, ..) => ("malloc", vec![bytes.clone()]),
            (Realloc, _, _, true) => ("cairn_pool_resize", vec![pool, argument(0), bytes.clone()]),
            (_, _, _, true) => ("cairn_pool_array", vec![pool, bytes.clone()]),
            (Realloc, ..) => ("cairn_pool_resize_one", vec![pool, base, argument(0), object]),
            _ => ("cairn_pool_one", vec![pool, base, object]),
        };
        ensure(self.callee(new) == name, "another allocation")?;
        let fits = (0..).zip(&wanted).all(|(n, form)| self.forms.of(self.forms.operand(new, n)) == *form);
        ensure(fits, "an allocation elsewhere, or of another size")?;
        if allocator == Calloc && in_pool && !shape.dynamic {
            return self.cleared(new, &bytes);
        }
        Ok(())
    }

    /// Is what was allocated filled with zeros at once?
    fn cleared(&self, new: ValueRef, bytes: &Form) -> Checked {
        // SAFETY: the caller has found that `new` is a call, which no block ends with, so an instruction follows.
        let fill = unsafe { (self.forms.f.LLVMGetNextInstruction)(new) };
        ensure(
            self.forms.opcode(fill) == opcode::CALL && self.callee(fill) == "cairn_pool_clear",
            "nothing cleared",
        )?;
        self.explain(fill);
        let wanted = [self.forms.of(new), bytes.clone()];
        let fits = (0..).zip(wanted).all(|(n, form)| self.forms.of(self.forms.operand(fill, n)) == form);
        ensure(fits, "something else cleared")
    }
}
