;;; A shared library for crates/cairn/tests/shared.rs: every type, errors, callbacks, threads, much garbage.
(import (scheme base) (scheme char) (scheme write) (scheme process-context) (cairn c) (cairn thread))

(define kept '())
(define count 0)

;; Makes garbage and keeps some of it: collections come, and must find what C waits for.
(define (churn n)
  (let loop ((i 0))
    (when (< i n)
      (let ((s (number->string i)))
        (if (= 0 (modulo i 100)) (set! kept (cons s kept))))
      (loop (+ i 1))))
  (string-length (apply string-append (map (lambda (s) (string-append s "")) kept))))

(define (deep n) (if (= n 0) 0 (+ 1 (deep (- n 1)))))

(define-values (next!)
  (let ((return #f) (resume #f))
    ;; Each call goes on where the one before has left the loop.
    (lambda ()
      (call/cc
       (lambda (k)
         (set! return k)
         (if resume
             (resume #t)
             (let loop ((i 0))
               (call/cc (lambda (k) (set! resume k) (return i)))
               (loop (+ i 1)))))))))

(define (call-with f n)
  ((c-procedure int "of-c" (int) f) n))

(define (sum-by f n)
  (define g (c-procedure int "of-c" (int) f))
  (do ((i 0 (+ i 1)) (sum 0 (+ sum (g i)))) ((= i n) sum)))

(define (by-threads n)
  (define (work k) (lambda () (let loop ((i 0) (l '())) (if (= i 20000) (+ k (length l)) (loop (+ i 1) (cons i l))))))
  (apply + (map thread-join! (map (lambda (k) (thread-start! (make-thread (work k)))) (iota n)))))

(define (iota n) (do ((i (- n 1) (- i 1)) (l '() (cons i l))) ((< i 0) l)))

(define callback #f)
(define (callback-of-here)
  (define (f a b) (if (< a 0) (error "negative:" a) (exact (round (+ a b)))))
  (set! callback (c-callback int (int double) f))
  callback)

(c-export int "add" (int int) +)
(c-export long "count" () (lambda () (set! count (+ count 1)) count))
(c-export double "halve" (double) (lambda (x) (/ x 2)))
(c-export float "halve_float" (float) (lambda (x) (/ x 2)))
(c-export bool "is_even" (uint8) even?)
(c-export char "upper" (char) char-upcase)
(c-export int8 "negate" (int8) -)
(c-export uint64 "most" () (lambda () (- (expt 2 64) 1)))
(define (weigh . l) (apply + (map * l (map (lambda (i) (+ i 1)) (iota 10)))))
(c-export double "weigh" (int double int double int int int int int float) weigh)
(c-export pointer "same" (pointer) values)
(c-export string "greet" (string) (lambda (name) (and name (string-append "Grüße, " name "!"))))
(c-export string "with_nul" () (lambda () (string #\a #\null)))
(c-export int "element" (int) (lambda (i) (+ 1 (vector-ref (vector 1 2 3) i))))
(c-export int "wrong" () (lambda () 'symbol))
(c-export void "throw" (int) (lambda (n) (raise n)))
(c-export long "churn" (long) churn)
(c-export long "deep" (long) deep)
(c-export int "next" () next!)
(c-export int "call_with" (pointer int) call-with)
(c-export int "sum_by" (pointer int) sum-by)
(c-export long "by_threads" (int) by-threads)
(c-export pointer "callback" () callback-of-here)
(c-export void "leave" (int) exit)
(c-export void "say" (string) display)
(display "starts\n")
