;;; (cairn hash-table): hash tables, with the names of SRFI 69.
;;;
;;; A table is a vector of buckets, lists of (key . value), with a power of two for length, doubled when there are more
;;; keys than buckets.  Tables for eq?, eqv?, equal? and string=? compare with the primitive; others call the
;;; procedures given.
;;;
;;; Objects move, so an address is no hash.  Tables for eq? and eqv? hash numbers, characters, symbols and other
;;; constants by value, and everything else by type only: with keys that are pairs or records such tables are slow.

(define-library (cairn hash-table)
  (export
   make-hash-table hash-table? alist->hash-table hash-table
   hash-table-equivalence-function hash-table-hash-function
   hash-table-ref hash-table-ref/default hash-table-set! hash-table-delete! hash-table-exists?
   hash-table-contains?
   hash-table-update! hash-table-update!/default hash-table-intern!
   hash-table-size hash-table-count hash-table-empty?
   hash-table-keys hash-table-values hash-table->alist
   hash-table-walk hash-table-for-each hash-table-fold hash-table-copy hash-table-merge! hash-table-clear!
   hash (rename hash equal-hash) eq-hash (rename eq-hash hash-by-identity) (rename eq-hash eqv-hash)
   string-hash string-ci-hash)
  (import (cairn syntax) (cairn primitives) (cairn records) (cairn control) (cairn number) (cairn list)
          (only (cairn text) string=?))
  (begin

    (define-record-type <hash-table>
      (make-table same? hash kind buckets count)
      hash-table?
      (same? table-same?)
      (hash table-hash)
      (kind table-kind)
      (buckets table-buckets set-table-buckets!)
      (count table-size set-count!))

    ;; `body`, if `table` is one.
    (define-syntax with-table
      (syntax-rules ()
        ((_ who table body)
         (if (hash-table? table) body (wrong-type who "a hash table" table)))))

    (define (hash-table-equivalence-function table)
      (with-table "hash-table-equivalence-function" table (table-same? table)))
    (define (hash-table-hash-function table)
      (with-table "hash-table-hash-function" table (table-hash table)))
    (define-syntax define-size
      (syntax-rules ()
        ((_ name) (define (name table) (with-table (%symbol->string 'name) table (table-size table))))))
    (define-size hash-table-size)
    (define-size hash-table-count)

    ;;;; Hash functions; all take an optional bound

    (define (bounded who h bound)
      (if (if (exact-integer? bound) (%< 0 bound) #f)
          (%modulo h bound)
          (wrong-type who "a positive exact integer as bound" bound)))

    (define hash
      (case-lambda
        ((x) (%equal-hash x))
        ((x bound) (bounded "hash" (%equal-hash x) bound))))

    (define (identity-hash x)
      (cond
        ((if (%fixnum? x) #t (%symbol? x)) (%equal-hash x))
        ((%pair? x) 1)
        ((%record? x) 2)
        ((%procedure? x) 3)
        ((%string? x) 4)
        ((%vector? x) 5)
        ((if (%bytevector? x) #t (if (%port? x) #t (if (%promise? x) #t (%opaque? x)))) 6)
        (else (%equal-hash x))))

    (define eq-hash
      (case-lambda
        ((x) (identity-hash x))
        ((x bound) (bounded "eq-hash" (identity-hash x) bound))))

    (define string-hash
      (case-lambda
        ((s) (%string-hash s))
        ((s bound) (bounded "string-hash" (%string-hash s) bound))))

    (define string-ci-hash
      (case-lambda
        ((s) (%string-hash (%string-foldcase s)))
        ((s bound) (bounded "string-ci-hash" (%string-hash (%string-foldcase s)) bound))))

    ;;;; Making tables

    (define (kind-of same?)
      (cond
        ((%eq? same? equal?) 'equal)
        ((%eq? same? eq?) 'eq)
        ((%eq? same? eqv?) 'eqv)
        ((%eq? same? string=?) 'string)
        (else 'other)))

    (define (default-hash kind)
      (case kind
        ((eq eqv) eq-hash)
        ((string) string-hash)
        (else hash)))

    ;; Further arguments of SRFI 69 and others (initial size, weakness) have no effect.
    (define (make-hash-table . options)
      (let* ((same? (if (%pair? options) (%car options) equal?))
             (rest (if (%pair? options) (%cdr options) '()))
             (kind (kind-of same?))
             (hash (if (if (%pair? rest) (%procedure? (%car rest)) #f)
                       (%car rest)
                       (default-hash kind))))
        (check-procedure "make-hash-table" same?)
        (make-table same? hash kind (%make-vector 8 '()) 0)))

    (define (alist->hash-table alist . options)
      (let ((table (%apply make-hash-table options)))
        ;; the first of several associations counts
        (for-each (lambda (entry)
                    (if (%not (hash-table-exists? table (%car entry)))
                        (hash-table-set! table (%car entry) (%cdr entry))))
                  alist)
        table))

    (define (hash-table same? . keys-and-values)
      (let ((table (make-hash-table same?)))
        (let loop ((rest keys-and-values))
          (if (%pair? rest)
              (begin
                (hash-table-set! table (%car rest) (%car (%cdr rest)))
                (loop (%cdr (%cdr rest))))
              table))))

    ;;;; Finding

    (define (hash-of table key)
      (let ((kind (table-kind table)))
        (cond
          ((%eq? kind 'equal) (%equal-hash key))
          ((%eq? kind 'string) (%string-hash key))
          ((%eq? kind 'other) ((table-hash table) key))
          (else (identity-hash key)))))

    (define (index-of table key buckets)
      (let ((h (hash-of table key))
            (mask (%fx- (%vector-length buckets) 1)))
        (if (%fixnum? h)
            (%fxand h mask)
            (%modulo h (%vector-length buckets)))))

    ;; The (key . value) of `key` in a bucket, or #f.
    (define (find table key bucket)
      (let ((kind (table-kind table)))
        (cond
          ((%eq? kind 'eq) (assq key bucket))
          ((%eq? kind 'eqv) (assv key bucket))
          ((%eq? kind 'other) (assoc key bucket (table-same? table)))
          ((if (%symbol? key) #t (%fixnum? key)) (assq key bucket))
          (else (assoc key bucket)))))

    ;; `who` is what fails when `table` is no table.
    (define (lookup who table key)
      (with-table who table
        (let ((buckets (table-buckets table)))
          (find table key (%vector-ref buckets (index-of table key buckets))))))

    (define hash-table-ref
      (case-lambda
        ((table key)
         (let ((entry (lookup "hash-table-ref" table key)))
           (if entry (%cdr entry) (out-of-range "hash-table-ref" "no value for key" key))))
        ((table key fail)
         (let ((entry (lookup "hash-table-ref" table key)))
           (if entry (%cdr entry) (fail))))
        ((table key fail succeed)
         (let ((entry (lookup "hash-table-ref" table key)))
           (if entry (succeed (%cdr entry)) (fail))))))

    (define (hash-table-ref/default table key default)
      (let ((entry (lookup "hash-table-ref/default" table key)))
        (if entry (%cdr entry) default)))

    (define (hash-table-exists? table key)
      (if (lookup "hash-table-exists?" table key) #t #f))
    (define (hash-table-contains? table key)
      (if (lookup "hash-table-contains?" table key) #t #f))

    (define (hash-table-empty? table)
      (with-table "hash-table-empty?" table (%eq? (table-size table) 0)))

    ;;;; Changing

    (define (grow! table)
      (let* ((old (table-buckets table))
             (n (%vector-length old))
             (new (%make-vector (%fx* n 2) '())))
        (let loop ((i 0))
          (if (%fx< i n)
              (let walk ((bucket (%vector-ref old i)))
                (if (%pair? bucket)
                    (let ((j (index-of table (%car (%car bucket)) new)))
                      (%vector-set! new j (%cons (%car bucket) (%vector-ref new j)))
                      (walk (%cdr bucket)))
                    (loop (%fx+ i 1))))))
        (set-table-buckets! table new)))

    (define (insert! table key value)
      (if (%fx<= (%vector-length (table-buckets table)) (table-size table))
          (grow! table))
      (let* ((buckets (table-buckets table))
             (i (index-of table key buckets)))
        (%vector-set! buckets i (%cons (%cons key value) (%vector-ref buckets i)))
        (set-count! table (%fx+ (table-size table) 1))))

    (define (hash-table-set! table key value)
      (let ((entry (lookup "hash-table-set!" table key)))
        (if entry
            (%set-cdr! entry value)
            (insert! table key value))))

    (define (hash-table-delete! table key)
      (let ((entry (lookup "hash-table-delete!" table key)))
        (if entry
            (let* ((buckets (table-buckets table))
                   (i (index-of table key buckets)))
              (%vector-set! buckets i
                (let loop ((bucket (%vector-ref buckets i)))
                  (if (%eq? (%car bucket) entry)
                      (%cdr bucket)
                      (%cons (%car bucket) (loop (%cdr bucket))))))
              (set-count! table (%fx- (table-size table) 1))))))

    (define hash-table-update!
      (case-lambda
        ((table key f)
         (hash-table-update! table key f
           (lambda () (out-of-range "hash-table-update!" "no value for key" key))))
        ((table key f fail)
         (let ((entry (lookup "hash-table-update!" table key)))
           (if entry
               (%set-cdr! entry (f (%cdr entry)))
               (hash-table-set! table key (f (fail))))))
        ((table key f fail succeed)
         (hash-table-update! table key (lambda (x) (f (succeed x))) fail))))

    (define (hash-table-update!/default table key f default)
      (let ((entry (lookup "hash-table-update!/default" table key)))
        (if entry
            (%set-cdr! entry (f (%cdr entry)))
            (hash-table-set! table key (f default)))))

    (define (hash-table-intern! table key make)
      (let ((entry (lookup "hash-table-intern!" table key)))
        (if entry
            (%cdr entry)
            (let ((value (make)))
              (hash-table-set! table key value)
              value))))

    (define (hash-table-clear! table)
      (with-table "hash-table-clear!" table
        (begin
          (set-table-buckets! table (%make-vector 8 '()))
          (set-count! table 0))))

    ;;;; All entries.  The callback may change the table: these walk the buckets that were there at the start.

    (define (fold who table f acc)
      (with-table who table
        (let* ((buckets (table-buckets table))
               (n (%vector-length buckets)))
          (let loop ((i 0) (acc acc))
            (if (%fx< i n)
                (let walk ((bucket (%vector-ref buckets i)) (acc acc))
                  (if (%pair? bucket)
                      (let ((entry (%car bucket)))
                        (walk (%cdr bucket) (f (%car entry) (%cdr entry) acc)))
                      (loop (%fx+ i 1) acc)))
                acc)))))

    (define (hash-table-fold table f acc)
      (fold "hash-table-fold" table f acc))
    (define (hash-table-walk table f)
      (fold "hash-table-walk" table (lambda (key value acc) (f key value) acc) #f))
    (define (hash-table-for-each f table)
      (fold "hash-table-for-each" table (lambda (key value acc) (f key value) acc) #f))
    (define (hash-table-keys table)
      (fold "hash-table-keys" table (lambda (key value acc) (%cons key acc)) '()))
    (define (hash-table-values table)
      (fold "hash-table-values" table (lambda (key value acc) (%cons value acc)) '()))
    (define (hash-table->alist table)
      (fold "hash-table->alist" table (lambda (key value acc) (%cons (%cons key value) acc)) '()))

    (define (hash-table-copy table . mutable?)
      (with-table "hash-table-copy" table
        (hash-table-merge! (make-hash-table (table-same? table) (table-hash table)) table)))

    (define (hash-table-merge! to from)
      (fold "hash-table-merge!" from (lambda (key value acc) (hash-table-set! to key value) acc) #f)
      to)))
