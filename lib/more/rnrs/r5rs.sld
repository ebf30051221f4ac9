;;; (rnrs r5rs) of R6RS.
(define-library (rnrs r5rs)
  (export exact->inexact inexact->exact quotient remainder modulo delay force null-environment
          scheme-report-environment)
  (import (scheme r5rs)))
