//! Golden tests of the frame pass: `tests/golden/frame/*.txt`, one file per feature.
//!
//! A file is a remark on what to look at, and a sequence of cases:
//!
//! ```text
//! ==== title
//! a program in Core text
//! ---- as it is                optimization level: `as it is` (dialect Fixed or Opt), `low`, `high`
//! #### chunks
//! the Frame IR under this strategy
//! #### heap
//! ...
//! ```
//!
//! All that is lowered is verified, printed, parsed, and printed again. `CAIRN_UPDATE_GOLDEN=1` rewrites the expected parts.

mod common;

use cairn_frame::print::print_module;
use std::path::{Path, PathBuf};

struct Case<'a> {
    title: &'a str,
    source: &'a str,
    level: &'a str,
    expected: &'a str,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    text.split("==== ")
        .skip(1)
        .map(|case| {
            let (title, rest) = case.split_once('\n').expect("a title");
            let (source, rest) = rest.split_once("---- ").unwrap_or_else(|| panic!("`{title}` names no level"));
            let (level, expected) = rest.split_once('\n').unwrap_or((rest, ""));
            Case { title, source: source.trim_end(), level: level.trim(), expected: expected.trim() }
        })
        .collect()
}

fn result(case: &Case) -> String {
    let program = common::core(case.source, case.level);
    common::strategies()
        .map(|s| format!("#### {}\n{}", s.name, print_module(&common::lower(&program, s)).trim()))
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn check(path: &Path) {
    let text = std::fs::read_to_string(path).expect("readable");
    let mut updated = text.split("==== ").next().unwrap_or("").to_string();
    let mut failures = Vec::new();
    for case in cases(&text) {
        let actual = result(&case);
        updated += &format!("==== {}\n{}\n---- {}\n{actual}\n\n", case.title, case.source, case.level);
        if actual != case.expected {
            failures.push(format!(
                "`{}` in {}\nsource:\n{}\nexpected:\n{}\n\nactual:\n{actual}\n",
                case.title,
                path.file_name().unwrap_or_default().display(),
                case.source,
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/frame");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("tests/golden/frame exists")
        .map(|f| f.expect("readable").path())
        .filter(|p| p.extension().is_some_and(|x| x == "txt"))
        .collect();
    files.sort();
    assert!(files.len() >= 15, "one file per feature");
    files.iter().for_each(|f| check(f));
}
