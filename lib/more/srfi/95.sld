;;; (srfi 95): sorting and merging of lists and vectors, by a key if one is given.
(define-library (srfi 95)
  (export sorted? merge merge! sort sort!)
  (import (scheme base) (scheme case-lambda) (only (cairn control) wrong-type)
          (rename (only (cairn sort) sort list-merge list-sorted? vector-sorted?) (sort stable-sort)))
  (begin

    (define (by-key less? key)
      (lambda (a b) (less? (key a) (key b))))
    (define (check who x)
      (if (or (list? x) (vector? x)) x (wrong-type who "a list or a vector" x)))

    (define sorted?
      (case-lambda
        ((sequence less? key) (sorted? sequence (by-key less? key)))
        ((sequence less?)
         (if (vector? (check "sorted?" sequence))
             (vector-sorted? less? sequence)
             (list-sorted? less? sequence)))))

    (define merge
      (case-lambda
        ((a b less? key) (merge a b (by-key less? key)))
        ((a b less?) (list-merge less? a b))))
    (define merge! merge)

    (define sort
      (case-lambda
        ((sequence less? key) (sort sequence (by-key less? key)))
        ((sequence less?) (stable-sort (check "sort" sequence) less?))))

    ;; In place: the pairs of a list keep their order and get other elements.
    (define sort!
      (case-lambda
        ((sequence less? key) (sort! sequence (by-key less? key)))
        ((sequence less?)
         (let ((sorted (sort sequence less?)))
           (if (vector? sequence)
               (vector-copy! sequence 0 sorted)
               (let loop ((to sequence) (from sorted))
                 (if (pair? to)
                     (begin
                       (set-car! to (car from))
                       (loop (cdr to) (cdr from))))))
           sequence))))))
