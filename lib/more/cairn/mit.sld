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
   (rename interaction-environment nearest-repl/environment) receive and-let*
   exact->inexact inexact->exact
   ;; lists
   iota first second third fourth fifth sixth seventh eighth ninth tenth last last-pair cons* fold fold-left fold-right
   reduce reduce-left reduce-right append-map filter filter-map remove partition delete delete! delete-duplicates any
   every find find-tail list-index count append! reverse! append-reverse append-reverse! list-head sublist
   except-last-pair except-last-pair! list-tabulate (rename list-tabulate make-initialized-list)
   del-assq del-assv del-assoc alist-copy sort sort! (rename sort merge-sort) list-sort
   ;; numbers
   1+ -1+ cube random exact-rational? exact-nonnegative-integer? bitwise-and bitwise-or bitwise-xor bitwise-not
   arithmetic-shift shift-left shift-right bit-count (rename bitwise-and bit-and) (rename bitwise-or bit-or)
   (rename bitwise-xor bit-xor) integer-floor integer-ceiling integer-round integer-truncate
   ;; strings, characters, symbols
   string-search-forward string-search-backward string-search-all (rename string-pad string-pad-left) string-pad-right
   string-index string-head string-tail string-reverse string-null? string-prefix? string-suffix? char->digit
   digit->char char-ascii? symbol-append symbol<? generate-uninterned-symbol
   ;; vectors
   vector-grow subvector vector-head vector-tail vector-first vector-last vector-binary-search
   make-initialized-vector
   ;; tables
   make-equal-hash-table make-strong-eqv-hash-table make-string-hash-table make-eqv-hash-table make-eq-hash-table
   hash-table? hash-table-ref hash-table-ref/default hash-table-set! hash-table-delete! hash-table-contains?
   hash-table-exists? hash-table-count hash-table-size hash-table-keys hash-table-values hash-table->alist
   hash-table-walk hash-table-update! hash-table-update!/default hash-table-clear! hash-table-copy
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
   call-with-output-string with-output-to-string with-input-from-string pp write-line runtime real-time
   true false)
  (import
   (only (cairn port) with-input-from-string)
   (scheme base) (scheme case-lambda) (scheme lazy) (scheme write) (scheme read) (scheme inexact) (scheme complex)
   (scheme char) (scheme cxr) (scheme file) (scheme process-context) (scheme time) (scheme eval) (scheme repl)
   (scheme load)
   (only (scheme r5rs) exact->inexact inexact->exact)
   (srfi 2) (srfi 8)
   (only (srfi 1) iota first second third fourth fifth sixth seventh eighth ninth tenth last last-pair cons* fold reduce
         reduce-right append-map filter filter-map remove partition delete delete! delete-duplicates any every find
         find-tail list-index count append! reverse! append-reverse append-reverse! list-tabulate alist-copy)
   (only (srfi 13) string-pad string-pad-right string-index string-reverse string-null? string-prefix? string-suffix?)
   (only (srfi 69) hash-table? hash-table-ref hash-table-ref/default hash-table-set! hash-table-delete!
         hash-table-exists? hash-table-size hash-table-keys hash-table-values hash-table->alist hash-table-walk
         hash-table-update! hash-table-update!/default hash-table-copy)
   (only (cairn hash-table) hash-table-contains? hash-table-clear!)
   (rename (only (srfi 151) bitwise-and bitwise-ior bitwise-xor bitwise-not arithmetic-shift bit-count)
           (bitwise-ior bitwise-or))
   (only (cairn syntax) named-lambda)
   (only (cairn list) fold-left fold-right reduce-left)
   (only (cairn sort) sort sort! list-sort)
   (only (cairn control) condition? condition-message condition-irritants wrong-type)
   (only (cairn dialects) 1+ -1+ random exact-rational? exact-nonnegative-integer? list-head sublist
         string-search-forward string-search-all string-head string-tail symbol-append symbol<?
         generate-uninterned-symbol define-structure
         vector-grow subvector vector-head vector-tail make-equal-hash-table make-strong-eqv-hash-table
         make-string-hash-table hash-table/get hash-table/put! hash-table/remove! hash-table/count cons-stream
         stream-pair? stream-null? empty-stream? the-empty-stream stream-car stream-cdr stream-first stream-rest
         stream-head stream-tail fluid-let assert declare load-option call-with-escape-continuation
         condition/report-string call-with-output-string with-output-to-string pp runtime real-time true false))
  (begin

    ;;;; Lists

    (define (except-last-pair l)
      (if (not (pair? l)) (wrong-type "except-last-pair" "a list that is not empty" l))
      (let loop ((l l))
        (if (pair? (cdr l))
            (cons (car l) (loop (cdr l)))
            '())))
    (define (except-last-pair! l)
      (except-last-pair l))
    (define (deleter same?)
      (lambda (key alist)
        (remove (lambda (entry) (same? key (car entry))) alist)))
    (define del-assq (deleter eq?))
    (define del-assv (deleter eqv?))
    (define del-assoc (deleter equal?))

    ;;;; Streams

    (define (stream-ref s k)
      (if (= k 0) (stream-car s) (stream-ref (stream-cdr s) (- k 1))))

    ;; As long as the shortest.
    (define (stream-map f s . others)
      (let loop ((all (cons s others)))
        (if (any empty-stream? all)
            the-empty-stream
            (cons-stream (apply f (map stream-car all)) (loop (map stream-cdr all))))))

    (define (stream-for-each f s)
      (if (not (empty-stream? s))
          (begin
            (f (stream-car s))
            (stream-for-each f (stream-cdr s)))))

    (define (stream-filter keep? s)
      (cond ((empty-stream? s) the-empty-stream)
            ((keep? (stream-car s)) (cons-stream (stream-car s) (stream-filter keep? (stream-cdr s))))
            (else (stream-filter keep? (stream-cdr s)))))

    (define (stream-append . all)
      (cond ((null? all) the-empty-stream)
            ((empty-stream? (car all)) (apply stream-append (cdr all)))
            (else
             (let ((s (car all)))
               (cons-stream (stream-car s) (apply stream-append (stream-cdr s) (cdr all)))))))

    ;; At most k elements.
    (define stream->list
      (case-lambda
        ((s) (stream->list s +inf.0))
        ((s k)
         (if (or (empty-stream? s) (= k 0))
             '()
             (cons (stream-car s) (stream->list (stream-cdr s) (- k 1)))))))

    (define (list->stream l)
      (if (null? l) the-empty-stream (cons-stream (car l) (list->stream (cdr l)))))

    ;;;; Numbers

    (define (cube x) (* x x x))
    (define (shift-left n k) (arithmetic-shift n k))
    (define (shift-right n k) (arithmetic-shift n (- k)))
    (define (integer-floor n d) (floor (/ n d)))
    (define (integer-ceiling n d) (ceiling (/ n d)))
    (define (integer-round n d) (round (/ n d)))
    (define (integer-truncate n d) (truncate (/ n d)))

    ;;;; Characters, strings, symbols

    (define (char-ascii? c) (char<? c #\x80))
    (define char->digit
      (case-lambda
        ((c) (char->digit c 10))
        ((c radix)
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
      (let ((n (string-length pattern)))
        (let loop ((start (- end n)))
          (cond
            ((< start 0) #f)
            ((string=? (substring s start (+ start n)) pattern) (+ start n))
            (else (loop (- start 1)))))))

    ;;;; Vectors

    (define (make-initialized-vector n f)
      (let ((v (make-vector n)))
        (do ((i 0 (+ i 1)))
            ((= i n) v)
          (vector-set! v i (f i)))))
    (define (vector-first v) (vector-ref v 0))
    (define (vector-last v) (vector-ref v (- (vector-length v) 1)))
    ;; The element for which `(compare key element)` is 0; negative where the key comes before the element.
    (define (vector-binary-search v key compare)
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

    (define (write-line object . port)
      (apply write object port)
      (apply newline port))))
