;;; (cairn mit): what programs for MIT Scheme take for granted: R7RS-small, the lists of SRFI 1, and MIT Scheme's names
;;; for numbers, strings, vectors, tables, streams, structures and errors.
(define-library (cairn mit)
  (export
   ;; R7RS
   * + - ... / < <= = => > >= _ abs and append apply assoc assq assv begin binary-port? boolean=? boolean? bytevector
   bytevector-append bytevector-copy bytevector-copy! bytevector-length bytevector-u8-ref bytevector-u8-set!
   bytevector? caar cadr call-with-current-continuation call-with-port call-with-values call/cc car case cdar cddr cdr
   ceiling char->integer char-ready? char<=? char<? char=? char>=? char>? char? close-input-port close-output-port
   close-port complex? cond cond-expand cons current-error-port current-input-port current-output-port define
   define-record-type define-syntax define-values denominator do dynamic-wind else eof-object eof-object? eq? equal?
   eqv? error error-object-irritants error-object-message error-object? even? exact exact-integer-sqrt exact-integer?
   exact? expt features file-error? floor floor-quotient floor-remainder floor/ flush-output-port for-each gcd
   get-output-bytevector get-output-string guard if include include-ci inexact inexact? input-port-open? input-port?
   integer->char integer? lambda lcm length let let* let*-values let-syntax let-values letrec letrec* letrec-syntax
   list list->string list->vector list-copy list-ref list-set! list-tail list? make-bytevector make-list
   make-parameter make-string make-vector map max member memq memv min modulo negative? newline not null?
   number->string number? numerator odd? open-input-bytevector open-input-string open-output-bytevector
   open-output-string or output-port-open? output-port? pair? parameterize peek-char peek-u8 positive? procedure?
   quasiquote quote quotient raise raise-continuable rational? rationalize read-bytevector read-bytevector! read-char
   read-error? read-line read-string read-u8 real? remainder reverse round set! set-car! set-cdr! square string
   string->list string->number string->symbol string->utf8 string->vector string-append string-copy string-copy!
   string-fill! string-for-each string-length string-map string-ref string-set! string<=? string<? string=?
   string>=? string>? string? substring symbol->string symbol=? symbol? syntax-error syntax-rules textual-port?
   truncate truncate-quotient truncate-remainder truncate/ u8-ready? unless unquote unquote-splicing utf8->string
   values vector vector->list vector->string vector-append vector-copy vector-copy! vector-fill! vector-for-each
   vector-length vector-map vector-ref vector-set! vector? when with-exception-handler write-bytevector write-char
   write-string write-u8 zero?
   case-lambda delay delay-force force make-promise promise? display write write-shared write-simple read
   acos asin atan cos exp finite? infinite? log nan? sin sqrt tan
   angle imag-part magnitude make-polar make-rectangular real-part
   char-alphabetic? char-ci<=? char-ci<? char-ci=? char-ci>=? char-ci>? char-downcase char-foldcase
   char-lower-case? char-numeric? char-upcase char-upper-case? char-whitespace? digit-value string-ci<=?
   string-ci<? string-ci=? string-ci>=? string-ci>? string-downcase string-foldcase string-upcase
   caaar caadr cadar caddr cdaar cdadr cddar cdddr cadddr cddddr
   call-with-input-file call-with-output-file delete-file file-exists? open-input-file open-output-file
   with-input-from-file with-output-to-file exit emergency-exit command-line get-environment-variable
   current-jiffy jiffies-per-second current-second eval environment interaction-environment load
   (rename interaction-environment nearest-repl/environment) er-macro-transformer sc-macro-transformer
   rsc-macro-transformer close-syntax receive and-let*
   exact->inexact inexact->exact
   ;; lists
   iota first second third fourth fifth sixth seventh eighth ninth tenth last last-pair cons* fold fold-left fold-right
   reduce reduce-left reduce-right append-map filter filter-map remove partition delete delete! delete-duplicates any
   every find find-tail list-index count append! reverse! append-reverse append-reverse! list-head sublist
   except-last-pair except-last-pair! list-tabulate (rename list-tabulate make-initialized-list)
   list-search-positive list-transform-positive list-transform-negative for-all? exists?
   del-assq del-assv del-assoc alist-copy sort sort! (rename sort merge-sort) list-sort
   ;; numbers
   1+ -1+ cube random exact-rational? exact-nonnegative-integer? bitwise-and bitwise-or bitwise-xor bitwise-not
   arithmetic-shift shift-left shift-right bit-count (rename bitwise-and bit-and) (rename bitwise-or bit-or)
   exact-floor exact-ceiling exact-round exact-truncate floor->exact ceiling->exact round->exact truncate->exact
   (rename bitwise-xor bit-xor) integer-floor integer-ceiling integer-round integer-truncate
   ;; strings, characters, symbols
   string-search-forward string-search-backward string-search-all (rename string-pad string-pad-left) string-pad-right
   string-index (rename string-index-right string-rindex) string-head string-tail string-reverse string-null?
   string-prefix? string-suffix? char->digit digit->char char-ascii? burst-string symbol-append symbol<?
   generate-uninterned-symbol
   ;; vectors
   vector-grow subvector vector-head vector-tail vector-first vector-last vector-binary-search
   make-initialized-vector subvector->list subvector-fill!
   ;; cells, weak pairs
   make-cell cell? cell-contents set-cell-contents! weak-cons weak-pair? weak-car weak-cdr weak-set-car! weak-set-cdr!
   ;; tables
   make-equal-hash-table make-strong-eqv-hash-table make-string-hash-table make-eqv-hash-table make-eq-hash-table
   hash-table? hash-table-ref hash-table-ref/default hash-table-set! hash-table-delete! hash-table-contains?
   hash-table-exists? hash-table-count hash-table-size hash-table-keys hash-table-values hash-table->alist
   hash-table-walk hash-table-update! hash-table-update!/default hash-table-clear! hash-table-copy
   (rename hash-table-keys hash-table/key-list) (rename hash-table-values hash-table/datum-list)
   (rename hash-table-keys hash-table-key-list) (rename hash-table-values hash-table-datum-list)
   hash-table/get hash-table/put! hash-table/remove! hash-table/count (rename hash-table-clear! hash-table/clear!)
   ;; streams
   cons-stream stream-pair? stream-null? empty-stream? the-empty-stream stream-car stream-cdr stream-first stream-rest
   stream-head stream-tail stream stream-ref stream-map stream-for-each stream-filter stream-append stream->list
   list->stream
   ;; definitions, control, errors
   named-lambda fluid-let define-structure define-integrable assert declare load-option guarantee warn
   call-with-escape-continuation condition/report-string access-condition condition?
   ;; output and time
   call-with-output-string with-output-to-string with-input-from-string pp write-line fresh-line runtime real-time
   true false)
  (import
   (only (cairn port) with-input-from-string fresh-line)
   (only (cairn macro) er-macro-transformer sc-macro-transformer rsc-macro-transformer close-syntax)
   (only (cairn weak) weak-cons weak-pair? weak-car weak-cdr weak-set-car! weak-set-cdr!)
   (scheme base) (scheme case-lambda) (scheme lazy) (scheme write) (scheme read) (scheme inexact) (scheme complex)
   (scheme char) (scheme cxr) (scheme file) (scheme process-context) (scheme time) (scheme eval) (scheme repl)
   (scheme load)
   (only (scheme r5rs) exact->inexact inexact->exact)
   (srfi 2) (srfi 8)
   (only (srfi 1) iota first second third fourth fifth sixth seventh eighth ninth tenth last last-pair cons* fold reduce
         reduce-right append-map filter filter-map remove partition delete delete! delete-duplicates any every find
         find-tail list-index count append! reverse! append-reverse append-reverse! list-tabulate alist-copy)
   (only (srfi 13) string-pad string-pad-right string-index string-index-right string-reverse string-null?
         string-prefix? string-suffix?)
   (only (srfi 69) hash-table? hash-table-ref hash-table-ref/default hash-table-set! hash-table-delete!
         hash-table-exists? hash-table-size hash-table-keys hash-table-values hash-table->alist hash-table-walk
         hash-table-update! hash-table-update!/default hash-table-copy)
   (only (cairn hash-table) hash-table-contains? hash-table-clear!)
   (rename (only (srfi 151) bitwise-and bitwise-ior bitwise-xor bitwise-not arithmetic-shift bit-count)
           (bitwise-ior bitwise-or))
   (only (cairn syntax) named-lambda)
   (only (cairn list) fold-left fold-right reduce-left)
   (only (cairn sort) sort sort! list-sort)
   (only (cairn control) condition? condition-message condition-irritants out-of-range wrong-type)
   (only (cairn dialects) 1+ -1+ random exact-rational? exact-nonnegative-integer? list-head sublist
         string-search-forward string-search-all string-head string-tail symbol-append symbol<?
         generate-uninterned-symbol define-structure
         vector-grow subvector vector-head vector-tail make-equal-hash-table make-strong-eqv-hash-table
         make-string-hash-table hash-table/get hash-table/put! hash-table/remove! hash-table/count cons-stream
         stream-pair? stream-null? empty-stream? the-empty-stream stream-car stream-cdr stream-first stream-rest
         stream-head stream-tail fluid-let assert declare load-option call-with-escape-continuation
         condition/report-string call-with-output-string with-output-to-string pp runtime real-time true false))
  (begin

    ;; Procedures that are made of others fail by their own names.
    (define-syntax define-checked
      (syntax-rules ()
        ((_ (name (x right? expected) ...) body ...)
         (define (name x ...)
           (if (not (right? x)) (wrong-type (symbol->string 'name) expected x))
           ...
           body ...))))
    (define (size? x) (and (exact-integer? x) (>= x 0)))
    (define (alist? l) (and (list? l) (every pair? l)))

    ;;;; Lists

    (define (except-last-pair l) (but-last "except-last-pair" l))
    (define (except-last-pair! l) (but-last "except-last-pair!" l))
    (define (but-last who l)
      (if (not (pair? l)) (wrong-type who "a list that is not empty" l))
      (let loop ((l l))
        (if (pair? (cdr l))
            (cons (car l) (loop (cdr l)))
            '())))
    (define-syntax define-deleters
      (syntax-rules ()
        ((_ (name same?) ...)
         (begin
           (define (name key alist)
             (if (not (alist? alist)) (wrong-type (symbol->string 'name) "a list of pairs" alist))
             (remove (lambda (entry) (same? key (car entry))) alist))
           ...))))
    (define-deleters (del-assq eq?) (del-assv eqv?) (del-assoc equal?))
    ;; The older names, whose lists come first.
    (define-syntax define-on-lists
      (syntax-rules ()
        ((_ (name operation) ...)
         (begin
           (define-checked (name (l list? "a list") (accept? procedure? "a procedure")) (operation accept? l))
           ...))))
    (define-on-lists (list-search-positive find) (list-transform-positive filter) (list-transform-negative remove)
                     (for-all? every) (exists? any))

    ;;;; Streams

    (define (stream-ref s k)
      (if (not (size? k)) (wrong-type "stream-ref" "an exact non-negative integer" k))
      (let loop ((rest s) (i k))
        (cond
          ((not (stream-pair? rest)) (wrong-type "stream-ref" "a stream that is long enough" s))
          ((= i 0) (stream-car rest))
          (else (loop (stream-cdr rest) (- i 1))))))
    ;; Is `s` the empty stream? What is no stream is an error of `who`.
    (define (at-end? who s)
      (cond
        ((stream-pair? s) #f)
        ((empty-stream? s) #t)
        (else (wrong-type who "a stream" s))))

    ;; As long as the shortest.
    (define (stream-map f s . others)
      (if (not (procedure? f)) (wrong-type "stream-map" "a procedure" f))
      (let loop ((all (cons s others)))
        (if (any (lambda (s) (at-end? "stream-map" s)) all)
            the-empty-stream
            (cons-stream (apply f (map stream-car all)) (loop (map stream-cdr all))))))

    (define (stream-for-each f s)
      (if (not (at-end? "stream-for-each" s))
          (begin
            (f (stream-car s))
            (stream-for-each f (stream-cdr s)))))

    (define (stream-filter keep? s)
      (cond ((at-end? "stream-filter" s) the-empty-stream)
            ((keep? (stream-car s)) (cons-stream (stream-car s) (stream-filter keep? (stream-cdr s))))
            (else (stream-filter keep? (stream-cdr s)))))

    (define (stream-append . all)
      (cond ((null? all) the-empty-stream)
            ((at-end? "stream-append" (car all)) (apply stream-append (cdr all)))
            (else
             (let ((s (car all)))
               (cons-stream (stream-car s) (apply stream-append (stream-cdr s) (cdr all)))))))

    ;; At most k elements.
    (define stream->list
      (case-lambda
        ((s) (stream->list s +inf.0))
        ((s k)
         (if (or (eqv? k 0) (at-end? "stream->list" s))
             '()
             (cons (stream-car s) (stream->list (stream-cdr s) (- k 1)))))))

    (define-checked (list->stream (l list? "a list"))
      (let loop ((l l))
        (if (null? l) the-empty-stream (cons-stream (car l) (loop (cdr l))))))

    ;;;; Numbers

    (define-checked (cube (x number? "a number")) (* x x x))
    (define-syntax define-exact
      (syntax-rules ()
        ((_ (name round) ...)
         (begin
           (define-checked (name (x rational? "a finite number")) (exact (round x)))
           ...))))
    (define-exact (exact-floor floor) (exact-ceiling ceiling) (exact-round round) (exact-truncate truncate)
                  (floor->exact floor) (ceiling->exact ceiling) (round->exact round) (truncate->exact truncate))
    (define-checked (shift-left (n exact-integer? "an exact integer") (k exact-integer? "an exact integer"))
      (arithmetic-shift n k))
    (define-checked (shift-right (n exact-integer? "an exact integer") (k exact-integer? "an exact integer"))
      (arithmetic-shift n (- k)))
    (define-syntax define-quotients
      (syntax-rules ()
        ((_ (name round) ...)
         (begin
           (define-checked (name (n integer? "an integer") (d integer? "an integer"))
             (if (zero? d) (out-of-range (symbol->string 'name) "division by zero; the dividend was" n))
             (round (/ n d)))
           ...))))
    (define-quotients (integer-floor floor) (integer-ceiling ceiling) (integer-round round) (integer-truncate truncate))

    ;;;; Characters, strings, symbols

    (define-checked (char-ascii? (c char? "a character")) (char<? c #\x80))
    (define char->digit
      (case-lambda
        ((c) (char->digit c 10))
        ((c radix)
         (if (not (char? c)) (wrong-type "char->digit" "a character" c))
         (let ((n (digit-value c)))
           (cond
             (n (and (< n radix) n))
             ((and (char-ascii? c) (char-alphabetic? c))
              (let ((n (+ 10 (- (char->integer (char-downcase c)) (char->integer #\a)))))
                (and (< n radix) n)))
             (else #f))))))
    (define digit->char
      (case-lambda
        ((n) (digit->char n 10))
        ((n radix)
         (and (exact-integer? n) (< -1 n radix)
              (string-ref "0123456789abcdefghijklmnopqrstuvwxyz" n)))))
    ;; The index behind the last match that ends at `end` or before.
    (define (string-search-backward pattern s end)
      (if (not (string? pattern)) (wrong-type "string-search-backward" "a string" pattern))
      (if (not (string? s)) (wrong-type "string-search-backward" "a string" s))
      (if (not (and (size? end) (<= end (string-length s))))
          (out-of-range "string-search-backward" "index out of range" end))
      (let ((n (string-length pattern)))
        (let loop ((start (- end n)))
          (cond
            ((< start 0) #f)
            ((string=? (substring s start (+ start n)) pattern) (+ start n))
            (else (loop (- start 1)))))))

    ;; The parts between delimiters, a character or what accepts one; with `runs?` several count as one.
    (define (burst-string s delimiter runs?)
      (if (not (string? s)) (wrong-type "burst-string" "a string" s))
      (if (not (or (char? delimiter) (procedure? delimiter)))
          (wrong-type "burst-string" "a character or a procedure" delimiter))
      (let ((n (string-length s)) (end? (if (char? delimiter) (lambda (c) (char=? c delimiter)) delimiter)))
        (let loop ((k 0) (start 0) (parts '()))
          (define (with-part) (if (and runs? (= start k)) parts (cons (substring s start k) parts)))
          (cond
            ((= k n) (reverse (with-part)))
            ((end? (string-ref s k)) (loop (+ k 1) (+ k 1) (with-part)))
            (else (loop (+ k 1) start parts))))))

    ;;;; Vectors, cells

    (define (check-part who v start end)
      (if (not (vector? v)) (wrong-type who "a vector" v))
      (if (not (and (size? start) (size? end) (<= start end (vector-length v))))
          (out-of-range who "not a range of the vector:" (cons start end))))
    (define (subvector->list v start end)
      (check-part "subvector->list" v start end)
      (vector->list v start end))
    (define (subvector-fill! v start end x)
      (check-part "subvector-fill!" v start end)
      (vector-fill! v x start end))
    (define-record-type cell (make-cell contents) cell? (contents cell-contents set-cell-contents!))
    (define-checked (make-initialized-vector (n size? "an exact non-negative integer") (f procedure? "a procedure"))
      (let ((v (make-vector n)))
        (do ((i 0 (+ i 1)))
            ((= i n) v)
          (vector-set! v i (f i)))))
    (define (filled-vector? v) (and (vector? v) (> (vector-length v) 0)))
    (define-checked (vector-first (v filled-vector? "a vector that is not empty")) (vector-ref v 0))
    (define-checked (vector-last (v filled-vector? "a vector that is not empty"))
      (vector-ref v (- (vector-length v) 1)))
    ;; The element for which `(compare key element)` is 0; negative where the key comes before the element.
    (define (vector-binary-search v key compare)
      (if (not (vector? v)) (wrong-type "vector-binary-search" "a vector" v))
      (let loop ((start 0) (end (vector-length v)))
        (if (>= start end)
            #f
            (let* ((middle (quotient (+ start end) 2)) (x (vector-ref v middle)) (order (compare key x)))
              (cond
                ((= order 0) x)
                ((< order 0) (loop start middle))
                (else (loop (+ middle 1) end)))))))

    ;;;; Tables

    (define (make-eqv-hash-table . size) (make-strong-eqv-hash-table))
    (define (make-eq-hash-table . size) (make-strong-eqv-hash-table))
    ;; Of entries, or of those whose key and value are what `accept?` says.
    (define hash-table-count
      (case-lambda
        ((table) (hash-table-size table))
        ((table accept?)
         (let ((n 0))
           (hash-table-walk table (lambda (key value) (if (accept? key value) (set! n (+ n 1)))))
           n))))

    ;;;; Streams

    (define (stream . items)
      (if (null? items)
          '()
          (cons-stream (car items) (apply stream (cdr items)))))

    ;;;; Definitions

    (define-syntax define-integrable
      (syntax-rules ()
        ((_ head body ...) (define head body ...))))

    ;;;; Errors

    (define (guarantee accept? x . who)
      (if (accept? x)
          x
          (error "The object is not of the right kind:" x)))
    (define (warn message . irritants)
      (let ((port (current-error-port)))
        (display ";Warning: " port)
        (display message port)
        (for-each
          (lambda (x)
            (write-char #\space port)
            (write x port))
          irritants)
        (newline port)))
    ;; The fields of a condition: `message` and `irritants`.
    (define (access-condition c field)
      (case field
        ((message) (if (condition? c) (condition-message c) (error-object-message c)))
        ((irritants) (if (condition? c) (condition-irritants c) (error-object-irritants c)))
        (else (error "access-condition: a condition has no such field:" field))))

    (define write-line
      (case-lambda
        ((object) (write-line object (current-output-port)))
        ((object port)
         (if (not (and (output-port? port) (textual-port? port)))
             (wrong-type "write-line" "a textual output port" port))
         (write object port)
         (newline port))))))
