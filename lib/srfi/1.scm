;;; SRFI 1.  Procedures with ! reuse the pairs of their argument, but for `append-map!` and those on several lists.

;;;; Constructors

(define (xcons a b) (%cons b a))

(define (list-tabulate n f)
  (check-length "list-tabulate" n)
  (let loop ((i (%fx- n 1)) (acc '()))
    (if (%fx< i 0)
        acc
        (loop (%fx- i 1) (%cons (f i) acc)))))

(define (check-length who n)
  (if (if (%fixnum? n) (%fx< n 0) #t)
      (wrong-type who "a length" n)))

(define (circular-list x . rest)
  (let ((l (%cons x rest)))
    (%set-cdr! (last-pair l) l)
    l))

(define iota
  (case-lambda
    ((n) (iota n 0 1))
    ((n start) (iota n start 1))
    ((n start step)
     (check-length "iota" n)
     (let loop ((i (%fx- n 1)) (acc '()))
       (if (%fx< i 0)
           acc
           (loop (%fx- i 1) (%cons (%+ start (%* i step)) acc)))))))

;;;; Predicates

(define (proper-list? x) (%list? x))

;; 'proper, 'dotted or 'circular
(define (list-shape x)
  (let loop ((slow x) (fast x))
    (cond
      ((%null? fast) 'proper)
      ((%not (%pair? fast)) 'dotted)
      (else
       (let ((fast (%cdr fast)))
         (cond
           ((%null? fast) 'proper)
           ((%not (%pair? fast)) 'dotted)
           (else
            (let ((slow (%cdr slow)) (fast (%cdr fast)))
              (if (%eq? slow fast) 'circular (loop slow fast))))))))))

(define (circular-list? x) (%eq? (list-shape x) 'circular))
(define (dotted-list? x) (%eq? (list-shape x) 'dotted))
(define (not-pair? x) (%not (%pair? x)))
(define (null-list? l) (%not (%pair? l)))

(define (list= same? . lists)
  (define (two? a b)
    (cond
      ((%null? a) (%null? b))
      ((%null? b) #f)
      ((same? (%car a) (%car b)) (two? (%cdr a) (%cdr b)))
      (else #f)))
  (let loop ((lists lists))
    (cond
      ((%null? lists) #t)
      ((%null? (%cdr lists)) #t)
      ((two? (%car lists) (%car (%cdr lists))) (loop (%cdr lists)))
      (else #f))))

;;;; Selectors

(define (first l) (%car l))
(define (second l) (%car (%cdr l)))
(define (third l) (%car (%cdr (%cdr l))))
(define (fourth l) (%car (%cdr (%cdr (%cdr l)))))
(define (fifth l) (%car (nth-pair "fifth" l 4)))
(define (sixth l) (%car (nth-pair "sixth" l 5)))
(define (seventh l) (%car (nth-pair "seventh" l 6)))
(define (eighth l) (%car (nth-pair "eighth" l 7)))
(define (ninth l) (%car (nth-pair "ninth" l 8)))
(define (tenth l) (%car (nth-pair "tenth" l 9)))
(define (car+cdr p) (%values (%car p) (%cdr p)))

(define (take l k)
  (let loop ((rest l) (i k))
    (if (if (%fixnum? i) (%fx< 0 i) #f)
        (if (%pair? rest)
            (%cons (%car rest) (loop (%cdr rest) (%fx- i 1)))
            (too-short "take" l k))
        (if (%eq? i 0)
            '()
            (too-short "take" l k)))))
;; The error that there is no tail behind k pairs, or that k is no index.
(define (too-short who l k)
  (tail-behind who l k k))
(define (take! l k)
  (if (%eq? k 0)
      '()
      (begin
        (%set-cdr! (last-of-front "take!" l k) '())
        l)))
;; The pair before the tail behind k pairs.
(define (last-of-front who l k)
  (if (%fixnum? k)
      (let ((before (%fx- k 1)))
        (if (%fx< before 0)
            (too-short who l k)
            (let ((end (tail-behind who l before k)))
              (if (%pair? end) end (too-short who l k)))))
      (too-short who l k)))
(define (drop l k) (tail-behind "drop" l k k))

;; The list without its last k pairs: the lead runs k pairs ahead.
(define (drop-right l k)
  (let loop ((l l) (lead (tail-behind "drop-right" l k k)))
    (if (%pair? lead)
        (%cons (%car l) (loop (%cdr l) (%cdr lead)))
        '())))
(define (drop-right! l k)
  (let ((lead (tail-behind "drop-right!" l k k)))
    (if (%pair? lead)
        (let loop ((end l) (lead (%cdr lead)))
          (if (%pair? lead)
              (loop (%cdr end) (%cdr lead))
              (begin
                (%set-cdr! end '())
                l)))
        '())))
(define (take-right l k)
  (let loop ((l l) (lead (tail-behind "take-right" l k k)))
    (if (%pair? lead)
        (loop (%cdr l) (%cdr lead))
        l)))
(define (split-at l k)
  (let ((rest (tail-behind "split-at" l k k)))
    (%values (take l k) rest)))
(define (split-at! l k)
  (if (%eq? k 0)
      (%values '() l)
      (let* ((end (last-of-front "split-at!" l k)) (rest (%cdr end)))
        (%set-cdr! end '())
        (%values l rest))))
(define (last l)
  (let ((rest (%cdr l)))
    (if (%pair? rest) (last rest) (%car l))))

;;;; The whole spine

(define (length+ l)
  (if (circular-list? l) #f (%length l)))

;; `append` of a list of lists, of which the last may be anything.
(define (concatenation who lists)
  (let loop ((rest lists))
    (if (%pair? rest)
        (let ((next (%cdr rest)))
          (if (if (%null? next) #t (%list? (%car rest)))
              (loop next)
              (wrong-type who "a list" (%car rest))))
        (if (%not (%null? rest))
            (wrong-type who "a list of lists" lists))))
  (%apply append lists))
(define (concatenate lists) (concatenation "concatenate" lists))
(define (concatenate! lists) (concatenation "concatenate!" lists))

(define (any-empty? lists)
  (if (%pair? lists)
      (if (%null? (%car lists)) #t (any-empty? (%cdr lists)))
      #f))
(define (zip l . lists)
  (let loop ((rest (%cons l lists)))
    (cond
      ((%not (any-null? rest)) (%cons (cars rest) (loop (cdrs rest))))
      ((any-empty? rest) '())
      (else (wrong-type "zip" "a list" (find not-pair? rest))))))

;; A list of what `access` gives for each element `x` of a list of lists.
(define-syntax column
  (syntax-rules ()
    ((_ who lists x access)
     (let loop ((rest lists))
       (cond
         ((%pair? rest)
          (let* ((x (%car rest)) (first access))
            (%cons first (loop (%cdr rest)))))
         ((%null? rest) '())
         (else (wrong-type who "a list" rest)))))))
(define (unzip1 l) (column "unzip1" l x (%car x)))
(define (unzip2 l)
  (%values (column "unzip2" l x (%car x)) (column "unzip2" l x (%car (%cdr x)))))
(define (unzip3 l)
  (%values (column "unzip3" l x (%car x)) (column "unzip3" l x (%car (%cdr x)))
           (column "unzip3" l x (%car (%cdr (%cdr x))))))
(define (unzip4 l)
  (%values (column "unzip4" l x (%car x)) (column "unzip4" l x (%car (%cdr x)))
           (column "unzip4" l x (%car (%cdr (%cdr x)))) (column "unzip4" l x (%car (%cdr (%cdr (%cdr x)))))))
(define (unzip5 l)
  (%values (column "unzip5" l x (%car x)) (column "unzip5" l x (%car (%cdr x)))
           (column "unzip5" l x (%car (%cdr (%cdr x)))) (column "unzip5" l x (%car (%cdr (%cdr (%cdr x)))))
           (column "unzip5" l x (%car (nth-pair "unzip5" x 4)))))

(define count
  (case-lambda
    ((f l)
     (let loop ((l l) (n 0))
       (if (%pair? l)
           (loop (%cdr l) (if (f (%car l)) (%fx+ n 1) n))
           (begin (list-end "count" l) n))))
    ((f l . lists)
     (let loop ((lists (%cons l lists)) (n 0))
       (if (any-null? lists)
           (begin (all-ended "count" lists) n)
           (loop (cdrs lists) (if (%apply f (cars lists)) (%fx+ n 1) n)))))))

;;;; Folding

(define fold
  (case-lambda
    ((f acc l)
     (let loop ((acc acc) (l l))
       (if (%pair? l)
           (loop (f (%car l) acc) (%cdr l))
           (folded "fold" l acc))))
    ((f acc a b)
     (let loop ((acc acc) (a a) (b b))
       (if (if (%pair? a) (%pair? b) #f)
           (loop (f (%car a) (%car b) acc) (%cdr a) (%cdr b))
           (all-folded "fold" (list a b) acc))))
    ((f acc l . lists)
     (let loop ((acc acc) (lists (%cons l lists)))
       (if (any-null? lists)
           (all-folded "fold" lists acc)
           (loop (%apply f (append (cars lists) (list acc))) (cdrs lists)))))))

(define fold-right fold-right-1)

(define pair-fold
  (case-lambda
    ((f acc l)
     (let loop ((acc acc) (l l))
       (if (%pair? l)
           (let ((next (%cdr l)))
             (loop (f l acc) next))
           (folded "pair-fold" l acc))))
    ((f acc l . lists)
     (let loop ((acc acc) (lists (%cons l lists)))
       (if (any-null? lists)
           (all-folded "pair-fold" lists acc)
           (let ((next (cdrs lists)))
             (loop (%apply f (append lists (list acc))) next)))))))

(define pair-fold-right
  (case-lambda
    ((f acc l)
     (let loop ((l l))
       (if (%pair? l)
           (f l (loop (%cdr l)))
           (folded "pair-fold-right" l acc))))
    ((f acc l . lists)
     (let loop ((lists (%cons l lists)))
       (if (any-null? lists)
           (all-folded "pair-fold-right" lists acc)
           (%apply f (append lists (list (loop (cdrs lists))))))))))

(define (reduce f default l)
  (if (%pair? l)
      (let loop ((acc (%car l)) (l (%cdr l)))
        (if (%pair? l)
            (loop (f (%car l) acc) (%cdr l))
            (folded "reduce" l acc)))
      (folded "reduce" l default)))

(define (reduce-right f default l)
  (if (%pair? l)
      (let loop ((x (%car l)) (l (%cdr l)))
        (if (%pair? l)
            (f x (loop (%car l) (%cdr l)))
            (folded "reduce-right" l x)))
      (folded "reduce-right" l default)))

(define unfold
  (case-lambda
    ((stop? f next seed) (unfold stop? f next seed (lambda (x) '())))
    ((stop? f next seed tail)
     (let loop ((seed seed))
       (if (stop? seed)
           (tail seed)
           (let ((x (f seed)))
             (%cons x (loop (next seed)))))))))

(define unfold-right
  (case-lambda
    ((stop? f next seed) (unfold-right stop? f next seed '()))
    ((stop? f next seed tail)
     (let loop ((seed seed) (acc tail))
       (if (stop? seed)
           acc
           (loop (next seed) (%cons (f seed) acc)))))))

;;;; Mapping

(define (append-map! f l . lists)
  (%apply append (map-many "append-map!" (check-procedure "append-map!" f) (%cons l lists))))
(define map!
  (case-lambda
    ((f l)
     (let loop ((rest l))
       (if (%pair? rest)
           (begin
             (%set-car! rest (f (%car rest)))
             (loop (%cdr rest)))
           (begin (list-end "map!" rest) l))))
    ((f l . lists) (map-many "map!" (check-procedure "map!" f) (%cons l lists)))))
(define map-in-order
  (case-lambda
    ((f l)
     (let loop ((rest l))
       (cond
         ((%pair? rest)
          (let ((x (f (%car rest))))
            (%cons x (loop (%cdr rest)))))
         (else (list-end "map-in-order" rest)))))
    ((f l . lists) (map-many "map-in-order" (check-procedure "map-in-order" f) (%cons l lists)))))

(define pair-for-each
  (case-lambda
    ((f l)
     (let loop ((l l))
       (if (%pair? l)
           (let ((next (%cdr l)))
             (f l)
             (loop next))
           (begin (list-end "pair-for-each" l) (if #f #f)))))
    ((f l . lists)
     (let loop ((lists (%cons l lists)))
       (if (any-null? lists)
           (begin (all-ended "pair-for-each" lists) (if #f #f))
           (let ((next (cdrs lists)))
             (%apply f lists)
             (loop next)))))))

(define filter-map
  (case-lambda
    ((f l)
     (let loop ((l l))
       (if (%pair? l)
           (let ((x (f (%car l))))
             (if x
                 (%cons x (loop (%cdr l)))
                 (loop (%cdr l))))
           (list-end "filter-map" l))))
    ((f l . lists)
     (filter (lambda (x) x) (map-many "filter-map" (check-procedure "filter-map" f) (%cons l lists))))))

;;;; Filtering and searching

;; What `filter` does, for `who`.
(define-syntax keep
  (syntax-rules ()
    ((_ who (x l) keep?)
     (let loop ((rest l))
       (cond
         ((%pair? rest)
          (let ((x (%car rest)))
            (if keep?
                (%cons x (loop (%cdr rest)))
                (loop (%cdr rest)))))
         (else (list-end who rest)))))))
(define (remove drop? l)
  (keep "remove" (x l) (%not (drop? x))))
;; No reverse! in this and `span`: a continuation of the predicate may come back to the lists.
(define-syntax parted
  (syntax-rules ()
    ((_ who (x l) in?)
     (let loop ((rest l) (in '()) (out '()))
       (if (%pair? rest)
           (let ((x (%car rest)))
             (if in?
                 (loop (%cdr rest) (%cons x in) out)
                 (loop (%cdr rest) in (%cons x out))))
           (begin
             (list-end who rest)
             (%values (reverse in) (reverse out))))))))
(define (partition in? l)
  (parted "partition" (x l) (in? x)))

;; `end` is the last pair that stays; what follows it is dropped up to `rest`.
(define (filter! keep? l)
  (filter-in-place "filter!" keep? l))
(define (filter-in-place who keep? l)
  (cond
    ((%not (%pair? l)) (list-end who l))
    ((keep? (%car l))
     (let loop ((end l) (rest (%cdr l)) (dropped? #f))
       (cond
         ((%not (%pair? rest))
          (list-end who rest)
          (if dropped? (%set-cdr! end '()))
          l)
         ((keep? (%car rest))
          (if dropped? (%set-cdr! end rest))
          (loop rest (%cdr rest) #f))
         (else (loop end (%cdr rest) #t)))))
    (else (filter-in-place who keep? (%cdr l)))))
(define (remove! drop? l)
  (filter-in-place "remove!" (lambda (x) (%not (drop? x))) l))
(define (partition! in? l)
  (let ((in (%cons #f '())) (out (%cons #f '())))
    (let loop ((l l) (last-in in) (last-out out))
      (cond
        ((%not (%pair? l))
         (list-end "partition!" l)
         (%set-cdr! last-in '())
         (%set-cdr! last-out '())
         (%values (%cdr in) (%cdr out)))
        ((in? (%car l))
         (%set-cdr! last-in l)
         (loop (%cdr l) l last-out))
        (else
         (%set-cdr! last-out l)
         (loop (%cdr l) last-in l))))))

;; The first pair of `l` whose element `x` passes the test, seen by `found`; #f if there is none.
(define-syntax first-pair
  (syntax-rules ()
    ((_ who l (rest x) test found)
     (let loop ((rest l))
       (if (%pair? rest)
           (let ((x (%car rest)))
             (if test
                 found
                 (loop (%cdr rest))))
           (begin (list-end who rest) #f))))))
(define (find-tail f l)
  (first-pair "find-tail" l (rest x) (f x) rest))
(define (find f l)
  (first-pair "find" l (rest x) (f x) x))

(define any
  (case-lambda
    ((f l)
     (if (%pair? l)
         (let loop ((x (%car l)) (l (%cdr l)))
           (if (%pair? l)
               (or (f x) (loop (%car l) (%cdr l)))
               (begin (list-end "any" l) (f x))))
         (begin (list-end "any" l) #f)))
    ((f l . lists)
     (let loop ((lists (%cons l lists)))
       (if (any-null? lists)
           (begin (all-ended "any" lists) #f)
           (or (%apply f (cars lists)) (loop (cdrs lists))))))))

(define every
  (case-lambda
    ((f l)
     (if (%pair? l)
         (let loop ((x (%car l)) (l (%cdr l)))
           (if (%pair? l)
               (if (f x) (loop (%car l) (%cdr l)) #f)
               (begin (list-end "every" l) (f x))))
         (begin (list-end "every" l) #t)))
    ((f l . lists)
     (let loop ((lists (%cons l lists)) (result #t))
       (if (any-null? lists)
           (begin (all-ended "every" lists) result)
           (let ((x (%apply f (cars lists))))
             (if x (loop (cdrs lists) x) #f)))))))

(define list-index
  (case-lambda
    ((f l)
     (let loop ((l l) (i 0))
       (cond
         ((%not (%pair? l)) (list-end "list-index" l) #f)
         ((f (%car l)) i)
         (else (loop (%cdr l) (%fx+ i 1))))))
    ((f l . lists)
     (let loop ((lists (%cons l lists)) (i 0))
       (cond
         ((any-null? lists) (all-ended "list-index" lists) #f)
         ((%apply f (cars lists)) i)
         (else (loop (cdrs lists) (%fx+ i 1))))))))

(define (take-while f l)
  (let loop ((l l))
    (if (%pair? l)
        (if (f (%car l))
            (%cons (%car l) (loop (%cdr l)))
            '())
        (list-end "take-while" l))))
(define (take-while! f l)
  (call-with-values (lambda () (span-in-place "take-while!" f l)) (lambda (taken rest) taken)))
(define (drop-while f l)
  (let loop ((l l))
    (if (%pair? l)
        (if (f (%car l))
            (loop (%cdr l))
            l)
        (list-end "drop-while" l))))
(define-syntax span-for
  (syntax-rules ()
    ((_ who l x goes-on?)
     (let loop ((rest l) (acc '()))
       (if (if (%pair? rest) (let ((x (%car rest))) goes-on?) (begin (list-end who rest) #f))
           (loop (%cdr rest) (%cons (%car rest) acc))
           (%values (reverse acc) rest))))))
(define (span f l) (span-for "span" l x (f x)))
(define (break stop? l) (span-for "break" l x (%not (stop? x))))
(define (span-in-place who f l)
  (define (goes-on? l)
    (if (%pair? l) (f (%car l)) (begin (list-end who l) #f)))
  (if (goes-on? l)
      (let loop ((end l) (rest (%cdr l)))
        (if (goes-on? rest)
            (loop rest (%cdr rest))
            (begin
              (%set-cdr! end '())
              (%values l rest))))
      (%values '() l)))
(define (span! f l) (span-in-place "span!" f l))
(define (break! stop? l)
  (span-in-place "break!" (lambda (x) (%not (stop? x))) l))

(define delete
  (case-lambda
    ((x l) (delete x l equal?))
    ((x l same?) (keep "delete" (y l) (%not (same? x y))))))
(define delete!
  (case-lambda
    ((x l) (delete! x l equal?))
    ((x l same?) (delete-in-place "delete!" x l same?))))
(define (delete-in-place who x l same?)
  (filter-in-place who (lambda (y) (%not (same? x y))) l))

(define delete-duplicates
  (case-lambda
    ((l) (delete-duplicates l equal?))
    ((l same?)
     (let loop ((l l))
       (if (%pair? l)
           (let ((x (%car l)))
             (%cons x (loop (keep "delete-duplicates" (y (%cdr l)) (%not (same? x y))))))
           (list-end "delete-duplicates" l))))))
(define delete-duplicates!
  (case-lambda
    ((l) (delete-duplicates! l equal?))
    ((l same?)
     (let loop ((rest l))
       (if (%pair? rest)
           (begin
             (%set-cdr! rest (delete-in-place "delete-duplicates!" (%car rest) (%cdr rest) same?))
             (loop (%cdr rest)))
           (begin (list-end "delete-duplicates!" rest) l))))))

;;;; Association lists

(define (alist-cons key value alist)
  (%cons (%cons key value) alist))
(define (alist-copy alist)
  (column "alist-copy" alist entry (%cons (%car entry) (%cdr entry))))
(define alist-delete
  (case-lambda
    ((key alist) (alist-delete key alist equal?))
    ((key alist same?) (keep "alist-delete" (entry alist) (%not (same? key (%car entry)))))))
(define alist-delete!
  (case-lambda
    ((key alist) (alist-delete! key alist equal?))
    ((key alist same?)
     (filter-in-place "alist-delete!" (lambda (entry) (%not (same? key (%car entry)))) alist))))

;;;; Sets as lists

(define (has? who same? l x)
  (first-pair who l (rest y) (same? y x) #t))

(define (subset? who same? a b)
  (%not (first-pair who a (rest x) (%not (has? who (lambda (y x) (same? x y)) b x)) #t)))

(define (lset<= same? . sets)
  (let loop ((sets sets))
    (cond
      ((%null? sets) #t)
      ((%null? (%cdr sets)) #t)
      ((subset? "lset<=" same? (%car sets) (cadr sets)) (loop (%cdr sets)))
      (else #f))))

(define (lset= same? . sets)
  (let loop ((sets sets))
    (cond
      ((%null? sets) #t)
      ((%null? (%cdr sets)) #t)
      ((if (subset? "lset=" same? (%car sets) (cadr sets))
           (subset? "lset=" (lambda (x y) (same? y x)) (cadr sets) (%car sets)) ; elements of the first list come first
           #f)
       (loop (%cdr sets)))
      (else #f))))

(define (lset-adjoin same? set . elements)
  (fold (lambda (x set) (if (has? "lset-adjoin" same? set x) set (%cons x set))) set elements))

(define-syntax define-union
  (syntax-rules ()
    ((_ name ...)
     (begin
       (define (name same? . sets)
         (reduce (lambda (set acc)
                   (cond
                     ((%null? set) acc)
                     ((%null? acc) set)
                     ((%eq? set acc) acc)
                     (else
                      (let loop ((rest set) (acc acc))
                        (if (%pair? rest)
                            (let ((x (%car rest)))
                              (loop (%cdr rest)
                                    (if (has? (%symbol->string 'name) same? acc x) acc (%cons x acc))))
                            (begin (list-end (%symbol->string 'name) rest) acc))))))
                 '() sets))
       ...))))
(define-union lset-union lset-union!)

;; Elements of the first set which the other sets all have, or none of them. Names that end in ! do the same.
(define-syntax define-kept
  (syntax-rules ()
    ((_ (who same? set x others) accepted name ...)
     (begin
       (define (name same? set . sets)
         (let ((who (%symbol->string 'name)))
           (keep who (x set) (every (lambda (others) accepted) sets))))
       ...))))
(define-kept (who same? set x others) (has? who same? others x) lset-intersection lset-intersection!)
(define-kept (who same? set x others) (%not (has? who same? others x)) lset-difference lset-difference!)

(define-syntax define-xor
  (syntax-rules ()
    ((_ name ...)
     (begin
       (define (name same? . sets)
         (define (without a b)
           (keep (%symbol->string 'name) (x a) (%not (has? (%symbol->string 'name) same? b x))))
         (reduce (lambda (b a) (append (without a b) (without b a))) '() sets))
       ...))))
(define-xor lset-xor lset-xor!)

(define-syntax define-diff+intersection
  (syntax-rules ()
    ((_ name ...)
     (begin
       (define (name same? set . sets)
         (parted (%symbol->string 'name) (x set)
                 (every (lambda (set) (%not (has? (%symbol->string 'name) same? set x))) sets)))
       ...))))
(define-diff+intersection lset-diff+intersection lset-diff+intersection!)
