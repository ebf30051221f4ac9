;;; Points as records in a vector, in a program that also has a structure vector of them: what its being there costs.
(import (scheme base) (scheme write) (scheme process-context) (cairn structure))
(include "points-as-records.scm")
(define-structure-vector point)
(define beside (make-point-vector 2 1 1))
(set-point-x! (point-vector-ref beside 1) 2)
(include "points.scm")
