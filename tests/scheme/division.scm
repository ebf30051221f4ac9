;; (srfi 141): quotient and remainder fit together, and each remainder is in its range.
(import (scheme base) (scheme write) (scheme division))

;; Doubles of this size are not exact integers.
(define (fits? n d) (or (and (exact? n) (exact? d)) (< (max (abs n) (abs d)) 1e9)))

(define (check name divide quotient remainder in-range?)
  (for-each
   (lambda (n)
     (for-each
      (lambda (d)
        (let-values (((q r) (if (fits? n d) (divide n d) (divide 0 d))) ((n) (if (fits? n d) n 0)))
          (unless (and (= n (+ (* d q) r))
                       (eqv? q (quotient n d))
                       (eqv? r (remainder n d))
                       (in-range? q r d))
            (write (list name n d q r))
            (newline))))
      divisors))
   numerators))

(define numerators (list 0 1 -1 2 -2 3 -3 5 -5 6 -6 7 -7 100 -101 12.0 -13.0 (expt 10 30) (- 1 (expt 10 30))))
(define divisors (list 1 -1 2 -2 3 -3 4 -4 7 -8 2.0 -3.0 (expt 10 15) (- (expt 10 29)) (* 2 (expt 10 30))))

(define (same-sign? r d) (or (zero? r) (eqv? (negative? r) (negative? d))))
(check 'floor floor/ floor-quotient floor-remainder (lambda (q r d) (and (same-sign? r d) (< (abs r) (abs d)))))
(check 'truncate truncate/ truncate-quotient truncate-remainder (lambda (q r d) (< (abs r) (abs d))))
(check 'ceiling ceiling/ ceiling-quotient ceiling-remainder
       (lambda (q r d) (and (same-sign? r (- d)) (< (abs r) (abs d)))))
(check 'euclidean euclidean/ euclidean-quotient euclidean-remainder (lambda (q r d) (and (<= 0 r) (< r (abs d)))))
(check 'round round/ round-quotient round-remainder
       (lambda (q r d)
         (or (< (* 2 (abs r)) (abs d)) (and (= (* 2 (abs r)) (abs d)) (even? q)))))
(check 'balanced balanced/ balanced-quotient balanced-remainder
       (lambda (q r d) (and (<= (- (abs d)) (* 2 r)) (< (* 2 r) (abs d)))))

(define (show divide n d) (call-with-values (lambda () (divide n d)) (lambda (q r) (write (list n d q r)) (newline))))
(for-each (lambda (divide) (show divide 7 2) (show divide -7 2) (show divide 7 -2) (show divide -7 -2))
          (list floor/ truncate/ ceiling/ euclidean/ round/ balanced/))

;; A flonum by exact zero: as by 0.0, whether compiled inline, folded or called.
(define (flonum i) (vector-ref #(1. -1. 0. 1e300) i))
(write (list (/ (flonum 0) 0) (/ (flonum 1) 0) (/ (flonum 2) 0) (/ (flonum 3) 0) (/ 1. 0) (/ -1e300 0)
             (apply / (list 1e300 0)) (map / '(1. -1e300 0.) '(0 0 0))))
(newline)
