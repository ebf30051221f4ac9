(define (risky x)
  (display "risky ")
  (+ 1 (car x)))
(with-exception-handler
  (lambda (e) 'ignored)
  (lambda () (+ 1 (risky 5))))
