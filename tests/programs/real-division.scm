#!r6rs
;; R6RS's div, mod, div0 and mod0 of real numbers.  Chez Scheme prints the same.
(import (rnrs))

(define-syntax show
  (syntax-rules ()
    ((_ expression ...)
     (begin
       (begin (write (call-with-values (lambda () expression) list)) (display " ")) ...
       (newline)))))

(for-each
 (lambda (x)
   (for-each
    (lambda (y)
      (show (values x y) (div-and-mod x y) (values (div x y) (mod x y))
            (div0-and-mod0 x y) (values (div0 x y) (mod0 x y))))
    '(2 -2 2.0 -2.0 1/3 -1/3 0.1 5/7)))
 '(7.5 -7.5 7/2 -7/2 7 -7 0 0.0 0.3 123))

(for-each
 (lambda (x)
   (for-each
    (lambda (y)
      (show (values x y) (fldiv-and-mod x y) (values (fldiv x y) (flmod x y))
            (fldiv0-and-mod0 x y) (values (fldiv0 x y) (flmod0 x y))))
    '(2.0 -2.0 0.1 -0.25)))
 '(7.5 -7.5 7.0 0.0 2.5 -0.5 -1e-20))

(show (mod0 -2.0 +inf.0) (flmod 7.5 0.0) (flmod0 +nan.0 1.0) (guard (e ((assertion-violation? e) 'wrong)) (fldiv 7 2.0))
      (guard (e ((assertion-violation? e) 'wrong)) (div 'a 2)))
