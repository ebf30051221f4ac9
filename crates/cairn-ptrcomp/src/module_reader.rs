//! LLVM's module → [`Module`].
//!
//! Only reads. Whatever it doesn't know becomes `Strange`, which the analysis takes for the worst.
//!
//! *Kinds.* Unsafe functions here ask for handles that are live and of the kind that the parameter's name says: a
//! `function`, an `instruction` or `i`, a `gep`; `kind` is a type, `body` wants a function that has one, `call` a call.
#![allow(unsafe_code)]

mod executions;
mod global_variables;
mod hints;
mod type_names;

use crate::llvm_codes::{opcode, type_kind, value_kind};
use crate::model::*;
use cairn_llvm_c::{BasicBlockRef, ModuleFunctions, ModuleRef, TargetDataRef, TypeRef, ValueRef};
use std::collections::{BTreeSet, HashMap};
use std::ffi::{c_char, c_int, c_uint};
use std::path::{Path, PathBuf};
pub(crate) use type_names::TypeNames;

/// Reads one module.
pub(crate) struct Reader<'a> {
    f: &'a ModuleFunctions,
    layout: TargetDataRef,
    functions: HashMap<ValueRef, FuncId>,
    globals: HashMap<ValueRef, GlobalId>,
    files: Vec<String>,
    /// Directory and name of each file, as clang has them.
    names: Vec<(String, String)>,
    by_value: c_uint,
    hints: hints::Hints<'a>,
}

/// All of a module. `kept` are names that code outside of it uses, `called` what it calls its structures.
pub(crate) fn read(f: &ModuleFunctions, module: ModuleRef, kept: &BTreeSet<String>, called: &TypeNames) -> Module {
    // SAFETY: `module` is live (*Live handles*); functions and variables are those that LLVM's iteration gives.
    unsafe {
        let mut reader = Reader {
            f,
            layout: (f.LLVMGetModuleDataLayout)(module),
            functions: HashMap::new(),
            globals: HashMap::new(),
            files: vec![],
            names: vec![],
            by_value: (f.LLVMGetEnumAttributeKindForName)(c"byval".as_ptr(), 5),
            hints: hints::Hints::new(f, module, called),
        };
        let (functions, globals) = reader.names(module);
        let mut result = Module {
            functions: vec![],
            globals: vec![],
            files: vec![],
            types: vec![],
            hints: vec![],
            inlined: HashMap::new(),
            strange: None,
        };
        for &global in &globals {
            result.globals.push(reader.global(global, kept));
        }
        for (index, &function) in functions.iter().enumerate() {
            result.functions.push(reader.function(FuncId(index as u32), function, kept));
        }
        mark_taken(&mut result);
        let mut length = 0;
        (f.LLVMGetModuleInlineAsm)(module, &mut length);
        if length > 0 {
            result.strange = Some("assembly outside of functions".into());
        }
        if !(f.LLVMGetFirstGlobalAlias)(module).is_null() || !(f.LLVMGetFirstGlobalIFunc)(module).is_null() {
            result.strange = Some("a symbol that is an alias".into());
        }
        if let Some(name) = functions.iter().find_map(|&function| reader.own_library(function)) {
            result.strange = Some(format!("-fno-builtin: {name} may be the program's own"));
        }
        result.files = reader.files;
        (result.types, result.hints, result.inlined) = reader.hints.done();
        result
    }
}

/// Finds the functions that are used as values.
fn mark_taken(module: &mut Module) {
    let mut taken: BTreeSet<FuncId> = BTreeSet::new();
    let mut note = |o: &Operand| {
        if let Operand::Function(id) = o {
            taken.insert(*id);
        }
    };
    for global in &module.globals {
        global.pointers.iter().for_each(|(_, o)| note(o));
    }
    for value in module.functions.iter().flat_map(|f| &f.values) {
        value.op.operands(&mut note);
    }
    for id in taken {
        module.functions[id.0 as usize].address_taken = true;
    }
}

impl Op {
    /// Calls `f` with each operand that is used as a value.
    pub(crate) fn operands(&self, f: &mut dyn FnMut(&Operand)) {
        match self {
            Op::Param | Op::Plain | Op::Alloca | Op::FromInteger | Op::BitsOfFloat => {}
            Op::Load { from, .. } => f(from),
            Op::Store { to, value, .. } => [to, value].into_iter().for_each(f),
            Op::Atomic { on, values, .. } => std::iter::once(on).chain(values).for_each(f),
            Op::Address { base, .. } => f(base),
            Op::Join(all) | Op::Strange(all) => all.iter().for_each(f),
            Op::Compare { left, right, .. } => [left, right].into_iter().for_each(f),
            Op::ToInteger { of, .. } => f(of),
            Op::Return(value) => f(value),
            Op::Call(call) => {
                call.arguments.iter().for_each(&mut *f);
                if let Callee::Indirect(target) = &call.callee {
                    f(target);
                }
            }
        }
    }
}

impl Reader<'_> {
    unsafe fn names(&mut self, module: ModuleRef) -> (Vec<ValueRef>, Vec<ValueRef>) {
        let (mut functions, mut globals) = (vec![], vec![]);
        // SAFETY: `module` is live (*Live handles*); each handle comes from LLVM's iteration, until null.
        unsafe {
            let mut next = (self.f.LLVMGetFirstFunction)(module);
            while !next.is_null() {
                self.functions.insert(next, FuncId(functions.len() as u32));
                functions.push(next);
                next = (self.f.LLVMGetNextFunction)(next);
            }
            next = (self.f.LLVMGetFirstGlobal)(module);
            while !next.is_null() {
                self.globals.insert(next, GlobalId(globals.len() as u32));
                globals.push(next);
                next = (self.f.LLVMGetNextGlobal)(next);
            }
        }
        (functions, globals)
    }

    unsafe fn name(&self, value: ValueRef) -> String {
        let mut length = 0;
        // SAFETY: LLVM returns a string of that length, which lives as long as the value, and is copied.
        unsafe {
            let text = (self.f.LLVMGetValueName2)(value, &mut length);
            String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), length)).into_owned()
        }
    }

    unsafe fn kind(&self, kind: TypeRef) -> Kind {
        // SAFETY: `kind` is a type (*Kinds*); each kind of type is asked only for what it has.
        unsafe {
            match (self.f.LLVMGetTypeKind)(kind) {
                type_kind::VOID => Kind::Void,
                type_kind::POINTER => Kind::Pointer,
                type_kind::STRUCT => {
                    let count = (self.f.LLVMCountStructElementTypes)(kind);
                    let mixed =
                        (0..count).any(|i| self.kind((self.f.LLVMStructGetTypeAtIndex)(kind, i)).has_pointer());
                    if mixed { Kind::Mixed } else { Kind::Data }
                }
                type_kind::ARRAY | type_kind::VECTOR => {
                    let element = self.kind((self.f.LLVMGetElementType)(kind));
                    if element.has_pointer() { Kind::Mixed } else { Kind::Data }
                }
                _ => Kind::Data,
            }
        }
    }

    /// Can a value of this type be an address, as it is or as a number?
    unsafe fn wide(&self, kind: TypeRef) -> bool {
        // SAFETY: `kind` is a type (*Kinds*), and an integer where its width is asked for.
        unsafe {
            match (self.f.LLVMGetTypeKind)(kind) {
                type_kind::INTEGER => (self.f.LLVMGetIntTypeWidth)(kind) >= 64,
                type_kind::FLOAT | type_kind::DOUBLE => false,
                _ => true,
            }
        }
    }

    /// An operand that isn't of the function.
    unsafe fn constant(&self, value: ValueRef) -> Operand {
        // SAFETY: `value` is a constant (*Kinds*); of what kind, `LLVMGetValueKind` says before more is asked.
        unsafe {
            if let Some(&id) = self.functions.get(&value) {
                return Operand::Function(id);
            }
            if let Some(&id) = self.globals.get(&value) {
                return Operand::Global(id, 0);
            }
            let pointer = self.kind((self.f.LLVMTypeOf)(value)).has_pointer();
            match (self.f.LLVMGetValueKind)(value) {
                value_kind::NULL => Operand::Null,
                value_kind::UNDEF | value_kind::POISON | value_kind::AGGREGATE_ZERO => Operand::Data,
                value_kind::CONSTANT_EXPR => self.expression(value),
                value_kind::FUNCTION | value_kind::GLOBAL => Operand::Strange,
                _ if pointer => Operand::Strange,
                _ => Operand::Data,
            }
        }
    }

    /// A constant expression: an address in a global variable, or strange.
    unsafe fn expression(&self, value: ValueRef) -> Operand {
        // SAFETY: `value` is a constant expression (*Kinds*), and a `getelementptr` behind the first question.
        unsafe {
            if (self.f.LLVMGetConstOpcode)(value) != opcode::GEP {
                return Operand::Strange;
            }
            let base = self.constant((self.f.LLVMGetOperand)(value, 0));
            let mut sum = 0i64;
            for step in self.steps(value) {
                sum += match step {
                    Step::Field(o) => o as i64,
                    Step::Bytes(o) => o,
                    Step::Along { stride, by: Some(n) } | Step::Element { stride, by: Some(n), .. } => {
                        stride as i64 * n
                    }
                    _ => return Operand::Strange,
                };
            }
            match base {
                Operand::Global(id, offset) => Operand::Global(id, offset + sum),
                _ => Operand::Strange,
            }
        }
    }

    /// The steps of a `getelementptr`.
    unsafe fn steps(&self, gep: ValueRef) -> Vec<Step> {
        let mut steps = vec![];
        // SAFETY: `gep` is a `getelementptr` (*Kinds*): operands from 1 on are its indices, and fit the type that
        // `kind` follows.
        unsafe {
            let mut kind = (self.f.LLVMGetGEPSourceElementType)(gep);
            let size = |t| (self.f.LLVMABISizeOfType)(self.layout, t);
            for i in 1..(self.f.LLVMGetNumOperands)(gep) as c_uint {
                let index = (self.f.LLVMGetOperand)(gep, i);
                let known = ((self.f.LLVMGetValueKind)(index) == value_kind::INT)
                    .then(|| (self.f.LLVMConstIntGetSExtValue)(index));
                if i == 1 {
                    match known {
                        Some(0) => {}
                        Some(n) if size(kind) == 1 => steps.push(Step::Bytes(n)),
                        by => steps.push(Step::Along { stride: size(kind), by }),
                    }
                    continue;
                }
                if (self.f.LLVMGetTypeKind)(kind) == type_kind::STRUCT {
                    let field = known.unwrap_or(0) as c_uint;
                    steps.push(Step::Field((self.f.LLVMOffsetOfElement)(self.layout, kind, field)));
                    kind = (self.f.LLVMStructGetTypeAtIndex)(kind, field);
                } else {
                    let count = if (self.f.LLVMGetTypeKind)(kind) == type_kind::ARRAY {
                        (self.f.LLVMGetArrayLength2)(kind)
                    } else {
                        0
                    };
                    kind = (self.f.LLVMGetElementType)(kind);
                    steps.push(Step::Element { stride: size(kind), count, by: known });
                }
            }
        }
        steps
    }

    unsafe fn at(&mut self, instruction: ValueRef) -> At {
        // SAFETY: `instruction` is one (*Kinds*), with a place in the text; its file's name lives as long as its
        // module, and is copied.
        unsafe {
            if (self.f.LLVMInstructionGetDebugLoc)(instruction).is_null() {
                return At::default();
            }
            let line = (self.f.LLVMGetDebugLocLine)(instruction);
            let part = |read: unsafe extern "C" fn(ValueRef, *mut c_uint) -> *const c_char| {
                let mut length = 0;
                let text = read(instruction, &mut length);
                if text.is_null() {
                    return String::new();
                }
                String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), length as usize)).into_owned()
            };
            let name = (part(self.f.LLVMGetDebugLocDirectory), part(self.f.LLVMGetDebugLocFilename));
            self.place(name, line)
        }
    }

    /// A line of the file with this directory and name.
    fn place(&mut self, name: (String, String), line: u32) -> At {
        if name.1.is_empty() {
            return At::default();
        }
        let file = self.names.iter().rposition(|f| *f == name).unwrap_or_else(|| {
            self.files.push(shown(&name.0, &name.1));
            self.names.push(name);
            self.files.len() - 1
        });
        At { file: file as u32, line }
    }

    unsafe fn function(&mut self, id: FuncId, function: ValueRef, kept: &BTreeSet<String>) -> Function {
        // SAFETY: `function` is one (*Kinds*), parameters are asked for up to its count, and handles behind those are
        // instructions.
        unsafe {
            let kind = (self.f.LLVMGlobalGetValueType)(function);
            let name = self.name(function);
            let count = (self.f.LLVMCountParams)(function);
            let params: Vec<Kind> =
                (0..count).map(|i| self.kind((self.f.LLVMTypeOf)((self.f.LLVMGetParam)(function, i)))).collect();
            let wide = (0..count).map(|i| self.wide((self.f.LLVMTypeOf)((self.f.LLVMGetParam)(function, i))));
            let wide = wide.collect();
            let values = params.iter().map(|&kind| Value {
                op: Op::Param,
                kind,
                at: At::default(),
                handle: std::ptr::null_mut(),
            });
            let mut result = Function {
                // A body that is only there to be inlined is another object's function.
                declared: (self.f.LLVMIsDeclaration)(function) != 0 || (self.f.LLVMGetLinkage)(function) == 1,
                intrinsic: (self.f.LLVMGetIntrinsicID)(function) != 0,
                varargs: (self.f.LLVMIsFunctionVarArg)(kind) != 0,
                kept: kept.contains(&name),
                fixed: false,
                address_taken: false,
                signature: signature(kind, (self.f.LLVMGetFunctionCallConv)(function)),
                result: self.kind((self.f.LLVMGetReturnType)(kind)),
                values: values.collect(),
                params,
                wide,
                handle: function,
                name,
            };
            if !result.declared {
                self.hints.begin(function);
                self.body(id, function, &mut result.values);
                let by_address = result.values[result.params.len()..].iter().any(|v| {
                    let code = (self.f.LLVMGetInstructionOpcode)(v.handle);
                    code == opcode::INDIRECT_BR || code == opcode::CALL_BR
                });
                result.fixed = by_address || self.labels_taken(function);
            }
            result
        }
    }

    /// A function of the C library that may be another one in this function: what `-fno-builtin` says of it.
    unsafe fn own_library(&self, function: ValueRef) -> Option<String> {
        const EACH: [&str; 4] = ["malloc", "calloc", "realloc", "free"];
        let says = |text: &str| {
            // SAFETY: `function` is one (*Kinds*), and `text` has `length` bytes.
            unsafe {
                let of_all = c_uint::MAX;
                let (start, length) = (text.as_ptr().cast(), text.len() as c_uint);
                !(self.f.LLVMGetStringAttributeAtIndex)(function, of_all, start, length).is_null()
            }
        };
        if says("no-builtins") {
            return Some("malloc".into());
        }
        EACH.into_iter().find(|n| says(&format!("no-builtin-{n}"))).map(str::to_string)
    }

    /// Has one of its blocks an address that is used?
    unsafe fn labels_taken(&self, function: ValueRef) -> bool {
        // SAFETY: `function` has a body (*Kinds*); each block comes from LLVM's iteration, until null.
        unsafe {
            let mut block = (self.f.LLVMGetFirstBasicBlock)(function);
            while !block.is_null() {
                if block_address(self.f, block).is_some() {
                    return true;
                }
                block = (self.f.LLVMGetNextBasicBlock)(block);
            }
            false
        }
    }

    unsafe fn body(&mut self, id: FuncId, function: ValueRef, values: &mut Vec<Value>) {
        // SAFETY: `function` has a body (*Kinds*), and as many parameters as `values` has; the rest comes from LLVM's
        // iteration.
        unsafe {
            let mut numbers: HashMap<ValueRef, ValueId> = HashMap::new();
            for i in 0..values.len() as u32 {
                numbers.insert((self.f.LLVMGetParam)(function, i), ValueId(i));
            }
            let mut instructions = vec![];
            let mut block = (self.f.LLVMGetFirstBasicBlock)(function);
            while !block.is_null() {
                let mut next = (self.f.LLVMGetFirstInstruction)(block);
                while !next.is_null() {
                    numbers.insert(next, ValueId((values.len() + instructions.len()) as u32));
                    instructions.push(next);
                    next = (self.f.LLVMGetNextInstruction)(next);
                }
                block = (self.f.LLVMGetNextBasicBlock)(block);
            }
            let times = executions::times(self.f, function);
            for instruction in instructions {
                let mut op = self.instruction(id, instruction, &numbers);
                if let Op::Call(call) = &mut op {
                    call.times = times[&(self.f.LLVMGetInstructionParent)(instruction)];
                }
                let kind = self.kind((self.f.LLVMTypeOf)(instruction));
                let at = self.at(instruction);
                self.hints.note(id, &op, instruction);
                if let Op::Call(_) = op {
                    let way = self.hints.way(instruction);
                    let way: Vec<(String, At)> =
                        way.into_iter().map(|(inside, file, line)| (inside, self.place(file, line))).collect();
                    if way.len() > 1 {
                        self.hints.came(id, ValueId(values.len() as u32), way);
                    }
                }
                values.push(Value { op, kind, at, handle: instruction });
            }
        }
    }

    unsafe fn instruction(&self, id: FuncId, i: ValueRef, numbers: &HashMap<ValueRef, ValueId>) -> Op {
        let f = self.f;
        // SAFETY: `i` is an instruction (*Kinds*), and is asked only for what those of its opcode have.
        unsafe {
            let operand = |n: c_uint| self.operand((f.LLVMGetOperand)(i, n), numbers);
            let all = || (0..(f.LLVMGetNumOperands)(i) as c_uint).map(operand).collect::<Vec<_>>();
            let pointers = |all: &[Operand]| all.iter().any(|o| self.points(*o, i, numbers));
            let size_of = |t| (f.LLVMStoreSizeOfType)(self.layout, t);
            let result = self.kind((f.LLVMTypeOf)(i));
            let plain_access = |i| (f.LLVMGetVolatile)(i) == 0 && (f.LLVMGetOrdering)(i) == 0;
            match (f.LLVMGetInstructionOpcode)(i) {
                opcode::ALLOCA => Op::Alloca,
                opcode::LOAD => Op::Load {
                    from: operand(0),
                    size: size_of((f.LLVMTypeOf)(i)),
                    align: (f.LLVMGetAlignment)(i),
                    simple: plain_access(i),
                    reading: self.reading(i, size_of((f.LLVMTypeOf)(i))),
                },
                opcode::STORE => {
                    let kind = (f.LLVMTypeOf)((f.LLVMGetOperand)(i, 0));
                    Op::Store {
                        to: operand(1),
                        value: operand(0),
                        kind: self.kind(kind),
                        size: size_of(kind),
                        align: (f.LLVMGetAlignment)(i),
                        simple: plain_access(i),
                        copied: self.copied((f.LLVMGetOperand)(i, 0), size_of(kind)),
                    }
                }
                opcode::CMP_XCHG | opcode::RMW => {
                    let kind = (f.LLVMTypeOf)((f.LLVMGetOperand)(i, 1));
                    let values = all().split_off(1);
                    Op::Atomic { on: operand(0), values, size: size_of(kind), kind: self.kind(kind) }
                }
                opcode::GEP if result == Kind::Pointer => Op::Address { base: operand(0), steps: self.steps(i) },
                opcode::PHI => {
                    if !result.has_pointer() {
                        return Op::Plain;
                    }
                    let count = (f.LLVMCountIncoming)(i);
                    Op::Join((0..count).map(|n| self.operand((f.LLVMGetIncomingValue)(i, n), numbers)).collect())
                }
                opcode::SELECT if result.has_pointer() => Op::Join(vec![operand(1), operand(2)]),
                opcode::FREEZE | opcode::EXTRACT_VALUE | opcode::INSERT_VALUE if result.has_pointer() => {
                    Op::Join(all())
                }
                opcode::EXTRACT_VALUE => Op::Plain,
                opcode::ICMP => {
                    let all = all();
                    if !self.kind((f.LLVMTypeOf)((f.LLVMGetOperand)(i, 0))).has_pointer() {
                        return if all.contains(&Operand::Strange) { Op::Strange(all) } else { Op::Plain };
                    }
                    Op::Compare { left: all[0], right: all[1] }
                }
                opcode::PTR_TO_INT => Op::ToInteger { of: operand(0), harmless: self.only_compared(i) },
                opcode::INT_TO_PTR => Op::FromInteger,
                opcode::RET if (f.LLVMGetNumOperands)(i) == 1 => Op::Return(operand(0)),
                opcode::CALL => self.call(id, i, numbers),
                opcode::BIT_CAST if self.is_double((f.LLVMGetOperand)(i, 0)) => Op::BitsOfFloat,
                opcode::INSERT_ELEMENT if self.is_double((f.LLVMGetOperand)(i, 1)) => Op::BitsOfFloat,
                opcode::FENCE | opcode::UNREACHABLE | opcode::BR | opcode::SWITCH | opcode::RET => Op::Plain,
                opcode::INDIRECT_BR | opcode::CALL_BR => Op::Strange(all()),
                _ => {
                    let all = all();
                    if result.has_pointer() || pointers(&all) { Op::Strange(all) } else { Op::Plain }
                }
            }
        }
    }

    /// Is this operand of `i` a pointer?
    unsafe fn points(&self, operand: Operand, i: ValueRef, numbers: &HashMap<ValueRef, ValueId>) -> bool {
        match operand {
            Operand::Data => false,
            Operand::Value(_) => {
                // SAFETY: `i` is an instruction (*Kinds*), and `n` is below the number of its operands.
                unsafe {
                    (0..(self.f.LLVMGetNumOperands)(i) as c_uint).any(|n| {
                        let value = (self.f.LLVMGetOperand)(i, n);
                        self.operand(value, numbers) == operand
                            && self.kind((self.f.LLVMTypeOf)(value)).has_pointer()
                    })
                }
            }
            _ => true,
        }
    }

    unsafe fn operand(&self, value: ValueRef, numbers: &HashMap<ValueRef, ValueId>) -> Operand {
        match numbers.get(&value) {
            Some(&id) => Operand::Value(id),
            // SAFETY: `value` is an operand (*Kinds*) that isn't of the function: a constant, or a block or metadata,
            // which have no value.
            None => unsafe { self.constant_or_none(value) },
        }
    }

    unsafe fn constant_or_none(&self, value: ValueRef) -> Operand {
        // SAFETY: `value` is no instruction (*Kinds*), and no block, metadata or assembly where it is taken for a
        // constant.
        unsafe {
            match (self.f.LLVMGetValueKind)(value) {
                value_kind::BLOCK | value_kind::METADATA | value_kind::ASSEMBLY => Operand::Data,
                _ => self.constant(value),
            }
        }
    }

    /// Does nothing but comparisons and differences come of this integer?
    unsafe fn only_compared(&self, integer: ValueRef) -> bool {
        // SAFETY: `integer` is an instruction (*Kinds*), so its users are instructions, and those that subtract have
        // two operands.
        unsafe {
            let mut next = (self.f.LLVMGetFirstUse)(integer);
            while !next.is_null() {
                let user = (self.f.LLVMGetUser)(next);
                let fine = match (self.f.LLVMGetInstructionOpcode)(user) {
                    opcode::SUB => (0..2).all(|n| {
                        let o = (self.f.LLVMGetOperand)(user, n);
                        (self.f.LLVMGetValueKind)(o) == value_kind::INSTRUCTION
                            && (self.f.LLVMGetInstructionOpcode)(o) == opcode::PTR_TO_INT
                    }),
                    _ => false,
                };
                if !fine {
                    return false;
                }
                next = (self.f.LLVMGetNextUse)(next);
            }
            true
        }
    }

    /// May the value of this load be more than compared, or part of a computation that makes no address of it?
    unsafe fn is_kept(&self, load: ValueRef) -> bool {
        let f = self.f;
        // SAFETY: `load` is an instruction (*Kinds*), so its users are instructions.
        unsafe {
            let mut next = (f.LLVMGetFirstUse)(load);
            while !next.is_null() {
                let user = (f.LLVMGetUser)(next);
                let harmless = match (f.LLVMGetInstructionOpcode)(user) {
                    opcode::TRUNC => (f.LLVMGetIntTypeWidth)((f.LLVMTypeOf)(user)) <= 32,
                    code => opcode::MAKES_NO_ADDRESS.contains(&code),
                };
                if !harmless {
                    return true;
                }
                next = (f.LLVMGetNextUse)(next);
            }
            false
        }
    }

    /// What a load of so many bytes learns of a pointer that may lie there.
    unsafe fn reading(&self, load: ValueRef, size: u64) -> Reading {
        // SAFETY: `load` is an instruction (*Kinds*), so its users, which `is_kept` asks for, are instructions, too.
        unsafe {
            match self.is_double(load) {
                true => Reading { float: true, whole: self.is_measured(load), ..Reading::default() },
                false => Reading {
                    whole: size >= 8 || self.is_measured(load),
                    low: size < 8,
                    carried: self.is_kept(load),
                    float: false,
                },
            }
        }
    }

    /// Is this load compared as a number without a sign, or as a float with one as small as an address is? A program
    /// may take smaller ones for no pointers.
    unsafe fn is_measured(&self, load: ValueRef) -> bool {
        /// `ugt`, `uge`, `ult`, `ule`.
        const UNSIGNED: std::ops::RangeInclusive<std::ffi::c_int> = 34..=37;
        let f = self.f;
        // SAFETY: `load` is an instruction (*Kinds*), so its users are instructions, comparisons of two operands where
        // they are asked for more, and a constant float where its number is asked for.
        unsafe {
            let is_tiny = |value: ValueRef| {
                let is_constant = (f.LLVMGetValueKind)(value) == value_kind::FLOAT;
                is_constant && (f.LLVMConstRealGetDouble)(value, &mut 0).is_subnormal()
            };
            let mut next = (f.LLVMGetFirstUse)(load);
            while !next.is_null() {
                let user = (f.LLVMGetUser)(next);
                let is_measure = match (f.LLVMGetInstructionOpcode)(user) {
                    opcode::ICMP => UNSIGNED.contains(&(f.LLVMGetICmpPredicate)(user)),
                    opcode::FCMP => [0, 1].into_iter().any(|n| is_tiny((f.LLVMGetOperand)(user, n))),
                    _ => false,
                };
                if is_measure {
                    return true;
                }
                next = (f.LLVMGetNextUse)(next);
            }
            false
        }
    }

    /// Is it a single number with a point, as large as a pointer?
    unsafe fn is_double(&self, value: ValueRef) -> bool {
        // SAFETY: any value has a type (*Kinds*).
        unsafe { (self.f.LLVMGetTypeKind)((self.f.LLVMTypeOf)(value)) == type_kind::DOUBLE }
    }

    /// May these data, which are stored, be what was read elsewhere? Constants are not, nor what integers become.
    unsafe fn copied(&self, value: ValueRef, size: u64) -> Copied {
        const MADE: [i32; 5] = [opcode::MUL, opcode::UDIV, opcode::SDIV, opcode::UI_TO_FP, opcode::SI_TO_FP];
        // SAFETY: `value` is an operand (*Kinds*), and an instruction where it is asked for its opcode.
        unsafe {
            let may_be = match (self.f.LLVMGetValueKind)(value) {
                value_kind::INSTRUCTION => !MADE.contains(&(self.f.LLVMGetInstructionOpcode)(value)),
                kind => kind == value_kind::ARGUMENT,
            };
            match may_be && size >= 8 {
                false => Copied::No,
                true if self.is_double(value) => Copied::Float,
                true => Copied::Integer,
            }
        }
    }

    unsafe fn call(&self, id: FuncId, i: ValueRef, numbers: &HashMap<ValueRef, ValueId>) -> Op {
        let f = self.f;
        // SAFETY: `i` is a call (*Kinds*), and `n` is below the number of its arguments.
        unsafe {
            let count = (f.LLVMGetNumArgOperands)(i);
            let handles: Vec<ValueRef> = (0..count).map(|n| (f.LLVMGetOperand)(i, n)).collect();
            let target = (f.LLVMGetCalledValue)(i);
            let callee = match self.functions.get(&target) {
                Some(&id) => Callee::Known(id),
                None if (f.LLVMGetValueKind)(target) == value_kind::ASSEMBLY => Callee::Assembly,
                None => Callee::Indirect(self.operand(target, numbers)),
            };
            let by_value = |n| !(f.LLVMGetCallSiteEnumAttribute)(i, n + 1, self.by_value).is_null();
            let zero = |&v: &ValueRef| match (f.LLVMGetValueKind)(v) {
                value_kind::NULL => true,
                value_kind::INT => (f.LLVMConstIntGetSExtValue)(v) == 0,
                _ => false,
            };
            Op::Call(Box::new(Call {
                callee,
                signature: match (f.LLVMGetInstructionOpcode)(i) {
                    opcode::CALL => signature((f.LLVMGetCalledFunctionType)(i), (f.LLVMGetInstructionCallConv)(i)),
                    _ => 0,
                },
                times: UNBOUNDED,
                used: !(f.LLVMGetFirstUse)(i).is_null(),
                sizes: handles.iter().map(|&v| self.size(id, v, numbers, 0)).collect(),
                zero: handles.iter().map(zero).collect(),
                by_value: (0..count).map(by_value).collect(),
                wide: handles.iter().map(|&v| self.wide((f.LLVMTypeOf)(v))).collect(),
                arguments: handles.into_iter().map(|v| self.operand(v, numbers)).collect(),
            }))
        }
    }

    /// What is known of an integer as a number of bytes.
    unsafe fn size(&self, id: FuncId, value: ValueRef, numbers: &HashMap<ValueRef, ValueId>, depth: u32) -> Size {
        let f = self.f;
        // SAFETY: `value` is an operand (*Kinds*), and an instruction where its opcode and operands are asked for.
        unsafe {
            if (f.LLVMGetTypeKind)((f.LLVMTypeOf)(value)) != type_kind::INTEGER || depth > 8 {
                return Size::Unknown;
            }
            match (f.LLVMGetValueKind)(value) {
                value_kind::INT => return Size::Const((f.LLVMConstIntGetSExtValue)(value) as u64),
                0 => return Size::Param(id, numbers.get(&value).map_or(u32::MAX, |v| v.0)),
                value_kind::INSTRUCTION => {}
                _ => return Size::Unknown,
            }
            let of = |n| self.size(id, (f.LLVMGetOperand)(value, n), numbers, depth + 1);
            let multiple = |s: Size| match s {
                Size::Const(n) | Size::Multiple(n) => n,
                _ => 1,
            };
            match (f.LLVMGetInstructionOpcode)(value) {
                opcode::SEXT | opcode::ZEXT => match of(0) {
                    Size::Const(n) => Size::Const(n),
                    // `(long)n` of a parameter is that parameter when it is a size at all.
                    other @ Size::Param(..) => other,
                    Size::Multiple(n)
                        if n.is_power_of_two() || (f.LLVMGetInstructionOpcode)(value) == opcode::SEXT =>
                    {
                        Size::Multiple(n)
                    }
                    _ => Size::Unknown,
                },
                opcode::MUL => match (of(0), of(1)) {
                    (Size::Const(a), Size::Const(b)) => Size::Const(a.wrapping_mul(b)),
                    (a @ Size::Param(..), b @ Size::Param(..)) => a.times(b),
                    (a, b) => Size::Multiple(multiple(a).wrapping_mul(multiple(b)).max(1)),
                },
                opcode::SHL => match of(1) {
                    Size::Const(b) if b < 32 => Size::Multiple(multiple(of(0)).max(1) << b),
                    _ => Size::Unknown,
                },
                opcode::ADD | opcode::SUB => Size::Multiple(gcd(multiple(of(0)), multiple(of(1))).max(1)),
                opcode::SELECT if self.is_one_for_zero(value) => {
                    let (a, b) = (of(1), of(2));
                    if a == Size::Const(1) { b } else { a }
                }
                opcode::SELECT => Size::Multiple(gcd(multiple(of(1)), multiple(of(2))).max(1)),
                _ => Size::Unknown,
            }
        }
    }
}

impl Reader<'_> {
    /// `n == 0 ? 1 : n`, as allocators of many programs have it.
    unsafe fn is_one_for_zero(&self, select: ValueRef) -> bool {
        let f = self.f;
        // SAFETY: `select` is a selection, so it has three operands, of which the first is asked only if it is a
        // comparison; numbers are asked for only if they are constants of integers.
        unsafe {
            let operand = |of: ValueRef, n| (f.LLVMGetOperand)(of, n);
            let number = |v: ValueRef| match (f.LLVMGetValueKind)(v) {
                value_kind::INT => Some((f.LLVMConstIntGetSExtValue)(v)),
                _ => None,
            };
            let compare = operand(select, 0);
            if (f.LLVMGetValueKind)(compare) != value_kind::INSTRUCTION
                || (f.LLVMGetInstructionOpcode)(compare) != opcode::ICMP
                || number(operand(compare, 1)) != Some(0)
            {
                return false;
            }
            let (zero, other) = match (f.LLVMGetICmpPredicate)(compare) {
                EQUAL => (operand(select, 1), operand(select, 2)),
                UNEQUAL => (operand(select, 2), operand(select, 1)),
                _ => return false,
            };
            number(zero) == Some(1) && other == operand(compare, 0)
        }
    }
}

/// `LLVMIntPredicate`.
const EQUAL: c_int = 32;
const UNEQUAL: c_int = 33;

/// A number for a type of functions and a convention.
fn signature(kind: TypeRef, convention: c_uint) -> u64 {
    // Addresses have 48 bits.
    kind as u64 | u64::from(convention) << 48
}

/// The name of a file for messages: as short as it is from here. Clang cuts names where directories begin to differ
/// from the one it works in.
fn shown(directory: &str, file: &str) -> String {
    let whole = Path::new(directory).join(file);
    let here = std::env::current_dir().unwrap_or_default();
    relative(&whole, &here).to_string_lossy().into_owned()
}

/// A file as seen from a directory: below it, or beside it in the same project.
fn relative(file: &Path, here: &Path) -> PathBuf {
    for (up, directory) in here.ancestors().enumerate().take(MOST_UP + 1) {
        // All projects are below the root and some directory in it.
        if directory.components().count() > 2
            && let Ok(below) = file.strip_prefix(directory)
        {
            return std::iter::repeat_n(Path::new(".."), up).collect::<PathBuf>().join(below);
        }
    }
    file.to_path_buf()
}

/// So many directories up a file still counts as beside.
const MOST_UP: usize = 2;

/// The constant that is the address of a block, if there is one.
///
/// # Safety
/// `block` is a live block.
pub(crate) unsafe fn block_address(f: &ModuleFunctions, block: BasicBlockRef) -> Option<ValueRef> {
    // SAFETY: `block` is live (`# Safety`); its users are instructions, and its address.
    unsafe {
        let mut next = (f.LLVMGetFirstUse)((f.LLVMBasicBlockAsValue)(block));
        while !next.is_null() {
            let user = (f.LLVMGetUser)(next);
            if (f.LLVMGetValueKind)(user) == value_kind::BLOCK_ADDRESS {
                return Some(user);
            }
            next = (f.LLVMGetNextUse)(next);
        }
        None
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_as_seen_from_here() {
        let seen = |file: &str| relative(Path::new(file), Path::new("/all/p/src")).to_string_lossy().into_owned();
        assert_eq!(seen("/all/p/src/a/b.c"), "a/b.c");
        assert_eq!(seen("/all/p/lib/b.c"), "../lib/b.c");
        assert_eq!(seen("/all/q/b.c"), "/all/q/b.c");
        assert_eq!(seen("/usr/include/b.h"), "/usr/include/b.h");
    }
}
