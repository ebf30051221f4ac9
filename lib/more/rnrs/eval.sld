;;; (rnrs eval) of R6RS.
(define-library (rnrs eval)
  (export eval environment)
  (import (scheme eval)))
