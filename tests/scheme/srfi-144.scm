;; (srfi 144): flonums; (srfi 160) and its parts under the names of R7RS-large.
(import (scheme base) (scheme write) (scheme flonum) (srfi 160) (prefix (scheme vector f64) v:)
        (only (scheme vector base) u8vector) (scheme ephemeron))
(include "include/check.scm")

;; Within some units of the last place?
(define (near? x y)
  (or (= x y) (< (abs (- x y)) (* 2e-14 (abs y)))))

(check (list fl-greatest fl-least fl-epsilon (fladjacent 0. 1.) (fladjacent 1. 2.) (fladjacent 1. 0.)
             (fladjacent fl-greatest +inf.0) (fladjacent -1. 0.) (fladjacent 2. 2.) (fladjacent 2.2250738585072014e-308 0.))
       => '(1.7976931348623157e308 5e-324 2.220446049250313e-16 5e-324 1.0000000000000002 0.9999999999999999 +inf.0
            -0.9999999999999999 2. 2.225073858507201e-308))
(check (list (flcopysign 2. -0.) (flcopysign -2. 3.) (make-flonum 3. 4) (make-flonum 1. 5000) (make-flonum -1. -5000)
             (flsign-bit -0.) (flsgn -3.) (flonum 1/4))
       => '(-2. 2. 48. +inf.0 -0. 1 -1. 0.25))
(check-values (flnormalized-fraction-exponent 12.) => 0.75 4)
(check-values (flinteger-fraction -3.25) => -3. -0.25)
(check (list (flexponent 12.) (flinteger-exponent 0.3) (flinteger-exponent 5e-324)) => '(3. -2 -1074))
(check (list (fl<? 1. 2. 3.) (fl<? 1. 2. 2.) (fl=?) (flunordered? 1. +nan.0) (flnormalized? 1e-310) (fldenormalized? 1e-310)
             (flinteger? 2.) (flodd? 3.) (flonum? 1) (flnan? 1.))
       => '(#t #f #t #t #f #t #t #t #f #f))
(check (list (fl+ 1. 2. 3.) (fl*) (fl- 1.) (fl- 5. 1. 1.) (fl/ 2.) (fl/ 8. 2. 2.) (flmax) (flmax 1. +nan.0 3.) (flmin 2. 1.)
             (flabsdiff 1. 3.) (flposdiff 1. 3.) (flnumerator 0.75) (fldenominator 0.75) (flround 2.5))
       => '(6. 1. -1. 3. 0.5 2. -inf.0 3. 1. 2. 0. 3. 4. 2.))
;; rounded once
(check (fl+* (+ 1. fl-epsilon) (- 1. fl-epsilon) -1.) => (- (* fl-epsilon fl-epsilon)))
(check (list (flcbrt 27.) (flcbrt -8.) (flhypot 3e100 0.) (fllog2 8.) (fllog10 1000.) ((make-fllog-base 7.) 49.) (flexp2 10.)
             (flexp-1 1e-20) (fllog1+ 1e-20) (flsqrt -1.) (flquotient -7. 2.) (flremainder -7. 2.))
       => '(3. -2. 3e100 3. 3. 2. 1024. 1e-20 1e-20 +nan.0 -3. -1.))
(check-values (flremquo 7. 2.) => -1. 4)
(check (map near?
            (list (flsinh 1.) (flcosh 1.) (fltanh 0.5) (flasinh 1.) (flacosh 2.) (flatanh 0.5) (flsinh 1e-10) (flatan 1. -1.))
            '(1.1752011936438014 1.5430806348152437 0.46211715726000975 0.881373587019543 1.3169578969248166
              0.5493061443340548 1e-10 2.356194490192345))
       => '(#t #t #t #t #t #t #t #t))
(check (map near?
            (list (flgamma 0.5) (flgamma 5.) (flgamma -1.5) (flgamma 30.5) (flgamma (fl/ 3.)) (flerf 0.5) (flerf 1.5) (flerfc 3.)
                  (flerfc 10.))
            (list fl-gamma-1/2 24. 2.363271801207355 4.8226969334909095e+31 fl-gamma-1/3 0.5204998778130465
                  0.9661051464753108 2.2090496998585445e-5 2.088487583762545e-45))
       => '(#t #t #t #t #t #t #t #t #t))
(check-values (let-values (((l sign) (flloggamma -1.5))) (values (near? l 0.8600470153764810) sign)) => #t 1.)
(check (map near?
            (list (flfirst-bessel 0 1.) (flfirst-bessel 1 10.) (flfirst-bessel 3 2.) (flfirst-bessel 0 50.)
                  (flsecond-bessel 0 1.) (flsecond-bessel 1 1.) (flsecond-bessel 2 3.))
            '(0.7651976865579666 0.04347274616886144 0.12894324947440205 0.055812327669251816
              0.08825696421567697 -0.7812128213002887 -0.16040039348492374))
       => '(#t #t #t #t #t #t #t))
(check-error (fl+ 1 2.))
(check-error (flsqrt 4))
(check-error (make-fllog-base 0.5))

(check (list (v:f64vector-map fl+ (f64vector 1. 2.) (f64vector 3. 4.)) (u8vector 1 2) (s16vector-ref (s16vector -5) 0))
       => (list (f64vector 4. 6.) (bytevector 1 2) -5))
(define key (list 1))
(check (ephemeron-broken? (make-ephemeron key 2)) => #f)
(check key => '(1))
(report)
