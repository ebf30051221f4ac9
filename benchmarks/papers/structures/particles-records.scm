;;; Particles as records in a vector.
(import (scheme base) (scheme write) (scheme process-context) (scheme r5rs))
(define-record-type particle (make-particle x y z vx vy vz) particle?
  ((x f64) particle-x set-particle-x!)
  ((y f64) particle-y set-particle-y!)
  ((z f64) particle-z set-particle-z!)
  ((vx f64) particle-vx set-particle-vx!)
  ((vy f64) particle-vy set-particle-vy!)
  ((vz f64) particle-vz set-particle-vz!))
(define (particles n) (make-vector n #f))
(define (place! v i x y z vx vy vz) (vector-set! v i (make-particle x y z vx vy vz)))
(define (particle-at v i) (vector-ref v i))
(include "particles.scm")
