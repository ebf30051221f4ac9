;;; (scheme eval) of R7RS-small.
(define-library (scheme eval)
  (export environment eval)
  (import (cairn evaluator)))
