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
          (only (scheme division) euclidean-quotient euclidean-remainder balanced-quotient balanced-remainder)
          (only (cairn control) out-of-range wrong-type))
  (begin

    ;; Of real numbers, too; integers are the usual case.
    (define-syntax define-division
      (syntax-rules ()
        ((_ quotient remainder both quotient-of-integers remainder-of-integers of-reals)
         (begin
           (define (quotient a b)
             (if (and (exact-integer? a) (exact-integer? b) (not (eqv? b 0)))
                 (quotient-of-integers a b)
                 (let-values (((q r) (of-reals (symbol->string 'quotient) a b))) q)))
           (define (remainder a b)
             (if (and (exact-integer? a) (exact-integer? b) (not (eqv? b 0)))
                 (remainder-of-integers a b)
                 (let-values (((q r) (of-reals (symbol->string 'remainder) a b))) r)))
           (define (both a b)
             (if (and (exact-integer? a) (exact-integer? b) (not (eqv? b 0)))
                 (values (quotient-of-integers a b) (remainder-of-integers a b))
                 (of-reals (symbol->string 'both) a b)))))))
    (define (real-div who a b)
      (if (not (real? a)) (wrong-type who "a real number" a))
      (if (not (real? b)) (wrong-type who "a real number" b))
      (if (and (eqv? b 0) (exact? a)) (out-of-range who "division by zero; the dividend was" a))
      (if (eq? (exact? a) (exact? b))
          (let ((q (if (negative? b) (ceiling (/ a b)) (floor (/ a b)))))
            (values q (- a (* b q))))
          (real-div who (inexact a) (inexact b))))
    (define (real-div0 who a b)
      (let-values (((q r) (real-div who a b)))
        (cond
          ((< r (/ (abs b) 2)) (values q r))
          ((negative? b) (values (- q 1) (+ r b)))
          (else (values (+ q 1) (- r b))))))
    (define-division div mod div-and-mod euclidean-quotient euclidean-remainder real-div)
    (define-division div0 mod0 div0-and-mod0 balanced-quotient balanced-remainder real-div0)

    ;; A complex number counts by its real part if the imaginary one is zero, exact or not.
    (define (real-valued? x) (and (number? x) (zero? (imag-part x))))
    (define (rational-valued? x) (and (real-valued? x) (rational? (real-part x))))
    (define (integer-valued? x) (and (real-valued? x) (integer? (real-part x))))))
