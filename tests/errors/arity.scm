(define (area width height) (* width height))
(display (area 3))
