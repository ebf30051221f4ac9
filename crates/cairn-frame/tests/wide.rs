//! Core programs beyond the limits of the machine lower to correct Frame IR within the limits: the verifier judges. And
//! what is large is cut into pieces.

mod common;

use cairn_core::ir::Program;
use cairn_frame::ir::{Function, Module};
use cairn_frame::print::print_module;
use cairn_frame::verify::verify;

/// `f(0) f(1) …`
fn each(n: usize, f: impl Fn(usize) -> String) -> String {
    (0..n).map(f).collect::<Vec<_>>().join(" ")
}

/// `n` variables around `body`.
fn bound(n: usize, first: usize, body: &str) -> String {
    let bindings = (first..first + n).map(|v| format!("(let ((x.{v} (%box {v}))) ")).collect::<String>();
    format!("{bindings}{body}{}", ")".repeat(n))
}

/// A call, and then each of the variables: so all live across the call.
fn used(n: usize, first: usize) -> String {
    format!("(seq (@g.0 1) {} 1)", each(n, |i| format!("(%set-box! x.{} 7)", first + i)))
}

/// Programs of width `n`.
fn programs(n: usize) -> Vec<String> {
    let params = |first: usize| each(n, |i| format!("x.{}", first + i));
    let z = format!("z.{}", 2 * n + 1);
    let (all, more) = (used(n, 1), used(n, n + 1));
    let escaping = format!("(@g.0 (lambda h ({} {z}) (seq {all} {more} (@g.0 {z}))))", params(n + 1));
    let inner = format!("(@g.0 (lambda h ({z}) {}))", bound(n, n + 1, &format!("(seq {more} {all} (@g.0 {z}))")));
    vec![
        bound(n, 1, &all),
        bound(n, 1, &format!("(seq {all} {all})")),
        // a procedure closes over all and has as many parameters, or variables, of its own
        bound(n, 1, &format!("(seq {escaping} {all})")),
        bound(n, 1, &inner),
        bound(n, 1, &format!("(seq {inner} {all})")),
        // both before the last use
        format!("(@g.0 (%+ {} {}))", bound(n, 1, &all), bound(n, n + 1, &more)),
        bound(n, 1, &format!("(seq (@g.0 (%+ {} 1)) {all})", bound(n, n + 1, &format!("(seq {more} {all})")))),
        format!("(@g.0 {})", each(n, |i| format!("(@g.0 {i})"))),
        format!("(@g.0 (lambda h ({}) (seq {all} {all})))", params(1)),
        format!("(receive ({}) (@g.0 1) {all})", params(1)),
        format!("(receive ({}) (values {}) {all})", params(1), each(n, |i| format!("(@g.0 {i})"))),
        format!(
            "(labels ((L0 ({}) (if (@g.0 x.1) {all} (jump L0 {})))) (jump L0 {}))",
            params(1),
            each(n, |i| format!("x.{}", n - i)),
            each(n, |i| i.to_string())
        ),
    ]
}

fn source(text: &str) -> Program {
    common::core(&format!("(define @g.0 (lambda g x.0 x.0)) (@g.0 @g.0) {text}"), "as it is")
}

fn lowered(text: &str) -> impl Iterator<Item = Module> {
    let program = source(text);
    common::strategies().map(move |s| common::lower(&program, s))
}

#[test]
fn wide_programs_are_within_the_limits() {
    for text in programs(260) {
        let m = cairn_frame::lower(&source(&text), &[true], common::named("chunks"));
        assert_eq!(verify(&m), Ok(()), "{text}");
    }
}

/// Twice as many variables in an expression that is not the last one: they are packed there, too.
#[test]
fn wide_operands_are_within_the_limits() {
    for text in &programs(600)[5..7] {
        let m = cairn_frame::lower(&source(text), &[true], common::named("chunks"));
        assert_eq!(verify(&m), Ok(()), "{text}");
    }
}

#[test]
fn narrow_programs_stay_as_they_are() {
    for text in programs(3) {
        for m in lowered(&text) {
            assert!(!print_module(&m).contains("(opaque "), "{text}");
        }
    }
}

/// A straight line of thousands of operations becomes functions of a thousand at most; a short one stays whole.
#[test]
fn long_code_is_cut() {
    for (n, pieces) in [(300, 1), (5_000, 5)] {
        let line = each(n, |i| format!("(%set-box! b.1 {i})"));
        for m in lowered(&format!("(@g.0 (lambda line (b.1) (seq {line} b.1)))")) {
            let size = |f: &Function| f.blocks.iter().map(|b| 1 + b.stmts.len()).sum::<usize>();
            let sizes: Vec<usize> = m.functions.iter().filter(|f| &*f.procedure == "line").map(size).collect();
            assert!(sizes.iter().all(|s| *s <= 1_010), "{sizes:?}");
            assert!(sizes.iter().filter(|s| **s > 100).count() >= pieces, "{sizes:?}");
            assert!(n > 1_000 || sizes.iter().filter(|s| **s > 0).count() == 1, "{sizes:?}");
        }
    }
}
