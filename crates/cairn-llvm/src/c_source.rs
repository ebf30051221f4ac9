//! C sources that a program imports: `(import (c "kernel.c"))`.
//!
//! ```text
//!               ┌─▶ object      all of it; nothing can be seen from outside but a table of its functions
//!  bitcode ─────┤
//!               └─▶ small ones  functions that a program's code has instead of calls   c.source.NUMBER
//! ```
//!
//! The problem: a call of C costs more than what a small function does, but what C keeps in variables must be there
//! once, while a program is compiled in several parts and many modules. The idea: all of the source is one object, and
//! functions that refer to no variable and call nothing also are put wherever they are called: copies of them cannot
//! differ from each other.
//!
//! Invariants: clang and the linked LLVM have the same version; a number stands for one text of a function, so what is
//! known by its number ([`register`]) is the same whoever has said it.

use crate::backend::{Module, OptLevel, Where};
pub use crate::c_functions::register;
use cairn_layout::c::inlined_symbol;
use cairn_llvm_c::*;
use std::collections::BTreeMap;
use std::ffi::c_uint;

/// What became of a source.
pub struct Compiled {
    /// An object, position independent, whose only visible symbol is the table.
    pub object: Vec<u8>,
    /// LLVM IR of the functions that are inlined.
    pub small: String,
    /// Their names in C, with the types as LLVM writes them, that of the result first.
    pub inlined: BTreeMap<String, Vec<String>>,
}

// Enumerators of LLVM's C interface.
const EXTERNAL: i32 = 0;
const AVAILABLE_EXTERNALLY: i32 = 1;
const LINK_ONCE_ODR: i32 = 3;
const APPENDING: i32 = 7;
const INTERNAL: i32 = 8;
const OF_FUNCTION: c_uint = c_uint::MAX;

mod opcode {
    pub const CALL: i32 = 45;
    /// What neither needs a place in memory nor becomes a call: no `switch` (a table), `alloca`, `frem` (`fmod`),
    /// atomic access, or variable arguments.
    pub fn is_plain(o: i32) -> bool {
        matches!(o, 1 | 2 | 7..=18 | 20..=25 | 27..=46 | 50..=54 | 66 | 68) && o != 19
    }
}

mod kind {
    pub const FUNCTION: i32 = 5;
    /// Variables, expressions of their addresses, what may contain such, and assembly.
    pub fn refers(k: i32) -> bool {
        matches!(k, FUNCTION..=13 | 23)
    }
}

/// Intrinsics of which instructions become, also where a processor has no FMA.
const INTRINSICS: [&str; 28] = [
    "llvm.abs.",
    "llvm.assume",
    "llvm.bitreverse.",
    "llvm.bswap.",
    "llvm.ceil.",
    "llvm.copysign.",
    "llvm.ctlz.",
    "llvm.ctpop.",
    "llvm.cttz.",
    "llvm.experimental.noalias.scope.decl",
    "llvm.fabs.",
    "llvm.floor.",
    "llvm.fmuladd.",
    "llvm.fshl.",
    "llvm.fshr.",
    "llvm.nearbyint.",
    "llvm.rint.",
    "llvm.sadd.",
    "llvm.smax.",
    "llvm.smin.",
    "llvm.smul.with.",
    "llvm.sqrt.",
    "llvm.ssub.",
    "llvm.trunc.",
    "llvm.uadd.",
    "llvm.umax.",
    "llvm.umin.",
    "llvm.vector.reduce.",
];

/// More instructions are a function that is worth a call.
const SMALL: usize = 64;

/// Compiles what clang made of a source. `table` is the symbol that stays visible; `functions` are the candidates for
/// inlining, with their numbers.
pub fn compile(bitcode: &[u8], table: &str, functions: &[(String, i64)]) -> Result<Compiled, String> {
    let f = module_functions()?;
    let whole = Module::parse(bitcode, OptLevel::High, Where::Anywhere, &[])?;
    // SAFETY: `whole` keeps the module live, and its functions and variables stay in it.
    unsafe {
        for value in functions_of(f, &whole).into_iter().chain(variables_of(f, &whole)) {
            let visible = (f.LLVMIsDeclaration)(value) == 0 && (f.LLVMGetLinkage)(value) == EXTERNAL;
            if visible && name_of(f, value) != table {
                (f.LLVMSetVisibility)(value, 0);
                (f.LLVMSetLinkage)(value, INTERNAL);
            }
        }
    }
    let object = whole.emit(OBJECT_FILE)?;
    let (small, inlined) = small_functions(f, bitcode, functions)?;
    Ok(Compiled { object, small, inlined })
}

/// The functions that can be inlined, as text, with their types.
fn small_functions(
    f: &'static ModuleFunctions,
    bitcode: &[u8],
    functions: &[(String, i64)],
) -> Result<(String, BTreeMap<String, Vec<String>>), String> {
    let m = Module::parse(bitcode, OptLevel::High, Where::Low, &[])?;
    let mut inlined = BTreeMap::new();
    let mut kept = Vec::new();
    let always = c"alwaysinline";
    // SAFETY: `m` keeps the module live; what is removed from it is not looked at again, and `kept` functions stay.
    unsafe {
        (f.LLVMStripModuleDebugInfo)(m.module());
        for function in functions_of(f, &m).into_iter().filter(|v| (f.LLVMIsDeclaration)(*v) == 0) {
            let name = name_of(f, function);
            let number = functions.iter().find(|(n, _)| *n == name).map(|(_, number)| *number);
            match number.and_then(|number| Some((number, types_if_small(f, function)?))) {
                Some((number, types)) => {
                    inlined.insert(name, types);
                    kept.push((function, inlined_symbol(number)));
                }
                None => (f.LLVMSetLinkage)(function, AVAILABLE_EXTERNALLY),
            }
        }
        for variable in variables_of(f, &m).into_iter().filter(|v| (f.LLVMIsDeclaration)(*v) == 0) {
            match (f.LLVMGetLinkage)(variable) {
                APPENDING => (f.LLVMDeleteGlobal)(variable),
                EXTERNAL => (f.LLVMSetLinkage)(variable, AVAILABLE_EXTERNALLY),
                _ => {}
            }
        }
        m.run(c"globaldce")?;
        let kind = (f.LLVMGetEnumAttributeKindForName)(always.as_ptr(), always.count_bytes());
        for (function, symbol) in &kept {
            // what clang asks for (protectors of the stack, tables for unwinding) the caller would have to have, too
            let count = (f.LLVMGetAttributeCountAtIndex)(*function, OF_FUNCTION);
            let mut attributes = vec![std::ptr::null_mut(); count as usize];
            (f.LLVMGetAttributesAtIndex)(*function, OF_FUNCTION, attributes.as_mut_ptr());
            for a in attributes.into_iter().filter(|a| (f.LLVMIsEnumAttribute)(*a) != 0) {
                (f.LLVMRemoveEnumAttributeAtIndex)(*function, OF_FUNCTION, (f.LLVMGetEnumAttributeKind)(a));
            }
            let attribute = (f.LLVMCreateEnumAttribute)(m.context(), kind, 0);
            (f.LLVMAddAttributeAtIndex)(*function, OF_FUNCTION, attribute);
            (f.LLVMSetValueName2)(*function, symbol.as_ptr().cast(), symbol.len());
            (f.LLVMSetLinkage)(*function, LINK_ONCE_ODR);
            (f.LLVMSetComdat)(*function, std::ptr::null_mut());
        }
    }
    // what a module says of itself is the program's
    let of_module = ["target ", "source_filename", "!llvm.module.flags", "!llvm.ident"];
    let text = m.text();
    let lines = text.lines().filter(|l| !of_module.iter().any(|start| l.starts_with(start)));
    let text = lines.fold(String::new(), |text, line| text + line + "\n");
    Ok((text, inlined))
}

/// The values of a chain of a live module, from `first`, which may be null, on.
fn all(first: ValueRef, next: unsafe extern "C" fn(ValueRef) -> ValueRef) -> Vec<ValueRef> {
    let is_there = |v: ValueRef| (!v.is_null()).then_some(v);
    // SAFETY: callers pass the first of a chain in a live module, and LLVM's function for the next; null ends it.
    std::iter::successors(is_there(first), |v| is_there(unsafe { next(*v) })).collect()
}

fn functions_of(f: &ModuleFunctions, m: &Module) -> Vec<ValueRef> {
    // SAFETY: `m` keeps the module live as long as it is borrowed.
    all(unsafe { (f.LLVMGetFirstFunction)(m.module()) }, f.LLVMGetNextFunction)
}

fn variables_of(f: &ModuleFunctions, m: &Module) -> Vec<ValueRef> {
    // SAFETY: `m` keeps the module live as long as it is borrowed.
    all(unsafe { (f.LLVMGetFirstGlobal)(m.module()) }, f.LLVMGetNextGlobal)
}

/// The name of a value of a live module.
fn name_of(f: &ModuleFunctions, value: ValueRef) -> String {
    let mut length = 0;
    // SAFETY: callers pass a value of a live module, whose name has this length, and is copied.
    unsafe {
        let text = (f.LLVMGetValueName2)(value, &mut length);
        String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), length)).into_owned()
    }
}

/// What LLVM calls a type, if it is one of `(cairn c)`.
///
/// # Safety
/// `t` is a type of a live context.
unsafe fn type_name(f: &ModuleFunctions, t: TypeRef) -> Option<String> {
    // SAFETY: the type belongs to a live context (`# Safety`).
    unsafe {
        Some(match (f.LLVMGetTypeKind)(t) {
            0 => "void".into(),
            2 => "float".into(),
            3 => "double".into(),
            8 => format!("i{}", (f.LLVMGetIntTypeWidth)(t)),
            12 => "ptr".into(),
            _ => return None,
        })
    }
}

/// Types of result and parameters of a function, if it can be inlined.
///
/// # Safety
/// `function` has a body, in a live module.
unsafe fn types_if_small(f: &ModuleFunctions, function: ValueRef) -> Option<Vec<String>> {
    // SAFETY: the function has a body, in a live module (`# Safety`); blocks, instructions and operands are those of
    // the function.
    unsafe {
        let noinline = c"noinline";
        let kind = (f.LLVMGetEnumAttributeKindForName)(noinline.as_ptr(), noinline.count_bytes());
        let of = (f.LLVMGlobalGetValueType)(function);
        if !(f.LLVMGetEnumAttributeAtIndex)(function, OF_FUNCTION, kind).is_null()
            || (f.LLVMIsFunctionVarArg)(of) != 0
            || (f.LLVMGetFunctionCallConv)(function) != 0
            || (f.LLVMHasPersonalityFn)(function) != 0
        {
            return None;
        }
        let mut count = 0;
        let mut block = (f.LLVMGetFirstBasicBlock)(function);
        while !block.is_null() {
            for instruction in all((f.LLVMGetFirstInstruction)(block), f.LLVMGetNextInstruction) {
                count += 1;
                if count > SMALL || !is_plain(f, instruction) {
                    return None;
                }
            }
            block = (f.LLVMGetNextBasicBlock)(block);
        }
        let mut types = vec![std::ptr::null_mut(); (f.LLVMCountParamTypes)(of) as usize];
        (f.LLVMGetParamTypes)(of, types.as_mut_ptr());
        types.insert(0, (f.LLVMGetReturnType)(of));
        types.into_iter().map(|t| type_name(f, t)).collect()
    }
}

/// Can the instruction stand anywhere?
///
/// # Safety
/// `instruction` is one of a live module.
unsafe fn is_plain(f: &ModuleFunctions, instruction: ValueRef) -> bool {
    // SAFETY: the instruction is one of a live module (`# Safety`); its operands are asked for up to their number.
    unsafe {
        let opcode = (f.LLVMGetInstructionOpcode)(instruction);
        let mut operands = (f.LLVMGetNumOperands)(instruction) as c_uint;
        let of = (f.LLVMTypeOf)(instruction);
        // arithmetic of 128 bits calls functions; the tenth and so on are x87's and others
        let fits = match (f.LLVMGetTypeKind)(of) {
            8 => (f.LLVMGetIntTypeWidth)(of) <= 64,
            t => matches!(t, 0 | 2 | 3 | 7 | 10 | 12 | 13),
        };
        if opcode == opcode::CALL {
            let callee = (f.LLVMGetCalledValue)(instruction);
            let known = |name: &str| INTRINSICS.iter().any(|i| name.starts_with(i));
            if (f.LLVMGetValueKind)(callee) != kind::FUNCTION
                || (f.LLVMGetIntrinsicID)(callee) == 0
                || !known(&name_of(f, callee))
            {
                return false;
            }
            operands -= 1;
        } else if !opcode::is_plain(opcode) {
            return false;
        }
        fits && (0..operands).all(|i| !kind::refers((f.LLVMGetValueKind)((f.LLVMGetOperand)(instruction, i))))
    }
}
