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
    ;; What procedures return that make parts of a text.
    (define (part who x) (if (char? x) (string x) (check who x)))

    (define (range-of who s range)
      (let* ((start (if (pair? range) (car range) 0))
             (end (if (and (pair? range) (pair? (cdr range))) (cadr range) (string-length s))))
        (if (not (and (exact-integer? start) (exact-integer? end) (<= 0 start end (string-length s))))
            (out-of-range who "not a range of the text:" (cons start end)))
        (values start end)))
    ;; The part of a text that optional arguments say, as a string.
    (define (string-of who x range)
      (let ((s (check who x)))
        (if (null? range)
            s
            (let-values (((start end) (range-of who s range))) (substring s start end)))))
    (define (check-count who n)
      (if (not (and (exact-integer? n) (>= n 0))) (wrong-type who "a length" n)))

    ;; The procedures of strings on one text, on two that come first, on a part of a text behind a procedure.
    (define-syntax define-on-text
      (syntax-rules ()
        ((_ (name on-string) ...)
         (begin
           (define (name x) (make-text-of (on-string (check (symbol->string 'name) x)))) ...))))
    (define-syntax define-on-two
      (syntax-rules ()
        ((_ (name on-string) ...)
         (begin
           (define (name a b . ranges)
             (apply on-string (check (symbol->string 'name) a) (check (symbol->string 'name) b) ranges)) ...))))
    (define-syntax define-with-procedure
      (syntax-rules ()
        ((_ result (name on-string argument ...) ...)
         (begin
           (define (name argument ... x . range)
             (result (on-string argument ... (string-of (symbol->string 'name) x range)))) ...))))
    ;; A length counted from one end, at most that of the text.
    (define-syntax define-by-length
      (syntax-rules ()
        ((_ (name on-string) ...)
         (begin
           (define (name x n)
             (let* ((who (symbol->string 'name)) (s (check who x)))
               (check-count who n)
               (if (> n (string-length s)) (error (string-append who ": the text is shorter:") n))
               (make-text-of (on-string s n)))) ...))))
    (define-syntax define-paddings
      (syntax-rules ()
        ((_ (name on-string) ...)
         (begin
           (define (name x n . fill+range)
             (let* ((who (symbol->string 'name)) (fill (if (pair? fill+range) (car fill+range) #\space))
                    (s (string-of who x (if (pair? fill+range) (cdr fill+range) '()))))
               (check-count who n)
               (if (not (char? fill)) (wrong-type who "a character" fill))
               (make-text-of (on-string s n fill)))) ...))))
    (define-syntax define-trims
      (syntax-rules ()
        ((_ (name on-string) ...)
         (begin
           (define (name x . pred+range)
             (let ((s (string-of (symbol->string 'name) x (if (pair? pred+range) (cdr pred+range) '()))))
               (make-text-of (if (pair? pred+range) (on-string s (car pred+range)) (on-string s))))) ...))))
    (define (itself x) x)
    (define-on-text
      (textual-upcase string-upcase) (textual-downcase string-downcase) (textual-foldcase string-foldcase)
      (textual-titlecase string-titlecase))
    (define-on-two
      (textual-prefix-length s:string-prefix-length) (textual-suffix-length s:string-suffix-length)
      (textual-prefix? s:string-prefix?) (textual-suffix? s:string-suffix?)
      (textual-contains s:string-contains) (textual-contains-right s:string-contains-right))
    (define (textual-replace a b . ranges)
      (make-text-of (apply s:string-replace (check "textual-replace" a) (check "textual-replace" b) ranges)))
    (define-with-procedure itself
      (textual-every s:string-every pred) (textual-any s:string-any pred)
      (textual-fold s:string-fold kons nil) (textual-fold-right s:string-fold-right kons nil))
    (define-with-procedure make-text-of
      (textual-filter s:string-filter pred) (textual-remove s:string-remove pred))
    (define (textual-count x pred . range)
      (s:string-count (string-of "textual-count" x range) pred))
    (define-by-length
      (textual-take s:string-take) (textual-take-right s:string-take-right)
      (textual-drop s:string-drop) (textual-drop-right s:string-drop-right))
    (define-paddings (textual-pad s:string-pad) (textual-pad-right s:string-pad-right))
    (define-trims
      (textual-trim s:string-trim) (textual-trim-right s:string-trim-right) (textual-trim-both s:string-trim-both))
    (define (textual-replicate x from to . range)
      (make-text-of (s:string-replicate (string-of "textual-replicate" x range) from to)))
    (define (textual-for-each proc x . rest)
      (apply string-for-each proc (map (lambda (x) (check "textual-for-each" x)) (cons x rest))))
    (define (textual-append . texts) (concatenate "textual-append" texts))
    (define (concatenate who texts)
      (make-text-of (s:string-concatenate (map (lambda (x) (check who x)) texts))))
    (define (check-list who l) (if (list? l) l (wrong-type who "a list" l)))

    ;;;; Making

    (define (make-text n c)
      (check-count "make-text" n)
      (if (not (char? c)) (wrong-type "make-text" "a character" c))
      (make-text-of (make-string n c)))
    (define (text . characters) (make-text-of (characters->string "text" characters)))
    (define (characters->string who l)
      (for-each (lambda (c) (if (not (char? c)) (wrong-type who "a character" c))) (check-list who l))
      (list->string l))
    (define (text-tabulate proc n)
      (check-count "text-tabulate" n)
      (make-text-of (s:string-tabulate proc n)))
    (define text-unfold
      (case-lambda
        ((stop? mapper successor seed) (text-unfold stop? mapper successor seed "" (lambda (x) "")))
        ((stop? mapper successor seed base) (text-unfold stop? mapper successor seed base (lambda (x) "")))
        ((stop? mapper successor seed base make-final)
         (let loop ((seed seed) (parts (list (part "text-unfold" base))))
           (if (stop? seed)
               (concatenate "text-unfold" (reverse (cons (part "text-unfold" (make-final seed)) parts)))
               (loop (successor seed) (cons (part "text-unfold" (mapper seed)) parts)))))))
    (define text-unfold-right
      (case-lambda
        ((stop? mapper successor seed) (text-unfold-right stop? mapper successor seed "" (lambda (x) "")))
        ((stop? mapper successor seed base) (text-unfold-right stop? mapper successor seed base (lambda (x) "")))
        ((stop? mapper successor seed base make-final)
         (let loop ((seed seed) (parts (list (part "text-unfold-right" base))))
           (if (stop? seed)
               (concatenate "text-unfold-right" (cons (part "text-unfold-right" (make-final seed)) parts))
               (loop (successor seed) (cons (part "text-unfold-right" (mapper seed)) parts)))))))

    ;;;; Conversion

    (define (textual->text x . who)
      (if (text? x)
          x
          (make-text-of (string-copy (check (if (pair? who) (car who) "textual->text") x)))))
    (define (textual->string x . range) (apply string-copy (check "textual->string" x) range))
    (define (textual->vector x . range) (apply string->vector (check "textual->vector" x) range))
    (define (textual->list x . range) (apply string->list (check "textual->list" x) range))
    (define (string->text s . range) (make-text-of (apply string-copy (check "string->text" s) range)))
    (define (vector->text v . range)
      (if (not (vector? v)) (wrong-type "vector->text" "a vector" v))
      (make-text-of (characters->string "vector->text" (apply vector->list v range))))
    (define (list->text l . range)
      (make-text-of (string-of "list->text" (characters->string "list->text" l) range)))
    (define (reverse-list->text l)
      (make-text-of (characters->string "reverse-list->text" (reverse (check-list "reverse-list->text" l)))))
    (define (textual->utf8 x . range) (apply string->utf8 (check "textual->utf8" x) range))
    (define (utf8->text bytes . range)
      (if (not (bytevector? bytes)) (wrong-type "utf8->text" "a bytevector" bytes))
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
             ((bytes) (name bytes 0))
             ((bytes start) (name bytes start (if (bytevector? bytes) (bytevector-length bytes) 0)))
             ((bytes start end)
              (if (not (bytevector? bytes)) (wrong-type (symbol->string 'name) "a bytevector" bytes))
              (if (not (and (exact-integer? start) (exact-integer? end) (<= 0 start end (bytevector-length bytes))))
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

    (define (textual-null? x) (= 0 (string-length (check "textual-null?" x))))
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
      (concatenate "textual-concatenate" (check-list "textual-concatenate" l)))
    (define textual-concatenate-reverse
      (case-lambda
        ((l) (textual-concatenate-reverse l "" 0))
        ((l final) (textual-concatenate-reverse l final (string-length (check "textual-concatenate-reverse" final))))
        ((l final end)
         (let ((final (string-of "textual-concatenate-reverse" final (list 0 end))))
           (concatenate "textual-concatenate-reverse"
                        (reverse (cons final (check-list "textual-concatenate-reverse" l))))))))
    (define (textual-join l . delimiter-and-grammar)
      (make-text-of
       (apply s:string-join (map (lambda (x) (check "textual-join" x)) (check-list "textual-join" l))
              (map plain delimiter-and-grammar))))
    (define (textual-split x delimiter . rest)
      (map make-text-of (apply s:string-split (check "textual-split" x) (plain delimiter) rest)))

    ;;;; Mapping

    (define (textual-map proc x . rest)
      (concatenate
       "textual-map"
       (map (lambda (x) (part "textual-map" x))
            (apply map proc (map (lambda (x) (string->list (check "textual-map" x))) (cons x rest))))))
    (define (textual-map-index proc x . range)
      (let*-values (((s) (check "textual-map-index" x)) ((start end) (range-of "textual-map-index" s range)))
        (let loop ((i start) (parts '()))
          (if (= i end)
              (concatenate "textual-map-index" (reverse parts))
              (loop (+ i 1) (cons (part "textual-map-index" (proc i)) parts))))))
    (define (textual-for-each-index proc x . range)
      (let*-values (((s) (check "textual-for-each-index" x)) ((start end) (range-of "textual-for-each-index" s range)))
        (do ((i start (+ i 1))) ((= i end))
          (proc i))))))
