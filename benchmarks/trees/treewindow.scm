;; A window of eight trees of records: each step builds one, and counts and drops the oldest, so that all live equally
;; long. The argument is the number of trees.
(import (scheme base) (scheme write) (scheme process-context))
(define-record-type node (make-node left right) node? (left node-left) (right node-right))
(define (build depth)
  (if (= depth 0) (make-node #f #f) (make-node (build (- depth 1)) (build (- depth 1)))))
(define (count tree)
  (if (node-left tree) (+ 1 (count (node-left tree)) (count (node-right tree))) 1))
(define window (make-vector 8 #f))
(define (run n)
  (let loop ((i 0) (sum 0))
    (if (= i n)
        sum
        (let* ((k (modulo i 8)) (oldest (vector-ref window k)))
          (vector-set! window k (build 14))
          (loop (+ i 1) (if oldest (+ sum (count oldest)) sum))))))
(define arguments (cdr (command-line)))
(display (run (if (pair? arguments) (string->number (car arguments)) 20)))
(newline)
