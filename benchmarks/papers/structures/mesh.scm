;;; A mesh of triangles that know their neighbours: it is smoothed, then walked from neighbour to neighbour.  The files
;;; that include this one say what vertices and triangles are:
;;;
;;;   (make-mesh! vertices triangles)   room for so many
;;;   (vertex i) (triangle i)           what the operations below take for vertex i and triangle i
;;;   (set-vertex! i x y z)             and  (vertex-x p) ... (add-to-vertex! p x y z) (settle-vertex! p)
;;;   (set-triangle! i a b c l m n)     corners, and neighbours or -1, by number
;;;   (corner-a t) ... (neighbour-l t) ...  vertices, and triangles or #f
;;;   (mark t) (set-mark! t k)
;;;
;;; Arguments: vertices on a side, and how often.  Prints how many triangles the walks reach, and the sum of heights.

(define (argument i otherwise)
  (let ((arguments (command-line)))
    (if (< i (length arguments)) (string->number (list-ref arguments i)) otherwise)))

(define seed 42)
(define (random)
  (set! seed (modulo (* seed 16807) 2147483647))
  (/ (exact->inexact seed) 2147483647.))

;; Vertices on a grid with random heights; each square is cut into a lower and an upper triangle.
(define (build! w)
  (let* ((cells (- w 1)) (across (* 2 cells)))
    (make-mesh! (* w w) (* cells across))
    (do ((j 0 (+ j 1))) ((= j w))
      (do ((i 0 (+ i 1))) ((= i w))
        (set-vertex! (+ (* j w) i) (exact->inexact i) (exact->inexact j) (random))))
    (do ((j 0 (+ j 1))) ((= j cells))
      (do ((i 0 (+ i 1))) ((= i cells))
        (let* ((v (+ (* j w) i)) (t (+ (* j across) (* 2 i))))
          (set-triangle! t v (+ v 1) (+ v w)
                         (+ t 1)
                         (if (= i 0) -1 (- t 1))
                         (if (= j 0) -1 (+ (- t across) 1)))
          (set-triangle! (+ t 1) (+ v 1) (+ v w 1) (+ v w)
                         t
                         (if (= i (- cells 1)) -1 (+ t 2))
                         (if (= j (- cells 1)) -1 (+ t across))))))))

(define (add-both! to p q)
  (add-to-vertex! to
                  (+ (vertex-x p) (vertex-x q))
                  (+ (vertex-y p) (vertex-y q))
                  (+ (vertex-z p) (vertex-z q))))

(define (smooth! vertices triangles)
  (do ((i 0 (+ i 1))) ((= i triangles))
    (let* ((t (triangle i)) (a (corner-a t)) (b (corner-b t)) (c (corner-c t)))
      (add-both! a b c)
      (add-both! b a c)
      (add-both! c a b)))
  (do ((i 0 (+ i 1))) ((= i vertices))
    (settle-vertex! (vertex i))))

;; Marks what is reached from the first triangle, and tells how many these are.
(define (walk k)
  (let ((first (triangle 0)))
    (set-mark! first k)
    (let loop ((open (list first)) (reached 0))
      (if (null? open)
          reached
          (let ((t (car open)))
            (loop (visit (neighbour-l t) k (visit (neighbour-m t) k (visit (neighbour-n t) k (cdr open))))
                  (+ reached 1)))))))
(define (visit t k open)
  (cond ((not t) open)
        ((= (mark t) k) open)
        (else (set-mark! t k) (cons t open))))

(define (height vertices)
  (let loop ((i 0) (sum 0.))
    (if (= i vertices) sum (loop (+ i 1) (+ sum (vertex-z (vertex i)))))))

(define (main w times)
  (let ((vertices (* w w)) (triangles (* 2 (- w 1) (- w 1))))
    (build! w)
    (let loop ((k 1) (reached 0))
      (if (<= k times)
          (begin
            (smooth! vertices triangles)
            (loop (+ k 1) (+ reached (walk k))))
          (begin
            (display reached)
            (display " ")
            (display (inexact->exact (round (* 1000. (height vertices)))))
            (newline))))))

(main (argument 1 20) (argument 2 5))
