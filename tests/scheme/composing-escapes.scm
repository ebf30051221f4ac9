;;; What escapes.scm does, in a program with prompts: frames may go on elsewhere, so fewer captures are returns.
(import (scheme base) (scheme case-lambda) (scheme write) (cairn control))
(include "include/escapes.scm")

;;;; Where frames go on elsewhere, the old place is still where they lead

(define (composed)
  (let ((c #f) (n 0))
    (list
     (reset
      (list 'old
            (call/cc
             (lambda (k)
               (let ((x (hide (shift s (begin (set! c s) (s 1))))))
                 (if (> x 1) (k (list 'out x)) (list 'in x)))))))
     (if (< n 1) (begin (set! n 1) (reset (list 'new (c 2)))) 'end))))
(show 'composed (composed))

(define (in-generator)
  (let ((g (make-coroutine-generator
            (lambda (yield)
              (yield (call/cc (lambda (k) (for-each (lambda (x) (yield x) (if (> x 1) (k 'left))) '(1 2 3)) 'end)))))))
    (let* ((a (g)) (b (list (g))) (c (vector (g))))
      (list a b c (eof-object? (g))))))
(show 'in-generator (in-generator))
