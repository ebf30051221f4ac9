; A tail call with a wrong number of arguments is shown where it stands.
(import (scheme base) (scheme write))
(define (f x y) (+ x y))
(define (g a)
  (f a))
(define (h a) (list (g a)))
(display (h 1))
