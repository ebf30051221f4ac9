;; What the names of other dialects say of wrong operands, and answer where nothing is wrong.
(import (scheme base) (scheme write) (cairn dialects) (only (cairn control) condition->string))
(include "../support/say.scm")

(define t (make-hash))
(hash-set! t 'a 1)
(say (hash-ref t 'a) (hash-ref t 'b) (hash-ref t 'b 2) (hash-ref t 'b (lambda () 3)) (hash-ref 5 'a)
     (hash-has-key? t 'a) (hash-has-key? t 'b) (hash-count t) (hash->list t)
     (begin (hash-update! t 'a 1+) (hash-values t)) (hash-update! t 'c 1+)
     (begin (hash-update! t 'c 1+ 0) (hash-ref t 'c)) (begin (hash-remove! t 'c) (hash-keys t))
     (begin (hash-clear! t) (hash-count t)))
(say (string-contains? "abc" "bc") (string-contains? "abc" "x") (string-contains? 5 "x") (string-search-all 5 "x") (string-search-all "x" 5))
(say (let ((i 0)) (while (< i 3) (set! i (+ i 1))) i) ((λ (x . y) y) 1 2) pi)
