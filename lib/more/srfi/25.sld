;;; (srfi 25): arrays of several dimensions, which may share their elements.
;;;
;;; An array has the bounds of its dimensions and a vector of elements; the place of an element in it is an affine
;;; function of the indices: `offset` and one factor for each dimension.  A shared array has the vector of the other one
;;; and the function that is composed with the given one, which is found by asking for the corners next to the least
;;; indices.
(define-library (srfi 25)
  (export array? make-array shape array array-rank array-start array-end array-ref array-set! share-array)
  (import (scheme base) (only (cairn control) wrong-type check-procedure) (only (cairn records) show-fields!))
  (begin

    (define-record-type <array>
      (new-array bounds offset factors elements)
      array?
      ;; a list of (start . end)
      (bounds bounds-of)
      (offset offset-of)
      (factors factors-of)
      (elements elements-of))
    (show-fields! <array> '(bounds))

    (define (check who a)
      (if (array? a) a (wrong-type who "an array" a)))

    ;; The array without regard to what else has its elements: of bounds, over a vector of elements in row-major order.
    (define (over bounds elements)
      (let loop ((bs (reverse bounds)) (factor 1) (factors '()))
        (if (null? bs)
            (new-array bounds
                       (- (apply + (map (lambda (b f) (* (car b) f)) bounds factors)))
                       factors elements)
            (loop (cdr bs) (* factor (- (cdr (car bs)) (car (car bs)))) (cons factor factors)))))
    (define (size bounds)
      (apply * (map (lambda (b) (- (cdr b) (car b))) bounds)))

    ;; A shape is an array of two columns: the bounds of each dimension.
    (define (shape . numbers)
      (let loop ((l numbers) (n 0))
        (cond
          ((null? l) (over (list (cons 0 n) (cons 0 2)) (list->vector numbers)))
          ((or (null? (cdr l)) (not (exact-integer? (car l))) (not (exact-integer? (cadr l))) (> (car l) (cadr l)))
           (error "shape: the bounds are start and end of each dimension:" numbers))
          (else (loop (cddr l) (+ n 1))))))
    (define (bounds-in who shape)
      (let ((bs (bounds-of (check who shape))))
        (if (not (and (= 2 (length bs)) (equal? (cadr bs) '(0 . 2)))) (wrong-type who "a shape" shape))
        (let loop ((i (car (car bs))))
          (if (= i (cdr (car bs)))
              '()
              (cons (cons (array-ref shape i 0) (array-ref shape i 1)) (loop (+ i 1)))))))

    (define (make-array shape . fill)
      (let ((bounds (bounds-in "make-array" shape)))
        (over bounds (make-vector (size bounds) (if (pair? fill) (car fill) #f)))))
    (define (array shape . elements)
      (let ((bounds (bounds-in "array" shape)))
        (if (not (= (length elements) (size bounds)))
            (error "array: another number of elements than the shape has:" (size bounds) (length elements)))
        (over bounds (list->vector elements))))

    (define (array-rank a) (length (bounds-of (check "array-rank" a))))
    (define (dimension who a k)
      (if (not (and (exact-integer? k) (< -1 k (array-rank a)))) (error (string-append who ": no such dimension:") k))
      (list-ref (bounds-of a) k))
    (define (array-start a k) (car (dimension "array-start" (check "array-start" a) k)))
    (define (array-end a k) (cdr (dimension "array-end" (check "array-end" a) k)))

    ;; The place of an element; the indices are a list, or a list of one vector or array of them.
    (define (place who a indices)
      (let ((indices (cond ((not (and (pair? indices) (null? (cdr indices)))) indices)
                           ((vector? (car indices)) (vector->list (car indices)))
                           ((array? (car indices))
                            (let* ((v (car indices)) (b (car (bounds-of v))))
                              (let loop ((i (car b)))
                                (if (= i (cdr b)) '() (cons (array-ref v i) (loop (+ i 1)))))))
                           (else indices))))
        (let loop ((is indices) (bs (bounds-of (check who a))) (fs (factors-of a)) (n (offset-of a)))
          (cond
            ((and (null? is) (null? bs)) n)
            ((or (null? is) (null? bs))
             (error (string-append who ": the array has another number of dimensions:") (array-rank a) indices))
            ((not (exact-integer? (car is))) (wrong-type who "an index" (car is)))
            ((<= (car (car bs)) (car is) (- (cdr (car bs)) 1))
             (loop (cdr is) (cdr bs) (cdr fs) (+ n (* (car is) (car fs)))))
            (else (error (string-append who ": not an index of the array:") (car is) (bounds-of a)))))))

    (define (array-ref a . indices)
      (vector-ref (elements-of (check "array-ref" a)) (place "array-ref" a indices)))
    (define (array-set! a . indices-and-value)
      (let* ((reversed (reverse indices-and-value)) (i (place "array-set!" a (reverse (cdr reversed)))))
        (vector-set! (elements-of a) i (car reversed))))

    ;; `proc` maps the indices of the new array to those of the old one, and is affine.
    (define (share-array a shape proc)
      (check-procedure "share-array" proc)
      (let* ((bounds (bounds-in "share-array" shape)) (empty? (= 0 (size bounds))))
        (define (at indices)
          (call-with-values (lambda () (apply proc indices)) (lambda is (place "share-array" a is))))
        (if empty?
            (over bounds (vector))
            (let* ((least (map car bounds))
                   (origin (at least))
                   (factors
                    (let loop ((before '()) (bs bounds))
                      (if (null? bs)
                          '()
                          (let* ((b (car bs))
                                 (rest (map car (cdr bs)))
                                 (factor (if (= 1 (- (cdr b) (car b)))
                                             0
                                             (- (at (append (reverse before) (cons (+ (car b) 1) rest))) origin))))
                            (cons factor (loop (cons (car b) before) (cdr bs))))))))
              ;; the other corner must be in the old array, too
              (at (map (lambda (b) (- (cdr b) 1)) bounds))
              (new-array bounds (- origin (apply + (map * least factors))) factors (elements-of a))))))))
