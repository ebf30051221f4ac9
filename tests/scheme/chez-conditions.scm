;; Conditions with control strings, warnings that may be handled, names of generated symbols, strings that cannot be
;; changed: (cairn chez).  Chez Scheme prints the same where nothing else is said.
(import (chezscheme) (only (scheme base) error-object-message error-object-irritants)
        (only (cairn control) condition->string))
(define-syntax show
  (syntax-rules () ((_ e ...) (begin (begin (write e) (newline)) ...))))
(define (kinds c) (filter (lambda (n) (not (eq? n '&continuation)))
                          (map (lambda (x) (record-type-name (record-rtd x))) (simple-conditions c))))
(define (parts c) (list (condition-who c) (condition-message c) (condition-irritants c) (format-condition? c)))
(define (said c) (call-with-string-output-port (lambda (p) (display-condition c p))))
(define-syntax caught
  (syntax-rules () ((_ (c use) e) (guard (c (#t use)) e))))

;; the message is the control string
(show (caught (c (parts c)) (errorf 'a "b ~s" 1))
      (caught (c (parts c)) (assertion-violationf 'a "b ~s and ~a" "x" "y"))
      (caught (c (kinds c)) (errorf 'a "b ~s" 1))
      (caught (c (kinds c)) (assertion-violationf #f "b"))
      (caught (c (said c)) (errorf 'a "b ~s and ~a" "x" "y"))
      (caught (c (said c)) (errorf #f "~5d|" 42))
      (caught (c (format-condition? c)) (error 'a "b"))
      (caught (c (said c)) (error 'a "b ~s" 1))
      (format-condition? (make-format-condition))
      (said (condition (make-error) (make-message-condition "~s!") (make-irritants-condition '("q"))
                       (make-format-condition))))

;; what does not fit the control string is shown by whoever reports it (Chez Scheme fails there)
(show (caught (c (list (error-object-message c) (error-object-irritants c))) (errorf 'a "b ~s"))
      (caught (c (condition->string c)) (errorf 'a "b" 1 "x"))
      (caught (c (condition->string c)) (errorf 'a "b ~s ~q" 1)))

;; warnings
(define (collecting thunk)
  (let ((seen '()))
    (with-exception-handler
     (lambda (c)
       (if (warning? c)
           (set! seen (cons (said c) seen))
           (raise c)))
     (lambda ()
       (thunk)
       (reverse seen)))))
(show (collecting (lambda ()
                    (warning 'w "careful" 1 "two")
                    (warningf 'w "~s is ~a" "x" "odd")
                    (warning #f "no who")))
      (with-exception-handler
       (lambda (c) (* 2 (car (condition-irritants c))))
       (lambda () (+ 1 (warning 'w "doubled" 21))))
      (caught (c (list (warning? c) (serious-condition? c) (parts c))) (warningf 'w "~s" 1)))
(call-with-string-output-port
 (lambda (port)
   (parameterize ((console-error-port port) (current-error-port port)) (warning 'w "nobody handles this" 1))
   (show 'goes-on)))

;; generated symbols
(define foo (gensym "foo"))
(show (symbol->string foo) (eq? foo 'foo) (eq? foo (gensym "foo")) (gensym? foo) (gensym? 'foo) (gensym? (gensym))
      (string? (gensym->unique-string foo)) (string=? (gensym->unique-string foo) (gensym->unique-string foo))
      (string=? (gensym->unique-string foo) (gensym->unique-string (gensym "foo")))
      (gensym->unique-string (gensym "a" "my-own"))
      (caught (c (condition-who c)) (gensym->unique-string 'foo)))
(define (prefix-of s) (substring s 0 2))
(gensym-prefix "qq")
(show (prefix-of (symbol->string (gensym))))

;; strings that cannot be changed
(define fixed (string->immutable-string (string #\a #\λ)))
(show fixed (immutable-string? fixed) (mutable-string? fixed) (mutable-string? (string #\a)) (immutable-string? 'a)
      (mutable-string? (string-append fixed fixed)) (mutable-string? (string-copy fixed))
      (eq? fixed (string->immutable-string fixed)) (string=? fixed "aλ")
      (caught (c (condition-who c)) (string-set! fixed 0 #\b))
      (caught (c (condition-who c)) (string-fill! fixed #\b))
      (caught (c (condition-who c)) (string->immutable-string 'a)))

;; break: its handler decides whether the program goes on
(parameterize ((break-handler (lambda who+message (show 'break who+message) 'answer)))
  (show (break))
  (show (break 'name "text ~s" 1 2)))
(show (call/cc
       (lambda (k)
         (parameterize ((break-handler (lambda who+message (k who+message))))
           (break 'out)
           'not-here))))
