;;; (scheme inexact) of R7RS-small.
(define-library (scheme inexact)
  (export acos asin atan cos exp finite? infinite? log nan? sin sqrt tan)
  (import (cairn number)))
