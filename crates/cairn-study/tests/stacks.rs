//! The study of stacks: its programs print what they should, in this compiler's ways; one program goes from the command
//! line to the report; peers that are not there are no error.

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
        let path = std::env::temp_dir().join(format!("cairn-study-stacks-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn study(directory: &Directory, cairn: &Path, program: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn-study"));
    command.args(["stacks", "--quick", "--only", program, "--output"]).arg(&directory.0);
    command.arg("--cairn").arg(cairn);
    command
}

fn succeeded(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn programs_print_the_same_under_both_ways() {
    let Some(cairn) = cairn() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks/papers/stacks");
    let mut programs = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let expected = entry.unwrap().path();
        if expected.extension().is_none_or(|e| e != "out") {
            continue;
        }
        programs += 1;
        for frames in ["chunks", "resize"] {
            let mut command = Command::new(&cairn);
            command.args(["run", "--frames", frames]).arg(expected.with_extension("scm"));
            let text = succeeded(command.output().unwrap());
            assert_eq!(text, std::fs::read_to_string(&expected).unwrap(), "{} {frames}", expected.display());
        }
    }
    assert_eq!(programs, 8);
}

/// Without peers: those that are on this machine's path may be slow to compile with.
#[test]
fn one_program_is_measured_and_absent_peers_are_said() {
    let Some(cairn) = cairn() else { return };
    let d = Directory::new("deep");
    // Only what links executables.
    let tools = d.0.join("tools");
    std::fs::create_dir(&tools).unwrap();
    for name in ["cc", "ld", "as", "gcc", "clang", "clang-19", "ld.lld", "ld.lld-19", "lld-19", "collect2"] {
        let path = std::env::var_os("PATH").unwrap_or_default();
        if let Some(file) = std::env::split_paths(&path).map(|p| p.join(name)).find(|p| p.is_file()) {
            std::os::unix::fs::symlink(file.canonicalize().unwrap(), tools.join(name)).unwrap();
        }
    }
    let text = succeeded(study(&d, &cairn, "deep").env("PATH", &tools).output().unwrap());
    let absent = "Here: none. Not here: GHC (no program ghc), GHC -threaded (no program ghc), Gambit (no program gsc), \
                  Go (no program go).";
    for part in ["What holds today", absent, "What chunks change", "Time by depth of the recursion", "report: "] {
        let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(unwrapped.contains(part), "{part}\n{text}");
    }
    let rows = |name: &str| -> Vec<Vec<String>> {
        let file = d.0.join("stacks").join(name);
        let table = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        table.lines().map(|l| l.split(',').map(str::to_string).collect()).collect()
    };
    let number = |text: &str| -> f64 { text.parse().unwrap_or_else(|_| panic!("{text} is no number")) };
    let depths = rows("by-depth.csv");
    assert_eq!(depths.len(), 5, "a heading and four depths: {depths:?}");
    // Time varies; what collections look at does not.
    let scanned = rows("collections.csv");
    let [chunks, old, dirty] = [3, 6, 9].map(|column| number(&scanned[1][column]));
    assert!(old > 10.0 * chunks && dirty > 0.9 * old, "{scanned:?}");
    let page = std::fs::read_to_string(d.0.join("stacks.html")).unwrap();
    study_page::check(&page, 0);
    assert!(page.contains("<svg") && page.contains("Minor collections above a deep recursion"));
}

#[test]
fn an_unknown_program_is_an_error_that_names_the_known() {
    let d = Directory::new("unknown");
    let output = study(&d, Path::new("cairn"), "chess").output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && message.contains("no program chess; there are create, deep"), "{message}");
}
