;; Two threads hand a number to and fro through two MVars, so many times as the argument says.
(import (scheme base) (scheme write) (scheme process-context) (cairn thread))

(define rounds (let ((words (cdr (command-line)))) (if (pair? words) (string->number (car words)) 1000)))
(define ping (make-mvar))
(define pong (make-mvar))

(spawn (lambda ()
         (let loop ()
           (mvar-put! pong (+ (mvar-take! ping) 1))
           (loop))))
(let loop ((i 0) (n 0))
  (if (< i rounds)
      (begin
        (mvar-put! ping n)
        (loop (+ i 1) (mvar-take! pong)))
      (begin (write n) (newline))))
