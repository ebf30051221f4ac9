;;; Tak: Takeuchi's function, so often: three calls whose results are the arguments of a fourth, a tail call.
(import (scheme base) (scheme write) (scheme process-context))

(define (tak x y z) (if (< y x) (tak (tak (- x 1) y z) (tak (- y 1) z x) (tak (- z 1) x y)) z))

(define (main times)
  (let loop ((i 0) (sum 0))
    (if (< i times)
        (loop (+ i 1) (+ sum (tak (+ 15 (modulo i 4)) 12 6)))
        (begin (write sum) (newline)))))

(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 4))
