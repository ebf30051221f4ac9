;;; (scheme ephemeron) of R7RS-large: (srfi 124).
(define-library (scheme ephemeron)
  (export
   make-ephemeron ephemeron? ephemeron-broken? ephemeron-key ephemeron-datum reference-barrier)
  (import (srfi 124)))
