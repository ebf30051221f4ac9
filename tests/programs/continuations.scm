;;; Continuations in every position: the frames below a capture may be shared, split, copied back, resumed in place.
(import (scheme base) (scheme write))

(define (show . xs) (for-each (lambda (x) (display x) (display " ")) xs) (newline))

;; A deep recursion captured at its bottom; its frames are returned through three times.
(define (deep n at-bottom)
  (if (= n 0) (at-bottom) (+ 1 (deep (- n 1) at-bottom))))
(define (thrice n)
  (let ((k #f) (turns 0))
    (let ((r (deep n (lambda () (call/cc (lambda (c) (set! k c) 0))))))
      (set! turns (+ turns 1))
      (if (< turns 3) (k (* turns 1000000)) r))))
(show 'thrice (map thrice '(1 2 10 1000 100000)))

;; Returns halfway up, captures there, and goes on; then re-enters both.
(define (halfway n)
  (let ((ks '()) (sum 0))
    (define (down i)
      (cond ((= i 0) (call/cc (lambda (c) (set! ks (cons c ks)) 0)))
            ((= i (quotient n 2))
             (let ((v (down (- i 1))))
               (+ 1 (call/cc (lambda (c) (set! ks (cons c ks)) v)))))
            (else (+ 1 (down (- i 1))))))
    (let ((r (down n)))
      (set! sum (+ sum r))
      (if (pair? ks)
          (let ((k (car ks)))
            (set! ks (if (> sum (* 6 n)) '() (cdr ks)))
            (k 0))
          sum))))
(show 'halfway (map halfway '(2 3 50 5000 50000)))

;; Generators: two recursions that take turns.
(define (tree-walker tree)
  (define return #f)
  (define (resume) (walk tree) (return 'done))
  (define (walk t)
    (cond ((null? t) #f)
          ((pair? t) (walk (car t)) (walk (cdr t)))
          (else (call/cc (lambda (rest)
                           (set! resume (lambda () (rest #f)))
                           (return t))))))
  (lambda () (call/cc (lambda (r) (set! return r) (resume)))))
(define (same-fringe? a b)
  (let ((next-a (tree-walker a)) (next-b (tree-walker b)))
    (let loop ((n 0))
      (let ((x (next-a)) (y (next-b)))
        (cond ((not (eq? x y)) (list 'differ n x y))
              ((eq? x 'done) (list 'same n))
              (else (loop (+ n 1))))))))
(define (left n) (let loop ((t '()) (i 0)) (if (= i n) t (loop (cons t i) (+ i 1)))))
(define (right n) (let loop ((t '()) (i (- n 1))) (if (< i 0) t (loop (cons i t) (- i 1)))))
(show 'fringe (same-fringe? '((1 2) (3 4)) '(1 (2 (3 (4))))) (same-fringe? '(1 2 3) '(1 (2 4))))
(show 'fringe (same-fringe? (left 2000) (right 2000)))

;; Backtracking.
(define fail #f)
(define (amb . choices)
  (call/cc
   (lambda (k)
     (let ((outer fail))
       (for-each
        (lambda (c)
          (call/cc (lambda (next)
                     (set! fail (lambda () (next #f)))
                     (k c))))
        choices)
       (set! fail outer)
       (fail)))))
(define (triples n)
  (let ((found '()))
    (call/cc
     (lambda (stop)
       (set! fail (lambda () (stop #f)))
       (let* ((range (let loop ((i n) (l '())) (if (= i 0) l (loop (- i 1) (cons i l)))))
              (a (apply amb range)) (b (apply amb range)) (c (apply amb range)))
         (if (and (< a b) (= (* c c) (+ (* a a) (* b b))))
             (set! found (cons (list a b c) found)))
         (fail))))
    (reverse found)))
(show 'triples (triples 20))

;; dynamic-wind: winders run on each way in and out, in order.
(define wind-trace '())
(define (note x) (set! wind-trace (cons x wind-trace)))
(define (wound n)
  (let ((k #f) (again 2))
    (dynamic-wind
     (lambda () (note 'in))
     (lambda ()
       (dynamic-wind
        (lambda () (note 'in2))
        (lambda () (deep n (lambda () (call/cc (lambda (c) (set! k c) 0)))) (note 'body))
        (lambda () (note 'out2))))
     (lambda () (note 'out)))
    (if (> again 0) (begin (set! again (- again 1)) (k 0)))
    (let ((t (reverse wind-trace))) (set! wind-trace '()) t)))
(show 'wound (wound 3))
(show 'wound (wound 3000))

;; Captures in tail position of captures, with the same and with other winders.
(show 'nested
      (call/cc (lambda (a) (call/cc (lambda (b) (call/cc (lambda (c) (if (procedure? c) (a 1) 2))))))))
(show 'winders
      (let ((log '()))
        (let ((v (call/cc
                  (lambda (a)
                    (dynamic-wind
                     (lambda () (set! log (cons 'in log)))
                     (lambda () (call/cc (lambda (b) (call/cc (lambda (c) (c (b (a 'away))))))))
                     (lambda () (set! log (cons 'out log))))))))
          (list v (reverse log)))))

;; Several values through captured frames.
(define (two-of k) (k 1 2))
(define (values-through n)
  (call-with-values
   (lambda ()
     (let ((r (deep n (lambda () 0))))
       (call/cc two-of)))
   list))
(show 'values (values-through 0) (values-through 10000))
(define saved #f)
(define (values-again)
  (let ((count 0))
    (call-with-values
     (lambda () (call/cc (lambda (k) (set! saved k) (values 0 0))))
     (lambda (a b)
       (set! count (+ count 1))
       (if (< count 4) (saved count (* 2 count)) (list a b count))))))
(show 'values (values-again))

;; A loop that captures without allocating anything itself; another whose frames grow after a capture.
(define (spin n) (if (= n 0) 'spun (begin (call/cc (lambda (k) n)) (spin (- n 1)))))
(show (spin 300000))
(define (wide n k)
  (if (= n 0)
      (call/cc (lambda (c) (c 1)))
      (let* ((a (wide (- n 1) k)) (b (+ a 1)) (c (call/cc (lambda (k) (k (+ b 1)))))
             (d (+ c 1)) (e (call/cc (lambda (k) (+ d 1)))) (f (wide 0 k)))
        (- (+ a b c d e f) (+ b c d e)))))
(show (wide 10000 0))

;; Escapes out of deep recursions leave nothing behind.
(define (escape n) (call/cc (lambda (k) (deep n (lambda () (k n))))))
(define (escapes turns) (let loop ((i 0) (s 0)) (if (= i turns) s (loop (+ i 1) (+ s (escape 1000))))))
(show (escapes 1000))
