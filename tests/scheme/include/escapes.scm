;;; The body of escapes.scm and composing-escapes.scm, which see to it that frames stay where they are, and that they do
;;; not.

(define (show name . xs)
  (write name)
  (for-each (lambda (x) (display " ") (write x)) xs)
  (newline))

;; What the compiler knows nothing about: it is in a vector that is written to.
(define table (make-vector 4 #f))
(define (hide x) (vector-set! table 1 x) (vector-ref table 1))

;;;; Returns

(define (sign x) (call/cc (lambda (return) (if (> x 0) (return 1)) (if (< x 0) (return -1)) 0)))
(show 'sign (sign 5) (sign -5) (sign 0))

(define (index p l)
  (call/cc
   (lambda (return)
     (let loop ((l l) (i 0))
       (if (pair? l)
           (begin
             (if (p (car l)) (return i))
             (loop (cdr l) (+ i 1)))
           #f)))))
(show 'index (index even? '(1 3 4 5)) (index even? '(1 3)))

(define (nested x)
  (+ 1000
     (call/cc
      (lambda (outer)
        (+ 100
           (call/cc
            (lambda (inner)
              (if (= x 0) (outer 1))
              (if (= x 1) (inner 2))
              (+ 10 (if (= x 2) (outer 3) 4)))))))))
(show 'nested (nested 0) (nested 1) (nested 2) (nested 3))

(define (counts n)
  (call-with-values
   (lambda () (call/cc (lambda (k) (if (= n 0) (k)) (if (= n 1) (k 1)) (if (= n 2) (k 1 2)) (apply k (list 1 2 3 n)))))
   list))
(show 'counts (counts 0) (counts 1) (counts 2) (counts 7))

(define (in-order)
  (let* ((trace '()) (note (lambda (x) (set! trace (cons x trace)) x)))
    (let ((result (call/cc (lambda (k) (list (note 1) (note 2) (if (note #t) (k (note 'out)) (note 3)) (note 4))))))
      (list result (reverse trace)))))
(show 'in-order (in-order))

(define (in-test x) (call/cc (lambda (k) (if (and (pair? x) (or (null? (cdr x)) (k 'long))) (car x) (k 'none)))))
(show 'in-test (in-test '(1)) (in-test '(1 2)) (in-test 3))

(define (in-producer x)
  (call/cc (lambda (k) (call-with-values (lambda () (if x (k 'left) (values 1 2 3))) (lambda (a . b) (list a b))))))
(show 'in-producer (in-producer #t) (in-producer #f))

;; Tail calls of known procedures, one of which gets something else as well.
(define (add x y k) (if (= y 0) (k x) (add (+ x 1) (- y 1) k)))
(define (fibc x k)
  (if (< x 2)
      (k x)
      (add (call/cc (lambda (k) (fibc (- x 1) k))) (call/cc (lambda (k) (fibc (- x 2) k))) k)))
(show 'fibc (fibc 12 (lambda (x) (list x))))

(define (takc x y z) (call/cc (lambda (k) (takc-to k x y z))))
(define (takc-to k x y z)
  (if (< y x)
      (call/cc
       (lambda (k)
         (takc-to k (call/cc (lambda (k) (takc-to k (- x 1) y z))) (call/cc (lambda (k) (takc-to k (- y 1) z x)))
                  (call/cc (lambda (k) (takc-to k (- z 1) x y))))))
      (k z)))
(show 'takc (takc 9 6 3))

;; A loop through captures in tail position runs in constant space.
(define (spin n) (if (= n 0) 'done (call/cc (lambda (k) (if (odd? n) (spin (- n 1)) (k (spin (- n 1))))))))
(show 'spin (spin 1000))
(define (spin-on n) (call/cc (lambda (k) (if (= n 0) (k 'done) (spin-on (- n 1))))))
(show 'spin-on (spin-on 1000000))

;;;; One use

(define (product l)
  (call/cc
   (lambda (k)
     (let loop ((l l)) (cond ((null? l) 1) ((= (car l) 0) (k 0)) (else (* (car l) (loop (cdr l)))))))))
(show 'product (product '(1 2 3)) (product '(1 0 x)))

(define (first-that p l) (call/cc (lambda (return) (for-each (lambda (x) (if (p x) (return x))) l) 'none)))
(show 'first-that (first-that even? '(1 2 3)) (first-that even? '(1 3)))
(define (first-of-vector p v) (call/cc (lambda (return) (vector-for-each (lambda (x) (if (p x) (return x))) v) 'none)))
(show 'first-of-vector (first-of-vector even? #(1 2 3)) (first-of-vector even? #(1 3)))

(define (deep n k) (if (= n 0) (k 'bottom) (+ 1 (deep (- n 1) k))))
(show 'deep (call/cc (lambda (k) (deep 100000 k))) (+ 1 (call/cc (lambda (k) (deep 10 (lambda (x) (k 7)))))))

;;;; What is around: dynamic-wind, parameters, handlers

(define trace '())
(define (note x) (set! trace (cons x trace)) x)
(define (traced thunk) (set! trace '()) (let ((x (thunk))) (list x (reverse trace))))

(define (wound x)
  (call/cc
   (lambda (k)
     (dynamic-wind
      (lambda () (note 'in))
      (lambda () (if x (k 'left)) (note 'body))
      (lambda () (note 'out)))
     'through)))
(show 'wound (traced (lambda () (wound #t))) (traced (lambda () (wound #f))))

(define (leaves-after-thunk)
  (call/cc (lambda (k) (dynamic-wind (lambda () #f) (lambda () (k 1)) (lambda () (k 2))))))
(show 'after-thunk (leaves-after-thunk))

(define p (make-parameter 0))
(define (parameterized x)
  (list (call/cc (lambda (k) (parameterize ((p 1)) (if x (k (p)) (list (p)))))) (p)))
(show 'parameterized (parameterized #t) (parameterized #f))

(define (handled x)
  (list
   (call/cc
    (lambda (k)
      (with-exception-handler
       (lambda (e) (k (list 'caught e)))
       (lambda () (+ 1 (if x (raise 'oops) 1))))))
   (guard (e (#t (list 'outside e))) (raise 'later))))
(show 'handled (handled #t) (handled #f))

(define (guarded x)
  (call/cc
   (lambda (return)
     (list
      (guard (e ((symbol? e) (if (eq? x 'clause) (return 'from-clause) e)))
        (if (eq? x 'body) (return 'from-body))
        (if x (raise 'oops))
        'nothing)))))
(show 'guarded (guarded 'body) (guarded 'clause) (guarded 'raise) (guarded #f))

(define (guards n)
  (let loop ((i 0) (sum 0))
    (if (= i n)
        sum
        (loop (+ i 1) (+ sum (guard (e ((number? e) e) ((string? e) 1000)) (if (= 0 (modulo i 3)) (raise i) i)))))))
(show 'guards (guards 100))

;;;; More ways to pass it on

;; Procedures that pass it on to one another, with other arguments in other places, and one that counts its arguments.
(define (walk-even k n) (if (= n 0) (k 'even) (walk-odd (- n 1) k)))
(define (walk-odd n k) (if (= n 0) (k 'odd) (walk-even k (- n 1))))
(define (parity n) (list (call/cc (lambda (k) (walk-even k n)))))
(show 'parity (parity 10) (parity 7))
(define finish
  (case-lambda
    ((k) (k))
    ((k x) (k x))
    ((k x y) (if (eq? x y) (finish k x) (k x y)))
    ((k . xs) (apply k xs))))
(define (finished . xs)
  (call-with-values
   (lambda () (call/cc (lambda (k) (case (length xs) ((0) (finish k)) ((1) (finish k 1)) ((2) (finish k (car xs) 2))
                                     (else (finish k 1 2 3))))))
   list))
(show 'finished (finished) (finished 1) (finished 1 1) (finished 2 2) (finished 1 1 1))
;; What it is given may come by another continuation, more than once.
(define (sum-of-entries n)
  (let ((again #f) (entries 0))
    (define (to k x) (k (+ x (call/cc (lambda (inner) (set! again inner) 1)))))
    (let ((x (call/cc (lambda (k) (to k 10)))))
      (set! entries (+ entries 1))
      (if (< entries n) (again x) (list entries x)))))
(show 'sum-of-entries (sum-of-entries 4))
;; A return from within what others have put around it is none.
(define (to-in-parameter k x) (parameterize ((p x)) (k (p))))
(define (to-in-wind k x) (dynamic-wind (lambda () (note 'in)) (lambda () (k x)) (lambda () (note 'out))))
(define (to-in-handler k x) (with-exception-handler (lambda (e) (k (list e x))) (lambda () (raise 'oops))))
(show 'around (list (call/cc (lambda (k) (to-in-parameter k 1))) (p))
      (traced (lambda () (call/cc (lambda (k) (to-in-wind k 2)))))
      (list (call/cc (lambda (k) (to-in-handler k 3))) (guard (e (#t e)) (raise 'later))))

;;;; These stay: something enters them again

(define (kept)
  (let* ((again #f) (n 0) (x (call/cc (lambda (k) (set! again k) 0))))
    (set! n (+ n 1))
    (if (< x 3) (again (+ x 1)) (list x n))))
(show 'kept (kept))

(define fail #f)
(define (amb . choices)
  (call/cc
   (lambda (return)
     (let ((outer fail))
       (for-each
        (lambda (x) (call/cc (lambda (next) (set! fail (lambda () (next #f))) (return x))))
        choices)
       (set! fail outer)
       (if outer (outer) (return 'exhausted))))))
(define (triples)
  (set! fail #f)
  (let ((found '()))
    (let* ((a (amb 1 2 3 4 5 6)) (b (amb 1 2 3 4 5 6)) (c (if (symbol? a) 0 (amb 1 2 3 4 5 6))))
      (if (and (number? a) (number? b) (number? c) (= (* c c) (+ (* a a) (* b b))))
          (set! found (cons (list a b c) found)))
      (if fail (fail))
      found)))
(show 'amb (triples))

;; The exit is used, then again after what has been captured in its extent is entered.
(define (used-twice)
  (let ((again #f) (n 0))
    (let ((x (call/cc (lambda (exit) (+ 1 (call/cc (lambda (k) (set! again k) (exit 'first))))))))
      (set! n (+ n 1))
      (if (= n 1) (again 41) (list x n)))))
(show 'used-twice (used-twice))

(define (returned-twice)
  (let ((again #f) (n 0))
    (let ((x (call/cc (lambda (exit) (deep 3 (lambda (x) (call/cc (lambda (k) (set! again k) (if (= n 9) (exit 0) 1)))))))))
      (set! n (+ n 1))
      (if (< n 3) (again (* n 10)) (list x n)))))
(show 'returned-twice (returned-twice))

(define (escaping) ((call/cc (lambda (k) (lambda (x) (if (procedure? x) (x 5) (k (lambda (y) (list x y)))))))  values))
(show 'escaping (escaping))

(define (through-table) (let ((x (call/cc (lambda (k) (hide k) 0)))) (if (< x 3) ((vector-ref table 1) (+ x 1)) x)))
(show 'through-table (through-table))

;; A tree walked by two coroutines, each a full continuation of the other.
(define (same-fringe? a b)
  (define (walker tree)
    (define back #f)
    (define (resume)
      (let walk ((t tree))
        (if (pair? t)
            (begin (walk (car t)) (walk (cdr t)))
            (if (not (null? t))
                (call/cc (lambda (here) (set! resume (lambda () (here #f))) (back t))))))
      (back 'end))
    (lambda () (call/cc (lambda (k) (set! back k) (resume)))))
  (let ((f (walker a)) (g (walker b)))
    (let loop () (let* ((x (f)) (y (g))) (cond ((not (eqv? x y)) #f) ((eq? x 'end) #t) (else (loop)))))))
(show 'fringe (same-fringe? '((1 2) 3 (4)) '(1 (2 (3)) 4)) (same-fringe? '(1 2 3) '(1 3 2)))

;;;; Guards around what only computes (crates/cairn-core/src/passes/guards.rs)

(define (add-or-zero a b) (guard (e (#t (list 'no (if (error-object? e) 'error e)))) (+ a b)))
(show 'add-or-zero (add-or-zero 1 2) (add-or-zero 1.5 2) (add-or-zero 1 'x) (add-or-zero (expt 2 70) 1))
(define (element v i) (guard (e ((error-object? e) 'none)) (let ((x (vector-ref v (- i 1)))) (if (pair? x) (cadr x) x))))
(show 'element (element #(1 (2 3) (4)) 1) (element #(1 (2 3)) 2) (element #(1 (2)) 2) (element #(1) 0) (element #(1) 2)
      (element '(1) 1) (element #(1) 1.5))
(define (before? a b) (guard (e ((string? e) e)) (if (< a b) 'yes 'no)))
(show 'before? (before? 1 2) (before? 2.5 1) (guard (e (#t 'outer)) (before? 'a 1)))
(define (total l)
  (let loop ((l l) (sum 0))
    (if (null? l) sum (loop (cdr l) (guard (e (#t sum)) (+ sum (car l)))))))
(show 'total (total '(1 2 x 3 4.5 y)))
