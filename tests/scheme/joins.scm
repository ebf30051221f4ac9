;; What meets at joins and regions: records of several types in one variable, clauses of one procedure called from an
;; operand and from a tail, procedures that produce several values for a receiver and are called elsewhere too.
(import (scheme base) (scheme write) (scheme case-lambda) (scheme read))

(define (say . all) (for-each (lambda (x) (write x) (write-char #\space)) all) (newline))
;; what no optimizer knows
(define inputs (read (open-input-string "(0 1 2 3 4 5 6 7)")))
(define-syntax try
  (syntax-rules () ((_ e) (guard (c ((error-object? c) (error-object-message c)) (#t c)) e))))

(define-record-type circle (make-circle r) circle? (r circle-r set-circle-r!))
(define-record-type square (make-square a b) square? (a square-a) (b square-b set-square-b!))
(define-record-type text (make-text s) text? (s text-s))

;; a variable that holds either
(define (shape i)
  (case (modulo i 3) ((0) (make-circle i)) ((1) (make-square i (* i 10))) (else (make-text (number->string i)))))
(define (size x)
  (cond ((circle? x) (list 'circle (circle-r x)))
        ((square? x) (list 'square (square-a x) (square-b x)))
        (else (list 'text (text-s x)))))
(for-each (lambda (i) (say (size (shape i)))) inputs)
;; one accessor after a join: an error for all others
(for-each
  (lambda (i)
    (let ((x (if (odd? i) (make-circle i) (make-square i i))))
      (say (try (circle-r x)) (try (square-b x)) (circle? x) (square? x) (text? x))))
  inputs)
;; the join is a loop's variable, or a procedure's result
(define (turns n)
  (let loop ((i 0) (x (make-circle 0)) (acc '()))
    (if (= i n)
        (reverse acc)
        (loop (+ i 1)
              (if (circle? x) (make-square i (circle-r x)) (make-circle (+ 1 (square-b x))))
              (cons (if (circle? x) (circle-r x) (- (square-a x))) acc)))))
(say (turns 9))
(define (later i) (let ((x (if (< i 4) (make-circle i) (make-text "t")))) (lambda () (try (circle-r x)))))
(for-each (lambda (i) (say ((later i)))) inputs)
;; a store after a join
(define (grow! x) (if (circle? x) (set-circle-r! x (+ 1 (circle-r x))) (set-square-b! x 0)) x)
(say (map (lambda (i) (size (grow! (if (even? i) (make-circle i) (make-square i i))))) inputs))

;; a producer that is also called in a tail: what comes after the producer must happen once
(define (halves n)
  (define (both k) (if (= k 0) (values 1 2) (let-values (((a b) (both (- k 1)))) (values b (+ a b)))))
  (call-with-values (lambda () (both n)) (lambda (a b) (say 'received n) (list a b))))
(say (map halves inputs))
(define (producers n)
  (define (f k acc) (if (= k 0) (values acc k) (f (- k 1) (+ acc k))))
  (let-values (((a b) (f n 0)))
    (say 'between a b)
    (let-values (((c d) (f a 1)))
      (+ a b c d))))
(say (map producers inputs))
;; only producers call it: it may move into one of them, not out of it
(define (only n)
  (define (g k) (if (< k 3) (values k (* 2 k)) (g (- k 3))))
  (let-values (((a b) (g n)))
    (let-values (((c d) (g (+ n 1))))
      (list a b c d))))
(say (map only inputs))

;; clauses called from different places
(define (clauses n)
  (define f
    (case-lambda
      ((a) (if (> a 3) (list 'one a) (f a 10)))
      ((a b) (if (> b 12) (list 'two a b) (f (+ a 1) (+ b 1))))
      ((a b . more) (list 'many a b more))))
  (list (f n) (f n n) (+ n (length (f n 1 2))) (car (f (- n 9)))))
(for-each (lambda (i) (say (clauses i))) inputs)
(define (in-operands n)
  (define f (case-lambda ((a) (if (= a 0) 1 (* 2 (f (- a 1))))) ((a b) (if (= a 0) b (f (- a 1) (+ b 3))))))
  (+ (f n) (f n 0)))
(say (map in-operands inputs))
;; a clause that nobody calls, with a procedure that only it calls
(define (uncalled n)
  (define (g x) (if (= x 0) n (+ 1 (g (- x 1)))))
  (define f (case-lambda ((a) (if (> a 10) a (f (+ a 1)))) ((a b) (g a))))
  (f n))
(say (map uncalled inputs))
;; mutual recursion entered from a tail and from an operand
(define (mutual n)
  (define (ev? k) (if (= k 0) 'even (od? (- k 1))))
  (define (od? k) (if (= k 0) 'odd (ev? (- k 1))))
  (if (eq? (ev? n) 'even) (od? (+ n 1)) (ev? n)))
(say (map mutual inputs))
