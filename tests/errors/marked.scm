; The mark ends where the expression does.
(import (scheme base) (scheme write))
(define (f v) (list (vector-ref (vector '|a)b| #\) ")" #| ) |# v #;(v)) 9) v))
(display (f 1))
