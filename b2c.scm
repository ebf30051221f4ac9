(import (scheme base) (scheme write) (scheme char))
(define (f x) (raise x))
(define (g x) (f x))
(display (car (g '(1 2))))
