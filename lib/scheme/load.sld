;;; (scheme load) of R7RS-small.
(define-library (scheme load)
  (export load)
  (import (cairn evaluator)))
