//! # cairn-llvm-c: LLVM's C interface, loaded when the first program is compiled
//!
//! The problem: a compiled program is cached as an object, and running it needs nothing of LLVM, but a library that the
//! binary is linked with is mapped and relocated at every start: 50 MB and 25 ms before the first instruction of the
//! program. The idea: the back end uses some thirty functions of a stable C interface, so a table of their addresses,
//! filled by `dlopen` and `dlsym`, takes the place of linking. Building Cairn so needs no LLVM either.
//!
//! Entry point: [`llvm`]. Whoever compiles through LLVM shares this crate and its one loaded library; what is done with
//! the functions is the user's business.
//!
//! Invariants: the declarations below are those of LLVM 19's `llvm-c` headers, and a library that says it is another
//! version is refused; the library stays loaded until the process ends, initialized for x86-64 once. The functions keep
//! their names in LLVM's manual, which also says what each does.
#![allow(unsafe_code)]

use libc::{RTLD_LAZY, RTLD_LOCAL, c_char, c_int, c_uint, c_void, dlerror, dlopen, dlsym, size_t};
use std::ffi::CStr;
use std::mem::transmute;
use std::ptr::null;
use std::sync::OnceLock;

/// The version whose interface this is.
const MAJOR: c_uint = 19;

/// What the library is called: upstream's name, then that of Debian's link.
const FILES: [&CStr; 2] = [c"libLLVM.so.19.1", c"libLLVM-19.so"];

/// Pointers to LLVM's objects, each of a type of its own.
macro_rules! references {
    ($($name:ident)*) => {
        /// What is behind the pointers: only LLVM knows.
        mod object {
            $(pub enum $name {})*
        }
        $(#[doc = concat!("LLVM's `LLVM", stringify!($name), "`.")] pub type $name = *mut object::$name;)*
    };
}

references! {
    ContextRef ModuleRef MemoryBufferRef TargetRef TargetMachineRef TargetDataRef PassBuilderOptionsRef ErrorRef
    ValueRef TypeRef BasicBlockRef BuilderRef AttributeRef MetadataRef UseRef DIBuilderRef
}

/// `LLVMCodeGenOptLevel`: fast instruction selection.
pub const CODEGEN_NONE: c_int = 0;
/// `LLVMCodeGenOptLevel`: the quicker of what the default does.
pub const CODEGEN_LESS: c_int = 1;
/// `LLVMCodeGenOptLevel`: the default.
pub const CODEGEN_DEFAULT: c_int = 2;
/// `LLVMCodeGenFileType`: assembly text.
pub const ASSEMBLY_FILE: c_int = 0;
/// `LLVMCodeGenFileType`: an object.
pub const OBJECT_FILE: c_int = 1;
/// `LLVMRelocMode`: not position independent.
pub const RELOC_STATIC: c_int = 1;
/// `LLVMRelocMode`: position independent.
pub const RELOC_PIC: c_int = 2;
/// `LLVMCodeModel`: all symbols in the low 2 GiB.
pub const CODE_MODEL_SMALL: c_int = 3;
/// `LLVMVerifierFailureAction`: tell the caller.
pub const RETURN_STATUS: c_int = 2;

/// A table: a field for each function, found by its name.
macro_rules! functions {
    ($(#[$about:meta])* $table:ident: $($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        $(#[$about])*
        #[allow(non_snake_case)]
        pub struct $table {
            $(#[doc = concat!("`", stringify!($name), "`.")] pub $name: unsafe extern "C" fn($($argument: $type),*) $(-> $result)?,)*
        }

        impl $table {
            fn find(library: *mut c_void) -> Result<$table, String> {
                Ok($table {
                    // SAFETY: the function of this name has this type in llvm-c, version 19, which `checked` sees to
                    // before any but `LLVMGetVersion` is called; `symbol` gave no null.
                    $($name: unsafe {
                        transmute::<*mut c_void, unsafe extern "C" fn($($type),*) $(-> $result)?>(
                            symbol(library, stringify!($name))?
                        )
                    },)*
                })
            }
        }
    };
}

functions! {
    /// The functions that make object code of IR text. All are unsafe as C's are: references must be live, messages
    /// are disposed of by the caller.
    Llvm:
    LLVMGetVersion(major: *mut c_uint, minor: *mut c_uint, patch: *mut c_uint);
    LLVMParseCommandLineOptions(count: c_int, options: *const *const c_char, overview: *const c_char);
    LLVMDisposeMessage(message: *mut c_char);
    LLVMGetErrorMessage(error: ErrorRef) -> *mut c_char;
    LLVMDisposeErrorMessage(message: *mut c_char);

    LLVMContextCreate() -> ContextRef;
    LLVMContextSetDiscardValueNames(context: ContextRef, discard: c_int);
    LLVMContextDispose(context: ContextRef);

    LLVMCreateMemoryBufferWithMemoryRangeCopy(data: *const c_char, size: size_t, name: *const c_char) -> MemoryBufferRef;
    LLVMGetBufferStart(buffer: MemoryBufferRef) -> *const c_char;
    LLVMGetBufferSize(buffer: MemoryBufferRef) -> size_t;
    LLVMDisposeMemoryBuffer(buffer: MemoryBufferRef);

    LLVMParseIRInContext(context: ContextRef, text: MemoryBufferRef, module: *mut ModuleRef, message: *mut *mut c_char) -> c_int;
    LLVMSetModuleDataLayout(module: ModuleRef, layout: TargetDataRef);
    LLVMPrintModuleToString(module: ModuleRef) -> *mut c_char;
    LLVMVerifyModule(module: ModuleRef, action: c_int, message: *mut *mut c_char) -> c_int;
    LLVMDisposeModule(module: ModuleRef);

    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMGetTargetFromTriple(triple: *const c_char, target: *mut TargetRef, message: *mut *mut c_char) -> c_int;
    LLVMCreateTargetMachine(target: TargetRef, triple: *const c_char, cpu: *const c_char, features: *const c_char,
        level: c_int, relocation: c_int, code_model: c_int) -> TargetMachineRef;
    LLVMCreateTargetDataLayout(machine: TargetMachineRef) -> TargetDataRef;
    LLVMDisposeTargetData(layout: TargetDataRef);
    LLVMTargetMachineEmitToMemoryBuffer(machine: TargetMachineRef, module: ModuleRef, kind: c_int,
        message: *mut *mut c_char, buffer: *mut MemoryBufferRef) -> c_int;
    LLVMDisposeTargetMachine(machine: TargetMachineRef);

    LLVMCreatePassBuilderOptions() -> PassBuilderOptionsRef;
    LLVMRunPasses(module: ModuleRef, passes: *const c_char, machine: TargetMachineRef,
        options: PassBuilderOptionsRef) -> ErrorRef;
    LLVMDisposePassBuilderOptions(options: PassBuilderOptionsRef);
}

functions! {
    /// The functions that read and change modules, under the same conditions.
    ModuleFunctions:
    LLVMParseBitcodeInContext2(context: ContextRef, data: MemoryBufferRef, module: *mut ModuleRef) -> c_int;
    LLVMLinkModules2(into: ModuleRef, from: ModuleRef) -> c_int;
    LLVMWriteBitcodeToFile(module: ModuleRef, path: *const c_char) -> c_int;
    LLVMStripModuleDebugInfo(module: ModuleRef) -> c_int;
    LLVMGetModuleDataLayout(module: ModuleRef) -> TargetDataRef;
    LLVMGetModuleInlineAsm(module: ModuleRef, length: *mut size_t) -> *const c_char;
    LLVMGetFirstFunction(module: ModuleRef) -> ValueRef;
    LLVMGetNextFunction(function: ValueRef) -> ValueRef;
    LLVMGetNamedFunction(module: ModuleRef, name: *const c_char) -> ValueRef;
    LLVMGetFirstGlobal(module: ModuleRef) -> ValueRef;
    LLVMGetNextGlobal(global: ValueRef) -> ValueRef;
    LLVMGetFirstGlobalAlias(module: ModuleRef) -> ValueRef;
    LLVMGetFirstGlobalIFunc(module: ModuleRef) -> ValueRef;
    LLVMGetFirstUse(value: ValueRef) -> UseRef;
    LLVMGetNextUse(use_: UseRef) -> UseRef;
    LLVMGetUser(use_: UseRef) -> ValueRef;
    LLVMGetValueName2(value: ValueRef, length: *mut size_t) -> *const c_char;
    LLVMSetValueName2(value: ValueRef, name: *const c_char, length: size_t);
    LLVMGetLinkage(global: ValueRef) -> c_int;
    LLVMSetLinkage(global: ValueRef, linkage: c_int);
    LLVMSetVisibility(global: ValueRef, visibility: c_int);
    LLVMGetSection(global: ValueRef) -> *const c_char;
    LLVMSetSection(global: ValueRef, section: *const c_char);
    LLVMSetComdat(global: ValueRef, comdat: *mut c_void);
    LLVMIsDeclaration(global: ValueRef) -> c_int;
    LLVMIsThreadLocal(global: ValueRef) -> c_int;
    LLVMIsGlobalConstant(global: ValueRef) -> c_int;
    LLVMGetInitializer(global: ValueRef) -> ValueRef;
    LLVMSetInitializer(global: ValueRef, value: ValueRef);
    LLVMAddGlobal(module: ModuleRef, kind: TypeRef, name: *const c_char) -> ValueRef;
    LLVMDeleteGlobal(global: ValueRef);
    LLVMGlobalGetValueType(global: ValueRef) -> TypeRef;
    LLVMAddFunction(module: ModuleRef, name: *const c_char, kind: TypeRef) -> ValueRef;
    LLVMDeleteFunction(function: ValueRef);
    LLVMGetFunctionCallConv(function: ValueRef) -> c_uint;
    LLVMSetFunctionCallConv(function: ValueRef, convention: c_uint);
    LLVMHasPersonalityFn(function: ValueRef) -> c_int;
    LLVMGetIntrinsicID(function: ValueRef) -> c_uint;
    LLVMCountParams(function: ValueRef) -> c_uint;
    LLVMGetParam(function: ValueRef, index: c_uint) -> ValueRef;
    LLVMGetFirstBasicBlock(function: ValueRef) -> BasicBlockRef;
    LLVMGetNextBasicBlock(block: BasicBlockRef) -> BasicBlockRef;
    LLVMAppendBasicBlockInContext(context: ContextRef, function: ValueRef, name: *const c_char) -> BasicBlockRef;
    LLVMGetFirstInstruction(block: BasicBlockRef) -> ValueRef;
    LLVMGetNextInstruction(instruction: ValueRef) -> ValueRef;
    LLVMGetBasicBlockTerminator(block: BasicBlockRef) -> ValueRef;
    LLVMGetInstructionOpcode(instruction: ValueRef) -> c_int;
    LLVMInstructionClone(instruction: ValueRef) -> ValueRef;
    LLVMInstructionEraseFromParent(instruction: ValueRef);
    LLVMInstructionRemoveFromParent(instruction: ValueRef);
    LLVMGetInstructionParent(instruction: ValueRef) -> BasicBlockRef;
    LLVMInsertBasicBlockInContext(context: ContextRef, before: BasicBlockRef, name: *const c_char) -> BasicBlockRef;
    LLVMBasicBlockAsValue(block: BasicBlockRef) -> ValueRef;
    LLVMBlockAddress(function: ValueRef, block: BasicBlockRef) -> ValueRef;
    LLVMInstructionGetDebugLoc(instruction: ValueRef) -> MetadataRef;
    LLVMInstructionSetDebugLoc(instruction: ValueRef, location: MetadataRef);
    LLVMGetDebugLocDirectory(value: ValueRef, length: *mut c_uint) -> *const c_char;
    LLVMGetDebugLocColumn(value: ValueRef) -> c_uint;
    LLVMGetDebugLocLine(value: ValueRef) -> c_uint;
    LLVMGetMetadataKind(metadata: MetadataRef) -> c_int;
    LLVMGetMDNodeNumOperands(node: ValueRef) -> c_uint;
    LLVMGetMDNodeOperands(node: ValueRef, operands: *mut ValueRef);
    LLVMTemporaryMDNode(context: ContextRef, elements: *const MetadataRef, count: size_t) -> MetadataRef;
    LLVMMetadataReplaceAllUsesWith(temporary: MetadataRef, metadata: MetadataRef);
    LLVMDILocationGetScope(location: MetadataRef) -> MetadataRef;
    LLVMDILocationGetLine(location: MetadataRef) -> c_uint;
    LLVMDILocationGetInlinedAt(location: MetadataRef) -> MetadataRef;
    LLVMDIFileGetDirectory(file: MetadataRef, length: *mut c_uint) -> *const c_char;
    LLVMDIFileGetFilename(file: MetadataRef, length: *mut c_uint) -> *const c_char;
    LLVMGetMDString(string: ValueRef, length: *mut c_uint) -> *const c_char;
    LLVMGetModuleContext(module: ModuleRef) -> ContextRef;
    LLVMDIScopeGetFile(scope: MetadataRef) -> MetadataRef;
    LLVMGetSubprogram(function: ValueRef) -> MetadataRef;
    LLVMSetSubprogram(function: ValueRef, subprogram: MetadataRef);
    LLVMDISubprogramGetLine(subprogram: MetadataRef) -> c_uint;
    LLVMCreateDIBuilder(module: ModuleRef) -> DIBuilderRef;
    LLVMDisposeDIBuilder(builder: DIBuilderRef);
    LLVMDIBuilderFinalize(builder: DIBuilderRef);
    LLVMDIBuilderCreateCompileUnit(builder: DIBuilderRef, language: c_int, file: MetadataRef, producer: *const c_char,
        producer_length: size_t, optimized: c_int, flags: *const c_char, flags_length: size_t, version: c_uint,
        split_name: *const c_char, split_length: size_t, kind: c_int, dwo: c_uint, inlining: c_int, profiling: c_int,
        sysroot: *const c_char, sysroot_length: size_t, sdk: *const c_char, sdk_length: size_t) -> MetadataRef;
    LLVMDIBuilderCreateSubroutineType(builder: DIBuilderRef, file: MetadataRef, types: *const MetadataRef, count: c_uint,
        flags: c_int) -> MetadataRef;
    LLVMDIBuilderCreateFunction(builder: DIBuilderRef, scope: MetadataRef, name: *const c_char, name_length: size_t,
        linkage_name: *const c_char, linkage_length: size_t, file: MetadataRef, line: c_uint, kind: MetadataRef,
        local: c_int, definition: c_int, scope_line: c_uint, flags: c_int, optimized: c_int) -> MetadataRef;
    LLVMDIBuilderCreateLexicalBlockFile(builder: DIBuilderRef, scope: MetadataRef, file: MetadataRef,
        discriminator: c_uint) -> MetadataRef;
    LLVMDIBuilderCreateDebugLocation(context: ContextRef, line: c_uint, column: c_uint, scope: MetadataRef,
        inlined_at: MetadataRef) -> MetadataRef;
    LLVMSetCurrentDebugLocation2(builder: BuilderRef, location: MetadataRef);
    LLVMGetStringAttributeAtIndex(function: ValueRef, index: c_uint, name: *const c_char, length: c_uint) -> AttributeRef;
    LLVMGetDebugLocFilename(value: ValueRef, length: *mut c_uint) -> *const c_char;
    LLVMGetNumOperands(value: ValueRef) -> c_int;
    LLVMGetOperand(value: ValueRef, index: c_uint) -> ValueRef;
    LLVMSetOperand(value: ValueRef, index: c_uint, operand: ValueRef);
    LLVMGetNumSuccessors(terminator: ValueRef) -> c_uint;
    LLVMGetSuccessor(terminator: ValueRef, index: c_uint) -> BasicBlockRef;
    LLVMSetSuccessor(terminator: ValueRef, index: c_uint, block: BasicBlockRef);
    LLVMCountIncoming(phi: ValueRef) -> c_uint;
    LLVMGetIncomingValue(phi: ValueRef, index: c_uint) -> ValueRef;
    LLVMGetIncomingBlock(phi: ValueRef, index: c_uint) -> BasicBlockRef;
    LLVMAddIncoming(phi: ValueRef, values: *const ValueRef, blocks: *const BasicBlockRef, count: c_uint);
    LLVMGetValueKind(value: ValueRef) -> c_int;
    LLVMTypeOf(value: ValueRef) -> TypeRef;
    LLVMReplaceAllUsesWith(old: ValueRef, new: ValueRef);
    LLVMGetConstOpcode(value: ValueRef) -> c_int;
    LLVMConstIntGetSExtValue(value: ValueRef) -> i64;
    LLVMGetAggregateElement(value: ValueRef, index: c_uint) -> ValueRef;
    LLVMConstNull(kind: TypeRef) -> ValueRef;
    LLVMConstInt(kind: TypeRef, value: u64, sign_extend: c_int) -> ValueRef;
    LLVMConstStringInContext2(context: ContextRef, text: *const c_char, length: size_t, no_null: c_int) -> ValueRef;
    LLVMConstNamedStruct(kind: TypeRef, values: *const ValueRef, count: c_uint) -> ValueRef;
    LLVMConstArray2(element: TypeRef, values: *const ValueRef, count: u64) -> ValueRef;
    LLVMConstStructInContext(context: ContextRef, values: *const ValueRef, count: c_uint, packed: c_int) -> ValueRef;
    LLVMIsInBounds(gep: ValueRef) -> c_int;
    LLVMSetIsInBounds(gep: ValueRef, inbounds: c_int);
    LLVMGetGEPSourceElementType(gep: ValueRef) -> TypeRef;
    LLVMGetAllocatedType(alloca: ValueRef) -> TypeRef;
    LLVMGetVolatile(access: ValueRef) -> c_int;
    LLVMGetOrdering(access: ValueRef) -> c_int;
    LLVMGetAlignment(value: ValueRef) -> c_uint;
    LLVMSetAlignment(value: ValueRef, bytes: c_uint);
    LLVMGetICmpPredicate(compare: ValueRef) -> c_int;
    LLVMConstRealGetDouble(constant: ValueRef, rounded: *mut c_int) -> f64;
    LLVMGetCalledValue(call: ValueRef) -> ValueRef;
    LLVMGetCalledFunctionType(call: ValueRef) -> TypeRef;
    LLVMGetNumArgOperands(call: ValueRef) -> c_uint;
    LLVMGetNumOperandBundles(call: ValueRef) -> c_uint;
    LLVMIsTailCall(call: ValueRef) -> c_int;
    LLVMSetTailCallKind(call: ValueRef, kind: c_int);
    LLVMGetTailCallKind(call: ValueRef) -> c_int;
    LLVMGetInstructionCallConv(call: ValueRef) -> c_uint;
    LLVMSetInstructionCallConv(call: ValueRef, convention: c_uint);
    LLVMGetCallSiteAttributeCount(call: ValueRef, index: c_uint) -> c_uint;
    LLVMGetCallSiteAttributes(call: ValueRef, index: c_uint, attributes: *mut AttributeRef);
    LLVMAddCallSiteAttribute(call: ValueRef, index: c_uint, attribute: AttributeRef);
    LLVMGetAttributeCountAtIndex(function: ValueRef, index: c_uint) -> c_uint;
    LLVMGetAttributesAtIndex(function: ValueRef, index: c_uint, attributes: *mut AttributeRef);
    LLVMAddAttributeAtIndex(function: ValueRef, index: c_uint, attribute: AttributeRef);
    LLVMGetEnumAttributeAtIndex(function: ValueRef, index: c_uint, kind: c_uint) -> AttributeRef;
    LLVMGetCallSiteEnumAttribute(call: ValueRef, index: c_uint, kind: c_uint) -> AttributeRef;
    LLVMGetEnumAttributeValue(attribute: AttributeRef) -> u64;
    LLVMRemoveCallSiteEnumAttribute(call: ValueRef, index: c_uint, kind: c_uint);
    LLVMRemoveEnumAttributeAtIndex(function: ValueRef, index: c_uint, kind: c_uint);
    LLVMGetEnumAttributeKindForName(name: *const c_char, length: size_t) -> c_uint;
    LLVMGetEnumAttributeKind(attribute: AttributeRef) -> c_uint;
    LLVMIsEnumAttribute(attribute: AttributeRef) -> c_int;
    LLVMIsStringAttribute(attribute: AttributeRef) -> c_int;
    LLVMCreateEnumAttribute(context: ContextRef, kind: c_uint, value: u64) -> AttributeRef;
    LLVMGetTypeKind(kind: TypeRef) -> c_int;
    LLVMGetIntTypeWidth(kind: TypeRef) -> c_uint;
    LLVMGetArrayLength2(kind: TypeRef) -> u64;
    LLVMGetElementType(kind: TypeRef) -> TypeRef;
    LLVMCountStructElementTypes(kind: TypeRef) -> c_uint;
    LLVMStructGetTypeAtIndex(kind: TypeRef, index: c_uint) -> TypeRef;
    LLVMGetStructName(kind: TypeRef) -> *const c_char;
    LLVMGetReturnType(function: TypeRef) -> TypeRef;
    LLVMCountParamTypes(function: TypeRef) -> c_uint;
    LLVMGetParamTypes(function: TypeRef, types: *mut TypeRef);
    LLVMIsFunctionVarArg(function: TypeRef) -> c_int;
    LLVMFunctionType(result: TypeRef, parameters: *const TypeRef, count: c_uint, variadic: c_int) -> TypeRef;
    LLVMArrayType2(element: TypeRef, count: u64) -> TypeRef;
    LLVMIntTypeInContext(context: ContextRef, bits: c_uint) -> TypeRef;
    LLVMFloatTypeInContext(context: ContextRef) -> TypeRef;
    LLVMDoubleTypeInContext(context: ContextRef) -> TypeRef;
    LLVMPointerTypeInContext(context: ContextRef, space: c_uint) -> TypeRef;
    LLVMVoidTypeInContext(context: ContextRef) -> TypeRef;
    LLVMABISizeOfType(layout: TargetDataRef, kind: TypeRef) -> u64;
    LLVMStoreSizeOfType(layout: TargetDataRef, kind: TypeRef) -> u64;
    LLVMABIAlignmentOfType(layout: TargetDataRef, kind: TypeRef) -> c_uint;
    LLVMOffsetOfElement(layout: TargetDataRef, kind: TypeRef, element: c_uint) -> u64;
    LLVMGetNumIndices(value: ValueRef) -> c_uint;
    LLVMCreateBuilderInContext(context: ContextRef) -> BuilderRef;
    LLVMDisposeBuilder(builder: BuilderRef);
    LLVMPositionBuilderAtEnd(builder: BuilderRef, block: BasicBlockRef);
    LLVMPositionBuilderBefore(builder: BuilderRef, instruction: ValueRef);
    LLVMInsertIntoBuilder(builder: BuilderRef, instruction: ValueRef);
    LLVMBuildPhi(builder: BuilderRef, kind: TypeRef, name: *const c_char) -> ValueRef;
    LLVMBuildCall2(builder: BuilderRef, kind: TypeRef, function: ValueRef, arguments: *const ValueRef,
        count: c_uint, name: *const c_char) -> ValueRef;
    LLVMBuildLoad2(builder: BuilderRef, kind: TypeRef, pointer: ValueRef, name: *const c_char) -> ValueRef;
    LLVMBuildStore(builder: BuilderRef, value: ValueRef, pointer: ValueRef) -> ValueRef;
    LLVMBuildGEP2(builder: BuilderRef, kind: TypeRef, pointer: ValueRef, indices: *const ValueRef,
        count: c_uint, name: *const c_char) -> ValueRef;
    LLVMBuildInBoundsGEP2(builder: BuilderRef, kind: TypeRef, pointer: ValueRef, indices: *const ValueRef,
        count: c_uint, name: *const c_char) -> ValueRef;
    LLVMBuildBr(builder: BuilderRef, to: BasicBlockRef) -> ValueRef;
    LLVMBuildCondBr(builder: BuilderRef, test: ValueRef, yes: BasicBlockRef, no: BasicBlockRef) -> ValueRef;
    LLVMBuildAlloca(builder: BuilderRef, kind: TypeRef, name: *const c_char) -> ValueRef;
    LLVMBuildICmp(builder: BuilderRef, predicate: c_int, left: ValueRef, right: ValueRef, name: *const c_char) -> ValueRef;
    LLVMBuildSelect(builder: BuilderRef, test: ValueRef, yes: ValueRef, no: ValueRef, name: *const c_char) -> ValueRef;
    LLVMBuildAdd(builder: BuilderRef, left: ValueRef, right: ValueRef, name: *const c_char) -> ValueRef;
    LLVMBuildSub(builder: BuilderRef, left: ValueRef, right: ValueRef, name: *const c_char) -> ValueRef;
    LLVMBuildMul(builder: BuilderRef, left: ValueRef, right: ValueRef, name: *const c_char) -> ValueRef;
    LLVMBuildOr(builder: BuilderRef, left: ValueRef, right: ValueRef, name: *const c_char) -> ValueRef;
    LLVMBuildAnd(builder: BuilderRef, left: ValueRef, right: ValueRef, name: *const c_char) -> ValueRef;
    LLVMBuildUDiv(builder: BuilderRef, left: ValueRef, right: ValueRef, name: *const c_char) -> ValueRef;
    LLVMBuildExactUDiv(builder: BuilderRef, left: ValueRef, right: ValueRef, name: *const c_char) -> ValueRef;
    LLVMBuildExactSDiv(builder: BuilderRef, left: ValueRef, right: ValueRef, name: *const c_char) -> ValueRef;
    LLVMBuildTrunc(builder: BuilderRef, value: ValueRef, kind: TypeRef, name: *const c_char) -> ValueRef;
    LLVMBuildZExt(builder: BuilderRef, value: ValueRef, kind: TypeRef, name: *const c_char) -> ValueRef;
    LLVMBuildSExt(builder: BuilderRef, value: ValueRef, kind: TypeRef, name: *const c_char) -> ValueRef;
    LLVMBuildIntCast2(builder: BuilderRef, value: ValueRef, kind: TypeRef, signed: c_int, name: *const c_char) -> ValueRef;
    LLVMBuildPtrToInt(builder: BuilderRef, value: ValueRef, kind: TypeRef, name: *const c_char) -> ValueRef;
    LLVMBuildIntToPtr(builder: BuilderRef, value: ValueRef, kind: TypeRef, name: *const c_char) -> ValueRef;
    LLVMGetMDKindIDInContext(context: ContextRef, name: *const c_char, length: c_uint) -> c_uint;
    LLVMGetMetadata(value: ValueRef, kind: c_uint) -> ValueRef;
    LLVMSetMetadata(value: ValueRef, kind: c_uint, node: ValueRef);
    LLVMMDStringInContext2(context: ContextRef, text: *const c_char, length: size_t) -> MetadataRef;
    LLVMMDNodeInContext2(context: ContextRef, parts: *const MetadataRef, count: size_t) -> MetadataRef;
    LLVMValueAsMetadata(value: ValueRef) -> MetadataRef;
    LLVMMetadataAsValue(context: ContextRef, metadata: MetadataRef) -> ValueRef;
}

/// LLVM, loaded and initialized; or what is missing.
pub fn llvm() -> Result<&'static Llvm, String> {
    static LLVM: OnceLock<Result<Llvm, String>> = OnceLock::new();
    LLVM.get_or_init(|| {
        let llvm = load(&FILES)?;
        llvm.initialize();
        Ok(llvm)
    })
    .as_ref()
    .map_err(String::clone)
}

/// The functions that read and change modules, from the same library.
pub fn module_functions() -> Result<&'static ModuleFunctions, String> {
    static FUNCTIONS: OnceLock<Result<ModuleFunctions, String>> = OnceLock::new();
    llvm()?;
    FUNCTIONS.get_or_init(|| ModuleFunctions::find(library(&FILES)?)).as_ref().map_err(String::clone)
}

/// Loads the first library of these that is there, and checks that it is LLVM of our version.
fn load(files: &[&CStr]) -> Result<Llvm, String> {
    Llvm::find(library(files)?)?.checked()
}

/// Loads the first library of these that is there; again, it is the same.
fn library(files: &[&CStr]) -> Result<*mut c_void, String> {
    let mut why = String::new();
    for file in files {
        // SAFETY: initializers of a library found on the system's path; the name is NUL-terminated.
        let library = unsafe { dlopen(file.as_ptr(), RTLD_LAZY | RTLD_LOCAL) };
        if !library.is_null() {
            return Ok(library);
        }
        if why.is_empty() {
            why = last_error();
        }
    }
    Err(format!(
        "compiling needs LLVM {MAJOR}, and its library cannot be loaded: {why}\n\
         (apt-get install libllvm{MAJOR}; if it lies in an unusual place, name the directory in LD_LIBRARY_PATH;\n\
         for programs in Scheme, --llvm=none does without it)"
    ))
}

fn symbol(library: *mut c_void, name: &str) -> Result<*mut c_void, String> {
    let terminated = std::ffi::CString::new(name).expect("a C name");
    // SAFETY: `library` is loaded and stays so, and `terminated` is a C string.
    let address = unsafe { dlsym(library, terminated.as_ptr()) };
    if address.is_null() {
        return Err(format!("the library found as LLVM {MAJOR} is something else: {}", last_error()));
    }
    Ok(address)
}

/// What went wrong in the last call of `dlopen` or `dlsym`.
fn last_error() -> String {
    // SAFETY: `dlerror` gives null, or a string that stays until this thread's next call of these functions; it is
    // copied before.
    unsafe {
        let text = dlerror();
        if text.is_null() { "no reason given".into() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    }
}

impl Llvm {
    /// Major, minor, patch.
    pub fn version(&self) -> [c_uint; 3] {
        let mut version = [0; 3];
        let [major, minor, patch] = &mut version;
        // SAFETY: the three places are valid; the function asks for nothing else.
        unsafe { (self.LLVMGetVersion)(major, minor, patch) };
        version
    }

    fn checked(self) -> Result<Llvm, String> {
        let version = self.version();
        if version[0] != MAJOR {
            return Err(format!("the library found as LLVM {MAJOR} is version {}.{}", version[0], version[1]));
        }
        Ok(self)
    }

    fn initialize(&self) {
        // SAFETY: registration functions without preconditions; `options` are C strings, which outlive the call.
        unsafe {
            (self.LLVMInitializeX86TargetInfo)();
            (self.LLVMInitializeX86Target)();
            (self.LLVMInitializeX86TargetMC)();
            (self.LLVMInitializeX86AsmPrinter)();
            (self.LLVMInitializeX86AsmParser)();
            // The machine scheduler costs an eighth of the compile time; our blocks are short and processors reorder.
            // Hoisting constants out of loops takes registers from values: even rbp, which alone has to be saved.
            // What selects instructions fast would also allocate registers fast: one block at a time, with all values
            // in memory between blocks. The real allocator costs a quarter more and makes code five times as fast.
            let options = [c"cairn", c"-enable-misched=false", c"-disable-machine-licm", c"-optimize-regalloc"];
            let options = options.map(CStr::as_ptr);
            (self.LLVMParseCommandLineOptions)(options.len() as c_int, options.as_ptr(), null());
        }
    }

    /// Copies and frees a string of LLVM's.
    ///
    /// # Safety
    /// `message` is null or a string that LLVM allocated and nobody else frees.
    pub unsafe fn take_message(&self, message: *mut c_char) -> String {
        if message.is_null() {
            return String::new();
        }
        // SAFETY: `message` is not null, so a C string that LLVM allocated and nobody else frees (`# Safety`).
        unsafe {
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            (self.LLVMDisposeMessage)(message);
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(file: &CStr) -> String {
        load(&[file]).err().expect("not LLVM")
    }

    #[test]
    fn a_missing_library_is_named_with_what_to_do() {
        let text = complaint(c"libLLVM-of-nowhere.so.1");
        assert!(text.contains("LLVM 19") && text.contains("libLLVM-of-nowhere.so.1"), "{text}");
        assert!(text.contains("apt-get install libllvm19"), "{text}");
    }

    #[test]
    fn another_library_is_refused() {
        let text = complaint(c"libc.so.6");
        assert!(text.contains("LLVMGetVersion"), "{text}");
    }
}
