;;; (rnrs arithmetic flonums) of R6RS, over (srfi 144).
(define-library (rnrs arithmetic flonums)
  (export
   flonum? real->flonum fl=? fl<? fl<=? fl>? fl>=? flinteger? flzero? flpositive? flnegative? flodd? fleven? flfinite?
   flinfinite? flnan? flmax flmin fl+ fl* fl- fl/ flabs fldiv-and-mod fldiv flmod fldiv0-and-mod0 fldiv0 flmod0
   flnumerator fldenominator flfloor flceiling fltruncate flround flexp fllog flsin flcos fltan flasin flacos flatan
   flsqrt flexpt fixnum->flonum
   &no-infinities make-no-infinities-violation no-infinities-violation? &no-nans make-no-nans-violation
   no-nans-violation?)
  (import (scheme base) (scheme case-lambda)
          (rename (only (srfi 144) flonum? fl=? fl<? fl<=? fl>? fl>=? flinteger? flzero? flpositive? flnegative? flodd?
                        fleven? flfinite? flinfinite? flnan? fl+ fl* fl- fl/ flabs flnumerator
                        fldenominator flfloor flceiling fltruncate flround flexp fllog flsin flcos fltan flasin flacos
                        flatan flsqrt flexpt)
                  (fl=? fl=) (fl<? fl<) (fl>? fl>) (fl<=? fl<=) (fl>=? fl>=)
                  (fllog fllog:1))
          (only (cairn number) fixnum?)
          (only (rnrs base) div mod div0 mod0)
          (only (cairn control) wrong-type)
          (only (cairn rnrs conditions) &no-infinities make-no-infinities-violation no-infinities-violation?
                &no-nans make-no-nans-violation no-nans-violation?))
  (begin

    ;; Of two or more, unlike SRFI 144's.
    (define-syntax define-comparison
      (syntax-rules ()
        ((_ (name compare) ...)
         (begin
           (define name
             (case-lambda
               ((a b) (compare a b))
               ((a b c . rest) (apply compare a b c rest))))
           ...))))
    (define-comparison (fl=? fl=) (fl<? fl<) (fl>? fl>) (fl<=? fl<=) (fl>=? fl>=))

    (define (real->flonum x)
      (if (real? x) (inexact x) (wrong-type "real->flonum" "a real number" x)))
    (define (fixnum->flonum n)
      (if (fixnum? n) (inexact n) (wrong-type "fixnum->flonum" "a fixnum" n)))
    (define fllog
      (case-lambda
        ((x) (fllog:1 x))
        ((x base) (fl/ (fllog:1 x) (fllog:1 base)))))

    (define (check who x)
      (if (not (flonum? x)) (wrong-type who "a flonum" x)))
    ;; A NaN wins.
    (define-syntax define-extreme
      (syntax-rules ()
        ((_ name before?)
         (begin
           (define (fail a b)
             (check (symbol->string 'name) a)
             (wrong-type (symbol->string 'name) "a flonum" b))
           (define (of-two a b)
             (if (if (flonum? a) (flonum? b) #f)
                 (if (before? a b) a (if (before? b a) b (if (= a b) b (+ a b))))
                 (fail a b)))
           (define name
             (case-lambda
               ((a b) (of-two a b))
               ((a) (of-two a a))
               ((a b . rest) (apply name (of-two a b) rest))))))))
    (define-extreme flmax >)
    (define-extreme flmin <)

    (define-syntax define-division
      (syntax-rules ()
        ((_ name operation)
         (define (name a b)
           (check (symbol->string 'name) a)
           (check (symbol->string 'name) b)
           (if (or (flzero? b) (not (flfinite? a)) (flnan? b))
               +nan.0
               (operation a b))))))
    (define-division fldiv div)
    (define-division flmod mod)
    (define-division fldiv0 div0)
    (define-division flmod0 mod0)
    (define-syntax define-both
      (syntax-rules ()
        ((_ (name div mod) ...)
         (begin
           (define (name a b)
             (check (symbol->string 'name) a)
             (check (symbol->string 'name) b)
             (values (div a b) (mod a b)))
           ...))))
    (define-both (fldiv-and-mod fldiv flmod) (fldiv0-and-mod0 fldiv0 flmod0))))
