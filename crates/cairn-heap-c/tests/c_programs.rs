//! Programs in C against the header and the library, as a user would compile them.

use cairn_layout::collector::{Ambiguity, COLLECTORS};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[path = "../../../tests/support/package.rs"]
mod package;

fn here() -> PathBuf {
    package::package()
}

/// The static library that was built beside this test.
fn library() -> PathBuf {
    let me = std::env::current_exe().unwrap();
    let deps = me.parent().unwrap();
    let built = [deps, deps.parent().unwrap()].into_iter().flat_map(|d| d.read_dir().unwrap());
    let mut found: Vec<PathBuf> = built
        .map(|e| e.unwrap().path())
        .filter(|p| {
            let name = p.file_name().unwrap().to_string_lossy();
            name.starts_with("libcairn_heap_c") && name.ends_with(".a")
        })
        .collect();
    found.sort_by_key(|p| p.metadata().unwrap().modified().unwrap());
    found.pop().expect("cargo builds the static library with its tests")
}

/// A C program, compiled.
struct Program(PathBuf);

impl Program {
    /// `what` sets it apart from others of the same source.
    fn new(source: &Path, what: &str) -> Program {
        let name = source.file_stem().unwrap().to_string_lossy();
        let executable = std::env::temp_dir().join(format!("cairn-heap-c-{}-{name}-{what}", std::process::id()));
        let mut command = Command::new("cc");
        command.args(["-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror"]);
        command.arg("-I").arg(here().join("include"));
        command.arg(source).arg(library()).args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&executable);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Program(executable)
    }
    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(&self.0).args(arguments).output().unwrap()
    }
    fn text(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{:?}: {text}{}", output.status, String::from_utf8_lossy(&output.stderr));
        text
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn every_function_does_what_the_header_says() {
    let program = Program::new(&here().join("tests/interface.c"), "all");
    assert_eq!(program.text(&[]), "");
    for collector in COLLECTORS.iter().filter(|c| c.ambiguity == Ambiguity::Words) {
        for mode in ["plain", "zeal"] {
            assert_eq!(program.text(&[mode, collector.name]), "", "{mode}, {}", collector.name);
        }
    }
}

/// A heap takes its share of the addresses, not all of them.
#[test]
fn a_process_can_have_many_heaps() {
    let program = Program::new(&here().join("tests/interface.c"), "many");
    assert_eq!(program.text(&["many", "2500"]), "2500");
    let limited = |kilobytes: u64| -> u64 {
        let mut shell = Command::new("sh");
        let script = format!("ulimit -v {kilobytes}; exec \"$0\" many 2500");
        let output = shell.args(["-c", &script]).arg(&program.0).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).parse().unwrap()
    };
    let (some, more) = (limited(2_000_000), limited(8_000_000));
    assert!(some >= 5 && more >= 20, "{some} heaps in 2 GB of addresses, {more} in 8 GB");
}

/// For hours by hand: `CAIRN_FUZZ_SECONDS=3600 CAIRN_FUZZ_SEED=7 cargo test --release -p cairn-heap-c fuzz`.
#[test]
fn fuzzing_finds_nothing() {
    let number = |name: &str, usual: &str| std::env::var(name).unwrap_or(usual.into());
    let (seconds, seed) = (number("CAIRN_FUZZ_SECONDS", "1"), number("CAIRN_FUZZ_SEED", "1"));
    let program = Program::new(&here().join("tests/fuzz.c"), "fuzz");
    for collector in COLLECTORS.iter().filter(|c| c.ambiguity == Ambiguity::Words) {
        for mode in ["plain", "zeal"] {
            let said = program.text(&[collector.name, mode, &seconds, &seed]);
            assert!(said.ends_with(" calls\n") && !said.starts_with("0 "), "{}, {mode}: {said}", collector.name);
        }
    }
}

#[test]
fn examples_print_what_they_should() {
    for entry in here().join("examples").read_dir().unwrap() {
        let source = entry.unwrap().path();
        if source.extension().is_some_and(|e| e == "c") {
            let program = Program::new(&source, "example");
            let expected = std::fs::read_to_string(source.with_extension("out")).unwrap();
            assert_eq!(program.text(&[]), expected, "{}", source.display());
            assert_eq!(program.text(&["zeal"]), expected, "{} under zeal", source.display());
        }
    }
}

#[test]
fn the_headers_constants_are_the_librarys() {
    let header = std::fs::read_to_string(here().join("include/cairn_heap.h")).unwrap();
    let constant = |name: &str| -> u64 {
        let line = header.lines().find(|l| l.starts_with(&format!("#define {name} "))).unwrap();
        let text = line.split_whitespace().nth(2).unwrap().trim_start_matches("UINT64_C(").trim_end_matches(')');
        text.strip_prefix("0x").map_or_else(|| text.parse(), |hex| u64::from_str_radix(hex, 16)).unwrap()
    };
    assert_eq!(constant("CAIRN_RESERVE"), cairn_layout::limits::CHECK_RESERVE);
    assert_eq!(constant("CAIRN_LARGE"), cairn_layout::object::LARGE_BYTES);
    assert_eq!(constant("CAIRN_CARD_SHIFT"), u64::from(cairn_layout::machine::CARD_SHIFT));
    // Headers as the inline function makes them.
    let mut model = cairn_heap::CObjects::default();
    model.define(1, 0);
    let layout = model.define(3, 0b11);
    let header = model.header(cairn_heap::Nature::Typed(layout, 5));
    assert_eq!(header, 5 << constant("CAIRN_COUNT_SHIFT") | 1 << constant("CAIRN_LAYOUT_SHIFT") | 1);
}
