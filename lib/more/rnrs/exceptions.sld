;;; (rnrs exceptions) of R6RS.
(define-library (rnrs exceptions)
  (export guard with-exception-handler raise raise-continuable => else)
  (import (scheme base)))
