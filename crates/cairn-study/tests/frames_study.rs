//! The study of frames, from the command line to the report, for one program.

#[path = "../../../tests/support/study_page.rs"]
mod study_page;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The compiler: what `CAIRN_BINARY` says, as in the tests of crate `cairn`; else none, and there is nothing to test.
fn cairn() -> Option<PathBuf> {
    std::env::var_os("CAIRN_BINARY").map(PathBuf::from)
}

fn study(directory: &Path, cairn: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn-study"));
    command.args(["frames", "--quick", "--output"]).arg(directory).arg("--cairn").arg(cairn).args(arguments);
    command.output().unwrap()
}

#[test]
fn frames_of_one_program_are_counted_by_strategy() {
    let Some(cairn) = cairn() else { return };
    let directory = std::env::temp_dir().join(format!("cairn-study-test-{}-frames", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    let output = study(&directory, &cairn, &["--only", "vliw"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for part in
        ["What holds today", "Figure 1: instructions per frame", "[12.40]", "Seconds by strategy", "report: "]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("Lexgen  "), "only one program was asked for");
    // Without valgrind nothing is counted, and the report has to say so.
    let valgrind = std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|d| d.join("valgrind").is_file());
    assert_eq!(text.contains("not measured: Our goal: the default, chunks, costs"), !valgrind, "{text}");
    if valgrind {
        let table = std::fs::read_to_string(directory.join("frames/cost-by-program.csv")).unwrap();
        let heading: Vec<&str> = table.lines().next().unwrap().split(',').collect();
        let row: Vec<&str> = table.lines().find(|l| l.starts_with("VLIW,")).unwrap().split(',').collect();
        let cost =
            |strategy: &str| -> f64 { row[heading.iter().position(|h| *h == strategy).unwrap()].parse().unwrap() };
        assert!(cost("stack") > 0.5 && cost("stack") < 5.0, "{table}");
        assert!(cost("chunks") > 0.5 && cost("chunks") < 8.0, "{table}");
        // Return address, link and all variables are written for each frame.
        assert!(cost("heap") > cost("chunks") + 4.0, "{table}");
    }
    let page = std::fs::read_to_string(directory.join("frames.html")).unwrap();
    study_page::check(&page, 5);
    assert!(page.contains("Figure 5") && page.contains("VLIW"));
    let _ = std::fs::remove_dir_all(&directory);
}
