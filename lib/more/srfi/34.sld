;;; (srfi 34): exceptions, which R7RS has.
(define-library (srfi 34)
  (export with-exception-handler raise guard => else)
  (import (scheme base)))
