//! Global variables that belong to a data structure of the heap get a place on the heap, too: [`crate::homes`].
//!
//! The problem: `static struct line buffer;` is the beginning of a list, and lies in it. The idea: as the program
//! begins, an object is allocated for it, and a variable of ours points to that; whoever names the variable reads ours
//! first.
//!
//! ```text
//!  struct list queue = { &queue, &queue };      main() { home = cairn_home_new(16); home->next = home; ... }
//!  f() { queue.next = x; }                      f() { home->next = x; }
//! ```
//!
//! Invariant: nothing of the program runs before `main` begins, which is called once; every use of the variable is an
//! instruction, and reads where it is now. What it held at first is stored before anything else is done.
#![allow(unsafe_code)]

use crate::dsa::externals::HOME;
use crate::llvm_codes::{opcode, type_kind, value_kind};
use cairn_llvm_c::{BuilderRef, ContextRef, ModuleFunctions, ModuleRef, TypeRef, ValueRef};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_uint};

/// Larger variables stay.
const MOST: u64 = 256;
/// What an allocation is aligned to.
const ALIGNMENT: u32 = 16;
/// `LLVMLinkage`.
const INTERNAL: i32 = 8;
const PRIVATE: i32 = 9;
const NAMELESS: &CStr = c"";

/// A variable that was moved.
pub(crate) struct GlobalHome {
    variable: ValueRef,
    /// The allocation.
    pub made: ValueRef,
    /// What `main` does first, in order.
    begin: Vec<ValueRef>,
    /// Where the variable is, read for each use.
    places: Vec<ValueRef>,
    /// Other variables that point to it at first.
    pointers: Vec<ValueRef>,
}

/// A module in which variables are moved.
pub(crate) struct Mover<'a> {
    pub f: &'a ModuleFunctions,
    pub context: ContextRef,
    pub module: ModuleRef,
    pub builder: BuilderRef,
}

/// What uses a variable.
#[derive(Default)]
struct Uses {
    all: Vec<Use>,
    /// Variables that are pointers, whose first value is the variable's address.
    pointers: Vec<ValueRef>,
}

/// A use of a variable: by an instruction, directly or in a constant address.
struct Use {
    user: ValueRef,
    operand: c_uint,
    address: Option<ValueRef>,
}

impl Mover<'_> {
    /// The function with which the program begins, if nothing runs before it and nobody calls it again.
    pub(crate) fn beginning(&self) -> Option<ValueRef> {
        let f = self.f;
        // SAFETY: the session's module is live (*Live handles*); names are C strings, and a variable or function of the
        // name is there where more is asked of it.
        unsafe {
            let mut variable = (f.LLVMGetFirstGlobal)(self.module);
            while !variable.is_null() {
                if self.name(variable) == "llvm.global_ctors" {
                    return None;
                }
                variable = (f.LLVMGetNextGlobal)(variable);
            }
            let main = (f.LLVMGetNamedFunction)(self.module, c"main".as_ptr());
            let once = !main.is_null() && (f.LLVMIsDeclaration)(main) == 0 && (f.LLVMGetFirstUse)(main).is_null();
            once.then_some(main)
        }
    }

    fn name(&self, value: ValueRef) -> String {
        let mut length = 0;
        // SAFETY: LLVM gives the name's bytes, which live as long as the value, and says how many there are.
        unsafe {
            let text = (self.f.LLVMGetValueName2)(value, &mut length);
            String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), length)).into_owned()
        }
    }

    /// Moves a variable that lies so far from the beginning of its object, if that can be done.
    pub(crate) fn make(&self, main: ValueRef, variable: ValueRef, offset: u64) -> Option<GlobalHome> {
        let f = self.f;
        // SAFETY: `variable` is a global variable of the module, with an initial value (its linkage says so), `main` a
        // function with a body (*Live handles*). Uses were collected before the first is changed.
        unsafe {
            if ![INTERNAL, PRIVATE].contains(&(f.LLVMGetLinkage)(variable))
                || (f.LLVMIsGlobalConstant)(variable) != 0
                || (f.LLVMIsThreadLocal)(variable) != 0
                || (f.LLVMGetAlignment)(variable) > ALIGNMENT
            {
                return None;
            }
            let section = (f.LLVMGetSection)(variable);
            let kind = (f.LLVMGlobalGetValueType)(variable);
            let layout = (f.LLVMGetModuleDataLayout)(self.module);
            let size = (f.LLVMABISizeOfType)(layout, kind);
            if !section.is_null() && *section != 0 || size == 0 || size > MOST {
                return None;
            }
            let mut values = vec![];
            self.initial((f.LLVMGetInitializer)(variable), kind, 0, &mut values)?;
            let mut uses = Uses::default();
            self.uses(variable, variable, None, &mut uses)?;
            let pointer = (f.LLVMPointerTypeInContext)(self.context, 0);
            let (byte, word) =
                ((f.LLVMIntTypeInContext)(self.context, 8), (f.LLVMIntTypeInContext)(self.context, 64));
            let first = (f.LLVMGetFirstInstruction)((f.LLVMGetFirstBasicBlock)(main));
            (f.LLVMPositionBuilderBefore)(self.builder, first);
            let made = self.allocate(word, offset + size, pointer);
            let mut begin = vec![made];
            let mut at = |base: ValueRef, by: u64| {
                if by == 0 {
                    return base;
                }
                let by = (f.LLVMConstInt)(word, by, 0);
                let place = (f.LLVMBuildInBoundsGEP2)(self.builder, byte, base, &by, 1, NAMELESS.as_ptr());
                begin.push(place);
                place
            };
            let object = at(made, offset);
            let places: Vec<ValueRef> = values.iter().map(|(offset, _)| at(object, *offset)).collect();
            for (place, (_, value)) in places.into_iter().zip(&values) {
                let value = if *value == variable { object } else { *value };
                begin.push((f.LLVMBuildStore)(self.builder, value, place));
            }
            let holder = (f.LLVMAddGlobal)(self.module, pointer, c"cairn.home".as_ptr());
            (f.LLVMSetInitializer)(holder, (f.LLVMConstNull)(pointer));
            (f.LLVMSetLinkage)(holder, INTERNAL);
            begin.push((f.LLVMBuildStore)(self.builder, object, holder));
            for &other in &uses.pointers {
                (f.LLVMSetInitializer)(other, (f.LLVMConstNull)(pointer));
                begin.push((f.LLVMBuildStore)(self.builder, object, other));
            }
            let places = self.read(uses.all, holder, pointer);
            Some(GlobalHome { variable, made, begin, places, pointers: uses.pointers })
        }
    }

    /// # Safety
    /// The builder stands in a block.
    unsafe fn allocate(&self, word: TypeRef, size: u64, pointer: TypeRef) -> ValueRef {
        let f = self.f;
        // SAFETY: the builder stands in a block (`# Safety`); the function is one of one word.
        unsafe {
            let name = CString::new(HOME).expect("a C name");
            let kind = (f.LLVMFunctionType)(pointer, &word, 1, 0);
            let mut function = (f.LLVMGetNamedFunction)(self.module, name.as_ptr());
            if function.is_null() {
                function = (f.LLVMAddFunction)(self.module, name.as_ptr(), kind);
            }
            let size = (f.LLVMConstInt)(word, size, 0);
            (f.LLVMBuildCall2)(self.builder, kind, function, &size, 1, NAMELESS.as_ptr())
        }
    }

    /// The numbers and pointers of an initial value, by their offsets; nothing, if there is something else.
    ///
    /// # Safety
    /// `value` is a constant of this type.
    unsafe fn initial(
        &self,
        value: ValueRef,
        kind: TypeRef,
        offset: u64,
        all: &mut Vec<(u64, ValueRef)>,
    ) -> Option<()> {
        let f = self.f;
        // SAFETY: `value` is a constant of the type `kind` (`# Safety`), which is asked for the elements it has.
        unsafe {
            let layout = (f.LLVMGetModuleDataLayout)(self.module);
            match (f.LLVMGetTypeKind)(kind) {
                type_kind::STRUCT => {
                    for n in 0..(f.LLVMCountStructElementTypes)(kind) {
                        let element = (f.LLVMGetAggregateElement)(value, n);
                        let inner = (f.LLVMStructGetTypeAtIndex)(kind, n);
                        let at = (f.LLVMOffsetOfElement)(layout, kind, n);
                        self.initial(element, inner, offset + at, all)?;
                    }
                    Some(())
                }
                type_kind::INTEGER | type_kind::FLOAT | type_kind::DOUBLE => {
                    all.push((offset, value));
                    Some(())
                }
                type_kind::POINTER => {
                    let plain = [value_kind::NULL, value_kind::GLOBAL, value_kind::FUNCTION];
                    all.push((offset, value));
                    plain.contains(&(f.LLVMGetValueKind)(value)).then_some(())
                }
                _ => None,
            }
        }
    }

    /// The uses of the variable, or of a constant address in it; nothing, if one is no instruction's.
    ///
    /// # Safety
    /// `value` is `variable`, or a constant made of it.
    unsafe fn uses(
        &self,
        variable: ValueRef,
        value: ValueRef,
        address: Option<ValueRef>,
        uses: &mut Uses,
    ) -> Option<()> {
        let f = self.f;
        // SAFETY: `value` is live (`# Safety`); uses come from LLVM's iteration, and users are asked for what those of
        // their kind have.
        unsafe {
            let mut next = (f.LLVMGetFirstUse)(value);
            while !next.is_null() {
                let user = (f.LLVMGetUser)(next);
                match (f.LLVMGetValueKind)(user) {
                    value_kind::INSTRUCTION => {
                        let operands = (0..(f.LLVMGetNumOperands)(user) as c_uint)
                            .filter(|&n| (f.LLVMGetOperand)(user, n) == value);
                        for operand in operands {
                            if !uses.all.iter().any(|u| u.user == user && u.operand == operand) {
                                uses.all.push(Use { user, operand, address });
                            }
                        }
                    }
                    value_kind::CONSTANT_EXPR
                        if address.is_none() && (f.LLVMGetConstOpcode)(user) == opcode::GEP =>
                    {
                        self.uses(variable, user, Some(user), uses)?;
                    }
                    // Its own initial value.
                    value_kind::CONSTANT_STRUCT if address.is_none() => {
                        let mut next = (f.LLVMGetFirstUse)(user);
                        while !next.is_null() {
                            if (f.LLVMGetUser)(next) != variable {
                                return None;
                            }
                            next = (f.LLVMGetNextUse)(next);
                        }
                    }
                    value_kind::GLOBAL if user == variable => {}
                    value_kind::GLOBAL
                        if address.is_none()
                            && (f.LLVMGetTypeKind)((f.LLVMGlobalGetValueType)(user)) == type_kind::POINTER
                            && [INTERNAL, PRIVATE].contains(&(f.LLVMGetLinkage)(user))
                            && (f.LLVMIsGlobalConstant)(user) == 0
                            && (f.LLVMIsThreadLocal)(user) == 0 =>
                    {
                        uses.pointers.push(user);
                    }
                    _ => return None,
                }
                next = (f.LLVMGetNextUse)(next);
            }
        }
        Some(())
    }

    /// Has each use read where the variable is.
    ///
    /// # Safety
    /// `uses` are all of a variable; `holder` points to where it is now.
    unsafe fn read(&self, uses: Vec<Use>, holder: ValueRef, pointer: TypeRef) -> Vec<ValueRef> {
        let f = self.f;
        let mut places = vec![];
        // What a phi gets from one block is one value.
        let mut edges: HashMap<(ValueRef, ValueRef), ValueRef> = HashMap::new();
        // SAFETY: users are instructions (`uses`), in blocks with ends; what is made before one is there for it, and
        // at the end of a block for the phis behind.
        unsafe {
            for Use { user, operand, address } in uses {
                let phi = (f.LLVMGetInstructionOpcode)(user) == opcode::PHI;
                let before = match phi {
                    true => (f.LLVMGetBasicBlockTerminator)((f.LLVMGetIncomingBlock)(user, operand)),
                    false => user,
                };
                if let Some(&value) = edges.get(&(user, before)).filter(|_| phi) {
                    (f.LLVMSetOperand)(user, operand, value);
                    continue;
                }
                (f.LLVMPositionBuilderBefore)(self.builder, before);
                let place = (f.LLVMBuildLoad2)(self.builder, pointer, holder, NAMELESS.as_ptr());
                places.push(place);
                let value = match address {
                    None => place,
                    Some(address) => {
                        let indices: Vec<ValueRef> = (1..(f.LLVMGetNumOperands)(address) as c_uint)
                            .map(|n| (f.LLVMGetOperand)(address, n))
                            .collect();
                        let kind = (f.LLVMGetGEPSourceElementType)(address);
                        (f.LLVMBuildInBoundsGEP2)(
                            self.builder,
                            kind,
                            place,
                            indices.as_ptr(),
                            indices.len() as c_uint,
                            NAMELESS.as_ptr(),
                        )
                    }
                };
                (f.LLVMSetOperand)(user, operand, value);
                edges.insert((user, before), value);
            }
        }
        places
    }
}

impl GlobalHome {
    /// Gives the variable back its place.
    pub(crate) fn restore(self, f: &ModuleFunctions) {
        // SAFETY: `places` and `begin` are what `make` made, erased by nobody else (*Live handles*), each before what
        // it uses.
        unsafe {
            for other in self.pointers {
                (f.LLVMSetInitializer)(other, self.variable);
            }
            for place in self.places {
                (f.LLVMReplaceAllUsesWith)(place, self.variable);
                (f.LLVMInstructionEraseFromParent)(place);
            }
            for instruction in self.begin.into_iter().rev() {
                (f.LLVMInstructionEraseFromParent)(instruction);
            }
        }
    }
}
