;; A program that asks for signals: each is a condition, raised wherever the program is.

(import (scheme base) (scheme write) (scheme process-context) (cairn signal))

(define seen 0)

(define (show . items) (for-each display items) (newline) (flush-output-port))

(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))

;; Goes on until signals have come three times; what it computes must not suffer.
(define (goes-on body)
  (with-exception-handler
   (lambda (c)
     (if (interrupt? c)
         (begin
           (set! seen (+ seen 1))
           (let ((garbage (make-vector 1000 (list seen)))) (show "seen " (car (vector-ref garbage 7)) " " (interrupt-signal c))))
         (raise c)))
   (lambda () (call-with-interrupts body))))

(define (flonums)
  (let loop ((x 0.5) (y 1.0) (n 0))
    (if (< seen 3)
        (if (< x 1e6) (loop (* x 2.0) (+ y 0.25) (+ n 1)) (loop 0.5 (- y (* 0.25 n)) 0))
        (- y (* 0.25 n)))))

(define (vectors)
  (let ((v (make-vector 100 'a)))
    (let loop ((i 0))
      (cond ((= i 100) (if (< seen 3) (loop 0) (vector-ref v 99)))
            (else (vector-set! v i 'b) (loop (+ i 1)))))))

(define (deep)
  (let loop ((n 0)) (if (= n 2000) (let spin () (if (< seen 3) (spin) 0)) (+ 1 (loop (+ n 1))))))

(define (fibs) (let loop ((s 0)) (if (< seen 3) (loop (fib 15)) s)))

(define (lists) (let loop ((l '())) (if (< seen 3) (loop (list 1 2 3)) l)))

(define (cps n k) (if (= n 0) (k 0) (cps (- n 1) (lambda (v) (k (+ v 1))))))
(define (unknown) (let loop ((s 0)) (if (< seen 3) (loop (cps 50 (lambda (v) v))) s)))

(define (again)
  (let* ((n 0) (k (call/cc (lambda (k) k))))
    (set! n (+ n 1))
    (if (< seen 3) (k k) 'again)))

;; Each time the rest of the program is entered twice from the handler.
(define (twice)
  (let ((saved #f) (entered 0))
    (with-exception-handler
     (lambda (c) (set! seen (+ seen 1)) (call/cc (lambda (k) (set! saved k))) 0)
     (lambda ()
       (call-with-interrupts
        (lambda ()
          (show "ready")
          (let loop ((i 0)) (if (= seen 0) (loop (+ i 1))))))))
    (set! entered (+ entered 1))
    (if (< entered 3) (saved #f))
    entered))

(let ((way (string->symbol (list-ref (command-line) 1))))
  (define (run body) (show "ready") (show (goes-on body)))
  (case way
    ((flonums) (run flonums))
    ((vectors) (run vectors))
    ((deep) (run deep))
    ((fibs) (run fibs))
    ((lists) (run lists))
    ((unknown) (run unknown))
    ((again) (run again))
    ((twice) (show (twice)))
    ((guard)
     (show (guard (c ((interrupt? c) (list 'caught (interrupt-signal c))))
             (dynamic-wind
              (lambda () #f)
              (lambda () (call-with-interrupts (lambda () (show "ready") (let loop ((i 0)) (loop (if (= i 9) 0 (+ i 1)))))))
              (lambda () (show "after"))))))
    ((read)
     (show (guard (c ((interrupt? c) 'caught))
             (call-with-interrupts (lambda () (show "ready") (read-char))))))
    ((uncaught)
     (dynamic-wind
      (lambda () #f)
      (lambda () (call-with-interrupts (lambda () (show "ready") (let loop () (loop)))))
      (lambda () (show "after"))))
    (else (show "no such way"))))
