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
   error even? exact exact-integer-sqrt exact? exp expt finite? floor for-each gcd if
   identifier-syntax imag-part inexact inexact?
   infinite? integer->char integer-valued? integer? lambda lcm length let let* let*-values let-syntax let-values
   letrec letrec* letrec-syntax list list->string list->vector list-ref list-tail list? log magnitude make-polar
   make-rectangular make-string make-vector map max min mod mod0 nan? negative? not null? number->string number?
   numerator odd? or pair? positive? procedure? quasiquote quote rational-valued? rational? rationalize real-part
   real-valued? real? reverse round set! sin sqrt string string->list string->number string->symbol string-append
   string-copy string-for-each string-length string-ref string<=? string<? string=? string>=? string>? string?
   substring symbol->string symbol=? symbol? syntax-rules tan truncate unquote unquote-splicing values vector
   vector->list vector-fill! vector-for-each vector-length vector-map vector-ref vector-set! vector? zero?)
  (import (except (scheme base) error let-syntax letrec-syntax)
          (rename (only (cairn syntax) splicing-let-syntax splicing-letrec-syntax)
                  (splicing-let-syntax let-syntax) (splicing-letrec-syntax letrec-syntax))
          (only (cairn syntax-case) identifier-syntax) (scheme complex) (scheme cxr) (scheme inexact)
          (only (cairn rnrs conditions) error assertion-violation assert)
          (only (scheme division) euclidean-quotient balanced-quotient)
          (only (cairn control) wrong-type))
  (begin

    ;; Of real numbers, too; integers are the usual case.
    (define-syntax define-division
      (syntax-rules ()
        ((_ quotient remainder both of-integers of-reals)
         (begin
           (define (quotient a b)
             (if (and (exact-integer? a) (exact-integer? b))
                 (of-integers a b)
                 (let ((who (symbol->string 'quotient)))
                   (if (not (real? a)) (wrong-type who "a real number" a))
                   (if (not (real? b)) (wrong-type who "a real number" b))
                   (of-reals a b))))
           (define (remainder a b) (- a (* b (quotient a b))))
           (define (both a b)
             (let ((q (quotient a b)))
               (values q (- a (* b q)))))))))
    (define (real-div a b)
      (if (negative? b) (ceiling (/ a b)) (floor (/ a b))))
    (define (real-div0 a b)
      (let* ((q (real-div a b)) (r (- a (* b q))) (half (/ (abs b) 2)))
        (cond
          ((< r half) q)
          ((negative? b) (- q 1))
          (else (+ q 1)))))
    (define-division div mod div-and-mod euclidean-quotient real-div)
    (define-division div0 mod0 div0-and-mod0 balanced-quotient real-div0)

    ;; A complex number counts by its real part if the imaginary one is zero, exact or not.
    (define (real-valued? x) (and (number? x) (zero? (imag-part x))))
    (define (rational-valued? x) (and (real-valued? x) (rational? (real-part x))))
    (define (integer-valued? x) (and (real-valued? x) (integer? (real-part x))))))
