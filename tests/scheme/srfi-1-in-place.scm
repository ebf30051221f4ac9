;; The procedures of SRFI 1 with ! reuse the pairs of their argument, and answer as those without.
(import (scheme base) (scheme write) (srfi 1))

(define (pairs l) (pair-fold cons '() l))
(define (from? l old) (every (lambda (p) (memq p old)) (pairs l)))
(define (show f)
  (for-each
   (lambda (items)
     (let* ((l (list-copy items)) (old (pairs l)))
       (call-with-values (lambda () (f l))
         (lambda results
           (write results)
           (display (if (every (lambda (r) (from? r old)) results) " in place" " copied"))
           (newline)))))
   '(() (2) (3) (1 2 3 4 5 6) (2 2 1 2 3 3 2))))

(define (show-counts f)
  (for-each
   (lambda (k)
     (let* ((l (list 1 2 3)) (old (pairs l)))
       (call-with-values (lambda () (f l k))
         (lambda results
           (write (list k results (every (lambda (r) (from? r old)) results) l))
           (newline)))))
   '(0 1 2 3)))

(show (lambda (l) (filter! odd? l)))
(show (lambda (l) (remove! odd? l)))
(show (lambda (l) (partition! odd? l)))
(show (lambda (l) (take-while! even? l)))
(show (lambda (l) (span! even? l)))
(show (lambda (l) (break! even? l)))
(show (lambda (l) (delete! 2 l)))
(show (lambda (l) (delete! 2 l <)))
(show (lambda (l) (delete-duplicates! l)))
(show (lambda (l) (map! square l)))
(show-counts take!)
(show-counts drop-right!)
(show-counts split-at!)
(let* ((l (list (cons 1 'a) (cons 2 'b) (cons 1 'c))) (old (pairs l)) (r (alist-delete! 1 l)))
  (write (list r (from? r old))))
(newline)
(write (map! + (list 1 2 3) '(10 20 30)))
(newline)
;; a million pairs need no more than themselves
(let ((l (iota 1000000)))
  (write (list (length (filter! even? l)) (length (take! l 10))))
  (newline))
