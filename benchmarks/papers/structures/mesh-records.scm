;;; A mesh of records that refer to one another.
(import (scheme base) (scheme write) (scheme process-context) (scheme r5rs))
(define-record-type node (make-node x y z sx sy sz count) node?
  ((x f64) vertex-x set-x!) ((y f64) vertex-y set-y!) ((z f64) vertex-z set-z!)
  ((sx f64) sx set-sx!) ((sy f64) sy set-sy!) ((sz f64) sz set-sz!) ((count u32) count set-count!))
(define-record-type face (make-face a b c l m n mark) face?
  (a corner-a) (b corner-b) (c corner-c)
  (l neighbour-l set-l!) (m neighbour-m set-m!) (n neighbour-n set-n!) (mark mark set-mark!))
(define nodes #f)
(define faces #f)
(define (make-mesh! vertices triangles)
  (set! nodes (make-vector vertices #f))
  (set! faces (make-vector triangles #f)))
(define (vertex i) (vector-ref nodes i))
(define (triangle i) (vector-ref faces i))
(define (set-vertex! i x y z) (vector-set! nodes i (make-node x y z 0. 0. 0. 0)))
(define (set-triangle! i a b c l m n)
  (let ((t (make-face (vertex a) (vertex b) (vertex c) #f #f #f 0)))
    (vector-set! faces i t)
    ;; Two triangles refer to each other when there are both.
    (if (< -1 l i) (begin (set-l! t (triangle l)) (set-l! (triangle l) t)))
    (if (< -1 m i) (begin (set-m! t (triangle m)) (set-m! (triangle m) t)))
    (if (< -1 n i) (begin (set-n! t (triangle n)) (set-n! (triangle n) t)))))
(include "mesh-vertices.scm" "mesh.scm")
