; Integers of a few words take a way of their own. Multiples of 2^256 do not: what these give, divided by 2^256, must be
; the same.
(import (scheme base) (scheme write) (srfi 151))

(define far (expt 2 256))
(define wrong 0)
(define (check what a b got expected)
  (unless (eqv? got expected)
    (set! wrong (+ wrong 1))
    (when (< wrong 10)
      (write (list what a b got expected))
      (newline))))

(define numbers
  (let loop ((bits '(0 1 30 31 59 60 61 62 63 64 65 119 120 121 125 126 127 128 129 191 192)) (all '(0)))
    (if (null? bits)
        all
        (let ((n (expt 2 (car bits))))
          (loop (cdr bits) (append (list n (- n 1) (+ n 1) (- n) (- 1 n) (- -1 n) (quotient (* 5 n) 7)) all))))))

(define (check-pair a b)
  (let ((x (* a far)) (y (* b far)))
    (check '+ a b (+ a b) (quotient (+ x y) far))
    (check '- a b (- a b) (quotient (- x y) far))
    (check '* a b (* a b) (quotient (* x b) far))
    (check 'bitwise-and a b (bitwise-and a b) (quotient (bitwise-and x y) far))
    (check 'bitwise-ior a b (bitwise-ior a b) (quotient (bitwise-ior x y) far))
    (check 'bitwise-xor a b (bitwise-xor a b) (quotient (bitwise-xor x y) far))
    (check '= a b (= a b) (= x y))
    (check '< a b (< a b) (< x y))
    (check 'gcd a b (gcd a b) (quotient (gcd x y) far))
    (unless (zero? b)
      (check 'quotient a b (quotient a b) (quotient x y))
      (check 'remainder a b (remainder a b) (quotient (remainder x y) far))
      (check 'modulo a b (modulo a b) (quotient (modulo x y) far))
      (check 'floor-quotient a b (floor-quotient a b) (floor-quotient x y))
      (check 'floor a b (+ (* b (floor-quotient a b)) (modulo a b)) a)
      (check 'truncate a b (+ (* b (quotient a b)) (remainder a b)) a))))

(for-each
 (lambda (a)
   (for-each (lambda (b) (check-pair a b)) numbers)
   (do ((n 0 (+ n 1)))
       ((= n 200))
     (check 'left a n (arithmetic-shift a n) (* a (expt 2 n)))
     (check 'right a n (arithmetic-shift a (- n)) (floor-quotient a (expt 2 n)))))
 numbers)

(write (list (length numbers) wrong))
(newline)
