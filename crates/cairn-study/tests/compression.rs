//! The study of pointer compression, from the command line to the report, and its C programs in all variants.

#[path = "../../../tests/support/study_page.rs"]
mod study_page;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The compiler: what `CAIRN_BINARY` says, as in the tests of crate `cairn`; else none, and there is nothing to test.
fn cairn() -> Option<PathBuf> {
    std::env::var_os("CAIRN_BINARY").map(PathBuf::from)
}

/// Our programs, and links.h.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks/papers/compression")
}

struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("cairn-study-compression-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }
    fn study(&self, cairn: &Path, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn-study"));
        command.args(["compression", "--quick", "--output"]).arg(&self.0);
        command.arg("--cairn").arg(cairn).args(arguments).output().unwrap()
    }
    fn error(&self, arguments: &[&str]) -> String {
        let output = self.study(Path::new("cairn"), arguments);
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }
    fn table(&self, name: &str) -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(self.0.join(format!("compression/{name}.csv"))).unwrap();
        text.lines().map(|l| l.split(',').map(str::to_string).collect()).collect()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A checkout of the llvm-test-suite with one program, which is ours.
fn suite(directory: &Directory) -> PathBuf {
    let suite = directory.0.join("suite");
    let treeadd = suite.join("MultiSource/Benchmarks/Olden/treeadd");
    std::fs::create_dir_all(&treeadd).unwrap();
    for file in ["treeadd.c", "links.h"] {
        std::fs::copy(folder().join(file), treeadd.join(file)).unwrap();
    }
    suite
}

#[test]
fn a_program_of_ours_and_of_a_suite_are_measured_and_reported() {
    let Some(cairn) = cairn() else { return };
    let d = Directory::new("treeadd");
    let suite = suite(&d);
    let output = d.study(&cairn, &["--only", "treeadd", "--suite", suite.to_str().unwrap()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for part in [
        "What holds today",
        "Our goal: within 5 %",
        "[0.68]",
        "only: treeadd",
        "* not judged: The longer its",
        "report: ",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("What failed"), "{text}");

    let times = d.table("figure-15-time");
    assert_eq!(times.len(), 3, "a heading and two programs: {times:?}");
    assert_eq!((times[1][0].as_str(), times[2][0].as_str()), ("treeadd", "our treeadd"));
    for row in &times[1..] {
        let seconds: Vec<f64> = row[1..4].iter().map(|v| v.parse().unwrap()).collect();
        assert!(seconds.iter().all(|s| *s > 0.0 && *s < 30.0), "{times:?}");
    }
    let memory = d.table("figure-15-memory");
    let number = |column: usize| memory[2][column].parse::<f64>().unwrap();
    let [malloc, small] = [1, 3].map(number);
    // Two million objects of 32 bytes with malloc, of 12 with small pointers.
    assert!(malloc > 64.0 && malloc < 80.0 && small > 24.0 && small < 34.0, "{memory:?}");
    assert_eq!(memory[2][memory[2].len() - 2..], ["1", "1"], "a pool, and it is smaller: {memory:?}");
    let dynamic = d.table("dynamic");
    let ratio = |name: &str| {
        let column = dynamic[0].iter().position(|c| c == name).unwrap_or_else(|| panic!("{name}: {dynamic:?}"));
        dynamic[2][column].parse::<f64>().unwrap()
    };
    // Not expanded it is small, expanded as large as with malloc, less what malloc has before each object.
    assert!(ratio("32 bits/malloc (MB)") < 0.55 && ratio("8 bits/malloc (MB)") > 0.6, "{dynamic:?}");
    let page = std::fs::read_to_string(d.0.join("compression.html")).unwrap();
    study_page::check(&page, 1);
    assert!(page.contains("<svg") && page.contains("Figure 15"));
}

#[test]
fn programs_print_the_same_in_every_variant() {
    let Some(cairn) = cairn() else { return };
    let d = Directory::new("variants");
    for name in ["bisort", "em3d", "llubench", "perimeter", "treeadd", "tsp"] {
        let expected = std::fs::read_to_string(folder().join(format!("{name}.out"))).unwrap();
        let [clang, cairn] = [Path::new("clang-19"), &cairn];
        let variants: [(&Path, &[&str]); 6] = [
            (clang, &["-O1", "-fsanitize=undefined", "-fsanitize-trap=undefined"]),
            (clang, &["-O1", "-DBY_HAND"]),
            (cairn, &["cc", "-O1", "--ptrcomp=pool", "--check-indices"]),
            (cairn, &["cc", "-O1", "--ptrcomp=static", "--check-indices"]),
            (cairn, &["cc", "-O1", "--ptrcomp=dynamic", "--check-indices"]),
            (cairn, &["cc", "-O1", "--ptrcomp=dynamic", "--check-indices", "--pool-bits=8"]),
        ];
        for (compiler, options) in variants {
            let executable = d.0.join(name);
            let mut command = Command::new(compiler);
            command.args(options).arg("-Wall").arg("-Wextra").arg(folder().join(format!("{name}.c")));
            let built = command.arg("-lm").arg("-o").arg(&executable).output().unwrap();
            assert!(built.status.success() && built.stderr.is_empty(), "{name} {options:?}: {built:?}");
            let run = Command::new(&executable).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&run.stdout), expected, "{name} {options:?}: {run:?}");
        }
    }
}

#[test]
fn what_is_not_there_is_named() {
    let d = Directory::new("missing");
    assert!(d.error(&["--only", "chess"]).contains("no program chess; there are bh, bisort, em3d"));
    let message = d.error(&["--suite", d.0.to_str().unwrap()]);
    assert!(
        message.contains("is no checkout of the llvm-test-suite: it has no MultiSource/Benchmarks"),
        "{message}"
    );
    let message = d.error(&["--only", "voronoi"]);
    assert!(
        message.contains("voronoi is a program of the llvm-test-suite: name a checkout with --suite"),
        "{message}"
    );
}
