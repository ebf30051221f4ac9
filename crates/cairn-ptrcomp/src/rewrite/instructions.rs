//! Making instructions: a thin layer over LLVM's builder, with the types and names the rewriting uses.
#![allow(unsafe_code)]

use crate::settings::Bits;
use cairn_llvm_c::*;
use std::ffi::{CStr, CString, c_int, c_uint};

/// No name.
pub(super) const NAMELESS: *const std::ffi::c_char = c"".as_ptr();

/// `LLVMIntPredicate`: equal.
pub(super) const EQUAL: c_int = 32;
/// The intrinsic for products that aren't cut off; its third operand is 0.
pub(super) const SATURATING_PRODUCT: &str = "llvm.umul.fix.sat.i64";
/// `LLVMLinkage`.
const INTERNAL: c_int = 8;
/// Size classes of a pool: `runtime/pool.c`.
const CLASSES: u64 = 248;

/// Attributes that a version doesn't inherit: they speak of sizes and nulls, or of the memory that is touched.
const DROPPED: [&str; 8] = [
    "dereferenceable",
    "dereferenceable_or_null",
    "nonnull",
    "allocsize",
    "allockind",
    "memory",
    "align",
    "initializes",
];

pub(super) struct Emitter<'a> {
    pub f: &'a ModuleFunctions,
    pub(super) context: ContextRef,
    module: ModuleRef,
    pub(super) builder: BuilderRef,
    pub pointer: TypeRef,
    pub word: TypeRef,
    pub half: TypeRef,
    dropped: Vec<c_uint>,
    pub(super) tbaa: c_uint,
    pub(super) prof: c_uint,
}

impl Drop for Emitter<'_> {
    fn drop(&mut self) {
        // SAFETY: `new` made the builder, and it is not used again.
        unsafe { (self.f.LLVMDisposeBuilder)(self.builder) }
    }
}

impl<'a> Emitter<'a> {
    pub(super) fn new(f: &'a ModuleFunctions, context: ContextRef, module: ModuleRef) -> Emitter<'a> {
        // SAFETY: context and module are the session's (*Live handles*); types live as long as the context.
        unsafe {
            let kind = |name: &str| (f.LLVMGetEnumAttributeKindForName)(name.as_ptr().cast(), name.len());
            Emitter {
                f,
                context,
                module,
                builder: (f.LLVMCreateBuilderInContext)(context),
                pointer: (f.LLVMPointerTypeInContext)(context, 0),
                word: (f.LLVMIntTypeInContext)(context, 64),
                half: (f.LLVMIntTypeInContext)(context, 32),
                dropped: DROPPED.iter().map(|n| kind(n)).collect(),
                tbaa: (f.LLVMGetMDKindIDInContext)(context, c"tbaa".as_ptr(), 4),
                prof: (f.LLVMGetMDKindIDInContext)(context, c"prof".as_ptr(), 4),
            }
        }
    }

    pub(super) fn module(&self) -> ModuleRef {
        self.module
    }

    pub(super) fn number(&self, value: u64) -> ValueRef {
        // SAFETY: `word` is the integer of 64 bits that `new` asked the context for.
        unsafe { (self.f.LLVMConstInt)(self.word, value, 0) }
    }

    pub(super) fn null(&self) -> ValueRef {
        // SAFETY: `pointer` is the type that `new` asked the context for.
        unsafe { (self.f.LLVMConstNull)(self.pointer) }
    }

    /// What follows is put before this instruction.
    pub(super) fn before(&self, instruction: ValueRef) {
        // SAFETY: `instruction` is one in a block (*Live handles*).
        unsafe { (self.f.LLVMPositionBuilderBefore)(self.builder, instruction) }
    }

    /// What follows has no line, until it is put before an instruction that has one.
    pub(super) fn forget_line(&self) {
        // SAFETY: the builder is this emitter's own, and null stands for no place.
        unsafe { (self.f.LLVMSetCurrentDebugLocation2)(self.builder, std::ptr::null_mut()) }
    }

    /// What follows is put at the end of this block.
    pub(super) fn at_end(&self, block: BasicBlockRef) {
        // SAFETY: `block` is one of the module (*Live handles*).
        unsafe { (self.f.LLVMPositionBuilderAtEnd)(self.builder, block) }
    }

    pub(super) fn insert(&self, instruction: ValueRef) {
        // SAFETY: callers pass what they have just cloned or taken out, so it is in no block.
        unsafe { (self.f.LLVMInsertIntoBuilder)(self.builder, instruction) }
    }

    pub(super) fn phi(&self, like: ValueRef) -> ValueRef {
        // SAFETY: `like` is live (*Live handles*), and any value has a type.
        unsafe { (self.f.LLVMBuildPhi)(self.builder, (self.f.LLVMTypeOf)(like), NAMELESS) }
    }

    /// A phi of lower halves of addresses.
    pub(super) fn phi_of_halves(&self) -> ValueRef {
        // SAFETY: `half` is the integer of 32 bits that `new` asked the context for.
        unsafe { (self.f.LLVMBuildPhi)(self.builder, self.half, NAMELESS) }
    }

    pub(super) fn alloca_pool(&self) -> ValueRef {
        // SAFETY: callers have put the builder into the first block of a function; `pool_type` gives a type with a
        // size.
        unsafe { (self.f.LLVMBuildAlloca)(self.builder, self.pool_type(), NAMELESS) }
    }

    /// `struct pool` of `runtime/pool.c`.
    fn pool_type(&self) -> TypeRef {
        // SAFETY: `word` is the integer of 64 bits that `new` asked the context for.
        unsafe { (self.f.LLVMArrayType2)(self.word, (8 * 8 + 4 * 4 + CLASSES * 4).div_ceil(8)) }
    }

    /// The lower half of an address.
    pub(super) fn lower_half(&self, pointer: ValueRef) -> ValueRef {
        // SAFETY: callers pass a pointer, which is there where the builder stands.
        unsafe {
            let word = (self.f.LLVMBuildPtrToInt)(self.builder, pointer, self.word, NAMELESS);
            (self.f.LLVMBuildTrunc)(self.builder, word, self.half, NAMELESS)
        }
    }

    /// The address for an index.
    pub(super) fn address(&self, base: ValueRef, index: ValueRef) -> ValueRef {
        // SAFETY: `base` is a word and `index` half of one, both there where the builder stands.
        unsafe {
            let index = (self.f.LLVMBuildZExt)(self.builder, index, self.word, NAMELESS);
            let word = (self.f.LLVMBuildOr)(self.builder, base, index, NAMELESS);
            (self.f.LLVMBuildIntToPtr)(self.builder, word, self.pointer, NAMELESS)
        }
    }

    /// The pointer, with the usual null.
    pub(super) fn proper(&self, pointer: ValueRef) -> ValueRef {
        // SAFETY: callers pass a pointer, which is there where the builder stands; `lower_half` gives half a word.
        unsafe {
            let half = self.lower_half(pointer);
            let zero = (self.f.LLVMConstInt)(self.half, 0, 0);
            let is_null = (self.f.LLVMBuildICmp)(self.builder, EQUAL, half, zero, NAMELESS);
            (self.f.LLVMBuildSelect)(self.builder, is_null, self.null(), pointer, NAMELESS)
        }
    }

    pub(super) fn compare(&self, predicate: c_int, left: ValueRef, right: ValueRef) -> ValueRef {
        // SAFETY: callers pass values of one type, which are there where the builder stands.
        unsafe { (self.f.LLVMBuildICmp)(self.builder, predicate, left, right, NAMELESS) }
    }

    /// The integer that an index is.
    fn index_type(&self, bits: Bits) -> TypeRef {
        // SAFETY: the session's context is live (*Live handles*).
        unsafe { (self.f.LLVMIntTypeInContext)(self.context, bits.count() as c_uint) }
    }

    /// The lower half of the address that an index stands for.
    pub(super) fn place_of(&self, index: ValueRef, bits: Bits) -> ValueRef {
        if bits == Bits::ThirtyTwo {
            return index;
        }
        // SAFETY: `bits` are fewer than 32 here, so `index` is an integer shorter than the half of an address.
        unsafe {
            let unit = (self.f.LLVMConstInt)(self.half, bits.unit(), 0);
            let wide = (self.f.LLVMBuildZExt)(self.builder, index, self.half, NAMELESS);
            (self.f.LLVMBuildMul)(self.builder, wide, unit, NAMELESS)
        }
    }

    /// The index for the lower half of an address.
    pub(super) fn index_of(&self, place: ValueRef, bits: Bits) -> ValueRef {
        if bits == Bits::ThirtyTwo {
            return place;
        }
        // SAFETY: callers pass the lower half of an address, an integer of 32 bits.
        unsafe {
            let unit = (self.f.LLVMConstInt)(self.half, bits.unit(), 0);
            let count = (self.f.LLVMBuildUDiv)(self.builder, place, unit, NAMELESS);
            (self.f.LLVMBuildTrunc)(self.builder, count, self.index_type(bits), NAMELESS)
        }
    }

    /// A load of an index.
    pub(super) fn load_index(&self, from: ValueRef, bits: Bits, like: ValueRef) -> ValueRef {
        // SAFETY: `from` is a pointer, which is there where the builder stands; `like` is the load whose place this
        // takes.
        unsafe {
            let load = (self.f.LLVMBuildLoad2)(self.builder, self.index_type(bits), from, NAMELESS);
            (self.f.LLVMSetAlignment)(load, bits.bytes() as c_uint);
            self.copy_tbaa(like, load);
            load
        }
    }

    pub(super) fn store_index(&self, index: ValueRef, to: ValueRef, bits: Bits, like: ValueRef) -> ValueRef {
        // SAFETY: `to` is a pointer, which is there where the builder stands; `like` is the store whose place this
        // takes.
        unsafe {
            let store = (self.f.LLVMBuildStore)(self.builder, index, to);
            (self.f.LLVMSetAlignment)(store, bits.bytes() as c_uint);
            self.copy_tbaa(like, store);
            store
        }
    }

    /// What the first access says of types, the second says, too.
    ///
    /// # Safety
    /// Both are loads or stores (*Live handles*).
    unsafe fn copy_tbaa(&self, from: ValueRef, to: ValueRef) {
        // SAFETY: both are accesses, and so instructions (`# Safety`).
        unsafe {
            let tag = (self.f.LLVMGetMetadata)(from, self.tbaa);
            if !tag.is_null() {
                (self.f.LLVMSetMetadata)(to, self.tbaa, tag);
            }
        }
    }

    /// `base` plus so many bytes, and each of these numbers times its stride.
    pub(super) fn offset(
        &self,
        base: ValueRef,
        bytes: i64,
        steps: &[(ValueRef, u64)],
        inbounds: bool,
    ) -> ValueRef {
        // SAFETY: `base` is a pointer, and steps have integers of any size, all of which are there where the builder
        // stands.
        unsafe {
            let byte = (self.f.LLVMIntTypeInContext)(self.context, 8);
            let gep = if inbounds { self.f.LLVMBuildInBoundsGEP2 } else { self.f.LLVMBuildGEP2 };
            let mut pointer = base;
            for &(index, stride) in steps {
                let index = (self.f.LLVMBuildIntCast2)(self.builder, index, self.word, 1, NAMELESS);
                let kind = (self.f.LLVMArrayType2)(byte, stride);
                pointer = gep(self.builder, kind, pointer, &index, 1, NAMELESS);
            }
            if bytes != 0 {
                pointer = gep(self.builder, byte, pointer, &self.number(bytes as u64), 1, NAMELESS);
            }
            pointer
        }
    }

    /// A number of bytes, scaled from one size of objects to another.
    pub(super) fn scaled(&self, bytes: ValueRef, from: u64, to: u64) -> ValueRef {
        // SAFETY: callers pass an integer of 64 bits or fewer, which is there where the builder stands.
        unsafe {
            let bytes = (self.f.LLVMBuildIntCast2)(self.builder, bytes, self.word, 0, NAMELESS);
            let count = (self.f.LLVMBuildUDiv)(self.builder, bytes, self.number(from), NAMELESS);
            (self.f.LLVMBuildMul)(self.builder, count, self.number(to), NAMELESS)
        }
    }

    /// The product of two sizes; the largest number if it is none.
    pub(super) fn product(&self, a: ValueRef, b: ValueRef) -> ValueRef {
        let scale = self.half_number(0);
        self.call_runtime(SATURATING_PRODUCT, &[a, b, scale], Some(self.word))
    }

    /// A call of a function of `runtime/pool.c`, or of the C library.
    pub(super) fn call_runtime(&self, name: &str, arguments: &[ValueRef], result: Option<TypeRef>) -> ValueRef {
        let terminated = CString::new(name).expect("a C name");
        // SAFETY: the name is a C string, and the declaration is made of the arguments' types, unless it is there: then
        // by this, too.
        unsafe {
            let types: Vec<TypeRef> = arguments.iter().map(|a| (self.f.LLVMTypeOf)(*a)).collect();
            let result = result.unwrap_or_else(|| (self.f.LLVMVoidTypeInContext)(self.context));
            let kind = (self.f.LLVMFunctionType)(result, types.as_ptr(), types.len() as c_uint, 0);
            let mut function = (self.f.LLVMGetNamedFunction)(self.module, terminated.as_ptr());
            if function.is_null() {
                function = (self.f.LLVMAddFunction)(self.module, terminated.as_ptr(), kind);
            }
            let count = arguments.len() as c_uint;
            (self.f.LLVMBuildCall2)(self.builder, kind, function, arguments.as_ptr(), count, NAMELESS)
        }
    }

    /// This call with another function in its place and more arguments.
    pub(super) fn call_version(&self, call: ValueRef, function: ValueRef, more: &[ValueRef]) -> ValueRef {
        // SAFETY: `call` is a call of what `function` is a version of, so it has its parameters first; `more` are those
        // for pools.
        unsafe {
            let count = (self.f.LLVMGetNumArgOperands)(call);
            let mut arguments: Vec<ValueRef> = (0..count).map(|n| (self.f.LLVMGetOperand)(call, n)).collect();
            arguments.extend(more);
            let kind = (self.f.LLVMGetCalledFunctionType)(call);
            let kind = self.extended(kind, more.len());
            let total = arguments.len() as c_uint;
            let new = (self.f.LLVMBuildCall2)(self.builder, kind, function, arguments.as_ptr(), total, NAMELESS);
            (self.f.LLVMSetInstructionCallConv)(new, (self.f.LLVMGetInstructionCallConv)(call));
            for index in (0..=count).chain([c_uint::MAX]) {
                let size = (self.f.LLVMGetCallSiteAttributeCount)(call, index) as usize;
                let mut attributes = vec![std::ptr::null_mut(); size];
                (self.f.LLVMGetCallSiteAttributes)(call, index, attributes.as_mut_ptr());
                for attribute in attributes.into_iter().filter(|a| self.inherited(*a)) {
                    (self.f.LLVMAddCallSiteAttribute)(new, index, attribute);
                }
            }
            new
        }
    }

    /// Does a version have this attribute, too?
    ///
    /// # Safety
    /// LLVM has given the attribute.
    unsafe fn inherited(&self, attribute: AttributeRef) -> bool {
        // SAFETY: `attribute` is one that LLVM has just given (`# Safety`).
        unsafe {
            (self.f.LLVMIsEnumAttribute)(attribute) == 0
                || !self.dropped.contains(&(self.f.LLVMGetEnumAttributeKind)(attribute))
        }
    }

    /// The type of a function with parameters for pools, so many words, at the end.
    ///
    /// # Safety
    /// `kind` is the type of a function.
    unsafe fn extended(&self, kind: TypeRef, more: usize) -> TypeRef {
        // SAFETY: `kind` is the type of a function (`# Safety`), and the vector has room for all parameters.
        unsafe {
            let count = (self.f.LLVMCountParamTypes)(kind) as usize;
            let mut types = vec![std::ptr::null_mut(); count];
            (self.f.LLVMGetParamTypes)(kind, types.as_mut_ptr());
            types.extend((0..more).map(|i| if i % 2 == 0 { self.pointer } else { self.word }));
            let varargs = (self.f.LLVMIsFunctionVarArg)(kind);
            (self.f.LLVMFunctionType)(
                (self.f.LLVMGetReturnType)(kind),
                types.as_ptr(),
                types.len() as c_uint,
                varargs,
            )
        }
    }

    /// A function like this one, without body; `more` parameters for pools.
    pub(super) fn declare_version(&self, original: ValueRef, name: &str, more: usize, external: bool) -> ValueRef {
        let name = CString::new(format!("{name}.pooled")).unwrap_or_default();
        // SAFETY: `original` is a function (*Live handles*), and each vector has room for the attributes that were
        // counted.
        unsafe {
            let kind = self.extended((self.f.LLVMGlobalGetValueType)(original), more);
            let function = (self.f.LLVMAddFunction)(self.module, name.as_ptr(), kind);
            (self.f.LLVMSetLinkage)(function, if external { 0 } else { INTERNAL });
            (self.f.LLVMSetFunctionCallConv)(function, (self.f.LLVMGetFunctionCallConv)(original));
            let section = (self.f.LLVMGetSection)(original);
            if !section.is_null() {
                (self.f.LLVMSetSection)(function, section);
            }
            for index in (0..=(self.f.LLVMCountParams)(original)).chain([c_uint::MAX]) {
                let size = (self.f.LLVMGetAttributeCountAtIndex)(original, index) as usize;
                let mut attributes = vec![std::ptr::null_mut(); size];
                (self.f.LLVMGetAttributesAtIndex)(original, index, attributes.as_mut_ptr());
                for attribute in attributes.into_iter().filter(|a| self.inherited(*a)) {
                    (self.f.LLVMAddAttributeAtIndex)(function, index, attribute);
                }
            }
            function
        }
    }

    /// Puts a function in the place of another, or nothing.
    pub(super) fn replace_function(&self, old: ValueRef, new: Option<ValueRef>, name: &str) {
        // SAFETY: both are functions of the module (*Live handles*), and of one type, a pointer; a name has its length.
        unsafe {
            (self.f.LLVMReplaceAllUsesWith)(old, new.unwrap_or_else(|| self.null()));
            if let Some(new) = new {
                (self.f.LLVMSetValueName2)(old, NAMELESS, 0);
                (self.f.LLVMSetValueName2)(new, name.as_ptr().cast(), name.len());
            }
        }
    }

    pub(super) fn delete_function(&self, function: ValueRef) {
        // SAFETY: callers have seen to it that nothing uses the function any more.
        unsafe { (self.f.LLVMDeleteFunction)(function) }
    }

    pub(super) fn text(&self, text: &str) -> ValueRef {
        // SAFETY: context and module are the session's (*Live handles*); the string has its length.
        unsafe {
            let bytes = (self.f.LLVMConstStringInContext2)(self.context, text.as_ptr().cast(), text.len(), 0);
            self.internal_global(bytes, c"cairn.pool.name")
        }
    }

    /// A global variable with this initial value.
    pub(super) fn internal_global(&self, value: ValueRef, name: &CStr) -> ValueRef {
        // SAFETY: `value` is a constant of the session's context (*Live handles*), so the variable has its type.
        unsafe {
            let global = (self.f.LLVMAddGlobal)(self.module, (self.f.LLVMTypeOf)(value), name.as_ptr());
            (self.f.LLVMSetInitializer)(global, value);
            (self.f.LLVMSetLinkage)(global, INTERNAL);
            global
        }
    }

    /// The descriptor of a pool that is as old as the program: `struct pool` of `runtime/pool.c`.
    pub(super) fn pool_descriptor(&self, name: &str, base: u64, number: u64, reach: u64) -> ValueRef {
        // SAFETY: context and module are the session's (*Live handles*), and the call is told how many values there
        // are.
        unsafe {
            let half = |n: u64| (self.f.LLVMConstInt)(self.half, n, 0);
            let classes = (self.f.LLVMConstNull)((self.f.LLVMArrayType2)(self.half, CLASSES));
            let zero = self.number(0);
            let name = self.text(name);
            let [base, reach] = [base, reach].map(|n| self.number(n));
            let (next, number) = (self.null(), half(number));
            let values =
                [base, zero, zero, zero, reach, zero, name, next, number, half(0), half(0), half(0), classes];
            let value =
                (self.f.LLVMConstStructInContext)(self.context, values.as_ptr(), values.len() as c_uint, 0);
            self.internal_global(value, c"cairn.pool")
        }
    }

    /// Puts a value in the place of an instruction.
    pub(super) fn replace(&self, old: ValueRef, new: ValueRef) {
        // SAFETY: `new` has the type of `old`, and is there where it was; `old` is not used again.
        unsafe {
            (self.f.LLVMReplaceAllUsesWith)(old, new);
            (self.f.LLVMInstructionEraseFromParent)(old);
        }
    }

    pub(super) fn erase(&self, instruction: ValueRef) {
        // SAFETY: callers have seen to it that nothing uses the instruction any more, and do not, either.
        unsafe { (self.f.LLVMInstructionEraseFromParent)(instruction) }
    }

    pub(super) fn operand(&self, instruction: ValueRef, n: u32) -> ValueRef {
        // SAFETY: callers know the instruction by its `Op`, and `n` is below the number of its operands.
        unsafe { (self.f.LLVMGetOperand)(instruction, n) }
    }

    pub(super) fn set_operand(&self, instruction: ValueRef, n: u32, value: ValueRef) {
        // SAFETY: callers know the instruction by its `Op`, and `n` is below the number of its operands; types agree.
        unsafe { (self.f.LLVMSetOperand)(instruction, n, value) }
    }

    /// The number, unsigned, in the type of another.
    pub(super) fn cast(&self, number: ValueRef, like: ValueRef) -> ValueRef {
        // SAFETY: callers pass integers of any size, the first of which is there where the builder stands.
        unsafe { (self.f.LLVMBuildIntCast2)(self.builder, number, (self.f.LLVMTypeOf)(like), 0, NAMELESS) }
    }

    /// The upper half of a number.
    pub(super) fn masked(&self, number: ValueRef) -> ValueRef {
        // SAFETY: callers pass an integer of 64 bits, which is there where the builder stands.
        unsafe { (self.f.LLVMBuildAnd)(self.builder, number, self.number(0xffff_ffff_0000_0000), NAMELESS) }
    }

    /// A copy or fill whose objects may be aligned less than before.
    pub(super) fn forget_alignment(&self, call: ValueRef, most: u64) {
        // SAFETY: callers pass a call of a memory intrinsic, whose first two parameters are pointers or numbers.
        unsafe {
            let align = (self.f.LLVMGetEnumAttributeKindForName)(c"align".as_ptr(), 5);
            for index in [1, 2] {
                let old = (self.f.LLVMGetCallSiteEnumAttribute)(call, index, align);
                if !old.is_null() && (self.f.LLVMGetEnumAttributeValue)(old) > most {
                    (self.f.LLVMRemoveCallSiteEnumAttribute)(call, index, align);
                    (self.f.LLVMAddCallSiteAttribute)(
                        call,
                        index,
                        (self.f.LLVMCreateEnumAttribute)(self.context, align, most),
                    );
                }
            }
        }
    }

    /// Appends a block.
    pub(super) fn block(&self, function: ValueRef) -> BasicBlockRef {
        // SAFETY: `function` is one of the module (*Live handles*).
        unsafe { (self.f.LLVMAppendBasicBlockInContext)(self.context, function, NAMELESS) }
    }
}
