;;; Call/cc: captures a continuation under so many frames, so often, and enters it at once. A second argument is the
;;; depth (default: 100). What a capture costs as the depth grows is what Figure 1 of Appel and Shao has in the row
;;; "Call/cc".
(import (scheme base) (scheme write) (scheme process-context))

;; The continuation escapes from what the compiler sees, so it must be there.
(define kept #f)
(define (capture n)
  (if (= n 0)
      0
      (+ (call-with-current-continuation (lambda (k) (set! kept k) (k 1)))
         (capture-again (- n 1)))))
;; A loop, so that the depth stays what it is.
(define (capture-again n)
  (let loop ((n n) (sum 0))
    (if (= n 0)
        sum
        (loop (- n 1) (+ sum (call-with-current-continuation (lambda (k) (set! kept k) (k 1))))))))

(define (under depth n) (if (= depth 0) (capture n) (+ 1 (under (- depth 1) n))))

(define (main times depth)
  (write (- (under depth times) depth))
  (newline))

(let ((arguments (map string->number (cdr (command-line)))))
  (main (if (pair? arguments) (car arguments) 1000)
        (if (and (pair? arguments) (pair? (cdr arguments))) (cadr arguments) 100)))
