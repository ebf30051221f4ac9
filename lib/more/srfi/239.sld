;;; (srfi 239): list-case: one clause for pairs, one for the empty list, one for anything else.
(define-library (srfi 239)
  (export list-case _)
  (import (scheme base))
  (begin

    (define (no-clause x)
      (error "list-case: no clause fits:" x))

    ;; The clauses are sorted first: the one for pairs, the one for (), the one for the rest.
    (define-syntax list-case
      (syntax-rules ()
        ((_ e clause ...)
         (let ((x e)) (sort-clauses x (no-clause x) (no-clause x) (no-clause x) clause ...)))))
    (define-syntax sort-clauses
      (syntax-rules ()
        ((_ x pair null other) (cond ((pair? x) pair) ((null? x) null) (else other)))
        ((_ x pair null other ((a . d) . body) . more)
         (sort-clauses x (bind a (car x) (bind d (cdr x) (let () . body))) null other . more))
        ((_ x pair null other (() . body) . more)
         (sort-clauses x pair (let () . body) other . more))
        ((_ x pair null other (id . body) . more)
         (sort-clauses x pair null (bind id x (let () . body)) . more))))
    (define-syntax bind
      (syntax-rules (_)
        ((bind _ e body) body)
        ((bind id e body) (let ((id e)) body))))))
