(import (scheme base) (scheme write))
(define (sum xs) (apply + xs))
(define (g) (sum '(1 a)))
(display (g))
