;; Chez Scheme's engines, parameters that are any procedures, radices and writers of records, handlers of last resort.
(import (chezscheme))

(define passed 0)
(define failed 0)
(define-syntax check
  (syntax-rules (=>)
    ((_ expression => expected)
     (let ((got expression) (wanted expected))
       (if (equal? got wanted)
           (set! passed (+ passed 1))
           (begin
             (set! failed (+ failed 1))
             (printf "~s => ~s, not ~s\n" 'expression got wanted)))))))
(define-syntax message
  (syntax-rules () ((_ body ...) (guard (c (#t (condition-message c))) body ...))))
(define-syntax written
  (syntax-rules () ((_ body ...) (with-output-to-string (lambda () body ...)))))

;;;; Engines

(define plenty 1000000000) ; more than this program takes
(define (run engine) (engine plenty (lambda (left . results) results) (lambda (rest) 'expired)))
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))

(check (run (make-engine (lambda () 5))) => '(5))
(check (run (make-engine (lambda () (values 1 2 3)))) => '(1 2 3))
(check (run (make-engine (lambda () (engine-return 4 5) 6))) => '(4 5))
(check ((make-engine (lambda () 5)) plenty (lambda (left x) (<= 0 left plenty)) list) => #t)
(check ((make-engine (lambda () 5)) 0 list (lambda (rest) (run rest))) => '(5))
(check (run ((make-engine (lambda () (engine-block) 7)) plenty list (lambda (rest) rest))) => '(7))

;; What never ends is stopped, again and again.
(check (let loop ((e (make-engine (lambda () (let again () (again))))) (n 0))
         (if (= n 4) 'stopped (e 50 list (lambda (rest) (loop rest (+ n 1))))))
       => 'stopped)
;; By turns; each gets what it would have got alone.
(define (round-robin engines)
  (let loop ((todo engines) (done '()))
    (if (null? todo)
        (list-sort < done)
        ((car todo) 20
         (lambda (left x) (loop (cdr todo) (cons x done)))
         (lambda (rest) (loop (append (cdr todo) (list rest)) done))))))
(check (round-robin (map (lambda (n) (make-engine (lambda () (fib n)))) '(15 18 12 16))) => '(144 610 987 2584))

;; Parameters and winders belong to the computation.
(define p (make-parameter 'outside))
(define trail '())
(define (note x) (set! trail (cons x trail)))
(define winding
  (make-engine
   (lambda ()
     (parameterize ((p 'inside))
       (dynamic-wind
        (lambda () (note 'in))
        (lambda ()
          (engine-block)
          (let ((x (p)))
            (engine-block)
            (list x (p))))
        (lambda () (note 'out)))))))
(check (winding plenty list (lambda (rest) (note (p)) (rest plenty list (lambda (rest) (car (run rest))))))
       => '(inside inside))
(check (reverse trail) => '(in out outside in out in out))
;; One that ran out may be gone on with twice.
(define rest ((make-engine (lambda () (engine-block) (note 'again) (length trail))) plenty list values))
(check (let* ((a (car (run rest))) (b (car (run rest)))) (- b a)) => 1)

;; Errors leave the engine, and nothing of it stays.
(check (message (run (make-engine (lambda () (error 'f "bad"))))) => "bad")
(check (guard (c (#t 'no-engine)) (engine-block)) => 'no-engine)
(check (guard (c (#t 'nested)) (run (make-engine (lambda () (run (make-engine (lambda () 1))))))) => 'nested)
(check (run (make-engine (lambda () (guard (c (#t (list 'caught c))) (raise 'x))))) => '((caught x)))
(check (guard (c (#t 'refused)) ((make-engine list) -1 list list)) => 'refused)

;;;; Parameters that are any procedures

(define place (let ((x 1)) (case-lambda (() x) ((y) (set! x y)))))
(check (list (parameterize ((place 2) (p 3)) (list (place) (p))) (place) (p)) => '((2 3) 1 outside))
(check (let ((k #f) (n 0) (seen '()))
         (parameterize ((place 2))
           (call/cc (lambda (here) (set! k here)))
           (set! seen (cons (place) seen))
           (place (+ (place) 1)))
         (set! n (+ n 1))
         (if (< n 3) (k #f))
         (list (reverse seen) (place)))
       => '((2 3 4) 1))
(check (parameterize ((current-directory "/")) (current-directory)) => "/")
(check (parameterize ((gensym-prefix 'k) (gensym-count 7)) (map symbol->string (list (gensym) (gensym))))
       => '("k7" "k8"))
(check (guard (c (#t 'no-parameter)) (parameterize ((5 2)) 1)) => 'no-parameter)

;;;; Radices, writers

(check (parameterize ((print-radix 16)) (written (write '(255 "a" #(10 1/2 1.5) -255 +inf.0 255+171i))))
       => "(#xFF \"a\" #(#xA #x1/2 #x1.8) #x-FF +inf.0 #xFF+ABi)")
(check (parameterize ((print-radix 2)) (written (display '(5 "a" #\b)) (write 5))) => "(101 a b)#b101")
(check (parameterize ((print-radix 7) (print-length 2)) (written (write '(8 9 10)))) => "(#7r11 #7r12 ...)")
(check (parameterize ((print-radix 8)) (let ((l (list 8 9))) (set-cdr! (cdr l) l) (written (write (vector l l)))))
       => "#(#0=(#o10 #o11 . #0#) #0#)")
(check (guard (c (#t 'refused)) (print-radix 37)) => 'refused)

(define-record-type point (fields x y))
(define-record-type spot (parent point))
(define type (record-type-descriptor point))
(check (procedure? (record-writer type)) => #t)
(record-writer type (lambda (r port wr) (display "<" port) (wr (point-x r) port) (display ">" port)))
(check (written (write (list (make-point 1 2) (vector (make-point "a" 2))))) => "(<1> #(<\"a\">))")
(check (written (display (list (make-point (make-point "a" 0) 2)))) => "(<<a>>)")
(check (format "~s ~a" (make-point "a" 2) (make-spot "b" 2)) => "<\"a\"> <b>")
(record-writer (record-type-descriptor spot) (lambda (r port wr) (display "spot" port)))
(check (written (write (list (make-spot 1 2) (make-point 1 2)))) => "(spot <1>)")
(record-writer (record-type-descriptor spot) #f)
(record-writer type #f)
(check (written (write (make-point 1 2))) => "#<point x: 1 y: 2>")

;;;; Handlers of last resort, other programs

(check (call/cc (lambda (k) (parameterize ((reset-handler (lambda () (k 'reset)))) (reset)))) => 'reset)
(check (call/cc (lambda (k) (parameterize ((abort-handler (lambda () (k 'aborted)))) (abort)))) => 'aborted)
(check (call/cc (lambda (k) (parameterize ((base-exception-handler (lambda (c) (k (list 'base c))))) (raise 5))))
       => '(base 5))
(check (call/cc (lambda (k)
                  (parameterize ((base-exception-handler (lambda (c) (k (condition-message c))))) (error 'f "bad"))))
       => "bad")
(check (let* ((ports (process "cat")) (out (cadr ports)))
         (put-string out "one\ntwo\n")
         (close-port out)
         (let ((line (get-line (car ports)))) (list line (get-string-all (car ports)))))
       => '("one" "two\n"))
(check (let-values (((in out err pid) (open-process-ports "cat; echo oops >&2" 'block (native-transcoder))))
         (put-string in "abc")
         (close-port in)
         (list (get-string-all out) (get-string-all err) (> pid 0)))
       => '("abc" "oops\n" #t))

(printf "~a passed, ~a failed\n" passed failed)
