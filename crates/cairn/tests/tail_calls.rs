//! Calls of the library in tail position keep their place: the message points at the call, and the backtrace names the
//! procedure that makes it, evaluated or compiled, inlined or not.

use std::process::Command;

mod common;
use common::{Directory, binary};

/// Calls that fail.
const FAILING: [&str; 28] = [
    "(reverse x)",
    "(list-tail x 2)",
    "(list-ref '(1 2) x)",
    "(map car x)",
    "(map + x x)",
    "(vector-map + x)",
    "(string-map char-upcase x)",
    "(apply + '(1 a))",
    "(apply reverse x '())",
    "(assoc x x)",
    "(member 1 x)",
    "(append x '(1))",
    "(list-copy x 1)",
    "(vector->list x)",
    "(list->string (list x))",
    "(list->vector x)",
    "(string-append x \"a\")",
    "(string-upcase x)",
    "(char-upcase x)",
    "(string->number x)",
    "(number->string 'a)",
    "(expt 'a x)",
    "(max 'a x)",
    "(hash-table-set! x x x)",
    "(read x)",
    "(raise x)",
    "(error \"no\" x)",
    "(string->symbol x)",
];

/// Calls that the program itself must be able to make without end: the library calls what it was given by a tail call.
const ENDLESS: [&str; 17] = [
    "(apply loop (list (- n 1)))",
    "(any loop (list (- n 1)))",
    "(every loop (list (- n 1)))",
    "(call-with-values (lambda () (- n 1)) loop)",
    "(call/cc (lambda (k) (loop (- n 1))))",
    "(guard (e (#t (loop (- n 1)))) (raise n))",
    "(guard (e ((number? e) => (lambda (is-number) (loop (- n 1))))) (raise n))",
    "(string-any (lambda (c) (loop (- n 1))) \"a\")",
    "(for-all loop (list (- n 1)))",
    "(exists loop (list (- n 1)))",
    "(call/ec (lambda (k) (loop (- n 1))))",
    "(with-unwind-handler (lambda (e k) (loop (- n 1))) (lambda () (raise n)))",
    "(guard (e (#t (for-all loop (list (- n 1))))) (raise n))",
    "(string-every (lambda (c) (loop (- n 1))) \"a\")",
    "(call-with-continuation-prompt (lambda () (abort-current-continuation tag n)) tag
       (lambda (n) (loop (- n 1))))",
    "(with-exception-handler (lambda (e) e) (lambda () (if (= n 0) 0 (- n 1))))",
    "(call-with-port (open-input-string \"\") (lambda (p) (- n 1)))",
];

const MODES: [&[&str]; 3] = [&[], &["--opt=low"], &["--opt=high"]];

fn run(directory: &Directory, mode: &[&str], file: &str, argument: usize) -> (String, String) {
    let output = Command::new(binary())
        .current_dir(&directory.0)
        .arg("run")
        .args(mode)
        .args([file, &argument.to_string()])
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn library_calls_keep_their_place() {
    let directory = Directory::new("tail-calls");
    let imports =
        "(import (scheme base) (scheme write) (scheme char) (scheme read) (scheme process-context) (srfi 69))";
    // one calls on, the other has more to do and is called twice
    let mut text = format!("{imports}\n");
    for (i, call) in FAILING.iter().enumerate() {
        text += &format!("(define (thin-{i} x)\n  {call})\n");
        text += &format!("(define (thick-{i} x)\n  (if (eq? x 0) (list x (vector x))\n  {call}))\n");
    }
    text += "(define (go which x)\n  (case which\n";
    for i in 0..FAILING.len() {
        text += &format!("    (({}) (list (thin-{i} x)))\n", 2 * i);
        text += &format!("    (({}) (list (thick-{i} x) (thick-{i} 0)))\n", 2 * i + 1);
    }
    text += "    (else 'none)))\n(write (go (string->number (cadr (command-line))) (read (open-input-string \"7\"))))\n";
    directory.write("calls.scm", &text);
    let mut wrong = Vec::new();
    for mode in MODES {
        for i in 0..2 * FAILING.len() {
            let name = format!("{}-{}", ["thin", "thick"][i % 2], i / 2);
            let line = text.lines().position(|l| l.starts_with(&format!("(define ({name} "))).unwrap() + 1;
            let line = line + 1 + i % 2;
            let (out, err) = run(&directory, mode, "calls.scm", i);
            let place = format!("calls.scm:{line}:3");
            let frame = err.lines().find_map(|l| l.strip_prefix("   0: ")).unwrap_or_default();
            if !out.is_empty() || frame.split_whitespace().collect::<Vec<_>>() != [&*name, &*place] {
                wrong.push(format!("{mode:?} {}: {out}\n{err}", FAILING[i / 2]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} calls lost their place:\n{}", wrong.len(), wrong.join("\n"));
}

/// A frame for each of a million calls would take more than the heap has.
#[test]
fn calls_of_what_the_program_gave_stay_tail_calls() {
    let directory = Directory::new("endless-calls");
    let mut text = "(import (scheme base) (scheme write) (scheme process-context) (only (srfi 1) any every)
                            (only (srfi 13) string-any string-every) (srfi 226 prompt)
                            (only (rnrs lists) for-all exists) (only (cairn dialects) call/ec)
                            (only (srfi 248) with-unwind-handler))
                    (define tag (make-continuation-prompt-tag 'tag))\n"
        .to_string();
    for (i, call) in ENDLESS.iter().enumerate() {
        let body = match call.contains("loop") {
            true => format!("(if (= n 0) 'done {call})"),
            false => format!("(let next ((n n)) (if (= n 0) 'done (next {call})))"),
        };
        text += &format!("(define (loop-{i} n) (define loop loop-{i}) {body})\n");
    }
    text += "(write ((vector-ref (vector ";
    (0..ENDLESS.len()).for_each(|i| text += &format!("loop-{i} "));
    text += ") (string->number (cadr (command-line)))) 1000000))\n";
    directory.write("endless.scm", &text);
    for mode in MODES {
        for (i, call) in ENDLESS.iter().enumerate() {
            let options: Vec<&str> = mode.iter().copied().chain(["--heap-max=24m"]).collect();
            assert_eq!(
                run(&directory, &options, "endless.scm", i),
                ("done".into(), String::new()),
                "{mode:?} {call}"
            );
        }
    }
}

/// Expressions that call `bad`, which fails, and the procedures that are in the backtrace between it and `main`: where
/// the expression is the last of `test`, and where `test` goes on with its value.
const NAMED: [(&str, &str, &str); 36] = [
    ("(bad 1)", "", "test"),
    ("(let loop ((i 0)) (if (< i 3) (begin (bad i) (loop (+ i 1))) i))", "loop", "loop test"),
    ("(let loop ((i 0)) (if (< i 3) (+ 1 (loop (+ i 1))) (bad i)))", "loop", "loop test"),
    ("(let loop ((i 0)) (if (= i 3) (bad i) (loop (+ i 1))))", "", "test"),
    ("(let loop ((i 0)) (if (= i 3) (list (bad i)) (loop (+ i 1))))", "loop", "loop test"),
    (
        "(let loop ((i 0)) (if (= i 3) (let in ((k 0)) (if (= k 2) (bad k) (in (+ k 1)))) (loop (+ i 1))))",
        "",
        "test",
    ),
    ("(do ((i 0 (+ i 1))) ((= i 3) (bad i)))", "", "test"),
    ("(do ((i 0 (+ i 1))) ((= i 3) 1) (bad i))", "do", "do test"),
    ("(do ((i 0 (+ i (bad i)))) ((= i 3) 1))", "do", "do test"),
    ("(let () (define (h x) (bad x)) (h 1))", "", "test"),
    ("(let () (define (h x) (list (bad x))) (h 1))", "h", "h test"),
    ("(let () (define (h x) (bad x)) (h 1) (h 2))", "test", "test"),
    ("(let ((h (lambda (x) (bad x)))) (h 1))", "", "test"),
    ("(let ((h (lambda (x) (list (bad x))))) (h 1))", "h", "h test"),
    ("((lambda (x) (list (bad x))) 1)", "test", "test"),
    (
        "(letrec ((e? (lambda (n) (if (= n 0) (bad n) (o? (- n 1))))) (o? (lambda (n) (if (= n 0) #f (e? (- n 1)))))) \
      (e? 4))",
        "",
        "test",
    ),
    ("((curry bad) 1)", "", "test"),
    ("((curry-list bad) 1)", "lambda", "lambda test"),
    ("((compose list (compose bad list)) 1)", "lambda", "lambda test"),
    ("(until (bad 1))", "lp", "lp until test"),
    ("(map (lambda (x) (bad x)) '(1 2))", "test", "test"),
    ("(map (lambda (x) (+ 1 (bad x))) '(1 2))", "lambda test", "lambda test"),
    ("(vector-for-each (lambda (x) (bad x)) (vector 1 2))", "test", "test"),
    ("(fold-right (lambda (x a) (bad x)) 0 '(1 2))", "test", "test"),
    ("(unfold bad car cdr 1)", "test", "test"),
    ("(hash-table-update! (make-hash-table) 1 bad (lambda () 0))", "test", "test"),
    ("(call/cc (lambda (k) (for-each (lambda (x) (if (= x 2) (bad x))) '(1 2))))", "lambda", "lambda test"),
    ("(call/cc (lambda (k) (list (bad k))))", "lambda", "lambda test"),
    ("(dynamic-wind (lambda () #f) (lambda () (bad 1)) (lambda () #f))", "test", "test"),
    ("(dynamic-wind (lambda () 1) (lambda () 1) (lambda () (bad 1)))", "test", "test"),
    (
        "(with-exception-handler (lambda (e) (list (bad e))) (lambda () (raise-continuable 1)))",
        "lambda test",
        "lambda test",
    ),
    ("(guard (e ((string? e) 1)) (bad 1))", "test", "test"),
    ("(guard (e (#t (bad e))) (raise 1))", "test", "test"),
    ("(parameterize ((p 1)) (bad 1))", "test", "test"),
    ("(call-with-values (lambda () (bad 1)) list)", "", "test"),
    ("(call-with-port (open-input-string \"\") (lambda (port) (bad port)))", "test", "test"),
];

/// Evaluated or compiled, inlined or a loop: the same procedures are in the backtrace, at the same places.
#[test]
fn backtraces_name_the_same_procedures_at_every_level() {
    let directory = Directory::new("named-frames");
    let mut text = "(import (scheme base) (scheme write) (scheme process-context) (srfi 1) (srfi 69))
(define p (make-parameter 0))
(define-syntax until (syntax-rules () ((_ c b ...) (let lp () (unless c b ... (lp))))))
(define (curry f) (lambda (x) (f x)))
(define (curry-list f) (lambda (x) (list (f x))))
(define (compose f g) (lambda (x) (f (g x))))
(define (bad x) (car (vector x)))
(define which (string->number (cadr (command-line))))
"
    .to_string();
    for (i, (call, ..)) in NAMED.iter().enumerate() {
        text += &format!("(define (main-{})\n  (define (test) {call})\n  (list (test)))\n", 2 * i);
        text += &format!("(define (main-{})\n  (define (test) (list {call}))\n  (list (test)))\n", 2 * i + 1);
    }
    text += "((vector-ref (vector";
    (0..2 * NAMED.len()).for_each(|i| text += &format!(" main-{i}"));
    text += ") which))\n";
    directory.write("named.scm", &text);
    let mut wrong = Vec::new();
    for i in 0..2 * NAMED.len() {
        let (call, last, amid) = NAMED[i / 2];
        let expected = if i % 2 == 0 { last } else { amid };
        let reports: Vec<String> = MODES.iter().map(|mode| run(&directory, mode, "named.scm", i).1).collect();
        let frames = |report: &str| -> Vec<String> {
            let named = |l: &str| l.split_once(": ")?.1.split_whitespace().next().map(str::to_string);
            let rows = report.lines().skip_while(|l| *l != "backtrace:").skip(1);
            rows.filter_map(named).collect()
        };
        let main = format!("main-{i}");
        let whole: Vec<&str> =
            ["bad"].into_iter().chain(expected.split_whitespace()).chain([&*main, "program"]).collect();
        let same = reports.iter().all(|r| *r == reports[0]);
        if !same || frames(&reports[0]) != whole {
            wrong.push(format!("{call}: {whole:?} expected\n{}", reports.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{} backtraces differ:\n{}", wrong.len(), wrong.join("\n"));
}
