;;; (cairn sort): stable sorting of lists and vectors, with the names and argument order of SRFI 132.
;;;
;;; One algorithm: merge sort on a vector, with insertion sort for short runs.  Only the left half of a merge is copied
;;; out, and a merge of halves already in order costs one comparison.  Lists are sorted by way of a vector.

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

    ;; Sorts a fresh vector, all of it.
    (define (sort-all! less? v)
      (let ((n (%vector-length v)))
        (if (%fx< n 12)
            (insertion-sort! less? v 0 n)
            (merge-sort! less? v (%make-vector n #f) 0 n))))

    (define vector-sort!
      (case-lambda
        ((less? v) (vector-sort! less? v 0 (%vector-length v)))
        ((less? v start) (vector-sort! less? v start (%vector-length v)))
        ((less? v start end)
         (check-procedure "vector-sort!" less?)
         (if (if (%fixnum? start) (if (%fixnum? end) (if (%fx<= 0 start) (if (%fx<= start end) (%fx<= end (%vector-length v)) #f) #f) #f) #f)
             (if (%fx< (%fx- end start) 12)
                 (insertion-sort! less? v start end)
                 (merge-sort! less? v (%make-vector end #f) start end))
             (out-of-range "vector-sort!" "not a range of the vector:" (%cons start end))))))

    (define vector-sort
      (case-lambda
        ((less? v) (vector-sort less? v 0 (%vector-length v)))
        ((less? v start) (vector-sort less? v start (%vector-length v)))
        ((less? v start end)
         (check-procedure "vector-sort" less?)
         (let ((result (%subvector v start end)))
           (sort-all! less? result)
           result))))

    (define-syntax sorted-list
      (syntax-rules ()
        ((_ who less? l)
         (let ((v (%list->vector l)))
           (check-procedure who less?)
           (sort-all! less? v)
           (%vector->list v 0 (%vector-length v))))))

    (define (list-sort less? l)
      (sorted-list "list-sort" less? l))
    (define (list-sort! less? l)
      (sorted-list "list-sort!" less? l))

    ;; The argument order of SRFI 95, and of many programs.
    (define (sort sequence less?)
      (if (%vector? sequence)
          (let ((v (%subvector sequence 0 (%vector-length sequence))))
            (check-procedure "sort" less?)
            (sort-all! less? v)
            v)
          (sorted-list "sort" less? sequence)))
    (define (sort! sequence less?)
      (if (%vector? sequence)
          (begin
            (check-procedure "sort!" less?)
            (sort-all! less? sequence)
            sequence)
          (sorted-list "sort!" less? sequence)))

    (define (list-sorted? less? l)
      (if (%pair? l)
          (let loop ((x (%car l)) (rest (%cdr l)))
            (cond
              ((%null? rest) #t)
              ((less? (%car rest) x) #f)
              (else (loop (%car rest) (%cdr rest)))))
          #t))

    (define (vector-sorted? less? v)
      (let ((n (%vector-length v)))
        (let loop ((i 1))
          (cond
            ((%fx<= n i) #t)
            ((less? (%vector-ref v i) (%vector-ref v (%fx- i 1))) #f)
            (else (loop (%fx+ i 1)))))))

    (define (list-merge less? a b)
      (cond
        ((%null? a) b)
        ((%null? b) a)
        ((less? (%car b) (%car a)) (%cons (%car b) (list-merge less? a (%cdr b))))
        (else (%cons (%car a) (list-merge less? (%cdr a) b)))))))
