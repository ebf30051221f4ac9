;; R7RS section 6.11: exceptions; 4.2.7: guard.
(import (scheme base) (scheme write) (scheme file) (scheme read))
(include "include/check.scm")

(check (call/cc (lambda (k) (with-exception-handler (lambda (e) (k (list 'caught e))) (lambda () (+ 1 (raise 'an-error))))))
       => '(caught an-error))
(check (with-exception-handler
        (lambda (con) (cond ((string? con) 42) (else 0)))
        (lambda () (+ (raise-continuable "should be a number") 23)))
       => 65)
;; a handler runs in the context of the raise, with the outer handlers
(check (with-exception-handler
        (lambda (e) (list 'outer e))
        (lambda ()
          (with-exception-handler
           (lambda (e) (list 'inner (raise-continuable (list 'again e))))
           (lambda () (raise-continuable 'oops)))))
       => '(inner (outer (again oops))))
;; a handler that returns from raise
(check (guard (e ((error-object? e) 'secondary))
         (with-exception-handler (lambda (e) 'ignored) (lambda () (raise 'oops))))
       => 'secondary)
(check (guard (e (#t (list 'outer e)))
         (with-exception-handler (lambda (e) (raise (list 'inner e))) (lambda () (raise 'oops))))
       => '(outer (inner oops)))
(check-error (with-exception-handler 5 (lambda () 1)))

;; guard
(check (guard (condition ((assq 'a condition) => cdr) ((assq 'b condition))) (raise (list (cons 'a 42)))) => 42)
(check (guard (condition ((assq 'a condition) => cdr) ((assq 'b condition))) (raise (list (cons 'b 23)))) => '(b . 23))
(check (guard (e ((symbol? e) (list 'symbol e)) ((string? e) (list 'string e))) (raise "text")) => '(string "text"))
(check (guard (e (else 'other)) (raise 1)) => 'other)
(check (guard (e (#f 'never)) 5) => 5)
(check-values (guard (e (#t 'no)) (values 1 2 3)) => 1 2 3)
(check-values (guard (e (#t (values 'a 'b))) (raise 'x)) => 'a 'b)
;; no clause matches: the exception goes on outwards
(check (guard (e (#t (list 'outer e))) (guard (e ((number? e) 'inner)) (raise 'not-a-number))) => '(outer not-a-number))
(check (with-exception-handler
        (lambda (e) 10)
        (lambda () (+ 1 (guard (e ((string? e) 'string)) (+ 100 (raise-continuable 'sym))))))
       => 111)
;; dynamic-wind and guard: out for the clauses, in again to re-raise
(check (let ((trace '()))
         (define (note x) (set! trace (cons x trace)))
         (guard (e (#t (note (list 'caught e))))
           (guard (e ((begin (note 'test) #f) 'never))
             (dynamic-wind (lambda () (note 'in)) (lambda () (raise 'oops)) (lambda () (note 'out)))))
         (reverse trace))
       => '(in out test in out (caught oops)))
(check (guard (e (#t (let loop ((n 3)) (if (= n 0) e (loop (- n 1)))))) (raise 'x)) => 'x)
(check (let ((p (make-parameter 1)))
         (guard (e (#t (list e (p)))) (parameterize ((p 2)) (raise (p)))))
       => '(2 1))
;; many guards in a loop leave nothing behind
(check (let loop ((i 0) (sum 0))
         (if (= i 10000) sum (loop (+ i 1) (+ sum (guard (e ((number? e) e)) (raise 1))))))
       => 10000)

;; error objects
(define (caught thunk) (guard (e (#t e)) (thunk)))
(define e1 (caught (lambda () (error "something bad:" 1 'two "three"))))
(check (error-object? e1) => #t)
(check (error-object-message e1) => "something bad:")
(check (error-object-irritants e1) => '(1 two "three"))
(check (error-object-message (caught (lambda () (error 'who "is wrong:" 1)))) => "who: is wrong:")
(check (error-object? 'x) => #f)
(check (error-object? (caught (lambda () (car 5)))) => #t)
(check (string? (error-object-message (caught (lambda () (car 5))))) => #t)
(check (error-object-irritants (caught (lambda () (car 5)))) => '(5))
(check (error-object? (caught (lambda () (vector-ref (vector 1 2) 10)))) => #t)
(check (error-object? (caught (lambda () (letrec ((a (lambda () b)) (b (a))) b)))) => #t)
(check (file-error? (caught (lambda () (open-input-file "/no/such/directory/file")))) => #t)
(check (file-error? (caught (lambda () (delete-file "/no/such/directory/file")))) => #t)
(check (file-error? e1) => #f)
(check (read-error? (caught (lambda () (read (open-input-string "(1 2"))))) => #t)
(check (read-error? (caught (lambda () (read (open-input-string ")"))))) => #t)
(check (read-error? e1) => #f)
(check (error-object? (caught (lambda () (read (open-input-string "#<"))))) => #t)
;; errors in handlers of errors
(check (guard (e ((string? e) e)) (guard (e (#t (raise (string-append "again " (symbol->string e))))) (raise 'first)))
       => "again first")
(check (call/cc (lambda (k)
                  (with-exception-handler
                   (lambda (e) (k (error-object-irritants e)))
                   (lambda () (string-length 'sym)))))
       => '(sym))

(report)
