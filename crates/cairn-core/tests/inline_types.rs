//! Golden files of single passes: programs in `tests/golden/core-PASS/` and what the pass makes of them
//! (`tests/support/golden.rs`).

use cairn_core::ir::Program;
use cairn_core::passes::{inline, loops, types, unroll};
use cairn_core::verify::{Dialect, verify};
use cairn_core::{parse::parse_program, print::print_program_with};

#[path = "../../../tests/support/golden.rs"]
mod support;

fn check(pass: &str, run: fn(&mut Program)) {
    support::check_folder(&format!("core-{pass}"), |case| {
        let (name, text) = (case.title, case.source);
        let mut program = parse_program(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        run(&mut program);
        let printed = print_program_with(&program, text.contains('{'));
        if let Err(complaints) = verify(&program, Dialect::Opt) {
            panic!("{name} is wrong:\n{}\n{printed}", complaints.join("\n"));
        }
        printed
    });
}

#[test]
fn inlining() {
    check("inline", inline::run);
}

#[test]
fn proving() {
    check("types", types::run);
}

#[test]
fn looping() {
    check("loops", loops::run);
}

#[test]
fn unrolling() {
    check("unroll", unroll::run);
}
