//! A wrong count of arguments is an error of the call: the message points there, and the backtrace names the procedure
//! that makes it, whatever is called, also where the call is the last thing that its procedure does, evaluated or
//! compiled, inlined or not.

use std::process::Command;

mod common;
use common::{Directory, binary, matrix};

/// Calls whose callee nobody knows beforehand.
const CALLS: [&str; 11] = [
    "(given 1)",
    "(given 1 2 3)",
    "(changed)",
    "(closure 1 2 3 4)",
    "((cdr (assq 'two table)) 1)",
    "(several)",
    "(several 1 2 3 4)",
    "(many 1 2 3)",
    "(many 1 2 3 4 5 6 7 8 9)",
    "(rest 1)",
    "((if (null? table) given closure) 1)",
];

const DEFINITIONS: &str = "(import (scheme base) (scheme case-lambda) (scheme process-context))
(define table (list (cons 'one car) (cons 'two (lambda (x y) y))))
(define changed #f)
(set! changed (lambda (x . more) more))
(define (make-closure n) (lambda (x y) (+ n x)))
(define closure (make-closure 1))
(define several (case-lambda ((x y) x) ((x y z) y)))
(set! several several)
(define (for-each-one f x) (list (f x)))
(define many #f)
(set! many (lambda (a b c d e f g) (+ a g)))
(define rest #f)
(set! rest (lambda (a b c d e f . g) (+ a 1)))
(define which (string->number (cadr (command-line))))
";

/// Who calls: `CALL` is on a line of its own.
const CALLERS: [(&str, &str); 5] = [
    ("(define (main given)\n  CALL)\n", "main"),
    ("(define (main given) (define (inner x) (if x\n  CALL\n 0)) (list (inner given)))\n", "inner main"),
    ("(define (main given) (let loop ((i 3)) (if (> i 0) (loop (- i 1))\n  CALL)))\n", "loop"),
    ("(define (main given) (vector 1\n  CALL))\n", "main"),
    (
        "(define (main given) (car (for-each-one (lambda (x) (when x (set! which x)\n  CALL)) given)))\n",
        "lambda for-each-one main",
    ),
];

/// The frames of a report, each its name and place.
fn frames(report: &str) -> Vec<(String, String)> {
    let row = |l: &str| {
        let mut words = l.split_once(": ")?.1.split_whitespace().map(str::to_string);
        Some((words.next()?, words.next().unwrap_or_default()))
    };
    report.lines().skip_while(|l| *l != "backtrace:").skip(1).filter_map(row).collect()
}

#[test]
fn wrong_counts_point_at_the_call_and_name_the_caller() {
    let directory = Directory::new("wrong-counts");
    let mut text = DEFINITIONS.to_string();
    let mut expected = Vec::new();
    for call in CALLS {
        for (shape, names) in CALLERS {
            let main = format!("main-{}", expected.len());
            let (before, after) = shape.split_once("CALL").unwrap();
            text += &before.replace("main", &main);
            let line = text.lines().count();
            text += &format!("{call}{after}");
            expected.push((call, names.replace("main", &main), format!("counts.scm:{line}:3")));
        }
    }
    text += "(list ((vector-ref (vector";
    (0..expected.len()).for_each(|i| text += &format!(" main-{i}"));
    text += ") which) (let ((n which)) (lambda (x y) (+ x n)))))\n";
    directory.write("counts.scm", &text);
    let make = ["build", "counts.scm", "-o", "counts"];
    let built = Command::new(binary()).current_dir(&directory.0).args(make).output().unwrap();
    assert!(built.status.success(), "{built:?}");
    let run = |command: &str, options: &[&str], i: usize| {
        let mut command = Command::new(command);
        let output = command.current_dir(&directory.0).args(options).arg(i.to_string()).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let cairn = binary();
    let cairn = cairn.to_str().unwrap();
    let mut wrong = Vec::new();
    for (i, (call, names, place)) in expected.iter().enumerate() {
        let mut reports = vec![run("./counts", &[], i)];
        // evaluated procedures of several clauses, or many parameters, take any number of arguments before they look
        let generic = ["(several", "(many", "(rest"].iter().any(|c| call.starts_with(c));
        let levels: &[&str] = if generic { &["low", "high"] } else { &["auto", "low", "high"] };
        reports.extend(levels.iter().map(|level| {
            // what `build` has kept would run instead of being evaluated
            let cache: &[&str] = if *level == "auto" { &["--no-cache"] } else { &[] };
            let level = format!("--opt={level}");
            run(cairn, &[&["run"], cache, &[&level, "counts.scm"]].concat(), i)
        }));
        // the convention of calls is every strategy's
        for configuration in matrix::pairs().filter(|_| i % 17 == 0) {
            let flags = configuration.flags("");
            let options: Vec<&str> =
                ["run"].into_iter().chain(flags.iter().map(|f| &**f)).chain(["counts.scm"]).collect();
            reports.push(run(cairn, &options, i));
        }
        for report in reports {
            let frames = frames(&report);
            let shown = report.lines().any(|l| l.trim() == format!("--> {place}"));
            let first: Vec<&str> = frames.iter().map(|(name, _)| &**name).take(names.split(' ').count()).collect();
            if !shown || frames.first().is_none_or(|(_, at)| at != place) || first.join(" ") != *names {
                wrong.push(format!("{call} in {names} at {place}:\n{report}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} reports are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// An evaluated tail call that has long ended is not taken for the one that fails.
#[test]
fn calls_that_have_ended_are_not_shown() {
    let directory = Directory::new("ended-calls");
    let text = "(import (scheme base) (scheme eval))
(define evaluated (eval '(lambda (f l) (apply f l)) (environment '(scheme base))))
(define (bad a b) a)
(evaluated list '(1))
(define all (list apply car))
(define (compiled g f l) (g f l))
(define chosen (if (null? (list 1)) car bad))
(compiled (car all) chosen '(1))
";
    directory.write("ended.scm", text);
    for level in ["auto", "low", "high"] {
        let level = format!("--opt={level}");
        let mut command = Command::new(binary());
        let output = command.current_dir(&directory.0).args(["run", &level, "ended.scm"]).output().unwrap();
        let report = String::from_utf8(output.stderr).unwrap();
        let names: Vec<String> = frames(&report).into_iter().map(|(name, _)| name).collect();
        assert!(report.contains("--> ended.scm:3:1\n") && names == ["program"], "{level}: {report}");
    }
}
