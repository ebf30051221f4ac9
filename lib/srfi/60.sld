;;; (srfi 60): integers as bits, the older names.
(define-library (srfi 60)
  (export
   bitwise-and logand bitwise-ior logior bitwise-xor logxor bitwise-not lognot bitwise-if bitwise-merge
   any-bits-set? logtest bit-count logcount integer-length first-set-bit log2-binary-factors
   bit-set? logbit? copy-bit bit-field copy-bit-field arithmetic-shift ash rotate-bit-field reverse-bit-field
   integer->list list->integer booleans->integer)
  (import (scheme base) (scheme case-lambda) (srfi 151) (only (cairn control) out-of-range wrong-type))
  (begin

    (define (check who n)
      (if (exact-integer? n) n (wrong-type who "an exact integer" n)))
    (define (check-index who n)
      (if (< (check who n) 0) (out-of-range who "not the index of a bit:" n)))

    ;; Procedures that have another name in SRFI 151: exact integers all.
    (define-syntax define-of-integers
      (syntax-rules ()
        ((_ (name n ...) other)
         (define (name n ...)
           (let ((who (symbol->string 'name))) (other (check who n) ...))))))
    (define-of-integers (lognot n) bitwise-not)
    (define-of-integers (bitwise-merge mask a b) bitwise-if)
    (define-of-integers (any-bits-set? a b) any-bit-set?)
    (define-of-integers (logtest a b) any-bit-set?)
    (define-of-integers (logcount n) bit-count)
    (define-of-integers (log2-binary-factors n) first-set-bit)
    (define-of-integers (ash n count) arithmetic-shift)
    (define-syntax define-of-any
      (syntax-rules ()
        ((_ (name other) ...)
         (begin
           (define name
             (let ((the (lambda (n) (check (symbol->string 'name) n))))
               (case-lambda
                 ((a b) (other (the a) (the b)))
                 ((a) (the a))
                 (all (apply other (map the all))))))
           ...))))
    (define-of-any (logand bitwise-and) (logior bitwise-ior) (logxor bitwise-xor))

    (define (logbit? i n)
      (check-index "logbit?" i)
      (bit-set? i (check "logbit?" n)))

    ;; `body`, if start and end bound a field.
    (define-syntax define-of-field
      (syntax-rules ()
        ((_ (name n ...) other)
         (define (name n ... start end)
           (let ((who (symbol->string 'name)))
             (check who n)
             ...
             (if (not (<= 0 (check who start) (check who end)))
                 (out-of-range who "not a field of bits:" (cons start end)))
             (other n ... start end))))))
    (define-of-field (copy-bit-field to from) bit-field-replace)
    (define-of-field (rotate-bit-field n count) bit-field-rotate)
    (define-of-field (reverse-bit-field n) bit-field-reverse)

    ;; From the most significant bit on.
    (define integer->list
      (case-lambda
        ((n)
         (if (< (check "integer->list" n) 0)
             (out-of-range "integer->list" "a negative number has infinitely many bits:" n))
         (reverse (bits->list n)))
        ((n length)
         (check "integer->list" n)
         (if (not (and (exact-integer? length) (>= length 0))) (wrong-type "integer->list" "a length" length))
         (reverse (bits->list n length)))))
    (define (list->integer l)
      (list->bits (if (list? l) (reverse l) (wrong-type "list->integer" "a list" l))))
    (define (booleans->integer . l) (list->integer l))))
