;;; Higher-order: folds, maps and compositions of procedures that are not known where they are called, so often. Every
;;; element costs calls of closures and frames of the traversals, which are recursions, not loops.
(import (scheme base) (scheme write) (scheme process-context))

(define (each f l) (if (null? l) '() (let ((head (f (car l)))) (cons head (each f (cdr l))))))
(define (fold-right* f end l) (if (null? l) end (f (car l) (fold-right* f end (cdr l)))))
(define (compose f g) (lambda (x) (f (g x))))
(define (iterate n f) (if (= n 0) (lambda (x) x) (compose f (iterate (- n 1) f))))
(define (numbers n) (if (= n 0) '() (cons n (numbers (- n 1)))))

;; Procedures that come out of a list: no compiler can know them.
(define steps
  (list (lambda (x) (+ x 1))
        (iterate 5 (lambda (x) (- x 1)))
        (iterate 3 (compose (lambda (x) (* x 2)) (lambda (x) (- x 3))))))

(define (main times)
  (let ((l (numbers 400)))
    (let loop ((i 0) (sum 0))
      (if (< i times)
          (loop (+ i 1)
                (modulo (+ sum (fold-right* (lambda (f rest) (+ (fold-right* + 0 (each f l)) rest)) i steps)) 1000003))
          (begin (write sum) (newline))))))

(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 10))
