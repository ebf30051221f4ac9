;; eval, environments, load: R7RS 6.12, 6.13.3 and (scheme repl).
(import (scheme base) (scheme write) (scheme eval) (scheme repl) (scheme load) (scheme file) (scheme char)
        (scheme time))

(define (show x) (write x) (newline))
(define base (environment '(scheme base) '(scheme write) '(scheme case-lambda) '(scheme lazy)))
(define (ev x) (eval x base))
(define-syntax message-of
  (syntax-rules () ((_ e) (guard (c ((error-object? c) (error-object-message c))) e))))

;; expressions
(show (eval '(* 7 3) (environment '(scheme base))))
(show (let ((f (eval '(lambda (f x) (f x x)) (environment '(scheme base))))) (f + 10)))
(for-each
 (lambda (x) (show (ev x)))
 '(42 "text" #\a #(1 #(2)) #u8(1 2) 'symbol '(1 . 2) 1/2 1.5 -0.0 123456789012345678901234567890
   (if #f 1 2) (let ((x 1) (y 2) (z 3)) (list x y z)) (let* ((x 1) (y (+ x 1))) (* x y))
   (letrec ((even? (lambda (n) (if (= n 0) #t (odd? (- n 1))))) (odd? (lambda (n) (if (= n 0) #f (even? (- n 1))))))
     (even? 1001))
   (let loop ((i 0) (acc '())) (if (< i 5) (loop (+ i 1) (cons i acc)) acc))
   (do ((i 0 (+ i 1)) (s 0 (+ s i))) ((= i 5) s))
   (case 3 ((1 2) 'few) ((3 4) 'more) (else 'many)) (cond ((assv 'b '((a 1) (b 2))) => cadr) (else 0))
   (and 1 2 3) (or #f #f 4) (when #t 1 2) (unless #t 1 2)
   `(1 ,(+ 1 1) ,@(list 3 4)) (let-values (((a b) (values 1 2)) ((c . d) (values 3 4 5))) (list a b c d))
   (call-with-values (lambda () (values 1 2)) cons)
   (let ((x 0)) (set! x (+ x 1)) (set! x (+ x 1)) x)
   ((lambda args args) 1 2 3) ((lambda (a b . rest) (list a b rest)) 1 2 3 4) ((lambda (a b c d e) (list e d c b a)) 1 2 3 4 5)
   ((lambda (a b c . r) (list a b c r)) 1 2 3 4 5)
   ((case-lambda ((a) (list 'one a)) ((a b) (list 'two a b)) ((a . r) (list 'more a r))) 1 2)
   ((case-lambda ((a) (list 'one a)) ((a b) (list 'two a b)) ((a . r) (list 'more a r))) 1 2 3)
   (apply max 3 '(1 4 1 5)) (vector-map + #(1 2) #(10 20)) (string-append "a" "b") (map (lambda (x) (* x x)) '(1 2 3))
   (parameterize () 1) (let ((p (make-parameter 1))) (list (p) (parameterize ((p 2)) (p)) (p)))
   (guard (e ((symbol? e) (list 'caught e))) (raise 'oops)) (guard (e ((string? e) e)) (raise-continuable "s"))
   (call/cc (lambda (k) (+ 1 (k 42)))) (dynamic-wind (lambda () #f) (lambda () 'in) (lambda () #f))
   (force (delay (+ 1 2))) (let ((s (make-string 2 #\x))) (string-set! s 0 #\y) s)
   (let () (define a 1) (define (f) (+ a b)) (define b 2) (f))
   (let () (define-values (a b . c) (values 1 2 3)) (list a b c))
   (let () (define-record-type thing (make-thing a b) thing? (a thing-a set-thing-a!) (b thing-b))
     (let ((t (make-thing 1 2))) (set-thing-a! t 10) (list (thing? t) (thing? 1) (thing-a t) (thing-b t))))
   (let-syntax ((my-or (syntax-rules () ((_ a b) (let ((t a)) (if t t b)))))) (let ((t 5)) (my-or #f t)))))

;; definitions, redefinition, macros
(ev '(define x 10))
(ev '(define (twice f) (lambda (y) (f (f y)))))
(show (ev '((twice (lambda (n) (+ n x))) 1)))
(ev '(define x 100))
(show (ev '((twice (lambda (n) (+ n x))) 1)))
(ev '(set! x 0))
(show (ev 'x))
(ev '(define-syntax swap! (syntax-rules () ((_ a b) (let ((t a)) (set! a b) (set! b t))))))
(show (ev '(let ((t 1) (u 2)) (swap! t u) (list t u))))
(ev '(begin (define a1 1) (define a2 (+ a1 1)) (define-values (a3 a4) (values 3 4))))
(show (ev '(list a1 a2 a3 a4)))
(ev '(define (car x) 'mine))
(show (list (ev '(car '(1 2))) (car '(1 2)) (ev '(cadr '(1 2)))))
(ev '(define-record-type <point> (point x y) point? (x px) (y py set-py!)))
(show (ev '(let ((p (point 1 2))) (set-py! p 5) (list (px p) (py p)))))
(define p (ev '(point 3 4)))
(show ((ev 'px) p))

;; environments do not share definitions
(define one (environment '(scheme base)))
(define two (environment '(only (scheme base) + define quote list) '(prefix (only (scheme base) car) base:)))
(eval '(define shared 1) one)
(show (message-of (eval 'shared two)))
(show (eval '(base:car '(1)) two))
(show (message-of (eval '(car '(1)) two)))

;; what is evaluated and what is compiled are the same objects
(show (list (eq? car (eval 'car one)) (eq? map (eval 'map one)) (eqv? (eval ''a one) 'a)))
(define param (make-parameter 1))
(ev '(define (call-with p f) (parameterize ((p 7)) (f))))
(show ((ev 'call-with) param (lambda () (param))))

;; errors
(show (message-of (ev '(cdr 5))))
(show (message-of (ev 'undefined-name)))
(show (message-of (ev '(set! undefined-name 1))))
(show (message-of (ev '(if))))
(show (message-of (ev '(let ((x)) x))))
(show (message-of (ev '((lambda (x) x)))))
(show (message-of (ev '((lambda (x y z u v) x) 1))))
(show (message-of (ev '((case-lambda ((a) a)) 1 2))))
(show (message-of (ev '(vector-ref #(1 2) 2))))
(show (message-of (ev '(5 5))))
(show (message-of (eval 1 2)))
(show (message-of (environment '(no such library))))
(show (message-of (eval '(frob) (environment '(only (scheme base) frob)))))

;; tail calls, deep recursion, continuations entered again
(ev '(define (count n) (if (= n 0) 'done (count (- n 1)))))
(show (ev '(count 100000)))
(ev '(define (sum n) (if (= n 0) 0 (+ n (sum (- n 1))))))
(show (ev '(sum 20000)))
(show
 (ev '(let ((k #f) (n 0) (log '()))
        (let ((x (call/cc (lambda (c) (set! k c) 0))))
          (set! log (cons (lambda () x) log))
          (if (< n 3) (begin (set! n (+ n 1)) (k n)))
          (map (lambda (f) (f)) log)))))
(define saved #f)
(define trips 0)
(show (list 'got (eval `(+ 1 (,'call/cc (lambda (k) (keep k) 1)))
                       (let ((e (environment '(scheme base))))
                         ((eval '(lambda (f) (set! keeper f)) (begin (eval '(define keeper #f) e) e)) (lambda (k) (set! saved k)))
                         (eval '(define (keep k) (keeper k)) e)
                         e))))
(if (< trips 2) (begin (set! trips (+ trips 1)) (saved (* 10 trips))))

;; eval inside eval
(show (ev '(let ((e 1)) e)))
(define both (environment '(scheme base) '(scheme eval)))
(show (eval '(eval '(+ 1 2) (environment '(scheme base))) both))

;; libraries that the program itself does not import
(show (eval '(fold + 0 (filter odd? (iota 10))) (environment '(scheme base) '(srfi 1))))
(show (eval '(let ((t (make-hash-table))) (hash-table-set! t 'a 1) (hash-table-ref/default t 'a 0))
            (environment '(scheme base) '(srfi 69))))

;; the other environments
(eval '(define here 5) (interaction-environment))
(show (eval '(string-upcase (number->string here)) (interaction-environment)))

;; load
(define path (string-append "cairn-test-load-" (number->string (current-jiffy)) ".tmp"))
(call-with-output-file path
  (lambda (p)
    (write '(define-syntax add (syntax-rules () ((_ a b) (+ a b)))) p)
    (write '(define (loaded x) (add x here)) p)
    (write '(write (loaded 1)) p)
    (write '(newline) p)))
(load path)
(show (eval '(loaded 10) (interaction-environment)))
(load path (let ((e (environment '(scheme base) '(scheme write)))) (eval '(define here 100) e) e))
(delete-file path)
(show (guard (e ((file-error? e) 'no-file)) (load path)))
;; R6RS's environments
(show (eval '(let-values (((a b) (values 1 2))) (+ a b)) (environment '(rnrs))))
