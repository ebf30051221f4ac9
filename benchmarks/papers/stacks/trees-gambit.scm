;; Binary trees, whose counts are added up by plain recursion; see trees.scm.
(declare (standard-bindings) (extended-bindings) (block))

(define deepest (let ((words (cdr (command-line)))) (if (pair? words) (string->number (car words)) 10)))

(define (make depth)
  (if (= depth 0)
      (cons '() '())
      (let ((left (make (- depth 1))))
        (cons left (make (- depth 1))))))

(define (nodes tree)
  (if (null? (car tree))
      1
      (+ 1 (nodes (car tree)) (nodes (cdr tree)))))

(define (trees-of depth) (expt 2 (+ 4 (- deepest depth))))

(define (count-by-recursion n depth)
  (cond ((> depth deepest) 0)
        ((= n 0) (count-by-recursion (trees-of (+ depth 2)) (+ depth 2)))
        (else
         (let ((here (nodes (make depth))))
           (+ here (count-by-recursion (- n 1) depth))))))

(define lasting (make deepest))
(define sum (count-by-recursion (trees-of 4) 4))
(write (+ sum (nodes lasting)))
(newline)
