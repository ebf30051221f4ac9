;;; (rnrs io ports) of R6RS.
;;;
;;; A port with a transcoder, or without a buffer, that reads and writes, or whose reading and writing are procedures of
;;; the program, is a *custom port* of Cairn (cairn-rt's port/custom.rs): the procedure that stands in the place of its
;;; descriptor is called when the buffer does not do.  Textual ports hold UTF-8, so a transcoder sits between two ports:
;;;
;;;     textual custom port  ──UTF-8──▶  string  ──line ends, codec──▶  bytes  ──▶  binary port
;;;
;;; What is decoded comes in parts; a part of a character, or a carriage return, waits for the next one.
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
   port-has-port-position? port-has-set-port-position!? port-position set-port-position! close-port call-with-port
   make-custom-binary-input-port make-custom-textual-input-port make-custom-binary-output-port
   make-custom-textual-output-port make-custom-binary-input/output-port make-custom-textual-input/output-port
   open-file-input/output-port
   input-port? port-eof? open-file-input-port open-bytevector-input-port open-string-input-port standard-input-port
   current-input-port get-u8 lookahead-u8 get-bytevector-n get-bytevector-n! get-bytevector-some get-bytevector-all
   get-char lookahead-char get-string-n get-string-n! get-string-all get-line get-datum
   output-port? flush-output-port output-port-buffer-mode open-file-output-port open-bytevector-output-port
   call-with-bytevector-output-port open-string-output-port call-with-string-output-port standard-output-port
   standard-error-port current-output-port current-error-port put-u8 put-bytevector put-char put-string put-datum)
  (import (except (scheme base) error) (scheme case-lambda) (scheme file) (scheme read) (scheme write)
          (only (cairn primitives) %take-output-string %standard-port %custom-port %port-feed! %port-take! %port-unread
                %port-forget! %port-seek)
          (cairn layout)
          (only (cairn port) open-kept-file custom-port? port-buffer port-buffer-start port-buffer-end buffered-char
                buffered-byte buffer-char! buffer-byte!)
          (only (cairn control) out-of-range wrong-type)
          (only (cairn hash-table) make-hash-table hash-table-ref/default hash-table-set!)
          (rnrs enums) (cairn rnrs conditions) (cairn rnrs utf-8))
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
    (define (native-eol-style) 'none)

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
        ((codec) (make-transcoder codec 'none 'replace))
        ((codec eol) (make-transcoder codec eol 'replace))
        ((codec eol mode)
         (if (not (codec? codec)) (wrong-type "make-transcoder" "a codec" codec))
         (transcoder codec eol mode))))
    (define native (make-transcoder utf-8))
    (define (native-transcoder) native)

    ;;;; Decoding

    ;; A decoder takes a part of the bytes, and whether it is the last one; it returns what it makes of them, a
    ;; bytevector of UTF-8.  What a part of a character may be is kept for the next time.
    (define (make-decoder who port t)
      (let* ((style (transcoder-eol-style t))
             (mode (transcoder-error-handling-mode t))
             (ends (if (eq? style 'none) (lambda (bytes last?) bytes) (make-line-end-reader))))
        (define (bad byte out)
          (case mode
            ((ignore) #f)
            ((raise)
             (raise
              (condition (make-i/o-decoding-error port) (make-who-condition who)
                         (make-message-condition "bytes that mean no character:")
                         (make-irritants-condition (list byte)))))
            (else (write-char #\xfffd out))))
        (define decode
          (case (codec-name (transcoder-codec t))
            ((latin-1) decode-latin-1)
            ((utf-16) (make-utf-16-decoder bad))
            (else (lambda (bytes last? keep!) (decode-utf-8 bytes last? keep! bad)))))
        (let ((kept (bytevector)))
          (lambda (bytes last?)
            (let ((all (if (= (bytevector-length kept) 0) bytes (bytevector-append kept bytes))))
              (set! kept (bytevector))
              (ends (decode all last? (lambda (from) (set! kept (bytevector-copy all from)))) last?))))))

    ;; Each end of a line becomes a newline: on UTF-8.
    (define (make-line-end-reader)
      ;; was a carriage return the last byte?
      (let ((return? #f))
        (lambda (bytes last?)
          (let ((n (bytevector-length bytes)) (out (open-output-bytevector)) (found? #f))
            (define (at? k a b c)
              (and (<= (+ k (if c 3 2)) n)
                   (= (bytevector-u8-ref bytes k) a)
                   (= (bytevector-u8-ref bytes (+ k 1)) b)
                   (or (not c) (= (bytevector-u8-ref bytes (+ k 2)) c))))
            (let loop ((k 0) (from 0))
              (define (put-until end) (if (< from end) (write-bytevector bytes out from end)))
              (if (= k n)
                  (if found? (put-until n))
                  (let ((byte (bytevector-u8-ref bytes k)) (after? return?))
                    (set! return? #f)
                    (cond
                      ((and after? (or (= byte 10) (at? k #xc2 #x85 #f)))
                       (let ((next (+ k (if (= byte 10) 1 2))))
                         (set! found? #t)
                         (put-until k)
                         (loop next next)))
                      ((= byte 13)
                       (set! found? #t)
                       (set! return? #t)
                       (put-until k)
                       (write-u8 10 out)
                       (loop (+ k 1) (+ k 1)))
                      ((and (= byte #xc2) (at? k #xc2 #x85 #f))
                       (set! found? #t)
                       (put-until k)
                       (write-u8 10 out)
                       (loop (+ k 2) (+ k 2)))
                      ((and (= byte #xe2) (at? k #xe2 #x80 #xa8))
                       (set! found? #t)
                       (put-until k)
                       (write-u8 10 out)
                       (loop (+ k 3) (+ k 3)))
                      (else (loop (+ k 1) from))))))
            (if found? (get-output-bytevector out) bytes)))))

    (define (decode-latin-1 bytes last? keep!)
      (let ((out (open-output-string)) (n (bytevector-length bytes)))
        (do ((k 0 (+ k 1))) ((= k n)) (write-char (integer->char (bytevector-u8-ref bytes k)) out))
        (string->utf8 (get-output-string out))))

    (define (make-utf-16-decoder bad)
      ;; #f until the first unit has been seen
      (let ((big? 'unknown))
        (lambda (bytes last? keep!)
          (let ((end (bytevector-length bytes)) (out (open-output-string)))
            (define (unit k)
              (let ((a (bytevector-u8-ref bytes k)) (b (bytevector-u8-ref bytes (+ k 1))))
                (if big? (+ (* 256 a) b) (+ (* 256 b) a))))
            (define start
              (if (and (eq? big? 'unknown) (<= 2 end))
                  (let ((mark (begin (set! big? #t) (unit 0))))
                    (case mark
                      ((#xfeff) 2)
                      ((#xfffe) (set! big? #f) 2)
                      (else 0)))
                  0))
            (let loop ((k start))
              (cond
                ((= k end))
                ((= (+ k 1) end) (if last? (bad (bytevector-u8-ref bytes k) out) (keep! k)))
                (else
                 (let ((u (unit k)))
                   (cond
                     ((or (< u #xd800) (> u #xdfff))
                      (write-char (integer->char u) out)
                      (loop (+ k 2)))
                     ((and (< u #xdc00) (<= (+ k 4) end) (<= #xdc00 (unit (+ k 2)) #xdfff))
                      (write-char
                       (integer->char (+ #x10000 (* #x400 (- u #xd800)) (- (unit (+ k 2)) #xdc00)))
                       out)
                      (loop (+ k 4)))
                     ((and (< u #xdc00) (< end (+ k 4)) (not last?)) (keep! k))
                     (else
                      (bad u out)
                      (loop (+ k 2))))))))
            (string->utf8 (get-output-string out))))))

    ;;;; Encoding

    (define (line-end style)
      (case style
        ((cr) "\r")
        ((crlf) "\r\n")
        ((nel) "\x85;")
        ((crnel) "\r\x85;")
        ((ls) "\x2028;")
        (else #f)))
    (define (encode who port s t)
      (let ((codec (codec-name (transcoder-codec t)))
            (end (line-end (transcoder-eol-style t))))
        (if (and (eq? codec 'utf-8) (not end))
            (string->utf8 s)
            (let ((out (open-output-bytevector)))
              (define (put-unit u)
                (write-u8 (quotient u 256) out)
                (write-u8 (remainder u 256) out))
              (define (put c)
                (let ((u (char->integer c)))
                  (case codec
                    ((utf-8) (if (< u 128) (write-u8 u out) (write-bytevector (string->utf8 (string c)) out)))
                    ((utf-16)
                     (cond
                       ((< u #x10000) (put-unit u))
                       (else
                        (put-unit (+ #xd800 (quotient (- u #x10000) #x400)))
                        (put-unit (+ #xdc00 (remainder (- u #x10000) #x400))))))
                    (else
                     (if (< u 256)
                         (write-u8 u out)
                         (case (transcoder-error-handling-mode t)
                           ((ignore) #f)
                           ((raise)
                            (raise
                             (condition (make-i/o-encoding-error port c) (make-who-condition who)
                                        (make-message-condition "Latin-1 does not have the character")
                                        (make-irritants-condition (list c)))))
                           (else (write-u8 63 out))))))))
              (string-for-each
               (lambda (c)
                 (if (and end (char=? c #\newline))
                     (string-for-each put end)
                     (put c)))
               s)
              (get-output-bytevector out)))))

    (define (bytevector->string bytes t)
      (check-transcoder "bytevector->string" t)
      (utf8->string ((make-decoder 'bytevector->string #f t) bytes #t)))
    (define (string->bytevector s t)
      (check-transcoder "string->bytevector" t)
      (encode 'string->bytevector #f s t))

    ;;;; What is known of ports

    (define-record-type <note>
      (make-note transcoder mode position set-position!)
      note?
      (transcoder note-transcoder)
      (mode note-mode)
      ;; procedures, or #f
      (position note-position)
      (set-position! note-set-position!))
    (define notes (make-hash-table eq? 'weak-keys))
    (define (note-of p) (hash-table-ref/default notes p #f))
    (define (note! p transcoder mode position set-position!)
      (hash-table-set! notes p (make-note transcoder mode position set-position!))
      p)

    (define (check-transcoder who t)
      (if (not (transcoder? t)) (wrong-type who "a transcoder" t)))
    (define (check-maybe-transcoder who t)
      (if t (check-transcoder who t)))
    (define (check-port who p)
      (if (not (port? p)) (wrong-type who "a port" p)))
    (define (port-transcoder p)
      (check-port "port-transcoder" p)
      (let ((note (note-of p)))
        (cond ((and note (note-transcoder note)) => values)
              (else (and (textual-port? p) native)))))
    (define (output-port-buffer-mode p)
      (if (not (output-port? p)) (wrong-type "output-port-buffer-mode" "an output port" p))
      (let ((note (note-of p))) (if note (note-mode note) 'block)))

    ;;;; Custom ports of Cairn

    ;; `read` takes a procedure, feed, for (feed bytevector start end), which it calls once; an empty range is the end
    ;; of the file.  `write` takes a bytevector.  `close` takes nothing.  Any may be #f.
    (define (make-port name kind mode read write close)
      (define flags
        (+ kind (if read (port-input) 0) (if write (port-output) 0)
           (case mode
             ((line) (port-line-buffered))
             ((none) (port-unbuffered))
             (else 0))))
      (define (write-out)
        (let ((bytes (%port-take! p)))
          (if (< 0 (bytevector-length bytes)) (write bytes))))
      (define (handler what)
        (case what
          ((1)
           (if write (write-out))
           (read (lambda (bytes start end) (%port-feed! p bytes start end))))
          ((2) (write-out))
          (else (if close (close)))))
      (define p (%custom-port handler flags name))
      p)

    ;; The program's procedures.
    (define (check-custom who id . procedures)
      (if (not (string? id)) (wrong-type who "a string" id))
      (for-each (lambda (f) (if (not (or (not f) (procedure? f))) (wrong-type who "a procedure or #f" f))) procedures))
    (define (checked-count who n most)
      (if (not (and (exact-integer? n) (<= 0 n most)))
          (wrong-type who "how much was read or written, no more than was asked for" n))
      n)
    (define (byte-reader who read!)
      (let ((buffer (make-bytevector 4096)))
        (lambda (feed) (feed buffer 0 (checked-count who (read! buffer 0 4096) 4096)))))
    (define (char-reader who read!)
      (let ((buffer (make-string 1024)))
        (lambda (feed)
          (let ((bytes (string->utf8 buffer 0 (checked-count who (read! buffer 0 1024) 1024))))
            (feed bytes 0 (bytevector-length bytes))))))
    (define (byte-writer who write!)
      (lambda (bytes) (write-all who write! bytes (bytevector-length bytes))))
    (define (char-writer who write!)
      (lambda (bytes)
        (let ((s (utf8->string bytes)))
          (write-all who write! s (string-length s)))))
    (define (write-all who write! all n)
      (let loop ((start 0))
        (if (< start n)
            (let ((written (checked-count who (write! all start (- n start)) (- n start))))
              (if (= written 0) (assertion-violation (string->symbol who) "nothing was written" all))
              (loop (+ start written))))))

    (define (custom who kind mode id read write get set close)
      (let ((p (make-port id kind mode read write close)))
        (note! p #f mode get set)))
    (define-syntax define-custom
      (syntax-rules ()
        ((_ (name id f ... get set close) kind read write)
         (define (name id f ... get set close)
           (define who (symbol->string 'name))
           (check-custom who id f ... get set close)
           (custom who kind 'block id (read who) (write who) get set close)))))
    (define-custom (make-custom-binary-input-port id read! get set close)
      (port-binary) (lambda (who) (byte-reader who read!)) (lambda (who) #f))
    (define-custom (make-custom-textual-input-port id read! get set close)
      (port-textual) (lambda (who) (char-reader who read!)) (lambda (who) #f))
    (define-custom (make-custom-binary-output-port id write! get set close)
      (port-binary) (lambda (who) #f) (lambda (who) (byte-writer who write!)))
    (define-custom (make-custom-textual-output-port id write! get set close)
      (port-textual) (lambda (who) #f) (lambda (who) (char-writer who write!)))
    (define-custom (make-custom-binary-input/output-port id read! write! get set close)
      (port-binary) (lambda (who) (byte-reader who read!)) (lambda (who) (byte-writer who write!)))
    (define-custom (make-custom-textual-input/output-port id read! write! get set close)
      (port-textual) (lambda (who) (char-reader who read!)) (lambda (who) (char-writer who write!)))

    ;;;; Positions

    (define (port-has-port-position? p)
      (check-port "port-has-port-position?" p)
      (let ((note (note-of p)))
        (if note
            (and (note-position note) #t)
            (and (not (custom-port? p)) (%port-seek p #f) #t))))
    (define (port-has-set-port-position!? p)
      (check-port "port-has-set-port-position!?" p)
      (let ((note (note-of p)))
        (if note
            (and (note-set-position! note) #t)
            (let ((at (and (not (custom-port? p)) (%port-seek p #f))))
              (and at (%port-seek p at) #t)))))
    ;; How much of what the port has asked for was not read: bytes, or characters.
    (define (unread p)
      (if (binary-port? p)
          (%port-unread p)
          (let ((buffer (port-buffer p)))
            (let loop ((k (port-buffer-start p)) (n 0))
              (if (< k (port-buffer-end p))
                  (loop (+ k 1) (if (= 2 (quotient (bytevector-u8-ref buffer k) 64)) n (+ n 1)))
                  n)))))
    (define (port-position p)
      (check-port "port-position" p)
      (let ((note (note-of p)))
        (if (output-port? p) (flush-output-port p))
        (cond
          ((and note (note-position note)) => (lambda (get) (if (input-port? p) (- (get) (unread p)) (get))))
          ((and (not note) (not (custom-port? p)) (%port-seek p #f)) => values)
          (else (assertion-violation 'port-position "the port has no position:" p)))))
    (define (set-port-position! p to)
      (check-port "set-port-position!" p)
      (let ((note (note-of p)))
        (define (invalid)
          (raise
           (condition (make-i/o-invalid-position-error to) (make-assertion-violation)
                      (make-who-condition 'set-port-position!)
                      (make-message-condition "the port cannot be at this position:")
                      (make-irritants-condition (list p to)))))
        (if (output-port? p) (flush-output-port p))
        (cond
          ((and note (note-set-position! note)) =>
           (lambda (set)
             (if (input-port? p) (%port-forget! p))
             (set to)))
          ((or note (custom-port? p)) (assertion-violation 'set-port-position! "the port stays where it is:" p))
          ((not (and (exact-integer? to) (<= 0 to))) (invalid))
          ((not (%port-seek p to)) (invalid)))
        (if #f #f)))

    ;;;; Transcoded ports

    ;; Bytes that are there already, after the first one, which is waited for.
    (define (some-bytes p)
      (let ((first (read-u8 p)))
        (if (eof-object? first)
            (bytevector)
            (let ((more (min (%port-unread p) 65536)))
              (if (= more 0)
                  (bytevector first)
                  (bytevector-append (bytevector first) (read-bytevector more p)))))))

    (define (transcode who p t mode)
      (define decoder (and (input-port? p) (make-decoder who p t)))
      (define both? (and (input-port? p) (output-port? p)))
      ;; What goes both ways is read byte by byte, so that it is known where it is.
      (define (read feed)
        (let* ((bytes (if both?
                          (let ((byte (read-u8 p))) (if (eof-object? byte) (bytevector) (bytevector byte)))
                          (some-bytes p)))
               (last? (= (bytevector-length bytes) 0))
               (text (decoder bytes last?)))
          (cond
            ((or last? (< 0 (bytevector-length text))) (feed text 0 (bytevector-length text)))
            (else (read feed)))))
      ;; What was read but not asked for is still to be read there.
      (define (step-back)
        (if (and both? (< 0 (%port-unread text-port)))
            (let ((left (encode who p (utf8->string (unread-bytes text-port)) t)))
              (%port-forget! text-port)
              (if (port-has-set-port-position!? p)
                  (set-port-position! p (- (port-position p) (bytevector-length left)))))))
      (define (write bytes)
        (step-back)
        (write-bytevector (encode who text-port (utf8->string bytes) t) p)
        (flush-output-port p))
      (define text-port
        (make-port (port-title p) (port-textual) mode (and decoder read) (and (output-port? p) write)
                   (lambda () (close-port p))))
      (note! text-port t mode
             (and (not (input-port? p)) (port-has-port-position? p) (lambda () (port-position p)))
             (and (port-has-set-port-position!? p)
                  (lambda (to)
                    (if decoder (set! decoder (make-decoder who p t)))
                    (set-port-position! p to)))))
    (define (port-title p)
      (let ((out (open-output-string)))
        (write p out)
        (get-output-string out)))
    ;; Of a port that reads and writes and has just been given something to write: what it has not been asked for.
    (define (unread-bytes p)
      (%port-feed! p (bytevector 0) 0 1)
      (let* ((buffer (port-buffer p)) (at (port-buffer-start p)))
        (bytevector-copy buffer at (- (port-buffer-end p) 1))))

    (define (transcoded-port p t)
      (check-port "transcoded-port" p)
      (check-transcoder "transcoded-port" t)
      (cond
        ((not (binary-port? p)) (assertion-violation 'transcoded-port "only binary ports are transcoded:" p))
        ((textual-port? p) p)
        (else (transcode 'transcoded-port p t (if (output-port? p) (output-port-buffer-mode p) 'block)))))

    ;;;; Files

    (define no-options (file-options))
    (define (file-failure who name condition message)
      (raise
       (condition* condition (make-who-condition who) (make-message-condition message)
                   (make-irritants-condition (list name)))))
    (define (condition* . parts) (apply condition parts))
    (define (check-mode who mode)
      (if (not (buffer-mode? mode)) (wrong-type who "a buffer mode: none, line or block" mode)))

    (define open-file-input-port
      (case-lambda
        ((name) (open-binary-input-file name))
        ((name options) (open-binary-input-file name))
        ((name options mode) (open-file-input-port name options mode #f))
        ((name options mode t)
         (check-mode "open-file-input-port" mode)
         (check-maybe-transcoder "open-file-input-port" t)
         (let ((p (open-binary-input-file name)))
           (if t (transcode 'open-file-input-port p t mode) p)))))

    ;; Is the file to be truncated?  It is an error if it must not be there and is, or must be and is not.
    (define (truncates? who name options)
      (define (option? x) (enum-set-member? x options))
      (let ((there? (file-exists? name)))
        (cond
          ((and there? (not (option? 'no-fail)) (not (option? 'no-create)))
           (file-failure who name (make-i/o-file-already-exists-error name) "the file is there already:"))
          ((and (not there?) (option? 'no-create))
           (file-failure who name (make-i/o-file-does-not-exist-error name) "there is no such file:"))
          (else (not (and there? (option? 'no-truncate)))))))

    (define open-file-output-port
      (case-lambda
        ((name) (open-file-output-port name no-options 'block #f))
        ((name options) (open-file-output-port name options 'block #f))
        ((name options mode) (open-file-output-port name options mode #f))
        ((name options mode t)
         (define who "open-file-output-port")
         (check-mode who mode)
         (check-maybe-transcoder who t)
         (let* ((p ((if (truncates? 'open-file-output-port name options) open-binary-output-file open-kept-file) name))
                (p (if (eq? mode 'block) p (promptly p mode))))
           (if t (transcode 'open-file-output-port p t mode) p)))))
    ;; A port that writes to another one without its buffer.
    (define (promptly p mode)
      (define (write bytes)
        (write-bytevector bytes p)
        (flush-output-port p))
      (let ((seeks? (port-has-port-position? p)))
        (note! (make-port (port-title p) (port-binary) mode #f write (lambda () (close-port p)))
               #f mode
               (and seeks? (lambda () (port-position p)))
               (and seeks? (lambda (to) (set-port-position! p to))))))

    ;; Two ports on the file, and one position.
    (define open-file-input/output-port
      (case-lambda
        ((name) (open-file-input/output-port name no-options 'block #f))
        ((name options) (open-file-input/output-port name options 'block #f))
        ((name options mode) (open-file-input/output-port name options mode #f))
        ((name options mode t)
         (define who 'open-file-input/output-port)
         (check-mode "open-file-input/output-port" mode)
         (check-maybe-transcoder "open-file-input/output-port" t)
         (let* ((out ((if (truncates? who name options) open-binary-output-file open-kept-file) name))
                (in (open-binary-input-file name))
                (at 0))
           (define (read feed)
             (%port-seek in at)
             (let* ((bytes (some-bytes in)) (n (bytevector-length bytes)))
               (set! at (+ at n))
               (feed bytes 0 n)))
           (define (write bytes)
             (let ((left (%port-unread p)))
               (%port-forget! p)
               (%port-seek out (- at left))
               (write-bytevector bytes out)
               (flush-output-port out)
               (set! at (+ (- at left) (bytevector-length bytes)))))
           (define p
             (make-port name (port-binary) mode read write
                        (lambda ()
                          (close-port in)
                          (close-port out))))
           (note! p #f mode (lambda () at) (lambda (to) (set! at to)))
           (if t (transcode who p t mode) p)))))

    ;;;; Other ports

    (define open-bytevector-input-port
      (case-lambda
        ((bytes) (open-input-bytevector bytes))
        ((bytes t)
         (check-maybe-transcoder "open-bytevector-input-port" t)
         (let ((p (open-input-bytevector bytes)))
           (if t (transcode 'open-bytevector-input-port p t 'block) p)))))
    (define (open-string-input-port s)
      (if (not (string? s)) (wrong-type "open-string-input-port" "a string" s))
      (open-input-string s))
    ;; Binary ports, whose closing does not close those of the process.
    (define (standard-input-port)
      (let ((in (%standard-port 0)))
        (define (read feed)
          (let ((bytes (some-bytes in))) (feed bytes 0 (bytevector-length bytes))))
        (note! (make-port "standard input" (port-binary) 'block read #f #f) #f 'block #f #f)))
    (define (standard-output-port) (standard-output 1 "standard output" 'line))
    (define (standard-error-port) (standard-output 2 "standard error" 'none))
    (define (standard-output number name mode)
      (let ((out (%standard-port number)))
        (define (write bytes)
          (write-bytevector bytes out)
          (flush-output-port out))
        (note! (make-port name (port-binary) mode #f write #f) #f mode #f #f)))

    ;; What was put into a port since it was asked for last.
    (define (extractor contents size part)
      (let ((seen 0))
        (lambda ()
          (let* ((all (contents)) (new (part all seen (size all))))
            (set! seen (size all))
            new))))
    (define (open-string-output-port)
      (let ((p (open-output-string)))
        (values p (lambda () (%take-output-string p)))))
    (define open-bytevector-output-port
      (case-lambda
        (() (open-bytevector-output-port #f))
        ((t)
         (check-maybe-transcoder "open-bytevector-output-port" t)
         (if t
             (let*-values (((bytes get) (open-bytevector-output-port))
                           ((p) (transcode 'open-bytevector-output-port bytes t 'block)))
               (values p
                       (lambda ()
                         (flush-output-port p)
                         (get))))
             (let ((p (open-output-bytevector)))
               (values p (extractor (lambda () (get-output-bytevector p)) bytevector-length bytevector-copy)))))))
    (define (call-with-string-output-port proc)
      (if (not (procedure? proc)) (wrong-type "call-with-string-output-port" "a procedure" proc))
      (let ((p (open-output-string)))
        (proc p)
        (get-output-string p)))
    (define call-with-bytevector-output-port
      (case-lambda
        ((proc) (call-with-bytevector-output-port proc #f))
        ((proc t)
         (if (not (procedure? proc)) (wrong-type "call-with-bytevector-output-port" "a procedure" proc))
         (let-values (((p get) (open-bytevector-output-port t)))
           (proc p)
           (get)))))

    ;;;; Input

    ;; Arguments are tested here, so that errors name the procedures of R6RS; that a port is closed is found below.
    (define-syntax check-kind
      (syntax-rules (textual-input binary-input textual-output binary-output)
        ((_ textual-input who p) (check-kind input-port? textual-port? "a textual input port" who p))
        ((_ binary-input who p) (check-kind input-port? binary-port? "a binary input port" who p))
        ((_ textual-output who p) (check-kind output-port? textual-port? "a textual output port" who p))
        ((_ binary-output who p) (check-kind output-port? binary-port? "a binary output port" who p))
        ((_ direction? kind? expected who p)
         (if (not (and (direction? p) (kind? p))) (wrong-type who expected p)))))
    (define (check-count who n)
      (if (not (and (exact-integer? n) (>= n 0))) (wrong-type who "an exact non-negative integer" n)))

    (define (port-eof? p)
      (if (not (input-port? p)) (wrong-type "port-eof?" "an input port" p))
      (eof-object? (if (binary-port? p) (peek-u8 p) (peek-char p))))
    (define (get-u8 p)
      (or (buffered-byte p)
          (begin
            (check-kind binary-input "get-u8" p)
            (read-u8 p))))
    (define (lookahead-u8 p)
      (check-kind binary-input "lookahead-u8" p)
      (peek-u8 p))
    (define (get-bytevector-n p n)
      (check-kind binary-input "get-bytevector-n" p)
      (check-count "get-bytevector-n" n)
      (if (= n 0) (bytevector) (read-bytevector n p)))
    (define (get-bytevector-n! p bytes start n)
      (check-kind binary-input "get-bytevector-n!" p)
      (check-room "get-bytevector-n!" bytes "a bytevector" bytevector? bytevector-length start n)
      (if (= n 0) 0 (read-bytevector! bytes p start (+ start n))))
    (define (get-bytevector-some p)
      (check-kind binary-input "get-bytevector-some" p)
      (let ((first (peek-u8 p)))
        (if (eof-object? first) (read-u8 p) (some-bytes p))))
    (define (get-bytevector-all p)
      (check-kind binary-input "get-bytevector-all" p)
      (get-all p read-bytevector bytevector-append))
    (define (get-all p read append)
      (let loop ((parts '()))
        (let ((part (read 4096 p)))
          (cond
            ((not (eof-object? part)) (loop (cons part parts)))
            ((null? parts) part)
            (else (apply append (reverse parts)))))))
    (define (get-char p)
      (or (buffered-char p)
          (begin
            (check-kind textual-input "get-char" p)
            (read-char p))))
    (define (lookahead-char p)
      (check-kind textual-input "lookahead-char" p)
      (peek-char p))
    (define (get-string-n p n)
      (check-kind textual-input "get-string-n" p)
      (check-count "get-string-n" n)
      (if (= n 0) "" (read-string n p)))
    (define (get-string-n! p s start n)
      (check-kind textual-input "get-string-n!" p)
      (check-room "get-string-n!" s "a string" string? string-length start n)
      (if (= n 0)
          0
          (let ((new (read-string n p)))
            (cond
              ((eof-object? new) new)
              (else
               (string-copy! s start new)
               (string-length new))))))
    ;; Are there `n` elements from `start` on?
    (define (check-room who x expected right? size start n)
      (if (not (right? x)) (wrong-type who expected x))
      (check-count who start)
      (check-count who n)
      (if (> start (size x)) (out-of-range who "the start is behind the end:" start))
      (if (> (+ start n) (size x)) (out-of-range who "not so many elements behind the start:" n)))
    (define (get-string-all p)
      (check-kind textual-input "get-string-all" p)
      (get-all p read-string string-append))
    ;; A carriage return is part of the line, unlike in R7RS.
    (define (get-line p)
      (check-kind textual-input "get-line" p)
      (let ((first (read-char p)))
        (if (eof-object? first)
            first
            (let ((out (open-output-string)))
              (let loop ((c first))
                (cond
                  ((or (eof-object? c) (char=? c #\newline)) (get-output-string out))
                  (else
                   (write-char c out)
                   (loop (read-char p)))))))))
    (define (get-datum p)
      (check-kind textual-input "get-datum" p)
      (read p))

    ;;;; Output

    (define (put-u8 p byte)
      (if (not (buffer-byte! byte p))
          (begin
            (check-kind binary-output "put-u8" p)
            (if (not (and (exact-integer? byte) (<= 0 byte 255))) (wrong-type "put-u8" "a byte" byte))
            (write-u8 byte p))))
    (define put-bytevector
      (case-lambda
        ((p bytes) (put-bytes p bytes 0 #f))
        ((p bytes start) (put-bytes p bytes start #f))
        ((p bytes start n) (put-bytes p bytes start n))))
    (define (put-bytes p bytes start n)
      (check-kind binary-output "put-bytevector" p)
      (check-room "put-bytevector" bytes "a bytevector" bytevector? bytevector-length start (or n 0))
      (if n (write-bytevector bytes p start (+ start n)) (write-bytevector bytes p start)))
    (define (put-char p c)
      (if (not (buffer-char! c p))
          (begin
            (check-kind textual-output "put-char" p)
            (if (not (char? c)) (wrong-type "put-char" "a character" c))
            (write-char c p))))
    (define put-string
      (case-lambda
        ((p s)
         (check-kind textual-output "put-string" p)
         (if (not (string? s)) (wrong-type "put-string" "a string" s))
         (write-string s p))
        ((p s start) (put-part p s start #f))
        ((p s start n) (put-part p s start n))))
    (define (put-part p s start n)
      (check-kind textual-output "put-string" p)
      (check-room "put-string" s "a string" string? string-length start (or n 0))
      (if n (write-string s p start (+ start n)) (write-string s p start)))
    (define (put-datum p x)
      (check-kind textual-output "put-datum" p)
      (write x p))))
