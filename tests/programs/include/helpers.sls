;; Procedures that transformers call.
(library (include helpers)
  (export reverse-syntax symbol-append-syntax my-if)
  (import (rnrs))
  (define (reverse-syntax stx)
    (let loop ([s stx] [out '()])
      (syntax-case s ()
        [() out]
        [(a . rest) (loop #'rest (cons #'a out))])))
  (define-syntax my-if (lambda (x) (syntax-case x () [(_ a b c) #'(cond [a b] [else c])])))
  (define (symbol-append-syntax k . parts)
    (datum->syntax k
      (string->symbol
        (apply string-append
          (map (lambda (p) (if (string? p) p (symbol->string (syntax->datum p)))) parts))))))
