;;; (srfi 17): generalized `set!`: (set! (car x) y) calls the setter of `car`.
;;;
;;; Setters are found by the procedure, in a table that does not keep procedures alive; a program that only assigns
;;; variables pays nothing.
(define-library (srfi 17)
  (export set! setter getter-with-setter
          car cdr caar cadr cdar cddr caaar cdaar cadar cddar caadr cdadr caddr cdddr caaaar cdaaar cadaar cddaar caadar
          cdadar caddar cdddar caaadr cdaadr cadadr cddadr caaddr cdaddr cadddr cddddr
          vector-ref string-ref list-ref bytevector-u8-ref)
  (import (rename (scheme base) (set! r7-set!)) (scheme cxr)
          (only (cairn control) wrong-type)
          (only (srfi 69) hash-table-ref/default hash-table-set!)
          (only (srfi 125) make-hash-table))
  (begin
    (define setters (make-hash-table eq? 'ephemeral-keys))
    (define-syntax set!
      (syntax-rules ()
        ((_ (procedure argument ...) value) ((setter procedure) argument ... value))
        ((_ variable value) (r7-set! variable value))))
    (define (find-setter procedure)
      (or (hash-table-ref/default setters procedure #f)
          (wrong-type "setter" "a procedure that has a setter" procedure)))
    (define (set-setter! procedure new) (hash-table-set! setters procedure new))
    (define (setter procedure) (find-setter procedure))
    ;; Another procedure than `get`, that does the same.
    (define (getter-with-setter get set)
      (let ((procedure (lambda arguments (apply get arguments))))
        (set-setter! procedure set)
        procedure))
    (define-syntax define-setters
      (syntax-rules ()
        ((_ (procedure set) ...) (begin (set-setter! procedure set) ...))))
    ;; The setter of a composition sets the last step's part of what the others lead to.
    (define-syntax define-compositions
      (syntax-rules ()
        ((_ (procedure set-part! path) ...)
         (begin (set-setter! procedure (lambda (x value) (set-part! (path x) value))) ...))))
    (define-setters
      (setter set-setter!) (car set-car!) (cdr set-cdr!) (vector-ref vector-set!) (string-ref string-set!)
      (list-ref list-set!) (bytevector-u8-ref bytevector-u8-set!))
    (define-compositions
      (caar set-car! car) (cadr set-car! cdr) (cdar set-cdr! car) (cddr set-cdr! cdr)
      (caaar set-car! caar) (cdaar set-cdr! caar) (cadar set-car! cdar) (cddar set-cdr! cdar)
      (caadr set-car! cadr) (cdadr set-cdr! cadr) (caddr set-car! cddr) (cdddr set-cdr! cddr)
      (caaaar set-car! caaar) (cdaaar set-cdr! caaar) (cadaar set-car! cdaar) (cddaar set-cdr! cdaar)
      (caadar set-car! cadar) (cdadar set-cdr! cadar) (caddar set-car! cddar) (cdddar set-cdr! cddar)
      (caaadr set-car! caadr) (cdaadr set-cdr! caadr) (cadadr set-car! cdadr) (cddadr set-cdr! cdadr)
      (caaddr set-car! caddr) (cdaddr set-cdr! caddr) (cadddr set-car! cdddr) (cddddr set-cdr! cdddr))))
