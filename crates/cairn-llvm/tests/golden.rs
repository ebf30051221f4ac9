//! Golden LLVM text of a few functions; `CAIRN_UPDATE_GOLDEN=1` rewrites the files.
#![allow(unsafe_code)]

mod common;
#[path = "../../../tests/support/golden.rs"]
mod support;
use cairn_core::prim::Op as P;
use cairn_frame::ir::*;
use cairn_layout::calls::RT_CALLS;
use cairn_layout::code::Site;
use cairn_layout::facts::{CHUNKS, GEN, HEAP, StrategyFacts};
use cairn_layout::machine::{Machine, slot_offset};
use cairn_llvm::emit_module;
use common::*;
use std::mem::offset_of;
use std::path::Path;

/// Names instead of offsets into the machine context, so that a new runtime call or field changes no golden file.
fn symbolic(line: &str) -> String {
    const FIELDS: &[(&str, usize)] = &[
        ("stack_guard", offset_of!(Machine, stack_guard)),
        ("stack_limit", offset_of!(Machine, thread.stack_limit)),
        ("sp", offset_of!(Machine, thread.sp)),
        ("base", offset_of!(Machine, thread.base)),
        ("under", offset_of!(Machine, thread.under)),
        ("under_sp", offset_of!(Machine, thread.under_sp)),
        ("chunk", offset_of!(Machine, thread.chunk)),
        ("lo", offset_of!(Machine, cursors.lo)),
        ("hi", offset_of!(Machine, cursors.hi)),
        ("cards", offset_of!(Machine, cards)),
        ("args", offset_of!(Machine, args)),
        ("spilled", offset_of!(Machine, spilled)),
        ("result", offset_of!(Machine, result)),
        ("again", offset_of!(Machine, again)),
    ];
    let rows = RT_CALLS.iter().enumerate().map(|(i, r)| (r.symbol, offset_of!(Machine, calls) + 8 * i));
    let spill = (0..8).map(|i| ("spill", offset_of!(Machine, spill) + 8 * i));
    let slots = (0..8).map(|i| ("slots", slot_offset(i)));
    let mut line = line.to_string();
    for (name, offset) in FIELDS.iter().copied().chain(rows).chain(spill).chain(slots) {
        if let Some(start) = line.strip_suffix(&format!("ptr %ctx, i64 {offset}")) {
            line = format!("{start}ptr %ctx, i64 <{name}>");
        }
        if line.contains("asm sideeffect") {
            line = line.replace(&format!("\"(i64 {offset}, "), &format!("\"(i64 <{name}>, "));
        }
    }
    for (name, offset) in
        [("cold_stub", offset_of!(Machine, cold_stub)), ("slow_stub", offset_of!(Machine, slow_stub))]
    {
        line = line.replace(&format!("callq *{offset}(%r12)"), &format!("callq *<{name}>(%r12)"));
    }
    line.replace(&format!("movq %rax, {}($0)", offset_of!(Machine, entry_sp)), "movq %rax, <entry_sp>($0)")
}

/// Compares the functions called `name…` of the module's text with the golden file.
fn check_golden(file: &str, m: &Module, names: &[&str]) {
    let text = emit_module(m, &GEN);
    let mut got = String::new();
    for part in text.split("\n\n") {
        let part = part.trim_start_matches('\n');
        let head = part.lines().next().unwrap_or("");
        if names.iter().any(|n| head.contains(&format!("@\"scm.{n}\"(")) || head.contains(&format!("@{n}("))) {
            for line in part.lines() {
                got.push_str(&symbolic(line));
                got.push('\n');
            }
            got.push('\n');
        }
    }
    assert!(!got.is_empty(), "none of {names:?} in\n{text}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/llvm").join(file);
    let title = format!("functions {}", names.join(" "));
    support::check_made(&path, &title, &cairn_frame::print::print_module(m), "llvm", &got);
}

fn sum(s: &'static StrategyFacts) -> Module {
    // (define (f x y) (g (+ (car x) y)) …): a check, generic arithmetic, a call that keeps x and y
    let f = frame(s, 2);
    let mut stmts = if s.frames_in_heap { vec![check(8 * f.words, &[0, 1])] } else { vec![] };
    stmts.extend([set(2, P::Car, &[var(0)]), set(2, P::Add, &[var(2), var(1)])]);
    module(
        s,
        vec![
            entry("main", 0, false, 1),
            body("main.0", 0, 0, vec![block(vec![], Term::Return(fix(0)))]),
            entry("f", 2, false, 3),
            body(
                "f.0",
                2,
                3,
                vec![block(
                    stmts,
                    Term::Call {
                        callee: Callee::Unknown(var(1)),
                        args: vec![var(2)],
                        site: Site::new(0, 5),
                        frame: NewFrame { frame: f.clone(), stores: vec![(0, var(0)), (1, var(1))] },
                        ret: FuncId(4),
                    },
                )],
            ),
            ret(
                "f.0.r1",
                f,
                0,
                2,
                vec![block(
                    vec![Stmt::Assign(Var(1), Op::Slot(1)), set(1, P::VectorRef, &[var(1), var(0)])],
                    Term::Return(var(1)),
                )],
            ),
        ],
        0,
        0,
    )
}

#[test]
fn functions_under_chunks() {
    check_golden("chunks.txt", &sum(&CHUNKS), &["f", "f.0", "f.0.r1"]);
}

#[test]
fn functions_under_heap() {
    check_golden("heap.txt", &sum(&HEAP), &["f", "f.0", "f.0.r1"]);
}

#[test]
fn prelude() {
    let names = ["cairn_enter", "cairn_halt", "cairn_underflow", "cairn_mv_first", "cairn_continuation"];
    check_golden("prelude.txt", &sum(&CHUNKS), &names);
}
