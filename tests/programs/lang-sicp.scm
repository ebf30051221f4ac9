#lang sicp
;; A program for DrRacket's SICP package: its first line imports (sicp), and what the book defines itself is free.
(define (square x) (* x x))
(define (stream-car s) (car s))
(define (stream-cdr s) (force (cdr s)))
(define (integers-from n) (cons-stream n (integers-from (inc n))))
(define (stream-take s n)
  (if (= n 0) nil (cons (stream-car s) (stream-take (stream-cdr s) (dec n)))))
(display (stream-take (integers-from (square 3)) 4))
(newline)
(display (if true (list 1/2 (exact->inexact 1/4)) the-empty-stream))
(newline)
