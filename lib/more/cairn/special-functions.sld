;;; (cairn special-functions): functions of the analysis that SRFIs 144 and 94 know, on flonums.
;;;
;;; The gamma function is Stirling's series, from an argument that is large enough on; the error function its Taylor
;;; series near zero and a continued fraction elsewhere.  Bessel functions of small arguments are computed by Miller's
;;; backward recurrence, which gives those of all orders at once, normalized by J0 + 2 J2 + 2 J4 + ... = 1; Y0 and Y1
;;; are Neumann's series of them; for large arguments it is Hankel's asymptotic expansion (Abramowitz and Stegun 1964,
;;; 6.1, 7.1, 9.1, 9.2, 9.12).
(define-library (cairn special-functions)
  (export exp-1 log1+ gamma log-gamma erf erfc first-bessel second-bessel)
  (import (scheme base) (scheme inexact))
  (begin

    (define pi 3.141592653589793)
    (define euler 0.5772156649015329)

    ;; e^x - 1 and log(1 + x), exact where these lose digits: what the rounding of u did is divided out (Kahan).
    (define (exp-1 x)
      (let ((u (exp x)))
        (cond ((= u 1.) x)
              ((or (= u +inf.0) (nan? u)) u)
              ((= (- u 1.) -1.) -1.)
              (else (/ (* (- u 1.) x) (log u))))))
    (define (log1+ x)
      (let ((u (+ 1. x)))
        (cond ((= u 1.) x)
              ((or (= u +inf.0) (nan? u)) u)
              ((= u 0.) -inf.0)
              ((< u 0.) +nan.0)
              (else (/ (* (log u) x) (- u 1.))))))

    ;;;; Gamma

    ;; What log gamma(x) is beyond (x - 1/2) log x - x + log sqrt(2 pi), for x > 10.
    (define (stirling x)
      (let ((t (/ 1. (* x x))))
        (/ (+ 0.08333333333333333
              (* t (+ -0.002777777777777778
                      (* t (+ 7.936507936507937e-4
                              (* t (+ -5.952380952380953e-4
                                      (* t (+ 8.417508417508417e-4
                                              (* t (+ -0.0019175269175269176
                                                      (* t (+ 0.00641025641025641
                                                              (* t -0.029550653594771242))))))))))))))
           x)))
    (define log-sqrt-2pi 0.9189385332046728)

    ;; Gamma of a number above 10.
    (define (gamma-above x)
      (if (> x 171.7)
          +inf.0
          ;; the power in two halves, for it may be too large where the value is not
          (let ((half (expt x (/ (- x 0.5) 2.))))
            (* half (* (exp (- x)) half) (exp (+ log-sqrt-2pi (stirling x)))))))

    (define (gamma x)
      (cond
        ((nan? x) x)
        ((= x 0.) (/ 1. x))
        ((= x -inf.0) +nan.0)
        ((and (< x 0.) (integer? x)) +nan.0)
        ;; the factorials are exact as long as they are flonums
        ((and (integer? x) (<= x 171.))
         (let loop ((n 1) (k 1))
           (if (< k x) (loop (* n k) (+ k 1)) (inexact n))))
        ((< x 0.5)
         (if (< x -190.)
             0.
             (/ pi (* (sin-pi x) (gamma (- 1. x))))))
        ((> x 20.) (gamma-above x))
        (else
         (let loop ((x x) (divisor 1.))
           (if (> x 20.)
               (/ (gamma-above x) divisor)
               (loop (+ x 1.) (* divisor x)))))))

    ;; sin(pi x), exact at the integers.
    (define (sin-pi x)
      (let* ((n (round x)) (s (sin (* pi (- x n)))))
        (if (even? n) s (- s))))

    ;; log |gamma(x)|, and the sign of gamma(x).
    (define (log-gamma x)
      (cond
        ((nan? x) (values x 1.))
        ((infinite? x) (values +inf.0 1.))
        ((and (<= x 0.) (integer? x)) (values +inf.0 (if (eqv? x -0.) -1. 1.)))
        ((< x 0.5)
         (let-values (((l sign) (log-gamma (- 1. x))))
           (let ((s (sin-pi x)))
             (values (- (log (/ pi (abs s))) l) (if (< s 0.) -1. 1.)))))
        ((> x 20.)
         (values (+ (- (* (- x 0.5) (log x)) x) log-sqrt-2pi (stirling x)) 1.))
        (else (values (log (gamma x)) 1.))))

    ;;;; The error function

    (define (erf x)
      (cond ((nan? x) x)
            ((< x 0.) (- (erf (- x))))
            ((= x 0.) x)
            ((< x 2.) (erf-series x))
            (else (- 1. (erfc x)))))
    (define (erfc x)
      (cond ((nan? x) x)
            ((< x 0.5) (- 1. (erf x)))
            ((< x 2.) (erfc-fraction x 200))
            ((> x 27.3) 0.)
            (else (erfc-fraction x 80))))

    ;; 2/sqrt(pi) e^(-x^2) (x + 2x^3/3 + 4x^5/15 + ...), all terms positive.
    (define (erf-series x)
      (let loop ((n 1.) (term x) (sum x))
        (let ((term (/ (* 2. x x term) (+ (* 2. n) 1.))))
          (if (< term (* 1e-18 sum))
              (* 1.1283791670955126 (exp (- (* x x))) sum)
              (loop (+ n 1.) term (+ sum term))))))
    ;; e^(-x^2)/sqrt(pi) / (x + 1/2/(x + 1/(x + 3/2/(x + ...)))), from step n inwards.
    (define (erfc-fraction x n)
      (let loop ((k n) (below x))
        (if (= k 0)
            (/ (exp-square x) (* 1.772453850905516 below))
            (loop (- k 1) (+ x (/ (/ (inexact k) 2.) below))))))
    ;; e^(-x^2): the square of what is left when x is cut to a short number is small.
    (define (exp-square x)
      (let* ((short (/ (round (* x 65536.)) 65536.)) (rest (- x short)))
        (* (exp (- (* short short))) (exp (- (* rest (+ x short)))))))

    ;;;; Bessel functions

    ;; From this on the asymptotic expansion is exact enough.
    (define large 25.)

    ;; The sums of Hankel's expansion and the phase x - (n/2 + 1/4) pi.
    (define (hankel n x combine)
      (let ((mu (* 4. n n)))
        (let loop ((k 1.) (term 1.) (p 1.) (q 0.))
          (let* ((next (/ (* term (- mu (square (- (* 2. k) 1.)))) (* k 8. x))))
            (if (or (< (abs next) 1e-18) (> (abs next) (abs term)))
                (combine p q)
                (case (modulo (exact k) 4)
                  ((1) (loop (+ k 1.) next p (+ q next)))
                  ((2) (loop (+ k 1.) next (- p next) q))
                  ((3) (loop (+ k 1.) next p (- q next)))
                  (else (loop (+ k 1.) next (+ p next) q))))))))
    ;; Sine and cosine of x - pi/4 - n pi/2, without the difference, which would lose digits.
    (define (phase n x)
      (let* ((s (sin x)) (c (cos x)) (r 0.7071067811865476) (sin- (* r (- s c))) (cos- (* r (+ s c))))
        (if (= n 0)
            (values sin- cos-)
            (values (- cos-) sin-))))
    (define (first-large n x)
      (let-values (((s c) (phase n x)))
        (hankel n x (lambda (p q) (* (sqrt (/ 2. (* pi x))) (- (* p c) (* q s)))))))
    (define (second-large n x)
      (let-values (((s c) (phase n x)))
        (hankel n x (lambda (p q) (* (sqrt (/ 2. (* pi x))) (+ (* p s) (* q c)))))))

    ;; J0(x) ... Jm(x), with m at least n, for 0 < x.
    (define (miller n x)
      (let* ((m (+ 40 (* 2 (max n (exact (ceiling x)))))) (v (make-vector (+ m 2) 0.)))
        (vector-set! v m 1e-300)
        (let loop ((k m))
          (when (> k 0)
            (let ((next (- (* (/ (* 2. k) x) (vector-ref v k)) (vector-ref v (+ k 1)))))
              (vector-set! v (- k 1) next)
              (if (> (abs next) 1e100)
                  (do ((i (- k 1) (+ i 1))) ((> i m))
                    (vector-set! v i (* 1e-200 (vector-ref v i)))))
              (loop (- k 1)))))
        (let ((sum (do ((i 2 (+ i 2)) (sum (vector-ref v 0) (+ sum (* 2. (vector-ref v i))))) ((> i m) sum))))
          (vector-map (lambda (j) (/ j sum)) v))))

    (define (first-bessel n x)
      (let ((sign (if (odd? n) -1. 1.)))
        (cond
          ((nan? x) x)
          ((< n 0) (* sign (first-bessel (- n) x)))
          ((< x 0.) (* sign (first-bessel n (- x))))
          ((= x 0.) (if (= n 0) 1. 0.))
          ((infinite? x) 0.)
          ((< x 1e-8) (small-first n x))
          ((and (> x large) (< n 2)) (first-large n x))
          ;; upwards, which is stable below x
          ((and (> x large) (< n x)) (upwards n x (first-large 0 x) (first-large 1 x)))
          (else (vector-ref (miller n x) n)))))
    ;; (x/2)^n / n!
    (define (small-first n x)
      (do ((k 1 (+ k 1)) (j 1. (* j (/ x 2. k)))) ((> k n) j)))

    (define (upwards n x first second)
      (let loop ((k 1) (a first) (b second))
        (cond ((= n 0) a)
              ((= k n) b)
              (else (loop (+ k 1) b (- (* (/ (* 2. k) x) b) a))))))

    (define (second-bessel n x)
      (cond
        ((nan? x) x)
        ((< n 0) (* (if (odd? n) -1. 1.) (second-bessel (- n) x)))
        ((< x 0.) +nan.0)
        ((= x 0.) -inf.0)
        ((infinite? x) 0.)
        ((> x large) (upwards n x (second-large 0 x) (second-large 1 x)))
        (else
         (let* ((j (miller 1 x)) (y0 (neumann-0 j x)))
           (if (= n 0)
               y0
               (let ((y (upwards n x y0 (neumann-1 j x))))
                 (if (nan? y) -inf.0 y)))))))
    ;; sum of (term k J) for k = 1, 2, ... with alternating signs, the first negative
    (define (alternate j step start coefficient)
      (let loop ((k 1) (i start) (sign -1.) (sum 0.))
        (if (>= i (vector-length j))
            sum
            (loop (+ k 1) (+ i step) (- sign) (+ sum (* sign (coefficient k) (vector-ref j i)))))))
    (define (neumann-0 j x)
      (- (* (/ 2. pi) (+ (log (/ x 2.)) euler) (vector-ref j 0))
         (* (/ 4. pi) (alternate j 2 2 (lambda (k) (/ 1. k))))))
    (define (neumann-1 j x)
      (- (* (/ 2. pi) (+ (log (/ x 2.)) euler -1.) (vector-ref j 1))
         (* (/ 2. (* pi x)) (vector-ref j 0))
         (* (/ 2. pi) (alternate j 2 3 (lambda (k) (/ (+ (* 2. k) 1.) (* k (+ k 1.))))))))))
