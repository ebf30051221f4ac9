;;; (srfi 224): mappings from integers, persistent.
;;;
;;; A mapping is a tree of (cairn tree), so one key takes logarithmic time.  Any exact integer can be a key.
(define-library (srfi 224)
  (export
   fxmapping fxmapping-unfold fxmapping-accumulate alist->fxmapping alist->fxmapping/combinator
   fxmapping? fxmapping-contains? fxmapping-empty? fxmapping-disjoint?
   fxmapping-min fxmapping-max fxmapping-ref fxmapping-ref/default
   fxmapping-adjoin fxmapping-adjoin/combinator fxmapping-adjust fxmapping-set fxmapping-delete fxmapping-delete-all
   fxmapping-alter fxmapping-update fxmapping-delete-min fxmapping-delete-max fxmapping-update-min
   fxmapping-update-max fxmapping-pop-min fxmapping-pop-max
   fxmapping-size fxmapping-count fxmapping-any? fxmapping-every? fxmapping-find
   fxmapping-map fxmapping-for-each fxmapping-fold fxmapping-fold-right fxmapping-map->list fxmapping-filter
   fxmapping-remove fxmapping-partition fxmapping-relation-map
   fxmapping->alist fxmapping->decreasing-alist fxmapping-keys fxmapping-values fxmapping->generator
   fxmapping->decreasing-generator
   fxmapping=? fxmapping<? fxmapping>? fxmapping<=? fxmapping>=?
   fxmapping-union fxmapping-intersection fxmapping-difference fxmapping-xor fxmapping-union/combinator
   fxmapping-intersection/combinator
   fxmapping-open-interval fxmapping-closed-interval fxmapping-open-closed-interval fxmapping-closed-open-interval
   fxsubmapping= fxsubmapping< fxsubmapping<= fxsubmapping>= fxsubmapping> fxmapping-split)
  (import (scheme base) (scheme case-lambda) (cairn tree) (only (srfi 128) comparator-equality-predicate comparator?)
          (only (cairn control) wrong-type) (only (cairn records) show-fields!))
  (begin

    (define-record-type <fxmapping>
      (wrap tree)
      fxmapping?
      (tree tree-of))
    (show-fields! <fxmapping> '())

    (define (tree who m)
      (if (fxmapping? m) (tree-of m) (wrong-type who "a mapping from integers" m)))
    (define (check who k)
      (if (exact-integer? k) k (wrong-type who "an exact integer" k)))

    (define (check-procedure who x)
      (if (procedure? x) x (wrong-type who "a procedure" x)))
    (define (check-list who x what)
      (if (list? x) x (wrong-type who what x)))
    ;; The tree of a mapping, for a procedure that is given a procedure, too.
    (define (tree-for who proc m)
      (check-procedure who proc)
      (tree who m))

    ;; With a key that stays as it is if it is there already.
    (define (adjoin who t k x)
      (if (tree-find < t (check who k)) t (tree-put < t k x)))
    (define (combine who proc t k x)
      (let ((old (tree-find < t (check who k))))
        (tree-put < t k (if old (proc k x (tree-value old)) x))))
    ;; Keys and values by turns: calls (put tree key value) for each.
    (define (put-all who put t l)
      (cond ((null? l) t)
            ((null? (cdr l)) (error (string-append who ": a key has no value:") (car l)))
            (else (put-all who put (put t (car l) (cadr l)) (cddr l)))))

    ;;;; Making

    (define (fxmapping . l)
      (wrap (put-all "fxmapping" (lambda (t k x) (adjoin "fxmapping" t k x)) #f l)))
    (define (fxmapping-unfold stop? mapper successor . seeds)
      (for-each (lambda (proc) (check-procedure "fxmapping-unfold" proc)) (list stop? mapper successor))
      (let loop ((t #f) (seeds seeds))
        (if (apply stop? seeds)
            (wrap t)
            (let-values (((k x) (apply mapper seeds)))
              (call-with-values (lambda () (apply successor seeds))
                (lambda seeds (loop (adjoin "fxmapping-unfold" t k x) seeds)))))))
    (define (fxmapping-accumulate proc . seeds)
      (check-procedure "fxmapping-accumulate" proc)
      (call/cc
       (lambda (return)
         (let loop ((t #f) (seeds seeds))
           (call-with-values
            (lambda ()
              (apply proc (lambda results (call-with-values (lambda () (apply values (wrap t) results)) return)) seeds))
            (lambda (k x . seeds) (loop (adjoin "fxmapping-accumulate" t k x) seeds)))))))
    (define (from-alist who alist add)
      (let loop ((t #f) (l (check-list who alist "an association list")))
        (cond ((null? l) (wrap t))
              ((pair? (car l)) (loop (add t (car (car l)) (cdr (car l))) (cdr l)))
              (else (wrong-type who "a pair in the list" (car l))))))
    (define (alist->fxmapping alist)
      (from-alist "alist->fxmapping" alist (lambda (t k x) (adjoin "alist->fxmapping" t k x))))
    (define (alist->fxmapping/combinator proc alist)
      (check-procedure "alist->fxmapping/combinator" proc)
      (from-alist "alist->fxmapping/combinator" alist
                  (lambda (t k x) (combine "alist->fxmapping/combinator" proc t k x))))

    ;;;; Asking

    (define (fxmapping-contains? m k)
      (if (tree-find < (tree "fxmapping-contains?" m) (check "fxmapping-contains?" k)) #t #f))
    (define (fxmapping-empty? m) (not (tree "fxmapping-empty?" m)))
    (define (fxmapping-disjoint? a b)
      (not (tree-intersection < (tree "fxmapping-disjoint?" a) (tree "fxmapping-disjoint?" b))))
    (define (fxmapping-size m) (tree-size (tree "fxmapping-size" m)))

    (define fxmapping-ref
      (case-lambda
        ((m k) (fxmapping-ref m k (lambda () (error "fxmapping-ref: the mapping has no such key:" k))))
        ((m k failure) (fxmapping-ref m k failure values))
        ((m k failure success)
         (check-procedure "fxmapping-ref" success)
         (let ((node (tree-find < (tree-for "fxmapping-ref" failure m) (check "fxmapping-ref" k))))
           (if node (success (tree-value node)) (failure))))))
    (define (fxmapping-ref/default m k default)
      (let ((node (tree-find < (tree "fxmapping-ref/default" m) (check "fxmapping-ref/default" k))))
        (if node (tree-value node) default)))

    (define (not-empty who m)
      (or (tree who m) (error (string-append who ": the mapping is empty"))))
    (define (fxmapping-min m)
      (let ((node (tree-min (not-empty "fxmapping-min" m))))
        (values (tree-key node) (tree-value node))))
    (define (fxmapping-max m)
      (let ((node (tree-max (not-empty "fxmapping-max" m))))
        (values (tree-key node) (tree-value node))))

    ;;;; Keys in and out

    (define (fxmapping-adjoin m . l)
      (wrap (put-all "fxmapping-adjoin" (lambda (t k x) (adjoin "fxmapping-adjoin" t k x))
                     (tree "fxmapping-adjoin" m) l)))
    (define (fxmapping-adjoin/combinator m proc . l)
      (wrap (put-all "fxmapping-adjoin/combinator"
                     (lambda (t k x) (combine "fxmapping-adjoin/combinator" proc t k x))
                     (tree-for "fxmapping-adjoin/combinator" proc m) l)))
    (define (fxmapping-set m . l)
      (wrap (put-all "fxmapping-set" (lambda (t k x) (tree-put < t (check "fxmapping-set" k) x))
                     (tree "fxmapping-set" m) l)))
    (define (fxmapping-adjust m k proc)
      (let* ((t (tree-for "fxmapping-adjust" proc m)) (node (tree-find < t (check "fxmapping-adjust" k))))
        (if node (wrap (tree-put < t k (proc k (tree-value node)))) m)))
    (define (fxmapping-delete m . keys) (delete "fxmapping-delete" m keys))
    (define (fxmapping-delete-all m keys)
      (delete "fxmapping-delete-all" m (check-list "fxmapping-delete-all" keys "a list of keys")))
    (define (delete who m keys)
      (let loop ((t (tree who m)) (keys keys))
        (if (null? keys)
            (wrap t)
            (loop (tree-drop < t (check who (car keys))) (cdr keys)))))
    ;; `failure` gets procedures that put a value in and that leave the mapping as it is, `success` the key, the value,
    ;; and procedures that put another value in its place and that take the key out.
    (define fxmapping-update
      (case-lambda
        ((m k success)
         (fxmapping-update m k success (lambda () (error "fxmapping-update: the mapping has no such key:" k))))
        ((m k success failure)
         (check-procedure "fxmapping-update" failure)
         (let* ((t (tree-for "fxmapping-update" success m)) (node (tree-find < t (check "fxmapping-update" k))))
           (if node
               (success k (tree-value node)
                        (lambda (x) (wrap (tree-put < t k x)))
                        (lambda () (wrap (tree-drop < t k))))
               (failure))))))
    (define (fxmapping-alter m k failure success)
      (check-procedure "fxmapping-alter" failure)
      (let* ((t (tree-for "fxmapping-alter" success m)) (node (tree-find < t (check "fxmapping-alter" k))))
        (if node
            (success k (tree-value node)
                     (lambda (x) (wrap (tree-put < t k x)))
                     (lambda () (wrap (tree-drop < t k))))
            (failure (lambda (x) (wrap (tree-put < t k x))) (lambda () m)))))

    (define (fxmapping-delete-min m) (wrap (tree-drop-min (not-empty "fxmapping-delete-min" m))))
    (define (fxmapping-delete-max m) (wrap (tree-drop-max (not-empty "fxmapping-delete-max" m))))
    (define (update-end who m success end drop-end)
      (check-procedure who success)
      (let* ((t (not-empty who m)) (node (end t)))
        (success (tree-key node) (tree-value node)
                 (lambda (x) (wrap (tree-put < t (tree-key node) x)))
                 (lambda () (wrap (drop-end t))))))
    (define (fxmapping-update-min m success) (update-end "fxmapping-update-min" m success tree-min tree-drop-min))
    (define (fxmapping-update-max m success) (update-end "fxmapping-update-max" m success tree-max tree-drop-max))
    (define (pop-end who m end drop-end)
      (let* ((t (not-empty who m)) (node (end t)))
        (values (tree-key node) (tree-value node) (wrap (drop-end t)))))
    (define (fxmapping-pop-min m) (pop-end "fxmapping-pop-min" m tree-min tree-drop-min))
    (define (fxmapping-pop-max m) (pop-end "fxmapping-pop-max" m tree-max tree-drop-max))

    ;;;; All of them

    (define (fxmapping-fold proc nil m) (tree-fold proc nil (tree-for "fxmapping-fold" proc m)))
    (define (fxmapping-fold-right proc nil m) (tree-fold-right proc nil (tree-for "fxmapping-fold-right" proc m)))
    (define (fxmapping-map proc m) (wrap (tree-map-values proc (tree-for "fxmapping-map" proc m))))
    (define (to-list proc t) (tree-fold-right (lambda (k x acc) (cons (proc k x) acc)) '() t))
    (define (fxmapping-map->list proc m) (to-list proc (tree-for "fxmapping-map->list" proc m)))
    (define (fxmapping-for-each proc m)
      (tree-fold (lambda (k x acc) (proc k x)) #f (tree-for "fxmapping-for-each" proc m))
      #t)
    (define (fxmapping-relation-map proc m)
      (wrap (tree-fold (lambda (k x t)
                         (let-values (((k x) (proc k x)))
                           (adjoin "fxmapping-relation-map" t k x)))
                       #f
                       (tree-for "fxmapping-relation-map" proc m))))
    (define (fxmapping-count pred m)
      (tree-fold (lambda (k x n) (if (pred k x) (+ n 1) n)) 0 (tree-for "fxmapping-count" pred m)))
    (define (fxmapping-any? pred m) (if (tree-search pred (tree-for "fxmapping-any?" pred m)) #t #f))
    (define (fxmapping-every? pred m)
      (not (tree-search (lambda (k x) (not (pred k x))) (tree-for "fxmapping-every?" pred m))))
    (define fxmapping-find
      (case-lambda
        ((pred m failure) (fxmapping-find pred m failure values))
        ((pred m failure success)
         (check-procedure "fxmapping-find" failure)
         (check-procedure "fxmapping-find" success)
         (let ((node (tree-search pred (tree-for "fxmapping-find" pred m))))
           (if node (success (tree-key node) (tree-value node)) (failure))))))
    (define (fxmapping-filter pred m) (wrap (tree-filter pred (tree-for "fxmapping-filter" pred m))))
    (define (fxmapping-remove pred m)
      (wrap (tree-filter (lambda (k x) (not (pred k x))) (tree-for "fxmapping-remove" pred m))))
    (define (fxmapping-partition pred m)
      (let* ((t (tree-for "fxmapping-partition" pred m)) (kept (tree-filter pred t)))
        (values (wrap kept) (wrap (tree-difference < t kept)))))

    (define (decreasing-alist t) (tree-fold (lambda (k x acc) (cons (cons k x) acc)) '() t))
    (define (fxmapping->alist m) (to-list cons (tree "fxmapping->alist" m)))
    (define (fxmapping->decreasing-alist m) (decreasing-alist (tree "fxmapping->decreasing-alist" m)))
    (define (fxmapping-keys m) (to-list (lambda (k x) k) (tree "fxmapping-keys" m)))
    (define (fxmapping-values m) (to-list (lambda (k x) x) (tree "fxmapping-values" m)))
    (define (list->generator l)
      (lambda ()
        (if (null? l)
            (eof-object)
            (let ((x (car l)))
              (set! l (cdr l))
              x))))
    (define (fxmapping->generator m) (list->generator (to-list cons (tree "fxmapping->generator" m))))
    (define (fxmapping->decreasing-generator m)
      (list->generator (decreasing-alist (tree "fxmapping->decreasing-generator" m))))

    ;;;; Comparison

    ;; Has `b` all of `a`?
    (define (within? same? a b)
      (and (<= (tree-size a) (tree-size b))
           (not (tree-search (lambda (k x)
                               (let ((node (tree-find < b k)))
                                 (not (and node (same? x (tree-value node))))))
                             a))))
    (define (chain who holds? comparator m rest)
      (if (not (comparator? comparator)) (wrong-type who "a comparator" comparator))
      (let ((same? (comparator-equality-predicate comparator)))
        (let loop ((a (tree who m)) (rest rest))
          (or (null? rest)
              (let ((b (tree who (car rest))))
                (and (holds? same? a b) (loop b (cdr rest))))))))
    (define-syntax define-chains
      (syntax-rules ()
        ((_ (name (same? a b) holds?) ...)
         (begin
           (define (name comparator m . rest)
             (chain (symbol->string 'name) (lambda (same? a b) holds?) comparator m rest))
           ...))))
    (define-chains
      (fxmapping=? (same? a b) (and (= (tree-size a) (tree-size b)) (within? same? a b)))
      (fxmapping<? (same? a b) (and (< (tree-size a) (tree-size b)) (within? same? a b)))
      (fxmapping>? (same? a b) (and (> (tree-size a) (tree-size b)) (within? same? b a)))
      (fxmapping<=? (same? a b) (within? same? a b))
      (fxmapping>=? (same? a b) (within? same? b a)))

    ;;;; Set theory

    (define (combiner who combine)
      (lambda (m . rest)
        (let loop ((t (tree who m)) (rest rest))
          (if (null? rest) (wrap t) (loop (combine t (tree who (car rest))) (cdr rest))))))
    (define fxmapping-union (combiner "fxmapping-union" (lambda (a b) (tree-union < a b))))
    (define fxmapping-intersection (combiner "fxmapping-intersection" (lambda (a b) (tree-intersection < a b))))
    (define fxmapping-difference (combiner "fxmapping-difference" (lambda (a b) (tree-difference < a b))))
    (define (fxmapping-xor a b)
      (let ((a (tree "fxmapping-xor" a)) (b (tree "fxmapping-xor" b)))
        (wrap (tree-union < (tree-difference < a b) (tree-difference < b a)))))
    (define (fxmapping-union/combinator proc m . rest)
      (check-procedure "fxmapping-union/combinator" proc)
      (apply (combiner "fxmapping-union/combinator" (lambda (a b) (tree-union < a b proc))) m rest))
    (define (fxmapping-intersection/combinator proc m . rest)
      (check-procedure "fxmapping-intersection/combinator" proc)
      (apply (combiner "fxmapping-intersection/combinator" (lambda (a b) (tree-intersection < a b proc))) m rest))

    ;;;; Parts

    ;; What lies between two bounds, which are in it or not; a bound that is #f is none.
    (define (between t low low? high high?)
      (let*-values (((t) (if low
                             (let-values (((below at above) (tree-split < t low)))
                               (if (and low? at) (tree-put < above low (tree-value at)) above))
                             t))
                    ((t) (if high
                             (let-values (((below at above) (tree-split < t high)))
                               (if (and high? at) (tree-put < below high (tree-value at)) below))
                             t)))
        (wrap t)))
    (define-syntax define-intervals
      (syntax-rules ()
        ((_ (name low? high?) ...)
         (begin
           (define (name m low high)
             (let ((who (symbol->string 'name)))
               (between (tree who m) (check who low) low? (check who high) high?)))
           ...))))
    (define-intervals
      (fxmapping-open-interval #f #f) (fxmapping-closed-interval #t #t)
      (fxmapping-open-closed-interval #f #t) (fxmapping-closed-open-interval #t #f))
    (define (up-to who m k k?) (between (tree who m) #f #f (check who k) k?))
    (define (from who m k k?) (between (tree who m) (check who k) k? #f #f))
    (define (fxsubmapping= m k)
      (between (tree "fxsubmapping=" m) (check "fxsubmapping=" k) #t k #t))
    (define (fxsubmapping< m k) (up-to "fxsubmapping<" m k #f))
    (define (fxsubmapping<= m k) (up-to "fxsubmapping<=" m k #t))
    (define (fxsubmapping> m k) (from "fxsubmapping>" m k #f))
    (define (fxsubmapping>= m k) (from "fxsubmapping>=" m k #t))
    (define (fxmapping-split m k)
      (values (up-to "fxmapping-split" m k #t) (from "fxmapping-split" m k #f)))))
