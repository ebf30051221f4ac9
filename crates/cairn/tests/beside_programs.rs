//! What is compiled while a program runs is compiled by other processes (`cairn/src/background.rs`): the program stays
//! small, and the next run finds what was begun.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
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
    assert!(told.contains("own code"), "a module came: {told}");
    wait_for("the compiled program", || cached(&d, "program") == 1 && cached(&d, "lock") == 0);
    assert_eq!(fs::read_dir(d.0.join("cache")).unwrap().count(), 1, "nothing else is left");
    let second = command(&d, &["--time"], "2").output().unwrap();
    let texts = [second.stdout, second.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(texts, ["ended", ""], "nothing is compiled again");
}

/// Computes, waits for a line, computes more.
const TWICE: &str = "
    (import (scheme base) (scheme write))
    (define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
    (define (say x) (write x) (newline) (flush-output-port) (read-line))
    (say (fib 25))
    (say (fib 27))";

/// How often the main thread of a process has waited for something.
fn waits(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/task/{pid}/status")).unwrap();
    let line = status.lines().find(|l| l.starts_with("voluntary_ctxt_switches")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Processes that this one has started.
fn child_ids(of: u32) -> Vec<u32> {
    let ids = fs::read_dir("/proc").unwrap().filter_map(|p| p.unwrap().file_name().to_str()?.parse().ok());
    let parent = |id: &u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        stat.rsplit(')').next().unwrap().split_whitespace().nth(1).map(str::to_string)
    };
    ids.filter(|id| parent(id) == Some(of.to_string())).collect()
}

/// A compiler that never answers, or is killed, costs the program nothing: it does not wait, and nothing is said.
#[test]
fn nobody_waits_for_the_compiler() {
    let d = Directory::new("no-compiler");
    d.write("p.scm", TWICE);
    for signal in ["-STOP", "-KILL"] {
        let mut command = command(&d, &["--no-cache"], "");
        let mut program = Running(command.stdin(Stdio::piped()).spawn().unwrap());
        let pid = program.0.id();
        wait_for("the compiler", || match child_ids(pid)[..] {
            [id] => Command::new("kill").args([signal, &id.to_string()]).status().unwrap().success(),
            _ => false,
        });
        let mut out = BufReader::new(program.0.stdout.take().unwrap()).lines();
        let mut input = program.0.stdin.take().unwrap();
        assert_eq!(out.next().unwrap().unwrap(), "75025");
        let before = waits(pid);
        writeln!(input).unwrap();
        assert_eq!(out.next().unwrap().unwrap(), "196418");
        let waits = waits(pid) - before;
        assert!(waits < 20, "{signal}: it has waited {waits} times");
        if signal == "-STOP" {
            assert_eq!(children(pid), ["T"], "it would still be compiling");
        }
        writeln!(input).unwrap();
        wait_for("the end of the program", || program.0.try_wait().unwrap().is_some());
        let mut told = String::new();
        std::io::Read::read_to_string(&mut program.0.stderr.take().unwrap(), &mut told).unwrap();
        assert_eq!(told, "", "{signal}");
    }
}

#[test]
fn whoever_starts_it_by_hand_is_told() {
    let out = Command::new(binary()).arg("--compile-in-background").stdin(Stdio::null()).output().unwrap();
    assert_eq!(out.status.code(), Some(1));
    assert_eq!(String::from_utf8(out.stderr).unwrap(), "cairn: this is not for users\n");
}

/// A session at the prompt, on pipes.
struct Talk {
    child: Running,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Talk {
    fn begin(d: &Directory) -> Talk {
        let mut command = Command::new(binary());
        command.current_dir(&d.0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Talk { child: Running(child), input, output: BufReader::new(output).lines() }
    }

    fn tell(&mut self, text: &str) {
        writeln!(self.input, "{text}").unwrap();
    }

    /// The line that comes back.
    fn ask(&mut self, text: &str) -> String {
        self.tell(text);
        self.output.next().unwrap().unwrap()
    }

    /// Asks again until native code answers: it allocates nothing, and evaluated code scopes and arguments.
    fn until_native(&mut self, text: &str, value: &str) {
        wait_for(text, || {
            assert_eq!(self.ask(&format!(",time {text}")), value);
            self.output.next().unwrap().unwrap().ends_with(" 0 KiB allocated")
        });
    }
}

#[test]
fn what_is_typed_becomes_native() {
    let d = Directory::new("typed");
    d.write("odd.scm", "(define (odd n) (if (= n 0) #f (even (- n 1))))");
    let mut s = Talk::begin(&d);
    s.tell("(define-syntax decrement (syntax-rules () ((_ x n) (- x n))))");
    s.tell("(define step 1)");
    s.tell("(define (fib n) (if (< n 2) n (+ (fib (decrement n step)) (fib (decrement n 2)))))");
    s.until_native("(fib 20)", "6765");
    // native code sees what is defined and assigned later
    s.tell("(define step 2)");
    assert_eq!(s.ask("(fib 21)"), "1024");
    s.tell("(define old fib) (define (fib n) 1)");
    assert_eq!(s.ask("(old 20)"), "2");
    // of a file; each calls the other
    s.tell("(load \"odd.scm\") (define (even n) (if (= n 0) #t (odd (- n 1))))");
    s.until_native("(even 10000)", "#t");
    s.tell("(define (odd n) (list 'odd n))");
    assert_eq!(s.ask("(even 10)"), "(odd 9)");
    assert!(children(s.child.0.id()).len() < 2);
}

#[test]
fn what_calls_libraries_of_the_session_becomes_native() {
    let d = Directory::new("libraries-of-the-session");
    d.write("mine/list.sld", "(define-library (mine list) (import (scheme base)) (export add-all) (begin \
             (define start 0) (define (add-all l) (let go ((l l) (n start)) (if (null? l) n (go (cdr l) (+ n (car l))))))))");
    let mut s = Talk::begin(&d);
    // both are evaluated in this session, the first from `lib/more`
    s.tell("(import (chezscheme) (mine list))");
    d.write(
        "sums.scm",
        "(define items (iota 1000)) (define (left n) (if (= n 0) (fold-left + 0 items) (left (- n 1)))) \
             (define (mine n) (if (= n 0) (add-all items) (mine (- n 1))))",
    );
    s.tell("(load \"sums.scm\")");
    s.until_native("(left 1000)", "499500");
    s.until_native("(mine 1000)", "499500");
}

#[test]
fn what_was_typed_keeps_its_identity_when_it_becomes_native() {
    let d = Directory::new("identity");
    let mut s = Talk::begin(&d);
    s.tell("(define (constant n) (if (= n 0) '(1 2) (constant (- n 1))))");
    s.tell("(define before (constant 0)) (define procedure constant)");
    s.until_native("(length (constant 10000))", "2");
    assert_eq!(s.ask("(list (eq? before (constant 5)) (eq? procedure constant))"), "(#t #t)");
    // errors are those of evaluated code
    s.tell("(define (walk l n) (if (= n 0) (car l) (walk l (- n 1))))");
    let error = "(guard (e (#t (error-object-message e))) (walk 5 100))";
    let evaluated = s.ask(error);
    s.until_native("(walk '(7) 10000)", "7");
    assert_eq!(s.ask(error), evaluated);
}

/// Goes on until there is something to read: inside of calls, with closures and a continuation from before.
const REPLACED: &str = "
    (import (scheme base) (scheme write))
    (define (sum n) (if (= n 0) 0 (+ n (sum (- n 1)))))
    (define (even n) (if (= n 0) #t (odd (- n 1))))
    (define (odd n) (if (= n 0) #f (even (- n 1))))
    (define adders (map (lambda (k) (lambda (x) (+ x k 0.5))) '(1 2 3)))
    (define (all x) (map (lambda (f) (f x)) adders))
    (define (work) (list (sum 100) (even 31) (all 7) (guard (e (#t (list 'caught e))) (raise (sum 4)))))
    (define again #f)
    (define (wait) (work) (if (not (char-ready?)) (wait)))
    (define (deep n)
      (if (= n 0)
          (let ((times (call/cc (lambda (k) (set! again k) 1))))
            (wait)
            times)
          (+ n (deep (- n 1)))))
    (define (run)
      (let ((result (deep 500)))
        (write (list result (work)))
        (newline)
        (if (< result 125300) (again (- result 125200)))
        (vector-ref (vector 1 2) (sum 2))
        'never))
    (run)";

#[test]
fn better_code_takes_the_place_of_code_that_runs() {
    let d = Directory::new("better");
    fs::write(d.0.join("p.scm"), REPLACED).unwrap();
    let program = |arguments: &[&str]| {
        let mut command = Command::new(binary());
        command.arg("run").args(arguments).args(["--no-cache", "p.scm"]).current_dir(&d.0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    // bytes of code in memory that is of no file
    let loaded = |pid: u32| -> u64 {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        let code = maps.lines().filter(|line| line.contains(" r-xp 00000000 00:00 0") && !line.contains('['));
        let ends = code.filter_map(|line| line.split(' ').next()?.split_once('-'));
        ends.map(|(from, to)| u64::from_str_radix(to, 16).unwrap() - u64::from_str_radix(from, 16).unwrap()).sum()
    };
    let end = |mut child: Child| {
        child.stdin.take().unwrap().write_all(b"go on\n").unwrap();
        let out = child.wait_with_output().unwrap();
        (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap(), out.status.code())
    };
    let expected = end(program(&["--opt=high"]).spawn().unwrap());
    assert!(expected.0.starts_with("(125251 (5050 #f (8.5 9.5 10.5) (caught 10)))\n"), "{expected:?}");
    assert!(expected.1.contains("vector-ref"), "{expected:?}");
    for zeal in ["0", "1"] {
        let child = program(&[]).env("CAIRN_HASTE", "500").env("CAIRN_ZEAL", zeal).spawn().unwrap();
        let id = child.id();
        // all code has come when nobody compiles any more
        let (mut last, mut since) = (0, Instant::now());
        wait_for("all code", || {
            let now = loaded(id);
            if now != last || !children(id).is_empty() {
                (last, since) = (now, Instant::now());
            }
            last > 0 && since.elapsed() > Duration::from_secs(2)
        });
        assert_eq!(end(child), expected, "zeal: {zeal}");
    }
}

/// The first code is our own generator's, and LLVM's comes if the program goes on.
#[test]
fn the_first_code_is_our_own() {
    let d = Directory::new("own-code");
    let program = |turns: u64| {
        let text = format!(
            "(import (scheme base) (scheme write))
             (define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
             (do ((i 0 (+ i 1)) (sum 0 (+ sum (fib 24)))) ((= i {turns}) (write sum)))"
        );
        d.write("p.scm", &text);
        let out = command(&d, &["--time", "--no-cache"], "0").output().unwrap();
        let texts = [out.stdout, out.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(texts[0], (46368 * turns).to_string());
        texts[1].clone()
    };
    // as long as LLVM takes on this machine
    let told = [1000, 10_000, 100_000].into_iter().map(program).find(|told| told.contains("llvm")).unwrap();
    let (own, llvm) = (told.find("own code"), told.find("llvm"));
    assert!(own.is_some() && own < llvm, "{told}");
}

/// Definitions that nothing comes to are not evaluated if that has no effect, and what is numbered behind them is the
/// same for the program and its compiler. The second program evaluates, so that it may come to all.
#[test]
fn definitions_that_nothing_comes_to_are_left_out() {
    let d = Directory::new("unused-definitions");
    let program = "
        (define unused-list '(not the one))
        (define (unused x) (lambda (y) (list x y \"never\")))
        (define shown (begin (display \"shown \") unused-list))
        (define used-list (list 1 2 3))
        (define (unused-too) (unused 5))
        (define (add l) (let loop ((l l) (sum 0)) (if (null? l) sum (loop (cdr l) (+ sum (car l))))))
        (define (twice) (let ((sum 0)) (for-each (lambda (x) (set! sum (+ sum (* 2 x)))) used-list) sum))
        (let again ((i 0)) (if (< i 300) (begin (add used-list) (twice) (again (+ i 1)))))
        (write (list (add used-list) (twice) (assv 2 '((1 . one) (2 . two))) (map (lambda (x) (* x x)) used-list)))
        (define failing (vector-ref (vector) (add used-list)))";
    let base = "(import (scheme base) (scheme write))";
    let more = "(import (scheme base) (scheme write) (scheme eval))
        (write (eval '(list-copy '(1)) (environment '(scheme base))))";
    for (imports, first) in [(base, ""), (more, "(1)")] {
        for haste in ["1", "20", "1000"] {
            fs::write(d.0.join("p.scm"), format!("{imports}{program}")).unwrap();
            let output = command(&d, &["--no-cache"], "1").env("CAIRN_HASTE", haste).output().unwrap();
            let shown = format!("{first}shown (6 12 (2 . two) (1 4 9))");
            assert_eq!(String::from_utf8_lossy(&output.stdout), shown, "{haste}");
            assert!(String::from_utf8_lossy(&output.stderr).contains("vector-ref"), "{haste}");
        }
    }
}

/// Modules trust what the whole program says that variables hold, whenever they come.
#[test]
fn what_variables_hold_is_true_of_evaluated_code() {
    let d = Directory::new("hot-types");
    let at = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/scheme/hot-types");
    fs::copy(format!("{at}.scm"), d.0.join("p.scm")).unwrap();
    let expected = fs::read_to_string(format!("{at}.out")).unwrap();
    for haste in ["1", "2", "7", "40", "300"] {
        let output = command(&d, &["--no-cache"], "1").env("CAIRN_HASTE", haste).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{haste}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{haste}");
    }
}
