;;; (srfi 63): arrays of any rank, to which vectors and strings belong, with `equal?` for all of them.
;;;
;;; The elements lie in a vector or a string; the place of one is an affine function of the indices.  The prototypes of
;;; uniform arrays, as A:floR64b, are vectors: a prototype tells what the elements may be, and Cairn keeps any.
(define-library (srfi 63)
  (export
   array? (rename array-equal? equal?) array-rank array-dimensions make-array make-shared-array list->array array->list
   vector->array array->vector array-in-bounds? array-ref array-set!
   (rename prototype A:floC128b) (rename prototype A:floC64b) (rename prototype A:floC32b) (rename prototype A:floC16b)
   (rename prototype A:floR128b) (rename prototype A:floR64b) (rename prototype A:floR32b) (rename prototype A:floR16b)
   (rename prototype A:floR128d) (rename prototype A:floR64d) (rename prototype A:floR32d)
   (rename prototype A:fixZ64b) (rename prototype A:fixZ32b) (rename prototype A:fixZ16b) (rename prototype A:fixZ8b)
   (rename prototype A:fixN64b) (rename prototype A:fixN32b) (rename prototype A:fixN16b) (rename prototype A:fixN8b)
   (rename prototype A:bool))
  (import (scheme base) (only (cairn control) wrong-type check-procedure) (only (cairn records) show-fields!))
  (begin

    (define-record-type <array>
      (new-array dimensions offset factors store)
      strict-array?
      (dimensions dimensions-of)
      (offset offset-of)
      (factors factors-of)
      (store store-of))
    (show-fields! <array> '(dimensions))

    (define (prototype . element) (list->vector element))

    (define (array? x) (or (strict-array? x) (vector? x) (string? x)))
    (define (check who a)
      (if (array? a) a (wrong-type who "an array" a)))
    (define (length-of store) (if (vector? store) (vector-length store) (string-length store)))

    (define (array-dimensions a)
      (cond ((strict-array? a) (dimensions-of a))
            (else (list (length-of (check "array-dimensions" a))))))
    (define (array-rank a) (if (array? a) (length (array-dimensions a)) 0))

    (define (size dimensions)
      (for-each
       (lambda (n) (if (not (and (exact-integer? n) (>= n 0))) (wrong-type "make-array" "a dimension" n)))
       dimensions)
      (apply * dimensions))
    (define (row-major dimensions)
      (let loop ((ds (reverse dimensions)) (factor 1) (factors '()))
        (if (null? ds) factors (loop (cdr ds) (* factor (car ds)) (cons factor factors)))))
    ;; An array over the elements; of rank one it is they themselves.
    (define (over dimensions store)
      (if (= 1 (length dimensions)) store (new-array dimensions 0 (row-major dimensions) store)))

    ;; Filled with the first element of the prototype, if it has one.
    (define (make-array proto . dimensions)
      (let* ((n (size dimensions))
             (has? (not (memv 0 (array-dimensions (check "make-array" proto)))))
             (first (and has? (apply array-ref proto (map (lambda (d) 0) (array-dimensions proto))))))
        (over dimensions
              (if (string? (if (strict-array? proto) (store-of proto) proto))
                  (make-string n (if has? first #\space))
                  (make-vector n first)))))

    ;;;; Elements

    (define (in-bounds? a indices)
      (let loop ((is indices) (ds (array-dimensions a)))
        (if (or (null? is) (null? ds))
            (and (null? is) (null? ds))
            (and (exact-integer? (car is)) (< -1 (car is) (car ds)) (loop (cdr is) (cdr ds))))))
    (define (array-in-bounds? a . indices) (in-bounds? (check "array-in-bounds?" a) indices))
    (define (place who a indices)
      (if (not (in-bounds? (check who a) indices))
          (error (string-append who ": not indices of the array:") indices (array-dimensions a)))
      (if (strict-array? a)
          (apply + (offset-of a) (map * indices (factors-of a)))
          (car indices)))
    (define (store a) (if (strict-array? a) (store-of a) a))

    (define (array-ref a . indices)
      (let ((i (place "array-ref" a indices)) (s (store a)))
        (if (vector? s) (vector-ref s i) (string-ref s i))))
    (define (array-set! a x . indices)
      (let ((i (place "array-set!" a indices)) (s (store a)))
        (if (vector? s) (vector-set! s i x) (string-set! s i x))))

    ;; `mapper` makes a list of the old indices of the new ones, and is affine: it is asked for the origin and the
    ;; points next to it.
    (define (make-shared-array a mapper . dimensions)
      (check "make-shared-array" a)
      (check-procedure "make-shared-array" mapper)
      (let ((at (lambda (indices) (place "make-shared-array" a (apply mapper indices)))))
        (if (= 0 (size dimensions))
            (new-array dimensions 0 (map (lambda (d) 0) dimensions) (store a))
            (let* ((zeros (map (lambda (d) 0) dimensions))
                   (origin (at zeros))
                   (factors
                    (let loop ((before '()) (ds dimensions))
                      (if (null? ds)
                          '()
                          (cons (if (= 1 (car ds))
                                    0
                                    (- (at (append before (cons 1 (map (lambda (d) 0) (cdr ds))))) origin))
                                (loop (cons 0 before) (cdr ds)))))))
              (at (map (lambda (d) (- d 1)) dimensions))
              (new-array dimensions origin factors (store a))))))

    ;;;; Lists and vectors

    ;; Calls proc with each list of indices, in row-major order.
    (define (for-each-index proc dimensions)
      (let loop ((ds dimensions) (indices '()))
        (if (null? ds)
            (proc (reverse indices))
            (do ((i 0 (+ i 1))) ((= i (car ds)))
              (loop (cdr ds) (cons i indices))))))

    (define (array->vector a)
      (let ((dimensions (array-dimensions (check "array->vector" a))) (l '()))
        (for-each-index (lambda (is) (set! l (cons (apply array-ref a is) l))) dimensions)
        (list->vector (reverse l))))
    (define (vector->array v proto . dimensions)
      (if (not (= (vector-length v) (size dimensions)))
          (error "vector->array: another number of elements than the dimensions have:" (vector-length v) dimensions))
      (let ((a (apply make-array proto dimensions)) (i 0))
        (for-each-index
         (lambda (is)
           (apply array-set! a (vector-ref v i) is)
           (set! i (+ i 1)))
         dimensions)
        a))
    (define (array->list a)
      (let loop ((ds (array-dimensions (check "array->list" a))) (indices '()))
        (if (null? ds)
            (apply array-ref a (reverse indices))
            (let next ((i 0))
              (if (= i (car ds)) '() (cons (loop (cdr ds) (cons i indices)) (next (+ i 1))))))))
    (define (list->array rank proto l)
      (define (dimensions rank l)
        (cond ((= rank 0) '())
              ((not (list? l)) (wrong-type "list->array" "a list" l))
              ((null? l) (make-list rank 0))
              (else (cons (length l) (dimensions (- rank 1) (car l))))))
      (define (leaves rank l)
        (if (= rank 0) (list l) (apply append (map (lambda (x) (leaves (- rank 1) x)) l))))
      (let ((ds (dimensions rank l)))
        (apply vector->array (list->vector (leaves rank l)) proto ds)))

    ;;;; Equality

    (define (array-equal? a b)
      (cond
        ((eqv? a b) #t)
        ((pair? a) (and (pair? b) (array-equal? (car a) (car b)) (array-equal? (cdr a) (cdr b))))
        ((and (string? a) (string? b)) (string=? a b))
        ((array? a)
         (and (array? b)
              (equal? (array-dimensions a) (array-dimensions b))
              (call/cc
               (lambda (return)
                 (for-each-index
                  (lambda (is) (if (not (array-equal? (apply array-ref a is) (apply array-ref b is))) (return #f)))
                  (array-dimensions a))
                 #t))))
        (else (equal? a b))))))
