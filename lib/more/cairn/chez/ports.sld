;;; (cairn chez ports): what Chez Scheme has besides R6RS for ports, data in files, and the memory of the process.
(define-library (cairn chez ports)
  (export file-port? port-file-descriptor file-length port-length file-position chez-port-name
          open-fd-input-port open-fd-output-port unread-char unget-char unget-u8 get-string-some! put-string-some
          get-bytevector-some! put-bytevector-some block-read block-write current-transcoder fasl-write fasl-read
          collections current-memory-bytes maximum-memory-bytes)
  (import (scheme base) (scheme case-lambda) (scheme char) (scheme file) (only (scheme write) write-shared)
          (scheme read) (only (cairn control) wrong-type) (only (cairn primitives) %weak-collections)
          (only (cairn port) port-buffer port-buffer-start port-descriptor port-name set-port-buffer-start!)
          (only (cairn hash-table) make-hash-table hash-table-ref/default hash-table-set!)
          (only (rnrs io ports) native-transcoder port-position set-port-position!)
          (only (srfi 170) file-info file-info:size fd->port binary-input textual-input binary-output textual-output))
  (begin

    ;;;; Ports of files

    (define (file-port? p)
      (if (port? p) (exact-integer? (port-descriptor p)) (wrong-type "file-port?" "a port" p)))
    (define (port-file-descriptor p)
      (if (and (port? p) (file-port? p))
          (port-descriptor p)
          (wrong-type "port-file-descriptor" "the port of a file" p)))
    ;; In bytes.
    (define (size-of who p)
      (if (and (port? p) (file-port? p))
          (file-info:size (file-info p #t))
          (wrong-type who "the port of a file" p)))
    (define (file-length p) (size-of "file-length" p))
    (define (port-length p) (size-of "port-length" p))
    (define file-position
      (case-lambda
        ((p) (port-position p))
        ((p position) (set-port-position! p position))))
    (define (chez-port-name p)
      (if (port? p)
          (or (port-name p) (if (textual-port? p) "string" "bytevector"))
          (wrong-type "port-name" "a port" p)))
    ;; Of bytes, or, where a transcoder is given, of characters.
    (define (textual? mode+transcoder)
      (and (pair? mode+transcoder) (pair? (cdr mode+transcoder)) (cadr mode+transcoder) #t))
    (define (open-fd-input-port fd . mode+transcoder)
      (fd->port fd (if (textual? mode+transcoder) textual-input binary-input)))
    (define (open-fd-output-port fd . mode+transcoder)
      (fd->port fd (if (textual? mode+transcoder) textual-output binary-output)))

    ;;;; Back by what was just read: it still lies in the port's buffer, textual ones hold UTF-8

    (define (step-back who p bytes x)
      (let* ((n (bytevector-length bytes)) (start (- (port-buffer-start p) n)))
        (if (and (>= start 0) (equal? bytes (bytevector-copy (port-buffer p) start (+ start n))))
            (set-port-buffer-start! p start)
            (wrong-type who "what was just read from the port" x))))
    (define (back-by-char who c p)
      (if (not (char? c)) (wrong-type who "a character" c))
      (if (not (and (input-port? p) (textual-port? p))) (wrong-type who "a textual input port" p))
      (step-back who p (string->utf8 (string c)) c))
    (define unread-char
      (case-lambda
        ((c) (back-by-char "unread-char" c (current-input-port)))
        ((c p) (back-by-char "unread-char" c p))))
    (define (unget-char p c) (back-by-char "unget-char" c p))
    (define (unget-u8 p byte)
      (if (not (and (input-port? p) (binary-port? p))) (wrong-type "unget-u8" "a binary input port" p))
      (step-back "unget-u8" p (bytevector byte) byte))

    ;;;; Parts of strings and bytevectors

    ;; Waits for the first element, and takes what is there behind it: how many, or the end of file.
    (define-syntax define-some
      (syntax-rules ()
        ((_ name who is? expected size read ready? store!)
         (define (name p x start n)
           (if (not (is? x)) (wrong-type who expected x))
           (if (not (and (exact-integer? start) (exact-integer? n) (<= 0 start (+ start n) (size x))))
               (wrong-type who "a start and a count within it" (list start n)))
           (let loop ((i 0))
             (if (and (< i n) (or (= i 0) (ready? p)))
                 (let ((element (read p)))
                   (cond ((not (eof-object? element))
                          (store! x (+ start i) element)
                          (loop (+ i 1)))
                         ((= i 0) element)
                         (else i)))
                 i))))))
    (define-some get-string-some! "get-string-some!" string? "a string" string-length read-char char-ready? string-set!)
    (define-some get-bytevector-some! "get-bytevector-some!" bytevector? "a bytevector" bytevector-length read-u8
      u8-ready? bytevector-u8-set!)
    (define-syntax define-put
      (syntax-rules ()
        ((_ name size put)
         (define name
           (case-lambda
             ((p x) (name p x 0))
             ((p x start) (name p x start (- (size x) start)))
             ((p x start n)
              (put x p start (+ start n))
              n))))))
    (define-put put-string-some string-length write-string)
    (define-put put-bytevector-some bytevector-length write-bytevector)

    (define-some read-block "block-read" string? "a string" string-length read-char char-ready? string-set!)
    (define (block-read p s . count)
      (read-block p s 0 (if (pair? count) (car count) (if (string? s) (string-length s) 0))))
    (define (block-write p s . count)
      (apply write-string s p 0 count)
      (flush-output-port p))

    (define current-transcoder (make-parameter (native-transcoder)))

    ;;;; Data in files: four bytes that say how long the text is, and what `write-shared` makes of it

    (define (check-datum x)
      (define seen (make-hash-table eq?))
      (define (new? x)
        (and (not (hash-table-ref/default seen x #f))
             (begin (hash-table-set! seen x #t) #t)))
      (let check ((x x))
        (cond ((pair? x)
               (if (new? x)
                   (begin (check (car x))
                          (check (cdr x)))))
              ((vector? x) (if (new? x) (vector-for-each check x)))
              ((or (null? x) (symbol? x) (number? x) (string? x) (char? x) (boolean? x) (bytevector? x)))
              (else (wrong-type "fasl-write" "a datum that can be read" x)))))
    (define (fasl-write x p)
      (check-datum x)
      (let* ((text (open-output-string)) (bytes (begin (write-shared x text) (string->utf8 (get-output-string text)))))
        (let loop ((i 3))
          (if (>= i 0)
              (begin
                (write-u8 (modulo (quotient (bytevector-length bytes) (expt 256 i)) 256) p)
                (loop (- i 1)))))
        (write-bytevector bytes p)))
    (define (fasl-read p)
      (let ((head (read-bytevector 4 p)))
        (if (eof-object? head)
            head
            (let* ((n (let loop ((n 0) (i 0))
                        (if (< i (bytevector-length head))
                            (loop (+ (* 256 n) (bytevector-u8-ref head i)) (+ i 1))
                            n)))
                   (bytes (if (= n 0) (eof-object) (read-bytevector n p))))
              (if (and (= 4 (bytevector-length head)) (bytevector? bytes) (= n (bytevector-length bytes)))
                  (read (open-input-string (utf8->string bytes)))
                  (wrong-type "fasl-read" "what fasl-write has written" p))))))

    ;;;; Memory, of the whole process, as the system tells it

    (define (collections) (%weak-collections))
    (define (system-says key)
      (call-with-input-file "/proc/self/status"
        (lambda (p)
          (let loop ()
            (let ((line (read-line p)) (n (string-length key)))
              (cond ((eof-object? line) 0)
                    ((and (> (string-length line) n) (string=? key (string-copy line 0 n)))
                     (* 1024 (digits line)))
                    (else (loop))))))))
    (define (digits line)
      (let loop ((l (string->list line)) (n 0))
        (cond ((null? l) n)
              ((digit-value (car l)) => (lambda (d) (loop (cdr l) (+ (* 10 n) d))))
              (else (loop (cdr l) n)))))
    ;; The system's own maximum may lag behind.
    (define highest 0)
    (define (current-memory-bytes)
      (let ((n (system-says "VmRSS:")))
        (set! highest (max n highest))
        n))
    (define (maximum-memory-bytes)
      (current-memory-bytes)
      (max highest (system-says "VmHWM:")))))
