//! Versions of loops for fixnums: which loops get one, wherever in the body the operation that decides stands, and that
//! programs mean what they meant, under the reference interpreter.

use cairn_core::interp::{self, Stop};
use cairn_core::parse::parse_program;
use cairn_core::passes::types;
use cairn_core::print::print_program;
use cairn_core::verify::{Dialect, verify};

/// One round of the loop; `X` is any expression.
const PLACES: [&str; 7] = [
    "(if (%eq? X 7) (jump L0 (%- i.2 1) s.3) (jump L0 (%- i.2 1) (%+ s.3 i.2)))",
    "(seq (%write-object X '() 1) (jump L0 (%- i.2 1) (%+ s.3 i.2)))",
    "(seq (%write-object 8 '() 1) (%write-object X '() 1) (jump L0 (%- i.2 1) (%+ s.3 i.2)))",
    "(let ((v.4 X)) (if (%eq? v.4 7) (jump L0 (%- i.2 1) s.3) (jump L0 (%- i.2 1) (%+ s.3 i.2))))",
    "(let ((u.4 i.2) (v.5 X)) (if (%eq? v.5 u.4) (jump L0 (%- i.2 1) s.3) (jump L0 (%- i.2 1) (%+ s.3 i.2))))",
    "(labels ((L1 (v.4) (jump L0 (%- i.2 1) (%+ s.3 i.2)))) (jump L1 X))",
    "(labels ((L1 (v.4) (if (%eq? X v.4) s.3 (jump L0 (%- i.2 1) (%+ s.3 i.2))))) (jump L1 3))",
];

/// Such loops get a version.
fn quiet() -> Vec<String> {
    vec!["(%+ i.2 s.3)".into(), "(let ((w.6 (%+ i.2 1))) (%* w.6 i.2))".into(), "(if (%< s.3 3) 7 i.2)".into()]
}

/// Such loops get none: they call, make procedures, or are too large.
fn loud() -> Vec<String> {
    let large = (0..70).fold("i.2".to_string(), |sum, _| format!("(%+ {sum} s.3)"));
    let calls = ["(@g.0 i.2)", "(apply @g.0 (%cons i.2 '()))", "(%+ 1 (@g.0 i.2))"];
    let mut all: Vec<String> = calls.iter().map(|s| s.to_string()).collect();
    all.extend([
        "(call/cc (lambda k (z.7) (%+ i.2 1)))".into(),
        "(%unbox (%box (lambda h (z.7) i.2)))".into(),
        large,
    ]);
    all
}

fn program(round: &str) -> String {
    format!(
        "(define @g.0 (lambda g (x.0) (%* x.0 x.0)))
        (define @run.1 (lambda run (n.1) (labels ((L0 (i.2 s.3) (if (%< i.2 1) s.3 {round}))) (jump L0 n.1 0))))
        (%write-object (@run.1 5) '() 1)
        (%write-object (@run.1 2.5) '() 1)
        (%write-object (@run.1 'x) '() 1)"
    )
}

/// Runs the analysis of types; has the loop two bodies afterwards?
fn is_versioned(text: &str) -> bool {
    let mut p = parse_program(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let before = interp::run(&p, 20_000);
    assert!(before.trace.len() >= 2 && before.result == Err(Stop::Operand), "{before:?}\n{text}");
    types::run(&mut p);
    let printed = print_program(&p);
    assert_eq!(verify(&p, Dialect::Opt), Ok(()), "{text}\n{printed}");
    assert_eq!(interp::run(&p, 200_000), before, "{text}\n{printed}");
    printed.contains("%fixnum?")
}

#[test]
fn loops_without_calls_have_a_version_for_fixnums() {
    for (place, x) in PLACES.iter().flat_map(|p| quiet().into_iter().map(move |x| (p, x))) {
        let text = program(&place.replace('X', &x));
        assert!(is_versioned(&text), "{text}");
    }
}

#[test]
fn loops_with_calls_procedures_or_much_code_have_none_wherever_these_stand() {
    for (place, x) in PLACES.iter().flat_map(|p| loud().into_iter().map(move |x| (p, x))) {
        let text = program(&place.replace('X', &x));
        assert!(!is_versioned(&text), "{text}");
    }
}
