;; A thread is interrupted at each safepoint in turn, and what it does then is captured up to a prompt, dropped, and
;; done later, in a prompt somewhere else.  What is around the prompt must not be done again, nor twice.
(import (scheme base) (scheme write) (cairn thread) (cairn control) (only (cairn scheduler) tick-at!)
        (only (srfi 226 continuation-mark) with-continuation-mark call-with-immediate-continuation-mark)
        (rename (only (srfi 226 continuation) call/cc) (call/cc 226:call/cc)))

(define tag (make-continuation-prompt-tag 'run))
(define inner (make-continuation-prompt-tag 'inner))
(define key (list 'key))
(define ask (make-effect 'ask))
(define p (make-parameter 0))

;; Runs `thunk`, whose rest is done in another prompt if it is interrupted in `tag`.
(define (run thunk note)
  (let ((x (dynamic-wind
             (lambda () (note 'in))
             (lambda () (call-with-continuation-prompt thunk tag (lambda (k) (cons key k))))
             (lambda () (note 'out)))))
    (if (and (pair? x) (eq? (car x) key))
        (run (lambda () ((cdr x) #f)) note)
        x)))

(define (pause)
  (if (continuation-prompt-available? tag)
      (call-with-composable-continuation (lambda (k) (abort-current-continuation tag k)) tag)))

;; What is done in the prompt; its value is 6, whatever happens.
(define scenarios
  (list
    (cons 'plain (lambda () (+ 1 (car (list 5)))))
    (cons 'prompts (lambda ()
                     (+ 1 (call-with-continuation-prompt
                            (lambda () (+ 1 (call-with-continuation-prompt (lambda () 4) inner)))
                            inner))))
    (cons 'abort (lambda ()
                   (+ 1 (call-with-continuation-prompt
                          (lambda () (winding (lambda () (+ 100 (abort-current-continuation inner 5)))))
                          inner
                          (lambda (x) x)))))
    (cons 'shift (lambda () (reset (+ 1 (shift k (+ (k 1) (k 1) 2))))))
    (cons 'control (lambda () (call-with-continuation-prompt (lambda () (+ 1 (control k (k (k 4))))))))
    (cons 'unwind (lambda () (with-unwind-handler (lambda (x k) (k (+ x 1))) (lambda () (+ 1 (raise-continuable 4))))))
    (cons 'guard (lambda () (+ 1 (guard (e ((eqv? e 5) e)) (guard (e ((eqv? e 4) e)) (raise 5))))))
    (cons 'handler (lambda () (with-exception-handler (lambda (x) (+ x 1)) (lambda () (+ 1 (raise-continuable 4))))))
    (cons 'parameter (lambda () (+ (p) (parameterize ((p 4)) (p)) (parameterize ((p 1)) (parameterize ((p 2)) (p))))))
    (cons 'guard-winder (lambda () (+ 1 (guard (e ((eqv? e 5) e)) (winding (lambda () (raise 5)))))))
    (cons 'unwind-winder (lambda ()
                           (with-unwind-handler (lambda (x k) (k (+ x 1)))
                             (lambda () (winding (lambda () (+ 1 (raise-continuable 4))))))))
    (cons 'shift-winder (lambda () (reset (+ 1 (winding (lambda () (shift k (+ (k 1) (k 1) 2))))))))
    (cons 'capture (lambda ()
                     (call-with-prompt inner
                       (lambda () (+ 1 (winding (lambda () (abort-to-prompt inner 4)))))
                       (lambda (k x) (+ 1 (k x))))))
    (cons 'effect (lambda ()
                    (with-handler ((ask (k) (k 4)) (return (x) (+ x 1)))
                      (+ 1 (winding ask)))))
    (cons 'marks (lambda ()
                   (with-continuation-mark key 4
                     (+ 1 (with-continuation-mark key 4
                            (with-continuation-mark key 5
                              (call-with-immediate-continuation-mark key (lambda (x) x))))))))
    (cons 'continuation (lambda ()
                          (+ 1 (call-with-continuation-prompt
                                 (lambda () (226:call/cc (lambda (k) (winding (lambda () (k 5))))))))))))

(define (winding thunk)
  (dynamic-wind (lambda () #f) thunk (lambda () #f)))

(define most 1000000)
(define (trial thunk k)
  (let* ((events '())
         (note (lambda (x) (set! events (cons x events))))
         (go (make-mvar))
         (victim (make-thread (lambda () (run thunk note))))
         (other (spawn (lambda () (if (mvar-take! go) (thread-interrupt! victim pause))))))
    (thread-yield!)                     ; the other one waits
    (tick-at! k (lambda () (mvar-put! go #t) (thread-yield!)))
    (thread-start! victim)
    (let* ((x (guard (e (#t (list 'raised e))) (thread-join! victim)))
           (left (tick-at! 0 #f)))
      (mvar-try-put! go #f)
      (guard (e (#t #f)) (thread-join! other))
      (values left x (reverse events)))))

;; Says the result, whether it was captured anywhere, and what was wrong.
(define (every-safepoint name thunk)
  (let-values (((left x events) (trial thunk most)))
    (let loop ((k 1) (captured #f) (wrong '()))
      (if (<= k (+ 2 (- most left)))
          (let-values (((left x events) (trial thunk k)))
            (loop (+ k 1)
                  (or captured (equal? events '(in out in out)))
                  (if (and (equal? x 6) (member events '((in out) (in out in out))))
                      wrong
                      (cons (list k x events) wrong))))
          (begin
            (write (list name x events (if captured 'captured 'never) (reverse wrong)))
            (newline))))))

(for-each (lambda (s) (every-safepoint (car s) (cdr s))) scenarios)
