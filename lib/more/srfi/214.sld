;;; (srfi 214): flexvectors: vectors that grow and shrink.
;;;
;;; A flexvector is a vector with room at its end.  Adding there takes constant time on average: the room doubles.
;;; Indices of parts are clamped to the flexvector, as SRFI 214 has it.
(define-library (srfi 214)
  (export
   make-flexvector flexvector flexvector-unfold flexvector-unfold-right flexvector-copy flexvector-reverse-copy
   flexvector-append flexvector-concatenate flexvector-append-subvectors
   flexvector? flexvector-empty? flexvector=?
   flexvector-ref flexvector-front flexvector-back flexvector-length
   flexvector-add! flexvector-add-front! flexvector-add-back! flexvector-remove! flexvector-remove-front!
   flexvector-remove-back! flexvector-add-all! flexvector-remove-range! flexvector-clear! flexvector-set!
   flexvector-swap! flexvector-fill! flexvector-reverse! flexvector-copy! flexvector-reverse-copy! flexvector-append!
   flexvector-fold flexvector-fold-right flexvector-map flexvector-map! flexvector-map/index flexvector-map/index!
   flexvector-append-map flexvector-append-map/index flexvector-filter flexvector-filter! flexvector-filter/index
   flexvector-filter/index! flexvector-for-each flexvector-for-each/index flexvector-count flexvector-cumulate
   flexvector-index flexvector-index-right flexvector-skip flexvector-skip-right flexvector-binary-search
   flexvector-any flexvector-every flexvector-partition
   flexvector->vector flexvector->list flexvector->string vector->flexvector list->flexvector string->flexvector
   reverse-flexvector->list reverse-list->flexvector generator->flexvector flexvector->generator)
  (import (scheme base) (scheme case-lambda) (only (cairn control) wrong-type check-procedure)
          (only (cairn records) show-fields!))
  (begin

    (define-record-type <flexvector>
      (make-flex length storage)
      flexvector?
      (length length-of set-length!)
      (storage storage-of set-storage!))
    (show-fields! <flexvector> '(length))

    (define (check who fv)
      (if (flexvector? fv) fv (wrong-type who "a flexvector" fv)))
    ;; An index that is at most `most`.
    (define (check-index who i most)
      (cond ((not (exact-integer? i)) (wrong-type who "an index" i))
            ((not (<= 0 i most)) (error (string-append who ": not an index of the flexvector:") i))))
    (define (clamp who i n)
      (if (exact-integer? i) (max 0 (min i n)) (wrong-type who "an index" i)))
    ;; Calls `use` with the two ends of a part.
    (define (with-part who n start end use)
      (let ((start (clamp who start n)) (end (clamp who end n)))
        (if (< end start) (error (string-append who ": the end is before the start:") start end))
        (use start end)))

    ;; Room for n elements.
    (define (reserve! fv n)
      (let* ((old (storage-of fv)) (room (vector-length old)))
        (if (> n room)
            (let ((new (make-vector (max n 4 (* 2 room)) #f)))
              (vector-copy! new 0 old 0 (length-of fv))
              (set-storage! fv new)))))

    ;; Opens a gap of n elements before the one at i.
    (define (open! fv i n)
      (let ((old (length-of fv)))
        (reserve! fv (+ old n))
        (let ((v (storage-of fv)))
          (vector-copy! v (+ i n) v i old))
        (set-length! fv (+ old n))))

    ;; Forgets what lies behind the first n elements.
    (define (shorten! fv n)
      (vector-fill! (storage-of fv) #f n (length-of fv))
      (set-length! fv n)
      fv)

    (define (own v) (make-flex (vector-length v) v))

    ;;;; Making

    (define make-flexvector
      (case-lambda
        ((n) (make-flexvector n #f))
        ((n fill)
         (if (not (and (exact-integer? n) (>= n 0))) (wrong-type "make-flexvector" "a length" n))
         (own (make-vector n fill)))))
    (define (flexvector . elements) (own (list->vector elements)))

    (define (flexvector-unfold stop? mapper successor . seeds)
      (let ((fv (make-flex 0 (make-vector 4 #f))))
        (let loop ((seeds seeds))
          (if (apply stop? seeds)
              fv
              (begin
                (flexvector-add-back! fv (apply mapper seeds))
                (call-with-values (lambda () (apply successor seeds)) (lambda seeds (loop seeds))))))))
    (define (flexvector-unfold-right stop? mapper successor . seeds)
      (flexvector-reverse! (apply flexvector-unfold stop? mapper successor seeds)))

    (define (part->vector who fv start end)
      (with-part who (length-of (check who fv)) start end
                 (lambda (start end) (vector-copy (storage-of fv) start end))))
    (define flexvector-copy
      (case-lambda
        ((fv) (flexvector-copy fv 0))
        ((fv start) (flexvector-copy fv start (flexvector-length fv)))
        ((fv start end) (own (part->vector "flexvector-copy" fv start end)))))
    (define (flexvector-reverse-copy fv . range)
      (flexvector-reverse! (apply flexvector-copy fv range)))

    (define (flexvector-append fv . fvs)
      (apply flexvector-append! (flexvector-copy fv) fvs))
    (define (flexvector-concatenate fvs)
      (if (null? fvs) (flexvector) (apply flexvector-append fvs)))
    (define (flexvector-append-subvectors . parts)
      (let ((result (flexvector)))
        (let loop ((parts parts))
          (cond
            ((null? parts) result)
            ((and (pair? (cdr parts)) (pair? (cddr parts)))
             (let ((rest (cddr parts)))
               (flexvector-append! result (flexvector-copy (car parts) (cadr parts) (car rest)))
               (loop (cdr rest))))
            (else (error "flexvector-append-subvectors: each flexvector needs a start and an end"))))))

    ;;;; Asking

    (define (flexvector-length fv) (length-of (check "flexvector-length" fv)))
    (define (flexvector-empty? fv) (= 0 (length-of (check "flexvector-empty?" fv))))
    (define (flexvector-ref fv i)
      (check-index "flexvector-ref" i (- (length-of (check "flexvector-ref" fv)) 1))
      (vector-ref (storage-of fv) i))
    (define (flexvector-front fv)
      (if (flexvector-empty? fv) (error "flexvector-front: the flexvector is empty"))
      (vector-ref (storage-of fv) 0))
    (define (flexvector-back fv)
      (if (flexvector-empty? fv) (error "flexvector-back: the flexvector is empty"))
      (vector-ref (storage-of fv) (- (length-of fv) 1)))

    (define (flexvector=? same? . fvs)
      (define (two? a b)
        (let ((n (flexvector-length a)) (v (storage-of a)) (w (storage-of b)))
          (and (= n (flexvector-length b))
               (let loop ((i 0))
                 (or (= i n) (and (same? (vector-ref v i) (vector-ref w i)) (loop (+ i 1))))))))
      (for-each (lambda (fv) (check "flexvector=?" fv)) fvs)
      (or (null? fvs)
          (let loop ((a (car fvs)) (rest (cdr fvs)))
            (or (null? rest) (and (two? a (car rest)) (loop (car rest) (cdr rest)))))))

    ;;;; Changing

    (define (flexvector-set! fv i x)
      (let ((n (length-of (check "flexvector-set!" fv))))
        (check-index "flexvector-set!" i n)
        (if (= i n)
            (flexvector-add-back! fv x)
            (let* ((v (storage-of fv)) (old (vector-ref v i)))
              (vector-set! v i x)
              old))))

    (define flexvector-add-back!
      (case-lambda
        ((fv x)
         (let ((n (length-of (check "flexvector-add-back!" fv))))
           (reserve! fv (+ n 1))
           (vector-set! (storage-of fv) n x)
           (set-length! fv (+ n 1))
           fv))
        ((fv . xs) (flexvector-add-all! fv (flexvector-length fv) xs))))
    (define (flexvector-add-front! fv . xs) (flexvector-add-all! fv 0 xs))
    (define (flexvector-add! fv i . xs) (flexvector-add-all! fv i xs))
    (define (flexvector-add-all! fv i xs)
      (check-index "flexvector-add!" i (length-of (check "flexvector-add!" fv)))
      (open! fv i (length xs))
      (let ((v (storage-of fv)))
        (let loop ((i i) (xs xs))
          (if (null? xs)
              fv
              (begin
                (vector-set! v i (car xs))
                (loop (+ i 1) (cdr xs)))))))

    (define (flexvector-append! fv . fvs)
      (check "flexvector-append!" fv)
      (for-each
       (lambda (other)
         (let ((n (length-of fv)) (m (length-of (check "flexvector-append!" other))))
           (reserve! fv (+ n m))
           (vector-copy! (storage-of fv) n (storage-of other) 0 m)
           (set-length! fv (+ n m))))
       fvs)
      fv)

    (define (flexvector-remove! fv i)
      (check-index "flexvector-remove!" i (- (length-of (check "flexvector-remove!" fv)) 1))
      (let ((x (vector-ref (storage-of fv) i)))
        (flexvector-remove-range! fv i (+ i 1))
        x))
    (define (flexvector-remove-front! fv)
      (if (flexvector-empty? fv) (error "flexvector-remove-front!: the flexvector is empty"))
      (flexvector-remove! fv 0))
    (define (flexvector-remove-back! fv)
      (if (flexvector-empty? fv) (error "flexvector-remove-back!: the flexvector is empty"))
      (flexvector-remove! fv (- (length-of fv) 1)))
    (define flexvector-remove-range!
      (case-lambda
        ((fv start) (flexvector-remove-range! fv start (flexvector-length fv)))
        ((fv start end)
         (let ((n (length-of (check "flexvector-remove-range!" fv))))
           (with-part "flexvector-remove-range!" n start end
                      (lambda (start end)
                        (let ((v (storage-of fv)))
                          (vector-copy! v start v end n)
                          (shorten! fv (- n (- end start))))))))))
    (define (flexvector-clear! fv)
      (check "flexvector-clear!" fv)
      (set-storage! fv (make-vector 4 #f))
      (set-length! fv 0)
      fv)

    (define (flexvector-swap! fv i j)
      (let ((last (- (length-of (check "flexvector-swap!" fv)) 1)) (v (storage-of fv)))
        (check-index "flexvector-swap!" i last)
        (check-index "flexvector-swap!" j last)
        (let ((x (vector-ref v i)))
          (vector-set! v i (vector-ref v j))
          (vector-set! v j x)
          fv)))

    (define flexvector-fill!
      (case-lambda
        ((fv x) (flexvector-fill! fv x 0))
        ((fv x start) (flexvector-fill! fv x start (flexvector-length fv)))
        ((fv x start end)
         (with-part "flexvector-fill!" (length-of (check "flexvector-fill!" fv)) start end
                    (lambda (start end) (vector-fill! (storage-of fv) x start end)))
         fv)))

    (define (flexvector-reverse! fv)
      (let ((v (storage-of (check "flexvector-reverse!" fv))))
        (let loop ((i 0) (j (- (length-of fv) 1)))
          (if (< i j)
              (let ((x (vector-ref v i)))
                (vector-set! v i (vector-ref v j))
                (vector-set! v j x)
                (loop (+ i 1) (- j 1)))
              fv))))

    ;; Puts a vector over what is there from `at` on, and behind it.
    (define (overwrite! who to at v)
      (check-index who at (length-of (check who to)))
      (let ((end (+ at (vector-length v))))
        (reserve! to end)
        (vector-copy! (storage-of to) at v)
        (set-length! to (max end (length-of to)))
        to))
    (define flexvector-copy!
      (case-lambda
        ((to at from) (flexvector-copy! to at from 0))
        ((to at from start) (flexvector-copy! to at from start (flexvector-length from)))
        ((to at from start end)
         (overwrite! "flexvector-copy!" to at (part->vector "flexvector-copy!" from start end)))))
    (define (flexvector-reverse-copy! to at from . range)
      (overwrite! "flexvector-reverse-copy!" to at (flexvector->vector (apply flexvector-reverse-copy from range))))

    ;;;; Iteration

    (define (shortest who fvs)
      (apply min (map (lambda (fv) (length-of (check who fv))) fvs)))
    (define (elements fvs i)
      (map (lambda (fv) (vector-ref (storage-of fv) i)) fvs))

    (define flexvector-fold
      (case-lambda
        ((kons nil fv)
         (let ((n (length-of (check "flexvector-fold" fv))))
           (let loop ((i 0) (acc nil))
             (if (< i (min n (length-of fv)))
                 (loop (+ i 1) (kons acc (vector-ref (storage-of fv) i)))
                 acc))))
        ((kons nil . fvs)
         (let ((n (shortest "flexvector-fold" fvs)))
           (let loop ((i 0) (acc nil))
             (if (= i n) acc (loop (+ i 1) (apply kons acc (elements fvs i)))))))))
    (define (flexvector-fold-right kons nil . fvs)
      (let loop ((i (shortest "flexvector-fold-right" fvs)) (acc nil))
        (if (= i 0) acc (loop (- i 1) (apply kons acc (elements fvs (- i 1)))))))

    ;; The results of `proc` on indices and elements, last first.
    (define (results who proc fvs)
      (check-procedure who proc)
      (let ((n (shortest who fvs)))
        (let loop ((i 0) (acc '()))
          (if (= i n) acc (loop (+ i 1) (cons (apply proc i (elements fvs i)) acc))))))
    (define (without-index proc)
      (check-procedure "flexvector-map" proc)
      (lambda (i . xs) (apply proc xs)))

    (define (flexvector-map/index proc . fvs)
      (reverse-list->flexvector (results "flexvector-map/index" proc fvs)))
    (define (flexvector-map proc . fvs)
      (reverse-list->flexvector (results "flexvector-map" (without-index proc) fvs)))
    (define (flexvector-map/index! proc fv . fvs)
      (let loop ((i 0) (xs (reverse (results "flexvector-map!" proc (cons fv fvs)))))
        (if (null? xs)
            fv
            (begin
              (vector-set! (storage-of fv) i (car xs))
              (loop (+ i 1) (cdr xs))))))
    (define (flexvector-map! proc fv . fvs)
      (apply flexvector-map/index! (without-index proc) fv fvs))
    (define (flexvector-append-map/index proc . fvs)
      (flexvector-concatenate (reverse (results "flexvector-append-map" proc fvs))))
    (define (flexvector-append-map proc . fvs)
      (apply flexvector-append-map/index (without-index proc) fvs))
    (define (flexvector-for-each/index proc . fvs)
      (let ((n (shortest "flexvector-for-each" fvs)))
        (do ((i 0 (+ i 1))) ((= i n))
          (apply proc i (elements fvs i)))))
    (define (flexvector-for-each proc . fvs)
      (apply flexvector-for-each/index (without-index proc) fvs))

    (define (flexvector-filter/index pred fv)
      (flexvector-filter/index! pred (flexvector-copy fv)))
    (define (flexvector-filter pred fv)
      (flexvector-filter! pred (flexvector-copy fv)))
    (define (flexvector-filter! pred fv)
      (flexvector-filter/index! (lambda (i x) (pred x)) fv))
    (define (flexvector-filter/index! pred fv)
      (let ((n (length-of (check "flexvector-filter" fv))) (v (storage-of fv)))
        (let loop ((i 0) (kept 0))
          (if (= i n)
              (shorten! fv kept)
              (let ((x (vector-ref v i)))
                (if (pred i x)
                    (begin
                      (vector-set! v kept x)
                      (loop (+ i 1) (+ kept 1)))
                    (loop (+ i 1) kept)))))))
    (define (flexvector-partition pred fv)
      (let ((in (flexvector)) (out (flexvector)))
        (flexvector-for-each (lambda (x) (flexvector-add-back! (if (pred x) in out) x)) fv)
        (values in out)))

    (define (flexvector-count pred . fvs)
      (apply flexvector-fold (lambda (n . xs) (if (apply pred xs) (+ n 1) n)) 0 fvs))
    (define (flexvector-cumulate f nil fv)
      (let ((acc nil))
        (flexvector-map
         (lambda (x)
           (set! acc (f acc x))
           acc)
         fv)))

    ;;;; Searching

    (define (flexvector-index pred . fvs)
      (let ((n (shortest "flexvector-index" fvs)))
        (let loop ((i 0))
          (and (< i n) (if (apply pred (elements fvs i)) i (loop (+ i 1)))))))
    (define (flexvector-index-right pred . fvs)
      (let ((n (shortest "flexvector-index-right" fvs)))
        (for-each (lambda (fv)
                    (if (not (= n (length-of fv)))
                        (error "flexvector-index-right: the flexvectors have different lengths:" n (length-of fv))))
                  fvs)
        (let loop ((i (- n 1)))
          (and (>= i 0) (if (apply pred (elements fvs i)) i (loop (- i 1)))))))
    (define (flexvector-skip pred . fvs)
      (apply flexvector-index (lambda xs (not (apply pred xs))) fvs))
    (define (flexvector-skip-right pred . fvs)
      (apply flexvector-index-right (lambda xs (not (apply pred xs))) fvs))

    (define flexvector-binary-search
      (case-lambda
        ((fv x compare) (flexvector-binary-search fv x compare 0))
        ((fv x compare start) (flexvector-binary-search fv x compare start (flexvector-length fv)))
        ((fv x compare start end)
         (with-part "flexvector-binary-search" (length-of (check "flexvector-binary-search" fv)) start end
                    (lambda (start end)
                      (let loop ((lo start) (hi end))
                        (and (< lo hi)
                             (let* ((mid (quotient (+ lo hi) 2)) (c (compare (vector-ref (storage-of fv) mid) x)))
                               (cond ((= c 0) mid)
                                     ((< c 0) (loop (+ mid 1) hi))
                                     (else (loop lo mid)))))))))))

    (define (flexvector-any pred . fvs)
      (let ((n (shortest "flexvector-any" fvs)))
        (let loop ((i 0))
          (and (< i n) (or (apply pred (elements fvs i)) (loop (+ i 1)))))))
    (define (flexvector-every pred . fvs)
      (let ((n (shortest "flexvector-every" fvs)))
        (let loop ((i 0) (last #t))
          (if (= i n)
              last
              (let ((holds (apply pred (elements fvs i))))
                (and holds (loop (+ i 1) holds)))))))

    ;;;; Conversion

    (define flexvector->vector
      (case-lambda
        ((fv) (flexvector->vector fv 0))
        ((fv start) (flexvector->vector fv start (flexvector-length fv)))
        ((fv start end) (part->vector "flexvector->vector" fv start end))))
    (define (flexvector->list fv . range)
      (vector->list (apply flexvector->vector fv range)))
    (define (reverse-flexvector->list fv . range)
      (reverse (apply flexvector->list fv range)))
    (define (flexvector->string fv . range)
      (vector->string (apply flexvector->vector fv range)))
    (define vector->flexvector
      (case-lambda
        ((v) (own (vector-copy v)))
        ((v start) (vector->flexvector v start (vector-length v)))
        ((v start end)
         (with-part "vector->flexvector" (vector-length v) start end
                    (lambda (start end) (own (vector-copy v start end)))))))
    (define string->flexvector
      (case-lambda
        ((s) (own (string->vector s)))
        ((s start) (string->flexvector s start (string-length s)))
        ((s start end)
         (with-part "string->flexvector" (string-length s) start end
                    (lambda (start end) (own (string->vector s start end)))))))
    (define (list->flexvector l) (own (list->vector l)))
    (define (reverse-list->flexvector l) (own (list->vector (reverse l))))
    (define (flexvector->generator fv)
      (check "flexvector->generator" fv)
      (let ((i 0))
        (lambda ()
          (if (< i (length-of fv))
              (let ((x (vector-ref (storage-of fv) i)))
                (set! i (+ i 1))
                x)
              (eof-object)))))
    (define (generator->flexvector gen)
      (let ((fv (flexvector)))
        (let loop ()
          (let ((x (gen)))
            (if (eof-object? x)
                fv
                (begin
                  (flexvector-add-back! fv x)
                  (loop)))))))))
