;;; (srfi 231 intervals): permutations, intervals, and the ways over all multi-indices of an interval.
;;;
;;; An interval is two vectors, the lower and the upper bounds, which nobody else has.  `by-dimension` makes a procedure
;;; of as many indices as an interval has, without lists for up to four of them; the other libraries take their getters
;;; and setters from it, so what is written once serves all dimensions:
;;;
;;;     (by-dimension 2 (v) call (call set! (* 2 v)))   is   (lambda (v i j) (set! (* 2 v) i j))
(define-library (srfi 231 intervals)
  (export translation? permutation? index-rotate index-first index-last index-swap
          make-interval interval? interval-dimension interval-lower-bound interval-upper-bound interval-width
          interval-lower-bounds->list interval-upper-bounds->list interval-lower-bounds->vector
          interval-upper-bounds->vector interval-widths interval-volume interval-empty? interval= interval-subset?
          interval-contains-multi-index? interval-projections interval-for-each interval-fold-left
          interval-fold-right interval-dilate interval-intersect interval-translate interval-permute interval-scale
          interval-cartesian-product
          ;; for the other libraries
          lowers uppers check check-interval check-procedures check-same-domain each-index over by-dimension
          walk walk-any walk-every)
  (import (scheme base) (scheme case-lambda) (only (srfi 1) every iota delete)
          (only (cairn control) wrong-type) (only (cairn records) show-fields!))
  (begin

    (define (check who ok? what x)
      (if (ok? x) x (wrong-type who what x)))
    (define (check-procedures who . procedures)
      (for-each (lambda (p) (check who procedure? "a procedure" p)) procedures))

    ;; Does the predicate hold for each index below n?
    (define (each-index n ok?)
      (let loop ((k 0))
        (or (= k n) (and (ok? k) (loop (+ k 1))))))

    ;;;; Permutations

    (define (translation? x)
      (and (vector? x) (each-index (vector-length x) (lambda (k) (exact-integer? (vector-ref x k))))))
    (define (permutation? x)
      (and (translation? x)
           (let* ((n (vector-length x)) (seen (make-vector n #f)))
             (each-index n
                         (lambda (k)
                           (let ((to (vector-ref x k)))
                             (and (< -1 to n)
                                  (not (vector-ref seen to))
                                  (begin (vector-set! seen to #t) #t))))))))

    (define (check-place who k n)
      (if (not (and (exact-integer? n) (exact-integer? k) (< -1 k n)))
          (error (string-append who ": not an index of so many axes:") k n)))
    (define (index-rotate n k)
      (if (not (and (exact-integer? n) (exact-integer? k) (<= 0 k n)))
          (error "index-rotate: so many axes cannot be rotated so far:" n k))
      (list->vector (append (iota (- n k) k) (iota k))))
    (define (index-first n k)
      (check-place "index-first" k n)
      (list->vector (cons k (delete k (iota n)))))
    (define (index-last n k)
      (check-place "index-last" k n)
      (list->vector (append (delete k (iota n)) (list k))))
    (define (index-swap n i j)
      (check-place "index-swap" i n)
      (check-place "index-swap" j n)
      (let ((v (list->vector (iota n))))
        (vector-set! v i j)
        (vector-set! v j i)
        v))

    ;;;; Intervals

    (define-record-type <interval>
      (new-interval lowers uppers)
      interval?
      (lowers lowers)
      (uppers uppers))
    (show-fields! <interval> '(lowers uppers))

    (define (check-interval who x) (check who interval? "an interval" x))

    ;; The interval of two vectors that nobody else has, or #f if an upper bound is below its lower one.
    (define (valid-interval lowers uppers)
      (and (each-index (vector-length lowers) (lambda (k) (<= (vector-ref lowers k) (vector-ref uppers k))))
           (new-interval lowers uppers)))

    (define make-interval
      (case-lambda
        ((uppers) (make-interval (if (vector? uppers) (make-vector (vector-length uppers) 0) '#()) uppers))
        ((lowers uppers)
         (check "make-interval" translation? "a vector of exact integers" lowers)
         (check "make-interval" translation? "a vector of exact integers" uppers)
         (or (and (= (vector-length lowers) (vector-length uppers))
                  (valid-interval (vector-copy lowers) (vector-copy uppers)))
             (error "make-interval: not a lower and an upper bound for each axis:" lowers uppers)))))

    (define (interval-dimension iv)
      (vector-length (lowers (check-interval "interval-dimension" iv))))
    (define (check-axis who iv k)
      (check-interval who iv)
      (check-place who k (vector-length (lowers iv))))
    (define (interval-lower-bound iv k)
      (check-axis "interval-lower-bound" iv k)
      (vector-ref (lowers iv) k))
    (define (interval-upper-bound iv k)
      (check-axis "interval-upper-bound" iv k)
      (vector-ref (uppers iv) k))
    (define (interval-width iv k)
      (check-axis "interval-width" iv k)
      (- (vector-ref (uppers iv) k) (vector-ref (lowers iv) k)))
    (define (interval-lower-bounds->list iv)
      (vector->list (lowers (check-interval "interval-lower-bounds->list" iv))))
    (define (interval-upper-bounds->list iv)
      (vector->list (uppers (check-interval "interval-upper-bounds->list" iv))))
    (define (interval-lower-bounds->vector iv)
      (vector-copy (lowers (check-interval "interval-lower-bounds->vector" iv))))
    (define (interval-upper-bounds->vector iv)
      (vector-copy (uppers (check-interval "interval-upper-bounds->vector" iv))))
    (define (interval-widths iv)
      (check-interval "interval-widths" iv)
      (vector-map - (uppers iv) (lowers iv)))
    (define (interval-volume iv)
      (check-interval "interval-volume" iv)
      (let loop ((k 0) (volume 1))
        (if (= k (vector-length (lowers iv)))
            volume
            (loop (+ k 1) (* volume (- (vector-ref (uppers iv) k) (vector-ref (lowers iv) k)))))))
    (define (interval-empty? iv)
      (check-interval "interval-empty?" iv)
      (not (each-index (vector-length (lowers iv))
                       (lambda (k) (< (vector-ref (lowers iv) k) (vector-ref (uppers iv) k))))))

    (define (same? v w)
      (and (= (vector-length v) (vector-length w))
           (each-index (vector-length v) (lambda (k) (= (vector-ref v k) (vector-ref w k))))))
    (define (interval= a b)
      (check-interval "interval=" a)
      (check-interval "interval=" b)
      (or (eq? a b)
          (and (same? (lowers a) (lowers b)) (same? (uppers a) (uppers b)))))
    (define (check-same-domain who a others)
      (if (not (every (lambda (b) (interval= a b)) others))
          (error (string-append who ": the arrays have different domains:") a others)))

    (define (check-vector who ok? what iv x)
      (check-interval who iv)
      (check who ok? what x)
      (if (not (= (vector-length (lowers iv)) (vector-length x)))
          (error (string-append who ": not as many elements as the interval has axes:") x iv)))

    (define (interval-subset? a b)
      (check-interval "interval-subset?" a)
      (check-vector "interval-subset?" translation? "" a (lowers (check-interval "interval-subset?" b)))
      (each-index (vector-length (lowers a))
                  (lambda (k)
                    (and (>= (vector-ref (lowers a) k) (vector-ref (lowers b) k))
                         (<= (vector-ref (uppers a) k) (vector-ref (uppers b) k))))))
    (define (interval-contains-multi-index? iv . index)
      (let ((index (list->vector index)))
        (check-vector "interval-contains-multi-index?" translation? "a multi-index" iv index)
        (each-index (vector-length index)
                    (lambda (k)
                      (and (<= (vector-ref (lowers iv) k) (vector-ref index k))
                           (< (vector-ref index k) (vector-ref (uppers iv) k)))))))

    (define (interval-projections iv right)
      (let* ((d (interval-dimension iv)) (left (- d (check "interval-projections" exact-integer? "an integer" right))))
        (if (not (<= 0 left d)) (error "interval-projections: the interval has not so many axes:" right iv))
        (values (new-interval (vector-copy (lowers iv) 0 left) (vector-copy (uppers iv) 0 left))
                (new-interval (vector-copy (lowers iv) left) (vector-copy (uppers iv) left)))))

    (define (interval-dilate iv down up)
      (check-vector "interval-dilate" translation? "a vector of exact integers" iv down)
      (check-vector "interval-dilate" translation? "a vector of exact integers" iv up)
      (or (valid-interval (vector-map + (lowers iv) down) (vector-map + (uppers iv) up))
          (error "interval-dilate: an upper bound comes below its lower one:" iv down up)))
    (define (interval-translate iv by)
      (check-vector "interval-translate" translation? "a translation" iv by)
      (new-interval (vector-map + (lowers iv) by) (vector-map + (uppers iv) by)))
    (define (interval-intersect iv . others)
      (for-each (lambda (other)
                  (check-vector "interval-intersect" translation? "" iv
                                (lowers (check-interval "interval-intersect" other))))
                others)
      (valid-interval (apply vector-map max (lowers iv) (map lowers others))
                      (apply vector-map min (uppers iv) (map uppers others))))
    (define (interval-permute iv permutation)
      (check-vector "interval-permute" permutation? "a permutation" iv permutation)
      (new-interval (vector-map (lambda (k) (vector-ref (lowers iv) k)) permutation)
                    (vector-map (lambda (k) (vector-ref (uppers iv) k)) permutation)))
    (define (interval-scale iv scales)
      (check-vector "interval-scale" translation? "a vector of positive integers" iv scales)
      (if (not (each-index (vector-length scales)
                           (lambda (k) (and (positive? (vector-ref scales k)) (zero? (vector-ref (lowers iv) k))))))
          (error "interval-scale: takes lower bounds of zero and positive scales:" iv scales))
      (new-interval (lowers iv) (vector-map (lambda (u s) (- (floor-quotient (- u) s))) (uppers iv) scales)))
    (define (interval-cartesian-product . ivs)
      (for-each (lambda (iv) (check-interval "interval-cartesian-product" iv)) ivs)
      (new-interval (apply vector-append (map lowers ivs)) (apply vector-append (map uppers ivs))))

    ;;;; Procedures of as many indices as there are axes

    ;; A procedure of `first ...` and d indices; in its body `(call p x ...)` calls p with x ... and the indices.
    (define-syntax by-dimension
      (syntax-rules ()
        ((_ d (first ...) call body)
         (case d
           ((1) (of-indices (first ...) (i) call body))
           ((2) (of-indices (first ...) (i j) call body))
           ((3) (of-indices (first ...) (i j k) call body))
           ((4) (of-indices (first ...) (i j k l) call body))
           ((0) (of-indices (first ...) () call body))
           (else
            (lambda (first ... . index)
              (let-syntax ((call (syntax-rules () ((_ p x (... ...)) (apply p x (... ...) index)))))
                body)))))))
    (define-syntax of-indices
      (syntax-rules ()
        ((_ (first ...) (i ...) call body)
         (lambda (first ... i ...)
           (let-syntax ((call (syntax-rules () ((_ p x (... ...)) (p x (... ...) i ...)))))
             body)))))

    ;;;; Ways over all multi-indices, in lexicographical order

    ;; The value of `acc` after all indices: it begins as `start` and becomes the body's value with each index.
    (define-syntax over
      (syntax-rules ()
        ((_ iv (acc start) call body)
         (let ((from (lowers iv)) (to (uppers iv)) (first start))
           (if (interval-empty? iv)
               first
               (case (vector-length from)
                 ((1) (nest from to 0 (i) (acc first) (within (i) call body)))
                 ((2) (nest from to 0 (i j) (acc first) (within (i j) call body)))
                 ((3) (nest from to 0 (i j k) (acc first) (within (i j k) call body)))
                 ((4) (nest from to 0 (i j k l) (acc first) (within (i j k l) call body)))
                 ((0) (let ((acc first)) (within () call body)))
                 (else
                  (let axis ((n 0) (reversed '()) (acc first))
                    (if (= n (vector-length from))
                        (let ((index (reverse reversed)))
                          (let-syntax ((call (syntax-rules () ((_ p x (... ...)) (apply p x (... ...) index)))))
                            body))
                        (let loop ((i (vector-ref from n)) (acc acc))
                          (if (< i (vector-ref to n))
                              (loop (+ i 1) (axis (+ n 1) (cons i reversed) acc))
                              acc)))))))))))
    (define-syntax nest
      (syntax-rules ()
        ((_ from to n () (acc start) body) (let ((acc start)) body))
        ((_ from to n (i . more) (acc start) body)
         (let ((end (vector-ref to n)))
           (let loop ((i (vector-ref from n)) (acc start))
             (if (< i end)
                 (loop (+ i 1) (nest from to (+ n 1) more (acc acc) body))
                 acc))))))
    (define-syntax within
      (syntax-rules ()
        ((_ (i ...) call body)
         (let-syntax ((call (syntax-rules () ((_ p x (... ...)) (p x (... ...) i ...)))))
           body))))

    ;; (f index ...) for its effect
    (define (walk f iv)
      (over iv (acc #f) call (begin (call f) #f))
      (if #f #f))

    ;; The first true value, or the first false one, of (f index ...); the last call is a tail call.
    (define-syntax define-search
      (syntax-rules ()
        ((_ name nothing or)
         (define (name f iv)
           (let ((from (lowers iv)) (to (uppers iv)))
             (cond
               ((interval-empty? iv) nothing)
               ((= 1 (vector-length from))
                (let ((last (- (vector-ref to 0) 1)))
                  (let loop ((i (vector-ref from 0)))
                    (if (= i last) (f i) (or (f i) (loop (+ i 1)))))))
               ((= 2 (vector-length from))
                (let ((last0 (- (vector-ref to 0) 1)) (last1 (- (vector-ref to 1) 1)))
                  (let loop ((i (vector-ref from 0)) (j (vector-ref from 1)))
                    (cond
                      ((< j last1) (or (f i j) (loop i (+ j 1))))
                      ((< i last0) (or (f i j) (loop (+ i 1) (vector-ref from 1))))
                      (else (f i j))))))
               (else
                (let axis ((n 0) (reversed '()))
                  (if (= n (vector-length from))
                      (apply f (reverse reversed))
                      (let ((last (- (vector-ref to n) 1)))
                        (let loop ((i (vector-ref from n)))
                          (if (= i last)
                              (axis (+ n 1) (cons i reversed))
                              (or (axis (+ n 1) (cons i reversed)) (loop (+ i 1)))))))))))))))
    (define-search walk-any #f or)
    (define-search walk-every #t and)

    (define (interval-for-each f iv)
      (check-procedures "interval-for-each" f)
      (walk f (check-interval "interval-for-each" iv)))
    (define (interval-fold-left f operator identity iv)
      (check-procedures "interval-fold-left" f operator)
      (check-interval "interval-fold-left" iv)
      (over iv (acc identity) call (operator acc (call f))))
    ;; All items come before the first call of the operator.
    (define (interval-fold-right f operator identity iv)
      (check-procedures "interval-fold-right" f operator)
      (check-interval "interval-fold-right" iv)
      (let loop ((items (over iv (acc '()) call (cons (call f) acc))) (acc identity))
        (if (null? items)
            acc
            (loop (cdr items) (operator (car items) acc)))))))
