;;; Groebner: a Gröbner basis by Buchberger's algorithm (1965), with his product criterion. Polynomials over the
;;; integers modulo a prime are lists of terms in descending order; a term is a pair of coefficient and exponents,
;;; these a list: only pairs are allocated. The systems are the cyclic n-roots, whose bases are large.
(import (scheme base) (scheme write) (scheme process-context))

(define prime 32003)
(define (inverse a)
  (let loop ((a a) (b prime) (x 1) (y 0))
    (if (= b 0) (modulo x prime) (loop b (remainder a b) y (- x (* y (quotient a b)))))))

;; Monomials: graded reverse lexicographic order. The total degree stands first.
(define (monomial*  a b) (if (null? a) '() (cons (+ (car a) (car b)) (monomial* (cdr a) (cdr b)))))
(define (monomial/ a b) (if (null? a) '() (cons (- (car a) (car b)) (monomial/ (cdr a) (cdr b)))))
(define (divides? a b) (or (null? a) (and (<= (car a) (car b)) (divides? (cdr a) (cdr b)))))
(define (with-degree exponents) (cons (apply + exponents) exponents))
(define (least-common-multiple a b)
  (with-degree (let loop ((a (cdr a)) (b (cdr b)))
                 (if (null? a) '() (cons (max (car a) (car b)) (loop (cdr a) (cdr b)))))))
(define (disjoint? a b)
  (let loop ((a (cdr a)) (b (cdr b)))
    (or (null? a) (and (or (= 0 (car a)) (= 0 (car b))) (loop (cdr a) (cdr b))))))
;; Negative, zero, positive.
(define (compare a b)
  (if (= (car a) (car b)) (compare-tail (cdr a) (cdr b)) (- (car a) (car b))))
(define (compare-tail a b)
  (if (null? a)
      0
      (let ((rest (compare-tail (cdr a) (cdr b))))
        (if (= rest 0) (- (car b) (car a)) rest))))

(define coefficient car)
(define monomial cdr)
(define (leading p) (monomial (car p)))

(define (polynomial+ p q)
  (cond ((null? p) q)
        ((null? q) p)
        (else
         (let ((order (compare (monomial (car p)) (monomial (car q)))))
           (cond ((> order 0) (cons (car p) (polynomial+ (cdr p) q)))
                 ((< order 0) (cons (car q) (polynomial+ p (cdr q))))
                 (else
                  (let ((sum (modulo (+ (coefficient (car p)) (coefficient (car q))) prime)))
                    (if (= sum 0)
                        (polynomial+ (cdr p) (cdr q))
                        (cons (cons sum (monomial (car p))) (polynomial+ (cdr p) (cdr q)))))))))))

(define (term* c m p)
  (if (null? p)
      '()
      (cons (cons (modulo (* c (coefficient (car p))) prime) (monomial* m (monomial (car p)))) (term* c m (cdr p)))))

(define (monic p)
  (if (null? p) p (term* (inverse (coefficient (car p))) (map (lambda (e) 0) (leading p)) p)))

;; Leading coefficients are 1.
(define (s-polynomial p q)
  (let ((m (least-common-multiple (leading p) (leading q))))
    (polynomial+ (term* 1 (monomial/ m (leading p)) (cdr p))
                 (term* (- prime 1) (monomial/ m (leading q)) (cdr q)))))

(define (reducer m basis)
  (cond ((null? basis) #f)
        ((divides? (leading (car basis)) m) (car basis))
        (else (reducer m (cdr basis)))))

;; The remainder of p after division by the basis.
(define (reduce p basis)
  (if (null? p)
      '()
      (let ((r (reducer (leading p) basis)))
        (if r
            (reduce (polynomial+ (cdr p)
                                 (term* (- prime (coefficient (car p))) (monomial/ (leading p) (leading r)) (cdr r)))
                    basis)
            (cons (car p) (reduce (cdr p) basis))))))

;; Pairs wait in the order of the least common multiple of their leading monomials.
(define (insert-pair pair pairs)
  (if (or (null? pairs) (<= (compare (car pair) (caar pairs)) 0))
      (cons pair pairs)
      (cons (car pairs) (insert-pair pair (cdr pairs)))))
(define (add-pairs p basis pairs)
  (cond ((null? basis) pairs)
        ((disjoint? (leading p) (leading (car basis))) (add-pairs p (cdr basis) pairs))
        (else
         (add-pairs p (cdr basis)
                    (insert-pair (cons (least-common-multiple (leading p) (leading (car basis)))
                                       (cons p (car basis)))
                                 pairs)))))

(define (buchberger basis pairs)
  (if (null? pairs)
      basis
      (let ((p (monic (reduce (s-polynomial (cadr (car pairs)) (cddr (car pairs))) basis))))
        (if (null? p)
            (buchberger basis (cdr pairs))
            (buchberger (cons p basis) (add-pairs p basis (cdr pairs)))))))

(define (groebner-basis polynomials)
  (let loop ((polynomials polynomials) (basis '()) (pairs '()))
    (if (null? polynomials)
        (minimal (buchberger basis pairs))
        (let ((p (monic (car polynomials))))
          (loop (cdr polynomials) (cons p basis) (add-pairs p basis pairs))))))

;; Without those whose leading monomial another one divides, each reduced by the others.
(define (minimal basis)
  (let loop ((rest basis) (kept '()))
    (cond ((null? rest)
           (map (lambda (p) (cons (car p) (reduce (cdr p) kept))) kept))
          ((or (reducer (leading (car rest)) (cdr rest)) (reducer (leading (car rest)) kept))
           (loop (cdr rest) kept))
          (else (loop (cdr rest) (cons (car rest) kept))))))

;; The system of the cyclic n-roots: sums of products of k neighbours in the circle of variables, and x1 ... xn = 1.
(define (cyclic n)
  (define (exponents from count)
    (with-degree
     (let loop ((i 0))
       (if (= i n) '() (cons (if (< (modulo (- i from) n) count) 1 0) (loop (+ i 1)))))))
  (define (sum count)
    (let loop ((from 0) (p '()))
      (if (= from n) p (loop (+ from 1) (polynomial+ p (list (cons 1 (exponents from count))))))))
  (define one (with-degree (vector->list (make-vector n 0))))
  (let loop ((count (- n 1)) (system (list (list (cons 1 (exponents 0 n)) (cons (- prime 1) one)))))
    (if (= count 0) system (loop (- count 1) (cons (sum count) system)))))

(define (digest basis)
  (let loop ((basis basis) (n 0))
    (if (null? basis)
        n
        (loop (cdr basis) (modulo (+ n (digest-polynomial (car basis) 0)) 1000003)))))
(define (digest-polynomial p d)
  (if (null? p)
      d
      (let ((term (* (coefficient (car p)) (apply + (monomial (car p))))))
        (digest-polynomial (cdr p) (modulo (+ (* 7 d) term) 1000003)))))

(define (main n)
  (let ((basis (groebner-basis (cyclic n))))
    (write (list (length basis) (digest basis)))
    (newline)))

;; The argument is the number of variables; 4 takes no time, 6 some seconds, 7 minutes.
(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 4))
