;;; (scheme case-lambda) of R7RS-small.
(define-library (scheme case-lambda)
  (export case-lambda)
  (import (only (cairn syntax) case-lambda)))
