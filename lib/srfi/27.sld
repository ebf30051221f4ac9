;;; (srfi 27): sources of random numbers.
;;;
;;; L'Ecuyer's MRG32k3a (1999): two linear recurrences of order three, one modulo m1 and one modulo m2; their
;;; difference is the number.  The period is about 2^191; all products fit into fixnums.  `pseudo-randomize!` makes
;;; independent streams: i and j choose a state 2^127 i + 2^76 j steps away, reached by powers of the matrices.
(define-library (srfi 27)
  (export random-integer random-real default-random-source
          make-random-source random-source?
          random-source-state-ref random-source-state-set! random-source-randomize!
          random-source-pseudo-randomize! random-source-make-integers random-source-make-reals)
  (import (scheme base) (scheme case-lambda) (scheme time) (cairn primitives)
          (only (cairn control) out-of-range wrong-type))
  (begin

    (define m1 4294967087)              ; 2^32 - 209
    (define m2 4294944443)              ; 2^32 - 22853

    ;; x1 y1 z1: the last three numbers of the first recurrence, the newest first; x2 y2 z2: of the second.
    (define-record-type random-source
      (make-source x1 y1 z1 x2 y2 z2)
      random-source?
      (x1 x1 set-x1!) (y1 y1 set-y1!) (z1 z1 set-z1!)
      (x2 x2 set-x2!) (y2 y2 set-y2!) (z2 z2 set-z2!))

    (define (make-random-source) (make-source 12345 12345 12345 12345 12345 12345))

    (define default-random-source (make-random-source))

    ;; The next number, from 0 to m1 - 1.  States are checked where they come in, so all here are fixnums.
    (define (next! s)
      (let ((y1* (y1 s)) (x1* (x1 s)) (y2* (y2 s)) (x2* (x2 s)))
        (let ((a (modulo (%fx- (%fx* 1403580 y1*) (%fx* 810728 (z1 s))) m1))
              (b (modulo (%fx- (%fx* 527612 x2*) (%fx* 1370589 (z2 s))) m2)))
          (set-z1! s (%fx+ y1* 0))
          (set-y1! s (%fx+ x1* 0))
          (set-x1! s a)
          (set-z2! s (%fx+ y2* 0))
          (set-y2! s (%fx+ x2* 0))
          (set-x2! s b)
          ;; which sign the difference has is as good as random: no branch asks for it
          (let ((d (%fx- a b)))
            (%fx+ d (%fxand m1 (%fxsra d 40)))))))

    ;;;; Numbers

    ;; From 0 to n - 1: the range of next! is cut into n equal parts; numbers in what is left over are rejected.
    (define (random-below s n)
      (if (<= n m1)
          (let* ((part (quotient m1 n)) (limit (* part n)))
            (let loop ((x (next! s)))
              (if (< x limit) (quotient x part) (loop (next! s)))))
          ;; the same with numbers of several digits in base m1
          (let-values (((digits power)
                        (let loop ((k 1) (power m1)) (if (< power n) (loop (+ k 1) (* power m1)) (values k power)))))
            (let* ((part (quotient power n)) (limit (* part n)))
              (let again ()
                (let loop ((k (- digits 1)) (x (next! s)))
                  (cond ((> k 0) (loop (- k 1) (+ (* x m1) (next! s))))
                        ((< x limit) (quotient x part))
                        (else (again)))))))))

    (define (check-source who s)
      (if (random-source? s) s (wrong-type who "a source of random numbers" s)))

    (define (check-bound who n)
      (if (and (exact-integer? n) (> n 0)) n (out-of-range who "not a positive exact integer:" n)))

    (define (random-integer n)
      (random-below default-random-source (check-bound "random-integer" n)))

    ;; Between 0 and 1, both exclusive, with 53 bits.
    (define (random-unit s)
      (let* ((x (next! s)) (y (next! s)))
        (/ (+ (* 2097152. (%fixnum->flonum x)) (%fixnum->flonum (%fxand y 2097151)) .5) 9007198816436224.)))

    (define (random-real) (random-unit default-random-source))

    (define (random-source-make-integers s)
      (check-source "random-source-make-integers" s)
      (lambda (n) (random-below s (check-bound "random-integer" n))))

    ;; With a unit: multiples of it.
    (define random-source-make-reals
      (case-lambda
        ((s)
         (check-source "random-source-make-reals" s)
         (lambda () (random-unit s)))
        ((s unit)
         (check-source "random-source-make-reals" s)
         (if (not (and (real? unit) (< 0 unit 1)))
             (out-of-range "random-source-make-reals" "a unit lies between 0 and 1, not" unit))
         (let ((parts (- (exact (floor (/ 1 unit))) 1)))
           (if (exact? unit)
               (lambda () (* unit (+ 1 (random-below s (max parts 1)))))
               (lambda () (inexact (* unit (+ 1 (random-below s (max parts 1)))))))))))

    ;;;; States

    (define (random-source-state-ref s)
      (check-source "random-source-state-ref" s)
      (list 'mrg32k3a (x1 s) (y1 s) (z1 s) (x2 s) (y2 s) (z2 s)))

    (define (set-state! s x y z u v w)
      (set-x1! s x) (set-y1! s y) (set-z1! s z)
      (set-x2! s u) (set-y2! s v) (set-z2! s w))

    (define (random-source-state-set! s state)
      (define (below? m l)
        (and (exact-integer? (car l)) (exact-integer? (cadr l)) (exact-integer? (list-ref l 2))
             (< -1 (car l) m) (< -1 (cadr l) m) (< -1 (list-ref l 2) m)
             (not (= 0 (car l) (cadr l) (list-ref l 2)))))
      (check-source "random-source-state-set!" s)
      (if (and (list? state) (= (length state) 7) (eq? (car state) 'mrg32k3a)
               (below? m1 (cdr state)) (below? m2 (list-tail state 4)))
          (apply set-state! s (cdr state))
          (wrong-type "random-source-state-set!" "a state of a source" state)))

    ;; From the clock.
    (define (random-source-randomize! s)
      (check-source "random-source-randomize!" s)
      (let* ((second (exact (floor (* 1000000 (current-second))))) (jiffy (current-jiffy)))
        (set-state! s
                    (+ 1 (modulo second (- m1 1))) (+ 1 (modulo jiffy (- m1 1))) 12345
                    (+ 1 (modulo (quotient second 65536) (- m2 1))) (+ 1 (modulo (* 48271 jiffy) (- m2 1))) 12345)
        ;; states that differ little give similar numbers at first
        (do ((i 0 (+ i 1))) ((= i 32)) (next! s))))

    ;;;; Streams: matrices of 3 x 3 numbers as lists of rows

    (define (row*matrix row m modulus)
      (apply map (lambda column (modulo (apply + (map * row column)) modulus)) m))
    (define (matrix* a b modulus)
      (map (lambda (row) (row*matrix row b modulus)) a))
    (define (matrix-expt m n modulus)
      (let loop ((m m) (n n) (result '((1 0 0) (0 1 0) (0 0 1))))
        (if (= n 0)
            result
            (loop (matrix* m m modulus)
                  (quotient n 2)
                  (if (odd? n) (matrix* result m modulus) result)))))
    (define (advance m modulus . numbers)
      (map (lambda (row) (modulo (apply + (map * row numbers)) modulus)) m))

    (define step1 '((0 1403580 -810728) (1 0 0) (0 1 0)))
    (define step2 '((527612 0 -1370589) (1 0 0) (0 1 0)))

    (define (random-source-pseudo-randomize! s i j)
      (define (check x)
        (if (not (and (exact-integer? x) (>= x 0)))
            (out-of-range "random-source-pseudo-randomize!" "not an exact non-negative integer:" x)))
      (check-source "random-source-pseudo-randomize!" s)
      (check i)
      (check j)
      (let* ((steps (+ (* i (expt 2 127)) (* j (expt 2 76))))
             (first (advance (matrix-expt step1 steps m1) m1 12345 12345 12345))
             (second (advance (matrix-expt step2 steps m2) m2 12345 12345 12345)))
        (apply set-state! s (append first second))))))
