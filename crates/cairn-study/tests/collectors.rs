//! The study of collectors, from the command line to the report, for one program.

#[path = "../../../tests/support/study_page.rs"]
mod study_page;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The compiler: what `CAIRN_BINARY` says, as in the tests of crate `cairn`; else none, and there is nothing to test.
fn cairn() -> Option<PathBuf> {
    std::env::var_os("CAIRN_BINARY").map(PathBuf::from)
}

struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("cairn-study-test-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Directory(path)
    }
    fn study(&self, cairn: &Path, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn-study"));
        command.args(["collectors", "--quick", "--output"]).arg(&self.0).arg("--cairn").arg(cairn).args(arguments);
        command.output().unwrap()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn one_program_is_measured_reported_and_not_measured_again() {
    let Some(cairn) = cairn() else { return };
    let d = Directory::new("checksum");
    let output = d.study(&cairn, &["--only", "checksum"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for part in ["What holds today", "Table 7: Checksum", "Table 2: basic information", "[979]", "report: "] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("Mergesort  "), "only one program was asked for");
    let times = std::fs::read_to_string(d.0.join("collectors/table-7-checksum.csv")).unwrap();
    let rows: Vec<Vec<&str>> = times.lines().map(|l| l.split(',').collect()).collect();
    assert_eq!(rows.len(), 5, "a heading and four heap sizes: {times}");
    let client: f64 = rows[4][2].parse().unwrap();
    assert!(client > 0.0 && client < 60.0, "{times}");
    let page = std::fs::read_to_string(d.0.join("collectors.html")).unwrap();
    study_page::check(&page, 0);
    assert!(page.contains("<svg") && page.contains("Table 7: Checksum"));

    let results = d.0.join("measurements/collectors/quick/results.jsonl");
    let lines = |path: &Path| std::fs::read_to_string(path).unwrap().lines().filter(|l| !l.is_empty()).count();
    let measured = lines(&results);
    assert!(measured > 12, "four sizes, three runs, and the search for the smallest heap");
    assert!(d.study(&cairn, &["--only", "checksum"]).status.success());
    assert_eq!(lines(&results), measured);
}

#[test]
fn an_unknown_program_is_an_error_that_names_the_known() {
    let d = Directory::new("unknown");
    let output = d.study(Path::new("cairn"), &["--only", "chess"]);
    assert!(!output.status.success());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("no program chess; there are checksum, groebner"), "{message}");
}
