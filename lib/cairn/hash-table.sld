;;; (cairn hash-table): hash tables, with the names of SRFI 69.
;;;
;;; Entries lie in a vector, in the order in which they were made; the runtime finds keys in it and keeps the index
;;; (crates/cairn-rt/src/table.rs).  For eq?, eqv?, equal? and string=? it compares by itself, and hashes by address
;;; what has no contents to hash, although addresses change.  Other procedures are called from here.

(define-library (cairn hash-table)
  (export
   make-hash-table hash-table? alist->hash-table hash-table
   hash-table-equivalence-function hash-table-hash-function
   hash-table-ref hash-table-ref/default hash-table-set! hash-table-delete! hash-table-exists?
   hash-table-contains?
   hash-table-update! hash-table-update!/default update/default! hash-table-intern!
   hash-table-size hash-table-count hash-table-empty? hash-table-weak?
   hash-table-keys hash-table-values hash-table->alist hash-table-key-vector hash-table-value-vector
   hash-table-walk hash-table-for-each hash-table-fold hash-table-copy hash-table-merge! hash-table-clear!
   hash (rename hash equal-hash) eq-hash hash-by-identity (rename eq-hash eqv-hash)
   string-hash string-ci-hash number-hash)
  (import (cairn syntax) (cairn primitives) (cairn layout) (cairn records) (cairn control) (cairn number) (cairn list)
          (only (cairn text) string=? string-ci=? char-ci=? char-foldcase))
  (begin

    ;; The runtime knows the first eleven fields (cairn-layout, object::table).
    (define-record-type <hash-table>
      (make-table kind entries used count index young young-used collections moves walked next same? hash)
      hash-table?
      (kind table-kind)
      (entries table-entries set-table-entries!)
      (used table-used set-table-used!)
      (count table-count set-count!)
      (index table-index set-table-index!)
      (young table-young set-table-young!)
      (young-used table-young-used set-table-young-used!)
      (collections table-collections)
      (moves table-moves set-table-moves!)
      (walked table-walked set-table-walked!)
      (next table-next set-table-next!)
      (same? table-same?)
      (hash table-hash))
    ;; A copy in another place finds its keys anew.
    (%record-type-sent! <hash-table> 2)

    ;; `body`, if `table` is one.
    (define-syntax with-table
      (syntax-rules ()
        ((_ who table body)
         (if (hash-table? table) body (wrong-type who "a hash table" table)))))

    (define (hash-table-equivalence-function table)
      (with-table "hash-table-equivalence-function" table (table-same? table)))
    (define (hash-table-hash-function table)
      (with-table "hash-table-hash-function" table (table-hash table)))
    (define (size table)
      (if (%vector? (table-entries table)) (table-count table) (%table-count table)))
    (define-syntax define-size
      (syntax-rules ()
        ((_ name) (define (name table) (with-table (%symbol->string 'name) table (size table))))))
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

    ;; Objects move, so an address is no hash for a program: what has no contents to hash gets a number when it is first
    ;; asked for, which a weak table remembers.
    (define numbers #f)
    (define next-number 0)

    (define (identity-hash x)
      (if (if (%symbol? x) #t (if (%number? x) #t (%not (has-address? x))))
          (%equal-hash x)
          (begin
            (if (%not numbers) (set! numbers (make-hash-table eq? 'weak-keys)))
            (hash-table-intern! numbers x
              (lambda ()
                (set! next-number (%fx+ next-number 1))
                next-number)))))

    (define (has-address? x)
      (cond
        ((%pair? x) #t)
        ((%procedure? x) #t)
        ((%char? x) #f)
        ((%boolean? x) #f)
        (else (%not (if (%null? x) #t (if (%eof-object? x) #t (%default-object? x)))))))

    (define-syntax define-identity-hash
      (syntax-rules ()
        ((_ name ...)
         (begin
           (define name
             (case-lambda
               ((x) (identity-hash x))
               ((x bound) (bounded (%symbol->string 'name) (identity-hash x) bound))))
           ...))))
    (define-identity-hash eq-hash hash-by-identity)

    (define string-hash
      (case-lambda
        ((s) (%string-hash s))
        ((s bound) (bounded "string-hash" (%string-hash s) bound))))

    (define string-ci-hash
      (case-lambda
        ((s) (%string-hash (%string-foldcase s)))
        ((s bound) (bounded "string-ci-hash" (%string-hash (%string-foldcase s)) bound))))

    (define char-ci-hash
      (case-lambda
        ((c) (%equal-hash (char-foldcase c)))
        ((c bound) (bounded "char-ci-hash" (%equal-hash (char-foldcase c)) bound))))

    ;; Numbers that are `=` have the same hash, whatever their exactness and the sign of zero.
    (define number-hash
      (case-lambda
        ((x) (%equal-hash (if (%number? x) (inexact-form x) x)))
        ((x bound) (bounded "number-hash" (number-hash x) bound))))

    (define (inexact-form x)
      (cond
        ((%flonum? x) (if (%= x 0) 0. x))
        ((real? x)
         (let ((y (inexact x)))
           (if (%= x y) (inexact-form y) x)))
        (else
         (let ((re (real-part x)) (im (imag-part x)))
           (if (%= im 0)
               (inexact-form re)
               (%cons (inexact-form re) (inexact-form im)))))))

    ;;;; Making tables

    (define (kind-of same?)
      (cond
        ((%eq? same? equal?) (table-equal))
        ((%eq? same? eq?) (table-eq))
        ((%eq? same? eqv?) (table-eqv))
        ((%eq? same? string=?) (table-string))
        (else (table-other))))

    ;; One that fits the equivalence. What is coarser than equal? and not among these needs a hash function of its own.
    (define (default-hash kind same?)
      (cond
        ((%fx<= kind (table-eqv)) eq-hash)
        ((%eq? kind (table-string)) string-hash)
        ((%eq? same? string-ci=?) string-ci-hash)
        ((%eq? same? char-ci=?) char-ci-hash)
        ((%eq? same? =) number-hash)
        (else hash)))

    ;; Of kind `weak`, or strong if that is #f.
    (define (new-entries weak)
      (if weak
          (%weak-make weak (%fx* 2 (table-least)))
          (%make-vector (%fx* 2 (table-least)) 0)))

    ;; What the names that SRFI 125 gives to weakness ask for.
    (define (weakness options keys? values?)
      (if (%pair? options)
          (let ((option (%car options)))
            (weakness (%cdr options)
              (if keys? #t (if (%eq? option 'weak-keys) #t (%eq? option 'ephemeral-keys)))
              (if values? #t (if (%eq? option 'weak-values) #t (%eq? option 'ephemeral-values)))))
          (if keys?
              (if values? (weak-both) (weak-ephemerons))
              (if values? (weak-by-value) #f))))

    ;; Other arguments of SRFI 69 and others (initial size) have no effect.
    (define (make-hash-table . options)
      (let* ((same? (if (%pair? options) (%car options) equal?))
             (rest (if (%pair? options) (%cdr options) '()))
             (kind (kind-of same?))
             (hash (if (if (%pair? rest) (%procedure? (%car rest)) #f)
                       (%car rest)
                       (default-hash kind same?))))
        (check-procedure "make-hash-table" same?)
        (make-table kind (new-entries (weakness rest #f #f)) 0 0 #f #f 0 0 #f #f -1 same? hash)))

    (define (hash-table-weak? table)
      (with-table "hash-table-weak?" table (%not (%vector? (table-entries table)))))

    (define (alist->hash-table alist . options)
      (if (%pair? options) (check-procedure "alist->hash-table" (%car options)))
      (let ((table (%apply make-hash-table options)))
        ;; the first of several associations counts
        (let loop ((l alist))
          (cond
            ((%pair? l)
             (let ((entry (%car l)))
               (if (%not (%pair? entry)) (wrong-type "alist->hash-table" "pairs in the list" entry))
               (lookup "alist->hash-table" table (%car entry) (value)
                 value
                 (put! "alist->hash-table" table (%car entry) (%cdr entry))))
             (loop (%cdr l)))
            ((%null? l) table)
            (else (wrong-type "alist->hash-table" "a list" alist))))))

    (define (hash-table same? . keys-and-values)
      (let ((table (make-hash-table same?)))
        (let loop ((rest keys-and-values))
          (if (%pair? rest)
              (begin
                (hash-table-set! table (%car rest) (%car (%cdr rest)))
                (loop (%cdr (%cdr rest))))
              table))))

    ;;;; Finding

    (define (entry-ref entries i)
      (if (%vector? entries) (%vector-ref entries i) (%weak-ref entries i)))
    (define (entry-set! entries i x)
      (if (%vector? entries) (%vector-set! entries i x) (%weak-set! entries i x)))

    ;; What the program's hash procedure says, as a fixnum.
    (define (own-hash table key)
      (let ((h ((table-hash table) key)))
        (if (%fixnum? h) h (%modulo h 1000000007))))

    ;; `same?` is the program's and may change the table; a collection may take keys of a weak one while it runs.  So a
    ;; place counts if the key that was compared is still there; else the search begins again.
    (define (find-own table key h)
      (let ((entries (table-entries table)) (same? (table-same? table)))
        (let loop ((places (%table-candidates table h)))
          (if (%null? places)
              #f
              (let* ((place (%car places)) (known (entry-ref entries (%fx- place 1))))
                (cond
                  ((%eq? known (%broken-object)) (loop (%cdr places)))
                  ((%not (same? known key)) (loop (%cdr places)))
                  ((is-at? table entries place known) place)
                  (else (find-own table key h))))))))

    ;; Is this key, which was at `place` of these entries, still there?
    (define (is-at? table entries place known)
      (if (%eq? entries (table-entries table)) (%eq? known (entry-ref entries (%fx- place 1))) #f))

    ;; Most keys are found by a call that allocates nothing, which costs little where it stands.  It returns the default
    ;; object if it cannot say.
    (define-syntax known-or
      (syntax-rules ()
        ((_ known otherwise)
         (let ((x known))
           (if (%default-object? x) otherwise x)))))

    ;; Where the value of `key` is in the entries, or #f.  `who` is what fails when `table` is no table.
    (define-syntax find
      (syntax-rules ()
        ((_ who table key) (known-or (%table-find-known table key) (find-otherwise who table key)))))
    (define (find-otherwise who table key)
      (let ((kind (table-kind table)))
        (cond
          ((%fx< kind (table-string)) (%table-find table key))
          ((%fx< kind (table-other))
           (if (%string? key) (%table-find table key) (wrong-type who "a string" key)))
          (else (find-own table key (own-hash table key))))))

    ;; The value at `place`, unless that is #f or a collection has taken it.
    (define-syntax if-there
      (syntax-rules ()
        ((_ table place (value) found missing)
         (let* ((entries (table-entries table))
                (value (if place (entry-ref entries place) #f)))
           (if (if place (if (%vector? entries) #t (%not (%eq? value (%broken-object)))) #f)
               found
               missing)))))

    (define-syntax lookup
      (syntax-rules ()
        ((_ who table key (value) found missing)
         (with-table who table
           (let ((place (find who table key)))
             (if-there table place (value) found missing))))))

    (define hash-table-ref
      (case-lambda
        ((table key)
         (lookup "hash-table-ref" table key (value)
           value
           (out-of-range "hash-table-ref" "no value for key" key)))
        ((table key fail)
         (lookup "hash-table-ref" table key (value) value (fail)))
        ((table key fail succeed)
         (lookup "hash-table-ref" table key (value) (succeed value) (fail)))))

    ;; The value of `key`, or `default`.
    (define (ref/default-otherwise who table key default)
      (let ((kind (table-kind table)))
        (cond
          ((%fx< kind (table-string)) (%table-ref table key default))
          ((%fx< kind (table-other))
           (if (%string? key) (%table-ref table key default) (wrong-type who "a string" key)))
          (else
           (let ((place (find-own table key (own-hash table key))))
             (if-there table place (value) value default))))))

    (define (hash-table-ref/default table key default)
      (with-table "hash-table-ref/default" table
        (known-or (%table-ref-known table key default)
                  (ref/default-otherwise "hash-table-ref/default" table key default))))

    (define (hash-table-exists? table key)
      (lookup "hash-table-exists?" table key (value) #t #f))
    (define (hash-table-contains? table key)
      (lookup "hash-table-contains?" table key (value) #t #f))

    (define (hash-table-empty? table)
      (with-table "hash-table-empty?" table (%eq? (size table) 0)))

    ;;;; Changing

    (define-syntax put!
      (syntax-rules ()
        ((_ who table key value)
         (let ((x value))
           (if (%default-object? (%table-set-known! table key x))
               (put-otherwise! who table key x))))))
    (define (put-otherwise! who table key value)
      (let ((kind (table-kind table)))
        (cond
          ((%fx< kind (table-string)) (%table-set! table key value))
          ((%fx< kind (table-other))
           (if (%string? key) (%table-set! table key value) (wrong-type who "a string" key)))
          (else
           (let* ((h (own-hash table key))
                  (place (find-own table key h)))
             (if place
                 (entry-set! (table-entries table) place value)
                 (%table-append! table h key value)))))))

    (define (hash-table-set! table key value)
      (with-table "hash-table-set!" table (put! "hash-table-set!" table key value)))

    (define (delete! who table key)
      (let ((kind (table-kind table)))
        (cond
          ((%fx< kind (table-string)) (%table-delete! table key))
          ((%fx< kind (table-other))
           (if (%string? key) (%table-delete! table key) (wrong-type who "a string" key)))
          (else
           (let* ((h (own-hash table key))
                  (place (find-own table key h)))
             (if place (%table-remove! table place h)))))))

    (define (hash-table-delete! table key)
      (with-table "hash-table-delete!" table (delete! "hash-table-delete!" table key)))

    ;; `(f value)` is to be the value of `key`, whose value is `value` and at `place`; f may change the table.
    (define (update-at! who table key place value f)
      (let* ((entries (table-entries table))
             (known (entry-ref entries (%fx- place 1)))
             (new (f value)))
        (if (is-at? table entries place known)
            (entry-set! entries place new)
            (put! who table key new))
        new))

    ;; The value that `key` gets.
    (define (update/default! who table key f default)
      (with-table who table
        (let ((place (find who table key)))
          (if-there table place (value)
            (update-at! who table key place value f)
            (let ((new (f default)))
              (put! who table key new)
              new)))))

    (define hash-table-update!
      (case-lambda
        ((table key f)
         (hash-table-update! table key f
           (lambda () (out-of-range "hash-table-update!" "no value for key" key))))
        ((table key f fail)
         (with-table "hash-table-update!" table
           (let ((place (find "hash-table-update!" table key)))
             (if-there table place (value)
               (begin
                 (update-at! "hash-table-update!" table key place value f)
                 (if #f #f))
               (put! "hash-table-update!" table key (f (fail)))))))
        ((table key f fail succeed)
         (hash-table-update! table key (lambda (x) (f (succeed x))) fail))))

    (define (hash-table-update!/default table key f default)
      (update/default! "hash-table-update!/default" table key f default)
      (if #f #f))

    (define (hash-table-intern! table key make)
      (lookup "hash-table-intern!" table key (value)
        value
        (let ((value (make)))
          (put! "hash-table-intern!" table key value)
          value)))

    (define (hash-table-clear! table)
      (with-table "hash-table-clear!" table
        (begin
          (set-table-entries! table (new-entries (%weak-kind (table-entries table))))
          (set-table-used! table 0)
          (set-count! table 0)
          (set-table-index! table #f)
          (set-table-young! table #f)
          (set-table-young-used! table 0)
          (set-table-moves! table #f)
          (set-table-walked! table #f)
          (set-table-next! table -1))))

    ;;;; All entries, in the order in which they were made.  The callback may change the table: these walk the entries
    ;;;; that were there at the start, but for those deleted since.

    (define (fold who table f acc)
      (with-table who table
        (let* ((entries (table-entries table))
               (end (%fx* 2 (table-used table)))
               (hole (%broken-object)))
          (set-table-walked! table #t)
          (let loop ((i 0) (acc acc))
            (cond
              ((%fx<= end i) acc)
              (else
               (let* ((key (entry-ref entries i)) (value (entry-ref entries (%fx+ i 1))))
                 ;; A weak value may have gone in between.
                 (loop (%fx+ i 2)
                       (if (if (%eq? key hole) #t (%eq? value hole)) acc (f key value acc))))))))))

    ;; The same from the last to the first: for lists in order.
    (define (fold-back who table f acc)
      (with-table who table
        (let* ((entries (table-entries table))
               (end (%fx* 2 (table-used table)))
               (hole (%broken-object)))
          (set-table-walked! table #t)
          (let loop ((i end) (acc acc))
            (cond
              ((%eq? i 0) acc)
              (else
               (let* ((key (entry-ref entries (%fx- i 2))) (value (entry-ref entries (%fx- i 1))))
                 (loop (%fx- i 2)
                       (if (if (%eq? key hole) #t (%eq? value hole)) acc (f key value acc))))))))))

    (define (hash-table-fold table f acc)
      (fold "hash-table-fold" table f acc))
    (define (hash-table-walk table f)
      (fold "hash-table-walk" table (lambda (key value acc) (f key value) acc) #f))
    (define (hash-table-for-each f table)
      (fold "hash-table-for-each" table (lambda (key value acc) (f key value) acc) #f))
    (define (hash-table-keys table)
      (fold-back "hash-table-keys" table (lambda (key value acc) (%cons key acc)) '()))
    ;; The same as vectors.
    (define (hash-table-key-vector table)
      (with-table "hash-table-key-vector" table (%table-column table 0)))
    (define (hash-table-value-vector table)
      (with-table "hash-table-value-vector" table (%table-column table 1)))
    (define (hash-table-values table)
      (fold-back "hash-table-values" table (lambda (key value acc) (%cons value acc)) '()))
    (define (hash-table->alist table)
      (fold-back "hash-table->alist" table (lambda (key value acc) (%cons (%cons key value) acc)) '()))

    (define (hash-table-copy table . mutable?)
      (with-table "hash-table-copy" table
        (let* ((weak (%weak-kind (table-entries table)))
               (copy (make-table (table-kind table) (new-entries weak) 0 0 #f #f 0 0 #f #f -1
                                 (table-same? table) (table-hash table))))
          (if weak
              (hash-table-merge! copy table)
              (begin
                (%table-copy! copy table)
                copy)))))

    (define (hash-table-merge! to from)
      (with-table "hash-table-merge!" to
        (begin
          (fold "hash-table-merge!" from (lambda (key value acc) (put! "hash-table-merge!" to key value) acc) #f)
          to)))))
