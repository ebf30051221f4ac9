;; (sicp) and (sicp picture).
(import (sicp) (sicp picture) (only (scheme base) call/cc with-exception-handler open-output-string get-output-string))

(include "include/check.scm")

(define (integers n) (cons-stream n (integers (inc n))))
(define (stream-ref s n) (if (= n 0) (stream-car s) (stream-ref (stream-cdr s) (dec n))))
(check (stream-ref (integers 1) 10) => 11)
(check (stream-null? the-empty-stream) => true)
(check (list nil false (1+ 1) (-1+ 1) (identity 'x) (square 3)) => '(() #f 2 0 x 9))
(check (< -1 (random 10) 10) => true)
(check (real? (runtime)) => true)
(check (guard (e (true (error-object-irritants e))) (error "text" 1 2)) => '(1 2))

(define line (segments->painter (list (make-segment (make-vect 0 0) (make-vect 1 1/2)))))
(define out (open-output-string))
(paint-svg out (beside line (flip-vert line)))
(check (get-output-string out)
       => (string-append
           "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 400 400\" stroke=\"black\">\n"
           "<line x1=\"0\" y1=\"400\" x2=\"200\" y2=\"200\"/>\n"
           "<line x1=\"200\" y1=\"0\" x2=\"400\" y2=\"200\"/>\n"
           "</svg>\n"))
(check-error (beside 1 line))

(report)
