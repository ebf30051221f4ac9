;;; (srfi 141): integer division with six ways of rounding the quotient; (scheme division) of R7RS-large.
;;;
;;; floor and truncate are R7RS-small's. The others follow from floor: a ceiling is a floor of the negated numerator, a
;;; euclidean remainder is a floor remainder by |d|, and round and balanced compare twice the remainder with the
;;; divisor.
(define-library (srfi 141)
  (export ceiling/ ceiling-quotient ceiling-remainder round/ round-quotient round-remainder
          euclidean/ euclidean-quotient euclidean-remainder balanced/ balanced-quotient balanced-remainder
          floor/ floor-quotient floor-remainder truncate/ truncate-quotient truncate-remainder)
  (import (scheme base))
  (begin
    (define (ceiling-quotient n d) (- 0 (floor-quotient (- 0 n) d)))
    (define (ceiling-remainder n d) (- 0 (floor-remainder (- 0 n) d)))
    (define (ceiling/ n d) (values (ceiling-quotient n d) (ceiling-remainder n d)))

    (define (euclidean-quotient n d) (if (negative? d) (ceiling-quotient n d) (floor-quotient n d)))
    (define (euclidean-remainder n d) (floor-remainder n (abs d)))
    (define (euclidean/ n d) (values (euclidean-quotient n d) (euclidean-remainder n d)))

    ;; To the nearest integer, to the even one of two.
    (define (round-quotient n d)
      (let* ((quotient (floor-quotient n d))
             (twice (* 2 (abs (floor-remainder n d))))
             (whole (abs d)))
        (if (or (> twice whole) (and (= twice whole) (odd? quotient)))
            (+ quotient 1)
            quotient)))
    (define (round-remainder n d) (- n (* d (round-quotient n d))))
    (define (round/ n d) (let ((quotient (round-quotient n d))) (values quotient (- n (* d quotient)))))

    ;; The remainder r with -|d/2| <= r < |d/2|.
    (define (balanced/ n d)
      (let ((quotient (euclidean-quotient n d))
            (remainder (euclidean-remainder n d)))
        (cond ((< (* 2 remainder) (abs d)) (values quotient remainder))
              ((negative? d) (values (- quotient 1) (+ remainder d)))
              (else (values (+ quotient 1) (- remainder d))))))
    (define (balanced-quotient n d) (let-values (((quotient remainder) (balanced/ n d))) quotient))
    (define (balanced-remainder n d) (let-values (((quotient remainder) (balanced/ n d))) remainder))))
