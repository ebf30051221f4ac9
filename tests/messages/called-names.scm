;; Procedures that differ in little but their names, or are made of others, fail by the name that was called: those of
;; sets and of bags, those with `!` of mappings, which change nothing, accessors of test runners, hashtables.
(import (scheme base) (scheme write) (srfi 113) (only (srfi 128) make-comparator) (srfi 146) (srfi 146 hash)
        (only (srfi 64) test-runner-test-name test-runner-group-stack test-runner-group-path test-runner-reset
              test-result-ref test-result-set! test-result-remove test-result-clear test-result-kind test-passed?
              test-result-alist)
        (srfi 126) (only (cairn control) condition->string))
(include "../support/say.scm")

(define five 5)
(define numbers (make-comparator number? = < (lambda (x . bound) x)))
(define twos (bag numbers 2 2))
(define ones (set numbers 1))
(define m (mapping numbers 1 'one))
(define h (hashmap numbers 1 'one))

;; bags
(say twos ones (bag-contains? five 1) (bag-empty? five) (bag-disjoint? five twos) (bag-member five 1 #f)
     (bag-element-comparator five) (bag-adjoin five 1) (bag-adjoin! five 1) (bag-replace five 1) (bag-replace! five 1)
     (bag-delete five 1) (bag-delete! five 1) (bag-delete-all five '()) (bag-delete-all! twos five)
     (bag-search! five 1 list list) (bag-size five) (bag-size ones) (set-size twos) (bag-find odd? five list)
     (bag-count odd? five) (bag-any? odd? five) (bag-every? odd? five) (bag-map numbers - five) (bag-map five - twos)
     (bag-for-each list five) (bag-fold + 0 five) (bag-filter odd? five) (bag-remove odd? five)
     (bag-partition odd? five) (bag-filter! odd? five) (bag-remove! odd? five) (bag-partition! odd? five)
     (bag-copy five) (bag->list five) (list->bag! five '()) (bag=? five) (bag<? twos five) (bag>? twos ones)
     (bag<=? five) (bag>=? five) (bag-union twos five) (bag-intersection five) (bag-difference five) (bag-xor five twos)
     (bag-union! twos ones) (bag-intersection! five) (bag-difference! five) (bag-xor! five twos) (bag-sum five)
     (bag-sum! five) (bag-product 2 five) (bag-product! 2 five) (bag-fold-unique list 0 five) (bag->alist five)
     (set->bag five) (set->bag! ones ones) (set->bag! twos five) (bag-size) (bag-adjoin!) (bag-union) (set-member ones))

;; mappings
(say (mapping/ordered five) (mapping/ordered numbers 1) (mapping-unfold/ordered null? car cdr '() five)
     (alist->mapping/ordered five '()) (alist->mapping/ordered! five '()) (mapping-adjoin! five) (mapping-adjoin! m 1)
     (mapping-set! five) (mapping-replace! five 1 1) (mapping-delete! five) (mapping-delete-all! m five)
     (mapping-intern! five 1 list) (mapping-update! five 1 list) (mapping-update! m 5 list)
     (mapping-update!/default five 1 - 1)
     (mapping-pop! five) (mapping-pop! (mapping numbers)) (mapping-search! five 1 list list) (mapping-filter! list five)
     (mapping-remove! list five) (mapping-partition! list five) (mapping-union! five) (mapping-intersection! five)
     (mapping-difference! m five) (mapping-xor! m five) (mapping-range=! five 1) (mapping-range<! five 1)
     (mapping-range>! five 1) (mapping-range<=! five 1) (mapping-range>=! five 1) (mapping-split! five 1)
     (mapping-map/monotone! list numbers five) (mapping-map/monotone! list five m) (mapping-set!) (mapping-update! m)
     (mapping->alist (mapping-set! m 1 'uno 2 'due)) (mapping->alist (mapping-update! m 1 list)))

;; by hash
(say h (hashmap-adjoin! five) (hashmap-set! h 1) (hashmap-replace! five 1 1) (hashmap-delete! five)
     (hashmap-delete-all! h five) (hashmap-intern! five 1 list) (hashmap-update! five 1 list)
     (hashmap-update!/default five 1 - 1) (hashmap-pop! five) (hashmap-search! five 1 list list)
     (hashmap-filter! list five) (hashmap-remove! list five) (hashmap-partition! list five) (hashmap-union! five)
     (hashmap-intersection! h five) (hashmap-difference! five) (hashmap-xor! h five) (hashmap-set!)
     (hashmap->alist (hashmap-set! h 1 'uno 2 'due)))

;; accessors of test runners
(say (test-runner-test-name five) (test-runner-group-stack five) (test-runner-group-path five) (test-runner-reset five)
     (test-result-ref five 'x) (test-result-ref five 'x 1) (test-result-set! five 'x 1) (test-result-remove five 'x)
     (test-result-clear five) (test-result-kind five) (test-passed? five) (test-result-alist five))

;; hashtables
(define t (make-eqv-hashtable))
(say (make-eq-hashtable 'x) (make-eqv-hashtable -1) (make-eqv-hashtable 1 'no) (make-hashtable five equal?)
     (make-hashtable equal-hash five) (make-hashtable equal-hash equal? 'x) (hashtable-entries five)
     (hashtable-entry-lists five) (hashtable-update! t 1 list) (hashtable-update! five 1 list)
     (hashtable-update! t 1 five 2) (hashtable-inc! five 1) (hashtable-dec! five 1) (hashtable-dec! five 1 2)
     (hashtable-inc! (hashtable-copy t) 1) (hashtable-update-all! five list) (hashtable-prune! five list)
     (hashtable-merge! five t) (hashtable-merge! t five) (hashtable-pop! five) (hashtable-pop! (hashtable-copy t))
     (let ((t (hashtable-copy t #t)))
       (hashtable-inc! t 1)
       (hashtable-dec! t 1 3)
       (hashtable-update! t 1 - 0)
       (let-values (((keys values) (hashtable-entries t))) (list keys values))))
