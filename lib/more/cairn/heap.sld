;;; (cairn heap): priority queues, as binary heaps.
;;;
;;; The objects lie in a vector; that at i comes no later than those at 2i + 1 and 2i + 2.  So the first one is found at
;;; once, adding and taking take logarithmic time, and making a heap of n objects linear time (Floyd 1964).  Objects of
;;; which neither comes before the other come in any order.
(define-library (cairn heap)
  (export make-heap heap list->heap heap? heap-size heap-empty? heap-add! heap-first heap-take! heap-replace!
          heap->list heap-clear!)
  (import (scheme base) (scheme case-lambda) (only (cairn control) wrong-type))
  (begin

    (define-record-type heap-of-objects
      (new-heap before? objects size)
      heap?
      (before? before-of)
      (objects objects-of set-objects!)
      (size heap-size set-size!))

    ;; An empty one.  `(before? a b)`: does `a` come before `b`?
    (define (make-heap before?)
      (if (not (procedure? before?)) (wrong-type "make-heap" "a procedure" before?))
      (new-heap before? (make-vector 8 #f) 0))

    ;; One of these objects.
    (define (heap before? . objects)
      (list->heap before? objects))

    (define (list->heap before? objects)
      (let* ((h (make-heap before?)) (v (list->vector objects)) (n (vector-length v)))
        (set-objects! h (if (< n 8) (vector-append v (make-vector (- 8 n) #f)) v))
        (set-size! h n)
        (do ((i (- (quotient n 2) 1) (- i 1))) ((< i 0) h)
          (sink! h i (vector-ref (objects-of h) i)))))

    (define (heap-empty? h) (= (heap-size h) 0))

    (define (heap-add! h object)
      (let ((n (heap-size h)) (v (objects-of h)))
        (if (= n (vector-length v))
            (let ((larger (make-vector (* 2 n) #f)))
              (vector-copy! larger 0 v)
              (set-objects! h larger)))
        (set-size! h (+ n 1))
        (rise! h n object)))

    ;; What comes before all others.
    (define heap-first
      (case-lambda
        ((h) (heap-first h (lambda () (error "heap-first: the heap is empty"))))
        ((h failure) (if (heap-empty? h) (failure) (vector-ref (objects-of h) 0)))))

    ;; Takes it out.
    (define heap-take!
      (case-lambda
        ((h) (heap-take! h (lambda () (error "heap-take!: the heap is empty"))))
        ((h failure)
         (if (heap-empty? h)
             (failure)
             (let* ((v (objects-of h)) (first (vector-ref v 0)) (n (- (heap-size h) 1)) (last (vector-ref v n)))
               (vector-set! v n #f)
               (set-size! h n)
               (if (> n 0) (sink! h 0 last))
               first)))))

    ;; Takes the first one out and puts another object in, in one step.
    (define (heap-replace! h object)
      (let ((first (heap-first h (lambda () (error "heap-replace!: the heap is empty")))))
        (sink! h 0 object)
        first))

    (define (heap-clear! h)
      (set-objects! h (make-vector 8 #f))
      (set-size! h 0))

    ;; The objects in their order.  The heap stays as it is.
    (define (heap->list h)
      (let ((copy (new-heap (before-of h) (vector-copy (objects-of h)) (heap-size h))))
        (let loop ((objects '()))
          (if (heap-empty? copy)
              (reverse objects)
              (loop (cons (heap-take! copy) objects))))))

    ;; Puts an object where `i` is free, or above.
    (define (rise! h i object)
      (let ((v (objects-of h)) (before? (before-of h)))
        (let loop ((i i))
          (let ((above (quotient (- i 1) 2)))
            (if (and (> i 0) (before? object (vector-ref v above)))
                (begin
                  (vector-set! v i (vector-ref v above))
                  (loop above))
                (vector-set! v i object))))))

    ;; Puts an object where `i` is free, or below.
    (define (sink! h i object)
      (let ((v (objects-of h)) (n (heap-size h)) (before? (before-of h)))
        (let loop ((i i))
          (let* ((left (+ i i 1)) (right (+ left 1))
                 (least (if (and (< right n) (before? (vector-ref v right) (vector-ref v left))) right left)))
            (if (and (< least n) (before? (vector-ref v least) object))
                (begin
                  (vector-set! v i (vector-ref v least))
                  (loop least))
                (vector-set! v i object))))))))
