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
      (unfold "flexvector-unfold" stop? mapper successor seeds))
    (define (unfold who stop? mapper successor seeds)
      (for-each (lambda (proc) (check-procedure who proc)) (list stop? mapper successor))
      (let ((fv (make-flex 0 (make-vector 4 #f))))
        (let loop ((seeds seeds))
          (if (apply stop? seeds)
              fv
              (begin
                (flexvector-add-back! fv (apply mapper seeds))
                (call-with-values (lambda () (apply successor seeds)) (lambda seeds (loop seeds))))))))
    (define (flexvector-unfold-right stop? mapper successor . seeds)
      (flexvector-reverse! (unfold "flexvector-unfold-right" stop? mapper successor seeds)))

    (define (part->vector who fv start end)
      (with-part who (length-of (check who fv)) start end
                 (lambda (start end) (vector-copy (storage-of fv) start end))))
    (define (copy who fv) (own (part->vector who fv 0 (length-of (check who fv)))))
    ;; A procedure of a flexvector and maybe of the two ends of a part.
    (define-syntax define-of-part
      (syntax-rules ()
        ((_ (name who fv start end) body)
         (define name
           (case-lambda
             ((fv) (name fv 0))
             ((fv start) (name fv start (length-of (check who fv))))
             ((fv start end) body))))))
    (define-of-part (flexvector-copy "flexvector-copy" fv start end)
      (own (part->vector "flexvector-copy" fv start end)))
    (define-of-part (flexvector-reverse-copy "flexvector-reverse-copy" fv start end)
      (flexvector-reverse! (own (part->vector "flexvector-reverse-copy" fv start end))))

    (define (flexvector-append fv . fvs)
      (append-all! "flexvector-append" (copy "flexvector-append" fv) fvs))
    (define (flexvector-concatenate fvs)
      (append-all! "flexvector-concatenate" (flexvector) (check-list "flexvector-concatenate" fvs)))
    (define (check-list who l) (if (list? l) l (wrong-type who "a list" l)))
    (define (flexvector-append-subvectors . parts)
      (let ((result (flexvector)))
        (let loop ((parts parts))
          (cond
            ((null? parts) result)
            ((and (pair? (cdr parts)) (pair? (cddr parts)))
             (let ((rest (cddr parts)))
               (append-vector! result
                               (part->vector "flexvector-append-subvectors" (car parts) (cadr parts) (car rest)))
               (loop (cdr rest))))
            (else (error "flexvector-append-subvectors: each flexvector needs a start and an end"))))))

    ;;;; Asking

    (define (flexvector-length fv) (length-of (check "flexvector-length" fv)))
    (define (flexvector-empty? fv) (= 0 (length-of (check "flexvector-empty?" fv))))
    (define (flexvector-ref fv i)
      (check-index "flexvector-ref" i (- (length-of (check "flexvector-ref" fv)) 1))
      (vector-ref (storage-of fv) i))
    (define (flexvector-front fv)
      (if (= 0 (length-of (check "flexvector-front" fv))) (error "flexvector-front: the flexvector is empty"))
      (vector-ref (storage-of fv) 0))
    (define (flexvector-back fv)
      (if (= 0 (length-of (check "flexvector-back" fv))) (error "flexvector-back: the flexvector is empty"))
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
        ((fv . xs)
         (add-all! "flexvector-add-back!" fv (length-of (check "flexvector-add-back!" fv)) xs))))
    (define (flexvector-add-front! fv . xs) (add-all! "flexvector-add-front!" fv 0 xs))
    (define (flexvector-add! fv i . xs) (add-all! "flexvector-add!" fv i xs))
    (define (flexvector-add-all! fv i xs)
      (add-all! "flexvector-add-all!" fv i (check-list "flexvector-add-all!" xs)))
    (define (add-all! who fv i xs)
      (check-index who i (length-of (check who fv)))
      (open! fv i (length xs))
      (let ((v (storage-of fv)))
        (let loop ((i i) (xs xs))
          (if (null? xs)
              fv
              (begin
                (vector-set! v i (car xs))
                (loop (+ i 1) (cdr xs)))))))

    (define (flexvector-append! fv . fvs)
      (append-all! "flexvector-append!" (check "flexvector-append!" fv) fvs))
    (define (append-all! who fv fvs)
      (for-each (lambda (other) (append-elements! fv (storage-of (check who other)) (length-of other))) fvs)
      fv)
    (define (append-vector! fv v) (append-elements! fv v (vector-length v)))
    (define (append-elements! fv v m)
      (let ((n (length-of fv)))
        (reserve! fv (+ n m))
        (vector-copy! (storage-of fv) n v 0 m)
        (set-length! fv (+ n m))))

    (define (flexvector-remove! fv i)
      (check-index "flexvector-remove!" i (- (length-of (check "flexvector-remove!" fv)) 1))
      (let ((x (vector-ref (storage-of fv) i)))
        (flexvector-remove-range! fv i (+ i 1))
        x))
    (define (flexvector-remove-front! fv)
      (if (= 0 (length-of (check "flexvector-remove-front!" fv)))
          (error "flexvector-remove-front!: the flexvector is empty"))
      (flexvector-remove! fv 0))
    (define (flexvector-remove-back! fv)
      (if (= 0 (length-of (check "flexvector-remove-back!" fv)))
          (error "flexvector-remove-back!: the flexvector is empty"))
      (flexvector-remove! fv (- (length-of fv) 1)))
    (define flexvector-remove-range!
      (case-lambda
        ((fv start) (flexvector-remove-range! fv start (length-of (check "flexvector-remove-range!" fv))))
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
        ((fv x start) (flexvector-fill! fv x start (length-of (check "flexvector-fill!" fv))))
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
        ((to at from start) (flexvector-copy! to at from start (length-of (check "flexvector-copy!" from))))
        ((to at from start end)
         (overwrite! "flexvector-copy!" to at (part->vector "flexvector-copy!" from start end)))))
    (define flexvector-reverse-copy!
      (case-lambda
        ((to at from) (flexvector-reverse-copy! to at from 0))
        ((to at from start)
         (flexvector-reverse-copy! to at from start (length-of (check "flexvector-reverse-copy!" from))))
        ((to at from start end)
         (let ((part (own (part->vector "flexvector-reverse-copy!" from start end))))
           (overwrite! "flexvector-reverse-copy!" to at (storage-of (flexvector-reverse! part)))))))

    ;;;; Iteration

    (define (shortest who fvs)
      (if (null? fvs) (error (string-append who ": at least one flexvector is needed")))
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
        ((kons nil . fvs) (fold "flexvector-fold" kons nil fvs))))
    (define (fold who kons nil fvs)
      (let ((n (shortest who fvs)))
        (let loop ((i 0) (acc nil))
          (if (= i n) acc (loop (+ i 1) (apply kons acc (elements fvs i)))))))
    (define (flexvector-fold-right kons nil . fvs)
      (let loop ((i (shortest "flexvector-fold-right" fvs)) (acc nil))
        (if (= i 0) acc (loop (- i 1) (apply kons acc (elements fvs (- i 1)))))))

    ;; The results of `proc` on indices and elements, last first.
    (define (results who proc fvs)
      (check-procedure who proc)
      (let ((n (shortest who fvs)))
        (let loop ((i 0) (acc '()))
          (cond
            ((= i n) acc)
            ((null? (cdr fvs)) (loop (+ i 1) (cons (proc i (vector-ref (storage-of (car fvs)) i)) acc)))
            (else (loop (+ i 1) (cons (apply proc i (elements fvs i)) acc)))))))
    (define (without-index who proc)
      (check-procedure who proc)
      (case-lambda
        ((i x) (proc x))
        ((i . xs) (apply proc xs))))

    (define (flexvector-map/index proc . fvs)
      (reverse-list->flexvector (results "flexvector-map/index" proc fvs)))
    (define (flexvector-map proc . fvs)
      (reverse-list->flexvector (results "flexvector-map" (without-index "flexvector-map" proc) fvs)))
    (define (map! who proc fv fvs)
      (let loop ((i 0) (xs (reverse (results who proc (cons fv fvs)))))
        (if (null? xs)
            fv
            (begin
              (vector-set! (storage-of fv) i (car xs))
              (loop (+ i 1) (cdr xs))))))
    (define (flexvector-map/index! proc fv . fvs) (map! "flexvector-map/index!" proc fv fvs))
    (define (flexvector-map! proc fv . fvs)
      (map! "flexvector-map!" (without-index "flexvector-map!" proc) fv fvs))
    (define (append-map who proc fvs)
      (append-all! who (flexvector) (reverse (results who proc fvs))))
    (define (flexvector-append-map/index proc . fvs) (append-map "flexvector-append-map/index" proc fvs))
    (define (flexvector-append-map proc . fvs)
      (append-map "flexvector-append-map" (without-index "flexvector-append-map" proc) fvs))
    (define (each who proc fvs)
      (let ((n (shortest who fvs)))
        (if (null? (cdr fvs))
            (do ((i 0 (+ i 1))) ((= i n))
              (proc i (vector-ref (storage-of (car fvs)) i)))
            (do ((i 0 (+ i 1))) ((= i n))
              (apply proc i (elements fvs i))))))
    (define (flexvector-for-each/index proc . fvs)
      (check-procedure "flexvector-for-each/index" proc)
      (each "flexvector-for-each/index" proc fvs))
    (define (flexvector-for-each proc . fvs)
      (each "flexvector-for-each" (without-index "flexvector-for-each" proc) fvs))

    (define (flexvector-filter/index pred fv)
      (filter! pred (copy "flexvector-filter/index" fv)))
    (define (flexvector-filter pred fv)
      (filter! (lambda (i x) (pred x)) (copy "flexvector-filter" fv)))
    (define (flexvector-filter! pred fv)
      (filter! (lambda (i x) (pred x)) (check "flexvector-filter!" fv)))
    (define (flexvector-filter/index! pred fv)
      (filter! pred (check "flexvector-filter/index!" fv)))
    (define (filter! pred fv)
      (let ((n (length-of fv)) (v (storage-of fv)))
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
        (each "flexvector-partition" (lambda (i x) (flexvector-add-back! (if (pred x) in out) x)) (list fv))
        (values in out)))

    (define (flexvector-count pred . fvs)
      (fold "flexvector-count" (lambda (n . xs) (if (apply pred xs) (+ n 1) n)) 0 fvs))
    (define (flexvector-cumulate f nil fv)
      (let ((acc nil))
        (reverse-list->flexvector
         (results "flexvector-cumulate"
                  (lambda (i x)
                    (set! acc (f acc x))
                    acc)
                  (list fv)))))

    ;;;; Searching

    ;; The first place, or the last one, whose elements `pred` accepts, or does not accept.
    (define (index who pred wanted fvs)
      (let ((n (shortest who fvs)))
        (let loop ((i 0))
          (and (< i n) (if (eq? wanted (and (apply pred (elements fvs i)) #t)) i (loop (+ i 1)))))))
    (define (index-right who pred wanted fvs)
      (let ((n (shortest who fvs)))
        (for-each (lambda (fv)
                    (if (not (= n (length-of fv)))
                        (error (string-append who ": the flexvectors have different lengths:") n (length-of fv))))
                  fvs)
        (let loop ((i (- n 1)))
          (and (>= i 0) (if (eq? wanted (and (apply pred (elements fvs i)) #t)) i (loop (- i 1)))))))
    (define (flexvector-index pred . fvs) (index "flexvector-index" pred #t fvs))
    (define (flexvector-index-right pred . fvs) (index-right "flexvector-index-right" pred #t fvs))
    (define (flexvector-skip pred . fvs) (index "flexvector-skip" pred #f fvs))
    (define (flexvector-skip-right pred . fvs) (index-right "flexvector-skip-right" pred #f fvs))

    (define flexvector-binary-search
      (case-lambda
        ((fv x compare) (flexvector-binary-search fv x compare 0))
        ((fv x compare start)
         (flexvector-binary-search fv x compare start (length-of (check "flexvector-binary-search" fv))))
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

    (define-of-part (flexvector->vector "flexvector->vector" fv start end)
      (part->vector "flexvector->vector" fv start end))
    (define-of-part (flexvector->list "flexvector->list" fv start end)
      (vector->list (part->vector "flexvector->list" fv start end)))
    (define-of-part (reverse-flexvector->list "reverse-flexvector->list" fv start end)
      (reverse (vector->list (part->vector "reverse-flexvector->list" fv start end))))
    (define-of-part (flexvector->string "flexvector->string" fv start end)
      (let ((v (part->vector "flexvector->string" fv start end)))
        (vector-for-each (lambda (x) (if (not (char? x)) (wrong-type "flexvector->string" "a character" x))) v)
        (vector->string v)))
    (define (check-vector who v) (if (vector? v) v (wrong-type who "a vector" v)))
    (define vector->flexvector
      (case-lambda
        ((v) (own (vector-copy (check-vector "vector->flexvector" v))))
        ((v start) (vector->flexvector v start (vector-length (check-vector "vector->flexvector" v))))
        ((v start end)
         (with-part "vector->flexvector" (vector-length (check-vector "vector->flexvector" v)) start end
                    (lambda (start end) (own (vector-copy v start end)))))))
    (define (check-string who s) (if (string? s) s (wrong-type who "a string" s)))
    (define string->flexvector
      (case-lambda
        ((s) (own (string->vector (check-string "string->flexvector" s))))
        ((s start) (string->flexvector s start (string-length (check-string "string->flexvector" s))))
        ((s start end)
         (with-part "string->flexvector" (string-length (check-string "string->flexvector" s)) start end
                    (lambda (start end) (own (string->vector s start end)))))))
    (define (list->flexvector l) (own (list->vector (check-list "list->flexvector" l))))
    (define (reverse-list->flexvector l)
      (own (list->vector (reverse (check-list "reverse-list->flexvector" l)))))
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
