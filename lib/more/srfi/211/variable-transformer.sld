;;; (srfi 211 variable-transformer): transformers that may expand assignments.
(define-library (srfi 211 variable-transformer)
  (export make-variable-transformer)
  (import (cairn syntax-case)))
