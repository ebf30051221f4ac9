//! Checks of form: headers, file lengths, no traces of one person's machine.

use std::fs;
use std::path::{Path, PathBuf};

mod common;
use common::root;

/// Files beyond this length must be split.
const LONGEST: usize = 1000;

fn sources() -> Vec<PathBuf> {
    fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                if !matches!(name, "target" | ".git" | "out") {
                    walk(&path, out);
                }
            } else {
                out.push(path);
            }
        }
    }
    let root = root();
    let mut out = vec![];
    for dir in ["crates", "lib", "tests", "docs", "examples", "benchmarks", ".ci"] {
        if root.join(dir).is_dir() {
            walk(&root.join(dir), &mut out);
        }
    }
    for file in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "cairn", "Cargo.toml"] {
        out.push(root.join(file));
    }
    out
}

fn text(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
}

#[test]
fn every_rust_file_opens_with_its_purpose() {
    let bad: Vec<_> = sources()
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "rs"))
        .filter(|p| !text(p).starts_with("//! "))
        .collect();
    assert!(bad.is_empty(), "these files need a `//!` header: {bad:#?}");
}

#[test]
fn every_library_file_opens_with_its_purpose() {
    let bad: Vec<_> = sources()
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "sld"))
        .filter(|p| !text(p).starts_with(";;"))
        .collect();
    assert!(bad.is_empty(), "these files need a `;;` header: {bad:#?}");
}

#[test]
fn files_are_of_readable_length() {
    let bad: Vec<_> = sources()
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "rs" || e == "scm" || e == "sld"))
        .filter(|p| text(p).lines().count() > LONGEST)
        .collect();
    assert!(bad.is_empty(), "these files have more than {LONGEST} lines: {bad:#?}");
}

#[test]
fn no_machine_paths() {
    let traces = [concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/ho", "me/")];
    let bad: Vec<_> = sources().into_iter().filter(|p| traces.iter().any(|t| text(p).contains(t))).collect();
    assert!(bad.is_empty(), "these files name a path of one machine: {bad:#?}");
}

#[test]
fn unsafe_code_has_safety_notes() {
    let mut bad = vec![];
    // Tests build broken heaps on purpose; their unsafe code is not held to this.
    let is_test = |p: &Path| p.components().any(|c| c.as_os_str() == "tests") || p.ends_with("tests.rs");
    for path in sources().into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs") && !is_test(p)) {
        let text = text(&path);
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap();
            if !code.contains(concat!("unsafe", " {")) {
                continue;
            }
            let before = lines[i.saturating_sub(8)..=i].iter().chain(lines.get(i + 1));
            if !before.into_iter().any(|l| l.contains("SAFETY") || l.contains("# Safety")) {
                bad.push(format!("{}:{}", path.display(), i + 1));
            }
        }
    }
    assert!(bad.is_empty(), "unsafe blocks without a SAFETY note: {bad:#?}");
}
