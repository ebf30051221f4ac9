;;; (srfi 8): receive.
(define-library (srfi 8)
  (export receive)
  (import (cairn syntax) (cairn primitives))
  (begin
    (define-syntax receive
      (syntax-rules ()
        ((_ formals expression body ...) (%receive formals expression body ...))))))
