;;; (srfi 16): case-lambda.
(define-library (srfi 16)
  (export case-lambda)
  (import (only (cairn syntax) case-lambda)))
