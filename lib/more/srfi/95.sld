;;; (srfi 95): sorting and merging of lists and vectors, by a key if one is given.
(define-library (srfi 95)
  (export sorted? merge merge! sort sort!)
  (import (scheme base) (scheme case-lambda) (only (cairn control) wrong-type)
          (rename (only (cairn sort) sort list-merge list-sorted? vector-sorted?) (sort stable-sort)))
  (begin

    (define (by-key less? key)
      (lambda (a b) (less? (key a) (key b))))
    (define (check-procedure who x)
      (if (not (procedure? x)) (wrong-type who "a procedure" x)))
    (define (check who x)
      (if (or (list? x) (vector? x)) x (wrong-type who "a list or a vector" x)))
    (define (check-list who x)
      (if (not (list? x)) (wrong-type who "a list" x)))

    ;; A procedure of sequences and an order, and, if one is given, a key; `body` sees the order of both.
    (define-syntax define-by-order
      (syntax-rules ()
        ((_ (name who sequence ... less?) body)
         (define name
           (let ((done (lambda (who sequence ... less?) body)) (who (symbol->string 'name)))
             (case-lambda
               ((sequence ... less? key)
                (check-procedure who less?)
                (check-procedure who key)
                (done who sequence ... (by-key less? key)))
               ((sequence ... less?)
                (check-procedure who less?)
                (done who sequence ... less?))))))))

    (define-by-order (sorted? who sequence less?)
      (if (vector? (check who sequence))
          (vector-sorted? less? sequence)
          (list-sorted? less? sequence)))

    (define-by-order (merge who a b less?)
      (merged who a b less?))
    (define-by-order (merge! who a b less?)
      (merged who a b less?))
    (define (merged who a b less?)
      (check-list who a)
      (check-list who b)
      (list-merge less? a b))

    (define-by-order (sort who sequence less?)
      (stable-sort (check who sequence) less?))

    ;; In place: the pairs of a list keep their order and get other elements.
    (define-by-order (sort! who sequence less?)
      (let ((sorted (stable-sort (check who sequence) less?)))
        (if (vector? sequence)
            (vector-copy! sequence 0 sorted)
            (let loop ((to sequence) (from sorted))
              (if (pair? to)
                  (begin
                    (set-car! to (car from))
                    (loop (cdr to) (cdr from))))))
        sequence))))
