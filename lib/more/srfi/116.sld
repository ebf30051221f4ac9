;;; (srfi 116): immutable lists; also as (scheme ilist).
;;;
;;; What looks at pairs one by one is written for immutable pairs; what works on whole lists goes over lists and SRFI 1.
(define-library (srfi 116)
  (export
   iq ipair ilist xipair ipair* make-ilist ilist-copy ilist-tabulate iiota
   ipair? ilist? (rename ilist? proper-ilist?) dotted-ilist? not-ipair? null-ilist? ilist=
   icar icdr ilist-ref ifirst isecond ithird ifourth ififth isixth iseventh ieighth ininth itenth
   icaar icadr icdar icddr icaaar icaadr icadar icaddr icdaar icdadr icddar icdddr icaaaar icaaadr icaadar icaaddr
   icadaar icadadr icaddar icadddr icdaaar icdaadr icdadar icdaddr icddaar icddadr icdddar icddddr
   icar+icdr itake idrop ilist-tail itake-right idrop-right isplit-at ilast last-ipair
   ilength iappend iconcatenate ireverse iappend-reverse izip iunzip1 iunzip2 iunzip3 iunzip4 iunzip5 icount
   imap imap-in-order ifor-each ifold iunfold ipair-fold ireduce ifold-right iunfold-right
   ipair-fold-right ireduce-right iappend-map ipair-for-each ifilter-map
   ifilter ipartition iremove imember imemq imemv ifind ifind-tail iany ievery ilist-index itake-while idrop-while
   ispan ibreak idelete idelete-duplicates iassoc iassq iassv ialist-cons ialist-delete
   replace-icar replace-icdr pair->ipair ipair->pair list->ilist ilist->list tree->itree itree->tree
   gtree->itree gtree->tree iapply
   ipair-comparator ilist-comparator make-ilist-comparator make-improper-ilist-comparator make-ipair-comparator
   make-icar-comparator make-icdr-comparator)
  (import (scheme base) (scheme case-lambda) (prefix (srfi 1) l:) (srfi 128) (only (cairn control) wrong-type))
  (begin

    (define-record-type <ipair>
      (ipair car cdr)
      ipair?
      (car icar)
      (cdr icdr))

    (define-syntax iq
      (syntax-rules ()
        ((_ element ...) (tree->itree '(element ...)))))

    ;;;; From lists, to lists

    ;; What the end of a dotted list is stays the end.
    (define (list->ilist l)
      (let loop ((l (l:reverse (spine l))) (end (end-of l pair? cdr)))
        (if (null? l) end (loop (cdr l) (ipair (car l) end)))))
    (define (ilist->list l)
      (let loop ((l l) (acc '()))
        (if (ipair? l)
            (loop (icdr l) (cons (icar l) acc))
            (l:append-reverse acc l))))
    (define (spine l)
      (if (pair? l) (cons (car l) (spine (cdr l))) '()))
    (define (end-of l pair? cdr)
      (if (pair? l) (end-of (cdr l) pair? cdr) l))

    (define (pair->ipair p)
      (if (not (pair? p)) (wrong-type "pair->ipair" "a pair" p))
      (ipair (car p) (cdr p)))
    (define (ipair->pair p)
      (check-ipair "ipair->pair" p)
      (cons (icar p) (icdr p)))
    (define (tree->itree t)
      (if (pair? t) (ipair (tree->itree (car t)) (tree->itree (cdr t))) t))
    (define (itree->tree t)
      (if (ipair? t) (cons (itree->tree (icar t)) (itree->tree (icdr t))) t))
    (define (gtree->itree t)
      (cond ((pair? t) (ipair (gtree->itree (car t)) (gtree->itree (cdr t))))
            ((ipair? t) (ipair (gtree->itree (icar t)) (gtree->itree (icdr t))))
            (else t)))
    (define (gtree->tree t)
      (cond ((pair? t) (cons (gtree->tree (car t)) (gtree->tree (cdr t))))
            ((ipair? t) (cons (gtree->tree (icar t)) (gtree->tree (icdr t))))
            (else t)))

    ;;;; Making

    (define (ilist . elements) (list->ilist elements))
    (define (xipair a b) (ipair b a))
    (define (ipair* . elements) (list->ilist (apply l:cons* elements)))
    (define (check-length who n)
      (if (and (exact-integer? n) (>= n 0)) n (wrong-type who "a length" n)))
    (define (make-ilist n . fill) (list->ilist (apply make-list (check-length "make-ilist" n) fill)))
    (define (ilist-copy l) (list->ilist (ilist->list l)))
    (define (ilist-tabulate n proc) (list->ilist (l:list-tabulate (check-length "ilist-tabulate" n) proc)))
    (define (iiota n . start+step) (list->ilist (apply l:iota (check-length "iiota" n) start+step)))

    ;;;; Asking

    (define (ilist? x) (null? (end-of x ipair? icdr)))
    (define (dotted-ilist? x) (not (ilist? x)))
    (define (not-ipair? x) (not (ipair? x)))
    (define (null-ilist? x)
      (cond ((null? x) #t)
            ((ipair? x) #f)
            (else (wrong-type "null-ilist?" "an immutable list" x))))
    (define (ilist= same? . lists) (apply l:list= same? (map (lambda (l) (proper "ilist=" l)) lists)))

    ;;;; Parts

    ;; The steps to a part, the first one first.
    (define-syntax part-of
      (syntax-rules ()
        ((_ who x) x)
        ((_ who x step . steps)
         (let ((p x))
           (if (ipair? p) (part-of who (step p) . steps) (wrong-type who "an ipair" p))))))
    (define-syntax define-selectors
      (syntax-rules ()
        ((_ (name step ...) ...)
         (begin
           (define (name x) (part-of (symbol->string 'name) x step ...))
           ...))))
    (define-selectors
      (icaar icar icar) (icadr icdr icar) (icdar icar icdr) (icddr icdr icdr) (icaaar icar icar icar)
      (icaadr icdr icar icar) (icadar icar icdr icar) (icaddr icdr icdr icar) (icdaar icar icar icdr)
      (icdadr icdr icar icdr) (icddar icar icdr icdr) (icdddr icdr icdr icdr) (icaaaar icar icar icar icar)
      (icaaadr icdr icar icar icar) (icaadar icar icdr icar icar) (icaaddr icdr icdr icar icar)
      (icadaar icar icar icdr icar) (icadadr icdr icar icdr icar) (icaddar icar icdr icdr icar)
      (icadddr icdr icdr icdr icar) (icdaaar icar icar icar icdr) (icdaadr icdr icar icar icdr)
      (icdadar icar icdr icar icdr) (icdaddr icdr icdr icar icdr) (icddaar icar icar icdr icdr)
      (icddadr icdr icar icdr icdr) (icdddar icar icdr icdr icdr) (icddddr icdr icdr icdr icdr))

    ;; What follows n elements.
    (define (drop who l n)
      (if (not (and (exact-integer? n) (>= n 0))) (wrong-type who "an index" n))
      (let loop ((l l) (k n))
        (cond ((= k 0) l)
              ((ipair? l) (loop (icdr l) (- k 1)))
              (else (error (string-append who ": the list is too short:") n)))))
    (define (element who l n)
      (let ((rest (drop who l n)))
        (if (ipair? rest) (icar rest) (error (string-append who ": the list is too short:") n))))
    (define (idrop l n) (drop "idrop" l n))
    (define (ilist-tail l n) (drop "ilist-tail" l n))
    (define (ilist-ref l n) (element "ilist-ref" l n))
    (define (ifirst l) (part-of "ifirst" l icar))
    (define (isecond l) (element "isecond" l 1))
    (define (ithird l) (element "ithird" l 2))
    (define (ifourth l) (element "ifourth" l 3))
    (define (ififth l) (element "ififth" l 4))
    (define (isixth l) (element "isixth" l 5))
    (define (iseventh l) (element "iseventh" l 6))
    (define (ieighth l) (element "ieighth" l 7))
    (define (ininth l) (element "ininth" l 8))
    (define (itenth l) (element "itenth" l 9))
    (define (check-ipair who p) (if (ipair? p) p (wrong-type who "an ipair" p)))
    (define (icar+icdr p)
      (check-ipair "icar+icdr" p)
      (values (icar p) (icdr p)))
    ;; The first n elements, before `tail`.
    (define (take who l n tail)
      (drop who l n)
      (let loop ((l l) (k n) (taken '()))
        (if (= k 0) (iappend-reverse taken tail) (loop (icdr l) (- k 1) (ipair (icar l) taken)))))
    (define (itake l n) (take "itake" l n '()))
    (define (isplit-at l n) (values (take "isplit-at" l n '()) (drop "isplit-at" l n)))
    (define (spine-length l)
      (let loop ((l l) (n 0))
        (if (ipair? l) (loop (icdr l) (+ n 1)) n)))
    ;; How many elements come before the last n.
    (define (before-last who l n)
      (if (not (and (exact-integer? n) (>= n 0))) (wrong-type who "an index" n))
      (let ((k (- (spine-length l) n)))
        (if (< k 0) (error (string-append who ": the list is too short:") n) k)))
    (define (itake-right l n) (drop "itake-right" l (before-last "itake-right" l n)))
    (define (idrop-right l n) (take "idrop-right" l (before-last "idrop-right" l n) '()))
    (define (last-of who l)
      (let loop ((l (check-ipair who l)))
        (if (ipair? (icdr l)) (loop (icdr l)) l)))
    (define (last-ipair l) (last-of "last-ipair" l))
    (define (ilast l) (icar (last-of "ilast" l)))
    (define (replace-icar p x) (ipair x (icdr (check-ipair "replace-icar" p))))
    (define (replace-icdr p x) (ipair (icar (check-ipair "replace-icdr" p)) x))

    ;;;; Whole lists

    (define (ilength l)
      (if (ilist? l) (spine-length l) (wrong-type "ilength" "an immutable list" l)))
    (define (iappend-reverse l tail)
      (cond ((ipair? l) (iappend-reverse (icdr l) (ipair (icar l) tail)))
            ((null? l) tail)
            (else (wrong-type "iappend-reverse" "an immutable list" l))))
    (define (turned who l)
      (let loop ((l l) (turned '()))
        (cond ((ipair? l) (loop (icdr l) (ipair (icar l) turned)))
              ((null? l) turned)
              (else (wrong-type who "an immutable list" l)))))
    (define (ireverse l) (turned "ireverse" l))
    ;; The last of the lists, which may be anything, stays as it is.
    (define (append-all who lists)
      (l:reduce-right (lambda (l tail) (iappend-reverse (turned who l) tail)) '() lists))
    (define (iappend . lists) (append-all "iappend" lists))
    (define (iconcatenate lists) (append-all "iconcatenate" (proper "iconcatenate" lists)))
    (define (map-for who proc l rest)
      (list->ilist (apply l:map-in-order proc (map (lambda (l) (proper who l)) (cons l rest)))))
    (define (izip l . rest) (map-for "izip" ilist l rest))
    (define-syntax define-unzips
      (syntax-rules ()
        ((_ (name n ...) ...)
         (begin
           (define (name l)
             (let ((who (symbol->string 'name)))
               (values (map-for who (lambda (x) (element who x n)) l '()) ...)))
           ...))))
    (define-unzips (iunzip1 0) (iunzip2 0 1) (iunzip3 0 1 2) (iunzip4 0 1 2 3) (iunzip5 0 1 2 3 4))
    (define (iapply proc . arguments)
      (let ((l (l:reverse arguments)))
        (apply proc (if (null? l) '() (l:append-reverse (cdr l) (proper "iapply" (car l)))))))

    ;; (name f x ... list ...): the procedure of SRFI 1 on lists.
    (define-syntax define-on-lists
      (syntax-rules ()
        ((_ result (name on-lists x ...) ...)
         (begin
           (define (name x ... l . rest)
             (let ((who (symbol->string 'name)))
               (result (apply on-lists x ... (map (lambda (l) (proper who l)) (cons l rest))))))
           ...))))
    (define (itself x) x)
    (define (proper who l)
      (if (ilist? l) (ilist->list l) (wrong-type who "an immutable list" l)))
    (define-on-lists itself
      (icount l:count pred) (ifor-each l:for-each proc) (ifold l:fold proc nil) (ifold-right l:fold-right proc nil)
      (ireduce l:reduce proc nil) (ireduce-right l:reduce-right proc nil) (ifind l:find pred) (iany l:any pred)
      (ievery l:every pred) (ilist-index l:list-index pred))
    (define-on-lists list->ilist
      (imap l:map-in-order proc) (imap-in-order l:map-in-order proc) (ifilter-map l:filter-map proc)
      (ifilter l:filter pred) (iremove l:remove pred)
      (itake-while l:take-while pred))
    (define (iappend-map proc l . rest)
      (append-all "iappend-map" (ilist->list (map-for "iappend-map" proc l rest))))
    (define (iunfold stop? mapper successor seed . tail)
      (list->ilist (if (null? tail)
                       (l:unfold stop? mapper successor seed)
                       (l:unfold stop? mapper successor seed (lambda (x) (ilist->list ((car tail) x)))))))
    (define iunfold-right
      (case-lambda
        ((stop? mapper successor seed) (iunfold-right stop? mapper successor seed '()))
        ((stop? mapper successor seed tail)
         (if (stop? seed)
             tail
             (iunfold-right stop? mapper successor (successor seed) (ipair (mapper seed) tail))))))

    (define (ipartition pred l)
      (let-values (((in out) (l:partition pred (proper "ipartition" l))))
        (values (list->ilist in) (list->ilist out))))
    ;; At the end of a list nothing else is left.
    (define (check-end who l)
      (if (null? l) l (wrong-type who "an immutable list" l)))
    (define (idrop-while pred l)
      (cond ((not (ipair? l)) (check-end "idrop-while" l))
            ((pred (icar l)) (idrop-while pred (icdr l)))
            (else l)))
    (define (span who pred l)
      (let loop ((rest l) (taken '()))
        (cond ((not (ipair? rest)) (values (turned who taken) (check-end who rest)))
              ((pred (icar rest)) (loop (icdr rest) (ipair (icar rest) taken)))
              (else (values (turned who taken) rest)))))
    (define (ispan pred l) (span "ispan" pred l))
    (define (ibreak pred l) (span "ibreak" (lambda (x) (not (pred x))) l))
    (define (tail-with who pred l)
      (cond ((not (ipair? l))
             (check-end who l)
             #f)
            ((pred (icar l)) l)
            (else (tail-with who pred (icdr l)))))
    (define (ifind-tail pred l) (tail-with "ifind-tail" pred l))

    ;; Tails, each before the procedure is called.
    (define (tails who lists)
      (for-each (lambda (l) (if (not (or (ipair? l) (null? l))) (wrong-type who "an immutable list" l))) lists)
      (if (l:every ipair? lists)
          (cons lists (tails who (map icdr lists)))
          '()))
    (define (ipair-fold proc nil l . lists)
      (l:fold (lambda (tails acc) (apply proc (append tails (list acc)))) nil (tails "ipair-fold" (cons l lists))))
    (define (ipair-fold-right proc nil l . lists)
      (l:fold-right (lambda (tails acc) (apply proc (append tails (list acc)))) nil
                    (tails "ipair-fold-right" (cons l lists))))
    (define (ipair-for-each proc l . lists)
      (for-each (lambda (tails) (apply proc tails)) (tails "ipair-for-each" (cons l lists))))

    ;;;; Equivalence

    ;; Immutable pairs are records, which `equal?` takes as they are.
    (define (iequal? a b)
      (if (and (ipair? a) (ipair? b))
          (and (iequal? (icar a) (icar b)) (iequal? (icdr a) (icdr b)))
          (equal? a b)))
    (define imember
      (case-lambda
        ((x l) (imember x l iequal?))
        ((x l same?) (tail-with "imember" (lambda (y) (same? x y)) l))))
    (define (imemq x l) (tail-with "imemq" (lambda (y) (eq? x y)) l))
    (define (imemv x l) (tail-with "imemv" (lambda (y) (eqv? x y)) l))
    (define idelete
      (case-lambda
        ((x l) (idelete x l iequal?))
        ((x l same?) (list->ilist (l:remove (lambda (y) (same? x y)) (proper "idelete" l))))))
    (define idelete-duplicates
      (case-lambda
        ((l) (idelete-duplicates l iequal?))
        ((l same?) (list->ilist (l:delete-duplicates (proper "idelete-duplicates" l) same?)))))
    (define (association who key l same?)
      (l:find (lambda (p) (same? key (icar (check-ipair who p)))) (proper who l)))
    (define iassoc
      (case-lambda
        ((key l) (iassoc key l iequal?))
        ((key l same?) (association "iassoc" key l same?))))
    (define (iassq key l) (association "iassq" key l eq?))
    (define (iassv key l) (association "iassv" key l eqv?))
    (define (ialist-cons key value l) (ipair (ipair key value) l))
    (define ialist-delete
      (case-lambda
        ((key l) (ialist-delete key l iequal?))
        ((key l same?)
         (list->ilist (l:remove (lambda (p) (same? key (icar (check-ipair "ialist-delete" p))))
                                (proper "ialist-delete" l))))))

    ;;;; Comparators

    (define (check-comparator who x)
      (if (comparator? x) x (wrong-type who "a comparator" x)))
    (define (make-icar-comparator comparator)
      (on-part (check-comparator "make-icar-comparator" comparator) icar))
    (define (make-icdr-comparator comparator)
      (on-part (check-comparator "make-icdr-comparator" comparator) icdr))
    (define (on-part comparator part)
      (make-comparator
       ipair?
       (lambda (a b) (=? comparator (part a) (part b)))
       (and (comparator-ordered? comparator) (lambda (a b) (<? comparator (part a) (part b))))
       (and (comparator-hashable? comparator) (lambda (x) (comparator-hash comparator (part x))))))
    ;; By the comparators of pairs and lists that the library of SRFI 128 makes.
    (define (by-conversion comparator type? convert)
      (make-comparator
       type?
       (lambda (a b) (=? comparator (convert a) (convert b)))
       (and (comparator-ordered? comparator) (lambda (a b) (<? comparator (convert a) (convert b))))
       (and (comparator-hashable? comparator) (lambda (x) (comparator-hash comparator (convert x))))))
    (define (make-ipair-comparator car-comparator cdr-comparator)
      (for-each (lambda (x) (check-comparator "make-ipair-comparator" x)) (list car-comparator cdr-comparator))
      (by-conversion (make-pair-comparator car-comparator cdr-comparator) ipair? ipair->pair))
    (define (make-ilist-comparator comparator)
      (check-comparator "make-ilist-comparator" comparator)
      (by-conversion (make-list-comparator comparator list? null? car cdr) ilist? ilist->list))
    ;; The empty list, then pairs, then what else ends a list.
    (define (make-improper-ilist-comparator comparator)
      (check-comparator "make-improper-ilist-comparator" comparator)
      (define (rank x)
        (cond ((null? x) 0)
              ((ipair? x) 1)
              (else 2)))
      (define (same? a b)
        (and (= (rank a) (rank b))
             (case (rank a)
               ((0) #t)
               ((1) (and (same? (icar a) (icar b)) (same? (icdr a) (icdr b))))
               (else (=? comparator a b)))))
      (define (less? a b)
        (cond
          ((not (= (rank a) (rank b))) (< (rank a) (rank b)))
          ((null? a) #f)
          ((not (ipair? a)) (<? comparator a b))
          ((same? (icar a) (icar b)) (less? (icdr a) (icdr b)))
          (else (less? (icar a) (icar b)))))
      (define (hash x)
        (cond ((null? x) 1)
              ((ipair? x) (modulo (+ (* 31 (hash (icar x))) (hash (icdr x))) 33554432))
              (else (comparator-hash comparator x))))
      (make-comparator (lambda (x) #t) same? (and (comparator-ordered? comparator) less?)
                       (and (comparator-hashable? comparator) hash)))
    (define ipair-comparator (make-ipair-comparator (make-default-comparator) (make-default-comparator)))
    (define ilist-comparator (make-ilist-comparator (make-default-comparator)))))
