;;; (srfi 113): sets and bags; also as (scheme set).
;;;
;;; Both are hash tables from elements to cells: the element that was put in, and how often it is there, which is once
;;; in a set.  So most procedures are one for both, and the operations of set theory are arithmetic on the counts: the
;;; larger one is the union, the smaller one the intersection.  A comparator without a hash function does, slowly.
(define-library (srfi 113)
  (export
   set set-unfold set? (rename contains? set-contains?) (rename is-empty? set-empty?) (rename disjoint? set-disjoint?)
   (rename member set-member) (rename comparator-of set-element-comparator)
   (rename adjoin set-adjoin) (rename adjoin! set-adjoin!) (rename replace set-replace) (rename replace! set-replace!)
   (rename delete set-delete) (rename delete! set-delete!) (rename delete-all set-delete-all)
   (rename delete-all! set-delete-all!) (rename search! set-search!)
   (rename size set-size) (rename find set-find) (rename count set-count) (rename any? set-any?)
   (rename every? set-every?) (rename mapped set-map) (rename each set-for-each) (rename folded set-fold)
   (rename filter set-filter) (rename remove set-remove) (rename partition set-partition)
   (rename filter! set-filter!) (rename remove! set-remove!) (rename partition! set-partition!)
   (rename copy set-copy) (rename ->list set->list) list->set (rename adjoin-list! list->set!)
   (rename same? set=?) (rename less? set<?) (rename greater? set>?) (rename within? set<=?) (rename around? set>=?)
   (rename union set-union) (rename intersection set-intersection) (rename difference set-difference)
   (rename xor set-xor) (rename union! set-union!) (rename intersection! set-intersection!)
   (rename difference! set-difference!) (rename xor! set-xor!) set-comparator
   bag bag-unfold bag? (rename contains? bag-contains?) (rename is-empty? bag-empty?) (rename disjoint? bag-disjoint?)
   (rename member bag-member) (rename comparator-of bag-element-comparator)
   (rename adjoin bag-adjoin) (rename adjoin! bag-adjoin!) (rename replace bag-replace) (rename replace! bag-replace!)
   (rename delete bag-delete) (rename delete! bag-delete!) (rename delete-all bag-delete-all)
   (rename delete-all! bag-delete-all!) (rename search! bag-search!)
   (rename size bag-size) (rename find bag-find) (rename count bag-count) (rename any? bag-any?)
   (rename every? bag-every?) (rename mapped bag-map) (rename each bag-for-each) (rename folded bag-fold)
   (rename filter bag-filter) (rename remove bag-remove) (rename partition bag-partition)
   (rename filter! bag-filter!) (rename remove! bag-remove!) (rename partition! bag-partition!)
   (rename copy bag-copy) (rename ->list bag->list) list->bag (rename adjoin-list! list->bag!)
   (rename same? bag=?) (rename less? bag<?) (rename greater? bag>?) (rename within? bag<=?) (rename around? bag>=?)
   (rename union bag-union) (rename intersection bag-intersection) (rename difference bag-difference)
   (rename xor bag-xor) (rename union! bag-union!) (rename intersection! bag-intersection!)
   (rename difference! bag-difference!) (rename xor! bag-xor!) bag-comparator
   bag-sum bag-sum! bag-product bag-product! bag-unique-size bag-element-count bag-for-each-unique bag-fold-unique
   bag-increment! bag-decrement! bag->set set->bag set->bag! bag->alist alist->bag)
  (import (except (scheme base) member)
          (only (srfi 128) comparator? comparator-equality-predicate comparator-hash-function comparator-hashable?
                make-comparator comparator-hash)
          (only (cairn hash-table) make-hash-table hash-table-ref/default hash-table-set! hash-table-delete!
                hash-table-clear! hash-table-count hash-table-walk)
          (only (cairn control) wrong-type) (only (cairn records) show-fields!))
  (begin

    (define-record-type <collection>
      (make-collection bag? comparator table)
      collection?
      (bag? of-bag?)
      (comparator elements-comparator)
      (table table-of))
    (show-fields! <collection> '(bag?))

    (define (set? x) (and (collection? x) (not (of-bag? x))))
    (define (bag? x) (and (collection? x) (of-bag? x)))
    (define (check who x)
      (if (collection? x) x (wrong-type who "a set or a bag" x)))
    (define (check-bag who x)
      (if (bag? x) x (wrong-type who "a bag" x)))

    ;; Both are collections that compare elements in the same way.
    (define (check-both who a b)
      (if (not (eq? (elements-comparator (check who a)) (elements-comparator (check who b))))
          (error (string-append who ": the comparators differ:") a b))
      (if (not (eq? (of-bag? a) (of-bag? b)))
          (error (string-append who ": one is a set, the other a bag:") a b)))

    ;; What the table holds for an element.
    (define-record-type <cell>
      (make-cell element count)
      cell?
      (element cell-element set-cell-element!)
      (count cell-count set-cell-count!))

    (define (cell-of c element)
      (hash-table-ref/default (table-of c) element #f))

    ;; Every cell.
    (define (for-each-cell proc c)
      (hash-table-walk (table-of c) (lambda (element cell) (proc cell))))

    (define (set-count! c element n)
      (if (> n 0)
          (let ((cell (cell-of c element)))
            (if cell
                (set-cell-count! cell (if (of-bag? c) n 1))
                (hash-table-set! (table-of c) element (make-cell element (if (of-bag? c) n 1)))))
          (hash-table-delete! (table-of c) element)))

    (define (count-of c element)
      (let ((cell (cell-of c element)))
        (if cell (cell-count cell) 0)))

    (define (add! c element n)
      (set-count! c element (+ (count-of c element) n)))

    ;;;; Making

    (define (fresh bag? comparator) (fresh-for (if bag? "bag" "set") bag? comparator))
    (define (fresh-for who bag? comparator)
      (if (not (comparator? comparator)) (wrong-type who "a comparator" comparator))
      (make-collection bag? comparator
                       (make-hash-table (comparator-equality-predicate comparator)
                                        (if (comparator-hashable? comparator)
                                            (comparator-hash-function comparator)
                                            (lambda (x . bound) 0)))))

    ;; An empty one of the same kind.
    (define (like c) (fresh (of-bag? c) (elements-comparator c)))

    (define (set comparator . elements) (add-all! (fresh-for "set" #f comparator) elements))
    (define (bag comparator . elements) (add-all! (fresh-for "bag" #t comparator) elements))
    (define (list->set comparator elements)
      (add-all! (fresh-for "list->set" #f comparator) (check-list "list->set" elements)))
    (define (list->bag comparator elements)
      (add-all! (fresh-for "list->bag" #t comparator) (check-list "list->bag" elements)))
    (define (check-list who l) (if (list? l) l (wrong-type who "a list" l)))

    ;; The comparator may come first, as the text of SRFI 113 has it, or last, as that of SRFI 125.
    (define (unfold-for who bag? a b c d e)
      (define (unfold c stop? mapper successor seed)
        (if (stop? seed)
            c
            (begin
              (add! c (mapper seed) 1)
              (unfold c stop? mapper successor (successor seed)))))
      (if (comparator? a)
          (unfold (fresh bag? a) b c d e)
          (unfold (fresh-for who bag? e) a b c d)))
    (define (set-unfold a b c d e) (unfold-for "set-unfold" #f a b c d e))
    (define (bag-unfold a b c d e) (unfold-for "bag-unfold" #t a b c d e))

    (define (copy c) (copy-for "set-copy" c))
    (define (copy-for who c)
      (let ((new (like (check who c))))
        (for-each-cell (lambda (cell) (set-count! new (cell-element cell) (cell-count cell))) c)
        new))

    ;;;; Asking

    (define (comparator-of c) (elements-comparator (check "set-element-comparator" c)))
    (define (contains? c element) (if (cell-of (check "set-contains?" c) element) #t #f))
    (define (is-empty? c) (= 0 (hash-table-count (table-of (check "set-empty?" c)))))
    (define (member c element default)
      (let ((cell (cell-of (check "set-member" c) element)))
        (if cell (cell-element cell) default)))

    (define (size c)
      (if (of-bag? (check "set-size" c))
          (let ((n 0))
            (for-each-cell (lambda (cell) (set! n (+ n (cell-count cell)))) c)
            n)
          (hash-table-count (table-of c))))

    ;; The first cell that `ok?` accepts, or #f.
    (define (find-cell ok? c)
      (call/cc
       (lambda (return)
         (for-each-cell (lambda (cell) (if (ok? cell) (return cell))) c)
         #f)))

    (define (disjoint? a b)
      (check-both "set-disjoint?" a b)
      (not (find-cell (lambda (cell) (cell-of b (cell-element cell))) a)))

    (define (find pred c failure)
      (let ((cell (find-cell (lambda (cell) (pred (cell-element cell))) (check "set-find" c))))
        (if cell (cell-element cell) (failure))))
    (define (any? pred c)
      (if (find-cell (lambda (cell) (pred (cell-element cell))) (check "set-any?" c)) #t #f))
    (define (every? pred c)
      (not (find-cell (lambda (cell) (not (pred (cell-element cell)))) (check "set-every?" c))))
    (define (count pred c)
      (fold-for "set-count" (lambda (element n) (if (pred element) (+ n 1) n)) 0 c))

    ;;;; Elements in and out

    (define (add-all! c elements)
      (for-each (lambda (x) (add! c x 1)) elements)
      c)
    (define (adjoin-list! c elements)
      (add-all! (check "list->set!" c) (check-list "list->set!" elements)))
    (define (adjoin! c . elements) (add-all! (check "set-adjoin!" c) elements))
    (define (adjoin c . elements) (add-all! (copy-for "set-adjoin" c) elements))

    (define (replace! c element)
      (let ((n (count-of (check "set-replace!" c) element)))
        (when (> n 0)
          (set-count! c element 0)
          (set-count! c element n))
        c))
    (define (replace c element) (replace! (copy-for "set-replace" c) element))

    (define (take-all! c elements)
      (for-each (lambda (x) (add! c x -1)) elements)
      c)
    (define (delete-all! c elements)
      (take-all! (check "set-delete-all!" c) (check-list "set-delete-all!" elements)))
    (define (delete-all c elements)
      (take-all! (copy-for "set-delete-all" c) (check-list "set-delete-all" elements)))
    (define (delete! c . elements) (take-all! (check "set-delete!" c) elements))
    (define (delete c . elements) (take-all! (copy-for "set-delete" c) elements))

    (define (search! c element failure success)
      (let ((cell (cell-of (check "set-search!" c) element)))
        (if cell
            (success (cell-element cell)
                     (lambda (new obj)
                       (add! c (cell-element cell) -1)
                       (add! c new 1)
                       (values c obj))
                     (lambda (obj)
                       (add! c (cell-element cell) -1)
                       (values c obj)))
            (failure (lambda (obj)
                       (add! c element 1)
                       (values c obj))
                     (lambda (obj) (values c obj))))))

    ;;;; All elements; those of a bag as often as they are there

    (define (each proc c) (each-for "set-for-each" proc c))
    (define (each-for who proc c)
      (for-each-cell
       (lambda (cell)
         (do ((n (cell-count cell) (- n 1))) ((= n 0))
           (proc (cell-element cell))))
       (check who c)))

    (define (folded proc nil c) (fold-for "set-fold" proc nil c))
    (define (fold-for who proc nil c)
      (let ((acc nil))
        (each-for who (lambda (x) (set! acc (proc x acc))) c)
        acc))

    (define (->list c) (reverse (fold-for "set->list" cons '() c)))

    (define (mapped comparator proc c)
      (let ((new (fresh-for "set-map" (of-bag? (check "set-map" c)) comparator)))
        (for-each-cell (lambda (cell) (add! new (proc (cell-element cell)) (cell-count cell))) c)
        new))

    (define (partition pred c) (parts "set-partition" pred c))
    (define (parts who pred c)
      (let ((in (like (check who c))) (out (like c)))
        (for-each-cell
         (lambda (cell)
           (set-count! (if (pred (cell-element cell)) in out) (cell-element cell) (cell-count cell)))
         c)
        (values in out)))
    (define (filter pred c)
      (let-values (((in out) (parts "set-filter" pred c))) in))
    (define (remove pred c)
      (let-values (((in out) (parts "set-remove" pred c))) out))

    ;; Makes `c` what `other` is, which nobody else has.
    (define (become! c other)
      (hash-table-clear! (table-of c))
      (for-each-cell (lambda (cell) (hash-table-set! (table-of c) (cell-element cell) cell)) other)
      c)
    (define (filter! pred c)
      (let-values (((in out) (parts "set-filter!" pred c))) (become! c in)))
    (define (remove! pred c)
      (let-values (((in out) (parts "set-remove!" pred c))) (become! c out)))
    (define (partition! pred c)
      (let-values (((in out) (parts "set-partition!" pred c)))
        (values (become! c in) out)))

    ;;;; Comparison

    (define (2-within? who a b)
      (check-both who a b)
      (not (find-cell (lambda (cell) (> (cell-count cell) (count-of b (cell-element cell)))) a)))
    (define (2-same? who a b) (and (2-within? who a b) (= (size a) (size b))))
    (define (2-less? who a b) (and (2-within? who a b) (< (size a) (size b))))

    (define-syntax define-chain
      (syntax-rules ()
        ((_ name who (a b) holds?)
         (define (name a . rest)
           (check who a)
           (let loop ((a a) (rest rest))
             (or (null? rest)
                 (let ((b (car rest)))
                   (and holds? (loop b (cdr rest))))))))))
    (define-chain same? "set=?" (a b) (2-same? "set=?" a b))
    (define-chain less? "set<?" (a b) (2-less? "set<?" a b))
    (define-chain within? "set<=?" (a b) (2-within? "set<=?" a b))
    (define-chain greater? "set>?" (a b) (2-less? "set>?" b a))
    (define-chain around? "set>=?" (a b) (2-within? "set>=?" b a))

    ;;;; Set theory

    ;; Makes `c` hold each element as often as `combine` says, given how often it is in `c` and in `other`; what is in
    ;; neither is in neither.
    (define (combine! who combine c other)
      (check-both who c other)
      (let ((new (like c)))
        (define (note! cell)
          (let ((x (cell-element cell)))
            (set-count! new x (combine (count-of c x) (count-of other x)))))
        (for-each-cell note! c)
        (for-each-cell (lambda (cell) (if (not (cell-of c (cell-element cell))) (note! cell))) other)
        (become! c new)))

    (define (combine-all! who combine c others)
      (for-each (lambda (other) (combine! who combine c other)) others)
      c)
    (define-syntax define-combiner
      (syntax-rules ()
        ((_ combine (name who) (name! who!))
         (begin
           (define (name c . others) (combine-all! who combine (copy-for who c) others))
           (define (name! c . others) (combine-all! who! combine (check who! c) others))))))
    (define-combiner max (union "set-union") (union! "set-union!"))
    (define-combiner min (intersection "set-intersection") (intersection! "set-intersection!"))
    (define-combiner - (difference "set-difference") (difference! "set-difference!"))
    (define-combiner (lambda (a b) (abs (- a b))) (xor "set-xor") (xor! "set-xor!"))
    (define-combiner + (bag-sum "bag-sum") (bag-sum! "bag-sum!"))

    (define (bag-product n c) (bag-product! n (copy c)))
    (define (bag-product! n c)
      (check-bag "bag-product!" c)
      (if (= n 0)
          (hash-table-clear! (table-of c))
          (for-each-cell (lambda (cell) (set-cell-count! cell (* n (cell-count cell)))) c))
      c)

    ;;;; Of bags alone

    (define (bag-unique-size c) (hash-table-count (table-of (check-bag "bag-unique-size" c))))
    (define (bag-element-count c element) (count-of (check-bag "bag-element-count" c) element))
    (define (bag-for-each-unique proc c)
      (for-each-cell (lambda (cell) (proc (cell-element cell) (cell-count cell))) (check-bag "bag-for-each-unique" c)))
    (define (bag-fold-unique proc nil c)
      (let ((acc nil))
        (bag-for-each-unique (lambda (x n) (set! acc (proc x n acc))) c)
        acc))
    (define (bag-increment! c element n)
      (add! (check-bag "bag-increment!" c) element n)
      c)
    (define (bag-decrement! c element n)
      (add! (check-bag "bag-decrement!" c) element (- n))
      c)
    (define (bag->set c)
      (let ((new (fresh #f (elements-comparator (check-bag "bag->set" c)))))
        (for-each-cell (lambda (cell) (add! new (cell-element cell) 1)) c)
        new))
    (define (set->bag c) (set->bag! (fresh #t (elements-comparator (check "set->bag" c))) c))
    (define (set->bag! c set)
      (for-each-cell (lambda (cell) (add! c (cell-element cell) 1)) (check "set->bag!" set))
      c)
    (define (bag->alist c)
      (reverse (bag-fold-unique (lambda (x n acc) (cons (cons x n) acc)) '() c)))
    (define (alist->bag comparator alist)
      (let ((c (fresh-for "alist->bag" #t comparator)))
        (for-each
         (lambda (p)
           (if (pair? p)
               (add! c (car p) (cdr p))
               (wrong-type "alist->bag" "pairs in the list" p)))
         (check-list "alist->bag" alist))
        c))

    ;;;; Comparators

    ;; Whatever the order of elements.
    (define (hash c)
      (let ((sum 0) (comparator (elements-comparator c)))
        (for-each-cell
         (lambda (cell)
           (set! sum (modulo (+ sum (* (cell-count cell) (comparator-hash comparator (cell-element cell)))) 33554432)))
         c)
        sum))
    (define set-comparator
      (make-comparator set? (lambda (a b) (2-same? "set=?" a b)) #f (lambda (c . bound) (hash c))))
    (define bag-comparator
      (make-comparator bag? (lambda (a b) (2-same? "bag=?" a b)) #f (lambda (c . bound) (hash c))))))
