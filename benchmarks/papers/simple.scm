;;; Simple: spherical fluid dynamics. A gas between two spheres, symmetric about an axis, is pushed by the inner one;
;;; velocities, positions and energies of a mesh of zones move on step by step (after Crowley, Hendrickson and Rudy
;;; 1978: the same phases, with formulas of our own).
;;;
;;; A step is: time step by the sound's speed, acceleration of nodes by pressure and viscosity, motion, new volumes and
;;; densities, work, conduction of heat by sweeps along both directions (tridiagonal systems), boundaries. Every phase
;;; is a higher-order traversal of the mesh by recursion: closures, flonums, frames between them.
(import (scheme base) (scheme inexact) (scheme write) (scheme process-context))

(define pi 3.141592653589793)

;; Mesh: radii by angles. Row and column 0 and the last are the boundary.
(define rows 14)
(define columns 14)
(define inner 1.0)
(define outer 2.0)

(define (make-grid) (make-vector (* rows columns) 0.0))
(define (at grid i j) (vector-ref grid (+ (* i columns) j)))
(define (put! grid i j x) (vector-set! grid (+ (* i columns) j) x))

;; (f i j) for each of the rectangle; each row is a recursion.
(define (for-mesh i0 i1 j0 j1 f)
  (let row ((i i0))
    (if (< i i1)
        (begin
          (let column ((j j0)) (if (< j j1) (begin (f i j) (column (+ j 1)))))
          (row (+ i 1))))))
;; Sums are recursions, not loops.
(define (sum-mesh i0 i1 j0 j1 f)
  (define (row i) (if (< i i1) (+ (column i j0) (row (+ i 1))) 0.0))
  (define (column i j) (if (< j j1) (+ (f i j) (column i (+ j 1))) 0.0))
  (row i0))
(define (least i0 i1 j0 j1 f)
  (define (row i) (if (< i i1) (min (column i j0) (row (+ i 1))) 1e30))
  (define (column i j) (if (< j j1) (min (f i j) (column i (+ j 1))) 1e30))
  (row i0))
(define (grid-of f)
  (let ((grid (make-grid)))
    (for-mesh 0 rows 0 columns (lambda (i j) (put! grid i j (f i j))))
    grid))

;; The state: where nodes are (distance from the axis, height), how they move, and what is in zones. Zone i, j has the
;; nodes i-1, j-1 to i, j.
(define-record-type <state> (make-state x z u w density energy pressure viscosity heat time step)
  state?
  (x x-of) (z z-of) (u u-of) (w w-of) (density density-of) (energy energy-of) (pressure pressure-of)
  (viscosity viscosity-of) (heat heat-of) (time time-of) (step step-of))

(define (radius i) (+ inner (* (- outer inner) (/ (inexact i) (inexact (- rows 1))))))
(define (angle j) (* 0.5 pi (/ (inexact j) (inexact (- columns 1)))))

(define (zones f) (grid-of (lambda (i j) (if (or (= i 0) (= j 0)) 0.0 (f i j)))))

;; Twice the area of a triangle, and the volume that a zone sweeps about the axis (Pappus).
(define (triangle xa za xb zb xc zc) (- (* (- xb xa) (- zc za)) (* (- xc xa) (- zb za))))
(define (area x z i j)
  (let* ((a (- i 1)) (b (- j 1))
         (one (triangle (at x a b) (at z a b) (at x i b) (at z i b) (at x i j) (at z i j)))
         (two (triangle (at x a b) (at z a b) (at x i j) (at z i j) (at x a j) (at z a j))))
    (* 0.5 (abs (+ one two)))))
(define (centre grid i j)
  (* 0.25 (+ (at grid i j) (at grid (- i 1) j) (at grid i (- j 1)) (at grid (- i 1) (- j 1)))))
(define (volume x z i j) (* 2.0 pi (max 1e-9 (centre x i j)) (area x z i j)))

(define gamma 1.4)
(define (ideal-pressure density energy) (* (- gamma 1.0) density energy))
(define (sound density pressure) (sqrt (/ (* gamma (max pressure 1e-12)) (max density 1e-12))))

(define (initial)
  (let* ((x (grid-of (lambda (i j) (* (radius i) (sin (angle j))))))
         (z (grid-of (lambda (i j) (* (radius i) (cos (angle j))))))
         (density (zones (lambda (i j) 1.4)))
         (energy (zones (lambda (i j) (if (< i 3) 2.0 0.5))))
         (pressure (zones (lambda (i j) (ideal-pressure (at density i j) (at energy i j))))))
    (make-state x z (make-grid) (make-grid) density energy pressure (make-grid) (make-grid) 0.0 0.001)))

;; Nobody may cross a zone in a step; and steps grow slowly.
(define (time-step s)
  (let ((limit (least 1 rows 1 columns
                 (lambda (i j)
                   (let ((width (sqrt (area (x-of s) (z-of s) i j)))
                         (speed (sound (at (density-of s) i j) (at (pressure-of s) i j))))
                     (/ width (+ speed 1e-6)))))))
    (min (* 0.25 limit) (* 1.1 (step-of s)) 0.01)))

(define (mass s) (zones (lambda (i j) (* (at (density-of s) i j) (volume (x-of s) (z-of s) i j)))))

;; Force on a node: pressures of the four zones around, by the edges they share. Outside of the mesh a zone has the
;; pressure of its neighbour, but the inner sphere pushes.
(define (total-pressure s i j)
  (let ((i (min (max i 1) (- rows 1))) (j (min (max j 1) (- columns 1))))
    (+ (at (pressure-of s) i j) (at (viscosity-of s) i j))))
(define (acceleration s mass i j)
  (let* ((here (lambda (a b) (total-pressure s a b)))
         (x (x-of s)) (z (z-of s))
         (along (- (* 0.5 (+ (here i j) (here i (+ j 1)))) (* 0.5 (+ (here (+ i 1) j) (here (+ i 1) (+ j 1))))))
         (across (- (* 0.5 (+ (here i j) (here (+ i 1) j))) (* 0.5 (+ (here i (+ j 1)) (here (+ i 1) (+ j 1))))))
         (m (* 0.25 (+ (at mass i j) (node-mass mass (+ i 1) j) (node-mass mass i (+ j 1)) (node-mass mass (+ i 1) (+ j 1)))))
         (r (max 1e-9 (at x i j)))
         (width (/ (- outer inner) (inexact (- rows 1))))
         (arc (* (radius i) (/ (* 0.5 pi) (inexact (- columns 1)))))
         (force-out (* 2.0 pi r arc along))
         (force-round (* 2.0 pi r width across))
         (d (max 1e-9 (sqrt (+ (* (at x i j) (at x i j)) (* (at z i j) (at z i j))))))
         (sine (/ (at x i j) d)) (cosine (/ (at z i j) d)))
    (cons (/ (+ (* force-out sine) (* force-round cosine)) (max m 1e-9))
          (/ (- (* force-out cosine) (* force-round sine)) (max m 1e-9)))))
(define (node-mass mass i j) (if (and (< i rows) (< j columns)) (at mass i j) 0.0))

;; Velocities after the step. Nodes of the inner sphere move as it does, those of the outer not; nodes on the axis stay
;; on it, and those on the equator too.
(define (velocities s dt)
  (let ((mass (mass s)) (u (make-grid)) (w (make-grid)))
    (for-mesh 1 (- rows 1) 0 columns
      (lambda (i j)
        (let ((a (acceleration s mass i (max j 1))))
          (put! u i j (if (= j 0) 0.0 (+ (at (u-of s) i j) (* dt (car a)))))
          (put! w i j (if (= j (- columns 1)) 0.0 (+ (at (w-of s) i j) (* dt (cdr a))))))))
    (let push ((j 0))
      (if (< j columns)
          (begin
            (put! u 0 j (* 0.1 (sin (angle j))))
            (put! w 0 j (* 0.1 (cos (angle j))))
            (push (+ j 1)))))
    (cons u w)))

(define (moved positions speeds dt) (grid-of (lambda (i j) (+ (at positions i j) (* dt (at speeds i j))))))

;; Von Neumann's viscosity where a zone is squeezed.
(define (new-viscosity density old-volume x z dt energy)
  (zones (lambda (i j)
           (let* ((v (volume x z i j))
                  (rate (/ (- (at old-volume i j) v) (* dt (max v 1e-12))))
                  (width (sqrt (area x z i j))))
             (if (> rate 0.0)
                 (* (at density i j) width rate (+ (* 1.5 width rate) (* 0.3 (sqrt (max 0.0 (at energy i j))))))
                 0.0)))))

;; Energy after the work of the pressure: two steps, pressure in the middle.
(define (worked s density viscosity old-volume new-volume mass)
  (zones (lambda (i j)
           (let* ((change (/ (- (at old-volume i j) (at new-volume i j)) (max 1e-12 (at mass i j))))
                  (e (at (energy-of s) i j))
                  (q (at viscosity i j))
                  (guess (+ e (* change (+ (at (pressure-of s) i j) q))))
                  (p (* 0.5 (+ (at (pressure-of s) i j) (ideal-pressure (at density i j) guess)))))
             (max 1e-6 (+ e (* change (+ p q))))))))

;; Heat goes along a line of zones: an implicit step, (1 + 2c) T(k) - c T(k-1) - c T(k+1) = old T(k). Down the line
;; with elimination, and back: a recursion whose result on the way up is the next temperature.
(define (conduct! get set length c)
  (let down ((k 1) (alpha 0.0) (beta 0.0))
    (if (= k length)
        #f
        (let* ((first? (= k 1)) (last? (= k (- length 1)))
               (diagonal (+ 1.0 (if (or first? last?) c (* 2.0 c))))
               (below (if first? 0.0 c))
               (above (if last? 0.0 c))
               (pivot (- diagonal (* below alpha)))
               (a (/ above pivot))
               (b (/ (+ (get k) (* below beta)) pivot))
               (next (down (+ k 1) a b))
               (t (if next (+ (* a next) b) b)))
          (set k t)
          t))))
(define (conducted energy dt)
  (let ((new (grid-of (lambda (i j) (at energy i j)))) (c (* 0.5 dt)))
    (let radial ((j 1))
      (if (< j columns)
          (begin (conduct! (lambda (i) (at new i j)) (lambda (i t) (put! new i j t)) rows c) (radial (+ j 1)))))
    (let around ((i 1))
      (if (< i rows)
          (begin (conduct! (lambda (j) (at new i j)) (lambda (j t) (put! new i j t)) columns c) (around (+ i 1)))))
    new))

(define (step s)
  (let* ((dt (time-step s))
         (mass (mass s))
         (old-volume (zones (lambda (i j) (volume (x-of s) (z-of s) i j))))
         (speeds (velocities s dt))
         (x (moved (x-of s) (car speeds) dt))
         (z (moved (z-of s) (cdr speeds) dt))
         (new-volume (zones (lambda (i j) (volume x z i j))))
         (density (zones (lambda (i j) (/ (at mass i j) (max 1e-12 (at new-volume i j))))))
         (viscosity (new-viscosity density old-volume x z dt (energy-of s)))
         (energy (worked s density viscosity old-volume new-volume mass))
         (energy (conducted energy dt))
         (pressure (zones (lambda (i j) (ideal-pressure (at density i j) (at energy i j))))))
    (make-state x z (car speeds) (cdr speeds) density energy pressure viscosity (heat-of s) (+ (time-of s) dt) dt)))

(define (total-mass s)
  (sum-mesh 1 rows 1 columns
    (lambda (i j) (* (at (density-of s) i j) (volume (x-of s) (z-of s) i j)))))
(define (internal-energy s)
  (let ((mass (mass s)))
    (sum-mesh 1 rows 1 columns (lambda (i j) (* (at mass i j) (at (energy-of s) i j))))))
(define (kinetic-energy s)
  (let ((mass (mass s)))
    (sum-mesh 1 rows 1 columns
      (lambda (i j)
        (let ((u (centre (u-of s) i j)) (w (centre (w-of s) i j)))
          (* 0.5 (at mass i j) (+ (* u u) (* w w))))))))

(define (thousandths x) (exact (round (* 1000.0 x))))

;; Mass stays what it is, the energies say how far the gas has come. After 40 steps the mesh begins again.
(define (main steps)
  (let ((before (thousandths (total-mass (initial)))))
    (let loop ((n 0) (s (initial)))
      (if (< n steps)
          (loop (+ n 1) (if (= (modulo n 40) 0) (step (initial)) (step s)))
          (begin
            (write (list before (thousandths (total-mass s)) (thousandths (internal-energy s))
                         (thousandths (kinetic-energy s)) (thousandths (time-of s))))
            (newline))))))

(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 40))
