;;; Ctak: Takeuchi's function with a continuation captured at every call and every result passed through one. No
;;; continuation is entered twice, and each is left upwards only.
(import (scheme base) (scheme write) (scheme process-context))

;; Each continuation escapes from what the compiler sees, so it must be there: else it becomes a plain return.
(define kept #f)
(define (ctak x y z) (call-with-current-continuation (lambda (k) (ctak-to k x y z))))
(define (ctak-to k x y z)
  (set! kept k)
  (if (< y x)
      (call-with-current-continuation
        (lambda (k)
          (ctak-to k
                   (call-with-current-continuation (lambda (k) (ctak-to k (- x 1) y z)))
                   (call-with-current-continuation (lambda (k) (ctak-to k (- y 1) z x)))
                   (call-with-current-continuation (lambda (k) (ctak-to k (- z 1) x y))))))
      (k z)))

(define (main times)
  (let loop ((i 0) (sum 0))
    (if (< i times)
        (loop (+ i 1) (+ sum (ctak (+ 10 (modulo i 4)) 8 3)))
        (begin (write sum) (newline)))))

(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 4))
