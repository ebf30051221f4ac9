;;; A closure of many hundred free variables: larger than one heap check covers for a group of allocations.
(import (scheme base) (scheme write))

(define-syntax fourfold
  (syntax-rules ()
    ((_ (t ...) next . rest) (next (t ... t ... t ... t ...) . rest))))
(define-syntax wide
  (syntax-rules ()
    ((_ () (v ...) x) (let ((v (vector x)) ...) (lambda (k) (+ k (vector-ref v 0) ...))))
    ((_ (t . more) (v ...) x) (wide more (v ... w) x))))

(define (make x) (fourfold (1 1 1) fourfold fourfold fourfold wide () x))
(define procedures
  (let loop ((i 0) (made '()))
    (if (= i 20) made (loop (+ i 1) (cons (make i) made)))))
(write (map (lambda (p) (p 1)) procedures))
(newline)
