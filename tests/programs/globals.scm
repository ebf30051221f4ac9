;; heap-max: 48M
;; Many globals, assigned in loops: fresh objects into globals that are old, some often, most seldom, and collections in
;; between. A collection of young objects looks only at globals that were stored to; one that it misses shows as a wrong
;; number.
(import (scheme base) (scheme write) (scheme case-lambda) (scheme process-context))

(define zeal (not (member (get-environment-variable "CAIRN_ZEAL") '(#f "" "0"))))

;; A procedure that has each global hold a fresh object made of its place and a number, one that adds up what these say,
;; and one each that does so for a global that is chosen.
(define-syntax define-globals
  (syntax-rules ()
    ((_ assign-all! sum-all at (name ...))
     (begin
       (define name '(0)) ...
       (define (assign-all! k) (set! name (fresh k)) ...)
       (define (sum-all) (+ (number-of name) ...))
       (define at (vector (case-lambda (() (number-of name)) ((k) (set! name (fresh k)))) ...))))))

;; Assigned, so that they are not inlined hundreds of times.
(define fresh #f)
(define number-of #f)
(set! fresh
  (lambda (k)
    (case (modulo k 4)
      ((0) (list k))
      ((1) (vector (+ k .5) k))
      ((2) (let ((text (number->string k))) (lambda () (string->number text))))
      (else (make-string 1 (integer->char (+ 1000 k)))))))
(set! number-of
  (lambda (x)
    (cond ((pair? x) (car x))
          ((vector? x) (vector-ref x 1))
          ((procedure? x) (x))
          (else (- (char->integer (string-ref x 0)) 1000)))))

(define-globals assign-all! sum-all at
  (a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 b10 b11 b12 b13 b14 b15 c0 c1
   c2 c3 c4 c5 c6 c7 c8 c9 c10 c11 c12 c13 c14 c15 d0 d1 d2 d3 d4 d5 d6 d7 d8 d9 d10 d11 d12 d13 d14 d15 e0 e1 e2
   e3 e4 e5 e6 e7 e8 e9 e10 e11 e12 e13 e14 e15 f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 f13 f14 f15))

(define kept '())
(define (churn n)
  (set! kept '())
  (do ((i 0 (+ i 1))) ((= i n)) (set! kept (cons (make-vector 20 i) kept))))

(define model (make-vector (vector-length at) 0))
(define state 4711)
(define (below n)
  (set! state (modulo (+ (* state 1103515245) 12345) 2147483648))
  (modulo (quotient state 256) n))
(define failures 0)
(define (check i)
  (if (not (eqv? ((vector-ref at i)) (vector-ref model i)))
      (set! failures (+ failures 1))))

;; A counter whose digits are globals, in a loop that allocates nothing else.
(define low 0.)
(define high '())
(define (count n)
  (do ((i 0 (+ i 1))) ((= i n))
    (set! low (+ low 1.))
    (if (= low 10.) (begin (set! low 0.) (set! high (cons i high))))))

(define rounds (if zeal 3 200))
(do ((round 0 (+ round 1))) ((= round rounds))
  (if (= (modulo round 50) 0)
      (begin
        (assign-all! round)
        (vector-fill! model round)
        (if (not (= (sum-all) (* round (vector-length at)))) (set! failures (+ failures 1)))))
  (do ((j 0 (+ j 1))) ((= j 20))
    (let ((i (below (vector-length at))) (k (below 1000)))
      ((vector-ref at i) k)
      (vector-set! model i k)))
  (churn (if zeal 20 2000))
  (do ((i 0 (+ i 1))) ((= i (vector-length at))) (check i)))
(count (if zeal 100 1000000))
(write (list 'failures failures (if (= (length high) (if zeal 10 100000)) 'counted high)))
(newline)
