;; (srfi 128), (srfi 162): laws of orders and hash functions over values of all kinds, and the constructors.
(import (scheme base) (scheme write) (scheme comparator) (only (srfi 162) comparator-max-in-list))
(include "include/check.scm")

(define c (make-default-comparator))

;; In the order of the default comparator; those in one list are the same.
(define classes
  '((()) ((1)) ((1 . 2)) ((2)) ((2 1)) (#f) (#t) (#\a) (#\b) ("") ("a") ("ab") ("b") (a) (b) (-inf.0) (-1 -1.0) (1/2 .5)
    (3 3.0) (3+i) (3+2i) (+inf.0) (#()) (#(9)) (#(1 2)) (#(1 3)) (#u8()) (#u8(7)) (#u8(1 2))))

(let loop ((rest classes) (before '()))
  (if (pair? rest)
      (begin
        (for-each
         (lambda (x)
           (for-each
            (lambda (y)
              (check (list x y (=? c x y) (<? c x y) (>? c y x) (<=? c x y) (>=? c x y) (comparator-hash c x))
                     => (list x y #t #f #f #t #t (comparator-hash c y))))
            (car rest))
           (for-each
            (lambda (y)
              (check (list y x (=? c x y) (<? c y x) (<? c x y) (>? c x y) (<=? c y x) (>=? c y x))
                     => (list y x #f #t #f #t #t #f)))
            before))
         (car rest))
        (loop (cdr rest) (append (car rest) before)))))

(check (=? c +nan.0 +nan.0) => #t)
(check (<? c +nan.0 0) => #t)
(check (<? c 1 2 3 4) => #t)
(check (<? c 1 2 2 4) => #f)
(check (<=? c 1 2 2 4) => #t)
(check (>=? c 4 2 2 3) => #f)
(check (comparator-if<=> 1 2 'less 'equal 'greater) => 'less)
(check (comparator-if<=> string-ci-comparator "A" "a" 'less 'equal 'greater) => 'equal)
(check (= (default-hash "x") (string-hash "x")) => #t)
(check (= (string-ci-hash "Straße") (string-ci-hash "STRASSE")) => #t)
(check (= (char-ci-hash #\A) (char-ci-hash #\a)) => #t)

;; constructors
(define pairs (make-pair-comparator real-comparator string-comparator))
(check (comparator-test-type pairs '(1 . "a")) => #t)
(check (comparator-test-type pairs '(1 . a)) => #f)
(check (<? pairs '(1 . "a") '(1 . "b") '(2 . "a")) => #t)
(check (= (comparator-hash pairs '(1 . "a")) (comparator-hash pairs (cons 1.0 (string #\a)))) => #t)
(define lists (make-list-comparator real-comparator list? null? car cdr))
(check (<? lists '() '(1) '(1 2) '(2)) => #t)
(check (=? lists '(1 2) '(1.0 2.0)) => #t)
(check (comparator-test-type lists '(1 x)) => #f)
(define vectors (make-vector-comparator real-comparator vector? vector-length vector-ref))
(check (<? vectors #() #(3) #(1 2) #(2 1)) => #t)
(check (comparator-test-type vectors #(1 #f)) => #f)
(define by-order (make-comparator integer? #t (lambda (a b) (< (quotient a 10) (quotient b 10))) #f))
(check (=? by-order 11 19) => #t)
(check (comparator-ordered? by-order) => #t)
(check (comparator-hashable? by-order) => #f)
(check-error (comparator-hash by-order 1))
(define unordered (make-comparator symbol? eq? #f symbol-hash))
(check (comparator-ordered? unordered) => #f)
(check-error (<? unordered 'a 'b))
(check (comparator-ordered? (make-pair-comparator unordered unordered)) => #f)
(check (=? (make-eqv-comparator) '(a) '(a)) => #f)
(check (=? (make-equal-comparator) '(a) '(a)) => #t)
(check (comparator-check-type unordered 'a) => #t)
(check-error (comparator-check-type unordered 5))
(check-error (make-comparator #t #t #f #f))
(check (comparator-max real-comparator 1 5 3) => 5)
(check (comparator-min-in-list c '(b "a" #\c)) => #\c)
(check-error (comparator-max-in-list c '()))

;; types of one's own
(define-record-type point (make-point x) point? (x point-x))
(define-record-type circle (make-circle r) circle? (r circle-r))
(comparator-register-default!
 (make-comparator point? #t (lambda (a b) (< (point-x a) (point-x b))) (lambda (p) (number-hash (point-x p)))))
(comparator-register-default!
 (make-comparator circle? #t (lambda (a b) (< (circle-r a) (circle-r b))) (lambda (c) (number-hash (circle-r c)))))
(check (<? c #u8(1) (make-point 1) (make-point 2) (make-circle 0)) => #t)
(check (=? c (list (make-point 1)) (list (make-point 1))) => #t)
(check (= (default-hash (make-point 1)) (default-hash (make-point 1))) => #t)
(report)
