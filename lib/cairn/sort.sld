;;; (cairn sort): stable sorting of lists and vectors, with the names and argument order of SRFI 132.
;;;
;;; Two algorithms, both merge sort. `list-sort` and `sort` sort a list and mutate nothing, so that a continuation
;;; captured in the predicate can be entered again: every return brings a whole result. Procedures whose names begin
;;; with vector, and `sort!` of a vector, sort a vector in place, with insertion sort for short runs; only the left half
;;; of a merge is copied out. They are not for such predicates: a continuation entered again goes on with what the first
;;; pass has left. Input in order costs one comparison per element.

(define-library (cairn sort)
  (export list-sort list-sort! (rename list-sort list-stable-sort) (rename list-sort! list-stable-sort!)
          vector-sort vector-sort! (rename vector-sort vector-stable-sort) (rename vector-sort! vector-stable-sort!)
          list-sorted? vector-sorted? list-merge sort sort!)
  (import (cairn syntax) (cairn primitives) (cairn control) (cairn list) (cairn vector))
  (begin

    (define (insertion-sort! less? v start end)
      (let outer ((i (%fx+ start 1)))
        (if (%fx< i end)
            (let ((x (%vector-ref v i)))
              (let inner ((j i))
                (if (if (%fx< start j) (less? x (%vector-ref v (%fx- j 1))) #f)
                    (begin
                      (%vector-set! v j (%vector-ref v (%fx- j 1)))
                      (inner (%fx- j 1)))
                    (%vector-set! v j x)))
              (outer (%fx+ i 1))))))

    ;; Merges temp[start, middle) and v[middle, end) into v from start; the right one wins only when less.
    (define (merge! less? v temp start middle end)
      (let loop ((i start) (j middle) (to start))
        (if (%fx< i middle)
            (if (if (%fx< j end) (less? (%vector-ref v j) (%vector-ref temp i)) #f)
                (begin
                  (%vector-set! v to (%vector-ref v j))
                  (loop i (%fx+ j 1) (%fx+ to 1)))
                (begin
                  (%vector-set! v to (%vector-ref temp i))
                  (loop (%fx+ i 1) j (%fx+ to 1)))))))

    (define (merge-sort! less? v temp start end)
      (if (%fx< (%fx- end start) 12)
          (insertion-sort! less? v start end)
          (let ((middle (%fxsra (%fx+ start end) 1)))
            (merge-sort! less? v temp start middle)
            (merge-sort! less? v temp middle end)
            (if (less? (%vector-ref v middle) (%vector-ref v (%fx- middle 1)))
                (begin
                  (%vector-copy! temp start v start middle)
                  (merge! less? v temp start middle end))))))

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

    (define-merge (merge-rising less? a b) (less? (%car b) (%car a)))
    (define-merge (merge-falling less? a b) (%not (less? (%car b) (%car a))))

    ;; The first n elements of l in rising order, or falling; 0 < n.
    (define (sort-first less? l n rising)
      (cond
        ((%fx< 2 n)
         (let* ((half (%fxsra n 1))
                (falling (%not rising))
                (a (sort-first less? l half falling))
                (b (sort-first less? (list-tail l half) (%fx- n half) falling)))
           (if rising (merge-falling less? a b) (merge-rising less? a b))))
        ((%eq? n 1) (%cons (%car l) '()))
        (else
         (let ((x (%car l))
               (y (%car (%cdr l))))
           (if (%eq? rising (if (less? y x) #t #f))
               (%cons y (%cons x '()))
               (%cons x (%cons y '())))))))

    ;; A macro, so that errors name the procedure that was called.
    (define-syntax sort-list
      (syntax-rules ()
        ((_ who less? l)
         (let* ((list l)
                (n (%length list)))
           (check-procedure who less?)
           (if (list-sorted? less? list)
               (list-copy list)
               (sort-first less? list n #t))))))

    (define vector-sort!
      (case-lambda
        ((less? v) (vector-sort! less? v 0 (%vector-length v)))
        ((less? v start) (vector-sort! less? v start (%vector-length v)))
        ((less? v start end)
         (check-procedure "vector-sort!" less?)
         (within-range "vector-sort!" (%vector-length v) start end
           (if (%fx< (%fx- end start) 12)
               (insertion-sort! less? v start end)
               (merge-sort! less? v (%make-vector end #f) start end))))))

    (define vector-sort
      (case-lambda
        ((less? v) (vector-sort less? v 0 (%vector-length v)))
        ((less? v start) (vector-sort less? v start (%vector-length v)))
        ((less? v start end)
         (check-procedure "vector-sort" less?)
         (let ((result (%subvector v start end)))
           (vector-sort! less? result)
           result))))

    (define (list-sort less? l)
      (sort-list "list-sort" less? l))
    (define (list-sort! less? l)
      (sort-list "list-sort!" less? l))

    ;; The argument order of SRFI 95, and of many programs.
    (define (sort sequence less?)
      (if (%vector? sequence)
          (%list->vector (sort-list "sort" less? (%vector->list sequence 0 (%vector-length sequence))))
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
          #t))

    (define-ranged (vector-sorted? less? v) "vector-sorted?" (v start end)
      (let loop ((i (%fx+ start 1)))
        (cond
          ((%fx<= end i) #t)
          ((less? (%vector-ref v i) (%vector-ref v (%fx- i 1))) #f)
          (else (loop (%fx+ i 1))))))))
