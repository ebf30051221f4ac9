;;; Reading data, all of R7RS's lexical syntax.
;;;
;;; One character of lookahead decides.  `read-item` returns a datum or one of four marks: the end-of-file object, a
;;; closing parenthesis or bracket, a dot; its callers know which of them they accept.  Most tokens are ASCII and lie
;;; whole in the port's buffer: those are cut out of it directly; the others are collected character by character.
;;;
;;; Labels: `#n#` reads as a placeholder.  When a datum with labels is complete, one walk replaces the placeholders by
;;; what they stand for; before that walk the datum is a tree, so the walk ends.
;;;
;;; `labels`, passed along, belongs to one datum: a pair of a vector of placeholders, indexed by labels while these
;;; are small, and a list of the others.

;; Passes an ASCII character that has been looked at: it is in the buffer.
(define-syntax pass-char!
  (syntax-rules () ((_ port) (set-port-pos! port (%fx+ (port-pos port) 1)))))

(define close-mark (%opaque 'close))
(define square-mark (%opaque 'square))
(define dot-mark (%opaque 'dot))

;; 1 for each ASCII character that can continue a token.
(define constituents
  '#u8(0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
       0 1 0 1 1 1 1 0 0 0 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0 1 1 1 1
       1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0 2 0 1 1
       0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0 0 0 1 0))

(define (constituent? c)
  (let ((n (%char->integer c)))
    (if (%fx< n 128)
        (%fx< 0 (%bytevector-u8-ref constituents n))
        (%not (%char-whitespace? c)))))

(define (fail port message . irritants)
  (raise-read-error
   (%string-concat
    (list (if (%string? (port-name port)) (port-name port) "input")
          ":" (%num->string (%port-line port) 10) ": " message))
   irritants))

(define (fail-at-end port)
  (fail port "unexpected end of input"))

;; The next character, consumed; the end of the input is an error.
(define (need-char port)
  (let ((c (%get-char port)))
    (if (%eof-object? c) (fail-at-end port) c)))

;;;; Space and comments

;; To the end of the line: a newline, a return, or both (of both, the newline remains as white space).
(define (skip-line port)
  (let ((c (%get-char port)))
    (cond
      ((%eof-object? c) #f)
      ((%char=? c #\newline) #f)
      ((%char=? c #\return) #f)
      (else (skip-line port)))))

;; After #|.
(define (skip-block port)
  (let loop ((depth 1))
    (let ((c (need-char port)))
      (cond
        ((if (%char=? c #\|) (%eq? (%look-char port) #\#) #f)
         (%get-char port)
         (if (%fx< 1 depth) (loop (%fx- depth 1))))
        ((if (%char=? c #\#) (%eq? (%look-char port) #\|) #f)
         (%get-char port)
         (loop (%fx+ depth 1)))
        (else (loop depth))))))

;; Skips white space and line comments.  The next character, not consumed, or the end-of-file object.  The first
;; procedure is for what lies in the buffer, the second for its end, comments and what is not ASCII.
(define (skip-blanks port)
  (if (text-in? port)
      (let ((buf (port-buf port)) (end (port-end port)))
        (let loop ((i (port-pos port)))
          (if (%fx< i end)
              (let ((n (%bytevector-u8-ref buf i)))
                (cond
                  ((if (%fx= n 32) #t (%fx= n 10)) (loop (%fx+ i 1)))
                  (else
                   (set-port-pos! port i)
                   (if (if (%fx< 32 n) (if (%fx< n 128) (%not (%fx= n 59)) #f) #f)
                       (%integer->char n)
                       (skip-other-blanks port)))))
              (begin
                (set-port-pos! port i)
                (skip-other-blanks port)))))
      (%look-char port)))

(define (skip-other-blanks port)
  (let ((c (%look-char port)))
    (if (%eof-object? c)
        c
        (let ((n (%char->integer c)))
          (cond
            ((%fx<= n 32) (%get-char port) (skip-blanks port))
            ((%fx= n 59) (skip-line port) (skip-blanks port))
            ((%fx< n 128) c)
            ((%char-whitespace? c) (%get-char port) (skip-blanks port))
            (else c))))))

;;;; Data

(define (read-item port labels)
  (let ((c (skip-blanks port)))
    (if (%eof-object? c)
        c
        (case c
          ((#\() (pass-char! port) (read-list port labels close-mark square-mark))
          ((#\)) (pass-char! port) close-mark)
          ((#\[) (pass-char! port) (read-list port labels square-mark close-mark))
          ((#\]) (pass-char! port) square-mark)
          ((#\') (pass-char! port) (read-quoted 'quote port labels))
          ((#\") (pass-char! port) (read-string-literal port))
          ((#\#) (pass-char! port) (read-hash port labels))
          ((#\`) (pass-char! port) (read-quoted 'quasiquote port labels))
          ((#\,)
           (pass-char! port)
           (if (%eq? (%look-char port) #\@)
               (begin
                 (pass-char! port)
                 (read-quoted 'unquote-splicing port labels))
               (read-quoted 'unquote port labels)))
          ((#\{ #\})
           (pass-char! port)
           (fail port "unexpected character" c)) ; R7RS 7.1.1 keeps them
          (else (read-token port c))))))

;; A datum; no mark is accepted.
(define (need-datum port labels)
  (let ((item (read-item port labels)))
    (cond
      ((%eof-object? item) (fail-at-end port))
      (else
       (refuse-mark port item)
       item))))

;; Fails at what cannot stand where a datum is expected.
(define (refuse-mark port item)
  (cond
    ((%eq? item close-mark) (fail port "unexpected closing parenthesis"))
    ((%eq? item square-mark) (fail port "unexpected closing bracket"))
    ((%eq? item dot-mark) (fail port "unexpected dot"))))

(define (read-quoted name port labels)
  (list name (need-datum port labels)))

;; After the opening parenthesis or bracket, of which `closer` is the end and `other` not.
(define (read-list port labels closer other)
  (let loop ((acc '()))
    (let ((item (read-item port labels)))
      (cond
        ((%eq? item closer) (append-reverse! acc '()))
        ((%eof-object? item) (fail-at-end port))
        ((%eq? item other) (refuse-mark port item))
        ((%eq? item dot-mark)
         (if (%null? acc) (fail port "no datum before the dot"))
         (let* ((tail (need-datum port labels))
                (end (read-item port labels)))
           (if (%eq? end closer)
               (append-reverse! acc tail)
               (if (%eof-object? end)
                   (fail-at-end port)
                   (fail port "more than one datum after the dot")))))
        (else (loop (%cons item acc)))))))

(define (read-elements port labels)
  (let loop ((acc '()))
    (let ((item (read-item port labels)))
      (cond
        ((%eq? item close-mark) (append-reverse! acc '()))
        ((%eof-object? item) (fail-at-end port))
        (else
         (refuse-mark port item)
         (loop (%cons item acc)))))))

;;;; Numbers and symbols

(define (fold port name)
  (if (port-fold-case? port) (%string-foldcase name) name))

;; The value of a token without vertical bars.
(define (token->datum port token)
  (let ((c (%string-ref token 0)))
    (if (if (char-numeric? c) #t (if (%char=? c #\+) #t (if (%char=? c #\-) #t (%char=? c #\.))))
        (let ((number (%string->num token 10)))
          (cond
            (number number)
            ((if (%char=? c #\.) (%fx= (%string-length token) 1) #f) dot-mark)
            (else (%string->symbol (fold port token)))))
        (%string->symbol (fold port token)))))

;; A number, symbol or dot, which begins with `c`.
(define (read-token port c)
  (let ((buf (port-buf port))
        (start (port-pos port))
        (end (port-end port)))
    (let loop ((i start) (n (%char->integer c)) (value 0) (digits? #t))
      ;; n is the byte at i; value that of the digits so far
      (if (if (%fx< n 128) (%fx= (%bytevector-u8-ref constituents n) 1) #f)
          (let* ((digit (%fx- n 48))
                 (digits? (if digits? (if (%fx<= 0 digit) (%fx<= digit 9) #f) #f))
                 (value (if digits? (%fx+ (%fx* value 10) digit) value))
                 (i (%fx+ i 1)))
            (if (%fx< i end)
                (loop i (%bytevector-u8-ref buf i) value digits?)
                (read-long-token port)))
          (cond
            ((if (%fx<= 124 n) #t (%fx= n 92)) (read-long-token port))
            ((%fx= i start) (fail port "unexpected character" c))
            (else
             (set-port-pos! port i)
             (if (if digits? (%fx< (%fx- i start) 18) #f)
                 value
                 (token->datum port (%utf8->string buf start i)))))))))

;; A token that is not ASCII, has vertical bars or a backslash, or crosses the end of the buffer.  `bars?`: it has bars
;; or an escape, so it is a symbol, and cases are folded already.
(define (read-long-token port)
  (define (folded acc)
    (if (port-fold-case? port) (fold-chars acc) acc))
  (let loop ((acc '()) (bars? #f))
    (let ((c (%look-char port)))
      (cond
        ((if (%eof-object? c) #f (%char=? c #\|))
         (%get-char port)
         (loop (read-barred port (if bars? acc (folded acc))) #t))
        ((if (%eof-object? c) #f (%char=? c #\\))
         (%get-char port)
         (read-symbol-escape port (if bars? acc (folded acc))
                             (lambda (acc escape?) (loop acc (if escape? #t bars?)))))
        ((if (%eof-object? c) #f (constituent? c))
         (%get-char port)
         (loop (%cons (if bars? (if (port-fold-case? port) (char-foldcase c) c) c) acc) bars?))
        (else
         (let ((token (%list->string (append-reverse! acc '()))))
           (cond
             (bars? (%string->symbol token))
             ((%fx= (%string-length token) 0) (fail port "unexpected character" c))
             (else (token->datum port token)))))))))

;; After a backslash outside of bars: calls `next` with the characters of the token so far, before which stand those in
;; `acc`, and with whether it was an escape, `\x41;`; otherwise the backslash stands for itself.
(define (read-symbol-escape port acc next)
  (let ((plain (%cons #\\ acc)) (c (%look-char port)))
    (if (if (%eof-object? c) #f (if (%char=? c #\x) #t (%char=? c #\X)))
        (let loop ((digits '()) (plain (%cons (%get-char port) plain)))
          (let ((c (%look-char port)))
            (cond
              ((%eof-object? c) (next plain #f))
              ((hex-value (%list->string (%cons c '()))) (loop (%cons (%get-char port) digits) (%cons c plain)))
              ((if (%char=? c #\;) (%pair? digits) #f)
               (%get-char port)
               (next (%cons (code->char port (hex-value (%list->string (append-reverse! digits '())))) acc) #t))
              (else (next plain #f)))))
        (next plain #f))))

(define (fold-chars chars)
  (map char-foldcase chars))

;; After a vertical bar: pushes the characters up to the next one onto `acc`.
(define (read-barred port acc)
  (let ((c (need-char port)))
    (cond
      ((%char=? c #\|) acc)
      ((%char=? c #\\) (read-barred port (read-escape port acc)))
      (else (read-barred port (%cons c acc))))))

;;;; Strings

(define (read-string-literal port)
  (let ((buf (port-buf port))
        (start (port-pos port))
        (end (port-end port)))
    (let loop ((i start))
      (if (%fx< i end)
          (let ((n (%bytevector-u8-ref buf i)))
            (cond
              ((%fx= n 34)
               (set-port-pos! port (%fx+ i 1))
               (%utf8->string buf start i))
              ((if (%fx= n 92) #t (%fx< n 32)) (read-long-string port))
              (else (loop (%fx+ i 1)))))
          (read-long-string port)))))

(define (read-long-string port)
  (let loop ((acc '()))
    (let ((c (need-char port)))
      (cond
        ((%char=? c #\") (%list->string (append-reverse! acc '())))
        ((%char=? c #\\) (loop (read-escape port acc)))
        ((%char=? c #\return)
         ;; a line ending is a newline
         (if (%eq? (%look-char port) #\newline) (%get-char port))
         (loop (%cons #\newline acc)))
        (else (loop (%cons c acc)))))))

;; After a backslash in a string or between vertical bars: pushes what it stands for onto `acc`.
(define (read-escape port acc)
  (let ((c (need-char port)))
    (case c
      ((#\n) (%cons #\newline acc))
      ((#\t) (%cons #\tab acc))
      ((#\\ #\" #\|) (%cons c acc))
      ((#\a) (%cons #\alarm acc))
      ((#\b) (%cons #\backspace acc))
      ((#\r) (%cons #\return acc))
      ;; R6RS's
      ((#\v) (%cons #\x0b acc))
      ((#\f) (%cons #\x0c acc))
      ((#\x #\X) (%cons (read-hex-escape port) acc))
      (else
       (let skip ((c c) (newline? #f))
         ;; spaces, one newline, spaces
         (cond
           ((if newline? #f (%char=? c #\newline)) (skip-to-next port skip #t acc))
           ((if newline? #f (if (%char=? c #\return) (%eq? (%look-char port) #\newline) #f))
            (skip (%get-char port) #f))
           ((if (%char=? c #\newline) #f (char-whitespace? c)) (skip-to-next port skip newline? acc))
           (else (fail port "unknown escape sequence in string" c))))))))

(define (skip-to-next port skip newline? acc)
  (let ((c (%look-char port)))
    (if (if (%eof-object? c) #f (if (char-whitespace? c) (%not (if newline? (%char=? c #\newline) #f)) #f))
        (begin
          (%get-char port)
          (skip c newline?))
        (if newline? acc (fail port "a backslash before space must end the line")))))

(define (code->char port n)
  (if (if n (if (%fixnum? n) (if (%fx< n 55296) (%fx<= 0 n) (if (%fx< 57343 n) (%fx< n 1114112) #f)) #f) #f)
      (%integer->char n)
      (fail port "not a character code")))

(define (read-hex-escape port)
  (let loop ((acc '()))
    (let ((c (need-char port)))
      (if (%char=? c #\;)
          (code->char port (hex-value (%list->string (append-reverse! acc '()))))
          (loop (%cons c acc))))))

;; An exact integer, or #f.
(define (hex-value digits)
  (let ((n (%string-length digits)))
    (let loop ((i 0) (value 0))
      (if (%fx= i n)
          (if (%fx= n 0) #f value)
          (let* ((code (%char->integer (%string-ref digits i)))
                 (letter (%fx- (%fxior code 32) 87)))
            (cond
              ((if (%fx<= 48 code) (%fx<= code 57) #f)
               (loop (%fx+ i 1) (%+ (%* value 16) (%fx- code 48))))
              ((if (%fx<= 10 letter) (%fx<= letter 15) #f)
               (loop (%fx+ i 1) (%+ (%* value 16) letter)))
              (else #f)))))))

;;;; After a number sign

;; The characters of a token from here on, after those in `acc` (reversed).
(define (rest-of-token port acc)
  (let loop ((acc acc))
    (let ((c (%look-char port)))
      (if (if (%eof-object? c) #f (constituent? c))
          (loop (%cons (%get-char port) acc))
          (%list->string (append-reverse! acc '()))))))

(define (read-hash port labels)
  (let ((c (need-char port)))
    (case c
      ((#\() (%list->vector (read-elements port labels)))
      ((#\\) (read-char-literal port))
      ((#\t #\T #\f #\F)
       (let ((token (%string-foldcase (rest-of-token port (list c)))))
         (cond
           ((if (%string=? token "t") #t (%string=? token "true")) #t)
           ((if (%string=? token "f") #t (%string=? token "false")) #f)
           (else (read-numbers port labels token)))))
      ((#\;)
       (need-datum port labels)
       (read-item port labels))
      ((#\|)
       (skip-block port)
       (read-item port labels))
      ((#\!) (read-directive port labels))
      ;; Chez Scheme's #%car
      ((#\%) (need-datum port labels))
      ((#\') (read-quoted 'syntax port labels))
      ((#\`) (read-quoted 'quasisyntax port labels))
      ((#\,)
       (if (%eq? (%look-char port) #\@)
           (begin
             (%get-char port)
             (read-quoted 'unsyntax-splicing port labels))
           (read-quoted 'unsyntax port labels)))
      ((#\v #\V)
       (let ((token (%string-foldcase (rest-of-token port (list c)))))
         (if (%string=? token "vu8")
             (read-numbers port labels "u8")
             (fail port "unknown syntax" (%string-append "#" token)))))
      ((#\u #\U #\s #\S #\c #\C)
       (read-numbers port labels (%string-foldcase (rest-of-token port (list c)))))
      ((#\b #\B #\o #\O #\d #\D #\x #\X #\e #\E #\i #\I)
       (let* ((token (rest-of-token port (list c #\#)))
              (number (%string->num token 10)))
         (if number number (fail port "not a number" token))))
      ((#\0 #\1 #\2 #\3 #\4 #\5 #\6 #\7 #\8 #\9)
       (read-label port labels (%fx- (%char->integer c) 48)))
      (else (fail port "unknown syntax" (%list->string (list #\# c)))))))

;; What follows #u8 or #f64.
(define (read-numbers port labels token)
  (let ((kind (if (%eq? (%look-char port) #\() (%numeric-named token) #f)))
    (if kind
        (begin
          (%get-char port)
          (list->numbers port kind token (read-elements port labels)))
        (fail port "unknown syntax" (%string-append "#" token)))))

(define (list->numbers port kind token numbers)
  (let ((v (%numeric-make kind (%length numbers) #f "read")))
    (let loop ((i 0) (rest numbers))
      (cond
        ((%null? rest) v)
        ((%numeric-fits? kind (%car rest))
         (%numeric-put! v i (%car rest) "read")
         (loop (%fx+ i 1) (%cdr rest)))
        ((%fx= kind 0) (fail port "not a byte" (%car rest)))
        (else (fail port (%string-append (%string-append "not an element of #" token) "()") (%car rest)))))))

;; Languages and systems whose directives say for whom a text is written.
(define dialects
  '("r6rs" "r7rs" "chezscheme" "guile" "ikarus" "ironscheme" "larceny" "loko" "mosh" "nmosh" "racket" "sagittarius"
    "vicare" "ypsilon"))

(define (read-directive port labels)
  (let ((c (%look-char port)))
    (if (if (%eof-object? c) #f (constituent? c))
        (let ((name (rest-of-token port '())))
          (cond
            ((%string=? name "fold-case") (set-port-fold-case! port #t) (read-item port labels))
            ((%string=? name "no-fold-case") (set-port-fold-case! port #f) (read-item port labels))
            ((member name dialects) (read-item port labels))
            ((%string=? name "eof") (eof-object))
            ((%char=? c #\/) (skip-line port) (read-item port labels))
            (else (fail port "unknown directive" (%string-append "#!" name)))))
        (begin
          (skip-line port)
          (read-item port labels)))))

(define (read-char-literal port)
  (let ((c (need-char port)))
    (if (constituent? c)
        (let ((name (rest-of-token port (list c))))
          (if (%fx= (%string-length name) 1)
              c
              (named-char port (fold port name))))
        c)))

(define (named-char port name)
  (let ((code (if (char=? (char-downcase (%string-ref name 0)) #\x)
                  (hex-value (%substring name 1 (%string-length name)))
                  #f)))
    (if code
        (code->char port code)
        (let loop ((names '(("space" . #\space) ("newline" . #\newline) ("tab" . #\tab) ("return" . #\return)
                            ("null" . #\null) ("nul" . #\null) ("alarm" . #\alarm) ("backspace" . #\backspace)
                            ("delete" . #\delete) ("rubout" . #\delete) ("escape" . #\escape)
                            ("altmode" . #\escape) ("esc" . #\escape) ("linefeed" . #\newline) ("page" . #\x0c)
                            ("vtab" . #\x0b))))
          (cond
            ((%null? names) (fail port "unknown character name" name))
            ((%string=? (%car (%car names)) name) (%cdr (%car names)))
            (else (loop (%cdr names))))))))

;;;; Labels

;; A placeholder is an opaque object: 0 the label, 1 its datum.
(define (find-label labels n)
  (if (if (%fixnum? n) (%fx< n (%vector-length (%car labels))) #f)
      (%vector-ref (%car labels) n)
      (let loop ((rest (%cdr labels)))
        (cond
          ((%null? rest) #f)
          ((%= (%opaque-ref (%car rest) 0) n) (%car rest))
          (else (loop (%cdr rest)))))))

;; The vector doubles when the label is the next one behind it: `write` counts labels from 0.
(define (add-label! labels n placeholder)
  (let* ((old (%car labels)) (size (%vector-length old)))
    (cond
      ((if (%fixnum? n) (%fx< n size) #f) (%vector-set! old n placeholder))
      ((%= n size)
       (let ((new (%make-vector (%fx+ 8 (%fx* 2 size)) #f)))
         (let copy ((i 0))
           (if (%fx< i size)
               (begin
                 (%vector-set! new i (%vector-ref old i))
                 (copy (%fx+ i 1)))))
         (%vector-set! new n placeholder)
         (%set-car! labels new)
         (move-labels! labels new)))
      (else (%set-cdr! labels (%cons placeholder (%cdr labels)))))))

;; Labels of the list for which there is room in the vector now.
(define (move-labels! labels vector)
  (let loop ((rest (%cdr labels)) (others '()))
    (cond
      ((%null? rest) (%set-cdr! labels others))
      ((if (%fixnum? (%opaque-ref (%car rest) 0))
           (%fx< (%opaque-ref (%car rest) 0) (%vector-length vector))
           #f)
       (%vector-set! vector (%opaque-ref (%car rest) 0) (%car rest))
       (loop (%cdr rest) others))
      (else (loop (%cdr rest) (%cons (%car rest) others))))))

(define (read-label port labels n)
  (let ((c (need-char port)))
    (cond
      ((%char=? c #\#)
       (let ((placeholder (find-label labels n)))
         (if placeholder placeholder (fail port "label is not defined" n))))
      ((%char=? c #\=)
       (if (find-label labels n) (fail port "label is defined twice" n))
       (let ((placeholder (%opaque n #f)))
         (add-label! labels n placeholder)
         (let ((datum (need-datum port labels)))
           (if (%eq? datum placeholder) (fail port "label refers to itself" n))
           (%opaque-set! placeholder 1 datum)
           datum)))
      ((%char=? c #\() (filled-vector port n (read-elements port labels)))
      ;; Chez Scheme's #2%car
      ((if (%char=? c #\%) (if (%fixnum? n) (%fx< n 10) #f) #f) (need-datum port labels))
      ((char-numeric? c)
       (read-label port labels (%+ (%* n 10) (%digit-value c))))
      (else (fail port "unknown syntax" (%string-append "#" (%num->string n 10)))))))

;; `#5(1 2)`: the last element, or 0, stands for those that are left out.
(define (filled-vector port n elements)
  (let ((given (%length elements)))
    (cond
      ((%< n given) (fail port "a vector has more elements than its length" n))
      ((%< 1048576 n) (fail port "a vector is too long" n))
      (else
       (let ((v (%make-vector n 0)))
         (let loop ((i 0) (rest elements) (x 0))
           (if (%fx< i n)
               (let ((x (if (%pair? rest) (%car rest) x)))
                 (%vector-set! v i x)
                 (loop (%fx+ i 1) (if (%pair? rest) (%cdr rest) '()) x))))
         v)))))

;; The only opaque objects in a datum are placeholders.
(define (resolve x)
  (if (%opaque? x) (resolve (%opaque-ref x 1)) x))

;; Replaces the placeholders within a datum.
(define (patch! datum)
  (cond
    ((%pair? datum)
     (let loop ((pair datum))
       (let ((x (%car pair)) (rest (%cdr pair)))
         (if (%opaque? x)
             (%set-car! pair (resolve x))
             (patch! x))
         (cond
           ((%pair? rest) (loop rest))
           ((%opaque? rest) (%set-cdr! pair (resolve rest)))
           (else (patch! rest))))))
    ((%vector? datum)
     (let ((n (%vector-length datum)))
       (let loop ((i 0))
         (if (%fx< i n)
             (let ((x (%vector-ref datum i)))
               (if (%opaque? x)
                   (%vector-set! datum i (resolve x))
                   (patch! x))
               (loop (%fx+ i 1)))))))))

(define no-labels (%vector))

(define (read-from port)
  (let* ((labels (%cons no-labels '()))
         (item (read-item port labels)))
    (refuse-mark port item)
    (if (%not (if (%eq? (%car labels) no-labels) (%null? (%cdr labels)) #f))
        (patch! item))
    item))

(define (read:checked port)
  (if (if (%port? port) (text-in? port) #f)
      (read-from port)
      (begin
        (%peek-char port) ; fails
        (read-from port))))

(define read
  (case-lambda
    (() (read:checked (current-input-port)))
    ((port) (read:checked port))))
