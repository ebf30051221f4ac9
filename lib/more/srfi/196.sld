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

    (define (check-vector who v) (if (vector? v) v (wrong-type who "a vector" v)))
    (define (vector-range v) (from-vector (check-vector "vector-range" v)))
    (define (from-vector v)
      (make-range (vector-length v) 0 (lambda (i) (vector-ref v i))))
    (define (string-range s)
      (if (not (string? s)) (wrong-type "string-range" "a string" s))
      (make-range (string-length s) 0 (lambda (i) (string-ref s i))))

    (define (range-append . ranges)
      (cond ((null? ranges) (make-range 0 0 values))
            ((null? (cdr ranges)) (check "range-append" (car ranges)))
            (else (from-vector
                   (apply vector-append (map (lambda (r) (elements-of "range-append" r)) ranges))))))

    (define (range-reverse r)
      (let ((n (length-of (check "range-reverse" r))))
        (make-range n 0 (lambda (i) (element r (- n 1 i))))))

    ;;;; Elements and parts

    (define (range-length r) (length-of (check "range-length" r)))

    (define (range-ref r i)
      (check-index "range-ref" i (- (length-of (check "range-ref" r)) 1))
      (element r i))
    (define (range-first r)
      (if (= 0 (length-of (check "range-first" r))) (error "range-first: the range is empty"))
      (element r 0))
    (define (range-last r)
      (if (= 0 (length-of (check "range-last" r))) (error "range-last: the range is empty"))
      (element r (- (length-of r) 1)))

    (define (part r start end)
      (make-range (- end start) (+ (start-of r) start) (indexer-of r)))

    (define (subrange r start end)
      (check-index "subrange" end (length-of (check "subrange" r)))
      (check-index "subrange" start end)
      (part r start end))
    (define (range-take r n)
      (check-index "range-take" n (length-of (check "range-take" r)))
      (part r 0 n))
    (define (range-drop r n)
      (check-index "range-drop" n (length-of (check "range-drop" r)))
      (part r n (length-of r)))
    (define (range-take-right r n)
      (check-index "range-take-right" n (length-of (check "range-take-right" r)))
      (part r (- (length-of r) n) (length-of r)))
    (define (range-drop-right r n)
      (check-index "range-drop-right" n (length-of (check "range-drop-right" r)))
      (part r 0 (- (length-of r) n)))
    (define (range-split-at r n)
      (check-index "range-split-at" n (length-of (check "range-split-at" r)))
      (values (part r 0 n) (part r n (length-of r))))
    (define (range-segment r n)
      (if (not (and (exact-integer? n) (> n 0))) (wrong-type "range-segment" "a positive length" n))
      (let ((end (length-of (check "range-segment" r))))
        (let loop ((i 0))
          (if (>= i end) '() (cons (part r i (min end (+ i n))) (loop (+ i n)))))))

    ;;;; Iteration

    (define (shortest who ranges)
      (if (null? ranges) (error (string-append who ": at least one range is needed")))
      (apply min (map (lambda (r) (length-of (check who r))) ranges)))
    (define (elements ranges i)
      (map (lambda (r) (element r i)) ranges))

    (define (fold who kons nil ranges)
      (let ((n (shortest who ranges)))
        (if (null? (cdr ranges))
            (let ((r (car ranges)))
              (let loop ((i 0) (acc nil))
                (if (= i n) acc (loop (+ i 1) (kons acc (element r i))))))
            (let loop ((i 0) (acc nil))
              (if (= i n) acc (loop (+ i 1) (apply kons acc (elements ranges i))))))))
    (define (range-fold kons nil . ranges) (fold "range-fold" kons nil ranges))
    (define (fold-right who kons nil ranges)
      (let loop ((i (shortest who ranges)) (acc nil))
        (if (= i 0) acc (loop (- i 1) (apply kons acc (elements ranges (- i 1)))))))
    (define (range-fold-right kons nil . ranges) (fold-right "range-fold-right" kons nil ranges))

    (define (range=? same? r . ranges)
      (for-each (lambda (r) (check "range=?" r)) (cons r ranges))
      (let loop ((ranges ranges))
        (or (null? ranges)
            (let ((other (car ranges)) (n (length-of r)))
              (and (= n (length-of other))
                   (let each ((i 0))
                     (or (= i n) (and (same? (element r i) (element other i)) (each (+ i 1)))))
                   (loop (cdr ranges)))))))

    (define (mapped who proc ranges)
      (reverse (fold who
                     (case-lambda
                       ((acc x) (cons (proc x) acc))
                       ((acc . xs) (cons (apply proc xs) acc)))
                     '() ranges)))
    (define (range-map->list proc . ranges) (mapped "range-map->list" proc ranges))
    (define (range-map->vector proc . ranges) (list->vector (mapped "range-map->vector" proc ranges)))
    (define (range-map proc . ranges) (from-vector (list->vector (mapped "range-map" proc ranges))))
    (define (range-for-each proc . ranges)
      (fold "range-for-each"
            (case-lambda
              ((acc x) (proc x))
              ((acc . xs) (apply proc xs)))
            #f ranges)
      #t)
    (define (filter-mapped who proc ranges)
      (reverse
       (fold who
             (lambda (acc . xs)
               (let ((y (apply proc xs)))
                 (if y (cons y acc) acc)))
             '() ranges)))
    (define (range-filter-map->list proc . ranges) (filter-mapped "range-filter-map->list" proc ranges))
    (define (range-filter-map proc . ranges)
      (from-vector (list->vector (filter-mapped "range-filter-map" proc ranges))))
    ;; The elements for which `pred` answers as wanted.
    (define (filtered who pred wanted r)
      (reverse (fold who (lambda (acc x) (if (eq? wanted (and (pred x) #t)) (cons x acc) acc)) '() (list r))))
    (define (range-filter->list pred r) (filtered "range-filter->list" pred #t r))
    (define (range-remove->list pred r) (filtered "range-remove->list" pred #f r))
    (define (range-filter pred r) (from-vector (list->vector (filtered "range-filter" pred #t r))))
    (define (range-remove pred r) (from-vector (list->vector (filtered "range-remove" pred #f r))))

    (define (range-count pred . ranges)
      (fold "range-count" (lambda (n . xs) (if (apply pred xs) (+ n 1) n)) 0 ranges))
    (define (range-any pred . ranges)
      (let ((n (shortest "range-any" ranges)))
        (let loop ((i 0))
          (and (< i n) (or (apply pred (elements ranges i)) (loop (+ i 1)))))))
    (define (range-every pred . ranges)
      (let ((n (shortest "range-every" ranges)))
        (let loop ((i 0) (last #t))
          (if (= i n)
              last
              (let ((holds (apply pred (elements ranges i))))
                (and holds (loop (+ i 1) holds)))))))

    ;;;; Searching

    ;; The first place, or the last one, for whose elements `pred` answers as wanted.
    (define (index who pred wanted ranges)
      (let ((n (shortest who ranges)))
        (let loop ((i 0))
          (and (< i n) (if (eq? wanted (and (apply pred (elements ranges i)) #t)) i (loop (+ i 1)))))))
    (define (index-right who pred wanted ranges)
      (let ((n (shortest who ranges)))
        (for-each (lambda (r)
                    (if (not (= n (length-of r)))
                        (error (string-append who ": the ranges have different lengths:") n (length-of r))))
                  ranges)
        (let loop ((i (- n 1)))
          (and (>= i 0) (if (eq? wanted (and (apply pred (elements ranges i)) #t)) i (loop (- i 1)))))))
    (define (range-index pred . ranges) (index "range-index" pred #t ranges))
    (define (range-index-right pred . ranges) (index-right "range-index-right" pred #t ranges))

    (define (range-take-while pred r)
      (let ((i (index "range-take-while" pred #f (list r))))
        (if i (part r 0 i) r)))
    (define (range-drop-while pred r)
      (let ((i (index "range-drop-while" pred #f (list r))))
        (part r (or i (length-of r)) (length-of r))))
    (define (range-take-while-right pred r)
      (let ((i (index-right "range-take-while-right" pred #f (list r))))
        (if i (part r (+ i 1) (length-of r)) r)))
    (define (range-drop-while-right pred r)
      (let ((i (index-right "range-drop-while-right" pred #f (list r))))
        (part r 0 (if i (+ i 1) 0))))

    ;;;; Conversion

    (define (elements-of who r)
      (let* ((n (length-of (check who r))) (v (make-vector n)))
        (do ((i 0 (+ i 1))) ((= i n) v)
          (vector-set! v i (element r i)))))
    (define (range->list r) (vector->list (elements-of "range->list" r)))
    (define (range->vector r) (elements-of "range->vector" r))
    (define (range->string r)
      (let ((v (elements-of "range->string" r)))
        (vector-for-each (lambda (x) (if (not (char? x)) (wrong-type "range->string" "a character" x))) v)
        (vector->string v)))
    (define (vector->range v) (from-vector (vector-copy (check-vector "vector->range" v))))
    (define (range->generator r)
      (let ((n (length-of (check "range->generator" r))) (i 0))
        (lambda ()
          (if (= i n)
              (eof-object)
              (let ((x (element r i)))
                (set! i (+ i 1))
                x)))))))
