;; Recursion is unrolled once; the backtrace counts the calls as written.
(define (sum l) (if (null? l) 0 (+ (car l) (sum (cdr l)))))
(display (+ 1 (sum '(1 2 3 4 5 . x))))
