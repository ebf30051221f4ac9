;;; Deep: recursion 100,000 frames deep, down and up again, so often. No frame is used again before all are left.
(import (scheme base) (scheme write) (scheme process-context))

(define (build n) (if (= n 0) '() (cons 1 (build (- n 1)))))
(define (sum l) (if (null? l) 0 (+ (car l) (sum (cdr l)))))

(define (main times)
  (let loop ((i 0) (total 0))
    (if (< i times)
        (loop (+ i 1) (+ total (sum (build (+ 100000 i)))))
        (begin (write total) (newline)))))

(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 2))
