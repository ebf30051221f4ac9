;;; (srfi 146 hash): mappings by hash; also as (scheme mapping hash) and (scheme hashmap).
;;;
;;; A tree of (cairn tree) from hashes to lists of the associations that have that hash.  Such an association is a pair.
(define-library (srfi 146 hash)
  (export
   (rename make hashmap) (rename unfold hashmap-unfold)
   (rename is? hashmap?) (rename contains? hashmap-contains?) (rename is-empty? hashmap-empty?)
   (rename disjoint? hashmap-disjoint?)
   (rename ref hashmap-ref) (rename ref/default hashmap-ref/default) (rename key-comparator hashmap-key-comparator)
   (rename adjoin hashmap-adjoin) (rename adjoin! hashmap-adjoin!) (rename set hashmap-set) (rename set! hashmap-set!)
   (rename replace hashmap-replace) (rename replace! hashmap-replace!) (rename delete hashmap-delete)
   (rename delete! hashmap-delete!) (rename delete-all hashmap-delete-all) (rename delete-all! hashmap-delete-all!)
   (rename intern hashmap-intern) (rename intern! hashmap-intern!) (rename update hashmap-update)
   (rename update! hashmap-update!) (rename update/default hashmap-update/default)
   (rename update!/default hashmap-update!/default) (rename pop hashmap-pop) (rename pop! hashmap-pop!)
   (rename search hashmap-search) (rename search! hashmap-search!)
   (rename size hashmap-size) (rename find hashmap-find) (rename count hashmap-count) (rename any? hashmap-any?)
   (rename every? hashmap-every?) (rename keys hashmap-keys) (rename all-values hashmap-values)
   (rename entries hashmap-entries)
   (rename mapped hashmap-map) (rename each hashmap-for-each) (rename fold hashmap-fold)
   (rename map->list hashmap-map->list) (rename filter hashmap-filter) (rename filter! hashmap-filter!)
   (rename remove hashmap-remove) (rename remove! hashmap-remove!) (rename partition hashmap-partition)
   (rename partition! hashmap-partition!)
   (rename copy hashmap-copy) (rename ->alist hashmap->alist) (rename from-alist alist->hashmap)
   (rename adjoin-alist alist->hashmap!)
   (rename all-same? hashmap=?) (rename all-less? hashmap<?) (rename all-greater? hashmap>?)
   (rename all-within? hashmap<=?) (rename all-around? hashmap>=?)
   (rename union hashmap-union) (rename union! hashmap-union!) (rename intersection hashmap-intersection)
   (rename intersection! hashmap-intersection!) (rename difference hashmap-difference)
   (rename difference! hashmap-difference!) (rename xor hashmap-xor) (rename xor! hashmap-xor!)
   make-hashmap-comparator hashmap-comparator comparator?)
  (import (rename (scheme base) (set! assign!)) (scheme case-lambda) (cairn tree)
          (only (srfi 128) comparator? comparator-hashable? comparator-equality-predicate comparator-hash
                make-comparator make-default-comparator comparator-register-default!)
          (only (cairn control) wrong-type) (only (cairn records) show-fields!))
  (include "shared.scm")
  (begin

    (define-record-type <hashmap>
      (make-hashmap comparator size tree)
      is?
      (size size-of)
      (comparator comparator-of)
      (tree tree-of))
    (show-fields! <hashmap> '(size))

    (define kind "hashmap")
    (define kind-in-words "a hashmap")
    (define (check-comparator who comparator)
      (if (and (comparator? comparator) (comparator-hashable? comparator))
          comparator
          (wrong-type who "a comparator with a hash function" comparator)))
    (define (empty comparator) (make-hashmap comparator 0 #f))

    (define (hash m key) (comparator-hash (comparator-of m) key))
    (define (bucket m hash)
      (let ((node (tree-find < (tree-of m) hash)))
        (if node (tree-value node) '())))
    (define (find-in m bucket key)
      (assoc key bucket (comparator-equality-predicate (comparator-of m))))

    (define (find-entry m key) (find-in m (bucket m (hash m key)) key))
    (define entry-key car)
    (define entry-value cdr)

    ;; A list without an element, by identity.
    (define (without x l)
      (if (eq? x (car l)) (cdr l) (cons (car l) (without x (cdr l)))))

    (define (put m key value)
      (let* ((h (hash m key)) (bucket (bucket m h)) (entry (find-in m bucket key))
             (others (if entry (without entry bucket) bucket)))
        (make-hashmap (comparator-of m) (if entry (size-of m) (+ (size-of m) 1))
                      (tree-put < (tree-of m) h (cons (cons key value) others)))))
    (define (drop m key)
      (let* ((h (hash m key)) (bucket (bucket m h)) (entry (find-in m bucket key)))
        (cond
          ((not entry) m)
          ((null? (cdr bucket)) (make-hashmap (comparator-of m) (- (size-of m) 1) (tree-drop < (tree-of m) h)))
          (else (make-hashmap (comparator-of m) (- (size-of m) 1)
                              (tree-put < (tree-of m) h (without entry bucket)))))))

    (define (fold-entries proc nil m)
      (tree-fold (lambda (hash bucket acc)
                   (let loop ((bucket bucket) (acc acc))
                     (if (null? bucket)
                         acc
                         (loop (cdr bucket) (proc (caar bucket) (cdar bucket) acc)))))
                 nil
                 (tree-of m)))
    (define (search-entries ok? m)
      (define (first-of bucket)
        (and (pair? bucket)
             (if (ok? (caar bucket) (cdar bucket)) (car bucket) (first-of (cdr bucket)))))
      (let ((found #f))
        (tree-search (lambda (hash bucket)
                       (assign! found (first-of bucket))
                       found)
                     (tree-of m))
        found))

    ;;;; Comparators

    (define (make-hashmap-comparator comparator)
      (if (not (comparator? comparator)) (wrong-type "make-hashmap-comparator" "a comparator" comparator))
      (make-comparator is?
                       (lambda (a b) (same? comparator a b))
                       #f
                       (and (comparator-hashable? comparator)
                            (lambda (m . bound)
                              (fold (lambda (key value sum)
                                      (modulo (+ sum (hash m key) (* 31 (comparator-hash comparator value))) 33554432))
                                    0
                                    m)))))
    (define hashmap-comparator (make-hashmap-comparator (make-default-comparator)))
    (comparator-register-default! hashmap-comparator)))
