;; A clause of `select` that is none.
(import (scheme base) (cairn thread))
(define c (make-channel 1))
(select
  (get c (x) x)
  (take c (y) y))
