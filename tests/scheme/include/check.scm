;; Included by each test program: (check EXPR => EXPECTED) compares with equal?, (check-error EXPR) wants an
;; exception. Only failing cases are printed; (report) prints the counts.
(define passed 0)
(define failed 0)

(define (note-failure form what)
  (set! failed (+ failed 1))
  (display "FAILED: ")
  (write form)
  (newline)
  (display "  ")
  (display what)
  (newline))

(define (check-thunk form thunk expected)
  (let ((actual
         (call/cc
          (lambda (k)
            (with-exception-handler
             (lambda (e)
               (k (list 'exception (if (error-object? e) (error-object-message e) e))))
             thunk)))))
    (if (equal? actual expected)
        (set! passed (+ passed 1))
        (let ((port (open-output-string)))
          (write-string "expected " port)
          (write expected port)
          (write-string ", got " port)
          (write actual port)
          (note-failure form (get-output-string port))))))

(define-syntax check
  (syntax-rules (=>)
    ((_ expr => expected)
     (check-thunk 'expr (lambda () expr) expected))))

;; Values as a list.
(define-syntax check-values
  (syntax-rules (=>)
    ((_ expr => expected ...)
     (check-thunk 'expr (lambda () (call-with-values (lambda () expr) list)) (list expected ...)))))

(define-syntax check-error
  (syntax-rules ()
    ((_ expr)
     (check-thunk 'expr
                  (lambda ()
                    (call/cc
                     (lambda (k)
                       (with-exception-handler
                        (lambda (e) (k 'raised))
                        (lambda () expr 'no-exception)))))
                  'raised))))

(define (report)
  (display passed)
  (display " passed, ")
  (display failed)
  (display " failed")
  (newline))
