;;; (rnrs programs) of R6RS.
(define-library (rnrs programs)
  (export command-line exit)
  (import (scheme process-context)))
