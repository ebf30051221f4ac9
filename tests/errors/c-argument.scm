; An argument that C cannot have is shown where the program calls.
(import (scheme base) (scheme write) (cairn c))
(define magnitude (c-procedure int "abs" (int)))
(define (magnitudes l) (list (map (lambda (x) (+ 0 (magnitude x))) l)))
(write (magnitudes '(-1 2)))
(newline)
(write (magnitudes (list 3 2147483648)))
