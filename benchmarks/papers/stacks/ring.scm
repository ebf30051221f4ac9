;; A token goes round in a ring of 503 threads, so many hops as the argument says, through an MVar between each thread
;; and the next. The thread that gets it last says its number. (The post's `threadring` and `threads003`.)
(import (scheme base) (scheme write) (scheme process-context) (cairn thread))

(define size 503)
(define hops (let ((words (cdr (command-line)))) (if (pair? words) (string->number (car words)) 1000)))
(define winner (make-mvar))

(define (member-of-ring number in out)
  (let loop ()
    (let ((token (mvar-take! in)))
      (if (= token 0)
          (mvar-put! winner number)
          (begin (mvar-put! out (- token 1)) (loop))))))

(define first-place (make-mvar))
(let make ((number 1) (in first-place))
  (let ((out (if (= number size) first-place (make-mvar))))
    (spawn (lambda () (member-of-ring number in out)))
    (if (< number size) (make (+ number 1) out))))
(mvar-put! first-place hops)
(write (mvar-take! winner))
(newline)
