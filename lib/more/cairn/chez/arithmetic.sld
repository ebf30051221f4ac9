;;; (cairn chez arithmetic): Chez Scheme's operations of fixnums and flonums that take another number of operands than
;;; R6RS and SRFIs 143 and 144 say.  The clause for two comes first and is inlined.
(define-library (cairn chez arithmetic)
  (export
   fx+ fx- fx* fxquotient fx= fx< fx> fx<= fx>= fl= fl< fl> fl<= fl>= fldiv fldiv0 fldiv-and-mod fldiv0-and-mod0
   logbit? logbit0 logbit1 fxlogbit? fxlogbit0 fxlogbit1 fxsrl bitwise-arithmetic-shift-left
   bitwise-arithmetic-shift-right
   cfl+ cfl- cfl* cfl/ cfl=)
  (import (scheme base) (scheme case-lambda)
          (only (cairn control) out-of-range wrong-type)
          (only (cairn primitives) %fx< %fx<= %fxand %fxior %fxxor %fxsll)
          (rename (only (srfi 143) fixnum? fx+ fx- fx* fxquotient fxarithmetic-shift fx-width
                        fx=? fx<? fx>? fx<=? fx>=?)
                  (fx+ fx+:2) (fx- fx-:2) (fx* fx*:2) (fxquotient fxquotient:2)
                  (fx=? fx=) (fx<? fx<) (fx>? fx>) (fx<=? fx<=) (fx>=? fx>=))
          (rename (only (srfi 144) fl=? fl<? fl>? fl<=? fl>=?)
                  (fl=? fl=:2) (fl<? fl<:2) (fl>? fl>:2) (fl<=? fl<=:2) (fl>=? fl>=:2))
          (rename (only (rnrs arithmetic flonums) fldiv flmod fldiv0 flmod0 flfinite? flzero? fl/)
                  (fldiv finite-div) (fldiv0 finite-div0))
          (only (srfi 151) bitwise-and bitwise-ior bitwise-not arithmetic-shift bit-set?))
  (begin

    ;;;; Any number of operands

    ;; `unit ...` is the value without operands, if there is one; `x => one` that of one operand.
    (define-syntax define-fold
      (syntax-rules (=>)
        ((_ (name combine (unit ...) x => one) ...)
         (begin
           (define name
             (case-lambda
               ((a b) (combine a b))
               (() unit)
               ...
               ((x) one)
               ((a b . rest)
                (let loop ((value (combine a b)) (rest rest))
                  (if (null? rest)
                      value
                      (loop (combine value (car rest)) (cdr rest)))))))
           ...))))
    (define-fold
      (fx+ fx+:2 (0) x => (fx+:2 x 0))
      (fx- fx-:2 () x => (fx-:2 0 x))
      (fx* fx*:2 (1) x => (fx*:2 x 1))
      (fxquotient fxquotient:2 () x => (fxquotient:2 1 x)))

    ;; A NaN is not equal to itself, and in no order.
    (define-syntax define-comparison
      (syntax-rules ()
        ((_ (name compare) ...)
         (begin
           (define name
             (case-lambda
               ((a b) (compare a b))
               ((a) (fl=:2 a a))
               ((a b . rest) (apply compare a b rest))))
           ...))))
    (define-comparison (fl= fl=:2) (fl< fl<:2) (fl> fl>:2) (fl<= fl<=:2) (fl>= fl>=:2))

    ;;;; Quotients without a finite value

    (define-syntax define-quotient
      (syntax-rules ()
        ((_ (name of-finite) ...)
         (begin
           (define (name a b)
             (if (or (flzero? b) (not (flfinite? a))) (fl/ a b) (of-finite a b)))
           ...))))
    (define-quotient (fldiv finite-div) (fldiv0 finite-div0))
    (define (fldiv-and-mod a b) (values (fldiv a b) (flmod a b)))
    (define (fldiv0-and-mod0 a b) (values (fldiv0 a b) (flmod0 a b)))

    ;;;; Bits

    (define (check-index who k)
      (if (not (and (fixnum? k) (>= k 0))) (wrong-type who "the index of a bit" k)))
    ;; That bit `k` of a fixnum can be changed without a look at its size.
    (define-syntax within?
      (syntax-rules ()
        ((_ k n) (and (fixnum? n) (fixnum? k) (%fx<= 0 k) (%fx< k 60)))))
    (define (check-count who k)
      (if (not (and (exact-integer? k) (>= k 0))) (wrong-type who "a number of bits" k)))
    (define (logbit? k n)
      (check-index "logbit?" k)
      (bit-set? k n))
    (define-syntax define-change
      (syntax-rules ()
        ((_ (name fixnums k n) of-fixnums general)
         (begin
           (define (far k n)
             (check-index (symbol->string 'name) k)
             general)
           (define (name k n)
             (if (within? k n) of-fixnums (far k n)))
           (define (fixnums k n)
             (cond
               ((within? k n) of-fixnums)
               ((fixnum? n) (far-fixnum (symbol->string 'fixnums) k (far k n)))
               (else (wrong-type (symbol->string 'fixnums) "a fixnum" n))))))))
    (define (far-fixnum who k result)
      (if (fixnum? result) result (out-of-range who "not the index of a bit:" k)))
    (define-change (logbit0 fxlogbit0 k n)
      (%fxand n (%fxxor -1 (%fxsll 1 k)))
      (bitwise-and n (bitwise-not (arithmetic-shift 1 k))))
    (define-change (logbit1 fxlogbit1 k n)
      (%fxior n (%fxsll 1 k))
      (bitwise-ior n (arithmetic-shift 1 k)))
    (define (fxlogbit? k n)
      (if (fixnum? n) (logbit? k n) (wrong-type "fxlogbit?" "a fixnum" n)))
    ;; The fixnum taken as a number without a sign.
    (define (fxsrl n k)
      (check-count "fxsrl" k)
      (if (or (>= n 0) (= k 0))
          (fxarithmetic-shift n (- k))
          (arithmetic-shift (+ n (arithmetic-shift 1 fx-width)) (- k))))
    (define (bitwise-arithmetic-shift-left n k)
      (check-count "bitwise-arithmetic-shift-left" k)
      (arithmetic-shift n k))
    (define (bitwise-arithmetic-shift-right n k)
      (check-count "bitwise-arithmetic-shift-right" k)
      (arithmetic-shift n (- k)))

    ;;;; Inexact numbers, also complex ones

    (define (check who x)
      (if (and (number? x) (inexact? x)) x (wrong-type who "an inexact number" x)))
    (define-syntax define-cfl
      (syntax-rules ()
        ((_ (name operation (unit ...) x => one) ...)
         (begin
           (define name
             (case-lambda
               ((a b) (operation (check (symbol->string 'name) a) (check (symbol->string 'name) b)))
               (() unit)
               ...
               ((a) (let ((x (check (symbol->string 'name) a))) one))
               ((a . rest)
                (for-each (lambda (b) (check (symbol->string 'name) b)) (cons a rest))
                (apply operation a rest))))
           ...))))
    (define-cfl
      (cfl+ + (0.0) x => x)
      (cfl- - () x => (- x))
      (cfl* * (1.0) x => x)
      (cfl/ / () x => (/ x))
      (cfl= = () x => (= x x)))))
