;; Vectors of flonums in fields of records, and fields that are read before loops: nobody can tell.
(import (scheme base) (scheme write))

(define-record-type matrix (%make-matrix rows cols data) matrix?
  (rows matrix-rows) (cols matrix-cols) (data matrix-data))

(define (make-matrix rows cols) (%make-matrix rows cols (make-vector (* rows cols) 0.)))
(define (matrix-ref m i j) (vector-ref (matrix-data m) (+ (* i (matrix-cols m)) j)))
(define (matrix-set! m i j x) (vector-set! (matrix-data m) (+ (* i (matrix-cols m)) j) x))

(define (fill m f)
  (do ((i 0 (+ i 1))) ((= i (matrix-rows m)) m)
    (do ((j 0 (+ j 1))) ((= j (matrix-cols m)))
      (matrix-set! m i j (f i j)))))

(define (product a b)
  (let ((c (make-matrix (matrix-rows a) (matrix-cols b))))
    (do ((i 0 (+ i 1))) ((= i (matrix-rows a)) c)
      (do ((j 0 (+ j 1))) ((= j (matrix-cols b)))
        (do ((k 0 (+ k 1))
             (s 0. (+ s (* (matrix-ref a i k) (matrix-ref b k j)))))
            ((= k (matrix-cols a)) (matrix-set! c i j s)))))))

(define (print . xs) (for-each (lambda (x) (write x) (display " ")) xs) (newline))

(define a (fill (make-matrix 3 2) (lambda (i j) (+ (* 1. i) (/ j 2.)))))
(define b (fill (make-matrix 2 3) (lambda (i j) (- (* 2. i) j))))
(print a)
(print (product a b) (vector? (matrix-data a)) (vector-length (matrix-data b)))
(display (make-matrix 0 7))
(newline)

;; one vector in two fields has a label, as any vector has
(define-record-type pair-of-vectors (pair-of u v) pair-of-vectors? (u left) (v right set-right!))
(define p (let ((v (make-vector 2 1.5))) (pair-of v v)))
(write-shared p)
(newline)
(vector-set! (left p) 1 2.5)
(print (vector-ref (right p) 1) (eq? (left p) (right p)))
(set-right! p #f)
(print p (vector? (left p)) (vector? (right p)))

;; failures are those of the first access, under its name, and come when they would
(define (failure thunk)
  (guard (e ((error-object? e) (print (error-object-message e) (error-object-irritants e))))
    (thunk)))
(define (sum m)
  (do ((i 0 (+ i 1)) (s 0. (+ s (matrix-ref m 0 i)))) ((= i (matrix-cols m)) s)))
(define (corner m turns)
  (do ((i 0 (+ i 1)) (s 0. (if (= i 2) (+ s (matrix-ref m 0 0)) (+ s 1.)))) ((= i turns) s)))
(failure (lambda () (sum 7)))
(failure (lambda () (sum (make-vector 2 0.))))
(print (corner a 2) (corner 'none 2) (sum a))
(failure (lambda () (corner 'none 3)))
(failure (lambda () (matrix-ref a 9 9)))
(failure (lambda () (matrix-set! a 0 -1 1.)))

;; a field that is assigned to is read in each turn
(define-record-type queue (make-queue items size) queue? (items items) (size size set-size!))
(define (drain q)
  (let loop ((total 0.))
    (if (= 0 (size q))
        total
        (begin
          (set-size! q (- (size q) 1))
          (loop (+ total (vector-ref (items q) (size q))))))))
(define q (make-queue (make-vector 5 .5) 5))
(print (drain q) q)

;; integers come later into one of them, so that stays a vector of anything
(define-record-type cell (make-cell contents) cell? (contents contents))
(define c (make-cell (make-vector 2 0.)))
(vector-set! (contents c) 1 7)
(print c (vector-ref (contents c) 1))
