;;; (srfi 180): JSON.
;;;
;;; The reader goes forward by one character at a time, looking at the next one, so a port is where the value ended.  A
;;; *source* is a port, or a generator of characters with the character that was looked at.  `json-read` is a recursive
;;; descent that makes objects; `json-generator` and `json-fold` go over events, with a stack of what is open.
(define-library (srfi 180)
  (export json-error? json-error-reason json-null? json-nesting-depth-limit json-number-of-character-limit
          json-generator json-fold json-read json-lines-read json-sequence-read json-accumulator json-write)
  (import (scheme base) (scheme case-lambda) (only (cairn control) wrong-type condition? condition-who))
  (begin

    ;;;; Errors: error objects whose message begins so

    (define (fail reason . irritants)
      (apply error (string-append "json: " reason) irritants))
    (define (json-error? x)
      (and (error-object? x)
           (let ((message (error-object-message x)))
             (and (string? message)
                  (>= (string-length message) 6)
                  (string=? (substring message 0 6) "json: ")))))
    (define (json-error-reason x)
      (if (json-error? x)
          (let ((message (error-object-message x)))
            (substring message 6 (string-length message)))
          (wrong-type "json-error-reason" "an error of JSON" x)))

    (define (json-null? x) (eq? x 'null))

    (define json-nesting-depth-limit (make-parameter +inf.0))
    (define json-number-of-character-limit (make-parameter +inf.0))

    ;;;; Sources

    (define-record-type <source>
      (make-source port generator ahead depth)
      source?
      (port source-port)
      (generator source-generator)
      ;; the character that was looked at, or #f
      (ahead source-ahead set-source-ahead!)
      (depth source-depth))

    (define (source who x)
      (let ((depth (json-nesting-depth-limit)) (limit (json-number-of-character-limit)))
        (cond
          ((and (input-port? x) (textual-port? x))
           (if (= limit +inf.0)
               (make-source x #f #f depth)
               (make-source #f (limited (lambda () (read-char x)) limit) #f depth)))
          ((procedure? x) (make-source #f (if (= limit +inf.0) x (limited x limit)) #f depth))
          (else (wrong-type who "a textual input port or a generator" x)))))
    (define (limited generator limit)
      (let ((n 0))
        (lambda ()
          (let ((c (generator)))
            (if (not (eof-object? c)) (set! n (+ n 1)))
            (if (>= n limit) (fail "the text is too long") c)))))

    (define (peek s)
      (let ((port (source-port s)))
        (if port
            (peek-char port)
            (or (source-ahead s)
                (let ((c ((source-generator s))))
                  (set-source-ahead! s c)
                  c)))))
    ;; Takes the character that was looked at.
    (define (skip! s)
      (let ((port (source-port s)))
        (if port
            (read-char port)
            (set-source-ahead! s #f))))

    ;; What a port reads that is no text is an error of JSON, too.
    (define-syntax reading
      (syntax-rules ()
        ((_ s body)
         (if (source-port s)
             (guard (e ((and (condition? e) (member (condition-who e) '("peek-char" "read-char")))
                        (apply fail (error-object-message e) (error-object-irritants e))))
               body)
             body))))

    ;; The next character that is not white.
    (define (peek-token s)
      (let ((c (peek s)))
        (if (and (char? c)
                 (or (char=? c #\space) (char=? c #\newline) (char=? c #\return) (char=? c #\tab)))
            (begin
              (skip! s)
              (peek-token s))
            c)))

    (define (unexpected c where)
      (if (eof-object? c)
          (fail (string-append "the text ends " where))
          (fail (string-append "unexpected character " where ":") c)))

    ;;;; Values without parts

    (define (expect-word s word value)
      (let ((n (string-length word)))
        (let loop ((i 0))
          (if (= i n)
              value
              (let ((c (peek s)))
                (if (and (char? c) (char=? c (string-ref word i)))
                    (begin
                      (skip! s)
                      (loop (+ i 1)))
                    (unexpected c (string-append "in " word))))))))

    (define (digit? c) (and (char? c) (char<=? #\0 c) (char<=? c #\9)))
    (define (digit-of c) (- (char->integer c) 48))

    ;; An integer of few digits is computed on the way; anything else goes through its text.
    (define (read-json-number s)
      (let ((negative? (char=? (peek s) #\-)))
        (if negative? (skip! s))
        (let ((c (peek s)))
          (cond
            ((not (digit? c)) (unexpected c "in a number"))
            ((char=? c #\0)
             (skip! s)
             (if (digit? (peek s)) (unexpected (peek s) "behind a zero"))
             (rest-of-number s negative? 0))
            (else
             (let loop ((n 0))
               (let ((c (peek s)))
                 (if (digit? c)
                     (begin
                       (skip! s)
                       (loop (+ (* 10 n) (digit-of c))))
                     (rest-of-number s negative? n)))))))))
    (define (rest-of-number s negative? n)
      (let ((c (peek s)))
        (if (memv c '(#\. #\e #\E))
            (let ((out (open-output-string)))
              (define (digits!)
                (if (not (digit? (peek s))) (unexpected (peek s) "in a number"))
                (let loop ()
                  (let ((c (peek s)))
                    (if (digit? c)
                        (begin
                          (skip! s)
                          (write-char c out)
                          (loop))))))
              (if negative? (write-char #\- out))
              (write-string (number->string n) out)
              (if (char=? c #\.)
                  (begin
                    (skip! s)
                    (write-char #\. out)
                    (digits!)))
              (if (memv (peek s) '(#\e #\E))
                  (begin
                    (skip! s)
                    (write-char #\e out)
                    (if (memv (peek s) '(#\+ #\-))
                        (begin
                          (write-char (peek s) out)
                          (skip! s)))
                    (digits!)))
              (end-number s (inexact (string->number (get-output-string out)))))
            (end-number s (if negative? (- n) n)))))
    (define (end-number s n)
      (let ((c (peek s)))
        (if (or (eof-object? c) (memv c '(#\, #\] #\} #\space #\newline #\return #\tab)))
            n
            (unexpected c "behind a number"))))

    ;; Behind the quotation mark.
    (define (read-json-string s)
      (let loop ((buffer (make-string 16)) (n 0))
        (let ((c (peek s)))
          (cond
            ((eof-object? c) (unexpected c "in a string"))
            ((char=? c #\")
             (skip! s)
             (substring buffer 0 n))
            ((char<? c #\space) (fail "a control character in a string:" c))
            (else
             (skip! s)
             (let ((c (if (char=? c #\\) (read-escape s) c))
                   (buffer (if (= n (string-length buffer)) (larger buffer) buffer)))
               (string-set! buffer n c)
               (loop buffer (+ n 1))))))))
    (define (larger buffer)
      (let ((new (make-string (* 2 (string-length buffer)))))
        (string-copy! new 0 buffer)
        new))
    (define (read-escape s)
      (let ((c (peek s)))
        (if (eof-object? c) (unexpected c "in a string"))
        (skip! s)
        (case c
          ((#\" #\\ #\/) c)
          ((#\b) #\backspace)
          ((#\f) #\page)
          ((#\n) #\newline)
          ((#\r) #\return)
          ((#\t) #\tab)
          ((#\u)
           (let ((n (read-hexadecimal s)))
             (cond
               ((<= #xd800 n #xdbff)
                (if (not (and (eqv? (peek s) #\\)
                              (begin
                                (skip! s)
                                (eqv? (peek s) #\u))))
                    (fail "half a character in a string:" (number->string n 16)))
                (skip! s)
                (let ((m (read-hexadecimal s)))
                  (if (not (<= #xdc00 m #xdfff)) (fail "half a character in a string:" (number->string n 16)))
                  (integer->char (+ #x10000 (* #x400 (- n #xd800)) (- m #xdc00)))))
               ((<= #xdc00 n #xdfff) (fail "half a character in a string:" (number->string n 16)))
               (else (integer->char n)))))
          (else (fail "not an escape in a string:" c)))))
    (define (read-hexadecimal s)
      (let loop ((i 0) (n 0))
        (if (= i 4)
            n
            (let* ((c (peek s)) (d (and (char? c) (char<? c #\x80) (string->number (string c) 16))))
              (if (not d) (unexpected c "in an escape"))
              (skip! s)
              (loop (+ i 1) (+ (* 16 n) d))))))

    ;; A value that is not a structure and begins with c.
    (define (read-simple s c)
      (cond
        ((eof-object? c) (unexpected c "where a value is expected"))
        ((char=? c #\")
         (skip! s)
         (read-json-string s))
        ((or (digit? c) (char=? c #\-)) (read-json-number s))
        ((char=? c #\t) (expect-word s "true" #t))
        ((char=? c #\f) (expect-word s "false" #f))
        ((char=? c #\n) (expect-word s "null" 'null))
        (else (unexpected c "where a value is expected"))))

    ;;;; Objects

    (define (read-value s depth)
      (let ((c (peek-token s)))
        (cond
          ((eqv? c #\[)
           (skip! s)
           (enter s depth)
           (read-array s (+ depth 1)))
          ((eqv? c #\{)
           (skip! s)
           (enter s depth)
           (read-object s (+ depth 1)))
          (else (read-simple s c)))))
    (define (enter s depth)
      (if (>= (+ depth 1) (source-depth s)) (fail "the text is nested too deep")))

    (define (read-array s depth)
      (if (eqv? (peek-token s) #\])
          (begin
            (skip! s)
            (vector))
          (let loop ((elements '()) (n 0))
            (let* ((elements (cons (read-value s depth) elements)) (n (+ n 1)) (c (peek-token s)))
              (cond
                ((eqv? c #\,)
                 (skip! s)
                 (loop elements n))
                ((eqv? c #\])
                 (skip! s)
                 (let ((v (make-vector n)))
                   (let fill ((i (- n 1)) (l elements))
                     (if (< i 0)
                         v
                         (begin
                           (vector-set! v i (car l))
                           (fill (- i 1) (cdr l)))))))
                (else (unexpected c "in an array")))))))

    (define (read-key s)
      (let ((c (peek-token s)))
        (if (not (eqv? c #\")) (unexpected c "where a key is expected"))
        (skip! s)
        (let* ((key (read-json-string s)) (c (peek-token s)))
          (if (not (eqv? c #\:)) (unexpected c "behind a key"))
          (skip! s)
          key)))
    (define (read-object s depth)
      (if (eqv? (peek-token s) #\})
          (begin
            (skip! s)
            '())
          (let loop ((entries '()))
            (let* ((key (string->symbol (read-key s)))
                   (entries (cons (cons key (read-value s depth)) entries))
                   (c (peek-token s)))
              (cond
                ((eqv? c #\,)
                 (skip! s)
                 (loop entries))
                ((eqv? c #\})
                 (skip! s)
                 (reverse entries))
                (else (unexpected c "in an object")))))))

    (define json-read
      (case-lambda
        (() (json-read (current-input-port)))
        ((x)
         (let ((s (source "json-read" x)))
           (reading s
             (let ((c (peek-token s)))
               (cond
                 ((eof-object? c) c)
                 ((char=? c #\xfeff)
                  ;; the mark of UTF-8 texts
                  (skip! s)
                  (read-value s 0))
                 (else (read-value s 0)))))))))

    (define json-lines-read
      (case-lambda
        (() (json-lines-read (current-input-port)))
        ((x)
         (let ((s (source "json-lines-read" x)))
           (lambda ()
             (reading s
               (let ((c (peek-token s)))
                 (if (eof-object? c) c (read-value s 0)))))))))

    ;; Each text stands behind a record separator; one that is broken is left out (RFC 7464).
    (define json-sequence-read
      (case-lambda
        (() (json-sequence-read (current-input-port)))
        ((x)
         (let ((s (source "json-sequence-read" x)))
           (define (separator? c) (eqv? c #\x1e))
           (define (read-text)
             (let ((out (open-output-string)))
               (let loop ()
                 (let ((c (peek s)))
                   (if (or (eof-object? c) (separator? c))
                       (get-output-string out)
                       (begin
                         (skip! s)
                         (write-char c out)
                         (loop)))))))
           (define (next)
             (let ((c (peek s)))
               (cond
                 ((eof-object? c) c)
                 ((separator? c)
                  (skip! s)
                  (let ((value (guard (e ((json-error? e) (eof-object))) (json-read (open-input-string (read-text))))))
                    (if (eof-object? value) (next) value)))
                 (else
                  (skip! s)
                  (next)))))
           next))))

    ;;;; Events

    ;; A generator of events.  `open` is a list of what is open, innermost first: array or object; `expects` is what may
    ;; come: a value, the first element of an array or the first key, what follows a value, or nothing more.
    (define json-generator
      (case-lambda
        (() (json-generator (current-input-port)))
        ((x)
         (let ((s (source "json-generator" x)) (open '()) (depth 0) (expects 'value))
           (define (done! value)
             (set! expects (if (null? open) 'nothing 'next))
             value)
           (define (open! kind event)
             (skip! s)
             (enter s depth)
             (set! open (cons kind open))
             (set! depth (+ depth 1))
             (set! expects 'first)
             event)
           (define (close! event)
             (skip! s)
             (set! open (cdr open))
             (set! depth (- depth 1))
             (done! event))
           (define (value c)
             (cond ((eqv? c #\[) (open! 'array 'array-start))
                   ((eqv? c #\{) (open! 'object 'object-start))
                   (else (done! (read-simple s c)))))
           (define (key)
             (let ((key (read-key s)))
               (set! expects 'value)
               key))
           (define (next)
             (if (eq? expects 'nothing)
                 (eof-object)
                 (let ((c (peek-token s)) (array? (and (pair? open) (eq? (car open) 'array))))
                   (case expects
                     ((value)
                      (if (and (null? open) (eof-object? c)) c (value c)))
                     ((first)
                      (cond (array? (if (eqv? c #\]) (close! 'array-end) (value c)))
                            ((eqv? c #\}) (close! 'object-end))
                            (else (key))))
                     (else
                      (cond
                        ((eqv? c #\,)
                         (skip! s)
                         (if array? (value (peek-token s)) (key)))
                        ((and array? (eqv? c #\])) (close! 'array-end))
                        ((and (not array?) (eqv? c #\})) (close! 'object-end))
                        (else (unexpected c (if array? "in an array" "in an object")))))))))
           (lambda () (reading s (next)))))))

    (define json-fold
      (case-lambda
        ((proc array-start array-end object-start object-end seed)
         (json-fold proc array-start array-end object-start object-end seed (current-input-port)))
        ((proc array-start array-end object-start object-end seed x)
         (let ((events (json-generator x)))
           ;; the seeds around the structure that is open
           (let loop ((seed seed) (around '()))
             (let ((event (events)))
               (cond
                 ((eof-object? event) seed)
                 ((eq? event 'array-start) (loop (array-start seed) (cons seed around)))
                 ((eq? event 'object-start) (loop (object-start seed) (cons seed around)))
                 ((eq? event 'array-end) (loop (proc (array-end seed) (car around)) (cdr around)))
                 ((eq? event 'object-end) (loop (proc (object-end seed) (car around)) (cdr around)))
                 (else (loop (proc event seed) around)))))))))

    ;;;; Writing

    ;; A procedure that writes a part of a string, or all of it.
    (define (writer who x)
      (cond
        ((and (output-port? x) (textual-port? x))
         (case-lambda
           ((text) (write-part text x 0 (string-length text)))
           ((text start end) (write-part text x start end))))
        ((procedure? x)
         (case-lambda
           ((text) (x text))
           ((text start end) (x (substring text start end)))))
        (else (wrong-type who "a textual output port or an accumulator" x))))

    ;; One character after the other, if there are few.
    (define (write-part text out start end)
      (if (< (- end start) 24)
          (let loop ((i start))
            (if (< i end)
                (begin
                  (write-char (string-ref text i) out)
                  (loop (+ i 1)))))
          (write-string text out start end)))

    (define (write-json-string text put)
      (let ((n (string-length text)))
        (put "\"")
        (let loop ((start 0) (i 0))
          (if (= i n)
              (if (< start i) (put text start i))
              (let* ((c (string-ref text i))
                     (escape
                      (case (if (or (char<? c #\#) (char=? c #\\)) c #\a)
                        ((#\") "\\\"")
                        ((#\\) "\\\\")
                        ((#\newline) "\\n")
                        ((#\return) "\\r")
                        ((#\tab) "\\t")
                        ((#\backspace) "\\b")
                        ((#\page) "\\f")
                        (else
                         (and (char<? c #\space)
                              (let ((digits (number->string (char->integer c) 16)))
                                (string-append (substring "\\u0000" 0 (- 6 (string-length digits))) digits)))))))
                (if escape
                    (begin
                      (if (< start i) (put text start i))
                      (put escape)
                      (loop (+ i 1) (+ i 1)))
                    (loop start (+ i 1))))))
        (put "\"")))

    (define (finite-number? x)
      (or (exact-integer? x)
          (and (real? x) (inexact? x) (= x x) (< -inf.0 x +inf.0))))
    ;; JSON wants digits on both sides of the point.
    (define (write-json-number x put)
      (let* ((text (number->string x)) (n (string-length text)))
        (cond
          ((exact? x) (put text))
          ((char=? (string-ref text 0) #\.) (put (string-append "0" text)))
          ((and (> n 1) (char=? (string-ref text 0) #\-) (char=? (string-ref text 1) #\.))
           (put (string-append "-0" (substring text 1 n))))
          ((char=? (string-ref text (- n 1)) #\.) (put (string-append text "0")))
          (else (put text)))))

    (define (write-simple x put)
      (cond ((string? x) (write-json-string x put))
            ((eq? x #t) (put "true"))
            ((eq? x #f) (put "false"))
            ((eq? x 'null) (put "null"))
            ((finite-number? x) (write-json-number x put))
            (else (fail "JSON has no such value:" x))))

    ;; All is looked at before anything is written.
    (define (check-value x)
      (cond
        ((vector? x) (vector-for-each check-value x))
        ((null? x) #t)
        ((pair? x)
         (if (not (list? x)) (fail "an object is an association list:" x))
         (for-each
          (lambda (entry)
            (if (not (and (pair? entry) (symbol? (car entry)))) (fail "an entry of an object is (symbol . value):"
                                                                      entry))
            (check-value (cdr entry)))
          x))
        ((or (string? x) (boolean? x) (eq? x 'null) (finite-number? x)) #t)
        (else (fail "JSON has no such value:" x))))

    (define (write-value x put)
      (cond
        ((vector? x)
         (put "[")
         (let ((n (vector-length x)))
           (let loop ((i 0))
             (if (< i n)
                 (begin
                   (if (> i 0) (put ","))
                   (write-value (vector-ref x i) put)
                   (loop (+ i 1))))))
         (put "]"))
        ((or (null? x) (pair? x))
         (put "{")
         (let loop ((l x))
           (if (pair? l)
               (begin
                 (if (not (eq? l x)) (put ","))
                 (write-json-string (symbol->string (car (car l))) put)
                 (put ":")
                 (write-value (cdr (car l)) put)
                 (loop (cdr l)))))
         (put "}"))
        (else (write-simple x put))))

    (define json-write
      (case-lambda
        ((x) (json-write x (current-output-port)))
        ((x out)
         (let ((put (writer "json-write" out)))
           (check-value x)
           (write-value x put)))))

    ;; What is open is a list, innermost first, of what may come: the first or a further element, the first or a further
    ;; key, the value of a key.
    (define (json-accumulator out)
      (let ((put (writer "json-accumulator" out)) (open '()) (done? #f))
        (define (become! state) (set! open (cons state (cdr open))))
        ;; something that is a value follows
        (define (before-value x)
          (if done? (fail "the text is complete, but there is more:" x))
          (if (pair? open)
              (case (car open)
                ((first-element) (become! 'element))
                ((element) (put ","))
                ((value) (become! 'key))
                (else (fail "a key is expected, not" x)))))
        (define (after-value)
          (if (null? open) (set! done? #t)))
        (define (close states bracket x)
          (if (not (and (pair? open) (memq (car open) states))) (fail "this ends nothing that is open:" x))
          (put bracket)
          (set! open (cdr open))
          (after-value))
        (lambda (x)
          (cond
            ((eof-object? x)
             (if (or (pair? open) (not done?)) (fail "the text is not complete")))
            ((eq? x 'array-start)
             (before-value x)
             (put "[")
             (set! open (cons 'first-element open)))
            ((eq? x 'object-start)
             (before-value x)
             (put "{")
             (set! open (cons 'first-key open)))
            ((eq? x 'array-end) (close '(first-element element) "]" x))
            ((eq? x 'object-end) (close '(first-key key) "}" x))
            ((and (pair? open) (memq (car open) '(first-key key)))
             (if (not (or (string? x) (symbol? x))) (fail "a key is a string, not" x))
             (if (eq? (car open) 'key) (put ","))
             (write-json-string (if (symbol? x) (symbol->string x) x) put)
             (put ":")
             (become! 'value))
            (else
             (before-value x)
             (write-simple x put)
             (after-value))))))))
