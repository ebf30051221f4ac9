; memq and its kin in constant lists: results are parts of the constant, arguments are evaluated, errors stay.
(import (scheme base) (scheme write))

(define (show . xs) (for-each (lambda (x) (write x) (display " ")) xs) (newline))
(define-syntax failure
  (syntax-rules () ((_ e) (guard (c (#t (condition/report-string* c))) e))))
(define (condition/report-string* c) (cons (error-object-message c) (error-object-irritants c)))

(define colours '(red green blue))
(define (tail x) (memq x colours))
(show (eq? (tail 'green) (cdr colours)) (eq? (tail 'red) colours) (tail 'pink))
(define numbers '((1 . one) (2 . two) (3 . three)))
(show (eq? (assv 2 numbers) (cadr numbers)) (assv 4 numbers) (assoc 3 numbers) (assq 1 numbers))

(define (kind x)
  (cond
   ((memv x '(#\a #\e #\i #\o #\u)) 'vowel)
   ((memv x '(0 1 -1 1152921504606846975)) 'number)
   ((member x '(() #t #f)) 'constant)
   ((assq x '((if . syntax) (car . procedure))) => cdr)
   (else 'other)))
(show (map kind (list #\a #\b 0 1 -1 1152921504606846975 1152921504606846976 1.0 '() #t #f 'if 'car 'cdr "a" '(a))))

; what is compared is evaluated once, also when it cannot be there
(define count 0)
(define (next!) (set! count (+ count 1)) count)
(show (memv (next!) '(1 2 3)) (memv (next!) '(7)) (if (assv (next!) '((3 . 3))) 'yes 'no) count)

; contents are compared by member and assoc, and not by the others
(define (name) (string #\a))
(show (member (name) '("b" "a" "c")) (assoc (list 1) '(((1) . 2))) (memq (name) '("a")) (memv 1.5 '(1 1.5 2))
      (member 2.0 '(1 2 2.0)) (assv 100000000000000000000 '((100000000000000000000 . big))))

; lists that are none, elements that are no pairs
(define (in-dotted x) (failure (memq x '(a b . c))))
(define (in-mixed x) (failure (assq x '((a . 1) b (c . 2)))))
(show (in-dotted 'b) (car (in-dotted 'z)) (in-mixed 'a) (car (in-mixed 'c)))

; seventeen elements; a third argument; another procedure of that name
(define (letter? x) (and (memq x '(a b c d e f g h i j k l m n o p q)) #t))
(show (letter? 'a) (letter? 'q) (letter? 'r))
(show (member 2.0 '(1 2 3) =) (assoc 2.0 '((1 . 1) (2 . 2)) =))
(let ((memq (lambda (x l) (list x l)))) (show (memq 'a '(a b))))

; the list, or what is looked for, comes from elsewhere
(define (try what lists) (map (lambda (l) (memq what l)) lists))
(show (try 'a '((a) (b a) ())) (memq 'b '(a b c)) (assq 'b '((a 1) (b 2))))

; parts of constants, one of which is the empty list
(define (search-rest x) (list (memq x (cdr '(a b))) (memq x (cdr '(a))) (assq x (cdr '((a . 1)))) (assv x (cdr '((a . 1) (b . 2))))))
(show (search-rest 'b) (search-rest 'a))
(let ((l (cdr '(a b c)))) (show (memq 'c l) (eq? (memq 'c l) (cdr l)) (if (memq 'a l) 1 2)))
