;;; (srfi 135): immutable texts; also as (scheme text).
;;;
;;; A text is a record with a string that nobody else has.  Strings have constant-time indexing here, so a text needs no
;;; representation of its own; the procedures are those of (cairn strings) and the standard, on the strings of texts.
;;; What is textual, a text or a string, is told by the argument itself.
(define-library (srfi 135)
  (export
   text? textual? textual-null? textual-every textual-any
   make-text text text-tabulate text-unfold text-unfold-right
   textual->text textual->string textual->vector textual->list string->text vector->text list->text reverse-list->text
   textual->utf8 textual->utf16 textual->utf16be textual->utf16le utf8->text utf16->text utf16be->text utf16le->text
   text-length textual-length text-ref textual-ref subtext subtextual textual-copy
   textual-take textual-take-right textual-drop textual-drop-right textual-pad textual-pad-right
   textual-trim textual-trim-right textual-trim-both textual-replace
   textual=? textual<? textual>? textual<=? textual>=?
   textual-ci=? textual-ci<? textual-ci>? textual-ci<=? textual-ci>=?
   textual-prefix-length textual-suffix-length textual-prefix? textual-suffix?
   textual-index textual-index-right textual-skip textual-skip-right textual-contains textual-contains-right
   textual-upcase textual-downcase textual-foldcase textual-titlecase
   textual-append textual-concatenate textual-concatenate-reverse textual-join
   textual-fold textual-fold-right textual-map textual-for-each textual-map-index textual-for-each-index textual-count
   textual-filter textual-remove textual-replicate textual-split)
  (import (scheme base) (scheme case-lambda) (scheme char) (prefix (srfi 130) s:)
          (only (srfi 13) string-titlecase) (only (cairn control) out-of-range wrong-type))
  (begin

    (define-record-type <text>
      (make-text-of string)
      text?
      (string text-string))

    (define (textual? x) (or (text? x) (string? x)))

    (define (check who x)
      (cond ((text? x) (text-string x))
            ((string? x) x)
            (else (wrong-type who "a text or a string" x))))
    (define (check-text who x)
      (if (text? x) (text-string x) (wrong-type who "a text" x)))

    ;; The string of a text; anything else as it is.
    (define (plain x) (if (text? x) (text-string x) x))
    ;; The text of a string that nobody else has; anything else as it is.
    (define (result x) (if (string? x) (make-text-of x) x))
    ;; What procedures return that make parts of a text.
    (define (part x) (if (char? x) (string x) (check "a part of a text" x)))

    ;; name: the procedure of strings, whose first or second argument must be textual.
    (define-syntax define-on-strings
      (syntax-rules ()
        ((_ (name on-string) ...)
         (begin
           (define name
             (lambda (a . rest)
               (result (apply on-string (if (procedure? a) a (check (symbol->string 'name) a)) (map plain rest)))))
           ...))))
    (define-on-strings
      (textual-every s:string-every) (textual-any s:string-any)
      (textual-take s:string-take) (textual-take-right s:string-take-right)
      (textual-drop s:string-drop) (textual-drop-right s:string-drop-right)
      (textual-pad s:string-pad) (textual-pad-right s:string-pad-right)
      (textual-trim s:string-trim) (textual-trim-right s:string-trim-right) (textual-trim-both s:string-trim-both)
      (textual-replace s:string-replace)
      (textual-prefix-length s:string-prefix-length) (textual-suffix-length s:string-suffix-length)
      (textual-prefix? s:string-prefix?) (textual-suffix? s:string-suffix?)
      (textual-contains s:string-contains) (textual-contains-right s:string-contains-right)
      (textual-upcase string-upcase) (textual-downcase string-downcase) (textual-foldcase string-foldcase)
      (textual-titlecase string-titlecase)
      (textual-fold s:string-fold) (textual-fold-right s:string-fold-right) (textual-count s:string-count)
      (textual-filter s:string-filter) (textual-remove s:string-remove) (textual-replicate s:string-replicate)
      (textual-for-each string-for-each))
    (define (textual-append . texts) (textual-concatenate texts))

    ;;;; Making

    (define (make-text n c) (make-text-of (make-string n c)))
    (define (text . characters) (list->text characters))
    (define (text-tabulate proc n) (make-text-of (s:string-tabulate proc n)))
    (define text-unfold
      (case-lambda
        ((stop? mapper successor seed) (text-unfold stop? mapper successor seed "" (lambda (x) "")))
        ((stop? mapper successor seed base) (text-unfold stop? mapper successor seed base (lambda (x) "")))
        ((stop? mapper successor seed base make-final)
         (let loop ((seed seed) (parts (list (part base))))
           (if (stop? seed)
               (textual-concatenate-reverse parts (part (make-final seed)))
               (loop (successor seed) (cons (part (mapper seed)) parts)))))))
    (define text-unfold-right
      (case-lambda
        ((stop? mapper successor seed) (text-unfold-right stop? mapper successor seed "" (lambda (x) "")))
        ((stop? mapper successor seed base) (text-unfold-right stop? mapper successor seed base (lambda (x) "")))
        ((stop? mapper successor seed base make-final)
         (let loop ((seed seed) (parts (list (part base))))
           (if (stop? seed)
               (textual-concatenate (cons (part (make-final seed)) parts))
               (loop (successor seed) (cons (part (mapper seed)) parts)))))))

    ;;;; Conversion

    (define (textual->text x . who)
      (if (text? x)
          x
          (make-text-of (string-copy (check (if (pair? who) (car who) "textual->text") x)))))
    (define (textual->string x . range) (apply string-copy (check "textual->string" x) range))
    (define (textual->vector x . range) (apply string->vector (check "textual->vector" x) range))
    (define (textual->list x . range) (apply string->list (check "textual->list" x) range))
    (define (string->text s . range) (make-text-of (apply string-copy (check "string->text" s) range)))
    (define (vector->text v . range) (make-text-of (apply vector->string v range)))
    (define (list->text l . range)
      (let ((s (list->string l)))
        (make-text-of (if (pair? range) (apply string-copy s range) s))))
    (define (reverse-list->text l) (make-text-of (s:reverse-list->string l)))
    (define (textual->utf8 x . range) (apply string->utf8 (check "textual->utf8" x) range))
    (define (utf8->text bytes . range)
      (make-text-of (apply utf8->string bytes range)))

    ;; The bytes of a string with 16-bit units; `put!` stores one.
    (define (encode s mark? big?)
      (let* ((units
              (string-fold-units (lambda (unit acc) (cons unit acc)) (if mark? '(#xfeff) '()) s))
             (n (length units))
             (bytes (make-bytevector (* 2 n))))
        (do ((units units (cdr units)) (i (* 2 (- n 1)) (- i 2))) ((null? units) bytes)
          (let ((high (quotient (car units) 256)) (low (remainder (car units) 256)))
            (bytevector-u8-set! bytes i (if big? high low))
            (bytevector-u8-set! bytes (+ i 1) (if big? low high))))))
    (define (string-fold-units proc nil s)
      (s:string-fold (lambda (c acc)
                       (let ((n (char->integer c)))
                         (if (< n #x10000)
                             (proc n acc)
                             (proc (+ #xdc00 (remainder n #x400))
                                   (proc (+ #xd800 (quotient (- n #x10000) #x400)) acc)))))
                     nil
                     s))
    (define (encoder who mark? big?)
      (lambda (x . range) (encode (apply string-copy (check who x) range) mark? big?)))
    (define textual->utf16 (encoder "textual->utf16" #t #f))
    (define textual->utf16be (encoder "textual->utf16be" #f #t))
    (define textual->utf16le (encoder "textual->utf16le" #f #f))

    (define (decode who bytes start end big?)
      (define (unit i)
        (let ((a (bytevector-u8-ref bytes i)) (b (bytevector-u8-ref bytes (+ i 1))))
          (if big? (+ (* 256 a) b) (+ a (* 256 b)))))
      (define (bad i) (error (string-append who ": not UTF-16, at byte") i))
      (if (odd? (- end start)) (bad end))
      (let ((port (open-output-string)))
        (let loop ((i start))
          (if (>= i end)
              (make-text-of (get-output-string port))
              (let ((n (unit i)))
                (cond
                  ((not (<= #xd800 n #xdfff))
                   (write-char (integer->char n) port)
                   (loop (+ i 2)))
                  ((and (< n #xdc00) (< (+ i 2) end) (<= #xdc00 (unit (+ i 2)) #xdfff))
                   (write-char (integer->char (+ #x10000 (* #x400 (- n #xd800)) (- (unit (+ i 2)) #xdc00))) port)
                   (loop (+ i 4)))
                  (else (bad i))))))))
    ;; A procedure that takes a range of bytes.
    (define-syntax define-decoder
      (syntax-rules ()
        ((_ name (bytes start end) body)
         (define name
           (case-lambda
             ((bytes) (name bytes 0 (bytevector-length bytes)))
             ((bytes start) (name bytes start (bytevector-length bytes)))
             ((bytes start end)
              (if (not (and (bytevector? bytes) (<= 0 start end (bytevector-length bytes))))
                  (out-of-range (symbol->string 'name) "not a range of the bytes:" (cons start end)))
              body))))))
    (define-decoder utf16be->text (bytes start end) (decode "utf16be->text" bytes start end #t))
    (define-decoder utf16le->text (bytes start end) (decode "utf16le->text" bytes start end #f))
    ;; A mark tells the order of bytes; without one it is that of the machine.
    (define-decoder utf16->text (bytes start end)
      (let ((first (and (>= (- end start) 2)
                        (+ (* 256 (bytevector-u8-ref bytes start)) (bytevector-u8-ref bytes (+ start 1))))))
        (cond ((eqv? first #xfeff) (decode "utf16->text" bytes (+ start 2) end #t))
              ((eqv? first #xfffe) (decode "utf16->text" bytes (+ start 2) end #f))
              (else (decode "utf16->text" bytes start end #f)))))

    ;;;; Parts

    (define (textual-null? x) (= 0 (textual-length x)))
    (define (text-length x) (string-length (check-text "text-length" x)))
    (define (textual-length x) (string-length (check "textual-length" x)))
    (define (text-ref x i) (string-ref (check-text "text-ref" x) i))
    (define (textual-ref x i) (string-ref (check "textual-ref" x) i))
    (define (subtext x start end) (make-text-of (substring (check-text "subtext" x) start end)))
    (define (subtextual x start end) (make-text-of (substring (check "subtextual" x) start end)))
    (define (textual-copy x . range) (make-text-of (apply string-copy (check "textual-copy" x) range)))

    ;;;; Comparison

    (define-syntax define-comparisons
      (syntax-rules ()
        ((_ (name compare) ...)
         (begin
           (define (name a b . rest)
             (apply compare (check (symbol->string 'name) a) (check (symbol->string 'name) b)
                    (map (lambda (x) (check (symbol->string 'name) x)) rest)))
           ...))))
    (define-comparisons
      (textual=? string=?) (textual<? string<?) (textual>? string>?) (textual<=? string<=?) (textual>=? string>=?)
      (textual-ci=? string-ci=?) (textual-ci<? string-ci<?) (textual-ci>? string-ci>?) (textual-ci<=? string-ci<=?)
      (textual-ci>=? string-ci>=?))

    ;;;; Searching: #f where SRFI 130 has a cursor at an end

    (define (range-of who s range)
      (let* ((start (if (pair? range) (car range) 0))
             (end (if (and (pair? range) (pair? (cdr range))) (cadr range) (string-length s))))
        (if (not (and (exact-integer? start) (exact-integer? end) (<= 0 start end (string-length s))))
            (out-of-range who "not a range of the text:" (cons start end)))
        (values start end)))
    (define (find-left who x ok? range)
      (let*-values (((s) (check who x)) ((start end) (range-of who s range)))
        (let loop ((i start))
          (cond ((= i end) #f)
                ((ok? (string-ref s i)) i)
                (else (loop (+ i 1)))))))
    (define (find-right who x ok? range)
      (let*-values (((s) (check who x)) ((start end) (range-of who s range)))
        (let loop ((i (- end 1)))
          (cond ((< i start) #f)
                ((ok? (string-ref s i)) i)
                (else (loop (- i 1)))))))
    (define (textual-index x pred . range) (find-left "textual-index" x pred range))
    (define (textual-index-right x pred . range) (find-right "textual-index-right" x pred range))
    (define (textual-skip x pred . range) (find-left "textual-skip" x (lambda (c) (not (pred c))) range))
    (define (textual-skip-right x pred . range) (find-right "textual-skip-right" x (lambda (c) (not (pred c))) range))

    ;;;; Joining and splitting

    (define (textual-concatenate l)
      (make-text-of (s:string-concatenate (map (lambda (x) (check "textual-concatenate" x)) l))))
    (define (textual-concatenate-reverse l . final)
      (make-text-of
       (apply s:string-concatenate-reverse (map (lambda (x) (check "textual-concatenate-reverse" x)) l)
              (map plain final))))
    (define (textual-join l . delimiter-and-grammar)
      (make-text-of
       (apply s:string-join (map (lambda (x) (check "textual-join" x)) l) (map plain delimiter-and-grammar))))
    (define (textual-split x delimiter . rest)
      (map make-text-of (apply s:string-split (check "textual-split" x) (plain delimiter) rest)))

    ;;;; Mapping

    (define (textual-map proc x . rest)
      (textual-concatenate
       (map part (apply map proc (textual->list x) (map textual->list rest)))))
    (define (textual-map-index proc x . range)
      (let*-values (((s) (check "textual-map-index" x)) ((start end) (range-of "textual-map-index" s range)))
        (let loop ((i start) (parts '()))
          (if (= i end)
              (textual-concatenate-reverse parts)
              (loop (+ i 1) (cons (part (proc i)) parts))))))
    (define (textual-for-each-index proc x . range)
      (let*-values (((s) (check "textual-for-each-index" x)) ((start end) (range-of "textual-for-each-index" s range)))
        (do ((i start (+ i 1))) ((= i end))
          (proc i))))))
