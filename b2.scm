(import (scheme base) (scheme write) (srfi 1))
(define (f x) (reverse x))
(define (g x) (f x))
(display (+ 1 (g 3)))
