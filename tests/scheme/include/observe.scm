;; Included by tests of records: what an expression fails with, how a value is written, and values that the optimizer
;; does not know.
(define-syntax message
  (syntax-rules ()
    ((_ e) (guard (x ((error-object? x) (cons (error-object-message x) (error-object-irritants x)))) e))))

(define (shown x)
  (let ((port (open-output-string)))
    (write x port)
    (get-output-string port)))

;; A value that the optimizer does not know.
(define (opaque x) (car (vector->list (vector x))))
