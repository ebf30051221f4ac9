(import (scheme base) (scheme write))

;; The tree of pairs with f applied to its leaves.
(define (map-leaves f tree)
  (if (pair? tree)
      (cons (map-leaves f (car tree)) (map-leaves f (cdr tree)))
      (f tree)))

(define (tagged tag tree)
  (map-leaves (lambda (leaf) (cons tag leaf)) tree))

(write (tagged (read-line) '((1 . 2) . 3)))
