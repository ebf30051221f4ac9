//! The study of structure vectors, from the command line to the report, for one row of its table, and for one program.

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
        let path = std::env::temp_dir().join(format!("cairn-structures-test-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Directory(path)
    }
    fn study(&self, cairn: &Path, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cairn-study"));
        command.args(["structures", "--quick", "--output"]).arg(&self.0).arg("--cairn").arg(cairn).args(arguments);
        command.output().unwrap()
    }
    /// The lines of a table: the label, then what is in each column.
    fn table(&self, id: &str) -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(self.0.join(format!("structures/{id}.csv"))).unwrap();
        text.lines().map(|l| l.split(',').map(str::to_string).collect()).collect()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn column(table: &[Vec<String>], name: &str) -> usize {
    table[0].iter().position(|c| c == name).unwrap_or_else(|| panic!("no column {name} in {:?}", table[0]))
}

#[test]
fn a_row_is_measured_and_reported() {
    let Some(cairn) = cairn() else { return };
    let d = Directory::new("prop");
    let output = d.study(&cairn, &["--only", "prop"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for part in ["What holds today", "Table 1: milliseconds", "[1.01]", "quicksort safe takes at most 0.9 times"] {
        assert!(text.contains(part), "{part}\n{text}");
    }

    study_page::check(&std::fs::read_to_string(d.0.join("structures.html")).unwrap(), 0);

    // What is measured is there, and what nobody asked for is not.
    let rows = d.table("table-1");
    let row = |name: &str| rows.iter().find(|r| r[0] == name).unwrap_or_else(|| panic!("{rows:?}"));
    let ratio = column(&rows, "structures/records");
    let (records, structures) = (column(&rows, "records (ms)"), column(&rows, "structures (ms)"));
    let number = |name: &str, c: usize| row(name)[c].parse::<f64>().unwrap_or(0.0);
    assert_eq!(rows.len(), 14, "a heading and thirteen rows");
    let (a, b) = (number("prop-access", records), number("prop-access", structures));
    assert!(a > 0.0 && b > 0.0 && (number("prop-access", ratio) - b / a).abs() < 0.01, "{rows:?}");
    assert_eq!(row("quicksort")[ratio], "");
}

#[test]
fn a_program_of_today_is_measured_beside_other_languages() {
    let Some(cairn) = cairn() else { return };
    let d = Directory::new("particles");
    let output = d.study(&cairn, &["--only", "particles"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("particles takes at most 1.5 times C's time"), "{text}");
    let seconds = d.table("workloads");
    let time = column(&seconds, "particles (s)");
    for row in &seconds[1..3] {
        assert!(row[0].ends_with("(Cairn)") && row[time].parse::<f64>().is_ok_and(|s| s > 0.0), "{seconds:?}");
    }
}

#[test]
fn an_unknown_row_is_an_error_that_names_the_known() {
    let d = Directory::new("unknown");
    let output = d.study(Path::new("cairn"), &["--only", "chess"]);
    assert!(!output.status.success());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("no program chess; there are access, alloc"), "{message}");
}
