; Tests of hygiene that other expanders have failed.
; a pattern variable named like a keyword of the template
(define-syntax m1 (syntax-rules () ((_ if) (cond (if 'yes) (else 'no)))))
(m1 #t)
; the macro's own name as a pattern variable, and as a literal
(define-syntax m2 (syntax-rules () ((m2 m2) 'm2)))
(m2 x)
; a local macro that expands to a definition of what it is given, twice
(let ()
  (define-syntax def (syntax-rules () ((_ n v) (define n v))))
  (def a 1)
  (def b a)
  (list a b))
; internal definition shadows a macro used earlier in a lambda of the same body
(let ()
  (define (f) (g 1))
  (define-syntax g (syntax-rules () ((_ x) 'macro)))
  (f))
; a macro that expands to a macro use whose literal it inserts
(define-syntax my-cond (syntax-rules (else) ((_) #f) ((_ (else e)) e) ((_ (t e) c ...) (if t e (my-cond c ...)))))
(define-syntax use-my-cond (syntax-rules () ((_ a b) (my-cond (a 1) (else b)))))
(let ((else #f)) (use-my-cond #f 2))
; and one where the user's shadowed else must not match
(let ((else #t)) (my-cond (#f 1) (else 2) (#t 3)))
; renamed imports are still the keyword
(import (rename (only (scheme base) if else cond) (if when-true) (else otherwise) (cond choose)))
(choose ((when-true #t #f) 1) (otherwise 2))
; the same symbol as variable, macro and data at three levels
(let ((x 1))
  (let-syntax ((x-of (syntax-rules () ((_ x) (list x 'x)))))
    (let ((x 2)) (x-of (let ((x 3)) x)))))
; a macro-defining macro whose inner template mentions the outer pattern variable under an escape
(define-syntax make-lister (syntax-rules () ((_ name tag) (define-syntax name (syntax-rules () ((_ x (... ...)) (list 'tag x (... ...) 'tag)))))))
(make-lister lister end)
(lister 1 2)
; bindings introduced at different steps of one recursive expansion are different
(define-syntax my-let*-reverse (syntax-rules () ((_ () acc body) (let acc body)) ((_ (e . r) (b ...) body) (my-let*-reverse r ((tmp e) b ...) (list tmp body)))))
(my-let*-reverse (1 2 3) () 'end)
; a vector pattern in a literal position, improper tails after an ellipsis
(define-syntax v (syntax-rules () ((_ #(a ... z) (b ... . c)) '((a ...) z (b ...) c))))
(v #(1 2 3) (4 5 . 6))
(v #(1) 7)
; an identifier bound by do and named let inside of templates
(define-syntax repeat (syntax-rules () ((_ n e) (do ((i 0 (+ i 1))) ((= i n)) e))))
(let ((i 'user) (+ 'plus)) (repeat 3 (display (list i +))))
; nested quasiquotation in templates
(define-syntax qq (syntax-rules () ((_ x ...) `(begin ,x ... `(,,(car '(x ...)))))))
(qq 1 2)
