;;; The rows of Table 1 of Cérat & Feeley (Scheme '14), over whatever represents points.  The files that include this
;;; one define
;;;
;;;   (points n)           n points, not yet set
;;;   (place! v i x y)     point i becomes a new one with these coordinates
;;;   (element v i)        point i, by which its coordinates are had
;;;   (x-of v p) (y-of v p) (move! v p x) (exchange! v i j)
;;;   (held v i)           point i as an object that can be held, or #f;  (held? p) (x-of-held p) (move-held! p x)
;;;   (points20 n) (place20! v i x)    the same for structures of twenty fields
;;;
;;; Arguments: the row, the number of points, and how often the work is repeated.  Zero repetitions are what a study
;;; subtracts.  It prints a number that depends on the work done and not on the representation.

(define (argument i otherwise)
  (let ((arguments (command-line)))
    (if (< i (length arguments)) (list-ref arguments i) otherwise)))

(define seed 42)
(define (random below)
  (set! seed (modulo (* seed 16807) 2147483647))
  (modulo seed below))

(define (random-points n)
  (let ((v (points n)))
    (do ((i 0 (+ i 1))) ((= i n) v)
      (let* ((x (- (random 20001) 10000)) (y (- (random 20001) 10000)))
        (place! v i x y)))))

(define (repeated times thunk)
  (let loop ((k 0) (sum 0))
    (if (= k times)
        sum
        (loop (+ k 1) (modulo (+ sum (thunk)) 1000000007)))))

;; structure alloc
(define (place-all! v n)
  (do ((i 0 (+ i 1))) ((= i n))
    (place! v i i 7))
  (x-of v (element v (- n 1))))

;; structure20 alloc
(define (place-all20! v n)
  (do ((i 0 (+ i 1))) ((= i n) n)
    (place20! v i i)))

;; structure access
(define (sum v n)
  (let loop ((i 0) (s 0))
    (if (= i n)
        s
        (let ((p (element v i)))
          (loop (+ i 1) (+ s (x-of v p) (y-of v p)))))))

;; Not of the paper: one field of each is stored.
(define (move-all! v n)
  (do ((i 0 (+ i 1))) ((= i n))
    (move! v (element v i) i))
  (x-of v (element v 0)))

;; type access, prop-access: one of two points that take turns, so that nothing is known of them.
(define (test-held p q n)
  (let loop ((p p) (q q) (n n) (s 0))
    (if (= n 0) s (loop q p (- n 1) (if (held? p) (+ s 1) s)))))
(define (read-held p q n)
  (let loop ((p p) (q q) (n n) (s 0))
    (if (= n 0) s (loop q p (- n 1) (+ s (x-of-held p))))))
(define (move-held p q n)
  (let loop ((p p) (q q) (n n))
    (if (= n 0)
        (+ (x-of-held p) (x-of-held q))
        (begin (move-held! p n) (loop q p (- n 1))))))

;; convex envelope: Jarvis' march.
(define (cross v o a b)
  (let ((o (element v o)) (a (element v a)) (b (element v b)))
    (- (* (- (x-of v a) (x-of v o)) (- (y-of v b) (y-of v o)))
       (* (- (y-of v a) (y-of v o)) (- (x-of v b) (x-of v o))))))
(define (leftmost v n)
  (let loop ((i 1) (best 0))
    (cond ((= i n) best)
          ((< (x-of v (element v i)) (x-of v (element v best))) (loop (+ i 1) i))
          (else (loop (+ i 1) best)))))
(define (next-corner v n from)
  (let loop ((i 0) (best (if (= from 0) 1 0)))
    (cond ((= i n) best)
          ((< (cross v from best i) 0) (loop (+ i 1) i))
          (else (loop (+ i 1) best)))))
(define (envelope v n)
  (let ((first (leftmost v n)))
    (let loop ((corner (next-corner v n first)) (corners 1))
      (if (= corner first)
          corners
          (loop (next-corner v n corner) (+ corners 1))))))

;; distance sort: selection sort by distance from the origin.
(define (distance v i)
  (let* ((p (element v i)) (x (x-of v p)) (y (y-of v p)))
    (+ (* x x) (* y y))))
(define (selection-sort! v n)
  (do ((i 0 (+ i 1))) ((= i n))
    (let loop ((j (+ i 1)) (least i) (d (distance v i)))
      (if (= j n)
          (exchange! v i least)
          (let ((e (distance v j)))
            (if (< e d) (loop (+ j 1) j e) (loop (+ j 1) least d)))))))

;; quicksort, by distance from the origin
(define (quicksort! v low high)
  (if (< low high)
      (let ((pivot (distance v (quotient (+ low high) 2))))
        (let loop ((i low) (j high))
          (let* ((i (do ((i i (+ i 1))) ((>= (distance v i) pivot) i)))
                 (j (do ((j j (- j 1))) ((<= (distance v j) pivot) j))))
            (cond ((< i j)
                   (exchange! v i j)
                   (loop (+ i 1) (- j 1)))
                  (else
                   (quicksort! v low (- i 1))
                   (quicksort! v (+ j 1) high))))))))
(define (check-order v n)
  (let loop ((i 1) (s (distance v 0)))
    (cond ((= i n) s)
          ((< (distance v i) (distance v (- i 1))) -1)
          (else (loop (+ i 1) (modulo (+ (* 3 s) (distance v i)) 1000003))))))

(define (run row n times)
  (case row
    ((none) n)
    ((alloc) (repeated times (lambda () (place-all! (points n) n))))
    ((alloc20) (repeated times (lambda () (place-all20! (points20 n) n))))
    ((no-init20) (let ((v (points20 n))) (repeated times (lambda () (place-all20! v n)))))
    ((fill) (let ((v (points n))) (repeated times (lambda () (place-all! v n)))))
    ((access) (let ((v (random-points n))) (repeated times (lambda () (sum v n)))))
    ((mutate) (let ((v (random-points n))) (repeated times (lambda () (move-all! v n)))))
    ((type) (on-held test-held n times))
    ((prop) (on-held read-held n times))
    ((mutate-held) (on-held move-held n times))
    ((envelope) (repeated times (lambda () (envelope (random-points n) n))))
    ((distance)
     (repeated times (lambda () (let ((v (random-points n))) (selection-sort! v n) (check-order v n)))))
    ((quicksort)
     (repeated times (lambda () (let ((v (random-points n))) (quicksort! v 0 (- n 1)) (check-order v n)))))
    (else 'unknown)))

(define (on-held f n times)
  (let* ((v (random-points 2)) (p (held v 0)) (q (held v 1)))
    (repeated times (lambda () (f p q n)))))

(define row (string->symbol (argument 1 "quicksort")))
(display (run row (string->number (argument 2 "1000")) (string->number (argument 3 "2"))))
(newline)
