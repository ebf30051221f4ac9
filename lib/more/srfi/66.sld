;;; (srfi 66): vectors of octets, which are bytevectors.
(define-library (srfi 66)
  (export make-u8vector (rename bytevector? u8vector?) list->u8vector u8vector->list (rename bytevector u8vector)
          (rename bytevector-length u8vector-length) (rename bytevector-u8-ref u8vector-ref)
          (rename bytevector-u8-set! u8vector-set!) u8vector-copy! u8vector-copy u8vector=? u8vector-compare)
  (import (scheme base) (only (cairn control) wrong-type))
  (begin

    (define (make-u8vector n fill) (make-bytevector n fill))
    (define (list->u8vector l) (apply bytevector l))
    (define (u8vector->list v)
      (let loop ((i (- (bytevector-length v) 1)) (acc '()))
        (if (< i 0) acc (loop (- i 1) (cons (bytevector-u8-ref v i) acc)))))

    ;; From, where there, to, where there, how many.
    (define (u8vector-copy! source source-start target target-start n)
      (bytevector-copy! target target-start source source-start (+ source-start n)))
    (define (u8vector-copy v) (bytevector-copy v))

    (define (check who v)
      (if (bytevector? v) v (wrong-type who "a bytevector" v)))
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
