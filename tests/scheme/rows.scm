;; Matrices as vectors of rows: rows that loops read once, though they are shared, replaced or the matrix itself.
(import (scheme base) (scheme write))

(define (make-matrix rows columns x)
  (let ((m (make-vector rows)))
    (do ((i 0 (+ i 1))) ((= i rows) m) (vector-set! m i (make-vector columns x)))))
(define (matrix-ref m i j) (vector-ref (vector-ref m i) j))
(define (matrix-set! m i j x) (vector-set! (vector-ref m i) j x))
(define (show m n) (do ((i 0 (+ i 1))) ((= i n) (newline)) (write (vector-ref m i)) (display " ")))
(define-syntax attempt
  (syntax-rules () ((_ e) (guard (c (#t (write (error-object-message c)) (write (error-object-irritants c)) (newline))) e))))

;; flonums that come from elsewhere: the rows are f64vectors inside, and nobody can tell
(define n 12)
(define a (make-matrix n n 0.5))
(define b (make-matrix n n 0.0))
(define (smooth! from to n)
  (do ((i 1 (+ i 1))) ((= i (- n 1)))
    (do ((j 1 (+ j 1))) ((= j (- n 1)))
      (matrix-set! to i j (/ (+ (matrix-ref from (- i 1) j) (matrix-ref from (+ i 1) j)
                                (matrix-ref from i (- j 1)) (matrix-ref from i (+ j 1))) 4.0)))))
(do ((j 0 (+ j 1))) ((= j n)) (matrix-set! a 0 j 8.0))
(let loop ((k 0) (a a) (b b)) (when (< k 5) (smooth! a b n) (loop (+ k 1) b a)))
(write (list (matrix-ref a 1 1) (matrix-ref a 5 5) (matrix-ref b 1 6))) (newline)
(attempt (matrix-ref a 1 n))
(attempt (matrix-ref a n 1))

;; integers: shortest paths, where three rows meet in a loop, two of which may be one
(define (shortest! d n)
  (do ((k 0 (+ k 1))) ((= k n) d)
    (do ((i 0 (+ i 1))) ((= i n))
      (do ((j 0 (+ j 1))) ((= j n))
        (let ((way (+ (matrix-ref d i k) (matrix-ref d k j))))
          (when (< way (matrix-ref d i j)) (matrix-set! d i j way)))))))
(define d (make-matrix 10 10 0))
(do ((i 0 (+ i 1))) ((= i 10))
  (do ((j 0 (+ j 1))) ((= j 10)) (matrix-set! d i j (if (= i j) 0 (+ 1 (modulo (* (+ i 3) (+ j 5) 7) 23))))))
(show (shortest! d 10) 3)

;; rows that are one
(define shared (make-vector 4 (make-vector 12 1)))
(define (sums! m i k) (do ((j 1 (+ j 1))) ((= j 12)) (matrix-set! m i j (+ (matrix-ref m k (- j 1)) (matrix-ref m i j)))))
(sums! shared 0 3)
(show shared 2)

;; a row is replaced in the loop, at the first or a later turn
(define (replace! m at)
  (let ((other (make-vector 12 'new)))
    (do ((j 0 (+ j 1))) ((= j 12))
      (matrix-set! m 1 j j)
      (when (= j at) (vector-set! m 1 other)))))
(define m (make-matrix 3 12 #f))
(replace! m 4)
(show m 2)

;; the matrix is its own row, and a store into the row is one into the matrix
(define self (make-matrix 12 12 0))
(define row (vector-ref self 3))
(vector-set! self 2 self)
(define (through! m i k) (do ((j 0 (+ j 1))) ((= j 12)) (matrix-set! m i j (matrix-ref m k j))))
(attempt (through! self 2 3))
(write (list (eqv? (vector-ref self 0) 0) (vector-ref row 0) (vector-length self))) (newline)

;; strings and bytevectors as rows; rows that are too short, and none at all
(define grid (vector "..#..#..#..#" "############" (string #\a)))
(define (count g y) (do ((x 0 (+ x 1)) (c 0 (if (char=? #\# (string-ref (vector-ref g y) x)) (+ c 1) c))) ((= x 12) c)))
(write (list (count grid 0) (count grid 1))) (newline)
(attempt (count grid 2))
(define bytes (vector (make-bytevector 12 7) 'none))
(define (total g y) (do ((x 0 (+ x 1)) (s 0 (+ s (bytevector-u8-ref (vector-ref g y) x)))) ((= x 12) s)))
(write (total bytes 0)) (newline)
(attempt (total bytes 1))
;; no turn, no row
(define (none g y to) (do ((x 0 (+ x 1)) (s 0 (+ s (vector-ref (vector-ref g y) x)))) ((>= x to) s)))
(write (none bytes 7 0)) (newline)

;; what a vector was filled with is in it, too
(define ones (make-vector 10 1))
(define (sum v n) (let loop ((i 0) (s 0)) (if (< i n) (loop (+ i 1) (+ s (vector-ref v i))) s)))
(define flags (make-vector 10 #t))
(vector-set! flags 3 #f)
(define mixed (make-vector 10 #t))
(vector-set! mixed 3 1.5)
(define millions (make-vector 10 1000000))
(vector-set! millions 3 1)
(write (list (sum ones 10) (if (vector-ref flags 0) 'yes 'no) (if (vector-ref flags 3) 'yes 'no)
             (vector-ref mixed 0) (if (= 1 (vector-ref millions 0)) 'one 'other)))
(newline)
