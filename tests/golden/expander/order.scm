; a macro may be defined after the procedure that uses it, in a body too
(define (f x) (later x))
(define-syntax later (syntax-rules () ((_ x) (car x))))
(let () (define (f) (m 1)) (define-syntax m (syntax-rules () ((_ x) 'x))) (f))
; begin splices, macros that produce definitions
(begin (define a 1) (begin (define b a)))
(define-syntax defs (syntax-rules () ((_ (n v) ...) (begin (define n v) ...))))
(let () (defs (x 1) (y x)) (+ x y))
(defs (x 1) (y x))
; a local variable shadows a macro and a keyword
(let ((later 1)) (later 2))
(let ((define 1)) (define a 2))
(define (g quote) 'x)
; guard, parameterize, delay, case-lambda
(guard (e ((eq? e 1) 'one) ((null? e) => list)) (display 1))
(guard (e (else 2)) 1 2)
(parameterize ((a 1) (b 2)) (define c 3) c)
(parameterize () 1)
(cond-expand ((and cairn (not foo) (or bar r7rs) (library (scheme base))) 'cairn) (else 'other))
(cond-expand ((library (no where)) 1) (full-unicode 2))
