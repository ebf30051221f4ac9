;; Macro transformers that are procedures: hygiene, comparison, what they may call, local macros, evaluated code.
(import (scheme base) (scheme char) (scheme write) (scheme eval) (scheme cxr) (only (srfi 1) fold filter-map iota)
        (only (cairn text) generate-symbol) (cairn macro))
(include "include/check.scm")

;; hygiene in both directions
(define-syntax swap!
  (er-macro-transformer
   (lambda (form rename compare)
     (let ((a (cadr form)) (b (caddr form)) (tmp (rename 'tmp)) (%let (rename 'let)) (%set! (rename 'set!)))
       `(,%let ((,tmp ,a)) (,%set! ,a ,b) (,%set! ,b ,tmp))))))
(check (let ((tmp 1) (other 2) (set! 5) (let 6)) (swap! tmp other) (list tmp other set! let)) => '(2 1 5 6))
(define-syntax unhygienic-if
  (er-macro-transformer (lambda (form rename compare) (cons 'if (cdr form)))))
(check (let ((if list)) (unhygienic-if 1 2 3)) => '(1 2 3))
(define-syntax same-renaming
  (er-macro-transformer
   (lambda (form r c) `(,(r 'quote) ,(list (eq? (r 'x) (r 'x)) (eq? (r 'x) 'x) (eq? (r 'x) (r (r 'x)))
                                           (symbol? (r 'x)))))))
(check (same-renaming) => '(#t #f #t #t))

;; compare
(define-syntax kind
  (er-macro-transformer
   (lambda (form rename compare)
     (let ((x (cadr form)))
       `(,(rename 'quote)
         ,(cond ((not (symbol? x)) 'other)
                ((compare x (rename 'else)) 'else)
                ((compare x (rename 'car)) 'car)
                ((compare x (rename 'never-heard-of)) 'unbound)
                (else 'variable)))))))
(check (list (kind else) (kind car) (kind never-heard-of) (kind x) (kind 5)) => '(else car unbound variable other))
(check (let ((else 1) (car 2)) (list (kind else) (kind car) (kind cdr))) => '(variable variable variable))

;; a loop with `collect`, written with helpers that the program defines before, and libraries
(define (make-step rename item) `(,(rename 'cons) ,item ,(rename 'result)))
(define table '((one . 1) (two . 2)))
(define-syntax numbered
  (er-macro-transformer
   (lambda (form rename compare)
     (let ((items (cdr form)))
       (fold (lambda (x i acc) `(,(rename 'cons) (,(rename 'list) ,i ,x) ,acc))
             `(,(rename 'quote) ,(map (lambda (x) (assq x table)) '(one three)))
             (reverse items) (reverse (iota (length items))))))))
(check (numbered 'a 'b 'c) => '((0 a) (1 b) (2 c) (one . 1) #f))
(define-syntax collect
  (er-macro-transformer
   (lambda (form r c)
     `(,(r 'let) ,(r 'loop) ((,(cadr form) 3) (,(r 'result) ,(r 'ignored)))
       (,(r 'if) (,(r '=) ,(cadr form) 0) ,(r 'result)
        (,(r 'loop) (,(r '-) ,(cadr form) 1) ,(make-step r (caddr form))))))))
(define ignored '())
(check (let ((result 'mine) (cons list)) (collect i (list i result))) => '((1 mine) (2 mine) (3 mine)))

;; strings, vectors, numbers, sorting by hand, let-values, named let, records, dynamic state, string ports
(define-record-type field (make-field name size) field? (name field-name) (size field-size))
(define-syntax define-fields
  (er-macro-transformer
   (lambda (form rename compare)
     (define (accessor name field)
       (string->symbol (string-append (symbol->string name) "-" (symbol->string field))))
     (let ((name (cadr form)))
       `(,(rename 'begin)
         ,@(let loop ((fields (cddr form)) (offset 0))
             (if (null? fields)
                 `((,(rename 'define) ,(accessor name 'size) ,offset))
                 (let-values (((field size) (values (caar fields) (cadar fields))))
                   (cons `(,(rename 'define) ,(accessor name field) '(,offset ,size))
                         (loop (cdr fields) (+ offset size)))))))))))
(define-fields packet (tag 1) (length 2) (body 1/2))
(check (list packet-tag packet-length packet-body packet-size) => '((0 1) (1 2) (3 1/2) 7/2))
(define-syntax computed
  (er-macro-transformer
   (lambda (form rename compare)
     (define-values (q r) (floor/ 17 5))
     (define p (make-parameter 1))
     `',(list q r (expt 2 70) (inexact 1/3) (vector-map square #(1 2 3))
              (string-upcase (list->string '(#\a #\b))) (apply max '(3 9 4))
              (number->string 255 16) (string->number "1e3")
              (let ((port (open-output-string))) (write '(a "b" #\c) port) (get-output-string port))
              (parameterize ((p 2)) (p)) (p)
              (call/cc (lambda (k) (for-each (lambda (x) (if (even? x) (k x))) '(1 3 4 5)) #f))
              (guard (e ((symbol? e) (list 'caught e))) (raise 'oops))
              (guard (e ((error-object? e) (error-object-message e))) (car 5))
              (guard (e ((error-object? e) (error-object-irritants e))) (error "bad" 1 2))
              (field-size (make-field 'a 8)) (assoc "b" '(("a" . 1) ("b" . 2))) (list-tail '(1 2 3) 1)
              (let loop ((i 0) (l '())) (if (= i 1000) (length l) (loop (+ i 1) (cons i l))))
              (bytevector-u8-ref #u8(1 2) 1) (char-upcase #\λ) (exact (round 2.5))
              (equal? '(1 #(2 "x")) (list 1 (vector 2 "x")))))))
(check (computed)
       => '(3 2 1180591620717411303424 .3333333333333333 #(1 4 9) "AB" 9 "ff" 1000. "(a \"b\" #\\c)" 2 1 4 (caught oops)
            "car: expected a pair, got" (1 2) 8 ("b" . 2) (2 3) 1000 2 #\Λ 2 #t))

;; each use begins anew
(define-syntax count
  (er-macro-transformer
   (let ((n 0)) (lambda (form rename compare) (set! n (+ n 1)) n))))
(check (list (count) (count)) => '(1 1))

;; local macros, macros that make macros, definitions
(check (let-syntax ((ten (er-macro-transformer (lambda (form rename compare) (* 10 (cadr form)))))) (ten 4)) => 40)
(check (let ()
         (define-syntax twice (er-macro-transformer (lambda (form r c) `(,(r 'begin) ,(cadr form) ,(cadr form)))))
         (define n 0)
         (twice (set! n (+ n 1)))
         n)
       => 2)
(define-syntax define-constant-macro
  (syntax-rules ()
    ((_ name value) (define-syntax name (er-macro-transformer (lambda (form rename compare) value))))))
(define-constant-macro seven (+ 3 4))
(check (seven) => 7)
(define-syntax rules-around
  (syntax-rules () ((_ x) (let ((tmp 1)) (swap! tmp x) (list tmp x)))))
(check (let ((tmp 2)) (rules-around tmp)) => '(2 1))

;; symbols that nobody can write
(define-syntax with-fresh
  (er-macro-transformer
   (lambda (form rename compare)
     (let ((a (generate-symbol)) (b (generate-symbol)))
       `(,(rename 'let) ((,a 1) (,b 2)) (,(rename 'list) ,a ,b ,@(cdr form)))))))
(check (let ((g0 5)) (with-fresh g0)) => '(1 2 5))

;; syntactic closures
(define-syntax sc-swap!
  (sc-macro-transformer
   (lambda (form env)
     (let ((a (close-syntax (cadr form) env)) (b (close-syntax (caddr form) env)))
       `(let ((tmp ,a)) (set! ,a ,b) (set! ,b tmp))))))
(check (let ((tmp 1) (other 2) (let 3)) (sc-swap! tmp other) (list tmp other let)) => '(2 1 3))
(define-syntax rsc-swap!
  (rsc-macro-transformer
   (lambda (form env)
     (let ((a (cadr form)) (b (caddr form)) (tmp (close-syntax 'tmp env)) (%let (close-syntax 'let env)))
       `(,%let ((,tmp ,a)) (,(make-syntactic-closure env '() 'set!) ,a ,b) (,(close-syntax 'set! env) ,b ,tmp))))))
(check (let ((tmp 1) (other 2) (let 3) (set! 4)) (rsc-swap! tmp other) (list tmp other)) => '(2 1))
(define-syntax sc-kind
  (sc-macro-transformer
   (lambda (form env)
     (let ((x (cadr form)))
       `',(list (identifier? x) (identifier? (close-syntax x env)) (syntactic-closure? (close-syntax x env))
                (and (identifier? x) (identifier=? env x env 'else)))))))
(check (list (sc-kind else) (sc-kind car) (sc-kind 5)) => '((#t #t #t #t) (#t #t #t #f) (#f #f #t #f)))

;; evaluated code
(define env (environment '(scheme base) '(cairn macro) '(srfi 1)))
(eval '(define (helper x) (list 'quote (filter-map (lambda (y) (and (number? y) (* y y))) x))) env)
(eval '(begin
         (define (other-helper x) (list 'quote (filter-map (lambda (y) (and (number? y) (* y y))) x)))
         (define-syntax squares (er-macro-transformer (lambda (form rename compare) (other-helper (cdr form))))))
      env)
(check (eval '(squares 1 a 3) env) => '(1 9))
;; a quasiquotation that splices anywhere calls nothing that is imported
(define-syntax spliced
  (er-macro-transformer
   (lambda (form rename compare) `(,(rename 'quote) ((,@(cdr form) 9) #(0 ,@(cdr form) 3) (,@(cdr form) . end))))))
(check (spliced 1 2) => '((1 2 9) #(0 1 2 3) (1 2 . end)))
(define-syntax sc-spliced
  (sc-macro-transformer
   (lambda (form env) (let ((all (map (lambda (x) (close-syntax x env)) (cdr form)))) `(list ,@all 9 ,@all)))))
(check (sc-spliced 1 2) => '(1 2 9 1 2))
(report)
