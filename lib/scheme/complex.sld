;;; (scheme complex) of R7RS-small.
(define-library (scheme complex)
  (export angle imag-part magnitude make-polar make-rectangular real-part)
  (import (cairn number)))
