;;; (srfi 196): ranges: sequences that are a length and a procedure from indices to elements.
;;;
;;; A range begins at some index of its procedure, so that parts of it are ranges of the same procedure.  What SRFI 196
;;; calls expanded are ranges over a vector.
(define-library (srfi 196)
  (export range numeric-range iota-range vector-range string-range range-append range-reverse
          range? range=? range-length range-ref range-first range-last
          range-split-at subrange range-segment range-take range-take-right range-drop range-drop-right
          range-count range-any range-every range-map range-map->list range-map->vector range-for-each
          range-filter-map range-filter-map->list range-filter range-filter->list range-remove range-remove->list
          range-fold range-fold-right
          range-index range-index-right range-take-while range-take-while-right range-drop-while range-drop-while-right
          range->list range->vector range->string vector->range range->generator)
  (import (scheme base) (scheme case-lambda) (only (cairn control) wrong-type check-procedure)
          (only (cairn records) show-fields!))
  (begin

    (define-record-type <range>
      (make-range length start indexer)
      range?
      (length length-of)
      (start start-of)
      (indexer indexer-of))
    (show-fields! <range> '(length))

    (define (check who r)
      (if (range? r) r (wrong-type who "a range" r)))
    (define (check-index who n most)
      (cond ((not (exact-integer? n)) (wrong-type who "an index" n))
            ((not (<= 0 n most)) (error (string-append who ": not in the range:") n))))
    (define (element r i)
      ((indexer-of r) (+ (start-of r) i)))

    ;;;; Making

    (define (range length indexer)
      (if (not (and (exact-integer? length) (>= length 0))) (wrong-type "range" "a length" length))
      (make-range length 0 (check-procedure "range" indexer)))

    (define numeric-range
      (case-lambda
        ((start end) (numeric-range start end 1))
        ((start end step)
         (for-each (lambda (x) (if (not (real? x)) (wrong-type "numeric-range" "a real number" x))) (list start end
                                                                                                          step))
         (if (zero? step) (error "numeric-range: the step is zero"))
         (let ((n (exact (ceiling (max 0 (/ (- end start) step))))))
           ;; rounding may have made it one too long
           (let* ((at (lambda (i) (+ start (* i step))))
                  (past? (lambda (x) (if (> step 0) (>= x end) (<= x end))))
                  (n (if (and (> n 0) (past? (at (- n 1)))) (- n 1) n)))
             (make-range n 0 at))))))

    (define iota-range
      (case-lambda
        ((length) (iota-range length 0 1))
        ((length start) (iota-range length start 1))
        ((length start step)
         (if (not (and (exact-integer? length) (>= length 0))) (wrong-type "iota-range" "a length" length))
         (make-range length 0 (lambda (i) (+ start (* i step)))))))

    (define (vector-range v)
      (make-range (vector-length v) 0 (lambda (i) (vector-ref v i))))
    (define (string-range s)
      (make-range (string-length s) 0 (lambda (i) (string-ref s i))))

    (define (range-append . ranges)
      (cond ((null? ranges) (make-range 0 0 values))
            ((null? (cdr ranges)) (check "range-append" (car ranges)))
            (else (vector-range (apply vector-append (map range->vector ranges))))))

    (define (range-reverse r)
      (let ((n (range-length r)))
        (make-range n 0 (lambda (i) (element r (- n 1 i))))))

    ;;;; Elements and parts

    (define (range-length r) (length-of (check "range-length" r)))

    (define (range-ref r i)
      (check-index "range-ref" i (- (range-length r) 1))
      (element r i))
    (define (range-first r)
      (if (= 0 (range-length r)) (error "range-first: the range is empty"))
      (element r 0))
    (define (range-last r)
      (if (= 0 (range-length r)) (error "range-last: the range is empty"))
      (element r (- (length-of r) 1)))

    (define (part r start end)
      (make-range (- end start) (+ (start-of r) start) (indexer-of r)))

    (define (subrange r start end)
      (check-index "subrange" end (range-length r))
      (check-index "subrange" start end)
      (part r start end))
    (define (range-take r n)
      (check-index "range-take" n (range-length r))
      (part r 0 n))
    (define (range-drop r n)
      (check-index "range-drop" n (range-length r))
      (part r n (length-of r)))
    (define (range-take-right r n)
      (check-index "range-take-right" n (range-length r))
      (part r (- (length-of r) n) (length-of r)))
    (define (range-drop-right r n)
      (check-index "range-drop-right" n (range-length r))
      (part r 0 (- (length-of r) n)))
    (define (range-split-at r n)
      (check-index "range-split-at" n (range-length r))
      (values (part r 0 n) (part r n (length-of r))))
    (define (range-segment r n)
      (if (not (and (exact-integer? n) (> n 0))) (wrong-type "range-segment" "a positive length" n))
      (let ((end (range-length r)))
        (let loop ((i 0))
          (if (>= i end) '() (cons (part r i (min end (+ i n))) (loop (+ i n)))))))

    ;;;; Iteration

    (define (shortest ranges)
      (apply min (map range-length ranges)))
    (define (elements ranges i)
      (map (lambda (r) (element r i)) ranges))

    (define range-fold
      (case-lambda
        ((kons nil r)
         (let ((n (range-length r)))
           (let loop ((i 0) (acc nil))
             (if (= i n) acc (loop (+ i 1) (kons acc (element r i)))))))
        ((kons nil . ranges)
         (let ((n (shortest ranges)))
           (let loop ((i 0) (acc nil))
             (if (= i n) acc (loop (+ i 1) (apply kons acc (elements ranges i)))))))))
    (define range-fold-right
      (case-lambda
        ((kons nil r)
         (let loop ((i (range-length r)) (acc nil))
           (if (= i 0) acc (loop (- i 1) (kons acc (element r (- i 1)))))))
        ((kons nil . ranges)
         (let loop ((i (shortest ranges)) (acc nil))
           (if (= i 0) acc (loop (- i 1) (apply kons acc (elements ranges (- i 1)))))))))

    (define (range=? same? r . ranges)
      (let loop ((ranges ranges))
        (or (null? ranges)
            (let ((other (car ranges)) (n (range-length r)))
              (and (= n (range-length other))
                   (let each ((i 0))
                     (or (= i n) (and (same? (element r i) (element other i)) (each (+ i 1)))))
                   (loop (cdr ranges)))))))

    (define (range-map->list proc . ranges)
      (reverse (apply range-fold (lambda (acc . xs) (cons (apply proc xs) acc)) '() ranges)))
    (define (range-map->vector proc . ranges)
      (list->vector (apply range-map->list proc ranges)))
    (define (range-map proc . ranges)
      (vector-range (apply range-map->vector proc ranges)))
    (define (range-for-each proc . ranges)
      (apply range-fold (lambda (acc . xs) (apply proc xs)) #f ranges)
      #t)
    (define (range-filter-map->list proc . ranges)
      (reverse
       (apply range-fold
              (lambda (acc . xs)
                (let ((y (apply proc xs)))
                  (if y (cons y acc) acc)))
              '() ranges)))
    (define (range-filter-map proc . ranges)
      (vector->range (list->vector (apply range-filter-map->list proc ranges))))
    (define (range-filter->list pred r)
      (reverse (range-fold (lambda (acc x) (if (pred x) (cons x acc) acc)) '() r)))
    (define (range-remove->list pred r)
      (range-filter->list (lambda (x) (not (pred x))) r))
    (define (range-filter pred r) (vector-range (list->vector (range-filter->list pred r))))
    (define (range-remove pred r) (vector-range (list->vector (range-remove->list pred r))))

    (define (range-count pred . ranges)
      (apply range-fold (lambda (n . xs) (if (apply pred xs) (+ n 1) n)) 0 ranges))
    (define (range-any pred . ranges)
      (let ((n (shortest ranges)))
        (let loop ((i 0))
          (and (< i n) (or (apply pred (elements ranges i)) (loop (+ i 1)))))))
    (define (range-every pred . ranges)
      (let ((n (shortest ranges)))
        (let loop ((i 0) (last #t))
          (if (= i n)
              last
              (let ((holds (apply pred (elements ranges i))))
                (and holds (loop (+ i 1) holds)))))))

    ;;;; Searching

    (define (range-index pred . ranges)
      (let ((n (shortest ranges)))
        (let loop ((i 0))
          (and (< i n) (if (apply pred (elements ranges i)) i (loop (+ i 1)))))))
    (define (range-index-right pred r . ranges)
      (for-each (lambda (other)
                  (if (not (= (range-length r) (range-length other)))
                      (error "range-index-right: the ranges have different lengths:" (range-length r)
                             (range-length other))))
                ranges)
      (let ((ranges (cons r ranges)))
        (let loop ((i (- (range-length r) 1)))
          (and (>= i 0) (if (apply pred (elements ranges i)) i (loop (- i 1)))))))

    (define (range-take-while pred r)
      (let ((i (range-index (lambda (x) (not (pred x))) r)))
        (if i (part r 0 i) r)))
    (define (range-drop-while pred r)
      (let ((i (range-index (lambda (x) (not (pred x))) r)))
        (part r (or i (length-of r)) (length-of r))))
    (define (range-take-while-right pred r)
      (let ((i (range-index-right (lambda (x) (not (pred x))) r)))
        (if i (part r (+ i 1) (length-of r)) r)))
    (define (range-drop-while-right pred r)
      (let ((i (range-index-right (lambda (x) (not (pred x))) r)))
        (part r 0 (if i (+ i 1) 0))))

    ;;;; Conversion

    (define (range->list r)
      (range-fold-right (lambda (acc x) (cons x acc)) '() r))
    (define (range->vector r)
      (let* ((n (range-length r)) (v (make-vector n)))
        (do ((i 0 (+ i 1))) ((= i n) v)
          (vector-set! v i (element r i)))))
    (define (range->string r)
      (list->string (range->list r)))
    (define (vector->range v) (vector-range (vector-copy v)))
    (define (range->generator r)
      (let ((n (range-length r)) (i 0))
        (lambda ()
          (if (= i n)
              (eof-object)
              (let ((x (element r i)))
                (set! i (+ i 1))
                x)))))))
