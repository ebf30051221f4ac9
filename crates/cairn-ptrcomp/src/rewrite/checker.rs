//! Does the code of a version agree with the points-to graph and the plan?
//!
//! The problem: a rewriting that forgets one access, or moves it by four bytes, makes a program that is wrong without a
//! word. The idea (as in translation validation, Necula 2000): when a version is complete, each instruction of the
//! original is looked at once more, beside what stands for it. What that may be follows from the graph (which objects
//! does it work on?) and the plan (which layout and pool have they?) alone; what the code does is read out of the code,
//! as sums (`linear_forms`). None of the code that rewrites is used, nor what it thinks it did, except which
//! instruction stands for which: a wrong answer there is a disagreement, too.
//!
//! ```text
//!  original        q = load p->next;            p: node 3, offset 8; its field: an index to node 3 at new offset 4
//!  must be         base of node 3's pool + load of i32 at (p + 4), for the p of the version
//! ```
//!
//! Invariant: after [`Rewriter::check`], every access, address, comparison, phi and call of the original has a
//! counterpart that means the same, and the version has no other access. A pool
//! for which that does not hold is dropped, like one that can't be rewritten.
#![allow(unsafe_code)]

mod calls;
mod dynamic_forms;
mod linear_forms;
#[cfg(test)]
pub(crate) mod seeded;

use super::instructions::SATURATING_PRODUCT;
use super::state::{Copy, Pool, Rewriter, Stop, View};
use crate::dsa::points_to::Cell;
use crate::llvm_codes::{opcode, value_kind};
use crate::model::*;
use crate::shape::{Layout, Part, Shape};
use cairn_llvm_c::ValueRef;
use linear_forms::{Form, Forms};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

type Checked = Result<(), String>;

/// One version, with what it is made of.
struct Checker<'a, 'r, 'm> {
    plan: &'a Rewriter<'r, 'm>,
    copy: &'a Copy,
    forms: Forms<'a>,
    /// What stands for values of the original.
    images: HashMap<ValueRef, ValueRef>,
    /// Accesses and calls that are asked for.
    explained: RefCell<HashSet<ValueRef>>,
}

fn ensure(holds: bool, what: &str) -> Checked {
    if holds { Ok(()) } else { Err(format!("the checker finds {what}")) }
}

impl Rewriter<'_, '_> {
    /// Checks a version that is complete.
    pub(super) fn check(&self, function: ValueRef, copy: &Copy) -> Result<(), Stop> {
        let original = self.analysis.module.function(copy.id);
        let views = || self.shared.values().chain(copy.views.values());
        let bases = views().filter_map(|v| v.pool).map(|p| p.base).collect();
        let dynamic =
            views().filter(|v| self.shapes[v.shape].dynamic).filter_map(|v| v.pool).map(|p| p.descriptor);
        let dynamic = dynamic.collect();
        let f = self.e.f;
        // SAFETY: both are functions (*Live handles*); a version has the parameters of its original, and more.
        let (layout, parameters): (_, Vec<(ValueRef, ValueRef)>) = unsafe {
            let parameter = |n| ((f.LLVMGetParam)(original.handle, n), (f.LLVMGetParam)(function, n));
            let count = (f.LLVMCountParams)(original.handle);
            ((f.LLVMGetModuleDataLayout)(self.e.module()), (0..count).map(parameter).collect())
        };
        let mut images: HashMap<ValueRef, ValueRef> = parameters.into_iter().collect();
        let handles = original.values.iter().map(|v| v.handle).zip(copy.values.iter().copied());
        images.extend(handles.filter(|(old, new)| !old.is_null() && !new.is_null()));
        let forms = Forms { f, layout, bases, dynamic };
        let mut checker = Checker { plan: self, copy, forms, images, explained: RefCell::default() };
        checker.unchanged_addresses();
        #[cfg(test)]
        seeded::all(&checker, function);
        checker.whole(function)
    }
}

impl<'a> Checker<'a, '_, '_> {
    /// Addresses at offset zero need no instruction: the pointer they begin with stands for them.
    fn unchanged_addresses(&mut self) {
        let values = &self.plan.analysis.module.function(self.copy.id).values;
        for value in values.iter().filter(|v| matches!(v.op, Op::Address { .. })) {
            if !self.images.contains_key(&value.handle) {
                let base = self.image(self.forms.operand(value.handle, 0));
                self.images.insert(value.handle, base);
            }
        }
    }

    fn whole(&self, function: ValueRef) -> Result<(), Stop> {
        self.explained.borrow_mut().clear();
        let values = &self.plan.analysis.module.function(self.copy.id).values;
        for (n, value) in values.iter().enumerate().filter(|(_, v)| !v.handle.is_null()) {
            let id = ValueId(n as u32);
            self.value(id, value).map_err(|text| self.plan.stop(self.copy, id, text))?;
        }
        let at = values.iter().map(|v| v.at).find(|a| a.line != 0).unwrap_or_default();
        for instruction in self.instructions(function) {
            let access = [opcode::LOAD, opcode::STORE, opcode::CALL, opcode::RMW, opcode::CMP_XCHG];
            if access.contains(&self.forms.opcode(instruction))
                && !self.explained.borrow().contains(&instruction)
                && !self.incidental(instruction)
            {
                let any = self.copy.views.values().chain(self.plan.shared.values()).find(|v| v.shape != 0);
                let text = "the checker finds an access that nothing asks for".into();
                let why = crate::dsa::points_to::Why { text, at };
                return Err(Stop { why, node: any.map(|v| v.decided) });
            }
        }
        Ok(())
    }

    fn instructions(&self, function: ValueRef) -> Vec<ValueRef> {
        let f = self.forms.f;
        let mut all = vec![];
        // SAFETY: `function` is one (*Live handles*); blocks and instructions come from LLVM's iteration, until null.
        unsafe {
            let mut block = (f.LLVMGetFirstBasicBlock)(function);
            while !block.is_null() {
                let mut next = (f.LLVMGetFirstInstruction)(block);
                while !next.is_null() {
                    all.push(next);
                    next = (f.LLVMGetNextInstruction)(next);
                }
                block = (f.LLVMGetNextBasicBlock)(block);
            }
        }
        all
    }

    /// What belongs to no instruction of the original: the life of pools, checks of indices, the question whether a
    /// dynamic pool's objects are narrow.
    fn incidental(&self, instruction: ValueRef) -> bool {
        let ours = [
            "cairn_pool_open",
            "cairn_pool_close",
            "cairn_pool_check",
            "cairn_dynamic_check",
            "cairn_home_check",
            SATURATING_PRODUCT,
        ];
        match self.forms.opcode(instruction) {
            opcode::CALL => ours.contains(&self.callee(instruction).as_str()),
            opcode::LOAD => self.flag_of(instruction).is_some(),
            _ => false,
        }
    }

    fn callee(&self, call: ValueRef) -> String {
        // SAFETY: callers have found that `call` has the opcode of a call.
        unsafe { self.name((self.forms.f.LLVMGetCalledValue)(call)) }
    }

    fn name(&self, value: ValueRef) -> String {
        // SAFETY: LLVM gives the name's bytes, which live as long as the value, and says how many there are; they are
        // copied.
        unsafe {
            let mut length = 0;
            let name = (self.forms.f.LLVMGetValueName2)(value, &mut length);
            String::from_utf8_lossy(std::slice::from_raw_parts(name.cast(), length)).into_owned()
        }
    }

    /// What stands for a value of the original; constants stand for themselves.
    fn image(&self, value: ValueRef) -> ValueRef {
        self.images.get(&value).copied().unwrap_or(value)
    }

    fn meaning(&self, operand: Operand) -> Option<(View, i64, Cell)> {
        let graph = &self.plan.analysis.graph;
        let cell = graph.find(self.plan.analysis.known(self.copy.id, operand)?);
        let view = *self.plan.shared.get(&cell.node).or_else(|| self.copy.views.get(&cell.node))?;
        let shape = &self.plan.shapes[view.shape];
        Some((view, if view.shape == 0 { cell.offset } else { shape.normal(cell.offset + view.delta) }, cell))
    }

    fn shape(&self, view: View) -> &'a Shape {
        &self.plan.shapes[view.shape]
    }

    /// The shape and offset of an operand whose objects have a new layout, of a pool that isn't dynamic.
    fn relaid(&self, operand: Operand) -> Option<(&'a Shape, &'a Layout, i64)> {
        let (view, offset, _) = self.meaning(operand)?;
        let shape = self.shape(view);
        shape.layout.as_ref().filter(|_| !shape.dynamic).map(|layout| (shape, layout, offset))
    }

    fn indexed(&self, operand: Operand) -> bool {
        self.meaning(operand).is_some_and(|(view, ..)| self.shape(view).indexed)
    }

    fn pool(&self, operand: Operand) -> Option<Pool> {
        self.meaning(operand)?.0.pool
    }

    fn explain(&self, instruction: ValueRef) {
        self.explained.borrow_mut().insert(instruction);
    }

    fn value(&self, id: ValueId, value: &Value) -> Checked {
        let old = value.handle;
        let new = self.images.get(&old).copied();
        let there = || new.ok_or("the checker misses an instruction".to_string());
        match &value.op {
            Op::Load { from, size, .. } => match self.named_access(id, *from, *size)? {
                true => Ok(()),
                false => self.load(id, old, there()?, *from, *size),
            },
            Op::Store { to, value: stored, size, .. } => match self.named_access(id, *to, *size)? {
                true => Ok(()),
                false => self.store(id, old, *to, *stored, *size),
            },
            Op::Address { base, steps } => self.address(old, *base, steps),
            Op::Join(_) if self.forms.opcode(old) == opcode::PHI => self.joined(id, old, there()?),
            Op::Compare { left, right } => self.compared(old, there()?, *left, *right),
            Op::ToInteger { of, .. } if self.indexed(*of) => {
                let (of, new) = (self.forms.operand(old, 0), there()?);
                ensure(self.is_proper(self.image(of), self.forms.operand(new, 0)), "a number made of a null")
            }
            Op::Call(call) => self.call(id, old, new, call),
            _ => self.same(old, there()?),
        }
    }

    /// Do two values mean the same?
    fn alike(&self, a: ValueRef, b: ValueRef) -> bool {
        a == b || self.forms.of(a) == self.forms.of(b)
    }

    /// An instruction that stays as it is.
    fn same(&self, old: ValueRef, new: ValueRef) -> Checked {
        // SAFETY: `old` is an instruction of the original (*Live handles*).
        let count = unsafe { (self.forms.f.LLVMGetNumOperands)(old) } as u32;
        self.same_kind(old, new)?;
        self.explain(new);
        ensure((0..count).all(|n| self.same_operand(old, new, n)), "an instruction with another operand")
    }

    fn same_operand(&self, old: ValueRef, new: ValueRef, n: u32) -> bool {
        let (a, b) = (self.forms.operand(old, n), self.forms.operand(new, n));
        let apart = [value_kind::BLOCK, value_kind::METADATA];
        apart.contains(&self.forms.kind(a)) || self.alike(self.image(a), b)
    }

    fn same_kind(&self, old: ValueRef, new: ValueRef) -> Checked {
        let f = self.forms.f;
        // SAFETY: `old` is an instruction of the original, and `new` is found to be one, of the same opcode, before
        // more is asked of it.
        let same = unsafe {
            let code = (f.LLVMGetInstructionOpcode)(old);
            self.forms.kind(new) == value_kind::INSTRUCTION
                && code == (f.LLVMGetInstructionOpcode)(new)
                && (f.LLVMTypeOf)(old) == (f.LLVMTypeOf)(new)
                && (f.LLVMGetNumOperands)(old) == (f.LLVMGetNumOperands)(new)
                && match code {
                    opcode::LOAD | opcode::STORE => {
                        (f.LLVMGetVolatile)(old) == (f.LLVMGetVolatile)(new)
                            && (f.LLVMGetOrdering)(old) == (f.LLVMGetOrdering)(new)
                            && (f.LLVMGetAlignment)(new) <= (f.LLVMGetAlignment)(old)
                    }
                    opcode::ICMP => (f.LLVMGetICmpPredicate)(old) == (f.LLVMGetICmpPredicate)(new),
                    opcode::GEP => (f.LLVMGetGEPSourceElementType)(old) == (f.LLVMGetGEPSourceElementType)(new),
                    opcode::ALLOCA => (f.LLVMGetAllocatedType)(old) == (f.LLVMGetAllocatedType)(new),
                    _ => true,
                }
        };
        ensure(same, "another kind of instruction")
    }

    /// A load or store of what isn't small, in an object of a new layout.
    fn moved_access(&self, new: ValueRef, layout: &Layout, offset: i64, size: u64) -> Checked {
        ensure([opcode::LOAD, opcode::STORE].contains(&self.forms.opcode(new)), "no access")?;
        // SAFETY: the line above has found that `new` is a load or store.
        let alignment = u64::from(unsafe { (self.forms.f.LLVMGetAlignment)(new) });
        ensure(alignment <= layout.alignment_at(offset), "an access that is aligned less than it says")?;
        ensure(within(layout, offset, size), "an access of more than a field")
    }

    /// The number of an index as the code has it, of its address: `i`, or `4 * i`.
    fn index_width(&self) -> (u32, u64) {
        (self.plan.settings.bits.count() as u32, self.plan.settings.bits.unit())
    }

    fn load(&self, id: ValueId, old: ValueRef, new: ValueRef, from: Operand, size: u64) -> Checked {
        let Some((_, layout, offset)) = self.relaid(from) else { return self.same(old, new) };
        if !layout.small_at(offset) {
            self.same(old, new)?;
            return self.moved_access(new, layout, offset, size);
        }
        let pool = self.pool(Operand::Value(id)).filter(|_| self.indexed(Operand::Value(id)));
        let base = pool.ok_or("the checker finds an index without a pool")?.base;
        self.is_link(from, Operand::Value(id))?;
        let (bits, unit) = self.index_width();
        // The index itself is the only load in what the address is made of.
        let index = self.inner_load(new).ok_or("the checker finds no index that is loaded")?;
        self.explain(index);
        ensure(self.forms.width(index) == bits, "an index of another size")?;
        let wanted = self.forms.of(base).plus(&Form::atom(linear_forms::Atom::Value(index)), unit);
        ensure(self.forms.of(new) == wanted, "an index to another pool")?;
        let place = self.image(self.forms.operand(old, 0));
        ensure(self.alike(place, self.forms.operand(index, 0)), "an index read elsewhere")?;
        self.moved_access(index, layout, offset, size)
    }

    /// Follows an address that is made of an index to the load of that.
    fn inner_load(&self, mut value: ValueRef) -> Option<ValueRef> {
        for _ in 0..6 {
            let next = match self.forms.opcode(value) {
                opcode::LOAD => return Some(value),
                opcode::INT_TO_PTR | opcode::ZEXT | opcode::MUL => 0,
                opcode::OR => 1,
                _ => return None,
            };
            value = self.forms.operand(value, next);
        }
        None
    }

    /// Is this what the graph says that the field points to?
    fn is_link(&self, holder: Operand, target: Operand) -> Checked {
        let graph = &self.plan.analysis.graph;
        let known = |o| self.plan.analysis.known(self.copy.id, o).map(|c| graph.find(c));
        let (Some(holder), Some(target)) = (known(holder), known(target)) else { return Ok(()) };
        let node = graph.node(holder.node);
        let link = node.fields.get(&node.normal(holder.offset)).and_then(|field| field.link);
        ensure(link.is_some_and(|l| graph.find(l).node == target.node), "a pointer that the graph doesn't know")
    }

    fn store(&self, id: ValueId, old: ValueRef, to: Operand, stored: Operand, size: u64) -> Checked {
        let new = self.copy.made.get(&id).and_then(|all| all.first().copied()).or(self.images.get(&old).copied());
        let new = new.ok_or("the checker misses a store")?;
        let Some((_, layout, offset)) = self.relaid(to) else { return self.same(old, new) };
        if !layout.small_at(offset) {
            self.same(old, new)?;
            return self.moved_access(new, layout, offset, size);
        }
        ensure(self.forms.opcode(new) == opcode::STORE, "no store of an index")?;
        self.explain(new);
        let nothing = matches!(stored, Operand::Null | Operand::Data);
        ensure(nothing || self.indexed(stored), "an index of what has none")?;
        self.is_link(to, stored)?;
        ensure(
            self.is_index(self.image(self.forms.operand(old, 0)), self.forms.operand(new, 0)),
            "another index",
        )?;
        let place = self.image(self.forms.operand(old, 1));
        ensure(self.alike(place, self.forms.operand(new, 1)), "an index written elsewhere")?;
        self.moved_access(new, layout, offset, size)
    }

    /// Is this integer the index of that address?
    fn is_index(&self, address: ValueRef, index: ValueRef) -> bool {
        let ((bits, unit), low) = (self.index_width(), self.forms.low(self.forms.of(address)));
        let unknown = [value_kind::UNDEF, value_kind::POISON];
        if self.forms.width(index) != bits || unknown.contains(&self.forms.kind(index)) {
            return unknown.contains(&self.forms.kind(address));
        }
        if unit == 1 || self.forms.kind(index) == value_kind::INT {
            return self.forms.low(self.forms.of(index)).times(unit) == low;
        }
        let count = self.forms.operand(index, 0);
        self.forms.opcode(index) == opcode::TRUNC
            && self.forms.opcode(count) == opcode::UDIV
            && self.forms.of(self.forms.operand(count, 1)) == Form::number(unit)
            && self.forms.low(self.forms.of(self.forms.operand(count, 0))) == low
    }

    /// Is `new` the pointer `old`, with the usual null?
    fn is_proper(&self, old: ValueRef, new: ValueRef) -> bool {
        if self.forms.opcode(new) != opcode::SELECT {
            let zero = Form::default();
            return self.forms.low(self.forms.of(old)) == zero && self.forms.of(new) == zero;
        }
        let [test, null, pointer] = [0, 1, 2].map(|n| self.forms.operand(new, n));
        let half = |v| self.forms.low(self.forms.of(v));
        self.forms.opcode(test) == opcode::ICMP
            && self.forms.equals_zero(test)
            && half(self.forms.operand(test, 0)) == half(old)
            && self.forms.of(null) == Form::default()
            && self.alike(old, pointer)
    }

    fn address(&self, old: ValueRef, base: Operand, steps: &[Step]) -> Checked {
        let new = self.image(old);
        let Some((shape, layout, start)) = self.relaid(base) else { return self.same(old, new) };
        let numbers = self.numbers(old, steps)?;
        let mut sum = self.forms.of(self.image(self.forms.operand(old, 0)));
        let mut offset = start;
        for (step, number) in steps.iter().zip(numbers) {
            sum = sum.plus(&self.moved(shape, layout, &mut offset, *step, &number)?, 1);
        }
        ensure(self.forms.of(new) == sum, "another address")
    }

    /// The numbers that the steps of an address computation of the original take.
    fn numbers(&self, gep: ValueRef, steps: &[Step]) -> Result<Vec<Form>, String> {
        // SAFETY: `gep` is an address computation of the original, as its `Op::Address` says.
        let count = unsafe { (self.forms.f.LLVMGetNumOperands)(gep) } as u32;
        // The first number is a step only if it isn't zero.
        let first = if matches!(steps.first(), Some(Step::Along { .. } | Step::Bytes(_))) { 1 } else { 2 };
        ensure((first + steps.len() as u32) <= count, "more steps than numbers")?;
        let number = |n| self.forms.index(self.image(self.forms.operand(gep, n)));
        Ok((first..).take(steps.len()).map(number).collect())
    }

    /// By how much a step moves in the new layout.
    fn moved(
        &self,
        shape: &Shape,
        layout: &Layout,
        at: &mut i64,
        step: Step,
        number: &Form,
    ) -> Result<Form, String> {
        let stride = match step {
            Step::Element { count, by: Some(0), .. } if count < 2 => return Ok(Form::default()),
            Step::Element { stride: 0, .. } => return Ok(Form::default()),
            Step::Along { stride, .. } | Step::Element { stride, .. } => stride,
            Step::Field(_) | Step::Bytes(_) => {
                let by = if let Step::Bytes(n) = step {
                    n
                } else if let Step::Field(n) = step {
                    n as i64
                } else {
                    0
                };
                let distance = layout.offset(*at + by) - layout.offset(*at);
                *at = shape.normal(*at + by);
                return Ok(Form::number(distance as u64));
            }
        };
        let array = layout.parts.iter().find(|p| p.count > 1 && p.old as i64 == *at && stride % p.size == 0);
        let holds = |p: &&Part| p.old as i64 <= *at && *at < (p.old + p.size * p.count) as i64;
        let new = match (array, layout.parts.iter().find(holds)) {
            (Some(array), _) => stride / array.size * array.new_size,
            _ if stride == shape.stride || stride == layout.size => layout.new_size,
            // What nobody reads has no place.
            (None, None) => 0,
            (None, Some(part)) => {
                ensure(part.inner.is_empty() && !part.small, "steps inside of an index")?;
                stride
            }
        };
        Ok(number.times(new))
    }

    /// Goes from instructions with these opcodes to these of their operands.
    fn inside(&self, value: ValueRef, way: &[(i32, u32)]) -> Option<ValueRef> {
        way.iter().try_fold(value, |value, &(opcode, n)| {
            (self.forms.opcode(value) == opcode).then(|| self.forms.operand(value, n))
        })
    }

    /// A phi of addresses, or one of their lower halves to which the base is added.
    fn joined(&self, id: ValueId, old: ValueRef, new: ValueRef) -> Checked {
        let f = self.forms.f;
        if self.forms.opcode(new) == opcode::PHI {
            return self.same(old, new);
        }
        let base = self.pool(Operand::Value(id)).filter(|_| self.indexed(Operand::Value(id)));
        let base = base.ok_or("the checker finds a phi that has become something else")?.base;
        let halves = self.inside(new, &[(opcode::INT_TO_PTR, 0), (opcode::OR, 1), (opcode::ZEXT, 0)]);
        let halves = halves.filter(|v| self.forms.opcode(*v) == opcode::PHI);
        let halves = halves.ok_or("the checker finds no phi of indices")?;
        let wanted = self.forms.of(base).plus(&Form::atom(linear_forms::Atom::Value(halves)), 1);
        ensure(self.forms.of(new) == wanted, "a phi with another base")?;
        // SAFETY: `old` is a phi, as its `Op::Join` and opcode say, and `halves` was found to be one; `n` is below the
        // edges of both.
        unsafe {
            ensure((f.LLVMCountIncoming)(old) == (f.LLVMCountIncoming)(halves), "a phi of more or fewer")?;
            for n in 0..(f.LLVMCountIncoming)(old) {
                let (from, to) = ((f.LLVMGetIncomingValue)(old, n), (f.LLVMGetIncomingValue)(halves, n));
                let low = |v| self.forms.low(self.forms.of(v));
                let nothing = [value_kind::UNDEF, value_kind::POISON];
                let unknown = |v| nothing.contains(&self.forms.kind(v));
                let same = low(self.image(from)) == low(to) || unknown(from) && unknown(to);
                ensure(same, "a phi of another index")?;
            }
        }
        Ok(())
    }

    fn compared(&self, old: ValueRef, new: ValueRef, left: Operand, right: Operand) -> Checked {
        if self.named(left) || self.named(right) {
            ensure(!self.indexed(left) && !self.indexed(right), "a name compared with an address")?;
            return self.names_compared(old, new, left, right);
        }
        let (l, r) = (self.indexed(left), self.indexed(right));
        if !l && !r {
            return self.same(old, new);
        }
        let node = |o| self.meaning(o).map(|(_, _, cell)| cell.node);
        let is_null = |o| matches!(o, Operand::Null | Operand::Data);
        let alike = is_null(left) || is_null(right) || node(left) == node(right);
        if self.forms.kind(new) != value_kind::INSTRUCTION {
            // Two constants: nulls.
            return ensure(is_null(left) && is_null(right), "a comparison that is gone");
        }
        // SAFETY: LLVM asks for any value here, and answers 0 for what is no comparison.
        let predicate = |c| unsafe { (self.forms.f.LLVMGetICmpPredicate)(c) };
        ensure(self.forms.opcode(new) == opcode::ICMP && predicate(old) == predicate(new), "another comparison")?;
        for (n, indexed) in [(0, l), (1, r)] {
            let (from, to) = (self.image(self.forms.operand(old, n)), self.forms.operand(new, n));
            let fits = match (alike, indexed) {
                (true, _) => {
                    let low = |v| self.forms.low(self.forms.of(v));
                    self.forms.width(to) == 32 && low(from) == low(to)
                }
                (false, true) => self.is_proper(from, to),
                (false, false) => self.alike(from, to),
            };
            ensure(fits, "a comparison of something else")?;
        }
        Ok(())
    }
}

/// Does an access of so many bytes stay in one part of an object, of which nothing moves?
fn within(layout: &Layout, offset: i64, size: u64) -> bool {
    fn search(parts: &[Part], start: u64, size: u64) -> bool {
        parts.iter().any(|part| {
            if start < part.old || start >= part.old + part.size * part.count {
                return false;
            }
            match part.inner.is_empty() {
                false => search(&part.inner, (start - part.old) % part.size, size),
                true if part.small => start == part.old && size == part.size,
                true => start + size <= part.old + part.size * part.count,
            }
        })
    }
    search(&layout.parts, offset.rem_euclid(layout.size as i64) as u64, size)
}
