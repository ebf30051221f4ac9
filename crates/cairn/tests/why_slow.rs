//! `--why-slow`: what the compiler leaves in loops is told where it stands, and nothing else is.

use std::process::Output;

mod common;
use common::{Directory, cairn, text};

const HEAD: &str = "(import (scheme base) (scheme write) (srfi 160 f64))\n";

/// What is said about a program, and what it prints.
fn told(program: &str) -> (String, String) {
    let d = Directory::new("why-slow");
    d.write("p.scm", format!("{HEAD}{program}"));
    let output: Output = cairn(&d.0, &["run", "--why-slow", "p.scm"]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    (text(&output.stderr), text(&output.stdout))
}

fn assert_told(said: &str, line: usize, what: &str) {
    let start = said.find(&format!("p.scm:{line}: ")).unwrap_or_else(|| panic!("no line {line}:\n{said}"));
    let group: Vec<&str> = said[start..].lines().skip(1).take_while(|l| l.starts_with(' ')).collect();
    assert!(group.iter().any(|row| row.contains(what)), "line {line} says nothing of {what}:\n{said}");
}

#[test]
fn what_is_left_in_loops_is_told_at_its_line() {
    let (said, printed) = told(
        "(define (sum f l)
  (let loop ((l l) (s 0))
    (if (pair? l)
        (loop (cdr l) (+ s (f (car l))))
        s)))
(define (dot v w)
  (let loop ((i 0) (s 0.0))
    (if (< i (vector-length v))
        (loop (+ i 1)
              (+ s (* (vector-ref v i) (vector-ref w i))))
        s)))
(define procedures (list (lambda (x) (* x x)) car))
(define (adders l) (map (lambda (i) (lambda (x) (+ x i))) l))
(display (sum (car procedures) (list 1 2 3)))
(display (sum (lambda (x) (- x)) (list 1 2 3)))
(display (dot (vector 1.0 2.0) (vector 3. 4.)))
(display ((car (adders '(1 2))) 1))
",
    );
    assert_eq!(printed, "14-611.02");
    let at = |line, what| assert_told(&said, line, what);
    at(5, "(f (car l)): `f` may be any procedure");
    at(5, "(+ s (f (car l))): `s` may be any number, so its kind is tested");
    at(11, "(vector-ref w i): the object or the index is tested");
    at(11, "(* (vector-ref v i) (vector-ref w i)): the operands may be any numbers, so their kinds are tested");
    at(14, "(lambda (x) (+ x i)): a closure is made");
    // what the tests before it say
    for known in ["(cdr l):", "(car l):", "(+ i 1):", "(< i "] {
        assert!(!said.contains(known), "{known} is told:\n{said}");
    }
}

#[test]
fn deeper_loops_come_first_and_code_that_runs_once_is_not_told() {
    let (said, _) = told(
        "(define (once v) (vector-ref v 0))
(define (g v n)
  (do ((i 0 (+ i 1)) (s 0 (+ s (vector-ref v i))))
      ((= i n) s)))
(define (h rows n)
  (do ((i 0 (+ i 1)) (s 0 (+ s (g (vector-ref rows i) n))))
      ((= i n) s)))
(display (once (vector (read-char))))
(display (h (vector (vector 1 2) (vector 3 4)) 2))
",
    );
    let (inner, outer) = (said.find("p.scm:4: in 2 loops"), said.find("p.scm:7: in a loop"));
    assert!(inner.is_some() && inner < outer, "{said}");
    assert!(!said.contains("p.scm:2:"), "{said}");
}

#[test]
fn loops_beyond_the_fifth_are_not_counted_and_recursion_counts() {
    let (said, _) = told(
        "(define (f v n)
  (do ((a 0 (+ a 1)) (s 0 (do ((b 0 (+ b 1)) (s s (do ((c 0 (+ c 1)) (s s (do ((d 0 (+ d 1)) (s s
    (do ((e 0 (+ e 1)) (s s (do ((g 0 (+ g 1)) (s s (+ s
      (vector-ref v g)))) ((= g n) s)))) ((= e n) s)))) ((= d n) s)))) ((= c n) s)))) ((= b n) s)))) ((= a n) s)))
(display (f (vector 1 2) 2))
(define (depth l)
  (if (pair? l)
      (max (+ 1 (depth (car l)))
           (depth (cdr l)))
      0))
(display (depth '((1) 2)))
",
    );
    assert!(said.contains("p.scm:5: in 5 loops or recursions, or more\n"), "{said}");
    assert_told(&said, 10, "(depth (cdr l)): `depth` is called, not inlined: it comes to a call of itself");
}

#[test]
fn fast_code_has_no_remarks() {
    let (said, _) = told(
        "(define (squares v)
  (let loop ((i 0) (s 0.0))
    (if (< i (f64vector-length v))
        (let ((x (f64vector-ref v i)))
          (loop (+ i 1) (+ s (* x x))))
        s)))
(display (squares (f64vector 1. 2.)))
",
    );
    assert_eq!(said, "why-slow: nothing in loops is tested, called or allocated that could be spared\n");
}

#[test]
fn programs_that_are_open_to_others_are_told_so() {
    let d = Directory::new("why-slow-open");
    d.write("p.scm", "(define (f x) x)\n(display (eval '(f 1) (interaction-environment)))\n");
    let output = cairn(&d.0, &["run", "--why-slow", "p.scm"]).output().unwrap();
    assert_eq!(text(&output.stdout), "1");
    assert!(text(&output.stderr).starts_with("why-slow: this program loads code"), "{}", text(&output.stderr));
}

/// Operations that test their operands are as good as inlined ones, also in a procedure that has many of them; so is a
/// clause for two arguments of a procedure that calls itself for more.
#[test]
fn operations_with_checks_are_inlined() {
    let (said, printed) = told(
        "(import (scheme case-lambda) (srfi 143) (srfi 144))
(define (key i j) (fxxor (fx+ (fxarithmetic-shift-left i 4) j) (fxarithmetic-shift-right (fx* i (fx+ j 1)) 1)))
(define (far x y z) (flsqrt (fl+ (fl+ (fl* x x) (fl* y y)) (fl* (fl- z 1.) (fl- z 1.)))))
(define add
  (case-lambda
    ((a b) (+ a b))
    ((a) a)
    ((a b . rest) (apply add (add a b) rest))))
(define (f n)
  (let loop ((i 0) (k 0) (x 0.))
    (if (fx<? i n) (loop (fx+ i 1) (fxand (fx+ k (key i 3)) 255) (fl+ x (far x 1. 2.))) (list k x))))
(define (g n)
  (let loop ((i 0) (s 0))
    (if (= i n) s (loop (add i 1) (add s (fxmax (key 3 i) 1))))))
(display (f 3)) (display (g 10)) (display (add 1 2 3))
",
    );
    assert!(printed.starts_with("(59 7.1") && printed.ends_with("6"), "{printed}");
    for called in ["`key`", "`far`", "`fx", "`fl", "(add i 1)", "(add s"] {
        assert!(!said.contains(called), "{called}:\n{said}");
    }
}
