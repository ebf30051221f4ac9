//! Help leads somewhere: what a message says to write is written into the program, and the program runs.
//!
//! The programs here use names of other dialects, forgotten imports, and imports as others write them. Each edit is
//! taken from the text that a user reads ([`edited`]); after one round of edits nothing more is said.

use std::fs;
use std::process::{Command, Stdio};

mod common;
use common::{Directory, binary};

/// A program, and what it prints when the help has been followed.
const PROGRAMS: &[(&str, &str)] = &[
    // a program without imports keeps what it had
    ("(define (evens l) (filter even? l))\n(display (evens '(1 2 3 4)))\n", "(2 4)"),
    ("(display (list false true nil the-empty-stream))\n", "(#f #t () ())"),
    ("(write (map 1+ (list (-1+ 1) (add1 1) (sub1 1) (inc 1) (dec 1))))\n", "(1 3 1 3 1)"),
    ("(printf \"~a-~s\" 1 \"x\")\n(displayln (format #f \"~a\" 2))\n", "1-\"x\"2\n"),
    ("(define n (random 10))\n(assert (< n 10))\n(display (exact? (random 1.)))\n", "#f"),
    (
        "(define (ints n) (cons-stream n (ints (+ n 1))))\n\
         (display (list (stream-car (stream-cdr (ints 1))) (stream-pair? (ints 1)) (stream-null? '())))\n",
        "(2 #t #t)",
    ),
    ("(define p (open-input-string \"ab\\ncd\"))\n(write (get-line p))\n(write (get-char p))\n", "\"ab\"#\\c"),
    ("(define x 1)\n(fluid-let ((x 2)) (display x))\n(display x)\n(display (let/cc k (+ 1 (k 5))))\n", "215"),
    (
        "(define-macro (swap! a b) `(let ((t ,a)) (set! ,a ,b) (set! ,b t)))\n\
         (define x 1)\n(define y 2)\n(swap! x y)\n(display (list x y))\n",
        "(2 1)",
    ),
    ("(define t (make-equal-hash-table))\n(hash-table/put! t 'a 1)\n(display (hash-table/get t 'a 0))\n", "1"),
    (
        "(define t (make-hash))\n(hash-set! t 'a 1)\n(hash-update! t 'a (λ (n) (+ n pi)))\n\
         (display (list (exact (floor (hash-ref t 'a))) (hash-ref t 'b 0) (hash-ref t 'c (λ () 5))))\n\
         (hash-for-each t (λ (key value) (display key)))\n",
        "(4 0 5)a",
    ),
    ("(define i 0)\n(while (< i 3) (display i) (set! i (+ i 1)))\n", "012"),
    (
        "(display (fold-left - 0 '(1 2)))\n(display (for-all even? '(2 4)))\n(display (foldl cons '() '(1 2)))\n",
        "-3#t(2 1)",
    ),
    ("(declare (usual-integrations))\n(define (area r) (* 3 r r))\n(pp (area 2))\n", "12\n"),
    // what is used of R7RS beyond (scheme base) is kept, too
    ("(define s (delay (sqrt 16)))\n(display (1+ (force s)))\n(display (char-upcase #\\a))\n", "5A"),
    // a program with imports gets one more
    ("(import (scheme base) (scheme write))\n(display (1+ (first '(1 2))))\n", "2"),
    ("(import (scheme base))\n(define (f) (display 1))\n(f)\n", "1"),
    // imports of other systems
    ("#lang racket\n(require racket/list)\n(displayln (add1 (first '(1 2))))\n", "2\n"),
    (";; a comment\n#lang racket\n(display (add1 1))\n", "2"),
    ("(use-modules (srfi srfi-1) (ice-9 format))\n(display (fold + 0 '(1 2)))\n", "3"),
    ("(use srfi-1)\n(display (iota 3))\n", "(0 1 2)"),
    ("(import (ice-9 format))\n(define (f x) (* 2 x))\n(display (map f '(1 2)))\n", "(2 4)"),
    ("(import (chibi base (6)) (chibi io simple (6)) (kawa lists))\n(display (filter even? '(1 2)))\n", "(2)"),
    ("(import (gauche base))\n(import (gauche io simple))\n(display (list 1))\n", "(1)"),
    ("(import (scheme base) (chicken format) (scheme write))\n(display (format \"~a\" 1))\n", "1"),
    ("(import scheme (chicken base) srfi-1)\n(print (first '(1)))\n", "1\n"),
    ("(import (prefix (racket list) l:) (scheme base) (scheme write))\n(display (list 1))\n", "(1)"),
];

/// SRFIs under the names that SRFI 97, Guile and Chicken give them.
const SRFI_NAMES: &[&str] = &[
    "(srfi :1)",
    "(srfi :1 lists)",
    "(srfi 1 lists)",
    "(srfi srfi-1)",
    "(only (srfi :1) fold)",
    "(srfi :1 folds)",
];

/// Runs a program; standard output and standard error.
fn run(d: &Directory, program: &str) -> (String, String) {
    d.write("program.scm", program);
    let output = Command::new(binary())
        .args(["run", "program.scm"])
        .current_dir(&d.0)
        .env("CAIRN_NO_CACHE", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// The form that begins in `text`; the program has no parentheses in strings.
fn form(text: &str) -> &str {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth == 0 {
            return &text[..=i];
        }
    }
    panic!("no form: {text}");
}

/// The program with what the messages say written into it.
fn edited(program: &str, messages: &str) -> String {
    // byte range, new text
    let mut edits: Vec<(usize, usize, String)> = Vec::new();
    for block in messages.split("\n\n").filter(|b| b.contains("= help: ")) {
        let (place, help) = block.split_once("= help: ").unwrap();
        let at: Vec<usize> = place
            .lines()
            .find_map(|l| l.trim_start().strip_prefix("--> program.scm:"))
            .unwrap_or_else(|| panic!("no place: {block}"))
            .split(':')
            .map(|n| n.parse().unwrap())
            .collect();
        let start: usize = program.split_inclusive('\n').take(at[0] - 1).map(str::len).sum::<usize>() + at[1] - 1;
        let import = help.find("(import ").map(|i| form(&help[i..]).to_string());
        let marked = match &program[start..] {
            rest if rest.starts_with('(') => form(rest).len(),
            rest => rest.find('\n').unwrap(),
        };
        edits.push(match (help, import) {
            (h, Some(import)) if h.contains("begin the program with") => (0, 0, import + "\n"),
            (h, Some(import)) if h.starts_with("write instead:") => (start, start + marked, import),
            (h, None) if h.starts_with("leave this out") => (start, start + marked, String::new()),
            (h, Some(import)) if h.contains("it is exported by") => {
                let first = form(program).len();
                (first, first, format!("\n{import}"))
            }
            _ => panic!("no edit: {help}"),
        });
    }
    assert!(!edits.is_empty(), "no help:\n{program}\n{messages}");
    edits.sort();
    edits.dedup();
    let mut text = program.to_string();
    for (start, end, new) in edits.into_iter().rev() {
        text.replace_range(start..end, &new);
    }
    text
}

#[test]
fn help_is_one_edit() {
    let d = Directory::new("help");
    let mut failures = String::new();
    for (program, expected) in PROGRAMS {
        let (_, messages) = run(&d, program);
        let better = edited(program, &messages);
        let (output, rest) = run(&d, &better);
        if (&*output, &*rest) != (expected, "") {
            failures += &format!("---- {program}{messages}==> {better}{output}\n{rest}\n");
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn a_message_shows_the_whole_import_once_for_all_names() {
    let d = Directory::new("help-import");
    let (_, messages) = run(&d, "(define (f l) (filter odd? l))\n(display (1+ (random (car (f '(1))))))\n");
    let imports: Vec<&str> = messages.match_indices("(import ").map(|(i, _)| form(&messages[i..])).collect();
    assert_eq!(imports.len(), 3, "{messages}");
    assert!(
        imports.iter().all(|i| *i == "(import (scheme base) (scheme write) (scheme list) (cairn dialects))"),
        "{messages}"
    );
}

#[test]
fn srfis_have_many_names() {
    let d = Directory::new("srfi-names");
    for name in SRFI_NAMES {
        let program = format!(
            "(import (scheme base) (scheme write) {name})\n\
             (cond-expand ((library (srfi :1 lists)) (display (fold + 0 '(1 2)))))\n"
        );
        assert_eq!(run(&d, &program), ("3".to_string(), String::new()), "{name}");
    }
    // a library of this very name comes first
    fs::create_dir_all(d.0.join("srfi/1")).unwrap();
    d.write(
        "srfi/1/lists.sld",
        "(define-library (srfi 1 lists) (export fold) (import (scheme base)) (begin (define (fold . x) 'own)))",
    );
    let program = "(import (scheme base) (scheme write) (srfi 1 lists))\n(display (fold + 0 '(1 2)))\n";
    assert_eq!(run(&d, program), ("own".to_string(), String::new()));
    // of any SRFI, and of parts of one
    let program = "(import (scheme base) (scheme write) (srfi :19 time) (srfi :133 vectors) (srfi :146 hash)
                           (srfi :99 records procedural))
                   (display (list (time? 1) (vector-count even? #(1 2)) (hashmap? 1) (rtd? 1)))";
    assert_eq!(run(&d, program), ("(#f 1 #f #f)".to_string(), String::new()));
    // what SRFI 97 does not name is not guessed
    let (_, messages) = run(&d, "(import (scheme base) (srfi 1 trees))\n(f)\n");
    assert!(messages.contains("there is no library (srfi 1 trees)"), "{messages}");
}

/// Forms of other languages: what is written instead.
#[test]
fn forms_of_other_languages_are_known() {
    let d = Directory::new("other-forms");
    for (program, help) in [
        ("(defun f (x) x)", "R7RS writes (define (name parameter ...) body ...)"),
        ("(define x 1)\n(setq x 2)", "R7RS writes (set! name value)"),
        (
            "(struct point (x y))",
            "R7RS writes (define-record-type point (make-point x y) point? (x point-x) (y point-y))",
        ),
        ("(for ((i 3)) (display i))", "R7RS writes (do ((i 0 (+ i 1))) ((= i n)) body ...)"),
    ] {
        let (_, messages) = run(&d, program);
        assert!(messages.contains(&format!("= help: {help}\n")), "{program}: {messages}");
    }
}

#[test]
fn an_undefined_macro_is_not_defined() {
    let d = Directory::new("undefined-macro");
    for (program, name) in [
        ("(define (f x) (match x ((_ a) a) (() 0)))\n(f 1)\n", "match"),
        ("(define (f x) (my-case x (1 'a) (else 'b)))\n(f 1)\n", "my-case"),
        ("(define (f x) (with-syntax ((a x)) (list ,a)))\n(f 1)\n", "with-syntax"),
        ("(define-structure point x y)\n(display (point-x (make-point 1 2)))\n", "define-structure"),
        ("(define (f x) (syntax-parse x () ((_ a ...) a)))\n(f 1)\n", "syntax-parse"),
    ] {
        let (_, messages) = run(&d, program);
        let first = messages.lines().next().unwrap_or_default();
        assert_eq!(first, format!("error: `{name}` is not defined"), "{program}{messages}");
        assert_eq!(messages.matches("error: ").count(), 1, "{messages}");
    }
}
