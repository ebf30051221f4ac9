#!r6rs
;; syntax-case in a program, in libraries, in bodies, with helpers of a library.  Chez Scheme prints the same.
(import (rnrs) (for (include helpers) run expand) (include macros))
(define-syntax show
  (syntax-rules () ((_ e ...) (begin (begin (write e) (newline)) ...))))
(define-syntax swap!
  (lambda (x)
    (syntax-case x ()
      [(_ a b) #'(let ([tmp a]) (set! a b) (set! b tmp))])))
(define tmp 1) (define other 2)
(swap! tmp other)
(show tmp other)
(define-syntax my-or2
  (lambda (x)
    (syntax-case x ()
      [(_ a b) #'(let ([t a]) (if t t b))])))
(show (let ([t 5]) (my-or2 #f t)))
(show (let ([if list]) (my-or2 1 2)))
;; fenders and literals
(define-syntax kind
  (lambda (x)
    (syntax-case x (=> else)
      [(_ (a => b)) #'(list 'arrow a b)]
      [(_ else) #''else]
      [(_ n) (identifier? #'n) #''identifier]
      [(_ n) (number? (syntax->datum #'n)) #''number]
      [(_ "s") #''the-string]
      [(_ #(a b ...)) #'(list 'vector a '(b ...))]
      [(_ (a . b)) #'(list 'pair 'a 'b)])))
(show (kind (1 => 2)) (kind else) (kind foo) (kind 12) (kind "s") (kind #(1 2 3)) (kind (x . y)) (kind (x y z)))
;; loops with break: datum->syntax
(define-syntax loop
  (lambda (x)
    (syntax-case x ()
      [(k e ...)
       (with-syntax ([break (datum->syntax #'k 'break)])
         #'(call/cc (lambda (break) (let f () e ... (f)))))])))
(show (let ([n 3] [ls '()]) (loop (if (= n 0) (break ls)) (set! ls (cons 'a ls)) (set! n (- n 1)))))
;; break made by another macro
(define-syntax twice-loop
  (syntax-rules () [(_ e) (loop e (break 'inner))]))
(show (twice-loop 1))
;; ellipsis depth, nested, tails
(define-syntax my-let*
  (lambda (x)
    (syntax-case x ()
      [(_ () b1 b2 ...) #'(let () b1 b2 ...)]
      [(_ ([i1 e1] [i2 e2] ...) b1 b2 ...) #'(let ([i1 e1]) (my-let* ([i2 e2] ...) b1 b2 ...))])))
(show (my-let* ([a 1] [b (+ a 1)] [c (* b 2)]) (list a b c)))
(define-syntax flat
  (lambda (x)
    (syntax-case x ()
      [(_ ((a b ...) ...) ... last) #'(list '(a ... ...) '((b ... ...) ...) 'last)])))
(show (flat ((1 2 3) (4 5)) ((6)) end))
(define-syntax tails
  (lambda (x)
    (syntax-case x ()
      [(_ a ... b c . d) #'(list '(a ...) 'b 'c 'd)])))
(show (tails 1 2 3 4 . 5) (tails 1 2))
;; escapes
(define-syntax be-like-begin
  (lambda (x)
    (syntax-case x ()
      [(_ name) #'(define-syntax name (lambda (x) (syntax-case x () [(_ expr (... ...)) #'(begin expr (... ...))])))])))
(be-like-begin sequence)
(show (sequence 1 2 3))
;; quasisyntax
(define-syntax numbered
  (lambda (x)
    (syntax-case x ()
      [(_ e ...)
       #`(list #,@(let f ([es #'(e ...)] [n 0])
                    (if (null? es) '() (cons #`(cons #,n #,(car es)) (f (cdr es) (+ n 1)))))
               'end #,(length #'(e ...)))])))
(show (numbered 'a 'b (+ 1 2)))
;; generate-temporaries
(define-syntax my-letrec
  (lambda (x)
    (syntax-case x ()
      [(_ ((i v) ...) e1 e2 ...)
       (with-syntax ([(t ...) (generate-temporaries #'(i ...))])
         #'(let ([i #f] ...) (let ([t v] ...) (set! i t) ... (let () e1 e2 ...))))])))
(show (my-letrec ([ev? (lambda (n) (or (= n 0) (od? (- n 1))))] [od? (lambda (n) (and (> n 0) (ev? (- n 1))))]) (ev? 10)))
;; variable transformers
(define-syntax p (identifier-syntax 4))
(show p (+ p 1))
(define-syntax ls (identifier-syntax list))
(show (ls 1 2) (map ls '(1)))
(define store (list 0))
(define-syntax cell (identifier-syntax [id (car store)] [(set! id v) (set-car2! store v)]))
(define (set-car2! l v) (set! store (list v)))
(set! cell 9)
(show cell (+ cell 1))
(define-syntax vt
  (make-variable-transformer
    (lambda (x)
      (syntax-case x (set!)
        [(set! _ e) #'(list 'assigned e)]
        [(_ a ...) #'(list 'called a ...)]
        [_ #''reference]))))
(show (set! vt 5) (vt 1 2) vt)
;; local macros
(define (f x)
  (define-syntax add-x (lambda (s) (syntax-case s () [(_ e) #'(+ x e)])))
  (let-syntax ([dbl (lambda (s) (syntax-case s () [(_ e) #'(* 2 e)]))])
    (define y (dbl x)))
  (letrec-syntax ([ev (lambda (s) (syntax-case s () [(_) #'#t] [(_ a b ...) #'(od b ...)]))]
                  [od (lambda (s) (syntax-case s () [(_) #'#f] [(_ a b ...) #'(ev b ...)]))])
    (list (add-x 1) y (ev 1 2) (ev 1))))
(show (f 10))
;; identifiers
(define-syntax same
  (lambda (x)
    (syntax-case x ()
      [(_ a b) #`(list #,(free-identifier=? #'a #'b) #,(bound-identifier=? #'a #'b) #,(free-identifier=? #'a #'car))])))
(show (same car car) (same car cdr) (same x x))
(define-syntax case-test (lambda (x) (syntax-case x () [(_ a) #'(same a tmp)])))
(show (case-test tmp))
;; helpers from a library, macros from a library
(show (reversed 1 2 3 list) (while-count 3) (my-if #t 1 2))
(define-syntax rev2 (lambda (x) (syntax-case x () [(_ e ...) (reverse-syntax #'(e ...))])))
(show (rev2 1 2 list))
(define-structure point x y)
(show (let ([p (make-point 1 2)]) (point-x-set! p 5) (list (point-x p) (point-y p) (point? p))))
;; at run time
(show (syntax->datum #'(a b (c #(d)))) (identifier? #'x) (identifier? 'x) (identifier? "x")
      (syntax-case '(1 2 3 4) () [(a b ...) (list (syntax->datum #'a) (syntax->datum #'(b ...)))])
      (syntax->datum (datum->syntax #'here '(x (y))))
      (map identifier? (generate-temporaries '(1 2)))
      (bound-identifier=? #'a #'a) (bound-identifier=? #'a #'b) (free-identifier=? #'car #'car)
      (syntax->datum #`(a #,(+ 1 2) #,@(list 4 5) b)))
(show (guard (e [(syntax-violation? e) (list (condition-message e) (syntax-violation-form e) (syntax-violation-subform e))])
        (syntax-violation 'me "bad" '(form x) 'x)))
