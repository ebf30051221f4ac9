(define (f x)
  (display (list x "open)
