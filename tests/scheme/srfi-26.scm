;; (srfi 26): slots are known whether `<>` and `<...>` come with `cut`, come under other names, or are not imported at
;; all, as in programs that were written where they are no bindings.
(import (scheme base) (scheme write) (only (srfi 26) cut cute)
        (rename (prefix (srfi 26) a:) (a:<> _1) (a:<...> rest)))
(define (show . xs) (for-each (lambda (x) (write x) (display " ")) xs) (newline))
(show ((cut + <> 1) 2) ((cute + <> 1) 2))
(show ((cut list 1 <> 3 <>) 2 4) ((cut list)) ((cut <> 1 2) list) ((cut <> 1 <...>) list 5 6))
(show ((cut list <...>)) ((cut list <...>) 1 2) ((cute list <> <...>) 1 2 3))
(show ((a:cut list _1 1 rest) 2 3 4) ((a:cute list _1 1 rest) 2 3 4) ((a:cut list _1 <> rest) 1 2 3))
(define calls 0)
(define (once) (set! calls (+ calls 1)) calls)
(let ((f (cute list (once) <>)) (g (cut list (once) <>)))
  (let* ((a (f 'a)) (b (f 'b)) (c (g 'c)) (d (g 'd)))
    (show a b c d)))
(show (map (cut * 2 <>) '(1 2 3)) (map (cut (cut list <> 'inner) <>) '(1 2)))
;; in the expansion of a macro that does not import them either
(define-syntax mapping
  (syntax-rules () ((_ f slot ...) (lambda (l) (map (cut f slot ...) l)))))
(show ((mapping - 10 <>) '(1 2 3)) ((mapping list <> <...>) '(1 2)))
