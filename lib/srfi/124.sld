;;; (srfi 124): ephemerons.
(define-library (srfi 124)
  (export make-ephemeron ephemeron? ephemeron-broken? ephemeron-key ephemeron-datum reference-barrier)
  (import (cairn weak)))
