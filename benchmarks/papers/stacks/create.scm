;; Threads are made one after the other, so many as the argument says; each hands over a number and ends. (Like the
;; post's `threads001`.)
(import (scheme base) (scheme write) (scheme process-context) (cairn thread))

(define count (let ((words (cdr (command-line)))) (if (pair? words) (string->number (car words)) 1000)))

(define place (make-mvar))
(let loop ((number 0) (sum 0))
  (if (< number count)
      (begin
        (spawn (lambda () (mvar-put! place (modulo number 7))))
        (loop (+ number 1) (+ sum (mvar-take! place))))
      (begin (write sum) (newline))))
