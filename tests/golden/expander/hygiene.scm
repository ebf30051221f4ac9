; swap! with a captured name
(define-syntax swap! (syntax-rules () ((_ a b) (let ((tmp a)) (set! a b) (set! b tmp)))))
(let ((tmp 1) (other 2)) (swap! tmp other) (list tmp other))
; my-or with t
(define-syntax my-or (syntax-rules () ((_) #f) ((_ e) e) ((_ e r ...) (let ((t e)) (if t t (my-or r ...))))))
(let ((t 5)) (my-or #f t))
; shadowed if, else, =>
(let ((if list)) (my-or 1 2))
(let ((else #f)) (cond (else 1)))
(let ((=> #f)) (cond (#t => 'ok)))
; literals by free-identifier=?
(define-syntax is-else (syntax-rules (else) ((_ else) 'yes) ((_ x) 'no)))
(list (is-else else) (let ((else 1)) (is-else else)))
; macro-defining macro
(define-syntax def-getter (syntax-rules () ((_ name value) (define-syntax name (syntax-rules () ((_) value))))))
(def-getter get-x x)
(define x 10)
(let ((x 20)) (get-x))
; nested ellipsis
(define-syntax my-let* (syntax-rules () ((_ () b ...) (let () b ...)) ((_ ((n v) . rest) b ...) (let ((n v)) (my-let* rest b ...)))))
(my-let* ((a 1) (b a)) (list a b))
(define-syntax flat (syntax-rules () ((_ (a b ...) ...) '((a ...) (b ... ...)))))
(flat (1 2 3) (4) (5 6))
(define-syntax dup (syntax-rules () ((_ x y ...) '((x y) ...))))
(dup 1 2 3)
(define-syntax outer (syntax-rules () ((_ (x ...) (y ...)) '((x y ...) ...))))
(outer (1 2) (a b c))
; tail patterns, vectors, dotted
(define-syntax last (syntax-rules () ((_ a ... z) 'z)))
(last 1 2 3)
(define-syntax tail (syntax-rules () ((_ a ... y z . r) '((a ...) y z r))))
(tail 1 2 3 4 . 5)
(define-syntax vec (syntax-rules () ((_ #(a b ...)) '(a #(b ...)))))
(vec #(1 2 3))
; custom ellipsis and escapes
(define-syntax be-like-begin (syntax-rules () ((_ name) (define-syntax name (syntax-rules () ((_ expr (... ...)) (begin expr (... ...))))))))
(be-like-begin sequence)
(sequence 1 2 3)
(define-syntax tuple (syntax-rules ::: () ((_ x :::) '(x ::: ...))))
(tuple 1 2)
; introduced definitions are invisible, given ones are not
(define-syntax def2 (syntax-rules () ((_ a) (begin (define hidden 1) (define a hidden)))))
(def2 seen)
(list seen hidden)
(let () (def2 inner) (def2 inner2) (list inner inner2))
; let-syntax and letrec-syntax
(let ((x 'outer)) (let-syntax ((m (syntax-rules () ((m) x)))) (let ((x 'inner)) (m))))
(letrec-syntax ((ev? (syntax-rules () ((_) #t) ((_ x . r) (od? . r)))) (od? (syntax-rules () ((_) #f) ((_ x . r) (ev? . r))))) (ev? 1 2 3))
; underscore and a macro that shadows a macro argument's binding
(define-syntax under (syntax-rules () ((_ _ x _) 'x)))
(under 1 2 3)
(define-syntax while2 (syntax-rules () ((_ c b ...) (let lp () (when c b ... (lp))))))
(let ((lp 3)) (while2 lp (display lp)))
