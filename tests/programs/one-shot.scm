;; One-shot continuations: escapes, coroutines that take turns, promotion, deep stacks, winders. Every line is computed
;; in two ways or has a known value.
(import (scheme base) (scheme write) (cairn control))

(define (show . xs) (for-each display xs) (newline))

;; returning and calling
(show (call/1cc (lambda (k) 1)) (call/1cc (lambda (k) (+ 1 (k 2)))) (+ 1 (call/1cc (lambda (k) (* 2 (k 2))))))
(call-with-values (lambda () (call/1cc (lambda (k) (k 1 2 3)))) (lambda xs (show xs)))
(call-with-values (lambda () (values 1 2 3 4 5 6 7)) (lambda xs (show xs)))
(show (call-with-values (lambda () (apply values '())) list))

;; deep stacks below and above
(define (deep n thunk) (if (= n 0) (thunk) (+ 1 (deep (- n 1) thunk))))
(show (deep 30000 (lambda () (call/1cc (lambda (k) (deep 30000 (lambda () (k 0))))))))
(show (deep 30000 (lambda () (guard (e ((symbol? e) 5)) (deep 30000 (lambda () (raise 'x)))))))
(show (deep 300 (lambda () (call/1cc (lambda (k) (deep 300 (lambda () (call/1cc (lambda (j) (deep 300 (lambda () (k 7)))))))))) ))

;; coroutines in one chunk, suspended at different depths of their recursion
(define (coroutine proc)
  (define return #f)
  (define resume #f)
  (define (yield x)
    (call/1cc (lambda (k) (set! resume k) (return x))))
  (lambda ()
    (call/1cc
     (lambda (k)
       (set! return k)
       (if resume
           (resume #t)
           (begin
             (proc yield)
             (set! resume (lambda (x) (return 'end)))
             (return 'end)))))))

(define (tree depth) (if (= depth 0) (list depth) (cons (tree (- depth 1)) (tree (- depth 1)))))
(define (walk tree yield)
  (if (pair? tree)
      (begin (walk (car tree) yield) (walk (cdr tree) yield))
      (yield tree)))
(define (same-fringe? a b)
  (let ((a (coroutine (lambda (yield) (walk a yield)))) (b (coroutine (lambda (yield) (walk b yield)))))
    (let loop ((n 0))
      (let ((x (a)) (y (b)))
        (cond ((not (eq? x y)) #f)
              ((eq? x 'end) n)
              (else (loop (+ n 1))))))))
(show (same-fringe? (tree 7) (tree 7)))
(show (same-fringe? (tree 3) (tree 4)))

;; many of them, each a frame deeper at each turn
(define (counter n)
  (coroutine (lambda (yield) (let loop ((i 0)) (yield (+ i n)) (+ 1 (loop (+ i 1)))))))
(define counters (let loop ((n 0)) (if (= n 40) '() (cons (counter n) (loop (+ n 1))))))
(show (let loop ((round 0) (sum 0))
        (if (= round 60)
            sum
            (loop (+ round 1) (apply + sum (map (lambda (c) (c)) counters))))))

;; a multi-shot capture above makes a one-shot continuation multi-shot
(define again #f)
(define count 0)
(show (call/1cc
       (lambda (k)
         (call/cc (lambda (m) (set! again m)))
         (set! count (+ count 1))
         (k count))))
(if (< count 3) (again 0))

;; winders
(define trace '())
(define (note x) (set! trace (cons x trace)))
(show (call/1cc (lambda (k) (dynamic-wind (lambda () (note 'in)) (lambda () (k 1)) (lambda () (note 'out))))) trace)

;; another continuation for a thunk
(define place #f)
(define turns 0)
(show (list ((call/cc (lambda (k) (set! place k) (lambda () 'first))))))
(set! turns (+ turns 1))
(if (< turns 3) (call-in place (lambda () (let ((n turns)) (lambda () n)))))
(show 'done)
