;; Sorting by `<` and `>` themselves, which parts of fixnums or flonums are sorted by at once, gives what sorting by a
;; procedure that calls them gives: fixnums, flonums with both zeros and NaN, bignums, ratios, mixtures; short and long.
(import (scheme base) (scheme write) (srfi 132) (only (cairn sort) sort))
(include "include/check.scm")

(define seed 11)
(define (random n)
  (set! seed (modulo (+ (* seed 1103515245) 12345) 2147483648))
  (modulo (quotient seed 256) n))
(define (fixnum) (- (random 2000) 1000))
(define (flonum)
  (let ((n (random 40)))
    (cond ((= n 0) -0.0) ((= n 1) 0.0) ((= n 2) 1e300) ((= n 3) -inf.0) (else (/ (- (random 800) 400) 8.0)))))
(define (other)
  (case (random 4)
    ((0) (* (fixnum) 1000000000000000000000))
    ((1) (/ (fixnum) 7))
    ((2) (flonum))
    (else (fixnum))))
(define (many n thunk)
  (let loop ((n n) (l '())) (if (= n 0) l (loop (- n 1) (cons (thunk) l)))))

;; Written, so that 0.0 and -0.0 differ.
(define (text l)
  (let ((port (open-output-string))) (write l port) (get-output-string port)))
(define (same? l)
  (let ((rising (list-sort (lambda (a b) (< a b)) l)) (falling (list-sort (lambda (a b) (> a b)) l))
        (copy (list->vector l)))
    (vector-sort! < copy)
    (list (string=? (text (list-sort < l)) (text rising))
          (string=? (text (list-sort > l)) (text falling))
          (string=? (text (vector->list (vector-sort < (list->vector l)))) (text rising))
          (string=? (text (vector->list copy)) (text rising))
          (string=? (text (sort l >)) (text falling)))))

(for-each
  (lambda (n)
    (for-each (lambda (thunk) (check (same? (many n thunk)) => '(#t #t #t #t #t)))
              (list fixnum flonum other)))
  '(0 1 2 3 4 5 31 32 33 100 1000))
(check (same? (append (many 100 fixnum) (list +nan.0) (many 100 flonum))) => '(#t #t #t #t #t))
(check (same? (append (many 40 flonum) (many 40 fixnum) (many 40 other))) => '(#t #t #t #t #t))
(check (same? (many 45000 fixnum)) => '(#t #t #t #t #t))
;; The vector that is sorted by `<` is the procedure's own; that of `vector-sort` stays as it is.
(let ((v (vector 3 1 2)))
  (vector-sort < v)
  (check v => '#(3 1 2)))

(report)
