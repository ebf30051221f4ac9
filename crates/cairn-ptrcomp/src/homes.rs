//! Objects on the stack that belong to a data structure of the heap get a place on the heap, too.
//!
//! The problem: `struct node head;` on the stack is the beginning of many a list. Pointers to it lie in the list, so
//! its nodes could have no pool. The idea: before the analysis that decides, such an object becomes one that is
//! allocated where its function begins and freed wherever that returns. For C that is the same, and all that follows
//! knows of nothing but objects of the heap.
//!
//! ```text
//!  f() { struct node head; ...; return x; }    f() { head = cairn_home_new(24); ...; free(head); return x; }
//! ```
//!
//! A pool has objects of one size, so a whole one takes the place of a smaller: the `struct node *first` whose address
//! is a `struct node **` is taken for the first field of a node. Where no pool comes of it, the object goes back to the
//! stack ([`Homes::restore`]).
//!
//! Global variables become objects that are allocated when the program begins: [`crate::global_homes`].
//!
//! Invariant: an object that is moved is made once in each call, and freed in each return; functions whose calls may
//! end otherwise are left alone.
#![allow(unsafe_code)]

use crate::dsa::Analysis;
use crate::dsa::externals::{HOME, runs_again};
use crate::dsa::points_to::{Node, NodeId, flag};
use crate::global_homes::{GlobalHome, Mover};
use crate::llvm_codes::{opcode, value_kind};
use crate::model::*;
use crate::plan::{Decision, Outer, Planner};
use cairn_llvm_c::{BuilderRef, ContextRef, ModuleFunctions, ModuleRef, TypeRef, ValueRef};
use std::collections::BTreeSet;
use std::ffi::{CStr, c_uint};

/// An object, as the program had it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Place {
    /// By the instruction that makes it.
    Stack(FuncId, ValueId),
    /// A variable, and where in an object of its node it begins.
    Global(GlobalId, u64),
}

/// A node with more variables is left alone.
const MOST_GLOBALS: usize = 8;
/// Larger objects stay on the stack.
const MOST: u64 = 1024;
/// What an allocation is aligned to.
const ALIGNMENT: u32 = 16;
/// `LLVMTailCallKind`: the call must be followed by a return.
const MUST_TAIL: i32 = 2;

/// An object that was moved.
struct Home {
    place: Place,
    /// The allocation.
    made: ValueRef,
    was: Was,
}

/// What an object was, and what else was changed for it.
enum Was {
    Object { freed: Vec<ValueRef>, kind: TypeRef, alignment: c_uint },
    Variable(GlobalHome),
}

/// The objects of a module that were moved.
#[derive(Default)]
pub(crate) struct Homes {
    all: Vec<Home>,
}

/// Objects on the stack and variables that keep others of the heap from having a pool.
pub(crate) fn candidates(analysis: &Analysis) -> BTreeSet<Place> {
    let mut all = of_the_stack(analysis);
    let graph = &analysis.graph;
    let module = analysis.module;
    if module.functions.iter().any(|f| f.kept && !f.declared && f.name != "main") {
        return all;
    }
    for id in (0..module.globals.len() as u32).map(GlobalId) {
        let global = &module.globals[id.0 as usize];
        let Some(cell) = analysis.known(FuncId(0), Operand::Global(id, 0)) else { continue };
        let fits = !global.declared && !global.kept && !global.literal && cell.offset >= 0;
        if fits && wanted(graph.node(cell.node)) {
            all.insert(Place::Global(id, cell.offset as u64));
        }
    }
    all
}

/// Do objects of the heap have no pool because others are of its node?
fn wanted(node: &Node) -> bool {
    let never = flag::ESCAPED | flag::FUNCTION | flag::SEEN;
    let few = node.globals.len() <= MOST_GLOBALS;
    node.flags & flag::HEAP != 0 && node.flags & never == 0 && node.collapsed.is_none() && few
}

fn of_the_stack(analysis: &Analysis) -> BTreeSet<Place> {
    let graph = &analysis.graph;
    let module = analysis.module;
    // What ends a function without return would leave the object behind, and what runs code again would free it twice;
    // a handler of signals may come between, where nothing may be allocated.
    let forbids = |name: &str| {
        let handles = ["signal", "sigaction", "sigset", "sigvec", "bsd_signal", "sysv_signal", "__sysv_signal"];
        runs_again(name) || name.contains("jmp") || handles.contains(&name)
    };
    if module.functions.iter().any(|f| f.declared && forbids(&f.name)) {
        return BTreeSet::new();
    }
    let nodes = (0..graph.len() as u32).map(NodeId).filter(|&n| graph.is_node(n)).map(|n| graph.node(n));
    // Those that lie inside of others have to stay.
    let (mut found, mut inside) = (BTreeSet::new(), BTreeSet::new());
    for node in nodes {
        let wanted = wanted(node);
        for &(function, value, offset) in node.stack.iter().filter(|s| wanted || s.2 != 0) {
            if offset == 0 { &mut found } else { &mut inside }.insert(Place::Stack(function, value));
        }
    }
    found.difference(&inside).copied().collect()
}

/// The moved objects of nodes for which nothing is decided.
pub(crate) fn useless(planner: &Planner) -> BTreeSet<(FuncId, ValueId)> {
    let analysis = planner.analysis;
    let (mut all, mut useful) = (BTreeSet::new(), BTreeSet::new());
    let mut look = |decisions: std::collections::BTreeMap<NodeId, Decision>| {
        for (id, decision) in decisions {
            let homes = analysis.graph.node(id).homes.iter().map(|&(function, value, _)| (function, value));
            if decision.shape.is_plain() { all.extend(homes) } else { useful.extend(homes) }
        }
    };
    look(planner.shared());
    for id in analysis.module.function_ids().filter(|id| !analysis.module.function(*id).declared) {
        look(planner.own(id, &|_| Outer::Plain));
    }
    all.difference(&useful).copied().collect()
}

impl Homes {
    /// Moves objects.
    pub(crate) fn make(
        f: &ModuleFunctions,
        context: ContextRef,
        module: ModuleRef,
        model: &Module,
        places: &BTreeSet<Place>,
    ) -> Homes {
        let mut homes = Homes::default();
        // SAFETY: the session's context is live (*Live handles*).
        let builder = unsafe { (f.LLVMCreateBuilderInContext)(context) };
        let maker = Maker { f, context, module, builder };
        let mover = Mover { f, context, module, builder };
        for &place in places {
            homes.all.extend(match place {
                Place::Stack(function, value) => maker.home(model.function(function), value, place),
                Place::Global(id, offset) => mover.beginning().and_then(|main| {
                    let moved = mover.make(main, model.globals[id.0 as usize].handle, offset)?;
                    Some(Home { place, made: moved.made, was: Was::Variable(moved) })
                }),
            });
        }
        // SAFETY: the builder was made above, and is not used again.
        unsafe { (f.LLVMDisposeBuilder)(builder) };
        homes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The places as they were in the program before, of the allocations that took theirs.
    pub(crate) fn before(
        &self,
        model: &Module,
        now: impl IntoIterator<Item = (FuncId, ValueId)>,
    ) -> BTreeSet<Place> {
        let handle =
            |(function, value): (FuncId, ValueId)| model.function(function).values[value.0 as usize].handle;
        let made = |place| self.all.iter().find(|h| h.made == handle(place)).map(|h| h.place);
        now.into_iter().filter_map(made).collect()
    }

    /// Gives objects back their places on the stack.
    pub(crate) fn restore(&mut self, f: &ModuleFunctions, context: ContextRef, places: &BTreeSet<Place>) {
        let (back, stay) = std::mem::take(&mut self.all).into_iter().partition(|h| places.contains(&h.place));
        self.all = stay;
        // SAFETY: `made` and `freed` are calls that `home` made, erased by nobody else (*Live handles*); `object` takes
        // the place of `made` before that is erased.
        unsafe {
            let builder = (f.LLVMCreateBuilderInContext)(context);
            for home in back as Vec<Home> {
                let (freed, kind, alignment) = match home.was {
                    Was::Object { freed, kind, alignment } => (freed, kind, alignment),
                    Was::Variable(moved) => {
                        moved.restore(f);
                        continue;
                    }
                };
                (f.LLVMPositionBuilderBefore)(builder, home.made);
                let object = (f.LLVMBuildAlloca)(builder, kind, NAMELESS.as_ptr());
                (f.LLVMSetAlignment)(object, alignment);
                for free in freed {
                    (f.LLVMInstructionEraseFromParent)(free);
                }
                (f.LLVMReplaceAllUsesWith)(home.made, object);
                (f.LLVMInstructionEraseFromParent)(home.made);
            }
            (f.LLVMDisposeBuilder)(builder);
        }
    }
}

const NAMELESS: &CStr = c"";

struct Maker<'a> {
    f: &'a ModuleFunctions,
    context: ContextRef,
    module: ModuleRef,
    builder: BuilderRef,
}

impl Maker<'_> {
    /// Moves an object, if that can be done.
    fn home(&self, function: &Function, value: ValueId, place: Place) -> Option<Home> {
        let f = self.f;
        let object = function.values[value.0 as usize].handle;
        // SAFETY: `value` is one of the stack's objects, so `object` is an `alloca`, with one operand, in a function
        // with a body.
        unsafe {
            let (kind, alignment) = ((f.LLVMGetAllocatedType)(object), (f.LLVMGetAlignment)(object));
            let size = (f.LLVMABISizeOfType)((f.LLVMGetModuleDataLayout)(self.module), kind);
            let count = (f.LLVMGetOperand)(object, 0);
            let single =
                (f.LLVMGetValueKind)(count) == value_kind::INT && (f.LLVMConstIntGetSExtValue)(count) == 1;
            let first = (f.LLVMGetFirstBasicBlock)(function.handle) == (f.LLVMGetInstructionParent)(object);
            if !single || !first || size == 0 || size > MOST || alignment > ALIGNMENT {
                return None;
            }
            let ends = self.ends(function)?;
            self.forget_life(object);
            let (pointer, word) =
                ((f.LLVMPointerTypeInContext)(self.context, 0), (f.LLVMIntTypeInContext)(self.context, 64));
            (f.LLVMPositionBuilderBefore)(self.builder, object);
            let name = std::ffi::CString::new(HOME).expect("a C name");
            let made = self.call(&name, word, (f.LLVMConstInt)(word, size, 0), pointer);
            (f.LLVMReplaceAllUsesWith)(object, made);
            (f.LLVMInstructionEraseFromParent)(object);
            let nothing = (f.LLVMVoidTypeInContext)(self.context);
            let free = |end| {
                (f.LLVMPositionBuilderBefore)(self.builder, end);
                self.call(c"free", pointer, made, nothing)
            };
            let freed = ends.into_iter().map(free).collect();
            Some(Home { place, made, was: Was::Object { freed, kind, alignment } })
        }
    }

    /// Where the function returns; nothing if it also ends otherwise.
    ///
    /// # Safety
    /// The handles of the function's values are null or instructions (*Live handles*).
    unsafe fn ends(&self, function: &Function) -> Option<Vec<ValueRef>> {
        let f = self.f;
        let mut ends = vec![];
        for value in function.values.iter().filter(|v| !v.handle.is_null()) {
            // SAFETY: `value.handle` is not null, so an instruction (*Live handles*), and a call where it is asked for
            // what calls have.
            unsafe {
                match (f.LLVMGetInstructionOpcode)(value.handle) {
                    opcode::RET => ends.push(value.handle),
                    opcode::CALL if (f.LLVMGetTailCallKind)(value.handle) == MUST_TAIL => return None,
                    _ => {}
                }
            }
        }
        Some(ends)
    }

    /// The object lives as long as the call: what says otherwise says it of the stack.
    ///
    /// # Safety
    /// `object` is an `alloca` (*Live handles*).
    unsafe fn forget_life(&self, object: ValueRef) {
        let f = self.f;
        let mut calls = vec![];
        // SAFETY: `object` is an `alloca`, whose users are instructions; lifetime calls are collected before one is
        // erased.
        unsafe {
            let mut next = (f.LLVMGetFirstUse)(object);
            while !next.is_null() {
                let user = (f.LLVMGetUser)(next);
                if (f.LLVMGetInstructionOpcode)(user) == opcode::CALL {
                    let mut length = 0;
                    let text = (f.LLVMGetValueName2)((f.LLVMGetCalledValue)(user), &mut length);
                    if std::slice::from_raw_parts(text.cast::<u8>(), length).starts_with(b"llvm.lifetime.") {
                        calls.push(user);
                    }
                }
                next = (f.LLVMGetNextUse)(next);
            }
            for call in calls {
                (f.LLVMInstructionEraseFromParent)(call);
            }
        }
    }

    /// A call of a function of this name with one argument, where the builder stands.
    ///
    /// # Safety
    /// `argument` is of the type `of`, and is there.
    unsafe fn call(&self, name: &CStr, of: TypeRef, argument: ValueRef, result: TypeRef) -> ValueRef {
        let f = self.f;
        // SAFETY: `argument` is of the type `of`, and is there where the builder stands (`home`).
        unsafe {
            let kind = (f.LLVMFunctionType)(result, &of, 1, 0);
            let mut function = (f.LLVMGetNamedFunction)(self.module, name.as_ptr());
            if function.is_null() {
                function = (f.LLVMAddFunction)(self.module, name.as_ptr(), kind);
            }
            (f.LLVMBuildCall2)(self.builder, kind, function, &argument, 1, NAMELESS.as_ptr())
        }
    }
}
