;; Included by (srfi 146) and (srfi 146 hash): what mappings of both kinds do in the same way.  The library defines what
;; it stands on:
;;
;;   kind                           "mapping" or "hashmap": what the names of the procedures begin with
;;   (check-comparator who comparator)
;;   (empty comparator)  (is? x)  (comparator-of m)  (size-of m)
;;   (find-entry m key)             an entry, read by `entry-key` and `entry-value`, or #f
;;   (put m key value)  (drop m key)
;;   (fold-entries proc nil m)      (proc key value acc)
;;   (search-entries ok? m)         the first entry with (ok? key value), or #f
;;
;; Nothing is ever changed; so the procedures with `!` are those without.

;; The end of a name, such as `-ref`, makes it known that it was `mapping-ref` or `hashmap-ref`.
(define (check end m)
  (if (is? m) m (wrong-type (string-append kind end) kind-in-words m)))
(define (check-list who l)
  (if (list? l) l (wrong-type who "a list" l)))

(define (absent end key)
  (error (string-append kind end ": the mapping has no such key:") key))

;;;; Making

;; The first of several associations with one key counts.
(define (adjoin-one m key value)
  (if (find-entry m key) m (put m key value)))

(define (each-two end proc m arguments)
  (let loop ((m m) (l arguments))
    (cond
      ((null? l) m)
      ((null? (cdr l)) (error (string-append kind end ": a key has no value:") (car l)))
      (else (loop (proc m (car l) (cadr l)) (cddr l))))))

(define (make comparator . arguments)
  (each-two "" adjoin-one (empty (check-comparator kind comparator)) arguments))

(define (unfold stop? mapper successor seed comparator)
  (let loop ((m (empty (check-comparator (string-append kind "-unfold") comparator))) (seed seed))
    (if (stop? seed)
        m
        (let-values (((key value) (mapper seed)))
          (loop (adjoin-one m key value) (successor seed))))))

(define (from-alist comparator alist)
  (let ((who (string-append "alist->" kind)))
    (adjoin-pairs who (empty (check-comparator who comparator)) alist)))
(define (adjoin-alist m alist)
  (let ((who (string-append "alist->" kind "!")))
    (adjoin-pairs who (if (is? m) m (wrong-type who kind-in-words m)) alist)))
(define (adjoin-pairs who m alist)
  (let loop ((m m) (l (check-list who alist)))
    (cond
      ((null? l) m)
      ((pair? (car l)) (loop (adjoin-one m (caar l) (cdar l)) (cdr l)))
      (else (wrong-type who "pairs in the list" (car l))))))

;;;; Asking

(define (contains? m key) (if (find-entry (check "-contains?" m) key) #t #f))
(define (is-empty? m) (= 0 (size-of (check "-empty?" m))))
(define (disjoint? a b)
  (check "-disjoint?" b)
  (not (search-entries (lambda (key value) (find-entry b key)) (check "-disjoint?" a))))
(define (key-comparator m) (comparator-of (check "-key-comparator" m)))
(define (size m) (size-of (check "-size" m)))

(define ref
  (case-lambda
    ((m key)
     (let ((entry (find-entry (check "-ref" m) key)))
       (if entry (entry-value entry) (absent "-ref" key))))
    ((m key failure)
     (let ((entry (find-entry (check "-ref" m) key)))
       (if entry (entry-value entry) (failure))))
    ((m key failure success)
     (let ((entry (find-entry (check "-ref" m) key)))
       (if entry (success (entry-value entry)) (failure))))))
(define (ref/default m key default)
  (let ((entry (find-entry (check "-ref/default" m) key)))
    (if entry (entry-value entry) default)))

;;;; One key

(define (adjoin m . arguments)
  (each-two "-adjoin" adjoin-one (check "-adjoin" m) arguments))
(define (set m . arguments)
  (each-two "-set" put (check "-set" m) arguments))
(define (replace m key value)
  (if (find-entry (check "-replace" m) key) (put m key value) m))
(define (delete m . keys) (drop-all (check "-delete" m) keys))
(define (delete-all m keys)
  (drop-all (check "-delete-all" m) (check-list (string-append kind "-delete-all") keys)))
(define (drop-all m keys)
  (if (null? keys) m (drop-all (drop m (car keys)) (cdr keys))))

(define (intern m key failure)
  (let ((entry (find-entry (check "-intern" m) key)))
    (if entry
        (values m (entry-value entry))
        (let ((value (failure)))
          (values (put m key value) value)))))

(define update
  (case-lambda
    ((m key updater)
     (let ((entry (find-entry (check "-update" m) key)))
       (put m key (updater (if entry (entry-value entry) (absent "-update" key))))))
    ((m key updater failure) (put m key (updater (ref (check "-update" m) key failure))))
    ((m key updater failure success) (put m key (updater (ref (check "-update" m) key failure success))))))
(define (update/default m key updater default)
  (put m key (updater (ref/default (check "-update/default" m) key default))))

(define pop
  (case-lambda
    ((m) (pop m (lambda () (error (string-append kind "-pop: the mapping is empty")))))
    ((m failure)
     (let ((entry (search-entries (lambda (key value) #t) (check "-pop" m))))
       (if entry
           (values (drop m (entry-key entry)) (entry-key entry) (entry-value entry))
           (failure))))))

(define (search m key failure success)
  (let ((entry (find-entry (check "-search" m) key)))
    (if entry
        (success (entry-key entry) (entry-value entry)
                 (lambda (new-key value obj) (values (put (drop m key) new-key value) obj))
                 (lambda (obj) (values (drop m key) obj)))
        (failure (lambda (value obj) (values (put m key value) obj))
                 (lambda (obj) (values m obj))))))

;;;; All of them

(define (find ok? m failure)
  (let ((entry (search-entries ok? (check "-find" m))))
    (if entry (values (entry-key entry) (entry-value entry)) (failure))))
(define (count ok? m)
  (fold-entries (lambda (key value n) (if (ok? key value) (+ n 1) n)) 0 (check "-count" m)))
(define (any? ok? m)
  (if (search-entries ok? (check "-any?" m)) #t #f))
(define (every? ok? m)
  (not (search-entries (lambda (key value) (not (ok? key value))) (check "-every?" m))))
(define (keys m) (listed (lambda (key value) key) (check "-keys" m)))
(define (all-values m) (listed (lambda (key value) value) (check "-values" m)))
(define (entries m)
  (check "-entries" m)
  (values (keys m) (all-values m)))

(define (fold proc nil m)
  (fold-entries proc nil (check "-fold" m)))
(define (map->list proc m) (listed proc (check "-map->list" m)))
(define (->alist m) (listed cons (check "->alist" m)))
(define (listed proc m)
  (reverse (fold-entries (lambda (key value acc) (cons (proc key value) acc)) '() m)))
(define (each proc m)
  (fold-entries (lambda (key value acc) (proc key value) acc) #f (check "-for-each" m))
  (if #f #f))
(define (mapped proc comparator m)
  (check "-map" m)
  (fold-entries (lambda (key value acc)
                  (let-values (((key value) (proc key value)))
                    (adjoin-one acc key value)))
                (empty (check-comparator (string-append kind "-map") comparator))
                m))
(define (filter ok? m) (filtered ok? (check "-filter" m)))
(define (filtered ok? m)
  (fold-entries (lambda (key value acc) (if (ok? key value) acc (drop acc key))) m m))
(define (remove ok? m)
  (filtered (lambda (key value) (not (ok? key value))) (check "-remove" m)))
(define (partition ok? m)
  (check "-partition" m)
  (let ((in+out (fold-entries (lambda (key value acc)
                                (if (ok? key value)
                                    (cons (car acc) (drop (cdr acc) key))
                                    (cons (drop (car acc) key) (cdr acc))))
                              (cons m m)
                              m)))
    (values (car in+out) (cdr in+out))))
(define (copy m) (check "-copy" m))

;;;; Mappings with mappings

;; Has `b` all associations of `a`?
(define (within? comparator a b)
  (let ((same? (comparator-equality-predicate comparator)))
    (not (search-entries
          (lambda (key value)
            (let ((entry (find-entry b key)))
              (not (and entry (same? value (entry-value entry))))))
          a))))
(define (same? comparator a b)
  (and (eq? (comparator-of a) (comparator-of b))
       (= (size-of a) (size-of b))
       (within? comparator a b)))
(define (less? comparator a b)
  (and (< (size-of a) (size-of b)) (within? comparator a b)))

(define-syntax define-chain
  (syntax-rules ()
    ((_ name end holds?)
     (define (name comparator a . rest)
       (if (not (comparator? comparator)) (wrong-type (string-append kind end) "a comparator" comparator))
       (check end a)
       (let loop ((a a) (rest rest))
         (or (null? rest)
             (and (holds? comparator a (check end (car rest)))
                  (loop (car rest) (cdr rest)))))))))
(define-chain all-same? "=?" same?)
(define-chain all-less? "<?" less?)
(define-chain all-greater? ">?" (lambda (comparator a b) (less? comparator b a)))
(define-chain all-within? "<=?" within?)
(define-chain all-around? ">=?" (lambda (comparator a b) (within? comparator b a)))

(define-syntax define-from-left
  (syntax-rules ()
    ((_ name end combine)
     (define (name a . rest)
       (let loop ((a (check end a)) (rest rest))
         (if (null? rest)
             a
             (loop (combine a (check end (car rest))) (cdr rest))))))))
(define-from-left union "-union" joined)
(define-from-left intersection "-intersection"
  (lambda (a b) (filtered (lambda (key value) (find-entry b key)) a)))
(define-from-left difference "-difference" left)
(define (joined a b) (fold-entries (lambda (key value acc) (adjoin-one acc key value)) a b))
(define (left a b) (fold-entries (lambda (key value acc) (drop acc key)) a b))
(define (xor a b)
  (check "-xor" a)
  (check "-xor" b)
  (joined (left a b) (left b a)))
