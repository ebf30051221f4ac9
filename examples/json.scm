;;; JSON: a parser and a pretty-printer.
;;;
;;;     ./cairn run examples/json.scm FILE     prints FILE's value, indented, keys in order
;;;     ./cairn run examples/json.scm          the same for a sample
;;;
;;; JSON            here
;;; object          hash table, string to value
;;; array           vector
;;; string, number  string, number
;;; true, false     #t, #f
;;; null            the symbol null

(import (scheme base) (scheme char) (scheme write) (scheme file) (scheme process-context)
        (cairn hash-table) (cairn sort))

;;;; Parsing: one character of lookahead, line numbers for messages.

(define-record-type reader
  (make-reader port line)
  reader?
  (port reader-port)
  (line reader-line set-reader-line!))

(define-record-type json-error
  (make-json-error message line)
  json-error?
  (message json-error-message)
  (line json-error-line))

(define (complain r . parts)
  (let ((out (open-output-string)))
    (for-each (lambda (x) (display x out)) parts)
    (raise (make-json-error (get-output-string out) (reader-line r)))))

(define (peek r)
  (peek-char (reader-port r)))

(define (next! r)
  (let ((c (read-char (reader-port r))))
    (if (eqv? c #\newline)
        (set-reader-line! r (+ 1 (reader-line r))))
    c))

(define (skip-space! r)
  (let ((c (peek r)))
    (when (and (char? c) (char-whitespace? c))
      (next! r)
      (skip-space! r))))

(define (show c)
  (if (eof-object? c) "the end of the text" (string #\" c #\")))

(define (expect! r c)
  (let ((actual (next! r)))
    (unless (eqv? actual c)
      (complain r "expected " (show c) ", found " (show actual)))))

(define (parse-word r word value)
  (string-for-each (lambda (c) (expect! r c)) word)
  value)

(define (parse-value r)
  (skip-space! r)
  (let ((c (peek r)))
    (cond
      ((eof-object? c) (complain r "a value is missing"))
      ((char=? c #\{) (parse-object r))
      ((char=? c #\[) (parse-array r))
      ((char=? c #\") (parse-string r))
      ((char=? c #\t) (parse-word r "true" #t))
      ((char=? c #\f) (parse-word r "false" #f))
      ((char=? c #\n) (parse-word r "null" 'null))
      ((or (char-numeric? c) (char=? c #\-)) (parse-number r))
      (else (complain r "unexpected " (show c))))))

;; Items up to `close`, separated by commas; `item!` reads one.
(define (parse-items r close item!)
  (next! r)
  (skip-space! r)
  (if (eqv? (peek r) close)
      (next! r)
      (let loop ()
        (item!)
        (skip-space! r)
        (let ((c (next! r)))
          (cond
            ((eqv? c #\,) (loop))
            ((not (eqv? c close))
             (complain r "expected \",\" or " (show close) ", found " (show c))))))))

(define (parse-array r)
  (let ((items '()))
    (parse-items r #\] (lambda () (set! items (cons (parse-value r) items))))
    (list->vector (reverse items))))

(define (parse-object r)
  (let ((table (make-hash-table string=?)))
    (parse-items r #\}
      (lambda ()
        (skip-space! r)
        (let ((key (parse-string r)))
          (skip-space! r)
          (expect! r #\:)
          (hash-table-set! table key (parse-value r)))))
    table))

(define (parse-hex r)
  (let loop ((i 0) (n 0))
    (if (= i 4)
        n
        (let* ((c (next! r))
               (digit (and (char? c) (string->number (string c) 16))))
          (if digit
              (loop (+ i 1) (+ (* n 16) digit))
              (complain r "four hexadecimal digits must follow \\u"))))))

;; A character beyond the basic plane is written as two surrogates.
(define (parse-unicode r)
  (let ((n (parse-hex r)))
    (cond
      ((<= #xD800 n #xDBFF)
       (expect! r #\\)
       (expect! r #\u)
       (let ((low (parse-hex r)))
         (if (<= #xDC00 low #xDFFF)
             (integer->char (+ #x10000 (* (- n #xD800) #x400) (- low #xDC00)))
             (complain r "half of a surrogate pair"))))
      ((<= #xDC00 n #xDFFF) (complain r "half of a surrogate pair"))
      (else (integer->char n)))))

(define (parse-string r)
  (expect! r #\")
  (let ((out (open-output-string)))
    (let loop ()
      (let ((c (next! r)))
        (cond
          ((eof-object? c) (complain r "a string does not end"))
          ((char=? c #\") (get-output-string out))
          ((char=? c #\\)
           (let ((e (next! r)))
             (write-char
              (case e
                ((#\n) #\newline)
                ((#\t) #\tab)
                ((#\r) #\return)
                ((#\b) #\backspace)
                ((#\f) #\x0c)
                ((#\" #\\ #\/) e)
                ((#\u) (parse-unicode r))
                (else (complain r "unknown escape \\" (if (char? e) e ""))))
              out))
           (loop))
          (else
           (write-char c out)
           (loop)))))))

(define (parse-number r)
  (let loop ((chars '()))
    (let ((c (peek r)))
      (if (and (char? c) (or (char-numeric? c) (memv c '(#\- #\+ #\. #\e #\E))))
          (loop (cons (next! r) chars))
          (let ((text (list->string (reverse chars))))
            (or (string->number text)
                (complain r "not a number: " text)))))))

(define (parse-json port)
  (let* ((r (make-reader port 1))
         (value (parse-value r)))
    (skip-space! r)
    (unless (eof-object? (peek r))
      (complain r "text after the value: " (show (peek r))))
    value))

;;;; Printing

(define (print-string s)
  (write-char #\")
  (string-for-each
   (lambda (c)
     (case c
       ((#\") (write-string "\\\""))
       ((#\\) (write-string "\\\\"))
       ((#\newline) (write-string "\\n"))
       ((#\tab) (write-string "\\t"))
       ((#\return) (write-string "\\r"))
       (else
        (let ((n (char->integer c)))
          (if (< n 32)
              (begin
                (write-string (if (< n 16) "\\u000" "\\u00"))
                (write-string (number->string n 16)))
              (write-char c))))))
   s)
  (write-char #\"))

(define (print-items open close items print-item indent)
  (write-char open)
  (unless (null? items)
    (let ((inner (+ indent 2)))
      (let loop ((items items))
        (newline)
        (write-string (make-string inner #\space))
        (print-item (car items) inner)
        (unless (null? (cdr items))
          (write-char #\,)
          (loop (cdr items)))))
    (newline)
    (write-string (make-string indent #\space)))
  (write-char close))

(define (print-json x indent)
  (cond
    ((hash-table? x)
     (print-items #\{ #\} (list-sort string<? (hash-table-keys x))
                  (lambda (key indent)
                    (print-string key)
                    (write-string ": ")
                    (print-json (hash-table-ref x key) indent))
                  indent))
    ((vector? x)
     (print-items #\[ #\] (vector->list x) print-json indent))
    ((string? x) (print-string x))
    ((number? x) (write x))
    ((eq? x #t) (write-string "true"))
    ((eq? x #f) (write-string "false"))
    (else (write-string "null"))))

;; Height of the value and number of its leaves.
(define (measure x)
  (define (over items)
    (let loop ((items items) (height 0) (leaves 0))
      (if (null? items)
          (values (+ height 1) leaves)
          (let-values (((h n) (measure (car items))))
            (loop (cdr items) (max h height) (+ leaves n))))))
  (cond
    ((hash-table? x) (over (hash-table-values x)))
    ((vector? x) (over (vector->list x)))
    (else (values 0 1))))

(define sample "
{ \"name\": \"Cairn\", \"since\": 2026, \"stable\": false, \"licence\": null,
  \"pages\": [ { \"title\": \"Tour\", \"sizes\": [1, 2.5, -3e2, 0.1] },
             { \"title\": \"Caf\\u00e9 \\ud83d\\ude00 \\\"quoted\\\"\", \"sizes\": [] } ],
  \"limits\": { \"fixnum\": 1152921504606846975, \"beyond\": 123456789012345678901234567890 } }")

(define (run name port)
  (guard (e ((json-error? e)
             (display name)
             (display ":")
             (display (json-error-line e))
             (display ": ")
             (display (json-error-message e))
             (newline)
             #f))
    (let ((value (parse-json port)))
      (print-json value 0)
      (newline)
      (let-values (((height leaves) (measure value)))
        (display "height ")
        (display height)
        (display ", leaves ")
        (display leaves)
        (newline))
      #t)))

(let ((arguments (cdr (command-line))))
  (if (null? arguments)
      (begin
        (run "sample" (open-input-string sample))
        ;; and what errors look like
        (run "broken" (open-input-string "[1, 2,\n 3 4]"))
        (run "broken" (open-input-string "{\"a\": \"\\q\"}")))
      (for-each
       (lambda (file)
         (if (not (guard (e ((file-error? e)
                             (display (error-object-message e))
                             (newline)
                             #f))
                    (call-with-input-file file (lambda (port) (run file port)))))
             (exit 1)))
       arguments)))
