//! The instructions and constants that code for dynamic pools is made of: descriptors, the question whether objects are
//! narrow, and addresses from names. Where they are put, and when, `dynamic` decides.
//!
//! Invariant: what is made here aliases no memory of the program: descriptors are of a type of their own (`tbaa`).
#![allow(unsafe_code)]

use super::instructions::{Emitter, NAMELESS};
use crate::model::Step;
use cairn_llvm_c::{BasicBlockRef, ValueRef};
use std::ffi::c_uint;

/// An access divided by the form of a pool's objects.
pub(super) struct Arms {
    pub narrow: BasicBlockRef,
    pub wide: BasicBlockRef,
    pub rest: BasicBlockRef,
    /// The first address of wide objects.
    pub base: ValueRef,
}

impl Emitter<'_> {
    /// The type and zeros of `struct dynamic_pool`.
    pub(super) fn descriptor_value(
        &self,
        words: [ValueRef; 9],
        pointers: [ValueRef; 3],
        halves: [u64; 8],
    ) -> ValueRef {
        let halves = halves.map(|n| self.half_number(n));
        let values: Vec<ValueRef> = words.into_iter().chain(pointers).chain(halves).collect();
        // SAFETY: `values` are constants of the session's context (*Live handles*), and the call is told how many.
        unsafe { (self.f.LLVMConstStructInContext)(self.context, values.as_ptr(), values.len() as c_uint, 0) }
    }

    pub(super) fn half_number(&self, n: u64) -> ValueRef {
        // SAFETY: `half` is the integer of 32 bits that `new` asked the session's context for.
        unsafe { (self.f.LLVMConstInt)(self.half, n, 0) }
    }

    pub(super) fn dynamic_descriptor(&self) -> ValueRef {
        let value = self.descriptor_value([self.number(0); 9], [self.null(); 3], [0; 8]);
        self.internal_global(value, c"cairn.dynamic.pool")
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn finish_descriptor(
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
        // SAFETY: all are constants of the session's context (*Live handles*); those of each array have the array's
        // type.
        let (parts, sources) = unsafe {
            (
                (self.f.LLVMConstArray2)(self.half, parts.as_ptr(), parts.len() as u64),
                (self.f.LLVMConstArray2)(self.pointer, sources.as_ptr(), sources.len() as u64),
            )
        };
        let parts = self.internal_global(parts, c"cairn.pool.parts");
        let sources = self.internal_global(sources, c"cairn.pool.sources");
        let zero = self.number(0);
        let words = [zero, self.number(base), zero, zero, zero, self.number(reach), zero, zero, zero];
        let value = self.descriptor_value(words, [self.text(name), parts, sources], halves);
        // SAFETY: `dynamic_descriptor` made the variable, of the type of such a value.
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
    pub(super) fn flag(&self, descriptors: &[ValueRef]) -> ValueRef {
        let mut all: Option<ValueRef> = None;
        for &descriptor in descriptors {
            // SAFETY: a descriptor is a global variable or parameter, an address, and its first word is the flag.
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
        // SAFETY: the session's context is live (*Live handles*), and each node gets as many elements as it is told.
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

    pub(super) fn is_zero(&self, word: ValueRef) -> ValueRef {
        self.compare(super::instructions::EQUAL, word, self.number(0))
    }

    /// `first`, or `second` if that is zero.
    pub(super) fn first_unless_zero(&self, first: ValueRef, second: ValueRef) -> ValueRef {
        let zero = self.is_zero(first);
        // SAFETY: both are integers of 64 bits, and `zero` is the bit that `is_zero` made of one.
        unsafe { (self.f.LLVMBuildSelect)(self.builder, zero, second, first, NAMELESS) }
    }

    pub(super) fn select_narrow(
        &self,
        wide: ValueRef,
        narrow_address: ValueRef,
        wide_address: ValueRef,
    ) -> ValueRef {
        let zero = self.is_zero(wide);
        // SAFETY: both are pointers, and `zero` is the bit that `is_zero` made of `wide`, a word.
        unsafe { (self.f.LLVMBuildSelect)(self.builder, zero, narrow_address, wide_address, NAMELESS) }
    }

    /// The address, or null if the name is.
    pub(super) fn null_if_null(&self, name: ValueRef, address: ValueRef) -> ValueRef {
        let null = self.compare(super::instructions::EQUAL, name, self.null());
        // SAFETY: both are pointers, and `null` is the bit that `compare` made.
        unsafe { (self.f.LLVMBuildSelect)(self.builder, null, self.null(), address, NAMELESS) }
    }

    pub(super) fn word_of(&self, name: ValueRef) -> ValueRef {
        // SAFETY: `name` is a pointer, for names have the type of the pointers whose place they take.
        unsafe { (self.f.LLVMBuildPtrToInt)(self.builder, name, self.word, NAMELESS) }
    }

    /// The address of the narrow object of this name.
    pub(super) fn sum(&self, base: ValueRef, name: ValueRef) -> ValueRef {
        let name = self.word_of(name);
        // SAFETY: `base` is a word, and `word_of` gives one.
        unsafe {
            let word = (self.f.LLVMBuildAdd)(self.builder, base, name, NAMELESS);
            (self.f.LLVMBuildIntToPtr)(self.builder, word, self.pointer, NAMELESS)
        }
    }

    /// The address of the wide object of this name.
    pub(super) fn wide_start(&self, base: ValueRef, name: ValueRef, narrow: u64, wide: u64) -> ValueRef {
        let name = self.word_of(name);
        // SAFETY: `base` is a word, `word_of` gives one, and so do operations on words.
        unsafe {
            let number = (self.f.LLVMBuildExactUDiv)(self.builder, name, self.number(narrow), NAMELESS);
            let place = (self.f.LLVMBuildMul)(self.builder, number, self.number(wide), NAMELESS);
            let word = (self.f.LLVMBuildAdd)(self.builder, base, place, NAMELESS);
            (self.f.LLVMBuildIntToPtr)(self.builder, word, self.pointer, NAMELESS)
        }
    }

    /// The name for the lower half of one.
    pub(super) fn name_of(&self, half: ValueRef) -> ValueRef {
        // SAFETY: `half` is the lower half of an address, an integer of 32 bits.
        unsafe {
            let word = (self.f.LLVMBuildZExt)(self.builder, half, self.word, NAMELESS);
            (self.f.LLVMBuildIntToPtr)(self.builder, word, self.pointer, NAMELESS)
        }
    }

    /// A copy of this instruction, where the builder stands.
    pub(super) fn another(&self, instruction: ValueRef) -> ValueRef {
        // SAFETY: `instruction` is one of the original or a copy (*Live handles*); its clone is in no block until it is
        // inserted.
        unsafe {
            let copy = (self.f.LLVMInstructionClone)(instruction);
            self.insert(copy);
            copy
        }
    }

    pub(super) fn is_void(&self, call: ValueRef) -> bool {
        // SAFETY: `call` is a call (*Live handles*), and any value has a type.
        unsafe { (self.f.LLVMTypeOf)(call) == (self.f.LLVMVoidTypeInContext)(self.context) }
    }

    pub(super) fn is_equality(&self, compare: ValueRef) -> bool {
        [super::instructions::EQUAL, super::instructions::EQUAL + 1].contains(&self.predicate(compare))
    }

    /// In place of a comparison for equality of names: are they of the same pool, or null?
    pub(super) fn same_object(&self, compare: ValueRef, left_pool: ValueRef, right_pool: ValueRef) -> ValueRef {
        let (a, b) = (self.operand(compare, 0), self.operand(compare, 1));
        let equal = |a, b| self.compare(super::instructions::EQUAL, a, b);
        let (names, pools, null) = (equal(a, b), equal(left_pool, right_pool), equal(a, self.null()));
        // SAFETY: all three are bits, for comparisons made them.
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
    pub(super) fn both_null(&self, compare: ValueRef) -> ValueRef {
        let (a, b) = (self.word_of(self.operand(compare, 0)), self.word_of(self.operand(compare, 1)));
        // SAFETY: `word_of` gives words, integers of 64 bits.
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
    pub(super) fn divide(&self, at: ValueRef, descriptors: &[ValueRef]) -> Arms {
        let f = self.f;
        // SAFETY: `at` is an instruction of a block that has a terminator and is no constant's operand. Moved
        // instructions keep their order; while all that refers to the block is made to refer to its head, it has no
        // terminator, so that phis of its successors keep naming it.
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
    pub(super) fn unite(&self, arms: &Arms, at: ValueRef, values: Option<(ValueRef, ValueRef)>) -> ValueRef {
        // SAFETY: `divide` made both blocks, and they have no terminators; the values are of one type, each made in its
        // arm.
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
