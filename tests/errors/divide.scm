(define (mean xs) (quotient (apply + xs) (length xs)))
(display (mean '()))
