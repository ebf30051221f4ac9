;;; (srfi 146): ordered mappings; also as (scheme mapping).  They are the trees of (cairn tree).
(define-library (srfi 146)
  (export
   (rename make mapping) (rename unfold mapping-unfold) mapping/ordered
   mapping-unfold/ordered
   (rename is? mapping?) (rename contains? mapping-contains?) (rename is-empty? mapping-empty?)
   (rename disjoint? mapping-disjoint?)
   (rename ref mapping-ref) (rename ref/default mapping-ref/default) (rename key-comparator mapping-key-comparator)
   (rename adjoin mapping-adjoin) (rename adjoin! mapping-adjoin!) (rename set mapping-set) (rename set! mapping-set!)
   (rename replace mapping-replace) (rename replace! mapping-replace!) (rename delete mapping-delete)
   (rename delete! mapping-delete!) (rename delete-all mapping-delete-all) (rename delete-all! mapping-delete-all!)
   (rename intern mapping-intern) (rename intern! mapping-intern!) (rename update mapping-update)
   (rename update! mapping-update!) (rename update/default mapping-update/default)
   (rename update!/default mapping-update!/default) (rename pop mapping-pop) (rename pop! mapping-pop!)
   (rename search mapping-search) (rename search! mapping-search!)
   (rename size mapping-size) (rename find mapping-find) (rename count mapping-count) (rename any? mapping-any?)
   (rename every? mapping-every?) (rename keys mapping-keys) (rename all-values mapping-values)
   (rename entries mapping-entries)
   (rename mapped mapping-map) (rename each mapping-for-each) (rename fold mapping-fold)
   (rename map->list mapping-map->list) (rename filter-tree mapping-filter) (rename filter-tree! mapping-filter!)
   (rename remove-tree mapping-remove) (rename remove-tree! mapping-remove!) (rename partition-tree mapping-partition)
   (rename partition-tree! mapping-partition!)
   (rename copy mapping-copy) (rename ->alist mapping->alist) (rename from-alist alist->mapping)
   (rename adjoin-alist alist->mapping!) alist->mapping/ordered
   alist->mapping/ordered!
   (rename all-same? mapping=?) (rename all-less? mapping<?) (rename all-greater? mapping>?)
   (rename all-within? mapping<=?) (rename all-around? mapping>=?)
   (rename tree-union mapping-union) (rename tree-union! mapping-union!)
   (rename tree-intersection mapping-intersection) (rename tree-intersection! mapping-intersection!)
   (rename tree-difference mapping-difference) (rename tree-difference! mapping-difference!)
   (rename tree-xor mapping-xor) (rename tree-xor! mapping-xor!)
   mapping-min-key mapping-max-key mapping-min-value mapping-max-value mapping-min-entry mapping-max-entry
   mapping-key-predecessor mapping-key-successor
   mapping-range= mapping-range< mapping-range> mapping-range<= mapping-range>=
   mapping-range=! mapping-range<! mapping-range>! mapping-range<=! mapping-range>=!
   mapping-split mapping-split! mapping-catenate mapping-catenate!
   mapping-map/monotone mapping-map/monotone! mapping-fold/reverse
   make-mapping-comparator mapping-comparator comparator?)
  (import (rename (scheme base) (set! assign!)) (scheme case-lambda)
          (rename (cairn tree) (tree-union trees-union) (tree-intersection trees-intersection)
                  (tree-difference trees-difference))
          (only (srfi 128) comparator? comparator-ordered? comparator-equality-predicate
                comparator-ordering-predicate make-comparator make-default-comparator
                comparator-register-default!)
          (only (cairn control) wrong-type) (only (cairn records) show-fields!))
  (include "146/shared.scm")
  (begin

    (define-record-type <mapping>
      (make-mapping comparator tree)
      is?
      (comparator comparator-of)
      (tree tree-of))
    (show-fields! <mapping> '())

    (define kind "mapping")
    (define kind-in-words "a mapping")
    (define (check-comparator who comparator)
      (if (and (comparator? comparator) (comparator-ordered? comparator))
          comparator
          (wrong-type who "a comparator with an order" comparator)))
    (define (empty comparator) (make-mapping comparator #f))
    (define (order m) (comparator-ordering-predicate (comparator-of m)))
    (define (with m tree)
      (if (eq? tree (tree-of m)) m (make-mapping (comparator-of m) tree)))

    (define (size-of m) (tree-size (tree-of m)))
    (define (find-entry m key) (tree-find (order m) (tree-of m) key))
    (define entry-key tree-key)
    (define entry-value tree-value)
    (define (put m key value) (with m (tree-put (order m) (tree-of m) key value)))
    (define (drop m key) (with m (tree-drop (order m) (tree-of m) key)))
    (define (fold-entries proc nil m) (tree-fold proc nil (tree-of m)))
    (define (search-entries ok? m) (tree-search ok? (tree-of m)))

    ;;;; What trees do at once

    (define (kept ok? m) (with m (tree-filter ok? (tree-of m))))
    (define-twice end (filter-tree "-filter") (filter-tree! "-filter!")
      (lambda (ok? m) (kept ok? (check end m))))
    (define-twice end (remove-tree "-remove") (remove-tree! "-remove!")
      (lambda (ok? m) (kept (lambda (key value) (not (ok? key value))) (check end m))))
    (define-twice end (partition-tree "-partition") (partition-tree! "-partition!")
      (lambda (ok? m)
        (let ((in (kept ok? (check end m))))
          (values in (combined trees-difference m in)))))
    (define (combined combine a b) (with a (combine (order a) (tree-of a) (tree-of b))))
    (define-syntax define-from-left
      (syntax-rules ()
        ((_ name! name combine)
         (define-twice end name name!
           (lambda (a . rest) (from-left (lambda (a b) (combined combine a b)) end a rest))))))
    (define-from-left (tree-union! "-union!") (tree-union "-union") trees-union)
    (define-from-left (tree-intersection! "-intersection!") (tree-intersection "-intersection") trees-intersection)
    (define-from-left (tree-difference! "-difference!") (tree-difference "-difference") trees-difference)
    (define-twice end (tree-xor "-xor") (tree-xor! "-xor!")
      (lambda (a b)
        (check end a)
        (check end b)
        (combined trees-union (combined trees-difference a b) (combined trees-difference b a))))

    ;; The keys stay in order.
    (define-twice end (mapping-map/monotone "-map/monotone") (mapping-map/monotone! "-map/monotone!")
      (lambda (proc comparator m)
        (check end m)
        (make-mapping (check-comparator (string-append kind end) comparator)
                      (list->tree (listed (lambda (key value)
                                            (let-values (((key value) (proc key value)))
                                              (cons key value)))
                                          m)))))

    ;; Every mapping is ordered.
    (define (mapping/ordered comparator . arguments) (make-for "/ordered" comparator arguments))
    (define (mapping-unfold/ordered stop? mapper successor seed comparator)
      (unfold-for "-unfold/ordered" stop? mapper successor seed comparator))
    (define (alist->mapping/ordered comparator alist) (from-alist-for "alist->mapping/ordered" comparator alist))
    (define (alist->mapping/ordered! m alist) (adjoin-alist-for "alist->mapping/ordered!" m alist))

    (define (mapping-fold/reverse proc nil m)
      (tree-fold-right proc nil (tree-of (check "-fold/reverse" m))))

    ;;;; Order

    (define (end-of end tree-end m)
      (if (tree-of (check end m))
          (tree-end (tree-of m))
          (error (string-append kind end ": the mapping is empty"))))
    (define (mapping-min-key m) (tree-key (end-of "-min-key" tree-min m)))
    (define (mapping-max-key m) (tree-key (end-of "-max-key" tree-max m)))
    (define (mapping-min-value m) (tree-value (end-of "-min-value" tree-min m)))
    (define (mapping-max-value m) (tree-value (end-of "-max-value" tree-max m)))
    (define (mapping-min-entry m)
      (let ((entry (end-of "-min-entry" tree-min m)))
        (values (tree-key entry) (tree-value entry))))
    (define (mapping-max-entry m)
      (let ((entry (end-of "-max-entry" tree-max m)))
        (values (tree-key entry) (tree-value entry))))

    (define (mapping-key-predecessor m key failure)
      (let ((entry (tree-below (order (check "-key-predecessor" m)) (tree-of m) key)))
        (if entry (tree-key entry) (failure))))
    (define (mapping-key-successor m key failure)
      (let ((entry (tree-above (order (check "-key-successor" m)) (tree-of m) key)))
        (if entry (tree-key entry) (failure))))

    (define-twice end (mapping-split "-split") (mapping-split! "-split!")
      (lambda (m key) (split (check end m) key)))
    (define (split m key)
      (let-values (((below at above) (tree-split (order m) (tree-of m) key)))
        (define (with-key left right)
          (if at (tree-link left (tree-key at) (tree-value at) right) (or left right)))
        (values (with m below) (with m (with-key below #f)) (with m (with-key #f #f)) (with m (with-key #f above))
                (with m above))))
    (define-syntax define-range
      (syntax-rules ()
        ((_ name name! part)
         (define-twice end name name!
           (lambda (m key)
             (let-values ((parts (split (check end m) key))) (list-ref parts part)))))))
    (define-range (mapping-range< "-range<") (mapping-range<! "-range<!") 0)
    (define-range (mapping-range<= "-range<=") (mapping-range<=! "-range<=!") 1)
    (define-range (mapping-range= "-range=") (mapping-range=! "-range=!") 2)
    (define-range (mapping-range>= "-range>=") (mapping-range>=! "-range>=!") 3)
    (define-range (mapping-range> "-range>") (mapping-range>! "-range>!") 4)

    (define (mapping-catenate comparator a key value b)
      (make-mapping (check-comparator "mapping-catenate" comparator)
                    (tree-link (tree-of (check "-catenate" a)) key value
                               (tree-of (check "-catenate" b)))))
    (define (mapping-catenate! a key value b)
      (make-mapping (comparator-of (check "-catenate!" a))
                    (tree-link (tree-of a) key value (tree-of (check "-catenate!" b)))))

    ;;;; Comparators

    ;; By the first association that differs, first by key, then by value; a mapping that ends there is less.
    (define (mapping-less? comparator)
      (lambda (a b)
        (let ((key<? (order a)) (value<? (comparator-ordering-predicate comparator)))
          (let loop ((a (listed cons a)) (b (listed cons b)))
            (cond ((null? b) #f)
                  ((null? a) #t)
                  ((key<? (caar a) (caar b)) #t)
                  ((key<? (caar b) (caar a)) #f)
                  ((value<? (cdar a) (cdar b)) #t)
                  ((value<? (cdar b) (cdar a)) #f)
                  (else (loop (cdr a) (cdr b))))))))
    (define (make-mapping-comparator comparator)
      (if (not (comparator? comparator)) (wrong-type "make-mapping-comparator" "a comparator" comparator))
      (make-comparator is?
                       (lambda (a b) (same? comparator a b))
                       (and (comparator-ordered? comparator) (mapping-less? comparator))
                       #f))
    (define mapping-comparator (make-mapping-comparator (make-default-comparator)))
    (comparator-register-default! mapping-comparator)))
