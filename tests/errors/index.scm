(define v (vector 1 2 3))
(display (vector-ref v 3))
