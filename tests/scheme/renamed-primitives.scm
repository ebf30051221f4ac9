;; A procedure is the same one under whatever names it is imported, and errors call it by its own.
(import (scheme base) (scheme write)
        (prefix (only (scheme base) null? car vector-ref + map) b:)
        (rename (only (scheme base) cdr string-length) (cdr rest) (string-length size)))

(define (message thunk)
  (guard (e (#t (error-object-message e))) (thunk)))

(define (show x) (write x) (newline))

(show (list (eq? null? b:null?) (eqv? car b:car) (equal? vector-ref b:vector-ref) (eq? + b:+) (eq? map b:map)
            (eq? rest cdr) (pair? (memq b:car (list cdr car))) (eq? car cdr)))
(show (cdr (assq b:null? (list (cons car 'car) (cons null? 'null?)))))
(show (message (lambda () (b:car 5))))
(show (message (lambda () ((cadr (list car b:car)) 5))))
(show (message (lambda () (rest 'a))))
(show (message (lambda () (for-each size '("a" b)))))
(show (message (lambda () (apply b:vector-ref (list (vector 1) 1)))))
