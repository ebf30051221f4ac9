;; Macros whose transformers call procedures of another library.
(library (include macros)
  (export reversed while-count define-structure)
  (import (rnrs) (for (include helpers) expand))
  (define-syntax reversed
    (lambda (x) (syntax-case x () [(_ e ...) (reverse-syntax #'(e ...))])))
  (define counter 0)
  (define (bump!) (set! counter (+ counter 1)) counter)
  (define-syntax while-count
    (lambda (x)
      (syntax-case x ()
        [(_ n) #'(let loop () (if (< (bump!) n) (loop) 'counted))])))
  (define-syntax define-structure
    (lambda (x)
      (syntax-case x ()
        [(_ name field ...)
         (with-syntax ([make (symbol-append-syntax #'name "make-" #'name)]
                       [is? (symbol-append-syntax #'name #'name "?")]
                       [(get ...) (map (lambda (f) (symbol-append-syntax #'name #'name "-" f)) #'(field ...))]
                       [(put ...) (map (lambda (f) (symbol-append-syntax #'name #'name "-" f "-set!")) #'(field ...))]
                       [(i ...) (let f ([n 1] [l #'(field ...)]) (if (null? l) '() (cons n (f (+ n 1) (cdr l)))))]
                       [len (+ 1 (length #'(field ...)))])
           #'(begin
               (define (make field ...) (vector 'name field ...))
               (define (is? v) (and (vector? v) (= (vector-length v) len) (eq? (vector-ref v 0) 'name)))
               (define (get v) (vector-ref v i)) ...
               (define (put v x) (vector-set! v i x)) ...))]))))
