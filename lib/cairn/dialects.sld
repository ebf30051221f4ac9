;;; (cairn dialects): names that programs for other dialects take for granted, of MIT Scheme, SICP, Racket, Chez Scheme,
;;; R6RS, Guile, Gambit and Chicken.
;;;
;;; Who uses one without having defined it is told to import this library.  So it has what needs no more than a few
;;; lines; names that a standard library or a SRFI exports are left to that.
(define-library (cairn dialects)
  (export
   ;; constants
   false true nil null the-empty-stream stream-nil pi
   ;; numbers
   1+ -1+ 1- add1 sub1 inc dec div mod random exact-rational? exact-nonnegative-integer?
   ;; control
   (rename lambda λ) while
   assert assertion-violation void begin0 let/cc let/ec call/ec call-with-escape-continuation fluid-let
   define-macro define-syntax-rule define-structure condition/report-string unwind-protect
   with-handlers exn:fail? exn-message
   declare load-option provide
   ;; streams of SICP
   cons-stream stream-car stream-cdr stream-rest stream-first stream-pair? stream-null? empty-stream?
   stream-head stream-tail
   ;; time
   runtime real-time current-milliseconds current-inexact-milliseconds current-process-milliseconds
   ;; output and input
   format printf fprintf eprintf print displayln writeln pp pretty-print
   get-line get-char get-string-all get-datum lookahead-char put-char put-string put-datum
   call-with-output-string with-output-to-string call-with-string-output-port
   ;; lists
   fold-left foldl foldr reduce-left list-head sublist for-all exists remp atom? assoc-ref assq-ref assv-ref
   empty empty? rest sort
   ;; strings, symbols, vectors
   string-head string-tail string-search-forward string-search-all string-contains? symbol-append symbol<?
   generate-uninterned-symbol gensym
   vector-grow subvector vector-head vector-tail
   ;; tables
   make-hash make-hasheq make-hasheqv hash-ref hash-set! hash-remove! hash-has-key? hash-update! hash-clear! hash-count
   hash-keys hash-values hash->list hash-for-each
   hash-table/get hash-table/put! hash-table/remove! hash-table/count
   make-equal-hash-table make-strong-eqv-hash-table make-string-hash-table
   make-eq-hashtable make-eqv-hashtable hashtable-ref hashtable-set! hashtable-delete! hashtable-contains?
   hashtable-size hashtable-keys hashtable-update! hashtable-clear!)
  (import (scheme base) (scheme case-lambda) (only (scheme cxr) caddr) (scheme lazy) (scheme read) (scheme write)
          (scheme time)
          (only (cairn macro) er-macro-transformer derived-identifier)
          (only (cairn syntax) assert)
          (only (cairn list) fold-left fold-right reduce-left filter)
          (only (cairn number) exact-rational?)
          (only (cairn text) string-search-forward symbol-append generate-symbol)
          (only (cairn vector) vector-grow subvector)
          (only (cairn port) call-with-output-string with-output-to-string)
          (only (cairn control) condition->string out-of-range wrong-type)
          (only (cairn pretty) write-pretty)
          (only (cairn sort) sort)
          (only (scheme division) euclidean-quotient euclidean-remainder)
          (only (srfi 27) random-integer random-real)
          (only (srfi 48) format)
          (only (cairn hash-table) make-hash-table hash-table? hash-table-ref hash-table-ref/default hash-table-set!
                hash-table-delete! hash-table-contains? hash-table-size hash-table-keys hash-table-values
                hash-table->alist hash-table-walk hash-table-update!/default hash-table-clear!))
  (begin

    (define false #f)
    (define true #t)
    (define nil '())
    (define null '())
    (define the-empty-stream '())
    (define stream-nil '())
    (define pi 3.141592653589793)

    ;; Procedures that are made of others fail by their own names.
    (define-syntax define-steps
      (syntax-rules ()
        ((_ operation name ...)
         (begin
           (define (name n)
             (if (number? n) (operation n 1) (wrong-type (symbol->string 'name) "a number" n)))
           ...))))
    (define-steps + 1+ add1 inc)
    (define-steps - -1+ 1- sub1 dec)

    ;; Of real numbers, too; integers are the usual case.
    (define-syntax define-division
      (syntax-rules ()
        ((_ (name of-integers of-reals) ...)
         (begin
           (define (name a b)
             (if (and (exact-integer? a) (exact-integer? b) (not (eqv? b 0)))
                 (of-integers a b)
                 (of-reals (symbol->string 'name) a b)))
           ...))))
    (define (real-div who a b)
      (check-real who a)
      (check-real who b)
      (if (and (eqv? b 0) (exact? a)) (out-of-range who "division by zero; the dividend was" a))
      (if (negative? b) (ceiling (/ a b)) (floor (/ a b))))
    (define (real-mod who a b) (- a (* b (real-div who a b))))
    (define (check-real who x)
      (if (not (real? x)) (wrong-type who "a real number" x)))
    (define-division (div euclidean-quotient real-div) (mod euclidean-remainder real-mod))

    ;; Below `n`: an integer if that is exact.
    (define (random n . state)
      (cond ((not (and (real? n) (> n 0))) (wrong-type "random" "a positive number" n))
            ((inexact? n) (* n (random-real)))
            ((exact-integer? n) (random-integer n))
            (else (wrong-type "random" "an exact integer or an inexact number" n))))

    (define (exact-nonnegative-integer? x)
      (and (exact-integer? x) (>= x 0)))

    (define (assertion-violation who message . irritants)
      (apply error
             (if who
                 (call-with-output-string
                  (lambda (port)
                    (display who port)
                    (display ": " port)
                    (display message port)))
                 message)
             irritants))

    (define (void . ignored)
      (if #f #f))

    (define-syntax while
      (syntax-rules ()
        ((_ test body ...)
         (let loop ()
           (if test (let () body ... (loop)) (if #f #f))))))

    (define-syntax begin0
      (syntax-rules ()
        ((_ first rest ...) (call-with-values (lambda () first) (lambda results rest ... (apply values results))))))

    (define-syntax let/cc
      (syntax-rules ()
        ((_ k body ...) (call-with-current-continuation (lambda (k) body ...)))))
    (define-syntax let/ec
      (syntax-rules ()
        ((_ k body ...) (call-with-current-continuation (lambda (k) body ...)))))
    (define (check-procedure who f)
      (if (not (procedure? f)) (wrong-type who "a procedure" f)))
    (define (call/ec receiver)
      (check-procedure "call/ec" receiver)
      (call-with-current-continuation receiver))
    (define (call-with-escape-continuation receiver)
      (check-procedure "call-with-escape-continuation" receiver)
      (call-with-current-continuation receiver))

    (define-syntax unwind-protect
      (syntax-rules ()
        ((_ body cleanup ...) (dynamic-wind (lambda () #f) (lambda () body) (lambda () cleanup ...)))))

    ;; All values are there before the first variable changes.
    (define-syntax fluid-let
      (syntax-rules ()
        ((_ (binding ...) body ...) (fluid-bound () (binding ...) body ...))))
    (define-syntax fluid-bound
      (syntax-rules ()
        ((_ ((variable inside value) ...) () body ...)
         (let ((inside value) ...)
           (define (exchange!)
             (let ((outside variable))
               (set! variable inside)
               (set! inside outside))
             ...
             #t)
           (dynamic-wind exchange! (lambda () body ...) exchange!)))
        ((_ (done ...) ((variable value) . more) body ...)
         (fluid-bound (done ... (variable inside value)) more body ...))))

    ;; Macros that are procedures of the form's parts, without hygiene.
    (define-syntax define-macro
      (er-macro-transformer
       (lambda (form rename compare)
         (let* ((head (cadr form))
                (name (if (pair? head) (car head) head))
                (procedure
                 (if (pair? head)
                     (cons (rename 'lambda) (cons (cdr head) (cddr form)))
                     (caddr form))))
           (list (rename 'define-syntax) name
                 (list (rename 'er-macro-transformer)
                       (list (rename 'lambda) (list (rename 'form) (rename 'rename) (rename 'compare))
                             (list (rename 'apply) procedure (list (rename 'cdr) (rename 'form))))))))))

    (define-syntax define-syntax-rule
      (syntax-rules ()
        ((_ (name . pattern) template)
         (define-syntax name (syntax-rules () ((_ . pattern) template))))))

    ;; Racket's: the first test that accepts what was raised.
    (define-syntax with-handlers
      (syntax-rules ()
        ((_ ((accepts? handler) ...) body ...)
         (guard (e ((accepts? e) (handler e)) ...) body ...))))
    (define (exn:fail? x) (error-object? x))
    (define (exn-message e)
      (if (error-object? e) (condition->string e) (wrong-type "exn-message" "an error object" e)))

    ;; (define-structure name field …): make-name, name?, name-field, set-name-field!.  A field may have a default,
    ;; and the name options: both change nothing here.  The name itself is left to the program.
    (define-syntax define-structure
      (er-macro-transformer
       (lambda (form rename compare)
         (let* ((head (cadr form))
                (name (if (pair? head) (car head) head))
                (fields (map (lambda (f) (if (pair? f) (car f) f)) (cddr form))))
           (append
            (list (rename 'define-record-type) (rename name)
                  (cons (derived-identifier name 'make- name) fields)
                  (derived-identifier name name '?))
            (map (lambda (f)
                   (list f (derived-identifier name name '- f) (derived-identifier name 'set- name '- f '!)))
                 fields))))))

    (define (condition/report-string c)
      (condition->string c))

    ;; What is said to other compilers.
    (define-syntax declare
      (syntax-rules ()
        ((_ declaration ...) (begin))))
    (define-syntax provide
      (syntax-rules ()
        ((_ name ...) (begin))))
    (define (load-option name . ignored)
      (if #f #f))

    (define-syntax cons-stream
      (syntax-rules ()
        ((_ first rest) (cons first (delay rest)))))
    (define (stream-pair? x)
      (and (pair? x) (promise? (cdr x))))
    (define (stream-car s) (car s))
    (define (stream-cdr s) (force (cdr s)))
    (define (stream-first s) (car s))
    (define (stream-rest s) (force (cdr s)))
    (define (stream-null? x) (null? x))
    (define (empty-stream? x) (null? x))
    ;; A list, as in MIT Scheme.
    (define (stream-head s n)
      (check-count "stream-head" n)
      (if (= n 0)
          '()
          (let ((first (head-of "stream-head" s)))
            (cons first (stream-head (force (cdr s)) (- n 1))))))
    (define (stream-tail s n)
      (check-count "stream-tail" n)
      (if (= n 0)
          s
          (begin
            (head-of "stream-tail" s)
            (stream-tail (force (cdr s)) (- n 1)))))
    (define (head-of who s)
      (if (pair? s) (car s) (wrong-type who "a stream that is long enough" s)))

    ;; In seconds, and in milliseconds.
    (define (runtime)
      (inexact (/ (current-jiffy) (jiffies-per-second))))
    (define (real-time)
      (* 1000. (current-second)))
    (define (current-milliseconds)
      (exact (floor (* 1000 (current-second)))))
    (define (current-inexact-milliseconds)
      (* 1000. (current-second)))
    (define (current-process-milliseconds)
      (quotient (* 1000 (current-jiffy)) (jiffies-per-second)))

    (define (check-control who control)
      (if (not (string? control)) (wrong-type who "a control string" control)))
    (define (check-out who port)
      (if (not (and (output-port? port) (textual-port? port))) (wrong-type who "a textual output port" port)))
    (define (check-in who port)
      (if (not (and (input-port? port) (textual-port? port))) (wrong-type who "a textual input port" port)))

    (define (printf control . arguments)
      (check-control "printf" control)
      (apply format #t control arguments))
    (define (fprintf port control . arguments)
      (check-out "fprintf" port)
      (check-control "fprintf" control)
      (apply format port control arguments))
    (define (eprintf control . arguments)
      (check-control "eprintf" control)
      (apply format (current-error-port) control arguments))
    (define (print . objects)
      (for-each display objects)
      (newline))

    ;; Writes an object to a port, the current one if none is given.
    (define-syntax define-writers
      (syntax-rules ()
        ((_ (name write) ...)
         (begin
           (define name
             (case-lambda
               ((object) (name object (current-output-port)))
               ((object port)
                (check-out (symbol->string 'name) port)
                (write object port))))
           ...))))
    (define (write-pretty-in-79-columns object port) (write-pretty object port 79 write))
    (define-writers
      (displayln (lambda (object port) (display object port) (newline port)))
      (writeln (lambda (object port) (write object port) (newline port)))
      (pretty-print write-pretty-in-79-columns)
      (pp write-pretty-in-79-columns))

    ;; Reads from a port, the current one if none is given.
    (define-syntax define-readers
      (syntax-rules ()
        ((_ (name read) ...)
         (begin
           (define name
             (case-lambda
               (() (read (current-input-port)))
               ((port)
                (check-in (symbol->string 'name) port)
                (read port))))
           ...))))
    (define-readers (get-line read-line) (get-char read-char) (get-datum read) (lookahead-char peek-char))
    (define (get-string-all port)
      (check-in "get-string-all" port)
      (let loop ((parts '()))
        (let ((part (read-string 4096 port)))
          (cond
            ((not (eof-object? part)) (loop (cons part parts)))
            ((null? parts) part)
            (else (apply string-append (reverse parts)))))))
    (define (put-char port c)
      (check-out "put-char" port)
      (if (not (char? c)) (wrong-type "put-char" "a character" c))
      (write-char c port))
    ;; As in R6RS, the second number is how many characters, not where they end.
    (define put-string
      (case-lambda
        ((port s) (put-part port s 0 #f))
        ((port s start) (put-part port s start #f))
        ((port s start n) (put-part port s start n))))
    (define (put-part port s start n)
      (check-out "put-string" port)
      (if (not (string? s)) (wrong-type "put-string" "a string" s))
      (check-index "put-string" start (string-length s))
      (if n (check-index "put-string" n (- (string-length s) start)))
      (write-string s port start (if n (+ start n) (string-length s))))
    (define (put-datum port object)
      (check-out "put-datum" port)
      (write object port))
    (define (call-with-string-output-port receiver)
      (check-procedure "call-with-string-output-port" receiver)
      (call-with-output-string receiver))

    ;; As in Racket: the procedure takes the element first.
    (define foldl
      (case-lambda
        ((f start l)
         (check-procedure "foldl" f)
         (let loop ((result start) (rest l))
           (if (pair? rest)
               (loop (f (car rest) result) (cdr rest))
               (begin
                 (check-end "foldl" rest l)
                 result))))
        ((f start l . lists)
         (check-procedure "foldl" f)
         (let ((lists (cons l lists)))
           (for-each (lambda (l) (check-list "foldl" l)) lists)
           (let loop ((result start) (lists lists))
             (if (memq '() lists)
                 result
                 (loop (apply f (append (map car lists) (list result))) (map cdr lists))))))))
    (define (foldr f start l . lists)
      (check-procedure "foldr" f)
      (check-list "foldr" l)
      (for-each (lambda (l) (check-list "foldr" l)) lists)
      (apply fold-right f start l lists))
    (define (check-list who l)
      (if (not (list? l)) (wrong-type who "a list" l)))
    ;; What a loop has found behind the last pair of a list.
    (define (check-end who end l)
      (if (not (null? end)) (wrong-type who "a list" l)))
    (define (list-head l n)
      (check-count "list-head" n)
      (first-elements "list-head" l l n))
    (define (check-count who n)
      (if (not (exact-integer? n)) (wrong-type who "an exact integer" n)))
    (define (first-elements who whole l n)
      (cond ((eqv? n 0) '())
            ((pair? l) (cons (car l) (first-elements who whole (cdr l) (- n 1))))
            (else (wrong-type who "a list that is long enough" whole))))
    (define (sublist l start end)
      (check-count "sublist" start)
      (check-count "sublist" end)
      (let loop ((rest l) (i 0))
        (cond ((eqv? i start) (first-elements "sublist" l rest (- end start)))
              ((pair? rest) (loop (cdr rest) (+ i 1)))
              (else (wrong-type "sublist" "a list that is long enough" l)))))
    ;; The last call is a tail call; what it returns is the result.
    (define-syntax define-search
      (syntax-rules ()
        ((_ name combine none)
         (define name
           (case-lambda
             ((f l)
              (check-procedure (symbol->string 'name) f)
              (if (null? l)
                  none
                  (let loop ((rest l))
                    (cond
                      ((not (pair? rest)) (wrong-type (symbol->string 'name) "a list" l))
                      ((null? (cdr rest)) (f (car rest)))
                      (else (combine (f (car rest)) (loop (cdr rest))))))))
             ((f l . lists)
              (check-procedure (symbol->string 'name) f)
              (let ((lists (cons l lists)))
                (for-each (lambda (l) (check-list (symbol->string 'name) l)) lists)
                (let loop ((lists lists))
                  (cond
                    ((memq '() lists) none)
                    ((memq '() (map cdr lists)) (apply f (map car lists)))
                    (else (combine (apply f (map car lists)) (loop (map cdr lists)))))))))))))
    (define-search for-all and #t)
    (define-search exists or #f)
    (define (remp f l)
      (check-procedure "remp" f)
      (check-list "remp" l)
      (filter (lambda (x) (not (f x))) l))
    ;; Guile's: what the key stands for, or #f.
    (define-syntax define-ref
      (syntax-rules ()
        ((_ (name find) ...)
         (begin
           (define (name l key)
             (check-list (symbol->string 'name) l)
             (let ((entry (find key l)))
               (and entry (cdr entry))))
           ...))))
    (define-ref (assoc-ref assoc) (assq-ref assq) (assv-ref assv))
    (define (atom? x)
      (not (pair? x)))
    (define empty '())
    (define (empty? x) (null? x))
    (define (rest l) (cdr l))

    (define (check-index who n size)
      (if (not (and (exact-integer? n) (<= 0 n size))) (out-of-range who "index out of range" n)))
    (define (string-head s end)
      (if (not (string? s)) (wrong-type "string-head" "a string" s))
      (check-index "string-head" end (string-length s))
      (substring s 0 end))
    (define (string-tail s start)
      (if (not (string? s)) (wrong-type "string-tail" "a string" s))
      (check-index "string-tail" start (string-length s))
      (substring s start (string-length s)))
    (define (string-search-all pattern s)
      (if (not (string? pattern)) (wrong-type "string-search-all" "a string" pattern))
      (if (not (string? s)) (wrong-type "string-search-all" "a string" s))
      (let loop ((start 0))
        (let ((found (string-search-forward pattern s start)))
          (if found
              (cons found (loop (+ found 1)))
              '()))))
    (define (string-contains? s pattern)
      (if (not (string? s)) (wrong-type "string-contains?" "a string" s))
      (if (not (string? pattern)) (wrong-type "string-contains?" "a string" pattern))
      (and (string-search-forward pattern s 0) #t))
    (define (symbol<? a b . more)
      (apply string<? (symbol->string a) (symbol->string b) (map symbol->string more)))
    (define (generate-uninterned-symbol . ignored) (generate-symbol))
    (define (gensym . ignored) (generate-symbol))
    (define (vector-head v end)
      (if (not (vector? v)) (wrong-type "vector-head" "a vector" v))
      (check-index "vector-head" end (vector-length v))
      (subvector v 0 end))
    (define (vector-tail v start)
      (if (not (vector? v)) (wrong-type "vector-tail" "a vector" v))
      (check-index "vector-tail" start (vector-length v))
      (subvector v start (vector-length v)))

    ;; Racket's mutable tables; they fail by their own names.
    (define (check-hash who table)
      (if (not (hash-table? table)) (wrong-type who "a hash table" table)))
    (define (make-hash) (make-hash-table equal?))
    (define (make-hasheq) (make-hash-table eq?))
    (define (make-hasheqv) (make-hash-table eqv?))
    (define hash-ref
      (case-lambda
        ((table key)
         (check-hash "hash-ref" table)
         (hash-table-ref table key (lambda () (error "hash-ref: no value for the key" key))))
        ((table key default)
         (check-hash "hash-ref" table)
         (hash-table-ref table key (if (procedure? default) default (lambda () default))))))
    (define (hash-set! table key value)
      (check-hash "hash-set!" table)
      (hash-table-set! table key value))
    (define (hash-remove! table key)
      (check-hash "hash-remove!" table)
      (hash-table-delete! table key))
    (define (hash-has-key? table key)
      (check-hash "hash-has-key?" table)
      (hash-table-contains? table key))
    (define hash-update!
      (case-lambda
        ((table key f)
         (check-hash "hash-update!" table)
         (check-procedure "hash-update!" f)
         (hash-table-set! table key
                          (f (hash-table-ref table key
                                             (lambda () (error "hash-update!: no value for the key" key))))))
        ((table key f default)
         (check-hash "hash-update!" table)
         (check-procedure "hash-update!" f)
         (hash-table-set! table key (f (hash-ref table key default))))))
    (define (hash-clear! table)
      (check-hash "hash-clear!" table)
      (hash-table-clear! table))
    (define (hash-count table)
      (check-hash "hash-count" table)
      (hash-table-size table))
    ;; Racket's order of arguments, and Guile's.
    (define (hash-for-each a b)
      (let ((table (if (hash-table? a) a b)) (f (if (hash-table? a) b a)))
        (check-hash "hash-for-each" table)
        (check-procedure "hash-for-each" f)
        (hash-table-walk table f)))

    ;; Procedures of a table alone, or of a table and more.
    (define-syntax define-on-tables
      (syntax-rules ()
        ((_ (name operation argument ...) ...)
         (begin
           (define (name table argument ...)
             (check-hash (symbol->string 'name) table)
             (operation table argument ...))
           ...))))
    (define (keys-vector table) (list->vector (hash-table-keys table)))
    (define-on-tables
      (hash-keys hash-table-keys)
      (hash-values hash-table-values)
      (hash->list hash-table->alist)
      (hash-table/get hash-table-ref/default key default)
      (hash-table/put! hash-table-set! key value)
      (hash-table/remove! hash-table-delete! key)
      (hash-table/count hash-table-size)
      (hashtable-ref hash-table-ref/default key default)
      (hashtable-set! hash-table-set! key value)
      (hashtable-delete! hash-table-delete! key)
      (hashtable-contains? hash-table-contains? key)
      (hashtable-size hash-table-size)
      (hashtable-keys keys-vector))
    (define (hashtable-update! table key f default)
      (check-hash "hashtable-update!" table)
      (check-procedure "hashtable-update!" f)
      (hash-table-update!/default table key f default))
    (define (hashtable-clear! table . size)
      (check-hash "hashtable-clear!" table)
      (hash-table-clear! table))
    (define (make-equal-hash-table . size) (make-hash-table equal?))
    (define (make-strong-eqv-hash-table . size) (make-hash-table eqv?))
    (define (make-string-hash-table . size) (make-hash-table string=?))
    (define (make-eq-hashtable . size) (make-hash-table eq?))
    (define (make-eqv-hashtable . size) (make-hash-table eqv?))))
