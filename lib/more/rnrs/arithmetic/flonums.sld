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
                        fleven? flfinite? flinfinite? flnan? flmax flmin fl+ fl* fl- fl/ flabs flnumerator
                        fldenominator flfloor flceiling fltruncate flround flexp fllog flsin flcos fltan flasin flacos
                        flatan flsqrt flexpt)
                  (fl=? fl=) (fl<? fl<) (fl>? fl>) (fl<=? fl<=) (fl>=? fl>=)
                  (fllog fllog:1) (flmax flmax:2) (flmin flmin:2))
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

    ;; A NaN wins.
    (define-syntax define-extreme
      (syntax-rules ()
        ((_ name of-two)
         (define name
           (case-lambda
             ((a b) (let ((x (of-two a b))) (if (or (flnan? a) (flnan? b)) +nan.0 x)))
             ((a) (of-two a a))
             ((a b . rest) (apply name (name a b) rest)))))))
    (define-extreme flmax flmax:2)
    (define-extreme flmin flmin:2)

    (define (check who x)
      (if (not (flonum? x)) (wrong-type who "a flonum" x)))
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
    (define (fldiv-and-mod a b) (values (fldiv a b) (flmod a b)))
    (define (fldiv0-and-mod0 a b) (values (fldiv0 a b) (flmod0 a b)))))
