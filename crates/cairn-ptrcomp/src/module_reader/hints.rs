//! What LLVM's module says of types and of functions that were put in their callers' places: for names in the report.
//!
//! Pointers have no types, but the computation of a field's address names the structure, and accesses say which field
//! of which structure they mean (`!tbaa`); both as clang has made them. Of an instruction that came from another
//! function, the place in the text tells the way it came.

use super::type_names::{TypeNames, element};
use crate::llvm_codes::{opcode, type_kind};
use crate::model::*;
use cairn_llvm_c::{ContextRef, MetadataRef, ModuleFunctions, ModuleRef, TargetDataRef, TypeRef, ValueRef};
use std::collections::HashMap;
use std::ffi::{c_char, c_uint};

/// `LLVMMetadataKind`: the description of a function.
const SUBPROGRAM: i32 = 17;
/// Where a structure, a block or a function has its name or what it lies in, among the operands of its node.
const SCOPE: usize = 1;
const NAME: usize = 2;
/// A type that may be one of more isn't named.
const MOST_NAMES: usize = 2;
/// More scopes than C programs have around a line.
const MOST_SCOPES: usize = 200;

/// What was read so far.
pub(super) struct Hints<'a> {
    f: &'a ModuleFunctions,
    layout: TargetDataRef,
    called: &'a TypeNames,
    context: ContextRef,
    tbaa: c_uint,
    types: Vec<TypeName>,
    hints: Vec<Hint>,
    inlined: HashMap<(FuncId, ValueId), Vec<(String, At)>>,
    /// The types that LLVM's types and the tags of accesses name; with the tags, how far from the start they access.
    of_types: HashMap<TypeRef, Option<u32>>,
    /// Whose types those are: the one that is read.
    function: ValueRef,
    of_tags: HashMap<ValueRef, Option<(u32, u64)>>,
}

impl<'a> Hints<'a> {
    /// Of a module (*Live handles*).
    pub(super) unsafe fn new(f: &'a ModuleFunctions, module: ModuleRef, called: &'a TypeNames) -> Hints<'a> {
        // SAFETY: `module` is live, and the name has its length.
        let (layout, context, tbaa) = unsafe {
            let context = (f.LLVMGetModuleContext)(module);
            let layout = (f.LLVMGetModuleDataLayout)(module);
            (layout, context, (f.LLVMGetMDKindIDInContext)(context, c"tbaa".as_ptr(), 4))
        };
        Hints {
            f,
            layout,
            called,
            context,
            tbaa,
            types: vec![],
            hints: vec![],
            inlined: HashMap::new(),
            of_types: HashMap::new(),
            function: std::ptr::null_mut(),
            of_tags: HashMap::new(),
        }
    }

    /// Another function is read.
    pub(super) fn begin(&mut self, function: ValueRef) {
        self.of_types.clear();
        self.function = function;
    }

    #[allow(clippy::type_complexity)]
    pub(super) fn done(self) -> (Vec<TypeName>, Vec<Hint>, HashMap<(FuncId, ValueId), Vec<(String, At)>>) {
        (self.types, self.hints, self.inlined)
    }

    /// The number of a type. Tags have names without sizes: they mean the structure of that name, if there is one.
    fn number(&mut self, named: TypeName) -> u32 {
        let same = |t: &TypeName| t.name == named.name && (t.size == named.size || t.size == 0 || named.size == 0);
        let index = self.types.iter().position(same).unwrap_or_else(|| {
            self.types.push(named.clone());
            self.types.len() - 1
        });
        let known = &mut self.types[index];
        known.size = known.size.max(named.size);
        index as u32
    }

    /// Notes what an instruction says.
    pub(super) unsafe fn note(&mut self, function: FuncId, op: &Op, instruction: ValueRef) {
        // SAFETY: `instruction` is one (*Kinds*), and a `getelementptr` where its type is asked for.
        unsafe {
            let found = match op {
                Op::Address { base, .. } if (self.f.LLVMGetInstructionOpcode)(instruction) == opcode::GEP => {
                    let kind = (self.f.LLVMGetGEPSourceElementType)(instruction);
                    self.structure(kind).map(|of| (*base, of, 0))
                }
                Op::Load { from: pointer, size, .. } | Op::Store { to: pointer, size, .. } => {
                    // What is of a union is accessed as characters.
                    let accessed = self.accessed(instruction);
                    let whole = |of: u32| self.types[of as usize].name != "char" || *size == 1;
                    accessed.filter(|(of, _)| whole(*of)).map(|(of, back)| (*pointer, of, back))
                }
                _ => None,
            };
            if let Some((pointer @ Operand::Value(_), of, back)) = found {
                let inside = self.inlined_from(instruction);
                self.hints.push(Hint { function, pointer, back, of, inside });
            }
        }
    }

    /// Notes the way of a call that came from another function.
    pub(super) fn came(&mut self, function: FuncId, value: ValueId, way: Vec<(String, At)>) {
        self.inlined.insert((function, value), way);
    }

    /// The structure that this type is in this function, or that it is an array of.
    unsafe fn structure(&mut self, kind: TypeRef) -> Option<u32> {
        if let Some(&known) = self.of_types.get(&kind) {
            return known;
        }
        // SAFETY: `kind` is a type (*Kinds*), and a structure where it is asked for its name.
        let found = unsafe {
            let inner = element(self.f, kind);
            match (self.f.LLVMGetTypeKind)(inner) == type_kind::STRUCT {
                false => None,
                true => {
                    let size = (self.f.LLVMABISizeOfType)(self.layout, inner);
                    let names = self.called.called(self.f, self.function, inner);
                    let name = match names.len() {
                        0 => None,
                        1..=MOST_NAMES => Some(names.into_iter().collect::<Vec<_>>().join(EITHER)),
                        _ => None,
                    };
                    name.map(|name| self.number(TypeName { name, size, compound: true }))
                }
            }
        };
        self.of_types.insert(kind, found);
        found
    }

    /// What an access says it accesses, and how far from its start.
    unsafe fn accessed(&mut self, access: ValueRef) -> Option<(u32, u64)> {
        // SAFETY: `access` is an instruction of the function that is read (*Kinds*), where any kind may be asked for.
        let tag = unsafe { (self.f.LLVMGetMetadata)(access, self.tbaa) };
        if tag.is_null() {
            return None;
        }
        if let Some(&known) = self.of_tags.get(&tag) {
            return known;
        }
        // SAFETY: `tag` is such a node: what is accessed of it, as which type, and the offset, which is a number; a
        // description begins with its name.
        let found = unsafe {
            match self.parts(tag)[..] {
                [base, as_type, offset, ..] if !base.is_null() && !offset.is_null() => {
                    let name = self.parts(base).first().map_or(String::new(), |n| self.string(*n));
                    let offset = (self.f.LLVMConstIntGetSExtValue)(offset) as u64;
                    let named = match (base == as_type, &*name) {
                        (_, "") => None,
                        (true, "omnipotent char") => {
                            Some(TypeName { name: "char".into(), size: 1, compound: false })
                        }
                        (true, "any pointer") => {
                            Some(TypeName { name: "void *".into(), size: 8, compound: false })
                        }
                        (true, _) => Some(TypeName { name, size: 0, compound: false }),
                        (false, _) => {
                            let known = |t: &&TypeName| t.compound && t.name.split(' ').nth(1) == Some(&name);
                            let known = self.types.iter().find(known).cloned();
                            let unknown = || TypeName { name: format!("struct {name}"), size: 0, compound: true };
                            Some(known.unwrap_or_else(unknown))
                        }
                    };
                    named.map(|named| (self.number(named), offset))
                }
                _ => None,
            }
        };
        self.of_tags.insert(tag, found);
        found
    }

    /// The operands of a node.
    unsafe fn parts(&self, node: ValueRef) -> Vec<ValueRef> {
        // SAFETY: `node` is a node of metadata (*Kinds*), and as many operands are asked for as it has.
        unsafe {
            let mut parts = vec![std::ptr::null_mut(); (self.f.LLVMGetMDNodeNumOperands)(node) as usize];
            (self.f.LLVMGetMDNodeOperands)(node, parts.as_mut_ptr());
            parts
        }
    }

    /// The text of a string of metadata; nothing if it is something else.
    unsafe fn string(&self, value: ValueRef) -> String {
        // SAFETY: `value` is null or metadata (*Kinds*); LLVM gives a string of that length, which is copied.
        unsafe {
            let mut length = 0;
            let text =
                if value.is_null() { std::ptr::null() } else { (self.f.LLVMGetMDString)(value, &mut length) };
            copied(text, length)
        }
    }

    /// The functions that an instruction lies in, innermost first, with directory and name of the file, and the line;
    /// nothing if it has always been in its function.
    pub(super) unsafe fn way(&self, instruction: ValueRef) -> Vec<(String, (String, String), u32)> {
        let mut way = vec![];
        // SAFETY: `instruction` is one (*Kinds*), and all that follows is what its place says.
        unsafe {
            let mut place = (self.f.LLVMInstructionGetDebugLoc)(instruction);
            if place.is_null() || (self.f.LLVMDILocationGetInlinedAt)(place).is_null() {
                return way;
            }
            while !place.is_null() {
                let scope = (self.f.LLVMDILocationGetScope)(place);
                let file = (self.f.LLVMDIScopeGetFile)(scope);
                let part = |read: unsafe extern "C" fn(MetadataRef, *mut c_uint) -> *const c_char| {
                    let mut length = 0;
                    let text = if file.is_null() { std::ptr::null() } else { read(file, &mut length) };
                    copied(text, length)
                };
                let name = (part(self.f.LLVMDIFileGetDirectory), part(self.f.LLVMDIFileGetFilename));
                way.push((self.function_of(scope), name, (self.f.LLVMDILocationGetLine)(place)));
                place = (self.f.LLVMDILocationGetInlinedAt)(place);
            }
        }
        way
    }

    /// The function whose text has an instruction of another.
    unsafe fn inlined_from(&self, instruction: ValueRef) -> Option<Box<str>> {
        // SAFETY: `instruction` is one (*Kinds*), and the rest what its place says.
        unsafe {
            let place = (self.f.LLVMInstructionGetDebugLoc)(instruction);
            let inlined = !place.is_null() && !(self.f.LLVMDILocationGetInlinedAt)(place).is_null();
            inlined.then(|| self.function_of((self.f.LLVMDILocationGetScope)(place)).into())
        }
    }

    /// The name of the function that a scope is in.
    unsafe fn function_of(&self, mut scope: MetadataRef) -> String {
        // SAFETY: `scope` is one of C, so a block or a function: nodes whose second operand is what they lie in, and
        // the third a function's name.
        unsafe {
            for _ in 0..MOST_SCOPES {
                let parts = self.parts((self.f.LLVMMetadataAsValue)(self.context, scope));
                if (self.f.LLVMGetMetadataKind)(scope) == SUBPROGRAM {
                    return parts.get(NAME).map_or(String::new(), |n| self.string(*n));
                }
                match parts.get(SCOPE) {
                    Some(outer) if !outer.is_null() => scope = (self.f.LLVMValueAsMetadata)(*outer),
                    _ => break,
                }
            }
            String::new()
        }
    }
}

unsafe fn copied(text: *const c_char, length: c_uint) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller has a string of that length.
    unsafe { String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), length as usize)).into_owned() }
}
