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
   icar+icdr itake idrop (rename idrop ilist-tail) itake-right idrop-right isplit-at ilast last-ipair
   ilength iappend iconcatenate ireverse iappend-reverse izip iunzip1 iunzip2 iunzip3 iunzip4 iunzip5 icount
   imap (rename imap imap-in-order) ifor-each ifold iunfold ipair-fold ireduce ifold-right iunfold-right
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

    (define (pair->ipair p) (ipair (car p) (cdr p)))
    (define (ipair->pair p) (cons (icar p) (icdr p)))
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
    (define (make-ilist n . fill) (list->ilist (apply make-list n fill)))
    (define (ilist-copy l) (list->ilist (ilist->list l)))
    (define (ilist-tabulate n proc) (list->ilist (l:list-tabulate n proc)))
    (define (iiota . arguments) (list->ilist (apply l:iota arguments)))

    ;;;; Asking

    (define (ilist? x) (null? (end-of x ipair? icdr)))
    (define (dotted-ilist? x) (not (ilist? x)))
    (define (not-ipair? x) (not (ipair? x)))
    (define (null-ilist? x)
      (cond ((null? x) #t)
            ((ipair? x) #f)
            (else (wrong-type "null-ilist?" "an immutable list" x))))
    (define (ilist= same? . lists) (apply l:list= same? (map ilist->list lists)))

    ;;;; Parts

    (define-syntax define-selectors
      (syntax-rules ()
        ((_ (name outer inner) ...)
         (begin
           (define (name x) (outer (inner x)))
           ...))))
    (define-selectors
      (icaar icar icar) (icadr icar icdr) (icdar icdr icar) (icddr icdr icdr) (icaaar icar icaar)
      (icaadr icar icadr) (icadar icar icdar) (icaddr icar icddr) (icdaar icdr icaar) (icdadr icdr icadr)
      (icddar icdr icdar) (icdddr icdr icddr) (icaaaar icar icaaar) (icaaadr icar icaadr) (icaadar icar icadar)
      (icaaddr icar icaddr) (icadaar icar icdaar) (icadadr icar icdadr) (icaddar icar icddar)
      (icadddr icar icdddr) (icdaaar icdr icaaar) (icdaadr icdr icaadr) (icdadar icdr icadar)
      (icdaddr icdr icaddr) (icddaar icdr icdaar) (icddadr icdr icdadr) (icdddar icdr icddar)
      (icddddr icdr icdddr))

    (define (idrop l n)
      (if (= n 0) l (idrop (icdr l) (- n 1))))
    (define (ilist-ref l n) (icar (idrop l n)))
    (define (ifirst l) (icar l))
    (define (isecond l) (ilist-ref l 1))
    (define (ithird l) (ilist-ref l 2))
    (define (ifourth l) (ilist-ref l 3))
    (define (ififth l) (ilist-ref l 4))
    (define (isixth l) (ilist-ref l 5))
    (define (iseventh l) (ilist-ref l 6))
    (define (ieighth l) (ilist-ref l 7))
    (define (ininth l) (ilist-ref l 8))
    (define (itenth l) (ilist-ref l 9))
    (define (icar+icdr p) (values (icar p) (icdr p)))
    (define (itake l n) (list->ilist (l:take (ilist->list l) n)))
    (define (isplit-at l n) (values (itake l n) (idrop l n)))
    (define (spine-length l)
      (let loop ((l l) (n 0))
        (if (ipair? l) (loop (icdr l) (+ n 1)) n)))
    (define (itake-right l n) (idrop l (- (spine-length l) n)))
    (define (idrop-right l n) (itake l (- (spine-length l) n)))
    (define (last-ipair l)
      (if (ipair? (icdr l)) (last-ipair (icdr l)) l))
    (define (ilast l) (icar (last-ipair l)))
    (define (replace-icar p x) (ipair x (icdr p)))
    (define (replace-icdr p x) (ipair (icar p) x))

    ;;;; Whole lists

    (define (ilength l)
      (if (ilist? l) (spine-length l) (wrong-type "ilength" "an immutable list" l)))
    (define (iappend-reverse l tail)
      (if (ipair? l) (iappend-reverse (icdr l) (ipair (icar l) tail)) tail))
    (define (ireverse l) (iappend-reverse l '()))
    (define (iappend . lists) (iconcatenate (list->ilist lists)))
    (define (iconcatenate lists)
      (l:reduce-right (lambda (l tail) (iappend-reverse (ireverse l) tail)) '() (ilist->list lists)))
    (define (izip l . rest) (apply imap ilist l rest))
    (define (iunzip1 l) (imap icar l))
    (define (iunzip2 l) (values (imap ifirst l) (imap isecond l)))
    (define (iunzip3 l) (values (imap ifirst l) (imap isecond l) (imap ithird l)))
    (define (iunzip4 l) (values (imap ifirst l) (imap isecond l) (imap ithird l) (imap ifourth l)))
    (define (iunzip5 l)
      (values (imap ifirst l) (imap isecond l) (imap ithird l) (imap ifourth l) (imap ififth l)))
    (define (iapply proc . arguments)
      (let ((l (l:reverse arguments)))
        (apply proc (l:append-reverse (cdr l) (ilist->list (car l))))))

    ;; (name f x ... list ...): the procedure of SRFI 1 on lists.
    (define-syntax define-on-lists
      (syntax-rules ()
        ((_ result (name on-lists x ...) ...)
         (begin
           (define (name x ... . lists) (result (apply on-lists x ... (map proper lists))))
           ...))))
    (define (itself x) x)
    (define (proper l)
      (if (ilist? l) (ilist->list l) (wrong-type "immutable lists" "an immutable list" l)))
    (define-on-lists itself
      (icount l:count pred) (ifor-each l:for-each proc) (ifold l:fold proc nil) (ifold-right l:fold-right proc nil)
      (ireduce l:reduce proc nil) (ireduce-right l:reduce-right proc nil) (ifind l:find pred) (iany l:any pred)
      (ievery l:every pred) (ilist-index l:list-index pred))
    (define-on-lists list->ilist
      (imap l:map-in-order proc) (ifilter-map l:filter-map proc) (ifilter l:filter pred) (iremove l:remove pred)
      (itake-while l:take-while pred))
    (define (iappend-map proc l . rest) (iconcatenate (apply imap proc l rest)))
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
      (let-values (((in out) (l:partition pred (proper l))))
        (values (list->ilist in) (list->ilist out))))
    (define (idrop-while pred l)
      (if (and (ipair? l) (pred (icar l))) (idrop-while pred (icdr l)) l))
    (define (ispan pred l)
      (let loop ((rest l) (taken '()))
        (if (and (ipair? rest) (pred (icar rest)))
            (loop (icdr rest) (ipair (icar rest) taken))
            (values (ireverse taken) rest))))
    (define (ibreak pred l) (ispan (lambda (x) (not (pred x))) l))
    (define (ifind-tail pred l)
      (and (ipair? l)
           (if (pred (icar l)) l (ifind-tail pred (icdr l)))))

    ;; Tails, each before the procedure is called.
    (define (tails lists)
      (if (l:every ipair? lists)
          (cons lists (tails (map icdr lists)))
          '()))
    (define (ipair-fold proc nil l . lists)
      (l:fold (lambda (tails acc) (apply proc (append tails (list acc)))) nil (tails (cons l lists))))
    (define (ipair-fold-right proc nil l . lists)
      (l:fold-right (lambda (tails acc) (apply proc (append tails (list acc)))) nil (tails (cons l lists))))
    (define (ipair-for-each proc l . lists)
      (for-each (lambda (tails) (apply proc tails)) (tails (cons l lists))))

    ;;;; Equivalence

    ;; Immutable pairs are records, which `equal?` takes as they are.
    (define (iequal? a b)
      (if (and (ipair? a) (ipair? b))
          (and (iequal? (icar a) (icar b)) (iequal? (icdr a) (icdr b)))
          (equal? a b)))
    (define imember
      (case-lambda
        ((x l) (imember x l iequal?))
        ((x l same?) (ifind-tail (lambda (y) (same? x y)) l))))
    (define (imemq x l) (imember x l eq?))
    (define (imemv x l) (imember x l eqv?))
    (define idelete
      (case-lambda
        ((x l) (idelete x l iequal?))
        ((x l same?) (iremove (lambda (y) (same? x y)) l))))
    (define (idelete-duplicates l . same?)
      (list->ilist (apply l:delete-duplicates (ilist->list l) same?)))
    (define iassoc
      (case-lambda
        ((key l) (iassoc key l iequal?))
        ((key l same?) (ifind (lambda (p) (same? key (icar p))) l))))
    (define (iassq key l) (iassoc key l eq?))
    (define (iassv key l) (iassoc key l eqv?))
    (define (ialist-cons key value l) (ipair (ipair key value) l))
    (define ialist-delete
      (case-lambda
        ((key l) (ialist-delete key l iequal?))
        ((key l same?) (iremove (lambda (p) (same? key (icar p))) l))))

    ;;;; Comparators

    (define (make-icar-comparator comparator)
      (on-part comparator icar))
    (define (make-icdr-comparator comparator)
      (on-part comparator icdr))
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
      (by-conversion (make-pair-comparator car-comparator cdr-comparator) ipair? ipair->pair))
    (define (make-ilist-comparator comparator)
      (by-conversion (make-list-comparator comparator list? null? car cdr) ilist? ilist->list))
    ;; The empty list, then pairs, then what else ends a list.
    (define (make-improper-ilist-comparator comparator)
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
