;; `syntax-violation` in a transformer is an error of syntax: its message, at the place of the part, else of the form.
(import (rnrs))
(define-syntax checked
  (lambda (x)
    (syntax-case x ()
      ((_ a) (identifier? #'a) #''name)
      ((_ a) (syntax-violation 'checked "a name is expected" x #'a))
      ((_ a ...) (syntax-violation #f "one name is expected" x)))))
(display (checked x))
(display (checked (f (g 1))))
(display (checked 5))
(display (checked 1 2))

(define-syntax names
  (lambda (x)
    (syntax-case x ()
      ((_ (n ...))
       (begin
         (for-each (lambda (n) (if (not (identifier? n)) (syntax-violation 'names "no name" x n))) #'(n ...))
         #''(n ...))))))
(define-syntax two-names (syntax-rules () ((_ a b) (names (a b)))))
(two-names a "b")
(two-names a b)
;; one that stands there twice, and one that is not there
(names (a 5 5))
(define-syntax elsewhere (lambda (x) (syntax-violation 'elsewhere "not so" (list 1 '(2 3)) (vector 4 '(5)))))
(elsewhere)

;; What a transformer handles is no error; of other errors it is said that the transformer failed.
(define-syntax handled
  (lambda (x) (guard (c ((syntax-violation? c) #''handled)) (syntax-violation 'handled "not so" x))))
(display (handled))
(define-syntax raises (lambda (x) (raise (list 1 '(2 (3 . 4)) (vector '(5 6))))))
(raises)
(define-syntax asserts (lambda (x) (assertion-violation 'asserts "not so:" (syntax->datum x))))
(asserts (1 2))
