(define-values (a b) (values))
(display (list a b))
