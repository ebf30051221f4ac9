;;; (srfi 225): dictionaries of any type, by a DTO, an object that says how a type does what dictionaries do.
;;;
;;; A DTO is a vector of procedures, one for each of the generic ones, all with the DTO as their first argument. What it
;;; does not have is done with the others: all with `dict-find-update!`, `dict-map`, `dict-size`.
(define-library (srfi 225)
  (export
   dictionary? dict-empty? dict-contains? dict=? dict-pure? dict-ref dict-ref/default dict-comparator
   dict-set! dict-adjoin! dict-delete! dict-delete-all! dict-replace! dict-intern! dict-update! dict-update/default!
   dict-pop! dict-map dict-filter dict-remove dict-find-update!
   dict-size dict-count dict-any dict-every dict-keys dict-values dict-entries dict-fold dict-map->list dict->alist
   dict-for-each dict->generator dict-set!-accumulator dict-adjoin!-accumulator
   dictionary?-id dict-empty?-id dict-contains?-id dict=?-id dict-pure?-id dict-ref-id dict-ref/default-id
   dict-comparator-id dict-set!-id dict-adjoin!-id dict-delete!-id dict-delete-all!-id dict-replace!-id
   dict-intern!-id dict-update!-id dict-update/default!-id dict-pop!-id dict-map-id dict-filter-id dict-remove-id
   dict-find-update!-id dict-size-id dict-count-id dict-any-id dict-every-id dict-keys-id dict-values-id
   dict-entries-id dict-fold-id dict-map->list-id dict->alist-id dict-for-each-id dict->generator-id
   dict-set!-accumulator-id dict-adjoin!-accumulator-id
   dto? make-dto dto-ref make-alist-dto
   dictionary-error dictionary-error? dictionary-message dictionary-irritants
   eqv-alist-dto equal-alist-dto srfi-69-dto hash-table-dto srfi-126-dto mapping-dto hash-mapping-dto)
  (import (scheme base) (scheme case-lambda)
          (only (srfi 1) filter remove alist-delete fold)
          (only (srfi 128) make-comparator <? >? comparator?)
          (only (srfi 158) make-coroutine-generator)
          (prefix (srfi 125) t:) (prefix (srfi 126) r:)
          (prefix (srfi 146) m:) (prefix (srfi 146 hash) h:)
          (only (cairn control) wrong-type) (only (cairn records) show-fields!))
  (begin

    (define-record-type dto (new-dto procs) dto? (procs procs-of))
    (show-fields! dto '())
    (define-record-type dictionary-failure
      (new-failure message irritants)
      dictionary-error?
      (message dictionary-message)
      (irritants dictionary-irritants))
    (define (dictionary-error message . irritants)
      (new-failure message irritants))

    (define (dto-ref dto id)
      (if (not (dto? dto)) (wrong-type "dto-ref" "a DTO" dto))
      (if (not (and (exact-integer? id) (< -1 id ids))) (wrong-type "dto-ref" "the id of a procedure" id))
      (vector-ref (procs-of dto) id))

    ;;;; The generic procedures

    (define-syntax proc-of
      (syntax-rules ()
        ((_ who dto id)
         (if (dto? dto) (vector-ref (procs-of dto) id) (wrong-type (symbol->string 'who) "a DTO" dto)))))
    (define-syntax define-generic
      (syntax-rules ()
        ((_ (name id n) ...)
         (begin
           (begin
             (define id n)
             (define name
               (case-lambda
                 ((dto a) ((proc-of name dto n) dto a))
                 ((dto a b) ((proc-of name dto n) dto a b))
                 ((dto a b c) ((proc-of name dto n) dto a b c))
                 ((dto a . rest) (apply (proc-of name dto n) dto a rest)))))
           ...))))
    (define-generic
      (dictionary? dictionary?-id 0) (dict-empty? dict-empty?-id 1) (dict-contains? dict-contains?-id 2)
      (dict=? dict=?-id 3) (dict-pure? dict-pure?-id 4) (dict-ref/default dict-ref/default-id 5)
      (dict-comparator dict-comparator-id 6) (dict-set! dict-set!-id 7) (dict-adjoin! dict-adjoin!-id 8)
      (dict-delete! dict-delete!-id 9) (dict-delete-all! dict-delete-all!-id 10) (dict-replace! dict-replace!-id 11)
      (dict-intern! dict-intern!-id 12) (dict-update/default! dict-update/default!-id 13) (dict-pop! dict-pop!-id 14)
      (dict-map dict-map-id 15) (dict-filter dict-filter-id 16) (dict-remove dict-remove-id 17)
      (dict-find-update! dict-find-update!-id 18) (dict-size dict-size-id 19) (dict-count dict-count-id 20)
      (dict-any dict-any-id 21) (dict-every dict-every-id 22) (dict-keys dict-keys-id 23)
      (dict-values dict-values-id 24) (dict-entries dict-entries-id 25) (dict-fold dict-fold-id 26)
      (dict-map->list dict-map->list-id 27) (dict->alist dict->alist-id 28)
      (dict-set!-accumulator dict-set!-accumulator-id 29) (dict-adjoin!-accumulator dict-adjoin!-accumulator-id 30))
    (define dict-ref-id 31)
    (define dict-update!-id 32)
    (define dict-for-each-id 33)
    (define dict->generator-id 34)
    (define ids 35)

    ;; The procedures of a DTO get all arguments of these; a bound that is absent is #f.
    (define (absent who dict key)
      (lambda () (error (string-append who ": no such key:") key dict)))
    (define dict-ref
      (case-lambda
        ((dto dict key) (dict-ref dto dict key (absent "dict-ref" dict key) values))
        ((dto dict key failure) (dict-ref dto dict key failure values))
        ((dto dict key failure success) ((proc-of dict-ref dto dict-ref-id) dto dict key failure success))))
    (define dict-update!
      (case-lambda
        ((dto dict key updater) (dict-update! dto dict key updater (absent "dict-update!" dict key) values))
        ((dto dict key updater failure) (dict-update! dto dict key updater failure values))
        ((dto dict key updater failure success)
         ((proc-of dict-update! dto dict-update!-id) dto dict key updater failure success))))
    (define dict-for-each
      (case-lambda
        ((dto proc dict) (dict-for-each dto proc dict #f #f))
        ((dto proc dict start) (dict-for-each dto proc dict start #f))
        ((dto proc dict start end) ((proc-of dict-for-each dto dict-for-each-id) dto proc dict start end))))
    (define dict->generator
      (case-lambda
        ((dto dict) (dict->generator dto dict #f #f))
        ((dto dict start) (dict->generator dto dict start #f))
        ((dto dict start end) ((proc-of dict->generator dto dict->generator-id) dto dict start end))))

    ;;;; What a DTO does that says nothing else

    ;; The dictionary with all keys and values of a list.
    (define (each-pair who dto dict l one)
      (let loop ((l l) (dict dict))
        (cond ((null? l) dict)
              ((null? (cdr l)) (error (string-append who ": a key without a value:") (car l)))
              (else (loop (cddr l) (one dict (car l) (cadr l)))))))

    ;; Is the key between the bounds?
    (define (between? dto dict start end)
      (if (or start end)
          (let ((c (dict-comparator dto dict)))
            (if (not (comparator? c)) (raise (dictionary-error "the dictionary has no order" dict)))
            (lambda (key)
              (and (or (not start) (not (<? c key start))) (or (not end) (not (>? c key end))))))
          (lambda (key) #t)))

    (define (accumulator add)
      (lambda (dto dict)
        (lambda (x)
          (if (eof-object? x)
              dict
              (set! dict (add dto dict (car x) (cdr x)))))))

    (define defaults (make-vector ids #f))
    (define-syntax define-defaults
      (syntax-rules ()
        ((_ (id proc) ...)
         (begin (vector-set! defaults id proc) ...))))

    (define-syntax not-there
      (syntax-rules ()
        ((_ name)
         (lambda (dto . rest)
           (raise (dictionary-error (string-append name ": the DTO has no such procedure:") dto))))))

    (define-defaults
      (dictionary?-id (not-there "dictionary?"))
      (dict-pure?-id (not-there "dict-pure?"))
      (dict-size-id (not-there "dict-size"))
      (dict-find-update!-id (not-there "dict-find-update!"))
      (dict-map-id (not-there "dict-map"))
      (dict-comparator-id (not-there "dict-comparator"))
      (dict-empty?-id (lambda (dto dict) (= 0 (dict-size dto dict))))
      (dict-contains?-id (lambda (dto dict key) (dict-ref dto dict key (lambda () #f) (lambda (x) #t))))
      (dict=?-id
       (lambda (dto same? a b)
         (and (= (dict-size dto a) (dict-size dto b))
              (dict-every dto (lambda (key value) (dict-ref dto b key (lambda () #f) (lambda (x) (same? value x)))) a)
              #t)))
      (dict-ref-id
       (lambda (dto dict key failure success)
         (dict-find-update! dto dict key (lambda (insert ignore) (failure))
                            (lambda (key value update delete) (success value)))))
      (dict-ref/default-id (lambda (dto dict key default) (dict-ref dto dict key (lambda () default) values)))
      (dict-set!-id
       (lambda (dto dict . l)
         (each-pair "dict-set!" dto dict l
                    (lambda (dict key value)
                      (dict-find-update! dto dict key (lambda (insert ignore) (insert value))
                                         (lambda (key old update delete) (update key value)))))))
      (dict-adjoin!-id
       (lambda (dto dict . l)
         (each-pair "dict-adjoin!" dto dict l
                    (lambda (dict key value)
                      (dict-find-update! dto dict key (lambda (insert ignore) (insert value))
                                         (lambda (key old update delete) (update key old)))))))
      (dict-delete!-id (lambda (dto dict . keys) (dict-delete-all! dto dict keys)))
      (dict-delete-all!-id
       (lambda (dto dict keys)
         (fold (lambda (key dict)
                 (dict-find-update! dto dict key (lambda (insert ignore) (ignore))
                                    (lambda (key value update delete) (delete))))
               dict keys)))
      (dict-replace!-id
       (lambda (dto dict key value)
         (dict-find-update! dto dict key (lambda (insert ignore) (ignore))
                            (lambda (key old update delete) (update key value)))))
      (dict-intern!-id
       (lambda (dto dict key failure)
         (dict-find-update! dto dict key
                            (lambda (insert ignore) (let ((value (failure))) (values (insert value) value)))
                            (lambda (key value update delete) (values dict value)))))
      (dict-update!-id
       (lambda (dto dict key updater failure success)
         (dict-find-update! dto dict key (lambda (insert ignore) (insert (updater (failure))))
                            (lambda (key value update delete) (update key (updater (success value)))))))
      (dict-update/default!-id
       (lambda (dto dict key updater default) (dict-update! dto dict key updater (lambda () default))))
      (dict-pop!-id
       (lambda (dto dict)
         (if (dict-empty? dto dict) (error "dict-pop!: the dictionary is empty:" dict))
         (let* ((p (call/cc
                    (lambda (return)
                      (dict-for-each dto (lambda (key value) (return (cons key value))) dict))))
                (rest (dict-delete! dto dict (car p))))
           (values rest (car p) (cdr p)))))
      (dict-filter-id (lambda (dto keep? dict) (dict-remove dto (lambda (key value) (not (keep? key value))) dict)))
      (dict-remove-id
       (lambda (dto out? dict)
         (dict-delete-all!
          dto dict (dict-fold dto (lambda (key value l) (if (out? key value) (cons key l) l)) '() dict))))
      (dict-count-id
       (lambda (dto ok? dict) (dict-fold dto (lambda (key value n) (if (ok? key value) (+ n 1) n)) 0 dict)))
      (dict-any-id
       (lambda (dto ok? dict)
         (call/cc
          (lambda (return)
            (dict-for-each dto (lambda (key value) (let ((x (ok? key value))) (if x (return x)))) dict)
            #f))))
      (dict-every-id
       (lambda (dto ok? dict)
         (call/cc
          (lambda (return)
            (dict-fold dto (lambda (key value last) (or (ok? key value) (return #f))) #t dict)))))
      (dict-keys-id (lambda (dto dict) (dict-map->list dto (lambda (key value) key) dict)))
      (dict-values-id (lambda (dto dict) (dict-map->list dto (lambda (key value) value) dict)))
      (dict-entries-id
       (lambda (dto dict)
         (let ((l (dict->alist dto dict))) (values (map car l) (map cdr l)))))
      (dict-fold-id
       (lambda (dto proc seed dict)
         (dict-for-each dto (lambda (key value) (set! seed (proc key value seed))) dict)
         seed))
      (dict-map->list-id
       (lambda (dto proc dict)
         (reverse (dict-fold dto (lambda (key value l) (cons (proc key value) l)) '() dict))))
      (dict->alist-id (lambda (dto dict) (dict-map->list dto cons dict)))
      (dict-for-each-id
       (lambda (dto proc dict start end)
         (let ((ok? (between? dto dict start end)))
           (dict-map dto (lambda (key value) (if (ok? key) (proc key value)) value) dict)
           #t)))
      (dict->generator-id
       (lambda (dto dict start end)
         (make-coroutine-generator
          (lambda (yield)
            (dict-for-each dto (lambda (key value) (yield (cons key value))) dict start end)))))
      (dict-set!-accumulator-id (accumulator dict-set!))
      (dict-adjoin!-accumulator-id (accumulator dict-adjoin!)))

    (define (make-dto . l)
      (let ((procs (vector-copy defaults)))
        (let loop ((l l))
          (cond
            ((null? l) (new-dto procs))
            ((null? (cdr l)) (error "make-dto: an id without a procedure:" (car l)))
            ((not (and (exact-integer? (car l)) (< -1 (car l) ids)))
             (wrong-type "make-dto" "the id of a procedure" (car l)))
            ((not (procedure? (cadr l))) (wrong-type "make-dto" "a procedure" (cadr l)))
            (else
             (vector-set! procs (car l) (cadr l))
             (loop (cddr l)))))))

    ;; A procedure of the type itself, which knows nothing of DTOs.
    (define (own proc)
      (case-lambda
        ((dto a) (proc a))
        ((dto a b) (proc a b))
        ((dto a b c) (proc a b c))
        ((dto . all) (apply proc all))))

    ;;;; Association lists

    (define (make-alist-dto same?)
      (make-dto
       dictionary?-id (lambda (dto l) (and (list? l) (or (null? l) (pair? (car l)))))
       dict-pure?-id (lambda (dto l) #t)
       dict-size-id (lambda (dto l) (length l))
       dict-comparator-id (lambda (dto l) #f)
       dict->alist-id (lambda (dto l) l)
       dict-map-id (lambda (dto proc l) (map (lambda (p) (cons (car p) (proc (car p) (cdr p)))) l))
       dict-filter-id (lambda (dto keep? l) (filter (lambda (p) (keep? (car p) (cdr p))) l))
       dict-remove-id (lambda (dto out? l) (remove (lambda (p) (out? (car p) (cdr p))) l))
       dict-find-update!-id
       (lambda (dto l key failure success)
         (let ((p (assoc key l same?)))
           (if p
               (success (car p) (cdr p)
                        (lambda (new-key value)
                          (if (and (eq? new-key (car p)) (eq? value (cdr p)))
                              l
                              (cons (cons new-key value) (alist-delete (car p) l same?))))
                        (lambda () (alist-delete (car p) l same?)))
               (failure (lambda (value) (cons (cons key value) l)) (lambda () l)))))))
    (define eqv-alist-dto (make-alist-dto eqv?))
    (define equal-alist-dto (make-alist-dto equal?))

    ;;;; Hash tables: those of SRFIs 69 and 125 are the same

    (define none (list 'none))
    (define-syntax table-dto
      (syntax-rules ()
        ((_ table? size contains? ref/default set-one! delete-one! map! prune! keys values fold same? hash)
         (make-dto
          dictionary?-id (own table?)
          dict-pure?-id (lambda (dto t) #f)
          dict-size-id (own size)
          dict-contains?-id (own contains?)
          dict-ref/default-id (own ref/default)
          dict-comparator-id
          (lambda (dto t) (make-comparator (lambda (x) #t) (same? t) #f (or (hash t) t:hash)))
          dict-set!-id
          (lambda (dto t . l) (each-pair "dict-set!" dto t l (lambda (t key value) (set-one! t key value) t)))
          dict-delete-all!-id (lambda (dto t keys) (for-each (lambda (key) (delete-one! t key)) keys) t)
          dict-map-id (lambda (dto proc t) (map! t proc) t)
          dict-filter-id (lambda (dto keep? t) (prune! t (lambda (key value) (not (keep? key value)))) t)
          dict-remove-id (lambda (dto out? t) (prune! t out?) t)
          dict-keys-id (own keys)
          dict-values-id (own values)
          dict-fold-id (lambda (dto proc seed t) (fold t seed proc))
          dict-find-update!-id
          (lambda (dto t key failure success)
            (let ((value (ref/default t key none)))
              (if (eq? value none)
                  (failure (lambda (value) (set-one! t key value) t) (lambda () t))
                  (success key value
                           (lambda (new-key value)
                             (if (not (eq? new-key key)) (delete-one! t key))
                             (set-one! t new-key value)
                             t)
                           (lambda () (delete-one! t key) t)))))))))
    (define hash-table-dto
      (table-dto t:hash-table? t:hash-table-size t:hash-table-contains? t:hash-table-ref/default t:hash-table-set!
                 t:hash-table-delete! (lambda (t proc) (t:hash-table-map! proc t))
                 (lambda (t out?) (t:hash-table-prune! out? t)) t:hash-table-keys t:hash-table-values
                 (lambda (t seed proc) (t:hash-table-fold proc seed t)) t:hash-table-equivalence-function
                 t:hash-table-hash-function))
    (define srfi-69-dto hash-table-dto)
    (define srfi-126-dto
      (table-dto r:hashtable? r:hashtable-size r:hashtable-contains? r:hashtable-ref r:hashtable-set!
                 r:hashtable-delete! r:hashtable-update-all! r:hashtable-prune! r:hashtable-key-list
                 r:hashtable-value-list
                 (lambda (t seed proc)
                   (r:hashtable-walk t (lambda (key value) (set! seed (proc key value seed))))
                   seed)
                 r:hashtable-equivalence-function r:hashtable-hash-function))

    ;;;; Mappings

    (define-syntax define-mapping-dto
      (syntax-rules ()
        ((_ name type? empty? contains? ref ref/default set adjoin delete-all replace intern update/default pop
            map filter remove size count keys values entries fold map->list ->alist comparator delete)
         (define name
           (make-dto
            dictionary?-id (own type?) dict-pure?-id (lambda (dto m) #t) dict-empty?-id (own empty?)
            dict-contains?-id (own contains?) dict-ref-id (own ref) dict-ref/default-id (own ref/default)
            dict-set!-id (own set) dict-adjoin!-id (own adjoin) dict-delete-all!-id (own delete-all)
            dict-replace!-id (own replace) dict-intern!-id (own intern) dict-update/default!-id (own update/default)
            dict-pop!-id (own pop) dict-filter-id (own filter) dict-remove-id (own remove) dict-size-id (own size)
            dict-count-id (own count) dict-keys-id (own keys) dict-values-id (own values)
            dict-entries-id (own entries) dict-fold-id (own fold) dict-map->list-id (own map->list)
            dict->alist-id (own ->alist) dict-comparator-id (own comparator)
            dict-map-id
            (lambda (dto proc m) (map (lambda (key value) (two key (proc key value))) (comparator m) m))
            dict-find-update!-id
            (lambda (dto m key failure success)
              (let ((value (ref/default m key none)))
                (if (eq? value none)
                    (failure (lambda (value) (set m key value)) (lambda () m))
                    (success key value
                             (lambda (new-key value) (set (delete m key) new-key value))
                             (lambda () (delete m key)))))))))))
    (define (two a b) (values a b))

    (define-mapping-dto mapping-dto
      m:mapping? m:mapping-empty? m:mapping-contains? m:mapping-ref m:mapping-ref/default m:mapping-set
      m:mapping-adjoin m:mapping-delete-all m:mapping-replace m:mapping-intern m:mapping-update/default m:mapping-pop
      m:mapping-map m:mapping-filter m:mapping-remove m:mapping-size m:mapping-count m:mapping-keys m:mapping-values
      m:mapping-entries m:mapping-fold m:mapping-map->list m:mapping->alist m:mapping-key-comparator m:mapping-delete)
    (define-mapping-dto hash-mapping-dto
      h:hashmap? h:hashmap-empty? h:hashmap-contains? h:hashmap-ref h:hashmap-ref/default h:hashmap-set
      h:hashmap-adjoin h:hashmap-delete-all h:hashmap-replace h:hashmap-intern h:hashmap-update/default h:hashmap-pop
      h:hashmap-map h:hashmap-filter h:hashmap-remove h:hashmap-size h:hashmap-count h:hashmap-keys h:hashmap-values
      h:hashmap-entries h:hashmap-fold h:hashmap-map->list h:hashmap->alist h:hashmap-key-comparator
      h:hashmap-delete)))
