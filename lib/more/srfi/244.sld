;;; (srfi 244): define-values, which R7RS has.
(define-library (srfi 244)
  (export define-values)
  (import (only (scheme base) define-values)))
