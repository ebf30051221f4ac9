;;; (rnrs mutable-pairs) of R6RS.
(define-library (rnrs mutable-pairs)
  (export set-car! set-cdr!)
  (import (scheme base)))
