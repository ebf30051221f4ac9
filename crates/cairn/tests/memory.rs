//! Memory as a user sees it: programs run as processes, whose resident size the system tells.

use cairn_layout::facts::{COLLECTORS, PRECISE};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

mod common;
use common::{Directory, binary, text};

/// An executable of a program, removed when dropped. (`cairn run` would have LLVM in memory, too.)
struct Program(PathBuf);

impl Program {
    fn new(name: &str, text: &str) -> Program {
        Program::with_frames(name, text, "chunks")
    }
    fn with_frames(name: &str, text: &str, frames: &str) -> Program {
        let name = format!("cairn-memory-{}-{name}-{frames}", std::process::id());
        let (source, exe) = (std::env::temp_dir().join(format!("{name}.scm")), std::env::temp_dir().join(name));
        let imports =
            "(import (scheme base) (scheme read) (scheme write) (scheme file) (scheme process-context))\n";
        fs::write(&source, format!("{imports}{HELPERS}{text}")).unwrap();
        let mut build = Command::new(binary());
        build.arg("build").arg(&source).arg(format!("--frames={frames}")).arg("-o").arg(&exe);
        let output = build.output().unwrap();
        fs::remove_file(&source).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Program(exe)
    }
    fn command(&self) -> Command {
        let mut command = Command::new(&self.0);
        command.env_remove("CAIRN_ZEAL");
        command
    }
    fn run(&self, heap_max: &str) -> Output {
        self.command().env("CAIRN_HEAP_MAX", heap_max).output().unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// What the programs share.
const HELPERS: &str = "
(define (resident-megabytes)
  (call-with-input-file \"/proc/self/statm\" (lambda (p) (read p) (quotient (* 4 (read p)) 1024))))
(define (numbers n) (let loop ((i 0) (l '())) (if (= i n) l (loop (+ i 1) (cons i l)))))
(define (garbage megabytes)
  (do ((i 0 (+ i 1))) ((= i (* 64 megabytes))) (numbers 1024)))
";

/// The numbers that a program that ends well has written.
fn results(output: &Output) -> Vec<i64> {
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout).split_whitespace().map(|w| w.parse().unwrap()).collect()
}

#[test]
fn a_maximum_beyond_the_addresses_is_an_error_and_any_other_is_honoured() {
    let p = Program::new("maximum", "(write 1)");
    let output = p.run("64G");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "cairn: a heap cannot hold 64.00G; the largest possible maximum is 19.20G\n");
    let output = p.run("19.2G");
    assert_eq!(results(&output), [1]);
    let resident = Program::new("maximum-resident", "(write (resident-megabytes))");
    let output = resident.run("19G");
    assert!(results(&output)[0] < 16, "the maximum is not set aside");
}

/// A heap that is full to its maximum takes not much more than that, whatever the objects' size: not for the copies of
/// what is moved together either.
#[test]
fn the_maximum_holds_when_the_heap_is_full() {
    let p = Program::new(
        "full",
        "(define size (string->number (cadr (command-line))))
         (define (fill l n) (if (= n 0) (length l) (fill (cons (make-vector size n) l) (- n 1))))
         (define (peak-kilobytes)
           (call-with-input-file \"/proc/self/status\"
             (lambda (p) (let next ((word (read p))) (if (eq? word 'VmHWM:) (read p) (next (read p)))))))
         (guard (e (#t #f)) (fill '() 100000000))
         (write (peak-kilobytes))",
    );
    for size in ["5", "60", "100", "300", "500", "2000"] {
        let output = p.command().arg(size).env("CAIRN_HEAP_MAX", "100M").output().unwrap();
        let peak = results(&output)[0] / 1024;
        assert!(peak < 100 + 100 / 8 + 12, "vectors of {size}: {peak} MB");
    }
}

#[test]
fn a_program_that_shrinks_gives_its_memory_back() {
    let p = Program::new(
        "shrinks",
        "(define (len l) (if (null? l) 0 (length l)))
         (define kept (numbers 6000000))
         (write (resident-megabytes)) (newline)
         (set! kept (if (= (len kept) 6000000) '() kept))
         (garbage 768)
         (write (resident-megabytes))",
    );
    let output = p.run("1G");
    let [large, small] = results(&output)[..] else { panic!("{output:?}") };
    assert!(large > 96 && small < 24, "{large} MB, then {small} MB");
}

/// Every allocation counts, whoever makes it: what the runtime allocates in a loop that has no heap checks of its own
/// is collected in time, by each collector, also where the heap has come to take new objects for long-lived ones.
#[test]
fn allocation_in_runtime_calls_is_collected_in_time() {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/memory/allocating.scm");
    for collector in COLLECTORS {
        let stats =
            std::env::temp_dir().join(format!("cairn-allocating-{}-{}", std::process::id(), collector.name));
        let mut command = Command::new(binary());
        command
            .args(["run", "--gc", collector.name])
            .arg(format!("--stats-file={}", stats.display()))
            .arg(program);
        let output = command.env_remove("CAIRN_ZEAL").output().unwrap();
        assert_eq!(results(&output), [40000], "{}", collector.name);
        let text = fs::read_to_string(&stats).unwrap();
        fs::remove_file(&stats).unwrap();
        let peak = text.split_once("\"peak\": ").unwrap().1;
        let peak: u64 = peak.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
        // 6 MB live; each loop allocates 60.
        assert!(peak < 48 << 20, "{}: {} MB", collector.name, peak >> 20);
    }
}

/// Space safety: what no code can use any more is not kept. Each leak would take many times the heap's maximum.
const SAFE_FOR_SPACE: &str = "
(define (big n) (numbers n))

;; Appel & Shao 1996, Fig. 6: the closure for h must not keep g's v.
(define (f v w x y z)
  (define (g)
    (let ((u (car v)))
      (define (h)
        (define (i) (+ w x y z 3))
        (list i u))
      h))
  g)
(define (figure-6 n)
  (let loop ((i n) (kept '()))
    (if (< i 1) kept (let ((s ((f (big n) i 0 0 0)))) (loop (- i 1) (cons s kept))))))
(define closures (figure-6 2000))
(write (length closures)) (newline)
(write ((car ((car closures))))) (newline)

;; A closure that outlives its caller, whose frame has held a list.
(define (counter n)
  (let* ((l (big n)) (k (length l)))
    (let ((count (lambda (x) (+ x k))))
      (if (= (count 1) (length l)) 'never count))))
(define counters (let loop ((i 0) (l '())) (if (= i 2000) l (loop (+ i 1) (cons (counter 2000) l)))))
(write ((car counters) 1)) (newline)

;; A variable that is dead across a call that does not return for long.
(define (descend depth l)
  (let ((n (length l)))
    (if (= depth 0) n (+ 1 (descend (- depth 1) (big n))))))
(write (descend 100 (big 60000))) (newline)

;; An argument that is dead in a tail loop.
(define (step i l) (if (= i 0) (car l) (step (- i 1) (big (length l)))))
(define (finish l) (let ((n (length l))) (let loop ((i 20)) (if (= i 0) n (begin (big 200000) (loop (- i 1)))))))
(write (+ (step 100 (big 60000)) (finish (big 200000)))) (newline)

;; A continuation captured in a loop, and one that is entered again and again.
(define (captures n)
  (let loop ((i 0) (last #f))
    (if (= i n) (procedure? last) (call-with-current-continuation (lambda (k) (loop (+ i 1) k))))))
(write (captures 300000)) (newline)
(define (enters n)
  (let* ((i 0) (k (call-with-current-continuation (lambda (k) k))))
    (set! i (+ i 1))
    (if (< i n) (k k) i)))
(write (enters 300000)) (newline)
;; Two coroutines, each of which holds a continuation of the other.
(define (transfers n)
  (define other #f)
  (define (transfer) (call-with-current-continuation (lambda (k) (let ((to other)) (set! other k) (to #f)))))
  (call-with-current-continuation
    (lambda (done)
      (set! other (lambda (_) (let loop () (transfer) (loop))))
      (let loop ((i 0)) (if (= i n) (done i) (begin (transfer) (loop (+ i 1))))))))
(write (transfers 100000)) (newline)

;; What is dead when a continuation is captured: of a call, a sequence, a test, an operand, several values, a field.
(define-record-type box (make-box content) box? (content content set-content!))
(define (capture) (call-with-current-continuation (lambda (k) k)))
(define (captured n use)
  (let loop ((i 0) (ks '()))
    (if (= i n) (length ks) (loop (+ i 1) (cons (use (make-vector 2000 i)) ks)))))
(define (in-let v) (let* ((u (vector-ref v 0)) (k (capture))) (if (procedure? k) k u)))
(define (in-lets v) (let ((u (vector-ref v 0)) (k (capture)) (w 1)) (if (procedure? k) k (+ u w))))
(define (in-sequence v) (let ((u (vector-ref v 0)) (k 0)) (set! k (capture)) (if (procedure? k) k u)))
(define (in-test v) (let ((u (vector-ref v 0))) (if (pair? (list (capture))) (capture) u)))
(define (in-operand v) (let ((u (vector-ref v 0))) (car (list (capture) u (+ u 1)))))
(define (in-operands v) (let ((u (vector-ref v 0))) (car (list (capture) (vector-ref (vector u) 0) (capture) u))))
(define (in-values v) (let ((u (vector-ref v 0))) (let-values (((k w) (values (capture) u))) k)))
(define (in-producer v) (let ((u (vector-ref v 0))) (call-with-values capture (lambda (k) (if u k u)))))
(define (in-field v)
  (let ((u (vector-ref v 0)) (b (make-box 0)))
    (set-content! (car (list b (capture))) u)
    (capture)))
(write (map (lambda (use) (captured 2000 use))
            (list in-let in-lets in-sequence in-test in-operand in-operands in-values in-producer in-field)))
(newline)
";

/// Each minor collection promotes the chunk of the continuation that was captured last, which is dead soon after.
#[test]
fn continuations_that_are_dropped_do_not_fill_the_heap() {
    let p = Program::new(
        "captures",
        "(define kept #f)
         (define (step i) (call/cc (lambda (k) (set! kept k) (vector i i i i i i i i i i))))
         (define before (resident-megabytes))
         (do ((i 0 (+ i 1))) ((= i 1000000)) (step i))
         (write (- (resident-megabytes) before))",
    );
    let grown = results(&p.run("1G"))[0];
    assert!(grown <= 3, "{grown} MB for continuations of which one is live");
}

#[test]
fn what_cannot_be_used_any_more_is_not_kept() {
    for frames in PRECISE {
        let p = Program::with_frames("space", SAFE_FOR_SPACE, frames.name);
        let output = p.run("16M");
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(out, SAFE_OUTPUT, "{}: {err}", frames.name);
    }
}

const SAFE_OUTPUT: &str = "2000\n4\n2001\n60100\n259999\n#t\n300000\n100000\n\
                           (2000 2000 2000 2000 2000 2000 2000 2000 2000)\n";

/// What evaluated code can use no more is not kept, also where it never becomes native.
#[test]
fn evaluated_code_does_not_keep_what_cannot_be_used() {
    let d = Directory::new("evaluated-space");
    let numbers = "(define (numbers n) (let loop ((i 0) (l '())) (if (= i n) l (loop (+ i 1) (cons i l)))))";
    let program =
        format!("(for-each (lambda (form) (eval form (interaction-environment))) '({numbers} {SAFE_FOR_SPACE}))");
    d.write("p.scm", format!("(import (scheme base) (scheme eval) (scheme repl))\n{program}"));
    let mut run = Command::new(binary());
    run.args(["run", "--no-cache", "--heap-max=16M", "p.scm"]).current_dir(&d.0).env_remove("CAIRN_ZEAL");
    let output = run.output().unwrap();
    assert_eq!((text(&output.stdout), text(&output.stderr)), (SAFE_OUTPUT.into(), String::new()));
}

/// Resident megabytes of a process.
fn resident(child: &Child) -> u64 {
    let statm = fs::read_to_string(format!("/proc/{}/statm", child.id())).unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4 / 1024
}

/// Runs a program that reads after it has said that it is ready: resident megabytes when it begins to wait, and after
/// it has waited until that is enough, or for ten seconds. What it writes in the end is 1.
fn resident_while_waiting(p: &Program, enough: impl Fn(u64, u64) -> bool) -> (u64, u64) {
    let mut child = p.command().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let before = resident(&child);
    let began = Instant::now();
    while !enough(before, resident(&child)) && began.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let after = resident(&child);
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    line.clear();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "1");
    assert!(child.wait().unwrap().success());
    (before, after)
}

#[test]
fn a_program_that_waits_for_input_gives_back_what_it_does_not_use() {
    let p = Program::new(
        "waits",
        // The last collection has found a list of 64 MB dead: the program needed some of it again, and might need more.
        "(define kept (numbers 4000000))
         (set! kept (list 1))
         (define other (numbers 2400000))
         (display \"ready\\n\")
         (flush-output-port)
         (read-line)
         (write (length kept))",
    );
    let (before, after) = resident_while_waiting(&p, |before, now| now + 16 <= before);
    assert!(after + 16 <= before, "{before} MB, then {after} MB");
}

/// No collection has seen that the list is dead when the program begins to wait: one while it waits does.
#[test]
fn a_program_that_drops_data_and_waits_gives_them_back() {
    let ways = [
        "(read-line)",
        "(read)",
        "(read-char)",
        "(peek-char)",
        "(read-string 2)",
        "(read-u8 (open-binary-input-file \"/dev/stdin\"))",
        "(read-bytevector! (bytevector 0 0) (open-binary-input-file \"/dev/stdin\"))",
    ];
    let lists = ways.map(|read| ("(numbers 4000000)", read));
    // there has not been any collection at all
    let vectors = ["(make-vector 12000000 1)"].map(|vector| (vector, "(read-line)"));
    for (i, (data, read)) in lists.into_iter().chain(vectors).enumerate() {
        let text = format!(
            "(define kept {data})
             (define (size x) (if (pair? x) (length x) (vector-length x)))
             (set! kept (list (size kept)))
             (display \"ready\\n\")
             (flush-output-port)
             (let ((x {read})) (write (if (eof-object? x) 'end (length kept))))"
        );
        let p = Program::with_frames(&format!("drops-{i}"), &text, if i % 2 == 0 { "chunks" } else { "heap" });
        let (before, after) = resident_while_waiting(&p, |_, now| now < 24);
        assert!(before > 64 && after < 24, "{read}: {before} MB, then {after} MB");
    }
}

/// It has already collected while it waited, and allocates next to nothing from then on.
#[test]
fn a_program_that_waits_again_and_again_gives_back_what_it_dropped_between() {
    let p = Program::new(
        "drops-later",
        "(define kept (numbers 4000000))
         (define (ready) (display \"ready\\n\") (flush-output-port) (read-line))
         (ready)
         (set! kept (list (length kept)))
         (ready)
         (write (length kept))",
    );
    let mut child = p.command().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    // long enough for the collection that finds nothing, on most machines
    std::thread::sleep(Duration::from_secs(2));
    let before = resident(&child);
    child.stdin.as_ref().unwrap().write_all(b"on\n").unwrap();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\nready\n");
    let began = Instant::now();
    while resident(&child) >= 24 && began.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let after = resident(&child);
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert!(before > 64 && after < 24, "{before} MB, then {after} MB");
}

/// A million names come and go in little memory; those that are kept stay themselves, whatever moves.
#[test]
fn symbols_that_nobody_refers_to_are_forgotten() {
    let text = |n: u32| {
        format!(
            "(define (name i) (string->symbol (string-append \"k\" (number->string i))))
             (define kept (let loop ((i 0) (l '())) (if (= i 1000) l (loop (+ i 1) (cons (name i) l)))))
             (let loop ((i 0))
               (if (< i {n})
                   (begin (string->symbol (number->string i)) (loop (+ i 1)))))
             (write (let loop ((i 999) (l kept))
                      (if (null? l) 1000 (if (eq? (car l) (name i)) (loop (- i 1) (cdr l)) i))))
             (newline)
             (write (if (eq? (string->symbol \"kept\") 'kept) 1 0))"
        )
    };
    for frames in ["chunks", "heap"] {
        let p = Program::with_frames("symbols", &text(1_000_000), frames);
        assert_eq!(results(&p.run("32M")), [1000, 1], "{frames}");
        let p = Program::with_frames("few-symbols", &text(3000), frames);
        let output = p.command().env("CAIRN_HEAP_MAX", "32M").env("CAIRN_ZEAL", "1").output().unwrap();
        assert_eq!(results(&output), [1000, 1], "{frames}, zeal");
    }
}

/// Runs with at most 256 file descriptors.
fn with_few_descriptors(p: &Program, zeal: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 256; exec \"$0\""]).arg(&p.0).env("CAIRN_ZEAL", zeal);
    command.output().unwrap()
}

#[test]
fn dropped_ports_are_closed() {
    let file = std::env::temp_dir().join(format!("cairn-memory-{}-dropped.txt", std::process::id()));
    let text = |n: u32| {
        format!(
            "(define file {file:?})
             (let ((p (open-output-file file))) (write 17 p))
             (define (drop n)
               (if (> n 0)
                   (begin (read-char (open-input-file \"/proc/self/statm\")) (drop (- n 1)))))
             (drop {n})
             (write (call-with-input-file file read))"
        )
    };
    for frames in ["chunks", "heap"] {
        let p = Program::with_frames("ports", &text(3000), frames);
        assert_eq!(results(&with_few_descriptors(&p, "")), [17], "{frames}");
        let p = Program::with_frames("few-ports", &text(500), frames);
        assert_eq!(results(&with_few_descriptors(&p, "1")), [17], "{frames}, zeal");
    }
    fs::remove_file(&file).unwrap();
    // Ports in use are not closed.
    let p = Program::new(
        "kept-ports",
        "(define ports '())
         (define (more) (set! ports (cons (open-input-file \"/proc/self/statm\") ports)) (more))
         (write (guard (e ((file-error? e) (if (> (length ports) 200) 1 0))) (more)))
         (write-char #\\space)
         (for-each (lambda (p) (if (not (number? (read p))) (write 'closed))) ports)",
    );
    assert_eq!(results(&with_few_descriptors(&p, "")), [1]);
}

/// Under libgc a word of a frame may look like a reference to what is dead and not swept yet, or to a cell that holds
/// something else by now. Sorts that are entered again have many continuations with such frames; where they lie in
/// memory is another place each time.
#[test]
fn words_of_frames_that_look_like_references_do_no_harm_under_bdw() {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/scheme/sorting-by-oracle.scm");
    for _ in 0..3 {
        let mut run = Command::new(binary());
        run.args(["run", "--gc=bdw", "--ambiguous-frames", program]).env("CAIRN_ZEAL", "1");
        let output = run.output().unwrap();
        assert!(output.status.success(), "{:?} {}", output.status, text(&output.stderr));
        assert_eq!(text(&output.stdout), "5400 passed, 0 failed\n");
    }
}

/// The walk of the native stack goes from return address to return address by the frames' sizes in words. LLVM, which
/// sees no calls in such a frame, once had one with a spilled byte end between two words.
#[test]
fn native_frames_are_whole_words() {
    let source = std::env::temp_dir().join(format!("cairn-memory-{}-words.scm", std::process::id()));
    let program = "(import (scheme base) (scheme write))
        (define (pseudo-random n seed)
          (let loop ((i 0) (x seed) (l '()))
            (if (= i n)
                l
                (loop (+ i 1)
                      (modulo (+ (* x 1103515245) 12345) 2147483648)
                      (cons (modulo (quotient x 65536) 1000) l)))))
        (define numbers (pseudo-random 1000 42))
        (let loop ((l numbers) (count 0))
          (if (pair? l)
              (loop (cdr l) (if (and (exact-integer? (car l)) (< -1 (car l) 1000)) (+ count 1) count))
              (write (list count l))))";
    fs::write(&source, program).unwrap();
    let mut run = Command::new(binary());
    run.args(["run", "--frames=native", "--gc=marksweep", "--opt=high"]).arg(&source).env("CAIRN_ZEAL", "1");
    let output = run.output().unwrap();
    fs::remove_file(&source).unwrap();
    assert_eq!(text(&output.stdout), "(1000 ())", "{}", text(&output.stderr));
}

/// 67 MB of a list are dropped before the program sleeps: whatever the collector, the memory is there for others soon.
#[test]
fn a_program_that_sleeps_gives_back_what_it_dropped() {
    let imports = "(import (scheme base) (scheme read) (scheme write) (scheme file) (cairn thread))";
    let d = Directory::new("sleeps");
    d.write(
        "p.scm",
        format!(
            "{imports}
             {HELPERS}
             (define kept (numbers 4200000))
             (set! kept (length kept))
             (thread-sleep! 1.5)
             (write (resident-megabytes))"
        ),
    );
    for gc in COLLECTORS {
        let exe = d.0.join(gc.name);
        let mut build = Command::new(binary());
        build.args(["build", "p.scm", "-o"]).arg(&exe).arg(format!("--gc={}", gc.name)).current_dir(&d.0);
        let built = build.output().unwrap();
        assert!(built.status.success(), "{}", text_of(&built));
        let output = Command::new(&exe).env_remove("CAIRN_ZEAL").output().unwrap();
        let megabytes: u64 =
            text_of(&output).parse().unwrap_or_else(|_| panic!("{}: {}", gc.name, text_of(&output)));
        // libgc keeps tables of its own.
        let most = if gc.name == "bdw" { 12 } else { 8 };
        assert!(megabytes <= most, "{}: {megabytes} MB", gc.name);
    }
}

fn text_of(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}
