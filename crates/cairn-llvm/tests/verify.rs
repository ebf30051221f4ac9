//! Every primitive operation, every runtime call and every kind of operand: emitted, read and verified by LLVM,
//! compiled.
#![allow(unsafe_code)]

mod common;
use cairn_core::ir::{Literal, Shots};
use cairn_core::prim::{Kind, OPS, Op as P, PrimOp};
use cairn_frame::ir::*;
use cairn_layout::calls::{RT_CALLS, RtIndex};
use cairn_layout::code::Site;
use cairn_layout::facts::{CHUNKS, GEN, STRATEGIES};
use cairn_llvm::backend::{OptLevel, compile_to_object, optimize_text, verify};
use cairn_llvm::emit_module;
use common::uses::Uses;
use common::*;

fn compiles(m: &Module) {
    let text = emit_module(m, &GEN);
    if let Err(e) = verify(&text) {
        panic!("{e}\n{text}");
    }
    if let Err(e) = compile_to_object(&text, OptLevel::High) {
        panic!("{e}");
    }
}

/// In code that serves several places, each address of a variable or symbol slot has the place's distance added to it.
#[test]
fn shared_code_reaches_words_of_the_place_it_runs_in() {
    for &s in STRATEGIES {
        let statements = vec![
            Stmt::Assign(Var(0), Op::GlobalChecked(global(0), Site::NONE)),
            Stmt::Effect(Op::SetGlobal(global(0), var(0))),
            Stmt::Assign(Var(0), Op::Global(global(0))),
            copy(0, lit(symbol("name"))),
        ];
        let functions =
            vec![entry("main", 0, false, 1), body("main.0", 0, 1, vec![block(statements, Term::Return(var(0)))])];
        let mut m = module(s, functions, 0, 1);
        let alone = emit_module(&m, &GEN);
        m.shared = true;
        let shared = emit_module(&m, &GEN);
        if let Err(e) = verify(&shared) {
            panic!("{e}\n{shared}");
        }
        let uses = |text: &str| -> Vec<String> {
            let in_code = text.lines().filter(|l| l.starts_with("  "));
            let of_place = |l: &&str| l.contains("@cairn_globals") || l.contains("@cairn_symbols");
            in_code.filter(of_place).map(str::to_string).collect()
        };
        assert!(uses(&alone).len() > 2, "{}", s.name);
        for line in uses(&shared) {
            let moved =
                line.contains("= getelementptr i8, ptr getelementptr (i8, ptr @cairn_") && line.contains("i64 %t");
            assert!(moved, "{}: {line}", s.name);
        }
        assert!(!uses(&shared).is_empty());
    }
}

#[test]
fn every_operation_compiles() {
    for &s in STRATEGIES {
        let m = Uses::of_every_operation().module(s);
        compiles(&m);
        for c in invented::all() {
            if let Err(e) = verify(&emit_module(&m, c)) {
                panic!("{}: {e}", c.name);
            }
        }
    }
}

#[test]
fn every_runtime_call_compiles() {
    let mut uses = Uses::default();
    for (i, row) in RT_CALLS.iter().enumerate() {
        let args: Vec<Operand> = (0..row.arity as u32).map(var).collect();
        uses.add(prim_of(PrimOp::Rt(RtIndex(i as u16)), &args, 0), &[]);
    }
    compiles(&uses.module(&CHUNKS));
}

#[test]
fn operations_compile_with_literals_and_unboxed_doubles() {
    let mut uses = Uses::default();
    let numeric = |k: &Kind| matches!(k, Kind::Number | Kind::Flonum | Kind::Fixnum | Kind::Any);
    for info in OPS.iter().filter(|i| i.args.len() == 2 && i.args.iter().all(numeric)) {
        let literals = [fix(0), fix(-1), fix(8), fix(1 << 59), flo(0.5), flo(f64::INFINITY), lit(Literal::Nil)];
        for l in literals {
            if matches!(info.op, P::MachineSet | P::RawRecord | P::CompactRecord) {
                continue;
            }
            for args in [[var(0), l.clone()], [l.clone(), var(0)], [l.clone(), fix(3)]] {
                for doubles in [&[][..], &[0][..], &[0, 7][..]] {
                    let produces_number = matches!(info.result, Kind::Number | Kind::Flonum);
                    if doubles.contains(&7) && !produces_number {
                        continue;
                    }
                    uses.add(prim_of(PrimOp::Op(info.op), &args, 0), doubles);
                }
            }
        }
    }
    for op in [P::FlSqrt, P::FlAbs, P::FlFloor, P::FlCeiling, P::FlTruncate, P::FlRound, P::Sqrt, P::Inexact] {
        uses.add(prim(op, &[var(0)]), &[0, 7]);
        uses.add(prim(op, &[var(0)]), &[7]);
    }
    uses.add(prim(P::FixnumToFlonum, &[var(0)]), &[7]);
    compiles(&uses.module(&CHUNKS));
}

/// All other statements and terminators.
#[test]
fn every_shape_of_call_compiles() {
    for &s in STRATEGIES {
        let site = Site::new(0, 4);
        let big = |n: u32| Frame { words: s.header_words + n, live: (0..n).collect() };
        let callees = [
            Callee::Unknown(var(0)),
            Callee::Known(FuncId(1), None),
            Callee::Apply(var(0)),
            Callee::CallCc(Shots::Many, var(0)),
        ];
        let mut functions = vec![entry("main", 0, false, 1), body("main.0", 0, 0, vec![])];
        functions[1].blocks = vec![block(vec![], Term::Return(fix(0)))];
        for (k, callee) in callees.iter().enumerate() {
            for (incoming, words) in [(0u32, 3u32), (3, 3), (3, 2), (3, 150), (150, 200)] {
                let args = match callee {
                    Callee::Apply(_) => vec![lit(Literal::Nil)],
                    Callee::CallCc(..) | Callee::Known(..) => vec![],
                    Callee::Unknown(_) => (0..9).map(fix).collect(),
                };
                let id = functions.len() as u32;
                let stores = (0..words).filter(|w| *w >= incoming || w % 2 == 0).map(|w| (w, var(0))).collect();
                let call = Term::Call {
                    callee: callee.clone(),
                    args: args.clone(),
                    site,
                    frame: NewFrame { frame: big(words), stores },
                    ret: FuncId(id + 1),
                };
                let stmts = |bytes: u32| vec![copy(0, fix(1)), check(bytes, &[0])];
                let blocks = vec![
                    block(
                        stmts(8 * (words + 2)),
                        Term::Branch { test: Test::Truthy(var(0)), then: BlockId(1), els: BlockId(2) },
                    ),
                    block(vec![], call),
                    block(vec![], Term::TailCall { callee: callee.clone(), args, site }),
                ];
                let name = format!("f{k}.{incoming}.{words}");
                functions.push(if incoming == 0 {
                    body(&name, 0, 2, blocks)
                } else {
                    ret(&name, big(incoming), 1, 2, blocks)
                });
                let multi = Results::Multi {
                    params: vec![Var(0), Var(1)],
                    rest: (k == 1).then_some(Var(2)),
                    site: Site::NONE,
                };
                functions.push(function(
                    &format!("{name} \"quoted\" λ"),
                    FuncKind::Return { frame: big(words), results: multi, site },
                    3,
                    vec![block(
                        vec![
                            Stmt::Assign(Var(0), Op::Slot(words - 1)),
                            Stmt::Assign(Var(1), Op::GlobalChecked(global(1), site)),
                            Stmt::Effect(Op::SetGlobalChecked(global(1), var(0), site)),
                            Stmt::Effect(Op::SetGlobal(global(0), var(1))),
                            Stmt::Assign(Var(1), Op::Global(global(0))),
                        ],
                        Term::ReturnMulti((0..8).map(|_| var(0)).collect()),
                    )],
                ));
            }
        }
        compiles(&module(s, functions, 0, 2));
    }
}

#[test]
fn fast_paths_have_no_memory_for_variables() {
    let mut uses = Uses::default();
    uses.add(prim(P::Add, &[var(0), var(1)]), &[]);
    let text = emit_module(&uses.module(&CHUNKS), &GEN);
    let text = optimize_text(&text, OptLevel::Low).expect("optimizes");
    assert!(!text.contains("alloca"), "{text}");
}

/// A large module compiled in several parts runs like one compiled whole.
#[test]
fn parts_fit_together() {
    use cairn_layout::Value;
    for s in [&CHUNKS] {
        // f0 calls f1 calls … with padding so that the text is worth cutting
        let n = 120;
        let mut functions = vec![entry("main", 0, false, 1)];
        for i in 0..n {
            let mut stmts = vec![copy(0, fix(i)), copy(1, fix(0))];
            stmts.extend((0..12).map(|_| set(1, P::Add, &[var(1), var(0)])));
            let term = match i {
                _ if i == n - 1 => Term::Return(lit(Literal::Symbol("the end".into()))),
                _ if i % 2 == 0 => known(i as u32 + 2, &[]),
                _ => Term::TailCall {
                    callee: Callee::Unknown(Operand::Procedure(FuncId(n as u32 + 1 + i as u32 / 2))),
                    args: vec![],
                    site: Site::NONE,
                },
            };
            functions.push(body(&format!("f{i}"), 0, 2, vec![block(stmts, term)]));
        }
        for i in (1..n - 1).step_by(2) {
            functions.push(entry(&format!("f{i}.entry"), 0, false, i as u32 + 2));
        }
        let m = module(s, functions, 0, 1);
        for parts in [1, 3] {
            let mut machinery = load_parts(&m, OptLevel::Low, parts, &GEN);
            unsafe { *(*machinery.table).symbols = Value::fixnum(77) };
            assert_eq!(machinery.run(), Value::fixnum(77), "{} in {parts}", s.name);
        }
    }
}
