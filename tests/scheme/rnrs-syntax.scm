;;; R6RS's `let-syntax` and `letrec-syntax`, whose bodies are spliced into the body around them: what their keywords
;;; mean and where; `syntax-rules` as an expression.
(import (rnrs))

(define (show x)
  (write x)
  (newline))

;; A transformer that makes the identifier `name` where its use is.
(define-syntax define-caller
  (lambda (x)
    (syntax-case x ()
      ((_ call name)
       #'(define-syntax call
           (lambda (x)
             (syntax-case x () ((k) (with-syntax ((f (datum->syntax #'k 'name))) #'(f))))))))))

;; the keyword of the inner form, of the outer one, and of none
(define-syntax foo (lambda (x) #''top))
(define-caller call-top foo)
(let-syntax ((foo (lambda (x) #''outer)))
  (show (foo))
  (show (call-top))
  (let-syntax ((call (lambda (x)
                       (syntax-case x () ((k) (with-syntax ((f (datum->syntax #'k 'foo))) #'(f)))))))
    (show (call))
    (let-syntax ((foo (lambda (x) #''inner)))
      (show (foo))
      (show (call))
      (let ((foo (lambda () 'variable)))
        (show (foo))
        (show (call))
        (let-syntax ((foo (lambda (x) #''innermost)))
          (show (list (foo) (call))))
        (show (list (foo) (call)))))
    (show (call))))
(show (list (foo) (call-top)))

;; definitions belong to the body around, and keep what the keywords meant
(letrec-syntax ((even (syntax-rules () ((_) #t) ((_ x . rest) (odd . rest))))
                (odd (syntax-rules () ((_) #f) ((_ x . rest) (even . rest)))))
  (define four-are-even (even 1 2 3 4))
  (define (three-are-odd) (odd 1 2 3))
  (define-syntax both (syntax-rules () ((_ x ...) (list (even x ...) (odd x ...)))))
  (define-record-type point (fields (mutable x point-x set-point-x!))))
(define even 'not-a-keyword)
(show (list four-are-even (three-are-odd) (both 1 2 3) even))
(show (point-x (make-point 5)))

(define (in-a-body)
  (define before 1)
  (let-syntax ((twice (syntax-rules () ((_ e) (list e e)))))
    (define inside (twice before))
    (let-syntax ((twice (syntax-rules () ((_ e) (vector e (twice e))))))
      (define further (lambda (twice) (list twice inside)))
      (define-syntax later (syntax-rules () ((_ e) (twice e)))))
    (define again (twice 3)))
  (define twice (later 4))
  (list inside (further 2) again twice))
(show (in-a-body))

;; a keyword is the one only where it is bound; data and other names are as they are
(let-syntax ((foo (syntax-rules () ((_ x) '(x foo)))))
  (show (foo bar))
  (show '(foo #(foo) . foo))
  (show (let ((foo 3)) (+ foo 1)))
  (show ((lambda (x . foo) foo) 1 2 3)))
(let-syntax ((show-all (syntax-rules () ((_ x ...) (begin (show x) ...)))))
  (let-syntax ((show-both (syntax-rules () ((_ x y) (show-all x y)))))
    (show-both 1 (let-syntax ((show-all (syntax-rules () ((_ x) 'mine)))) (show-all 2)))))
(define-syntax with-stop
  (lambda (x)
    (syntax-case x ()
      ((k body ...)
       (with-syntax ((stop (datum->syntax #'k 'stop)))
         #'(let-syntax ((stop (syntax-rules () ((_ e) (list 'stopped e))))) body ...))))))
(with-stop
 (define a (stop 1))
 (with-stop (define b (list (stop 2) (stop 3)))))
(show (list a b))

;; `syntax-rules` is an expression
(define-syntax twice (let ((t (syntax-rules () ((_ a) (list a a))))) t))
(show (twice 1))
(define-syntax named (let ((t (syntax-rules (=>) ((_ a => b) '(a . b)) ((_ a ...) '(a ... named))))) (lambda (x) (t x))))
(show (list (named 1 => 2) (named 1 2 3)))
(define-syntax place
  (make-variable-transformer
   (lambda (x)
     (syntax-case x (set!)
       ((set! k v) #'(show (list 'set v)))
       (_ ((syntax-rules () ((_ (a b ...) ...) '#((b ... a) ...))) x))))))
(show (place (1 2 3) (4) (5 6)))
(set! place 3)
(define-syntax chosen
  (cond
    (#f #f)
    (else (syntax-rules ::: () ((_ (x :::) y) '((x y) ::: (y ...)))))))
(show (chosen (1 2) 3))
(define-syntax kept (let ((t (syntax-rules () ((_ e) (let ((tmp 1)) (list tmp e)))))) t))
(let ((tmp 2) (list vector))
  (show (list 5 (kept tmp))))
(let-syntax ((k (if #t (syntax-rules () ((_ x ...) '(x ...))) #f)))
  (show (k 1 2 3)))
(define (rules) (syntax-rules () ((_ a b) (b a))))
(show (syntax->datum ((rules) #'(swap 1 2))))
(define-syntax swapped (lambda (x) ((rules) x)))
(show (swapped 1 -))
