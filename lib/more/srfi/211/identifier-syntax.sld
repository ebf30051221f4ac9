;;; (srfi 211 identifier-syntax): identifiers that stand for expressions.
(define-library (srfi 211 identifier-syntax)
  (export identifier-syntax)
  (import (cairn syntax-case)))
