; Calls of C: conversions, errors, memory, callbacks that allocate, nested ones, and what leaves them.
(import (scheme base) (scheme write) (scheme process-context) (cairn c) (cairn thread) (cairn weak)
        (only (srfi 4) f64vector) (only (cairn control) condition? condition->string))

(define-syntax say
  (syntax-rules ()
    ((_ e) (begin (write (guard (c (#t (if (condition? c) (condition->string c) (list 'raised c)))) e)) (newline)))))

;;; Arguments and results

(define c-abs (c-procedure int "abs" (int)))
(define c-labs (c-procedure long "labs" (long)))
(define c-pow (c-procedure double "pow" (double double)))
(define c-sqrtf (c-procedure float "sqrtf" (float)))
(define c-strlen (c-procedure size_t "strlen" (string)))
(define c-strchr (c-procedure string "strchr" (string char)))
(define c-getenv (c-procedure string "getenv" (string)))
(define c-strtoul (c-procedure uint64 "strtoull" (string pointer int)))
(define c-strtol (c-procedure int64 "strtoll" (string pointer int)))
(define c-isatty (c-procedure bool "isatty" (int)))
(define c-memset (c-procedure pointer "memset" (pointer int size_t)))
(define c-memcpy (c-procedure pointer "memcpy" (bytevector bytevector size_t)))
(define c-close (c-procedure int "close" (int)))
(define c-snprintf
  (c-procedure int "snprintf" (bytevector size_t string ... int double string long char int int int double double)))
(define c-srand (c-procedure void "srand" (unsigned)))

(say (map c-abs '(-5 0 2147483647 -2147483647)))
(say (list (c-labs -1152921504606846976) (c-labs (- (expt 2 62))) (c-labs -9223372036854775807)))
(say (list (c-pow 2. 10.) (c-pow 2 1/2) (c-pow 1e300 1) (c-pow 1e-300 1.) (c-sqrtf 2.25) (c-sqrtf 2)))
(say (list (c-strlen "") (c-strlen "Grüße") (c-strchr "a=b" #\=) (c-strchr "a=b" #\x)))
(say (c-getenv "A_NAME_THAT_NOBODY_HAS_SET"))
(say (list (c-strtoul "18446744073709551615" #f 10) (c-strtoul "42" #f 10) (c-strtoul "1152921504606846976" #f 10)))
(say (list (c-strtol "-9223372036854775808" #f 10) (c-strtol "9223372036854775807" #f 10)))
(say (list (c-isatty -1) (c-srand 7)))
(let* ((b (make-bytevector 100 0)) (n (c-snprintf b 100 "%d %.2f %s %ld %c %d %d %d %.1f %.1f" 1 2.5 "ü" 3 #\x 4 5 6 7 8)))
  (say (utf8->string b 0 n)))
(say (let ((to (f64vector 0. 0. 0.))) (c-memcpy to #f64(1. 2. 3.) 16) to))

;;; Errors

(for-each
 (lambda (x) (say (c-abs x)))
 (list 2147483648 -2147483649 (expt 10 30) 1.5 'x "7"))
(say (c-labs (expt 2 63)))
(say (c-strlen 'x))
(say (c-strlen "a\x0;b"))
(say (c-strchr "a" #\λ))
(say (c-pow 1 'x))
(say (c-pow 1 +i))
(say (c-memset 5 0 0))
(say (c-memcpy "x" #f 0))
(say (c-srand -1))
(say (c-close -1))
(say (list (c-errno) (c-error-text)))

;;; Memory

(define p (c-malloc 32))
(say (list (pointer? p) (pointer=? p (c-memset p 65 4)) (pointer? null-pointer) (pointer-address null-pointer)))
(say (list (c-ref p char 2) (c-ref p uint32) (c-ref p int8 4) (c-string p) (pointer->bytevector p 5)))
(c-set! p double 8 1.5)
(c-set! p int64 16 -1)
(c-set! p pointer 24 p)
(say (list (c-ref p double 8) (c-ref p uint64 16) (c-ref p int16 16) (pointer=? p (c-ref p pointer 24))))
(pointer-copy! p #u16(1 2 3) 8)
(say (list (c-ref p uint16 12) (c-ref (pointer+ p 8) uint32)))
(let ((b (make-bytevector 8 0)))
  (c-set! b float 4 2.5)
  (say (list b (c-ref b float 4)))
  (say (c-ref b int64 1))
  (say (c-ref b int 'x))
  (say (c-ref #f int))
  (say (c-set! b int8 128))
  (say (c-set! #u8(1) int8 1)))
(c-free p)
(let ((s (string->pointer "Grüße")))
  (say (list (c-string s) (c-string #f)))
  (c-free s))
(say (list (address->pointer #xff00) (address->pointer 0) (pointer-address (address->pointer (- (expt 2 64) 1)))))

(define-c-struct point (x int) (y double) (tag (array char 4)) (next pointer))
(define-c-struct both (n short) (first point) (rest (array point 2)) (last bool))
(say (list (c-sizeof point) (c-sizeof both) (c-sizeof size_t)))
(let ((q (make-both)))
  (set-point-y! (both-rest q 1) 2.5)
  (set-point-x! (both-rest q 1) -3)
  (set-point-tag! (both-rest q 1) 3 #\z)
  (set-both-first! q (both-rest q 1))
  (set-both-n! q 7)
  (set-both-last! q #t)
  (say (list (both-n q) (point-x (both-first q)) (point-y (both-first q)) (point-tag (both-first q) 3)
             (point-tag (both-first q) 0) (point-next (both-first q)) (both-last q)))
  (say (both-rest q 2))
  (say (point-x 'q))
  (c-free q))

;; A handle that nothing refers to any more is freed.
(define freed 0)
(define (make-handle)
  (add-finalizer! (c-malloc 8) (lambda (p) (set! freed (+ freed 1)) (c-free p))))
(do ((i 0 (+ i 1))) ((= i 20)) (make-handle))
(do ((i 0 (+ i 1))) ((or (> freed 10) (= i 10))) (collect))
(say (> freed 10))

;;; Callbacks

(define qsort (c-procedure void "qsort" (bytevector size_t size_t pointer)))
(define (vector-of-bytes n) (let ((v (make-bytevector n))) (do ((i 0 (+ i 1))) ((= i n) v) (bytevector-u8-set! v i (modulo (* i 37) 101)))))
(define garbage '())
(define (sorted? v)
  (let loop ((i 1)) (or (= i (bytevector-length v)) (and (<= (bytevector-u8-ref v (- i 1)) (bytevector-u8-ref v i)) (loop (+ i 1))))))
(define less
  (c-callback int (pointer pointer)
    (lambda (a b)
      (set! garbage (make-vector 50 (number->string (c-ref a uint8))))
      (- (c-ref a uint8) (c-ref b uint8)))))
(let ((v (vector-of-bytes 100)))
  (qsort v 100 1 less)
  (say (list (sorted? v) (bytevector-u8-ref v 0) (bytevector-u8-ref v 99))))
;; Vectors in the heap move, and those of a size that does not.
(let ((v (vector-of-bytes 10000)))
  (qsort v 1000 1 (c-callback int (pointer pointer) (lambda (a b) (if (= 0 (modulo (c-ref a uint8) 50)) (collect #f)) (- (c-ref a uint8) (c-ref b uint8)))))
  (say (sorted? (bytevector-copy v 0 1000))))
;; Nested: a callback that sorts.
(define depth 0)
(define (sort-inside n)
  (let ((v (bytevector 3 1 2)))
    (qsort v 3 1 (c-callback int (pointer pointer) (lambda (a b) (if (> n 0) (sort-inside (- n 1)) (set! depth (+ depth 1))) (- (c-ref a uint8) (c-ref b uint8)))))
    (if (sorted? v) 'sorted v)))
(say (list (sort-inside 3) (> depth 10)))
;; Doubles, floats, words on the stack, both ways.
(define many
  (c-callback double (int double int64 float uint8 int int16 double int8 bool char long float)
    (lambda (a b c d e f g h i j k l m)
      (+ a b c d e f g h i (if j 1000 0) (char->integer k) l m))))
(define many-as-c
  (c-procedure double "many" (int double int64 float uint8 int int16 double int8 bool char long float) many))
(say (many-as-c 1 .5 2 .25 3 4 -5 .125 -6 #t #\A 1000000 1/2))
(define (same-pointer x) ((c-procedure pointer "same" (pointer) (c-callback pointer (pointer) (lambda (p) p))) x))
(say (list (same-pointer #f) (same-pointer (address->pointer 4096))))

;; What is raised in a callback is raised when C has returned; meanwhile callbacks answer 0.
(define calls 0)
(define failing (c-callback int (pointer pointer) (lambda (a b) (set! calls (+ calls 1)) (raise (list 'wrong calls)))))
(say (qsort (bytevector 3 1 2) 3 1 failing))
(say calls)
(say (with-exception-handler
      (lambda (c) 10)
      (lambda () (qsort (bytevector 3 1 2) 3 1 (c-callback int (pointer pointer) (lambda (a b) (+ 1 (raise-continuable 'x)))))
              'not-reached)))
(say (qsort (bytevector 3 1 2) 3 1 (c-callback int (pointer pointer) (lambda (a b) "less"))))
;; A continuation cannot leave, nor come back.
(say (call/cc (lambda (k) (qsort (bytevector 3 1 2) 3 1 (c-callback int (pointer pointer) (lambda (a b) (k 'left)))))))
(define inside #f)
(say (qsort (bytevector 2 1) 2 1
            (c-callback int (pointer pointer) (lambda (a b) (call/cc (lambda (k) (set! inside k) 1))))))
(say (if inside (let ((k inside)) (set! inside #f) (k 1) 'again) 'once))
;; A continuation may do what it likes inside of a callback.
(say (let ((v (bytevector 3 1 2)))
       (qsort v 3 1 (c-callback int (pointer pointer)
                      (lambda (a b) (+ (call/cc (lambda (k) (k (c-ref a uint8)))) (guard (c (#t (- (c-ref b uint8)))) (raise 'x))))))
       v))
;; Other threads go on while C waits for a callback, and may call C themselves.
(say (let* ((n 0)
            (t (thread-start! (make-thread (lambda () (do ((i 0 (+ i 1))) ((= i 5) (sort-inside 1)) (set! n (+ n 1)) (thread-yield!)))))))
       (let ((v (bytevector 9 4 1)))
         (qsort v 3 1 (c-callback int (pointer pointer) (lambda (a b) (thread-yield!) (- (c-ref a uint8) (c-ref b uint8)))))
         (list v (thread-join! t) n))))
;; Called by another OS thread, a callback answers 0 and runs nothing.
(define c-thread (c-procedure int "pthread_create" (bytevector pointer pointer pointer)))
(define c-join (c-procedure int "pthread_join" (size_t bytevector)))
(say (let ((id (make-bytevector 8 0)) (result (bytevector 1 1 1 1 1 1 1 1)) (ran #f))
       (c-thread id #f (c-callback pointer (pointer) (lambda (x) (set! ran #t) x)) (address->pointer 64))
       (c-join (c-ref id size_t) result)
       (list ran result)))
;; Freed, too.
(let ((callback (c-callback int (int) (lambda (x) (+ x 1)))))
  (define f (c-procedure int "f" (int) callback))
  (say (f 41))
  (free-callback! callback)
  (say (f 41))
  (say (guard (c (#t (pointer? (car (error-object-irritants c))))) (free-callback! callback))))
;; Many: more than a page holds.
(say (let loop ((i 0) (sum 0))
       (if (= i 500)
           sum
           (loop (+ i 1) (+ sum ((c-procedure int "f" (int) (c-callback int (int) (lambda (x) (+ x i)))) 1))))))
;; All of it once more, now that C may call back.
(say (list (c-abs -5) (c-pow 2. 3.) (c-strlen "Grüße") (c-labs (- (expt 2 62))) (c-close -1) (c-errno)))
(say (c-abs 'x))
(qsort (bytevector 2 1) 2 1 (c-callback int (pointer pointer) (lambda (a b) (display "the end\n") (exit 0))))
