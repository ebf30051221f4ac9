//! `cairn check`: what it finds, and that it finds nothing where nothing is.
//!
//! Golden files have what is said of programs. The programs of the tree are held against a list: whoever makes the
//! check say more adds to it, or has found a fault.

use cairn::{Compiler, Source};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

mod common;
use common::{Directory, binary, of_others, root};

#[path = "../../../tests/support/golden.rs"]
mod golden;

#[test]
fn findings() {
    golden::check(&root().join("tests/golden/check/findings.txt"), &|case| {
        let compiler = Compiler::default();
        let sources = std::iter::once(Source::new(case.title, case.source));
        compiler.check(sources).map(|f| f.messages.text(false).to_string()).collect()
    });
}

/// What is right to say of the programs of the tree: they test how wrong programs fail, do things for nothing, or could
/// be tidier. Path, line, and a part of the message.
const SAID: &[(&str, usize, &str)] = &[
    ("lib/cairn/features.sld", 4, "nothing of (cairn primitives)"),
    ("lib/cairn/hash-table.sld", 19, "nothing of (cairn records)"),
    ("lib/cairn/process.sld", 9, "nothing of (cairn layout)"),
    ("lib/cairn/repl.sld", 26, "nothing of (cairn records)"),
    ("lib/cairn/vector.sld", 16, "nothing of (cairn list)"),
    ("lib/cairn/weak.sld", 19, "nothing of (cairn number)"),
    ("lib/cairn/weak.sld", 19, "nothing of (cairn records)"),
    ("lib/more/rnrs/io/ports.sld", 50, "`file-option` is defined"),
    ("lib/srfi/1.sld", 29, "nothing of (cairn number)"),
    ("lib/srfi/14.sld", 29, "`check-procedure` is imported"),
    ("lib/srfi/158.sld", 20, "`check-procedure` is imported"),
    ("tests/programs/continuations.scm", 120, "`r` is bound"),
    ("tests/programs/syntax-case.scm", 18, "`if` is bound"),
    ("tests/programs/weak.scm", 12, "`kept?` is defined"),
    ("tests/scheme/chez-module.scm", 30, "`c` is bound"),
    ("tests/scheme/complex.scm", 2, "nothing of (scheme inexact)"),
    ("tests/scheme/io.scm", 2, "nothing of (scheme char)"),
    ("tests/scheme/joins.scm", 12, "`square` is imported and defined again"),
    ("tests/scheme/labels.scm", 72, "`x` is bound"),
    ("tests/scheme/macros.scm", 15, "`if` is bound"),
    ("tests/scheme/macros.scm", 54, "`cons` is bound"),
    ("tests/scheme/macros.scm", 138, "`set!` is bound"),
    ("tests/scheme/places.scm", 147, "`t` is bound"),
    ("tests/scheme/places.scm", 227, "`endless` is defined"),
    ("tests/scheme/records.scm", 24, "`make-point` takes 2 arguments, but gets 1"),
    ("tests/scheme/srfi-27.scm", 2, "`every` is imported"),
    ("tests/scheme/srfi.scm", 2, "nothing of (scheme char)"),
    ("tests/scheme/syntax.scm", 2, "nothing of (scheme lazy)"),
    ("tests/scheme/syntax.scm", 124, "`if` is bound"),
    ("tests/scheme/syntax.scm", 169, "`x` is bound"),
    ("tests/scheme/system.scm", 3, "nothing of (scheme file)"),
    ("tests/scheme/threads.scm", 2, "nothing of (scheme process-context)"),
    ("tests/scheme/threads.scm", 3, "nothing of (cairn sort)"),
    ("tests/scheme/threads.scm", 36, "`l` is bound"),
    ("tests/scheme/threads.scm", 129, "`result` is bound"),
    ("tests/scheme/threads.scm", 166, "`got` is bound"),
    ("tests/scheme/threads.scm", 177, "`puts` is bound"),
];

fn files(directory: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        // what is included is checked in its programs
        if path.is_dir() && !path.ends_with("include") {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "scm" || e == "sld") {
            out.push(path);
        }
    }
}

#[test]
fn programs_of_the_tree_have_no_false_findings() {
    let mut paths = Vec::new();
    for directory in ["tests/scheme", "tests/programs", "examples", "lib"] {
        files(&root().join(directory), &mut paths);
    }
    assert!(paths.len() > 200, "{}", paths.len());
    let mut wholes: Vec<PathBuf> = paths.iter().map(|p| cairn::whole(p)).collect();
    wholes.sort();
    wholes.dedup();
    let compiler = Compiler::default();
    let sources = wholes.iter().map(|p| Source::read(p.clone()).unwrap());
    let root = root().display().to_string() + "/";
    let mut said: Vec<(String, usize, String)> = compiler
        .check(sources)
        .flat_map(|f| f.said)
        .filter(|s| !of_others(Path::new(&s.place.file)))
        .map(|s| (s.place.file.replacen(&root, "", 1), s.place.start.0, s.message))
        .collect();
    said.sort();
    said.dedup();
    let is_listed = |said: &(String, usize, String), listed: &(&str, usize, &str)| {
        said.0 == listed.0 && said.1 == listed.1 && said.2.contains(listed.2)
    };
    let new: Vec<_> = said.iter().filter(|s| !SAID.iter().any(|l| is_listed(s, l))).collect();
    assert!(new.is_empty(), "the check says more: {new:#?}");
    let stale: Vec<_> = SAID.iter().filter(|l| !said.iter().any(|s| is_listed(s, l))).collect();
    assert!(stale.is_empty(), "the check does not say any more: {stale:#?}");
}

fn check(directory: &Directory, arguments: &[&str]) -> Output {
    Command::new(binary()).arg("check").args(arguments).current_dir(&directory.0).output().unwrap()
}

/// A program may use what the files define that it loads.
#[test]
fn what_is_loaded_may_define_names() {
    let d = Directory::new("check-loads");
    d.write("first.scm", "(define ((curried x) y) (mine x y))\n(load \"second.scm\")\n(load \"first.scm\")\n");
    d.write(
        "second.scm",
        "(define-values (a |b c|) (values 1 2))\n(define-mine mine)\n(define shown (list inside))\n",
    );
    d.write(
        "p.scm",
        "(define (start) ; a comment\n  (load ; and one\n \"first.scm\"))\n(start)\n\
         (display (list (curried 1) (mine 2) a |b c| shown inside absent))\n(load (string-append \"a\" \".scm\"))\n",
    );
    let output = check(&d, &["p.scm"]);
    let said = String::from_utf8(output.stderr).unwrap();
    for name in ["inside", "absent"] {
        assert!(said.contains(&format!("`{name}` is not defined")), "{said}");
    }
    assert_eq!(said.matches("is not defined").count(), 2, "{said}");
}

#[test]
fn the_command_says_it_as_text_or_json_and_by_its_status() {
    let d = Directory::new("check");
    d.write("good.scm", "(import (scheme base) (scheme write) (part))\n(display (part))\n");
    d.write("part.sld", "(define-library (part) (export part) (import (scheme base)) (include \"part.scm\"))\n");
    d.write("part.scm", "(define (part) 'λ)\n");
    let output = check(&d, &["good.scm", "part.sld", "part.scm"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");

    d.write("bad.scm", "(import (scheme base))\n'λ (car)\n(foo)\n(if)\n");
    let output = check(&d, &["good.scm", "bad.scm", "--format=json"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let short: Vec<_> = lines
        .iter()
        .map(|l| {
            let number = |name: &str| l[name].as_u64().unwrap();
            let place = [number("line"), number("column"), number("endLine"), number("endColumn")];
            (l["file"].as_str().unwrap(), l["severity"].as_str().unwrap(), l["message"].as_str().unwrap(), place)
        })
        .collect();
    assert_eq!(
        short,
        [
            ("bad.scm", "error", "`if` takes a test and one or two expressions, got nothing", [4, 1, 4, 5]),
            ("bad.scm", "warning", "`car` takes 1 argument, but gets 0 here", [2, 4, 2, 9]),
            ("bad.scm", "warning", "`foo` is not defined", [3, 2, 3, 5]),
        ]
    );
    assert!(lines[0]["help"].as_str().unwrap().starts_with("(if test"));

    // a part of a library is checked with it
    d.write("part.scm", "(define (part) 'λ)\n(define (forgotten) 1)\n");
    let output = check(&d, &["part.scm"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.contains("part.scm:2:10") && text.contains("`forgotten` is defined, but nothing uses it"),
        "{text}"
    );
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(check(&d, &["absent.scm"]).status.code(), Some(1));
}
