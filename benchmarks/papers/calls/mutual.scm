;;; Mutual: Hofstadter's female and male sequences, so often: two procedures that call each other, and themselves
;;; through each other.
(import (scheme base) (scheme write) (scheme process-context))

(define (female n) (if (= n 0) 1 (- n (male (female (- n 1))))))
(define (male n) (if (= n 0) 0 (- n (female (male (- n 1))))))

(define (main times)
  (let loop ((i 0) (sum 0))
    (if (< i times)
        (loop (+ i 1) (+ sum (female (+ 20 (modulo i 16)))))
        (begin (write sum) (newline)))))

(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 20))
