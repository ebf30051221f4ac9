;; How long does a thread wait for its turn while another one computes?  A line for each computation: milliseconds of
;; the processor on average; what other programs take of it is not counted.
(import (scheme base) (scheme write) (scheme read) (scheme file) (cairn thread) (cairn sort))
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define (fixnums n) (if (> n 0) (fixnums (- n 1))))
(define (flonums n x) (if (> n 0) (flonums (- n 1) (* x 1.0000001)) x))
(define numbers
  (let loop ((i 0) (x 1) (l '()))
    (if (= i 50000) l (loop (+ i 1) (modulo (* x 16807) 2147483647) (cons x l)))))
(define (long-list) (vector->list (make-vector 50000 '(a b c))))
(define one (long-list))
(define other (long-list))
(define big (expt 7 30000))

;; So many nanoseconds has this OS thread run.
(define (processor-time) (call-with-input-file "/proc/self/schedstat" read))
(define turns 16)

;; A thread that only counts its turns, until it has had them all.
(define (watch) (let loop ((n turns)) (if (> n 0) (begin (thread-yield!) (loop (- n 1))))))

(define (latency name compute)
  (let ((start (processor-time)) (watcher (spawn watch)))
    (let loop () (compute) (if (not (eq? 'done (thread-state watcher))) (loop)))
    (write-string name)
    (write-string " ")
    (write (/ (- (processor-time) start) 1e6 turns))
    (newline)))

(latency "fib" (lambda () (fib 25)))
(latency "fixnums" (lambda () (fixnums 5000000)))
(latency "flonums" (lambda () (flonums 3000000 1.)))
(latency "sort" (lambda () (list-sort < numbers)))
(latency "equal?" (lambda () (equal? one other)))
(latency "product" (lambda () (* big big)))
