#!r6rs
;; R6RS's div, mod, div0 and mod0 of real numbers.  Chez Scheme prints the same.
(import (rnrs))

(define-syntax show
  (syntax-rules ()
    ((_ expression ...)
     (begin
       (begin (write (call-with-values (lambda () expression) list)) (display " ")) ...
       (newline)))))

;; What each of the divisions makes of each pair.
(define (show-all xs ys both div mod both0 div0 mod0)
  (for-each
   (lambda (x)
     (for-each
      (lambda (y)
        (show (values x y) (both x y) (values (div x y) (mod x y))
              (both0 x y) (values (div0 x y) (mod0 x y))))
      ys))
   xs))

(show-all '(7.5 -7.5 7/2 -7/2 7 -7 0 0.0 0.3 123) '(2 -2 2.0 -2.0 1/3 -1/3 0.1 5/7)
          div-and-mod div mod div0-and-mod0 div0 mod0)

(show-all '(7.5 -7.5 7.0 0.0 2.5 -0.5 -1e-20) '(2.0 -2.0 0.1 -0.25)
          fldiv-and-mod fldiv flmod fldiv0-and-mod0 fldiv0 flmod0)

(show (mod0 -2.0 +inf.0) (flmod 7.5 0.0) (flmod0 +nan.0 1.0) (guard (e ((assertion-violation? e) 'wrong)) (fldiv 7 2.0))
      (guard (e ((assertion-violation? e) 'wrong)) (div 'a 2)))
