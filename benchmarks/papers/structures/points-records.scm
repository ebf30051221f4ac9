;;; Points as records in a vector.
(import (scheme base) (scheme write) (scheme process-context))
(include "points-as-records.scm" "points.scm")
