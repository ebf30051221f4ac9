;;; (srfi 0): cond-expand.
(define-library (srfi 0)
  (export cond-expand)
  (import (cairn syntax)))
