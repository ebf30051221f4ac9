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
    for dir in ["crates", "lib", "tests", "docs", "examples", "benchmarks", "packaging", ".ci"] {
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

/// Lines of comments, of prose and of lib/ are at most this wide. Tables and quoted text may be wider; rustfmt looks
/// after code.
const WIDEST: usize = 120;

/// Numbers of the lines that are too wide, for a file whose name ends so.
fn wide_lines(extension: &str, in_lib: bool, text: &str) -> Vec<usize> {
    let mut quoted = false;
    let mut wide = vec![];
    for (i, line) in text.lines().enumerate() {
        let comment = match extension {
            "rs" => ["//! ", "/// ", "// "].iter().find_map(|m| line.trim_start().strip_prefix(m)),
            "scm" | "sld" if in_lib => Some(line),
            "scm" | "sld" => line.trim_start().starts_with(';').then_some(line),
            "md" => Some(line),
            _ => None,
        };
        let Some(comment) = comment else { continue };
        if comment.trim_start().starts_with("```") {
            quoted = !quoted;
        }
        let may_be_wide = quoted || comment.trim_start().starts_with('|');
        if line.chars().count() > WIDEST && !may_be_wide {
            wide.push(i + 1);
        }
    }
    wide
}

#[test]
fn comments_keep_to_their_width() {
    let mut bad = vec![];
    for path in sources() {
        let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        let in_lib = path.starts_with(root().join("lib"));
        let lines = wide_lines(&extension, in_lib, &text(&path));
        bad.extend(lines.into_iter().map(|line| format!("{}:{line}", path.display())));
    }
    assert!(bad.is_empty(), "lines wider than {WIDEST} columns: {bad:#?}");
}

#[test]
fn wide_lines_are_found() {
    let wide = "x ".repeat(61);
    let found = |extension, text: &str| wide_lines(extension, false, text);
    assert_eq!(found("rs", &format!("//! {wide}\n  // {wide}\nlet s = \"{wide}\";\n/// | {wide}\n/// λ")), [1, 2]);
    assert_eq!(found("md", &format!("{wide}\n```\n{wide}\n```\n{wide}\n| {wide}")), [1, 5]);
    assert_eq!(found("scm", &format!("({wide})\n ;; {wide}")), [2]);
    assert_eq!(wide_lines("sld", true, &wide), [1]);
}

/// Names that several source files share because they are about one thing: a strategy under its name, an IR's text, a
/// table and the functions in it, an operation in the compiler and at run time. Any other name stands for one file.
const SHARED_NAMES: &[&str] = &[
    "arith.rs",       // the numeric tower: algorithms, inline code, runtime calls
    "calls.rs",       // the table of runtime calls, and its functions
    "chunks.rs",      // the strategy, on both sides
    "constraints.rs", // of each collector
    "exhibits.rs",    // of each study
    "findings.rs",    // of each study
    "heap.rs",        // the strategy, on both sides; and the heap
    "ir.rs",
    "lib.rs",
    "main.rs",
    "measurements.rs", // of each study
    "mod.rs",
    "native.rs",  // the strategy, on both sides
    "numeric.rs", // numeric vectors, on both sides
    "parse.rs",
    "print.rs",
    "programs.rs",  // of each study
    "published.rs", // of each study
    "quasi.rs",     // the strategy, on both sides, and its layout
    "raise.rs",     // errors, on both sides
    "record.rs",    // records, on both sides
    "safepoint.rs", // safepoints, on both sides
    "stack.rs",     // the strategy, on both sides
    "tests.rs",
    "verify.rs",
    "weak.rs", // weak objects: the heap's, and Scheme's
];

#[test]
fn names_of_source_files_are_unique() {
    let crates = root().join("crates");
    let mut names: Vec<String> = sources()
        .into_iter()
        .filter(|p| p.starts_with(&crates) && p.extension().is_some_and(|e| e == "rs"))
        .filter(|p| p.components().any(|c| c.as_os_str() == "src"))
        .map(|p| p.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let mut repeated: Vec<&str> = names.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0].as_str()).collect();
    repeated.dedup();
    let bad: Vec<&str> = repeated.iter().copied().filter(|n| !SHARED_NAMES.contains(n)).collect();
    assert!(bad.is_empty(), "different things under one name: {bad:?}");
    let stale: Vec<&&str> = SHARED_NAMES.iter().filter(|n| !repeated.contains(n)).collect();
    assert!(stale.is_empty(), "these names are unique: {stale:?}");
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

/// The module of a file of `cairn-rt`, as a path from the crate's root: `machine::frames`.
fn module_of(file: &Path, source: &Path) -> String {
    let path = file.strip_prefix(source).unwrap().with_extension("");
    let parts: Vec<&str> =
        path.iter().map(|p| p.to_str().unwrap()).filter(|p| *p != "mod" && *p != "lib").collect();
    parts.join("::")
}

/// Paths into the crate that a file names: after `crate::` and `super::`, groups of `use` taken apart.
fn paths_named(text: &str, module: &str) -> Vec<String> {
    fn group(prefix: &str, text: &str, out: &mut Vec<String>) {
        let end = text.find(|c: char| !(c.is_alphanumeric() || "_:".contains(c))).unwrap_or(text.len());
        let path = format!("{prefix}{}", &text[..end]);
        let Some(inner) = text[end..].strip_prefix('{') else { return out.push(path) };
        let (mut depth, mut from) = (0, 0);
        for (i, c) in inner.char_indices() {
            if depth == 0 && matches!(c, ',' | '}') {
                group(&path, inner[from..i].trim_start(), out);
                from = i + 1;
            }
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => return,
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
    let code: String = text.lines().map(|l| l.split("//").next().unwrap().to_string() + " ").collect();
    let mut out = vec![];
    for (i, _) in code.match_indices("crate::").filter(|(i, _)| !code[..*i].ends_with('$')) {
        group("", &code[i + "crate::".len()..], &mut out);
    }
    let parent = module.rsplit_once("::").map_or(String::new(), |(parent, _)| format!("{parent}::"));
    for (i, _) in code.match_indices("super::") {
        group(&parent, &code[i + "super::".len()..], &mut out);
    }
    out
}

/// Each module of the runtime stands on others below it.
#[test]
fn the_runtime_has_no_circle_of_modules() {
    let source = root().join("crates/cairn-rt/src");
    let is_test = |p: &Path| p.ends_with("tests.rs") || p.ends_with("bare_runtime.rs");
    let files: Vec<PathBuf> = sources()
        .into_iter()
        .filter(|p| p.starts_with(&source) && !is_test(p) && p.extension().is_some_and(|e| e == "rs"))
        .collect();
    let modules: Vec<String> = files.iter().map(|p| module_of(p, &source)).collect();
    let mut below: Vec<(String, Vec<String>)> = files
        .iter()
        .zip(&modules)
        .map(|(file, module)| {
            let text = text(file);
            let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
            let found = paths_named(code, module).into_iter().filter_map(|path| {
                let inside = |m: &&String| path == **m || path.starts_with(&format!("{m}::"));
                modules.iter().filter(inside).max_by_key(|m| m.len()).filter(|m| *m != module).cloned()
            });
            (module.clone(), found.collect())
        })
        .collect();
    assert!(below.iter().map(|(_, b)| b.len()).sum::<usize>() > 100, "dependencies are found: {below:#?}");
    // Take away what stands on nothing, again and again.
    loop {
        let left: Vec<String> = below.iter().map(|(m, _)| m.clone()).collect();
        let before = below.len();
        below.retain(|(_, on)| on.iter().any(|m| left.contains(m)));
        if below.len() == before {
            break;
        }
    }
    assert!(below.is_empty(), "these modules stand on each other: {below:#?}");
}
