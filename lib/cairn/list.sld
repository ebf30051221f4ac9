;;; (cairn list): pairs and lists.
;;;
;;; Procedures that build lists recur instead of mutating: recursion is bounded by the heap only, and a continuation
;;; captured in a callback can be entered again without disturbing results already returned.  The clause for one list
;;; comes first and is small enough to be inlined around the callback.

(define-library (cairn list)
  (export
   (rename %pair? pair?) (rename %null? null?) (rename %list? list?)
   (rename %cons cons) (rename %car car) (rename %cdr cdr)
   (rename %set-car! set-car!) (rename %set-cdr! set-cdr!)
   caar cadr cdar cddr
   caaar caadr cadar caddr cdaar cdadr cddar cdddr
   caaaar caaadr caadar caaddr cadaar cadadr caddar cadddr
   cdaaar cdaadr cdadar cdaddr cddaar cddadr cdddar cddddr
   make-list list cons* (rename %length length) append append! reverse reverse! append-reverse append-reverse!
   list-tail list-ref list-set! list-copy last-pair
   memq memv member assq assv assoc
   map for-each append-map filter reduce-left fold-left fold-right
   apply (rename %eq? eq?) (rename %eqv? eqv?) equal?
   any-null? cars cdrs)
  (import (cairn syntax) (cairn primitives) (cairn control))
  (begin

    (define (equal? a b)
      (if (%eq? a b) #t (%equal a b)))

    ;;;; Compositions of car and cdr

    (define (caar x) (%car (%car x)))
    (define (cadr x) (%car (%cdr x)))
    (define (cdar x) (%cdr (%car x)))
    (define (cddr x) (%cdr (%cdr x)))
    (define (caaar x) (%car (%car (%car x))))
    (define (caadr x) (%car (%car (%cdr x))))
    (define (cadar x) (%car (%cdr (%car x))))
    (define (caddr x) (%car (%cdr (%cdr x))))
    (define (cdaar x) (%cdr (%car (%car x))))
    (define (cdadr x) (%cdr (%car (%cdr x))))
    (define (cddar x) (%cdr (%cdr (%car x))))
    (define (cdddr x) (%cdr (%cdr (%cdr x))))
    (define (caaaar x) (%car (%car (%car (%car x)))))
    (define (caaadr x) (%car (%car (%car (%cdr x)))))
    (define (caadar x) (%car (%car (%cdr (%car x)))))
    (define (caaddr x) (%car (%car (%cdr (%cdr x)))))
    (define (cadaar x) (%car (%cdr (%car (%car x)))))
    (define (cadadr x) (%car (%cdr (%car (%cdr x)))))
    (define (caddar x) (%car (%cdr (%cdr (%car x)))))
    (define (cadddr x) (%car (%cdr (%cdr (%cdr x)))))
    (define (cdaaar x) (%cdr (%car (%car (%car x)))))
    (define (cdaadr x) (%cdr (%car (%car (%cdr x)))))
    (define (cdadar x) (%cdr (%car (%cdr (%car x)))))
    (define (cdaddr x) (%cdr (%car (%cdr (%cdr x)))))
    (define (cddaar x) (%cdr (%cdr (%car (%car x)))))
    (define (cddadr x) (%cdr (%cdr (%car (%cdr x)))))
    (define (cdddar x) (%cdr (%cdr (%cdr (%car x)))))
    (define (cddddr x) (%cdr (%cdr (%cdr (%cdr x)))))

    ;;;; Making lists

    (define make-list
      (case-lambda
        ((n) (make-list n #f))
        ((n fill)
         (if (%fixnum? n)
             (if (%fx< n 0)
                 (out-of-range "make-list" "a length cannot be negative:" n)
                 (let loop ((n n) (acc '()))
                   (if (%fx<= n 0)
                       acc
                       (loop (%fx- n 1) (%cons fill acc)))))
             (wrong-type "make-list" "a length" n)))))

    (define list
      (case-lambda
        ((a) (%cons a '()))
        ((a b) (%cons a (%cons b '())))
        ((a b c) (%cons a (%cons b (%cons c '()))))
        (() '())
        ((a b c d) (%cons a (%cons b (%cons c (%cons d '())))))
        ((a b c d e) (%cons a (%cons b (%cons c (%cons d (%cons e '()))))))
        (elements elements)))

    (define cons*
      (case-lambda
        ((a b) (%cons a b))
        ((a b c) (%cons a (%cons b c)))
        ((a) a)
        ((a b c d) (%cons a (%cons b (%cons c d))))
        ((a b c d . rest)
         (%cons a (%cons b (%cons c (spread d rest)))))))

    ;; (a b c '(d e)) as a list: first element apart.
    (define (spread a rest)
      (if (%null? rest)
          a
          (%cons a (spread (%car rest) (%cdr rest)))))

    (define (append2 a b)
      (let loop ((l a))
        (if (%pair? l)
            (let ((x (%car l)))
              (%cons x (loop (%cdr l))))
            (if (%null? l)
                b
                (wrong-type "append" "a list" a)))))

    (define append
      (case-lambda
        ((a b) (append2 a b))
        ((a b c) (append2 a (append2 b c)))
        (() '())
        ((a) a)
        ((a b . rest)
         (append2 a (let loop ((b b) (rest rest))
                      (if (%null? rest)
                          b
                          (append2 b (loop (%car rest) (%cdr rest)))))))))

    (define-syntax define-reversal
      (syntax-rules ()
        ((_ (name a more ...) b)
         (define (name a more ...)
           (let loop ((l a) (acc b))
             (if (%pair? l)
                 (loop (%cdr l) (%cons (%car l) acc))
                 (if (%null? l)
                     acc
                     (wrong-type (%symbol->string 'name) "a list" a))))))))

    (define-reversal (reverse a) '())
    (define-reversal (append-reverse a b) b)

    ;; Reuses the pairs of `a`.
    (define (append-reverse! a b)
      (let loop ((l a) (acc b))
        (if (%pair? l)
            (let ((next (%cdr l)))
              (%set-cdr! l acc)
              (loop next l))
            acc)))

    (define (reverse! l)
      (append-reverse! l '()))

    (define (last-pair l)
      (if (%pair? (%cdr l)) (last-pair (%cdr l)) l))

    ;; Destructive append of any number of lists.
    (define (append! . lists)
      (let loop ((lists lists))
        (cond
          ((%null? lists) '())
          ((%null? (%cdr lists)) (%car lists))
          ((%null? (%car lists)) (loop (%cdr lists)))
          (else
           (%set-cdr! (last-pair (%car lists)) (loop (%cdr lists)))
           (%car lists)))))

    (define (list-copy l)
      (if (%pair? l)
          (let ((x (%car l)))
            (%cons x (list-copy (%cdr l))))
          l))

    ;;;; Selecting

    (define (list-tail l k)
      (if (%fixnum? k)
          (let loop ((rest l) (i k))
            (cond
              ((%fx< 0 i)
               (if (%pair? rest)
                   (loop (%cdr rest) (%fx- i 1))
                   (out-of-range "list-tail" "list is too short for index" k)))
              ((%fx< i 0) (out-of-range "list-tail" "list is too short for index" k))
              (else rest)))
          (wrong-type "list-tail" "an exact integer" k)))

    (define (nth-pair who l k)
      (if (%fixnum? k)
          (let loop ((rest l) (i k))
            (if (%pair? rest)
                (cond
                  ((%fx< 0 i) (loop (%cdr rest) (%fx- i 1)))
                  ((%fx< i 0) (out-of-range who "list is too short for index" k))
                  (else rest))
                (out-of-range who "list is too short for index" k)))
          (wrong-type who "an exact integer" k)))

    (define (list-ref l k)
      (%car (nth-pair "list-ref" l k)))

    (define (list-set! l k x)
      (%set-car! (nth-pair "list-set!" l k) x))

    ;;;; Searching

    (define (memq x l)
      (if (%pair? l)
          (if (%eq? x (%car l)) l (memq x (%cdr l)))
          (if (%null? l) #f (wrong-type "memq" "a list" l))))

    (define (memv x l)
      (if (%pair? l)
          (if (%eqv? x (%car l)) l (memv x (%cdr l)))
          (if (%null? l) #f (wrong-type "memv" "a list" l))))

    (define member
      (case-lambda
        ((x l)
         (let loop ((l l))
           (if (%pair? l)
               (if (equal? x (%car l)) l (loop (%cdr l)))
               (if (%null? l) #f (wrong-type "member" "a list" l)))))
        ((x l same?)
         (let loop ((l l))
           (if (%pair? l)
               (if (same? x (%car l)) l (loop (%cdr l)))
               (if (%null? l) #f (wrong-type "member" "a list" l)))))))

    (define (assq x l)
      (if (%pair? l)
          (if (%eq? x (%car (%car l))) (%car l) (assq x (%cdr l)))
          (if (%null? l) #f (wrong-type "assq" "a list" l))))

    (define (assv x l)
      (if (%pair? l)
          (if (%eqv? x (%car (%car l))) (%car l) (assv x (%cdr l)))
          (if (%null? l) #f (wrong-type "assv" "a list" l))))

    (define assoc
      (case-lambda
        ((x l)
         (let loop ((l l))
           (if (%pair? l)
               (if (equal? x (%car (%car l))) (%car l) (loop (%cdr l)))
               (if (%null? l) #f (wrong-type "assoc" "a list" l)))))
        ((x l same?)
         (let loop ((l l))
           (if (%pair? l)
               (if (same? x (%car (%car l))) (%car l) (loop (%cdr l)))
               (if (%null? l) #f (wrong-type "assoc" "a list" l)))))))

    ;;;; Calling

    (define apply
      (case-lambda
        ((f args) (%apply f args))
        ((f a args) (%apply f a args))
        ((f a b args) (%apply f a b args))
        ((f a b c . rest) (%apply f a b (spread c rest)))))

    ;; Helpers of the clauses for many lists.
    (define (any-null? lists)
      (if (%pair? lists)
          (if (%pair? (%car lists)) (any-null? (%cdr lists)) #t)
          #f))
    (define (cars lists)
      (if (%pair? lists)
          (%cons (%car (%car lists)) (cars (%cdr lists)))
          '()))
    (define (cdrs lists)
      (if (%pair? lists)
          (%cons (%cdr (%car lists)) (cdrs (%cdr lists)))
          '()))

    ;; What a loop over two lists returns at the end of either.
    (define (lists-end who a b)
      (cond
        ((%null? a) '())
        ((%pair? a) (list-end who b))
        ((%null? b) '())
        (else (wrong-type who "a list" a))))

    ;; The same for any number of lists.
    (define (all-ended who lists)
      (let loop ((rest lists))
        (cond
          ((%null? rest) (for-each (lambda (l) (if (%pair? l) #f (list-end who l))) lists) '())
          ((%null? (%car rest)) '())
          (else (loop (%cdr rest))))))

    (define map
      (case-lambda
        ((f l)
         (let loop ((l l))
           (if (%pair? l)
               (let ((x (f (%car l))))
                 (%cons x (loop (%cdr l))))
               (list-end "map" l))))
        ((f a b)
         (let loop ((a a) (b b))
           (if (if (%pair? a) (%pair? b) #f)
               (let ((x (f (%car a) (%car b))))
                 (%cons x (loop (%cdr a) (%cdr b))))
               (lists-end "map" a b))))
        ((f a . lists)
         (let loop ((lists (%cons a lists)))
           (if (any-null? lists)
               (all-ended "map" lists)
               (let ((x (%apply f (cars lists))))
                 (%cons x (loop (cdrs lists)))))))))

    (define for-each
      (case-lambda
        ((f l)
         (let loop ((l l))
           (if (%pair? l)
               (begin
                 (f (%car l))
                 (loop (%cdr l)))
               (list-end "for-each" l))))
        ((f a b)
         (let loop ((a a) (b b))
           (if (if (%pair? a) (%pair? b) #f)
               (begin
                 (f (%car a) (%car b))
                 (loop (%cdr a) (%cdr b)))
               (lists-end "for-each" a b))))
        ((f a . lists)
         (let loop ((lists (%cons a lists)))
           (if (any-null? lists)
               (all-ended "for-each" lists)
               (begin
                 (%apply f (cars lists))
                 (loop (cdrs lists))))))))

    (define append-map
      (case-lambda
        ((f l)
         (let loop ((l l))
           (if (%pair? l)
               (let ((x (f (%car l))))
                 (append2 x (loop (%cdr l))))
               (list-end "append-map" l))))
        ((f a . lists) (%apply append (%apply map f a lists)))))

    (define (filter keep? l)
      (let loop ((l l))
        (if (%pair? l)
            (let ((x (%car l)))
              (if (keep? x)
                  (%cons x (loop (%cdr l)))
                  (loop (%cdr l))))
            (list-end "filter" l))))

    (define (reduce-left f initial l)
      (if (%pair? l)
          (fold-left f (%car l) (%cdr l))
          initial))

    (define fold-left
      (case-lambda
        ((f acc l)
         (let loop ((acc acc) (l l))
           (if (%pair? l)
               (loop (f acc (%car l)) (%cdr l))
               acc)))
        ((f acc . lists)
         (let loop ((acc acc) (lists lists))
           (if (any-null? lists)
               acc
               (loop (%apply f acc (cars lists)) (cdrs lists)))))))

    (define fold-right
      (case-lambda
        ((f acc l)
         (let loop ((l l))
           (if (%pair? l)
               (f (%car l) (loop (%cdr l)))
               acc)))
        ((f acc . lists)
         (let loop ((lists lists))
           (if (any-null? lists)
               acc
               (%apply f (append2 (cars lists) (list (loop (cdrs lists))))))))))))
