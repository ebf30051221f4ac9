;; (srfi 143), (scheme fixnum): results compared with those of the general operations; every error a program can make.
(import (scheme base) (scheme write) (scheme fixnum) (only (srfi 151) bit-field arithmetic-shift bitwise-and))
(include "include/check.scm")

(check (- (expt 2 (- fx-width 1)) 1) => fx-greatest)
(check (- -1 fx-greatest) => fx-least)
(check (map fixnum? (list 0 fx-greatest fx-least (+ fx-greatest 1) (- fx-least 1) 1.0 'a)) => '(#t #t #t #f #f #f #f))

(define samples (list 0 1 -1 2 -7 100 fx-greatest fx-least (- fx-greatest 1) (+ fx-least 1) 1234567890123))

;; What `thunk` returns, or the message of its error.
(define (outcome thunk)
  (guard (e ((error-object? e) (error-object-message e)))
    (thunk)))
(define (fixnum-or who n)
  (if (fixnum? n) n (string-append who ": the result is no fixnum:")))

(define-syntax check-binary
  (syntax-rules ()
    ((_ (name general) ...)
     (for-each
      (lambda (a)
        (for-each
         (lambda (b)
           (check (list 'name a b (outcome (lambda () (name a b))))
                  => (list 'name a b (fixnum-or (symbol->string 'name) (general a b))))
           ...)
         samples))
      samples))))
(check-binary (fx+ +) (fx- -) (fx* *) (fxmax max) (fxmin min) (fxand bitwise-and))

(for-each
 (lambda (a)
   (check (list (fx=? a 2) (fx<? a 2) (fx>? a 2) (fx<=? a 2) (fx>=? a 2))
          => (list (= a 2) (< a 2) (> a 2) (<= a 2) (>= a 2)))
   (check (list (fxzero? a) (fxpositive? a) (fxnegative? a) (fxodd? a) (fxeven? a))
          => (list (zero? a) (positive? a) (negative? a) (odd? a) (even? a)))
   (check (outcome (lambda () (fxneg a))) => (fixnum-or "fxneg" (- a)))
   (check (outcome (lambda () (fxabs a))) => (fixnum-or "fxabs" (abs a)))
   (check (outcome (lambda () (fxsquare a))) => (fixnum-or "fxsquare" (* a a)))
   (check (fxquotient a 7) => (quotient a 7))
   (check (fxremainder a -7) => (remainder a -7))
   (check (fxnot a) => (- -1 a))
   (do ((count 0 (+ count 1))) ((= count 64))
     (check (fxarithmetic-shift-right a count) => (floor-quotient a (expt 2 count)))
     (check (outcome (lambda () (fxarithmetic-shift-left a count)))
            => (fixnum-or "fxarithmetic-shift-left" (* a (expt 2 count))))
     ;; the general one, which has a path for fixnums
     (check (arithmetic-shift a count) => (* a (expt 2 count)))))
 samples)
(check (outcome (lambda () (fxquotient fx-least -1))) => "fxquotient: the result is no fixnum:")

(check (list (fx=? 1 1 1) (fx<? 1 2 2) (fx<? 1 2 3) (fx>=? 3 3 2) (fx<=? 1)) => '(#t #f #t #t #t))
(check (list (fxmax 1 5 3) (fxmin 4) (fxand) (fxior) (fxxor) (fxior 1 2 4) (fxxor 7 2 1) (fxand 7)) => '(5 4 -1 0 0 7 4 7))
(check (let-values (((root rest) (fxsqrt 1000))) (list root rest)) => '(31 39))

;; Digit and carry give the sum back.
(for-each
 (lambda (a)
   (for-each
    (lambda (b)
      (define (check-carried name operation expected)
        (let-values (((digit carry) (operation a b 3)))
          (check (list name a b (fixnum? digit) (+ digit (* carry (expt 2 fx-width)))) => (list name a b #t expected))))
      (check-carried '+ fx+/carry (+ a b 3))
      (check-carried '- fx-/carry (- a b 3))
      (check-carried '* fx*/carry (+ (* a b) 3)))
    samples))
 samples)

(check (list (fxbit-count 255) (fxlength 255) (fxlength fx-least) (fxif 12 10 3) (fxfirst-set-bit 40) (fxfirst-set-bit 0))
       => '(8 8 60 11 3 -1))
(check (list (fxbit-set? 3 8) (fxbit-set? 2 8) (fxbit-set? 100 -1) (fxcopy-bit 2 0 #t) (fxcopy-bit 0 7 #f)) => '(#t #f #t 4 6))
(check (list (fxbit-field 172 2 6) (fxbit-field-rotate 6 1 0 4) (fxbit-field-reverse 6 0 4)) => '(11 12 6))
(check (fxbit-field -1 0 60) => (bit-field -1 0 60))

;; Each operand is checked, by the name the program called.
(check (outcome (lambda () (fx+ 1 2.0))) => "fx+: expected a fixnum, got")
(check (outcome (lambda () (fx+ (+ fx-greatest 1) 0))) => "fx+: expected a fixnum, got")
(check (outcome (lambda () (fx<? 'a 1))) => "fx<?: expected a fixnum, got")
(check (outcome (lambda () (fx<? 1 2 'a))) => "fx<?: expected a fixnum, got")
(check (outcome (lambda () (fxmax 1 2 'a))) => "fxmax: expected a fixnum, got")
(check (outcome (lambda () (fxarithmetic-shift-left 1 -1))) => "fxarithmetic-shift-left: not a number of bits:")
(check (outcome (lambda () (fxcopy-bit 60 0 #t))) => "fxcopy-bit: the result is no fixnum:")
(check (outcome (lambda () (fxbit-field -1 0 61))) => "fxbit-field: the result is no fixnum:")

(report)
