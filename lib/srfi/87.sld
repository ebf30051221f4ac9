;;; (srfi 87): => in case.
(define-library (srfi 87)
  (export case)
  (import (scheme base)))
