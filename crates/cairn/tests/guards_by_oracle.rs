//! Guards around expressions that only compute, in random expressions.
//!
//! `passes/guards.rs` evaluates such an expression without its guard where tests say that nothing fails. The oracle is
//! the same guard around the same expression and a call, which the pass leaves alone: both must give the same value, or
//! the same condition with the same irritants, whatever the variables are.

use std::fmt::Write as _;

mod common;
use common::run_text;

#[path = "../../../tests/support/random.rs"]
mod random;
use random::Random;

const EXPRESSIONS: usize = 150;

/// An expression of the variables `a`, `b` and `c`: mostly of operations whose failures are tested for, some of others.
fn expression(r: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return r.pick(&["a", "b", "c", "a", "b", "a", "b", "0", "1"]).to_string();
    }
    let sub = |r: &mut Random| expression(r, depth - 1);
    match r.below(14usize) {
        0 | 1 => format!("({} {} {})", r.pick(&["+", "-", "*"]), sub(r), sub(r)),
        2 | 3 => format!("({} {})", r.pick(&["car", "cdr", "cadr", "cddr"]), sub(r)),
        4 | 5 => format!("(vector-ref {} {})", sub(r), sub(r)),
        6 => format!("(if ({} {} {}) {} {})", r.pick(&["<", "=", ">="]), sub(r), sub(r), sub(r), sub(r)),
        7 => {
            let test = r.pick(&["pair?", "vector?", "integer?", "null?", "string?"]);
            format!("(if ({test} {}) {} {})", sub(r), sub(r), sub(r))
        }
        8 => {
            let length = r.pick(&["vector-length", "string-length", "bytevector-length", "char->integer"]);
            format!("({length} {})", sub(r))
        }
        9 => format!("(let ((b {}) (c {})) {})", sub(r), sub(r), sub(r)),
        10 => format!("({} {} {})", r.pick(&["eq?", "and", "or", "char<?", "char=?"]), sub(r), sub(r)),
        11 => format!("({} {} {})", r.pick(&["fx+", "fx*", "fx<?", "fxand"]), sub(r), sub(r)),
        12 => format!("(begin {} {})", sub(r), sub(r)),
        // tests do not tell beforehand whether these fail
        _ => format!("({} {} {})", r.pick(&["quotient", "string-ref", "list-tail", "expt"]), sub(r), sub(r)),
    }
}

/// All about two procedures for each expression, and what says where they differ.
fn program() -> String {
    let mut r = Random::seeded(77);
    let mut text = String::from(
        "(import (scheme base) (scheme write) (srfi 143))
        (define calls 0)
        (define (called) (set! calls (+ calls 1)))
        (define (what e) (if (error-object? e) (list 'error (error-object-message e) (error-object-irritants e)) e))
        (define values-of-variables
          (list 0 1 2 -1 3 fx-greatest fx-least (* 4 fx-greatest) 2.5 1/2 #t '() 'x #\\a \"abc\" (list 1 2 3) (cons 0 'x)
                (list (list 1) (vector 0 1)) (vector 1 2 3) (vector) (vector (list 0) 1) (bytevector 1 2)))
        (define (compare i guarded oracle)
          (define kinds (list #f #f))
          (for-each
            (lambda (a)
              (for-each
                (lambda (b)
                  (for-each
                    (lambda (c)
                      (let ((x (guarded a b c)) (y (oracle a b c)))
                        (if (and (pair? y) (eq? (car y) 'raised)) (set-car! kinds #t) (set-car! (cdr kinds) #t))
                        (if (not (equal? x y)) (begin (write (list 'differ i a b c x y)) (newline)))))
                    '(1 (1 2) #(0 1))))
                values-of-variables))
            values-of-variables)
          (write kinds)
          (newline))\n",
    );
    for i in 0..EXPRESSIONS {
        let body = expression(&mut r, 1 + i % 3);
        let _ = writeln!(
            text,
            "(define (guarded-{i} a b c) (guard (e (#t (list 'raised (what e)))) {body}))
            (define (oracle-{i} a b c) (guard (e (#t (list 'raised (what e)))) (called) {body}))
            (compare '{body} guarded-{i} oracle-{i})"
        );
    }
    text
}

#[test]
fn guards_that_are_set_up_late_catch_what_guards_catch() {
    let program = program();
    let said = run_text("guards", &program, &["--opt=high"]);
    let optimized = run_text("guards", &program, &["--opt=high", "--emit=opt"]);

    assert!(!said.contains("differ"), "{said}");
    assert_eq!(said.lines().count(), EXPRESSIONS);
    let both = said.lines().filter(|l| *l == "(#t #t)").count();
    assert!(both * 3 > EXPRESSIONS, "of {EXPRESSIONS} expressions, {both} fail for some values only");
    // A guard that is set up late is the body of a label, in the procedure or where it is inlined: `x` is bound to a
    // call of `guarded`, `y` to one of the oracle.
    let lines: Vec<&str> = optimized.lines().collect();
    let late = |name: &str, variable: &str| {
        let (own, binds) = (format!("(lambda {name}-"), format!("(let (({variable}."));
        let of = |l: &[&str]| l[0].contains(&own) || l[1].contains(&binds) || l[0].contains(&binds);
        lines.windows(3).filter(|l| of(l) && l[1].contains("(labels") && l[2].contains("@guard*")).count()
            + lines
                .windows(2)
                .filter(|l| l[0].contains(&binds) && l[0].contains("(labels") && l[1].contains("@guard*"))
                .count()
    };
    let (guarded, oracle) = (late("guarded", "x"), late("oracle", "y"));
    assert!(guarded * 4 > EXPRESSIONS && oracle == 0, "set up late: {guarded}; of the oracles: {oracle}");
}
