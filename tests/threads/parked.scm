;; Many threads and coroutines wait, each below some frames, while the main thread makes garbage, as much as the
;; argument says.
(import (scheme base) (scheme write) (scheme process-context) (cairn thread) (cairn control))

(define gate (make-mvar))
(define (wait-below n) (if (= n 0) (mvar-read gate) (+ 1 (wait-below (- n 1)))))
(define (spawn-all n)
  (if (= n 0) '() (let ((t (spawn (lambda () (wait-below 20))))) (cons t (spawn-all (- n 1))))))

(define (yield-below n yield) (if (= n 0) (begin (yield 'first) 0) (+ 1 (yield-below (- n 1) yield))))
(define (generators n)
  (if (= n 0)
      '()
      (let ((g (make-coroutine-generator (lambda (yield) (yield (yield-below 20 yield))))))
        (g)
        (cons g (generators (- n 1))))))

(define (work n sum) (if (= n 0) sum (work (- n 1) (+ sum (length (list n n n n n n n n n n n n n n n n))))))

(define threads (spawn-all 2000))
(thread-yield!)
(define coroutines (generators 2000))
(define result (work (string->number (cadr (command-line))) 0))
(mvar-put! gate 0)
(write (list result (apply + (map thread-join! threads)) (apply + (map (lambda (g) (g)) coroutines))))
(newline)
