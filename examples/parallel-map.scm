;; gc: not bdw
;; How long the Collatz sequences of the numbers up to 300,000 are, counted on all processors: each range of numbers is
;; one item of a map over places. Try
;;     cairn build examples/parallel-map.scm -o parallel-map && time ./parallel-map
;; and `taskset -c 0` before it, to see what one processor takes.
(import (scheme base) (scheme write) (cairn place))

;; Steps from n to 1.
(define (steps n)
  (let loop ((n n) (count 0))
    (cond
      ((= n 1) count)
      ((even? n) (loop (quotient n 2) (+ count 1)))
      (else (loop (+ (* 3 n) 1) (+ count 1))))))

;; The number with the longest sequence in a range, and the length of that.
(define (longest-in range)
  (let loop ((n (car range)) (best 1) (length 0))
    (if (= n (cdr range))
        (cons best length)
        (let ((s (steps n)))
          (if (> s length) (loop (+ n 1) n s) (loop (+ n 1) best length))))))

;; Ranges of `size` numbers, from 1 up to `end`.
(define (ranges size end)
  (let loop ((from 1))
    (if (>= from end)
        '()
        (cons (cons from (min end (+ from size))) (loop (+ from size))))))

(define (longer a b) (if (> (cdr b) (cdr a)) b a))

(let loop ((found (place-map longest-in (ranges 10000 300000))) (best '(1 . 0)))
  (if (pair? found)
      (loop (cdr found) (longer best (car found)))
      (begin
        (write (car best))
        (display " takes ")
        (write (cdr best))
        (display " steps")
        (newline))))
