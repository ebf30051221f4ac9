;;; (rnrs arithmetic bitwise) of R6RS.
(define-library (rnrs arithmetic bitwise)
  (export bitwise-not bitwise-and bitwise-ior bitwise-xor bitwise-if bitwise-bit-count bitwise-length
          bitwise-first-bit-set bitwise-bit-set? bitwise-copy-bit bitwise-bit-field bitwise-copy-bit-field
          bitwise-arithmetic-shift bitwise-arithmetic-shift-left bitwise-arithmetic-shift-right
          bitwise-rotate-bit-field bitwise-reverse-bit-field)
  (import (scheme base) (only (cairn control) wrong-type)
          (rename (only (srfi 151) bitwise-not bitwise-and bitwise-ior bitwise-xor bitwise-if bit-count integer-length
                        first-set-bit bit-set? copy-bit bit-field bit-field-replace arithmetic-shift bit-field-rotate
                        bit-field-reverse)
                  (integer-length bitwise-length) (first-set-bit bitwise-first-bit-set) (bit-field bitwise-bit-field)
                  (arithmetic-shift bitwise-arithmetic-shift) (bit-field-reverse bitwise-reverse-bit-field)))
  (begin

    (define (bitwise-bit-count n)
      (if (negative? n) (bitwise-not (bit-count (bitwise-not n))) (bit-count n)))
    (define (bitwise-bit-set? n k) (bit-set? k n))
    (define (bitwise-copy-bit n k bit)
      (if (not (memv bit '(0 1))) (wrong-type "bitwise-copy-bit" "0 or 1" bit))
      (copy-bit k n (= bit 1)))
    (define (bitwise-copy-bit-field to start end from) (bit-field-replace to from start end))
    (define (bitwise-rotate-bit-field n start end count) (bit-field-rotate n count start end))
    (define (shift who n k)
      (if (not (and (exact-integer? k) (>= k 0))) (wrong-type who "a number of bits" k)))
    (define (bitwise-arithmetic-shift-left n k)
      (shift "bitwise-arithmetic-shift-left" n k)
      (bitwise-arithmetic-shift n k))
    (define (bitwise-arithmetic-shift-right n k)
      (shift "bitwise-arithmetic-shift-right" n k)
      (bitwise-arithmetic-shift n (- k)))))
