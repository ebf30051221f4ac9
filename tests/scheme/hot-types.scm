(import (scheme base) (scheme write) (only (srfi 1) fold) (srfi 69) (srfi 132) (only (srfi 133) vector-map!))

;; What variables hold is known from the whole program when hot procedures are compiled: each of these meets, late or by
;; a way that is hard to see, a value of another kind.

(define (show . all) (for-each (lambda (x) (display x) (display " ")) all) (newline))
(define (times n thunk) (if (= n 1) (thunk) (begin (thunk) (times (- n 1) thunk))))

;; flonums first, a fixnum at last
(define (sum-to n step)
  (let loop ((i 0) (s 0.0)) (if (>= i n) s (loop (+ i step) (+ s i)))))
(show (times 300 (lambda () (sum-to 20 0.5))) (sum-to 20 1) (sum-to 3/2 1/2))

;; a variable that is assigned another kind
(define state 0)
(define (bump! x) (set! state (+ state x)) state)
(times 300 (lambda () (bump! 1)))
(show (bump! 0.5) (bump! 1/2) (begin (set! state 'done) state))

;; a local one
(define (counter) (let ((n 0)) (lambda (x) (set! n (if (symbol? x) x (+ n x))) n)))
(define counted (counter))
(times 300 (lambda () (counted 1)))
(show (counted 1.5) (counted 'a))

;; called by its value: from a list, by apply, by a library procedure, from a table
(define (half x) (if (number? x) (/ x 2) x))
(define (direct n) (if (= n 0) 0 (+ (half n) (direct (- n 1)))))
(show (times 30 (lambda () (direct 20))) (map half '(1 2.0 a)) (apply half '(b)))
(define (3rd x y z) (if (and (number? z) (inexact? z)) (+ x y z) z))
(define (thirds n) (if (= n 0) 0.0 (+ (3rd 1.0 2.0 3.0) (thirds (- n 1)))))
(define table (make-hash-table))
(hash-table-set! table 'third 3rd)
(show (times 30 (lambda () (thirds 20))) ((hash-table-ref table 'third (lambda () #f)) 1 2 'c))

;; vectors whose elements change by a way through the library
(define cells (make-vector 8 0.0))
(define (total v) (let loop ((i 0) (s 0)) (if (= i (vector-length v)) s (loop (+ i 1) (+ s (vector-ref v i))))))
(show (times 100 (lambda () (total cells))))
(vector-fill! cells 3)
(show (times 100 (lambda () (total cells))))
(vector-map! (lambda (x) (/ x 7)) cells)
(show (total cells))
(define words (make-vector 3 0))
(define (longest) (let loop ((i 0)) (if (= i 3) (vector-ref words 0) (begin (vector-ref words i) (loop (+ i 1))))))
(show (times 100 longest))
(vector-copy! words 0 '#(a b c))
(show (longest))
(define grid (make-vector 3 #f))
(do ((i 0 (+ i 1))) ((= i 3)) (vector-set! grid i (make-vector 3 i)))
(define (diagonal) (let loop ((i 0) (s 0)) (if (= i 3) s (loop (+ i 1) (+ s (vector-ref (vector-ref grid i) i))))))
(show (times 100 diagonal))
(vector-set! (vector-ref grid 1) 1 1.5)
(show (diagonal))
(set! grid (vector '#(1 2 3) '#(4 5 6) '#(7 8 9)))
(show (diagonal))
(define keys (make-vector 4 1))
(list-sort < (vector->list keys))
(for-each (lambda (v) (vector-set! v 0 2.5)) (list keys))
(show (total keys))

;; fields of records, by accessors, by modifiers that are values, and of heirs
(define-record-type point (make-point x y) point? (x point-x set-point-x!) (y point-y))
(define points (list (make-point 1.0 2.0) (make-point 3.0 4.0)))
(define (norms) (fold (lambda (p s) (+ s (* (point-x p) (point-y p)))) 0 points))
(show (times 100 norms))
(for-each (lambda (f) (f (car points) 7)) (list set-point-x!))
(show (norms))
(set-point-x! (cadr points) 1/3)
(show (norms))

;; a loop that is entered again by its continuation, with another kind
(define again #f)
(define tries 0)
(define (from x)
  (let loop ((i 0) (x x))
    (if (= i 200) x (loop (+ i 1) (call/cc (lambda (k) (when (= i 100) (set! again k)) (+ x 1)))))))
(show (times 20 (lambda () (from 0))))
(when (< tries 2)
  (set! tries (+ tries 1))
  (again (if (= tries 1) 0.5 1/2)))

;; beyond the fixnums
(define (power b n) (let loop ((i 0) (p 1)) (if (= i n) p (loop (+ i 1) (* p b)))))
(show (times 300 (lambda () (power 2 10))) (power 2 70) (power 2.0 3) (power -3 41))

;; several values, rest arguments, optional ones
(define (both x) (values x (if (eq? x 'z) 'zz (+ x 1))))
(define (use x) (call-with-values (lambda () (both x)) (lambda (a b) (if (symbol? a) b (+ a b)))))
(show (times 300 (lambda () (use 1))) (use 2.5) (use 'z))
(define (rest-sum . l) (let loop ((l l) (s 0)) (if (null? l) s (loop (cdr l) (+ s (car l))))))
(show (times 300 (lambda () (rest-sum 1 2 3))) (rest-sum) (rest-sum 1.5 2))

;; errors are those of evaluated code
(define (careful x) (guard (e (#t (condition-or e))) (+ (sum-to 3 1) x)))
(define (condition-or e) (if (error-object? e) (error-object-message e) e))
(show (times 300 (lambda () (careful 1))) (string? (careful 'a)))
