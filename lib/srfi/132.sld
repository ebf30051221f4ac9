;;; (srfi 132): sorting. The sorts themselves are those of (cairn sort).
;;;
;;; `vector-select!` and `vector-separate!` partition as quicksort does, and go on with the part that holds the position
;;; asked for: linear time on average. When bad luck or an enemy makes the parts shrink slowly, what is left is sorted.
(define-library (srfi 132)
  (export list-sort list-stable-sort list-sort! list-stable-sort! vector-sort vector-stable-sort vector-sort!
          vector-stable-sort! list-sorted? vector-sorted?
          list-merge list-merge! vector-merge vector-merge!
          list-delete-neighbor-dups list-delete-neighbor-dups!
          vector-delete-neighbor-dups vector-delete-neighbor-dups!
          vector-find-median vector-find-median! vector-select! vector-separate!)
  (import (cairn syntax) (cairn primitives) (cairn control) (cairn sort))
  (begin

    ;;;; Merging: of equal elements those of `a` come first.

    ;; Links the pairs of a and b behind the pair `last`.
    (define (link-behind! less? last a b)
      (cond
        ((%null? a) (%set-cdr! last b))
        ((%null? b) (%set-cdr! last a))
        ((less? (%car b) (%car a))
         (%set-cdr! last b)
         (link-behind! less? b a (%cdr b)))
        (else
         (%set-cdr! last a)
         (link-behind! less? a (%cdr a) b))))

    (define (list-merge! less? a b)
      (cond
        ((%null? a) b)
        ((%null? b) a)
        ((less? (%car b) (%car a))
         (link-behind! less? b a (%cdr b))
         b)
        (else
         (link-behind! less? a (%cdr a) b)
         a)))

    ;; Merges a[i, end-a) and b[j, end-b) into `to` from `at`.
    (define (merge-into! less? to at a i end-a b j end-b)
      (let loop ((at at) (i i) (j j))
        (cond
          ((%fx= i end-a) (%vector-copy! to at b j end-b))
          ((%fx= j end-b) (%vector-copy! to at a i end-a))
          ((less? (%vector-ref b j) (%vector-ref a i))
           (%vector-set! to at (%vector-ref b j))
           (loop (%fx+ at 1) i (%fx+ j 1)))
          (else
           (%vector-set! to at (%vector-ref a i))
           (loop (%fx+ at 1) (%fx+ i 1) j)))))

    (define vector-merge
      (case-lambda
        ((less? a b) (vector-merge less? a b 0 (%vector-length a) 0 (%vector-length b)))
        ((less? a b i) (vector-merge less? a b i (%vector-length a) 0 (%vector-length b)))
        ((less? a b i end-a) (vector-merge less? a b i end-a 0 (%vector-length b)))
        ((less? a b i end-a j) (vector-merge less? a b i end-a j (%vector-length b)))
        ((less? a b i end-a j end-b)
         (within-range "vector-merge" (%vector-length a) i end-a
           (within-range "vector-merge" (%vector-length b) j end-b
             (let ((to (%make-vector (%fx+ (%fx- end-a i) (%fx- end-b j)) #f)))
               (merge-into! less? to 0 a i end-a b j end-b)
               to))))))

    (define vector-merge!
      (case-lambda
        ((less? to a b) (vector-merge! less? to a b 0 0 (%vector-length a) 0 (%vector-length b)))
        ((less? to a b at) (vector-merge! less? to a b at 0 (%vector-length a) 0 (%vector-length b)))
        ((less? to a b at i) (vector-merge! less? to a b at i (%vector-length a) 0 (%vector-length b)))
        ((less? to a b at i end-a) (vector-merge! less? to a b at i end-a 0 (%vector-length b)))
        ((less? to a b at i end-a j) (vector-merge! less? to a b at i end-a j (%vector-length b)))
        ((less? to a b at i end-a j end-b)
         (within-range "vector-merge!" (%vector-length a) i end-a
           (within-range "vector-merge!" (%vector-length b) j end-b
             (let ((end (%fx+ at (%fx+ (%fx- end-a i) (%fx- end-b j)))))
               (within-range "vector-merge!" (%vector-length to) at end
                 (merge-into! less? to at a i end-a b j end-b))))))))

    ;;;; Neighbours that are the same: the first of them stays.

    (define (list-delete-neighbor-dups same? l)
      (if (%null? l)
          '()
          (let ((first (%car l)))
            (%cons first
                   (let loop ((kept first) (rest (%cdr l)))
                     (cond
                       ((%null? rest) '())
                       ((same? kept (%car rest)) (loop kept (%cdr rest)))
                       (else
                        (let ((x (%car rest)))
                          (%cons x (loop x (%cdr rest)))))))))))

    (define (list-delete-neighbor-dups! same? l)
      (if (%null? l)
          '()
          (let loop ((kept l) (rest (%cdr l)))
            (cond
              ((%null? rest)
               (%set-cdr! kept '())
               l)
              ((same? (%car kept) (%car rest)) (loop kept (%cdr rest)))
              (else
               (%set-cdr! kept rest)
               (loop rest (%cdr rest)))))))

    ;; The end of what stays.
    (define-ranged (vector-delete-neighbor-dups! same? v) "vector-delete-neighbor-dups!" (v start end)
      (if (%fx= start end)
          end
          (let loop ((kept start) (i (%fx+ start 1)))
            (cond
              ((%fx= i end) (%fx+ kept 1))
              ((same? (%vector-ref v kept) (%vector-ref v i)) (loop kept (%fx+ i 1)))
              (else
               (%vector-set! v (%fx+ kept 1) (%vector-ref v i))
               (loop (%fx+ kept 1) (%fx+ i 1)))))))

    (define-ranged (vector-delete-neighbor-dups same? v) "vector-delete-neighbor-dups" (v start end)
      (let ((copy (%subvector v start end)))
        (%subvector copy 0 (vector-delete-neighbor-dups! same? copy))))

    ;;;; Elements by rank

    (define (mean a b)
      (%/ (%+ a b) 2))

    (define (middle-of sorted default mean)
      (let* ((n (%vector-length sorted))
             (middle (%fxsra n 1)))
        (cond
          ((%fx= n 0) default)
          ((%fx= (%fxand n 1) 1) (%vector-ref sorted middle))
          (else (mean (%vector-ref sorted (%fx- middle 1)) (%vector-ref sorted middle))))))

    (define vector-find-median
      (case-lambda
        ((less? v default) (vector-find-median less? v default mean))
        ((less? v default mean)
         (middle-of (vector-sort less? (the-vector "vector-find-median" v)) default mean))))
    (define (the-vector who v)
      (if (%vector? v) v (wrong-type who "a vector" v)))

    (define vector-find-median!
      (case-lambda
        ((less? v default) (vector-find-median! less? v default mean))
        ((less? v default mean)
         (vector-sort! less? (the-vector "vector-find-median!" v))
         (middle-of v default mean))))

    (define (swap! v i j)
      (let ((x (%vector-ref v i)))
        (%vector-set! v i (%vector-ref v j))
        (%vector-set! v j x)))

    (define (median-of-3 less? a b c)
      (if (less? a b)
          (cond ((less? b c) b) ((less? a c) c) (else a))
          (cond ((less? a c) a) ((less? b c) c) (else b))))

    ;; Twice the number of bits of n, and some more: partitions that quicksort needs when all goes well.
    (define (patience n)
      (let loop ((n n) (rounds 4))
        (if (%fx< n 2) rounds (loop (%fxsra n 1) (%fx+ rounds 2)))))

    ;; Orders v[low, high) so far that v[k] is what sorting would put there, with nothing greater to the left of it and
    ;; nothing less to the right.
    (define (place! less? v k low high rounds)
      (if (if (%fx= rounds 0) #t (%fx< (%fx- high low) 12))
          (vector-sort! less? v low high)
          (let ((pivot (median-of-3 less? (%vector-ref v low) (%vector-ref v (%fxsra (%fx+ low high) 1))
                                    (%vector-ref v (%fx- high 1)))))
            ;; [low, less) is less than the pivot, [less, i) is neither, [greater, high) is greater
            (let loop ((i low) (less low) (greater high))
              (cond
                ((%fx< i greater)
                 (let ((x (%vector-ref v i)))
                   (cond
                     ((less? x pivot)
                      (swap! v i less)
                      (loop (%fx+ i 1) (%fx+ less 1) greater))
                     ((less? pivot x)
                      (swap! v i (%fx- greater 1))
                      (loop i less (%fx- greater 1)))
                     (else (loop (%fx+ i 1) less greater)))))
                ((%fx< k less) (place! less? v k low less (%fx- rounds 1)))
                ((%fx<= greater k) (place! less? v k greater high (%fx- rounds 1))))))))

    (define-syntax within-ranks
      (syntax-rules ()
        ((_ who k count body)
         (if (if (%fixnum? k) (if (%fx<= 0 k) (%fx< k count) #f) #f)
             body
             (out-of-range who "the range has not so many elements:" k)))))

    ;; The element of rank k, counted from 0.
    (define-ranged (vector-select! less? v k) "vector-select!" (v start end)
      (let ((n (%fx- end start)))
        (within-ranks "vector-select!" k n
          (begin
            (place! less? v (%fx+ start k) start end (patience n))
            (%vector-ref v (%fx+ start k))))))

    ;; The k least elements come first.
    (define-ranged (vector-separate! less? v k) "vector-separate!" (v start end)
      (let ((n (%fx- end start)))
        (within-ranks "vector-separate!" k (%fx+ n 1)
          (if (%fx< k n)
              (place! less? v (%fx+ start k) start end (patience n))))))))
