//! Stores of scalars: what `types` says of them, and that a false claim is noticed.

use cairn_core::interp::{self, Stop};
use cairn_core::parse::parse_program;
use cairn_core::passes::types;
use cairn_core::print::print_program_with;

fn typed(text: &str) -> String {
    let mut program = parse_program(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    types::run(&mut program);
    print_program_with(&program, false)
}

/// Each store, with the bit that says it stores a scalar: bit 4 + i for operand i.
const STORES: [(&str, &str, u8); 4] = [
    ("set-car!", "p.0 n.1", 1 << 5),
    ("set-box!", "p.0 n.1", 1 << 5),
    ("vector-set!", "p.0 0 n.1", 1 << 6),
    ("record-set!", "p.0 @t.1 0 n.1", 1 << 7),
];

/// The claims of a store into an unknown object of something that passes `test`.
fn proven(op: &str, operands: &str, test: &str) -> u8 {
    let text = typed(&format!(
        "(define @f.0 (lambda f (p.0 n.1) (if ({test} n.1) (%{op} {operands}) #f)))
         (define @t.1 (@g.2))
         (@f.0 (@g.2) (@g.2))"
    ));
    let (_, rest) = text.split_once(&format!("%{op}")).unwrap_or_else(|| panic!("no {op}:\n{text}"));
    match rest.strip_prefix(':') {
        Some(number) => number[..number.find(' ').unwrap()].parse().unwrap(),
        None => 0,
    }
}

#[test]
fn a_stored_scalar_is_marked() {
    for test in ["%fixnum?", "%char?", "%null?", "%boolean?", "%eof-object?"] {
        for (op, operands, bit) in STORES {
            let claims = proven(op, operands, test);
            assert!(claims & bit != 0, "{op} after {test}: {claims}");
        }
    }
}

#[test]
fn nothing_else_is() {
    for test in ["%pair?", "%string?", "%flonum?", "%symbol?", "%procedure?"] {
        for (op, operands, bit) in STORES {
            let claims = proven(op, operands, test);
            assert!(claims & bit == 0, "{op} after {test}: {claims}");
        }
    }
}

#[test]
fn the_interpreter_notices_a_false_claim() {
    let outcome = |text: &str| interp::run(&parse_program(text).unwrap(), 1000).result;
    let of_list = outcome("(let ((p.0 (%cons 1 2))) (%set-car!:32 p.0 (%cons 3 4)))");
    assert_eq!(of_list, Err(Stop::Unsound("set-car! stores (3 . 4), no scalar".into())));
    assert!(outcome("(let ((p.0 (%cons 1 2))) (seq (%set-car!:32 p.0 7) (%car p.0)))").is_ok());
}
