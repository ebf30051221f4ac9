;;; (srfi 133): vector library.
;;;
;;; Procedures that take several vectors go as far as the shortest one.
(define-library (srfi 133)
  (export
   make-vector vector vector-unfold vector-unfold-right vector-copy vector-reverse-copy vector-append
   vector-concatenate vector-append-subvectors vector? vector-empty? vector= vector-ref vector-length
   vector-fold vector-fold-right vector-map vector-map! vector-for-each vector-count vector-cumulate
   vector-index vector-index-right vector-skip vector-skip-right vector-any vector-every
   vector-binary-search vector-partition
   vector-set! vector-swap! vector-fill! vector-reverse! vector-copy! vector-reverse-copy!
   vector-unfold! vector-unfold-right!
   vector->list reverse-vector->list list->vector reverse-list->vector vector->string string->vector)
  (import (cairn syntax) (cairn primitives) (cairn control) (cairn list) (cairn text) (cairn vector))
  (begin

    (define (vector-unfold f n . seeds)
      (let ((v (%make-vector n #f)))
        (if (%null? seeds)
            (let loop ((i 0))
              (if (%fx< i n)
                  (begin
                    (%vector-set! v i (f i))
                    (loop (%fx+ i 1)))
                  v))
            (begin
              (unfold-upwards! f v 0 n seeds)
              v))))

    (define (vector-unfold-right f n . seeds)
      (let ((v (%make-vector n #f)))
        (unfold-downwards! f v 0 n seeds)
        v))

    (define (unfold-upwards! f v start end seeds)
      (let loop ((i start) (seeds seeds))
        (if (%fx< i end)
            (%receive (x . seeds) (%apply f i seeds)
              (%vector-set! v i x)
              (loop (%fx+ i 1) seeds)))))

    (define (unfold-downwards! f v start end seeds)
      (let loop ((i (%fx- end 1)) (seeds seeds))
        (if (%fx<= start i)
            (%receive (x . seeds) (%apply f i seeds)
              (%vector-set! v i x)
              (loop (%fx- i 1) seeds)))))

    (define (vector-unfold! f v start end . seeds)
      (within-range "vector-unfold!" (%vector-length v) start end
        (unfold-upwards! f v start end seeds)))

    (define (vector-unfold-right! f v start end . seeds)
      (within-range "vector-unfold-right!" (%vector-length v) start end
        (unfold-downwards! f v start end seeds)))

    (define (vector-empty? v)
      (%fx= (%vector-length v) 0))

    (define (vector-concatenate vectors)
      (if (%list? vectors)
          (%vector-append vectors)
          (wrong-type "vector-concatenate" "a list of vectors" vectors)))

    ;; Three arguments for each part: a vector, where it starts and where it ends.
    (define (vector-append-subvectors . parts)
      (%vector-append
       (let loop ((rest parts))
         (if (%null? rest)
             '()
             (let ((others (%cdr rest)))
               (if (if (%pair? others) (%pair? (%cdr others)) #f)
                   (let ((part (%subvector (%car rest) (%car others) (%car (%cdr others)))))
                     (%cons part (loop (%cdr (%cdr others)))))
                   (out-of-range "vector-append-subvectors" "expected a vector, its start and end, got only" rest)))))))

    (define (vector= same? . vectors)
      (define (two? a b)
        (let ((n (%vector-length a)))
          (if (%fx= n (%vector-length b))
              (let loop ((i 0))
                (cond
                  ((%fx= i n) #t)
                  ((same? (%vector-ref a i) (%vector-ref b i)) (loop (%fx+ i 1)))
                  (else #f)))
              #f)))
      (let loop ((rest vectors))
        (cond
          ((%null? rest) #t)
          ((%null? (%cdr rest)) #t)
          ((two? (%car rest) (cadr rest)) (loop (%cdr rest)))
          (else #f))))

    ;; Helpers of the clauses for several vectors.
    (define (shortest who vectors)
      (define (length-of v)
        (if (vector? v) (%vector-length v) (wrong-type who "a vector" v)))
      (let loop ((n (length-of (%car vectors))) (rest (%cdr vectors)))
        (if (%null? rest)
            n
            (let ((m (length-of (%car rest))))
              (loop (if (%fx< m n) m n) (%cdr rest))))))
    (define (refs vectors i)
      (map (lambda (v) (%vector-ref v i)) vectors))

    (define vector-fold
      (case-lambda
        ((f acc v)
         (let ((n (%vector-length v)))
           (let loop ((i 0) (acc acc))
             (if (%fx< i n)
                 (loop (%fx+ i 1) (f acc (%vector-ref v i)))
                 acc))))
        ((f acc v . vectors)
         (let* ((vectors (%cons v vectors)) (n (shortest "vector-fold" vectors)))
           (let loop ((i 0) (acc acc))
             (if (%fx< i n)
                 (loop (%fx+ i 1) (%apply f acc (refs vectors i)))
                 acc))))))

    (define vector-fold-right
      (case-lambda
        ((f acc v)
         (let loop ((i (%fx- (%vector-length v) 1)) (acc acc))
           (if (%fx<= 0 i)
               (loop (%fx- i 1) (f acc (%vector-ref v i)))
               acc)))
        ((f acc v . vectors)
         (let ((vectors (%cons v vectors)))
           (let loop ((i (%fx- (shortest "vector-fold-right" vectors) 1)) (acc acc))
             (if (%fx<= 0 i)
                 (loop (%fx- i 1) (%apply f acc (refs vectors i)))
                 acc))))))

    (define (vector-map! f v . vectors)
      (let* ((vectors (%cons v vectors))
             (n (shortest "vector-map!" vectors)))
        (let loop ((i 0))
          (if (%fx< i n)
              (begin
                (%vector-set! v i (%apply f (refs vectors i)))
                (loop (%fx+ i 1)))))))

    ;; Index of the first i from `start` by `step` that satisfies `found?`, or #f.
    (define (search start end step found?)
      (let loop ((i start))
        (cond
          ((%fx= i end) #f)
          ((found? i) i)
          (else (loop (%fx+ i step))))))

    (define vector-index
      (case-lambda
        ((f v) (search 0 (%vector-length v) 1 (lambda (i) (f (%vector-ref v i)))))
        ((f v . vectors)
         (let ((vectors (%cons v vectors)))
           (search 0 (shortest "vector-index" vectors) 1 (lambda (i) (%apply f (refs vectors i))))))))

    (define vector-index-right
      (case-lambda
        ((f v) (search (%fx- (%vector-length v) 1) -1 -1 (lambda (i) (f (%vector-ref v i)))))
        ((f v . vectors)
         (let ((vectors (%cons v vectors)))
           (search (%fx- (shortest "vector-index-right" vectors) 1) -1 -1 (lambda (i) (%apply f (refs vectors i))))))))

    (define (vector-skip f v . vectors)
      (let ((vectors (%cons v vectors)))
        (search 0 (shortest "vector-skip" vectors) 1 (lambda (i) (%not (%apply f (refs vectors i)))))))

    (define (vector-skip-right f v . vectors)
      (let ((vectors (%cons v vectors)))
        (search (%fx- (shortest "vector-skip-right" vectors) 1) -1 -1 (lambda (i) (%not (%apply f (refs vectors i)))))))

    (define vector-count
      (case-lambda
        ((f v)
         (let ((n (%vector-length v)))
           (let loop ((i 0) (count 0))
             (if (%fx< i n)
                 (loop (%fx+ i 1) (if (f (%vector-ref v i)) (%fx+ count 1) count))
                 count))))
        ((f v . vectors)
         (let* ((vectors (%cons v vectors)) (n (shortest "vector-count" vectors)))
           (let loop ((i 0) (count 0))
             (if (%fx< i n)
                 (loop (%fx+ i 1) (if (%apply f (refs vectors i)) (%fx+ count 1) count))
                 count))))))

    ;; The results of a fold, one for each element.
    (define (vector-cumulate f acc v)
      (let* ((n (%vector-length v))
             (results (%make-vector n #f)))
        (let loop ((i 0) (acc acc))
          (if (%fx< i n)
              (let ((acc (f acc (%vector-ref v i))))
                (%vector-set! results i acc)
                (loop (%fx+ i 1) acc))
              results))))

    (define (vector-any f v . vectors)
      (let* ((vectors (%cons v vectors)) (n (shortest "vector-any" vectors)))
        (let loop ((i 0))
          (if (%fx< i n)
              (or (%apply f (refs vectors i)) (loop (%fx+ i 1)))
              #f))))

    (define (vector-every f v . vectors)
      (let* ((vectors (%cons v vectors)) (n (shortest "vector-every" vectors)))
        (let loop ((i 0) (result #t))
          (if (%fx< i n)
              (let ((x (%apply f (refs vectors i))))
                (if x (loop (%fx+ i 1) x) #f))
              result))))

    ;; `(compare element x)` is negative, zero or positive.
    (define (vector-binary-search v x compare)
      (let loop ((low 0) (high (%vector-length v)))
        (if (%fx< low high)
            (let* ((middle (%fxsra (%fx+ low high) 1))
                   (order (compare (%vector-ref v middle) x)))
              (cond
                ((%= order 0) middle)
                ((%< order 0) (loop (%fx+ middle 1) high))
                (else (loop low middle))))
            #f)))

    ;; A vector of the elements that satisfy `f`, then the others; and the number of the former.
    (define (vector-partition f v)
      (let loop ((rest (%vector->list v 0 (%vector-length v))) (in '()) (out '()))
        (if (%pair? rest)
            (let ((x (%car rest)))
              (if (f x)
                  (loop (%cdr rest) (%cons x in) out)
                  (loop (%cdr rest) in (%cons x out))))
            (%values (%list->vector (append-reverse in (reverse out))) (%length in)))))

    (define (vector-swap! v i j)
      (let ((x (%vector-ref v i)))
        (%vector-set! v i (%vector-ref v j))
        (%vector-set! v j x)))

    (define-ranged (vector-reverse! v) "vector-reverse!" (v start end)
      (let loop ((i start) (j (%fx- end 1)))
        (if (%fx< i j)
            (let ((x (%vector-ref v i)))
              (%vector-set! v i (%vector-ref v j))
              (%vector-set! v j x)
              (loop (%fx+ i 1) (%fx- j 1))))))

    (define-ranged (vector-reverse-copy v) "vector-reverse-copy" (v start end)
      (let ((copy (%subvector v start end)))
        (vector-reverse! copy)
        copy))

    (define-ranged (vector-reverse-copy! to at v) "vector-reverse-copy!" (v start end)
      (let ((count (%fx- end start)))
        (if (%not (%fixnum? at))
            (wrong-type "vector-reverse-copy!" "an index" at))
        (within-range "vector-reverse-copy!" (%vector-length to) at (%fx+ at count)
          (vector-copy! to at (vector-reverse-copy v start end)))))

    (define-ranged (reverse-vector->list v) "reverse-vector->list" (v start end)
      (let loop ((i start) (l '()))
        (if (%fx< i end)
            (loop (%fx+ i 1) (%cons (%vector-ref v i) l))
            l)))
    (define (reverse-list->vector l)
      (if (%list? l)
          (%list->vector (reverse l))
          (wrong-type "reverse-list->vector" "a list" l)))))
