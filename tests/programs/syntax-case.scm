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
;; tables in transformers: of every kind, grown, with holes, copied, walked
(define-syntax counts
  (lambda (x)
    (syntax-case x ()
      ((_ datum ...)
       (let ((eqs (make-eq-hashtable)) (eqvs (make-eqv-hashtable))
             (equals (make-hashtable equal-hash equal?)) (strings (make-hashtable string-hash string=?)))
         (define (count! t k) (hashtable-update! t k (lambda (n) (+ n 1)) 0))
         (for-each
           (lambda (d)
             (when (symbol? d) (count! eqs d))
             (when (number? d) (count! eqvs d))
             (count! equals d)
             (when (string? d) (count! strings d)))
           (syntax->datum #'(datum ...)))
         (do ((i 0 (+ i 1))) ((= i 100)) (hashtable-set! eqvs (* 1000.0 i) i))
         (do ((i 0 (+ i 1))) ((= i 97)) (hashtable-delete! eqvs (* 1000.0 i)))
         (hashtable-delete! eqs 'gone)
         (let ((copy (hashtable-copy equals #t)))
           (hashtable-clear! copy)
           (let-values (((keys values) (hashtable-entries eqvs)))
             (with-syntax ((all (list (hashtable-ref eqs 'a #f) (hashtable-contains? eqs 'gone)
                                      (vector->list keys) (vector->list values)
                                      (hashtable-ref equals '(1 (2)) #f) (hashtable-ref strings "s" #f)
                                      (hashtable-size equals) (hashtable-size eqvs) (hashtable-size copy))))
               #'(quote all)))))))))
(show (counts a b a gone (1 (2)) (1 (2)) "s" "s" "s" 7 7.0 7))
;; a local keyword is where it was written
(define-syntax with-it
  (lambda (x) (syntax-case x () ((_ (k v) e) #'(with-syntax ((v (datum->syntax #'k 'v))) e)))))
(show (let ((n 'outer))
        (let-syntax ((m (lambda (x) (syntax-case x () ((k e) (with-it (k n) #'(let ((n 'inner)) e))))))
                     (again (lambda (x) (syntax-case x () ((k) #`(#,(datum->syntax #'k 'other))))))
                     (other (syntax-rules () ((_) 'other))))
          (list (m n)
                (letrec-syntax ((m (lambda (x) (syntax-case x () ((k e) (with-it (k n) #'(let ((n 'inner)) e)))))))
                  (m n))))))
;; unsyntax behind a dot, which reads as an element
(define-syntax after-dots
  (lambda (x)
    (syntax-case x ()
      ((_ a b c ...)
       #`(quote ((1 . #,#'b) #(1 #,#'b #,@#'(c ...)) (#,#'a #,@#'(c ...) . #,#'b) (#,#'a c ... . #,#'b)))))))
(show (after-dots 1 (2 3) 4 5))
(define-syntax inner-syntax
  (lambda (x) (syntax-case x () ((_ a) #'(quote #`(1 #,(2 . #,a) . #`(3 . #,(4 . #,a))))))))
(show (inner-syntax 9))
;; names that a record type makes are those that the same macro writes
(define-syntax define-user
  (lambda (x)
    (syntax-case x ()
      ((_ n)
       #'(define n
           (let ()
             (define-record-type pv (fields a (mutable b)))
             (lambda (e) (let ((p (make-pv e 2))) (pv-b-set! p 5) (list (pv? p) (pv-a p) (pv-b p))))))))))
(define-user use-one)
(show (use-one 1))
(define-syntax define-macro-with
  (syntax-rules ()
    ((_ n)
     (define-syntax n
       (let ()
         (define-record-type pv (fields a))
         (lambda (x) (syntax-case x () ((_ e) (let ((p (make-pv #'e))) (pv-a p))))))))))
(define-macro-with m4)
(show (m4 1))
;; names of the user's text stay the user's
(define-syntax record-of (syntax-rules () ((_ name field ...) (define-record-type name (fields field ...)))))
(record-of spot x y)
(show (spot-y (make-spot 1 2)))
;; a hidden record at top level
(define-syntax hidden
  (syntax-rules ()
    ((_ get) (begin (define-record-type secret (fields x)) (define (get) (secret-x (make-secret 7)))))))
(hidden get-it)
(show (get-it))
(define (make-secret x) 'mine)
(show (make-secret 1))
