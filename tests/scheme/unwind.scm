;; SRFI 248: exception handlers that get the continuation of the raise.
(import (scheme base) (scheme write) (srfi 248))
(include "include/check.scm")

;; the handler's values are those of the call; the continuation has the call in it
(check (with-unwind-handler (lambda (x k) (list 'got x)) (lambda () (+ 1 (raise-continuable 5)))) => '(got 5))
(check (with-unwind-handler (lambda (x k) (k (* 2 x))) (lambda () (+ 1 (raise-continuable 5)))) => 11)
(check (with-unwind-handler (lambda (x k) (* 100 (k x))) (lambda () (+ (raise-continuable 1) (raise-continuable 2))))
       => 30000)
(check (with-unwind-handler (lambda (x k) (list (k 1) (k 2))) (lambda () (* 10 (raise-continuable 'both)))) => '(10 20))
(check (call-with-values
         (lambda () (with-unwind-handler (lambda (x k) (k 1 2)) (lambda () (raise-continuable 0))))
         list)
       => '(1 2))
(check (with-unwind-handler (lambda (x k) 'unused) (lambda () 'value)) => 'value)

;; the empty continuation
(define (empty? thunk) (with-unwind-handler (lambda (x k) (empty-continuation? k)) thunk))
(check (empty? (lambda () (raise-continuable 42))) => #t)
(check (empty? (lambda () (if #t (begin 1 (raise-continuable 42)) 2))) => #t)
(check (empty? (lambda () (not (raise-continuable 42)))) => #f)
(check (empty? (lambda () (raise 42))) => #f)
(check (empty? (lambda () (parameterize ((current-output-port (open-output-string))) (raise-continuable 42)))) => #f)
(check (guard (x k (#t (empty-continuation? k))) (raise-continuable 42)) => #t)
(check (guard (x k (#t (empty-continuation? k))) (list (raise-continuable 42))) => #f)
;; also when it has been entered again
(check (with-unwind-handler
         (lambda (x k) (if (number? x) (k x) (empty-continuation? k)))
         (lambda () (raise-continuable 1) (raise-continuable 'last)))
       => #t)

;; guard with a continuation variable
(check (guard (x k ((symbol? x) (list 'symbol x)) ((string? x) (k (string-length x)))) (+ 1 (raise-continuable "four")))
       => 5)
(check (guard (x k ((assq x '((a . 1))) => cdr) (else (list x))) (raise 'a)) => 1)
(check (guard (x k ((assq x '((a . 1))) => cdr) (else (list x))) (raise 'b)) => '(b))
;; no clause: raised again around the form, and what that returns is passed to the continuation
(check (with-exception-handler
         (lambda (x) 7)
         (lambda () (+ 1 (guard (x k ((symbol? x) 'symbol)) (* 2 (raise-continuable 5))))))
       => 15)
(check (guard (x (#t (list 'outer x))) (guard (x k ((symbol? x) 'symbol)) (raise 5))) => '(outer 5))
;; the names are variables like others
(check (guard (else k (else (list else))) (raise 1)) => '(1))

;; what has no continuation says so
(check (guard (e (#t (error-object? e))) (with-unwind-handler (lambda (x k) (k 0)) (lambda () (raise 'stop)))) => #t)
(check (guard (e (#t (error-object-message e))) (with-unwind-handler (lambda (x k) (k 0)) (lambda () (car 5))))
       => "exception handler returned from non-continuable raise of")
(check (guard (e (#t (error-object-message e))) (with-unwind-handler 1 2)) => "with-unwind-handler: expected a procedure, got")

;; winders and parameters: left and entered again
(define trace '())
(define (note x) (set! trace (cons x trace)))
(define p (make-parameter 0))
(check (with-unwind-handler
         (lambda (x k) (note 'handler) (note (p)) (k x))
         (lambda ()
           (parameterize ((p 1))
             (dynamic-wind
               (lambda () (note 'in))
               (lambda () (let ((x (raise-continuable 5))) (note (p)) x))
               (lambda () (note 'out))))))
       => 5)
(check (reverse trace) => '(in out handler 0 in 1 out))

;; handlers inside and outside
(check (with-unwind-handler
         (lambda (x k) (k (list 'outer x)))
         (lambda ()
           (list (with-unwind-handler (lambda (x k) (k (list 'inner (raise-continuable x)))) (lambda () (raise-continuable 1)))
                 (raise-continuable 2))))
       => '((inner (outer 1)) (outer 2)))
(check (with-exception-handler
         (lambda (x) (+ x 1))
         (lambda () (with-unwind-handler (lambda (x k) (k (* 10 (raise-continuable x)))) (lambda () (raise-continuable 1)))))
       => 20)

;; a generator whose continuation is taken up again and again
(define (make-generator proc)
  (define next
    (lambda ()
      (guard (x k ((pair? x) (set! next k) (car x)))
        (proc (lambda (value) (raise-continuable (list value))))
        (eof-object))))
  (lambda () (next)))
(define (generator->list g)
  (let ((x (g))) (if (eof-object? x) '() (cons x (generator->list g)))))
(check (generator->list (make-generator (lambda (yield) (for-each yield '(1 2 3 4 5))))) => '(1 2 3 4 5))
(check (let ((g (make-generator (lambda (yield) (let loop ((i 0)) (if (< i 10000) (begin (yield i) (loop (+ i 1)))))))))
         (let loop ((sum 0)) (let ((x (g))) (if (eof-object? x) sum (loop (+ sum x))))))
       => 49995000)

;; for-each to fold, without state
(define (for-each->fold for-each)
  (lambda (proc nil)
    ((guard (x k ((pair? x) (lambda (s) ((k) (proc s (car x))))))
       (for-each (lambda (x) (raise-continuable (list x))))
       values)
     nil)))
(check ((for-each->fold (lambda (proc) (string-for-each proc "abc"))) (lambda (s c) (cons c s)) '()) => '(#\c #\b #\a))

;; a loop through the handler takes no space
(check (with-unwind-handler
         (lambda (n k) (k (- n 1)))
         (lambda () (let loop ((n 100000)) (if (> n 0) (loop (raise-continuable n)) 'done))))
       => 'done)

(report)
