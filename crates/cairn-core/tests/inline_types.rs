//! Golden files of the passes `inline` and `types`: `tests/golden/core-PASS/NAME.core` and what the pass makes of it,
//! `NAME.out`. `CAIRN_UPDATE_GOLDEN=1` writes the latter.

use cairn_core::ir::Program;
use cairn_core::passes::{inline, loops, types, unroll};
use cairn_core::verify::{Dialect, verify};
use cairn_core::{parse::parse_program, print::print_program_with};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn check(pass: &str, run: fn(&mut Program)) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(format!("core-{pass}"));
    let mut inputs: Vec<PathBuf> = std::fs::read_dir(&dir)
        .expect("the golden directory")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "core"))
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "no inputs in {}", dir.display());
    let mut failures = String::new();
    for input in inputs {
        let text = std::fs::read_to_string(&input).expect("readable input");
        let mut program = parse_program(&text).unwrap_or_else(|e| panic!("{}: {e}", input.display()));
        run(&mut program);
        let mut actual = print_program_with(&program, text.contains('{'));
        if let Err(complaints) = verify(&program, Dialect::Opt) {
            let _ = writeln!(actual, "; broken: {}", complaints.join("; "));
        }
        let path = input.with_extension("out");
        if std::env::var_os("CAIRN_UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &actual).expect("written");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if expected != actual || actual.contains("; broken") {
            let _ = writeln!(
                failures,
                "=== {}\n--- source\n{text}\n--- expected\n{expected}\n--- actual\n{actual}",
                path.display()
            );
        }
    }
    assert!(failures.is_empty(), "{failures}");
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
