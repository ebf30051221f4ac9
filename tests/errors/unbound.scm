(define (f x) (+ x missing-variable))
(display (f 1))
