//! Accesses of dynamic pools: each is there in one form or in two, and the right one is taken.
//!
//! What a name's address must be follows from the original's address computations:
//!
//! ```text
//!  narrow   base of the pool + name + new offset
//!  wide     flag of the pool + name / narrow size * wide size + old offset
//! ```
#![allow(unsafe_code)]

use super::linear_forms::{Atom, Form};
use super::{Checked, Checker, ensure};
use crate::llvm_codes::{opcode, value_kind};
use crate::model::*;
use crate::shape::{Layout, Shape};
use cairn_llvm_c::{BasicBlockRef, ValueRef};
use std::collections::BTreeSet;

/// Where an access of the original goes.
struct Target<'a> {
    shape: &'a Shape,
    layout: Option<&'a Layout>,
    descriptor: ValueRef,
    name: ValueRef,
    /// The old offset, of an array's first element.
    offset: i64,
    narrow: Form,
    wide: Form,
    /// In the form that the objects have, where that needs no question.
    either: Option<Form>,
}

impl<'a> Checker<'a, '_, '_> {
    /// Is this operand a name?
    pub(super) fn named(&self, operand: Operand) -> bool {
        self.meaning(operand).is_some_and(|(view, ..)| self.shape(view).dynamic)
    }

    fn target(&self, value: ValueRef, operand: Operand) -> Result<Target<'a>, String> {
        let values = &self.plan.analysis.module.function(self.copy.id).values;
        let (view, ..) = self.meaning(operand).ok_or("the checker finds no object")?;
        let (mut chain, mut root, mut name) = (vec![], operand, value);
        while let Operand::Value(v) = root {
            let Op::Address { base, steps } = &values[v.0 as usize].op else { break };
            chain.push((name, steps));
            (root, name) = (*base, self.forms.operand(name, 0));
        }
        let inner = self.meaning(root).map(|(view, _, cell)| cell.offset + view.delta);
        let (shape, pool) = (self.shape(view), view.pool.ok_or("the checker finds no pool")?);
        let inner =
            inner.filter(|&n| n >= 0 && shape.normal(n) == n).ok_or("the checker finds a name that is none")?;
        let layout = shape.layout.as_ref();
        let start = layout.map_or(inner, |l| l.offset(inner));
        let (mut offset, mut old, mut new) = (inner, Form::number(inner as u64), Form::number(start as u64));
        for (gep, steps) in chain.into_iter().rev() {
            for (step, number) in steps.iter().zip(self.numbers(gep, steps)?) {
                let wide = match *step {
                    Step::Field(n) => Form::number(n),
                    Step::Bytes(n) => Form::number(n as u64),
                    Step::Along { stride, .. } | Step::Element { stride, .. } => number.times(stride),
                };
                let narrow = match layout {
                    Some(layout) => self.moved(shape, layout, &mut offset, *step, &number)?,
                    None => wide.clone(),
                };
                (old, new) = (old.plus(&wide, 1), new.plus(&narrow, 1));
            }
        }
        let name = self.image(name);
        let object = self.forms.of(name).plus(&Form::number(inner as u64), u64::MAX);
        let size = layout.map_or(shape.object, |l| l.size.next_multiple_of(l.align.max(8)));
        let start = Form::atom(Atom::Start(pool.descriptor));
        let narrow = self.forms.of(pool.base).plus(&object, 1).plus(&new, 1);
        let either = match (self.copy.narrow, layout) {
            (true, _) => Some(narrow.clone()),
            (false, None) => Some(start.clone().plus(&object, 1).plus(&new, 1)),
            _ => None,
        };
        let wide = start.plus(&object.divided(shape.object), size).plus(&old, 1);
        Ok(Target { shape, layout, descriptor: pool.descriptor, name, offset, narrow, wide, either })
    }

    /// The pool whose flag this load reads.
    pub(super) fn flag_of(&self, load: ValueRef) -> Option<ValueRef> {
        if self.forms.opcode(load) != opcode::LOAD {
            return None;
        }
        let from = self.forms.operand(load, 0);
        self.forms.dynamic.contains(&from).then_some(from)
    }

    fn flags(&self, word: ValueRef, all: &mut BTreeSet<ValueRef>) -> bool {
        match self.forms.opcode(word) {
            opcode::OR => (0..2).all(|n| self.flags(self.forms.operand(word, n), all)),
            _ => self.flag_of(word).is_some_and(|pool| {
                all.insert(pool);
                true
            }),
        }
    }

    /// Is the first block gone to if and only if the flags of pools, these at least, are all zero, and else the second?
    fn divided(&self, narrow: BasicBlockRef, wide: BasicBlockRef, pools: &[ValueRef]) -> Checked {
        let f = self.forms.f;
        // SAFETY: both are blocks (*Live handles*); instructions that use a block are terminators, and others are left
        // out.
        let (branch, leads) = unsafe {
            let only = |block| {
                let first = (f.LLVMGetFirstUse)((f.LLVMBasicBlockAsValue)(block));
                (!first.is_null() && (f.LLVMGetNextUse)(first).is_null()).then(|| (f.LLVMGetUser)(first))
            };
            let branch = only(narrow)
                .filter(|b| only(wide) == Some(*b) && self.forms.kind(*b) == value_kind::INSTRUCTION)
                .ok_or("the checker finds no question")?;
            let two = (f.LLVMGetNumSuccessors)(branch) == 2;
            (branch, two && (f.LLVMGetSuccessor)(branch, 0) == narrow && (f.LLVMGetSuccessor)(branch, 1) == wide)
        };
        ensure(leads, "no question")?;
        let test = self.forms.operand(branch, 0);
        let mut asked = BTreeSet::new();
        let fits = self.forms.opcode(test) == opcode::ICMP
            && self.forms.equals_zero(test)
            && self.flags(self.forms.operand(test, 0), &mut asked)
            && pools.iter().all(|p| asked.contains(p));
        ensure(fits, "a question to another pool")
    }

    fn block(&self, instruction: ValueRef) -> BasicBlockRef {
        // SAFETY: callers have found that `instruction` is a load or store.
        unsafe { (self.forms.f.LLVMGetInstructionParent)(instruction) }
    }

    /// A load or store; false if it is in no dynamic pool.
    pub(super) fn named_access(&self, id: ValueId, operand: Operand, size: u64) -> Result<bool, String> {
        if !self.named(operand) {
            return Ok(false);
        }
        let value = &self.plan.analysis.module.function(self.copy.id).values[id.0 as usize];
        let (old, load) = (value.handle, matches!(value.op, Op::Load { .. }));
        let target = self.target(self.forms.operand(old, u32::from(!load)), operand)?;
        let small = target.layout.is_some_and(|l| l.small_at(target.offset));
        if small {
            let other = match value.op {
                Op::Store { value, .. } => value,
                _ => Operand::Value(id),
            };
            let nothing = matches!(other, Operand::Null | Operand::Data);
            ensure(nothing || self.named(other), "an index of what has no name")?;
            self.is_link(operand, other)?;
        }
        let made = match self.images.get(&old) {
            Some(&phi) if load && self.forms.opcode(phi) == opcode::PHI => self.arms(phi)?,
            Some(&new) if load => vec![new],
            _ => self.copy.made.get(&id).cloned().unwrap_or_default(),
        };
        match (&made[..], &target.either) {
            (&[one], Some(address)) => self.narrow_access(old, one, &target, small, address, load, size)?,
            (&[narrow, wide], None) => {
                self.narrow_access(old, narrow, &target, small, &target.narrow, load, size)?;
                self.wide_access(old, wide, &target, load)?;
                if !load {
                    self.divided(self.block(narrow), self.block(wide), &[target.descriptor])?;
                }
            }
            _ => return Err("the checker misses an access of a dynamic pool".into()),
        }
        match self.images.get(&old) {
            Some(&phi) if load && made.len() == 2 => self.united(phi, &target)?,
            _ => {}
        }
        Ok(true)
    }

    /// What comes of the two forms of a load or call.
    pub(super) fn arms(&self, phi: ValueRef) -> Result<Vec<ValueRef>, String> {
        let f = self.forms.f;
        // SAFETY: callers have found that `phi` is one; it has two edges where they are asked for.
        unsafe {
            ensure((f.LLVMCountIncoming)(phi) == 2, "more than two forms")?;
            Ok((0..2).map(|n| (f.LLVMGetIncomingValue)(phi, n)).collect())
        }
    }

    fn united(&self, phi: ValueRef, target: &Target) -> Checked {
        let f = self.forms.f;
        // SAFETY: `arms` has found that `phi` is one with two edges.
        let (narrow, wide) = unsafe { ((f.LLVMGetIncomingBlock)(phi, 0), (f.LLVMGetIncomingBlock)(phi, 1)) };
        self.divided(narrow, wide, &[target.descriptor])
    }

    #[allow(clippy::too_many_arguments)]
    fn narrow_access(
        &self,
        old: ValueRef,
        new: ValueRef,
        target: &Target,
        small: bool,
        address: &Form,
        load: bool,
        size: u64,
    ) -> Checked {
        let to = u32::from(!load);
        if !small {
            self.same_kind(old, new)?;
            self.explain(new);
            ensure(load || self.same_operand(old, new, 0), "another value stored")?;
            ensure(self.forms.of(self.forms.operand(new, to)) == *address, "an access elsewhere")?;
            return match target.layout {
                Some(layout) => self.moved_access(new, layout, target.offset, size),
                None => Ok(()),
            };
        }
        let access = match load {
            true => self.inner_load(new).ok_or("the checker finds no index that is loaded")?,
            false => new,
        };
        ensure(load || self.forms.opcode(new) == opcode::STORE, "no store of an index")?;
        self.explain(access);
        let (bits, unit) = self.index_width();
        if load {
            let name = Form::default().plus(&Form::atom(Atom::Value(access)), unit);
            ensure(self.forms.width(access) == bits && self.forms.of(new) == name, "another name")?;
        } else {
            let stored = self.image(self.forms.operand(old, 0));
            ensure(self.is_index(stored, self.forms.operand(new, 0)), "another index")?;
        }
        ensure(self.forms.of(self.forms.operand(access, to)) == *address, "an index elsewhere")?;
        let layout = target.layout.ok_or("the checker finds no layout")?;
        self.moved_access(access, layout, target.offset, size)
    }

    fn wide_access(&self, old: ValueRef, new: ValueRef, target: &Target, load: bool) -> Checked {
        self.same_kind(old, new)?;
        self.explain(new);
        ensure(load || self.same_operand(old, new, 0), "another value stored")?;
        let address = self.forms.of(self.forms.operand(new, u32::from(!load)));
        ensure(address == target.wide, "an access elsewhere when objects are wide")
    }

    /// Names are compared as they are; with what isn't of the same node, by their pools.
    pub(super) fn names_compared(&self, old: ValueRef, new: ValueRef, left: Operand, right: Operand) -> Checked {
        let is_null = |o| matches!(o, Operand::Null | Operand::Data);
        let node = |o| self.meaning(o).map(|(_, _, cell)| cell.node);
        // SAFETY: LLVM asks for any value here, and answers 0 for what is no comparison.
        let predicate = unsafe { (self.forms.f.LLVMGetICmpPredicate)(old) };
        let equality = [32, 33].contains(&predicate);
        if is_null(left) || is_null(right) || node(left) == node(right) || !equality {
            return self.same(old, new);
        }
        let sides = [0, 1].map(|n| self.forms.of(self.image(self.forms.operand(old, n))));
        let equal = |test: ValueRef, a: &Form, b: &Form| {
            // SAFETY: `test` was found to be a comparison of integers first.
            self.forms.opcode(test) == opcode::ICMP
                && unsafe { (self.forms.f.LLVMGetICmpPredicate)(test) } == 32
                && self.forms.of(self.forms.operand(test, 0)) == *a
                && self.forms.of(self.forms.operand(test, 1)) == *b
        };
        ensure(self.forms.opcode(new) == opcode::ICMP, "no comparison")?;
        let [test, wanted] = [0, 1].map(|n| self.forms.operand(new, n));
        let zero = Form::default();
        let pools = (self.named(left) && self.named(right)).then(|| (self.pool(left), self.pool(right)));
        let Some((Some(a), Some(b))) = pools else {
            // SAFETY: the line above has found that `new` is a comparison of integers.
            let same = unsafe { (self.forms.f.LLVMGetICmpPredicate)(new) } == predicate;
            let both = same && self.forms.opcode(test) == opcode::OR && self.forms.of(wanted) == zero;
            ensure(both, "another comparison of a name")?;
            let words = [0, 1].map(|n| self.forms.of(self.forms.operand(test, n)));
            return ensure(words == sides, "another comparison of a name");
        };
        let names = |v| equal(v, &sides[0], &sides[1]);
        let null = |v| equal(v, &sides[0], &zero);
        let descriptors = [a, b].map(|p| self.forms.of(p.descriptor));
        let fits = match self.forms.opcode(test) {
            opcode::AND => {
                let [first, second] = [0, 1].map(|n| self.forms.operand(test, n));
                let either = match self.forms.opcode(second) {
                    opcode::OR => {
                        let [pools, nulls] = [0, 1].map(|n| self.forms.operand(second, n));
                        // Of two global variables it is known at once.
                        let known = self.forms.kind(pools) == value_kind::INT;
                        let one = u64::from(a.descriptor == b.descriptor);
                        let fits = match known {
                            true => self.forms.of(pools) == Form::number(one),
                            false => equal(pools, &descriptors[0], &descriptors[1]),
                        };
                        fits && null(nulls)
                    }
                    _ => false,
                };
                names(first) && either
            }
            _ => false,
        };
        let yes = self.forms.of(wanted) == Form::number(u64::from(predicate == 32));
        ensure(fits && yes, "another comparison of names")
    }

    /// Is `new` the address of what the argument names, or null?
    pub(super) fn is_address_of_name(
        &self,
        old: ValueRef,
        n: u32,
        argument: Operand,
        new: ValueRef,
    ) -> Result<bool, String> {
        let target = self.target(self.forms.operand(old, n), argument)?;
        let name = self.forms.of(target.name);
        if self.forms.opcode(new) != opcode::SELECT {
            return Ok(name == Form::default() && self.forms.of(new) == name);
        }
        let [test, null, address] = [0, 1, 2].map(|n| self.forms.operand(new, n));
        let zero = |test| self.forms.opcode(test) == opcode::ICMP && self.forms.equals_zero(test);
        let asks = zero(test) && self.forms.of(self.forms.operand(test, 0)) == name;
        let fits = match &target.either {
            Some(form) => self.forms.of(address) == *form,
            None if self.forms.opcode(address) != opcode::SELECT => false,
            None => {
                let [test, narrow, wide] = [0, 1, 2].map(|n| self.forms.operand(address, n));
                zero(test)
                    && self.flag_of(self.forms.operand(test, 0)) == Some(target.descriptor)
                    && self.forms.of(narrow) == target.narrow
                    && self.forms.of(wide) == target.wide
            }
        };
        Ok(asks && self.forms.kind(null) == value_kind::NULL && fits)
    }

    /// A copy or fill of objects with names.
    pub(super) fn named_extent(&self, id: ValueId, old: ValueRef, call: &Call) -> Checked {
        let made = self.copy.made.get(&id).cloned().unwrap_or_default();
        let mut targets = vec![];
        for (n, argument) in call.arguments.iter().enumerate().take(2).filter(|(_, a)| self.named(**a)) {
            targets.push((n as u32, self.target(self.forms.operand(old, n as u32), *argument)?));
        }
        let single = targets.iter().all(|(_, t)| t.either.is_some());
        ensure(made.len() == if single { 1 } else { 2 }, "a copy in another form")?;
        for (form, &new) in made.iter().enumerate() {
            self.same_kind(old, new)?;
            self.explain(new);
            for n in [0, 1, 3] {
                let fits = match targets.iter().find(|(m, _)| *m == n) {
                    Some((_, t)) => {
                        let wanted = t.either.as_ref().unwrap_or(if form == 0 { &t.narrow } else { &t.wide });
                        self.forms.of(self.forms.operand(new, n)) == *wanted
                    }
                    None => self.same_operand(old, new, n),
                };
                ensure(fits, "a copy from or to elsewhere")?;
            }
            let (_, to) = &targets[0];
            let length = match to.layout {
                Some(layout) if form == 0 => self.length(old, call, layout, to.offset)?,
                _ => self.forms.of(self.image(self.forms.operand(old, 2))),
            };
            ensure(self.forms.of(self.forms.operand(new, 2)) == length, "a copy of another length")?;
            ensure(to.shape.dynamic, "a copy of something else")?;
        }
        match made[..] {
            [a, b] => self.divided(self.block(a), self.block(b), &[targets[0].1.descriptor]),
            _ => Ok(()),
        }
    }

    /// A call in two forms: all pools that it is given are asked first.
    pub(super) fn asked(&self, calls: &[ValueRef], pools: &[ValueRef]) -> Checked {
        match *calls {
            [a, b] => {
                let given = pools.iter().step_by(2).copied();
                let dynamic: Vec<ValueRef> = given.filter(|p| self.forms.dynamic.contains(p)).collect();
                self.divided(self.block(a), self.block(b), &dynamic)
            }
            _ => Ok(()),
        }
    }
}
