(define (half n) (quotient n 2))
(define small (shrink 8))
(define (shrink n) (half n))
(display small)
