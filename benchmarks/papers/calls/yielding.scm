;;; Yielding: a generator that walks a tree and hands out its leaves one by one, so often. Each step captures two
;;; continuations, the generator's and its consumer's, and enters one.
(import (scheme base) (scheme write) (scheme process-context))

(define (tree n) (if (= n 0) 1 (cons (tree (- n 1)) (tree (- n 1)))))

(define (make-generator walk)
  (define return #f)
  (define (yield value)
    (call-with-current-continuation
      (lambda (k) (set! resume k) (return value))))
  (define resume (lambda (ignored) (walk yield) (return #f)))
  (lambda ()
    (call-with-current-continuation
      (lambda (k) (set! return k) (resume #f)))))

(define (walk-leaves tree yield)
  (if (pair? tree)
      (begin (walk-leaves (car tree) yield) (walk-leaves (cdr tree) yield))
      (yield tree)))

(define (main times)
  (let ((t (tree 10)))
    (let loop ((i 0) (sum 0))
      (if (< i times)
          (let ((next (make-generator (lambda (yield) (walk-leaves t yield)))))
            (let count ((sum sum))
              (let ((value (next)))
                (if value (count (+ sum value)) (loop (+ i 1) sum)))))
          (begin (write sum) (newline))))))

(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 4))
