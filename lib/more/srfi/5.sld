;;; (srfi 5): `let` whose names may have the shape of a procedure's parameters, with a rest of bindings.
;;;
;;;   (let (loop (x 1) (y 2) . (rest 3 4)) …)   is   ((letrec ((loop (lambda (x y . rest) …))) loop) 1 2 3 4)
(define-library (srfi 5)
  (export let)
  (import (rename (scheme base) (let r7-let)))
  (begin
    (define-syntax let
      (syntax-rules ()
        ;; as R7RS has it
        ((_ () body ...) (r7-let () body ...))
        ((_ ((x value) ...) body ...) (r7-let ((x value) ...) body ...))
        ;; a name before the bindings, or in their list
        ((_ ((x value) . more) body ...) (sort-bindings #f () () ((x value) . more) body ...))
        ((_ (name . bindings) body ...) (sort-bindings name () () bindings body ...))
        ((_ name bindings body ...) (sort-bindings name () () bindings body ...))))
    (define-syntax sort-bindings
      (syntax-rules ()
        ((_ name (x ...) (value ...) ((y v) . more) body ...)
         (sort-bindings name (x ... y) (value ... v) more body ...))
        ((_ name (x ...) (value ...) () body ...)
         (call name (x ...) (value ...) body ...))
        ((_ name (x ...) (value ...) (rest v ...) body ...)
         (call name (x ... . rest) (value ... v ...) body ...))))
    (define-syntax call
      (syntax-rules ()
        ((_ #f formals values body ...) (apply-to (lambda formals body ...) values))
        ((_ name formals values body ...)
         (apply-to (letrec ((name (lambda formals body ...))) name) values))))
    (define-syntax apply-to
      (syntax-rules () ((_ f (value ...)) (f value ...))))))
