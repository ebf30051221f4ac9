;; Integer ranges: counters cross the ends of the fixnums, loops whose bounds are proven, comparisons that must fail.
(import (scheme base) (scheme write))

(define (show . xs) (for-each (lambda (x) (write x) (display " ")) xs) (newline))
(define cell (vector 0))
(define (opaque x) (vector-set! cell 0 x) (vector-ref cell 0))

(define top (- (expt 2 60) 1))
(define (up from n) (let loop ((i from) (k 0) (seen '())) (if (= k n) seen (loop (+ i 1) (+ k 1) (cons i seen)))))
(show (up (opaque (- top 2)) 5))
(show (up (- 1152921504606846975 2) 5))
(define (down from n) (let loop ((i from) (k 0) (sum 0)) (if (>= k n) sum (loop (- i 1) (+ k 1) (+ sum i)))))
(show (down (opaque (- 2 (expt 2 60))) 5) (down -1152921504606846974 5))
;; the bound itself is beyond
(show (let loop ((i 1152921504606846970) (n 0)) (if (< i (opaque 1152921504606846980)) (loop (+ i 1) (+ n 1)) (list i n))))
(show (let loop ((i -1152921504606846970) (n 0)) (if (> i (opaque -1152921504606846980)) (loop (- i 1) (+ n 1)) (list i n))))
;; one step is large
(show (let loop ((i 0) (n 0)) (if (< n 20) (loop (+ i 115292150460684697) (+ n 1)) i)))
(show (let loop ((i 1) (n 0)) (if (< n 130) (loop (* i 2) (+ n 1)) i)))
;; equality ends the loop, or is jumped over
(show (let loop ((i 0) (n 0)) (if (= i 10) n (loop (+ i 1) (+ n i)))))
(show (let loop ((i 0) (n 0)) (if (or (= i 11) (= n 30)) i (loop (+ i 2) (+ n 1)))))
(show (let loop ((i 20) (n '())) (if (= i 0) n (loop (- i 5) (cons i n)))))
(show (let loop ((i 1152921504606846970)) (if (= i (opaque 1152921504606846979)) i (loop (+ i 3)))))
;; bounds through vectors
(define v (make-vector 5 1))
(show (let loop ((i 0) (s 0)) (if (< i (vector-length v)) (loop (+ i 1) (+ s (vector-ref v i))) (list i s))))
(show (let loop ((i (- (vector-length v) 1)) (s 0)) (if (>= i 0) (loop (- i 1) (+ s (vector-ref v i))) (list i s))))
(show (let loop ((i (vector-length v)) (s 0)) (if (zero? i) s (loop (- i 1) (+ s (vector-ref v (- i 1)))))))

;; not beyond one end says nothing about the other
(define (sign n) (cond ((< n 0) 'negative) ((< n 10) (vector-ref #(a b c d e f g h i j) n)) (else 'large)))
(show (sign (opaque (expt 2 70))) (sign (opaque (- (expt 2 70)))) (sign (opaque 3)) (sign (opaque top)))
(define (clamp n) (if (> n 100) 100 (if (< n -100) -100 (+ n 0))))
(show (clamp (opaque (expt 2 70))) (clamp (opaque (- (expt 2 70)))) (clamp (opaque 99)) (clamp (opaque 5/2)) (clamp (opaque -1.5)))

;; complex numbers have no order, even if nobody asks for the answer
(define-syntax fails? (syntax-rules () ((_ e) (guard (c (#t 'error)) e 'no-error))))
(show (fails? (< 1+2i 3)) (fails? (< 3 (opaque 1+2i))) (fails? (if (>= (opaque 1.0+2i) 0) 1 1)))
(show (fails? (let ((z 1+i)) (<= 0 z) 1)) (fails? (> +i -i)) (fails? (= +i -i)))
