//! Small structures of numbers are copied number by number.
//!
//! The problem: `t->p = points[i]` makes a node of a tree and an element of an array the same sort of object for the
//! analysis, since what is copied as a whole may have pointers in it. The idea: clang says of each assignment of
//! structures which members they have (`!tbaa.struct`). If all of them are numbers, the copy is replaced by a load and
//! a store of each, which is what it means.
//!
//! ```text
//!  memcpy(&t->p, &points[i], 8)            x = points[i].x;  y = points[i].y;  t->p.x = x;  t->p.y = y
//! ```
//!
//! Invariant: all bytes are copied, those between members, too, or the copy stays. Nobody has to trust clang's word: a
//! number that is read where a pointer lies is one that is kept somewhere, for all that follows.
#![allow(unsafe_code)]

use crate::llvm_codes::{opcode, value_kind};
use cairn_llvm_c::{ContextRef, ModuleFunctions, ModuleRef, TypeRef, ValueRef};
use std::ffi::c_uint;

/// Larger structures are copied as they are.
const MOST: u64 = 64;
const NAMELESS: *const std::ffi::c_char = c"".as_ptr();

/// A member of a structure that is copied.
struct Member {
    offset: u64,
    kind: TypeRef,
}

struct Copies<'a> {
    f: &'a ModuleFunctions,
    context: ContextRef,
    structure: c_uint,
}

/// Takes all such copies apart.
pub(crate) fn take_apart(f: &ModuleFunctions, context: ContextRef, module: ModuleRef) {
    // SAFETY: the session's context is live (*Live handles*), and names have their lengths.
    let structure = unsafe {
        let name = "tbaa.struct";
        (f.LLVMGetMDKindIDInContext)(context, name.as_ptr().cast(), name.len() as c_uint)
    };
    let copies = Copies { f, context, structure };
    // SAFETY: the session keeps the module live (*Live handles*); functions, blocks and instructions come from LLVM's
    // iteration, until null, and the next is asked for before one is erased.
    unsafe {
        let mut function = (f.LLVMGetFirstFunction)(module);
        while !function.is_null() {
            let mut block = (f.LLVMGetFirstBasicBlock)(function);
            while !block.is_null() {
                let mut instruction = (f.LLVMGetFirstInstruction)(block);
                while !instruction.is_null() {
                    let next = (f.LLVMGetNextInstruction)(instruction);
                    if let Some(members) = copies.members(instruction) {
                        copies.replace(instruction, &members);
                    }
                    instruction = next;
                }
                block = (f.LLVMGetNextBasicBlock)(block);
            }
            function = (f.LLVMGetNextFunction)(function);
        }
    }
}

impl Copies<'_> {
    /// The members of what this instruction copies, if they are numbers and there is nothing else.
    ///
    /// # Safety
    /// `copy` is an instruction.
    unsafe fn members(&self, copy: ValueRef) -> Option<Vec<Member>> {
        let f = self.f;
        // SAFETY: `copy` is an instruction (`# Safety`), and a call of `memcpy` or `memmove` with five operands, the
        // last of them what is called, where they are asked for.
        unsafe {
            if (f.LLVMGetInstructionOpcode)(copy) != opcode::CALL || (f.LLVMGetNumOperands)(copy) != 5 {
                return None;
            }
            let members = (f.LLVMGetMetadata)(copy, self.structure);
            let [size, volatile] = [2, 3].map(|n| (f.LLVMGetOperand)(copy, n));
            if members.is_null() || self.number(volatile) != Some(0) {
                return None;
            }
            let size = self.number(size).filter(|n| *n <= MOST)?;
            let mut found = vec![];
            let mut end = 0;
            for member in self.parts(members).chunks_exact(3) {
                let (offset, bytes, tag) = (self.number(member[0])?, self.number(member[1])?, member[2]);
                let kind = self.kind(tag, bytes)?;
                if offset != end {
                    return None;
                }
                end = offset + bytes;
                found.push(Member { offset, kind });
            }
            (end == size && !found.is_empty()).then_some(found)
        }
    }

    /// The type of LLVM for a number of so many bytes that clang describes so.
    ///
    /// # Safety
    /// `tag` is a node of metadata for accesses of one type.
    unsafe fn kind(&self, tag: ValueRef, bytes: u64) -> Option<TypeRef> {
        let f = self.f;
        // SAFETY: `tag` is such a node (`# Safety`): base, type of the access, offset; a type begins with its name,
        // which LLVM gives with its length.
        unsafe {
            let access = *self.parts(tag).get(1)?;
            let name = *self.parts(access).first()?;
            let mut length = 0;
            let text = (f.LLVMGetMDString)(name, &mut length);
            if text.is_null() {
                return None;
            }
            match (std::slice::from_raw_parts(text.cast::<u8>(), length as usize), bytes) {
                (b"double", 8) => Some((f.LLVMDoubleTypeInContext)(self.context)),
                (b"float", 4) => Some((f.LLVMFloatTypeInContext)(self.context)),
                (b"short" | b"int" | b"long" | b"long long", 2 | 4 | 8) => {
                    Some((f.LLVMIntTypeInContext)(self.context, bytes as c_uint * 8))
                }
                _ => None,
            }
        }
    }

    /// The operands of a node.
    ///
    /// # Safety
    /// `node` is a node of metadata.
    unsafe fn parts(&self, node: ValueRef) -> Vec<ValueRef> {
        // SAFETY: `node` is one (`# Safety`), and there is room for as many operands as it has.
        unsafe {
            let mut parts = vec![std::ptr::null_mut(); (self.f.LLVMGetMDNodeNumOperands)(node) as usize];
            (self.f.LLVMGetMDNodeOperands)(node, parts.as_mut_ptr());
            parts
        }
    }

    fn number(&self, value: ValueRef) -> Option<u64> {
        // SAFETY: `value` is an operand or part of metadata that LLVM has given, and a constant integer where its
        // number is asked for.
        unsafe {
            let is_number = !value.is_null() && (self.f.LLVMGetValueKind)(value) == value_kind::INT;
            is_number.then(|| (self.f.LLVMConstIntGetSExtValue)(value) as u64)
        }
    }

    /// Reads all members before one is written, for both structures may overlap.
    ///
    /// # Safety
    /// `copy` is a call whose first operands are where it copies to and from; it is not used again.
    unsafe fn replace(&self, copy: ValueRef, members: &[Member]) {
        let f = self.f;
        // SAFETY: `copy` is such a call (`# Safety`), and what is built has the types of its members.
        unsafe {
            let builder = (f.LLVMCreateBuilderInContext)(self.context);
            (f.LLVMPositionBuilderBefore)(builder, copy);
            let byte = (f.LLVMIntTypeInContext)(self.context, 8);
            let word = (f.LLVMIntTypeInContext)(self.context, 64);
            let place = |start: c_uint, member: &Member| {
                let start = (f.LLVMGetOperand)(copy, start);
                let offset = (f.LLVMConstInt)(word, member.offset, 0);
                match member.offset {
                    0 => start,
                    _ => (f.LLVMBuildInBoundsGEP2)(builder, byte, start, &offset, 1, NAMELESS),
                }
            };
            let read = |m: &Member| (f.LLVMBuildLoad2)(builder, m.kind, place(1, m), NAMELESS);
            let loads: Vec<ValueRef> = members.iter().map(read).collect();
            let written = members.iter().zip(&loads);
            let stores: Vec<ValueRef> =
                written.map(|(m, &load)| (f.LLVMBuildStore)(builder, load, place(0, m))).collect();
            for access in loads.into_iter().chain(stores) {
                // What is aligned for whom is known from other accesses. Nothing is said of types: two structures of
                // a union may lie here, of which one is read where the other was written.
                (f.LLVMSetAlignment)(access, 1);
            }
            (f.LLVMInstructionEraseFromParent)(copy);
            (f.LLVMDisposeBuilder)(builder);
        }
    }
}
