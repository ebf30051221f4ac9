;;; (scheme lazy) of R7RS-small.
(define-library (scheme lazy)
  (export delay delay-force force make-promise promise?)
  (import (cairn syntax) (cairn control)))
