//! Checks of form: headers, file lengths, no traces of one person's machine.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "tidy/circles.rs"]
mod circles;
mod common;
#[path = "tidy/safety_notes.rs"]
mod safety_notes;
use common::{of_others, root};

/// Files beyond this length must be split.
const LONGEST: usize = 1000;

fn sources() -> Vec<PathBuf> {
    fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                if !matches!(name, "target" | ".git" | "out" | "node_modules") {
                    walk(&path, out);
                }
            } else {
                out.push(path);
            }
        }
    }
    let root = root();
    let mut out = vec![];
    for dir in ["crates", "lib", "tests", "docs", "editors", "examples", "benchmarks", "packaging", ".ci"] {
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
        .filter(|p| !of_others(p) && text(p).lines().count() > LONGEST)
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

/// The folders of reference implementations that are unchanged, each with its licence.
const OTHERS: [&str; 2] = ["lib/more/srfi/165", "lib/more/srfi/166"];

#[test]
fn texts_of_others_are_in_listed_folders_with_their_licence() {
    let mut found: Vec<String> = sources()
        .iter()
        .filter(|p| of_others(p))
        .map(|p| p.parent().unwrap().strip_prefix(root()).unwrap().display().to_string())
        .collect();
    found.sort();
    found.dedup();
    assert_eq!(found, OTHERS);
    for folder in OTHERS {
        let license = text(&root().join(folder).join("LICENSE"));
        assert!(license.contains("Copyright") && license.len() > 500, "{folder}: {license}");
    }
}

#[test]
fn comments_keep_to_their_width() {
    let mut bad = vec![];
    for path in sources().into_iter().filter(|p| !of_others(p)) {
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

/// A program without an expectation is not run by `programs.rs`.
#[test]
fn every_test_program_has_an_expectation() {
    for (folder, expectation) in [("scheme", "out"), ("programs", "out"), ("messages", "out"), ("errors", "err")] {
        let folder = root().join("tests").join(folder);
        let files = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path());
        let without: Vec<PathBuf> = files
            .filter(|f| f.extension().is_some_and(|e| e == "scm") && !f.with_extension(expectation).exists())
            .collect();
        assert!(without.is_empty(), "no .{expectation} beside {without:?}");
    }
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

/// Who reads a note can check it where it stands: see `tidy/safety_notes.rs`.
#[test]
fn safety_notes_say_what_can_be_checked() {
    use safety_notes::{defers, of_blocks, of_functions, points_elsewhere};
    let (mut bad, mut found) = (vec![], 0);
    for path in sources().into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs")) {
        let text = text(&path);
        let (blocks, functions) = (of_blocks(&text), of_functions(&text));
        found += blocks.len();
        let blocks = blocks.into_iter().filter(|(_, note)| defers(note));
        let functions = functions.into_iter().filter(|(_, section)| points_elsewhere(section));
        bad.extend(blocks.chain(functions).map(|(line, note)| format!("{}:{line}: {note}", path.display())));
    }
    assert!(found > 900, "notes are found: {found}");
    assert!(bad.is_empty(), "these only point elsewhere; name the fact and where it comes from: {bad:#?}");
}

/// Rust files of the crates themselves whose code, comments left out, contains one of these, without what is in `may`:
/// files, or folders with a slash at the end.
fn files_with(what: &[&str], may: &[&str]) -> Vec<String> {
    let is_source = |p: &Path| {
        let parts: Vec<_> = p.strip_prefix(root()).unwrap().iter().map(|c| c.to_string_lossy()).collect();
        parts[0] == "crates" && parts.get(2).is_some_and(|c| c == "src") && !p.ends_with("tests.rs")
    };
    let mut found = vec![];
    for path in sources().into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs") && is_source(p)) {
        let text = text(&path);
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
        let has = code.lines().any(|l| what.iter().any(|w| l.split("//").next().unwrap().contains(w)));
        let name = path.strip_prefix(root().join("crates")).unwrap().to_string_lossy().into_owned();
        if has {
            found.push(name);
        }
    }
    let is_in = |name: &str, entry: &str| name == entry || entry.ends_with('/') && name.starts_with(entry);
    let stale: Vec<_> = may.iter().filter(|m| !found.iter().any(|name| is_in(name, m))).collect();
    assert!(stale.is_empty(), "nothing of {what:?} is left in {stale:?}");
    found.retain(|name| !may.iter().any(|m| is_in(name, m)));
    found
}

/// `unsafe_code` is denied in the workspace; these turn it on again. The crates of the heap, the runtime, LLVM and
/// `cairn cc` do so as a whole; `cairn-num` for the limb kernels; `cairn-eval` for the entry of executables, `cairn`
/// for code that is loaded, for processes that compile in the background, and for those that run tests.
#[test]
fn unsafe_code_is_where_it_may_be() {
    let may = [
        "cairn-heap/src/",
        "cairn-heap-c/src/lib.rs",
        "cairn-rt/src/lib.rs",
        "cairn-llvm/src/",
        "cairn-llvm-c/src/lib.rs",
        "cairn-ptrcomp/src/",
        "cairn-num/src/lib.rs",
        "cairn-eval/src/lib.rs",
        "cairn/src/background.rs",
        "cairn/src/compiler.rs",
        "cairn/src/evaluated.rs",
        "cairn/src/testing/child.rs",
    ];
    let bad = files_with(&["allow(unsafe_code"], &may);
    assert!(bad.is_empty(), "unsafe code in files that have done without: {bad:?}");
}

/// What ends a process is `Host::exit`, the command line, a second signal, a stack that cannot grow, and a process that
/// has compiled.
#[test]
fn few_may_end_the_process() {
    let may = [
        "cairn-rt/src/start_options.rs",
        "cairn-rt/src/machine/stop.rs",
        "cairn-rt/src/machine/frames/stack_region.rs",
        "cairn/src/main.rs",
        "cairn/src/evaluated.rs",
        "cairn-mutate/src/main.rs",
    ];
    let bad = files_with(&["process::exit(", "libc::_exit(", "libc::exit("], &may);
    assert!(bad.is_empty(), "these end the process: {bad:?}");
}

/// Heap and runtime are values. What is global is what a process has once.
#[test]
fn few_things_are_global() {
    let may = [
        "cairn-heap/src/gc/bdw/",                      // libgc's state
        "cairn-rt/src/c/sources.rs",                   // the C sources that the process is linked with
        "cairn-rt/src/library.rs",                     // the one runtime of a shared library
        "cairn-rt/src/machine/frames/stack_region.rs", // what the handler of SIGSEGV reads
        "cairn-rt/src/machine/stop.rs",                // what the handler of SIGINT reads
        "cairn-rt/src/record_types.rs",                // numbers of types, the same in all places
    ];
    let kinds = ["Atomic", "Mutex<", "RwLock<", "OnceLock<", "LazyLock<"];
    let globals: Vec<String> = kinds.iter().map(|k| format!(": {k}")).collect();
    let is_static = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("pub ").or(line.strip_prefix("pub(crate) ")).unwrap_or(line);
        line.starts_with("static ") && globals.iter().any(|g| line.contains(g)) || line.starts_with("static mut ")
    };
    let mut bad = vec![];
    for krate in ["cairn-heap", "cairn-rt"] {
        let source = root().join("crates").join(krate).join("src");
        for path in sources().into_iter().filter(|p| p.starts_with(&source) && !p.ends_with("tests.rs")) {
            let name = path.strip_prefix(root().join("crates")).unwrap().to_string_lossy().into_owned();
            let text = text(&path);
            let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
            if code.lines().any(is_static) && !may.iter().any(|m| name.starts_with(m)) {
                bad.push(name);
            }
        }
    }
    assert!(bad.is_empty(), "these have global state: {bad:?}");
}

/// Of the compiler, only the back end touches LLVM.
#[test]
fn llvm_is_reached_in_few_places() {
    let may = ["cairn-llvm/src/backend.rs", "cairn-llvm/src/c_source.rs", "cairn-ptrcomp/src/"];
    let bad = files_with(&["cairn_llvm_c::"], &may);
    assert!(bad.is_empty(), "these touch LLVM: {bad:?}");
}

/// An editor shows a doc comment without its neighbours.
#[test]
fn doc_comments_stand_alone() {
    let leaning = ["The same", "Likewise", "As for", "Ditto", "What of it"];
    let mut bad = vec![];
    for path in sources().into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs")) {
        let mut before = false;
        for (i, line) in text(&path).lines().enumerate() {
            let comment = line.trim_start().strip_prefix("///").map(str::trim_start);
            if !before && comment.is_some_and(|c| leaning.iter().any(|l| c.starts_with(l))) {
                bad.push(format!("{}:{}", path.display(), i + 1));
            }
            before = comment.is_some();
        }
    }
    assert!(bad.is_empty(), "these say nothing without what stands before them: {bad:#?}");
}

/// ARCHITECTURE.md is a map: what does not fit belongs in docs/internals.
#[test]
fn the_map_is_short() {
    let lines = text(&root().join("ARCHITECTURE.md")).lines().count();
    assert!(lines <= 150, "ARCHITECTURE.md has {lines} lines");
}

/// The files of a crate stand on each other in layers: none needs one that needs it. See `tidy/circles.rs`.
#[test]
fn files_of_a_crate_need_each_other_in_no_circle() {
    let mut wrong: Vec<String> = Vec::new();
    let mut needs_found = 0;
    for directory in fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path()) {
        let name = directory.file_name().unwrap().to_str().unwrap();
        let source = directory.join("src");
        let roots = ["lib.rs", "main.rs"].map(|file| source.join(file));
        assert!(roots.iter().any(|file| file.is_file()), "{name} has a root");
        for root in roots.iter().filter(|file| file.is_file()) {
            let needs = circles::needs(root, &|path| fs::read_to_string(path).ok());
            needs_found += needs.values().map(|others| others.len()).sum::<usize>();
            for circle in circles::circles(&needs) {
                wrong.push(format!("{name}: a circle of {}:\n{}", circle.len(), circles::shown(&circle, &needs)));
            }
        }
    }
    assert!(needs_found > 1000, "needs are found: {needs_found}");
    assert!(wrong.is_empty(), "move what both need into a file below:\n{}", wrong.join("\n"));
}
