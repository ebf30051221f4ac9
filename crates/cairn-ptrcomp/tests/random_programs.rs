//! Random C programs print the same compiled with small pointers and by clang without optimization.
//!
//! A few seconds here; `CAIRN_C_PROGRAMS=10000 CAIRN_C_SEED=1 cargo test -p cairn-ptrcomp --test random_programs` for
//! hours. A program that differs stays in the directory that the message names.

mod random_c;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// What a program writes, how it ends, and what it complains of.
fn result(program: &Path) -> ((String, Option<i32>), String) {
    let output = Command::new("timeout").arg("20").arg(program).output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    ((text(&output.stdout), output.status.code()), text(&output.stderr))
}

/// How the programs are compiled. Every program with the first two, with dynamic pools of 8 bits and as without options
/// but for 8 bits, and by turns with one of the others of each kind.
const MODES: [&[&str]; 10] = [
    &["--ptrcomp=static"],
    &["--ptrcomp=pool"],
    &["--ptrcomp=static", "--pool-bits=16"],
    &["--ptrcomp=static", "--pool-bits=8"],
    // Pools of more than 255 objects are expanded.
    &["--ptrcomp=dynamic", "--pool-bits=8"],
    &["--ptrcomp=dynamic", "--pool-bits=16"],
    &["--ptrcomp=dynamic"],
    // What is proven to fit a kilobyte is static: nothing may ever be full.
    &["--pool-bits=8"],
    &["--pool-bits=16"],
    &["--pool-bits=32"],
];

fn check(directory: &Path, seed: u64) -> Result<(), String> {
    let program = random_c::program(seed);
    std::fs::create_dir_all(directory).expect("a directory for the program");
    let mut sources: Vec<OsString> = vec![];
    for (name, text) in &program.files {
        let path = directory.join(name);
        std::fs::write(&path, text).expect("a file");
        if name.ends_with(".c") {
            sources.push(path.into());
        }
    }
    let plain = directory.join("plain");
    let compiled = Command::new("clang-19").args(["-w", "-O0", "-o"]).arg(&plain).args(&sources).output();
    let compiled = compiled.expect("clang-19 runs");
    if !compiled.status.success() {
        return Err(format!("clang refuses it: {}", String::from_utf8_lossy(&compiled.stderr)));
    }
    let (expected, _) = result(&plain);
    let turn = (seed % 2) as usize;
    for options in [MODES[0], MODES[1], MODES[2 + turn], MODES[4], MODES[5 + turn], MODES[7], MODES[8 + turn]] {
        let mode = options.join(" ");
        let small = directory.join("small");
        let mut arguments: Vec<OsString> = options.iter().map(OsString::from).collect();
        arguments.extend(["-w", "-O2", "--check-indices", "--report=html", "-o"].map(OsString::from));
        arguments.push(small.clone().into());
        arguments.extend(sources.iter().cloned());
        if cairn_ptrcomp::cc(&arguments) != ExitCode::SUCCESS {
            return Err(format!("{mode}: cairn cc fails"));
        }
        let report = std::fs::read_to_string(small.with_extension("html")).unwrap_or_default();
        // What the checker objects to is dropped, so it would not show.
        if let Some(row) = report.split("<td>").find(|r| r.contains("the checker ")) {
            return Err(format!("{mode}: {row}"));
        }
        let (found, complaint) = result(&small);
        // A kilobyte may be too small; the program ends after what it had to say until then.
        let full = complaint.contains("is full: compile with a larger --pool-bits");
        if mode == MODES[3].join(" ") && full && expected.0.starts_with(&found.0) {
            continue;
        }
        if found != expected {
            return Err(format!("{mode}: expected {expected:?}, found {found:?}"));
        }
    }
    Ok(())
}

#[test]
fn programs_print_the_same() {
    let (first, count) = (setting("CAIRN_C_SEED", 1), setting("CAIRN_C_PROGRAMS", 5));
    let base: PathBuf = std::env::temp_dir().join(format!("cairn-c-programs-{}", std::process::id()));
    let mut bad = vec![];
    for seed in first..first + count {
        let directory = base.join(seed.to_string());
        match check(&directory, seed) {
            Ok(()) => std::fs::remove_dir_all(&directory).expect("it is ours"),
            Err(why) => bad.push(format!("seed {seed}, in {}: {why}", directory.display())),
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    let _ = std::fs::remove_dir_all(&base);
}
