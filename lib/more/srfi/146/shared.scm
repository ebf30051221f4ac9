;; Included by (srfi 146) and (srfi 146 hash): what mappings of both kinds do in the same way.  The library defines what
;; it stands on:
;;
;;   (empty comparator)  (is? x)  (comparator-of m)  (size-of m)
;;   (find-entry m key)             an entry, read by `entry-key` and `entry-value`, or #f
;;   (put m key value)  (drop m key)
;;   (fold-entries proc nil m)      (proc key value acc)
;;   (search-entries ok? m)         the first entry with (ok? key value), or #f
;;
;; Nothing is ever changed; so the procedures with `!` are those without.

(define (check who m)
  (if (is? m) m (wrong-type who "a mapping" m)))

(define (absent)
  (error "the mapping has no such key"))

;;;; Making

;; The first of several associations with one key counts.
(define (adjoin-one m key value)
  (if (find-entry m key) m (put m key value)))

(define (each-two who proc m arguments)
  (let loop ((m m) (l arguments))
    (cond
      ((null? l) m)
      ((null? (cdr l)) (error (string-append who ": a key has no value:") (car l)))
      (else (loop (proc m (car l) (cadr l)) (cddr l))))))

(define (make comparator . arguments)
  (each-two "mapping" adjoin-one (empty comparator) arguments))

(define (unfold stop? mapper successor seed comparator)
  (let loop ((m (empty comparator)) (seed seed))
    (if (stop? seed)
        m
        (let-values (((key value) (mapper seed)))
          (loop (adjoin-one m key value) (successor seed))))))

(define (from-alist comparator alist)
  (adjoin-alist (empty comparator) alist))
(define (adjoin-alist m alist)
  (if (null? alist)
      m
      (adjoin-alist (adjoin-one m (caar alist) (cdar alist)) (cdr alist))))

;;;; Asking

(define (contains? m key) (if (find-entry (check "mapping-contains?" m) key) #t #f))
(define (is-empty? m) (= 0 (size-of (check "mapping-empty?" m))))
(define (disjoint? a b)
  (check "mapping-disjoint?" b)
  (not (search-entries (lambda (key value) (find-entry b key)) (check "mapping-disjoint?" a))))
(define (key-comparator m) (comparator-of (check "mapping-key-comparator" m)))
(define (size m) (size-of (check "mapping-size" m)))

(define ref
  (case-lambda
    ((m key) (ref m key absent))
    ((m key failure)
     (let ((entry (find-entry (check "mapping-ref" m) key)))
       (if entry (entry-value entry) (failure))))
    ((m key failure success)
     (let ((entry (find-entry (check "mapping-ref" m) key)))
       (if entry (success (entry-value entry)) (failure))))))
(define (ref/default m key default)
  (let ((entry (find-entry (check "mapping-ref/default" m) key)))
    (if entry (entry-value entry) default)))

;;;; One key

(define (adjoin m . arguments)
  (each-two "mapping-adjoin" adjoin-one (check "mapping-adjoin" m) arguments))
(define (set m . arguments)
  (each-two "mapping-set" put (check "mapping-set" m) arguments))
(define (replace m key value)
  (if (find-entry (check "mapping-replace" m) key) (put m key value) m))
(define (delete m . keys) (delete-all m keys))
(define (delete-all m keys)
  (check "mapping-delete-all" m)
  (if (null? keys) m (delete-all (drop m (car keys)) (cdr keys))))

(define (intern m key failure)
  (let ((entry (find-entry (check "mapping-intern" m) key)))
    (if entry
        (values m (entry-value entry))
        (let ((value (failure)))
          (values (put m key value) value)))))

(define update
  (case-lambda
    ((m key updater) (put m key (updater (ref m key))))
    ((m key updater failure) (put m key (updater (ref m key failure))))
    ((m key updater failure success) (put m key (updater (ref m key failure success))))))
(define (update/default m key updater default)
  (put m key (updater (ref/default m key default))))

(define pop
  (case-lambda
    ((m) (pop m (lambda () (error "the mapping is empty"))))
    ((m failure)
     (let ((entry (search-entries (lambda (key value) #t) (check "mapping-pop" m))))
       (if entry
           (values (drop m (entry-key entry)) (entry-key entry) (entry-value entry))
           (failure))))))

(define (search m key failure success)
  (let ((entry (find-entry (check "mapping-search" m) key)))
    (if entry
        (success (entry-key entry) (entry-value entry)
                 (lambda (new-key value obj) (values (put (drop m key) new-key value) obj))
                 (lambda (obj) (values (drop m key) obj)))
        (failure (lambda (value obj) (values (put m key value) obj))
                 (lambda (obj) (values m obj))))))

;;;; All of them

(define (find ok? m failure)
  (let ((entry (search-entries ok? (check "mapping-find" m))))
    (if entry (values (entry-key entry) (entry-value entry)) (failure))))
(define (count ok? m)
  (fold (lambda (key value n) (if (ok? key value) (+ n 1) n)) 0 m))
(define (any? ok? m)
  (if (search-entries ok? (check "mapping-any?" m)) #t #f))
(define (every? ok? m)
  (not (search-entries (lambda (key value) (not (ok? key value))) (check "mapping-every?" m))))
(define (keys m) (map->list (lambda (key value) key) m))
(define (all-values m) (map->list (lambda (key value) value) m))
(define (entries m) (values (keys m) (all-values m)))

(define (fold proc nil m)
  (fold-entries proc nil (check "mapping-fold" m)))
(define (map->list proc m)
  (reverse (fold (lambda (key value acc) (cons (proc key value) acc)) '() m)))
(define (->alist m) (map->list cons m))
(define (each proc m)
  (fold (lambda (key value acc) (proc key value) acc) #f m)
  (if #f #f))
(define (mapped proc comparator m)
  (fold (lambda (key value acc)
          (let-values (((key value) (proc key value)))
            (adjoin-one acc key value)))
        (empty comparator)
        m))
(define (filter ok? m)
  (fold (lambda (key value acc) (if (ok? key value) acc (drop acc key))) m m))
(define (remove ok? m)
  (filter (lambda (key value) (not (ok? key value))) m))
(define (partition ok? m)
  (let ((in+out (fold (lambda (key value acc)
                        (if (ok? key value)
                            (cons (car acc) (drop (cdr acc) key))
                            (cons (drop (car acc) key) (cdr acc))))
                      (cons m m)
                      m)))
    (values (car in+out) (cdr in+out))))
(define (copy m) (check "mapping-copy" m))

;;;; Mappings with mappings

;; Has `b` all associations of `a`?
(define (within? comparator a b)
  (let ((same? (comparator-equality-predicate comparator)))
    (check "mapping<=?" b)
    (not (search-entries
          (lambda (key value)
            (let ((entry (find-entry b key)))
              (not (and entry (same? value (entry-value entry))))))
          (check "mapping<=?" a)))))
(define (same? comparator a b)
  (and (eq? (key-comparator a) (key-comparator b))
       (= (size a) (size b))
       (within? comparator a b)))
(define (less? comparator a b)
  (and (< (size a) (size b)) (within? comparator a b)))

(define (chain holds?)
  (lambda (comparator a . rest)
    (let loop ((a a) (rest rest))
      (or (null? rest)
          (and (holds? comparator a (car rest))
               (loop (car rest) (cdr rest)))))))
(define all-same? (chain same?))
(define all-less? (chain less?))
(define all-greater? (chain (lambda (comparator a b) (less? comparator b a))))
(define all-within? (chain within?))
(define all-around? (chain (lambda (comparator a b) (within? comparator b a))))

(define (from-left combine)
  (lambda (a . rest)
    (let loop ((a (check "mapping-union" a)) (rest rest))
      (if (null? rest)
          a
          (loop (combine a (check "mapping-union" (car rest))) (cdr rest))))))
(define union
  (from-left (lambda (a b) (fold (lambda (key value acc) (adjoin-one acc key value)) a b))))
(define intersection
  (from-left (lambda (a b) (filter (lambda (key value) (find-entry b key)) a))))
(define difference
  (from-left (lambda (a b) (fold (lambda (key value acc) (drop acc key)) a b))))
(define (xor a b) (union (difference a b) (difference b a)))
