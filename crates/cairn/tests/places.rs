//! Places (`docs/places.md`), as far as `tests/scheme/places.scm` cannot tell: what a hundred of them leave behind, how
//! the program's end and signals reach them, what the collector that cannot have them says.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

mod common;
use common::{binary, matrix};

/// A program in a file of its own.
struct Program(PathBuf);

impl Program {
    fn new(name: &str, text: &str) -> Program {
        let path = std::env::temp_dir().join(format!("cairn-places-{}-{name}.scm", std::process::id()));
        std::fs::write(
            &path,
            format!("(import (scheme base) (scheme write) (scheme file) (cairn place))\n{text}\n"),
        )
        .unwrap();
        Program(path)
    }
    fn command(&self, options: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.arg("run").args(options).arg(&self.0).stdin(Stdio::null());
        command
    }
    /// Standard output, standard error, exit status.
    fn run(&self, options: &[&str]) -> (String, String, Option<i32>) {
        let Output { stdout, stderr, status } = self.command(options).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(stdout), text(stderr), status.code())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A hundred places, eight at a time, leave no descriptors, no threads (but the ticker) and no memory behind.
#[test]
fn places_that_have_ended_leave_nothing_behind() {
    let text = r#"
(define (number-of name)               ; of a line of /proc/self/status
  (call-with-input-file "/proc/self/status"
    (lambda (port)
      (let loop ()
        (let ((line (read-line port)) (n (string-length name)))
          (if (and (> (string-length line) n) (string=? name (string-copy line 0 n)))
              (read (open-input-string (string-copy line (+ n 1))))
              (loop)))))))
(define (eight)
  (let ((places (map (lambda (i) (place (let ((c (make-place-channel)))
                                          (place-channel-put! c (make-vector 10000 i))
                                          (vector-length (place-channel-get! c)))))
                     '(1 2 3 4 5 6 7 8))))
    (for-each (lambda (p) (if (not (= 10000 (place-wait p))) (error "no" p))) places)))
(define (times n f) (if (> n 0) (begin (f) (times (- n 1) f))))
(define (opened) (call-with-input-file "/dev/null" (lambda (p) (number-of "FDSize:"))))
(times 4 eight)
(define descriptors (opened))
(define memory (number-of "VmRSS:"))
(define addresses (number-of "VmSize:"))
(times 13 eight)
(write (list (= descriptors (opened)) (< (- (number-of "VmRSS:") memory) 8000)
             (< (- (number-of "VmSize:") addresses) 100000000)))
(let loop ((i 0)) (if (and (> (number-of "Threads:") 2) (< i 1000)) (loop (+ i 1))))
(write (number-of "Threads:"))"#;
    let program = Program::new("leaks", &format!("(import (scheme read))\n{text}"));
    assert_eq!(program.run(&[]), ("(#t #t #t)2".into(), String::new(), Some(0)));
}

/// Places under the strictest zeal: every collection of each of them is walked around.
#[test]
fn places_stand_thorough_checks() {
    let text = "(define c (make-place-channel))
                (define (work n) (let loop ((i 0) (l '())) (if (= i n) l (loop (+ i 1) (cons (list i (number->string i)) l)))))
                (define places (map (lambda (n) (place (place-channel-put! c (work n)) (length (work 40)))) '(30 31 32)))
                (define sent (map (lambda (p) (length (place-channel-get! c))) places))
                (write (list (apply + sent) (map place-wait places) (place-map (lambda (n) (length (work n))) '(5 6 7))))";
    let program = Program::new("thorough", text);
    for c in matrix::pairs().filter(|c| c.collector.name != "bdw") {
        let flags = c.flags("");
        let options: Vec<&str> = flags.iter().map(String::as_str).collect();
        let output = program.command(&options).env("CAIRN_ZEAL", "2").output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "(93 (40 40 40) (5 6 7))", "{}: {output:?}", c.name());
    }
}

#[test]
fn the_end_of_the_program_ends_all_places() {
    let endless = "(define c (make-place-channel))
                   (define p (place (place-channel-put! c 1) (let loop () (loop))))
                   (define q (place (place-channel-get! (make-place-channel))))
                   (place-channel-get! c)";
    for (end, status) in [("", 0), ("(exit 3)", 3), ("(car 1)", 1), ("(emergency-exit 4)", 4)] {
        let text = format!("(import (scheme process-context))\n{endless}\n(display 'end)\n{end}");
        let (out, err, code) = Program::new("end", &text).run(&[]);
        assert_eq!((&*out, code), ("end", Some(status)), "{end}: {err}");
    }
}

#[test]
fn an_interrupt_reaches_the_first_place_and_ends_all() {
    let program = Program::new(
        "interrupt",
        "(define p (place (let loop () (loop))))
         (display 'ready) (newline) (flush-output-port)
         (place-wait p)",
    );
    let mut child = program.command(&[]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line).unwrap();
    assert_eq!(line, "ready\n");
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let start = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if start.elapsed() > Duration::from_secs(60) => panic!("the program goes on"),
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    assert_eq!(status.code(), Some(130));
}

/// An error in a place: on standard error, with the place's name and a backtrace; then in who waits.
#[test]
fn an_error_is_reported_with_the_name_of_its_place() {
    let program = Program::new(
        "error",
        "(define (second x) (car (cdr x)))
         (define p (place-spawn (lambda () (+ 1 (second '(1)))) \"worker\"))
         (guard (e (#t (display (error-object-message e)))) (place-wait p))",
    );
    let (out, err, status) = program.run(&[]);
    assert_eq!((&*out, status), ("car: expected a pair, got", Some(0)));
    assert!(err.starts_with("error: in place worker: car: expected a pair, got ()\n"), "{err}");
    assert!(err.contains("0: second"), "{err}");
}

#[test]
fn where_there_can_be_no_places_that_is_said() {
    let program = Program::new("bdw", "(place 1)");
    let (_, err, status) = program.run(&["--gc=bdw"]);
    assert_eq!(status, Some(1), "{err}");
    assert!(err.contains("place-spawn: cannot make a place: "), "{err}");
    let program = Program::new(
        "eval",
        "(import (scheme eval)) (eval '(place 1) (environment '(scheme base) '(cairn place)))",
    );
    let (_, err, status) = program.run(&[]);
    assert_eq!(status, Some(1), "{err}");
    assert!(err.contains("place-spawn: places need a program that is compiled as a whole"), "{err}");
}

/// When no place is awake any more, the first one gets an error; it goes on if it handles that, and so do the others.
#[test]
fn places_that_wait_for_each_other_are_found_out() {
    let program = Program::new(
        "deadlock",
        "(define a (make-place-channel)) (define b (make-place-channel)) (define more (make-place-channel))
         (define (copy from to) (let ((x (place-channel-get! from))) (place-channel-put! to (* 2 x)) (copy from to)))
         (define p (place (copy a b)))
         (define q (place (copy b more)))
         (define (waited) (guard (e (#t (error-object-message e))) (place-channel-get! more)))
         (define (repeat n f) (if (> n 0) (cons (f) (repeat (- n 1) f)) '()))
         (write (repeat 20 (lambda () (let ((lost (waited))) (place-channel-put! a 10) (list lost (waited))))))
         (place-kill! q) (place-channel-put! b 1)
         (newline) (write (waited)) (newline)
         (+ 1 (place-wait p))",
    );
    let told = "\"deadlock: every place waits for another one\"";
    let expected = format!("({})\n{told}\n", vec![format!("({told} 40)"); 20].join(" "));
    for _ in 0..5 {
        let (out, err, status) = program.run(&[]);
        assert_eq!((&*out, status), (&*expected, Some(1)), "{err}");
        assert!(err.starts_with("error: deadlock: every place waits for another one\n"), "{err}");
        assert!(err.contains("0: program"), "{err}");
    }
}

/// The heap of each place has the program's limit.
#[test]
fn a_place_without_memory_ends_alone() {
    let program = Program::new(
        "memory",
        "(define (fill l) (fill (cons (make-vector 1000 l) l)))
         (define p (place (fill '())))
         (guard (e (#t (display (error-object-message e)))) (place-wait p))
         (newline)
         (display (vector-length (make-vector 100000 0)))",
    );
    let (out, err, status) = program.run(&["--heap-max=16M"]);
    assert_eq!(status, Some(0), "{err}");
    assert!(out.ends_with("\n100000") && out.len() > 10, "{out}{err}");
}
