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
const ENDLESS: [&str; 5] = [
    "(apply loop (list (- n 1)))",
    "(call-with-values (lambda () (- n 1)) loop)",
    "(call/cc (lambda (k) (loop (- n 1))))",
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
    let mut text = "(import (scheme base) (scheme write) (scheme process-context))\n".to_string();
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
