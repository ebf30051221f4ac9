;;; (srfi 71): `let`, `let*` and `letrec` that bind several values: ((x y) e) written ((x y . rest) …) or (x y e).
;;;
;;; A binding (v1 v2 … e) takes as many values as there are variables, ((values v1 … . rest) e) any more, too.
(define-library (srfi 71)
  (export (rename let71 let) (rename let*71 let*) (rename letrec71 letrec) uncons uncons-2 uncons-3 uncons-4
          uncons-cons unlist unvector values->list values->vector)
  (import (scheme base) (scheme cxr))
  (begin

    ;; Values and formals of a binding.
    (define-syntax let71
      (syntax-rules ()
        ((_ () body ...) (let () body ...))
        ((_ (binding ...) body ...) (collect let-values (binding ...) () body ...))
        ((_ name (binding ...) body ...) (named name (binding ...) () () body ...))))
    (define-syntax let*71
      (syntax-rules ()
        ((_ () body ...) (let () body ...))
        ((_ (binding ...) body ...) (collect let*-values (binding ...) () body ...))))

    ;; Bindings become those of `let-values`.
    (define-syntax collect
      (syntax-rules (values)
        ((_ form () (done ...) body ...) (form (done ...) body ...))
        ((_ form (((values . formals) e) more ...) (done ...) body ...)
         (collect form (more ...) (done ... (formals e)) body ...))
        ((_ form ((v e) more ...) (done ...) body ...)
         (collect form (more ...) (done ... ((v) e)) body ...))
        ((_ form ((v1 v2 ... e) more ...) (done ...) body ...)
         (collect form (more ...) (done ... ((v1 v2 ...) e)) body ...))))

    ;; Loops have one value a variable.
    (define-syntax named
      (syntax-rules (values)
        ((_ name () (v ...) (e ...) body ...) (let name ((v e) ...) body ...))
        ((_ name (((values v1) e1) more ...) (v ...) (e ...) body ...)
         (named name (more ...) (v ... v1) (e ... e1) body ...))
        ((_ name ((v1 e1) more ...) (v ...) (e ...) body ...)
         (named name (more ...) (v ... v1) (e ... e1) body ...))))

    ;; Variables get their values one binding after another, when all are there.
    (define-syntax letrec71
      (syntax-rules ()
        ((_ (binding ...) body ...) (let () (define-each binding) ... (let () body ...)))))
    (define-syntax define-each
      (syntax-rules (values)
        ((_ ((values . formals) e)) (define-values formals e))
        ((_ (v e)) (define v e))
        ((_ (v1 v2 ... e)) (define-values (v1 v2 ...) e))))

    ;;;; Parts of objects as values

    (define (uncons p) (values (car p) (cdr p)))
    (define (uncons-2 l) (values (car l) (cadr l) (cddr l)))
    (define (uncons-3 l) (values (car l) (cadr l) (caddr l) (cdddr l)))
    (define (uncons-4 l) (values (car l) (cadr l) (caddr l) (cadddr l) (cddddr l)))
    (define (uncons-cons a) (values (caar a) (cdar a) (cdr a)))
    (define (unlist l) (apply values l))
    (define (unvector v) (apply values (vector->list v)))
    (define-syntax values->list
      (syntax-rules () ((_ e) (call-with-values (lambda () e) list))))
    (define-syntax values->vector
      (syntax-rules () ((_ e) (call-with-values (lambda () e) vector))))))
