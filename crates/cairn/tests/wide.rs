//! Programs wider than any area that compiled code and the runtime share: operands, parameters, values, live variables,
//! free variables, fields by the thousand. They are made here, and answer with a number that is known here.

use std::fmt::Write;
use std::process::{Command, Stdio};

mod common;
use common::{Directory, binary};

const HEAD: &str = "(import (scheme base) (scheme write))
(define (sum xs) (let loop ((xs xs) (s 0)) (if (null? xs) s (loop (cdr xs) (+ s (car xs))))))
(define (opaque x) (vector-ref (vector x) 0))
(define ask (opaque (lambda (x) x)))
";

/// `part(0) part(1) …`, with spaces between.
fn all(n: usize, part: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for i in 0..n {
        let _ = write!(text, "{} ", part(i));
    }
    text
}

/// A kind of width: its name, the program of width `n`, and what that program writes.
type Kind = (&'static str, fn(usize) -> (String, String));

/// Kinds whose code stays small however wide: they are tried with 100,000, too.
const SMALL: [Kind; 3] = [
    ("constants", |n| {
        let numbers = all(n, |i| i.to_string());
        let text = format!("(write (sum (list {numbers})))(write-char #\\space)(write ((opaque +) {numbers}))");
        let sum = n * (n - 1) / 2;
        (text, format!("{sum} {sum}"))
    }),
    ("vector of constants", |n| {
        let text = format!("(let ((v (vector {}))) (write (vector-ref v {})))", all(n, |i| i.to_string()), n - 1);
        (text, (n - 1).to_string())
    }),
    ("values", |n| {
        let values = all(n, |i| i.to_string());
        let text = format!("(define (v) (values {values}))(call-with-values v (lambda xs (write (sum xs))))");
        (text, (n * (n - 1) / 2).to_string())
    }),
];

const KINDS: [Kind; 9] = [
    ("unknown call", |n| {
        let operands = all(n, |i| if i % 2 == 0 { "a".into() } else { "b".into() });
        let text = format!("(define (go f a b) (f {operands}))(write (go (opaque (lambda xs (sum xs))) 1 2))");
        (text, (n + n / 2).to_string())
    }),
    ("known call", |n| {
        // each call hands its arguments on, one place further
        let (params, moved) = (all(n, |i| format!("x{i}")), all(n - 1, |i| format!("x{i}")));
        let text = format!(
            "(define (f {params}) (if (eqv? x0 'end) (list x1 x{}) (f 'end {moved})))(write (f {}))",
            n - 1,
            all(n, |i| i.to_string())
        );
        (text, format!("(0 {})", n - 2))
    }),
    ("let-values", |n| {
        let text = format!(
            "(define (v a) (values {}))
             (define (go f) (let-values ((({} . more) (v 7)) ((one) 1)) (f 0) (+ x0 x{} one (length more))))
             (write (go ask))",
            all(n, |i| if i % 2 == 0 { "a".into() } else { format!("{i}") }),
            all(n - 2, |i| format!("x{i}")),
            n - 3
        );
        let last = if (n - 3) % 2 == 0 { 7 } else { n - 3 };
        (text, (7 + last + 1 + 2).to_string())
    }),
    ("live across a call", |n| {
        let text = format!(
            "(define (go v f) (let* ({}) (f 1) (let ((y (list x0))) (+ {} (car y)))))(write (go (vector 1 2 3) ask))",
            all(n, |i| format!("(x{i} (vector-ref v {}))", i % 3)),
            all(n, |i| format!("x{i}"))
        );
        (text, ((0..n).map(|i| i % 3 + 1).sum::<usize>() + 1).to_string())
    }),
    ("free variables", |n| {
        let text = format!(
            "(define (make v) (let* ({}) (lambda (k) (list k {}))))(write (sum ((make (vector 1 2 3)) 1)))",
            all(n, |i| format!("(x{i} (vector-ref v {}))", i % 3)),
            all(n, |i| format!("x{i}"))
        );
        (text, ((0..n).map(|i| i % 3 + 1).sum::<usize>() + 1).to_string())
    }),
    ("record", |n| {
        let text = format!(
            "(define-record-type r (make {}) r? {} (f{} last set-last!))
             (define (go a) (let ((r (make {}))) (set-last! r (+ (last r) 1)) (list (get0 r) (get1 r) (last r))))
             (write (go 5))",
            all(n, |i| format!("f{i}")),
            all(n - 1, |i| if i < 2 { format!("(f{i} get{i})") } else { format!("(f{i})") }),
            n - 1,
            all(n, |i| if i % 2 == 0 { "a".into() } else { i.to_string() })
        );
        let last = if n % 2 == 0 { n - 1 } else { 5 };
        (text, format!("(5 1 {})", last + 1))
    }),
    ("loop variables", |n| {
        let text = format!(
            "(define (go m v) (let loop ((i 0) {}) (if (= i m) (list x0 x{}) (loop (+ i 1) {}))))(write (go 3 (vector 1 2 3)))",
            all(n, |i| format!("(x{i} (vector-ref v {}))", i % 3)),
            n - 1,
            all(n, |i| format!("x{}", (i + 1) % n))
        );
        (text, "(1 3)".to_string())
    }),
    ("nest", |n| {
        let open: String = (0..n).map(|i| format!("(cons (vector-ref v {}) ", i % 3)).collect();
        let text = format!("(define (go v) {open}'(){})(write (sum (go (vector 1 2 3))))", ")".repeat(n));
        (text, (0..n).map(|i| i % 3 + 1).sum::<usize>().to_string())
    }),
    ("wrong count", |n| {
        let text = format!(
            "(define (f {}) x0)
             (define (message thunk)
               (call/cc (lambda (k) (with-exception-handler (lambda (e) (k (error-object-message e))) thunk))))
             (write (message (lambda () ((opaque f) 1 2 3))))
             (write (message (lambda () (let-values ((({}) (ask 1))) x0))))",
            all(n, |i| format!("x{i}")),
            all(n, |i| format!("x{i}"))
        );
        (text, format!("\"f: expected {n} arguments, got 3:\"\"expected {n} values, got 1:\""))
    }),
];

/// Kinds whose code grows by much for each variable.
const LARGE: [Kind; 4] = [
    ("define-values", |n| {
        let text = format!(
            "(define (v a) (values {}))(define-values ({} . more) (v 7))(write (list x0 x{} (length more)))",
            all(n, |i| if i % 2 == 0 { "a".into() } else { i.to_string() }),
            all(n - 2, |i| format!("x{i}")),
            n - 3
        );
        let last = if (n - 3) % 2 == 0 { 7 } else { n - 3 };
        (text, format!("(7 {last} 2)"))
    }),
    ("mutual closures", |n| {
        let text = format!(
            "(define (make v)
               (let* ({})
                 (letrec ((even (lambda (k) (if (= k 0) (list k {}) (odd (- k 1)))))
                          (odd (lambda (k) (if (= k 0) (list 1 {}) (even (- k 1))))))
                   (list even odd))))
             (define both (make (vector 1 2 3)))
             (write (list (sum ((car both) 10)) (sum ((cadr both) 10))))",
            all(n, |i| format!("(x{i} (vector-ref v {}))", i % 3)),
            all(n, |i| format!("x{i}")),
            all(n, |i| format!("x{}", n - 1 - i))
        );
        let sum: usize = (0..n).map(|i| i % 3 + 1).sum();
        (text, format!("({sum} {})", sum + 1))
    }),
    ("assigned variables", |n| {
        let text = format!(
            "(define (go v f) (let* ({}) (f (lambda () {})) (list {})))
             (write (sum (go (vector 1 2 3) (opaque (lambda (twice) (twice) (twice))))))",
            all(n, |i| format!("(x{i} (vector-ref v {}))", i % 3)),
            all(n, |i| format!("(set! x{i} (+ x{i} 1))")),
            all(n, |i| format!("x{i}"))
        );
        (text, ((0..n).map(|i| i % 3 + 3).sum::<usize>()).to_string())
    }),
    ("procedures that call each other", |n| {
        let text = format!(
            "(define (go) (letrec ({}) (f0 {})))(write (go))",
            all(n, |i| format!("(f{i} (lambda (k) (if (= k 0) {i} (f{} (- k 1)))))", (i + 1) % n)),
            n + 6
        );
        (text, "6".to_string())
    }),
];

/// What the command writes, given a program.
fn run(directory: &Directory, program: &str, options: &[&str], zeal: bool) -> String {
    directory.write("wide.scm", format!("{HEAD}{program}"));
    let file = directory.0.join("wide.scm");
    let mut command = Command::new(binary());
    command.args(options).arg(&file).env("CAIRN_CACHE_DIR", &directory.0).stdin(Stdio::null());
    if zeal {
        command.env("CAIRN_ZEAL", "1");
    }
    let out = command.output().expect("starts");
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{options:?}: {}", errors.chars().take(2000).collect::<String>());
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn check(kinds: &[Kind], n: usize, options: &[&str], zeal: bool) {
    let directory = Directory::new(&format!("wide-{n}-{zeal}-{}", options.join("")));
    for (name, kind) in kinds {
        let (program, expected) = kind(n);
        assert_eq!(run(&directory, &program, options, zeal), expected, "{name}, {n}, {options:?}, zeal {zeal}");
    }
}

#[test]
fn thousands_in_chunks() {
    check(&SMALL, 6_000, &["run", "--frames=chunks"], false);
    check(&KINDS, 6_000, &["run", "--frames=chunks", "--opt=low"], false);
    check(&LARGE, 2_000, &["run", "--frames=chunks", "--opt=low"], false);
}

#[test]
fn thousands_in_the_heap() {
    check(&SMALL, 6_000, &["run", "--frames=heap"], false);
    check(&KINDS, 1_500, &["run", "--frames=heap", "--opt=low"], false);
    check(&LARGE, 1_000, &["run", "--frames=heap", "--opt=low"], false);
}

#[test]
fn some_hundreds_under_zeal() {
    for strategy in ["--frames=chunks", "--frames=heap"] {
        check(&SMALL, 500, &["run", strategy], true);
        check(&KINDS, 500, &["run", strategy, "--opt=low"], true);
        check(&LARGE, 400, &["run", strategy, "--opt=low"], true);
    }
}

/// Widths at which something changes: the descriptor's map, the red zone, the limits of operands and of live variables.
#[test]
fn widths_around_every_limit() {
    for n in [127, 129, 201, 250] {
        check(&KINDS, n, &["run", "--frames=chunks"], true);
    }
}

#[test]
fn a_hundred_thousand() {
    for strategy in ["--frames=chunks", "--frames=heap"] {
        check(&SMALL, 100_000, &["run", strategy], false);
    }
}

/// Programs start at once, however wide.
#[test]
fn a_hundred_thousand_evaluated() {
    // not compiled as a whole meanwhile; nests may be 100,000 deep, with what is around them
    let options = ["run", "--no-cache"];
    check(&KINDS[..8], 99_000, &options, false);
    check(&LARGE, 100_000, &options, false);
}

#[test]
fn executables_are_as_wide() {
    let directory = Directory::new("wide-build");
    for (name, kind) in KINDS.iter().take(3) {
        let (program, expected) = kind(1_000);
        directory.write("wide.scm", format!("{HEAD}{program}"));
        let executable = directory.0.join("wide");
        let mut build = Command::new(binary());
        build.arg("build").arg(directory.0.join("wide.scm")).arg("-o").arg(&executable);
        assert!(build.env("CAIRN_CACHE_DIR", &directory.0).status().expect("starts").success(), "{name}");
        let out = Command::new(&executable).output().expect("starts");
        assert_eq!(String::from_utf8_lossy(&out.stdout), expected, "{name}");
    }
}

/// A continuation entered again finds the variables as they were, also those that were packed.
#[test]
fn continuations_find_what_they_left() {
    let n = 600;
    let program = format!(
        "(define k #f) (define k2 #f) (define rounds 0) (define seen '())
         (define (go f v)
           (let* ((a (call/cc (lambda (c) (set! k c) 1))) {} (b (call/cc (lambda (c) (set! k2 c) 10))))
             (f 0)
             (set! seen (cons (+ a b {}) seen))
             (set! rounds (+ rounds 1))
             (let ((second k2))
               (cond ((= rounds 1) (set! first second) (k 2))
                     ((= rounds 2) (first 20))
                     (else (write (reverse seen)))))))
         (define first #f)
         (go ask (vector 1))",
        all(n, |i| format!("(x{i} (vector-ref v 0))")),
        all(n, |i| format!("x{i}"))
    );
    let directory = Directory::new("wide-again");
    for strategy in ["--frames=chunks", "--frames=heap"] {
        // the third round goes on with the first `a`
        let expected = format!("({} {} {})", 11 + n, 12 + n, 21 + n);
        assert_eq!(run(&directory, &program, &["run", strategy], false), expected, "{strategy}");
    }
}
