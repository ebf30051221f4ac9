;;; (cairn number): the numeric procedures of R7RS.
;;;
;;; Binary operations are primitives with inline paths for fixnums and flonums.  What takes any number of arguments is
;;; a case-lambda whose first clause is the binary case: the optimizer picks the clause and inlines it, so (+ a b)
;;; costs what (%+ a b) costs.  Comparison chains compare all neighbours, so that every argument is checked.

(define-library (cairn number)
  (export
   (rename %number? number?) (rename %number? complex?)
   (rename %fixnum? fixnum?) real? rational? integer? exact? inexact? exact-integer? exact-rational?
   finite? infinite? nan?
   + - * / = < > <= >= zero? positive? negative? odd? even? max min abs
   (rename %quotient quotient) (rename %remainder remainder) (rename %modulo modulo)
   (rename %quotient truncate-quotient) (rename %remainder truncate-remainder)
   (rename %floor-quotient floor-quotient) (rename %modulo floor-remainder)
   floor/ truncate/ exact-integer-sqrt
   gcd lcm numerator denominator floor ceiling truncate round rationalize
   exp log sin cos tan asin acos atan square (rename %sqrt sqrt) expt
   exact (rename %inexact inexact) inexact->exact (rename %inexact exact->inexact)
   make-rectangular make-polar real-part imag-part magnitude angle
   number->string string->number
   bitwise-and bitwise-ior bitwise-xor bitwise-not arithmetic-shift
   bit-count integer-length)
  (import (cairn syntax) (cairn primitives) (cairn control))
  (begin

    ;;;; Types

    (define (real? x)
      (if (%number? x) (%not (%compnum? x)) #f))
    (define (rational? x)
      (if (%fixnum? x) #t (%num-rational? x)))
    (define (integer? x)
      (if (%fixnum? x) #t (%num-integer? x)))
    (define (exact-integer? x)
      (if (%fixnum? x) #t (%bignum? x)))
    (define (exact-rational? x)
      (if (exact-integer? x) #t (%ratnum? x)))
    (define (exact? x)
      (if (%fixnum? x) #t (%num-exact? x)))
    (define (inexact? x)
      (if (%flonum? x) #t (%not (%num-exact? x))))
    (define (finite? x)
      (if (%fixnum? x) #t (%num-finite? x)))
    (define (infinite? x)
      (if (%fixnum? x) #f (%num-infinite? x)))
    (define (nan? x)
      (if (%fixnum? x) #f (%num-nan? x)))

    ;;;; Sums and products

    (define-syntax define-associative
      (syntax-rules ()
        ((_ name op unit)
         (define name
           (case-lambda
             ((a b) (op a b))
             ((a b c) (op (op a b) c))
             ((a) (if (%number? a) a (op a unit)))
             (() unit)
             ((a b c d) (op (op (op a b) c) d))
             ;; nine are a pixel and its neighbours
             ((a b c d e) (op (op (op (op a b) c) d) e))
             ((a b c d e f) (op (op (op (op (op a b) c) d) e) f))
             ((a b c d e f g) (op (op (op (op (op (op a b) c) d) e) f) g))
             ((a b c d e f g h) (op (op (op (op (op (op (op a b) c) d) e) f) g) h))
             ((a b c d e f g h i) (op (op (op (op (op (op (op (op a b) c) d) e) f) g) h) i))
             ((a b . rest)
              (let loop ((acc (op a b)) (rest rest))
                (if (%null? rest)
                    acc
                    (loop (op acc (%car rest)) (%cdr rest))))))))))

    (define-associative + %+ 0)
    (define-associative * %* 1)

    (define -
      (case-lambda
        ((a b) (%- a b))
        ((a) (if (%flonum? a) (%fl* -1.0 a) (%- 0 a)))
        ((a b c) (%- (%- a b) c))
        ((a b . rest)
         (let loop ((acc (%- a b)) (rest rest))
           (if (%null? rest)
               acc
               (loop (%- acc (%car rest)) (%cdr rest)))))))

    (define /
      (case-lambda
        ((a b) (%/ a b))
        ((a) (%/ 1 a))
        ((a b . rest)
         (let loop ((acc (%/ a b)) (rest rest))
           (if (%null? rest)
               acc
               (loop (%/ acc (%car rest)) (%cdr rest)))))))

    ;;;; Comparisons

    (define-syntax define-comparison
      (syntax-rules ()
        ((_ name op)
         (define name
           (case-lambda
             ((a b) (op a b))
             ((a b c) (if (op a b) (op b c) (begin (op b c) #f)))
             ((a) (begin (op a 0) #t))
             ((a b . rest)
              (let loop ((ok (op a b)) (b b) (rest rest))
                (if (%null? rest)
                    ok
                    (let ((next (op b (%car rest))))
                      (loop (if ok next #f) (%car rest) (%cdr rest)))))))))))

    (define-comparison = %=)
    (define-comparison < %<)
    (define-comparison > %>)
    (define-comparison <= %<=)
    (define-comparison >= %>=)

    (define (zero? x) (%= x 0))
    (define (positive? x) (%> x 0))
    (define (negative? x) (%< x 0))
    (define (odd? x)
      (if (%fixnum? x)
          (%fx= (%fxand x 1) 1)
          (%not (%= (%remainder x 2) 0))))
    (define (even? x)
      (if (%fixnum? x)
          (%fx= (%fxand x 1) 0)
          (%= (%remainder x 2) 0)))

    ;; Inexact contagion, and a NaN wins.
    (define (select-inexact chosen a b)
      (if (if (%flonum? a) #t (%flonum? b))
          (%inexact chosen)
          chosen))
    (define (max:2 a b)
      (select-inexact (if (%< a b) b (if (%<= b a) a (if (%= a a) b a))) a b))
    (define (min:2 a b)
      (select-inexact (if (%< b a) b (if (%<= a b) a (if (%= a a) b a))) a b))

    (define-syntax define-extremum
      (syntax-rules ()
        ((_ name a b fixnum-case general)
         (define name
           (case-lambda
             ((a b)
              (if (if (%fixnum? a) (%fixnum? b) #f)
                  fixnum-case
                  (general a b)))
             ((a) (general a a))
             ((a b . rest)
              (let loop ((acc (general a b)) (rest rest))
                (if (%null? rest)
                    acc
                    (loop (general acc (%car rest)) (%cdr rest))))))))))

    (define-extremum max a b (if (%fx< a b) b a) max:2)
    (define-extremum min a b (if (%fx< b a) b a) min:2)

    (define (abs x)
      (cond
        ((%flonum? x) (%flabs x))
        ((%< x 0) (%- 0 x))
        (else x)))

    ;;;; Integers

    (define (floor/ n d)
      (%values (%floor-quotient n d) (%modulo n d)))
    (define (truncate/ n d)
      (%values (%quotient n d) (%remainder n d)))

    ;; Below 2^52 numbers that are no squares have a root, as a flonum, that is less than the next integer.
    (define (exact-integer-sqrt n)
      (if (if (%fixnum? n) (if (%fx<= 0 n) (%fx< n 4503599627370496) #f) #f)
          (let ((root (%num-exact (%fltruncate (%flsqrt (%fixnum->flonum n))))))
            (%values root (%fx- n (%fx* root root))))
          (let ((root+rest (%num-exact-integer-sqrt n)))
            (%values (%car root+rest) (%cdr root+rest)))))

    (define-syntax greatest
      (syntax-rules ()
        ((_ a b)
         (if (if (%fixnum? a) (%fixnum? b) #f)
             (let loop ((x a) (y b))
               (if (%eq? y 0)
                   (if (%fx< x 0) (%- 0 x) x)
                   (loop y (%remainder x y))))
             (%num-gcd a b)))))

    (define (gcd:2 a b) (greatest a b))

    (define (lcm:2 a b)
      (let ((g (greatest a b)))
        (if (%= g 0)
            g
            (abs (%* a (%quotient b g))))))

    (define gcd
      (case-lambda
        ((a b) (gcd:2 a b))
        (() 0)
        ((a) (gcd:2 a 0))
        ((a b . rest)
         (let loop ((acc (gcd:2 a b)) (rest rest))
           (if (%null? rest)
               acc
               (loop (gcd:2 acc (%car rest)) (%cdr rest)))))))

    (define lcm
      (case-lambda
        ((a b) (lcm:2 a b))
        (() 1)
        ((a) (lcm:2 a 1))
        ((a b . rest)
         (let loop ((acc (lcm:2 a b)) (rest rest))
           (if (%null? rest)
               acc
               (loop (lcm:2 acc (%car rest)) (%cdr rest)))))))

    (define (numerator x)
      (if (%fixnum? x) x (%num-numerator x)))
    (define (denominator x)
      (if (%fixnum? x) 1 (%num-denominator x)))

    ;;;; Rounding

    (define (floor x)
      (cond ((%fixnum? x) x) ((%flonum? x) (%flfloor x)) (else (%num-floor x))))
    (define (ceiling x)
      (cond ((%fixnum? x) x) ((%flonum? x) (%flceiling x)) (else (%num-ceiling x))))
    (define (truncate x)
      (cond ((%fixnum? x) x) ((%flonum? x) (%fltruncate x)) (else (%num-truncate x))))
    (define (round x)
      (cond ((%fixnum? x) x) ((%flonum? x) (%flround x)) (else (%num-round x))))

    ;; The simplest rational between lo and hi, 0 < lo <= hi: walks down the Stern-Brocot tree by continued fractions.
    (define (simplest lo hi)
      (let ((fl (floor lo)))
        (cond
          ((%= fl lo) fl)
          ((%< fl (floor hi)) (%+ 1 fl))
          (else
           (%+ fl (%/ 1 (simplest (%/ 1 (%- hi fl)) (%/ 1 (%- lo fl)))))))))

    (define (rationalize x tolerance)
      (check-real x)
      (check-real tolerance)
      (let ((x (%+ x 0)) (e (if (%< tolerance 0) (%- 0 tolerance) tolerance)))
        (cond
          ((if (nan? x) #t (nan? e)) +nan.0)
          ((infinite? e) (if (infinite? x) +nan.0 0.0))
          ((infinite? x) x)
          ((if (exact? x) (exact? e) #f) (simplest-near x e))
          ;; in flonums, the walk would lose its way in their roundings, or not end
          (else (%inexact (simplest-near (exact x) (exact e)))))))
    (define (check-real x)
      (if (real? x) #t (wrong-type "rationalize" "a real number" x)))
    (define (simplest-near x e)
      (let ((lo (%- x e)) (hi (%+ x e)))
        (cond
          ((%> lo 0) (simplest lo hi))
          ((%< hi 0) (%- 0 (simplest (%- 0 hi) (%- 0 lo))))
          (else 0))))

    ;;;; Transcendental functions

    (define (square x) (%* x x))
    (define (exp x) (%num-exp x))
    (define (sin x) (%num-sin x))
    (define (cos x) (%num-cos x))
    (define (tan x) (%num-tan x))
    (define (asin x) (%num-asin x))
    (define (acos x) (%num-acos x))
    (define log
      (case-lambda
        ((x) (%num-log x))
        ((x base)
         (if (%eq? base 0)
             (out-of-range "log" "argument 2 is out of range:" base))
         (%/ (%num-log x) (%num-log base)))))
    (define atan
      (case-lambda
        ((x) (%num-atan x))
        ((y x) (%num-atan2 y x))))
    (define (expt base power)
      (if (%eq? power 2)
          (%* base base)
          (%num-expt base power)))

    ;;;; Exactness and parts

    (define (exact x)
      (if (%fixnum? x) x (%num-exact x)))
    (define (inexact->exact x)
      (if (%fixnum? x) x (%num-exact x)))
    (define (make-rectangular re im)
      (if (if (%flonum? re) (%flonum? im) #f)
          (%fl-rectangular re im)
          (%num-make-rectangular re im)))
    (define (make-polar magnitude angle) (%num-make-polar magnitude angle))
    (define (real-part x)
      (if (%compnum? x) (%compnum-real x) (if (%number? x) x (%num-real-part x))))
    (define (imag-part x)
      (if (%compnum? x) (%compnum-imag x) (if (%number? x) 0 (%num-imag-part x))))
    (define (magnitude x)
      (if (real? x)
          (abs x)
          (if (%compnum? x)
              (let ((re (%compnum-real x)) (im (%compnum-imag x)))
                (if (%flonum? re)
                    (flonum-magnitude re im)
                    (%num-magnitude x)))
              (%num-magnitude x))))
    (define (flonum-magnitude re im)
      (let ((a (%flabs re)) (b (%flabs im)))
        (if (%fl< a b) (hypotenuse b a) (hypotenuse a b))))
    ;; For 0 <= y <= x. The root of the sum of squares, corrected by a step of Newton's method whose residue is computed
    ;; without cancellation (Borges, "An improved algorithm for hypot(a,b)", 2019), as C's hypot does; where a square
    ;; may overflow or lose bits, that is asked.
    (define (hypotenuse x y)
      (let ((squares (%fl+ (%fl* x x) (%fl* y y))))
        (if (if (%fl< 1e-280 squares) (%fl< squares 1e280) #f)
            (let ((h (%flsqrt squares)))
              (%fl- h (%fl/ (if (%fl<= h (%fl* 2. y))
                                (let ((d (%fl- h y)))
                                  (%fl+ (%fl* x (%fl- (%fl* 2. d) x))
                                        (%fl* (%fl- d (%fl* 2. (%fl- x y))) d)))
                                (let ((d (%fl- h x)))
                                  (%fl+ (%fl* (%fl* 2. d) (%fl- x (%fl* 2. y)))
                                        (%fl+ (%fl* (%fl- (%fl* 4. d) y) y) (%fl* d d)))))
                            (%fl* 2. h))))
            (%num-magnitude (%fl-rectangular x y)))))
    (define (angle x) (%num-angle x))

    ;;;; Text

    (define number->string
      (case-lambda
        ((x) (%num->string x 10))
        ((x radix) (%num->string x radix))
        ((x radix precision) (with-precision x radix precision))))
    (define string->number
      (case-lambda
        ((s) (string->number s 10))
        ((s radix)
         (let ((n (%string->num s radix)))
           (if n n (if (%fx< 2 (%string-length s)) (without-precision s radix) #f))))))

    ;; R6RS: after the digits of an inexact number may stand how many bits of them count, as in 1.5|2. All of them do
    ;; here; a number is written with the least precision that says what it is, and at least the one that is asked for.
    (define (with-precision x radix precision)
      (if (%not (if (%fixnum? precision) (%fx< 0 precision) #f))
          (wrong-type "number->string" "a precision, a number of bits" precision))
      (if (%not (%eq? radix 10)) (wrong-type "number->string" "the radix 10, for there is a precision" radix))
      (if (exact? x) (wrong-type "number->string" "an inexact number, for there is a precision" x))
      (let ((im (imag-part x)))
        (if (%eq? im 0)
            (real-with-precision x precision)
            (let ((re (real-with-precision (real-part x) precision)) (s (real-with-precision im precision)))
              (%string-append re
                (%string-append
                 (if (%char=? (%string-ref s 0) #\-) s (if (%char=? (%string-ref s 0) #\+) s (%string-append "+" s)))
                 "i"))))))
    (define (real-with-precision x precision)
      (if (if (exact? x) #t (%not (finite? x)))
          (%num->string x 10)
          (let ((needed (significant-bits x)))
            (%string-append (%num->string x 10)
              (%string-append "|" (%num->string (if (%fx< needed precision) precision needed) 10))))))
    ;; From the highest bit that is set to the lowest.
    (define (significant-bits x)
      (let loop ((n (numerator (exact (abs x)))))
        (cond
          ((%eq? n 0) 1)
          ((even? n) (loop (%quotient n 2)))
          (else
           (let count ((n n) (bits 0))
             (if (%eq? n 0) bits (count (%quotient n 2) (%fx+ bits 1))))))))
    ;; The number without its precisions, or #f.
    (define (without-precision s radix)
      (let ((n (%string-length s)))
        (define (digit? c)
          (let ((code (%char->integer c)))
            (if (%fx<= 48 code) (%fx<= code 57) #f)))
        (define (digits from)
          (let loop ((i from))
            (if (if (%fx< i n) (digit? (%string-ref s i)) #f)
                (loop (%fx+ i 1))
                i)))
        (let loop ((i 1))
          (cond
            ((%fx= i n) #f)
            ((%char=? (%string-ref s i) #\|)
             (let ((end (digits (%fx+ i 1))) (before (%string-ref s (%fx- i 1))))
               (if (if (%fx< (%fx+ i 1) end) (if (digit? before) #t (%char=? before #\.)) #f)
                   (string->number (%string-append (%substring s 0 i) (%substring s end n)) radix)
                   #f)))
            (else (loop (%fx+ i 1)))))))

    ;;;; Bits of exact integers, as in SRFI 151

    (define-syntax define-bitwise
      (syntax-rules ()
        ((_ name fixnum-op op unit)
         (begin
           (define-syntax of-two
             (syntax-rules ()
               ((_ x y)
                (let ((a x) (b y))
                  (if (if (%fixnum? a) (%fixnum? b) #f)
                      (fixnum-op a b)
                      (op a b))))))
           (define name
             (case-lambda
               ((a b) (of-two a b))
               ((a b c) (of-two (of-two a b) c))
               (() unit)
               ((a) (op a unit))
               ((a b . rest)
                (let loop ((acc (of-two a b)) (rest rest))
                  (if (%null? rest)
                      acc
                      (loop (of-two acc (%car rest)) (%cdr rest)))))))))))

    (define-bitwise bitwise-and %fxand %num-and -1)
    (define-bitwise bitwise-ior %fxior %num-or 0)
    (define-bitwise bitwise-xor %fxxor %num-xor 0)
    (define (bitwise-not n) (if (%fixnum? n) (%fxxor n -1) (%num-not n)))
    ;; Of a negative integer, the zeros.
    (define (bit-count n)
      (if (%fixnum? n)
          (%fxones (if (%fx< n 0) (%fxxor n -1) n))
          (%num-bit-count n)))
    (define (integer-length n) (if (%fixnum? n) (%fxlength n) (%num-integer-length n)))

    ;; A shift to the left that loses no bit is undone by the one to the right.
    (define (arithmetic-shift n count)
      (let ((general (lambda () (%num-shift n count))))
        (cond
          ((if (%fixnum? n) (%not (%fixnum? count)) #t) (general))
          ((%fx<= count 0) (if (%fx< -61 count) (%fxsra n (%fx- 0 count)) (general)))
          ((%fx< count 60)
           (let ((shifted (%fxsll n count)))
             (if (%fx= (%fxsra shifted count) n) shifted (general))))
          (else (general)))))))
