//! Golden files of cases: programs, what is done with them, and the text that comes out.
//!
//! ```text
//! a remark on what to look at
//! ==== title
//! a program
//! ---- how
//! the text that comes out
//! ```
//!
//! All golden files have this form, one or more cases to a file. The test of a crate includes this file and says what
//! `how` means. `CAIRN_UPDATE_GOLDEN=1` rewrites the texts.

#![allow(dead_code)] // each test uses its part

use std::path::{Path, PathBuf};

/// One program and its expected text.
pub struct Case<'a> {
    pub title: &'a str,
    pub source: &'a str,
    pub how: &'a str,
    expected: &'a str,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    text.split("==== ")
        .skip(1)
        .map(|case| {
            let (title, rest) = case.split_once('\n').expect("a title");
            let (source, rest) =
                rest.split_once("---- ").unwrap_or_else(|| panic!("`{title}` lacks a line `---- how`"));
            let (how, expected) = rest.split_once('\n').unwrap_or((rest, ""));
            Case { title, source: source.trim_end(), how: how.trim(), expected: expected.trim() }
        })
        .collect()
}

/// The programs of all cases in a folder.
pub fn sources(folder: &Path) -> Vec<String> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|e| e.unwrap().path()).collect();
    files.sort();
    let texts: Vec<String> = files.iter().map(|f| std::fs::read_to_string(f).expect("readable")).collect();
    texts.iter().flat_map(|text| cases(text)).map(|case| case.source.to_string()).collect()
}

/// Checks every case of a file.
pub fn check(path: &Path, result: &impl Fn(&Case) -> String) {
    let text = std::fs::read_to_string(path).expect("readable");
    let mut updated = text.split("==== ").next().unwrap_or("").to_string();
    let mut failures = Vec::new();
    for case in cases(&text) {
        let actual = result(&case);
        let actual = actual.trim();
        updated += &format!("==== {}\n{}\n---- {}\n{actual}\n\n", case.title, case.source, case.how);
        if actual != case.expected {
            failures.push(format!(
                "`{}` in {}\nsource:\n{}\nexpected ({}):\n{}\n\nactual:\n{actual}\n",
                case.title,
                path.file_name().unwrap_or_default().display(),
                case.source,
                case.how,
                case.expected
            ));
        }
    }
    if updating() {
        std::fs::write(path, updated.trim_end().to_string() + "\n").expect("writable");
    } else if !failures.is_empty() {
        panic!("{}\n(CAIRN_UPDATE_GOLDEN=1 accepts the results)", failures.join("\n"));
    }
}

fn updating() -> bool {
    std::env::var_os("CAIRN_UPDATE_GOLDEN").is_some()
}

/// The golden files in `tests/golden/FOLDER`, in order.
pub fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|f| f.expect("readable").path())
        .filter(|p| p.extension().is_some_and(|x| x == "txt"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} has no files *.txt", folder.display());
    files
}

/// Checks a file of one case whose source is made by the test, not read.
pub fn check_made(path: &Path, title: &str, source: &str, how: &str, actual: &str) {
    let case = format!("==== {title}\n{}\n---- {how}\n{}\n", source.trim_end(), actual.trim());
    if updating() {
        return std::fs::write(path, case).expect("writable");
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    let shown = path.display();
    assert!(
        expected == case,
        "{shown} (CAIRN_UPDATE_GOLDEN=1 accepts the result)\nexpected:\n{expected}\nactual:\n{case}\n"
    );
}

/// Checks every case of the files `*.txt` in `tests/golden/FOLDER`.
pub fn check_folder(folder: &str, result: impl Fn(&Case) -> String) {
    files(folder).iter().for_each(|f| check(f, &result));
}
