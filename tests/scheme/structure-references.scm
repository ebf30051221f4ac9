;; zeal: not bdw marksweep
;; References to elements of structure vectors that are kept, passed on and sent.
(import (scheme base) (scheme write) (cairn structure) (cairn records) (cairn hash-table) (cairn weak))
(include "include/check.scm" "include/observe.scm")

(define-record-type point (make-point x y) point? ((x f64) point-x set-point-x!) ((y f64) point-y set-point-y!))
(define-structure-vector point)
(define-record-type node (make-node v next) node? (v node-v set-node-v!) (next node-next set-node-next!))
(define-structure-vector node)
(define-record-type (node3 node) (make-node3 v next w) node3? (w node3-w))
(define-structure-vector node3)
(define-record-type byte2 (make-byte2 a b) byte2? ((a u8) byte2-a set-byte2-a!) ((b u8) byte2-b))
(define-structure-vector byte2)

(define (garbage n) (if (> n 0) (begin (opaque (list n n n)) (garbage (- n 1)))))
(define (iota n) (let loop ((i (- n 1)) (l '())) (if (< i 0) l (loop (- i 1) (cons i l)))))

;; many vectors of every size, of which nothing is held but one reference each
(define (last-of n) (let ((v (make-node-vector n n '()))) (set-node-v! (node-vector-ref v (- n 1)) (list n)) (node-vector-ref v (- n 1))))
(define lasts (map (lambda (i) (last-of (+ 1 (* i i)))) (iota 60)))
(garbage 20000)
(collect)
(check (map (lambda (p) (car (node-v p))) lasts) => (map (lambda (i) (+ 1 (* i i))) (iota 60)))
(define raws (map (lambda (i) (point-vector-ref (make-point-vector (+ 1 i) (inexact i) .5) i)) (iota 100)))
(define bytes (map (lambda (i) (byte2-vector-ref (make-byte2-vector (+ 1 i) i 7) i)) (iota 100)))
(collect)
(garbage 20000)
(check (apply + (map point-x raws)) => 4950.)
(check (list (apply + (map byte2-a bytes)) (apply + (map byte2-b bytes))) => '(4950 700))

;; young values in elements, which are old from the start
(define keep (node-vector-ref (make-node-vector 1000 '() '()) 500))
(define (grow! p n) (if (> n 0) (begin (set-node-v! p (cons n (node-v p))) (opaque (make-vector 50 n)) (grow! p (- n 1)))))
(grow! keep 20000)
(check (list (length (node-v keep)) (apply + (node-v keep))) => '(20000 200010000))

;; a chain through elements, a cycle, and what only it holds
(define first (let ((v (make-node-vector 3 0 #f)))
                (set-node-next! (node-vector-ref v 0) (node-vector-ref v 2))
                (set-node-next! (node-vector-ref v 2) (node-vector-ref (make-node-vector 2 (list 'far) (node-vector-ref v 1)) 1))
                (set-node-next! (node-vector-ref v 1) (node-vector-ref v 0))
                (node-vector-ref v 0)))
(collect)
(garbage 20000)
(check (node-v (node-next (node-next first))) => '(far))
(check (eq? first (node-next (node-next (node-next (node-next first))))) => #t)

;; identity: in tables, after collections
(define v (make-point-vector 1000 0. 0.))
(define t (make-hash-table))
(for-each (lambda (i) (hash-table-set! t (point-vector-ref v i) i)) (iota 1000))
(collect)
(check (apply + (map (lambda (i) (hash-table-ref/default t (point-vector-ref v i) #f)) (iota 1000))) => 499500)
(check (list (eq? (point-vector-ref v 3) (point-vector-ref v 3)) (eq? (point-vector-ref v 3) (point-vector-ref v 4))
             (memv (point-vector-ref v 999) (point-vector->list v 998)) )
       => (list #t #f (list (point-vector-ref v 999))))

;; elements of an heir
(define h (node3-vector-ref (make-node3-vector 4 'v 'n 'w) 2))
(check (list (node? h) (node3? h) (point? h) (node-v h) (node-next h) (node3-w h)) => '(#t #t #f v n w))
(set-node-v! h 'new)
(check (list (node-v h) (shown h) (eq? (record-rtd h) node3) (record? h))
       => '(new "#<node3 v: new next: n w: w>" #t #t))
(check (map (lambda (x) (list (node? x) (record? x) (vector? x) (pair? x) (eof-object? x)))
            (list h (make-node 1 2) #f '() 12 (eof-object)))
       => '((#t #t #f #f #f) (#t #t #f #f #f) (#f #f #f #f #f) (#f #f #f #f #f) (#f #f #f #f #f) (#f #f #f #f #t)))
(check (message (point-x (opaque h))) => (list "point-x: expected a point, got" h))
(check (message (byte2-a (opaque (car raws)))) => (list "byte2-a: expected a byte2, got" (car raws)))

;; an empty vector, and one of elements without fields
(define-record-type none (make-none) none?)
(define-structure-vector none)
(check (list (point-vector-length (make-point-vector 0 1. 2.)) (none? (none-vector-ref (make-none-vector 3) 2))
             (point-vector->list (point-vector-copy v 5 5)))
       => '(0 #t ()))
(report)
