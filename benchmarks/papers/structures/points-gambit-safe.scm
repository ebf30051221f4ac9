;;; Points as records in a vector, for Gambit with checks.
(declare (standard-bindings) (extended-bindings) (fixnum) (block))
(include "points-as-records.scm")
(include "points.scm")
