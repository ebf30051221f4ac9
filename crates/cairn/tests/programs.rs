//! Whole programs through the whole system: frame strategy × collector × optimization level × run/build/zeal. The tests
//! are made from the tables of strategies and collectors (`common/matrix.rs`), one for each cell.
//!
//! Programs are `tests/scheme/*.scm`, `tests/programs/*.scm`, `examples/*.scm` and `benchmarks/**.scm`; what each must
//! print is in a file with the suffix `.out` beside it (a first line `;; args: …` in the program gives arguments, `;;
//! heap-max: …` a limit of memory, `;; gc: not …`, `;; frames: not …` and `;; zeal: not` (or `not` collectors) what
//! cannot run it, a file with the suffix `.in` its input). `tests/messages/*.scm` print what is said of failures.
//! Programs in `tests/errors/` must fail: `.err` holds standard error and the exit status. `CAIRN_UPDATE_GOLDEN=1`
//! rewrites the expectations from the default configuration, of all programs with `CAIRN_MATRIX=whole`. Failures that
//! are known are listed in `tests/known-failures.txt` as `program` or `program configuration`; an unexpected pass fails
//! too.

use libtest_mimic::{Arguments, Trial};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Output, Stdio};

mod common;
use common::matrix::{self, Configuration, Mode};
use common::{binary, root};

struct Outcome {
    stdout: String,
    stderr: String,
    status: Option<i32>,
    /// By SIGKILL.
    is_killed: bool,
}

impl Outcome {
    fn of(output: Output) -> Outcome {
        Outcome {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            status: output.status.code(),
            is_killed: output.status.code() == Some(128 + libc::SIGKILL)
                || output.status.signal() == Some(libc::SIGKILL),
        }
    }
}

/// An executable in the temporary directory, removed at the end, and what was said when it was built.
struct Built(PathBuf, String);

impl Drop for Built {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Builds a program (path relative to the root), or says why it cannot be.
fn build(program: &str, c: Configuration) -> Result<Built, Outcome> {
    let file = format!("cairn-test-{}-{}-{}", std::process::id(), c.name(), program.replace('/', "_"));
    let mut exe = Built(std::env::temp_dir().join(file), String::new());
    let mut command = Command::new(binary());
    let [frames, collector, opt, llvm] = c.flags(program);
    // messages' programs are large, and what they say is not LLVM's
    let llvm = if program.starts_with("tests/messages/") { "--llvm=none".into() } else { llvm };
    command.current_dir(root()).arg("build").args([frames, collector, opt, llvm]);
    command.arg(program).arg("-o").arg(&exe.0);
    let built = Outcome::of(command.output().unwrap());
    if built.status != Some(0) {
        return Err(Outcome { stdout: String::new(), ..built });
    }
    exe.1 = built.stderr;
    Ok(exe)
}

/// Runs a program in a configuration, from what was built of it, if anything was.
fn run(program: &str, built: Option<&Built>, c: Configuration) -> Outcome {
    let root = root();
    let text = fs::read_to_string(root.join(program)).unwrap();
    let first = text.lines().next().unwrap_or_default();
    let what = built.map_or(binary(), |exe| exe.0.clone());
    let mut command = match c.is_slow() {
        true => Command::new("timeout"),
        false => Command::new(&what),
    };
    if c.is_slow() {
        command.arg("--signal=KILL").arg(matrix::PATIENCE.to_string()).arg(&what);
    }
    if built.is_none() {
        command.arg("run").args(c.flags(program)).arg(program);
    }
    if c.mode.is_zealous() {
        command.env("CAIRN_ZEAL", "1");
    }
    if c.mode.is_ambiguous() {
        command.env("CAIRN_AMBIGUOUS_FRAMES", "1");
    }
    if c.opt == "auto" {
        command.env("CAIRN_NO_CACHE", "1"); // where another test's compiled program may be
    }
    if let Some(limit) = first.strip_prefix(";; heap-max: ") {
        command.env("CAIRN_HEAP_MAX", limit.trim());
    }
    let input = root.join(program).with_extension("in");
    let stdin = if input.exists() { Stdio::from(fs::File::open(input).unwrap()) } else { Stdio::null() };
    let arguments = first.strip_prefix(";; args: ").unwrap_or_default().split_whitespace();
    let outcome = Outcome::of(command.current_dir(&root).args(arguments).stdin(stdin).output().unwrap());
    let warnings = built.map_or("", |exe| &exe.1);
    Outcome { stderr: format!("{warnings}{}", outcome.stderr), ..outcome }
}

/// What a program does in a cell: built once and run in each way that has it in its share, or run.
fn outcomes(program: &str, c: Configuration) -> Vec<(Configuration, Outcome)> {
    if c.mode != Mode::Build {
        return vec![(c, run(program, None, c))];
    }
    match build(program, c) {
        Err(why) => vec![(c, why)],
        Ok(exe) => {
            let ways = c.as_built().filter(|way| {
                *way == c
                    || way.shares_program(program) && !leaves_out(program, *way) && !is_too_much(program, *way)
            });
            ways.map(|way| (way, run(program, Some(&exe), way))).collect()
        }
    }
}

/// Does the program read and evaluate more code, so that it needs the whole library?
fn evaluates(program: &str) -> bool {
    let text = fs::read_to_string(root().join(program)).unwrap();
    ["(scheme eval)", "(scheme repl)", "(scheme load)", "(srfi 64)", "(chezscheme)"]
        .iter()
        .any(|l| text.contains(l))
}

/// Does the program do too much work for a collection at each safepoint?
fn is_too_much(program: &str, c: Configuration) -> bool {
    c.mode.is_zealous() && (program.starts_with("benchmarks/") || program.starts_with("tests/messages/"))
}

/// Programs of a folder with an expectation file of this suffix, relative to the root, sorted.
fn programs(folder: &str, suffix: &str) -> Vec<String> {
    let update = std::env::var_os("CAIRN_UPDATE_GOLDEN").is_some();
    let Ok(entries) = fs::read_dir(root().join(folder)) else { return vec![] };
    let mut found: Vec<String> = entries
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "scm") && (update || p.with_extension(suffix).exists()))
        .map(|p| format!("{folder}/{}", p.file_name().unwrap().to_str().unwrap()))
        .collect();
    assert!(!found.is_empty(), "no programs in {folder}");
    found.sort();
    found
}

fn known_failures() -> Vec<String> {
    let text = fs::read_to_string(root().join("tests/known-failures.txt")).unwrap_or_default();
    text.lines().map(|l| l.split('#').next().unwrap().trim().to_string()).filter(|l| !l.is_empty()).collect()
}

/// Does the program say in its first line that it is not for this collector or frame strategy, or too slow under
/// zeal, in all or with this collector?
fn leaves_out(program: &str, c: Configuration) -> bool {
    let text = fs::read_to_string(root().join(program)).unwrap();
    let first = text.lines().next().unwrap_or_default();
    let is_not =
        |what: &str, name: &str| first.strip_prefix(what).is_some_and(|n| n.split_whitespace().any(|n| n == name));
    is_not(";; gc: not ", c.collector.name)
        || is_not(";; frames: not ", c.frames.name)
        || c.mode.is_zealous() && (first.trim() == ";; zeal: not" || is_not(";; zeal: not ", c.collector.name))
}

/// Compares each program's outcome with its expectation file; collects differences, then fails once.
fn check(programs: Vec<String>, suffix: &str, c: Configuration, actual: impl Fn(&Outcome) -> String) {
    let known = known_failures();
    let update =
        std::env::var_os("CAIRN_UPDATE_GOLDEN").is_some() && c == Configuration::usual().with_mode(Mode::Build);
    let mut problems = vec![];
    let count = programs.len();
    for program in programs {
        if leaves_out(&program, c) {
            continue;
        }
        let expectation = root().join(&program).with_extension(suffix);
        for (way, outcome) in outcomes(&program, c) {
            let actual = actual(&outcome);
            if update && way == c {
                fs::write(&expectation, &actual).unwrap();
            }
            let expected = fs::read_to_string(&expectation).unwrap_or_default();
            let is_known = known.contains(&program) || known.contains(&format!("{program} {}", way.name()));
            let is_right =
                expected == actual || way.is_slow() && outcome.is_killed && expected.starts_with(&actual);
            match (is_right, is_known) {
                (true, false) | (false, true) => {}
                (true, true) => problems.push(format!("{program}: passes, but is listed as a known failure")),
                (false, false) => problems.push(format!(
                    "{program} ({}):\n--- expected\n{expected}\n--- actual\n{actual}\n--- standard error (status {:?})\n{}",
                    way.name(),
                    outcome.status,
                    outcome.stderr
                )),
            }
        }
    }
    let (failed, turn) = (problems.len(), matrix::turn());
    assert!(failed == 0, "{failed} of {count} programs failed (CAIRN_TURN={turn}):\n{}", problems.join("\n\n"));
}

fn good(c: Configuration) {
    let folders = [
        "tests/scheme",
        "tests/programs",
        "examples",
        "benchmarks/papers",
        "benchmarks/papers/calls",
        "benchmarks/papers/structures",
        "benchmarks/trees",
    ];
    let mut chosen: Vec<_> = folders.iter().flat_map(|f| programs(f, "out")).collect();
    chosen.retain(|p| c.shares_program(p) && !is_too_much(p, c) && !(c.makes_no_library() && evaluates(p)));
    check(chosen, "out", c, |o| o.stdout.clone());
}

/// Programs that end with an error. What a pair says of one is short, and all say the same: each runs its share.
fn failing(c: Configuration) -> Vec<String> {
    programs("tests/errors", "err").into_iter().filter(|p| c.shares_program(p)).collect()
}

fn bad(c: Configuration) {
    check(failing(c), "err", c, |o| {
        let status = o.status.map_or("killed".to_string(), |s| s.to_string());
        format!("{}{}exit status {status}\n", o.stdout, o.stderr)
    });
}

/// Evaluated code says the same as compiled code.
fn bad_evaluated(c: Configuration) {
    for program in failing(c) {
        let outcome = run(&program, None, c);
        let expected = fs::read_to_string(root().join(&program).with_extension("err")).unwrap();
        let actual = format!("{}{}exit status {}\n", outcome.stdout, outcome.stderr, outcome.status.unwrap_or(-1));
        assert_eq!(expected, actual, "{program}");
    }
}

/// What is said of each failure does not depend on how the program was compiled.
fn messages(c: Configuration) {
    let chosen = programs("tests/messages", "out").into_iter().filter(|p| c.shares_program(p)).collect();
    check(chosen, "out", c, |o| o.stdout.clone());
}

/// In some turn, each program is built or run by each cell, and what is built runs in every way.
fn each_way_has_its_turn() {
    let turns = || 0..200;
    for c in matrix::all().chain(matrix::evaluated()) {
        let ways: Vec<Configuration> = if c.mode == Mode::Build { c.as_built().collect() } else { vec![c] };
        for (way, program) in ways.into_iter().flat_map(|w| (0..20).map(move |p| (w, p))) {
            let met = turns().any(|t| c.shares_in(program, t) && way.shares_in(program, t));
            assert!(met, "{} never has program {program}", way.name());
        }
    }
    let usual = Configuration::usual().with_mode(Mode::Build);
    let evaluated = Configuration { opt: "auto", ..Configuration::usual() };
    for (program, turn) in (0..20).flat_map(|p| turns().map(move |t| (p, t))) {
        let runs = usual.shares_in(program, turn) || evaluated.shares_in(program, turn);
        assert!(runs, "program {program} does not run in turn {turn}");
    }
}

fn main() -> ExitCode {
    let mut trials = vec![Trial::test("each-way-has-its-turn", || {
        each_way_has_its_turn();
        Ok(())
    })];
    let mut add = |kind: &str, c: Configuration, test: fn(Configuration)| {
        let name = format!("{kind}-{}", c.name());
        let trial = Trial::test(name, move || {
            test(c);
            Ok(())
        });
        trials.push(trial.with_ignored_flag(!c.is_in_turn()));
    };
    matrix::all().for_each(|c| add("programs", c, good));
    matrix::evaluated().for_each(|c| add("programs", c, good));
    for c in matrix::cross().map(|c| c.with_mode(Mode::Build)) {
        add("errors", c, bad);
        add("messages", Configuration { opt: "low", ..c }, messages);
    }
    let usual = Configuration::usual().with_mode(Mode::Build);
    add("errors", Configuration { opt: "low", ..usual }, bad);
    add("messages", usual, messages);
    matrix::evaluated().filter(|c| c.mode == Mode::Run).for_each(|c| add("errors", c, bad_evaluated));
    add("messages", Configuration { opt: "auto", ..Configuration::usual() }, messages);
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
