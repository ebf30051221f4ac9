;;; (srfi 28): format with ~a, ~s, ~% and ~~; that of (srfi 48), which also takes a destination.
(define-library (srfi 28)
  (export format)
  (import (only (srfi 48) format)))
