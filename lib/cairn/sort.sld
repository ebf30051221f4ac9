;;; (cairn sort): stable sorting of lists and vectors, with the names and argument order of SRFI 132.
;;;
;;; Merge sort of the elements of a vector that nobody else has, by merges into fresh lists. Nothing is overwritten, so
;;; that a continuation captured in the predicate can be entered again: every return brings all elements. `<` and `>`
;;; capture none: parts of fixnums or flonums alone are sorted in place first. Procedures that sort a vector in place
;;; fill it at the end. What is in order already, or in the opposite order, is not merged: of such input each element
;;; costs one comparison, and of input that consists of a few such parts hardly more.

(define-library (cairn sort)
  (export list-sort list-sort! (rename list-sort list-stable-sort) (rename list-sort! list-stable-sort!)
          vector-sort vector-sort! (rename vector-sort vector-stable-sort) (rename vector-sort! vector-stable-sort!)
          list-sorted? vector-sorted? list-merge sort sort!)
  (import (cairn syntax) (cairn primitives) (cairn control) (cairn list) (only (cairn number) < >))
  (begin

    ;; The right one wins only when less.
    (define (list-merge less? a b)
      (let loop ((a a) (b b))
        (cond
          ((%null? a) b)
          ((%null? b) a)
          ((less? (%car b) (%car a))
           (let ((x (%car b)))
             (%cons x (loop a (%cdr b)))))
          (else
           (let ((x (%car a)))
             (%cons x (loop (%cdr a) b)))))))

    ;; Merges two ordered lists onto `acc`, which turns them round: falling lists become a rising one and the other way.
    ;; So no merge needs a frame per element. Of equal elements those of `a` stand first in rising order.
    (define-syntax define-merge
      (syntax-rules ()
        ((_ (name less? a b) b-first?)
         (define (name less? a b)
           (let loop ((a a) (b b) (acc '()))
             (cond
               ((%null? a) (append-reverse b acc))
               ((%null? b) (append-reverse a acc))
               (b-first?
                (loop a (%cdr b) (%cons (%car b) acc)))
               (else
                (loop (%cdr a) b (%cons (%car a) acc)))))))))

    ;; Shorter parts are merged without a look at their order.
    (define-syntax worth-a-look (syntax-rules () ((_) 32)))

    ;; The elements of v[start, end) as a list, the last one first; the first one first.
    (define (from-start v start end)
      (let loop ((i start) (l '()))
        (if (%fx< i end) (loop (%fx+ i 1) (%cons (%vector-ref v i) l)) l)))
    (define (from-end v start end)
      (let loop ((i end) (l '()))
        (if (%fx< start i)
            (let ((i (%fx- i 1)))
              (loop i (%cons (%vector-ref v i) l)))
            l)))

    ;; The procedures that sort, with two macros: for the order, `(before? less? x y)`, and `(at-once? v start end)`,
    ;; which sorts a part of `v` in place if it can.  They are made once for any predicate, and once each for `<` and
    ;; `>`: numbers are what is sorted most often, and with these predicates nobody can look at the vector meanwhile.
    (define-syntax define-sorting
      (syntax-rules ()
        ((_ before? at-once? sorted merged merge-rising merge-falling)
         (begin
           (define-merge (merge-rising less? a b) (before? less? (%car b) (%car a)))
           (define-merge (merge-falling less? a b) (%not (before? less? (%car b) (%car a))))

           ;; The elements of v[start, start + n) in rising order, or falling, as a list; 0 < n.
           (define (sorted less? v start n rising)
             (if (%fx< n (worth-a-look))
                 (merged less? v start n rising)
                 (let* ((end (%fx+ start n))
                        (falls (if (before? less? (%vector-ref v (%fx+ start 1)) (%vector-ref v start)) #t #f)))
                   (let loop ((i (%fx+ start 2)))
                     (cond
                       ((%eq? i end)
                        (if (%eq? rising falls) (from-start v start end) (from-end v start end)))
                       ((%eq? (if (before? less? (%vector-ref v i) (%vector-ref v (%fx- i 1))) #t #f) falls)
                        (loop (%fx+ i 1)))
                       (else (merged less? v start n rising)))))))

           ;; `sorted` without a look at the order that the elements have.
           (define (merged less? v start n rising)
             (cond
               ((at-once? v start (%fx+ start n))
                (if rising (from-end v start (%fx+ start n)) (from-start v start (%fx+ start n))))
               ((%fx< 2 n)
                (let* ((half (%fxsra n 1))
                       (falling (%not rising))
                       (a (sorted less? v start half falling))
                       (b (sorted less? v (%fx+ start half) (%fx- n half) falling)))
                  (if rising (merge-falling less? a b) (merge-rising less? a b))))
               ((%eq? n 1) (%cons (%vector-ref v start) '()))
               (else
                (let ((x (%vector-ref v start))
                      (y (%vector-ref v (%fx+ start 1))))
                  (if (%eq? rising (if (before? less? y x) #t #f))
                      (%cons y (%cons x '()))
                      (%cons x (%cons y '())))))))))))

    (define-syntax by-predicate (syntax-rules () ((_ less? x y) (less? x y))))
    (define-syntax by-< (syntax-rules () ((_ less? x y) (%< x y))))
    (define-syntax by-> (syntax-rules () ((_ less? x y) (%> x y))))
    (define-syntax never (syntax-rules () ((_ v start end) #f)))
    ;; A part of these lengths: other threads wait until it is sorted, for a millisecond at most.
    (define (at-once? v start end falling?)
      (let ((n (%fx- end start)))
        (if (%fx< n 4)
            #f
            (if (%fx< n 20000)
                (%vector-sort-numbers! v start end falling?)
                #f))))
    (define-syntax at-once-rising (syntax-rules () ((_ v start end) (at-once? v start end #f))))
    (define-syntax at-once-falling (syntax-rules () ((_ v start end) (at-once? v start end #t))))
    (define-sorting by-predicate never sorted-by merged-by rising-by falling-by)
    (define-sorting by-< at-once-rising sorted-by-< merged-by-< rising-by-< falling-by-<)
    (define-sorting by-> at-once-falling sorted-by-> merged-by-> rising-by-> falling-by->)

    (define-syntax define-choice
      (syntax-rules ()
        ((_ name any rising falling)
         (define (name less? v start n)
           (cond
             ((%eq? less? <) (rising less? v start n #t))
             ((%eq? less? >) (falling less? v start n #t))
             (else (any less? v start n #t)))))))
    (define-choice sorted sorted-by sorted-by-< sorted-by->)
    (define-choice merged merged-by merged-by-< merged-by->)

    ;; A macro, so that errors name the procedure that was called.
    (define-syntax sort-list
      (syntax-rules ()
        ((_ who less? l)
         (let* ((list l)
                (n (%length list)))
           (check-procedure who less?)
           (if (if (%fx< n (worth-a-look)) (list-sorted? less? list) #f)
               (list-copy list)
               (sorted less? (%list->vector list) 0 n))))))

    (define vector-sort!
      (case-lambda
        ((less? v) (vector-sort! less? v 0 (%vector-length v)))
        ((less? v start) (vector-sort! less? v start (%vector-length v)))
        ((less? v start end)
         (check-procedure "vector-sort!" less?)
         (within-range "vector-sort!" (%vector-length v) start end
           (if (%not (vector-sorted? less? v start end))
               (let fill ((i start)
                          (l (merged less? (%subvector v start end) 0 (%fx- end start))))
                 (if (%pair? l)
                     (begin
                       (%vector-set! v i (%car l))
                       (fill (%fx+ i 1) (%cdr l))))))))))

    (define vector-sort
      (case-lambda
        ((less? v) (vector-sort less? v 0 (%vector-length v)))
        ((less? v start) (vector-sort less? v start (%vector-length v)))
        ((less? v start end)
         (check-procedure "vector-sort" less?)
         (let ((copy (%subvector v start end)))
           (if (vector-sorted? less? copy)
               copy
               (%list->vector (merged less? copy 0 (%vector-length copy))))))))

    (define (list-sort less? l)
      (sort-list "list-sort" less? l))
    (define (list-sort! less? l)
      (sort-list "list-sort!" less? l))

    ;; The argument order of SRFI 95, and of many programs.
    (define (sort sequence less?)
      (if (%vector? sequence)
          (begin
            (check-procedure "sort" less?)
            (vector-sort less? sequence))
          (sort-list "sort" less? sequence)))
    (define (sort! sequence less?)
      (if (%vector? sequence)
          (begin
            (check-procedure "sort!" less?)
            (vector-sort! less? sequence)
            sequence)
          (sort-list "sort!" less? sequence)))

    (define (list-sorted? less? l)
      (if (%pair? l)
          (let loop ((x (%car l)) (rest (%cdr l)))
            (cond
              ((%null? rest) #t)
              ((less? (%car rest) x) #f)
              (else (loop (%car rest) (%cdr rest)))))
          (begin
            (list-end "list-sorted?" l)
            #t)))

    (define-ranged (vector-sorted? less? v) "vector-sorted?" (v start end)
      (let loop ((i (%fx+ start 1)))
        (cond
          ((%fx<= end i) #t)
          ((less? (%vector-ref v i) (%vector-ref v (%fx- i 1))) #f)
          (else (loop (%fx+ i 1))))))))
