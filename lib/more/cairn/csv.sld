;;; (cairn csv): tables as text of comma-separated values (RFC 4180).
;;;
;;; A row is a list of strings.  A field in quotation marks may contain separators, line ends and, doubled, quotation
;;; marks.  Lines end by LF, CRLF or CR; rows are written with LF, which `csv-write` can be told otherwise.
(define-library (cairn csv)
  (export csv-read-row csv-read csv-fold csv-write-row csv-write)
  (import (scheme base) (scheme case-lambda) (only (cairn control) wrong-type))
  (begin

    (define (check-separator who c)
      (if (not (and (char? c) (not (memv c '(#\" #\newline #\return)))))
          (wrong-type who "a character that can separate fields" c)))

    ;; The next row, or the end-of-file object.
    (define csv-read-row
      (case-lambda
        (() (csv-read-row (current-input-port)))
        ((in) (csv-read-row in #\,))
        ((in separator)
         (check-separator "csv-read-row" separator)
         (if (eof-object? (peek-char in))
             (eof-object)
             (read-row in separator)))))

    (define (read-row in separator)
      (let ((out (open-output-string)))
        ;; behind a line end
        (define (end-row c fields)
          (if (and (char? c) (char=? c #\return) (eqv? (peek-char in) #\newline)) (read-char in))
          (reverse fields))
        (define (end? c) (or (eof-object? c) (char=? c #\newline) (char=? c #\return)))
        (define (field fields)
          (if (eqv? (peek-char in) #\")
              (begin
                (read-char in)
                (quoted fields))
              (bare (read-char in) fields)))
        (define (take-field! fields)
          (let ((text (get-output-string out)))
            (set! out (open-output-string))
            (cons text fields)))
        (define (bare c fields)
          (cond ((end? c) (end-row c (take-field! fields)))
                ((char=? c separator) (field (take-field! fields)))
                (else
                 (write-char c out)
                 (bare (read-char in) fields))))
        (define (quoted fields)
          (let ((c (read-char in)))
            (cond
              ((eof-object? c) (error "csv: a quotation mark is missing at the end of a field:" (get-output-string
                                                                                                 out)))
              ((not (char=? c #\"))
               (write-char c out)
               (quoted fields))
              ((eqv? (peek-char in) #\")
               (read-char in)
               (write-char c out)
               (quoted fields))
              (else
               ;; whatever stands between the mark and the separator belongs to the field
               (bare (read-char in) fields)))))
        (field '())))

    ;; Calls `in` with a port of the text, if it is one.
    (define (with-input who x proc)
      (cond ((string? x) (proc (open-input-string x)))
            ((and (input-port? x) (textual-port? x)) (proc x))
            (else (wrong-type who "a string or a textual input port" x))))

    ;; All rows of a port or a string, in order: (proc row acc).
    (define csv-fold
      (case-lambda
        ((proc nil x) (csv-fold proc nil x #\,))
        ((proc nil x separator)
         (with-input
          "csv-fold" x
          (lambda (in)
            (let loop ((acc nil))
              (let ((row (csv-read-row in separator)))
                (if (eof-object? row) acc (loop (proc row acc))))))))))
    (define csv-read
      (case-lambda
        (() (csv-read (current-input-port)))
        ((x) (csv-read x #\,))
        ((x separator) (reverse (csv-fold cons '() x separator)))))

    ;;;; Writing

    (define (needs-quotes? text separator)
      (let ((n (string-length text)))
        (let loop ((i 0))
          (and (< i n)
               (let ((c (string-ref text i)))
                 (or (char=? c separator) (char=? c #\") (char=? c #\newline) (char=? c #\return)
                     (loop (+ i 1))))))))
    (define (write-field x separator out)
      (let ((text (cond ((string? x) x)
                        ((number? x) (number->string x))
                        ((symbol? x) (symbol->string x))
                        (else (wrong-type "csv-write-row" "a string, a number or a symbol" x)))))
        (if (needs-quotes? text separator)
            (begin
              (write-char #\" out)
              (string-for-each
               (lambda (c)
                 (if (char=? c #\") (write-char c out))
                 (write-char c out))
               text)
              (write-char #\" out))
            (write-string text out))))

    ;; A list of strings, numbers and symbols.
    (define csv-write-row
      (case-lambda
        ((row) (csv-write-row row (current-output-port)))
        ((row out) (csv-write-row row out #\,))
        ((row out separator) (csv-write-row row out separator "\n"))
        ((row out separator end)
         (check-separator "csv-write-row" separator)
         (if (not (list? row)) (wrong-type "csv-write-row" "a list" row))
         (if (equal? row '(""))
             ;; else it would be read as a row without fields
             (write-string "\"\"" out)
             (let loop ((l row))
               (if (pair? l)
                   (begin
                     (if (not (eq? l row)) (write-char separator out))
                     (write-field (car l) separator out)
                     (loop (cdr l))))))
         (write-string end out))))
    (define (csv-write rows . more)
      (for-each (lambda (row) (apply csv-write-row row more)) rows))))
