//! Line tables of versions, for debuggers.
//!
//! The problem: LLVM's description of a function belongs to one function, and a version is another. So each version
//! gets a description of its own, with the name that the function has in the program, and its instructions the lines of
//! those that they are copies of: a breakpoint at a function or line is one in all of its versions.
#![allow(unsafe_code)]

use crate::llvm_codes::opcode;
use crate::model::Value;
use cairn_llvm_c::{ContextRef, DIBuilderRef, MetadataRef, ModuleFunctions, ModuleRef, ValueRef};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_uint;
use std::ptr::{null, null_mut};

pub(super) struct Lines<'a> {
    f: &'a ModuleFunctions,
    context: ContextRef,
    builder: DIBuilderRef,
    /// There is a unit that descriptions belong to.
    begun: bool,
    /// What is said of loops, without lines.
    loops: RefCell<HashMap<MetadataRef, ValueRef>>,
    loop_kind: c_uint,
}

/// `LLVMMetadataKind`: a place in the text.
const PLACE: i32 = 5;

/// `LLVMDWARFSourceLanguage`: C99.
const LANGUAGE: i32 = 11;
/// `LLVMDWARFEmissionKind`: all there is. With line tables alone, functions have no names.
const ALL: i32 = 1;

impl Drop for Lines<'_> {
    fn drop(&mut self) {
        // SAFETY: `new` made the builder, and it is not used again.
        unsafe { (self.f.LLVMDisposeDIBuilder)(self.builder) }
    }
}

impl<'a> Lines<'a> {
    pub(super) fn new(f: &'a ModuleFunctions, context: ContextRef, module: ModuleRef) -> Lines<'a> {
        // SAFETY: context and module are the session's (*Live handles*), and the name has its length.
        let (builder, loop_kind) = unsafe {
            ((f.LLVMCreateDIBuilder)(module), (f.LLVMGetMDKindIDInContext)(context, c"llvm.loop".as_ptr(), 9))
        };
        Lines { f, context, builder, begun: false, loops: RefCell::default(), loop_kind }
    }

    /// All versions are there.
    pub(super) fn finish(&self) {
        // SAFETY: the builder is this value's own, and was not disposed of.
        unsafe { (self.f.LLVMDIBuilderFinalize)(self.builder) }
    }

    /// Gives a version a description like that of its original, if it has one.
    pub(super) fn describe(&mut self, original: ValueRef, version: ValueRef, name: &str) {
        let f = self.f;
        // SAFETY: both are functions (*Live handles*); descriptions live as long as the context, and null ones have
        // length 0.
        unsafe {
            let old = (f.LLVMGetSubprogram)(original);
            if old.is_null() {
                return;
            }
            let (file, line) = ((f.LLVMDIScopeGetFile)(old), (f.LLVMDISubprogramGetLine)(old));
            if !self.begun {
                self.begun = true;
                (f.LLVMDIBuilderCreateCompileUnit)(
                    self.builder,
                    LANGUAGE,
                    file,
                    c"cairn cc".as_ptr(),
                    8,
                    1,
                    null(),
                    0,
                    0,
                    null(),
                    0,
                    ALL,
                    0,
                    0,
                    0,
                    null(),
                    0,
                    null(),
                    0,
                );
            }
            let kind = (f.LLVMDIBuilderCreateSubroutineType)(self.builder, file, null(), 0, 0);
            let text = name.as_ptr().cast();
            let new = (f.LLVMDIBuilderCreateFunction)(
                self.builder,
                file,
                text,
                name.len(),
                null(),
                0,
                file,
                line,
                kind,
                1,
                1,
                line,
                0,
                1,
            );
            (f.LLVMSetSubprogram)(version, new);
        }
    }

    /// Gives copies of instructions the lines of their originals.
    pub(super) fn copy(&self, version: ValueRef, originals: &[Value], copies: &[ValueRef]) {
        let f = self.f;
        // SAFETY: handles and copies that are null were left out, so all are instructions (*Live handles*).
        unsafe {
            let scope = (f.LLVMGetSubprogram)(version);
            for (old, &new) in originals.iter().zip(copies).filter(|(o, n)| !o.handle.is_null() && !n.is_null()) {
                let place = if scope.is_null() { null_mut() } else { self.place(old.handle, scope) };
                (f.LLVMInstructionSetDebugLoc)(new, place);
                let said = (f.LLVMGetMetadata)(old.handle, self.loop_kind);
                if !said.is_null() {
                    (f.LLVMSetMetadata)(new, self.loop_kind, self.without_places(said));
                }
            }
        }
    }

    /// What is said of a loop, but for where it begins and ends in the function that it was copied from.
    ///
    /// # Safety
    /// `said` is the metadata of an instruction that says something of a loop.
    unsafe fn without_places(&self, said: ValueRef) -> ValueRef {
        let f = self.f;
        // SAFETY: `said` is what an instruction says of its loop (`# Safety`): a node, whose first element is itself.
        unsafe {
            let node = (f.LLVMValueAsMetadata)(said);
            if let Some(&known) = self.loops.borrow().get(&node) {
                return known;
            }
            let mut elements = vec![null_mut(); (f.LLVMGetMDNodeNumOperands)(said) as usize];
            (f.LLVMGetMDNodeOperands)(said, elements.as_mut_ptr());
            let itself = (f.LLVMTemporaryMDNode)(self.context, null(), 0);
            let rest = elements.into_iter().skip(1).filter(|e| !e.is_null());
            let rest = rest.map(|e| (f.LLVMValueAsMetadata)(e));
            let rest = rest.filter(|e| (f.LLVMGetMetadataKind)(*e) != PLACE);
            let elements: Vec<MetadataRef> = std::iter::once(itself).chain(rest).collect();
            let new = (f.LLVMMDNodeInContext2)(self.context, elements.as_ptr(), elements.len());
            (f.LLVMMetadataReplaceAllUsesWith)(itself, new);
            let new = (f.LLVMMetadataAsValue)(self.context, new);
            self.loops.borrow_mut().insert(node, new);
            new
        }
    }

    /// The place of an instruction, in the description of the version.
    ///
    /// # Safety
    /// `instruction` is one (*Live handles*), and `scope` the description of a function.
    unsafe fn place(&self, instruction: ValueRef, scope: MetadataRef) -> MetadataRef {
        let f = self.f;
        // SAFETY: `instruction` is one of the original, and `scope` the description of the version (`# Safety`).
        unsafe {
            let old = (f.LLVMInstructionGetDebugLoc)(instruction);
            if old.is_null() {
                return null_mut();
            }
            let (line, column) = ((f.LLVMGetDebugLocLine)(instruction), (f.LLVMGetDebugLocColumn)(instruction));
            let file = (f.LLVMDIScopeGetFile)((f.LLVMDILocationGetScope)(old));
            let included = !file.is_null() && file != (f.LLVMDIScopeGetFile)(scope);
            let scope = match included {
                true => (f.LLVMDIBuilderCreateLexicalBlockFile)(self.builder, scope, file, 0),
                false => scope,
            };
            (f.LLVMDIBuilderCreateDebugLocation)(self.context, line, column, scope, null_mut())
        }
    }

    /// Calls that the rewriting has made without a place are somewhere in the function.
    pub(super) fn complete(&self, version: ValueRef) {
        let f = self.f;
        // SAFETY: `version` has a body (*Live handles*), whose blocks and instructions come from LLVM's iteration.
        unsafe {
            let scope = (f.LLVMGetSubprogram)(version);
            if scope.is_null() {
                return;
            }
            let nowhere = (f.LLVMDIBuilderCreateDebugLocation)(self.context, 0, 0, scope, null_mut());
            let mut block = (f.LLVMGetFirstBasicBlock)(version);
            while !block.is_null() {
                let mut next = (f.LLVMGetFirstInstruction)(block);
                while !next.is_null() {
                    let call = (f.LLVMGetInstructionOpcode)(next) == opcode::CALL;
                    if call && (f.LLVMInstructionGetDebugLoc)(next).is_null() {
                        (f.LLVMInstructionSetDebugLoc)(next, nowhere);
                    }
                    next = (f.LLVMGetNextInstruction)(next);
                }
                block = (f.LLVMGetNextBasicBlock)(block);
            }
        }
    }
}
