;;; (rnrs io ports) of R6RS, but for custom ports and ports for both input and output.
;;;
;;; Cairn's textual ports are in UTF-8.  What another codec decodes is read whole, and what one encodes is kept until
;;; the port is closed or flushed.
(define-library (rnrs io ports)
  (export
   &i/o make-i/o-error i/o-error? &i/o-read make-i/o-read-error i/o-read-error?
   &i/o-write make-i/o-write-error i/o-write-error?
   &i/o-invalid-position make-i/o-invalid-position-error i/o-invalid-position-error? i/o-error-position
   &i/o-filename make-i/o-filename-error i/o-filename-error? i/o-error-filename
   &i/o-file-protection make-i/o-file-protection-error i/o-file-protection-error?
   &i/o-file-is-read-only make-i/o-file-is-read-only-error i/o-file-is-read-only-error?
   &i/o-file-already-exists make-i/o-file-already-exists-error i/o-file-already-exists-error?
   &i/o-file-does-not-exist make-i/o-file-does-not-exist-error i/o-file-does-not-exist-error?
   &i/o-port make-i/o-port-error i/o-port-error? i/o-error-port
   &i/o-decoding make-i/o-decoding-error i/o-decoding-error?
   &i/o-encoding make-i/o-encoding-error i/o-encoding-error? i/o-encoding-error-char
   file-options buffer-mode buffer-mode? latin-1-codec utf-8-codec utf-16-codec eol-style native-eol-style
   error-handling-mode make-transcoder native-transcoder transcoder-codec transcoder-eol-style
   transcoder-error-handling-mode bytevector->string string->bytevector
   eof-object eof-object? port? port-transcoder textual-port? binary-port? transcoded-port
   port-has-port-position? port-has-set-port-position!? close-port call-with-port
   input-port? port-eof? open-file-input-port open-bytevector-input-port open-string-input-port standard-input-port
   current-input-port get-u8 lookahead-u8 get-bytevector-n get-bytevector-n! get-bytevector-some get-bytevector-all
   get-char lookahead-char get-string-n get-string-n! get-string-all get-line get-datum
   output-port? flush-output-port output-port-buffer-mode open-file-output-port open-bytevector-output-port
   call-with-bytevector-output-port open-string-output-port call-with-string-output-port standard-output-port
   standard-error-port current-output-port current-error-port put-u8 put-bytevector put-char put-string put-datum)
  (import (except (scheme base) error) (scheme case-lambda) (scheme file) (scheme read) (scheme write)
          (only (scheme bytevector) string->utf16 utf16->string)
          (only (cairn primitives) %standard-port)
          (only (cairn control) wrong-type)
          (only (srfi 13) string-index)
          (rnrs enums) (cairn rnrs conditions))
  (begin

    ;;;; Transcoders

    (define-enumeration file-option (no-create no-fail no-truncate) file-options)
    (define-syntax define-choice
      (syntax-rules ()
        ((_ name word ...) (define-syntax name (syntax-rules (word ...) ((_ word) 'word) ...)))))
    (define-choice buffer-mode none line block)
    (define (buffer-mode? x) (and (memq x '(none line block)) #t))
    (define-choice eol-style lf cr crlf nel crnel ls none)
    (define-choice error-handling-mode ignore raise replace)
    (define (native-eol-style) 'lf)

    (define-record-type <codec> (make-codec name) codec? (name codec-name))
    (define latin-1 (make-codec 'latin-1))
    (define utf-8 (make-codec 'utf-8))
    (define utf-16 (make-codec 'utf-16))
    (define (latin-1-codec) latin-1)
    (define (utf-8-codec) utf-8)
    (define (utf-16-codec) utf-16)

    (define-record-type <transcoder>
      (transcoder codec eol-style error-handling-mode)
      transcoder?
      (codec transcoder-codec)
      (eol-style transcoder-eol-style)
      (error-handling-mode transcoder-error-handling-mode))
    (define make-transcoder
      (case-lambda
        ((codec) (make-transcoder codec 'lf 'replace))
        ((codec eol) (make-transcoder codec eol 'replace))
        ((codec eol mode)
         (if (not (codec? codec)) (wrong-type "make-transcoder" "a codec" codec))
         (transcoder codec eol mode))))
    (define native (make-transcoder utf-8))
    (define (native-transcoder) native)

    ;; Ends of lines: what stands in files.
    (define (line-end style)
      (case style
        ((cr) "\r")
        ((crlf) "\r\n")
        ((nel) "\x85;")
        ((crnel) "\r\x85;")
        ((ls) "\x2028;")
        (else "\n")))
    (define (with-line-ends s style)
      (if (or (memq style '(lf none)) (not (string-index s #\newline)))
          s
          (let ((end (line-end style)))
            (apply string-append
                   (map (lambda (c) (if (char=? c #\newline) end (string c))) (string->list s))))))
    ;; With any style but none, each end of a line becomes a newline.
    (define (without-line-ends s style)
      (if (eq? style 'none)
          s
          (let loop ((l (string->list s)) (out '()))
            (cond
              ((null? l) (list->string (reverse out)))
              ((char=? (car l) #\return)
               (loop (if (and (pair? (cdr l)) (memv (cadr l) '(#\newline #\x85))) (cddr l) (cdr l))
                     (cons #\newline out)))
              ((memv (car l) '(#\x85 #\x2028)) (loop (cdr l) (cons #\newline out)))
              (else (loop (cdr l) (cons (car l) out)))))))

    (define (bytevector->string bytes t)
      (without-line-ends
       (decode bytes (codec-name (transcoder-codec t)) (transcoder-error-handling-mode t))
       (transcoder-eol-style t)))
    (define (string->bytevector s t)
      (encode (with-line-ends s (transcoder-eol-style t)) (codec-name (transcoder-codec t))
              (transcoder-error-handling-mode t)))

    (define (decode bytes codec mode)
      (case codec
        ((latin-1) (list->string (map integer->char (bytes->list bytes))))
        ((utf-16) (utf16->string bytes 'big))
        (else (decode-utf-8 bytes mode))))
    (define (bytes->list bytes)
      (let loop ((k (- (bytevector-length bytes) 1)) (l '()))
        (if (< k 0) l (loop (- k 1) (cons (bytevector-u8-ref bytes k) l)))))

    (define (decode-utf-8 bytes mode)
      (define end (bytevector-length bytes))
      (define (byte k) (if (< k end) (bytevector-u8-ref bytes k) 0))
      (define (more? k) (= 2 (quotient (byte k) 64)))
      ;; The character at k and its length, or #f.
      (define (scalar k receive)
        (let* ((b (byte k))
               (n (cond ((< b #x80) 1) ((< b #xc2) 0) ((< b #xe0) 2) ((< b #xf0) 3) ((< b #xf5) 4) (else 0))))
          (let loop ((i 1) (code (case n ((1) b) ((2) (- b #xc0)) ((3) (- b #xe0)) (else (- b #xf0)))))
            (cond
              ((= n 0) (receive #f 1))
              ((< i n) (if (more? (+ k i)) (loop (+ i 1) (+ (* 64 code) (- (byte (+ k i)) 128))) (receive #f i)))
              ((or (and (= n 3) (< code #x800)) (and (= n 4) (< code #x10000)) (> code #x10ffff)
                   (<= #xd800 code #xdfff))
               (receive #f 1))
              (else (receive (integer->char code) n))))))
      (let loop ((k 0) (out '()))
        (if (< k end)
            (scalar k
              (lambda (c n)
                (loop (+ k n)
                      (cond
                        (c (cons c out))
                        ((eq? mode 'ignore) out)
                        ((eq? mode 'replace) (cons #\xfffd out))
                        (else
                         (raise
                          (condition (make-i/o-decoding-error #f) (make-who-condition 'bytevector->string)
                                     (make-message-condition "the bytes are not UTF-8")
                                     (make-irritants-condition (list (byte k))))))))))
            (list->string (reverse out)))))

    (define (encode s codec mode)
      (case codec
        ((latin-1)
         (apply bytevector
                (let loop ((l (string->list s)))
                  (cond
                    ((null? l) '())
                    ((< (char->integer (car l)) 256) (cons (char->integer (car l)) (loop (cdr l))))
                    ((eq? mode 'ignore) (loop (cdr l)))
                    ((eq? mode 'replace) (cons 63 (loop (cdr l))))
                    (else
                     (raise
                      (condition (make-i/o-encoding-error #f (car l)) (make-who-condition 'string->bytevector)
                                 (make-message-condition "Latin-1 does not have the character")
                                 (make-irritants-condition (list (car l))))))))))
        ((utf-16) (string->utf16 s 'big))
        (else (string->utf8 s))))

    ;;;; Ports

    ;; Does a textual port of Cairn's decode as this transcoder does?
    (define (as-cairn? t)
      (and (eq? (codec-name (transcoder-codec t)) 'utf-8)
           (memq (transcoder-eol-style t) '(lf none))))
    (define (check-transcoder who t)
      (if (not (transcoder? t)) (wrong-type who "a transcoder" t)))
    (define (port-transcoder p)
      (if (port? p)
          (and (textual-port? p) native)
          (wrong-type "port-transcoder" "a port" p)))
    (define (port-has-port-position? p) #f)
    (define (port-has-set-port-position!? p) #f)
    (define (output-port-buffer-mode p)
      (if (output-port? p) 'block (wrong-type "output-port-buffer-mode" "an output port" p)))

    ;; What is left in a binary input port, as text.
    (define (transcoded-port p t)
      (check-transcoder "transcoded-port" t)
      (cond
        ((and (textual-port? p) (binary-port? p)) p)
        ((and (input-port? p) (binary-port? p))
         (let ((bytes (get-bytevector-all p)))
           (close-port p)
           (open-input-string (if (eof-object? bytes) "" (bytevector->string bytes t)))))
        (else (assertion-violation 'transcoded-port "only binary input ports are transcoded:" p))))

    (define open-file-input-port
      (case-lambda
        ((name) (open-binary-input-file name))
        ((name options) (open-binary-input-file name))
        ((name options mode) (open-binary-input-file name))
        ((name options mode t)
         (cond
           ((not t) (open-binary-input-file name))
           ((as-cairn? t) (open-input-file name))
           (else (transcoded-port (open-binary-input-file name) t))))))

    (define no-options (file-options))
    (define open-file-output-port
      (case-lambda
        ((name) (open-file-output-port name no-options 'block #f))
        ((name options) (open-file-output-port name options 'block #f))
        ((name options mode) (open-file-output-port name options mode #f))
        ((name options mode t)
         (let ((there? (file-exists? name)))
           (define (fail condition message)
             (raise
              (make-compound condition 'open-file-output-port message (list name))))
           (cond
             ((and there?
                   (not (enum-set-member? (file-option no-fail) options))
                   (not (enum-set-member? (file-option no-create) options)))
              (fail (make-i/o-file-already-exists-error name) "the file is there already:"))
             ((and (not there?) (enum-set-member? (file-option no-create) options))
              (fail (make-i/o-file-does-not-exist-error name) "there is no such file:"))
             ((and there? (enum-set-member? (file-option no-truncate) options))
              (fail (make-implementation-restriction-violation) "files are always truncated here:"))
             ((not t) (open-binary-output-file name))
             ((as-cairn? t) (open-output-file name))
             (else
              (fail (make-implementation-restriction-violation) "files are written in UTF-8 with line feeds:")))))))
    (define (make-compound simple who message irritants)
      (condition simple (make-who-condition who) (make-message-condition message)
                 (make-irritants-condition irritants)))

    (define open-bytevector-input-port
      (case-lambda
        ((bytes) (open-input-bytevector bytes))
        ((bytes t) (if t (open-input-string (bytevector->string bytes t)) (open-input-bytevector bytes)))))
    (define (open-string-input-port s) (open-input-string s))
    (define (standard-input-port) (%standard-port 0))
    (define (standard-output-port) (%standard-port 1))
    (define (standard-error-port) (%standard-port 2))

    ;; What was put into a port since it was asked for last.
    (define (extractor contents size part)
      (let ((seen 0))
        (lambda ()
          (let* ((all (contents)) (new (part all seen (size all))))
            (set! seen (size all))
            new))))
    (define (open-string-output-port)
      (let ((p (open-output-string)))
        (values p (extractor (lambda () (get-output-string p)) string-length substring))))
    (define open-bytevector-output-port
      (case-lambda
        (() (open-bytevector-output-port #f))
        ((t)
         (if t
             (let-values (((p get) (open-string-output-port)))
               (values p (lambda () (string->bytevector (get) t))))
             (let ((p (open-output-bytevector)))
               (values p (extractor (lambda () (get-output-bytevector p)) bytevector-length bytevector-copy)))))))
    (define (call-with-string-output-port proc)
      (let ((p (open-output-string)))
        (proc p)
        (get-output-string p)))
    (define call-with-bytevector-output-port
      (case-lambda
        ((proc) (call-with-bytevector-output-port proc #f))
        ((proc t)
         (let-values (((p get) (open-bytevector-output-port t)))
           (proc p)
           (get)))))

    ;;;; Input

    (define (port-eof? p)
      (eof-object? (if (binary-port? p) (peek-u8 p) (peek-char p))))
    (define (get-u8 p) (read-u8 p))
    (define (lookahead-u8 p) (peek-u8 p))
    (define (get-bytevector-n p n) (if (= n 0) (bytevector) (read-bytevector n p)))
    (define (get-bytevector-n! p bytes start n)
      (if (= n 0) 0 (read-bytevector! bytes p start (+ start n))))
    (define (get-bytevector-some p)
      (let ((first (read-u8 p)))
        (if (eof-object? first)
            first
            (let loop ((bytes (list first)) (n 1))
              (if (and (< n 4096) (u8-ready? p) (not (eof-object? (peek-u8 p))))
                  (loop (cons (read-u8 p) bytes) (+ n 1))
                  (apply bytevector (reverse bytes)))))))
    (define (get-bytevector-all p) (get-all p read-bytevector bytevector-append))
    (define (get-all p read append)
      (let loop ((parts '()))
        (let ((part (read 4096 p)))
          (cond
            ((not (eof-object? part)) (loop (cons part parts)))
            ((null? parts) part)
            (else (apply append (reverse parts)))))))
    (define (get-char p) (read-char p))
    (define (lookahead-char p) (peek-char p))
    (define (get-string-n p n) (if (= n 0) "" (read-string n p)))
    (define (get-string-n! p s start n)
      (if (= n 0)
          0
          (let ((new (read-string n p)))
            (cond
              ((eof-object? new) new)
              (else
               (string-copy! s start new)
               (string-length new))))))
    (define (get-string-all p) (get-all p read-string string-append))
    (define (get-line p) (read-line p))
    (define (get-datum p) (read p))

    ;;;; Output

    (define (put-u8 p byte) (write-u8 byte p))
    (define put-bytevector
      (case-lambda
        ((p bytes) (write-bytevector bytes p))
        ((p bytes start) (write-bytevector bytes p start))
        ((p bytes start n) (write-bytevector bytes p start (+ start n)))))
    (define (put-char p c) (write-char c p))
    (define put-string
      (case-lambda
        ((p s) (write-string s p))
        ((p s start) (write-string s p start))
        ((p s start n) (write-string s p start (+ start n)))))
    (define (put-datum p x) (write x p))))
