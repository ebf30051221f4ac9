//! Running out: of memory, in every way a program can, and of room for output. Running out of memory is a condition: a
//! program that handles it goes on with all of its memory; one that does not ends like after any error, and nothing
//! written before may be lost. A handler that goes on taking memory ends the program.

use cairn_layout::collector::Barrier;
use cairn_layout::facts::STRATEGIES;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

mod common;
use common::matrix::{self, Configuration};
use common::{Directory, binary, root, with_addresses};

/// An executable of this program, removed when dropped.
struct Executable(PathBuf);

impl Executable {
    fn new(program: &str, c: Configuration) -> Executable {
        let name = format!("cairn-exhaustion-{}-{}-{}", std::process::id(), c.name(), program.replace('/', "-"));
        let exe = Executable(std::env::temp_dir().join(name));
        let mut build = Command::new(binary());
        build.current_dir(root()).args(["build", program, "-o"]).arg(&exe.0).args(c.flags(program));
        let built = build.output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        exe
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

const MEMORY: &str = "tests/exhaustion/memory.scm";

const WAYS: [&str; 20] = [
    "list",
    "vectors",
    "strings",
    "append",
    "list-of-length",
    "string-port",
    "power",
    "squares",
    "symbols",
    "short-symbols",
    "recursion",
    "continuations",
    "flat-continuations",
    "winders",
    "parameters",
    "arguments",
    "many-arguments",
    "hash-table",
    "vector",
    "ports",
];

fn is_out_of_memory(way: &str, limit: &str, output: &Output) {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{way}: {:?}\n{out}{err}", output.status);
    assert_eq!(out, "begun\n", "{way}: {err}");
    assert!(
        err.starts_with("error: out of memory: ") && err.contains(&format!("heap limit of {limit} MiB")),
        "{way}: {err}"
    );
    assert!(err.contains("tests/exhaustion/memory.scm:"), "{way}: {err}");
    assert_eq!(err.matches("out of memory").count(), 1, "{way}: {err}");
}

/// Caught, and all memory there again: three times in one program.
fn is_caught(way: &str, output: &Output) {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!((&*out, &*err), ("begun\ncaught500000caught\n", ""), "{way}: {:?}", output.status);
    assert_eq!(output.status.code(), Some(0), "{way}");
}

/// Ways that take long.
const ONCE: [&str; 5] = ["squares", "winders", "parameters", "flat-continuations", "append"];

/// Single objects beyond the limit: the rest of the program can go on without them.
const TOO_LARGE: [(&str, &str); 4] = [
    (
        "one-vector",
        "make-vector: 745.1 GiB exceed the heap limit of 64 MiB (raise it with --heap-max); the length was 100000000000",
    ),
    (
        "largest-vector",
        "make-vector: 8 EiB exceed the heap limit of 64 MiB (raise it with --heap-max); the length was 1152921504606846975",
    ),
    (
        "one-string",
        "make-string: 372.5 GiB exceed the heap limit of 64 MiB (raise it with --heap-max); the length was 100000000000",
    ),
    (
        "one-bytevector",
        "make-bytevector: 931.3 GiB exceed the heap limit of 64 MiB (raise it with --heap-max); the length was 1000000000000",
    ),
];

fn exhaust(c: Configuration) {
    let exe = Executable::new(MEMORY, c);
    // A collector without an old space has to have room for all that lives twice, and for prefixes.
    let guarded = if c.collector.barrier == Barrier::None { "48M" } else { "24M" };
    for (_, way) in WAYS.iter().enumerate().filter(|(n, _)| c.shares(*n)) {
        let output = Command::new(&exe.0).arg(way).env("CAIRN_HEAP_MAX", "64M").output().unwrap();
        is_out_of_memory(way, "64", &output);
        if !ONCE.contains(way) {
            let output =
                Command::new(&exe.0).args([*way, "guarded"]).env("CAIRN_HEAP_MAX", guarded).output().unwrap();
            if c.frames.is_joined() {
                // words that are not used any more may keep what was dropped, so the next time is not like the first
                assert!(output.stdout.starts_with(b"begun\ncaught"), "{way}: {output:?}");
            } else {
                is_caught(way, &output);
            }
        }
    }
    // Little memory, for there is a collection at every safepoint.
    let zealous = ["list", "vectors", "recursion", "continuations", "many-arguments"];
    for (_, way) in zealous.iter().enumerate().filter(|(n, _)| c.shares(*n)) {
        let mut zealous = Command::new(&exe.0);
        zealous.arg(way).env("CAIRN_HEAP_MAX", "2M").env("CAIRN_ZEAL", "1");
        is_out_of_memory(way, "2", &zealous.output().unwrap());
    }
    let output = Command::new(&exe.0).arg("handlers").env("CAIRN_HEAP_MAX", "64M").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "begun\nescaped\n");
    let output = Command::new(&exe.0).arg("ignored").env("CAIRN_HEAP_MAX", "16M").output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.starts_with("cairn: out of memory: ") && err.lines().count() == 1, "{err}");
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(1), &b"begun\n"[..]));
    for (way, message) in TOO_LARGE {
        let output = Command::new(&exe.0).arg(way).env("CAIRN_HEAP_MAX", "64M").output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{way}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "begun\n", "{way}");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(err.starts_with(&format!("error: {message}\n  --> tests/exhaustion/memory.scm:")), "{way}: {err}");
        let output = Command::new(&exe.0).args([way, "guarded"]).env("CAIRN_HEAP_MAX", "64M").output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "begun\ncaught500000caught\n", "{way}");
        assert_eq!(output.status.code(), Some(0), "{way}");
    }
    for way in ["list", "recursion"] {
        let mut run = Command::new(binary());
        run.current_dir(root()).arg("run").args(c.flags(MEMORY)).args(["--heap-max=64M", MEMORY, way]);
        is_out_of_memory(way, "64", &run.output().unwrap());
    }
}

/// Under every strategy and collector at once: they share nothing but the processors.
#[test]
fn memory() {
    std::thread::scope(|scope| {
        for c in matrix::cross() {
            scope.spawn(move || exhaust(c));
        }
    });
}

/// Recursion that does not end is told so soon, under every strategy, and the backtrace is short; the program may go
/// on.
#[test]
fn runaway_recursion() {
    let d = Directory::new("runaway");
    d.write(
        "p.scm",
        "(import (scheme base) (scheme write))
         (define (g n) (+ n (g (+ n 1)) (g n)))
         (define (even n) (if (= n 0) (list 'even) (cons n (odd (- n 1)))))
         (define (odd n) (if (= n 0) (list 'odd) (cons n (even (- n 1)))))
         (define (deep n) (if (= n 0) 0 (+ 1 (deep (- n 1)))))
         (define (message thunk) (guard (e (#t (error-object-message e))) (thunk)))
         (write (map message (list (lambda () (g 1)) (lambda () (even -1)) (lambda () (g 1)))))
         (newline)
         (write (deep 50000))
         (newline)
         (display (even -1))",
    );
    let said = "recursion is too deep: its frames exceed the limit of 8 MiB (raise it with --frames-max)";
    let gc = |native: bool| if native { "--gc=marksweep" } else { "--gc=gen" };
    let mut flags: Vec<Vec<String>> =
        STRATEGIES.iter().map(|s| vec![format!("--frames={}", s.name), gc(s.is_joined()).into()]).collect();
    flags.push(vec!["--opt=auto".into()]);
    for flag in flags {
        let mut run = Command::new(binary());
        run.args(["run", "--no-cache", "--frames-max=8M"]).args(&flag).arg("p.scm").current_dir(&d.0);
        let output = run.env_remove("CAIRN_ZEAL").output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(out, format!("(\"{said}\" \"{said}\" \"{said}\")\n50000\n"), "{flag:?}: {err}");
        assert!(err.starts_with(&format!("error: {said}\n --> p.scm:")), "{flag:?}: {err}");
        assert!(err.lines().count() < 40 && err.contains("more frames"), "{flag:?}: {err}");
    }
}

/// So is recursion through what keeps more than frames for each level, or looks through all levels when an error passes
/// them: it takes a second for 256 MiB, and took minutes where each level cost in proportion to the others.
#[test]
fn runaway_recursion_through_control() {
    let d = Directory::new("runaway-control");
    let ways = [
        ("guard", "(guard (e ((string? e) 0)) (f (+ n 1)))"),
        ("nested-guards", "(guard (e ((f2 e) 0)) (guard (e ((null? e) => car)) (f (+ n 1))))"),
        ("dynamic-wind", "(dynamic-wind (lambda () #f) (lambda () (f (+ n 1))) (lambda () #f))"),
        ("with-exception-handler", "(with-exception-handler raise (lambda () (f (+ n 1))))"),
        ("parameterize", "(parameterize ((p n)) (f (+ n 1)))"),
        ("call/cc", "(call/cc (lambda (k) (f (+ n 1))))"),
        ("map", "(apply + (map (lambda (x) (f (+ x 1))) (list n n)))"),
    ];
    for (name, way) in ways {
        let text = format!(
            "(import (scheme base) (scheme write))
             (define p (make-parameter 0))
             (define (f2 x) (char? x))
             (define (f n) (+ 1 {way}))
             (display \"begun\")
             (display (f 1))"
        );
        d.write(&format!("{name}.scm"), &text);
        for flags in [&["--opt=auto"][..], &["--frames=heap"], &["--frames=native"]] {
            let mut run = Command::new(binary());
            run.args(["run", "--no-cache", "--frames-max=256M"]).args(flags).arg(format!("{name}.scm"));
            let begun = Instant::now();
            let output = run.current_dir(&d.0).env_remove("CAIRN_ZEAL").output().unwrap();
            let seconds = begun.elapsed().as_secs();
            let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert_eq!((&*out, output.status.code()), ("begun", Some(1)), "{name} {flags:?}: {err}");
            assert!(err.starts_with("error: recursion is too deep: its frames exceed"), "{name} {flags:?}: {err}");
            assert!(seconds < 15, "{name} {flags:?}: {seconds} s");
        }
    }
}

/// Messages of places are outside of all heaps, and count against the same limit.
#[test]
fn messages_that_nobody_receives() {
    let exe = Executable::new("tests/exhaustion/messages.scm", Configuration::usual());
    let output = Command::new(&exe.0).env("CAIRN_HEAP_MAX", "64M").output().unwrap();
    let complaint = "place-channel-put!: out of memory: a message of 976.7 KiB beside those that nobody has received yet would \
                     exceed the limit of 64 MiB (raise it with --heap-max)\n";
    let expected = complaint.repeat(2) + "(67 67 67)\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{output:?}");
}

#[test]
fn output() {
    let exe = Executable::new("examples/tour.scm", Configuration::usual());
    let complaint = |stdout: Stdio| {
        let output = Command::new(&exe.0).stdout(stdout).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    assert_eq!(complaint(full.into()), "cairn: cannot write to standard output: No space left on device\n");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(complaint(writer.into()), "cairn: cannot write to standard output: Broken pipe\n");
    let read_only = fs::File::open("/dev/null").unwrap();
    assert_eq!(complaint(read_only.into()), "cairn: cannot write to standard output: Bad file descriptor\n");
}

/// A stack that grows by page faults ends with a message where addresses are few: it never runs into their end.
#[test]
fn few_addresses_for_a_stack() {
    let d = Directory::new("few-addresses");
    d.write("p.scm", "(import (scheme base) (scheme write)) (define (f n) (+ 1 (f (+ n 1)))) (display (f 0))");
    for (frames, gc) in [("stack", "gen"), ("native", "mcc")] {
        for kilobytes in [20_000_000, 4_000_000, 300_000] {
            let mut run = with_addresses(kilobytes, &binary());
            run.args(["run", "--opt=high"])
                .arg(format!("--frames={frames}"))
                .arg(format!("--gc={gc}"))
                .arg("p.scm");
            let output = run.current_dir(&d.0).env_remove("CAIRN_ZEAL").output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{frames} {gc} {kilobytes}: {err}");
            // Compiled in this process, and not yet for another run: LLVM has most of the addresses.
            let few = (kilobytes == 300_000).then_some("cairn: cannot reserve address space for the heap: ");
            let complaints = ["error: out of memory: ", "error: recursion is too deep: "].into_iter().chain(few);
            assert!({ complaints }.any(|s| err.starts_with(s)), "{frames} {gc} {kilobytes}: {err}");
        }
    }
}

/// A small program needs few addresses, however it is run, and goes on without the compiler where there are too few for
/// LLVM.
#[test]
fn few_addresses_are_enough_for_a_small_program() {
    let d = Directory::new("few-addresses-small");
    d.write(
        "p.scm",
        "(import (scheme base) (scheme write))
         (define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
         (display (fib 27))
         (display (vector-length (make-vector 1000000 1)))",
    );
    let exe = Executable::new(d.0.join("p.scm").to_str().unwrap(), Configuration::usual());
    let cairn = binary();
    // what is compiled once, when there is room
    assert!(Command::new(&cairn).args(["-e", "1"]).status().unwrap().success());
    for (program, arguments) in [(&exe.0, &[][..]), (&cairn, &["p.scm"]), (&cairn, &["--no-cache", "p.scm"])] {
        let mut run = with_addresses(200_000, program);
        let output = run.args(arguments).current_dir(&d.0).env_remove("CAIRN_ZEAL").output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!((&*out, &*err), ("1964181000000", ""), "{program:?} {arguments:?}: {:?}", output.status);
    }
}

/// Threads that help a collector get addresses for what they allocate, or are not started: without them, glibc ends the
/// process.
#[test]
fn few_addresses_for_threads_that_mark() {
    let d = Directory::new("few-addresses-mark");
    d.write(
        "p.scm",
        "(import (scheme base))
         (define (deep n) (if (= n 0) 0 (+ 1 (deep (- n 1)))))
         (deep 1000000)
         (let loop ((l '())) (loop (cons (make-vector 10 1) l)))",
    );
    for kilobytes in [340_000, 360_000, 380_000, 400_000, 420_000] {
        let mut run = with_addresses(kilobytes, &binary());
        run.args(["run", "--opt=high", "--frames=native", "--gc=marksweep", "p.scm"]);
        let output = run.current_dir(&d.0).env_remove("CAIRN_ZEAL").output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{kilobytes}: {err}");
        assert!(["error: out of memory: ", "cairn: "].iter().any(|s| err.starts_with(s)), "{kilobytes}: {err}");
    }
}

/// A leak that is slow ends after few collections in vain, for every collector: the program does not crawl from one to
/// the next.
#[test]
fn a_slow_leak() {
    let d = Directory::new("slow-leak");
    d.write(
        "p.scm",
        "(import (scheme base))
         (define kept '())
         (define other #f)
         (let loop ((i 0))
           (set! kept (cons i kept))
           (do ((k 0 (+ k 1))) ((= k 20)) (set! other (make-vector 10 i)))
           (loop (+ i 1)))",
    );
    for gc in cairn_layout::facts::COLLECTORS {
        let mut run = Command::new(binary());
        run.args(["run", "--opt=high", "--heap-max=8M", "--trace-gc", "p.scm"]).arg(format!("--gc={}", gc.name));
        let output = run.current_dir(&d.0).env_remove("CAIRN_ZEAL").output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(err.contains("\nerror: out of memory: "), "{}: {err}", gc.name);
        // In the nearly full heap, each regains less than a twentieth.
        let sizes = |line: &str| -> Option<(f64, f64)> {
            let (before, after) = line.split_once("heap ")?.1.split_once("M -> ")?;
            Some((before.parse().ok()?, after.split_once('M')?.0.parse().ok()?))
        };
        let majors = err.lines().filter(|l| l.contains(" major ")).filter_map(sizes);
        let meagre = majors.filter(|(before, after)| *after > 7.0 && before - after < 0.35).count();
        assert!(meagre <= 16, "{}: {meagre} collections in vain", gc.name);
    }
}
