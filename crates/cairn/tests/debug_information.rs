//! `-g`: lines and procedures in DWARF, in executables and in code in memory; the code stays the same.

mod common;

use common::Directory;
use std::process::Command;

const PROGRAM: &str = "\
(import (scheme base) (scheme write))
(define (sum-of l)
  (if (null? l)
      0
      (+ (car l)
         (sum-of (cdr l)))))
(define (double x)
  (* 2
     x))
(define (show l)
  (display (double (sum-of l)))
  (newline))
(show (map string->number
           '(\"1\" \"2\" \"3\")))
";

fn binary() -> String {
    common::binary().display().to_string()
}

/// What a command line prints, on both channels.
fn said(d: &Directory, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .current_dir(&d.0)
        .args(arguments)
        .env("CAIRN_NO_CACHE", "1")
        .output()
        .unwrap_or_else(|e| panic!("{program}: {e}"));
    [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat()
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success())
}

/// The lines of the program that an executable knows.
fn lines(d: &Directory, executable: &str) -> Vec<u32> {
    let text = said(d, "objdump", &["--dwarf=decodedline", executable]);
    let rows = text.lines().filter_map(|l| l.strip_prefix("program.scm "));
    let mut lines: Vec<u32> = rows.filter_map(|l| l.split_whitespace().next()?.parse().ok()).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

#[test]
fn executables_know_their_lines() {
    let d = Directory::new("debug");
    std::fs::write(d.0.join("program.scm"), PROGRAM).unwrap();
    for (name, options) in
        [("chunks", ""), ("heap", "--frames=heap"), ("native", "--frames=native"), ("low", "--opt=low")]
    {
        let flags = options.split_whitespace();
        let build: Vec<&str> =
            ["build", "-g", "--verify", "program.scm", "-o", name].into_iter().chain(flags).collect();
        assert_eq!(said(&d, &binary(), &build), "", "{name}");
        assert_eq!(said(&d, &format!("{}/{name}", d.0.display()), &[]), "12\n", "{name}");
        let lines = lines(&d, name);
        for line in [3, 5, 6, 8, 11, 12] {
            assert!(lines.contains(&line), "{name}: line {line} is not among {lines:?}");
        }
        // nothing happens in these
        for line in [1, 4, 9, 14] {
            assert!(!lines.contains(&line), "{name}: line {line} is among {lines:?}");
        }
    }
    let plain = ["build", "--opt=high", "program.scm", "-o", "plain"];
    assert_eq!(said(&d, &binary(), &plain), "");
    assert_eq!(lines(&d, "plain"), []);
}

/// Instructions of a procedure, without addresses.
#[test]
fn the_code_is_the_same() {
    let d = Directory::new("same-code");
    std::fs::write(d.0.join("program.scm"), PROGRAM).unwrap();
    let code = |more: &[&str]| {
        let arguments: Vec<&str> = ["build", "--emit=asm", "--only=sum-of", "--opt=high", "program.scm"]
            .iter()
            .chain(more)
            .copied()
            .collect();
        let text = said(&d, &binary(), &arguments);
        let is_instruction = |l: &&str| l.starts_with('\t') && !l.starts_with("\t.") && !l.starts_with("\t#");
        let plain = |l: &str| l.split('#').next().unwrap().trim().replace(|c: char| c.is_ascii_digit(), "");
        text.lines().filter(is_instruction).map(plain).collect::<Vec<_>>()
    };
    let without = code(&[]);
    assert!(without.len() > 20, "{without:?}");
    assert_eq!(without, code(&["-g"]));
}

/// What gdb shows, where there is one.
#[test]
fn gdb_stops_at_lines() {
    if !has("gdb") {
        return;
    }
    let d = Directory::new("gdb");
    std::fs::write(d.0.join("program.scm"), PROGRAM).unwrap();
    let gdb = |commands: &[&str], program: &[&str]| {
        let commands = commands.iter().flat_map(|c| ["-ex", c]);
        let arguments: Vec<&str> =
            ["-nx", "-q", "-batch", "-ex", "set breakpoint pending on", "-ex", "set debuginfod enabled off"]
                .into_iter()
                .chain(commands)
                .chain(["--args"])
                .chain(program.iter().copied())
                .collect();
        said(&d, "gdb", &arguments)
    };
    let stops = ["break program.scm:8", "run", "bt"];
    let text = gdb(&stops, &[&binary(), "run", "-g", "program.scm"]);
    assert!(text.contains("double () at program.scm:8"), "{text}");
    assert!(text.contains("show () at program.scm:11"), "{text}");
    said(&d, &binary(), &["build", "-g", "--frames=native", "program.scm", "-o", "native"]);
    let text = gdb(&["break program.scm:6", "run", "continue", "bt"], &["./native"]);
    assert!(text.matches("sum-of () at program.scm:6").count() >= 2, "{text}");
    assert!(text.contains("in program () at program.scm:13"), "{text}");
}
