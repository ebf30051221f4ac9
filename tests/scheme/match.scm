;; (cairn match): pattern matching.
(import (scheme base) (scheme write) (cairn match))
(include "include/check.scm")

;; literals, variables, pairs
(check (map (lambda (x)
              (match x
                (1 'one)
                (1.0 'float)
                ("two" 'two)
                (#\3 'three)
                (#t 'true)
                (() 'null)
                ('sym 'symbol)
                ('(a #(1 "b")) 'quoted)
                ((x) (list 'one-element x))
                ((x . y) (list 'pair x y))
                (#(x 2) (list 'vector x))
                (#u8(1 2) 'bytes)
                (_ 'other)))
            (list 1 1. "two" #\3 #t '() 'sym '(a #(1 "b")) '(5) '(5 6) #(4 2) #(4 3) #u8(1 2) car))
       => '(one float two three true null symbol quoted (one-element 5) (pair 5 (6)) (vector 4) other bytes other))

;; and, or, not, ?, =
(check (match 5 ((and x (? odd?) (not 7) (not 8)) (list x))) => '(5))
(check (match '(1 2) (((or 'a 1) (or (? string? x) (? number? x))) x)) => 2)
(check (match 4 ((? number? (= (lambda (x) (* x x)) y) z) (list y z))) => '(16 4))
(check (match '(2 3) ((or (x y 'no) (x y)) (+ x y))) => 5)
(check (match '(1 (2 3)) ((or (a (b)) (a (b c))) (list a b c))) => '(1 2 3))
(check (match 3 ((or) 'no) ((and) 'yes)) => 'yes)
(check (match 3 ((not 3 4) 'no) (_ 'yes)) => 'yes)
;; an alternative that fits although the rest does not lets the next one try
(check (match '(1 2) (((or (and x (? number?)) x) 3) 'no) (((or x) 2) x)) => 1)
(check (match '((1 2) 2) (((or (x _) (_ x)) x) x)) => 2)

;; one variable twice: equal?
(check (map (lambda (l) (match l ((x x) 'same) ((x (x)) 'inside) (_ 'different))) '(((1) (1)) (1 (1)) (1 2)))
       => '(same inside different))
;; a test sees the variables to its left
(check (match '(2 3) ((x (? (lambda (y) (> y x)) y)) (list x y))) => '(2 3))

;; ellipses
(check (match '(1 2 3) ((x ...) x)) => '(1 2 3))
(check (match '((a 1) (b 2) (c 3)) (((k v) ...) (list k v))) => '((a b c) (1 2 3)))
(check (match '(((1 2) (3)) ((4))) ((((x ...) ...) ...) x)) => '(((1 2) (3)) ((4))))
(check (match '(1 2 3 4 5) ((a b ... c d) (list a b c d))) => '(1 (2 3) 4 5))
(check (match '(1 2 . 3) ((a ... . b) (list a b))) => '((1 2) 3))
(check (match #(1 2 3 4) (#(a b ... c) (list a b c))) => '(1 (2 3) 4))
(check (map (lambda (l) (match l ((1 ..2) 'ones) (('x ..1) 'xs) ((_ =.. 3) 'three) ((_ *.. 0 1) 'few) (_ 'else)))
            '((1 1 1) (1) (x) (y z w) () (y z) (y z w v)))
       => '(ones few xs three few else else))
(check (match '(1 a 2) (((? number?) ...) 'numbers) ((x ...) 'others)) => 'others)
(define circle (list 1 2))
(set-cdr! (cdr circle) circle)
(check (match circle ((1 ...) 'ones) ((x ... 3) 'end) ((_ _ _ . _) 'circle)) => 'circle)

;; quasi-patterns
(check (match '(1 2 (3 4 5)) (`(1 ,x (3 ,y ...)) (list x y))) => '(2 (4 5)))
(check (match '(a 1 2 b) (`(a ,@l b) l)) => '(1 2))
(check (match '#(a 1) (`#(a ,x) x)) => 1)

;; trees
(check (match '(a (b (c 1) (d 2))) ((p *** ('d x)) (list p x))) => '((a b) 2))
(check (match '(a (b (c))) ((_ *** ('d . _)) 'found) (_ 'not-found)) => 'not-found)

;; places
(check (let ((l (list 1 2 (vector 3 4))))
         (match l
           ((_ (get! second) #(_ (set! put!)))
            (put! 'new)
            (list (second) l))))
       => '(2 (1 2 #(3 new))))

;; records
(define-record-type point (make-point x y) point? (x point-x set-point-x!) (y point-y))
(define-record-type (point3 point) (make-point3 x y z) point3? (z point3-z))
(define-record-type exact-point (make-exact-point x) exact-point? ((x f64) exact-point-x))
(define (show p)
  (match p
    (($ point3 x y z) (list 'three x y z))
    (($ point 0 y) (list 'on-axis y))
    ((@ point (y b) (x a)) (list 'two a b))
    ((? exact-point? (= exact-point-x x)) (list 'exact x))
    (_ 'none)))
(check (map show (list (make-point3 1 2 3) (make-point 0 4) (make-point 5 6) (make-exact-point 2.) 7))
       => '((three 1 2 3) (on-axis 4) (two 5 6) (exact 2.) none))
(check (let ((p (make-point 1 2))) (match p (($ point (set! x!) _) (x! 9) (point-x p)))) => 9)
(check-error (match (make-point 1 2) (($ point a b c) 'no)))
(check-error (match (make-point 1 2) ((@ point (z a)) 'no)))
(check-error (match 5 (($ car a) 'no)))
(check-error (match (make-exact-point 1.) (($ exact-point x) x)))

;; going on with the next clause
(check (match '(1 2)
         ((a b) (=> next) (if (> a b) 'first (next)))
         ((a . _) (=> next) (if (> a 5) 'second (next)))
         (_ 'third))
       => 'third)

;; the other forms
(check (map (match-lambda ((a b) (+ a b)) (a a)) '((1 2) 3)) => '(3 3))
(check ((match-lambda* ((a b) (list a b)) (l l)) 1 2) => '(1 2))
(check ((match-lambda** ((0 _) 'zero) ((a (b)) (+ a b))) 1 '(2)) => 3)
(check (match* (1 '(2 3)) ((2 _) 'no) ((a (b ...)) (list a b))) => '(1 (2 3)))
(check (match-let (((a b) '(1 2)) (c 3)) (list a b c)) => '(1 2 3))
(check (match-let loop (((a . rest) '(1 2 3)) (sum 0)) (if (null? rest) (+ sum a) (loop rest (+ sum a)))) => 6)
(check (match-let* (((a b) '(1 2)) ((c d) (list b a))) (list a b c d)) => '(1 2 2 1))
(check (match-letrec (((even) (list (lambda (n) (or (= n 0) (odd (- n 1))))))
                      ((odd) (list (lambda (n) (and (> n 0) (even (- n 1)))))))
         (list (even 10) (odd 10)))
       => '(#t #f))
(match-define (first (second ...)) '(1 (2 3)))
(check (list first second) => '(1 (2 3)))
(check (let () (match-define #(x) #(7)) x) => 7)
(check (match 1 (x (define y 2) (+ x y))) => 3)

;; Identifiers are those of the program: `list` and `else` are variables in a pattern, and names of the macro's own
;; code can be anything.
(check (let ((if list) (pair? 5)) (match '(1 2) ((a else) (if a else pair?)))) => '(1 2 5))
(check (let ((next 1) (value 2) (view 3)) (match 0 (x (list x next value view)))) => '(0 1 2 3))
(define-syntax swapped
  (syntax-rules ()
    ((_ e a b) (match e ((b a) (list a b)) ((x) (list x a b))))))
(check (list (let ((p 0) (q 0)) (swapped '(1 2) p q)) (let ((p 0) (q 1)) (swapped '(5) p q))) => '((2 1) (5 0 1)))
(check (let ((_ 5)) (match 6 (_ _))) => 6)

;; an error has the value
(check (guard (e (#t (list (error-object-message e) (error-object-irritants e)))) (match '(1 2) ((a) a)))
       => '("match: no pattern fits:" ((1 2))))
(check (guard (e (#t (error-object-irritants e))) (match* (1 2) ((2 1) 'no))) => '(1 2))
(check (guard (e (#t (error-object-message e))) (match-let (((a) 5)) a)) => "match-let: no pattern fits:")

;; many clauses of one kind: each is found
(define (operator e)
  (match e
    (('add a b) (+ (operator a) (operator b)))
    (('sub a b) (- (operator a) (operator b)))
    (('neg a) (- (operator a)))
    (('sum a ...) (apply + (map operator a)))
    (('if c a b) (operator (if (zero? (operator c)) b a)))
    ((? number? n) n)))
(check (map operator '((add 1 (sub 5 2)) (neg 3) (sum 1 2 3) (if 0 1 (neg 2)))) => '(4 -3 6 -2))

(report)
