;; Datum labels in literals: what is labelled is one object.
(import (scheme base) (scheme write) (scheme cxr))

(include "include/check.scm")

(define (written x)
  (let ((port (open-output-string)))
    (write-shared x port)
    (get-output-string port)))

;; Sharing
(check (written '(#0=(a b) #0#)) => "(#0=(a b) #0#)")
(check (let ((x '(#0=(a b) #0#))) (eq? (car x) (cadr x))) => #t)
(check (written '#(#0=(a) #0# (b #0#))) => "#(#0=(a) #0# (b #0#))")
(check (written '(#0=(a) b . #0#)) => "(#0=(a) b . #0#)")
(check (let ((x '(#0=(a) b . #0#))) (eq? (car x) (cddr x))) => #t)
(check (written '(#5=#(1) #7=(#5# #5#) #7#)) => "(#0=#(1) #1=(#0# #0#) #1#)")
(check (let ((x '(#0="a string of more than sixty-four characters, so that it is not shared already" #0#)))
         (eq? (car x) (cadr x))) => #t)
(check (let ((x '(#0=#u8(1 2) #0#))) (eq? (car x) (cadr x))) => #t)
(check '(#0=a #1=1 #2=#\x #0# #1# #2#) => '(a 1 #\x a 1 #\x))
(check '(#0=() #0#) => '(() ()))
(check '(#0=(never referred to)) => '((never referred to)))
(check (written '(#0=#1=(a) #0# #1#)) => "(#0=(a) #0# #0#)")
(check (equal? '(#0=(a) #0#) '((a) (a))) => #t)
(check (written ''(#0=(a) #0#)) => "(quote (#0=(a) #0#))")

;; Cycles, and sharing in and around them
(check (written '#0=(a . #0#)) => "#0=(a . #0#)")
(check (written '(#0=(a . #0#) #0#)) => "(#0=(a . #0#) #0#)")
(check (written '#0=(#1=(x) #1# . #0#)) => "#0=(#1=(x) #1# . #0#)")
(check (written '#0=#(#1=(b #0#) #1# #0#)) => "#0=#(#1=(b #0#) #1# #0#)")
(check (written '(#0=(a #1=(b #0#)) #1#)) => "(#0=(a #1=(b #0#)) #1#)")
(check (written '(#0=(x) #1=(#0# . #1#) #0#)) => "(#0=(x) #1=(#0# . #1#) #0#)")
(check (written '#0=(a #1=#0# #1#)) => "#0=(a #0# #0#)")
(check (let ((x '#0=(#1=(b . #0#) (c . #1#)))) (list (eq? (cdar x) x) (eq? (cdadr x) (car x)))) => '(#t #t))

;; One label over several literals
(check (let ((pair (list '#0=(a b) '#0#))) (eq? (car pair) (cadr pair))) => #t)
(check (let ((pair (list '#0=(a . #0#) '#0# '(x . #0#))))
         (list (eq? (car pair) (cadr pair)) (eq? (car pair) (cdr (caddr pair))))) => '(#t #t))

;; In program text a label only saves writing
(check (let ((x 1)) (list #0=(+ x 1) #0# #0#)) => '(2 2 2))
(check (let #0=((x 1) (y 2)) (let #0# (+ x y))) => 3)
(check (+ 1 . #0=(2 3 . #1=(4))) => 10)
(check (let ((#0=x 5)) #0#) => 5)
(check (#0=list #0# 'a) => (list list 'a))
(check (case 'b (#0=(a b) 'first) (else 'second)) => 'first)

;; Quasiquotation
(check (written `(1 #0=(a) #0# ,(+ 1 1))) => "(1 #0=(a) #0# 2)")
(check (let ((x 1)) (written `(#0=(a) ,x #0# ,@'#0#))) => "(#0=(a) 1 #0# . #0#)")
(check (let ((x 1)) `(#0=(,x) #0#)) => '((1) (1)))
(check (written `(,(car '(1)) #0=(a . #0#))) => "(1 #0=(a . #0#))")
(check `(1 ,(+ #0=1 #0#) ,@(list #1='b #1#)) => '(1 2 b b))
(check (written `#(,(+ 1 2) #0=(a) #0#)) => "#(3 #0=(a) #0#)")

;; Macros
(define-syntax constant (syntax-rules () ((_ x) 'x)))
(check (constant (#0=(a) #0#)) => '((a) (a)))
(check (written (constant #0=(a . #0#))) => "#0=(a . #0#)")
(define-syntax both (syntax-rules () ((_ x) '(x #0=(x y) #0#))))
(check (written (both 1)) => "(1 #0=(1 y) #0#)")
(check (written (both #0=(1 . #0#))) => "(#0=(1 . #0#) #1=(#0# y) #1#)")
(define-syntax ring (syntax-rules () ((_ x ...) '#0=(x ... . #0#))))
(check (written (ring a b)) => "#0=(a b . #0#)")
(check (eq? (ring a) (ring a)) => #f)
(define-syntax each (syntax-rules () ((_ x ...) '((#0=(x) #0#) ...))))
(check (written (each a b)) => "((#0=(a) #0#) (#1=(b) #1#))")
(define-syntax twice (syntax-rules () ((_ x) '(x x))))
(check (let ((x '#0=(p))) (written (twice q))) => "(q q)")
(define-syntax second (syntax-rules (quote) ((_ '(a b)) 'b)))
(check (second '(#0=(x) #0#)) => '(x))
(check (second '(#0=(x) (y #0#))) => '(y (x)))
(report)
