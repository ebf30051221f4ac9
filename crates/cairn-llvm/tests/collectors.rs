//! Emitted code against the facts that collectors publish: in its text, and run.
#![allow(unsafe_code)]

mod common;
use cairn_core::ir::Shots;
use cairn_core::prim::{Op as P, PrimOp};
use cairn_frame::ir::*;
use cairn_frame::parse::parse_module;
use cairn_layout::Value;
use cairn_layout::calls::by_symbol;
use cairn_layout::collector::*;
use cairn_layout::facts::{CHUNKS, HEAP, StrategyFacts};
use cairn_layout::machine::Machine;
use cairn_layout::object::{AllocKind, continuation};
use cairn_llvm::backend::OptLevel;
use cairn_llvm::emit_module;
use common::emitted::contradictions;
use common::invented::{self, CALLS, LISTS, PREFIXED_LISTS};
use common::uses::Uses;
use common::*;
use std::mem::offset_of;
use std::path::Path;

/// Every operation, and every module in the golden files of the frame pass.
fn modules() -> Vec<(String, Module)> {
    let mut all: Vec<(String, Module)> = Vec::new();
    for s in [&CHUNKS, &HEAP] {
        all.push((format!("every operation, {}", s.name), Uses::of_every_operation().module(s)));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/frame");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for part in text.split("\n#### ").skip(1) {
            let (_, part) = part.split_once('\n').unwrap();
            let part = part.split("\n==== ").next().unwrap().split("\n---- ").next().unwrap();
            let module = parse_module(part).unwrap_or_else(|e| panic!("{}: {e}\n{part}", file.display()));
            all.push((file.file_name().unwrap().to_string_lossy().into_owned(), module));
        }
    }
    assert!(all.len() > 50, "{} modules", all.len());
    all
}

#[test]
fn what_is_emitted_is_what_the_facts_say() {
    for (name, m) in modules() {
        for c in invented::all() {
            let text = emit_module(&m, c);
            let found = contradictions(&m, c, &text);
            assert!(found.is_empty(), "{name}, {}:\n{}\n{text}", c.name, found.join("\n"));
        }
    }
}

/// The test above can fail: code for one collector contradicts the facts of each other one.
#[test]
fn code_for_another_collector_is_recognized() {
    let m = Uses::of_every_operation().module(&HEAP);
    for made in invented::all() {
        let text = emit_module(&m, made);
        for claimed in invented::all() {
            let found = contradictions(&m, claimed, &text);
            // Two collectors may publish the same facts under their names.
            let same =
                CollectorFacts { name: made.name, summary: made.summary, ambiguity: made.ambiguity, ..*claimed };
            assert_eq!(found.is_empty(), *made == same, "{} as {}: {found:?}", made.name, claimed.name);
        }
    }
}

/// One fact changed at a time.
#[test]
fn each_fact_matters() {
    static SMALLER: CollectorFacts = CollectorFacts { allocation: Allocation::FreeLists { largest: 16 }, ..LISTS };
    static CARDS: CollectorFacts = CollectorFacts { barrier: Barrier::Card, ..LISTS };
    static MOVES: CollectorFacts =
        CollectorFacts { moving: Moving::AtSafepoints, ambiguity: Ambiguity::None, ..LISTS };
    static PREFIXES: CollectorFacts = CollectorFacts { prefix: Prefix::Headerless, ..LISTS };
    let m = Uses::of_every_operation().module(&HEAP);
    let text = emit_module(&m, &LISTS);
    for (other, what) in [(&SMALLER, "pops"), (&CARDS, "cards"), (&MOVES, "reloaded"), (&PREFIXES, "prefixes")] {
        let found = contradictions(&m, other, &text);
        assert!(found.iter().any(|f| f.contains(what)), "{what}: {found:?}");
        assert!(contradictions(&m, other, &emit_module(&m, other)).is_empty(), "{what}");
    }
}

/// A damaged text: each line that the facts are about is missed.
#[test]
fn damage_is_noticed() {
    let m = Uses::of_every_operation().module(&CHUNKS);
    let damaged = |c: &'static CollectorFacts, from: &str, to: &str| {
        let text = emit_module(&m, c);
        assert!(text.contains(from), "{}: no `{from}`", c.name);
        let found = contradictions(&m, c, &text.replacen(from, to, 1));
        assert!(!found.is_empty(), "{}: `{from}` became `{to}` unnoticed", c.name);
    };
    damaged(&GEN, "store i8 -1, ptr", "; store i8 -1, ptr");
    // a call that takes cells from the lists and is said to leave memory alone
    let cells = offset_of!(Machine, calls) + 8 * by_symbol("cairn_machine_cells").0 as usize;
    let text = emit_module(&m, &LISTS);
    let refill = text.lines().find(|l| l.contains(&format!("(i64 {cells},"))).expect("a refill");
    damaged(&LISTS, refill, &refill.replace(",~{memory},", ","));
    let word = prefix(AllocKind::Pair, 16);
    damaged(&MCC, &format!("store i64 {word}, "), &format!("store i64 {}, ", word + 1));
    // a link with a class
    let link = text.lines().find(|l| l.contains("load i64, ptr %t") && !l.contains('!')).expect("a link");
    let found =
        contradictions(&m, &LISTS, &text.replacen(&format!("{link}\n"), &format!("{link}, !tbaa !13\n"), 1));
    assert!(found.iter().any(|f| f.contains("without a class")), "{found:?}");
}

/// Objects of one size, made in turn by compiled code and by a runtime call, numbers between: every cell is handed out
/// once.
fn taking_turns(s: &'static StrategyFacts) -> Module {
    let vector = |v: u32, args: &[Operand]| Stmt::Assign(Var(v), Op::Prim(prim_of(PrimOp::Vector, args, 0)));
    let mut stmts = vec![copy(0, flo(1e300)), check(400, &[0])];
    for i in 0..4u32 {
        // boxed: its exponent does not fit
        stmts.push(vector(1 + i, &[fix(i as i64)]));
        stmts.push(set(5 + i, P::FlMul, &[var(0), flo(1.0 + i as f64)]));
        stmts.push(set(9 + i, P::Cons, &[var(1 + i), var(5 + i)]));
    }
    // all of them still hold what was put there
    let mut sum = vec![copy(13, fix(0))];
    for i in 0..4u32 {
        sum.push(set(14, P::Car, &[var(9 + i)]));
        sum.push(set(14, P::VectorRef, &[var(14), fix(0)]));
        sum.push(set(13, P::Add, &[var(13), var(14)]));
        sum.push(set(14, P::Cdr, &[var(9 + i)]));
        sum.push(set(14, P::FlDiv, &[var(14), flo(1e300)]));
        sum.push(set(13, P::Add, &[var(13), var(14)]));
    }
    stmts.extend(sum);
    program(s, 15, vec![block(stmts, Term::Return(var(13)))])
}

#[test]
fn no_cell_is_handed_out_twice() {
    // the vectors hold 0 to 3, the quotients are 1 to 4
    let expected = Value::try_flonum(6.0 + 10.0).unwrap();
    for s in [&CHUNKS, &HEAP] {
        for c in invented::all() {
            for opt in [OptLevel::Own, OptLevel::Low, OptLevel::High] {
                let mut machinery = load_for(&taking_turns(s), opt, c);
                assert_eq!(machinery.run(), expected, "{}, {}, {opt:?}", s.name, c.name);
                let lists = matches!(c.allocation, Allocation::FreeLists { .. });
                assert_eq!(machinery.side.refills > 0, lists, "{}", c.name);
                assert_eq!(machinery.side.asked > 0, c.allocation == Allocation::Call, "{}", c.name);
            }
        }
    }
}

/// Larger than any list has cells for.
#[test]
fn large_objects_are_asked_of_the_runtime() {
    let args: Vec<Operand> = (0..20).map(fix).collect();
    let blocks = vec![block(
        vec![
            check(176, &[]),
            Stmt::Assign(Var(0), Op::Prim(prim_of(PrimOp::Vector, &args, 0))),
            set(1, P::VectorRef, &[var(0), fix(19)]),
        ],
        Term::Return(var(1)),
    )];
    for (c, asked) in [(&LISTS, 1), (&PREFIXED_LISTS, 0), (&CALLS, 1), (&MCC, 0), (&GEN, 0)] {
        let mut machinery = load_for(&program(&CHUNKS, 2, blocks.clone()), OptLevel::High, c);
        assert_eq!(machinery.run(), Value::fixnum(19), "{}", c.name);
        assert_eq!(machinery.side.asked, asked, "{}", c.name);
    }
}

/// The budget: each check spends what it asks for, and one that finds too little collects.
#[test]
fn heap_checks_spend_the_budget() {
    // 200 times 64 bytes
    let blocks = vec![
        block(vec![copy(0, fix(200))], Term::Goto(BlockId(1))),
        block(vec![], branch(prim(P::FxEq, &[var(0), fix(0)]), 3, 2)),
        block(
            vec![
                check(64, &[0]),
                set(1, P::Cons, &[fix(1), fix(2)]),
                set(1, P::Cons, &[fix(1), fix(2)]),
                set(1, P::Cons, &[fix(1), fix(2)]),
                set(1, P::Cons, &[fix(1), fix(2)]),
                set(0, P::FxSub, &[var(0), fix(1)]),
            ],
            Term::Goto(BlockId(1)),
        ),
        block(vec![], Term::Return(var(0))),
    ];
    let collections = |c| {
        let mut machinery = load_for(&program(&CHUNKS, 2, blocks.clone()), OptLevel::High, c);
        assert_eq!(machinery.run(), Value::fixnum(0));
        machinery.side.collections
    };
    let (bump, lists) = (collections(&GEN), collections(&LISTS));
    assert!(bump >= 2 && lists >= 2, "{bump} and {lists} collections for 12,800 bytes in extents of 4,608");
    assert!(bump.abs_diff(lists) <= 1, "{bump} and {lists}");
}

/// Prefixes say what follows, and cards are marked where the facts want it.
#[test]
fn prefixes_and_cards_at_run_time() {
    let closure = Stmt::Assign(Var(1), Op::Closure { entry: FuncId(2), free: vec![fix(1), fix(2), fix(3)] });
    let main = vec![block(
        vec![
            check(64, &[]),
            set(0, P::Cons, &[fix(1), fix(2)]),
            closure,
            Stmt::Effect(Op::Prim(prim(P::SetCar, &[var(0), var(1)]))),
        ],
        Term::Return(var(0)),
    )];
    let mut f = entry("f", 0, false, 3);
    if let FuncKind::Entry { closure_words, .. } = &mut f.kind {
        *closure_words = 4;
    }
    let mut f0 = body("f.0", 0, 1, vec![block(vec![], Term::Return(fix(0)))]);
    f0.kind = FuncKind::Body { params: vec![], closure: Some(Var(0)) };
    let m = module(&CHUNKS, vec![entry("main", 0, false, 1), body("main.0", 0, 2, main), f, f0], 0, 0);
    for c in invented::all() {
        let mut machinery = load_for(&m, OptLevel::High, c);
        let pair = machinery.run();
        assert!(pair.is_pair());
        // SAFETY: `machinery` keeps what its program allocated, and a prefix stands before each object.
        let before = |v: Value| unsafe { *((v.address() - 8) as *const u64) };
        let car = unsafe { *(pair.address() as *const Value) };
        assert!(car.is_procedure());
        if c.prefix == Prefix::Headerless {
            assert_eq!(before(pair), prefix(AllocKind::Pair, 16), "{}", c.name);
            assert_eq!(before(car), prefix(AllocKind::Procedure, 32), "{}", c.name);
        }
        assert_eq!(machinery.marked_cards(), (c.barrier == Barrier::Card) as usize, "{}", c.name);
    }
}

/// `call/cc` makes its continuation object as everything else.
#[test]
fn continuations_are_allocated_by_the_facts_too() {
    for s in [&CHUNKS, &HEAP] {
        let receiver = body("f.0", 1, 1, vec![block(vec![], Term::Return(var(0)))]);
        let call = Term::TailCall {
            callee: Callee::CallCc(Shots::Many, Operand::Procedure(FuncId(2))),
            args: vec![],
            site: cairn_layout::code::Site::NONE,
        };
        let main = body("main.0", 0, 0, vec![block(vec![], call)]);
        let m = module(s, vec![entry("main", 0, false, 1), main, entry("f", 1, false, 3), receiver], 0, 0);
        for c in invented::all().into_iter().filter(|c| c.prefix == Prefix::Headerless) {
            let mut machinery = load_for(&m, OptLevel::High, c);
            // nothing below that a capture would have to make shared
            machinery.machine.thread.under = Value::FALSE;
            let k = machinery.run();
            assert!(k.is_procedure(), "{}", c.name);
            // SAFETY: `machinery` keeps what its program allocated, and a prefix stands before each object.
            let before = unsafe { *((k.address() - 8) as *const u64) };
            assert_eq!(before, prefix(AllocKind::Procedure, 8 * continuation::LEN), "{}, {}", s.name, c.name);
        }
    }
}
