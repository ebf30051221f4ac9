;; So many threads as the argument says wait at one MVar. It is filled, each says its number through an MVar of its own,
;; and the main thread adds them up.
(import (scheme base) (scheme write) (scheme process-context) (cairn thread))

(define count (let ((words (cdr (command-line)))) (if (pair? words) (string->number (car words)) 1000)))
(define gate (make-mvar))

(define (start number)
  (let ((answer (make-mvar)))
    (spawn (lambda ()
             (mvar-read gate)
             (mvar-put! answer number)))
    answer))

(define answers
  (let loop ((number count) (answers '()))
    (if (= number 0) answers (loop (- number 1) (cons (start number) answers)))))
(thread-yield!)
(mvar-put! gate #t)
(let loop ((answers answers) (sum 0))
  (if (pair? answers)
      (loop (cdr answers) (+ sum (mvar-take! (car answers))))
      (begin (write sum) (newline))))
