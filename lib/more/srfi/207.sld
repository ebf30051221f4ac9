;;; (srfi 207): bytevectors as strings of ASCII.  The notation #u8"…" is read by `read-textual-bytestring` alone.
(define-library (srfi 207)
  (export
   bytestring make-bytestring make-bytestring! bytevector->hex-string hex-string->bytevector bytevector->base64
   base64->bytevector bytestring->list make-bytestring-generator bytestring-pad bytestring-pad-right bytestring-trim
   bytestring-trim-right bytestring-trim-both bytestring-replace bytestring<? bytestring>? bytestring<=? bytestring>=?
   bytestring-index bytestring-index-right bytestring-break bytestring-span bytestring-join bytestring-split
   read-textual-bytestring write-textual-bytestring write-binary-bytestring bytestring-error?)
  (import (scheme base) (scheme case-lambda) (scheme char) (only (cairn control) no-byte wrong-type)
          (only (cairn primitives) %numeric-writable?))
  (begin

    ;; Errors are error objects whose message begins so.
    (define (fail what . irritants)
      (apply error (string-append "bytestring: " what) irritants))
    (define (bytestring-error? x)
      (and (error-object? x)
           (let ((message (error-object-message x)))
             (and (string? message) (>= (string-length message) 12) (string=? "bytestring: " (substring message 0
                                                                                                        12))))))

    (define (check who bv)
      (if (bytevector? bv) bv (wrong-type who "a bytevector" bv)))
    (define (check-range who start end n)
      (if (not (and (exact-integer? start) (exact-integer? end) (<= 0 start end n)))
          (error (string-append who ": not a range of the bytevector:") start end)))
    (define (check-procedure who x)
      (if (not (procedure? x)) (wrong-type who "a procedure" x)))
    (define (check-string who x)
      (if (not (string? x)) (wrong-type who "a string" x)))
    (define (check-list who x)
      (if (list? x) x (wrong-type who "a list" x)))
    (define (check-port who port ok? what)
      (if (not (and (port? port) (ok? port))) (wrong-type who what port)))
    (define (check-digits who s)
      (check-string who s)
      (if (not (= (string-length s) 2)) (wrong-type who "a string of two characters" s)))

    ;;;; Making

    (define (ascii-byte c)
      (let ((n (char->integer c)))
        (if (< n 128) n (fail "not a character of ASCII:" c))))
    ;; The bytes of an argument as a bytevector.
    (define (part x)
      (cond ((and (exact-integer? x) (<= 0 x 255)) (bytevector x))
            ((char? x) (bytevector (ascii-byte x)))
            ((bytevector? x) x)
            ((string? x)
             (string-for-each ascii-byte x)
             (string->utf8 x))
            (else (fail "not a byte, a character, a string or a bytevector:" x))))
    (define (join l) (apply bytevector-append (map part l)))
    (define (make-bytestring l) (join (check-list "make-bytestring" l)))
    (define (bytestring . l) (join l))
    (define (make-bytestring! bv at l)
      (let* ((bytes (join (check-list "make-bytestring!" l))) (n (bytevector-length bytes)))
        (if (not (and (bytevector? bv) (%numeric-writable? bv)))
            (wrong-type "make-bytestring!" "a mutable bytevector" bv))
        (if (not (and (exact-integer? at) (>= at 0))) (wrong-type "make-bytestring!" "an index" at))
        (if (> (+ at n) (bytevector-length bv))
            (no-byte "make-bytestring!" bv (+ at n -1)))
        (bytevector-copy! bv at bytes)))
    (define (make-bytestring-generator . l)
      (let ((bv (join l)) (i 0))
        (lambda ()
          (if (= i (bytevector-length bv))
              (eof-object)
              (let ((b (bytevector-u8-ref bv i)))
                (set! i (+ i 1))
                b)))))
    (define (write-binary-bytestring port . l)
      (check-port "write-binary-bytestring" port
                  (lambda (port) (and (output-port? port) (binary-port? port))) "a binary output port")
      (let ((parts (map part l)))
        (for-each (lambda (bv) (write-bytevector bv port)) parts)))

    ;;;; Conversion

    (define (two-digits b)
      (let ((s (number->string b 16)))
        (if (< b 16) (string-append "0" s) s)))
    (define (bytes bv) (bytes-of bv 0 (bytevector-length bv)))
    (define (bytes-of bv start end)
      (let loop ((i (- end 1)) (acc '()))
        (if (< i start) acc (loop (- i 1) (cons (bytevector-u8-ref bv i) acc)))))
    (define (bytevector->hex-string bv)
      (apply string-append (map two-digits (bytes (check "bytevector->hex-string" bv)))))
    (define (hex-string->bytevector s)
      (define (digit c)
        (or (and (char<? c #\x80) (string->number (string c) 16)) (fail "not a hexadecimal digit:" c)))
      (check-string "hex-string->bytevector" s)
      (if (odd? (string-length s)) (fail "half a pair of hexadecimal digits:" s))
      (let ((bv (make-bytevector (quotient (string-length s) 2))))
        (do ((i 0 (+ i 1))) ((= i (bytevector-length bv)) bv)
          (bytevector-u8-set! bv i (+ (* 16 (digit (string-ref s (* 2 i)))) (digit (string-ref s (+ (* 2 i) 1))))))))

    (define letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    (define bytevector->base64
      (case-lambda
        ((bv) (bytevector->base64 bv "+/"))
        ((bv digits)
         (check-digits "bytevector->base64" digits)
         (let ((alphabet (string-append letters digits)) (out (open-output-string)))
           (define (put! x shift) (write-char (string-ref alphabet (remainder (quotient x shift) 64)) out))
           (let loop ((l (bytes (check "bytevector->base64" bv))))
             (cond
               ((null? l) (get-output-string out))
               ((null? (cdr l))
                (let ((x (* 65536 (car l))))
                  (put! x 262144)
                  (put! x 4096)
                  (write-string "==" out)
                  (get-output-string out)))
               ((null? (cddr l))
                (let ((x (+ (* 65536 (car l)) (* 256 (cadr l)))))
                  (put! x 262144)
                  (put! x 4096)
                  (put! x 64)
                  (write-string "=" out)
                  (get-output-string out)))
               (else
                (let ((x (+ (* 65536 (car l)) (* 256 (cadr l)) (car (cddr l)))))
                  (put! x 262144)
                  (put! x 4096)
                  (put! x 64)
                  (put! x 1)
                  (loop (cdr (cddr l)))))))))))
    (define base64->bytevector
      (case-lambda
        ((s) (base64->bytevector s "+/"))
        ((s digits)
         (check-string "base64->bytevector" s)
         (check-digits "base64->bytevector" digits)
         (let ((alphabet (string-append letters digits)) (out (open-output-bytevector)))
           (define (value c)
             (let loop ((i 0))
               (cond ((= i 64) (fail "not a character of base 64:" c))
                     ((char=? c (string-ref alphabet i)) i)
                     (else (loop (+ i 1))))))
           (define (write-bytes x n)
             (write-u8 (quotient x 65536) out)
             (if (> n 1) (write-u8 (remainder (quotient x 256) 256) out))
             (if (> n 2) (write-u8 (remainder x 256) out)))
           ;; x has k characters of a group; `padding` counts = signs
           (let loop ((l (string->list s)) (x 0) (k 0) (padding 0))
             (cond
               ((null? l)
                (cond ((= k 0))
                      ((and (= k 2) (= padding 2)) (write-bytes (* x 4096) 1))
                      ((and (= k 3) (= padding 1)) (write-bytes (* x 64) 2))
                      (else (fail "the end of base 64 is missing:" s)))
                (get-output-bytevector out))
               ((char-whitespace? (car l)) (loop (cdr l) x k padding))
               ((char=? #\= (car l)) (loop (cdr l) x k (+ padding 1)))
               ((> padding 0) (fail "something follows the padding:" (car l)))
               ((= k 3)
                (write-bytes (+ (* 64 x) (value (car l))) 3)
                (loop (cdr l) 0 0 0))
               (else (loop (cdr l) (+ (* 64 x) (value (car l))) (+ k 1) 0))))))))

    (define bytestring->list
      (case-lambda
        ((bv) (bytestring->list bv 0))
        ((bv start) (bytestring->list bv start (bytevector-length (check "bytestring->list" bv))))
        ((bv start end)
         (check-range "bytestring->list" start end (bytevector-length (check "bytestring->list" bv)))
         (map (lambda (b) (if (<= 32 b 127) (integer->char b) b)) (bytes-of bv start end)))))

    ;;;; Parts

    (define (padding who bv n x)
      (if (not (and (exact-integer? n) (>= n 0))) (wrong-type who "a length" n))
      (let ((byte (if (char? x) (ascii-byte x) x)))
        (if (not (and (exact-integer? byte) (<= 0 byte 255))) (wrong-type who "a byte or a character" x))
        (make-bytevector (max 0 (- n (bytevector-length (check who bv)))) byte)))
    (define (bytestring-pad bv n x) (bytevector-append (padding "bytestring-pad" bv n x) bv))
    (define (bytestring-pad-right bv n x) (bytevector-append bv (padding "bytestring-pad-right" bv n x)))

    (define (not-that pred) (lambda (b) (not (pred b))))
    (define (index who bv pred start end)
      (check-procedure who pred)
      (check-range who start end (bytevector-length (check who bv)))
      (let loop ((i start))
        (and (< i end) (if (pred (bytevector-u8-ref bv i)) i (loop (+ i 1))))))
    (define (index-right who bv pred start end)
      (check-procedure who pred)
      (check-range who start end (bytevector-length (check who bv)))
      (let loop ((i (- end 1)))
        (and (>= i start) (if (pred (bytevector-u8-ref bv i)) i (loop (- i 1))))))
    ;; Where the part begins or ends that is left when bytes of a kind are taken away at that end.
    (define (trimmed-start who bv pred)
      (check-procedure who pred)
      (let ((n (bytevector-length (check who bv))))
        (or (index who bv (not-that pred) 0 n) n)))
    (define (trimmed-end who bv pred start)
      (check-procedure who pred)
      (let ((i (index-right who bv (not-that pred) start (bytevector-length (check who bv)))))
        (if i (+ i 1) start)))
    (define (bytestring-trim bv pred) (bytevector-copy bv (trimmed-start "bytestring-trim" bv pred)))
    (define (bytestring-trim-right bv pred) (bytevector-copy bv 0 (trimmed-end "bytestring-trim-right" bv pred 0)))
    (define (bytestring-trim-both bv pred)
      (let ((start (trimmed-start "bytestring-trim-both" bv pred)))
        (bytevector-copy bv start (trimmed-end "bytestring-trim-both" bv pred start))))

    (define bytestring-replace
      (case-lambda
        ((a b start end) (bytestring-replace a b start end 0 (bytevector-length b)))
        ((a b start end start2 end2)
         (check-range "bytestring-replace" start end (bytevector-length (check "bytestring-replace" a)))
         (check-range "bytestring-replace" start2 end2 (bytevector-length (check "bytestring-replace" b)))
         (bytevector-append (bytevector-copy a 0 start) (bytevector-copy b start2 end2) (bytevector-copy a end)))))

    ;; Negative, zero or positive.
    (define (compare who a b)
      (let ((n (bytevector-length (check who a))) (m (bytevector-length (check who b))))
        (let loop ((i 0))
          (if (or (= i n) (= i m))
              (- n m)
              (let ((d (- (bytevector-u8-ref a i) (bytevector-u8-ref b i))))
                (if (= d 0) (loop (+ i 1)) d))))))
    (define (bytestring<? a b) (< (compare "bytestring<?" a b) 0))
    (define (bytestring>? a b) (> (compare "bytestring>?" a b) 0))
    (define (bytestring<=? a b) (<= (compare "bytestring<=?" a b) 0))
    (define (bytestring>=? a b) (>= (compare "bytestring>=?" a b) 0))

    (define-syntax define-search
      (syntax-rules ()
        ((_ name search)
         (define name
           (case-lambda
             ((bv pred) (name bv pred 0))
             ((bv pred start) (name bv pred start (bytevector-length (check (symbol->string 'name) bv))))
             ((bv pred start end) (search (symbol->string 'name) bv pred start end)))))))
    (define-search bytestring-index index)
    (define-search bytestring-index-right index-right)
    (define (break who bv pred)
      (let* ((n (bytevector-length (check who bv))) (i (or (index who bv pred 0 n) n)))
        (values (bytevector-copy bv 0 i) (bytevector-copy bv i))))
    (define (bytestring-break bv pred) (break "bytestring-break" bv pred))
    (define (bytestring-span bv pred)
      (check-procedure "bytestring-span" pred)
      (break "bytestring-span" bv (not-that pred)))

    (define (check-grammar who grammar)
      (if (not (memq grammar '(infix strict-infix suffix prefix)))
          (fail (string-append "not a grammar of " who ":") grammar)))
    (define bytestring-join
      (case-lambda
        ((l delimiter) (bytestring-join l delimiter 'infix))
        ((l delimiter grammar)
         (check-grammar "bytestring-join" grammar)
         (for-each (lambda (bv) (check "bytestring-join" bv)) (check-list "bytestring-join" l))
         (let ((between (part delimiter)))
           (if (and (null? l) (eq? grammar 'strict-infix)) (fail "there is nothing to join"))
           (apply bytevector-append
                  (let loop ((l l) (first? #t))
                    (cond ((null? l) '())
                          ((eq? grammar 'suffix) (cons (car l) (cons between (loop (cdr l) #f))))
                          ((or (eq? grammar 'prefix) (not first?)) (cons between (cons (car l) (loop (cdr l) #f))))
                          (else (cons (car l) (loop (cdr l) #f))))))))))
    (define bytestring-split
      (case-lambda
        ((bv delimiter) (bytestring-split bv delimiter 'infix))
        ((bv delimiter grammar)
         (check-grammar "bytestring-split" grammar)
         (let* ((byte (if (char? delimiter) (ascii-byte delimiter) delimiter))
                (n (bytevector-length (check "bytestring-split" bv)))
                (byte (if (and (exact-integer? byte) (<= 0 byte 255))
                          byte
                          (wrong-type "bytestring-split" "a byte or a character" delimiter)))
                (start (if (and (eq? grammar 'prefix) (> n 0) (= byte (bytevector-u8-ref bv 0))) 1 0))
                (end (if (and (eq? grammar 'suffix) (> n 0) (= byte (bytevector-u8-ref bv (- n 1)))) (- n 1) n)))
           (if (= n 0)
               '()
               (let loop ((start start))
                 (let ((i (index "bytestring-split" bv (lambda (b) (= b byte)) start end)))
                   (if i
                       (cons (bytevector-copy bv start i) (loop (+ i 1)))
                       (list (bytevector-copy bv start end))))))))))

    ;;;; Text

    (define escapes '((#\a . 7) (#\b . 8) (#\t . 9) (#\n . 10) (#\r . 13) (#\" . 34) (#\\ . 92) (#\| . 124)))

    (define read-textual-bytestring
      (case-lambda
        ((prefix?) (read-textual-bytestring prefix? (current-input-port)))
        ((prefix? port)
         (check-port "read-textual-bytestring" port
                     (lambda (port) (and (input-port? port) (textual-port? port))) "a textual input port")
         (define (expect s)
           (string-for-each
            (lambda (c)
              (let ((found (read-char port)))
                (if (not (eqv? c found)) (fail "not what a bytestring begins with:" found))))
            s))
         (define (skip-blanks)
           (if (memv (peek-char port) '(#\space #\tab))
               (begin
                 (read-char port)
                 (skip-blanks))))
         ;; behind a backslash: a byte, or #f for an end of a line
         (define (escape c)
           (cond
             ((eof-object? c) (fail "the text ends in a bytestring"))
             ((assv c escapes) => cdr)
             ((char=? c #\x)
              (let loop ((n 0) (any? #f))
                (let ((c (read-char port)))
                  (cond ((eof-object? c) (fail "the text ends in a bytestring"))
                        ((char=? c #\;) (if (and any? (< n 256)) n (fail "not a byte:" n)))
                        ((and (char<? c #\x80) (string->number (string c) 16))
                         => (lambda (d) (loop (+ (* 16 n) d) #t)))
                        (else (fail "not a hexadecimal digit:" c))))))
             ((memv c '(#\space #\tab #\newline #\return))
              (let end-of-line ((c c))
                (case c
                  ((#\newline) #t)
                  ((#\return) (if (eqv? (peek-char port) #\newline) (read-char port)))
                  ((#\space #\tab) (end-of-line (read-char port)))
                  (else (fail "not an escape:" c))))
              (skip-blanks)
              #f)
             (else (fail "not an escape:" c))))
         (expect (if prefix? "#u8\"" "\""))
         (let ((out (open-output-bytevector)))
           (let loop ()
             (let ((c (read-char port)))
               (cond
                 ((eof-object? c) (fail "the text ends in a bytestring"))
                 ((char=? c #\") (get-output-bytevector out))
                 ((char=? c #\\)
                  (let ((b (escape (read-char port))))
                    (if b (write-u8 b out))
                    (loop)))
                 ((char<=? #\space c #\~)
                  (write-u8 (char->integer c) out)
                  (loop))
                 (else (fail "not a character of a bytestring:" c)))))))))

    (define write-textual-bytestring
      (case-lambda
        ((bv) (write-textual-bytestring bv (current-output-port)))
        ((bv port)
         (check "write-textual-bytestring" bv)
         (check-port "write-textual-bytestring" port
                     (lambda (port) (and (output-port? port) (textual-port? port))) "a textual output port")
         (write-string "#u8\"" port)
         (for-each
          (lambda (b)
            (let ((escape (let loop ((l escapes))
                            (cond ((null? l) #f)
                                  ((= b (cdr (car l))) (car (car l)))
                                  (else (loop (cdr l)))))))
              (cond (escape
                     (write-char #\\ port)
                     (write-char escape port))
                    ((<= 32 b 126) (write-char (integer->char b) port))
                    (else
                     (write-string "\\x" port)
                     (write-string (number->string b 16) port)
                     (write-string ";" port)))))
          (bytes bv))
         (write-string "\"" port))))))
