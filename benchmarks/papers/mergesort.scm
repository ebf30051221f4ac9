;;; Mergesort: a long list of random numbers is sorted, again and again. Only pairs are allocated. A list is split and
;;; merged without recursion in depth: the stack stays shallow, as the paper says of the original.
(import (scheme base) (scheme write) (scheme process-context))

(define list-length 20000)

(define (random-list n seed)
  (let loop ((i 0) (x seed) (list '()))
    (if (= i n)
        list
        (loop (+ i 1) (remainder (+ (* x 1103515245) 12345) 2147483648) (cons (quotient x 2048) list)))))

;; Merges two ascending lists onto `done`, which is descending.
(define (merge-onto a b done)
  (cond ((null? a) (append-reverse b done))
        ((null? b) (append-reverse a done))
        ((< (car b) (car a)) (merge-onto a (cdr b) (cons (car b) done)))
        (else (merge-onto (cdr a) b (cons (car a) done)))))

(define (append-reverse list tail)
  (if (null? list) tail (append-reverse (cdr list) (cons (car list) tail))))

(define (merge a b) (append-reverse (merge-onto a b '()) '()))

;; Runs of one element, merged two by two until one is left.
(define (runs list done)
  (if (null? list) done (runs (cdr list) (cons (cons (car list) '()) done))))

(define (merge-pairs runs done)
  (cond ((null? runs) done)
        ((null? (cdr runs)) (cons (car runs) done))
        (else (merge-pairs (cddr runs) (cons (merge (car runs) (cadr runs)) done)))))

(define (sort-runs runs)
  (if (null? (cdr runs)) (car runs) (sort-runs (merge-pairs runs '()))))

(define (digest list n all)
  (if (null? list) all (digest (cdr list) (+ n 1) (remainder (+ all (* n (car list))) 1000003))))

(define (main rounds)
  (let loop ((round 0) (all 0))
    (if (= round rounds)
        (begin (write all) (newline))
        (let ((sorted (sort-runs (runs (random-list list-length (+ round 7)) '()))))
          (loop (+ round 1) (remainder (+ (* 31 all) (digest sorted 1 0)) 1000003))))))

(main (if (pair? (cdr (command-line))) (string->number (cadr (command-line))) 3))
