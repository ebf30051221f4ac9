;;; (srfi 23): error.
(define-library (srfi 23)
  (export error)
  (import (only (cairn control) error)))
