;; zeal: not
;;; Calls of procedures of the library that the evaluator does itself, against the procedures: whatever the operands
;;; are, the values and the errors are the same, as a value, in tail position, as a test, and for effect.
(import (scheme base) (scheme write))

(define (outcome thunk)
  (call-with-current-continuation
   (lambda (k)
     (with-exception-handler
      (lambda (e) (k (if (error-object? e) (cons (error-object-message e) (error-object-irritants e)) e)))
      thunk))))

(define checked 0)
(define (check name expected found . operands)
  (set! checked (+ checked 1))
  (if (not (equal? expected found))
      (begin
        (write (list name operands expected found))
        (newline))))

;; The procedure is called here, by a name that nothing is known of.
(define (call f . operands)
  (apply f operands))

(define-syntax check-call
  (syntax-rules ()
    ((_ (f x ...))
     (let ((expected (outcome (lambda () (call f x ...)))))
       (check 'f expected (outcome (lambda () (let ((value (f x ...))) value))) x ...)
       (check 'f expected (outcome (lambda () (f x ...))) x ...)
       (check 'f
              (outcome (lambda () (if (call f x ...) 'yes 'no)))
              (outcome (lambda () (if (f x ...) 'yes 'no)))
              x ...)
       (check 'f
              (outcome (lambda () (if (not (call f x ...)) 'yes 'no)))
              (outcome (lambda () (if (not (f x ...)) 'yes 'no)))
              x ...)
       (check 'f
              (outcome (lambda () (call f x ...) 'done))
              (outcome (lambda () (f x ...) 'done))
              x ...)))))

(define-syntax check-unary
  (syntax-rules ()
    ((_ x f ...) (begin (check-call (f x)) ...))))

;; Operands of the innermost scope, of the one around it, constants and others.
(define-syntax check-binary
  (syntax-rules ()
    ((_ x y f ...)
     (begin
       (begin
         (check-call (f x y))
         (let ((z x)) (check-call (f z y)))
         (let ((z y)) (check-call (f x z)))
         (check-call (f x 1))
         (check-call (f 2.5 y))
         (check-call (f (car (list x)) (car (list y)))))
       ...))))

(define values-to-try
  (list 0 1 -7 1152921504606846975 -1152921504606846976 1/3 0.5 +nan.0 'a "str" #\a #\b '((1 . 2) 3) (vector 1 2 3) #f))

(for-each
 (lambda (x)
   (check-unary x car cdr null? pair? not zero? cadr cddr caar cdar symbol? string? char? vector? number? integer?
                eof-object? even? odd? - vector-length string-length char->integer))
 values-to-try)

(for-each
 (lambda (x)
   (for-each
    (lambda (y)
      (check-binary x y + - = < eq? cons vector-ref * > <= >= eqv? equal? string-ref char=? char<? / quotient remainder
                    modulo))
    values-to-try))
 values-to-try)

;; Mutations.
(define (mutated mutate)
  (let* ((v (vector 1 2 3)) (p (cons 1 2)) (result (outcome (lambda () (mutate v p) 'done))))
    (list result v p)))

(for-each
 (lambda (i)
   (check 'vector-set!
          (mutated (lambda (v p) (call vector-set! v i 'x)))
          (mutated (lambda (v p) (vector-set! v i 'x)))
          i)
   (check 'vector-set! (mutated (lambda (v p) (call vector-set! i 0 p))) (mutated (lambda (v p) (vector-set! i 0 p))) i)
   (check 'set-car! (mutated (lambda (v p) (call set-car! p i))) (mutated (lambda (v p) (set-car! p i))) i)
   (check 'set-cdr! (mutated (lambda (v p) (call set-cdr! p i))) (mutated (lambda (v p) (set-cdr! p i))) i)
   (check 'set-car! (mutated (lambda (v p) (call set-car! i 1))) (mutated (lambda (v p) (set-car! i 1))) i)
   (check 'set-cdr! (mutated (lambda (v p) (call set-cdr! i 1))) (mutated (lambda (v p) (set-cdr! i 1))) i))
 values-to-try)

;; Four operands, and more; none; variables that are assigned.
(define (four a b c d) (list a b c d))
(define (five a b c d e) (list a b c d e))
(define count 0)
(define (next!) (set! count (+ count 1)) count)
(check 'four '(1 2 3 4) (let* ((l (four (next!) (next!) (next!) (next!)))) l))
(check 'five '(5 6 7 8 9) (let* ((l (five (next!) (next!) (next!) (next!) (next!)))) l))
(check 'tail '(10 11 12 13) ((lambda () (four (next!) (next!) (next!) (next!)))))
(check 'local 55 (let ((sum 0)) (do ((i 1 (+ i 1))) ((> i 10) sum) (set! sum (+ sum i)))))

;; A variable that has no value yet is called.
(check 'unbound
       "variable used before its definition gives it a value: undefined-yet"
       (car (outcome (lambda () (undefined-yet 1)))))
(define (undefined-yet x) x)

(write checked)
(newline)
