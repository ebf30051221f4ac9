;; (srfi 115) in macro transformers.
(import (rnrs) (for (only (srfi 115) regexp-matches? regexp-extract) expand))

(define-syntax kind-of
  (lambda (x)
    (syntax-case x ()
      ((k s)
       (if (regexp-matches? '(+ (/ "az")) (syntax->datum #'s))
           #''letters
           #`'#,(datum->syntax #'k (regexp-extract '(: ($ (+ num)) "-" ($ num)) (syntax->datum #'s))))))))
(write (list (kind-of "abc") (kind-of "12-3, 4-5")))
(newline)
