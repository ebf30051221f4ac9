(define (f x)
  (if))
