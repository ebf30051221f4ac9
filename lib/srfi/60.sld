;;; (srfi 60): integers as bits, the older names.
(define-library (srfi 60)
  (export
   bitwise-and (rename bitwise-and logand) bitwise-ior (rename bitwise-ior logior)
   bitwise-xor (rename bitwise-xor logxor) bitwise-not (rename bitwise-not lognot)
   bitwise-if (rename bitwise-if bitwise-merge)
   (rename any-bit-set? any-bits-set?) (rename any-bit-set? logtest)
   bit-count (rename bit-count logcount) integer-length
   first-set-bit (rename first-set-bit log2-binary-factors)
   bit-set? (rename bit-set? logbit?) copy-bit bit-field (rename bit-field-replace copy-bit-field)
   arithmetic-shift (rename arithmetic-shift ash)
   (rename bit-field-rotate rotate-bit-field) (rename bit-field-reverse reverse-bit-field)
   integer->list list->integer booleans->integer)
  (import (scheme base) (scheme case-lambda) (srfi 151) (only (cairn control) wrong-type))
  (begin
    ;; From the most significant bit on.
    (define integer->list
      (case-lambda
        ((n) (reverse (bits->list (the-integer n))))
        ((n length) (reverse (bits->list (the-integer n) length)))))
    (define (the-integer n)
      (if (exact-integer? n) n (wrong-type "integer->list" "an exact integer" n)))
    (define (list->integer l)
      (list->bits (if (list? l) (reverse l) (wrong-type "list->integer" "a list" l))))
    (define (booleans->integer . l) (list->integer l))))
