; So is one of a named let.
(import (scheme base) (scheme write))
(define (g n)
  (let loop ((i 0) (acc '()))
    (if (= i n)
        acc
        (loop (+ i 1)))))
(display (g 3))
