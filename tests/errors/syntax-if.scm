(define (f x)
  (if))
(guard () 1)
