;;; (srfi 66): vectors of octets, which are bytevectors.
(define-library (srfi 66)
  (export make-u8vector (rename bytevector? u8vector?) list->u8vector u8vector->list u8vector
          (rename bytevector-length u8vector-length) (rename bytevector-u8-ref u8vector-ref)
          (rename bytevector-u8-set! u8vector-set!) u8vector-copy! u8vector-copy u8vector=? u8vector-compare)
  (import (scheme base) (only (cairn control) no-byte wrong-type)
          (only (cairn primitives) %numeric-writable?))
  (begin

    (define (check who v)
      (if (bytevector? v) v (wrong-type who "a bytevector" v)))
    (define (check-byte who x)
      (if (not (and (exact-integer? x) (<= 0 x 255))) (wrong-type who "a byte" x)))
    (define (check-count who n what)
      (if (not (and (exact-integer? n) (>= n 0))) (wrong-type who what n)))

    (define (make-u8vector n fill)
      (check-count "make-u8vector" n "a length")
      (check-byte "make-u8vector" fill)
      (make-bytevector n fill))
    (define (u8vector . bytes) (of-list "u8vector" bytes))
    (define (list->u8vector l)
      (if (not (list? l)) (wrong-type "list->u8vector" "a list" l))
      (of-list "list->u8vector" l))
    (define (of-list who l)
      (let ((v (make-bytevector (length l))))
        (do ((i 0 (+ i 1)) (l l (cdr l))) ((null? l) v)
          (check-byte who (car l))
          (bytevector-u8-set! v i (car l)))))
    (define (u8vector->list v)
      (let loop ((i (- (bytevector-length (check "u8vector->list" v)) 1)) (acc '()))
        (if (< i 0) acc (loop (- i 1) (cons (bytevector-u8-ref v i) acc)))))

    ;; From, where there, to, where there, how many.
    (define (u8vector-copy! source source-start target target-start n)
      (check-count "u8vector-copy!" n "a number of bytes")
      (check-part (check "u8vector-copy!" source) source-start n)
      (if (not (and (bytevector? target) (%numeric-writable? target)))
          (wrong-type "u8vector-copy!" "a mutable bytevector" target))
      (check-part target target-start n)
      (bytevector-copy! target target-start source source-start (+ source-start n)))
    (define (check-part v start n)
      (check-count "u8vector-copy!" start "an index")
      (if (> (+ start n) (bytevector-length v))
          (no-byte "u8vector-copy!" v (+ start n -1))))
    (define (u8vector-copy v) (bytevector-copy (check "u8vector-copy" v)))

    (define (u8vector=? a b)
      (equal? (check "u8vector=?" a) (check "u8vector=?" b)))
    ;; -1, 0 or 1: shorter ones come first.
    (define (u8vector-compare a b)
      (let ((n (bytevector-length (check "u8vector-compare" a))) (m (bytevector-length (check "u8vector-compare" b))))
        (cond
          ((< n m) -1)
          ((> n m) 1)
          (else
           (let loop ((i 0))
             (if (= i n)
                 0
                 (let ((x (bytevector-u8-ref a i)) (y (bytevector-u8-ref b i)))
                   (cond ((< x y) -1)
                         ((> x y) 1)
                         (else (loop (+ i 1)))))))))))))
