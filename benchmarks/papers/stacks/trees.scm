;; Binary trees, up to the depth that the argument says: a long-lived one, and many short-lived ones of each smaller
;; depth, whose nodes are counted. The counts are added up by plain recursion, so there are as many frames on the stack
;; as trees have been made; a second argument, `loop`, asks for a loop instead.
(import (scheme base) (scheme write) (scheme process-context))

(define deepest (let ((words (cdr (command-line)))) (if (pair? words) (string->number (car words)) 10)))
(define by-recursion? (not (member "loop" (command-line))))

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

(define (count-by-loop n depth sum)
  (cond ((> depth deepest) sum)
        ((= n 0) (count-by-loop (trees-of (+ depth 2)) (+ depth 2) sum))
        (else (count-by-loop (- n 1) depth (+ sum (nodes (make depth)))))))

(define lasting (make deepest))
(define sum (if by-recursion? (count-by-recursion (trees-of 4) 4) (count-by-loop (trees-of 4) 4 0)))
(write (+ sum (nodes lasting)))
(newline)
