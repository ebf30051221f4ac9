//! Calls of functions that aren't there: allocation goes to pools, copies and fills get new lengths, all others get
//! pointers as they know them.
#![allow(unsafe_code)]

use super::state::{Copy, Rewriter};
use crate::dsa::externals::{Allocator, HOME, allocator};
use crate::model::*;
use crate::settings::Bits;
use crate::shape::{NewExtent, any_extent, new_extent, resolved};
use cairn_llvm_c::ValueRef;

impl Rewriter<'_, '_> {
    pub(super) fn memory_call(
        &mut self,
        copy: &mut Copy,
        value: ValueId,
        call: &Call,
        id: FuncId,
    ) -> Result<(), String> {
        let function = self.analysis.module.function(id);
        let now = copy.values[value.0 as usize];
        if !function.intrinsic
            && let Some(allocator) = allocator(&function.name)
        {
            let home = function.name == HOME;
            self.allocation(copy, value, call, allocator)?;
            if home && let Some((view, ..)) = self.seen(copy, Operand::Value(value)).filter(|s| s.0.shape != 0) {
                if view.pool.is_none() {
                    return Err("an object of the stack in no pool".into());
                }
                self.e.after_home(copy.values[value.0 as usize]);
            }
            return Ok(());
        }
        let name = function.name.trim_start_matches("llvm.");
        if function.intrinsic {
            if ["memcpy", "memmove", "memset"].iter().any(|n| name.starts_with(n)) {
                return self.extent(copy, value, call);
            }
            if name.starts_with("lifetime") {
                return Ok(());
            }
        }
        self.proper_arguments(copy, now, call);
        self.addresses_for(copy, now, call)
    }

    /// The length of a copy or fill.
    fn extent(&mut self, copy: &mut Copy, value: ValueId, call: &Call) -> Result<(), String> {
        if self.dynamic_extent(copy, value, call)? {
            return Ok(());
        }
        let now = copy.values[value.0 as usize];
        let Some((view, offset, _)) = self.seen(copy, call.arguments[0]) else { return Ok(()) };
        let Some(layout) = &self.shapes[view.shape].layout else { return Ok(()) };
        let size = resolved(self.analysis, call.sizes[2], 0);
        self.e.before(now);
        // Callers with other objects may give any length; those with these give whole ones, as the analysis has seen.
        let by_caller = || call.sizes[2].is_given().then(|| any_extent(layout, offset)).flatten();
        let length = new_extent(layout, offset, size).or_else(by_caller);
        let length = length.ok_or("a copy of a length that isn't understood")?;
        let length = self.e.extent(length, self.e.operand(now, 2));
        self.e.set_operand(now, 2, length);
        self.e.forget_alignment(now, layout.alignment_at(offset));
        self.done.rewritten += 1;
        Ok(())
    }

    fn allocation(
        &mut self,
        copy: &mut Copy,
        value: ValueId,
        call: &Call,
        allocator: Allocator,
    ) -> Result<(), String> {
        let now = copy.values[value.0 as usize];
        let subject = match allocator {
            Allocator::Free => call.arguments[0],
            _ => Operand::Value(value),
        };
        let Some((view, _, _)) = self.seen(copy, subject).filter(|(v, _, _)| v.shape != 0) else { return Ok(()) };
        let shape = self.shapes[view.shape].clone();
        self.e.before(now);
        let argument = |e: &super::Emitter, n| e.operand(now, n);
        self.done.rewritten += 1;
        if shape.dynamic {
            self.dynamic_allocation(copy, value, view, allocator);
            return Ok(());
        }
        if allocator == Allocator::Free {
            if let Some(pool) = view.pool {
                let name = if shape.array { "cairn_pool_free_array" } else { "cairn_pool_free_one" };
                let call = self.e.call_runtime(name, &[pool.descriptor, argument(&self.e, 0)], None);
                copy.made.insert(value, vec![call]);
                self.e.erase(now);
                copy.values[value.0 as usize] = std::ptr::null_mut();
            }
            return Ok(());
        }
        let bytes = match allocator {
            Allocator::Malloc => self.e.as_word(argument(&self.e, 0)),
            Allocator::Realloc => self.e.as_word(argument(&self.e, 1)),
            _ => self.e.product(self.e.as_word(argument(&self.e, 0)), self.e.as_word(argument(&self.e, 1))),
        };
        let bytes = match &shape.layout {
            Some(layout) => self.e.scaled(bytes, layout.size, layout.new_size),
            None => bytes,
        };
        let pointer = Some(self.e.pointer);
        let new = match (view.pool, allocator) {
            (None, Allocator::Realloc) => self.e.call_runtime("realloc", &[argument(&self.e, 0), bytes], pointer),
            (None, Allocator::Calloc) => self.e.call_runtime("calloc", &[self.e.number(1), bytes], pointer),
            (None, _) => self.e.call_runtime("malloc", &[bytes], pointer),
            (Some(pool), Allocator::Realloc) if shape.array => {
                self.e.call_runtime("cairn_pool_resize", &[pool.descriptor, argument(&self.e, 0), bytes], pointer)
            }
            (Some(pool), _) if shape.array => {
                self.e.call_runtime("cairn_pool_array", &[pool.descriptor, bytes], pointer)
            }
            (Some(pool), _) => {
                let size = self.e.number(shape.object.max(4).next_multiple_of(4));
                if allocator == Allocator::Realloc {
                    let old = argument(&self.e, 0);
                    self.e.call_runtime("cairn_pool_resize_one", &[pool.descriptor, pool.base, old, size], pointer)
                } else {
                    self.e.call_runtime("cairn_pool_one", &[pool.descriptor, pool.base, size], pointer)
                }
            }
        };
        if allocator == Allocator::Calloc && view.pool.is_some() {
            self.e.call_runtime("cairn_pool_clear", &[new, bytes], None);
        }
        self.e.replace(now, new);
        copy.values[value.0 as usize] = new;
        Ok(())
    }
}

impl super::Emitter<'_> {
    /// A size: old programs declare allocators with other integers.
    fn as_word(&self, number: ValueRef) -> ValueRef {
        self.cast(number, self.number(0))
    }

    /// The new length of a copy, as the same kind of integer as the old.
    pub(super) fn extent(&self, extent: NewExtent, old: ValueRef) -> ValueRef {
        let length = match extent {
            NewExtent::Const(n) => self.number(n),
            NewExtent::Scaled(from, to) => self.scaled(old, from, to),
        };
        self.cast(length, old)
    }

    /// An object of the stack must be there.
    fn after_home(&self, object: ValueRef) {
        // SAFETY: `object` is the call that makes the object, which no block ends with, so an instruction follows.
        unsafe { self.before((self.f.LLVMGetNextInstruction)(object)) };
        self.call_runtime("cairn_home_check", &[object], None);
    }

    /// Checks the lower half of an address when the program runs: it is in the pool, where an index can tell it.
    pub(super) fn check_place(&self, pool: ValueRef, place: ValueRef, bits: Bits) {
        let place = self.cast(place, self.number(0));
        self.call_runtime("cairn_pool_check", &[pool, place, self.number(bits.unit())], None);
    }

    /// A base, of which LLVM is told that its lower half is zero.
    pub(super) fn lower_bits_known(&self, base: ValueRef) -> ValueRef {
        self.masked(base)
    }
}
