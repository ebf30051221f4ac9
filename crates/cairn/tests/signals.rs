//! Signals: SIGINT and SIGTERM end every program that runs on, whatever it does, with what it has written and status
//! 130 or 143. Each way of running on is a procedure of `tests/signals/loops.scm`.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

mod common;
use common::{Directory, binary, root};

const LOOPS: &str = "tests/signals/loops.scm";
/// A program that asks for signals.
const ASKS: &str = "tests/signals/asks.scm";

const WAYS: [&str; 26] = [
    "count",
    "nested",
    "sometimes",
    "fib",
    "deep",
    "parity",
    "itself",
    "circle-of-calls",
    "unknown",
    "cps",
    "applied",
    "calls",
    "again",
    "captures",
    "vectors",
    "strings",
    "flonums",
    "circle",
    "allocation",
    "bignums",
    "ports",
    "handlers",
    "errors",
    "winders",
    "several",
    "wide",
];

/// How long a program may take to end, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(5);

/// Executables of a program, one for each combination of options.
struct Executables(#[allow(dead_code)] Directory, Vec<(String, PathBuf)>);

impl Executables {
    fn new(name: &str, program: &str, options: &[&[&str]]) -> Executables {
        let directory = Directory::new(name);
        let build = |options: &&[&str]| {
            // `env` takes a name with an equals sign for a variable
            let exe = directory.0.join(format!("program{}", options.concat().replace('=', "-")));
            let mut build = Command::new(binary());
            let built = build
                .current_dir(root())
                .args(["build", program, "-o"])
                .arg(&exe)
                .args(*options)
                .output()
                .unwrap();
            assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
            (options.join(" "), exe)
        };
        let all = options.iter().map(build).collect();
        Executables(directory, all)
    }
}

/// Starts `program` with these arguments. It dies of SIGINT if it does not ask for it, whatever the shell of the test
/// does with that signal (`disposition` is `default`), or ignores it (`ignore`).
fn start(disposition: &str, program: &Path, arguments: &[&str], zeal: &str) -> Child {
    let mut command = Command::new("env");
    command.current_dir(root()).env("CAIRN_ZEAL", zeal).arg(format!("--{disposition}-signal=INT"));
    command.arg(program).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn send(child: &Child, signal: &str) {
    let sent = Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status().unwrap();
    assert!(sent.success());
}

/// Waits until the process has used so much processor time that it must be in its loop, or is asleep in a read.
fn wait_until_busy(child: &Child) {
    let stat = format!("/proc/{}/stat", child.id());
    let began = Instant::now();
    loop {
        std::thread::sleep(Duration::from_millis(10));
        let text = std::fs::read_to_string(&stat).unwrap();
        let fields: Vec<&str> = text.rsplit(") ").next().unwrap().split(' ').collect();
        // fields from the third on: state, …, user and system time in hundredths of a second
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        let asleep = fields[0] == "S" && began.elapsed() > Duration::from_millis(300);
        if ticks >= 10 || asleep || fields[0] == "Z" {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "it does not begin");
    }
}

/// Sends a signal, waits for the end: exit status, output, messages.
fn end(mut child: Child, signal: &str) -> (Option<i32>, String, String) {
    send(&child, signal);
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            return (None, String::new(), format!("still running after {PATIENCE:?}"));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    (child.wait().unwrap().code(), out, err)
}

#[test]
fn every_loop_ends() {
    let options: [&[&str]; 7] = [
        &["--frames=chunks", "--opt=high"],
        &["--frames=chunks", "--opt=low"],
        &["--frames=heap", "--opt=high"],
        &["--frames=heap", "--opt=low"],
        &["--frames=stack", "--opt=high"],
        &["--frames=stack", "--opt=low"],
        &["--frames=quasi", "--opt=high"],
    ];
    let executables = Executables::new("signals", LOOPS, &options);
    let mut bad = vec![];
    for (options, exe) in &executables.1 {
        for (i, way) in WAYS.iter().enumerate() {
            let (signal, status) = if i % 4 == 3 { ("TERM", 143) } else { ("INT", 130) };
            let child = start("default", exe, &[way], "");
            wait_until_busy(&child);
            let found = end(child, signal);
            if found != (Some(status), "begun".into(), String::new()) {
                bad.push(format!("{options} {way}: {found:?}"));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// Programs that `cairn run` has loaded end by signals, also under zeal.
#[test]
fn programs_run_from_their_source_end_likewise() {
    for (frames, zeal, way) in [("chunks", "0", "count"), ("heap", "0", "unknown"), ("chunks", "1", "flonums")] {
        let frames = format!("--frames={frames}");
        let child = start("default", &binary(), &["run", &frames, LOOPS, way], zeal);
        wait_for_output(&child);
        let found = end(child, "INT");
        assert_eq!(found, (Some(130), "begun".into(), String::new()), "{frames} {way}");
    }
}

/// A compiled program is in its loop when its process has one thread that has run for a while: those of LLVM have
/// ended.
fn wait_for_output(child: &Child) {
    let tasks = format!("/proc/{}/task", child.id());
    let mut calm = 0;
    let began = Instant::now();
    let mut last = 0;
    while calm < 30 {
        std::thread::sleep(Duration::from_millis(10));
        assert!(began.elapsed() < Duration::from_secs(120), "it does not begin");
        let threads = std::fs::read_dir(&tasks).unwrap().count();
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id())).unwrap().lines().count();
        calm = if threads == 1 && maps == last { calm + 1 } else { 0 };
        last = maps;
    }
}

/// A program that waits for input ends at once.
#[test]
fn a_read_that_waits_ends() {
    let executables = Executables::new("signals-read", LOOPS, &[&[]]);
    for (signal, status) in [("INT", 130), ("TERM", 143)] {
        let child = start("default", &executables.1[0].1, &["read"], "");
        wait_until_busy(&child);
        assert_eq!(end(child, signal), (Some(status), "begun".into(), String::new()));
    }
}

/// What was ignored when the program began stays ignored.
#[test]
fn ignored_signals_stay_ignored() {
    let executables = Executables::new("signals-ignored", LOOPS, &[&[]]);
    let mut child = start("ignore", &executables.1[0].1, &["read"], "");
    wait_until_busy(&child);
    send(&child, "INT");
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none());
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Output that nobody takes does not keep a program from ending.
#[test]
fn a_stalled_reader_does_not_matter() {
    let directory = Directory::new("signals-stalled");
    directory.write(
        "p.scm",
        "(import (scheme base) (scheme write)) (let loop () (display (make-string 1000 #\\a)) (loop))",
    );
    let exe = directory.0.join("p");
    let built =
        Command::new(binary()).arg("build").arg(directory.0.join("p.scm")).arg("-o").arg(&exe).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let child = start("default", &exe, &[], "");
    wait_until_busy(&child);
    let (status, out, err) = end(child, "INT");
    assert_eq!((status, err.as_str()), (Some(130), ""));
    assert!(out.bytes().all(|b| b == b'a'));
}

/// Runs a way of `ASKS`: sends these signals, each after a line of output; the exit status and the lines.
fn ask(exe: &Path, way: &str, zeal: &str, signals: &[&str]) -> (Option<i32>, Vec<String>) {
    let mut child = start("default", exe, &[way], zeal);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut seen: Vec<String> = lines.next().into_iter().collect();
    for signal in signals {
        std::thread::sleep(Duration::from_millis(20));
        send(&child, signal);
        seen.extend(lines.next());
    }
    seen.extend(lines);
    (child.wait().unwrap().code(), seen)
}

/// Programs that ask get conditions, and go on where they were: with their unboxed doubles, with frames in other
/// chunks, as often as a continuation is invoked; also when every safepoint collects.
#[test]
fn programs_that_ask_get_conditions() {
    let executables = Executables::new(
        "signals-ask",
        ASKS,
        &[&["--frames=chunks"], &["--frames=heap"], &["--frames=stack"], &["--frames=quasi"]],
    );
    let goes_on = [
        ("flonums", "1.0"),
        ("vectors", "b"),
        ("deep", "2000"),
        ("fibs", "610"),
        ("lists", "(1 2 3)"),
        ("unknown", "50"),
        ("again", "again"),
    ];
    for (options, exe) in &executables.1 {
        for zeal in ["0", "1"] {
            for (way, result) in goes_on {
                let expected = ["ready", "seen 1 interrupt", "seen 2 terminate", "seen 3 interrupt", result];
                let found = ask(exe, way, zeal, &["INT", "TERM", "INT"]);
                assert_eq!(found, (Some(0), expected.map(String::from).into()), "{options} {way} {zeal}");
            }
            let others: [(&str, i32, &[&str]); 4] = [
                ("twice", 0, &["ready", "3"]),
                ("guard", 0, &["ready", "after", "(caught interrupt)"]),
                ("read", 0, &["ready", "caught"]),
                ("uncaught", 130, &["ready", "after"]),
            ];
            for (way, status, lines) in others {
                let expected = lines.iter().map(|l| l.to_string()).collect();
                assert_eq!(ask(exe, way, zeal, &["INT"]), (Some(status), expected), "{options} {way} {zeal}");
            }
        }
    }
}

/// A signal that comes just before a call blocks, when nothing looks for it any more, ends the wait nonetheless: here a
/// library between the program and the C library sends it there.
#[test]
fn a_signal_just_before_a_wait_ends_it() {
    let d = Directory::new("signals-before");
    d.write(
        "late.c",
        "#include <signal.h>\n#include <string.h>\n\
         #include <unistd.h>\n#include <sys/syscall.h>\n\
         ssize_t read(int fd, void *to, size_t size) {\n\
         \x20 if (fd == 0) raise(SIGINT);\n  return syscall(SYS_read, fd, to, size);\n}\n\
         int open(const char *name, int flags, int mode) {\n\
         \x20 if (strstr(name, \"fifo\")) raise(SIGINT);\n\
         \x20 return syscall(SYS_openat, -100, name, flags, mode);\n}\n",
    );
    let run = |command: &mut Command| assert!(command.status().unwrap().success());
    let library = d.0.join("late.so");
    run(Command::new("gcc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(d.0.join("late.c")));
    run(Command::new("mkfifo").arg(d.0.join("fifo")));
    d.write(
        "p.scm",
        "(import (scheme base) (scheme file) (scheme write) (cairn signal))\n\
         (define (interrupted thunk)\n\
         \x20 (call-with-interrupts (lambda () (guard (c ((interrupt? c) 'interrupted)) (thunk) 'not))))\n\
         (write (list (interrupted read-line) (interrupted (lambda () (open-input-file \"fifo\")))))\n",
    );
    let exe = d.0.join("p");
    run(Command::new(binary()).args(["build", "-o"]).arg(&exe).arg(d.0.join("p.scm")));
    let mut command = Command::new("env");
    command
        .current_dir(&d.0)
        .arg("--default-signal=INT")
        .arg(format!("LD_PRELOAD={}", library.display()))
        .arg(&exe);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() && began.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(out, "(interrupted interrupted)");
}
