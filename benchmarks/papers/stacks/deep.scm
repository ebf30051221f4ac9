;; Lists are made and dropped below a deep recursion. The first argument says how deep, the second how many lists, of a
;; thousand numbers each. What was on the stack is used afterwards.
(import (scheme base) (scheme write) (scheme process-context))

(define (argument i default)
  (let ((words (command-line)))
    (if (< i (length words)) (string->number (list-ref words i)) default)))
(define depth (argument 1 1000))
(define lists (argument 2 100))

(define (numbers n) (if (= n 0) '() (cons n (numbers (- n 1)))))

(define (work n sum)
  (if (= n 0) sum (work (- n 1) (+ sum (length (numbers 1000))))))

(define (descend n)
  (if (= n 0)
      (work lists 0)
      (let ((here (list n)))
        (+ (descend (- n 1)) (remainder (car here) 3)))))

(write (descend depth))
(newline)
