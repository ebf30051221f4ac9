;;; (rnrs lists) of R6RS.
(define-library (rnrs lists)
  (export find for-all exists filter partition fold-left fold-right remp remove remv remq memp member memv memq assp
          assoc assv assq cons*)
  (import (scheme base) (rename (only (srfi 1) find filter partition remove cons*) (remove remp))
          (only (cairn list) fold-left fold-right) (only (cairn dialects) for-all exists))
  (begin

    ;; As remp does, and with its care for what is no list.
    (define (remove x l) (remp (lambda (y) (equal? x y)) l))
    (define (remv x l) (remp (lambda (y) (eqv? x y)) l))
    (define (remq x l) (remp (lambda (y) (eq? x y)) l))

    (define (memp accept? l)
      (let loop ((l l))
        (cond ((null? l) #f) ((accept? (car l)) l) (else (loop (cdr l))))))
    (define (assp accept? l)
      (find (lambda (entry) (accept? (car entry))) l))))
