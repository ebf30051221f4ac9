(define-record-type <point> (make-point x y) point? (x point-x) (y point-y set-point-y!) (z point-z))
(let () (define-record-type thing #f thing? (f thing-f)) (thing? (make-point 1 2)))
