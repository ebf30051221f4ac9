;;; Fib: doubly recursive Fibonacci numbers, so often. The smallest frames, and nothing but calls.
(import (scheme base) (scheme write) (scheme process-context))

(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))

(define (main times)
  (let loop ((i 0) (sum 0))
    (if (< i times)
        (loop (+ i 1) (+ sum (fib (+ 21 (modulo i 3)))))
        (begin (write sum) (newline)))))

(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 4))
