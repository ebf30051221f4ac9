(define (each l) (list (for-each (car l) (cdr l))))
(display (each (list car (list 1))))
(newline)
(display (each (list 'car (list 1))))
