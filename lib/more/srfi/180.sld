;;; (srfi 180): JSON.
;;;
;;; The reader goes forward by one character at a time, looking at the next one, so a port is where the value ended.  A
;;; *source* is a port, or a generator of characters with the character that was looked at.  `json-read` is a recursive
;;; descent that makes objects; `json-generator` and `json-fold` go over events, with a stack of what is open.
;;;
;;; Space, strings and numbers that lie whole in the buffer of a port are cut out of its bytes, and most keys are found
;;; in a table without becoming strings first.  Whatever is not as usual there (an escape, the end of the buffer, an
;;; error) leaves the port where the token begins and is read by the character, as from a generator; so errors are the
;;; same.  Likewise, the writer puts ASCII characters into the port's buffer while there is room.
(define-library (srfi 180)
  (export json-error? json-error-reason json-null? json-nesting-depth-limit json-number-of-character-limit
          json-generator json-fold json-read json-lines-read json-sequence-read json-accumulator json-write)
  (import (scheme base) (scheme case-lambda) (only (cairn control) wrong-type condition? condition-who)
          (rename (only (cairn port)
                        port-descriptor port-buffer port-buffer-start port-buffer-end set-port-buffer-start!)
                  (port-buffer port-buf) (port-buffer-start port-pos) (port-buffer-end port-end)
                  (set-port-buffer-start! set-port-pos!))
          (only (cairn primitives) %fx+ %fx- %fx* %fx= %fx< %fx<= %fxand %bytevector-u8-ref %bytevector-u8-set!
                %utf8->string %string-ref %string-length %string-concat %integer->char %char->integer
                %symbol->string %fixnum?))
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

    ;; What a port reads that is no text is an error of JSON, too.  The port is before a string whose bytes are no
    ;; UTF-8: read by the character, it makes the error that says where.
    (define-syntax reading
      (syntax-rules ()
        ((_ s body)
         (if (source-port s)
             (translating
              (guard (e ((and (condition? e) (equal? (condition-who e) "utf8->string")) (read-string-slowly s)))
                body))
             body))))
    (define-syntax translating
      (syntax-rules ()
        ((_ body)
         (guard (e ((and (condition? e) (member (condition-who e) '("peek-char" "read-char")))
                    (apply fail (error-object-message e) (error-object-irritants e))))
           body))))

    ;; The next character that is not white.
    (define (peek-token s)
      (let ((port (source-port s)))
        (if port
            (let ((bytes (port-buf port)) (end (port-end port)))
              (let loop ((i (port-pos port)))
                (if (%fx< i end)
                    (let ((n (%bytevector-u8-ref bytes i)))
                      (cond
                        ((white? n) (loop (%fx+ i 1)))
                        (else
                         (set-port-pos! port i)
                         (if (%fx< n 128) (%integer->char n) (peek s)))))
                    (begin
                      (set-port-pos! port i)
                      (peek-token-slowly s)))))
            (peek-token-slowly s))))
    (define (peek-token-slowly s)
      (let ((c (peek s)))
        (if (and (char? c)
                 (or (char=? c #\space) (char=? c #\newline) (char=? c #\return) (char=? c #\tab)))
            (begin
              (skip! s)
              (peek-token s))
            c)))
    (define-syntax white?
      (syntax-rules ()
        ((_ n) (if (%fx<= n 32) (or (%fx= n 32) (%fx= n 10) (%fx= n 13) (%fx= n 9)) #f))))

    ;; Takes an ASCII character that `peek-token` gave: of a port, it is in the buffer.
    (define (pass! s)
      (let ((port (source-port s)))
        (if port
            (set-port-pos! port (%fx+ (port-pos port) 1))
            (set-source-ahead! s #f))))

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

    ;; A number in the buffer of a port, which ends there: an integer of at most 17 digits, or a fraction whose digits
    ;; and power of ten are exact as flonums, so that one operation rounds (Clinger 1990); else its text decides.
    (define (read-json-number s)
      (let ((port (source-port s)))
        (if port (read-port-number s port) (read-number-slowly s))))
    (define (read-port-number s port)
      (let* ((bytes (port-buf port)) (end (port-end port)) (start (port-pos port))
             (negative? (%fx= (%bytevector-u8-ref bytes start) 45))
             (first (if negative? (%fx+ start 1) start)))
        ;; what has more digits stays above 10^17
        (define (and-digit m d)
          (if (%fx< m 100000000000000000) (%fx+ (%fx* m 10) d) m))
        (define (done i x)
          (if (or (white? (%bytevector-u8-ref bytes i)) (memv (%bytevector-u8-ref bytes i) '(44 93 125)))
              (begin
                (set-port-pos! port i)
                x)
              (read-number-slowly s)))
        ;; m is the digits as an integer; `places` of them are behind the point
        (define (scaled i m places exponent)
          (let ((e (%fx- exponent places)))
            (done i
                  (if (and (%fx< m 9007199254740992) (%fx<= e 22) (%fx<= -22 e))
                      (let* ((m (inexact m)) (m (if negative? (- m) m)))
                        (if (%fx< e 0) (/ m (vector-ref powers (%fx- 0 e))) (* m (vector-ref powers e))))
                      (inexact (string->number (%utf8->string bytes start i)))))))
        (define (exponent i m places)
          (let* ((n (%bytevector-u8-ref bytes i))
                 (minus? (%fx= n 45))
                 (first (if (or minus? (%fx= n 43)) (%fx+ i 1) i)))
            (let loop ((i first) (e 0))
              (if (and (%fx< i end) (%fx< (%fx- i first) 4))
                  (let ((d (%fx- (%bytevector-u8-ref bytes i) 48)))
                    (cond
                      ((and (%fx<= 0 d) (%fx<= d 9)) (loop (%fx+ i 1) (%fx+ (%fx* e 10) d)))
                      ((%fx= i first) (read-number-slowly s))
                      (else (scaled i m places (if minus? (%fx- 0 e) e)))))
                  (read-number-slowly s)))))
        (define (fraction i m)
          (let loop ((j i) (m m))
            (if (%fx< j end)
                (let* ((n (%bytevector-u8-ref bytes j)) (d (%fx- n 48)))
                  (cond
                    ((and (%fx<= 0 d) (%fx<= d 9)) (loop (%fx+ j 1) (and-digit m d)))
                    ((%fx= j i) (read-number-slowly s))
                    ((and (%fx= (%fxand n 223) 69) (%fx< (%fx+ j 1) end)) (exponent (%fx+ j 1) m (%fx- j i)))
                    (else (scaled j m (%fx- j i) 0))))
                (read-number-slowly s))))
        (let loop ((i first) (m 0))
          (if (%fx< i end)
              (let* ((n (%bytevector-u8-ref bytes i)) (d (%fx- n 48)))
                (cond
                  ((and (%fx<= 0 d) (%fx<= d 9))
                   (if (and (%fx= m 0) (%fx< first i))
                       ;; behind a zero
                       (read-number-slowly s)
                       (loop (%fx+ i 1) (and-digit m d))))
                  ((%fx= i first) (read-number-slowly s))
                  ((%fx= n 46) (fraction (%fx+ i 1) m))
                  ((and (%fx= (%fxand n 223) 69) (%fx< (%fx+ i 1) end)) (exponent (%fx+ i 1) m 0))
                  ((%fx<= 100000000000000000 m) (done i (string->number (%utf8->string bytes start i))))
                  (else (done i (if negative? (%fx- 0 m) m)))))
              (read-number-slowly s)))))
    ;; 10^0 to 10^22, which are exact
    (define powers
      (let ((v (make-vector 23 1.)))
        (do ((i 1 (+ i 1))) ((= i 23) v)
          (vector-set! v i (inexact (expt 10 i))))))

    ;; An integer of few digits is computed on the way; anything else goes through its text.
    (define (read-number-slowly s)
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
      (let ((port (source-port s)))
        (if port (read-port-string s port) (read-string-slowly s))))

    (define (read-port-string s port)
      (let ((bytes (port-buf port)) (start (port-pos port)) (end (port-end port)))
        (let loop ((i start))
          (if (%fx< i end)
              (let ((n (%bytevector-u8-ref bytes i)))
                (cond
                  ((%fx= n 34)
                   (let ((text (%utf8->string bytes start i)))
                     (set-port-pos! port (%fx+ i 1))
                     text))
                  ((or (%fx= n 92) (%fx< n 32)) (read-parts s port))
                  (else (loop (%fx+ i 1)))))
              (read-parts s port)))))

    ;; A string with escapes, or one that goes beyond the end of the buffer: the parts between, last one first.
    (define (read-parts s port)
      (let part ((parts '()))
        (let ((bytes (port-buf port)) (start (port-pos port)) (end (port-end port)))
          (define (with-part i)
            (if (%fx= i start)
                parts
                (let ((text (%utf8->string bytes start i)))
                  (set-port-pos! port i)
                  (cons text parts))))
          (let loop ((i start))
            (cond
              ((%fx< i end)
               (let ((n (%bytevector-u8-ref bytes i)))
                 (cond
                   ((%fx= n 34)
                    (let ((parts (with-part i)))
                      (set-port-pos! port (%fx+ i 1))
                      (%string-concat (reverse parts))))
                   ((%fx= n 92)
                    (let ((parts (with-part i)))
                      (set-port-pos! port (%fx+ i 1))
                      (part (cons (escaped-text (read-escape s)) parts))))
                   ((%fx< n 32)
                    (with-part i)
                    (control-character (%integer->char n)))
                   (else (loop (%fx+ i 1))))))
              ;; the last character may be there in part
              ((and (%fx< start i) (%fx<= 128 (%bytevector-u8-ref bytes (%fx- i 1))))
               (let ((lead (let back ((i (%fx- i 1)))
                             (if (and (%fx< start i) (%fx= (%fxand (%bytevector-u8-ref bytes i) 192) 128))
                                 (back (%fx- i 1))
                                 i))))
                 (let* ((parts (with-part lead)) (c (peek-char port)))
                   (read-char port)
                   (part (cons (string c) parts)))))
              (else
               (let* ((parts (with-part i)) (c (peek-char port)))
                 (if (eof-object? c) (unexpected c "in a string"))
                 (part parts))))))))
    (define (escaped-text c)
      (case c
        ((#\newline) "\n")
        ((#\") "\"")
        ((#\\) "\\")
        (else (string c))))
    (define (control-character c) (fail "a control character in a string:" c))

    (define (read-string-slowly s)
      (let loop ((buffer (make-string 16)) (n 0))
        (let ((c (peek s)))
          (cond
            ((eof-object? c) (unexpected c "in a string"))
            ((char=? c #\")
             (skip! s)
             (substring buffer 0 n))
            ((char<? c #\space) (control-character c))
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
           (pass! s)
           (enter s depth)
           (read-array s (+ depth 1)))
          ((eqv? c #\{)
           (pass! s)
           (enter s depth)
           (read-object s (+ depth 1)))
          (else (read-simple s c)))))
    (define (enter s depth)
      (if (>= (+ depth 1) (source-depth s)) (fail "the text is nested too deep")))

    (define (read-array s depth)
      (if (eqv? (peek-token s) #\])
          (begin
            (pass! s)
            (vector))
          (let loop ((elements '()) (n 0))
            (let* ((elements (cons (read-value s depth) elements)) (n (+ n 1)) (c (peek-token s)))
              (cond
                ((eqv? c #\,)
                 (pass! s)
                 (loop elements n))
                ((eqv? c #\])
                 (pass! s)
                 (let ((v (make-vector n)))
                   (let fill ((i (- n 1)) (l elements))
                     (if (< i 0)
                         v
                         (begin
                           (vector-set! v i (car l))
                           (fill (- i 1) (cdr l)))))))
                (else (unexpected c "in an array")))))))

    (define (read-key s)
      (begin-key s)
      (let ((key (read-json-string s)))
        (end-key s)
        key))
    (define (begin-key s)
      (let ((c (peek-token s)))
        (if (not (eqv? c #\")) (unexpected c "where a key is expected"))
        (pass! s)))
    (define (end-key s)
      (let ((c (peek-token s)))
        (if (not (eqv? c #\:)) (unexpected c "behind a key"))
        (pass! s)))

    ;; Symbols of ASCII characters that were keys of late, each at a number that its characters make.
    (define keys (make-vector 512 #f))

    (define (read-symbol s)
      (let ((port (source-port s)))
        (if port (read-port-symbol s port) (string->symbol (read-json-string s)))))
    (define (read-port-symbol s port)
      (let ((bytes (port-buf port)) (start (port-pos port)) (end (port-end port)))
        (let loop ((i start) (hash 0))
          (let ((n (if (%fx< i end) (%bytevector-u8-ref bytes i) 0)))
            (cond
              ((%fx= n 34)
               (let* ((place (%fxand hash 511)) (key (vector-ref keys place)))
                 (if (and key (same? (%symbol->string key) bytes start i))
                     (begin
                       (set-port-pos! port (%fx+ i 1))
                       key)
                     (let ((key (string->symbol (read-json-string s))))
                       (vector-set! keys place key)
                       key))))
              ((or (%fx= n 92) (%fx< n 32) (%fx<= 128 n)) (string->symbol (read-json-string s)))
              (else (loop (%fx+ i 1) (%fx+ (%fx* (%fxand hash 65535) 31) n))))))))
    (define (same? text bytes start end)
      (and (%fx= (%string-length text) (%fx- end start))
           (let loop ((i start) (j 0))
             (or (%fx= i end)
                 (and (%fx= (%bytevector-u8-ref bytes i) (%char->integer (%string-ref text j)))
                      (loop (%fx+ i 1) (%fx+ j 1)))))))

    (define (read-object s depth)
      (if (eqv? (peek-token s) #\})
          (begin
            (pass! s)
            '())
          (read-entries s depth)))
    (define (read-entries s depth)
      (begin-key s)
      (let ((key (read-symbol s)))
        (end-key s)
        (let* ((entry (cons key (read-value s depth))) (c (peek-token s)))
          (cond
            ((eqv? c #\,)
             (pass! s)
             (cons entry (read-entries s depth)))
            ((eqv? c #\})
             (pass! s)
             (list entry))
            (else (unexpected c "in an object"))))))

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

    ;; May characters go into the buffer of a port at once?  A port of strings or of a file that the program has opened
    ;; is flushed when it is full.
    (define (buffered? port)
      (let ((descriptor (port-descriptor port)))
        (or (not (%fixnum? descriptor)) (%fx< 2 descriptor))))

    ;; What is written to: a port whose buffer takes characters, or a procedure of `writer`.
    (define (target who x)
      (if (and (output-port? x) (textual-port? x) (buffered? x))
          x
          (writer who x)))
    (define-syntax put
      (syntax-rules ()
        ((_ text to) (let ((out to)) (if (procedure? out) (out text) (put-text text out))))))
    (define-syntax put-part
      (syntax-rules ()
        ((_ text to start end)
         (let ((out to))
           (if (procedure? out) (out text start end) (write-string text out start end))))))

    (define (put-character c to)
      (if (procedure? to)
          (to (string c))
          (let ((at (port-pos to)))
            (if (%fx< at (port-end to))
                (begin
                  (%bytevector-u8-set! (port-buf to) at (%char->integer c))
                  (set-port-pos! to (%fx+ at 1)))
                (write-char c to)))))

    ;; A short text of ASCII characters.
    (define (put-text text port)
      (let* ((n (%string-length text)) (at (port-pos port)) (next (%fx+ at n)))
        (if (%fx<= next (port-end port))
            (let ((bytes (port-buf port)))
              (let loop ((i 0))
                (if (%fx< i n)
                    (begin
                      (%bytevector-u8-set! bytes (%fx+ at i) (%char->integer (%string-ref text i)))
                      (loop (%fx+ i 1)))
                    (set-port-pos! port next))))
            (write-string text port))))

    (define (write-json-string text to)
      (if (procedure? to)
          (begin
            (to "\"")
            (write-escaped text 0 to)
            (to "\""))
          (let ((n (%string-length text)) (at (port-pos to)))
            (if (%fx<= (%fx+ at (%fx+ n 2)) (port-end to))
                ;; there is room if nothing is special
                (let ((bytes (port-buf to)) (first (%fx+ at 1)))
                  (%bytevector-u8-set! bytes at 34)
                  (let loop ((i 0))
                    (if (%fx< i n)
                        (let ((c (%char->integer (%string-ref text i))))
                          (if (and (%fx<= 32 c) (%fx< c 128) (not (%fx= c 34)) (not (%fx= c 92)))
                              (begin
                                (%bytevector-u8-set! bytes (%fx+ first i) c)
                                (loop (%fx+ i 1)))
                              (begin
                                (set-port-pos! to (%fx+ first i))
                                (write-escaped text i to)
                                (put-text "\"" to))))
                        (let ((end (%fx+ first n)))
                          (%bytevector-u8-set! bytes end 34)
                          (set-port-pos! to (%fx+ end 1))))))
                (begin
                  (put-text "\"" to)
                  (write-escaped text 0 to)
                  (put-text "\"" to))))))

    ;; From the character at `start` on.
    (define (write-escaped text start to)
      (let ((n (string-length text)))
        (let loop ((start start) (i start))
          (if (= i n)
              (if (< start i) (put-part text to start i))
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
                      (if (< start i) (put-part text to start i))
                      (put escape to)
                      (loop (+ i 1) (+ i 1)))
                    (loop start (+ i 1))))))))

    (define (finite-number? x)
      (or (exact-integer? x)
          (and (real? x) (inexact? x) (= x x) (< -inf.0 x +inf.0))))
    (define (write-json-number x to)
      (if (and (%fixnum? x) (%fx<= 0 x) (%fx< x 1000000000) (not (procedure? to)))
          (write-small x to)
          (write-number-text x to)))
    ;; The last digit first.
    (define (write-small x to)
      (let* ((size (let loop ((size 1) (bound 10)) (if (%fx< x bound) size (loop (%fx+ size 1) (%fx* bound 10)))))
             (at (port-pos to)) (end (%fx+ at size)))
        (if (%fx<= end (port-end to))
            (let ((bytes (port-buf to)))
              (let loop ((i (%fx- end 1)) (x x))
                (let ((q (quotient x 10)))
                  (%bytevector-u8-set! bytes i (%fx+ 48 (%fx- x (%fx* 10 q))))
                  (if (%fx< at i) (loop (%fx- i 1) q) (set-port-pos! to end)))))
            (write-number-text x to))))
    ;; JSON wants digits on both sides of the point.
    (define (write-number-text x to)
      (let* ((text (number->string x)) (n (string-length text)))
        (cond
          ((exact? x) (put text to))
          ((char=? (string-ref text 0) #\.) (put (string-append "0" text) to))
          ((and (> n 1) (char=? (string-ref text 0) #\-) (char=? (string-ref text 1) #\.))
           (put (string-append "-0" (substring text 1 n)) to))
          ((char=? (string-ref text (- n 1)) #\.) (put (string-append text "0") to))
          (else (put text to)))))

    (define (write-simple x to)
      (cond ((string? x) (write-json-string x to))
            ((eq? x #t) (put "true" to))
            ((eq? x #f) (put "false" to))
            ((eq? x 'null) (put "null" to))
            ((finite-number? x) (write-json-number x to))
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

    (define (write-value x to)
      (cond
        ((vector? x)
         (put-character #\[ to)
         (let ((n (vector-length x)))
           (let loop ((i 0))
             (if (< i n)
                 (begin
                   (if (> i 0) (put-character #\, to))
                   (write-value (vector-ref x i) to)
                   (loop (+ i 1))))))
         (put-character #\] to))
        ((or (null? x) (pair? x))
         (put-character #\{ to)
         (let loop ((l x))
           (if (pair? l)
               (begin
                 (if (not (eq? l x)) (put-character #\, to))
                 (write-json-string (symbol->string (car (car l))) to)
                 (put-character #\: to)
                 (write-value (cdr (car l)) to)
                 (loop (cdr l)))))
         (put-character #\} to))
        (else (write-simple x to))))

    (define json-write
      (case-lambda
        ((x) (json-write x (current-output-port)))
        ((x out)
         (let ((to (target "json-write" out)))
           (check-value x)
           (write-value x to)))))

    ;; What is open is a list, innermost first, of what may come: the first or a further element, the first or a further
    ;; key, the value of a key.
    (define (json-accumulator out)
      (let ((to (target "json-accumulator" out)) (open '()) (done? #f))
        (define (become! state) (set! open (cons state (cdr open))))
        ;; something that is a value follows
        (define (before-value x)
          (if done? (fail "the text is complete, but there is more:" x))
          (if (pair? open)
              (case (car open)
                ((first-element) (become! 'element))
                ((element) (put-character #\, to))
                ((value) (become! 'key))
                (else (fail "a key is expected, not" x)))))
        (define (after-value)
          (if (null? open) (set! done? #t)))
        (define (close states bracket x)
          (if (not (and (pair? open) (memq (car open) states))) (fail "this ends nothing that is open:" x))
          (put bracket to)
          (set! open (cdr open))
          (after-value))
        (lambda (x)
          (cond
            ((eof-object? x)
             (if (or (pair? open) (not done?)) (fail "the text is not complete")))
            ((eq? x 'array-start)
             (before-value x)
             (put-character #\[ to)
             (set! open (cons 'first-element open)))
            ((eq? x 'object-start)
             (before-value x)
             (put-character #\{ to)
             (set! open (cons 'first-key open)))
            ((eq? x 'array-end) (close '(first-element element) "]" x))
            ((eq? x 'object-end) (close '(first-key key) "}" x))
            ((and (pair? open) (memq (car open) '(first-key key)))
             (if (not (or (string? x) (symbol? x))) (fail "a key is a string, not" x))
             (if (eq? (car open) 'key) (put-character #\, to))
             (write-json-string (if (symbol? x) (symbol->string x) x) to)
             (put-character #\: to)
             (become! 'value))
            (else
             (before-value x)
             (write-simple x to)
             (after-value))))))))
