;; Loops whose variables become flonums after the first iteration, or stay what they were.
(import (scheme base) (scheme write))

(define (show . xs) (for-each (lambda (x) (write x) (display " ")) xs) (newline))
(define cell (vector 0))
(define (opaque x) (vector-set! cell 0 x) (vector-ref cell 0))
(define-syntax fails? (syntax-rules () ((_ e) (guard (c (#t 'error)) e))))

(define (sum n) (let loop ((i n) (sum 0.)) (if (< i 0.) sum (loop (- i 1.) (+ i sum)))))
(for-each (lambda (n) (show n (fails? (sum (opaque n)))))
          (list 10 10.0 21/2 -1 -0.0 0 1e3 (- (/ 1. 0.)) 1+i 1.0+0.0i 'x "10"))

;; the first value comes back as it was
(define (first-negative x) (let loop ((x x)) (if (< x 0) x (loop (- x 1.5)))))
(show (first-negative (opaque -3)) (first-negative (opaque -1/2)) (first-negative (opaque 3)) (first-negative (opaque 1.5)))

;; values of huge, tiny and special exponents go round
(define (grow x n) (let loop ((x x) (i 0) (seen '())) (if (= i n) (cons x seen) (loop (* x 1e100) (+ i 1) (cons x seen)))))
(show (grow (opaque 1) 5) (grow (opaque 1e-300) 3))
(define (halve x) (let loop ((x x) (n 0)) (if (= x 0.) n (loop (/ x 2.) (+ n 1)))))
(show (halve (opaque 1)) (halve (opaque 1e300)))

;; nested, with a closure that sees each iteration's variable
(define (nest n)
  (let outer ((y n) (all '()))
    (if (< y 1.)
        (map (lambda (f) (f)) all)
        (let inner ((x y) (s 0))
          (if (< x 0.5) (outer (- y 1.) (cons (lambda () (list y s)) all)) (inner (- x 0.25) (+ s x)))))))
(show (nest (opaque 3)))

;; parameters of a procedure, results of calls
(define (newton f x) (let loop ((x x) (n 0)) (if (= n 30) x (loop (- x (/ (f x) (* 2. x))) (+ n 1)))))
(show (newton (lambda (x) (- (* x x) 2.)) (opaque 1)) (newton (lambda (x) (- (* x x) 2.)) 1.5))
(define (mean xs) (let loop ((s 0.) (n 0) (xs xs)) (if (null? xs) (/ s n) (loop (+ s (car xs)) (+ n 1) (cdr xs)))))
(show (mean (list 1 2. 3/2)) (fails? (mean (list 1 'x))))
