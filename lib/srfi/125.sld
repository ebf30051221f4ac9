;;; (srfi 125): hash tables made with comparators or equivalences; also as (scheme hash-table).
;;;
;;; Tables are those of (cairn hash-table).  All are mutable.  The deprecated names and argument orders of SRFI 69 are
;;; understood where the text asks for it.
(define-library (srfi 125)
  (export
   make-hash-table hash-table hash-table-unfold alist->hash-table
   hash-table? hash-table-contains? hash-table-exists? hash-table-empty? hash-table=? hash-table-mutable?
   hash-table-ref hash-table-ref/default
   hash-table-set! hash-table-delete! hash-table-intern! hash-table-update! hash-table-update!/default
   hash-table-pop! hash-table-clear!
   hash-table-size hash-table-keys hash-table-values hash-table-entries hash-table-find hash-table-count
   hash-table-map hash-table-for-each hash-table-walk hash-table-map! hash-table-map->list hash-table-fold
   hash-table-prune!
   hash-table-copy hash-table-empty-copy hash-table->alist
   hash-table-union! hash-table-merge! hash-table-intersection! hash-table-difference!
   hash-table-xor!
   hash string-hash string-ci-hash hash-by-identity hash-table-equivalence-function hash-table-hash-function)
  (import (scheme base) (scheme case-lambda)
          (only (srfi 128) comparator? comparator-equality-predicate comparator-hash-function comparator-hashable?
                string-hash string-ci-hash)
          (rename (except (cairn hash-table) hash-table hash-table-exists? hash-table-merge! string-hash string-ci-hash)
                  (make-hash-table make-hash-table:) (alist->hash-table alist->hash-table:)
                  (hash-table-set! set-one!) (hash-table-delete! delete:) (hash-table-fold fold:)
                  (hash-table-count count:) (hash-table-for-each for-each:))
          (only (cairn control) wrong-type))
  (begin

    (define (check who x)
      (if (hash-table? x) x (wrong-type who "a hash table" x)))

    ;;;; Making

    (define (make-hash-table first . rest) (make "make-hash-table" first rest))
    (define (make who first rest)
      (cond
        ((not (comparator? first))
         (if (procedure? first)
             (apply make-hash-table: first rest)
             (wrong-type who "a comparator or an equivalence" first)))
        ((comparator-hashable? first)
         (make-hash-table: (comparator-equality-predicate first) (comparator-hash-function first)))
        (else (wrong-type who "a comparator with a hash function" first))))

    (define (hash-table comparator . keys-and-values)
      (let ((table (make "hash-table" comparator '())))
        (let loop ((l keys-and-values))
          (if (pair? l)
              (begin
                (if (null? (cdr l)) (error "hash-table: a key without a value:" (car l)))
                (if (hash-table-contains? table (car l)) (error "hash-table: a key is there twice:" (car l)))
                (set-one! table (car l) (cadr l))
                (loop (cddr l)))
              table))))

    (define (hash-table-unfold stop? mapper successor seed comparator . arguments)
      (let ((table (make "hash-table-unfold" comparator arguments)))
        (let loop ((seed seed))
          (if (stop? seed)
              table
              (let-values (((key value) (mapper seed)))
                (set-one! table key value)
                (loop (successor seed)))))))

    ;; The first of several associations counts.
    (define (alist->hash-table alist . arguments)
      (let ((table (if (null? arguments)
                       (make-hash-table: equal?)
                       (make "alist->hash-table" (car arguments) (cdr arguments)))))
        (if (not (list? alist)) (wrong-type "alist->hash-table" "a list" alist))
        (for-each (lambda (p)
                    (if (not (pair? p)) (wrong-type "alist->hash-table" "pairs in the list" p))
                    (if (not (hash-table-contains? table (car p))) (set-one! table (car p) (cdr p))))
                  alist)
        table))

    (define (hash-table-empty-copy table)
      (make-hash-table: (hash-table-equivalence-function (check "hash-table-empty-copy" table))
                        (hash-table-hash-function table)))

    ;;;; Asking

    (define (hash-table-exists? table key) (hash-table-contains? (check "hash-table-exists?" table) key))
    (define (hash-table-mutable? table)
      (check "hash-table-mutable?" table)
      #t)

    (define (hash-table=? values a b)
      (if (not (comparator? values)) (wrong-type "hash-table=?" "a comparator" values))
      (check "hash-table=?" a)
      (check "hash-table=?" b)
      (let ((same? (comparator-equality-predicate values)))
        (and (= (hash-table-size a) (hash-table-size b))
             (let ((none (list 'none)))
               (not (hash-table-find (lambda (key value)
                                       (let ((other (hash-table-ref/default b key none)))
                                         (or (eq? other none) (not (same? value other)))))
                                     a (lambda () #f)))))))

    ;;;; Changing

    (define hash-table-set!
      (case-lambda
        ((table key value) (set-one! table key value))
        ((table . keys-and-values)
         (check "hash-table-set!" table)
         (let loop ((l keys-and-values))
           (if (pair? l)
               (begin
                 (if (null? (cdr l)) (error "hash-table-set!: a key without a value:" (car l)))
                 (set-one! table (car l) (cadr l))
                 (loop (cddr l))))))))

    ;; How many there were.
    (define (hash-table-delete! table . keys)
      (check "hash-table-delete!" table)
      (let loop ((keys keys) (n 0))
        (if (null? keys)
            n
            (let ((there? (hash-table-contains? table (car keys))))
              (if there? (delete: table (car keys)))
              (loop (cdr keys) (if there? (+ n 1) n))))))

    (define (hash-table-pop! table)
      (check "hash-table-pop!" table)
      (if (hash-table-empty? table) (error "hash-table-pop!: the table is empty"))
      (call/cc
       (lambda (return)
         (hash-table-walk table
           (lambda (key value)
             (delete: table key)
             (return key value))))))

    ;;;; The whole table

    (define (hash-table-entries table)
      (let ((l (hash-table->alist (check "hash-table-entries" table))))
        (values (map car l) (map cdr l))))

    (define (hash-table-find proc table failure)
      (let loop ((l (hash-table->alist (check "hash-table-find" table))))
        (if (null? l)
            (failure)
            (or (proc (caar l) (cdar l)) (loop (cdr l))))))

    ;; With one argument, what SRFI 69 calls by this name.
    (define hash-table-count
      (case-lambda
        ((table) (count: table))
        ((ok? table)
         (fold: (check "hash-table-count" table) (lambda (key value n) (if (ok? key value) (+ n 1) n)) 0))))

    (define (hash-table-map proc comparator table)
      (let ((result (make "hash-table-map" comparator '())))
        (hash-table-walk (check "hash-table-map" table)
                         (lambda (key value) (set-one! result key (proc value))))
        result))

    (define (hash-table-for-each a b)
      (if (hash-table? a) (hash-table-walk a b) (hash-table-walk (check "hash-table-for-each" b) a)))

    (define (hash-table-map! proc table)
      (for-each (lambda (p) (set-one! table (car p) (proc (car p) (cdr p))))
                (hash-table->alist (check "hash-table-map!" table))))

    (define (hash-table-map->list proc table)
      (fold: (check "hash-table-map->list" table) (lambda (key value l) (cons (proc key value) l)) '()))

    (define (hash-table-fold a b c)
      (if (hash-table? a) (fold: a b c) (fold: (check "hash-table-fold" c) a b)))

    (define (hash-table-prune! out? table)
      (for-each (lambda (p) (if (out? (car p) (cdr p)) (delete: table (car p))))
                (hash-table->alist (check "hash-table-prune!" table))))

    ;;;; Tables as sets

    (define (hash-table-union! a b) (merge! (check "hash-table-union!" a) (check "hash-table-union!" b)))
    (define (hash-table-merge! a b) (merge! (check "hash-table-merge!" a) (check "hash-table-merge!" b)))
    (define (merge! a b)
      (hash-table-walk b
                       (lambda (key value)
                         (if (not (hash-table-contains? a key)) (set-one! a key value))))
      a)
    (define (hash-table-intersection! a b)
      (check "hash-table-intersection!" a)
      (check "hash-table-intersection!" b)
      (hash-table-prune! (lambda (key value) (not (hash-table-contains? b key))) a)
      a)
    (define (hash-table-difference! a b)
      (check "hash-table-difference!" a)
      (check "hash-table-difference!" b)
      (hash-table-prune! (lambda (key value) (hash-table-contains? b key)) a)
      a)
    (define (hash-table-xor! a b)
      (check "hash-table-xor!" a)
      (for-each (lambda (p)
                  (if (hash-table-contains? a (car p))
                      (delete: a (car p))
                      (set-one! a (car p) (cdr p))))
                (hash-table->alist (check "hash-table-xor!" b)))
      a)))
