//! Helpers of the tests: building Frame IR by hand, and a runtime that is just big enough to run it.
#![allow(unsafe_code, dead_code, missing_docs)]

use cairn_core::ir::{GlobalId, Literal};
use cairn_core::prim::{Op as P, PrimOp};
use cairn_frame::ir::*;
use cairn_layout::Value;
use cairn_layout::calls::{RT_CALLS, by_symbol};
use cairn_layout::code::{Site, SlowCall};
use cairn_layout::collector::{Allocation, FreeList, prefix};
use cairn_layout::facts::{CollectorFacts, FrameKind, GEN, StrategyFacts};
use cairn_layout::machine::{Machine, STOP};
use cairn_layout::module::{ModuleTable, NODE_PLACEHOLDER};
use cairn_layout::object::{AllocKind, continuation};
use cairn_layout::quasi;
use cairn_layout::value::TAG_PROCEDURE;
use cairn_llvm::Jit;
use cairn_llvm::backend::{OptLevel, compile_in_parts};
use cairn_llvm::emit_module;
use cairn_num::{Int, Number};
use std::mem::offset_of;
use std::rc::Rc;

pub mod emitted;
pub mod invented;
pub mod uses;

// ---- building

pub fn fix(i: i64) -> Operand {
    Operand::Const(Literal::Number(Number::Int(Int::Fix(i))))
}
pub fn flo(x: f64) -> Operand {
    Operand::Const(Literal::Number(Number::Flo(x)))
}
pub fn var(i: u32) -> Operand {
    Operand::Var(Var(i))
}
pub fn lit(l: Literal) -> Operand {
    Operand::Const(l)
}
pub fn prim_of(op: PrimOp, args: &[Operand], proven: u8) -> Prim {
    Prim { op, args: args.to_vec(), site: Site::new(0, 7), proven }
}
pub fn prim(op: P, args: &[Operand]) -> Prim {
    prim_of(PrimOp::Op(op), args, 0)
}
pub fn set(v: u32, op: P, args: &[Operand]) -> Stmt {
    Stmt::Assign(Var(v), Op::Prim(prim(op, args)))
}
pub fn copy(v: u32, o: Operand) -> Stmt {
    Stmt::Assign(Var(v), Op::Copy(o))
}
pub fn check(bytes: u32, live: &[u32]) -> Stmt {
    Stmt::HeapCheck { bytes, live: live.iter().map(|v| Var(*v)).collect() }
}
pub fn block(stmts: Vec<Stmt>, term: Term) -> Block {
    Block { stmts, term }
}
pub fn branch(test: Prim, then: u32, els: u32) -> Term {
    Term::Branch { test: Test::Prim(test), then: BlockId(then), els: BlockId(els) }
}
pub fn vars(n: usize) -> Vec<VarInfo> {
    (0..n).map(|i| VarInfo { name: format!("v{i}").into(), rep: Rep::Tagged }).collect()
}
pub fn function(name: &str, kind: FuncKind, n: usize, blocks: Vec<Block>) -> Function {
    Function {
        name: name.into(),
        procedure: name.into(),
        library: false,
        vast: false,
        kind,
        vars: vars(n),
        blocks,
    }
}
pub fn body(name: &str, params: u32, n: usize, blocks: Vec<Block>) -> Function {
    function(name, FuncKind::Body { params: (0..params).map(Var).collect(), closure: None }, n, blocks)
}
pub fn entry(name: &str, required: u32, rest: bool, to: u32) -> Function {
    let clauses = vec![EntryClause { required, rest, listed: false, body: FuncId(to) }];
    function(name, FuncKind::Entry { closure_words: 1, clauses, site: Site::new(0, 1) }, 0, vec![])
}
pub fn ret(name: &str, frame: Frame, result: u32, n: usize, blocks: Vec<Block>) -> Function {
    let kind = FuncKind::Return { frame, results: Results::Single(Var(result)), site: Site::new(0, 3) };
    function(name, kind, n, blocks)
}
pub fn known(f: u32, args: &[Operand]) -> Term {
    Term::TailCall { callee: Callee::Known(FuncId(f), None), args: args.to_vec(), site: Site::NONE }
}
pub fn frame(strategy: &StrategyFacts, slots: u32) -> Frame {
    Frame { words: strategy.header_words + slots, live: (0..slots).collect() }
}
pub fn module(strategy: &'static StrategyFacts, functions: Vec<Function>, main: u32, globals: u32) -> Module {
    let mut m = Module {
        strategy,
        functions,
        globals: (0..globals)
            .map(|i| Global { name: format!("g{i}").into(), procedure: None, import: None, undefined: false })
            .collect(),
        main: FuncId(main),
        procedures: vec![],
        sources: vec![],
        inlined: Default::default(),
        shared: false,
    };
    cairn_frame::safepoints::insert(&mut m);
    m
}
pub fn global(i: u32) -> GlobalId {
    GlobalId(i)
}
pub fn symbol(s: &str) -> Literal {
    Literal::Symbol(Rc::from(s))
}

/// The module with functions of the library: what runs once in a program calls the runtime for arithmetic.
pub fn often(mut m: Module) -> Module {
    m.functions.iter_mut().for_each(|f| f.library = true);
    m
}

/// A module whose program runs `blocks` with `n` variables.
pub fn program(strategy: &'static StrategyFacts, n: usize, blocks: Vec<Block>) -> Module {
    module(strategy, vec![entry("main", 0, false, 1), body("main.0", 0, n, blocks)], 0, 2)
}

// ---- running

/// The stubs: they call `[r12 + rax](r12, rsi, rdx, rcx, r8, r9)`, or what the descriptor in `rax` says, and preserve
/// everything but rax, r14, r15, and r13 in the second case.
mod stub {
    use super::{Machine, SlowCall, Value, offset_of, slow_call};
    macro_rules! stub {
        ($name:literal, [$($call:literal),*], [$($end:literal),*]) => {
            std::arch::global_asm!(
                concat!(".globl ", $name),
                concat!($name, ":"),
                "push rbp",
                "mov rbp, rsp",
                "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push r10", "push r11",
                "sub rsp, 256",
                "movups [rsp], xmm0", "movups [rsp+16], xmm1", "movups [rsp+32], xmm2", "movups [rsp+48], xmm3",
                "movups [rsp+64], xmm4", "movups [rsp+80], xmm5", "movups [rsp+96], xmm6", "movups [rsp+112], xmm7",
                "movups [rsp+128], xmm8", "movups [rsp+144], xmm9", "movups [rsp+160], xmm10",
                "movups [rsp+176], xmm11", "movups [rsp+192], xmm12", "movups [rsp+208], xmm13",
                "movups [rsp+224], xmm14", "movups [rsp+240], xmm15",
                "mov [r12 + {sp}], r13",
                "mov [r12 + {lo}], r14",
                "mov [r12 + {hi}], r15",
                "mov rdi, r12",
                "push rbx",
                "mov rbx, rsp",
                "and rsp, -16",
                $($call,)*
                "mov rsp, rbx",
                "pop rbx",
                "mov r14, [r12 + {lo}]",
                "mov r15, [r12 + {hi}]",
                $($end,)*
                "movups xmm0, [rsp]", "movups xmm1, [rsp+16]", "movups xmm2, [rsp+32]", "movups xmm3, [rsp+48]",
                "movups xmm4, [rsp+64]", "movups xmm5, [rsp+80]", "movups xmm6, [rsp+96]", "movups xmm7, [rsp+112]",
                "movups xmm8, [rsp+128]", "movups xmm9, [rsp+144]", "movups xmm10, [rsp+160]",
                "movups xmm11, [rsp+176]", "movups xmm12, [rsp+192]", "movups xmm13, [rsp+208]",
                "movups xmm14, [rsp+224]", "movups xmm15, [rsp+240]",
                "add rsp, 256",
                "pop r11", "pop r10", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
                "pop rbp",
                "ret",
                sp = const offset_of!(Machine, thread.sp),
                lo = const offset_of!(Machine, cursors.lo),
                hi = const offset_of!(Machine, cursors.hi),
                entry_sp = const offset_of!(Machine, entry_sp),
                failed = const offset_of!(SlowCall, failed),
                fail = const Value::FAIL.0,
                slow_call = sym slow_call,
            );
        };
    }
    stub!("cairn_test_cold_stub", ["call [r12 + rax]"], ["/* {entry_sp} {failed} {fail} {slow_call} */"]);
    stub!(
        "cairn_test_slow_stub",
        ["sub rsp, 16", "mov [rsp], rax", "call {slow_call}", "mov rdi, [rsp]"],
        [
            "mov r13, [r12 + {sp}]",
            "cmp rax, {fail}",
            "jne 2f",
            "mov rsp, [r12 + {entry_sp}]",
            "jmp [rdi + {failed}]",
            "2:"
        ]
    );
    unsafe extern "C" {
        pub fn cairn_test_cold_stub();
        pub fn cairn_test_slow_stub();
    }
}

/// What the slow stub does, with the descriptor as seventh argument.
extern "C" fn slow_call(
    m: *mut Machine,
    a: Value,
    b: Value,
    c: Value,
    d: Value,
    e: Value,
    slow: &SlowCall,
) -> Value {
    type Call = extern "C" fn(*mut Machine, Value, Value, Value, Value, Value) -> Value;
    unsafe {
        let call: Call = std::mem::transmute(*m.cast::<u8>().add(slow.call as usize).cast::<*const u8>());
        let mut result = call(m, a, b, c, d, e);
        if slow.poll != SlowCall::NO_POLL && (*m).cursors.room() < slow.room + SlowCall::SPARE {
            let n = (*m).spilled as usize;
            (*m).spill[n] = result;
            (*m).spill[n + 1] = Value((*m).thread.sp);
            (*m).spilled += 2;
            let sp = collect(m, Value::fixnum(slow.room as i64));
            result = (*m).spill[n];
            (*m).thread.sp = if slow.poll == SlowCall::POLL_FRAME_VALUE { (*m).spill[n + 1].0 } else { sp.0 };
        }
        result
    }
}

/// What the fake runtime remembers beside the machine; its address is `Machine::runtime`.
pub struct Side {
    collector: &'static CollectorFacts,
    strategy: &'static StrategyFacts,
    pub collections: u64,
    pub overflows: u64,
    /// Requested stops that were served.
    pub stops: u64,
    pub throws: Vec<[u64; 5]>,
    /// Free lists refilled; objects that compiled code asked for.
    pub refills: u64,
    pub asked: u64,
    chunks: Vec<Box<[u64]>>,
    /// What underflow returns to, innermost last.
    below: Vec<u64>,
    nursery: Vec<Box<[u64]>>,
}

pub struct Machinery {
    pub machine: Box<Machine>,
    pub side: Box<Side>,
    pub table: *const ModuleTable,
    _jit: Jit,
    _args: Box<[Value]>,
    _cards: Box<[u8]>,
    _under: Box<[u64; continuation::LEN as usize]>,
    stack_words: usize,
}

fn side(m: *mut Machine) -> &'static mut Side {
    unsafe { &mut *((*m).runtime as *mut Side) }
}

/// "Collects": nothing is ever freed; a fresh nursery is enough to see whether values survive the slow path. To catch
/// values that are live but not listed, every fixnum in the spill area is increased by the number of collections when
/// `BUMP` is set.
extern "C" fn collect(m: *mut Machine, bytes: Value) -> Value {
    let s = side(m);
    s.collections += 1;
    assert!(bytes.as_fixnum() <= 4096);
    fresh_nursery(m, 4096 + 512);
    unsafe { Value((*m).thread.sp) }
}

fn fresh_nursery(m: *mut Machine, bytes: usize) {
    let mut space = vec![0x7E7E_7E7Eu64; bytes / 8].into_boxed_slice();
    unsafe {
        (*m).cursors.lo = (space.as_mut_ptr() as u64).next_multiple_of(16);
        (*m).cursors.hi = space.as_mut_ptr() as u64 + bytes as u64;
    }
    side(m).nursery.push(space);
}

/// The stack guard: under a test that asks for stops it only counts; else there is no room, and the frame of `kept`
/// bytes moves.
extern "C" fn guard(m: *mut Machine, bytes: Value, kept: Value) -> Value {
    let s = side(m);
    unsafe {
        if (*m).stack_guard == STOP {
            s.stops += 1;
            (*m).stack_guard = (*m).thread.stack_limit;
        }
        let (bytes, kept) = (bytes.as_fixnum() as u64, kept.as_fixnum() as usize / 8);
        let sp = (*m).thread.sp;
        if s.strategy.kind == FrameKind::Quasi {
            let wanted = if bytes == 0 { 0 } else { quasi::parts(bytes as u32 / 8) as usize };
            if free_parts(m) < wanted {
                s.overflows += 1;
                more_parts(m, wanted.max(40));
            }
            return Value(sp);
        }
        if bytes == 0 || sp - bytes >= (*m).thread.stack_limit {
            return Value(sp);
        }
        s.overflows += 1;
        let words = (bytes as usize / 8 + kept + 256).max(512);
        let mut chunk = vec![0u64; words].into_boxed_slice();
        s.below.push(sp + 8 * kept as u64);
        let top = chunk.as_mut_ptr() as u64 + 8 * words as u64 - 8;
        *(top as *mut u64) = UNDERFLOW.with(|u| u.get());
        set_limit(m, chunk.as_mut_ptr() as u64 + 1024);
        let new = top - 8 * kept as u64;
        std::ptr::copy_nonoverlapping(sp as *const u64, new as *mut u64, kept);
        s.chunks.push(chunk);
        Value(new)
    }
}

/// Parts in the free list of `quasi`.
fn free_parts(m: *mut Machine) -> usize {
    let mut part = unsafe { (*m).free_parts };
    std::iter::from_fn(|| (part != 0).then(|| part = unsafe { *((part + quasi::NEXT) as *const u64) })).count()
}

fn more_parts(m: *mut Machine, n: usize) {
    let bytes = 8 * u64::from(quasi::PART_WORDS);
    let start = fresh(m, bytes * n as u64);
    for i in 0..n as u64 {
        unsafe {
            let part = start + bytes * i;
            *((part + quasi::NEXT) as *mut u64) = (*m).free_parts;
            (*m).free_parts = part;
        }
    }
}

unsafe fn set_limit(m: *mut Machine, limit: u64) {
    unsafe {
        (*m).thread.stack_limit = limit;
        (*m).stack_guard = limit;
    }
}

extern "C" fn underflow(m: *mut Machine) -> Value {
    let s = side(m);
    let sp = s.below.pop().expect("a segment below");
    s.chunks.pop();
    unsafe {
        let chunk = s.chunks.last().expect("a chunk");
        set_limit(m, chunk.as_ptr() as u64 + 1024);
    }
    Value(sp)
}

extern "C" fn throw(m: *mut Machine, kind: Value, operation: Value, site: Value, x: Value, y: Value) -> Value {
    side(m).throws.push([kind.0, operation.0, site.0, x.0, y.0]);
    unsafe {
        for (i, v) in [kind, operation, site, x, y].into_iter().enumerate() {
            *(*m).args.add(i) = v;
        }
    }
    Value::UNSPECIFIED
}

/// Memory for an object, as the collector's compiled code takes it.
fn take(m: *mut Machine, kind: AllocKind, bytes: u64) -> u64 {
    let c = side(m).collector;
    let before = c.prefix_bytes(kind);
    let whole = before + bytes;
    let at = unsafe {
        match c.allocation {
            Allocation::TwoEnded => {
                if (*m).cursors.room() < whole {
                    fresh_nursery(m, 4096);
                }
                if kind == AllocKind::Pair {
                    (*m).cursors.lo += whole;
                    (*m).cursors.lo - whole
                } else {
                    (*m).cursors.hi -= whole;
                    (*m).cursors.hi
                }
            }
            _ => match c.free_list(kind, whole) {
                Some(list) => {
                    let head = &raw mut (*m).free[list.0 as usize];
                    if *head == 0 {
                        *head = cells(m, Value::fixnum(list.0.into())).0;
                    }
                    let cell = *head;
                    *head = *(cell as *const u64);
                    cell
                }
                None => fresh(m, whole),
            },
        }
    };
    if before > 0 {
        unsafe { *(at as *mut u64) = prefix(kind, bytes) };
    }
    at + before
}

/// Memory that holds no values yet.
fn fresh(m: *mut Machine, bytes: u64) -> u64 {
    let mut space = vec![0x7E7E_7E7Eu64; bytes as usize / 8 + 1].into_boxed_slice();
    let at = (space.as_mut_ptr() as u64).next_multiple_of(16);
    side(m).nursery.push(space);
    at
}

/// Three cells at a time.
extern "C" fn cells(m: *mut Machine, list: Value) -> Value {
    let s = side(m);
    s.refills += 1;
    let bytes = s.collector.cell_bytes(FreeList(list.as_fixnum() as u8));
    let first = (0..3).fold(0, |next, _| {
        let cell = fresh(m, bytes);
        unsafe { *(cell as *mut u64) = next };
        cell
    });
    Value(first)
}

extern "C" fn object_of(m: *mut Machine, kind: Value, bytes: Value) -> Value {
    side(m).asked += 1;
    let kind = AllocKind::ALL[kind.as_fixnum() as usize];
    Value(take(m, kind, bytes.as_fixnum() as u64))
}

fn cons(m: *mut Machine, a: Value, d: Value) -> Value {
    unsafe {
        let p = take(m, AllocKind::Pair, 16) as *mut Value;
        *p = a;
        *p.add(1) = d;
        Value(p as u64 + 3)
    }
}

extern "C" fn rest(m: *mut Machine, start: Value, argc: Value) -> Value {
    let mut list = Value::NIL;
    for i in (start.as_fixnum()..argc.as_fixnum()).rev() {
        let v = unsafe { *(*m).args.add(i as usize) };
        list = cons(m, v, list);
    }
    list
}

extern "C" fn spread(m: *mut Machine, list: Value) -> Value {
    let (mut l, mut n) = (list, 0);
    while l.is_pair() {
        unsafe {
            let p = l.address() as *const Value;
            *(*m).args.add(n) = *p;
            l = *p.add(1);
        }
        n += 1;
    }
    if l == Value::NIL { Value::fixnum(n as i64) } else { Value::FAIL }
}

extern "C" fn box_flonum(m: *mut Machine, bits: Value) -> Value {
    use cairn_layout::object::{Type, header};
    unsafe {
        let p = take(m, AllocKind::Leaf, 16) as *mut u64;
        *p = header(Type::Flonum, 0, 1);
        *p.add(1) = bits.0;
        Value(p as u64 + 7)
    }
}

/// Slow paths of arithmetic: enough for fixnums that meet flonums; overflow answers with a recognizable flonum.
fn number(v: Value) -> Option<f64> {
    if v.is_fixnum() {
        Some(v.as_fixnum() as f64)
    } else if v.is_immediate_flonum() {
        Some(v.as_immediate_flonum())
    } else if v.is_object() {
        Some(f64::from_bits(unsafe { *(v.address() as *const u64).add(1) }))
    } else {
        None
    }
}
fn arith(m: *mut Machine, a: Value, b: Value, f: impl Fn(f64, f64) -> f64) -> Value {
    match (number(a), number(b)) {
        (Some(x), Some(y)) => {
            let r = f(x, y);
            Value::try_flonum(r).unwrap_or_else(|| box_flonum(m, Value(r.to_bits())))
        }
        _ => Value::FAIL,
    }
}
extern "C" fn add(m: *mut Machine, a: Value, b: Value) -> Value {
    arith(m, a, b, |x, y| x + y)
}
extern "C" fn sub(m: *mut Machine, a: Value, b: Value) -> Value {
    arith(m, a, b, |x, y| x - y)
}
extern "C" fn mul(m: *mut Machine, a: Value, b: Value) -> Value {
    arith(m, a, b, |x, y| x * y)
}
extern "C" fn div(m: *mut Machine, a: Value, b: Value) -> Value {
    arith(m, a, b, |x, y| x / y)
}
fn compare(a: Value, b: Value, f: impl Fn(f64, f64) -> bool) -> Value {
    match (number(a), number(b)) {
        (Some(x), Some(y)) => Value::bool(f(x, y)),
        _ => Value::FAIL,
    }
}
extern "C" fn num_eq(_: *mut Machine, a: Value, b: Value) -> Value {
    compare(a, b, |x, y| x == y)
}
extern "C" fn num_lt(_: *mut Machine, a: Value, b: Value) -> Value {
    compare(a, b, |x, y| x < y)
}
extern "C" fn num_le(_: *mut Machine, a: Value, b: Value) -> Value {
    compare(a, b, |x, y| x <= y)
}
extern "C" fn eqv(_: *mut Machine, a: Value, b: Value) -> Value {
    match (number(a), number(b)) {
        (Some(x), Some(y)) => Value::bool(x.to_bits() == y.to_bits()),
        _ => Value::FALSE,
    }
}
extern "C" fn unexpected() -> ! {
    eprintln!("the test's runtime does not have this call");
    std::process::abort()
}

thread_local! {
    static UNDERFLOW: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Compiles a module and makes it ready to run.
pub fn load(m: &Module, opt: OptLevel) -> Machinery {
    load_parts(m, opt, 1, &GEN)
}

/// Compiles and loads a module for a collector.
pub fn load_for(m: &Module, opt: OptLevel, collector: &'static CollectorFacts) -> Machinery {
    load_parts(m, opt, 1, collector)
}

/// Compiles a module in parts and loads it.
pub fn load_parts(m: &Module, opt: OptLevel, parts: usize, collector: &'static CollectorFacts) -> Machinery {
    let text = emit_module(m, collector);
    if let Ok(path) = std::env::var("CAIRN_TEST_DUMP") {
        std::fs::write(path, &text).expect("writable");
    }
    if let Err(e) = cairn_llvm::backend::verify(&text) {
        panic!("{e}\n{text}");
    }
    let object = compile_in_parts(&text, opt, parts).expect("compiles");
    let jit = Jit::load_object(&object).expect("loads");
    let table = jit.lookup("cairn_module").expect("the table") as *const ModuleTable;
    // as the runtime's loader does; these modules have no symbols
    // SAFETY: the table describes the module's own words, which nobody else uses yet.
    unsafe {
        for i in 0..(*table).literal_count as usize {
            let word = (*table).literals.add(i);
            if *word & 0xFF == NODE_PLACEHOLDER {
                *word = (*table).literals as u64 + (*word >> 8);
            }
        }
    }
    // SAFETY: `site_base` is a word of the module's own, which nobody else uses yet.
    unsafe { *(*table).site_base = 0 };
    let mut args = vec![Value::fixnum(0); 10_000].into_boxed_slice();
    let mut cards = vec![0u8; 1 << 27].into_boxed_slice();
    // SAFETY: all-zero bytes are a valid Machine: integers, null pointers, fixnum 0.
    let mut machine: Box<Machine> = Box::new(unsafe { std::mem::zeroed() });
    // without checks there must be room for everything
    let stack_words = if m.strategy.every_push_asks() { 512 } else { 1 << 14 };
    let mut side = Box::new(Side {
        collector,
        strategy: m.strategy,
        collections: 0,
        overflows: 0,
        stops: 0,
        throws: vec![],
        refills: 0,
        asked: 0,
        chunks: vec![],
        below: vec![],
        nursery: vec![],
    });
    machine.args = args.as_mut_ptr();
    machine.cards = cards.as_mut_ptr();
    machine.cold_stub = stub::cairn_test_cold_stub as *const () as u64;
    machine.slow_stub = stub::cairn_test_slow_stub as *const () as u64;
    machine.runtime = (&raw mut *side).cast();
    // a continuation that nobody else can see: underflows go to the runtime
    let mut under = Box::new([0; continuation::LEN as usize]);
    under[continuation::STATE as usize] = continuation::state::PRIVATE;
    machine.thread.under = Value(under.as_ptr() as u64 | TAG_PROCEDURE);
    for i in 0..RT_CALLS.len() {
        machine.calls[i] = unexpected as *const u8;
    }
    let mut bind = |symbol: &str, f: *const ()| machine.calls[by_symbol(symbol).0 as usize] = f.cast();
    bind("cairn_machine_collect", collect as *const ());
    bind("cairn_machine_cells", cells as *const ());
    bind("cairn_machine_object", object_of as *const ());
    bind("cairn_machine_guard", guard as *const ());
    bind("cairn_machine_underflow", underflow as *const ());
    bind("cairn_machine_throw", throw as *const ());
    bind("cairn_machine_rest", rest as *const ());
    bind("cairn_machine_spread", spread as *const ());
    bind("cairn_num_box_flonum", box_flonum as *const ());
    bind("cairn_num_add", add as *const ());
    bind("cairn_num_sub", sub as *const ());
    bind("cairn_num_mul", mul as *const ());
    bind("cairn_num_div", div as *const ());
    bind("cairn_num_eq", num_eq as *const ());
    bind("cairn_num_lt", num_lt as *const ());
    bind("cairn_num_le", num_le as *const ());
    bind("cairn_eq_eqv", eqv as *const ());
    unsafe { UNDERFLOW.with(|u| u.set((*table).underflow as u64)) };
    Machinery { machine, side, table, _jit: jit, _args: args, _cards: cards, _under: under, stack_words }
}

impl Machinery {
    /// Runs the program; its value.
    pub fn run(&mut self) -> Value {
        unsafe { self.run_closure((*self.table).main) }
    }

    /// The cards that are marked.
    pub fn marked_cards(&self) -> usize {
        self._cards.iter().filter(|c| **c != 0).count()
    }

    pub fn run_closure(&mut self, closure: Value) -> Value {
        let m: *mut Machine = &raw mut *self.machine;
        unsafe {
            let t = &*self.table;
            fresh_nursery(m, 1024);
            // the outermost frame
            if self.side.strategy.kind == FrameKind::Quasi {
                (*m).free_parts = 0;
                more_parts(m, 3);
                let part = (*m).free_parts;
                (*m).free_parts = *((part + quasi::NEXT) as *const u64);
                (part as *mut [u64; 2]).write([t.halt as u64, 0]);
                (*m).thread.sp = part;
                set_limit(m, 0);
            } else if t.underflow.is_null() {
                let at = (*m).cursors.hi - 16;
                (*m).cursors.hi = at;
                *(at as *mut u64) = t.halt as u64;
                *(at as *mut u64).add(1) = 0;
                (*m).thread.sp = at + 6;
            } else {
                let mut chunk = vec![0u64; self.stack_words].into_boxed_slice();
                let top = chunk.as_mut_ptr() as u64 + 8 * self.stack_words as u64 - 8;
                *(top as *mut u64) = t.halt as u64;
                (*m).thread.sp = top;
                set_limit(m, chunk.as_ptr() as u64 + 1024);
                self.side.chunks.push(chunk);
            }
            let enter: extern "C" fn(*mut Machine, Value) = std::mem::transmute(t.enter);
            enter(m, closure);
        }
        self.machine.result
    }
}

/// Compiles and runs at all levels, and for collectors of another kind; the value, which must be the same.
pub fn run(m: &Module) -> Value {
    let high = load(m, OptLevel::High).run();
    for level in [OptLevel::Own, OptLevel::Low] {
        let other = load(m, level).run();
        if !high.is_pointer() {
            assert_eq!(other, high, "{level:?}");
        }
    }
    for c in [&invented::LISTS, &cairn_layout::collector::MCC] {
        for level in [OptLevel::Own, OptLevel::High] {
            let other = load_for(m, level, c).run();
            if !high.is_pointer() {
                assert_eq!(other, high, "{} {level:?}", c.name);
            }
        }
    }
    high
}
