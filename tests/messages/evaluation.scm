;; What evaluation says when something fails.
(import (scheme base) (scheme eval) (scheme load) (scheme r5rs) (scheme write) (only (cairn control) condition->string))

(include "../support/say.scm")

(define base (environment '(scheme base) '(scheme case-lambda)))
(define (ev x) (eval x base))
(ev '(define (two a b) a))
(ev '(define (many a b c d e) a))
(ev '(define (some a . rest) a))
(ev '(define-record-type stone (make-stone weight) stone? (weight weight set-weight!)))

(say (eval 1 2) (load "none.scm") (load "none.scm" 5) (environment '(no library)) (environment '(only (scheme base) frob))
     (scheme-report-environment 4) (null-environment 6) (eval (list car 1) base)
     (ev 'frob) (ev '(frob 1)) (ev '(set! frob 1)) (ev '(if)) (ev '(let ((x)) x)) (ev '(set! car 1)) (ev '(lambda (x x) x))
     (ev '(import (no library)))
     (ev '(two 1)) (ev '(many 1)) (ev '(some)) (ev '((lambda (a b c . d) a) 1)) (ev '((case-lambda ((a) a) ((a b) a))))
     (ev '(car 5)) (ev '(vector-ref #(1 2) 2)) (ev '(+ 1 'a)) (ev '(5 5)) (ev '(raise 'x)) (ev '(error "a message" 1 2))
     (ev '(weight 5)) (ev '(set-weight! 'x 1)) (ev '(let-values (((a b) (values 1 2 3))) a))
     (ev '(let-values (((a b . c) 1)) a)) (ev '(letrec ((a b) (b 1)) a)) (ev '(begin (define (early) late) (early) (define late 1)))
     (ev '(begin (set! later 1) (define later 2))))
