;;; Ports.
;;;
;;; A port is a heap object with fixed fields (cairn_layout::object::port).  Its bytes sit in a bytevector: an input
;;; port's unread bytes are buf[pos..end], an output port has room for end - pos more.  The usual case of reading or
;;; writing one ASCII character is a primitive, which gives #f when it cannot be done with the buffer alone: refilling,
;;; flushing, UTF-8, consoles and errors are the runtime's.

(define-syntax port-flags (syntax-rules () ((_ p) (%port-ref p (port-field-flags)))))
(define-syntax port-buf (syntax-rules () ((_ p) (%port-ref p (port-field-buffer)))))
(define-syntax port-pos (syntax-rules () ((_ p) (%port-ref p (port-field-position)))))
(define-syntax port-end (syntax-rules () ((_ p) (%port-ref p (port-field-end)))))
(define-syntax set-port-pos! (syntax-rules () ((_ p i) (%port-set! p (port-field-position) i))))
;; FLAG_INPUT 1, FLAG_OUTPUT 2, FLAG_TEXTUAL 4, FLAG_BINARY 8, FLAG_OPEN 16
(define-syntax text-in?
  (syntax-rules () ((_ p) (%fx= (%fxand (port-flags p) (port-open-textual-input)) (port-open-textual-input)))))

;;;; The current ports

(define (check-input-port x)
  (if (input-port? x) x (wrong-type "current-input-port" "an input port" x)))
(define (check-output-port x)
  (if (output-port? x) x (wrong-type "current-output-port" "an output port" x)))
(define (check-error-port x)
  (if (output-port? x) x (wrong-type "current-error-port" "an output port" x)))

;; Like what `make-parameter` makes, with a shortcut when nothing is parameterized.
(define-syntax define-port-parameter
  (syntax-rules ()
    ((_ name standard check)
     (begin
       (define cell (%opaque (%standard-port standard) check))
       (define name
         (case-lambda
           (() (if (%null? (%machine-ref (slot-parameters)))
                   (%opaque-ref cell 0)
                   (parameter-cell-value cell)))
           ((x) (parameter-access cell x))
           ((key x) ((%opaque-ref cell 1) x))))))))

(define-port-parameter current-input-port 0 check-input-port)
(define-port-parameter current-output-port 1 check-output-port)
(define-port-parameter current-error-port 2 check-error-port)

;;;; Kinds of ports

(define (port? x) (%port? x))
(define (has-flag? x flag)
  (if (%port? x) (%not (%fx= (%fxand (port-flags x) flag) 0)) #f))
(define (input-port? x) (has-flag? x (port-input)))
(define (output-port? x) (has-flag? x (port-output)))
(define (textual-port? x) (has-flag? x (port-textual)))
(define (binary-port? x) (has-flag? x (port-binary)))
(define (input-port-open? p)
  (if (%port? p) (if (input-port? p) (has-flag? p (port-open)) #f) (wrong-type "input-port-open?" "a port" p)))
(define (output-port-open? p)
  (if (%port? p) (if (output-port? p) (has-flag? p (port-open)) #f) (wrong-type "output-port-open?" "a port" p)))

(define (port-name p) (%port-ref p (port-field-name)))
;; `read` keeps the state of #!fold-case in the field that is free for the library.
(define (port-fold-case? p) (%eq? (%port-ref p (port-field-extra)) #t))
(define (set-port-fold-case! p on) (%port-set! p (port-field-extra) on))

;;;; Opening and closing

;; When no file descriptor is free, the runtime answers #f and asks for a collection, which closes ports that nobody can
;; use any more. It happens in this loop, as whatever the runtime allocates in a loop leads to a safepoint.
;; In programs with threads the answer may be the number of a file that can be read when another OS thread has opened
;; this one.
(define-syntax open-file
  (syntax-rules ()
    ((_ path flags)
     (let loop ()
       (let ((port (%open-file path flags)))
         (cond
           ((%fixnum? port) (await-open port path flags))
           (port port)
           (else (loop))))))))
(define (await-open job path flags)
  (wait-for job 1)
  (let ((port (%opened-file job path flags)))
    (if port port (await-open job path flags))))

;; What is in a port, for libraries that may be evaluated: these cannot use the primitive.
(define (port-descriptor p) (%port-ref p (port-field-descriptor)))
(define (port-buffer p) (port-buf p))
(define (port-buffer-start p) (port-pos p))
(define (port-buffer-end p) (port-end p))
(define (set-port-buffer-start! p n) (set-port-pos! p n))

;; To be written from its start, what is there stays.
(define (open-kept-file path) (open-file path (%fxior (port-binary-output) (port-keeping))))
(define (open-input-file path) (open-file path (port-textual-input)))
(define (open-output-file path) (open-file path (port-textual-output)))
(define (open-binary-input-file path) (open-file path (port-binary-input)))
(define (open-binary-output-file path) (open-file path (port-binary-output)))

;; In programs with threads what is buffered is written before, and those who wait for the port find it closed.
;; So is it when the port is a custom one.
(define (close! p)
  (if (if (%procedure? (%machine-ref (slot-wait-hook))) #t (if (custom-port? p) (has-flag? p (port-open)) #f))
      (begin
        (if (if (has-flag? p (port-output)) (has-flag? p (port-open)) #f) (written p (%flush-port p)))
        (wait-for p 0)))
  (%close-port p))
(define (close-port p) (if (%port? p) (close! p) (%close-port p)))
(define (close-input-port p)
  (if (input-port? p) (close! p) (wrong-type "close-input-port" "an input port" p)))
(define (close-output-port p)
  (if (output-port? p) (close! p) (wrong-type "close-output-port" "an output port" p)))

;; Closes the port when `proc` returns, not when it escapes.
(define (call-with-port port proc)
  (if (%port? port)
      (begin
        (check-second "call-with-port" proc)
        (call-with-open port proc))
      (wrong-type "call-with-port" "a port" port)))

(define (call-with-open port proc)
  (%receive vals (proc port)
    (close! port)
    (list->values vals)))

;; Before a file is opened, and perhaps made empty.
(define (check-second who proc)
  (if (%not (%procedure? proc))
      (wrong-type who "a procedure as argument 2" proc)))

(define (call-with-input-file path proc)
  (check-second "call-with-input-file" proc)
  (call-with-open (open-file path (port-textual-input)) proc))
(define (call-with-output-file path proc)
  (check-second "call-with-output-file" proc)
  (call-with-open (open-file path (port-textual-output)) proc))

(define (with-port parameter port thunk)
  (call-with-open port
    (lambda (port)
      (parameterize* (%cons (%cons parameter port) '()) thunk))))

(define (with-input-from-file path thunk)
  (check-second "with-input-from-file" thunk)
  (with-port current-input-port (open-file path (port-textual-input)) thunk))
(define (with-output-to-file path thunk)
  (check-second "with-output-to-file" thunk)
  (with-port current-output-port (open-file path (port-textual-output)) thunk))

(define (call-with-output-string proc)
  (let ((port (%open-output-string)))
    (proc port)
    (%get-output-string port)))
(define (with-output-to-string thunk)
  (call-with-output-string
   (lambda (port)
     (parameterize* (%cons (%cons current-output-port port) '()) thunk))))
(define (with-input-from-string string thunk)
  (with-port current-input-port (%open-input-string string) thunk))

;;;; Characters in

;; A program that waits long enough for input is idle. Then the runtime answers #f once and asks for a collection, which
;; happens in this loop. In programs with threads the answer #f means that the read would block: the thread waits, and
;; asks again.
(define-syntax patiently
  (syntax-rules ()
    ((_ p (read argument ...))
     (let loop ()
       (let ((x (read argument ... p)))
         (if x
             x
             (begin
               (wait-for p 1)
               (loop))))))))

;; The scheduler's wait hook, if there is one: `what` 0: the port is closed; 1: it would be read; 2: written. A custom
;; port has a procedure of its own, which feeds the port, or takes what is in it.
(define (wait-for p what)
  (let ((own (if (%port? p) (%port-ref p (port-field-descriptor)) #f)))
    (if (%procedure? own)
        (own what)
        (let ((hook (%machine-ref (slot-wait-hook))))
          (if (%procedure? hook) (hook p what))))))
(define (custom-port? p) (%procedure? (%port-ref p (port-field-descriptor))))

;; What the buffer does at once, for libraries that read and write under names of their own; #f is for the rest, wrong
;; arguments among it.
(define (buffered-char p) (%port-take-char p))
(define (buffered-byte p) (%port-take-byte p))
(define (buffer-char! c p) (%port-put-char c p))
(define (buffer-byte! byte p) (%port-put-byte byte p))

(define (eof-object) '#!eof)

;; When the buffer does not have it. These call themselves, so that they stay apart, and programs get the rest inline.
(define-syntax define-slowly
  (syntax-rules ()
    ((_ name read)
     (define (name p)
       (let ((x (read p)))
         (if x x (begin (wait-for p 1) (name p))))))))
(define-slowly get-char-slowly %read-char)
(define-slowly look-char-slowly %peek-char)
(define-slowly get-byte-slowly %read-u8)

;; The next character, consumed.
(define (%get-char p)
  (let ((c (%port-take-char p)))
    (if c c (get-char-slowly p))))

;; The next character, not consumed.
(define (%look-char p)
  (let ((c (%port-look-char p)))
    (if c c (look-char-slowly p))))

(define read-char
  (case-lambda
    (() (%get-char (current-input-port)))
    ((p) (%get-char p))))
(define peek-char
  (case-lambda
    (() (%look-char (current-input-port)))
    ((p) (%look-char p))))
(define read-line
  (case-lambda
    (() (let ((p (current-input-port))) (patiently p (%read-line))))
    ((p) (patiently p (%read-line)))))
(define read-string
  (case-lambda
    ((k) (read-string k (current-input-port)))
    ((k p)
     (if (large? k)
         (read-large k (lambda (k) (patiently p (%read-string k))) string-size
           (lambda (n) (%make-string n #\space))
           (lambda (to at from) (%string-copy! to at from 0 (%string-length from))))
         (patiently p (%read-string k))))))
(define (string-size s) (%string-length s))

;; In programs with threads, what is large is read and written in parts, between which others have their turns.
(define most 1048576)
(define (large? k)
  (if (%fixnum? k) (if (%fx< most k) (%procedure? (%machine-ref (slot-wait-hook))) #f) #f))

;; At most `k` elements, by `read`, in one object, which `make` makes and `copy!` fills; or the end-of-file object.
(define (read-large k read size make copy!)
  (let loop ((left k) (n 0) (parts '()))
    (let* ((asked (if (%fx< left most) left most)) (part (if (%fx= left 0) '#!eof (read asked))))
      (cond
        ((%not (%eof-object? part))
         (let ((got (size part)))
           (loop (if (%fx< got asked) 0 (%fx- left got)) (%fx+ n got) (%cons part parts))))
        ((%null? parts) part)
        (else
         (let ((all (make n)))
           (let fill ((end n) (parts parts))
             (if (%pair? parts)
                 (let ((start (%fx- end (size (%car parts)))))
                   (copy! all start (%car parts))
                   (fill start (%cdr parts)))))
           all))))))

;; Writes a range by `write`, which is given its start and end.  What is no range is for the runtime to refuse.
(define-syntax in-parts
  (syntax-rules ()
    ((_ start end length (s e) write)
     (if (if (if (%fixnum? start) (%fixnum? end) #f)
             (if (large? (%fx- end start)) (if (%fx<= 0 start) (%fx<= end length) #f) #f)
             #f)
         (let loop ((s start))
           (let* ((next (%fx+ s most)) (e (if (%fx< next end) next end)))
             write
             (if (%fx< e end) (loop e))))
         (let ((s start) (e end)) write)))))
(define char-ready?
  (case-lambda
    (() (%char-ready? (current-input-port)))
    ((p) (%char-ready? p))))

;;;; Bytes in

(define (get-byte p)
  (let ((byte (%port-take-byte p)))
    (if byte byte (get-byte-slowly p))))

(define read-u8
  (case-lambda
    (() (get-byte (current-input-port)))
    ((p) (get-byte p))))
(define peek-u8
  (case-lambda
    (() (let ((p (current-input-port))) (patiently p (%peek-u8))))
    ((p) (patiently p (%peek-u8)))))
(define u8-ready?
  (case-lambda
    (() (%u8-ready? (current-input-port)))
    ((p) (%u8-ready? p))))
(define read-bytevector
  (case-lambda
    ((k) (read-bytevector k (current-input-port)))
    ((k p) (read-bytes k p))))
(define (bytes-size b) (%bytevector-length b))
;; A macro, so that errors name the procedure that was called.
(define-syntax read-bytes
  (syntax-rules ()
    ((_ k p)
     (if (large? k)
         (read-large k (lambda (k) (patiently p (%read-bytevector k))) bytes-size
           (lambda (n) (%make-bytevector n 0))
           (lambda (to at from) (%bytevector-copy! to at from 0 (%bytevector-length from))))
         (patiently p (%read-bytevector k))))))

;; Number of bytes read, or the end-of-file object.
(define read-bytevector!
  (case-lambda
    ((b) (read-bytevector! b (current-input-port) 0 (%bytevector-length b)))
    ((b p) (read-bytevector! b p 0 (%bytevector-length b)))
    ((b p start) (read-bytevector! b p start (%bytevector-length b)))
    ((b p start end)
     (if (if (%fx<= 0 start) (if (%fx<= start end) (%fx<= end (%bytevector-length b)) #f) #f)
         (let* ((k (%fx- end start)) (bytes (read-bytes k p)))
           (if (%eof-object? bytes)
               bytes
               (begin
                 (%bytevector-copy! b start bytes 0 (%bytevector-length bytes))
                 (%bytevector-length bytes))))
         (out-of-range "read-bytevector!" "not a range of the bytevector:" (%cons start end))))))

;;;; Characters and bytes out

;; A write always succeeds, but in programs with threads the answer may be #f: then the thread waits until what is in
;; the port's buffer has been written.
(define-syntax written
  (syntax-rules ()
    ((_ p write) (if (%not write) (drain p)))))
(define (drain p)
  (wait-for p 2)
  (written p (%flush-port p)))

(define-syntax put
  (syntax-rules ()
    ((_ c p) (if (%not (%port-put-char c p)) (written p (%write-char c p))))))
(define (%put-char c p) (put c p))
(define (put-byte byte p)
  (if (%not (%port-put-byte byte p)) (written p (%write-u8 byte p))))

(define write-char
  (case-lambda
    ((c) (%put-char c (current-output-port)))
    ((c p) (%put-char c p))))
(define newline
  (case-lambda
    (() (%put-char #\newline (current-output-port)))
    ((p) (put #\newline p))))
;; A line end, unless the port is at the beginning of a line.
(define fresh-line
  (case-lambda
    (() (fresh-line (current-output-port)))
    ((p) (if (%port-inside-line? p) (newline p)))))
(define write-u8
  (case-lambda
    ((byte) (put-byte byte (current-output-port)))
    ((byte p) (put-byte byte p))))
(define write-string
  (case-lambda
    ((s) (write-string s (current-output-port)))
    ((s p) (write-string s p 0 (%string-length s)))
    ((s p start) (write-string s p start (%string-length s)))
    ((s p start end) (put-string s p start end))))
;; Likewise.
(define-syntax put-string
  (syntax-rules ()
    ((_ s p start end)
     (in-parts start end (%string-length s) (from to) (written p (%write-string s p from to))))))
(define write-bytevector
  (case-lambda
    ((b) (write-bytevector b (current-output-port)))
    ((b p) (write-bytevector b p 0 (%bytevector-length b)))
    ((b p start) (write-bytevector b p start (%bytevector-length b)))
    ((b p start end)
     (in-parts start end (%bytevector-length b) (from to) (written p (%write-bytevector b p from to))))))
(define flush-output-port
  (case-lambda
    (() (flush-output-port (current-output-port)))
    ((p) (written p (%flush-port p)))))

;;;; Objects out

(define (display:to x p)
  (cond
    ((%string? x) (let ((n (%string-length x))) (put-string x p 0 n)))
    ((%char? x) (put x p))
    (else (written p (%write-object x p 0)))))

(define display
  (case-lambda
    ((x) (display:to x (current-output-port)))
    ((x p) (display:to x p))))
(define write
  (case-lambda
    ((x) (let ((p (current-output-port))) (written p (%write-object x p 1))))
    ((x p) (written p (%write-object x p 1)))))
(define write-shared
  (case-lambda
    ((x) (let ((p (current-output-port))) (written p (%write-object x p 2))))
    ((x p) (written p (%write-object x p 2)))))
(define write-simple
  (case-lambda
    ((x) (let ((p (current-output-port))) (written p (%write-object x p 3))))
    ((x p) (written p (%write-object x p 3)))))
