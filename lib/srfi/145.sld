;;; (srfi 145): assume.  A false assumption is an error.
(define-library (srfi 145)
  (export assume)
  (import (cairn syntax) (only (cairn control) error))
  (begin
    (define-syntax assume
      (syntax-rules ()
        ((_ expression message ...)
         (let ((value expression))
           (if value value (error "an assumption does not hold:" 'expression message ...))))))))
