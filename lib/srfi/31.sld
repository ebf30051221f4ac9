;;; (srfi 31): rec, recursive expressions.
(define-library (srfi 31)
  (export rec)
  (import (cairn syntax))
  (begin
    (define-syntax rec
      (syntax-rules ()
        ((_ (name . formals) body ...) (letrec ((name (lambda formals body ...))) name))
        ((_ name expression) (letrec ((name expression)) name))))))
