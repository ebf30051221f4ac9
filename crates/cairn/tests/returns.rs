//! Which captures the compiler leaves in whole programs, library and all.
//!
//! `passes/escapes` may make returns of calls in known procedures only where no frames go on elsewhere, which takes a
//! prompt. The library is full of what prompts need; a program without prompts must not keep any of it that counts.

mod common;
use common::run_text;

const PASSED_ON: &str = "
    (define (count x y k) (if (= y 0) (k x) (count (+ x 1) (- y 1) k)))
    (define (fibc x k)
      (if (< x 2)
          (k x)
          (count (call/cc (lambda (k) (fibc (- x 1) k))) (call/cc (lambda (k) (fibc (- x 2) k))) k)))
    (define (parts l) (call/cc (lambda (k) (parts-to k l '()))))
    (define (parts-to k l found)
      (cond ((null? l) (k found))
            ((pair? (car l)) (parts-to k (cdr l) (cons (call/cc (lambda (k) (parts-to k (car l) '()))) found)))
            (else (parts-to k (cdr l) (cons (car l) found)))))
    (write (list (fibc 10 (lambda (x) (list x))) (parts '(1 (2 3 (4)) 5))))";

/// The captures in definitions of this program's own procedures, and what it writes.
fn captures(name: &str, imports: &str, rest: &str) -> (usize, String) {
    let program = format!("(import (scheme base) (scheme write) {imports}){PASSED_ON}{rest}\n");
    let run = |options: &[&str]| run_text(&format!("returns-{name}"), &program, options);
    let said = run(&["--opt=high"]);
    let optimized = run(&["--opt=high", "--emit=opt"]);
    let own = |form: &&str| ["define @fibc.", "define @parts"].iter().any(|own| form.starts_with(own));
    (optimized.split("\n(").filter(own).map(|form| form.matches("(call/").count()).sum(), said)
}

#[test]
fn programs_without_prompts_return() {
    let guard = "(write (guard (e (#t (list 'caught e))) (with-exception-handler
                   (lambda (e) (raise-continuable e)) (lambda () (raise 'oops)))))";
    let expected = "((55) (5 ((4) 3 2) 1))";
    for (name, imports, rest, said) in [
        ("alone", "", "", ""),
        ("handlers", "", guard, "(caught oops)"),
        ("threads", "(cairn thread)", "(write (thread-join! (spawn (lambda () 1))))", "1"),
    ] {
        assert_eq!(captures(name, imports, rest), (0, format!("{expected}{said}")), "{name}");
    }
}

#[test]
fn programs_with_prompts_capture() {
    let (captures, said) = captures("prompts", "(cairn control)", "(write (reset (+ 1 (shift k (k (k 1))))))");
    assert!(captures >= 3, "{captures}");
    assert_eq!(said, "((55) (5 ((4) 3 2) 1))3");
}
