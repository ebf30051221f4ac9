;;; (srfi 228): comparators made of others.
(define-library (srfi 228)
  (export make-wrapper-comparator make-product-comparator make-sum-comparator comparator-one comparator-zero)
  (import (scheme base) (srfi 128) (only (cairn control) wrong-type check-procedure))
  (begin

    (define (check who c)
      (if (comparator? c) c (wrong-type who "a comparator" c)))
    (define (all? ok? l)
      (or (null? l) (and (ok? (car l)) (all? ok? (cdr l)))))

    ;; Compares what `unwrap` finds in the objects.
    (define (make-wrapper-comparator type? unwrap contents)
      (check "make-wrapper-comparator" contents)
      (check-procedure "make-wrapper-comparator" unwrap)
      (let ((same? (comparator-equality-predicate contents)) (less? (comparator-ordering-predicate contents)))
        (make-comparator
         type?
         (lambda (a b) (same? (unwrap a) (unwrap b)))
         (and (comparator-ordered? contents) (lambda (a b) (less? (unwrap a) (unwrap b))))
         (and (comparator-hashable? contents) (lambda (x . bound) (comparator-hash contents (unwrap x)))))))

    ;; All in one: the first that tells two objects apart orders them.
    (define (make-product-comparator . cs)
      (for-each (lambda (c) (check "make-product-comparator" c)) cs)
      (make-comparator
       (lambda (x) (all? (lambda (c) (comparator-test-type c x)) cs))
       (lambda (a b) (all? (lambda (c) ((comparator-equality-predicate c) a b)) cs))
       (and (all? comparator-ordered? cs)
            (lambda (a b)
              (let loop ((cs cs))
                (and (pair? cs)
                     (or ((comparator-ordering-predicate (car cs)) a b)
                         (and ((comparator-equality-predicate (car cs)) a b) (loop (cdr cs))))))))
       (and (all? comparator-hashable? cs)
            (lambda (x . bound)
              (let loop ((cs cs) (h 0))
                (if (null? cs)
                    h
                    (loop (cdr cs) (modulo (+ (* 31 h) (comparator-hash (car cs) x)) 33554432))))))))

    ;; The objects of the first one come before those of the second one, and so on.
    (define (make-sum-comparator . cs)
      (for-each (lambda (c) (check "make-sum-comparator" c)) cs)
      (let ()
        ;; the comparators from the first one on that has `x`
        (define (from x)
          (let loop ((rest cs))
            (if (or (null? rest) (comparator-test-type (car rest) x)) rest (loop (cdr rest)))))
        (make-comparator
         (lambda (x) (pair? (from x)))
         (lambda (a b)
           (let ((as (from a)) (bs (from b)))
             (and (pair? as) (eq? as bs) ((comparator-equality-predicate (car as)) a b))))
         (and (all? comparator-ordered? cs)
              (lambda (a b)
                (let ((as (from a)) (bs (from b)))
                  (if (eq? as bs)
                      (and (pair? as) ((comparator-ordering-predicate (car as)) a b))
                      (> (length as) (length bs))))))
         (and (all? comparator-hashable? cs)
              (lambda (x . bound)
                (let ((c (from x)))
                  (if (null? c) (error "the comparator does not compare objects of this type:" x))
                  (comparator-hash (car c) x)))))))

    (define comparator-one (make-product-comparator))
    (define comparator-zero (make-sum-comparator))))
