;; Vectors of flonums that nobody else sees become f64vectors; literal f64vectors in the same variables are no vectors.
(import (scheme base) (scheme write) (srfi 160 f64))

(define (refused thunk)
  (guard (e ((error-object? e) (error-object-message e)))
    (thunk)))

(define (in-a-loop n)
  (let loop ((v '#f64(1. 2. 3.)) (i 0))
    (if (< i n)
        (begin
          (if (vector? v) (vector-set! v 0 1.))
          (loop (make-vector 3 0.) (+ i 1)))
        (list (vector? v) (refused (lambda () (vector-ref v 0)))))))
(write (list (in-a-loop 0) (in-a-loop 1) (in-a-loop 2)))
(newline)

(define (either p)
  (let ((x (if p (make-vector 3 0.) '#f64(1. 2.))))
    (list (vector? x) (f64vector? x) (refused (lambda () (vector-ref x 1))) (refused (lambda () (vector-length x))))))
(write (list (either #t) (either #f)))
(newline)

(define rows (make-vector 3 '#f64(1. 2. 3.)))
(vector-set! rows 0 (make-vector 3 0.))
(define (row-element i j) (refused (lambda () (vector-ref (vector-ref rows i) j))))
(write (list (row-element 0 1) (row-element 1 1) (map (lambda (i) (vector? (vector-ref rows i))) '(0 1))))
(newline)
