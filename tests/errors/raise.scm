(define (check n)
  (if (negative? n) (raise (list 'negative n)) n))
(display (list (check 3) (check -4)))
