;;; (scheme read) of R7RS-small.
(define-library (scheme read)
  (export read)
  (import (cairn reader)))
