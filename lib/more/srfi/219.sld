;;; (srfi 219): definitions of procedures that return procedures: (define ((f a) b) …).
(define-library (srfi 219)
  (export (rename define-curried define))
  (import (scheme base))
  (begin
    (define-syntax define-curried
      (syntax-rules ()
        ((_ ((head . outer) . formals) . body)
         (define-curried (head . outer) (lambda formals . body)))
        ((_ head . body) (define head . body))))))
