;; Sums of flonums in loops, in every way that they stop being flonums, and integers that meet them.
(import (scheme base) (scheme write) (scheme complex))

(define (show . xs) (for-each (lambda (x) (write x) (display " ")) xs) (newline))
(define (try thunk)
  (guard (e ((error-object? e) (list 'error (error-object-message e)))) (thunk)))

;; what the vector has decides at each turn
(define (sum v)
  (let ((n (vector-length v)))
    (let loop ((i 0) (s 0.0))
      (if (< i n) (loop (+ i 1) (+ s (vector-ref v i))) s))))
(define (weighted v)
  (let ((n (vector-length v)))
    (let loop ((i 0) (s 0.0))
      (if (= i n) s (loop (+ i 1) (+ s (* (/ 1.0 (+ (quotient (* (+ i 2) (+ i 3)) 2) i 1)) (vector-ref v i))))))))
(define (two v w)
  (let ((n (vector-length v)))
    (let loop ((i 0) (s 0.0) (t -0.0) (count 0))
      (if (= i n)
          (list s t count)
          (loop (+ i 1)
                (+ s (* (vector-ref v i) (vector-ref w i)))
                (- t (vector-ref v i))
                (if (eqv? t s) (+ count 1) count))))))
(define samples
  (list (vector) (vector 1.5) (vector 1.5 2.5 -4.0) (vector 1.5 2 3.5) (vector 1/2 1/4 0.25) (vector 0 0 0)
        (vector 1.5 (expt 10 30) -1e30) (vector 1e308 1e308 -1e308) (vector +nan.0 1.0) (vector -0.0 -0.0)
        (vector 1.5 (make-rectangular 1 2) 3.5) (vector 2.5 (make-rectangular 1.5 -2.5) (make-rectangular 0.5 2.5) 1.0)
        (vector 5e-324 5e-324) (vector 1.5 'x 2.5) (vector 1.5 "y")))
(for-each (lambda (v) (show (try (lambda () (sum v))) (try (lambda () (weighted v))) (try (lambda () (two v v)))))
          samples)

;; exact zero is special in sums, as a divisor, and as a factor
(define (add n x) (+ (* 1.0 x) n))
(define (add2 n x) (+ n (* 1.0 x)))
(define (sub n x) (- (* 1.0 x) n))
(define (sub2 n x) (- n (* 1.0 x)))
(define (mul n x) (* n (* 1.0 x)))
(define (div n x) (/ (* 1.0 x) n))
(define (div2 n x) (/ n (* 1.0 x)))
(define (length-of l) (let loop ((l l) (n 0)) (if (pair? l) (loop (cdr l) (+ n 1)) n)))
(for-each
 (lambda (n)
   (for-each
    (lambda (x)
      (show n x (map (lambda (f) (try (lambda () (f n x)))) (list add add2 sub sub2 mul div div2))))
    '(0.0 -0.0 1.5 -2.5 +inf.0 +nan.0 1e300)))
 (list 0 (length-of '()) 7 -3 1152921504606846975 1152921504606846976 -1152921504606846977 (expt 10 400)))

;; integers that overflow in the midst of a tree of floats
(define (tree i j x)
  (+ 0.5 (* x (/ 1.0 (+ (* i j) (- i j) 1)))))
(define (run i j v)
  (let loop ((k 0) (s 0.0))
    (if (= k (vector-length v)) s (loop (+ k 1) (+ s (tree (+ i k) (- j k) (vector-ref v k)))))))
(for-each
 (lambda (p) (show (try (lambda () (run (car p) (cadr p) (vector 1.5 2.5 3.5 4.5))))
                   (try (lambda () (run (car p) (cadr p) (vector 1.5 2 3.5 1/3))))))
 '((1 1) (0 0) (-1 1) (1073741824 1073741824) (1152921504606846975 3) (1152921504606846974 1152921504606846975)
   (-1152921504606846976 1152921504606846975) (1000000000000000000000 -7) (2 -1)))

;; a sum that starts exact, and one that is passed on unchanged at some turns
(define (mixed v)
  (let loop ((i 0) (s 0) (last 1.0))
    (if (= i (vector-length v))
        (list s last)
        (let ((x (vector-ref v i)))
          (loop (+ i 1) (+ s x) (if (and (real? x) (< x 2)) last (+ last x)))))))
(for-each (lambda (v) (show (try (lambda () (mixed v))))) samples)

;; the sum is kept by a closure, and by a continuation that comes back
(define (kept v)
  (let loop ((i 0) (s 0.0) (all '()))
    (if (= i (vector-length v))
        (map (lambda (f) (f)) all)
        (loop (+ i 1) (+ s (* 2 (vector-ref v i)) 1) (cons (lambda () s) all)))))
(for-each (lambda (v) (show (try (lambda () (kept v))))) samples)
(define again #f)
(define turns 0)
(define (captured v)
  (let loop ((i 0) (s 0.0))
    (if (= i (vector-length v))
        s
        (loop (+ i 1) (+ s (* 0.5 (call/cc (lambda (k) (if (= i 1) (set! again k)) (vector-ref v i)))))))))
(show (captured (vector 1.5 2.5 3.5)))
(if (< turns 2) (begin (set! turns (+ turns 1)) (again (if (= turns 1) 7 1/3))))
