;;; (rnrs base) of R6RS.
;;;
;;; What R7RS has by the same name and for the same arguments is the same here; it may take more arguments than R6RS
;;; allows.
(define-library (rnrs base)
  (export
   * + - ... / < <= = => > >= _ abs and angle append apply asin acos assert assertion-violation atan begin boolean=?
   boolean? call-with-current-continuation call-with-values call/cc car case cdr caar cadr cdar cddr caaar caadr
   cadar caddr cdaar cdadr cddar cdddr caaaar caaadr caadar caaddr cadaar cadadr caddar cadddr cdaaar cdaadr cdadar
   cdaddr cddaar cddadr cdddar cddddr ceiling char->integer char<=? char<? char=? char>=? char>? char? complex? cond
   cons cos define define-syntax denominator div div-and-mod div0 div0-and-mod0 dynamic-wind else eq? equal? eqv?
   error even? exact exact-integer-sqrt exact? exp expt finite? floor for-each gcd if imag-part inexact inexact?
   infinite? integer->char integer-valued? integer? lambda lcm length let let* let*-values let-syntax let-values
   letrec letrec* letrec-syntax list list->string list->vector list-ref list-tail list? log magnitude make-polar
   make-rectangular make-string make-vector map max min mod mod0 nan? negative? not null? number->string number?
   numerator odd? or pair? positive? procedure? quasiquote quote rational-valued? rational? rationalize real-part
   real-valued? real? reverse round set! sin sqrt string string->list string->number string->symbol string-append
   string-copy string-for-each string-length string-ref string<=? string<? string=? string>=? string>? string?
   substring symbol->string symbol=? symbol? syntax-rules tan truncate unquote unquote-splicing values vector
   vector->list vector-fill! vector-for-each vector-length vector-map vector-ref vector-set! vector? zero?)
  (import (except (scheme base) error) (scheme complex) (scheme cxr) (scheme inexact)
          (only (cairn dialects) div mod)
          (only (cairn rnrs conditions) error assertion-violation assert)
          (rename (only (scheme division) euclidean/ balanced/ balanced-quotient balanced-remainder)
                  (balanced-quotient div0) (balanced-remainder mod0)))
  (begin

    (define (div-and-mod a b) (euclidean/ a b))
    (define (div0-and-mod0 a b) (balanced/ a b))

    ;; A complex number counts by its real part if the imaginary one is zero, exact or not.
    (define (real-valued? x) (and (number? x) (zero? (imag-part x))))
    (define (rational-valued? x) (and (real-valued? x) (rational? (real-part x))))
    (define (integer-valued? x) (and (real-valued? x) (integer? (real-part x))))))
