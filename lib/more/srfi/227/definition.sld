;;; (srfi 227 definition): definitions of procedures with optional arguments.
(define-library (srfi 227 definition)
  (export define-optionals define-optionals*)
  (import (srfi 227)))
