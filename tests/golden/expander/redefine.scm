; the old value is needed: it is evaluated before the definition
(define old-car car)
(define (car x) (old-car x))
; the procedure cons refers to itself only when called
(define (cons a b) (cons b a))
; refers to itself at once
(define + (let ((old +)) (lambda (a b) (old a b))))
; used by a procedure before, but nothing runs in between
(define (user) (list 1))
(define (list . xs) xs)
; used by a procedure that could run in between
(define (user2) (append 1 2))
(user2)
(define (append a b) a)
; a keyword becomes a variable
(define (when x) x)
(when 1)
; defined twice
(define twice 1)
(define twice 2)
