;;; (srfi 194): generators of random data, of the random source of SRFI 27 that is current.
(define-library (srfi 194)
  (export
   clamp-real-number current-random-source with-random-source make-random-source-generator
   make-random-integer-generator make-random-u1-generator make-random-u8-generator make-random-s8-generator
   make-random-u16-generator make-random-s16-generator make-random-u32-generator make-random-s32-generator
   make-random-u64-generator make-random-s64-generator make-random-boolean-generator make-random-char-generator
   make-random-string-generator make-random-real-generator make-random-rectangular-generator
   make-random-polar-generator make-bernoulli-generator make-binomial-generator make-categorical-generator
   make-normal-generator make-exponential-generator make-geometric-generator make-poisson-generator
   make-zipf-generator make-sphere-generator make-ellipsoid-generator make-ball-generator gsampling)
  (import (scheme base) (scheme case-lambda) (scheme complex) (scheme inexact) (srfi 27)
          (only (cairn control) wrong-type))
  (begin

    (define current-random-source (make-parameter default-random-source))
    (define (with-random-source source thunk)
      (if (not (random-source? source)) (wrong-type "with-random-source" "a random source" source))
      (parameterize ((current-random-source source)) (thunk)))
    ;; Generators keep the source that is current when they are made.
    (define (integers) (random-source-make-integers (current-random-source)))
    (define (reals) (random-source-make-reals (current-random-source)))

    (define (check-real who . xs)
      (for-each
       (lambda (x) (if (not (and (real? x) (< -inf.0 x +inf.0))) (wrong-type who "a finite real number" x)))
       xs))
    (define (clamp-real-number low high x)
      (check-real "clamp-real-number" low high)
      (if (> low high) (error "clamp-real-number: the bounds are the wrong way round:" low high))
      (max low (min high x)))

    ;; Each source that comes out is independent of the others.
    (define (make-random-source-generator i)
      (if (not (and (exact-integer? i) (>= i 0))) (wrong-type "make-random-source-generator" "an index" i))
      (let ((j 0))
        (lambda ()
          (let ((s (make-random-source)))
            (random-source-pseudo-randomize! s i j)
            (set! j (+ j 1))
            s))))

    ;;;; Integers, characters, strings

    ;; From low on, below high.
    (define (make-random-integer-generator low high)
      (for-each
       (lambda (n) (if (not (exact-integer? n)) (wrong-type "make-random-integer-generator" "an exact integer" n)))
       (list low high))
      (if (>= low high) (error "make-random-integer-generator: there is no integer between:" low high))
      (let ((next (integers)) (n (- high low)))
        (lambda () (+ low (next n)))))
    (define (unsigned bits) (lambda () (make-random-integer-generator 0 (expt 2 bits))))
    (define (signed bits)
      (lambda () (make-random-integer-generator (- (expt 2 (- bits 1))) (expt 2 (- bits 1)))))
    (define make-random-u1-generator (unsigned 1))
    (define make-random-u8-generator (unsigned 8))
    (define make-random-s8-generator (signed 8))
    (define make-random-u16-generator (unsigned 16))
    (define make-random-s16-generator (signed 16))
    (define make-random-u32-generator (unsigned 32))
    (define make-random-s32-generator (signed 32))
    (define make-random-u64-generator (unsigned 64))
    (define make-random-s64-generator (signed 64))
    (define (make-random-boolean-generator)
      (let ((bit (make-random-u1-generator)))
        (lambda () (= 1 (bit)))))
    (define (make-random-char-generator s)
      (if (not (and (string? s) (> (string-length s) 0)))
          (wrong-type "make-random-char-generator" "a string with characters" s))
      (let ((i (make-random-integer-generator 0 (string-length s))))
        (lambda () (string-ref s (i)))))
    (define (make-random-string-generator k s)
      (let ((c (make-random-char-generator s)) (length (make-random-integer-generator 0 k)))
        (lambda ()
          (let ((out (open-output-string)))
            (do ((n (length) (- n 1))) ((= n 0) (get-output-string out))
              (write-char (c) out))))))

    ;;;; Numbers

    (define (make-random-real-generator low high)
      (check-real "make-random-real-generator" low high)
      (let ((next (reals)))
        (lambda ()
          (let ((t (next))) (+ (* t low) (* (- 1 t) high))))))
    (define (make-random-rectangular-generator real-low real-high imag-low imag-high)
      (let ((x (make-random-real-generator real-low real-high)) (y (make-random-real-generator imag-low imag-high)))
        (lambda () (make-rectangular (x) (y)))))
    (define pi (acos -1))
    ;; Uniform by area.
    (define make-random-polar-generator
      (case-lambda
        ((low high) (make-random-polar-generator 0 low high 0 (* 2 pi)))
        ((origin low high) (make-random-polar-generator origin low high 0 (* 2 pi)))
        ((low high angle-low angle-high) (make-random-polar-generator 0 low high angle-low angle-high))
        ((origin low high angle-low angle-high)
         (let ((square (make-random-real-generator (* low low) (* high high)))
               (angle (make-random-real-generator angle-low angle-high)))
           (lambda () (+ origin (make-polar (sqrt (square)) (angle))))))))

    ;;;; Distributions

    (define (check-probability who p)
      (if (not (and (real? p) (<= 0 p 1))) (wrong-type who "a probability" p)))

    (define (make-bernoulli-generator p)
      (check-probability "make-bernoulli-generator" p)
      (let ((next (reals)))
        (lambda () (if (< (next) p) 1 0))))

    ;; By inversion of the cumulative sums (many trials are split into several of fewer).
    (define (make-binomial-generator n p)
      (check-probability "make-binomial-generator" p)
      (if (not (and (exact-integer? n) (> n 0))) (wrong-type "make-binomial-generator" "a positive number of trials" n))
      (cond
        ((= p 0) (lambda () 0))
        ((= p 1) (lambda () n))
        ((> p 1/2)
         (let ((failures (make-binomial-generator n (- 1 p)))) (lambda () (- n (failures)))))
        ((> n 500)
         (let* ((k (quotient n 2)) (part (make-binomial-generator k p)) (rest (make-binomial-generator (- n k) p)))
           (lambda () (+ (part) (rest)))))
        (else
         (let* ((next (reals)) (ratio (inexact (/ p (- 1 p)))) (first (expt (- 1. p) n)))
           (lambda ()
             (let loop ((k 0) (u (next)) (q first))
               (if (or (< u q) (= k n))
                   k
                   (loop (+ k 1) (- u q) (* q ratio (/ (- n k) (+ k 1.)))))))))))

    ;; The index of a weight, as often as the weights say.
    (define (make-categorical-generator weights)
      (let* ((n (vector-length weights))
             (sum (let loop ((i 0) (sum 0))
                    (if (= i n)
                        sum
                        (let ((w (vector-ref weights i)))
                          (if (not (and (real? w) (>= w 0))) (wrong-type "make-categorical-generator" "a weight" w))
                          (loop (+ i 1) (+ sum w))))))
             (next (make-random-real-generator 0 sum)))
        (if (= sum 0) (error "make-categorical-generator: all weights are zero:" weights))
        (lambda ()
          (let loop ((i 0) (x (next)))
            (let ((x (- x (vector-ref weights i))))
              (if (or (< x 0) (= i (- n 1))) i (loop (+ i 1) x)))))))

    ;; Pairs by the method of Box and Muller (1958).
    (define make-normal-generator
      (case-lambda
        (() (make-normal-generator 0. 1.))
        ((mean) (make-normal-generator mean 1.))
        ((mean deviation)
         (check-real "make-normal-generator" mean deviation)
         (if (<= deviation 0) (error "make-normal-generator: the deviation is not positive:" deviation))
         (let ((next (reals)) (spare #f))
           (lambda ()
             (if spare
                 (let ((x spare))
                   (set! spare #f)
                   (+ mean (* deviation x)))
                 (let ((r (sqrt (* -2 (log (next))))) (angle (* 2 pi (next))))
                   (set! spare (* r (sin angle)))
                   (+ mean (* deviation r (cos angle))))))))))
    (define (make-exponential-generator mean)
      (check-real "make-exponential-generator" mean)
      (if (<= mean 0) (error "make-exponential-generator: the mean is not positive:" mean))
      (let ((next (reals)))
        (lambda () (- (* mean (log (next)))))))
    ;; The number of the first trial that succeeds.
    (define (make-geometric-generator p)
      (check-probability "make-geometric-generator" p)
      (if (= p 0) (error "make-geometric-generator: the probability is zero"))
      (let ((next (reals)))
        (if (= p 1)
            (lambda () 1)
            (let ((scale (log (- 1. p))))
              (lambda () (max 1 (exact (ceiling (/ (log (next)) scale)))))))))
    ;; By counting; a large mean is split in two.
    (define (make-poisson-generator mean)
      (check-real "make-poisson-generator" mean)
      (if (<= mean 0) (error "make-poisson-generator: the mean is not positive:" mean))
      (if (> mean 30)
          (let ((half (make-poisson-generator (/ mean 2)))) (lambda () (+ (half) (half))))
          (let ((next (reals)) (limit (exp (- (inexact mean)))))
            (lambda ()
              (let loop ((k 0) (p (next)))
                (if (< p limit) k (loop (+ k 1) (* p (next)))))))))

    ;; 1 to n, k with a weight of (k + q)^-s, by rejection under a hyperbola (Hörmann and Derflinger 1996).
    (define make-zipf-generator
      (case-lambda
        ((n) (make-zipf-generator n 1. 0.))
        ((n s) (make-zipf-generator n s 0.))
        ((n s q)
         (let* ((s (inexact s)) (q (inexact q)) (next (reals)) (1-s (- 1 s)))
           (define (near-one?) (< (abs 1-s) 1e-10))
           ;; the integral of the hyperbola, and its inverse
           (define (hat x) (if (near-one?) (log (+ x q)) (/ (expt (+ x q) 1-s) 1-s)))
           (define (unhat y) (- (if (near-one?) (exp y) (expt (* y 1-s) (/ 1-s))) q))
           (define (weight k) (expt (+ k q) (- s)))
           (let ((low (- (hat 1.5) (weight 1))) (high (hat (+ n .5))))
             (lambda ()
               (let loop ()
                 (let* ((u (+ low (* (next) (- high low))))
                        (x (unhat u))
                        (k (min n (max 1 (exact (round x))))))
                   (if (>= u (- (hat (+ k .5)) (weight k))) k (loop))))))))))

    ;;;; Points

    (define (normals n)
      (let ((next (make-normal-generator)))
        (lambda ()
          (let ((v (make-vector n)))
            (do ((i 0 (+ i 1))) ((= i n) v)
              (vector-set! v i (next)))))))
    (define (norm v)
      (let loop ((i 0) (sum 0))
        (if (= i (vector-length v)) (sqrt sum) (loop (+ i 1) (+ sum (square (vector-ref v i)))))))
    ;; On the sphere of dimension n, that is of n + 1 coordinates.
    (define (make-sphere-generator n)
      (if (not (and (exact-integer? n) (> n 0))) (wrong-type "make-sphere-generator" "a positive dimension" n))
      (make-ellipsoid-generator (make-vector (+ n 1) 1)))
    ;; On the ellipsoid with these axes: a point of the sphere, kept as often as the surface grows there.
    (define (make-ellipsoid-generator axes)
      (let* ((next (normals (vector-length axes))) (uniform (reals))
             (least (apply min (vector->list axes))))
        (lambda ()
          (let loop ()
            (let* ((v (next)) (r (norm v)) (unit (vector-map (lambda (x) (/ x r)) v))
                   (growth (* least (norm (vector-map (lambda (x a) (/ x a)) unit axes)))))
              (if (<= (uniform) growth)
                  (vector-map * unit axes)
                  (loop)))))))
    ;; In the ball of a dimension, or in the ellipsoid with these axes.
    (define (make-ball-generator dimension)
      (let* ((axes (if (vector? dimension) dimension (make-vector dimension 1)))
             (n (vector-length axes)) (next (normals (+ n 2))))
        (lambda ()
          (let* ((v (next)) (r (norm v)))
            (vector-map (lambda (x a) (* a (/ x r))) (vector-copy v 0 n) axes)))))

    ;; One of the generators each time, until all are at their end.
    (define (gsampling . generators)
      (let ((next (integers)))
        (lambda ()
          (let loop ()
            (if (null? generators)
                (eof-object)
                (let* ((i (next (length generators))) (x ((list-ref generators i))))
                  (if (eof-object? x)
                      (begin
                        (set! generators
                              (let without ((l generators) (i i))
                                (if (= i 0) (cdr l) (cons (car l) (without (cdr l) (- i 1))))))
                        (loop))
                      x)))))))))
