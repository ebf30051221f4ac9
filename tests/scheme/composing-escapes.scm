;;; What escapes.scm does, in a program with prompts: frames may go on elsewhere, so fewer captures are returns; and
;;; what guards do then.
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

;;;; Guards and handlers that are captured before they have decided, and go on elsewhere

(show 'test-captured
      (reset (guard (o (#t 'outer)) (guard (e ((shift k (list 'wrapped (k #f))) 1)) (raise 'x)))))
(show 'handler-captured
      (reset (guard (o (#t 'outer))
               (with-exception-handler (lambda (e) (shift k (list 'wrapped (k #f)))) (lambda () (raise 'x))))))
(show 'goes-back-to-the-raise
      (reset (with-exception-handler (lambda (e) 'v)
               (lambda () (guard (e ((shift k (list 'wrapped (k #f))) 1)) (list 'got (raise-continuable 'x)))))))
(define place (make-parameter 'nowhere))
(define-syntax under
  (syntax-rules ()
    ((_ name body)
     (parameterize ((place name)) (with-exception-handler (lambda (e) (list name e (place))) (lambda () body))))))
(define kept #f)
(define (later between)
  (under 'old (reset (guard (e ((shift k (set! kept k) 0) 'caught)) (between (lambda () (raise-continuable 'x))))))
  (list (under 'new (kept #f)) (under 'newer (kept #f)) (place)))
(show 'elsewhere-later (later (lambda (t) (list (t)))))
(define steps '())
(define (step x) (set! steps (cons x steps)))
(show 'elsewhere-later-inside
      (later (lambda (t) (dynamic-wind (lambda () (step 'in)) (lambda () (list (t))) (lambda () (step 'out)))))
      (reverse steps))
(show 'by-a-generator
      (let ((g (make-coroutine-generator
                (lambda (yield)
                  (guard (e (#t (yield (list 'outer (place)))))
                    (guard (e ((begin (yield 'test) #f) 1)) (raise 'x)))
                  (yield (place))))))
        (let* ((a (parameterize ((place 1)) (g))) (b (parameterize ((place 2)) (list (g) (place)))))
          (list a b (parameterize ((place 3)) (list (g) (place)))))))
