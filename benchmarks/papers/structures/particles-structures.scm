;;; Particles in a structure vector.
(import (scheme base) (scheme write) (scheme process-context) (scheme r5rs) (cairn structure))
(define-record-type particle (make-particle x y z vx vy vz) particle?
  ((x f64) particle-x set-particle-x!)
  ((y f64) particle-y set-particle-y!)
  ((z f64) particle-z set-particle-z!)
  ((vx f64) particle-vx set-particle-vx!)
  ((vy f64) particle-vy set-particle-vy!)
  ((vz f64) particle-vz set-particle-vz!))
(define-structure-vector particle)
(define (particles n) (make-particle-vector n))
(define (place! v i x y z vx vy vz) (particle-vector-set! v i x y z vx vy vz))
(define (particle-at v i) (particle-vector-ref v i))
(include "particles.scm")
