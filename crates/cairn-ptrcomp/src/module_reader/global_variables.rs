//! Global variables of LLVM's module → [`Global`]: the pointers in their initial values, and the arrays in their types.
//!
//! Invariant: an initial value that can't be read as pointers and data at known offsets has a `Strange` pointer there.

use super::Reader;
use crate::llvm_codes::{type_kind, value_kind};
use crate::model::*;
use cairn_llvm_c::{TypeRef, ValueRef};
use std::collections::BTreeSet;
use std::ffi::c_uint;

impl Reader<'_> {
    pub(super) unsafe fn global(&self, global: ValueRef, kept: &BTreeSet<String>) -> Global {
        // SAFETY: `global` is a global variable (*Kinds* of the reader), and has an initial value where that is asked
        // for.
        unsafe {
            let declared = (self.f.LLVMIsDeclaration)(global) != 0;
            let name = self.name(global);
            let mut pointers = vec![];
            if !declared {
                self.initial((self.f.LLVMGetInitializer)(global), 0, &mut pointers);
            }
            let constant = (self.f.LLVMIsGlobalConstant)(global) != 0;
            let literal = constant && !declared && pointers.is_empty();
            let section = (self.f.LLVMGetSection)(global);
            let named_section = !section.is_null() && *section != 0;
            let mut runs = vec![];
            self.runs((self.f.LLVMGlobalGetValueType)(global), 0, &mut runs);
            Global {
                kept: kept.contains(&name) || named_section,
                name,
                declared,
                literal,
                pointers,
                runs,
                handle: global,
            }
        }
    }

    /// The arrays inside a type; of nested arrays the outermost.
    unsafe fn runs(&self, kind: TypeRef, offset: u64, out: &mut Vec<(u64, u64, u64)>) {
        // SAFETY: `kind` is a type (*Kinds* of the reader); each kind of type is asked only for what it has.
        unsafe {
            match (self.f.LLVMGetTypeKind)(kind) {
                type_kind::STRUCT => {
                    for i in 0..(self.f.LLVMCountStructElementTypes)(kind) {
                        let inner = offset + (self.f.LLVMOffsetOfElement)(self.layout, kind, i);
                        self.runs((self.f.LLVMStructGetTypeAtIndex)(kind, i), inner, out);
                    }
                }
                type_kind::ARRAY => {
                    let element = (self.f.LLVMGetElementType)(kind);
                    let size = (self.f.LLVMABISizeOfType)(self.layout, element);
                    out.push((offset, (self.f.LLVMGetArrayLength2)(kind), size));
                }
                _ => {}
            }
        }
    }

    /// Pointers in an initial value.
    unsafe fn initial(&self, value: ValueRef, offset: u64, out: &mut Vec<(u64, Operand)>) {
        // SAFETY: `value` is a constant (*Kinds* of the reader), and is asked only for the elements that those of its
        // kind have.
        unsafe {
            let kind = (self.f.LLVMTypeOf)(value);
            let what = (self.f.LLVMGetValueKind)(value);
            if what == value_kind::AGGREGATE_ZERO {
                return;
            }
            match (self.f.LLVMGetTypeKind)(kind) {
                type_kind::POINTER => match self.constant(value) {
                    Operand::Null | Operand::Data => {}
                    operand => out.push((offset, operand)),
                },
                type_kind::STRUCT => {
                    for i in 0..(self.f.LLVMCountStructElementTypes)(kind) {
                        let at = offset + (self.f.LLVMOffsetOfElement)(self.layout, kind, i);
                        let element = (self.f.LLVMGetAggregateElement)(value, i);
                        if element.is_null() {
                            out.push((at, Operand::Strange));
                        } else {
                            self.initial(element, at, out);
                        }
                    }
                }
                type_kind::ARRAY => {
                    let element = (self.f.LLVMGetElementType)(kind);
                    if self.kind(element) == Kind::Data && (self.f.LLVMGetTypeKind)(element) != type_kind::INTEGER
                    {
                        return;
                    }
                    let size = (self.f.LLVMABISizeOfType)(self.layout, element);
                    if self.kind(element) == Kind::Data && size < 8 {
                        return;
                    }
                    for i in 0..(self.f.LLVMGetArrayLength2)(kind) {
                        let inner = (self.f.LLVMGetAggregateElement)(value, i as c_uint);
                        if !inner.is_null() {
                            self.initial(inner, offset + i * size, out);
                        }
                    }
                }
                type_kind::INTEGER if what == value_kind::CONSTANT_EXPR => out.push((offset, Operand::Strange)),
                _ => {}
            }
        }
    }
}
