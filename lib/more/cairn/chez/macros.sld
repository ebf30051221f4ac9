;;; (cairn chez macros): what Chez Scheme has for macros beside R6RS: fenders in `syntax-rules`, and `syntax-error` as a
;;; procedure of transformers.
(define-library (cairn chez macros)
  (export syntax-rules syntax-error)
  (import (rename (only (scheme base) ... _ apply define define-syntax if lambda null? string-append string?
                        syntax-error syntax-rules)
                  (syntax-error r7-syntax-error)
                  (syntax-rules r7-syntax-rules))
          (cairn syntax-case))
  (begin

    ;; Rules may have a fender, as in syntax-case: (pattern fender template).
    (define-syntax syntax-rules
      (r7-syntax-rules ()
        ((_ (literal ...) (pattern template) ...) (r7-syntax-rules (literal ...) (pattern template) ...))
        ((_ (literal ...) . rules) (with-fenders (literal ...) rules () (r7-syntax-rules (literal ...) . rules)))
        ((_ . rest) (r7-syntax-rules . rest))))
    ;; What is no rule at all is refused by R7RS's.
    (define-syntax with-fenders
      (r7-syntax-rules ()
        ((_ literals () (clause ...) plain) (lambda (form) (syntax-case form literals clause ...)))
        ((_ literals (((keyword . pattern) template) . rules) (clause ...) plain)
         (with-fenders literals rules (clause ... ((_ . pattern) (syntax template))) plain))
        ((_ literals (((keyword . pattern) fender template) . rules) (clause ...) plain)
         (with-fenders literals rules (clause ... ((_ . pattern) fender (syntax template))) plain))
        ((_ literals rules clauses plain) plain)))

    ;; (syntax-error form string …) is a procedure for transformers; with a message first it is R7RS's, for templates.
    (define-syntax syntax-error
      (lambda (form)
        (syntax-case form ()
          ((_ message . forms) (string? (syntax->datum #'message)) #'(r7-syntax-error message . forms))
          ((_ . arguments) #'(refuse . arguments))
          (_ #'refuse))))
    (define (refuse form . messages)
      (syntax-violation #f (if (null? messages) "invalid syntax" (apply string-append messages)) form))))
