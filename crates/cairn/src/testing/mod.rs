//! `cairn test`: test programs, each in its own process, several at a time.
//!
//! The problem: a test may do whatever a program can, run forever, kill its process, write nonsense; what came of each
//! test must be known all the same, up to the moment when it ended. The idea: each program is run by a process like
//! `cairn run` does it, where `(srfi 64)` writes what happens to a file, event by event ([`events`]). What the program
//! itself prints is kept, and shown when something fails.
//!
//! ```text
//!  find ──paths──▶ runner: N threads ──▶ process: cairn run --tell-tests=FILE … PROGRAM
//!                     │                     output ─▶ kept      events ─▶ FILE
//!                     ▼
//!                  outcome ──▶ report (terminal) · junit
//! ```
//!
//! A program that does not import `(srfi 64)` is one test, which passes with exit status 0.

mod child;
mod chosen;
mod events;
mod find;
mod junit;
mod outcome;
mod report;

pub use events::{Pattern, Teller};

use crate::coverage::Coverage;
use crate::error::Error;
pub use chosen::Tests;
use find::Found;
use outcome::Outcome;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// How it went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Nothing failed.
    Passed,
    /// Something failed.
    Failed,
    /// There was nothing to be tested.
    Nothing,
    /// Somebody has pressed Ctrl-C.
    Interrupted,
}

/// Runs the tests; `print` gets the text for the terminal, as it comes.
pub fn test(tests: &Tests, print: &mut dyn FnMut(&str) -> Result<(), Error>) -> Result<Verdict, Error> {
    let found = find::all(&tests.paths)?;
    let here = || {
        let paths: Vec<String> = tests.paths.iter().map(|p| p.display().to_string()).collect();
        if paths.is_empty() { "this directory".to_string() } else { paths.join(", ") }
    };
    if found.is_empty() {
        let what = "a program that imports (srfi 64), or a file whose name ends in -test.scm";
        return Err(Error::Other(format!("there is no test in {}: {what}", here())));
    }
    let began = Instant::now();
    let mut outcomes: Vec<Option<Outcome>> = found.iter().map(|_| None).collect();
    child::notice_interrupts();
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel();
    let scratch = Scratch::new()?;
    let mut coverage = Coverage::default();
    let printed = std::thread::scope(|scope| {
        for _ in 0..tests.jobs.clamp(1, found.len()) {
            let sender = sender.clone();
            let (found, next, failed, scratch) = (&found, &next, &failed, &scratch);
            scope.spawn(move || {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let stopped = child::interrupted() || tests.fail_fast && failed.load(Ordering::Relaxed);
                    let Some(program) = found.get(n).filter(|_| !stopped) else { return };
                    let outcome = run(tests, program, &scratch.0.join(n.to_string()));
                    failed.fetch_or(outcome.failed(), Ordering::Relaxed);
                    // whoever does not listen any more has failed to print
                    let _ = sender.send((n, outcome));
                }
            });
        }
        drop(sender);
        let mut printed = Ok(());
        for (n, outcome) in receiver {
            let text = if tests.list { report::listed(&outcome) } else { report::program(&outcome, tests) };
            if let Err(e) = print(&text)
                && printed.is_ok()
            {
                printed = Err(e);
                child::interrupt();
            }
            outcomes[n] = Some(outcome);
            coverage.add(&scratch.0.join(n.to_string()));
        }
        printed
    });
    printed?;
    let left = outcomes.iter().filter(|o| o.is_none()).count();
    let outcomes: Vec<Outcome> = outcomes.into_iter().flatten().collect();
    if tests.list {
        let failed = outcomes.iter().any(|o| !o.problems.is_empty());
        return Ok(if failed { Verdict::Failed } else { Verdict::Passed });
    }
    print(&report::summary(&outcomes, left, began.elapsed(), tests))?;
    if let Some(directory) = &tests.coverage {
        coverage.leave_out(found.iter().map(|f| f.path.clone()));
        coverage.write(directory)?;
        print(&format!("{}  {}\n", coverage.table(), directory.join("index.html").display()))?;
    }
    if let Some(file) = &tests.junit {
        crate::unfinished::write_whole(file, junit::document(&outcomes, began.elapsed()).as_bytes())
            .map_err(|e| format!("cannot write {}: {}", file.display(), cairn_rt::describe_io(&e)))?;
    }
    Ok(if child::interrupted() {
        Verdict::Interrupted
    } else if outcomes.iter().any(Outcome::failed) {
        Verdict::Failed
    } else if outcomes.iter().all(|o| o.filtered && o.cases.is_empty()) {
        Verdict::Nothing
    } else {
        Verdict::Passed
    })
}

/// Runs one program.
fn run(tests: &Tests, program: &Found, scratch: &Path) -> Outcome {
    let whole = tests.filters.is_empty() || tests.filters.iter().any(|f| f.matches(&program.name));
    let filtered = !whole;
    // without (srfi 64) there are no other names
    if (filtered || tests.list) && !program.has_suites {
        return Outcome::untold(program, filtered);
    }
    let events = &scratch.with_extension("events");
    let mut arguments: Vec<OsString> = vec!["run".into(), option("--tell-tests=", events)];
    if tests.coverage.is_some() {
        arguments.push(option("--count-evaluations=", scratch));
    }
    if filtered {
        arguments.extend(tests.filters.iter().map(|f| option("--wanted-test=", Path::new(f.text()))));
    }
    if tests.list {
        arguments.push("--list-tests".into());
    }
    let beside = [program.root.clone(), PathBuf::from(".")];
    let directories = tests.library_path.iter().chain(&beside).filter(|d| !d.as_os_str().is_empty());
    arguments.extend(directories.map(|d| option("-I", d)));
    arguments.extend(["--".into(), program.path.clone().into()]);
    let ended = child::run(&tests.program, &arguments, &tests.environment, tests.timeout);
    let told = std::fs::read(events).unwrap_or_default();
    let _ = std::fs::remove_file(events);
    Outcome::new(program, filtered, events::read(&String::from_utf8_lossy(&told)), ended)
}

/// An option with a value in one word.
fn option(name: &str, value: &Path) -> OsString {
    let mut word = OsString::from(name);
    word.push(value);
    word
}

/// A directory that goes away with the value.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, Error> {
        let path = std::env::temp_dir().join(format!("cairn-tests-{}", std::process::id()));
        std::fs::create_dir_all(&path)
            .map_err(|e| format!("cannot make {}: {}", path.display(), cairn_rt::describe_io(&e)))?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
