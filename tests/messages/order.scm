;; Where several operands of arithmetic fail, the first one is reported, however well the program is compiled.
(import (scheme base) (scheme inexact) (scheme write) (srfi 4))

(define sum 0)

(define (a v i n x) (* (* 2. (f64vector-ref v i)) (- (f64vector-ref v (- n 1)) x)))
(define (b v i n x) (* (begin (set! sum (+ sum 1)) (f64vector-ref v i)) (- (f64vector-ref v (- n 1)) x)))
(define (c v i n x) (let ((s (* 2. (f64vector-ref v i))) (t (- (f64vector-ref v (- n 1)) x))) (* s t)))
(define (d v i n x) (<= (/ (f64vector-ref v i) 3) (* (f64vector-ref v n) x)))
(define (e v i n x) (if (<= (/ (f64vector-ref v i) 3) (* (car n) x)) 1 2))
(define (f v i n x) (- (inexact i) (* (car n) x)))
(define (g v i n x) (- (sqrt (f64vector-ref v i)) (* (car n) x 2.)))
(define (h v i n x) (+ (/ 1 i) (* (car n) x 2.)))
(define (j v i n x) (+ (quotient 1 i) (* (car n) x 2.)))
(define (k v i n x) (let* ((s (/ 1 i)) (t (* (car n) x 2.))) (+ s t)))
(define (l v i n x) (* (+ x 1.) (car n)))
(define (m v i n x) (- (* x (- i 1)) (* 2. (vector-ref n i))))
(define (o v i n x) (vector-set! (car n) i (* 2. (+ 3.5 (f64vector-ref v i)))))
(define (p v i n x) (+ (* x 1.5) (* (car n) 2.) (* (cadr n) (f64vector-ref v i))))

(define (try procedure . arguments)
  (set! sum 0)
  (write
   (call/cc
    (lambda (return)
      (with-exception-handler
       (lambda (c) (return (list (error-object-message c) (error-object-irritants c) sum)))
       (lambda () (apply procedure (f64vector 1. 2. 3.) arguments))))))
  (newline))

(for-each
 (lambda (procedure)
   (try procedure 1000 's 1)
   (try procedure 1000 0 1)
   (try procedure 0 's 1)
   (try procedure 's 0 1)
   (try procedure 's 's 's)
   (try procedure 0 '() 't)
   (try procedure 1 (list 1.5 2.5) 1.)
   (try procedure 7 (list 1.5 'u) 2/3)
   (try procedure 2 2 2.))
 (list a b c d e f g h j k l m o p))
