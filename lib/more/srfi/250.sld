;;; (srfi 250): hash tables whose associations have an order, that in which they were made.
;;;
;;; Keys and values lie in two vectors, and a table of (cairn hash-table) says where. What is deleted leaves a hole;
;;; when a vector is full, the holes are closed if they are many, else it grows. A cursor is an index, or #f.
;;;
;;;     index   a → 0, c → 2          keys    a hole c - -
;;;     next    3   size 2            vals    1  -   3 - -
(define-library (srfi 250)
  (export
   make-hash-table hash-table hash-table-unfold alist->hash-table
   hash-table? hash-table-contains? hash-table-empty? hash-table-mutable?
   hash-table-ref hash-table-ref/default hash-table-comparator
   hash-table-add! hash-table-replace! hash-table-set! hash-table-delete! hash-table-intern! hash-table-update!
   hash-table-update!/default hash-table-pop! hash-table-clear!
   hash-table-size hash-table= hash-table-find hash-table-count hash-table-keys hash-table-values hash-table-entries
   hash-table-cursor-first hash-table-cursor-last hash-table-cursor-for-key hash-table-cursor-next
   hash-table-cursor-previous hash-table-cursor-key hash-table-cursor-value hash-table-cursor-key+value
   hash-table-cursor-value-set! hash-table-cursor-at-end?
   hash-table-map hash-table-map! hash-table-for-each hash-table-map->list hash-table-fold hash-table-fold-left
   hash-table-fold-right hash-table-prune!
   hash-table-copy hash-table-empty-copy hash-table->alist
   hash-table-union! hash-table-intersection! hash-table-difference! hash-table-xor!)
  (import (scheme base) (scheme case-lambda)
          (only (srfi 128) comparator? comparator-hashable? comparator-equality-predicate comparator-hash-function
                comparator-type-test-predicate)
          (prefix (only (cairn hash-table) make-hash-table hash-table-ref/default hash-table-set! hash-table-delete!
                        hash-table-clear! hash-table-copy)
                  index:)
          (only (cairn control) wrong-type) (only (cairn records) show-fields!))
  (begin

    (define-record-type <hash-table>
      (new-table comparator index keys vals next size mutable)
      hash-table?
      (comparator comparator-of)
      (index index-of)
      (keys keys-of set-keys!)
      (vals vals-of set-vals!)
      (next next-of set-next!)
      (size size-of set-size!)
      (mutable mutable-of))
    (show-fields! <hash-table> '())

    (define hole (list 'hole))
    (define least 8)

    (define (check who t)
      (if (hash-table? t) t (wrong-type who "a hash table" t)))
    (define (check-mutable who t)
      (if (not (mutable-of (check who t))) (wrong-type who "a mutable hash table" t)))
    (define (no-such-key who t key)
      (error (string-append who ": no such key:") key t))

    ;;;; Making

    (define (new comparator mutable)
      (new-table comparator
                 (index:make-hash-table (comparator-equality-predicate comparator)
                                        (comparator-hash-function comparator))
                 (make-vector least hole) (make-vector least #f) 0 0 mutable))
    (define make-hash-table
      (case-lambda
        ((comparator) (make-hash-table comparator least))
        ((comparator k)
         (if (not (and (comparator? comparator) (comparator-hashable? comparator)))
             (wrong-type "make-hash-table" "a comparator with a hash function" comparator))
         (if (not (and (exact-integer? k) (>= k 0))) (wrong-type "make-hash-table" "a size" k))
         (new comparator #t))))

    (define (hash-table comparator . keys-and-values)
      (let ((t (make-hash-table comparator)))
        (each-pair "hash-table" keys-and-values (lambda (key value) (add! "hash-table" t key value)))
        t))

    (define (hash-table-unfold stop? mapper successor seed . arguments)
      (let ((t (apply make-hash-table arguments)))
        (let loop ((seed seed))
          (if (stop? seed)
              t
              (let-values (((key value) (mapper seed)))
                (set-one! "hash-table-unfold" t key value)
                (loop (successor seed)))))))

    (define (alist->hash-table alist . arguments)
      (let ((t (apply make-hash-table arguments)))
        (for-each (lambda (p) (set-one! "alist->hash-table" t (car p) (cdr p))) (reverse alist))
        t))

    ;;;; Finding and adding

    (define (check-key who t key)
      (if (not ((comparator-type-test-predicate (comparator-of t)) key))
          (error (string-append who ": the table's comparator does not accept this key:") key t)))

    ;; Where the key is, or #f.
    (define (find who t key)
      (check-key who t key)
      (index:hash-table-ref/default (index-of t) key #f))

    ;; Closes holes, or makes room.
    (define (make-room! t)
      (let* ((n (vector-length (keys-of t))) (size (size-of t)))
        (if (< (* 4 size) (* 3 n))
            (close-holes! t)
            (let ((keys (make-vector (* 2 n) hole)) (vals (make-vector (* 2 n) #f)))
              (vector-copy! keys 0 (keys-of t))
              (vector-copy! vals 0 (vals-of t))
              (set-keys! t keys)
              (set-vals! t vals)))))
    (define (close-holes! t)
      (let ((keys (keys-of t)) (vals (vals-of t)) (next (next-of t)))
        (let loop ((from 0) (to 0))
          (cond
            ((= from next)
             (vector-fill! keys hole to next)
             (vector-fill! vals #f to next)
             (set-next! t to))
            ((eq? (vector-ref keys from) hole) (loop (+ from 1) to))
            (else
             (if (< to from)
                 (let ((key (vector-ref keys from)))
                   (vector-set! keys to key)
                   (vector-set! vals to (vector-ref vals from))
                   (index:hash-table-set! (index-of t) key to)))
             (loop (+ from 1) (+ to 1)))))))

    ;; An association that is not there yet.
    (define (append! t key value)
      (if (= (next-of t) (vector-length (keys-of t))) (make-room! t))
      (let ((i (next-of t)))
        (index:hash-table-set! (index-of t) key i)
        (vector-set! (keys-of t) i key)
        (vector-set! (vals-of t) i value)
        (set-next! t (+ i 1))
        (set-size! t (+ (size-of t) 1))))

    (define (add! who t key value)
      (if (find who t key)
          (error (string-append who ": the key is there already:") key t)
          (append! t key value)))
    (define (replace! who t key value)
      (let ((i (find who t key)))
        (if i (vector-set! (vals-of t) i value) (no-such-key who t key))))
    (define (set-one! who t key value)
      (let ((i (find who t key)))
        (if i (vector-set! (vals-of t) i value) (append! t key value))))

    ;; Nothing is changed if there is a key without a value.
    (define (each-pair who l proc)
      (if (odd? (length l)) (error (string-append who ": a key without a value:") l))
      (let loop ((l l))
        (if (pair? l)
            (begin
              (proc (car l) (cadr l))
              (loop (cddr l))))))

    (define-syntax define-setter
      (syntax-rules ()
        ((_ name one)
         (define name
           (case-lambda
             ((t key value)
              (check-mutable (symbol->string 'name) t)
              (one (symbol->string 'name) t key value))
             ((t . keys-and-values)
              (check-mutable (symbol->string 'name) t)
              (each-pair (symbol->string 'name) keys-and-values
                         (lambda (key value) (one (symbol->string 'name) t key value)))))))))
    (define-setter hash-table-add! add!)
    (define-setter hash-table-replace! replace!)
    (define-setter hash-table-set! set-one!)

    ;;;; Asking

    (define (hash-table-contains? t key)
      (and (find "hash-table-contains?" (check "hash-table-contains?" t) key) #t))
    (define (hash-table-empty? t) (= 0 (size-of (check "hash-table-empty?" t))))
    (define (hash-table-mutable? t) (mutable-of (check "hash-table-mutable?" t)))
    (define (hash-table-comparator t) (comparator-of (check "hash-table-comparator" t)))
    (define (hash-table-size t) (size-of (check "hash-table-size" t)))

    (define hash-table-ref
      (case-lambda
        ((t key) (hash-table-ref t key (lambda () (no-such-key "hash-table-ref" t key)) values))
        ((t key failure) (hash-table-ref t key failure values))
        ((t key failure success)
         (let ((i (find "hash-table-ref" (check "hash-table-ref" t) key)))
           (if i (success (vector-ref (vals-of t) i)) (failure))))))
    (define (hash-table-ref/default t key default)
      (let ((i (find "hash-table-ref/default" (check "hash-table-ref/default" t) key)))
        (if i (vector-ref (vals-of t) i) default)))

    ;;;; Changing

    (define (delete-at! t i)
      (index:hash-table-delete! (index-of t) (vector-ref (keys-of t) i))
      (vector-set! (keys-of t) i hole)
      (vector-set! (vals-of t) i #f)
      (set-size! t (- (size-of t) 1))
      (if (= i (- (next-of t) 1)) (set-next! t i)))

    ;; How many there were.
    (define (hash-table-delete! t . keys)
      (check-mutable "hash-table-delete!" t)
      (let loop ((keys keys) (n 0))
        (if (null? keys)
            n
            (let ((i (find "hash-table-delete!" t (car keys))))
              (if i (delete-at! t i))
              (loop (cdr keys) (if i (+ n 1) n))))))

    (define (hash-table-intern! t key failure)
      (check-mutable "hash-table-intern!" t)
      (let ((i (find "hash-table-intern!" t key)))
        (if i
            (vector-ref (vals-of t) i)
            (let ((value (failure)))
              (set-one! "hash-table-intern!" t key value)
              value))))

    (define hash-table-update!
      (case-lambda
        ((t key updater)
         (hash-table-update! t key updater (lambda () (no-such-key "hash-table-update!" t key)) values))
        ((t key updater failure) (hash-table-update! t key updater failure values))
        ((t key updater failure success)
         (check-mutable "hash-table-update!" t)
         (set-one! "hash-table-update!" t key (updater (hash-table-ref t key failure success))))))
    (define (hash-table-update!/default t key updater default)
      (hash-table-update! t key updater (lambda () default)))

    (define (hash-table-pop! t)
      (check-mutable "hash-table-pop!" t)
      (if (= 0 (size-of t)) (error "hash-table-pop!: the table is empty"))
      (let* ((i (before t (next-of t))) (key (vector-ref (keys-of t) i)) (value (vector-ref (vals-of t) i)))
        (set-next! t (+ i 1))
        (delete-at! t i)
        (values key value)))

    (define (hash-table-clear! t)
      (check-mutable "hash-table-clear!" t)
      (index:hash-table-clear! (index-of t))
      (set-keys! t (make-vector least hole))
      (set-vals! t (make-vector least #f))
      (set-next! t 0)
      (set-size! t 0))

    ;;;; Cursors

    ;; The first association from here on, or #f; the last one before here, or #f.
    (define (from t i)
      (cond ((>= i (next-of t)) #f)
            ((eq? (vector-ref (keys-of t) i) hole) (from t (+ i 1)))
            (else i)))
    (define (before t i)
      (cond ((= i 0) #f)
            ((eq? (vector-ref (keys-of t) (- i 1)) hole) (before t (- i 1)))
            (else (- i 1))))
    (define (check-cursor who t i)
      (if (not (and (exact-integer? i) (< -1 i (next-of (check who t))) (not (eq? (vector-ref (keys-of t) i) hole))))
          (wrong-type who "a cursor of this table" i))
      i)

    (define (hash-table-cursor-first t) (from (check "hash-table-cursor-first" t) 0))
    (define (hash-table-cursor-last t) (before (check "hash-table-cursor-last" t) (next-of t)))
    (define (hash-table-cursor-for-key t key)
      (find "hash-table-cursor-for-key" (check "hash-table-cursor-for-key" t) key))
    (define (hash-table-cursor-next t i) (from t (+ (check-cursor "hash-table-cursor-next" t i) 1)))
    (define (hash-table-cursor-previous t i) (before t (check-cursor "hash-table-cursor-previous" t i)))
    (define (hash-table-cursor-key t i) (vector-ref (keys-of t) (check-cursor "hash-table-cursor-key" t i)))
    (define (hash-table-cursor-value t i) (vector-ref (vals-of t) (check-cursor "hash-table-cursor-value" t i)))
    (define (hash-table-cursor-key+value t i)
      (check-cursor "hash-table-cursor-key+value" t i)
      (values (vector-ref (keys-of t) i) (vector-ref (vals-of t) i)))
    (define (hash-table-cursor-value-set! t i value)
      (check-mutable "hash-table-cursor-value-set!" t)
      (vector-set! (vals-of t) (check-cursor "hash-table-cursor-value-set!" t i) value))
    (define (hash-table-cursor-at-end? t i)
      (check "hash-table-cursor-at-end?" t)
      (not i))

    ;;;; The whole table

    (define (hash-table-fold-left proc seed t)
      (check "hash-table-fold-left" t)
      (let loop ((i (from t 0)) (acc seed))
        (if i
            (let ((acc (proc acc (vector-ref (keys-of t) i) (vector-ref (vals-of t) i))))
              (loop (from t (+ i 1)) acc))
            acc)))
    (define (hash-table-fold-right proc seed t)
      (check "hash-table-fold-right" t)
      (let loop ((i (before t (next-of t))) (acc seed))
        (if i
            (let ((acc (proc (vector-ref (keys-of t) i) (vector-ref (vals-of t) i) acc)))
              (loop (before t i) acc))
            acc)))
    (define (hash-table-fold proc seed t)
      (hash-table-fold-left (lambda (acc key value) (proc key value acc)) seed (check "hash-table-fold" t)))
    (define (hash-table-for-each proc t)
      (hash-table-fold-left (lambda (acc key value) (proc key value) acc) #f (check "hash-table-for-each" t)))

    (define (hash-table-find proc t failure)
      (check "hash-table-find" t)
      (let loop ((i (from t 0)))
        (if i
            (or (proc (vector-ref (keys-of t) i) (vector-ref (vals-of t) i)) (loop (from t (+ i 1))))
            (failure))))
    (define (hash-table-count ok? t)
      (hash-table-fold-left (lambda (n key value) (if (ok? key value) (+ n 1) n)) 0 (check "hash-table-count" t)))
    (define (hash-table= same? a b)
      (and (= (hash-table-size (check "hash-table=" a)) (hash-table-size (check "hash-table=" b)))
           (not (hash-table-find (lambda (key value)
                                   (let ((i (find "hash-table=" b key)))
                                     (not (and i (same? value (vector-ref (vals-of b) i))))))
                                 a (lambda () #f)))))

    ;; A vector with what `part` holds of each association.
    (define (collected t part)
      (let ((v (make-vector (size-of t))))
        (let loop ((i (from t 0)) (to 0))
          (if i
              (begin
                (vector-set! v to (vector-ref part i))
                (loop (from t (+ i 1)) (+ to 1)))
              v))))
    (define (hash-table-keys t) (collected (check "hash-table-keys" t) (keys-of t)))
    (define (hash-table-values t) (collected (check "hash-table-values" t) (vals-of t)))
    (define (hash-table-entries t)
      (check "hash-table-entries" t)
      (values (hash-table-keys t) (hash-table-values t)))

    (define (hash-table-map->list proc t)
      (reverse
       (hash-table-fold-left (lambda (l key value) (cons (proc key value) l)) '() (check "hash-table-map->list" t))))
    (define (hash-table->alist t)
      (hash-table-fold-left (lambda (l key value) (cons (cons key value) l)) '() (check "hash-table->alist" t)))

    (define (hash-table-map proc t)
      (let ((result (hash-table-empty-copy (check "hash-table-map" t))))
        (hash-table-for-each (lambda (key value) (append! result key (proc key value))) t)
        result))
    (define (hash-table-map! proc t)
      (check-mutable "hash-table-map!" t)
      (let loop ((i (from t 0)))
        (if i
            (begin
              (vector-set! (vals-of t) i (proc (vector-ref (keys-of t) i) (vector-ref (vals-of t) i)))
              (loop (from t (+ i 1)))))))
    ;; How many went out.
    (define (hash-table-prune! out? t)
      (check-mutable "hash-table-prune!" t)
      (let loop ((i (from t 0)) (n 0))
        (if i
            (let ((out (out? (vector-ref (keys-of t) i) (vector-ref (vals-of t) i))))
              (if out (delete-at! t i))
              (loop (from t (+ i 1)) (if out (+ n 1) n)))
            n)))

    ;;;; Copies

    (define hash-table-copy
      (case-lambda
        ((t) (hash-table-copy t #f))
        ((t mutable?)
         (check "hash-table-copy" t)
         (new-table (comparator-of t) (index:hash-table-copy (index-of t)) (vector-copy (keys-of t))
                    (vector-copy (vals-of t)) (next-of t) (size-of t) (and mutable? #t)))))
    (define (hash-table-empty-copy t)
      (new (comparator-of (check "hash-table-empty-copy" t)) #t))

    ;;;; Tables as sets

    (define (hash-table-union! a b)
      (check-mutable "hash-table-union!" a)
      (hash-table-for-each (lambda (key value)
                             (if (not (find "hash-table-union!" a key)) (append! a key value)))
                           (check "hash-table-union!" b))
      a)
    (define (hash-table-intersection! a b)
      (check "hash-table-intersection!" b)
      (hash-table-prune! (lambda (key value) (not (find "hash-table-intersection!" b key))) a)
      a)
    (define (hash-table-difference! a b)
      (check "hash-table-difference!" b)
      (hash-table-prune! (lambda (key value) (find "hash-table-difference!" b key)) a)
      a)
    (define (hash-table-xor! a b)
      (check-mutable "hash-table-xor!" a)
      (for-each (lambda (p)
                  (let ((i (find "hash-table-xor!" a (car p))))
                    (if i (delete-at! a i) (append! a (car p) (cdr p)))))
                (reverse (hash-table->alist (check "hash-table-xor!" b))))
      a)))
