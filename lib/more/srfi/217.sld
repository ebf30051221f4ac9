;;; (srfi 217): sets of exact integers, persistent.
;;;
;;; A set is a tree of (cairn tree) without values: in, out, least, greatest and intervals take logarithmic time, the
;;; operations of set theory O(m log (n/m + 1)).
(define-library (srfi 217)
  (export
   iset iset-unfold make-range-iset iset? iset-contains? iset-empty? iset-disjoint? iset-member iset-min iset-max
   iset-adjoin iset-adjoin! iset-delete iset-delete! iset-delete-all iset-delete-all! iset-search iset-search!
   iset-delete-min iset-delete-min! iset-delete-max iset-delete-max!
   iset-size iset-find iset-count iset-any? iset-every?
   iset-map iset-for-each iset-fold iset-fold-right iset-filter iset-filter! iset-remove iset-remove! iset-partition
   iset-partition! iset-copy iset->list list->iset list->iset!
   iset=? iset<? iset>? iset<=? iset>=?
   iset-union iset-intersection iset-difference iset-xor iset-union! iset-intersection! iset-difference! iset-xor!
   iset-open-interval iset-closed-interval iset-open-closed-interval iset-closed-open-interval
   isubset= isubset< isubset<= isubset> isubset>=)
  (import (scheme base) (scheme case-lambda) (cairn tree) (only (cairn control) wrong-type)
          (only (cairn records) show-fields!))
  (begin

    (define-record-type <iset>
      (wrap tree)
      iset?
      (tree tree-of))
    (show-fields! <iset> '())

    (define (tree who s)
      (if (iset? s) (tree-of s) (wrong-type who "a set of integers" s)))
    (define (check who n)
      (if (exact-integer? n) n (wrong-type who "an exact integer" n)))
    (define (put who t n) (tree-put < t (check who n) #t))

    ;;;; Making

    (define (adjoin who t elements)
      (if (null? elements) t (adjoin who (put who t (car elements)) (cdr elements))))

    (define (iset . elements) (wrap (adjoin "iset" #f elements)))
    (define (list->iset l) (wrap (adjoin "list->iset" #f l)))
    (define (list->iset! s l) (wrap (adjoin "list->iset!" (tree "list->iset!" s) l)))
    (define (iset-unfold stop? mapper successor seed)
      (let loop ((t #f) (seed seed))
        (if (stop? seed)
            (wrap t)
            (loop (put "iset-unfold" t (mapper seed)) (successor seed)))))
    (define make-range-iset
      (case-lambda
        ((start end) (make-range-iset start end 1))
        ((start end step)
         (check "make-range-iset" start)
         (check "make-range-iset" end)
         (if (= 0 (check "make-range-iset" step)) (error "make-range-iset: the step is zero"))
         (let ((past? (if (> step 0) >= <=)))
           (let loop ((t #f) (n start))
             (if (past? n end) (wrap t) (loop (tree-put < t n #t) (+ n step))))))))
    (define (iset-copy s) (wrap (tree "iset-copy" s)))

    ;;;; Asking

    (define (iset-contains? s n) (if (tree-find < (tree "iset-contains?" s) (check "iset-contains?" n)) #t #f))
    (define (iset-empty? s) (not (tree "iset-empty?" s)))
    (define (iset-disjoint? a b)
      (not (tree-intersection < (tree "iset-disjoint?" a) (tree "iset-disjoint?" b))))
    (define (iset-member s n default) (if (iset-contains? s n) n default))
    (define (iset-min s)
      (let ((t (tree "iset-min" s)))
        (and t (tree-key (tree-min t)))))
    (define (iset-max s)
      (let ((t (tree "iset-max" s)))
        (and t (tree-key (tree-max t)))))
    (define (iset-size s) (tree-size (tree "iset-size" s)))

    (define (search pred t)
      (tree-search (lambda (n ignored) (pred n)) t))
    (define (iset-find pred s failure)
      (let ((found (search pred (tree "iset-find" s))))
        (if found (tree-key found) (failure))))
    (define (iset-any? pred s) (if (search pred (tree "iset-any?" s)) #t #f))
    (define (iset-every? pred s)
      (not (search (lambda (n) (not (pred n))) (tree "iset-every?" s))))
    (define (iset-count pred s)
      (iset-fold (lambda (n count) (if (pred n) (+ count 1) count)) 0 s))

    ;;;; Elements in and out

    (define (iset-adjoin s . elements) (wrap (adjoin "iset-adjoin" (tree "iset-adjoin" s) elements)))
    (define (iset-delete-all s elements)
      (let loop ((t (tree "iset-delete" s)) (rest elements))
        (if (null? rest)
            (wrap t)
            (loop (tree-drop < t (check "iset-delete" (car rest))) (cdr rest)))))
    (define (iset-delete s . elements) (iset-delete-all s elements))

    (define (iset-delete-min s)
      (let ((t (tree "iset-delete-min" s)))
        (if (not t) (error "iset-delete-min: the set is empty"))
        (values (tree-key (tree-min t)) (wrap (tree-drop-min t)))))
    (define (iset-delete-max s)
      (let ((t (tree "iset-delete-max" s)))
        (if (not t) (error "iset-delete-max: the set is empty"))
        (values (tree-key (tree-max t)) (wrap (tree-drop-max t)))))

    (define (iset-search s n failure success)
      (let ((t (tree "iset-search" s)))
        (if (tree-find < t (check "iset-search" n))
            (success n
                     (lambda (new obj)
                       (values (wrap (put "iset-search" (tree-drop < t n) new)) obj))
                     (lambda (obj) (values (wrap (tree-drop < t n)) obj)))
            (failure (lambda (obj) (values (wrap (put "iset-search" t n)) obj))
                     (lambda (obj) (values s obj))))))

    ;;;; All of them

    (define (iset-fold proc nil s)
      (tree-fold (lambda (n ignored acc) (proc n acc)) nil (tree "iset-fold" s)))
    (define (iset-fold-right proc nil s)
      (tree-fold-right (lambda (n ignored acc) (proc n acc)) nil (tree "iset-fold-right" s)))
    (define (iset-for-each proc s)
      (iset-fold (lambda (n ignored) (proc n)) #f s)
      #t)
    (define (iset->list s) (iset-fold-right cons '() s))
    (define (iset-map proc s)
      (wrap (iset-fold (lambda (n t) (put "iset-map" t (proc n))) #f s)))
    (define (iset-filter pred s)
      (wrap (tree-filter (lambda (n ignored) (pred n)) (tree "iset-filter" s))))
    (define (iset-remove pred s)
      (wrap (tree-filter (lambda (n ignored) (not (pred n))) (tree "iset-remove" s))))
    (define (iset-partition pred s)
      (let ((kept (iset-filter pred s)))
        (values kept (iset-difference s kept))))

    ;;;; Comparison

    (define (within? a b)
      (and (<= (tree-size a) (tree-size b)) (not (tree-difference < a b))))
    (define (chain who holds?)
      (lambda (a . rest)
        (let loop ((a (tree who a)) (rest rest) (so-far? #t))
          (if (null? rest)
              so-far?
              (let ((b (tree who (car rest))))
                (loop b (cdr rest) (and so-far? (holds? a b))))))))
    (define iset=? (chain "iset=?" (lambda (a b) (and (= (tree-size a) (tree-size b)) (within? a b)))))
    (define iset<? (chain "iset<?" (lambda (a b) (and (< (tree-size a) (tree-size b)) (within? a b)))))
    (define iset>? (chain "iset>?" (lambda (a b) (and (> (tree-size a) (tree-size b)) (within? b a)))))
    (define iset<=? (chain "iset<=?" within?))
    (define iset>=? (chain "iset>=?" (lambda (a b) (within? b a))))

    ;;;; Set theory

    (define (both a b) (tree-union < a b))
    (define (common a b) (tree-intersection < a b))
    (define (combiner who combine)
      (lambda (s . rest)
        (let loop ((t (tree who s)) (rest rest))
          (if (null? rest) (wrap t) (loop (combine t (tree who (car rest))) (cdr rest))))))
    (define iset-union (combiner "iset-union" both))
    (define iset-intersection (combiner "iset-intersection" common))
    (define iset-difference (combiner "iset-difference" (lambda (a b) (tree-difference < a b))))
    (define (iset-xor a b)
      (let ((a (tree "iset-xor" a)) (b (tree "iset-xor" b)))
        (wrap (tree-difference < (both a b) (common a b)))))

    ;;;; Intervals

    ;; The part between two bounds, which are in it or not; a bound that is #f is none.
    (define (between s low low? high high?)
      (let*-values (((t) (tree "iset-interval" s))
                    ((t) (if low
                             (let-values (((below here above) (tree-split < t low)))
                               (if (and low? here) (tree-put < above low #t) above))
                             t))
                    ((t) (if high
                             (let-values (((below here above) (tree-split < t high)))
                               (if (and high? here) (tree-put < below high #t) below))
                             t)))
        (wrap t)))
    (define (iset-open-interval s low high) (between s low #f high #f))
    (define (iset-closed-interval s low high) (between s low #t high #t))
    (define (iset-open-closed-interval s low high) (between s low #f high #t))
    (define (iset-closed-open-interval s low high) (between s low #t high #f))
    (define (isubset= s k) (if (iset-contains? s k) (iset k) (iset)))
    (define (isubset< s k) (between s #f #f k #f))
    (define (isubset<= s k) (between s #f #f k #t))
    (define (isubset> s k) (between s k #f #f #f))
    (define (isubset>= s k) (between s k #t #f #f))

    ;; A set shares what it can with others, so nothing is gained by changing it.
    (define iset-adjoin! iset-adjoin)
    (define iset-delete! iset-delete)
    (define iset-delete-all! iset-delete-all)
    (define iset-delete-min! iset-delete-min)
    (define iset-delete-max! iset-delete-max)
    (define iset-search! iset-search)
    (define iset-filter! iset-filter)
    (define iset-remove! iset-remove)
    (define iset-partition! iset-partition)
    (define iset-union! iset-union)
    (define iset-intersection! iset-intersection)
    (define iset-difference! iset-difference)
    (define iset-xor! iset-xor)))
