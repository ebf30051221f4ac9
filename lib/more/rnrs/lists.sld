;;; (rnrs lists) of R6RS.
(define-library (rnrs lists)
  (export find for-all exists filter partition fold-left fold-right remp remove remv remq memp member memv memq assp
          assoc assv assq cons*)
  (import (scheme base) (only (srfi 1) find filter partition cons*)
          (only (cairn control) wrong-type) (only (cairn list) fold-left fold-right)
          (only (cairn dialects) for-all exists))
  (begin

    (define (check-procedure who f)
      (if (not (procedure? f)) (wrong-type who "a procedure" f)))
    (define (check-list who l)
      (if (not (list? l)) (wrong-type who "a list" l)))

    (define (remp out? l)
      (check-procedure "remp" out?)
      (check-list "remp" l)
      (filter (lambda (y) (not (out? y))) l))
    (define (remove x l)
      (check-list "remove" l)
      (filter (lambda (y) (not (equal? x y))) l))
    (define (remv x l)
      (check-list "remv" l)
      (filter (lambda (y) (not (eqv? x y))) l))
    (define (remq x l)
      (check-list "remq" l)
      (filter (lambda (y) (not (eq? x y))) l))

    ;; What is behind the element that is found need not be a list, as with memq and assq.
    (define (memp accept? l)
      (check-procedure "memp" accept?)
      (let loop ((rest l))
        (cond
          ((pair? rest) (if (accept? (car rest)) rest (loop (cdr rest))))
          ((null? rest) #f)
          (else (wrong-type "memp" "a list" l)))))
    (define (assp accept? l)
      (check-procedure "assp" accept?)
      (let loop ((rest l))
        (cond
          ((pair? rest)
           (let ((entry (car rest)))
             (if (not (pair? entry)) (wrong-type "assp" "a list of pairs" l))
             (if (accept? (car entry)) entry (loop (cdr rest)))))
          ((null? rest) #f)
          (else (wrong-type "assp" "a list of pairs" l)))))))
