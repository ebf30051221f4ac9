;;; Particles that fall in a box and bounce off its walls, over whatever represents many of them.  The files that
;;; include this one define the type `particle`, with fields of flonums, and
;;;
;;;   (particles n)    n particles, not yet set
;;;   (place! v i x y z vx vy vz)  and  (particle-at v i)
;;;
;;; Arguments: how many, and how many steps.  Prints their energy, rounded.

(define (argument i otherwise)
  (let ((arguments (command-line)))
    (if (< i (length arguments)) (string->number (list-ref arguments i)) otherwise)))

(define seed 42)
(define (random)
  (set! seed (modulo (* seed 16807) 2147483647))
  (/ (exact->inexact seed) 2147483647.))

(define dt .001)
(define gravity 9.81)

(define (scene n)
  (let ((v (particles n)))
    (do ((i 0 (+ i 1))) ((= i n) v)
      (let* ((x (random)) (y (random)) (z (random)) (vx (- (random) .5)) (vy (- (random) .5)) (vz (- (random) .5)))
        (place! v i x y z vx vy vz)))))

(define (step! v n)
  (do ((i 0 (+ i 1))) ((= i n))
    (let ((p (particle-at v i)))
      (let ((x (+ (particle-x p) (* dt (particle-vx p)))))
        (cond ((< x 0.) (set-particle-x! p (- x)) (set-particle-vx! p (- (particle-vx p))))
              ((> x 1.) (set-particle-x! p (- 2. x)) (set-particle-vx! p (- (particle-vx p))))
              (else (set-particle-x! p x))))
      (let ((y (+ (particle-y p) (* dt (particle-vy p)))))
        (cond ((< y 0.) (set-particle-y! p (- y)) (set-particle-vy! p (- (particle-vy p))))
              ((> y 1.) (set-particle-y! p (- 2. y)) (set-particle-vy! p (- (particle-vy p))))
              (else (set-particle-y! p y))))
      (let* ((vz (- (particle-vz p) (* dt gravity))) (z (+ (particle-z p) (* dt vz))))
        (cond ((< z 0.) (set-particle-z! p (- z)) (set-particle-vz! p (- vz)))
              ((> z 1.) (set-particle-z! p (- 2. z)) (set-particle-vz! p (- vz)))
              (else (set-particle-z! p z) (set-particle-vz! p vz)))))))

(define (energy v n)
  (let loop ((i 0) (sum 0.))
    (if (= i n)
        sum
        (let* ((p (particle-at v i)) (vx (particle-vx p)) (vy (particle-vy p)) (vz (particle-vz p)))
          (loop (+ i 1)
                (+ sum (+ (* .5 (+ (* vx vx) (* vy vy) (* vz vz))) (* gravity (particle-z p)))))))))

(define (main n steps)
  (let ((v (scene n)))
    (do ((k 0 (+ k 1))) ((= k steps))
      (step! v n))
    (display (inexact->exact (round (* 1000. (energy v n)))))
    (newline)))

(main (argument 1 1000) (argument 2 20))
