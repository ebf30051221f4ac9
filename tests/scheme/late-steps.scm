;; Counters that are stepped before they are used, operations that rely on one before them, flonums met by integers that
;; may be bignums: what is left out must not be missed by another value.
(import (scheme base) (scheme write))

(define-syntax show
  (syntax-rules ()
    ((_ e) (begin (write (guard (c ((error-object? c) (error-object-message c))) e)) (newline)))))

;; Hides what a value is from the compiler.
(define (hidden x) (car (list x)))
(set! hidden hidden)

;; Collects, and hands on.
(define (after-garbage x)
  (let loop ((i 0) (l '()))
    (if (= i 2000) (if (null? l) i x) (loop (+ i 1) (cons i l)))))
(set! after-garbage after-garbage)

;;;; A step before an index

(define (sum v j n s) (if (= j n) s (sum v (+ j 1) n (+ s (vector-ref v j)))))
(define (sum-after-garbage v start f)
  (let loop ((j (exact-integer-of start)) (l '()))
    (if (= (length l) 2) l (loop (+ j 1) (cons (f j) (cons (vector-ref v j) l))))))
(define (exact-integer-of x) (if (exact-integer? x) x 0))
(define numbers (vector 1.5 2 3.25 4))
(for-each
 (lambda (start)
   (show (sum numbers start 4 0))
   (show (sum-after-garbage numbers start after-garbage)))
 (list 0 1 -1 4 (expt 10 30) (- (expt 10 30)) (- (expt 2 60) 1) (- (expt 2 60)) 1.0 "no"))

;;;; What proves an operand stays before it

(define (turned p) (let* ((x (car p)) (y (cdr p))) (cons y x)))
(define (next v j) (let ((x (list (after-garbage v) (vector-ref v j)))) (list (+ j 1) (cadr x))))
(for-each (lambda (p) (show (turned p))) (list '(1 . 2) 5 "text" #\a '() 1.5 (expt 10 30)))
(for-each (lambda (j) (show (next numbers j))) (list 0 3 4 -1 "text" '(1) (expt 10 30) 1.5))

;;;; A flonum and an integer

(define (index v i) (vector-ref v i) i)
(define (triangle i j) (/ 1.0 (+ (quotient (* (+ i j) (+ i j 1)) 2) i 1)))
(define (all-of x n)
  (let ((n (exact-integer-of n)))
    (list (+ x n) (+ n x) (- x n) (- n x) (* x n) (* n x) (/ x (+ (* n n) 1)) (* 2.5 n) (* n -0.0))))
(show
 (let loop ((i 0) (s 0.0))
   (if (= i 4)
       s
       (loop (+ i 1) (+ s (* (triangle i (index numbers i)) (vector-ref numbers i)))))))
(show (triangle (hidden (expt 2 40)) (hidden 3)))
(show (triangle (hidden (expt 2 59)) (hidden (expt 2 59))))
(show (triangle (hidden (expt 10 200)) (hidden 1)))
(show (triangle (hidden 0) (hidden -1)))
(show (triangle (hidden 1.5) (hidden 1)))
(show (triangle (hidden -1) (hidden 0)))
(for-each
 (lambda (n)
   (show (all-of 1.5 n))
   (show (all-of -0.0 n))
   (show (all-of +inf.0 n))
   (show (all-of 1e300 n)))
 (list 0 1 -3 (- (expt 2 60) 1) (expt 2 60) (- (expt 2 60)) (- -1 (expt 2 60)) (+ (expt 2 53) 1) (expt 10 320)
       (- (expt 10 320))))
(show (all-of (hidden +nan.0) 7))
