;;; (srfi 223): bisection: where a value belongs in a sorted sequence.
(define-library (srfi 223)
  (export bisect-left bisect-right bisection vector-bisect-left vector-bisect-right)
  (import (scheme base) (scheme case-lambda) (only (cairn control) check-procedure))
  (begin

    ;; The first index between the two that `before?` does not hold for; it holds for all before that.
    (define (first-not before? lo hi)
      (if (< lo hi)
          (let ((mid (floor-quotient (+ lo hi) 2)))
            (if (before? mid) (first-not before? (+ mid 1) hi) (first-not before? lo mid)))
          lo))

    ;; Before, or behind, what is equal to x.
    (define (bisect-left a x ref less? lo hi)
      (first-not (lambda (i) (less? (ref a i) x)) lo hi))
    (define (bisect-right a x ref less? lo hi)
      (first-not (lambda (i) (not (less? x (ref a i)))) lo hi))

    (define bisection
      (case-lambda
        ((ref)
         (bisection ref (lambda (a) (error "bisection: the two ends of the search are missing"))))
        ((ref ends)
         (check-procedure "bisection" ref)
         (check-procedure "bisection" ends)
         (let ((with-ends
                (lambda (bisect)
                  (case-lambda
                    ((a x less?)
                     (let-values (((lo hi) (ends a)))
                       (bisect a x ref less? lo hi)))
                    ((a x less? lo hi) (bisect a x ref less? lo hi))))))
           (values (with-ends bisect-left) (with-ends bisect-right))))))

    (define-values (vector-bisect-left vector-bisect-right)
      (bisection vector-ref (lambda (v) (values 0 (vector-length v)))))))
