;;; A C source as part of a program: every kind of function, however the program is run.
(import (scheme base) (scheme write) (cairn c) (prefix (c "kernel.c") c:))

(define (show . xs) (for-each (lambda (x) (write x) (display " ")) xs) (newline))
(define-syntax failing
  (syntax-rules () ((_ e) (guard (x ((error-object? x) (error-object-message x))) e))))

(show (c:mix 1. 3. .25) (c:mix 1 3 1/4) (c:half 3.) (c:triple 14) (c:forty_two) (c:sum_to 10))
(show (c:low 255) (c:low 127) (c:rotated 1 63) (c:rotated 18446744073709551615 3) (c:odd 3) (c:odd -4))
(show (c:next_char #\a) c:SCALE c:GREETING c:ROUND c:SQUARE)
(define p (c:make-pair))
(c:set_first p 11)
(show (c:first p) (c:first #f) (pointer=? p (c:same p)) (c:same #f) (c:pair-first p))
(show (c:count) (c:count) (c:fibonacci 20) (c:length "Grüße") (c:total (bytevector 1 2 3) 3) (c:puts "four"))
(c:set-pair-second! p 5.)
(show (c:pair-first (c:swapped p)) (c:pair-second (c:swapped p)))
(show (failing (c:triple 2147483648)) (failing (c:mix "a" 1. 2.)))

;; hot, with doubles that stay in registers and results that are checked
(define (loop i x n)
  (if (= i 0) (list x n) (loop (- i 1) (c:mix x 1. 1e-6) (c:triple (- (c:low n) 1)))))
(show (loop 100000 0. 5))

;; after a callback the calls that remain take the longer way
(define plus (c-callback int (int) (lambda (x) (+ x 1))))
(show (c:apply plus 41) (c:count) (c:mix 0. 8. .5) (c:triple 5))
