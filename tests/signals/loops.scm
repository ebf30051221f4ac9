;; Loops without end, one for each way to have no end. Each begins after output that stays in a buffer.

(import (scheme base) (scheme write) (scheme process-context))

(define (count)
  (let loop ((i 0)) (loop (if (= i 1000000) 0 (+ i 1)))))

;; Loops in loops: only the inner one has many rounds.
(define (nested)
  (let outer ((i 0))
    (let inner ((j 0)) (if (< j 3) (inner (+ j 1))))
    (outer (if (= i 1000) 0 (+ i 1)))))

;; One path round allocates, the other does not.
(define (sometimes)
  (let loop ((i 0) (l '()))
    (if (< i 0) (loop 0 (cons i l)) (loop (if (= i 100) 0 (+ i 1)) l))))

(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))

(define (is-even? n m) (if (= n 0) (is-odd? m 1) (is-odd? (- n 1) m)))
(define (is-odd? n m) (if (= n 0) (is-even? m 1) (is-even? (- n 1) m)))

;; Procedures that do nothing but call themselves, or one another.
(define (itself x) (itself x))
(define (there x) (back x))
(define (back x) (elsewhere x))
(define (elsewhere x) (there x))

;; Tail calls of procedures that nobody knows.
(define ring (make-vector 3 #f))
(define (unknown)
  (vector-set! ring 0 (lambda (i) ((vector-ref ring (+ i 1)) 1)))
  (vector-set! ring 1 (lambda (i) ((vector-ref ring (+ i 1)) 2)))
  (vector-set! ring 2 (lambda (i) ((vector-ref ring 0) 0)))
  ((vector-ref ring 0) 0))

(define (cps n k) (if (= n 0) (k 0) (cps (- n 1) (lambda (v) (k (+ v 1))))))

(define (applied . l) (apply (vector-ref ring 0) l))

;; Frames that are kept from call to call, of procedures that do nothing.
(define (calls)
  (vector-set! ring 0 (lambda (x) x))
  (let loop ((i 0)) ((vector-ref ring 0) i) (loop (if (= i 1000) 0 (+ i 1)))))

(define (again)
  (let ((k (call/cc (lambda (k) k)))) (k k)))

(define (captures) (call/cc (lambda (k) (captures))))

(define (vectors)
  (let ((v (make-vector 1000 1)))
    (let loop ((i 0) (sum 0))
      (if (= i 1000)
          (loop 0 0)
          (begin (vector-set! v i sum) (loop (+ i 1) (vector-ref v i)))))))

(define (strings)
  (let ((s (make-string 1000 #\a)))
    (let loop ((i 0) (n 0))
      (if (= i 1000) (loop 0 0) (loop (+ i 1) (if (char=? (string-ref s i) #\b) (+ n 1) n))))))

(define (flonums)
  (do ((x 0.5 (if (> x 1e10) 0.5 (* x 1.25))) (y 1.0 (/ (+ y 1.5) 2.0))) ((= y 0.25) (display x))))

(define (circle)
  (let ((l (list 1 2 3)))
    (set-cdr! (cddr l) l)
    (let loop ((l l)) (if (pair? l) (loop (cdr l))))))

(define (allocation)
  (let loop ((l '())) (loop (list l 1))))

(define (bignums)
  (let loop ((n 1)) (loop (if (> n 100000000000000000000000000000000000) 1 (* n 3)))))

(define (ports)
  (let ((p (open-output-string)))
    (let loop () (write-char #\a p) (loop))))

(define (handlers)
  (with-exception-handler
   (lambda (c) 1)
   (lambda () (let loop ((n 0)) (loop (raise-continuable n))))))

(define (errors)
  (let loop ((n 0)) (loop (guard (c (#t 1)) (car n)))))

(define (winders)
  (let loop ((n 0)) (loop (dynamic-wind (lambda () #f) (lambda () n) (lambda () #f)))))

(define (several)
  (let loop ((n 0)) (call-with-values (lambda () (values n 1)) (lambda (a b) (loop a)))))

;; Frames larger than what may grow without a check.
(define (wide n)
  (let loop ((a n) (b 1) (c 2))
    (let* ((x0 (+ a 0)) (x1 (+ a 1)) (x2 (+ a 2)) (x3 (+ a 3)) (x4 (+ a 4)) (x5 (+ a 5)) (x6 (+ a 6)) (x7 (+ a 7)))
      (if (= a 20)
          (loop n c b)
          (begin
            (fib 3)
            (loop (+ a 1) (- (+ x0 x1 x2 x3) (+ x4 x5 x6 x7) -8) (fib 2)))))))

(display "begun")

(let ((way (string->symbol (list-ref (command-line) 1))))
  (case way
    ((count) (count))
    ((nested) (nested))
    ((sometimes) (sometimes))
    ((fib) (let loop () (fib 25) (loop)))
    ((deep) (fib 200))
    ((parity) (is-even? 10 1))
    ((itself) (itself 0))
    ((circle-of-calls) (there 0))
    ((unknown) (unknown))
    ((cps) (let loop () (cps 100 (lambda (v) v)) (loop)))
    ((applied) (vector-set! ring 0 applied) (applied 1 2 3))
    ((calls) (calls))
    ((again) (again))
    ((captures) (captures))
    ((vectors) (vectors))
    ((strings) (strings))
    ((flonums) (flonums))
    ((circle) (circle))
    ((allocation) (allocation))
    ((bignums) (bignums))
    ((ports) (ports))
    ((handlers) (handlers))
    ((errors) (errors))
    ((winders) (winders))
    ((several) (several))
    ((wide) (wide 0))
    ((read) (read-char))
    (else (display " no such way"))))
