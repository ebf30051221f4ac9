;;; (srfi 144): flonums; also as (scheme flonum).
;;;
;;; Operands are checked.  The arithmetic is the general one, which between two flonums is single instructions: as with
;;; (srfi 143), a program gains checks by these names, and no speed.  What takes a flonum apart, and `fl+*`, goes over
;;; exact numbers, so it is right to the last bit and slow.  The special functions are in (cairn special-functions).
(define-library (srfi 144)
  (export
   fl-e fl-1/e fl-e-2 fl-e-pi/4 fl-log2-e fl-log10-e fl-log-2 fl-1/log-2 fl-log-3 fl-log-pi fl-log-10 fl-1/log-10
   fl-pi fl-1/pi fl-2pi fl-pi/2 fl-pi/4 fl-pi-squared fl-degree fl-2/pi fl-2/sqrt-pi fl-sqrt-2 fl-sqrt-3 fl-sqrt-5
   fl-sqrt-10 fl-1/sqrt-2 fl-cbrt-2 fl-cbrt-3 fl-4thrt-2 fl-phi fl-log-phi fl-1/log-phi fl-euler fl-e-euler fl-sin-1
   fl-cos-1 fl-gamma-1/2 fl-gamma-1/3 fl-gamma-2/3
   fl-greatest fl-least fl-epsilon fl-fast-fl+* fl-integer-exponent-zero fl-integer-exponent-nan
   flonum fladjacent flcopysign make-flonum
   flinteger-fraction flexponent flinteger-exponent flnormalized-fraction-exponent flsign-bit
   flonum? fl=? fl<? fl>? fl<=? fl>=? flunordered? flinteger? flzero? flpositive? flnegative? flodd? fleven?
   flfinite? flinfinite? flnan? flnormalized? fldenormalized?
   flmax flmin fl+ fl* fl+* fl- fl/ flabs flabsdiff flposdiff flsgn flnumerator fldenominator
   flfloor flceiling flround fltruncate
   flexp flexp2 flexp-1 flsquare flsqrt flcbrt flhypot flexpt fllog fllog1+ fllog2 fllog10 make-fllog-base
   flsin flcos fltan flasin flacos flatan flsinh flcosh fltanh flasinh flacosh flatanh
   flquotient flremainder flremquo
   flgamma flloggamma flfirst-bessel flsecond-bessel flerf flerfc)
  (import (scheme base) (scheme case-lambda) (scheme inexact) (cairn special-functions)
          (rename (only (cairn primitives) %flonum?) (%flonum? flonum?)) (only (srfi 151) integer-length)
          (only (cairn control) out-of-range wrong-type))
  (begin

    (define fl-e 2.718281828459045)
    (define fl-1/e 0.36787944117144233)
    (define fl-e-2 7.38905609893065)
    (define fl-e-pi/4 2.1932800507380152)
    (define fl-log2-e 1.4426950408889634)
    (define fl-log10-e 0.4342944819032518)
    (define fl-log-2 0.6931471805599453)
    (define fl-1/log-2 1.4426950408889634)
    (define fl-log-3 1.0986122886681098)
    (define fl-log-pi 1.1447298858494002)
    (define fl-log-10 2.302585092994046)
    (define fl-1/log-10 0.4342944819032518)
    (define fl-pi 3.141592653589793)
    (define fl-1/pi 0.3183098861837907)
    (define fl-2pi 6.283185307179586)
    (define fl-pi/2 1.5707963267948966)
    (define fl-pi/4 0.7853981633974483)
    (define fl-pi-squared 9.869604401089358)
    (define fl-degree 0.017453292519943295)
    (define fl-2/pi 0.6366197723675814)
    (define fl-2/sqrt-pi 1.1283791670955126)
    (define fl-sqrt-2 1.4142135623730951)
    (define fl-sqrt-3 1.7320508075688772)
    (define fl-sqrt-5 2.23606797749979)
    (define fl-sqrt-10 3.1622776601683795)
    (define fl-1/sqrt-2 0.7071067811865476)
    (define fl-cbrt-2 1.2599210498948732)
    (define fl-cbrt-3 1.4422495703074083)
    (define fl-4thrt-2 1.189207115002721)
    (define fl-phi 1.618033988749895)
    (define fl-log-phi 0.48121182505960347)
    (define fl-1/log-phi 2.0780869212350277)
    (define fl-euler 0.5772156649015329)
    (define fl-e-euler 1.781072417990198)
    (define fl-sin-1 0.8414709848078965)
    (define fl-cos-1 0.5403023058681398)
    (define fl-gamma-1/2 1.772453850905516)
    (define fl-gamma-1/3 2.6789385347077475)
    (define fl-gamma-2/3 1.3541179394264005)

    (define fl-greatest 1.7976931348623157e308)
    (define fl-least 5e-324)
    (define fl-epsilon 2.220446049250313e-16)
    (define fl-fast-fl+* #f)
    (define fl-integer-exponent-zero -2147483648)
    (define fl-integer-exponent-nan 2147483647)

    (define (check who x)
      (if (flonum? x) x (wrong-type who "a flonum" x)))

    ;; (name operand ...): the operands are flonums in `body`.
    (define-syntax define-fl
      (syntax-rules ()
        ((_ (name x ... y) body ...)
         (begin
           (define (fail x ... y)
             (check (symbol->string 'name) x)
             ...
             (wrong-type (symbol->string 'name) "a flonum" y))
           (define (name x ... y)
             (if (and (flonum? x) ... (flonum? y))
                 (let () body ...)
                 (fail x ... y)))))))
    ;; (two a b): the operation on two flonums.  What is wrong with them is found out by a procedure of its own, which
    ;; never returns and so stays one, while the rest is inlined.
    (define-syntax define-two
      (syntax-rules ()
        ((_ two name operation)
         (begin
           (define (fail a b)
             (check (symbol->string 'name) a)
             (wrong-type (symbol->string 'name) "a flonum" b))
           (define (two a b)
             (if (if (flonum? a) (flonum? b) #f) (operation a b) (fail a b)))))))
    (define-syntax define-fls
      (syntax-rules ()
        ((_ (name operation) ...)
         (begin
           (define-fl (name x) (operation x))
           ...))))

    ;; A list's flonums, combined with `value` from left to right.
    (define (left two value rest)
      (if (null? rest)
          value
          (left two (two value (car rest)) (cdr rest))))

    ;;;; Predicates

    (define-syntax define-comparison
      (syntax-rules ()
        ((_ name compare)
         (begin
           (define-two two name compare)
           (define name
             (case-lambda
               ((a b) (two a b))
               (() #t)
               ((a) (check (symbol->string 'name) a) #t)
               ((a b . rest)
                (let loop ((holds (two a b)) (b b) (rest rest))
                  (if (null? rest)
                      holds
                      (let ((next (two b (car rest))))
                        (loop (and holds next) (car rest) (cdr rest))))))))))))
    (define-comparison fl=? =)
    (define-comparison fl<? <)
    (define-comparison fl>? >)
    (define-comparison fl<=? <=)
    (define-comparison fl>=? >=)
    (define-fl (flunordered? x y) (or (nan? x) (nan? y)))
    (define-fls
      (flinteger? integer?) (flzero? zero?) (flpositive? positive?) (flnegative? negative?) (flodd? odd?)
      (fleven? even?) (flfinite? finite?) (flinfinite? infinite?) (flnan? nan?))
    (define least-normal 2.2250738585072014e-308)
    (define-fl (flnormalized? x) (and (finite? x) (>= (abs x) least-normal)))
    (define-fl (fldenormalized? x) (and (not (= x 0.)) (< (abs x) least-normal)))

    ;;;; Making, and taking apart

    (define (flonum x)
      (if (real? x) (inexact x) (wrong-type "flonum" "a real number" x)))

    (define (negative-sign? x) (or (< x 0.) (eqv? x -0.)))
    (define-fl (flsign-bit x) (if (negative-sign? x) 1 0))
    (define-fl (flcopysign x y)
      (if (eq? (negative-sign? x) (negative-sign? y)) x (- x)))
    (define-fl (flsgn x) (flcopysign 1. x))

    ;; The exponent e with 2^e <= |x| < 2^(e+1), for a finite x that is not zero.
    (define (exponent x)
      (let ((x (abs (exact x))))
        (- (integer-length (numerator x)) (integer-length (denominator x)))))
    (define-fl (flinteger-exponent x)
      (cond ((nan? x) fl-integer-exponent-nan)
            ((infinite? x) fl-integer-exponent-nan)
            ((= x 0.) fl-integer-exponent-zero)
            (else (exponent x))))
    (define-fl (flexponent x)
      (cond ((nan? x) x)
            ((infinite? x) +inf.0)
            ((= x 0.) -inf.0)
            (else (inexact (exponent x)))))

    (define (make-flonum x n)
      (check "make-flonum" x)
      (if (not (exact-integer? n)) (wrong-type "make-flonum" "an exact integer" n))
      (cond ((or (nan? x) (infinite? x) (= x 0.)) x)
            ;; beyond these every number has become zero or infinite
            ((> n 2200) (* x +inf.0))
            ((< n -2200) (* x 0.))
            (else (flcopysign (inexact (* (exact x) (expt 2 n))) x))))
    (define-fl (flnormalized-fraction-exponent x)
      (if (or (nan? x) (infinite? x) (= x 0.))
          (values x 0)
          (let ((n (+ (exponent x) 1)))
            (values (inexact (* (exact x) (expt 2 (- n)))) n))))
    (define-fl (flinteger-fraction x)
      (cond ((nan? x) (values x x))
            ((infinite? x) (values x (flcopysign 0. x)))
            (else (let ((n (truncate x))) (values n (flcopysign (- x n) x))))))

    (define-fl (fladjacent x y)
      (cond
        ((or (nan? x) (nan? y)) +nan.0)
        ((= x y) y)
        ((= x 0.) (flcopysign fl-least y))
        ((infinite? x) (flcopysign fl-greatest x))
        (else
         (let* ((away? (eq? (> y x) (> x 0.)))
                (power (- (exponent x) 52))
                ;; below a power of two they lie closer
                (closer? (and (not away?) (= (abs (exact x)) (expt 2 (exponent x)))))
                (step (expt 2 (max -1074 (if closer? (- power 1) power)))))
           (flcopysign (inexact ((if (> y x) + -) (exact x) step)) x)))))

    ;;;; Arithmetic

    (define-syntax define-fold
      (syntax-rules ()
        ((_ name combine unit)
         (begin
           (define-two two name combine)
           (define name
             (case-lambda
               ((a b) (two a b))
               (() unit)
               ((a) (check (symbol->string 'name) a))
               ((a b . rest) (left two (two a b) rest))))))))
    (define-fold fl+ + 0.)
    (define-fold fl* * 1.)
    ;; A number wins over a NaN.
    (define (max:2 a b)
      (cond ((nan? a) b)
            ((nan? b) a)
            (else (max a b))))
    (define (min:2 a b)
      (cond ((nan? a) b)
            ((nan? b) a)
            (else (min a b))))
    (define-fold flmax max:2 -inf.0)
    (define-fold flmin min:2 +inf.0)
    (define-two minus:2 fl- -)
    (define fl-
      (case-lambda
        ((a b) (minus:2 a b))
        ((a) (- (check "fl-" a)))
        ((a b . rest) (left minus:2 (minus:2 a b) rest))))
    (define-two divide:2 fl/ /)
    (define fl/
      (case-lambda
        ((a b) (divide:2 a b))
        ((a) (/ 1. (check "fl/" a)))
        ((a b . rest) (left divide:2 (divide:2 a b) rest))))
    (define-fl (fl+* x y z)
      (cond
        ((not (and (finite? x) (finite? y))) (+ (* x y) z))
        ((not (finite? z)) z)
        (else
         (let ((sum (+ (* (exact x) (exact y)) (exact z))))
           ;; exact zero has no sign
           (if (eqv? sum 0) (+ (* x y) z) (inexact sum))))))
    (define-fls (flabs abs) (flfloor floor) (flceiling ceiling) (flround round) (fltruncate truncate) (flsquare square))
    (define-fl (flabsdiff x y) (abs (- x y)))
    (define-fl (flposdiff x y)
      (cond ((or (nan? x) (nan? y)) +nan.0)
            ((> x y) (- x y))
            (else 0.)))
    (define-fl (flnumerator x)
      (if (or (nan? x) (infinite? x) (= x 0.)) x (numerator x)))
    (define-fl (fldenominator x)
      (cond ((nan? x) x)
            ((or (infinite? x) (= x 0.)) 1.)
            (else (denominator x))))

    ;;;; Exponents and logarithms

    (define-fls (flexp exp) (flexp-1 exp-1) (fllog1+ log1+))
    (define-fl (flsqrt x) (if (< x 0.) +nan.0 (sqrt x)))
    (define-fl (flexp2 x) (expt 2. x))
    (define-fl (flcbrt x)
      (if (or (nan? x) (infinite? x) (= x 0.))
          x
          (let* ((a (abs x))
                 (root (expt a (/ 1. 3.)))
                 ;; one step of Newton's method
                 (root (if (< 1e-200 a 1e200) (- root (/ (- root (/ a (* root root))) 3.)) root)))
            (flcopysign root x))))
    (define-fl (flhypot x y)
      (let ((a (max (abs x) (abs y))) (b (min (abs x) (abs y))))
        (cond ((or (infinite? x) (infinite? y)) +inf.0)
              ((or (nan? x) (nan? y)) +nan.0)
              ((= a 0.) 0.)
              (else (* a (sqrt (+ 1. (square (/ b a)))))))))
    (define-fl (flexpt x y)
      (let ((z (expt x y)))
        (if (real? z) z +nan.0)))
    (define (real-log x)
      (cond ((nan? x) x)
            ((= x 0.) -inf.0)
            ((< x 0.) +nan.0)
            (else (log x))))
    (define-fls (fllog real-log))
    ;; Exact for powers of the base, as far as these are flonums.
    (define-fl (fllog2 x)
      (if (and (finite? x) (> x 0.))
          (let-values (((fraction n) (flnormalized-fraction-exponent x)))
            (if (= fraction 0.5)
                (inexact (- n 1))
                (+ n (/ (log fraction) fl-log-2))))
          (real-log x)))
    (define (log-to base)
      (let ((log-base (log base)))
        (lambda (x)
          (let* ((y (/ (real-log x) log-base)) (n (round y)))
            (if (and (< (abs n) 400.) (= (expt base n) x)) n y)))))
    (define log10 (log-to 10.))
    (define-fls (fllog10 log10))
    (define (make-fllog-base base)
      (check "make-fllog-base" base)
      (if (not (> base 1.)) (out-of-range "make-fllog-base" "not a base of logarithms:" base))
      (let ((log (log-to base)))
        (lambda (x) (log (check "fllog-base" x)))))

    ;;;; Trigonometry

    (define-fls (flsin sin) (flcos cos) (fltan tan))
    (define (within-1 f)
      (lambda (x) (if (<= -1. x 1.) (f x) +nan.0)))
    (define real-asin (within-1 asin))
    (define real-acos (within-1 acos))
    (define-fls (flasin real-asin) (flacos real-acos))
    (define flatan
      (case-lambda
        ((x) (atan (check "flatan" x)))
        ((y x) (atan (check "flatan" y) (check "flatan" x)))))
    (define-fl (flsinh x)
      (let ((a (abs x)))
        (if (< a 700.)
            (let ((u (exp-1 a)))
              (flcopysign (if (= a 0.) a (/ (+ u (/ u (+ u 1.))) 2.)) x))
            (let ((half (exp (/ a 2.))))
              (flcopysign (* (/ half 2.) half) x)))))
    (define-fl (flcosh x)
      (let ((a (abs x)))
        (if (< a 700.)
            (let ((e (exp a))) (/ (+ e (/ 1. e)) 2.))
            (let ((half (exp (/ a 2.)))) (* (/ half 2.) half)))))
    (define-fl (fltanh x)
      (let ((a (abs x)))
        (flcopysign (if (> a 20.) (if (nan? a) a 1.) (let ((u (exp-1 (* 2. a)))) (/ u (+ u 2.)))) x)))
    (define-fl (flasinh x)
      (let ((a (abs x)))
        (flcopysign
         (if (> a 1e8)
             (+ (real-log a) fl-log-2)
             (log1+ (+ a (/ (* a a) (+ 1. (sqrt (+ 1. (* a a))))))))
         x)))
    (define-fl (flacosh x)
      (cond ((< x 1.) +nan.0)
            ((> x 1e8) (+ (real-log x) fl-log-2))
            (else (let ((t (- x 1.))) (log1+ (+ t (sqrt (+ (* 2. t) (* t t)))))))))
    (define-fl (flatanh x)
      (cond ((> (abs x) 1.) +nan.0)
            ((= (abs x) 1.) (flcopysign +inf.0 x))
            (else (flcopysign (* 0.5 (log1+ (/ (* 2. (abs x)) (- 1. (abs x))))) x))))

    ;;;; Division

    (define-fl (flquotient x y)
      (if (and (finite? x) (finite? y) (not (= y 0.)))
          (flcopysign (inexact (truncate (/ (exact x) (exact y)))) (* (flsgn x) (flsgn y)))
          (truncate (/ x y))))
    (define-fl (flremainder x y)
      (cond ((or (nan? x) (nan? y) (infinite? x) (= y 0.)) +nan.0)
            ((infinite? y) x)
            (else (let ((x0 (exact x)) (y0 (exact y)))
                    (flcopysign (inexact (- x0 (* y0 (truncate (/ x0 y0))))) x)))))
    (define-fl (flremquo x y)
      (cond ((or (nan? x) (nan? y) (infinite? x) (= y 0.)) (values +nan.0 0))
            ((infinite? y) (values x 0))
            (else (let* ((x0 (exact x)) (y0 (exact y)) (q (round (/ x0 y0))) (r (- x0 (* y0 q))))
                    (values (if (eqv? r 0) (flcopysign 0. x) (inexact r)) q)))))

    ;;;; Special functions

    (define-fls (flgamma gamma) (flloggamma log-gamma) (flerf erf) (flerfc erfc))
    (define (check-order who n)
      (if (exact-integer? n) n (wrong-type who "an exact integer" n)))
    (define (flfirst-bessel n x)
      (first-bessel (check-order "flfirst-bessel" n) (check "flfirst-bessel" x)))
    (define (flsecond-bessel n x)
      (second-bessel (check-order "flsecond-bessel" n) (check "flsecond-bessel" x)))))
