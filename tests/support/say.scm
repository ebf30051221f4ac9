;; For tests/messages: writes each expression and what it gives, or what is said of its failure.
(define (attempt expression thunk)
  (write expression)
  (display "  =>  ")
  (display (call/cc (lambda (k)
                      (with-exception-handler
                       (lambda (e) (k (if (error-object? e) (condition->string e) (list 'raised e))))
                       thunk))))
  (newline))
(define-syntax say
  (syntax-rules ()
    ((_ expression ...) (begin (attempt 'expression (lambda () expression)) ...))))
