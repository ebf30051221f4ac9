(define table '((a . 1)))
(define (lookup k) (cdr (table k)))
(display (lookup 'a))
