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
    (define (check-procedure who x)
      (if (procedure? x) x (wrong-type who "a procedure" x)))
    (define (check-list who x)
      (if (list? x) x (wrong-type who "a list of integers" x)))
    ;; The tree of a set, for a procedure that is given a procedure, too.
    (define (tree-for who proc s)
      (check-procedure who proc)
      (tree who s))
    ;; A set shares what it can with others, so nothing is gained by changing it: what has a ! does as what has none.
    (define-syntax define-twice
      (syntax-rules ()
        ((_ (name name!) who (arg ... . rest) body)
         (begin
           (define (name arg ... . rest) (let ((who (symbol->string 'name))) body))
           (define (name! arg ... . rest) (let ((who (symbol->string 'name!))) body))))))

    ;;;; Making

    (define (adjoin who t elements)
      (if (null? elements) t (adjoin who (put who t (car elements)) (cdr elements))))

    (define (iset . elements) (wrap (adjoin "iset" #f elements)))
    (define (list->iset l) (wrap (adjoin "list->iset" #f (check-list "list->iset" l))))
    (define (list->iset! s l)
      (wrap (adjoin "list->iset!" (tree "list->iset!" s) (check-list "list->iset!" l))))
    (define (iset-unfold stop? mapper successor seed)
      (for-each (lambda (proc) (check-procedure "iset-unfold" proc)) (list stop? mapper successor))
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

    (define (has? who s n) (if (tree-find < (tree who s) (check who n)) #t #f))
    (define (iset-contains? s n) (has? "iset-contains?" s n))
    (define (iset-empty? s) (not (tree "iset-empty?" s)))
    (define (iset-disjoint? a b)
      (not (tree-intersection < (tree "iset-disjoint?" a) (tree "iset-disjoint?" b))))
    (define (iset-member s n default) (if (has? "iset-member" s n) n default))
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
      (check-procedure "iset-find" failure)
      (let ((found (search pred (tree-for "iset-find" pred s))))
        (if found (tree-key found) (failure))))
    (define (iset-any? pred s) (if (search pred (tree-for "iset-any?" pred s)) #t #f))
    (define (iset-every? pred s)
      (not (search (lambda (n) (not (pred n))) (tree-for "iset-every?" pred s))))
    (define (iset-count pred s)
      (fold (lambda (n count) (if (pred n) (+ count 1) count)) 0 (tree-for "iset-count" pred s)))

    ;;;; Elements in and out

    (define-twice (iset-adjoin iset-adjoin!) who (s . elements)
      (wrap (adjoin who (tree who s) elements)))
    (define (delete who s elements)
      (let loop ((t (tree who s)) (rest (check-list who elements)))
        (if (null? rest)
            (wrap t)
            (loop (tree-drop < t (check who (car rest))) (cdr rest)))))
    (define-twice (iset-delete iset-delete!) who (s . elements)
      (delete who s elements))
    (define-twice (iset-delete-all iset-delete-all!) who (s elements)
      (delete who s elements))

    (define (empty who)
      (error (string-append who ": the set is empty")))
    (define-twice (iset-delete-min iset-delete-min!) who (s)
      (let ((t (or (tree who s) (empty who))))
        (values (tree-key (tree-min t)) (wrap (tree-drop-min t)))))
    (define-twice (iset-delete-max iset-delete-max!) who (s)
      (let ((t (or (tree who s) (empty who))))
        (values (tree-key (tree-max t)) (wrap (tree-drop-max t)))))

    (define-twice (iset-search iset-search!) who (s n failure success)
      (let ((t (tree-for who failure s)))
        (check-procedure who success)
        (if (tree-find < t (check who n))
            (success n
                     (lambda (new obj)
                       (values (wrap (put who (tree-drop < t n) new)) obj))
                     (lambda (obj) (values (wrap (tree-drop < t n)) obj)))
            (failure (lambda (obj) (values (wrap (put who t n)) obj))
                     (lambda (obj) (values s obj))))))

    ;;;; All of them

    (define (fold proc nil t) (tree-fold (lambda (n ignored acc) (proc n acc)) nil t))
    (define (fold-right proc nil t) (tree-fold-right (lambda (n ignored acc) (proc n acc)) nil t))
    (define (iset-fold proc nil s) (fold proc nil (tree-for "iset-fold" proc s)))
    (define (iset-fold-right proc nil s) (fold-right proc nil (tree-for "iset-fold-right" proc s)))
    (define (iset-for-each proc s)
      (fold (lambda (n ignored) (proc n)) #f (tree-for "iset-for-each" proc s))
      #t)
    (define (iset->list s) (fold-right cons '() (tree "iset->list" s)))
    (define (iset-map proc s)
      (wrap (fold (lambda (n t) (put "iset-map" t (proc n))) #f (tree-for "iset-map" proc s))))
    (define-twice (iset-filter iset-filter!) who (pred s)
      (wrap (tree-filter (lambda (n ignored) (pred n)) (tree-for who pred s))))
    (define-twice (iset-remove iset-remove!) who (pred s)
      (wrap (tree-filter (lambda (n ignored) (not (pred n))) (tree-for who pred s))))
    (define-twice (iset-partition iset-partition!) who (pred s)
      (let* ((t (tree-for who pred s)) (kept (tree-filter (lambda (n ignored) (pred n)) t)))
        (values (wrap kept) (wrap (tree-difference < t kept)))))

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
    (define (combine-all who combine s rest)
      (let loop ((t (tree who s)) (rest rest))
        (if (null? rest) (wrap t) (loop (combine t (tree who (car rest))) (cdr rest)))))
    (define-twice (iset-union iset-union!) who (s . rest)
      (combine-all who both s rest))
    (define-twice (iset-intersection iset-intersection!) who (s . rest)
      (combine-all who common s rest))
    (define-twice (iset-difference iset-difference!) who (s . rest)
      (combine-all who (lambda (a b) (tree-difference < a b)) s rest))
    (define-twice (iset-xor iset-xor!) who (a b)
      (let ((a (tree who a)) (b (tree who b)))
        (wrap (tree-difference < (both a b) (common a b)))))

    ;;;; Intervals

    ;; The part between two bounds, which are in it or not; a bound that is #f is none.
    (define (between t low low? high high?)
      (let*-values (((t) (if low
                             (let-values (((below here above) (tree-split < t low)))
                               (if (and low? here) (tree-put < above low #t) above))
                             t))
                    ((t) (if high
                             (let-values (((below here above) (tree-split < t high)))
                               (if (and high? here) (tree-put < below high #t) below))
                             t)))
        (wrap t)))
    (define-syntax define-intervals
      (syntax-rules ()
        ((_ (name low? high?) ...)
         (begin
           (define (name s low high)
             (let ((who (symbol->string 'name)))
               (between (tree who s) (check who low) low? (check who high) high?)))
           ...))))
    (define-intervals
      (iset-open-interval #f #f) (iset-closed-interval #t #t)
      (iset-open-closed-interval #f #t) (iset-closed-open-interval #t #f))
    (define (isubset= s k) (if (has? "isubset=" s k) (iset k) (iset)))
    (define (isubset< s k) (between (tree "isubset<" s) #f #f (check "isubset<" k) #f))
    (define (isubset<= s k) (between (tree "isubset<=" s) #f #f (check "isubset<=" k) #t))
    (define (isubset> s k) (between (tree "isubset>" s) (check "isubset>" k) #f #f #f))
    (define (isubset>= s k) (between (tree "isubset>=" s) (check "isubset>=" k) #t #f #f))))
