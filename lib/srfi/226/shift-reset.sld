;;; (srfi 226 shift-reset): (srfi 226 control shift-reset), as SRFI 226 names it for R7RS.
(define-library (srfi 226 shift-reset)
  (export reset-at shift-at reset shift)
  (import (srfi 226 control shift-reset)))
