(define (last s) (string-ref s (string-length s)))
(display (last "abc"))
