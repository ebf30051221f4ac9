;; Procedures with a quick path for common arguments do the same for all others.
(import (except (scheme base) define-record-type) (scheme write) (only (cairn text) generate-symbol)
        (only (rnrs) define-record-type fields protocol parent) (only (chezscheme) gensym gensym?))
(include "include/check.scm")

;; any number of values from a list
(define (count-to n) (let loop ((i n) (l '())) (if (= i 0) l (loop (- i 1) (cons i l)))))
(define (through l) (call-with-values (lambda () (apply values l)) list))
(do ((n 0 (+ n 1))) ((= n 20))
  (check (through (count-to n)) => (count-to n)))
(check (call-with-values (lambda () (values 1 2 3 4 5 6 7 8)) +) => 36)
(check (call-with-values (lambda () (apply values 1 2 '(3 4 5 6 7 8 9 10))) list) => (count-to 10))
(check (+ 1 (apply values '(5))) => 6)

;; parity of doubles; what is no integer has none
(define (fails? thunk) (call/cc (lambda (k) (with-exception-handler (lambda (e) (k #t)) (lambda () (thunk) #f)))))
(define (parity x) (if (even? x) (if (odd? x) 'both 'even) (if (odd? x) 'odd 'neither)))
(define doubles (list 0. -0. 1. -1. 2. -2. 3. 12345. 9007199254740991. 9007199254740992. -9007199254740993. 1e22 1e300))
(check (map parity doubles) => '(even even odd odd even even odd odd odd even even even even))
(for-each
 (lambda (x)
   (check (fails? (lambda () (even? x))) => #t)
   (check (fails? (lambda () (odd? x))) => #t))
 (list 2.5 -.5 .1 5e-324 -5e-324 4503599627370496.5e-1 +inf.0 -inf.0 +nan.0 1/2 'a))

;; generated symbols: names never lead to them, and each has its own
(define generated (map (lambda (i) (generate-symbol)) (count-to 120)))
(define (different? l) (or (null? l) (and (not (memq (car l) (cdr l))) (different? (cdr l)))))
(check (different? generated) => #t)
(check (different? (map (lambda (s) (string->symbol (symbol->string s))) generated)) => #t)
(check (map (lambda (s) (eq? s (string->symbol (symbol->string s)))) (list (car generated) 'a)) => '(#f #t))
(check (string->number (substring (symbol->string (car generated)) 1)) =>
       (- (string->number (substring (symbol->string (list-ref generated 119)) 1)) 119))
(check (map gensym? (list (gensym) (gensym "tmp") 'g1 (string->symbol "g1") "g1" (car generated))) => '(#t #t #f #f #f #t))

;; fields of a type and of its parents, by protocols
(define-syntax define-types
  (syntax-rules ()
    ((_ base base-fields sub is? sub-fields make-sub (own ...))
     (begin
       (define-record-type base (fields . base-fields)
         (protocol (lambda (new) (lambda arguments (apply new arguments)))))
       (define-record-type (sub make-sub is?) (parent base) (fields . sub-fields)
         (protocol (lambda (new) (lambda (arguments own ...) ((apply new arguments) own ...)))))))))
(define-types b0 () s00 s00? () make-00 ())
(define-types b1 (a) s11 s11? (b) make-11 (b))
(define-types b2 (a b) s21 s21? (c) make-21 (c))
(define-types b3 (a b c) s32 s32? (d e) make-32 (d e))
(define-types b4 (a b c d) s43 s43? (e f g) make-43 (e f g))
(check (s00? (make-00 '())) => #t)
(let ((r (make-11 '(1) 2))) (check (list (b1-a r) (s11-b r)) => '(1 2)))
(let ((r (make-21 '(1 2) 3))) (check (list (b2-a r) (b2-b r) (s21-c r)) => '(1 2 3)))
(let ((r (make-32 '(1 2 3) 4 5))) (check (list (b3-a r) (b3-b r) (b3-c r) (s32-d r) (s32-e r)) => '(1 2 3 4 5)))
(let ((r (make-43 '(1 2 3 4) 5 6 7)))
  (check (list (b4-a r) (b4-b r) (b4-c r) (b4-d r) (s43-e r) (s43-f r) (s43-g r)) => '(1 2 3 4 5 6 7)))
(check (fails? (lambda () (make-21 '(1) 3))) => #t)
(check (fails? (lambda () (make-21 '(1 2 3) 3))) => #t)
(check (fails? (lambda () (make-43 '(1 2 3) 5 6 7))) => #t)

(report)
