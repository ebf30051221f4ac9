;; SRFI 133: parts and running results, filling in place, searching from the right.
(import (scheme base) (scheme write) (srfi 133))
(include "include/check.scm")

(define-syntax check-message
  (syntax-rules ()
    ((_ expr message)
     (check (guard (e ((error-object? e) (error-object-message e))) expr) => message))))

;; searching
(check (list (vector-index-right even? #(1 2 3 4 5)) (vector-index-right even? #(1 3)) (vector-index-right even? #()))
       => '(3 #f #f))
(check (vector-index-right < #(3 1 4 1 5) #(2 7 1 8 2)) => 3)
(check (vector-index-right < #(3 1 4 1 5) #(2 7 1)) => 1)
(check (vector-index-right < #(3 1 4) #(4 0 4) #(5 9 9 9)) => 0)
(check (vector-index-right < #(3 1 4) #()) => #f)
(check (list (vector-skip-right even? #(1 2 3 4 6)) (vector-skip-right even? #(2 4)) (vector-skip-right even? #()))
       => '(2 #f #f))
(check (vector-skip-right < #(3 1 4 1 5) #(2 7 1 8 9 9)) => 2)
(check (vector-skip-right < #(0 1 4) #(2 7)) => #f)

;; parts
(check (vector-append-subvectors) => #())
(check (vector-append-subvectors #(a b c) 0 2) => #(a b))
(check (vector-append-subvectors #(a b c) 1 3 #(d e f) 1 1 #(g h) 0 1) => #(b c g))
(check-error (vector-append-subvectors #(a b c) 1 4))
(check-error (vector-append-subvectors #(a b c) 1))
(check-error (vector-append-subvectors #(a b c) 0 1 #(d)))

;; running results
(check (vector-cumulate + 0 #(3 1 4 1 5)) => #(3 4 8 9 14))
(check (vector-cumulate (lambda (acc x) (cons x acc)) '() #(a b c)) => #((a) (b a) (c b a)))
(check (vector-cumulate + 0 #()) => #())
(check-error (vector-cumulate + 0 '(1)))

;; filling in place: the index is that in the vector
(define (filled unfold! f . arguments)
  (let ((v (vector 'a 'b 'c 'd 'e)))
    (apply unfold! f v arguments)
    v))
(check (filled vector-unfold! square 1 4) => #(a 1 4 9 e))
(check (filled vector-unfold! (lambda (i x) (values (list i x) (+ x 1))) 1 4 10) => #(a (1 10) (2 11) (3 12) e))
(check (filled vector-unfold! (lambda (i x y) (values (+ x y) y (+ x y))) 0 5 0 1) => #(1 2 3 5 8))
(check (filled vector-unfold-right! square 1 4) => #(a 1 4 9 e))
(check (filled vector-unfold-right! (lambda (i x) (values (list i x) (+ x 1))) 1 4 10) => #(a (1 12) (2 11) (3 10) e))
(check (filled vector-unfold-right! (lambda (i x y) (values (+ x y) y (+ x y))) 0 5 0 1) => #(8 5 3 2 1))
(check (list (filled vector-unfold! car 2 2) (filled vector-unfold-right! car 5 5)) => '(#(a b c d e) #(a b c d e)))
(check-message (filled vector-unfold! square 2 6) "vector-unfold!: not a range of the vector:")
(check-message (filled vector-unfold! square 'a 5) "vector-unfold!: not a range of the vector:")
(check-message (filled vector-unfold-right! square 3 2) "vector-unfold-right!: not a range of the vector:")
(check-error (filled vector-unfold! (lambda (i) (values i i)) 0 5))

;; new vectors
(check (vector-unfold (lambda (i x y) (values (* x y) (+ x 1) (+ y 1))) 4 0 0) => #(0 1 4 9))
(check (vector-unfold-right (lambda (i x) (values (cons i x) (+ x 1))) 3 0) => #((0 . 2) (1 . 1) (2 . 0)))
(check (vector-unfold-right - 3) => #(0 -1 -2))

(report)
