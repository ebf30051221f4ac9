;;; Programs that begin evaluated and become native while they run (`--opt=auto`) do the same as compiled ones.  The
;;; counts are large enough for that to happen in the middle of everything.
(import (scheme base) (scheme write) (scheme case-lambda))

(define (show . items)
  (for-each (lambda (x) (display x) (display " ")) items)
  (newline))

;; A loop that is running becomes native; so do the loops around it and in it.
(define total 0)
(do ((i 0 (+ i 1)))
    ((= i 30000))
  (set! total (+ total 1)))
(show 'do total)
(show 'nested
      (let outer ((i 0) (sum 0))
        (if (= i 100)
            sum
            (outer (+ i 1)
                   (let inner ((j 0) (sum sum))
                     (if (= j 300) sum (inner (+ j 1) (+ sum (* i j)))))))))

;; Procedures stay the same for eq? when their code is replaced; so do constants and members of groups.
(define (f x) (if (= x 0) f (f (- x 1))))
(define before f)
(define (tag) '(tag))
(define tag-before (tag))
(define (empty) "")
(define empty-before (empty))
(define-values (even odd seen)
  (let ((n 0))
    (define (even i) (set! n (+ n 1)) (if (= i 0) odd (odd (- i 1))))
    (define (odd i) (if (= i 0) even (even (- i 1))))
    (values even odd (lambda () n))))
(show 'same (eq? (f 20000) before) (eq? f before) (eq? (even 20000) odd) (eq? (even 20001) even) (seen)
      (eq? (tag) tag-before) (eq? (empty) empty-before))

;; Variables that are assigned, from both sides.
(define count 0)
(define (count!) (set! count (+ count 1)) count)
(define (twice g) (g) (g))
(do ((i 0 (+ i 1))) ((= i 10000)) (twice count!))
(set! count (+ count 1))
(show 'count count (count!))

;; What is defined later, and redefined.
(define (later-user n) (if (= n 0) (later) (later-user (- n 1))))
(define (later) 'first)
(show (later-user 5000))
(define (later) 'second)
(show (later-user 5000))
(set! later (lambda () 'third))
(show (later-user 5000))

;; Unbound variables are noticed by native code.
(define (use-unbound n)
  (if (= n 0)
      (guard (e (#t 'unbound)) not-yet)
      (use-unbound (- n 1))))
(show (use-unbound 5000))
(define not-yet 'bound)
(show (use-unbound 5000))

;; Continuations cross tiers: generators, escapes, entering the top level again.
(define k #f)
(define entered 0)
(show 'entered (call/cc (lambda (c) (set! k c) 0)))
(set! entered (+ entered 1))
(let loop ((i 0)) (if (< i 5000) (loop (+ i 1))))
(if (< entered 4) (k entered))
(define (find-first p l)
  (call/cc (lambda (return) (for-each (lambda (x) (if (p x) (return x))) l) #f)))
(define numbers (let loop ((i 0) (l '())) (if (= i 200) (reverse l) (loop (+ i 1) (cons i l)))))
(show 'escape
      (let loop ((i 0) (sum 0))
        (if (= i 200) sum (loop (+ i 1) (+ sum (find-first (lambda (x) (>= x i)) numbers))))))

;; Closures that evaluated code made share boxes with those of native code.
(define (counter)
  (let ((n 0))
    (case-lambda
      (() (set! n (+ n 1)) n)
      ((m) (set! n (+ n m)) n)
      ((a . more) (set! n (+ a n)) (cons n more)))))
(define c1 (counter))
(do ((i 0 (+ i 1))) ((= i 5000)) (c1) (c1 2))
(define c2 (counter))
(c2)
(show 'closures (c1) (c2 5) (c1 1 2 3))

;; Many arguments, rest arguments, several values.
(define (many a b c d e . more) (list a b c d e more))
(define (sum-all . l) (apply + l))
(define (both a b) (values (+ a b) (* a b)))
(show (let loop ((i 0) (last #f))
        (if (= i 5000)
            last
            (loop (+ i 1)
                  (let-values (((s p) (both i 2)))
                    (list (many 1 2 3 4 5 6 i) (sum-all 1 2 i) s p))))))

;; Deep recursion, begun by evaluated code.
(define (deep n) (if (= n 0) 0 (+ 1 (deep (- n 1)))))
(show (deep 50000))

;; Handlers and parameters.
(define p (make-parameter 10))
(define (guarded i)
  (guard (e ((symbol? e) (list e (p))) ((string? e) 'string))
    (parameterize ((p i))
      (if (even? i) (raise 'even) (raise "odd")))))
(show (let loop ((i 0) (l '())) (if (= i 3000) l (loop (+ i 1) (guarded i)))))
(show (guarded 2) (dynamic-wind (lambda () #f) (lambda () (guarded 3)) (lambda () #f)))
