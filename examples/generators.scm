;;; Generators and coroutines out of call/cc.
;;;
;;;     ./cairn run examples/generators.scm
;;;
;;; A generator is a procedure of no arguments that returns the next value each time.  Its body runs until it yields;
;;; its continuation is kept and entered again at the next call.

(import (scheme base) (scheme write))

(define done (list 'done))
(define (done? x) (eq? x done))

;; (generator (yield) body ...): calls of `yield` in the body are the values.
(define-syntax generator
  (syntax-rules ()
    ((_ (yield) body ...)
     (make-generator (lambda (yield) body ...)))))

(define (make-generator body)
  (define return #f)
  (define (yield value)
    (call/cc
     (lambda (rest)
       (set! resume rest)
       (return value))))
  (define (resume ignored)
    (body yield)
    (set! resume (lambda (ignored) (return done)))
    (return done))
  (lambda ()
    (call/cc
     (lambda (k)
       (set! return k)
       (resume #f)))))

(define-syntax for
  (syntax-rules (in)
    ((_ x in g body ...)
     (let ((next g))
       (let loop ((x (next)))
         (unless (done? x)
           body ...
           (loop (next))))))))

;;;; Queens: all solutions, produced one at a time

(define (queens n)
  (generator (yield)
    (let place ((column 0) (rows '()))
      (if (= column n)
          (yield rows)
          (do ((row 0 (+ row 1))) ((= row n))
            (if (let safe? ((rows rows) (distance 1))
                  (or (null? rows)
                      (and (not (= (car rows) row))
                           (not (= (abs (- (car rows) row)) distance))
                           (safe? (cdr rows) (+ distance 1)))))
                (place (+ column 1) (cons row rows))))))))

(define (count g)
  (let ((n 0))
    (for x in g (set! n (+ n 1)))
    n))

(display "first solution for ten queens: ")
(write ((queens 10)))
(newline)
(do ((n 4 (+ n 1))) ((= n 9))
  (display n)
  (display " queens: ")
  (display (count (queens n)))
  (display " solutions")
  (newline))

;;;; Trees: do two of different shapes have the same leaves? Stops at the first difference.

(define (leaves tree)
  (generator (yield)
    (let walk ((tree tree))
      (cond
        ((null? tree) #f)
        ((pair? tree)
         (walk (car tree))
         (walk (cdr tree)))
        (else (yield tree))))))

(define (same-leaves? a b)
  (let ((a (leaves a)) (b (leaves b)))
    (let loop ()
      (let ((x (a)) (y (b)))
        (and (eqv? x y)
             (or (done? x) (loop)))))))

(write (same-leaves? '(((1 2) 3) (4 (5))) '(1 (2 (3 (4 (5)))))))
(newline)
(write (same-leaves? '(((1 2) 3) (4 (5))) '(1 (2 (3 (5 (4)))))))
(newline)

;;;; Pipelines of infinite generators: primes by trial division

(define (from n)
  (generator (yield)
    (let loop ((n n))
      (yield n)
      (loop (+ n 1)))))

(define (without-multiples p g)
  (generator (yield)
    (for x in g
      (unless (= 0 (modulo x p))
        (yield x)))))

(define (primes)
  (generator (yield)
    (let loop ((g (from 2)))
      (let ((p (g)))
        (yield p)
        (loop (without-multiples p g))))))

(let ((next (primes)))
  (do ((i 0 (+ i 1))) ((= i 40))
    (display (next))
    (display (if (= (modulo i 10) 9) "\n" " "))))

;;;; Threads: round robin over continuations

(define queue '())
(define (enqueue! thunk) (set! queue (append queue (list thunk))))
(define (run-next!)
  (let ((thunk (car queue)))
    (set! queue (cdr queue))
    (thunk)))
(define (pause)
  (call/cc
   (lambda (k)
     (enqueue! (lambda () (k #f)))
     (run-next!))))
(define (spawn name steps)
  (enqueue!
   (lambda ()
     (do ((i 1 (+ i 1))) ((> i steps))
       (display name)
       (display i)
       (display " ")
       (pause))
     (run-next!))))

(call/cc
 (lambda (finished)
   (spawn "a" 3)
   (spawn "b" 5)
   (spawn "c" 2)
   (enqueue! (letrec ((check (lambda ()
                               (if (null? queue)
                                   (finished #f)
                                   (begin
                                     (enqueue! check)
                                     (run-next!))))))
               check))
   (run-next!)))
(newline)
