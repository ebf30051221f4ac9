//! Golden tests of single passes: `tests/golden/core/*.txt`.
//!
//! A file is a sequence of cases:
//!
//! ```text
//! ==== title
//! a program in Core text
//! ---- letrec, assign
//! the program after these passes
//! ```
//!
//! After each pass the verifier runs, and the result must survive printing and parsing. `CAIRN_UPDATE_GOLDEN=1` rewrites
//! the expected parts.

use cairn_core::parse::parse_program;
use cairn_core::passes::testing::run_pass;
use cairn_core::print::print_program;
use cairn_core::verify::verify;
use std::path::{Path, PathBuf};

struct Case {
    title: String,
    source: String,
    passes: String,
    expected: String,
}

fn cases(text: &str) -> Vec<Case> {
    text.split("==== ")
        .skip(1)
        .map(|case| {
            let (title, rest) = case.split_once('\n').expect("a title");
            let (source, rest) = rest.split_once("---- ").unwrap_or_else(|| panic!("`{title}` names no passes"));
            let (passes, expected) = rest.split_once('\n').unwrap_or((rest, ""));
            Case {
                title: title.to_string(),
                source: source.to_string(),
                passes: passes.trim().to_string(),
                expected: expected.trim().to_string(),
            }
        })
        .collect()
}

/// The program after the passes.
fn result(case: &Case) -> String {
    let mut program = parse_program(&case.source).unwrap_or_else(|e| panic!("`{}`: {e}", case.title));
    for pass in case.passes.split(',').map(str::trim) {
        let dialect = run_pass(&mut program, pass).unwrap_or_else(|| panic!("`{}`: no pass `{pass}`", case.title));
        let text = print_program(&program);
        if let Some(Err(complaints)) = dialect.map(|d| verify(&program, d)) {
            panic!("`{}` is wrong after {pass}:\n{}\n{text}", case.title, complaints.join("\n"));
        }
        let again = parse_program(&text).unwrap_or_else(|e| panic!("`{}` after {pass}: {e}\n{text}", case.title));
        assert_eq!(print_program(&again), text, "`{}`: printing and parsing differ", case.title);
    }
    print_program(&program).trim().to_string()
}

fn check(path: &Path) {
    let text = std::fs::read_to_string(path).expect("readable");
    let head = text.split("==== ").next().unwrap_or("").to_string();
    let mut updated = head;
    let mut failures = Vec::new();
    for case in cases(&text) {
        let actual = result(&case);
        updated += &format!("==== {}\n{}---- {}\n{actual}\n\n", case.title, case.source, case.passes);
        if actual != case.expected {
            failures.push(format!(
                "`{}` in {}\nsource:\n{}\nexpected after {}:\n{}\n\nactual:\n{actual}\n",
                case.title,
                path.file_name().unwrap_or_default().display(),
                case.source,
                case.passes,
                case.expected
            ));
        }
    }
    if std::env::var_os("CAIRN_UPDATE_GOLDEN").is_some() {
        std::fs::write(path, updated.trim_end().to_string() + "\n").expect("writable");
    } else if !failures.is_empty() {
        panic!("{}\n(CAIRN_UPDATE_GOLDEN=1 accepts the results)", failures.join("\n"));
    }
}

#[test]
fn golden() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/core");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("tests/golden/core exists")
        .map(|f| f.expect("readable").path())
        .filter(|p| p.extension().is_some_and(|x| x == "txt"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files.iter().for_each(|f| check(f));
}
