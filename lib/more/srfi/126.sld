;;; (srfi 126): hash tables with the names of R6RS.
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
   hash-salt equal-hash string-hash string-ci-hash symbol-hash)
  (import (scheme base) (scheme case-lambda) (cairn hash-table) (only (cairn control) wrong-type)
          (only (srfi 128) hash-salt symbol-hash) (only (cairn records) show-fields!))
  (begin

    (define-record-type <hashtable>
      (wrap table hash weakness mutable?)
      hashtable?
      (table table-of)
      (hash hash-of)
      (weakness weakness-of)
      (mutable? mutable?))
    (show-fields! <hashtable> '())

    (define (table who t)
      (if (hashtable? t) (table-of t) (wrong-type who "a hashtable" t)))
    (define (mutable who t)
      (let ((inner (table who t)))
        (if (mutable? t) inner (wrong-type who "a hashtable that can be changed" t))))
    (define missing (list 'missing))

    (define-syntax weakness
      (syntax-rules () ((_ kind) 'kind)))

    ;;;; Making

    (define (check-options capacity weak)
      (if (and capacity (not (and (exact-integer? capacity) (>= capacity 0))))
          (wrong-type "make-hashtable" "a capacity" capacity))
      (if (not (memq weak '(#f weak-key ephemeral-key weak-value ephemeral-value weak-key-and-value
                               ephemeral-key-and-value)))
          (wrong-type "make-hashtable" "a weakness" weak)))
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
    (define (maker same?)
      (case-lambda
        (() (wrap (new same? #f #f) #f #f #t))
        ((capacity)
         (check-options capacity #f)
         (wrap (new same? #f #f) #f #f #t))
        ((capacity weak)
         (check-options capacity weak)
         (wrap (new same? #f weak) #f weak #t))))
    (define make-eq-hashtable (maker eq?))
    (define make-eqv-hashtable (maker eqv?))
    (define make-hashtable
      (case-lambda
        ((hash same?) (make-hashtable hash same? #f #f))
        ((hash same? capacity) (make-hashtable hash same? capacity #f))
        ((hash same? capacity weak)
         (check-options capacity weak)
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
         (wrap (hash-table-copy (table "hashtable-copy" t) #t) (hash-of t) weak (and changeable? #t)))))
    (define (hashtable-empty-copy t . capacity)
      (let ((copy (hash-table-copy (table "hashtable-empty-copy" t) #t)))
        (hash-table-clear! copy)
        (wrap copy (hash-of t) (weakness-of t) #t)))
    (define (hashtable-clear! t . capacity)
      (hash-table-clear! (mutable "hashtable-clear!" t)))

    ;;;; One key

    (define (hashtable-size t) (hash-table-count (table "hashtable-size" t)))
    (define (hashtable-empty? t) (= 0 (hash-table-count (table "hashtable-empty?" t))))
    (define hashtable-ref
      (case-lambda
        ((t key)
         (let ((x (hash-table-ref/default (table "hashtable-ref" t) key missing)))
           (if (eq? x missing) (error "hashtable-ref: the hashtable has no such key:" key) x)))
        ((t key default) (hash-table-ref/default (table "hashtable-ref" t) key default))))
    (define (hashtable-lookup t key)
      (let ((x (hash-table-ref/default (table "hashtable-lookup" t) key missing)))
        (if (eq? x missing) (values #f #f) (values x #t))))
    (define (hashtable-contains? t key) (hash-table-contains? (table "hashtable-contains?" t) key))
    (define (hashtable-set! t key value) (hash-table-set! (mutable "hashtable-set!" t) key value))
    (define (hashtable-delete! t key) (hash-table-delete! (mutable "hashtable-delete!" t) key))
    (define hashtable-update!
      (case-lambda
        ((t key proc)
         (let ((new (proc (hashtable-ref t key))))
           (hashtable-set! t key new)
           new))
        ((t key proc default)
         (update/default! "hashtable-update!" (mutable "hashtable-update!" t) key proc default))))
    (define (hashtable-intern! t key make) (hash-table-intern! (mutable "hashtable-intern!" t) key make))
    (define hashtable-inc!
      (case-lambda
        ((t key) (hashtable-inc! t key 1))
        ((t key n) (hashtable-update! t key (lambda (x) (+ x n)) 0))))
    (define hashtable-dec!
      (case-lambda
        ((t key) (hashtable-inc! t key -1))
        ((t key n) (hashtable-inc! t key (- n)))))

    ;;;; All of them

    ;; What proc makes of each entry, in order.
    (define (each who proc t)
      (reverse (hash-table-fold (table who t) (lambda (key value acc) (cons (proc key value) acc)) '())))
    (define (hashtable-key-list t) (hash-table-keys (table "hashtable-key-list" t)))
    (define (hashtable-value-list t) (hash-table-values (table "hashtable-value-list" t)))
    (define (hashtable-keys t) (hash-table-key-vector (table "hashtable-keys" t)))
    (define (hashtable-values t) (hash-table-value-vector (table "hashtable-values" t)))
    (define (hashtable-entries t) (values (hashtable-keys t) (hashtable-values t)))
    (define (hashtable-entry-lists t) (values (hashtable-key-list t) (hashtable-value-list t)))
    (define (hashtable-map->lset t proc) (each "hashtable-map->lset" proc t))

    ;; The entries are listed first, so `proc` may change the table.
    (define (hashtable-walk t proc)
      (for-each (lambda (p) (proc (car p) (cdr p))) (each "hashtable-walk" cons t)))
    (define (hashtable-update-all! t proc)
      (hashtable-walk t (lambda (key value) (hashtable-set! t key (proc key value)))))
    (define (hashtable-prune! t proc)
      (hashtable-walk t (lambda (key value) (if (proc key value) (hashtable-delete! t key)))))
    (define (hashtable-merge! to from)
      (hashtable-walk from (lambda (key value) (hashtable-set! to key value)))
      to)
    (define (hashtable-sum t init proc)
      (hash-table-fold (table "hashtable-sum" t) proc init))
    (define (hashtable-find t pred)
      (let loop ((l (each "hashtable-find" cons t)))
        (cond ((null? l) (values #f #f #f))
              ((pred (car (car l)) (cdr (car l))) (values (car (car l)) (cdr (car l)) #t))
              (else (loop (cdr l))))))
    (define (hashtable-pop! t)
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
