#!r6rs
;; A library of R6RS: a version, renamed exports, a record type that others extend, a condition type.
(library (include shapes (1 2))
  (export point make-point point-x point-y point-y-set! point? (rename (distance-squared distance²) (unit one))
          &shape make-shape-error shape-error? shape-error-name)
  (import (for (rnrs base (6)) run expand) (rnrs records syntactic (6)) (rnrs conditions) (only (rnrs lists) fold-left))
  (define unit 1)
  (define (case-arguments new)
    (lambda (x . rest) (new x (if (null? rest) 0 (car rest)))))
  (define-record-type point
    (fields x (mutable y))
    (protocol (lambda (new) (case-arguments new)))
    (nongenerative point-of-the-tests))
  (define-condition-type &shape &error make-shape-error shape-error? (name shape-error-name))
  (define (distance-squared p)
    (fold-left (lambda (sum x) (+ sum (* x x))) 0 (list (point-x p) (point-y p)))))
