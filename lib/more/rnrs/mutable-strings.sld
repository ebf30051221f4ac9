;;; (rnrs mutable-strings) of R6RS.
(define-library (rnrs mutable-strings)
  (export string-set! string-fill!)
  (import (scheme base)))
