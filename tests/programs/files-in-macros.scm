#!r6rs
;; Transformers of macros read files and strings while the program is expanded.
(import (rnrs))

;; Definitions from a file, as R6RS's libraries include them.
(define-syntax include-definitions
  (lambda (x)
    (define (forms path)
      (call-with-input-file path
        (lambda (p)
          (let loop ((all '()))
            (let ((form (read p)))
              (if (or (eof-object? form) (symbol? form) (not (pair? form)))
                  (reverse all)
                  (loop (cons form all))))))))
    (syntax-case x ()
      ((k path ...)
       (let ((found (filter file-exists? (syntax->datum #'(path ...)))))
         (if (null? found)
             (syntax-violation 'include-definitions "no such file" x)
             #`(begin #,@(map (lambda (form) (datum->syntax #'k form)) (forms (car found))))))))))
(include-definitions "no/such/file" "tests/programs/include/shapes.txt" "../../tests/programs/include/shapes.txt")
(write (list (area 2 3) unit (twice (area 1 1))))
(newline)

;; What `read` and the other procedures make of a text, as a constant.
(define-syntax parts-of
  (lambda (x)
    (define (all read p)
      (let loop ((parts '()))
        (let ((part (read p)))
          (if (eof-object? part) (reverse parts) (loop (cons part parts))))))
    (syntax-case x ()
      ((k how text)
       (let ((p (open-string-input-port (syntax->datum #'text))))
         (with-syntax ((parts (datum->syntax #'k
                                (case (syntax->datum #'how)
                                  ((data) (all read p))
                                  ((chars) (all (lambda (p) (peek-char p) (read-char p)) p))
                                  ((lines) (all get-line p))
                                  ((three) (all (lambda (p) (get-string-n p 3)) p))
                                  ((rest) (read-char p) (list (get-string-all p) (input-port? p) (output-port? p)))))))
           (close-port p)
           #''parts))))))
(write (list (parts-of data " (a . b) |x y| #(1 \"λ\") #\\x 1.5 ; end")
             (parts-of chars "aλ\n") (parts-of lines "one\n\nλ three") (parts-of three "abcdλ") (parts-of rest "xyz")))
(newline)

;; Its mistakes are errors that it may handle.
(define-syntax refused
  (lambda (x)
    (syntax-case x ()
      ((k text)
       (datum->syntax #'k
         (call/cc (lambda (return)
                    (with-exception-handler
                      (lambda (e) (return (condition-message e)))
                      (lambda () (read (open-string-input-port (syntax->datum #'text))))))))))))
(display (refused "(a . "))
(newline)

;; Text is written character by character, too.
(define-syntax written
  (lambda (x)
    (syntax-case x ()
      ((k text)
       (datum->syntax #'k
         (call-with-string-output-port
           (lambda (p)
             (for-each (lambda (c) (write-char c p) (put-char p #\λ)) (string->list (syntax->datum #'text)))
             (newline p))))))))
(write (written "ab"))
(newline)
