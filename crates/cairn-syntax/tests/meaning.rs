//! What expanded programs do, run by Core's reference interpreter.

#![allow(missing_docs)]
mod common;
use cairn_core::interp::run;
use cairn_syntax::read::{read_all, show};
use cairn_syntax::syntax::Names;
use common::*;

/// Expands and runs; what it displayed must be as expected.
#[track_caller]
fn check(source: &str, expected: &str) {
    let expanded = match cairn_syntax::Session::new().expand_program("t.scm", source, &mut Memory::stub()) {
        Ok(x) => x,
        Err(f) => panic!("{}", f.errors.iter().map(|d| render(d, &f.sources)).collect::<String>()),
    };
    let outcome = run(&expanded.program, 1_000_000);
    // the interpreter writes all pairs with dots: read and show them
    let mut names = Names::default();
    let read = read_all(0, &outcome.trace.join(" "), &mut names, false).expect("readable output");
    let actual: Vec<String> = read.iter().map(|x| show(x, &names)).collect();
    let actual = actual.join(" ");
    assert_eq!(actual, expected, "result: {:?}\nsource: {source}", outcome.result);
}

#[test]
fn hygiene() {
    check(
        "(define-syntax swap! (syntax-rules () ((_ a b) (let ((tmp a)) (set! a b) (set! b tmp)))))
         (let ((tmp 1) (other 2)) (swap! tmp other) (display (list tmp other)))
         (let ((set! 1) (let 2)) (swap! set! let) (display (list set! let)))",
        "(2 1) (2 1)",
    );
    check(
        "(define-syntax my-or (syntax-rules () ((_) #f) ((_ e) e) ((_ e r ...) (let ((t e)) (if t t (my-or r ...))))))
         (define (f if t) (my-or #f if t))
         (display (f #f 5))",
        "5",
    );
    // Clinger & Rees: a macro inside of a scope that shadows what it uses
    check(
        "(display (let ((x 'outer))
           (let-syntax ((m (syntax-rules () ((m) x))))
             (let ((x 'inner)) (m)))))
         (display (let ((if list)) (let-syntax ((my-if (syntax-rules () ((_ a b c) (cond (a b) (else c)))))) (my-if 1 2 3))))
         (display (letrec-syntax ((even? (syntax-rules () ((_) #t) ((_ x . r) (odd? . r))))
                                  (odd? (syntax-rules () ((_) #f) ((_ x . r) (even? . r)))))
           (list (even? 1 2) (even? 1))))",
        "outer 2 (#t #f)",
    );
    // a macro that binds what it is given, around an argument that mentions the same name
    check(
        "(define-syntax my-let1 (syntax-rules () ((_ n v b) ((lambda (n) b) v))))
         (define-syntax twice (syntax-rules () ((_ e) (my-let1 x 10 (+ x e)))))
         (display (let ((x 1)) (twice x)))",
        "11",
    );
    // the same alias bound twice at different levels of one expansion
    check(
        "(define-syntax m (syntax-rules () ((_ e) (let ((x 1)) (let ((y x)) (let ((x 2)) (list x y e)))))))
         (display (let ((x 'u) (y 'v)) (m (list x y))))",
        "(2 1 (u v))",
    );
}

#[test]
fn macros_that_define_macros() {
    check(
        "(define-syntax def-const (syntax-rules () ((_ name v) (define-syntax name (syntax-rules () ((_) v))))))
         (define x 1)
         (def-const get x)
         (display (let ((x 2)) (get)))",
        "1",
    );
    // the inner macro's pattern variable meets the outer macro's argument
    check(
        "(define-syntax outer (syntax-rules () ((_ name arg)
           (define-syntax name (syntax-rules () ((_ arg) (list arg arg)))))))
         (outer dup z)
         (display (dup (+ 1 2)))",
        "(3 3)",
    );
    check(
        "(define-syntax be-like-begin (syntax-rules () ((_ name)
           (define-syntax name (syntax-rules () ((_ e (... ...)) (begin e (... ...))))))))
         (be-like-begin seq)
         (display (seq 1 2 3))",
        "3",
    );
    // custom ellipsis: the inner macro uses the usual one
    check(
        "(define-syntax def (syntax-rules ::: () ((_ name) (define-syntax name (syntax-rules () ((_ (a b ...) ...) '((a ...) (b ... ...))))))))
         (def split)
         (display (split (1 2 3) (4) (5 6)))",
        "((1 4 5) (2 3 6))",
    );
    // a literal of the inner macro comes from the outer macro's use
    check(
        "(define-syntax def (syntax-rules () ((_ name lit)
           (define-syntax name (syntax-rules (lit) ((_ lit) 'yes) ((_ x) 'no))))))
         (def is-then then)
         (display (list (is-then then) (is-then 1) (let ((then 1)) (is-then then))))",
        "(yes no no)",
    );
    // Petrofsky: a let-syntax bound identifier is not the pattern's literal
    check(
        "(let-syntax ((m (syntax-rules () ((m x) (let-syntax
             ((n (syntax-rules (k) ((n x) 'bound-identifier=?) ((n y) 'free-identifier=?)))) (n z))))))
           (display (m k)))",
        "bound-identifier=?",
    );
}

#[test]
fn definitions_from_macros() {
    check(
        "(define-syntax def-pair (syntax-rules () ((_ a b v) (begin (define tmp v) (define a tmp) (define (b) tmp)))))
         (def-pair p q 1)
         (def-pair r s 2)
         (display (list p (q) r (s)))
         (let () (def-pair p q 3) (def-pair r s 4) (display (list p (q) r (s))))",
        "(1 1 2 2) (3 3 4 4)",
    );
    check(
        "(define-syntax my-define (syntax-rules () ((_ (n . args) . body) (define n (lambda args . body)))))
         (let () (my-define (f x . y) (display x) y) (display (f 1 2 3)))",
        "1 (2 3)",
    );
    check(
        "(define-syntax def-rec (syntax-rules () ((_ name make get) (define-record-type name (make v) name? (v get)))))
         (def-rec a make-a a-v)
         (def-rec b make-b b-v)
         (display (list (a-v (make-a 1)) (b-v (make-b 2))))",
        "(1 2)",
    );
}

#[test]
fn patterns() {
    check(
        "(define-syntax m (syntax-rules () ((_ a ... y z . r) '((a ...) y z r)))) (display (m 1 2 3 4 . 5)) (display (m 1 2))",
        "((1 2) 3 4 5) (() 1 2 ())",
    );
    check(
        "(define-syntax m (syntax-rules () ((_ #(a (b c ...) ...)) '(a (b ...) ((c ...) ...))) ((_ x) 'no)))
           (display (m #(1 (2 3) (4)))) (display (m #())) (display (m #(1 2)))",
        "(1 (2 4) ((3) ())) no no",
    );
    check(
        "(define-syntax m (syntax-rules (=>) ((_ (k => v) ...) '((k . v) ...)) ((_ . x) 'other)))
           (display (m (1 => 2) (3 => 4))) (display (m (1 2)))",
        "((1 . 2) (3 . 4)) other",
    );
    check("(define-syntax m (syntax-rules () ((_ _ _ x) x))) (display (m 1 2 3))", "3");
    check(
        "(define-syntax m (syntax-rules () ((_ (x y ...) ...) '((x (y ...)) ...)))) (display (m (a 1 2) (b)))",
        "((a (1 2)) (b ()))",
    );
    check(
        "(define-syntax m (syntax-rules () ((_ x (y ...) ...) '((x y ...) ...)))) (display (m 0 (1 2) (3)))",
        "((0 1 2) (0 3))",
    );
    check(
        "(define-syntax m (syntax-rules () ((_ 1 \"s\" #\\c #t) 'data) ((_ . _) 'else)))
           (display (m 1 \"s\" #\\c #t)) (display (m 1 \"t\" #\\c #t))",
        "data else",
    );
    check(
        "(define-syntax m (syntax-rules () ((_ (a ...) (b ...)) '((a b ...) ...)))) (display (m (1 2) (x y z)))",
        "((1 x y z) (2 x y z))",
    );
    check("(define-syntax m (syntax-rules ... (...) ((_ x) '(x ...)))) (display (m 1))", "(1 ...)");
    check(
        "(define-syntax m (syntax-rules () ((_ x) '((... ...) (... (x ...)))))) (display (m 1))",
        "(... (1 ...))",
    );
    check("(define-syntax m (syntax-rules () ((_ x ...) #(x ... end)))) (display (vector-ref (m 1 2) 1))", "2");
}

#[test]
fn derived_forms() {
    check("(display (let loop ((i 0) (acc '())) (if (= i 3) acc (loop (+ i 1) (cons i acc)))))", "(2 1 0)");
    check("(display (do ((v '() (cons i v)) (i 0 (+ i 1))) ((= i 3) v)))", "(2 1 0)");
    check(
        "(display (map (lambda (x) (case x ((1 a) 'one) ((2 \"s\") => (lambda (k) (list k))) (else => list))) '(1 a 2 3)))",
        "(one one (2) (3))",
    );
    check(
        "(display (let-values (((a b) (values 1 2)) ((c . d) (values 3 4 5)) (e (values))) (list a b c d e)))",
        "(1 2 3 (4 5) ())",
    );
    check("(display (let*-values (((a b) (values 1 2)) ((x) (values (+ a b)))) (list a b x)))", "(1 2 3)");
    check("(define-values (a b . c) (values 1 2 3 4)) (display (list a b c))", "(1 2 (3 4))");
    check(
        "(let () (define x 1) (define-values (a b) (values x 2)) (define (f) (list a b x)) (display (f)))",
        "(1 2 1)",
    );
    check("(let () (define (f) (list a b)) (define-values (a b) (values 1 2)) (display (f)))", "(1 2)");
    check("(let () (display 1) (define x 2) (display x) (define y 3) (display (+ x y)))", "1 2 5");
    check("(display (cond ((car '(5)) => (lambda (x) (* x 2))) (else 1))) (display (cond (#f 1) (7)))", "10 7");
    check(
        "(display `(1 ,(+ 1 1) ,@(list 3 4) . ,(+ 2 3))) (display `#(1 ,(list 2 3) unquote x)) (display `(1 `(2 ,(3 ,(+ 1 3)))))",
        "(1 2 3 4 . 5) #(1 (2 3) unquote x) (1 (quasiquote (2 (unquote (3 (unquote (+ 1 3)))))))"
            .replace("(unquote (+ 1 3))", "4")
            .as_str(),
    );
    check(
        "(define-record-type point (make-point y x) point? (x px set-px!) (y py))
           (let ((p (make-point 1 2))) (set-px! p 5) (display (list (px p) (py p) (point? p) (point? 1))))",
        "(5 1 #t #f)",
    );
    check("(define f (let ((n 0)) (lambda () (set! n (+ n 1)) n))) (f) (display (f))", "2");
    check("(display (and 1 2)) (display (or #f 3)) (when #f (display 1)) (unless #f (display 4))", "2 3 4");
    check(
        "(display (let* ((x 1) (x (+ x 1))) x)) (display (letrec ((e (lambda (n) (if (zero? n) #t (o (- n 1))))) (o (lambda (n) (if (zero? n) #f (e (- n 1)))))) (e 5)))",
        "2 #f",
    );
}

#[test]
fn redefined_imports_keep_their_old_value_until_then() {
    check("(define old car) (define (car x) (list 'mine (old x))) (display (car '(1)))", "(mine 1)");
    check("(define (f) (length '(1 2))) (display (f)) (define (length x) 'mine) (display (f))", "2 mine");
    check("(define + (let ((old +)) (lambda (a b) (old a (old b 1))))) (display (+ 1 2))", "4");
}

#[test]
fn cyclic_literals() {
    check("(define x '#0=(a b . #0#)) (display (list (car x) (car (cdr x)) (eq? x (cdr (cdr x)))))", "(a b #t)");
    check("(define x '#1=#(1 #1#)) (display (eq? x (vector-ref x 1)))", "#t");
    check(
        "(define x '(#0=(a) #0# . #0#)) (display (list (eq? (car x) (car (cdr x))) (eq? (car x) (cdr (cdr x)))))",
        "(#t #t)",
    );
    check("(display (list (eq? '#0=(a . #0#) '#0#) (eq? '#1=(a) '#1#)))", "(#t #t)");
    check("(define (f) '#0=(a . #0#)) (display (eq? (f) (f)))", "#t");
}
