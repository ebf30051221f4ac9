(define (squares l) (map square l))
(display (squares '(1 2)))
(newline)
(display (list (squares '(3 four))))
