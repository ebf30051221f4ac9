;;; (srfi 11): let-values and let*-values.
(define-library (srfi 11)
  (export let-values let*-values)
  (import (only (cairn syntax) let-values let*-values)))
