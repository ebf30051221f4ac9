;;; Points as records in a vector, for Gambit: the paper's declarations.
(declare (standard-bindings) (extended-bindings) (fixnum) (not safe) (block))
(include "points-as-records.scm")
(include "points.scm")
