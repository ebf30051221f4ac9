//! Golden tests of single passes: `tests/golden/core/*.txt`.
//!
//! The programs (`tests/support/golden.rs`) are Core text; `---- letrec, assign` names the passes. After each pass the
//! verifier runs, and the result must survive printing and parsing.

use cairn_core::parse::parse_program;
use cairn_core::passes::testing::run_pass;
use cairn_core::print::print_program;
use cairn_core::verify::verify;

#[path = "../../../tests/support/golden.rs"]
mod support;
use support::Case;

/// The program after the passes.
fn result(case: &Case) -> String {
    let mut program = parse_program(case.source).unwrap_or_else(|e| panic!("`{}`: {e}", case.title));
    for pass in case.how.split(',').map(str::trim) {
        let dialect = run_pass(&mut program, pass).unwrap_or_else(|| panic!("`{}`: no pass `{pass}`", case.title));
        let text = print_program(&program);
        if let Some(Err(complaints)) = dialect.map(|d| verify(&program, d)) {
            panic!("`{}` is wrong after {pass}:\n{}\n{text}", case.title, complaints.join("\n"));
        }
        let again = parse_program(&text).unwrap_or_else(|e| panic!("`{}` after {pass}: {e}\n{text}", case.title));
        assert_eq!(print_program(&again), text, "`{}`: printing and parsing differ", case.title);
    }
    print_program(&program)
}

#[test]
fn golden() {
    support::check_folder("core", result);
}
