//! What passes promise to take away is gone, and the program means what it meant, under the reference interpreter.

use cairn_core::interp;
use cairn_core::ir::Program;
use cairn_core::parse::parse_program;
use cairn_core::passes::{loops, types};
use cairn_core::print::print_program;
use cairn_core::verify::{Dialect, verify};

/// The program after a pass, as text.
fn after(text: &str, pass: fn(&mut Program)) -> String {
    let mut p = parse_program(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let before = interp::run(&p, 20_000);
    assert!(before.result.is_ok(), "{before:?}\n{text}");
    pass(&mut p);
    let printed = print_program(&p);
    assert_eq!(verify(&p, Dialect::Opt), Ok(()), "{text}\n{printed}");
    assert_eq!(interp::run(&p, 20_000), before, "{text}\n{printed}");
    printed
}

/// A comparison that was asked before is not asked again.
#[test]
fn a_question_has_one_answer() {
    let numbers = ("(@f.0 3 4) (@f.0 9 9) (@f.0 7.5 1)", ["x.0 y.1", "x.0 3", "5 y.1"]);
    let chars = ("(@f.0 #\\a #\\b) (@f.0 #\\c #\\c)", ["x.0 y.1", "x.0 #\\c", "#\\e y.1"]);
    let on_numbers = ["=", "<", "<=", ">", ">=", "eq?", "eqv?"].map(|op| (op, numbers));
    let on_chars = ["eq?", "eqv?", "char=?", "char<?"].map(|op| (op, chars));
    for (op, (calls, operands)) in on_numbers.into_iter().chain(on_chars) {
        for operands in operands {
            let question = format!("(%{op} {operands})");
            let text = format!(
                "(define @f.0 (lambda f (x.0 y.1)
                  (%write-object (if {question} (if {question} 1 'never) (if {question} 'never 2)) '() 1)))
                {calls}"
            );
            let printed = after(&text, types::run);
            assert!(!printed.contains("never"), "{printed}");
        }
    }
}

/// Places of a call in tail position.
const TAILS: [&str; 6] = [
    "CALL",
    "(if (%eq? n.0 7) n.0 CALL)",
    "(seq (%write-object n.0 '() 1) CALL)",
    "(let ((m.2 (%+ n.0 1))) CALL)",
    "(fix ((h.2 (lambda h (x.3) (%+ x.3 1)))) CALL)",
    "(receive (a.2 b.3) (values n.0 1) CALL)",
];

/// Procedures that call themselves in tail position only become loops; others call themselves as before.
#[test]
fn tail_recursion_becomes_a_loop() {
    let call = "(@f.0 (%- n.0 1) (%+ s.1 n.0))";
    for tail in TAILS {
        for (other, is_loop) in [("s.1", true), ("(%+ 1 (@f.0 (%- n.0 2) s.1))", false)] {
            let body = format!("(if (%< n.0 1) s.1 (if (%eq? n.0 5) {other} {}))", tail.replace("CALL", call));
            let global = format!("(define @f.0 (lambda f (n.0 s.1) {body})) (%write-object (@f.0 6 0) '() 1)");
            let local = format!("(fix ((f.9 (lambda f (n.0 s.1) {body}))) (%write-object (f.9 6 0) '() 1))")
                .replace("@f.0", "f.9");
            for (text, name) in [(global, "(@f.0 (%"), (local, "(f.9 (%")] {
                let printed = after(&text, loops::run);
                assert_eq!(!printed.contains(name), is_loop, "{text}\n{printed}");
                assert_eq!(printed.contains("(jump "), is_loop, "{text}\n{printed}");
            }
        }
    }
}
