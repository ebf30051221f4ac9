;; `fold` is copied around its argument and becomes a loop of `sum-squares`, which is inlined too.
(define (fold f acc l)
  (if (null? l) acc (fold f (f acc (car l)) (cdr l))))
(define (sum-squares l)
  (let ((sum (fold (lambda (acc x) (+ acc (* x x))) 0 l)))
    (list 'sum sum)))
(define (report l) (cons 'report (sum-squares l)))
(display (report '(1 2 3)))
(display (report '(1 two 3)))
