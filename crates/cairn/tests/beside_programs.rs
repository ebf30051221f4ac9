//! What is compiled while a program runs is compiled by other processes (`cairn/src/background.rs`): the program stays
//! small, and the next run finds what was begun.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

mod common;
use common::{Directory, binary};

/// Calls procedures for as many seconds as its argument says.
const PROGRAM: &str = "
    (import (scheme base) (scheme write) (scheme time) (scheme process-context))
    (define (work n) (if (= n 0) 0 (+ 1 (work (- n 1)))))
    (define end
      (+ (current-jiffy) (* (string->number (cadr (command-line))) (jiffies-per-second))))
    (let loop () (work 100) (if (< (current-jiffy) end) (loop)))
    (display \"ended\")";

/// How long something may take that is done at a low priority, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(300);

fn command(d: &Directory, options: &[&str], seconds: &str) -> Command {
    let mut command = Command::new(binary());
    command.args(["run", "--opt=auto"]).args(options).args(["p.scm", seconds]).current_dir(&d.0);
    command.env("CAIRN_CACHE_DIR", d.0.join("cache")).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Kills the program when a test ends early.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Files in the cache that have this suffix.
fn cached(d: &Directory, suffix: &str) -> usize {
    let Ok(files) = fs::read_dir(d.0.join("cache")) else { return 0 };
    files.filter(|f| f.as_ref().unwrap().path().extension().is_some_and(|e| e == suffix)).count()
}

fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let began = Instant::now();
    while !there() {
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// States of the processes that this one has started.
fn children(of: u32) -> Vec<String> {
    let mut states = vec![];
    for process in fs::read_dir("/proc").unwrap() {
        let Ok(stat) = fs::read_to_string(process.unwrap().path().join("stat")) else { continue };
        // the name before the state may contain anything but a newline
        let mut words = stat.rsplit(')').next().unwrap().split_whitespace();
        let state = words.next().unwrap_or_default().to_string();
        if words.next() == Some(&of.to_string()) {
            states.push(state);
        }
    }
    states
}

#[test]
fn a_program_stays_small() {
    let d = Directory::new("small");
    d.write("p.scm", PROGRAM);
    let mut program = Running(command(&d, &[], "600").spawn().unwrap());
    let pid = program.0.id();
    wait_for("the compiled program", || cached(&d, "program") == 1);
    wait_for("the end of what compiled it", || children(pid).is_empty());
    assert!(program.0.try_wait().unwrap().is_none(), "the program has ended");
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    assert!(!maps.contains("libLLVM"), "LLVM is in the program's process");
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let resident = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
    let kilobytes: u64 = resident.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kilobytes < 32 << 10, "{resident}");
}

#[test]
fn what_was_begun_is_finished_for_the_next_run() {
    let d = Directory::new("begun");
    d.write("p.scm", PROGRAM);
    let first = Running(command(&d, &["--time"], "600").process_group(0).spawn().unwrap());
    wait_for("the compiler", || cached(&d, "lock") == 1);
    // as a terminal and `timeout` do it
    let group = format!("-{}", first.0.id());
    assert!(Command::new("kill").args(["-TERM", "--", &group]).status().unwrap().success());
    let mut first = first;
    wait_for("the end of the program", || first.0.try_wait().unwrap().is_some());
    let mut told = String::new();
    std::io::Read::read_to_string(&mut first.0.stderr.take().unwrap(), &mut told).unwrap();
    assert!(told.contains("llvm"), "a module came: {told}");
    wait_for("the compiled program", || cached(&d, "program") == 1 && cached(&d, "lock") == 0);
    assert_eq!(fs::read_dir(d.0.join("cache")).unwrap().count(), 1, "nothing else is left");
    let second = command(&d, &["--time"], "2").output().unwrap();
    let texts = [second.stdout, second.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(texts, ["ended", ""], "nothing is compiled again");
}

#[test]
fn whoever_starts_it_by_hand_is_told() {
    let out = Command::new(binary()).arg("--compile-in-background").stdin(Stdio::null()).output().unwrap();
    assert_eq!(out.status.code(), Some(1));
    assert_eq!(String::from_utf8(out.stderr).unwrap(), "cairn: this is not for users\n");
}
