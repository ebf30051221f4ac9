(define (risky) (raise 'oops))
(with-exception-handler
  (lambda (e) 'ignored)
  (lambda () (+ 1 (risky))))
