#!r6rs
;; eval in macro transformers.  Chez Scheme prints the same, but its environments cannot be changed.
(import (rnrs) (rnrs eval) (for (include helpers) expand))
(define-syntax show
  (syntax-rules () ((_ e ...) (begin (begin (write e) (newline)) ...))))
(define-syntax constant
  (lambda (x)
    (syntax-case x ()
      ((k e) (datum->syntax #'k (list 'quote (eval (syntax->datum #'e) (environment '(rnrs)))))))))
(show (constant (+ 1 (expt 2 100)))
      (constant (let loop ((i 0) (l '(#\a "b\n" 1/2 #vu8(1 2)))) (if (= i 2) l (loop (+ i 1) (cons (list 'x i) l))))))
;; its own records, handlers and macros
(show (constant (let () (define-record-type point (fields x)) (point-x (make-point 4))))
      (constant (guard (e ((assertion-violation? e) 'assertion)) (vector-ref (vector 1) 1)))
      (constant (let-syntax ((twice (lambda (x) (syntax-case x () ((_ e) #'(list e e)))))) (twice 'a))))
;; Errors are those of the transformer.
(define-syntax kind
  (lambda (x)
    (syntax-case x ()
      ((k e)
       (guard (c ((or (syntax-violation? c) (undefined-violation? c)) #''unbound) ((assertion-violation? c) #''assertion)
                 ((and (error? c) (message-condition? c)) #`'(error #,(condition-message c)))
                 (else #''other))
         (datum->syntax #'k (eval (syntax->datum #'e) (environment '(rnrs)))))))))
(show (kind (+ 1 2)) (kind (car 5)) (kind (error 'f "bad" 1)) (kind (raise 'thing)) (kind (no-such-variable 1)))
(define-syntax has-library
  (lambda (x)
    (syntax-case x ()
      ((_ name)
       (if (guard (e (#t #f)) (eval #t (environment (syntax->datum #'name))))
           #''there
           #''missing)))))
(show (has-library (rnrs lists)) (has-library (no such library)))
;; Definitions are gone when the macro is used again.
(define-syntax redefines
  (lambda (x)
    (syntax-case x ()
      ((k e)
       (let* ((here (environment '(rnrs)))
              (fresh? (guard (c (#t #t)) (eval '(begin (counter) #f) here))))
         (eval '(define (counter) 5) here)
         (datum->syntax #'k (list 'quote (list fresh? (eval (syntax->datum #'e) here)))))))))
(show (redefines (* 2 (counter))) (redefines (* 3 (counter))))
;; a macro in evaluated code, with a constant of its own
(show (eval '(let-syntax ((c (lambda (x)
                               (syntax-case x ()
                                 ((k e) (datum->syntax #'k (eval (syntax->datum #'e) (environment '(rnrs)))))))))
               (c (+ 1 2)))
            (environment '(rnrs) '(rnrs eval))))
