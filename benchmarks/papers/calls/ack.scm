;;; Ack: Ackermann's function, so often: recursion that is deep and returns in long runs.
(import (scheme base) (scheme write) (scheme process-context))

(define (ack m n)
  (cond ((= m 0) (+ n 1))
        ((= n 0) (ack (- m 1) 1))
        (else (ack (- m 1) (ack m (- n 1))))))

(define (main times)
  (let loop ((i 0) (sum 0))
    (if (< i times)
        (loop (+ i 1) (+ sum (ack 2 (+ 120 (modulo i 7)))))
        (begin (write sum) (newline)))))

(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 4))
