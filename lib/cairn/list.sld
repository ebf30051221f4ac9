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
   ;; for libraries of lists
   any-null? cars cdrs map-many lists-end all-ended folded all-folded tail-behind nth-pair)
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

    ;;;; Lists without an end
    ;;
    ;; Where a circular list would fill the memory or be searched for ever, there is an error. To look for the circle
    ;; from the first pair on would slow down every short list. So a loop counts down from `patience`; when that many
    ;; pairs have passed, a procedure `…-long`, a tail call away, looks for a circle in the rest and goes on.

    (define-syntax patience (syntax-rules () ((_) 1000)))

    ;; Does the chain of pairs not end?
    (define (circular? l)
      (let loop ((slow l) (fast l))
        (if (%pair? fast)
            (let ((fast (%cdr fast)))
              (if (%pair? fast)
                  (let ((slow (%cdr slow)) (fast (%cdr fast)))
                    (if (%eq? slow fast) #t (loop slow fast)))
                  #f))
            #f)))

    (define (check-end who l)
      (if (circular? l) (endless-list who l)))

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

    ;; Two pairs at a time, one frame for both.
    (define (append2 a b)
      (let loop ((l a) (n (patience)))
        (if (%pair? l)
            (let ((x (%car l)) (l (%cdr l)))
              (if (%pair? l)
                  (if (%eq? n 0)
                      (%cons x (append-long l b a))
                      (let ((y (%car l)))
                        (%cons x (%cons y (loop (%cdr l) (%fx- n 1))))))
                  (%cons x (append-end l b a))))
            (append-end l b a))))

    (define (append-end l b a)
      (if (%null? l)
          b
          (wrong-type "append" "a list" a)))

    (define (append-long l b a)
      (check-end "append" l)
      (let loop ((l l))
        (if (%pair? l)
            (let ((x (%car l)))
              (%cons x (loop (%cdr l))))
            (append-end l b a))))

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
        ((_ (name a more ...) b long)
         (begin
           (define (name a more ...)
             (let loop ((l a) (acc b) (n (patience)))
               (if (%pair? l)
                   (if (%eq? n 0)
                       (long l acc a)
                       (loop (%cdr l) (%cons (%car l) acc) (%fx- n 1)))
                   (if (%null? l)
                       acc
                       (wrong-type (%symbol->string 'name) "a list" a)))))
           (define (long l acc a)
             (check-end (%symbol->string 'name) l)
             (let loop ((l l) (acc acc))
               (if (%pair? l)
                   (loop (%cdr l) (%cons (%car l) acc))
                   (if (%null? l)
                       acc
                       (wrong-type (%symbol->string 'name) "a list" a)))))))))

    (define-reversal (reverse a) '() reverse-long)
    (define-reversal (append-reverse a b) b append-reverse-long)

    ;; Reuses the pairs of `a`.
    (define-syntax turned
      (syntax-rules ()
        ((_ who a b)
         (let loop ((l a) (acc b))
           (if (%pair? l)
               (let ((next (%cdr l)))
                 (%set-cdr! l acc)
                 (loop next l))
               (begin (list-end who l) acc))))))
    (define (append-reverse! a b) (turned "append-reverse!" a b))
    (define (reverse! l) (turned "reverse!" l '()))

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
           (if (%not (%pair? (%car lists)))
               (wrong-type "append!" "a list" (%car lists)))
           (%set-cdr! (last-pair (%car lists)) (loop (%cdr lists)))
           (%car lists)))))

    ;; Two pairs at a time, one frame for both.
    (define (list-copy l)
      (let loop ((l l) (n (patience)))
        (if (%pair? l)
            (let ((x (%car l)) (l (%cdr l)))
              (if (%pair? l)
                  (if (%eq? n 0)
                      (%cons x (list-copy-long l))
                      (let ((y (%car l)))
                        (%cons x (%cons y (loop (%cdr l) (%fx- n 1))))))
                  (%cons x l)))
            l)))

    (define (list-copy-long l)
      (check-end "list-copy" l)
      (let loop ((l l))
        (if (%pair? l)
            (let ((x (%car l)))
              (%cons x (loop (%cdr l))))
            l)))

    ;;;; Selecting

    ;; The list behind its first `n` elements, which `who` was told as `k`.
    (define-syntax tail-behind
      (syntax-rules ()
        ((_ who l n k)
         (if (%fixnum? k)
             (let loop ((rest l) (i n))
               (cond
                 ((%fx< 0 i)
                  (if (%pair? rest)
                      (loop (%cdr rest) (%fx- i 1))
                      (bad-index who k)))
                 ((%fx< i 0) (bad-index who k))
                 (else rest)))
             (bad-index who k)))))

    (define (list-tail l k)
      (tail-behind "list-tail" l k k))

    ;; The list has no such element or tail; nobody has one as long as a bignum.
    (define (bad-index who k)
      (if (if (if (%fixnum? k) #t (%bignum? k)) (%<= 0 k) #f)
          (out-of-range who "list is too short for index" k)
          (wrong-type who "an index" k)))

    (define (nth-pair who l k)
      (if (%fixnum? k)
          (let loop ((rest l) (i k))
            (if (%pair? rest)
                (cond
                  ((%fx< 0 i) (loop (%cdr rest) (%fx- i 1)))
                  ((%fx< i 0) (bad-index who k))
                  (else rest))
                (bad-index who k)))
          (bad-index who k)))

    (define (list-ref l k)
      (%car (nth-pair "list-ref" l k)))

    (define (list-set! l k x)
      (%set-car! (nth-pair "list-set!" l k) x))

    ;;;; Searching

    ;; The first pair `r` of the list `l` for which `test` holds gives `found`; `long` is the call that goes on at `r`.
    (define-syntax search
      (syntax-rules ()
        ((_ who l r test found long)
         (let loop ((r l) (n (patience)))
           (if (%pair? r)
               (if test
                   found
                   (if (%eq? n 0)
                       long
                       (loop (%cdr r) (%fx- n 1))))
               (if (%null? r) #f (wrong-type who "a list" r)))))))

    ;; The same for a test without a call.  Four pairs at a time: so the count costs less than the jumps that are saved.
    (define-syntax search-fast
      (syntax-rules ()
        ((_ who l r test found long)
         (let loop ((r l) (n (patience)))
           (let ((end (lambda (r) (if (%null? r) #f (wrong-type who "a list" r)))))
             (if (%pair? r)
                 (if test
                     found
                     (let ((r (%cdr r)))
                       (if (%pair? r)
                           (if test
                               found
                               (let ((r (%cdr r)))
                                 (if (%pair? r)
                                     (if test
                                         found
                                         (let ((r (%cdr r)))
                                           (if (%pair? r)
                                               (if test
                                                   found
                                                   (if (%eq? n 0)
                                                       long
                                                       (loop (%cdr r) (%fx- n 1))))
                                               (end r))))
                                     (end r))))
                           (end r))))
                 (end r)))))))

    ;; The same without patience: a second pointer follows at half speed. When the first meets it, every pair has been
    ;; seen.
    (define-syntax search-long
      (syntax-rules ()
        ((_ who l r test found)
         (let loop ((r l) (slow l) (step #f))
           (if (%pair? r)
               (if test
                   found
                   (let ((next (%cdr r))
                         (slow (if step (%cdr slow) slow)))
                     (if (%eq? next slow)
                         (endless-list who l)
                         (loop next slow (%not step)))))
               (if (%null? r) #f (wrong-type who "a list" r)))))))

    (define (memq x l)
      (search-fast "memq" l r (%eq? x (%car r)) r (memq-long x r)))
    (define (memq-long x l)
      (search-long "memq" l r (%eq? x (%car r)) r))

    ;; Is eqv? the same as eq? for x?
    (define (eq-suffices? x)
      (if (%fixnum? x) #t (%not (%number? x))))

    (define (memv x l)
      (if (eq-suffices? x)
          (search-fast "memv" l r (%eq? x (%car r)) r (memv-long x r))
          (memv-long x l)))
    (define (memv-long x l)
      (search-long "memv" l r (%eqv? x (%car r)) r))

    ;; Most keys are symbols, small integers or strings: then nothing need be called, or hardly ever.
    (define-syntax search-equal
      (syntax-rules ()
        ((_ who x l r key found long)
         (cond
           ((if (%symbol? x) #t (%fixnum? x))
            (search-fast who l r (%eq? x key) found long))
           ((%string? x)
            (search who l r (let ((k key)) (if (%string? k) (same-string? x k) #f)) found long))
           (else (search who l r (equal? x key) found long))))))

    ;; The same as string=?; most strings differ in their lengths or at once.
    (define (same-string? a b)
      (let ((n (%string-length a)))
        (if (%eq? n (%string-length b))
            (cond
              ((%eq? n 0) #t)
              ((%eq? (%string-ref a 0) (%string-ref b 0)) (%string=? a b))
              (else #f))
            #f)))

    (define member
      (case-lambda
        ((x l) (search-equal "member" x l r (%car r) r (member-long x r equal?)))
        ((x l same?) (search "member" l r (same? x (%car r)) r (member-long x r same?)))))
    (define (member-long x l same?)
      (search-long "member" l r (same? x (%car r)) r))

    (define (assq x l)
      (search-fast "assq" l r (%eq? x (%car (%car r))) (%car r) (assq-long x r)))
    (define (assq-long x l)
      (search-long "assq" l r (%eq? x (key-of "assq" r)) (%car r)))

    ;; The key of the first element of an association list, in procedures whose own name is none for people.
    (define-syntax key-of
      (syntax-rules ()
        ((_ who r)
         (let ((entry (%car r)))
           (if (%pair? entry) (%car entry) (wrong-type who "a pair" entry))))))

    (define (assv x l)
      (if (eq-suffices? x)
          (search-fast "assv" l r (%eq? x (%car (%car r))) (%car r) (assv-long x r))
          (assv-long x l)))
    (define (assv-long x l)
      (search-long "assv" l r (%eqv? x (key-of "assv" r)) (%car r)))

    (define assoc
      (case-lambda
        ((x l) (search-equal "assoc" x l r (%car (%car r)) (%car r) (assoc-long x r equal?)))
        ((x l same?) (search "assoc" l r (same? x (%car (%car r))) (%car r) (assoc-long x r same?)))))
    (define (assoc-long x l same?)
      (search-long "assoc" l r (same? x (key-of "assoc" r)) (%car r)))

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

    (define-syntax behind-procedure
      (syntax-rules () ((_) '("a list as argument 2" "a list as argument 3" "a list as argument 4"))))
    (define-syntax behind-initial
      (syntax-rules () ((_) '("a list as argument 3" "a list as argument 4" "a list as argument 5"))))

    ;; What a fold returns at the `end` of its list.
    (define (folded who end acc)
      (if (%null? end)
          acc
          (wrong-type who "a list as argument 3" end)))

    ;; The same for any number of lists: one has ended, or is none.
    (define (all-folded who lists acc)
      (let loop ((rest lists))
        (cond
          ((%null? rest) (none-is-list who lists (behind-initial)))
          ((%null? (%car rest)) acc)
          (else (loop (%cdr rest))))))

    ;; What a loop over two lists returns at the end of either.
    (define (lists-end who a b)
      (if (if (%null? a) #t (%null? b))
          '()
          (none-is-list who (list a b) (behind-procedure))))

    ;; The same for any number of lists: one has ended, or is none.
    (define (all-ended who lists)
      (let loop ((rest lists))
        (cond
          ((%null? rest) (none-is-list who lists (behind-procedure)))
          ((%null? (%car rest)) '())
          (else (loop (%cdr rest))))))

    ;; No list has ended: names the argument that is none; `expected` is what each of the lists should be.
    (define (none-is-list who lists expected)
      (let loop ((rest lists) (expected expected))
        (cond
          ((%pair? (%car rest)) (loop (%cdr rest) (if (%pair? expected) (%cdr expected) '())))
          ((%pair? expected) (wrong-type who (%car expected) (%car rest)))
          (else (wrong-type who "a list" (%car rest))))))

    ;; `map` over any number of lists, for `who`.
    (define (map-many who f lists)
      (let loop ((lists lists))
        (if (any-null? lists)
            (all-ended who lists)
            (let ((x (%apply f (cars lists))))
              (%cons x (loop (cdrs lists)))))))

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
        ((f a b c)
         (let loop ((a a) (b b) (c c))
           (if (if (%pair? a) (if (%pair? b) (%pair? c) #f) #f)
               (let ((x (f (%car a) (%car b) (%car c))))
                 (%cons x (loop (%cdr a) (%cdr b) (%cdr c))))
               (all-ended "map" (list a b c)))))
        ((f a . lists)
         (let loop ((lists (%cons a lists)))
           (if (any-null? lists)
               (all-ended "map" lists)
               (let ((x (%apply f (cars lists))))
                 (%cons x (loop (cdrs lists)))))))))

    ;; What for-each returns: the prompt prints nothing.
    (define-syntax no-value
      (syntax-rules () ((_ end) (begin end (if #f #f)))))

    (define for-each
      (case-lambda
        ((f l)
         (let loop ((l l))
           (if (%pair? l)
               (begin
                 (f (%car l))
                 (loop (%cdr l)))
               (no-value (list-end "for-each" l)))))
        ((f a b)
         (let loop ((a a) (b b))
           (if (if (%pair? a) (%pair? b) #f)
               (begin
                 (f (%car a) (%car b))
                 (loop (%cdr a) (%cdr b)))
               (no-value (lists-end "for-each" a b)))))
        ((f a b c)
         (let loop ((a a) (b b) (c c))
           (if (if (%pair? a) (if (%pair? b) (%pair? c) #f) #f)
               (begin
                 (f (%car a) (%car b) (%car c))
                 (loop (%cdr a) (%cdr b) (%cdr c)))
               (no-value (all-ended "for-each" (list a b c))))))
        ((f a . lists)
         (let loop ((lists (%cons a lists)))
           (if (any-null? lists)
               (no-value (all-ended "for-each" lists))
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
        ((f a . lists) (%apply append (map-many "append-map" (check-procedure "append-map" f) (%cons a lists))))))

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
          (let loop ((acc (%car l)) (l (%cdr l)))
            (if (%pair? l)
                (loop (f acc (%car l)) (%cdr l))
                (folded "reduce-left" l acc)))
          (folded "reduce-left" l initial)))

    (define fold-left
      (case-lambda
        ((f acc l)
         (let loop ((acc acc) (l l))
           (if (%pair? l)
               (loop (f acc (%car l)) (%cdr l))
               (folded "fold-left" l acc))))
        ((f acc a b)
         (let loop ((acc acc) (a a) (b b))
           (if (if (%pair? a) (%pair? b) #f)
               (loop (f acc (%car a) (%car b)) (%cdr a) (%cdr b))
               (all-folded "fold-left" (list a b) acc))))
        ((f acc l . lists)
         (let loop ((acc acc) (lists (%cons l lists)))
           (if (any-null? lists)
               (all-folded "fold-left" lists acc)
               (loop (%apply f acc (cars lists)) (cdrs lists)))))))

    (define fold-right
      (case-lambda
        ((f acc l)
         (let loop ((l l))
           (if (%pair? l)
               (f (%car l) (loop (%cdr l)))
               (folded "fold-right" l acc))))
        ((f acc a b)
         (let loop ((a a) (b b))
           (if (if (%pair? a) (%pair? b) #f)
               (f (%car a) (%car b) (loop (%cdr a) (%cdr b)))
               (all-folded "fold-right" (list a b) acc))))
        ((f acc l . lists)
         (let loop ((lists (%cons l lists)))
           (if (any-null? lists)
               (all-folded "fold-right" lists acc)
               (%apply f (append2 (cars lists) (list (loop (cdrs lists))))))))))))
