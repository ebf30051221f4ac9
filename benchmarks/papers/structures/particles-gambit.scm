;;; Particles as records in a vector, for Gambit with checks, and its operations on flonums found by itself.
(declare (standard-bindings) (extended-bindings) (block))
(define-record-type particle (make-particle x y z vx vy vz) particle?
  (x particle-x set-particle-x!) (y particle-y set-particle-y!) (z particle-z set-particle-z!)
  (vx particle-vx set-particle-vx!) (vy particle-vy set-particle-vy!) (vz particle-vz set-particle-vz!))
(define (particles n) (make-vector n #f))
(define (place! v i x y z vx vy vz) (vector-set! v i (make-particle x y z vx vy vz)))
(define (particle-at v i) (vector-ref v i))
(include "particles.scm")
