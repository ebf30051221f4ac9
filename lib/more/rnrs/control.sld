;;; (rnrs control) of R6RS.
(define-library (rnrs control)
  (export when unless do case-lambda)
  (import (scheme base) (scheme case-lambda)))
