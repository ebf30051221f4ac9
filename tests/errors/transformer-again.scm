;; A transformer whose expansions use the macro again, without end.
(import (scheme base) (cairn macro))
(define-syntax again
  (er-macro-transformer
   (lambda (form rename compare)
     (list (rename 'again) (cons 'x (cdr form))))))
(again)
