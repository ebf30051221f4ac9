(define (f x)
  (let ((y (* x 2)))
    (display y)

(f 3)
