;;; (srfi 146): ordered mappings; also as (scheme mapping).  They are the trees of (cairn tree).
(define-library (srfi 146)
  (export
   (rename make mapping) (rename unfold mapping-unfold) (rename make mapping/ordered)
   (rename unfold mapping-unfold/ordered)
   (rename is? mapping?) (rename contains? mapping-contains?) (rename is-empty? mapping-empty?)
   (rename disjoint? mapping-disjoint?)
   (rename ref mapping-ref) (rename ref/default mapping-ref/default) (rename key-comparator mapping-key-comparator)
   (rename adjoin mapping-adjoin) (rename adjoin mapping-adjoin!) (rename set mapping-set) (rename set mapping-set!)
   (rename replace mapping-replace) (rename replace mapping-replace!) (rename delete mapping-delete)
   (rename delete mapping-delete!) (rename delete-all mapping-delete-all) (rename delete-all mapping-delete-all!)
   (rename intern mapping-intern) (rename intern mapping-intern!) (rename update mapping-update)
   (rename update mapping-update!) (rename update/default mapping-update/default)
   (rename update/default mapping-update!/default) (rename pop mapping-pop) (rename pop mapping-pop!)
   (rename search mapping-search) (rename search mapping-search!)
   (rename size mapping-size) (rename find mapping-find) (rename count mapping-count) (rename any? mapping-any?)
   (rename every? mapping-every?) (rename keys mapping-keys) (rename all-values mapping-values)
   (rename entries mapping-entries)
   (rename mapped mapping-map) (rename each mapping-for-each) (rename fold mapping-fold)
   (rename map->list mapping-map->list) (rename filter-tree mapping-filter) (rename filter-tree mapping-filter!)
   (rename remove-tree mapping-remove) (rename remove-tree mapping-remove!) (rename partition-tree mapping-partition)
   (rename partition-tree mapping-partition!)
   (rename copy mapping-copy) (rename ->alist mapping->alist) (rename from-alist alist->mapping)
   (rename adjoin-alist alist->mapping!) (rename from-alist alist->mapping/ordered)
   (rename adjoin-alist alist->mapping/ordered!)
   (rename all-same? mapping=?) (rename all-less? mapping<?) (rename all-greater? mapping>?)
   (rename all-within? mapping<=?) (rename all-around? mapping>=?)
   (rename tree-union mapping-union) (rename tree-union mapping-union!)
   (rename tree-intersection mapping-intersection) (rename tree-intersection mapping-intersection!)
   (rename tree-difference mapping-difference) (rename tree-difference mapping-difference!)
   (rename tree-xor mapping-xor) (rename tree-xor mapping-xor!)
   mapping-min-key mapping-max-key mapping-min-value mapping-max-value mapping-min-entry mapping-max-entry
   mapping-key-predecessor mapping-key-successor
   mapping-range= mapping-range< mapping-range> mapping-range<= mapping-range>=
   (rename mapping-range= mapping-range=!) (rename mapping-range< mapping-range<!)
   (rename mapping-range> mapping-range>!) (rename mapping-range<= mapping-range<=!)
   (rename mapping-range>= mapping-range>=!)
   mapping-split (rename mapping-split mapping-split!) mapping-catenate mapping-catenate!
   (rename mapped-in-order mapping-map/monotone) (rename mapped-in-order mapping-map/monotone!) mapping-fold/reverse
   make-mapping-comparator mapping-comparator comparator?)
  (import (scheme base) (scheme case-lambda)
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

    (define (empty comparator)
      (if (and (comparator? comparator) (comparator-ordered? comparator))
          (make-mapping comparator #f)
          (wrong-type "mapping" "a comparator with an order" comparator)))
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

    (define (filter-tree ok? m) (with m (tree-filter ok? (tree-of (check "mapping-filter" m)))))
    (define (remove-tree ok? m) (filter-tree (lambda (key value) (not (ok? key value))) m))
    (define (partition-tree ok? m) (values (filter-tree ok? m) (remove-tree ok? m)))
    (define (with-trees combine)
      (from-left (lambda (a b) (with a (combine (order a) (tree-of a) (tree-of b))))))
    (define tree-union (with-trees trees-union))
    (define tree-intersection (with-trees trees-intersection))
    (define tree-difference (with-trees trees-difference))
    (define (tree-xor a b) (tree-union (tree-difference a b) (tree-difference b a)))

    ;; The keys stay in order.
    (define (mapped-in-order proc comparator m)
      (make-mapping (comparator-of (empty comparator))
                    (list->tree (map->list (lambda (key value)
                                             (let-values (((key value) (proc key value)))
                                               (cons key value)))
                                           m))))
    (define (mapping-fold/reverse proc nil m)
      (tree-fold-right proc nil (tree-of (check "mapping-fold/reverse" m))))

    ;;;; Order

    (define (end-of who tree-end m)
      (if (tree-of (check who m))
          (tree-end (tree-of m))
          (error "the mapping is empty")))
    (define (mapping-min-key m) (tree-key (end-of "mapping-min-key" tree-min m)))
    (define (mapping-max-key m) (tree-key (end-of "mapping-max-key" tree-max m)))
    (define (mapping-min-value m) (tree-value (end-of "mapping-min-value" tree-min m)))
    (define (mapping-max-value m) (tree-value (end-of "mapping-max-value" tree-max m)))
    (define (mapping-min-entry m)
      (let ((entry (end-of "mapping-min-entry" tree-min m)))
        (values (tree-key entry) (tree-value entry))))
    (define (mapping-max-entry m)
      (let ((entry (end-of "mapping-max-entry" tree-max m)))
        (values (tree-key entry) (tree-value entry))))

    (define (mapping-key-predecessor m key failure)
      (let ((entry (tree-below (order (check "mapping-key-predecessor" m)) (tree-of m) key)))
        (if entry (tree-key entry) (failure))))
    (define (mapping-key-successor m key failure)
      (let ((entry (tree-above (order (check "mapping-key-successor" m)) (tree-of m) key)))
        (if entry (tree-key entry) (failure))))

    (define (mapping-split m key)
      (check "mapping-split" m)
      (let-values (((below at above) (tree-split (order m) (tree-of m) key)))
        (define (with-key left right)
          (if at (tree-link left (tree-key at) (tree-value at) right) (or left right)))
        (values (with m below) (with m (with-key below #f)) (with m (with-key #f #f)) (with m (with-key #f above))
                (with m above))))
    (define (range part)
      (lambda (m key)
        (let-values ((parts (mapping-split m key))) (list-ref parts part))))
    (define mapping-range< (range 0))
    (define mapping-range<= (range 1))
    (define mapping-range= (range 2))
    (define mapping-range>= (range 3))
    (define mapping-range> (range 4))

    (define (mapping-catenate comparator a key value b)
      (make-mapping (comparator-of (empty comparator))
                    (tree-link (tree-of (check "mapping-catenate" a)) key value
                               (tree-of (check "mapping-catenate" b)))))
    (define (mapping-catenate! a key value b) (mapping-catenate (key-comparator a) a key value b))

    ;;;; Comparators

    ;; By the first association that differs, first by key, then by value; a mapping that ends there is less.
    (define (mapping-less? comparator)
      (lambda (a b)
        (let ((key<? (order a)) (value<? (comparator-ordering-predicate comparator)))
          (let loop ((a (->alist a)) (b (->alist b)))
            (cond ((null? b) #f)
                  ((null? a) #t)
                  ((key<? (caar a) (caar b)) #t)
                  ((key<? (caar b) (caar a)) #f)
                  ((value<? (cdar a) (cdar b)) #t)
                  ((value<? (cdar b) (cdar a)) #f)
                  (else (loop (cdr a) (cdr b))))))))
    (define (make-mapping-comparator comparator)
      (make-comparator is?
                       (lambda (a b) (same? comparator a b))
                       (and (comparator-ordered? comparator) (mapping-less? comparator))
                       #f))
    (define mapping-comparator (make-mapping-comparator (make-default-comparator)))
    (comparator-register-default! mapping-comparator)))
