//! Bodies of functions: copied as they are, with what a version has besides: parameters for pools, pools that end with
//! the call, phis of indices.
//!
//! Invariant: a copied body has the blocks and instructions of its original in their order, and uses no value of it.
#![allow(unsafe_code)]

use super::instructions::Emitter;
use super::state::{Label, Pool};
use crate::llvm_codes::opcode;
use crate::model::*;
use crate::module_reader::block_address;
use cairn_llvm_c::{BasicBlockRef, ValueRef};
use std::collections::HashMap;

/// A body that was copied.
pub(super) struct Body {
    /// What stands for each value.
    pub values: Vec<ValueRef>,
    pub entry: BasicBlockRef,
    pub labels: Vec<Label>,
}

/// The copying of bodies.
impl Emitter<'_> {
    pub(super) fn pool_parameter(&self, function: ValueRef, n: u32) -> Pool {
        // SAFETY: `declare_version` gave the version two parameters for each pool, and callers ask for the first of
        // such two.
        unsafe {
            Pool { descriptor: (self.f.LLVMGetParam)(function, n), base: (self.f.LLVMGetParam)(function, n + 1) }
        }
    }

    /// Copies all blocks.
    pub(super) fn copy_body(&self, from: ValueRef, to: ValueRef, values: &[Value]) -> Body {
        let f = self.f;
        let mut map: HashMap<ValueRef, ValueRef> = HashMap::new();
        let mut blocks: HashMap<BasicBlockRef, BasicBlockRef> = HashMap::new();
        let mut phis = vec![];
        let mut copies = vec![];
        // SAFETY: `to` is a version of `from`, so it has the same parameters, and more; each operand of a copy is
        // replaced by the copy of what it was, of the same type.
        unsafe {
            for n in 0..(f.LLVMCountParams)(from) {
                map.insert((f.LLVMGetParam)(from, n), (f.LLVMGetParam)(to, n));
            }
            let mut block = (f.LLVMGetFirstBasicBlock)(from);
            let entry = self.block(to);
            blocks.insert(block, entry);
            block = (f.LLVMGetNextBasicBlock)(block);
            while !block.is_null() {
                blocks.insert(block, self.block(to));
                block = (f.LLVMGetNextBasicBlock)(block);
            }
            block = (f.LLVMGetFirstBasicBlock)(from);
            while !block.is_null() {
                self.at_end(blocks[&block]);
                let mut next = (f.LLVMGetFirstInstruction)(block);
                while !next.is_null() {
                    let copy = if (f.LLVMGetInstructionOpcode)(next) == opcode::PHI {
                        phis.push(next);
                        self.phi(next)
                    } else {
                        let copy = (f.LLVMInstructionClone)(next);
                        self.insert(copy);
                        copies.push(copy);
                        copy
                    };
                    map.insert(next, copy);
                    next = (f.LLVMGetNextInstruction)(next);
                }
                block = (f.LLVMGetNextBasicBlock)(block);
            }
            let mapped = |v: ValueRef| map.get(&v).copied().unwrap_or(v);
            for phi in phis {
                for n in 0..(f.LLVMCountIncoming)(phi) {
                    let value = mapped((f.LLVMGetIncomingValue)(phi, n));
                    let block = blocks[&(f.LLVMGetIncomingBlock)(phi, n)];
                    (f.LLVMAddIncoming)(map[&phi], &value, &block, 1);
                }
            }
            for copy in copies {
                for n in 0..(f.LLVMGetNumOperands)(copy) as u32 {
                    let operand = (f.LLVMGetOperand)(copy, n);
                    if let Some(&new) = map.get(&operand) {
                        (f.LLVMSetOperand)(copy, n, new);
                    }
                }
                let jumps = [opcode::BR, opcode::SWITCH, opcode::INDIRECT_BR, opcode::CALL_BR];
                if jumps.contains(&(f.LLVMGetInstructionOpcode)(copy)) {
                    for n in 0..(f.LLVMGetNumSuccessors)(copy) {
                        (f.LLVMSetSuccessor)(copy, n, blocks[&(f.LLVMGetSuccessor)(copy, n)]);
                    }
                }
            }
            let values =
                values.iter().map(|v| map.get(&v.handle).copied().unwrap_or(std::ptr::null_mut())).collect();
            let label = |(&old, &block)| Some(Label { old: block_address(f, old)?, function: to, block });
            Body { values, entry, labels: blocks.iter().filter_map(label).collect() }
        }
    }

    /// Whoever has the address of the label gets that of its copy.
    pub(super) fn replace_label(&self, label: &Label) {
        // SAFETY: `old` is the address of a block of the original, and `block` one of the version `function` (*Live
        // handles*).
        unsafe {
            let new = (self.f.LLVMBlockAddress)(label.function, label.block);
            (self.f.LLVMReplaceAllUsesWith)(label.old, new);
        }
    }

    pub(super) fn is_phi(&self, value: ValueRef) -> bool {
        // SAFETY: `value` is an instruction, for callers ask of copies of instructions.
        unsafe { (self.f.LLVMGetInstructionOpcode)(value) == opcode::PHI }
    }

    /// Makes a phi of addresses one of their lower halves, if one of them is made of an index; null is the base. What
    /// stands for the phi.
    pub(super) fn carry_index(
        &self,
        phi: ValueRef,
        base: ValueRef,
        expanded: &HashMap<ValueRef, ValueRef>,
    ) -> ValueRef {
        let f = self.f;
        // SAFETY: callers have asked whether `phi` is one (`is_phi`); `n` is below its edges, and the lower half of
        // what comes from a block is made at its end.
        unsafe {
            let count = (f.LLVMCountIncoming)(phi);
            let incoming = |n| ((f.LLVMGetIncomingValue)(phi, n), (f.LLVMGetIncomingBlock)(phi, n));
            if !(0..count).any(|n| expanded.contains_key(&incoming(n).0)) {
                return phi;
            }
            self.before(phi);
            let new = self.phi_of_halves();
            // A block from which several edges come gives one value.
            let mut places: HashMap<BasicBlockRef, ValueRef> = HashMap::new();
            for (value, block) in (0..count).map(incoming) {
                let place = *places.entry(block).or_insert_with(|| {
                    expanded.get(&value).copied().unwrap_or_else(|| {
                        self.before((f.LLVMGetBasicBlockTerminator)(block));
                        self.lower_half(value)
                    })
                });
                (f.LLVMAddIncoming)(new, &place, &block, 1);
            }
            let mut first = new;
            while (f.LLVMGetInstructionOpcode)(first) == opcode::PHI {
                first = (f.LLVMGetNextInstruction)(first);
            }
            self.before(first);
            let address = self.address(base, new);
            self.replace(phi, address);
            address
        }
    }

    /// Opens a pool for one call of a function.
    pub(super) fn open_pool(&self, entry: BasicBlockRef, name: &str, reach: u64) -> Pool {
        // SAFETY: `entry` is the first block of a copied body, which has at least a terminator.
        unsafe { self.before((self.f.LLVMGetFirstInstruction)(entry)) };
        let descriptor = self.alloca_pool();
        let name = self.text(name);
        let base = self.call_runtime("cairn_pool_open", &[descriptor, name, self.number(reach)], Some(self.word));
        Pool { descriptor, base: self.lower_bits_known(base) }
    }

    /// Closes pools wherever the function returns.
    pub(super) fn close_pools(&self, function: ValueRef, pools: &[Pool]) {
        // SAFETY: the version is complete, so each of its blocks has a terminator.
        unsafe {
            let mut block = (self.f.LLVMGetFirstBasicBlock)(function);
            while !block.is_null() {
                let end = (self.f.LLVMGetBasicBlockTerminator)(block);
                if (self.f.LLVMGetInstructionOpcode)(end) == opcode::RET {
                    self.before(end);
                    for pool in pools {
                        self.call_runtime("cairn_pool_close", &[pool.descriptor], None);
                    }
                }
                block = (self.f.LLVMGetNextBasicBlock)(block);
            }
        }
    }

    /// The numbers of an address computation.
    pub(super) fn indices(&self, gep: ValueRef) -> Vec<ValueRef> {
        // SAFETY: `gep` is an address computation, and `n` is below the number of its operands.
        unsafe { (1..(self.f.LLVMGetNumOperands)(gep) as u32).map(|n| (self.f.LLVMGetOperand)(gep, n)).collect() }
    }

    /// An address computation that may leave the object.
    pub(super) fn forget_bounds(&self, gep: ValueRef) {
        // SAFETY: callers pass the copy of a `getelementptr`.
        unsafe { (self.f.LLVMSetIsInBounds)(gep, 0) }
    }

    pub(super) fn is_inbounds(&self, gep: ValueRef) -> bool {
        // SAFETY: `gep` is an address computation, as its `Op::Address` says.
        unsafe { (self.f.LLVMIsInBounds)(gep) != 0 }
    }

    pub(super) fn predicate(&self, compare: ValueRef) -> i32 {
        // SAFETY: LLVM asks for any value here, and answers 0 for what is no comparison.
        unsafe { (self.f.LLVMGetICmpPredicate)(compare) }
    }

    /// An access in an object of a new layout: it may be aligned less than before.
    pub(super) fn weaken_alignment(&self, access: ValueRef, most: u64) {
        // SAFETY: `access` is a load or store, as callers know from its `Op`.
        unsafe {
            if u64::from((self.f.LLVMGetAlignment)(access)) > most {
                (self.f.LLVMSetAlignment)(access, most as u32);
            }
        }
    }
}
