;;; (srfi 126): hash tables with the names of R6RS.
;;;
;;; A table that was asked for a cell keeps pairs (key . value), its cells, in a table of Cairn's.  Such a table is
;;; behind a record of its own, so that nothing asks about it but the failure of what is quick for others.
(define-library (srfi 126)
  (export
   make-eq-hashtable make-eqv-hashtable make-hashtable alist->eq-hashtable alist->eqv-hashtable alist->hashtable
   weakness
   hashtable? hashtable-size hashtable-ref hashtable-set! hashtable-delete! hashtable-contains? hashtable-lookup
   hashtable-update! hashtable-intern! hashtable-copy hashtable-clear! hashtable-empty-copy
   hashtable-keys hashtable-values hashtable-entries hashtable-key-list hashtable-value-list hashtable-entry-lists
   hashtable-walk hashtable-update-all! hashtable-prune! hashtable-merge! hashtable-sum hashtable-map->lset
   hashtable-find hashtable-empty? hashtable-pop! hashtable-inc! hashtable-dec!
   hashtable-equivalence-function hashtable-hash-function hashtable-weakness hashtable-mutable?
   hash-salt equal-hash string-hash string-ci-hash symbol-hash
   ;; for (cairn chez)
   (rename hashtable-cell %hashtable-cell) (rename hashtable-cells %hashtable-cells))
  (import (scheme base) (scheme case-lambda) (cairn hash-table) (only (cairn control) wrong-type)
          (only (srfi 128) hash-salt symbol-hash) (only (cairn records) show-fields!))
  (begin

    (define-record-type <hashtable>
      (wrap table hash weakness mutable?)
      hashtable?
      (table table-of set-table!)
      (hash hash-of)
      (weakness weakness-of)
      (mutable? mutable?))
    (show-fields! <hashtable> '())

    (define-record-type <celled> (make-celled cells) celled? (cells cells-of))

    ;; The table of values, or of cells, as a record.
    (define (inside who t)
      (if (hashtable? t) (table-of t) (wrong-type who "a hashtable" t)))
    (define (mutable who t)
      (let ((inner (inside who t)))
        (if (mutable? t) inner (wrong-type who "a hashtable that can be changed" t))))
    ;; The table, whatever it keeps: for what asks about keys only.
    (define (table who t)
      (let ((inner (inside who t)))
        (if (celled? inner) (cells-of inner) inner)))
    (define missing (list 'missing))

    (define-syntax weakness
      (syntax-rules () ((_ kind) 'kind)))

    ;;;; Making

    (define (check-options who capacity weak)
      (if (and capacity (not (and (exact-integer? capacity) (>= capacity 0))))
          (wrong-type who "a capacity" capacity))
      (if (not (memq weak '(#f weak-key ephemeral-key weak-value ephemeral-value weak-key-and-value
                               ephemeral-key-and-value)))
          (wrong-type who "a weakness" weak)))
    (define (new same? hash weak)
      (if (or hash weak) (new-with same? hash weak) (make-hash-table same?)))
    (define (new-with same? hash weak)
      (apply make-hash-table same?
             (append (if hash (list hash) '())
                     (case weak
                       ((weak-key ephemeral-key) '(weak-keys))
                       ((weak-value ephemeral-value) '(weak-values))
                       ((weak-key-and-value ephemeral-key-and-value) '(weak-keys weak-values))
                       (else '())))))
    (define (maker who same?)
      (case-lambda
        (() (wrap (new same? #f #f) #f #f #t))
        ((capacity)
         (check-options who capacity #f)
         (wrap (new same? #f #f) #f #f #t))
        ((capacity weak)
         (check-options who capacity weak)
         (wrap (new same? #f weak) #f weak #t))))
    (define make-eq-hashtable (maker "make-eq-hashtable" eq?))
    (define make-eqv-hashtable (maker "make-eqv-hashtable" eqv?))
    (define make-hashtable
      (case-lambda
        ((hash same?) (make-hashtable hash same? #f #f))
        ((hash same? capacity) (make-hashtable hash same? capacity #f))
        ((hash same? capacity weak)
         (check-options "make-hashtable" capacity weak)
         (if (not (procedure? same?)) (wrong-type "make-hashtable" "an equivalence procedure" same?))
         (if (not (or (not hash) (procedure? hash) (pair? hash))) (wrong-type "make-hashtable" "a hash function" hash))
         (if (and (not hash) (not (memq same? (list eq? eqv?))))
             (wrong-type "make-hashtable" "a hash function" hash))
         (let ((used (if (pair? hash) (car hash) hash)))
           (wrap (new same? (and used (lambda (x . bound) (used x))) weak) hash weak #t)))))

    (define (fill! t alist)
      (for-each (lambda (p) (if (not (hashtable-contains? t (car p))) (hashtable-set! t (car p) (cdr p)))) alist)
      t)
    (define-syntax define-filled
      (syntax-rules ()
        ((_ name make)
         (define (name . args)
           (let ((reversed (reverse args)))
             (if (and (pair? args) (list? (car reversed)))
                 (fill! (apply make (reverse (cdr reversed))) (car reversed))
                 (wrong-type (symbol->string 'name) "an association list as the last argument" args)))))))
    (define-filled alist->eq-hashtable make-eq-hashtable)
    (define-filled alist->eqv-hashtable make-eqv-hashtable)
    (define-filled alist->hashtable make-hashtable)

    (define hashtable-copy
      (case-lambda
        ((t) (hashtable-copy t #f))
        ((t changeable?) (hashtable-copy t changeable? (and (hashtable? t) (weakness-of t))))
        ((t changeable? weak)
         (let* ((inner (inside "hashtable-copy" t)) (copy (hash-table-copy (table "hashtable-copy" t) #t)))
           (if (celled? inner)
               (hash-table-walk copy (lambda (key cell) (hash-table-set! copy key (cdr cell)))))
           (wrap copy (hash-of t) weak (and changeable? #t))))))
    (define (hashtable-empty-copy t . capacity)
      (let ((copy (hash-table-copy (table "hashtable-empty-copy" t) #t)))
        (hash-table-clear! copy)
        (wrap copy (hash-of t) (weakness-of t) #t)))
    (define (hashtable-clear! t . capacity)
      (mutable "hashtable-clear!" t)
      (hash-table-clear! (table "hashtable-clear!" t)))

    ;;;; Cells

    ;; The cells of a table, which are its entries from now on.
    (define (cells! who t)
      (let ((inner (inside who t)))
        (if (celled? inner)
            (cells-of inner)
            (begin
              (hash-table-walk inner (lambda (key value) (hash-table-set! inner key (cons key value))))
              (set-table! t (make-celled inner))
              inner))))
    ;; The pair of `key` and its value, or of `default`, which is the entry then.
    (define (hashtable-cell t key default)
      (hash-table-intern! (cells! "hashtable-cell" t) key (lambda () (cons key default))))
    (define hashtable-cells
      (case-lambda
        ((t) (hash-table-value-vector (cells! "hashtable-cells" t)))
        ((t n)
         (let ((all (hash-table-value-vector (cells! "hashtable-cells" t))))
           (if (not (and (exact-integer? n) (>= n 0))) (wrong-type "hashtable-cells" "a size" n))
           (vector-copy all 0 (min n (vector-length all)))))))

    (define (cell-ref inner key default)
      (let ((cell (hash-table-ref/default (cells-of inner) key #f)))
        (if cell (cdr cell) default)))
    (define (cell-set! inner key value)
      (let ((cell (hash-table-ref/default (cells-of inner) key #f)))
        (if cell
            (set-cdr! cell value)
            (hash-table-set! (cells-of inner) key (cons key value)))))
    (define (ref who t key default)
      (let ((inner (inside who t)))
        (if (hash-table? inner) (hash-table-ref/default inner key default) (cell-ref inner key default))))

    ;;;; One key

    (define (hashtable-size t) (hash-table-count (table "hashtable-size" t)))
    (define (hashtable-empty? t) (= 0 (hash-table-count (table "hashtable-empty?" t))))
    (define hashtable-ref
      (case-lambda
        ((t key)
         (let ((x (ref "hashtable-ref" t key missing)))
           (if (eq? x missing) (error "hashtable-ref: the hashtable has no such key:" key) x)))
        ((t key default) (ref "hashtable-ref" t key default))))
    (define (hashtable-lookup t key)
      (let ((x (ref "hashtable-lookup" t key missing)))
        (if (eq? x missing) (values #f #f) (values x #t))))
    (define (hashtable-contains? t key) (hash-table-contains? (table "hashtable-contains?" t) key))
    (define (hashtable-set! t key value)
      (let ((inner (mutable "hashtable-set!" t)))
        (if (hash-table? inner) (hash-table-set! inner key value) (cell-set! inner key value))))
    (define (hashtable-delete! t key)
      (let ((inner (mutable "hashtable-delete!" t)))
        (hash-table-delete! (if (hash-table? inner) inner (cells-of inner)) key)))
    (define hashtable-update!
      (case-lambda
        ((t key proc)
         (mutable "hashtable-update!" t)
         (let ((x (ref "hashtable-update!" t key missing)))
           (if (eq? x missing) (error "hashtable-update!: the hashtable has no such key:" key))
           (let ((new (proc x)))
             (hashtable-set! t key new)
             new)))
        ((t key proc default)
         (if (not (procedure? proc)) (wrong-type "hashtable-update!" "a procedure" proc))
         (update! "hashtable-update!" t key proc default))))
    (define (update! who t key proc default)
      (let ((inner (mutable who t)))
        (if (hash-table? inner)
            (update/default! who inner key proc default)
            (let ((new (proc (cell-ref inner key default))))
              (cell-set! inner key new)
              new))))
    (define (hashtable-intern! t key make)
      (let ((inner (mutable "hashtable-intern!" t)))
        (if (hash-table? inner)
            (hash-table-intern! inner key make)
            (let ((x (cell-ref inner key missing)))
              (if (eq? x missing)
                  (let ((value (make)))
                    (cell-set! inner key value)
                    value)
                  x)))))
    (define hashtable-inc!
      (case-lambda
        ((t key) (add! "hashtable-inc!" t key 1))
        ((t key n) (add! "hashtable-inc!" t key n))))
    (define hashtable-dec!
      (case-lambda
        ((t key) (add! "hashtable-dec!" t key -1))
        ((t key n) (add! "hashtable-dec!" t key (- n)))))
    (define (add! who t key n) (update! who t key (lambda (x) (+ x n)) 0))

    ;;;; All of them

    ;; What proc makes of each entry, in order.
    (define (fold who proc init t)
      (let ((inner (inside who t)))
        (if (celled? inner)
            (hash-table-fold (cells-of inner) (lambda (key cell acc) (proc key (cdr cell) acc)) init)
            (hash-table-fold inner proc init))))
    (define (each who proc t)
      (reverse (fold who (lambda (key value acc) (cons (proc key value) acc)) '() t)))
    (define (key-list who t) (hash-table-keys (table who t)))
    (define (value-list who t)
      (let ((inner (inside who t)))
        (if (celled? inner) (map cdr (hash-table-values (cells-of inner))) (hash-table-values inner))))
    (define (key-vector who t) (hash-table-key-vector (table who t)))
    (define (value-vector who t)
      (let ((inner (inside who t)))
        (if (celled? inner)
            (vector-map cdr (hash-table-value-vector (cells-of inner)))
            (hash-table-value-vector inner))))
    (define (hashtable-key-list t) (key-list "hashtable-key-list" t))
    (define (hashtable-value-list t) (value-list "hashtable-value-list" t))
    (define (hashtable-keys t) (key-vector "hashtable-keys" t))
    (define (hashtable-values t) (value-vector "hashtable-values" t))
    (define (hashtable-entries t) (values (key-vector "hashtable-entries" t) (value-vector "hashtable-entries" t)))
    (define (hashtable-entry-lists t)
      (values (key-list "hashtable-entry-lists" t) (value-list "hashtable-entry-lists" t)))
    (define (hashtable-map->lset t proc) (each "hashtable-map->lset" proc t))

    ;; The entries are listed first, so `proc` may change the table.
    (define (walk who t proc)
      (for-each (lambda (p) (proc (car p) (cdr p))) (each who cons t)))
    (define (hashtable-walk t proc) (walk "hashtable-walk" t proc))
    (define (hashtable-update-all! t proc)
      (mutable "hashtable-update-all!" t)
      (walk "hashtable-update-all!" t (lambda (key value) (hashtable-set! t key (proc key value)))))
    (define (hashtable-prune! t proc)
      (mutable "hashtable-prune!" t)
      (walk "hashtable-prune!" t (lambda (key value) (if (proc key value) (hashtable-delete! t key)))))
    (define (hashtable-merge! to from)
      (mutable "hashtable-merge!" to)
      (walk "hashtable-merge!" from (lambda (key value) (hashtable-set! to key value)))
      to)
    (define (hashtable-sum t init proc)
      (fold "hashtable-sum" proc init t))
    (define (hashtable-find t pred)
      (let loop ((l (each "hashtable-find" cons t)))
        (cond ((null? l) (values #f #f #f))
              ((pred (car (car l)) (cdr (car l))) (values (car (car l)) (cdr (car l)) #t))
              (else (loop (cdr l))))))
    (define (hashtable-pop! t)
      (mutable "hashtable-pop!" t)
      (let ((l (each "hashtable-pop!" cons t)))
        (if (null? l) (error "hashtable-pop!: the hashtable is empty"))
        (hashtable-delete! t (car (car l)))
        (values (car (car l)) (cdr (car l)))))

    (define (hashtable-equivalence-function t)
      (hash-table-equivalence-function (table "hashtable-equivalence-function" t)))
    (define (hashtable-hash-function t)
      (table "hashtable-hash-function" t)
      (hash-of t))
    (define (hashtable-weakness t)
      (table "hashtable-weakness" t)
      (weakness-of t))
    (define (hashtable-mutable? t)
      (table "hashtable-mutable?" t)
      (mutable? t))))
