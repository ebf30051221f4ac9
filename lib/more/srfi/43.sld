;;; (srfi 43): vectors, as SRFI 133 has them, but that procedures which go over all elements also get the index.
(define-library (srfi 43)
  (export
   make-vector vector vector-unfold vector-unfold-right vector-copy vector-reverse-copy vector-append
   vector-concatenate vector? vector-empty? vector= vector-ref vector-length
   vector-fold vector-fold-right vector-map vector-map! vector-for-each vector-count
   vector-index vector-index-right vector-skip vector-skip-right vector-binary-search vector-any vector-every
   vector-set! vector-swap! vector-fill! vector-reverse! vector-copy! vector-reverse-copy!
   vector->list reverse-vector->list list->vector reverse-list->vector)
  (import (except (scheme base) vector-map vector-for-each vector-copy) (scheme case-lambda)
          (only (srfi 133) vector-unfold vector-unfold-right vector-reverse-copy vector-concatenate vector-empty?
                vector= vector-index vector-index-right vector-skip vector-skip-right vector-any vector-every
                vector-swap! vector-reverse! vector-reverse-copy! reverse-vector->list reverse-list->vector)
          (only (cairn control) wrong-type check-procedure))
  (begin

    (define (check who v)
      (if (vector? v) v (wrong-type who "a vector" v)))
    (define (shortest who v vectors)
      (apply min (vector-length (check who v)) (map (lambda (v) (vector-length (check who v))) vectors)))
    (define (elements vectors i)
      (map (lambda (v) (vector-ref v i)) vectors))

    ;; A copy may end behind the vector, where it is filled.
    (define vector-copy
      (case-lambda
        ((v) (vector-copy v 0))
        ((v start) (vector-copy v start (vector-length (check "vector-copy" v))))
        ((v start end) (vector-copy v start end #f))
        ((v start end fill)
         (let ((n (vector-length (check "vector-copy" v))))
           (if (not (and (exact-integer? start) (exact-integer? end) (<= 0 start n) (<= start end)))
               (error "vector-copy: not a range of the vector:" start end))
           (let ((new (make-vector (- end start) fill)))
             (vector-copy! new 0 v start (min end n))
             new)))))

    (define vector-fold
      (case-lambda
        ((kons nil v)
         (check-procedure "vector-fold" kons)
         (let ((n (vector-length (check "vector-fold" v))))
           (let loop ((i 0) (acc nil))
             (if (= i n) acc (loop (+ i 1) (kons i acc (vector-ref v i)))))))
        ((kons nil v . vectors) (folded "vector-fold" kons nil v vectors))))
    (define (folded who kons nil v others)
      (check-procedure who kons)
      (let ((n (shortest who v others)) (vectors (cons v others)))
        (let loop ((i 0) (acc nil))
          (if (= i n) acc (loop (+ i 1) (apply kons i acc (elements vectors i)))))))
    (define (vector-fold-right kons nil v . others)
      (check-procedure "vector-fold-right" kons)
      (let ((vectors (cons v others)))
        (let loop ((i (- (shortest "vector-fold-right" v others) 1)) (acc nil))
          (if (< i 0) acc (loop (- i 1) (apply kons i acc (elements vectors i)))))))

    (define (vector-map proc v . vectors) (mapped "vector-map" proc v vectors))
    (define (mapped who proc v others)
      (check-procedure who proc)
      (let ((n (shortest who v others)) (vectors (cons v others)))
        (let loop ((i 0) (acc '()))
          (if (= i n)
              (reverse-list->vector acc)
              (loop (+ i 1) (cons (apply proc i (elements vectors i)) acc))))))
    (define (vector-map! proc v . vectors)
      (vector-copy! v 0 (mapped "vector-map!" proc v vectors)))
    (define (vector-for-each proc v . others)
      (check-procedure "vector-for-each" proc)
      (let ((n (shortest "vector-for-each" v others)) (vectors (cons v others)))
        (do ((i 0 (+ i 1))) ((= i n))
          (apply proc i (elements vectors i)))))
    (define (vector-count pred v . vectors)
      (check-procedure "vector-count" pred)
      (folded "vector-count" (lambda (i n . xs) (if (apply pred i xs) (+ n 1) n)) 0 v vectors))

    ;; (compare element value) is negative, zero or positive.
    (define vector-binary-search
      (case-lambda
        ((v value compare) (vector-binary-search v value compare 0))
        ((v value compare start)
         (vector-binary-search v value compare start (vector-length (check "vector-binary-search" v))))
        ((v value compare start end)
         (check "vector-binary-search" v)
         (if (not (and (exact-integer? start) (exact-integer? end) (<= 0 start end (vector-length v))))
             (error "vector-binary-search: not a range of the vector:" start end))
         (let loop ((lo start) (hi end))
           (and (< lo hi)
                (let* ((mid (quotient (+ lo hi) 2)) (c (compare (vector-ref v mid) value)))
                  (cond ((= c 0) mid)
                        ((< c 0) (loop (+ mid 1) hi))
                        (else (loop lo mid)))))))))))
