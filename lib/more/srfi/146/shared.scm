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
;; Nothing is ever changed; so the procedures with `!` do what those without do, and differ by the name that errors
;; tell.

;; (define-twice end (name end-of-name) (name! end-of-name!) procedure): both procedures, in which `end` is the end of
;; the name.
(define-syntax define-twice
  (syntax-rules ()
    ((_ end (name end-of-name) (name! end-of-name!) procedure)
     (begin
       (define-syntax procedure-for (syntax-rules () ((_ end) procedure)))
       (define name (procedure-for end-of-name))
       (define name! (procedure-for end-of-name!))))))

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

(define (make-for end comparator arguments)
  (each-two end adjoin-one (empty (check-comparator (string-append kind end) comparator)) arguments))
(define (make comparator . arguments) (make-for "" comparator arguments))

(define (unfold stop? mapper successor seed comparator)
  (unfold-for "-unfold" stop? mapper successor seed comparator))
(define (unfold-for end stop? mapper successor seed comparator)
  (let loop ((m (empty (check-comparator (string-append kind end) comparator))) (seed seed))
    (if (stop? seed)
        m
        (let-values (((key value) (mapper seed)))
          (loop (adjoin-one m key value) (successor seed))))))

(define (from-alist-for who comparator alist)
  (adjoin-pairs who (empty (check-comparator who comparator)) alist))
(define (from-alist comparator alist) (from-alist-for (string-append "alist->" kind) comparator alist))
(define (adjoin-alist-for who m alist)
  (adjoin-pairs who (if (is? m) m (wrong-type who kind-in-words m)) alist))
(define (adjoin-alist m alist) (adjoin-alist-for (string-append "alist->" kind "!") m alist))
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

(define-twice end (adjoin "-adjoin") (adjoin! "-adjoin!")
  (lambda (m . arguments) (each-two end adjoin-one (check end m) arguments)))
(define-twice end (set "-set") (set! "-set!")
  (lambda (m . arguments) (each-two end put (check end m) arguments)))
(define-twice end (replace "-replace") (replace! "-replace!")
  (lambda (m key value) (if (find-entry (check end m) key) (put m key value) m)))
(define-twice end (delete "-delete") (delete! "-delete!")
  (lambda (m . keys) (drop-all (check end m) keys)))
(define-twice end (delete-all "-delete-all") (delete-all! "-delete-all!")
  (lambda (m keys) (drop-all (check end m) (check-list (string-append kind end) keys))))
(define (drop-all m keys)
  (if (null? keys) m (drop-all (drop m (car keys)) (cdr keys))))

(define-twice end (intern "-intern") (intern! "-intern!")
  (lambda (m key failure)
    (let ((entry (find-entry (check end m) key)))
      (if entry
          (values m (entry-value entry))
          (let ((value (failure)))
            (values (put m key value) value))))))

(define-twice end (update "-update") (update! "-update!")
  (case-lambda
    ((m key updater)
     (let ((entry (find-entry (check end m) key)))
       (put m key (updater (if entry (entry-value entry) (absent end key))))))
    ((m key updater failure) (put m key (updater (ref (check end m) key failure))))
    ((m key updater failure success) (put m key (updater (ref (check end m) key failure success))))))
(define-twice end (update/default "-update/default") (update!/default "-update!/default")
  (lambda (m key updater default) (put m key (updater (ref/default (check end m) key default)))))

(define (pop-from m failure)
  (let ((entry (search-entries (lambda (key value) #t) m)))
    (if entry
        (values (drop m (entry-key entry)) (entry-key entry) (entry-value entry))
        (failure))))
(define-twice end (pop "-pop") (pop! "-pop!")
  (case-lambda
    ((m) (pop-from (check end m) (lambda () (error (string-append kind end ": the mapping is empty")))))
    ((m failure) (pop-from (check end m) failure))))

(define-twice end (search "-search") (search! "-search!")
  (lambda (m key failure success)
    (let ((entry (find-entry (check end m) key)))
      (if entry
          (success (entry-key entry) (entry-value entry)
                   (lambda (new-key value obj) (values (put (drop m key) new-key value) obj))
                   (lambda (obj) (values (drop m key) obj)))
          (failure (lambda (value obj) (values (put m key value) obj))
                   (lambda (obj) (values m obj)))))))

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
(define (filtered ok? m)
  (fold-entries (lambda (key value acc) (if (ok? key value) acc (drop acc key))) m m))
(define-twice end (filter "-filter") (filter! "-filter!")
  (lambda (ok? m) (filtered ok? (check end m))))
(define-twice end (remove "-remove") (remove! "-remove!")
  (lambda (ok? m) (filtered (lambda (key value) (not (ok? key value))) (check end m))))
(define (parts ok? m)
  (let ((in+out (fold-entries (lambda (key value acc)
                                (if (ok? key value)
                                    (cons (car acc) (drop (cdr acc) key))
                                    (cons (drop (car acc) key) (cdr acc))))
                              (cons m m)
                              m)))
    (values (car in+out) (cdr in+out))))
(define-twice end (partition "-partition") (partition! "-partition!")
  (lambda (ok? m) (parts ok? (check end m))))
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

(define (from-left combine end a rest)
  (let loop ((a (check end a)) (rest rest))
    (if (null? rest)
        a
        (loop (combine a (check end (car rest))) (cdr rest)))))
(define-twice end (union "-union") (union! "-union!")
  (lambda (a . rest) (from-left joined end a rest)))
(define-twice end (intersection "-intersection") (intersection! "-intersection!")
  (lambda (a . rest) (from-left common end a rest)))
(define-twice end (difference "-difference") (difference! "-difference!")
  (lambda (a . rest) (from-left left end a rest)))
(define (joined a b) (fold-entries (lambda (key value acc) (adjoin-one acc key value)) a b))
(define (common a b) (filtered (lambda (key value) (find-entry b key)) a))
(define (left a b) (fold-entries (lambda (key value acc) (drop acc key)) a b))
(define-twice end (xor "-xor") (xor! "-xor!")
  (lambda (a b)
    (check end a)
    (check end b)
    (joined (left a b) (left b a))))
