//! Pointers to pointers that walk from place to place are taken apart before the analysis.
//!
//! The problem: `struct node **p` begins as the address of a list's head, in a global variable, on the stack or in a
//! table, and goes on to `&(*p)->next` or `&(*p)->left`. For the analysis each pointer has one target, so the head and
//! the members would be one, and nothing with a pool. The idea: within a function it is known of each such pointer
//! which kind of place it can be, so a number says which it is, and for each kind there is a pointer of its own, to the
//! object with the place. What is read or written by way of it is read or written where the number says.
//!
//! ```text
//!  p = phi &head, &n->next                 which = phi 0, 1      object = phi null, n
//!  n = load p                              if which == 0:  a = load &head     else:  b = load &object->next
//!                                          n = phi a, b
//! ```
//!
//! A pointer of only one kind needs no number, and then is no pointer into an object any more. Small functions that get
//! or give such pointers are put where they are called ([`to_inline`]).
//!
//! Invariant: the program does what it did. A pointer that is used otherwise than for accesses of whole pointers and
//! comparisons with null stays as it is.
#![allow(unsafe_code)]

use crate::llvm_codes::{opcode, type_kind, value_kind};
use crate::module_reader::block_address;
use cairn_llvm_c::{BasicBlockRef, BuilderRef, ContextRef, ModuleFunctions, ModuleRef, TypeRef, ValueRef};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{CStr, c_uint};

const NAMELESS: &CStr = c"";
/// `LLVMIntPredicate`.
const EQUAL: i32 = 32;
const UNEQUAL: i32 = 33;
/// With more kinds of places, a pointer stays as it is.
const MOST_KINDS: usize = 6;
/// Larger functions are not put where they are called.
const MOST_INLINED: usize = 120;

/// Takes the pointers of a module apart; false if there are none.
pub(crate) fn take_apart(f: &ModuleFunctions, context: ContextRef, module: ModuleRef) -> bool {
    // SAFETY: the session's context and module are live (*Live handles*); functions come from LLVM's iteration, and
    // only those with bodies are looked into.
    unsafe {
        let builder = (f.LLVMCreateBuilderInContext)(context);
        let slots = Slots {
            f,
            context,
            builder,
            pointer: (f.LLVMPointerTypeInContext)(context, 0),
            number: (f.LLVMIntTypeInContext)(context, 32),
        };
        let mut any = false;
        let mut function = (f.LLVMGetFirstFunction)(module);
        while !function.is_null() {
            if (f.LLVMIsDeclaration)(function) == 0 {
                any |= slots.function(function);
            }
            function = (f.LLVMGetNextFunction)(function);
        }
        (f.LLVMDisposeBuilder)(builder);
        any
    }
}

/// The functions that should be put where they are called: small ones with a parameter that is only the place of a
/// pointer, of which a call gives a place in an object or a variable; and those that return such a place.
pub(crate) fn to_inline(f: &ModuleFunctions, module: ModuleRef) -> Vec<ValueRef> {
    let mut all = vec![];
    // SAFETY: the session's module is live (*Live handles*); functions come from LLVM's iteration, and parameters are
    // asked for up to their number.
    unsafe {
        let mut function = (f.LLVMGetFirstFunction)(module);
        while !function.is_null() {
            if (f.LLVMIsDeclaration)(function) == 0 {
                let places: Vec<c_uint> = (0..(f.LLVMCountParams)(function))
                    .filter(|&n| is_place(f, (f.LLVMGetParam)(function, n), &mut BTreeSet::new()).unwrap_or(false))
                    .collect();
                let given = !places.is_empty() && is_given_places(f, function, &places);
                if (given || gives_places(f, function)) && is_small(f, function) {
                    all.push(function);
                }
            }
            function = (f.LLVMGetNextFunction)(function);
        }
    }
    all
}

/// Users of a value.
///
/// # Safety
/// `value` is live.
unsafe fn users(f: &ModuleFunctions, value: ValueRef) -> Vec<ValueRef> {
    let mut all = vec![];
    // SAFETY: `value` is live (`# Safety`); uses come from LLVM's iteration, until null.
    unsafe {
        let mut next = (f.LLVMGetFirstUse)(value);
        while !next.is_null() {
            all.push((f.LLVMGetUser)(next));
            next = (f.LLVMGetNextUse)(next);
        }
    }
    all
}

/// Is a pointer read or written by way of this one, or one that may be it, and nothing else done with it than that it
/// is passed on? Nothing, if something else is done.
///
/// # Safety
/// `value` is a pointer of a function.
unsafe fn is_place(f: &ModuleFunctions, value: ValueRef, seen: &mut BTreeSet<ValueRef>) -> Option<bool> {
    if !seen.insert(value) {
        return Some(false);
    }
    let mut any = false;
    // SAFETY: users of a value of a function are instructions, which are asked for what those of their opcode have.
    unsafe {
        if (f.LLVMGetTypeKind)((f.LLVMTypeOf)(value)) != type_kind::POINTER {
            return None;
        }
        for user in users(f, value) {
            match (f.LLVMGetInstructionOpcode)(user) {
                opcode::LOAD | opcode::STORE if is_access(f, user, value) => any = true,
                opcode::PHI | opcode::SELECT => any |= is_place(f, user, seen)?,
                opcode::ICMP | opcode::RET | opcode::CALL => {}
                _ => return None,
            }
        }
    }
    Some(any)
}

/// Does this instruction read or write a whole pointer where `place` points to, and does not keep `place`?
///
/// # Safety
/// `user` is an instruction that uses `place`.
unsafe fn is_access(f: &ModuleFunctions, user: ValueRef, place: ValueRef) -> bool {
    // SAFETY: `user` is an instruction (`# Safety`); loads have one operand, stores two.
    unsafe {
        let (code, pointer) =
            ((f.LLVMGetInstructionOpcode)(user), |v| (f.LLVMGetTypeKind)((f.LLVMTypeOf)(v)) == type_kind::POINTER);
        if code != opcode::LOAD && code != opcode::STORE {
            return false;
        }
        if (f.LLVMGetVolatile)(user) != 0 || (f.LLVMGetOrdering)(user) != 0 {
            return false;
        }
        match code {
            opcode::LOAD => pointer(user),
            _ => {
                let stored = (f.LLVMGetOperand)(user, 0);
                pointer(stored) && stored != place && (f.LLVMGetOperand)(user, 1) == place
            }
        }
    }
}

/// # Safety
/// `function` has a body.
unsafe fn is_small(f: &ModuleFunctions, function: ValueRef) -> bool {
    let mut count = 0;
    // SAFETY: `function` has a body (`# Safety`); blocks and instructions come from LLVM's iteration, and calls are
    // asked for what they call.
    unsafe {
        let mut block = (f.LLVMGetFirstBasicBlock)(function);
        while !block.is_null() {
            let mut i = (f.LLVMGetFirstInstruction)(block);
            while !i.is_null() {
                count += 1;
                let itself =
                    (f.LLVMGetInstructionOpcode)(i) == opcode::CALL && (f.LLVMGetCalledValue)(i) == function;
                if itself || count > MOST_INLINED {
                    return false;
                }
                i = (f.LLVMGetNextInstruction)(i);
            }
            block = (f.LLVMGetNextBasicBlock)(block);
        }
    }
    true
}

/// Is there a call that gives one of these parameters a place in an object, or a variable?
///
/// # Safety
/// `function` has a body.
unsafe fn is_given_places(f: &ModuleFunctions, function: ValueRef, places: &[c_uint]) -> bool {
    // SAFETY: users of a function are instructions or constants, of which only calls are looked at, and these have as
    // many operands as they are asked for.
    unsafe {
        users(f, function).into_iter().any(|user| {
            let call = (f.LLVMGetValueKind)(user) == value_kind::INSTRUCTION
                && (f.LLVMGetInstructionOpcode)(user) == opcode::CALL
                && (f.LLVMGetCalledValue)(user) == function;
            call && places.iter().any(|&n| {
                n < (f.LLVMGetNumArgOperands)(user) as c_uint && {
                    let given = (f.LLVMGetOperand)(user, n);
                    match (f.LLVMGetValueKind)(given) {
                        value_kind::GLOBAL | value_kind::CONSTANT_EXPR => true,
                        value_kind::INSTRUCTION => {
                            let code = (f.LLVMGetInstructionOpcode)(given);
                            [opcode::GEP, opcode::ALLOCA, opcode::PHI, opcode::SELECT].contains(&code)
                        }
                        _ => false,
                    }
                }
            })
        })
    }
}

/// Does this function return addresses that it computes, which a caller takes for places of pointers?
///
/// # Safety
/// `function` has a body.
unsafe fn gives_places(f: &ModuleFunctions, function: ValueRef) -> bool {
    let computed = [opcode::GEP, opcode::PHI, opcode::SELECT];
    // SAFETY: `function` has a body (`# Safety`); a block ends with a terminator, and a return has one operand where
    // that is asked for. Users of a function are instructions or constants, of which only calls are looked at.
    unsafe {
        let mut returns = false;
        let mut block = (f.LLVMGetFirstBasicBlock)(function);
        while !block.is_null() {
            let end = (f.LLVMGetBasicBlockTerminator)(block);
            if (f.LLVMGetInstructionOpcode)(end) == opcode::RET && (f.LLVMGetNumOperands)(end) == 1 {
                let given = (f.LLVMGetOperand)(end, 0);
                returns |= (f.LLVMGetTypeKind)((f.LLVMTypeOf)(given)) == type_kind::POINTER
                    && (f.LLVMGetValueKind)(given) == value_kind::INSTRUCTION
                    && computed.contains(&(f.LLVMGetInstructionOpcode)(given));
            }
            block = (f.LLVMGetNextBasicBlock)(block);
        }
        returns
            && users(f, function).into_iter().any(|user| {
                (f.LLVMGetValueKind)(user) == value_kind::INSTRUCTION
                    && (f.LLVMGetInstructionOpcode)(user) == opcode::CALL
                    && (f.LLVMGetCalledValue)(user) == function
                    && is_place(f, user, &mut BTreeSet::new()) == Some(true)
            })
    }
}

/// A kind of places, as far as it is the same in all of them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// No place.
    Null,
    /// This constant.
    Constant(ValueRef),
    /// What is at the beginning of this object, or is known by its address alone.
    Itself(ValueRef),
    /// What is at the beginning of an object that was found by way of the pointer.
    Found,
    /// So far from an object: `getelementptr`s, the outermost first. The object and numbers that aren't constant are
    /// told apart by their types alone.
    From(Vec<(TypeRef, Vec<Result<ValueRef, TypeRef>>)>),
}

/// A kind of places, with an example.
struct Example {
    kind: Kind,
    /// The computation, outermost first.
    way: Vec<ValueRef>,
}

/// A place: its kind, and what is different in places of that kind.
struct Place {
    kind: Kind,
    way: Vec<ValueRef>,
    parts: Vec<ValueRef>,
}

/// What stands for a pointer: which kind it is, and for each kind what the places of that kind are told apart by.
struct Apart {
    which: ValueRef,
    parts: Vec<Vec<ValueRef>>,
}

/// Phis and selections that are joined with each other; the same program has them in the same order.
struct Web {
    all: Vec<ValueRef>,
    has: HashSet<ValueRef>,
}

impl Web {
    fn contains(&self, value: &ValueRef) -> bool {
        self.has.contains(value)
    }

    fn iter(&self) -> std::slice::Iter<'_, ValueRef> {
        self.all.iter()
    }
}

struct Slots<'a> {
    f: &'a ModuleFunctions,
    context: ContextRef,
    builder: BuilderRef,
    pointer: TypeRef,
    number: TypeRef,
}

impl Slots<'_> {
    /// # Safety
    /// `function` has a body.
    unsafe fn function(&self, function: ValueRef) -> bool {
        let f = self.f;
        let mut joins = vec![];
        // SAFETY: `function` has a body (`# Safety`); blocks and instructions come from LLVM's iteration.
        unsafe {
            let mut block = (f.LLVMGetFirstBasicBlock)(function);
            while !block.is_null() {
                // Blocks whose addresses are taken are not divided.
                if block_address(f, block).is_some() {
                    return false;
                }
                let mut i = (f.LLVMGetFirstInstruction)(block);
                while !i.is_null() {
                    let code = (f.LLVMGetInstructionOpcode)(i);
                    if code == opcode::INDIRECT_BR || code == opcode::CALL_BR {
                        return false;
                    }
                    let points = (f.LLVMTypeOf)(i) == self.pointer;
                    if points && (code == opcode::PHI || code == opcode::SELECT) {
                        joins.push(i);
                    }
                    i = (f.LLVMGetNextInstruction)(i);
                }
                block = (f.LLVMGetNextBasicBlock)(block);
            }
        }
        let mut any = false;
        let mut left: BTreeSet<ValueRef> = joins.iter().copied().collect();
        for join in joins {
            if left.contains(&join) {
                // SAFETY: `join` is a phi or selection that no web before has had.
                unsafe {
                    let web = self.web(join);
                    web.iter().for_each(|m| {
                        left.remove(m);
                    });
                    any |= self.take_apart(&web);
                }
            }
        }
        any
    }

    /// The values that a phi or selection may be.
    ///
    /// # Safety
    /// `join` is a phi or a selection.
    unsafe fn operands(&self, join: ValueRef) -> Vec<ValueRef> {
        let f = self.f;
        // SAFETY: `join` is a phi or a selection (`# Safety`), which has so many values.
        unsafe {
            match (f.LLVMGetInstructionOpcode)(join) {
                opcode::PHI => {
                    (0..(f.LLVMCountIncoming)(join)).map(|n| (f.LLVMGetIncomingValue)(join, n)).collect()
                }
                _ => vec![(f.LLVMGetOperand)(join, 1), (f.LLVMGetOperand)(join, 2)],
            }
        }
    }

    /// # Safety
    /// `value` is live.
    unsafe fn is_join(&self, value: ValueRef) -> bool {
        let f = self.f;
        // SAFETY: `value` is live (`# Safety`), and an instruction where it is asked for its opcode.
        unsafe {
            (f.LLVMGetValueKind)(value) == value_kind::INSTRUCTION
                && [opcode::PHI, opcode::SELECT].contains(&(f.LLVMGetInstructionOpcode)(value))
        }
    }

    /// All phis and selections that are joined with this one.
    ///
    /// # Safety
    /// `start` is a phi or a selection of pointers.
    unsafe fn web(&self, start: ValueRef) -> Web {
        let mut web = Web { all: vec![start], has: HashSet::from([start]) };
        let mut next = 0;
        // SAFETY: only phis and selections get into `web`; their users are instructions.
        unsafe {
            while let Some(&join) = web.all.get(next) {
                next += 1;
                for other in self.operands(join).into_iter().chain(users(self.f, join)) {
                    let points = (self.f.LLVMTypeOf)(other) == self.pointer;
                    if points && self.is_join(other) && web.has.insert(other) {
                        web.all.push(other);
                    }
                }
            }
        }
        web
    }

    /// What kind of place this is; nothing if it is computed from the web itself.
    ///
    /// # Safety
    /// `value` is a pointer.
    unsafe fn place(&self, web: &Web, value: ValueRef) -> Option<Place> {
        let f = self.f;
        let (mut way, mut parts, mut steps, mut root) = (vec![], vec![], vec![], value);
        // SAFETY: `value` is a pointer (`# Safety`), and each `root` behind it the first operand of a `getelementptr`.
        unsafe {
            match (f.LLVMGetValueKind)(value) {
                value_kind::NULL | value_kind::UNDEF | value_kind::POISON => {
                    return Some(Place { kind: Kind::Null, way, parts });
                }
                value_kind::GLOBAL | value_kind::CONSTANT_EXPR | value_kind::FUNCTION => {
                    return Some(Place { kind: Kind::Constant(value), way, parts });
                }
                _ => {}
            }
            while (f.LLVMGetValueKind)(root) == value_kind::INSTRUCTION
                && (f.LLVMGetInstructionOpcode)(root) == opcode::GEP
                && (f.LLVMTypeOf)(root) == self.pointer
            {
                let mut step = vec![];
                for n in 1..(f.LLVMGetNumOperands)(root) as c_uint {
                    let index = (f.LLVMGetOperand)(root, n);
                    step.push(match (f.LLVMGetValueKind)(index) {
                        value_kind::INT => Ok(index),
                        _ => {
                            parts.push(index);
                            Err((f.LLVMTypeOf)(index))
                        }
                    });
                }
                steps.push(((f.LLVMGetGEPSourceElementType)(root), step));
                way.push(root);
                root = (f.LLVMGetOperand)(root, 0);
            }
        }
        parts.push(root);
        if way.is_empty() {
            // SAFETY: `value` is live (`# Safety`), and a load where it is asked for its address.
            let found = unsafe {
                (f.LLVMGetValueKind)(value) == value_kind::INSTRUCTION
                    && (f.LLVMGetInstructionOpcode)(value) == opcode::LOAD
                    && web.contains(&(f.LLVMGetOperand)(value, 0))
            };
            return Some(Place { kind: if found { Kind::Found } else { Kind::Itself(value) }, way, parts });
        }
        (!web.contains(&root)).then_some(Place { kind: Kind::From(steps), way, parts })
    }

    /// Takes a web of joins apart, if that can be done and is of use.
    ///
    /// # Safety
    /// `web` are phis and selections of pointers of one function, with all that are joined with them.
    unsafe fn take_apart(&self, web: &Web) -> bool {
        let f = self.f;
        let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
        let mut examples: Vec<Example> = vec![];
        let (mut accesses, mut comparisons) = (vec![], vec![]);
        // SAFETY: members of `web` are joins (`# Safety`), whose users are instructions and whose operands pointers.
        unsafe {
            for &join in web.iter() {
                for user in users(f, join) {
                    let code = (f.LLVMGetInstructionOpcode)(user);
                    if web.contains(&user) {
                        // A selection may use it as what it selects only.
                        continue;
                    }
                    let predicate = if code == opcode::ICMP { (f.LLVMGetICmpPredicate)(user) } else { 0 };
                    if is_access(f, user, join) {
                        accesses.push((user, join));
                    } else if [EQUAL, UNEQUAL].contains(&predicate)
                        && (f.LLVMGetValueKind)((f.LLVMGetOperand)(user, 1)) == value_kind::NULL
                    {
                        comparisons.push((user, join));
                    } else {
                        return false;
                    }
                }
                for operand in self.operands(join).into_iter().filter(|o| !web.contains(o)) {
                    let Some(place) = self.place(web, operand) else { return false };
                    if !kinds.contains_key(&place.kind) {
                        kinds.insert(place.kind.clone(), kinds.len());
                        examples.push(Example { kind: place.kind, way: place.way });
                    }
                }
            }
            let places = |e: &Example| !e.way.is_empty() || matches!(e.kind, Kind::Constant(_));
            let found = |e: &Example| e.kind == Kind::Found;
            // Where only objects are walked along, a place is written in none of them, or in all.
            let written = accesses.iter().any(|(a, _)| (f.LLVMGetInstructionOpcode)(*a) == opcode::STORE);
            let inner = examples.iter().any(places) || examples.iter().any(found) && written;
            if accesses.is_empty() || !inner || examples.len() > MOST_KINDS {
                return false;
            }
            let Some(order) = self.selections(web) else { return false };
            let apart = self.apart(web, &order, &kinds, &examples);
            for (user, join) in comparisons {
                self.compare(user, &apart[&join], &examples);
            }
            for (user, join) in accesses {
                self.access(user, &apart[&join], &examples);
            }
            for &join in web.iter() {
                (f.LLVMReplaceAllUsesWith)(join, (f.LLVMConstNull)(self.pointer));
                (f.LLVMInstructionEraseFromParent)(join);
            }
        }
        true
    }

    /// The selections of a web, each behind those that it selects from; code that is never reached may have none such.
    ///
    /// # Safety
    /// `web` are phis and selections of pointers of one function.
    unsafe fn selections(&self, web: &Web) -> Option<Vec<ValueRef>> {
        // SAFETY: members of `web` are joins (`# Safety`).
        let is_phi = |j: &ValueRef| unsafe { (self.f.LLVMGetInstructionOpcode)(*j) } == opcode::PHI;
        let (mut order, mut left): (Vec<ValueRef>, Vec<ValueRef>) = (vec![], vec![]);
        left.extend(web.iter().copied().filter(|j| !is_phi(j)));
        while !left.is_empty() {
            // SAFETY: what is left are members of `web`, which are joins (`# Safety`).
            let waits = |j: &ValueRef| unsafe { self.operands(*j) }.iter().any(|o| left.contains(o));
            let (later, now): (Vec<ValueRef>, Vec<ValueRef>) = left.iter().copied().partition(waits);
            if now.is_empty() {
                return None;
            }
            order.extend(now);
            left = later;
        }
        Some(order)
    }

    /// Makes what stands for the members of a web.
    ///
    /// # Safety
    /// `web` are phis and selections of pointers of one function, with all that are joined with them; `order` are its
    /// selections, `kinds` those of all operands, and number the examples.
    unsafe fn apart(
        &self,
        web: &Web,
        order: &[ValueRef],
        kinds: &BTreeMap<Kind, usize>,
        examples: &[Example],
    ) -> HashMap<ValueRef, Apart> {
        let f = self.f;
        // SAFETY: joins are instructions in blocks; what is made before one is of the types of what it joins, and has
        // the values of the same blocks. A phi gets its values when all have been made.
        unsafe {
            // The types of what places of each kind are told apart by.
            let types: Vec<Vec<TypeRef>> = examples
                .iter()
                .map(|e| match &e.kind {
                    Kind::From(steps) => {
                        let numbers = steps.iter().flat_map(|(_, step)| step.iter().filter_map(|s| s.err()));
                        numbers.chain([self.pointer]).collect()
                    }
                    Kind::Itself(_) | Kind::Found => vec![self.pointer],
                    Kind::Null | Kind::Constant(_) => vec![],
                })
                .collect();
            let mut all: HashMap<ValueRef, Apart> = HashMap::new();
            let phis = |join: ValueRef| (f.LLVMGetInstructionOpcode)(join) == opcode::PHI;
            for &join in web.iter().filter(|j| phis(**j)) {
                (f.LLVMPositionBuilderBefore)(self.builder, join);
                let make = |t: TypeRef| (f.LLVMBuildPhi)(self.builder, t, NAMELESS.as_ptr());
                let parts = types.iter().map(|row| row.iter().map(|&t| make(t)).collect()).collect();
                all.insert(join, Apart { which: make(self.number), parts });
            }
            let nothing = || {
                types.iter().map(|r| r.iter().map(|&t| (f.LLVMConstNull)(t)).collect()).collect::<Vec<Vec<_>>>()
            };
            let of = |all: &HashMap<ValueRef, Apart>, value: ValueRef| -> Option<(ValueRef, Vec<Vec<ValueRef>>)> {
                if let Some(known) = all.get(&value) {
                    return Some((known.which, known.parts.clone()));
                }
                if web.contains(&value) {
                    return None;
                }
                let place = self.place(web, value)?;
                let kind = kinds[&place.kind];
                let mut parts = nothing();
                parts[kind] = place.parts;
                Some(((f.LLVMConstInt)(self.number, kind as u64, 0), parts))
            };
            for &join in order {
                let operand =
                    |n| of(&all, (f.LLVMGetOperand)(join, n)).expect("it comes behind what it selects from");
                let (a, b) = (operand(1), operand(2));
                (f.LLVMPositionBuilderBefore)(self.builder, join);
                let condition = (f.LLVMGetOperand)(join, 0);
                let one = |a, b| (f.LLVMBuildSelect)(self.builder, condition, a, b, NAMELESS.as_ptr());
                let rows = a.1.iter().zip(&b.1);
                let parts = rows.map(|(a, b)| a.iter().zip(b).map(|(&a, &b)| one(a, b)).collect()).collect();
                let which = one(a.0, b.0);
                all.insert(join, Apart { which, parts });
            }
            for &join in web.iter().filter(|j| phis(**j)) {
                for n in 0..(f.LLVMCountIncoming)(join) {
                    let (block, value) = ((f.LLVMGetIncomingBlock)(join, n), (f.LLVMGetIncomingValue)(join, n));
                    let (which, parts) = of(&all, value).expect("all joins are there");
                    let add = |phi: ValueRef, value: ValueRef| (f.LLVMAddIncoming)(phi, &value, &block, 1);
                    add(all[&join].which, which);
                    for (row, values) in all[&join].parts.iter().zip(&parts) {
                        row.iter().zip(values).for_each(|(&phi, &value)| add(phi, value));
                    }
                }
            }
            all
        }
    }

    /// The address of a place of this kind, where the builder stands.
    ///
    /// # Safety
    /// `parts` are those of a place of the example's kind.
    unsafe fn address(&self, example: &Example, parts: &[ValueRef]) -> ValueRef {
        let f = self.f;
        // SAFETY: a clone of each `getelementptr` of the example gets operands of the types it has (`place`).
        unsafe {
            let steps = match &example.kind {
                Kind::Null => return (f.LLVMConstNull)(self.pointer),
                Kind::Constant(value) => return *value,
                Kind::Itself(_) | Kind::Found => return parts[0],
                Kind::From(steps) => steps,
            };
            let (&root, numbers) = parts.split_last().expect("an object");
            let (mut address, mut left) = (root, numbers.len());
            for (way, (_, step)) in example.way.iter().zip(steps).rev() {
                let new = (f.LLVMInstructionClone)(*way);
                (f.LLVMInsertIntoBuilder)(self.builder, new);
                (f.LLVMSetOperand)(new, 0, address);
                let open: Vec<usize> = (0..step.len()).filter(|&n| step[n].is_err()).collect();
                left -= open.len();
                for (n, &number) in open.into_iter().zip(&numbers[left..]) {
                    (f.LLVMSetOperand)(new, n as c_uint + 1, number);
                }
                address = new;
            }
            address
        }
    }

    /// A comparison with null: of each kind, for itself.
    ///
    /// # Safety
    /// `user` compares a member of a web, for which `apart` stands, with null.
    unsafe fn compare(&self, user: ValueRef, apart: &Apart, examples: &[Example]) {
        let f = self.f;
        // SAFETY: `user` is a comparison (`# Safety`), and takes the value of its kind that is made before it.
        unsafe {
            (f.LLVMPositionBuilderBefore)(self.builder, user);
            let equal = |a, b| (f.LLVMBuildICmp)(self.builder, EQUAL, a, b, NAMELESS.as_ptr());
            let mut any = (f.LLVMConstInt)((f.LLVMTypeOf)(user), 0, 0);
            let none = any;
            for (kind, example) in examples.iter().enumerate() {
                let null = match &example.kind {
                    Kind::Constant(_) => continue,
                    _ => equal(self.address(example, &apart.parts[kind]), (f.LLVMConstNull)(self.pointer)),
                };
                let this = equal(apart.which, (f.LLVMConstInt)(self.number, kind as u64, 0));
                // A selection, since what is far from no object is poison where the place is of another kind.
                let both = (f.LLVMBuildSelect)(self.builder, this, null, none, NAMELESS.as_ptr());
                any = (f.LLVMBuildOr)(self.builder, any, both, NAMELESS.as_ptr());
            }
            if (f.LLVMGetICmpPredicate)(user) == UNEQUAL {
                any = equal(any, none);
            }
            (f.LLVMReplaceAllUsesWith)(user, any);
            (f.LLVMInstructionEraseFromParent)(user);
        }
    }

    /// An access: where the number says.
    ///
    /// # Safety
    /// `user` is a load or store at a member of a web, for which `apart` stands.
    unsafe fn access(&self, user: ValueRef, apart: &Apart, examples: &[Example]) {
        let f = self.f;
        // SAFETY: `user` is a load or store (`# Safety`); its clones are put into blocks that lead to the rest of its
        // own.
        unsafe {
            let place = if (f.LLVMGetInstructionOpcode)(user) == opcode::LOAD { 0 } else { 1 };
            let kinds: Vec<usize> = (0..examples.len()).filter(|&k| examples[k].kind != Kind::Null).collect();
            if let [kind] = kinds[..] {
                (f.LLVMPositionBuilderBefore)(self.builder, user);
                let address = self.address(&examples[kind], &apart.parts[kind]);
                return (f.LLVMSetOperand)(user, place, address);
            }
            let (mut head, rest) = self.divide(user);
            let (mut values, mut arms): (Vec<ValueRef>, Vec<BasicBlockRef>) = (vec![], vec![]);
            for (n, &kind) in kinds.iter().enumerate() {
                let new = || (f.LLVMInsertBasicBlockInContext)(self.context, rest, NAMELESS.as_ptr());
                let arm = new();
                (f.LLVMPositionBuilderAtEnd)(self.builder, head);
                if n + 1 < kinds.len() {
                    let number = (f.LLVMConstInt)(self.number, kind as u64, 0);
                    let this = (f.LLVMBuildICmp)(self.builder, EQUAL, apart.which, number, NAMELESS.as_ptr());
                    // What comes last needs no block of its own.
                    head = new();
                    (f.LLVMBuildCondBr)(self.builder, this, arm, head);
                } else {
                    (f.LLVMBuildBr)(self.builder, arm);
                }
                (f.LLVMPositionBuilderAtEnd)(self.builder, arm);
                let address = self.address(&examples[kind], &apart.parts[kind]);
                let copy = (f.LLVMInstructionClone)(user);
                (f.LLVMInsertIntoBuilder)(self.builder, copy);
                (f.LLVMSetOperand)(copy, place, address);
                (f.LLVMBuildBr)(self.builder, rest);
                values.push(copy);
                arms.push(arm);
            }
            if place == 0 {
                (f.LLVMPositionBuilderBefore)(self.builder, user);
                let phi = (f.LLVMBuildPhi)(self.builder, self.pointer, NAMELESS.as_ptr());
                (f.LLVMAddIncoming)(phi, values.as_ptr(), arms.as_ptr(), arms.len() as c_uint);
                (f.LLVMReplaceAllUsesWith)(user, phi);
            }
            (f.LLVMInstructionEraseFromParent)(user);
        }
    }

    /// Divides a block before an instruction: a new block, without an end, has what comes before, and whoever went to
    /// the block comes there. The block that was has the rest, and whoever it goes to knows it.
    ///
    /// # Safety
    /// `at` is an instruction, but no phi, in a block that has an end and no address.
    unsafe fn divide(&self, at: ValueRef) -> (BasicBlockRef, BasicBlockRef) {
        let f = self.f;
        // SAFETY: `at` lies in a block with an end (`# Safety`). Moved instructions keep their order; while all that
        // refers to the block is made to refer to its head, it has no end, so that phis of its successors keep naming
        // it.
        unsafe {
            // What is moved keeps its line.
            (f.LLVMSetCurrentDebugLocation2)(self.builder, std::ptr::null_mut());
            let rest = (f.LLVMGetInstructionParent)(at);
            let head = (f.LLVMInsertBasicBlockInContext)(self.context, rest, NAMELESS.as_ptr());
            let end = (f.LLVMGetBasicBlockTerminator)(rest);
            (f.LLVMInstructionRemoveFromParent)(end);
            (f.LLVMReplaceAllUsesWith)((f.LLVMBasicBlockAsValue)(rest), (f.LLVMBasicBlockAsValue)(head));
            (f.LLVMPositionBuilderAtEnd)(self.builder, rest);
            (f.LLVMInsertIntoBuilder)(self.builder, end);
            (f.LLVMPositionBuilderAtEnd)(self.builder, head);
            let mut next = (f.LLVMGetFirstInstruction)(rest);
            while next != at {
                let moved = next;
                next = (f.LLVMGetNextInstruction)(next);
                (f.LLVMInstructionRemoveFromParent)(moved);
                (f.LLVMInsertIntoBuilder)(self.builder, moved);
            }
            (head, rest)
        }
    }
}
