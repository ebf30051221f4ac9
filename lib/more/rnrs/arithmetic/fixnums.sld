;;; (rnrs arithmetic fixnums) of R6RS, over (srfi 143).
(define-library (rnrs arithmetic fixnums)
  (export
   fixnum? fixnum-width least-fixnum greatest-fixnum fx=? fx>? fx<? fx>=? fx<=? fxzero? fxpositive? fxnegative? fxodd?
   fxeven? fxmax fxmin fx+ fx* fx- fxdiv-and-mod fxdiv fxmod fxdiv0-and-mod0 fxdiv0 fxmod0 fx+/carry fx-/carry
   fx*/carry fxnot fxand fxior fxxor fxif fxbit-count fxlength fxfirst-bit-set fxbit-set? fxcopy-bit fxbit-field
   fxcopy-bit-field fxarithmetic-shift fxarithmetic-shift-left fxarithmetic-shift-right fxrotate-bit-field
   fxreverse-bit-field)
  (import (scheme base) (scheme case-lambda)
          (rename (except (srfi 143) fxquotient fxremainder fxabs fxsquare fxsqrt fxbit-field-rotate fxcopy-bit
                          fxbit-count fxbit-set?)
                  (fx- fx-:2) (fx=? fx=) (fx<? fx<) (fx>? fx>) (fx<=? fx<=) (fx>=? fx>=)
                  (fxfirst-set-bit fxfirst-bit-set) (fxbit-field-reverse fxreverse-bit-field))
          (only (srfi 151) bit-count bitwise-not copy-bit bit-set? bit-field-replace bit-field-rotate)
          (only (scheme division) euclidean-quotient euclidean-remainder balanced-quotient balanced-remainder)
          (only (cairn control) wrong-type out-of-range))
  (begin

    (define (fixnum-width) fx-width)
    (define (least-fixnum) fx-least)
    (define (greatest-fixnum) fx-greatest)
    (define fx-
      (case-lambda
        ((a b) (fx-:2 a b))
        ((a) (fxneg a))))

    ;; Of two or more, unlike SRFI 143's.
    (define-syntax define-comparison
      (syntax-rules ()
        ((_ (name compare) ...)
         (begin
           (define name
             (case-lambda
               ((a b) (compare a b))
               ((a b c . rest) (apply compare a b c rest))))
           ...))))
    (define-comparison (fx=? fx=) (fx<? fx<) (fx>? fx>) (fx<=? fx<=) (fx>=? fx>=))

    (define (check who x)
      (if (not (fixnum? x)) (wrong-type who "a fixnum" x)))
    (define (result who x)
      (if (fixnum? x) x (out-of-range who "the result is no fixnum:" x)))
    (define-syntax define-fx
      (syntax-rules ()
        ((_ (name x ...) body)
         (define (name x ...)
           (check (symbol->string 'name) x)
           ...
           (result (symbol->string 'name) body)))))
    (define-syntax define-division
      (syntax-rules ()
        ((_ (name operation) ...)
         (begin
           (define-fx (name a b)
             (if (eqv? b 0)
                 (out-of-range (symbol->string 'name) "division by zero; the dividend was" a)
                 (operation a b)))
           ...))))
    (define-division (fxdiv euclidean-quotient) (fxmod euclidean-remainder)
                     (fxdiv0 balanced-quotient) (fxmod0 balanced-remainder))
    (define-syntax define-both
      (syntax-rules ()
        ((_ (name div mod) ...)
         (begin
           (define (name a b)
             (check (symbol->string 'name) a)
             (check (symbol->string 'name) b)
             (if (eqv? b 0) (out-of-range (symbol->string 'name) "division by zero; the dividend was" a))
             (values (div a b) (mod a b)))
           ...))))
    (define-both (fxdiv-and-mod fxdiv fxmod) (fxdiv0-and-mod0 fxdiv0 fxmod0))

    (define-fx (fxbit-count n)
      (if (negative? n) (bitwise-not (bit-count (bitwise-not n))) (bit-count n)))
    (define (check-bit who k)
      (if (not (and (fixnum? k) (< -1 k fx-width))) (out-of-range who "not the index of a bit:" k)))
    (define (fxbit-set? n k)
      (check "fxbit-set?" n)
      (check-bit "fxbit-set?" k)
      (bit-set? k n))
    (define (fxcopy-bit n k bit)
      (check "fxcopy-bit" n)
      (check-bit "fxcopy-bit" k)
      (if (not (memv bit '(0 1))) (wrong-type "fxcopy-bit" "0 or 1" bit))
      (result "fxcopy-bit" (copy-bit k n (= bit 1))))
    (define-fx (fxcopy-bit-field to start end from) (bit-field-replace to from start end))
    (define-fx (fxrotate-bit-field n start end count) (bit-field-rotate n count start end))))
