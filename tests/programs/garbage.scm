;; heap-max: 32M
;; Garbage is collected whatever makes it: each loop makes several times the limit, and keeps next to nothing. Under
;; zeal the loops over small things are shorter.
(import (scheme base) (scheme write) (scheme process-context))

(define limit (string->number "1000000000000"))
(define keep (vector 0. 1))
(define n (if (member (get-environment-variable "CAIRN_ZEAL") '(#f "" "0")) 2000000 100000))
(define large (expt 3 100000))
(define text (make-string 100000 #\a))

;; boxes of doubles, stored and then forgotten; the arithmetic after it takes its fast path
(define (doubles n x)
  (if (< 0 n)
      (begin
        (vector-set! keep 0 (* x 1e280))
        (doubles (- n 1) (if (odd? n) 1.1 1.2)))))
(doubles n 1.)

;; a bignum, then arithmetic on small numbers
(define (bignums n m b)
  (if (< 0 n)
      (let* ((b (+ b 1)) (m (+ m 1)))
        (bignums (- n 1) m b))
      m))
(write (bignums 5000 0 large))
(newline)

;; small products beyond the fixnums
(define (products n)
  (if (< 0 n)
      (begin
        (vector-set! keep 1 (* n limit limit))
        (products (- n 1)))))
(products n)

;; large objects of the runtime, between small ones of compiled code
(define (vectors n)
  (if (< 0 n)
      (begin
        (vector-set! keep 0 (cons (make-vector 100000 n) '()))
        (vectors (- n 1)))))
(vectors 200)

;; strings, then arithmetic
(define (strings n)
  (if (< 0 n)
      (begin
        (vector-set! keep 0 (string-append text text))
        (strings (- n 1)))
      (string-length (vector-ref keep 0))))
(write (strings 200))
(newline)

;; strings between pairs, in a procedure that is no loop
(define (both s n) (cons (string-append s s) (cons (string-append s "b") n)))
(define (pairs n all)
  (if (< 0 n)
      (pairs (- n 1) (both text n))
      (string-length (cadr all))))
(write (pairs 200 '()))
(newline)
