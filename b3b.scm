(import (scheme base) (scheme write))
(define (f)
  (letrec ((a b) (b 1)) a))
(display (f))
