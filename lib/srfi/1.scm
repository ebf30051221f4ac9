;;; SRFI 1.  Procedures with ! reuse the pairs of their argument, but for `append-map!` and those on several lists.

;;;; Constructors

(define (xcons a b) (%cons b a))

(define (list-tabulate n f)
  (let loop ((i (%- n 1)) (acc '()))
    (if (%< i 0)
        acc
        (loop (%- i 1) (%cons (f i) acc)))))

(define (circular-list x . rest)
  (let ((l (%cons x rest)))
    (%set-cdr! (last-pair l) l)
    l))

(define iota
  (case-lambda
    ((n) (iota n 0 1))
    ((n start) (iota n start 1))
    ((n start step)
     (let loop ((i (%- n 1)) (acc '()))
       (if (%< i 0)
           acc
           (loop (%- i 1) (%cons (%+ start (%* i step)) acc)))))))

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
(define (second l) (cadr l))
(define (third l) (caddr l))
(define (fourth l) (cadddr l))
(define (fifth l) (list-ref l 4))
(define (sixth l) (list-ref l 5))
(define (seventh l) (list-ref l 6))
(define (eighth l) (list-ref l 7))
(define (ninth l) (list-ref l 8))
(define (tenth l) (list-ref l 9))
(define (car+cdr p) (%values (%car p) (%cdr p)))

(define (take l k)
  (let loop ((l l) (k k))
    (if (%<= k 0)
        '()
        (%cons (%car l) (loop (%cdr l) (%- k 1))))))
(define (take! l k)
  (if (%<= k 0)
      '()
      (begin
        (%set-cdr! (list-tail l (%- k 1)) '())
        l)))
(define (drop l k) (list-tail l k))

;; The list without its last k pairs: the lead runs k pairs ahead.
(define (drop-right l k)
  (let loop ((l l) (lead (drop l k)))
    (if (%pair? lead)
        (%cons (%car l) (loop (%cdr l) (%cdr lead)))
        '())))
(define (drop-right! l k)
  (let ((lead (drop l k)))
    (if (%pair? lead)
        (let loop ((end l) (lead (%cdr lead)))
          (if (%pair? lead)
              (loop (%cdr end) (%cdr lead))
              (begin
                (%set-cdr! end '())
                l)))
        '())))
(define (take-right l k)
  (let loop ((l l) (lead (drop l k)))
    (if (%pair? lead)
        (loop (%cdr l) (%cdr lead))
        l)))
(define (split-at l k)
  (%values (take l k) (drop l k)))
(define (split-at! l k)
  (if (%<= k 0)
      (%values '() l)
      (let* ((end (list-tail l (%- k 1))) (rest (%cdr end)))
        (%set-cdr! end '())
        (%values l rest))))
(define (last l) (%car (last-pair l)))

;;;; The whole spine

(define (length+ l)
  (if (circular-list? l) #f (%length l)))
(define (concatenate lists) (%apply append lists))
(define (concatenate! lists) (%apply append lists))
(define (zip l . lists) (%apply map list l lists))
(define (unzip1 l) (map first l))
(define (unzip2 l) (%values (map first l) (map second l)))
(define (unzip3 l) (%values (map first l) (map second l) (map third l)))
(define (unzip4 l) (%values (map first l) (map second l) (map third l) (map fourth l)))
(define (unzip5 l) (%values (map first l) (map second l) (map third l) (map fourth l) (map fifth l)))

(define count
  (case-lambda
    ((f l)
     (let loop ((l l) (n 0))
       (if (%pair? l)
           (loop (%cdr l) (if (f (%car l)) (%fx+ n 1) n))
           n)))
    ((f l . lists)
     (let loop ((lists (%cons l lists)) (n 0))
       (if (any-null? lists)
           n
           (loop (cdrs lists) (if (%apply f (cars lists)) (%fx+ n 1) n)))))))

;;;; Folding

(define fold
  (case-lambda
    ((f acc l)
     (let loop ((acc acc) (l l))
       (if (%pair? l)
           (loop (f (%car l) acc) (%cdr l))
           acc)))
    ((f acc a b)
     (let loop ((acc acc) (a a) (b b))
       (if (if (%pair? a) (%pair? b) #f)
           (loop (f (%car a) (%car b) acc) (%cdr a) (%cdr b))
           acc)))
    ((f acc . lists)
     (let loop ((acc acc) (lists lists))
       (if (any-null? lists)
           acc
           (loop (%apply f (append (cars lists) (list acc))) (cdrs lists)))))))

(define fold-right fold-right-1)

(define pair-fold
  (case-lambda
    ((f acc l)
     (let loop ((acc acc) (l l))
       (if (%pair? l)
           (let ((next (%cdr l)))
             (loop (f l acc) next))
           acc)))
    ((f acc . lists)
     (let loop ((acc acc) (lists lists))
       (if (any-null? lists)
           acc
           (let ((next (cdrs lists)))
             (loop (%apply f (append lists (list acc))) next)))))))

(define pair-fold-right
  (case-lambda
    ((f acc l)
     (let loop ((l l))
       (if (%pair? l)
           (f l (loop (%cdr l)))
           acc)))
    ((f acc . lists)
     (let loop ((lists lists))
       (if (any-null? lists)
           acc
           (%apply f (append lists (list (loop (cdrs lists))))))))))

(define (reduce f default l)
  (if (%pair? l)
      (fold f (%car l) (%cdr l))
      default))

(define (reduce-right f default l)
  (if (%pair? l)
      (let loop ((x (%car l)) (l (%cdr l)))
        (if (%pair? l)
            (f x (loop (%car l) (%cdr l)))
            x))
      default))

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

(define append-map! append-map)
(define map!
  (case-lambda
    ((f l)
     (let loop ((rest l))
       (if (%pair? rest)
           (begin
             (%set-car! rest (f (%car rest)))
             (loop (%cdr rest)))
           l)))
    ((f l . lists) (%apply map f l lists))))
(define map-in-order map)

(define pair-for-each
  (case-lambda
    ((f l)
     (let loop ((l l))
       (if (%pair? l)
           (let ((next (%cdr l)))
             (f l)
             (loop next)))))
    ((f l . lists)
     (let loop ((lists (%cons l lists)))
       (if (%not (any-null? lists))
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
           '())))
    ((f l . lists)
     (filter (lambda (x) x) (%apply map f l lists)))))

;;;; Filtering and searching

(define (remove drop? l)
  (filter (lambda (x) (%not (drop? x))) l))
(define (partition in? l)
  (let loop ((l l) (in '()) (out '()))
    (if (%pair? l)
        (if (in? (%car l))
            (loop (%cdr l) (%cons (%car l) in) out)
            (loop (%cdr l) in (%cons (%car l) out)))
        (%values (reverse! in) (reverse! out)))))

;; `end` is the last pair that stays; what follows it is dropped up to `rest`.
(define (filter! keep? l)
  (cond
    ((%not (%pair? l)) '())
    ((keep? (%car l))
     (let loop ((end l) (rest (%cdr l)) (dropped? #f))
       (cond
         ((%not (%pair? rest))
          (if dropped? (%set-cdr! end '()))
          l)
         ((keep? (%car rest))
          (if dropped? (%set-cdr! end rest))
          (loop rest (%cdr rest) #f))
         (else (loop end (%cdr rest) #t)))))
    (else (filter! keep? (%cdr l)))))
(define (remove! drop? l)
  (filter! (lambda (x) (%not (drop? x))) l))
(define (partition! in? l)
  (let ((in (%cons #f '())) (out (%cons #f '())))
    (let loop ((l l) (last-in in) (last-out out))
      (cond
        ((%not (%pair? l))
         (%set-cdr! last-in '())
         (%set-cdr! last-out '())
         (%values (%cdr in) (%cdr out)))
        ((in? (%car l))
         (%set-cdr! last-in l)
         (loop (%cdr l) l last-out))
        (else
         (%set-cdr! last-out l)
         (loop (%cdr l) last-in l))))))

(define (find-tail f l)
  (let loop ((l l))
    (cond
      ((%not (%pair? l)) #f)
      ((f (%car l)) l)
      (else (loop (%cdr l))))))

(define (find f l)
  (let ((tail (find-tail f l)))
    (if tail (%car tail) #f)))

(define any
  (case-lambda
    ((f l)
     (if (%pair? l)
         (let loop ((x (%car l)) (l (%cdr l)))
           (if (%pair? l)
               (or (f x) (loop (%car l) (%cdr l)))
               (f x)))
         #f))
    ((f l . lists)
     (let loop ((lists (%cons l lists)))
       (if (any-null? lists)
           #f
           (or (%apply f (cars lists)) (loop (cdrs lists))))))))

(define every
  (case-lambda
    ((f l)
     (if (%pair? l)
         (let loop ((x (%car l)) (l (%cdr l)))
           (if (%pair? l)
               (if (f x) (loop (%car l) (%cdr l)) #f)
               (f x)))
         #t))
    ((f l . lists)
     (let loop ((lists (%cons l lists)) (result #t))
       (if (any-null? lists)
           result
           (let ((x (%apply f (cars lists))))
             (if x (loop (cdrs lists) x) #f)))))))

(define list-index
  (case-lambda
    ((f l)
     (let loop ((l l) (i 0))
       (cond
         ((%not (%pair? l)) #f)
         ((f (%car l)) i)
         (else (loop (%cdr l) (%fx+ i 1))))))
    ((f l . lists)
     (let loop ((lists (%cons l lists)) (i 0))
       (cond
         ((any-null? lists) #f)
         ((%apply f (cars lists)) i)
         (else (loop (cdrs lists) (%fx+ i 1))))))))

(define (take-while f l)
  (let loop ((l l))
    (if (if (%pair? l) (f (%car l)) #f)
        (%cons (%car l) (loop (%cdr l)))
        '())))
(define (take-while! f l)
  (call-with-values (lambda () (span! f l)) (lambda (taken rest) taken)))
(define (drop-while f l)
  (if (if (%pair? l) (f (%car l)) #f)
      (drop-while f (%cdr l))
      l))
(define (span f l)
  (let loop ((l l) (acc '()))
    (if (if (%pair? l) (f (%car l)) #f)
        (loop (%cdr l) (%cons (%car l) acc))
        (%values (reverse! acc) l))))
(define (break f l)
  (span (lambda (x) (%not (f x))) l))
(define (span! f l)
  (if (and (%pair? l) (f (%car l)))
      (let loop ((end l) (rest (%cdr l)))
        (if (and (%pair? rest) (f (%car rest)))
            (loop rest (%cdr rest))
            (begin
              (%set-cdr! end '())
              (%values l rest))))
      (%values '() l)))
(define (break! stop? l)
  (span! (lambda (x) (%not (stop? x))) l))

(define delete
  (case-lambda
    ((x l) (delete x l equal?))
    ((x l same?) (remove (lambda (y) (same? x y)) l))))
(define delete!
  (case-lambda
    ((x l) (delete! x l equal?))
    ((x l same?) (remove! (lambda (y) (same? x y)) l))))

(define delete-duplicates
  (case-lambda
    ((l) (delete-duplicates l equal?))
    ((l same?)
     (let loop ((l l))
       (if (%pair? l)
           (%cons (%car l) (loop (delete (%car l) (%cdr l) same?)))
           '())))))
(define delete-duplicates!
  (case-lambda
    ((l) (delete-duplicates! l equal?))
    ((l same?)
     (let loop ((rest l))
       (if (%pair? rest)
           (begin
             (%set-cdr! rest (delete! (%car rest) (%cdr rest) same?))
             (loop (%cdr rest)))
           l)))))

;;;; Association lists

(define (alist-cons key value alist)
  (%cons (%cons key value) alist))
(define (alist-copy alist)
  (map (lambda (entry) (%cons (%car entry) (%cdr entry))) alist))
(define alist-delete
  (case-lambda
    ((key alist) (alist-delete key alist equal?))
    ((key alist same?) (remove (lambda (entry) (same? key (%car entry))) alist))))
(define alist-delete!
  (case-lambda
    ((key alist) (alist-delete! key alist equal?))
    ((key alist same?) (remove! (lambda (entry) (same? key (%car entry))) alist))))

;;;; Sets as lists

(define (has? same? l x)
  (any (lambda (y) (same? y x)) l))

(define (subset? same? a b)
  (every (lambda (x) (has? (lambda (y x) (same? x y)) b x)) a))

(define (lset<= same? . sets)
  (let loop ((sets sets))
    (cond
      ((%null? sets) #t)
      ((%null? (%cdr sets)) #t)
      ((subset? same? (%car sets) (cadr sets)) (loop (%cdr sets)))
      (else #f))))

(define (lset= same? . sets)
  (let loop ((sets sets))
    (cond
      ((%null? sets) #t)
      ((%null? (%cdr sets)) #t)
      ((if (subset? same? (%car sets) (cadr sets))
           (subset? (lambda (x y) (same? y x)) (cadr sets) (%car sets)) ; elements of the first list come first
           #f)
       (loop (%cdr sets)))
      (else #f))))

(define (lset-adjoin same? set . elements)
  (fold (lambda (x set) (if (has? same? set x) set (%cons x set))) set elements))

(define (lset-union same? . sets)
  (reduce (lambda (set acc)
            (cond
              ((%null? set) acc)
              ((%null? acc) set)
              ((%eq? set acc) acc)
              (else (fold (lambda (x acc) (if (has? same? acc x) acc (%cons x acc))) acc set))))
          '() sets))

(define (lset-intersection same? set . sets)
  (filter (lambda (x) (every (lambda (set) (has? same? set x)) sets)) set))

(define (lset-difference same? set . sets)
  (filter (lambda (x) (every (lambda (set) (%not (has? same? set x))) sets)) set))

(define (lset-xor same? . sets)
  (reduce (lambda (b a)
            (append (lset-difference same? a b) (lset-difference same? b a)))
          '() sets))

(define (lset-diff+intersection same? set . sets)
  (partition (lambda (x) (every (lambda (set) (%not (has? same? set x))) sets)) set))

(define lset-union! lset-union)
(define lset-intersection! lset-intersection)
(define lset-difference! lset-difference)
(define lset-xor! lset-xor)
(define lset-diff+intersection! lset-diff+intersection)
