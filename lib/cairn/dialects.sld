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
   define-macro define-structure condition/report-string unwind-protect
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
   fold-left foldl foldr reduce-left list-head sublist for-all exists remp atom?
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
          (only (scheme division) euclidean/)
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

    (define (1+ n) (+ n 1))
    (define (-1+ n) (- n 1))
    (define (1- n) (- n 1))
    (define (add1 n) (+ n 1))
    (define (sub1 n) (- n 1))
    (define (inc n) (+ n 1))
    (define (dec n) (- n 1))

    (define (div a b)
      (let-values (((q r) (euclidean/ a b))) q))
    (define (mod a b)
      (let-values (((q r) (euclidean/ a b))) r))

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
    (define (call/ec receiver)
      (call-with-current-continuation receiver))
    (define (call-with-escape-continuation receiver)
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

    ;; (define-structure name field …): make-name, name?, name-field, set-name-field!.  A field may have a default,
    ;; and the name options: both change nothing here.
    (define-syntax define-structure
      (er-macro-transformer
       (lambda (form rename compare)
         (let* ((head (cadr form))
                (name (if (pair? head) (car head) head))
                (fields (map (lambda (f) (if (pair? f) (car f) f)) (cddr form))))
           (append
            (list (rename 'define-record-type) name
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
    (define (stream-head s n)
      (if (= n 0)
          '()
          (cons (car s) (delay (stream-head (force (cdr s)) (- n 1))))))
    (define (stream-tail s n)
      (if (= n 0)
          s
          (stream-tail (force (cdr s)) (- n 1))))

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

    (define (printf control . arguments)
      (apply format #t control arguments))
    (define (fprintf port control . arguments)
      (apply format port control arguments))
    (define (eprintf control . arguments)
      (apply format (current-error-port) control arguments))
    (define (print . objects)
      (for-each display objects)
      (newline))
    (define (displayln object . port)
      (apply display object port)
      (apply newline port))
    (define (writeln object . port)
      (apply write object port)
      (apply newline port))
    (define (pretty-print object . port)
      (write-pretty object (if (pair? port) (car port) (current-output-port)) 79 write))
    (define (pp object . port)
      (apply pretty-print object port))

    (define (get-line . port) (apply read-line port))
    (define (get-char . port) (apply read-char port))
    (define (get-datum . port) (apply read port))
    (define (lookahead-char . port) (apply peek-char port))
    (define (get-string-all port)
      (let loop ((parts '()))
        (let ((part (read-string 4096 port)))
          (cond
            ((not (eof-object? part)) (loop (cons part parts)))
            ((null? parts) part)
            (else (apply string-append (reverse parts)))))))
    (define (put-char port c) (write-char c port))
    (define (put-string port s . range) (apply write-string s port range))
    (define (put-datum port object) (write object port))
    (define (call-with-string-output-port receiver)
      (call-with-output-string receiver))

    ;; As in Racket: the procedure takes the element first.
    (define (foldl f start . lists)
      (if (null? (cdr lists))
          (let loop ((result start) (l (car lists)))
            (if (null? l)
                result
                (loop (f (car l) result) (cdr l))))
          (let loop ((result start) (lists lists))
            (if (memq '() lists)
                result
                (loop (apply f (append (map car lists) (list result))) (map cdr lists))))))
    (define (foldr f start . lists)
      (apply fold-right f start lists))
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
    (define (for-all f first . rest)
      (cond
        ((pair? rest)
         (let loop ((lists (cons first rest)))
           (cond
             ((memq '() lists) #t)
             ((memq '() (map cdr lists)) (apply f (map car lists)))
             (else (and (apply f (map car lists)) (loop (map cdr lists)))))))
        ((null? first) #t)
        (else
         (let loop ((l first))
           (if (null? (cdr l))
               (f (car l))
               (and (f (car l)) (loop (cdr l))))))))
    (define (exists f first . rest)
      (cond
        ((pair? rest)
         (let loop ((lists (cons first rest)))
           (cond
             ((memq '() lists) #f)
             ((memq '() (map cdr lists)) (apply f (map car lists)))
             (else (or (apply f (map car lists)) (loop (map cdr lists)))))))
        ((null? first) #f)
        (else
         (let loop ((l first))
           (if (null? (cdr l))
               (f (car l))
               (or (f (car l)) (loop (cdr l))))))))
    (define (remp f l)
      (filter (lambda (x) (not (f x))) l))
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
         (hash-table-set! table key
                          (f (hash-table-ref table key
                                             (lambda () (error "hash-update!: no value for the key" key))))))
        ((table key f default)
         (check-hash "hash-update!" table)
         (hash-table-set! table key (f (hash-ref table key default))))))
    (define (hash-clear! table)
      (check-hash "hash-clear!" table)
      (hash-table-clear! table))
    (define (hash-count table)
      (check-hash "hash-count" table)
      (hash-table-size table))
    (define (hash-keys table) (hash-table-keys table))
    (define (hash-values table) (hash-table-values table))
    (define (hash->list table) (hash-table->alist table))
    ;; Racket's order of arguments, and Guile's.
    (define (hash-for-each a b)
      (if (hash-table? a) (hash-table-walk a b) (hash-table-walk b a)))

    (define (hash-table/get table key default) (hash-table-ref/default table key default))
    (define (hash-table/put! table key value) (hash-table-set! table key value))
    (define (hash-table/remove! table key) (hash-table-delete! table key))
    (define (hash-table/count table) (hash-table-size table))
    (define (make-equal-hash-table . size) (make-hash-table equal?))
    (define (make-strong-eqv-hash-table . size) (make-hash-table eqv?))
    (define (make-string-hash-table . size) (make-hash-table string=?))
    (define (make-eq-hashtable . size) (make-hash-table eq?))
    (define (make-eqv-hashtable . size) (make-hash-table eqv?))
    (define (hashtable-ref table key default) (hash-table-ref/default table key default))
    (define (hashtable-set! table key value) (hash-table-set! table key value))
    (define (hashtable-delete! table key) (hash-table-delete! table key))
    (define (hashtable-contains? table key) (hash-table-contains? table key))
    (define (hashtable-size table) (hash-table-size table))
    (define (hashtable-keys table) (list->vector (hash-table-keys table)))
    (define (hashtable-update! table key f default) (hash-table-update!/default table key f default))
    (define (hashtable-clear! table . size) (hash-table-clear! table))))
