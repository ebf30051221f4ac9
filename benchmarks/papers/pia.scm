;;; Pia: the perspective inversion algorithm decides where an object stands that a camera has seen (the problem of
;;; Waugh, McAndrew and Michaelson 1990). A wire frame of known shape is seen as points and edges of a picture.
;;; Hypotheses pair three corners of the object with three points of the picture; each is inverted to positions by the
;;; law of cosines and a quartic, found by bisection; the position that explains most of the picture wins.
;;;
;;; Vectors of the space are lists of three flonums, transformations are closures; corners are paired by recursion, so
;;; that the depth of the stack swings.
(import (scheme base) (scheme write) (scheme inexact) (scheme process-context))

;;; Vectors.
(define (vec x y z) (list x y z))
(define (x-of v) (car v))
(define (y-of v) (cadr v))
(define (z-of v) (car (cddr v)))
(define (v+ a b) (map + a b))
(define (v- a b) (map - a b))
(define (scale k v) (map (lambda (x) (* k x)) v))
(define (dot a b) (+ (* (x-of a) (x-of b)) (* (y-of a) (y-of b)) (* (z-of a) (z-of b))))
(define (cross a b)
  (vec (- (* (y-of a) (z-of b)) (* (z-of a) (y-of b)))
       (- (* (z-of a) (x-of b)) (* (x-of a) (z-of b)))
       (- (* (x-of a) (y-of b)) (* (y-of a) (x-of b)))))
(define (norm v) (sqrt (dot v v)))
(define (unit v) (scale (/ 1.0 (norm v)) v))

;;; A transformation is a closure from points to points.
(define (rotation axis angle)
  (let ((u (unit axis)) (c (cos angle)) (s (sin angle)))
    (lambda (v)
      (v+ (v+ (scale c v) (scale s (cross u v))) (scale (* (- 1.0 c) (dot u v)) u)))))
(define (translation t) (lambda (v) (v+ v t)))
(define (compose f g) (lambda (v) (f (g v))))

;; From three corners to three places: the rigid motion that fits orthonormal frames to both.
(define (frame a b c)
  (let* ((u (unit (v- b a))) (w (unit (cross u (v- c a)))))
    (list u (cross w u) w)))
(define (rigid-motion from to)
  (let ((f (apply frame from)) (t (apply frame to)) (origin (car from)) (goal (car to)))
    (lambda (v)
      (let ((d (v- v origin)))
        (let sum ((f f) (t t) (result goal))
          (if (null? f) result (sum (cdr f) (cdr t) (v+ result (scale (dot d (car f)) (car t))))))))))

;;; The camera stands at the origin and looks along z; a point of the picture is the unit vector towards it.
(define (project v) (unit v))

;;; The object: a house with a chimney. Corners, and edges as pairs of corners.
(define corners
  (list (vec 0.0 0.0 0.0) (vec 4.0 0.0 0.0) (vec 4.0 3.0 0.0) (vec 0.0 3.0 0.0)
        (vec 0.0 0.0 2.5) (vec 4.0 0.0 2.5) (vec 4.0 3.0 2.5) (vec 0.0 3.0 2.5)
        (vec 0.0 1.5 4.0) (vec 4.0 1.5 4.0) (vec 3.0 2.0 3.5) (vec 3.0 2.0 4.6)))

;;; Inversion: where the corners a, b, c lie along the rays p, q, r. With distances s, t, u along the rays and the sides
;;; of the triangle known, t and u follow from s by the law of cosines; the third side then decides about s.
(define (along-ray s other-cosine side)
  ;; t with s^2 + t^2 - 2 s t cos = side^2: none, or two.
  (let* ((b (* s other-cosine)) (d (- (* side side) (* s s (- 1.0 (* other-cosine other-cosine))))))
    (if (< d 0.0) '() (let ((root (sqrt d))) (list (- b root) (+ b root))))))

(define (solutions abc pqr)
  (let* ((a (car abc)) (b (cadr abc)) (c (car (cddr abc)))
         (p (car pqr)) (q (cadr pqr)) (r (car (cddr pqr)))
         (ab (norm (v- a b))) (ac (norm (v- a c))) (bc (norm (v- b c)))
         (pq (dot p q)) (pr (dot p r)) (qr (dot q r))
         (far (min (/ ab (sqrt (max 1e-9 (- 1.0 (* pq pq))))) (/ ac (sqrt (max 1e-9 (- 1.0 (* pr pr)))))))
         ;; What the third side lacks, as a function of s, for one choice of the two roots; #f where there are none.
         (branch (lambda (choose-t choose-u)
                   (lambda (s)
                     (let ((ts (along-ray s pq ab)) (us (along-ray s pr ac)))
                       (and (pair? ts) (pair? us)
                            (let ((t (choose-t ts)) (u (choose-u us)))
                              (- (+ (* t t) (* u u)) (+ (* 2.0 t u qr) (* bc bc)))))))))
         (place (lambda (choose-t choose-u)
                  (lambda (s)
                    (list (scale s p)
                          (scale (choose-t (along-ray s pq ab)) q)
                          (scale (choose-u (along-ray s pr ac)) r))))))
    (append-map (lambda (choice)
                  (map (place (car choice) (cdr choice))
                       (roots (branch (car choice) (cdr choice)) 0.01 (* 0.999999 far))))
                (list (cons car car) (cons car cadr) (cons cadr car) (cons cadr cadr)))))

(define steps 24)
(define (roots f from to)
  (let ((step (/ (- to from) steps)))
    (let scan ((i 0) (x from) (fx (f from)))
      (if (= i steps)
          '()
          (let* ((y (+ x step)) (fy (f y)))
            (if (and fx fy (<= (* fx fy) 0.0))
                (cons (bisect f x fx y 40) (scan (+ i 1) y fy))
                (scan (+ i 1) y fy)))))))
(define (bisect f x fx y n)
  (let ((m (* 0.5 (+ x y))))
    (if (= n 0)
        m
        (let ((fm (f m)))
          (cond ((not fm) m)
                ((<= (* fx fm) 0.0) (bisect f x fx m (- n 1)))
                (else (bisect f m fm y (- n 1))))))))

(define (append-map f list)
  (if (null? list) '() (append (f (car list)) (append-map f (cdr list)))))

;;; How much of the picture a motion explains: corners that fall onto points of it.
(define (explained motion picture)
  (let count ((cs corners) (n 0))
    (if (null? cs)
        n
        (let ((seen (project (motion (car cs)))))
          (count (cdr cs) (if (near-any? seen picture) (+ n 1) n))))))
(define (near-any? v picture)
  (and (pair? picture) (or (> (dot v (car picture)) 0.9999999) (near-any? v (cdr picture)))))

;;; Hypotheses: all ways to pair three given points of the picture with corners, by recursion.
(define (best-motion points picture)
  (let choose ((chosen '()) (best (cons -1 #f)))
    (if (= 3 (length chosen))
        (let try ((places (solutions (reverse chosen) points)) (best best))
          (if (null? places)
              best
              (let* ((motion (rigid-motion (reverse chosen) (car places))) (n (explained motion picture)))
                (try (cdr places) (if (> n (car best)) (cons n motion) best)))))
        (let each ((cs corners) (best best))
          (cond ((null? cs) best)
                ((memq (car cs) chosen) (each (cdr cs) best))
                (else (each (cdr cs) (choose (cons (car cs) chosen) best))))))))

(define (rounded x) (exact (round (* 100.0 x))))

;; Where the object's first corner was found, in hundredths, and how many corners agree.
(define (locate n)
  (let* ((truth (compose (translation (vec (+ -2.0 (* 0.3 n)) (- 1.0 (* 0.2 n)) (+ 14.0 (* 0.5 n))))
                         (rotation (vec 0.3 1.0 (+ 0.2 (* 0.1 n))) (+ 0.4 (* 0.35 n)))))
         (picture (map (lambda (c) (project (truth c))) corners))
         (points (map (lambda (i) (list-ref picture (modulo (+ n i) 12))) '(0 5 9)))
         (best (best-motion points picture)))
    (append (map rounded ((cdr best) (car corners)))
            (list (car best) (equal? (map rounded ((cdr best) (car corners))) (map rounded (truth (car corners))))))))

(define (main rounds)
  (let loop ((n 1) (found '()))
    (let ((found (cons (locate n) found)))
      (if (< n rounds)
          (loop (+ n 1) found)
          (begin (write (car found)) (newline))))))

(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 1))
