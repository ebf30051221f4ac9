;;; (srfi 113): sets and bags; also as (scheme set).
;;;
;;; Both are hash tables from elements to cells: the element that was put in, and how often it is there, which is once
;;; in a set.  So most procedures are one for both, and the operations of set theory are arithmetic on the counts: the
;;; larger one is the union, the smaller one the intersection.  `define-both` makes of such a procedure, which takes the
;;; name that errors tell and whether it wants a bag, one for sets and one for bags.  A comparator without a hash
;;; function does, slowly.
(define-library (srfi 113)
  (export
   set set-unfold set? set-contains? set-empty? set-disjoint? set-member set-element-comparator set-adjoin set-adjoin!
   set-replace set-replace! set-delete set-delete! set-delete-all set-delete-all! set-search! set-size set-find
   set-count set-any? set-every? set-map set-for-each set-fold set-filter set-remove set-partition set-filter!
   set-remove! set-partition! set-copy set->list list->set list->set! set=? set<? set>? set<=? set>=? set-union
   set-intersection set-difference set-xor set-union! set-intersection! set-difference! set-xor! set-comparator bag
   bag-unfold bag? bag-contains? bag-empty? bag-disjoint? bag-member bag-element-comparator bag-adjoin bag-adjoin!
   bag-replace bag-replace! bag-delete bag-delete! bag-delete-all bag-delete-all! bag-search! bag-size bag-find
   bag-count bag-any? bag-every? bag-map bag-for-each bag-fold bag-filter bag-remove bag-partition bag-filter!
   bag-remove! bag-partition! bag-copy bag->list list->bag list->bag! bag=? bag<? bag>? bag<=? bag>=? bag-union
   bag-intersection bag-difference bag-xor bag-union! bag-intersection! bag-difference! bag-xor! bag-comparator bag-sum
   bag-sum! bag-product bag-product! bag-unique-size bag-element-count bag-for-each-unique bag-fold-unique
   bag-increment! bag-decrement! bag->set set->bag set->bag! bag->alist alist->bag)
  (import (scheme base)
          (only (srfi 128) comparator? comparator-equality-predicate comparator-hash-function comparator-hashable?
                make-comparator comparator-hash)
          (only (cairn hash-table) make-hash-table hash-table-ref/default hash-table-set! hash-table-delete!
                hash-table-clear! hash-table-count hash-table-walk)
          (only (cairn control) wrong-type) (only (cairn records) show-fields!))
  (begin

    (define-record-type <collection> #f collection?
      (comparator elements-comparator)
      (table table-of))
    (define-record-type (<set> <collection>) (make-set comparator table) set?)
    (define-record-type (<bag> <collection>) (make-bag comparator table) bag?)
    (show-fields! <set> '())
    (show-fields! <bag> '())

    (define (of-bag? c) (bag? c))
    (define (check who bag? x)
      (cond ((if bag? (of-bag? x) (set? x)) x)
            (bag? (wrong-type who "a bag" x))
            (else (wrong-type who "a set" x))))
    (define (check-bag who x) (check who #t x))

    ;; (define-both (worker argument …) set-worker bag-worker): the worker's procedures for sets and for bags, by the
    ;; names behind them in errors.
    (define-syntax define-both
      (syntax-rules ()
        ((_ (worker . arguments) (for-sets set-name) (for-bags bag-name))
         (begin
           (define-one (for-sets . arguments) worker set-name #f arguments ())
           (define-one (for-bags . arguments) worker bag-name #t arguments ())))))
    (define-syntax define-one
      (syntax-rules ()
        ((_ head worker name bag? () (argument ...))
         (define head (worker name bag? argument ...)))
        ((_ head worker name bag? (next . rest) (argument ...))
         (define-one head worker name bag? rest (argument ... next)))
        ((_ head worker name bag? rest (argument ...))
         (define head (worker name bag? argument ... rest)))))

    ;; Both are collections that compare elements in the same way.
    (define (check-both who bag? a b)
      (if (not (eq? (elements-comparator (check who bag? a)) (elements-comparator (check who bag? b))))
          (error (string-append who ": the comparators differ:") a b)))

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

    (define (fresh-for who bag? comparator)
      (if (not (comparator? comparator)) (wrong-type who "a comparator" comparator))
      (fresh bag? comparator))
    (define (fresh bag? comparator)
      (let ((table (make-hash-table (comparator-equality-predicate comparator)
                                    (if (comparator-hashable? comparator)
                                        (comparator-hash-function comparator)
                                        (lambda (x . bound) 0)))))
        (if bag? (make-bag comparator table) (make-set comparator table))))

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

    (define (copy who bag? c)
      (let ((new (like (check who bag? c))))
        (for-each-cell (lambda (cell) (set-count! new (cell-element cell) (cell-count cell))) c)
        new))
    (define-both (copy c) (set-copy "set-copy") (bag-copy "bag-copy"))

    ;;;; Asking

    (define (comparator-of who bag? c) (elements-comparator (check who bag? c)))
    (define-both (comparator-of c)
      (set-element-comparator "set-element-comparator")
      (bag-element-comparator "bag-element-comparator"))
    (define (contains? who bag? c element) (if (cell-of (check who bag? c) element) #t #f))
    (define-both (contains? c element) (set-contains? "set-contains?") (bag-contains? "bag-contains?"))
    (define (is-empty? who bag? c) (= 0 (hash-table-count (table-of (check who bag? c)))))
    (define-both (is-empty? c) (set-empty? "set-empty?") (bag-empty? "bag-empty?"))
    (define (element-of who bag? c element default)
      (let ((cell (cell-of (check who bag? c) element)))
        (if cell (cell-element cell) default)))
    (define-both (element-of c element default) (set-member "set-member") (bag-member "bag-member"))

    (define (count-all c)
      (if (of-bag? c)
          (let ((n 0))
            (for-each-cell (lambda (cell) (set! n (+ n (cell-count cell)))) c)
            n)
          (hash-table-count (table-of c))))
    (define (size who bag? c) (count-all (check who bag? c)))
    (define-both (size c) (set-size "set-size") (bag-size "bag-size"))

    ;; The first cell that `ok?` accepts, or #f.
    (define (find-cell ok? c)
      (call/cc
       (lambda (return)
         (for-each-cell (lambda (cell) (if (ok? cell) (return cell))) c)
         #f)))

    (define (disjoint? who bag? a b)
      (check-both who bag? a b)
      (not (find-cell (lambda (cell) (cell-of b (cell-element cell))) a)))
    (define-both (disjoint? a b) (set-disjoint? "set-disjoint?") (bag-disjoint? "bag-disjoint?"))

    (define (find who bag? pred c failure)
      (let ((cell (find-cell (lambda (cell) (pred (cell-element cell))) (check who bag? c))))
        (if cell (cell-element cell) (failure))))
    (define-both (find pred c failure) (set-find "set-find") (bag-find "bag-find"))
    (define (any? who bag? pred c)
      (if (find-cell (lambda (cell) (pred (cell-element cell))) (check who bag? c)) #t #f))
    (define-both (any? pred c) (set-any? "set-any?") (bag-any? "bag-any?"))
    (define (every? who bag? pred c)
      (not (find-cell (lambda (cell) (not (pred (cell-element cell)))) (check who bag? c))))
    (define-both (every? pred c) (set-every? "set-every?") (bag-every? "bag-every?"))
    (define (count who bag? pred c)
      (folded who bag? (lambda (element n) (if (pred element) (+ n 1) n)) 0 c))
    (define-both (count pred c) (set-count "set-count") (bag-count "bag-count"))

    ;;;; Elements in and out

    (define (add-all! c elements)
      (for-each (lambda (x) (add! c x 1)) elements)
      c)
    (define (adjoin-list! who bag? c elements)
      (add-all! (check who bag? c) (check-list who elements)))
    (define-both (adjoin-list! c elements) (list->set! "list->set!") (list->bag! "list->bag!"))
    (define (adjoin! who bag? c elements) (add-all! (check who bag? c) elements))
    (define (adjoin who bag? c elements) (add-all! (copy who bag? c) elements))
    (define-both (adjoin! c . elements) (set-adjoin! "set-adjoin!") (bag-adjoin! "bag-adjoin!"))
    (define-both (adjoin c . elements) (set-adjoin "set-adjoin") (bag-adjoin "bag-adjoin"))

    (define (replace-in! c element)
      (let ((n (count-of c element)))
        (when (> n 0)
          (set-count! c element 0)
          (set-count! c element n))
        c))
    (define (replace! who bag? c element) (replace-in! (check who bag? c) element))
    (define (replace who bag? c element) (replace-in! (copy who bag? c) element))
    (define-both (replace! c element) (set-replace! "set-replace!") (bag-replace! "bag-replace!"))
    (define-both (replace c element) (set-replace "set-replace") (bag-replace "bag-replace"))

    (define (take-all! c elements)
      (for-each (lambda (x) (add! c x -1)) elements)
      c)
    (define (delete-all! who bag? c elements)
      (take-all! (check who bag? c) (check-list who elements)))
    (define (delete-all who bag? c elements)
      (take-all! (copy who bag? c) (check-list who elements)))
    (define (delete! who bag? c elements) (take-all! (check who bag? c) elements))
    (define (delete who bag? c elements) (take-all! (copy who bag? c) elements))
    (define-both (delete-all! c elements) (set-delete-all! "set-delete-all!") (bag-delete-all! "bag-delete-all!"))
    (define-both (delete-all c elements) (set-delete-all "set-delete-all") (bag-delete-all "bag-delete-all"))
    (define-both (delete! c . elements) (set-delete! "set-delete!") (bag-delete! "bag-delete!"))
    (define-both (delete c . elements) (set-delete "set-delete") (bag-delete "bag-delete"))

    (define (search! who bag? c element failure success)
      (let ((cell (cell-of (check who bag? c) element)))
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
    (define-both (search! c element failure success) (set-search! "set-search!") (bag-search! "bag-search!"))

    ;;;; All elements; those of a bag as often as they are there

    (define (each who bag? proc c)
      (for-each-cell
       (lambda (cell)
         (do ((n (cell-count cell) (- n 1))) ((= n 0))
           (proc (cell-element cell))))
       (check who bag? c)))
    (define-both (each proc c) (set-for-each "set-for-each") (bag-for-each "bag-for-each"))

    (define (folded who bag? proc nil c)
      (let ((acc nil))
        (each who bag? (lambda (x) (set! acc (proc x acc))) c)
        acc))
    (define-both (folded proc nil c) (set-fold "set-fold") (bag-fold "bag-fold"))

    (define (->list who bag? c) (reverse (folded who bag? cons '() c)))
    (define-both (->list c) (set->list "set->list") (bag->list "bag->list"))

    (define (mapped who bag? comparator proc c)
      (check who bag? c)
      (let ((new (fresh-for who bag? comparator)))
        (for-each-cell (lambda (cell) (add! new (proc (cell-element cell)) (cell-count cell))) c)
        new))
    (define-both (mapped comparator proc c) (set-map "set-map") (bag-map "bag-map"))

    (define (partition who bag? pred c)
      (let ((in (like (check who bag? c))) (out (like c)))
        (for-each-cell
         (lambda (cell)
           (set-count! (if (pred (cell-element cell)) in out) (cell-element cell) (cell-count cell)))
         c)
        (values in out)))
    (define (filter who bag? pred c)
      (let-values (((in out) (partition who bag? pred c))) in))
    (define (remove who bag? pred c)
      (let-values (((in out) (partition who bag? pred c))) out))
    (define-both (partition pred c) (set-partition "set-partition") (bag-partition "bag-partition"))
    (define-both (filter pred c) (set-filter "set-filter") (bag-filter "bag-filter"))
    (define-both (remove pred c) (set-remove "set-remove") (bag-remove "bag-remove"))

    ;; Makes `c` what `other` is, which nobody else has.
    (define (become! c other)
      (hash-table-clear! (table-of c))
      (for-each-cell (lambda (cell) (hash-table-set! (table-of c) (cell-element cell) cell)) other)
      c)
    (define (filter! who bag? pred c)
      (let-values (((in out) (partition who bag? pred c))) (become! c in)))
    (define (remove! who bag? pred c)
      (let-values (((in out) (partition who bag? pred c))) (become! c out)))
    (define (partition! who bag? pred c)
      (let-values (((in out) (partition who bag? pred c)))
        (values (become! c in) out)))
    (define-both (filter! pred c) (set-filter! "set-filter!") (bag-filter! "bag-filter!"))
    (define-both (remove! pred c) (set-remove! "set-remove!") (bag-remove! "bag-remove!"))
    (define-both (partition! pred c) (set-partition! "set-partition!") (bag-partition! "bag-partition!"))

    ;;;; Comparison

    (define (2-within? who bag? a b)
      (check-both who bag? a b)
      (not (find-cell (lambda (cell) (> (cell-count cell) (count-of b (cell-element cell)))) a)))
    (define (2-same? who bag? a b) (and (2-within? who bag? a b) (= (count-all a) (count-all b))))
    (define (2-less? who bag? a b) (and (2-within? who bag? a b) (< (count-all a) (count-all b))))

    ;; Does it hold for each one and the next?
    (define (chain who bag? holds? a rest)
      (check who bag? a)
      (let loop ((a a) (rest rest))
        (or (null? rest)
            (and (holds? who bag? a (car rest)) (loop (car rest) (cdr rest))))))
    (define (same? who bag? a rest) (chain who bag? 2-same? a rest))
    (define (less? who bag? a rest) (chain who bag? 2-less? a rest))
    (define (within? who bag? a rest) (chain who bag? 2-within? a rest))
    (define (greater? who bag? a rest) (chain who bag? (lambda (who bag? a b) (2-less? who bag? b a)) a rest))
    (define (around? who bag? a rest) (chain who bag? (lambda (who bag? a b) (2-within? who bag? b a)) a rest))
    (define-both (same? a . rest) (set=? "set=?") (bag=? "bag=?"))
    (define-both (less? a . rest) (set<? "set<?") (bag<? "bag<?"))
    (define-both (within? a . rest) (set<=? "set<=?") (bag<=? "bag<=?"))
    (define-both (greater? a . rest) (set>? "set>?") (bag>? "bag>?"))
    (define-both (around? a . rest) (set>=? "set>=?") (bag>=? "bag>=?"))

    ;;;; Set theory

    ;; Makes `c` hold each element as often as `combine` says, given how often it is in `c` and in `other`; what is in
    ;; neither is in neither.
    (define (combine! who bag? combine c other)
      (check-both who bag? c other)
      (let ((new (like c)))
        (define (note! cell)
          (let ((x (cell-element cell)))
            (set-count! new x (combine (count-of c x) (count-of other x)))))
        (for-each-cell note! c)
        (for-each-cell (lambda (cell) (if (not (cell-of c (cell-element cell))) (note! cell))) other)
        (become! c new)))

    (define (combine-all! who bag? combine c others)
      (for-each (lambda (other) (combine! who bag? combine c other)) others)
      c)
    (define-syntax define-combiner
      (syntax-rules ()
        ((_ combine (name for-sets for-bags) (name! for-sets! for-bags!))
         (begin
           (define (name who bag? c others) (combine-all! who bag? combine (copy who bag? c) others))
           (define (name! who bag? c others) (combine-all! who bag? combine (check who bag? c) others))
           (define-both (name c . others) for-sets for-bags)
           (define-both (name! c . others) for-sets! for-bags!)))))
    (define-combiner max
      (union (set-union "set-union") (bag-union "bag-union"))
      (union! (set-union! "set-union!") (bag-union! "bag-union!")))
    (define-combiner min
      (intersection (set-intersection "set-intersection") (bag-intersection "bag-intersection"))
      (intersection! (set-intersection! "set-intersection!") (bag-intersection! "bag-intersection!")))
    (define-combiner -
      (difference (set-difference "set-difference") (bag-difference "bag-difference"))
      (difference! (set-difference! "set-difference!") (bag-difference! "bag-difference!")))
    (define-combiner (lambda (a b) (abs (- a b)))
      (xor (set-xor "set-xor") (bag-xor "bag-xor"))
      (xor! (set-xor! "set-xor!") (bag-xor! "bag-xor!")))
    (define (bag-sum c . others) (combine-all! "bag-sum" #t + (copy "bag-sum" #t c) others))
    (define (bag-sum! c . others) (combine-all! "bag-sum!" #t + (check-bag "bag-sum!" c) others))

    (define (bag-product n c) (multiply! n (copy "bag-product" #t c)))
    (define (bag-product! n c) (multiply! n (check-bag "bag-product!" c)))
    (define (multiply! n c)
      (if (= n 0)
          (hash-table-clear! (table-of c))
          (for-each-cell (lambda (cell) (set-cell-count! cell (* n (cell-count cell)))) c))
      c)

    ;;;; Of bags alone

    (define (bag-unique-size c) (hash-table-count (table-of (check-bag "bag-unique-size" c))))
    (define (bag-element-count c element) (count-of (check-bag "bag-element-count" c) element))
    (define (bag-for-each-unique proc c)
      (for-each-cell (lambda (cell) (proc (cell-element cell) (cell-count cell))) (check-bag "bag-for-each-unique" c)))
    (define (bag-fold-unique proc nil c) (fold-unique "bag-fold-unique" proc nil c))
    (define (fold-unique who proc nil c)
      (let ((acc nil))
        (for-each-cell (lambda (cell) (set! acc (proc (cell-element cell) (cell-count cell) acc))) (check-bag who c))
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
    (define (set->bag c) (add-set! (fresh #t (elements-comparator (check "set->bag" #f c))) c))
    (define (set->bag! c set) (add-set! (check-bag "set->bag!" c) (check "set->bag!" #f set)))
    (define (add-set! c set)
      (for-each-cell (lambda (cell) (add! c (cell-element cell) 1)) set)
      c)
    (define (bag->alist c)
      (reverse (fold-unique "bag->alist" (lambda (x n acc) (cons (cons x n) acc)) '() c)))
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
      (make-comparator set? (lambda (a b) (2-same? "set=?" #f a b)) #f (lambda (c . bound) (hash c))))
    (define bag-comparator
      (make-comparator bag? (lambda (a b) (2-same? "bag=?" #t a b)) #f (lambda (c . bound) (hash c))))))
