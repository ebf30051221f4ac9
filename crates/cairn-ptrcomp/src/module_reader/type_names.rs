//! What each module of a program calls its structures, before they are linked.
//!
//! LLVM's linker takes structures of the same fields for one type, whatever they are called, and pointers have no
//! types: where one file has a `struct file { char *name; struct file *next; }` and another a `struct var` of two
//! pointers, one name remains. So the names are read before, each function by itself; functions are found again by
//! their descriptions, which the linker keeps.

use crate::llvm_codes::{opcode, type_kind};
use cairn_llvm_c::{MetadataRef, ModuleFunctions, ModuleRef, TypeRef, ValueRef};
use std::collections::{BTreeSet, HashMap};
use std::ffi::CStr;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The names of structures of the same fields.
type Called = BTreeSet<String>;

/// The names of a program's structures.
#[derive(Default)]
pub(crate) struct TypeNames {
    /// By function and fields.
    of_functions: HashMap<(MetadataRef, u64), Called>,
    /// By fields.
    of_all: HashMap<u64, Called>,
    known: HashMap<TypeRef, Option<(u64, String)>>,
}

impl TypeNames {
    /// Adds the names of a module that is to be linked.
    pub(crate) fn add(&mut self, f: &ModuleFunctions, module: ModuleRef) {
        // SAFETY: `module` is live (*Live handles*); functions, blocks and instructions come from LLVM's iteration, and
        // what is asked for its type is a `getelementptr`.
        unsafe {
            let mut function = (f.LLVMGetFirstFunction)(module);
            while !function.is_null() {
                let description = (f.LLVMGetSubprogram)(function);
                let mut block = (f.LLVMGetFirstBasicBlock)(function);
                while !block.is_null() {
                    let mut next = (f.LLVMGetFirstInstruction)(block);
                    while !next.is_null() {
                        if (f.LLVMGetInstructionOpcode)(next) == opcode::GEP {
                            self.note(f, description, next);
                        }
                        next = (f.LLVMGetNextInstruction)(next);
                    }
                    block = (f.LLVMGetNextBasicBlock)(block);
                }
                function = (f.LLVMGetNextFunction)(function);
            }
        }
    }

    /// # Safety
    /// `gep` is a live `getelementptr`.
    unsafe fn note(&mut self, f: &ModuleFunctions, description: MetadataRef, gep: ValueRef) {
        // SAFETY: `gep` is a `getelementptr` (`# Safety`), and those have such a type.
        let kind = unsafe { (f.LLVMGetGEPSourceElementType)(gep) };
        // SAFETY: `kind` was just given by LLVM: a type of the module.
        let known = self.known.entry(kind).or_insert_with(|| unsafe {
            let kind = element(f, kind);
            Some((fields(f, kind, 0), name(f, kind)?))
        });
        let Some((fields, name)) = known else { return };
        let called = self.of_functions.entry((description, *fields)).or_default();
        if !called.contains(name) {
            called.insert(name.clone());
            self.of_all.entry(*fields).or_default().insert(name.clone());
        }
    }

    /// What a function of the linked program calls a structure: all names that it may mean.
    ///
    /// # Safety
    /// `function` is a live function, and `kind` a live type.
    pub(super) unsafe fn called(&self, f: &ModuleFunctions, function: ValueRef, kind: TypeRef) -> Called {
        if self.of_all.is_empty() {
            // SAFETY: `kind` is a type (`# Safety`). A program of one module has the names that it had.
            return unsafe { name(f, kind) }.into_iter().collect();
        }
        // SAFETY: `function` is one of the program, and `kind` a type (`# Safety`).
        let (description, fields) = unsafe { ((f.LLVMGetSubprogram)(function), fields(f, kind, 0)) };
        let found = self.of_functions.get(&(description, fields)).or_else(|| self.of_all.get(&fields));
        found.cloned().unwrap_or_default()
    }
}

/// What an array consists of in the end; else the type itself.
///
/// # Safety
/// `kind` is a live type.
pub(super) unsafe fn element(f: &ModuleFunctions, mut kind: TypeRef) -> TypeRef {
    // SAFETY: it is a type (`# Safety`), and asked for its elements where it is an array.
    unsafe {
        while (f.LLVMGetTypeKind)(kind) == type_kind::ARRAY {
            kind = (f.LLVMGetElementType)(kind);
        }
    }
    kind
}

/// What C calls this structure, if it is one with a name.
///
/// # Safety
/// `kind` is a live type.
unsafe fn name(f: &ModuleFunctions, kind: TypeRef) -> Option<String> {
    // SAFETY: it is a type (`# Safety`), and a structure where its name is asked for: a C string that lives as long.
    unsafe {
        let structure = (f.LLVMGetTypeKind)(kind) == type_kind::STRUCT;
        let text = if structure { (f.LLVMGetStructName)(kind) } else { std::ptr::null() };
        if text.is_null() { None } else { in_c(&CStr::from_ptr(text).to_string_lossy()) }
    }
}

/// A number for the fields of a type: of types that the linker takes for one, the same.
///
/// # Safety
/// `kind` is a live type.
unsafe fn fields(f: &ModuleFunctions, kind: TypeRef, depth: u32) -> u64 {
    let mut hash = DefaultHasher::new();
    // SAFETY: it is a type (`# Safety`), and each kind of type is asked only for what it has.
    unsafe {
        let code = (f.LLVMGetTypeKind)(kind);
        code.hash(&mut hash);
        match code {
            type_kind::INTEGER => (f.LLVMGetIntTypeWidth)(kind).hash(&mut hash),
            type_kind::ARRAY => {
                (f.LLVMGetArrayLength2)(kind).hash(&mut hash);
                fields(f, (f.LLVMGetElementType)(kind), depth + 1).hash(&mut hash);
            }
            type_kind::STRUCT if depth < 40 => {
                for i in 0..(f.LLVMCountStructElementTypes)(kind) {
                    fields(f, (f.LLVMStructGetTypeAtIndex)(kind, i), depth + 1).hash(&mut hash);
                }
            }
            _ => {}
        }
    }
    hash.finish()
}

/// What C calls the type that LLVM calls `struct.list.7`; nothing for those without a name.
fn in_c(name: &str) -> Option<String> {
    let (kind, rest) = name.split_once('.').filter(|(kind, _)| ["struct", "union"].contains(kind))?;
    let numbered = rest.rsplit_once('.').filter(|(_, n)| n.bytes().all(|b| b.is_ascii_digit()));
    let rest = numbered.map_or(rest, |(rest, _)| rest);
    (rest != "anon" && !rest.is_empty()).then(|| format!("{kind} {rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_called_as_in_c() {
        assert_eq!(in_c("struct.list").as_deref(), Some("struct list"));
        assert_eq!(in_c("struct.list.17").as_deref(), Some("struct list"));
        assert_eq!(in_c("union.value").as_deref(), Some("union value"));
        assert_eq!((in_c("struct.anon"), in_c("struct.anon.3"), in_c("x")), (None, None, None));
    }
}
