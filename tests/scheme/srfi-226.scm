;; SRFI 226: continuations up to prompts, barriers, continuation marks.
(import (except (scheme base) call/cc call-with-current-continuation) (scheme write)
        (srfi 226 control prompts) (srfi 226 control continuations) (srfi 226 control shift-reset)
        (srfi 226 control inspection) (srfi 226 control continuation-marks)
        (prefix (only (scheme base) call/cc) whole-))
(include "include/check.scm")

(define call/nc call-with-non-composable-continuation)
(define call/comp call-with-composable-continuation)
(define abort abort-current-continuation)
(define call/barrier call-with-continuation-barrier)
(define a (make-continuation-prompt-tag 'a))
(define b (make-continuation-prompt-tag 'b))
(define-syntax at (syntax-rules () ((_ tag e ...) (call-with-continuation-prompt (lambda () e ...) tag))))
(define-syntax violation-of
  (syntax-rules ()
    ((_ e) (guard (c ((continuation-violation? c) (list 'violation (continuation-violation-prompt-tag c)))) e))))
(define log '())
(define (note x) (set! log (cons x log)))
(define-syntax logged
  (syntax-rules () ((_ e) (begin (set! log '()) (let ((x e)) (list x (reverse log)))))))
(define-syntax wound
  (syntax-rules () ((_ in out e ...) (dynamic-wind (lambda () (note 'in)) (lambda () e ...) (lambda () (note 'out))))))

;; prompts
(check (at a (+ 1 (abort a (lambda () (at a (* 2 (abort a (lambda () 7)))))))) => 7)
(check (call-with-continuation-prompt (lambda () (+ 1 (abort a 1 2 3))) a list) => '(1 2 3))
(check (call-with-continuation-prompt (lambda () (abort a (lambda () (abort a (lambda () 5))))) a #f) => 5)
(check (eq? a (cadr (violation-of (at b (abort a))))) => #t)
(check (continuation-violation? 5) => #f)
(check (continuation-violation-prompt-tag (make-continuation-violation b)) => b)
(check (error-object? (make-continuation-violation b)) => #t)
(check (equal? (make-continuation-prompt-tag) (make-continuation-prompt-tag)) => #f)

;; a non-composable continuation replaces what is up to the prompt it is called under
(check (at a (* 3 (call/nc (lambda (k) (+ 100 (k 5))) a))) => 15)
(check (* 2 (at a (* 3 (call/nc
                        (lambda (k) (+ 100 (at a (+ 1000 (k 5))))) a))))
       => 690)
;; a composable one, nothing
(check (* 2 (at a (* 3 (call/comp (lambda (k) (+ 100 (at a (+ 1000 (k 5))))) a)))) => 6690)
;; after its prompt has been left, under another one
(define saved #f)
(check (at a (+ 1 (call/nc (lambda (k) (set! saved k) 1) a))) => 2)
(check (list (at a (* 100 (saved 10))) (at a (saved 20))) => '(11 21))
(check (eq? a (cadr (violation-of (saved 1)))) => #t)
(check (call-with-values (lambda () (at a (call/nc (lambda (k) (k 1 2 3)) a))) list)
       => '(1 2 3))
(check (call-with-values (lambda () (at a (call/nc (lambda (k) (k)) a))) list) => '())
;; call/cc is up to the default prompt
(check (+ 1 (reset (+ 10 (call/cc (lambda (k) (+ 100 (reset (k 5)))))))) => 126)
;; the prompt of another tag goes along
(check (at a (+ 1 (at b (+ 10 (call/nc
                               (lambda (k) (+ 100 (abort b (lambda () (k 1000))))) a)))))
       => 1011)
;; outside of all prompts it is the whole one
(check (call/cc (lambda (k) (+ 1 (reset (+ 1 (k 5)))))) => 5)
(check (let ((n 0) (again #f))
         (call/cc (lambda (k) (set! again k)))
         (set! n (+ n 1))
         (if (< n 4) (again #f) n))
       => 4)
;; loops in constant space
(check (at a (let ((n 0) (again #f))
               (call/nc (lambda (k) (set! again k)) a)
               (set! n (+ n 1))
               (if (< n 2000) (again #f) n)))
       => 2000)

;; winders that are shared stay, others are left and entered
(check (logged (at a (wound in out (+ 1 (call/nc (lambda (k) (k 1)) a))))) => '(2 (in out)))
(check (logged (at a (wound in out (+ 1 (call/nc (lambda (k) (at a (k 1))) a)))))
       => '(3 (in in out out)))
(check (logged (let ((k (at a (wound in out (call/nc values a))))) (if (procedure? k) (at a (k 7)) k)))
       => '(7 (in out in out)))
(define p (make-parameter 0))
(define with-p #f)
(check (at a (parameterize ((p 1)) (list (p) (call/comp (lambda (k) (set! with-p k) (p)) a) (p))))
       => '(1 1 1))
(check (parameterize ((p 5)) (with-p (p))) => '(1 5 1))
(check (list (p) (parameterize ((p 5)) (call-in-continuation with-p (lambda () (p))))) => '(0 (1 1 1)))

;; into continuations
(check (call/cc (lambda (k) (+ 1 (call-in k * 6 7)))) => 42)
(check (call-with-values (lambda () (call/cc (lambda (k) (+ 1 (return-to k 1 2))))) list) => '(1 2))
(check (at a (+ 1 (call/comp (lambda (k) (* 2 (call-in-continuation k + 3 4))) a))) => 17)
(check (whole-call/cc (lambda (k) (+ 1 (call-in k (lambda () (p)))))) => 0)
(check (parameterize ((p 1)) (call/cc (lambda (k) (parameterize ((p 2)) (call-in k (lambda () (p))))))) => 1)
(check (guard (e (#t (error-object-message e))) (call-in with-p list))
       => "call-in: expected a non-composable continuation, got")
(check (guard (e (#t (error-object-message e))) (call-in-continuation car list))
       => "call-in-continuation: expected a continuation, got")
;; the exception handler is that of the continuation
(check (with-exception-handler
         (lambda (e) 10)
         (lambda ()
           (call/cc (lambda (k) (with-exception-handler (lambda (e) 20) (lambda () (call-in k raise-continuable 0)))))))
       => 10)

;; what is a continuation?
(check (map continuation? (list car 5 (call/cc values) (whole-call/cc values) with-p saved (lambda () 1)))
       => '(#f #f #t #t #t #t #f))
(check (map non-composable-continuation? (list car 5 (call/cc values) (whole-call/cc values) with-p saved))
       => '(#f #f #t #t #f #t))
(check (map (lambda (k) (map (lambda (tag) (continuation-prompt-available? tag k)) (list a b)))
            (at b (at a (list (call/cc values) (call/nc values a)
                              (call/comp values a) (call/comp values b)))))
       => '((#t #t) (#t #f) (#f #f) (#t #f)))
(check (at b (map continuation-prompt-available? (list a b))) => '(#f #t))
(check (continuation-prompt-available? (default-continuation-prompt-tag) (call/cc values)) => #t)

;; barriers
(check (call/barrier (lambda () (call/cc (lambda (k) (+ 100 (k 3)))))) => 3)
(check (call/cc (lambda (k) (call/barrier (lambda () (+ 1 (k 'left)))))) => 'left)
(check (violation-of ((call/barrier (lambda () (call/cc values))))) => '(violation #f))
(check (violation-of (at a ((call/barrier (lambda () (call/nc values a))))))
       => '(violation #f))
(check (eq? a (cadr (violation-of (at a (call/barrier (lambda () (call/comp values a)))))))
       => #t)
(check (car (violation-of (reset (+ 1 (call/barrier (lambda () (shift k 1))))))) => 'violation)
(check (at b (call/barrier (lambda () (at a (+ 1 (call/comp (lambda (k) (k 1)) a)))))) => 3)
(check (let* ((x 1) (y (unwind-protect (+ x 1) (set! x 10) (set! x (+ x 1))))) (list x y)) => '(11 2))
(check (let* ((x 1) (y (call/cc (lambda (k) (unwind-protect (k 5) (set! x 10)))))) (list x y)) => '(10 5))
(check (let* ((x 1) (y (at a (unwind-protect (abort a (lambda () 5)) (set! x (+ x 1)))))) (list x y))
       => '(2 5))

;; marks
;; a call in (kept (list call)) is not in tail position, whatever the optimizer knows of lists
(define kept #f)
(set! kept (lambda (l) (if (pair? l) (car l) l)))
(define-syntax marked (syntax-rules () ((_ k v e) (with-continuation-mark k v e))))
(define (marks . keys) (continuation-mark-set->list* #f keys))
(define (marks-of key) (continuation-mark-set->list #f key))
(check (marked 'k 1 (call-with-immediate-continuation-mark 'k list)) => '(1))
(check (marked 'k 1 (marked 'k 2 (marked 'j 3 (call-with-immediate-continuation-mark 'k list)))) => '(2))
(check (marked 'k 1 (list (call-with-immediate-continuation-mark 'k values))) => '(#f))
(check (marked 'k 1 (at a (call-with-immediate-continuation-mark 'k values 'none))) => 'none)
(check (marked 'k 1 (list 'x (marked 'k 2 (list (marks-of 'k))))) => '(x ((2 1))))
(check (with-continuation-marks (('k 1) ('j 2)) (list (marks 'k 'j))) => '((#(1 2))))
(check (marked 'j 1 (marked 'k 2 (kept (list (marked 'm 3 (kept (list (marked 'k 4 (marks 'j 'k)))))))))
       => '(#(#f 4) #(1 2)))
;; keys are compared by eqv?
(check (marked 1.5 'x (marks-of 1.5)) => '(x))
;; tail positions: one frame, constant space
(define (count n) (if (= n 0) (marks-of 'n) (marked 'n n (count (- n 1)))))
(check (count 100000) => '(1))
(define (deep n) (if (= n 0) (marks-of 'n) (marked 'n n (let ((r (deep (- n 1)))) (if (pair? r) r 0)))))
(check (deep 5) => '(1 2 3 4 5))
(check (length (deep 3000)) => 3000)
;; with exceptions, winders and parameters in between
(check (marked 'k 1 (parameterize ((p 1)) (marked 'k 2
         (guard (e (#t (list e (marks-of 'k)))) (marked 'k 3 (raise 'x))))))
       => '(x (2 1)))
(check (with-exception-handler
         (lambda (e) (marks-of 'k))
         (lambda () (marked 'k 1 (kept (list (marked 'k 2 (kept (list (raise-continuable 0)))))))))
       => '(2 1))
(check (marked 'k 1 (kept (list (dynamic-wind (lambda () #f) (lambda () (marked 'k 2 (marks-of 'k))) (lambda () #f)))))
       => '(2 1))
;; prompts
(check (marked 'k 1 (at a (marked 'k 2 (continuation-mark-set->list #f 'k a)))) => '(2))
(check (marked 'k 1 (at a (marked 'k 2 (continuation-mark-set->list #f 'k)))) => '(2 1))
(check (marked 'k 1 (reset (marked 'k 2 (marks-of 'k)))) => '(2))
(check (marked 'k 1 (at a (marked 'k 2 (continuation-mark-set->list (current-continuation-marks) 'k a)))) => '(2))
(check (eq? a (cadr (violation-of (continuation-mark-set->list #f 'k a)))) => #t)
;; marks go with continuations
(define with-mark (at a (marked 'k 1 (kept (list (call/comp values a))))))
(define mark-taker (at a (marked 'k 1 (kept (list ((call/comp (lambda (k) (lambda () k)) a)))))))
(check (marked 'k 2 (kept (list (call-in-continuation mark-taker (lambda () (let ((m (marks-of 'k))) (lambda () m)))))))
       => '(1 2))
(check (continuation-mark-set->list (continuation-marks with-mark a) 'k a) => '(1))
(check (continuation-mark-set-first (continuation-marks (marked 'k 7 (kept (list (call/cc values))))) 'k) => 7)
(check (continuation-mark-set-first (continuation-marks (marked 'k 7 (at a (call/cc values)))) 'k) => 7)
(check (eq? b (cadr (violation-of (continuation-marks with-mark b)))) => #t)
(check (let ((r '()))
         (let ((k (marked 'k 1 (kept (list (call/cc values))))))
           (set! r (cons (marks-of 'k) r))
           (if (procedure? k) (marked 'k 2 (kept (list (call-in k (lambda () (set! r (cons (marks-of 'k) r)) #f)))))))
         r)
       => '(() (1) ()))
;; first, default, iterators, sets
(check (marked 'k 1 (kept (list (marked 'j 2 (map (lambda (k) (continuation-mark-set-first #f k 'none)) '(k j m))))))
       => '(1 2 none))
(define set
  (marked 'k 1 (kept (list (marked 'j 2 (kept (list (marked 'k 3 (kept (list (current-continuation-marks)))))))))))
(check (map continuation-mark-set? (list set #f)) => '(#t #f))
(check (continuation-mark-set->list* set '(k j) 0) => '(#(3 0) #(0 2) #(1 0)))
(check (let loop ((next (continuation-mark-set->iterator set '(k))))
         (let-values (((marks next) (next))) (if marks (cons marks (loop next)) (guard (e (#t 'end)) (next)))))
       => '(#(3) #(1) . end))
(check (let ((key (make-continuation-mark-key 'name)))
         (list (continuation-mark-key? key) (marked key 1 (marks-of key))))
       => '(#t (1)))
(check (map continuation-mark-key? '(5 name)) => '(#f #f))
;; a mark is taken off by leaving
(check (list (marked 'k 1 (+ 1 1)) (marks-of 'k)) => '(2 ()))
(check (call-with-values (lambda () (marked 'k 1 (values 1 2))) list) => '(1 2))
(check (list (call/cc (lambda (k) (marked 'k 1 (list (k 5))))) (marks-of 'k)) => '(5 ()))

;; shift and reset
(check (+ 1 (reset (* 2 (shift k (k (k 4)))))) => 17)
(check (+ 1 (reset-at a (* 2 (shift-at a k (+ (k 1) (k 2)))))) => 7)
(report)
