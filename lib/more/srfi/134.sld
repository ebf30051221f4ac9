;;; (srfi 134): immutable deques; also as (scheme ideque).
;;;
;;; A deque is two lists, the front one and the back one turned round, with their lengths.  Neither is empty when the
;;; deque has two elements or more: a list that runs out takes half of the other.  So a queue operation takes constant
;;; time, amortized over operations on the newest deque; one that takes from the same old deque again and again may take
;;; linear time each time.  Everything else goes over lists.
(define-library (srfi 134)
  (export
   ideque ideque-tabulate ideque-unfold ideque-unfold-right ideque-copy ideque? ideque-empty? ideque= ideque-any
   ideque-every ideque-front ideque-back ideque-remove-front ideque-remove-back ideque-add-front ideque-add-back
   ideque-ref ideque-take ideque-take-right ideque-drop ideque-drop-right ideque-split-at
   ideque-length ideque-append ideque-reverse ideque-count ideque-zip
   ideque-map ideque-filter-map ideque-for-each ideque-for-each-right ideque-fold ideque-fold-right ideque-append-map
   ideque-filter ideque-remove ideque-partition ideque-find ideque-find-right ideque-take-while ideque-take-while-right
   ideque-drop-while ideque-drop-while-right ideque-span ideque-break
   list->ideque ideque->list generator->ideque ideque->generator)
  (import (scheme base) (scheme case-lambda)
          (only (srfi 1) append-map any count every filter filter-map fold fold-right list= list-tabulate partition
                remove span split-at unfold unfold-right zip)
          (only (srfi 158) generator->list)
          (only (cairn control) out-of-range wrong-type))
  (begin

    (define-record-type <ideque>
      (make-deque front-length front back-length back)
      ideque?
      (front-length front-length)
      (front front)
      (back-length back-length)
      (back back))

    (define (check who d)
      (if (ideque? d) d (wrong-type who "a deque" d)))

    ;; A deque of these lists; if one is empty and the other is not of one element, they are made as long as each other.
    (define (deque front-length front back-length back)
      (cond
        ((and (= front-length 0) (> back-length 1))
         (let ((kept (quotient back-length 2)))
           (let-values (((back rest) (split-at back kept)))
             (make-deque (- back-length kept) (reverse rest) kept back))))
        ((and (= back-length 0) (> front-length 1))
         (let ((kept (quotient front-length 2)))
           (let-values (((front rest) (split-at front kept)))
             (make-deque kept front (- front-length kept) (reverse rest)))))
        (else (make-deque front-length front back-length back))))

    (define (list->ideque l) (deque (length l) l 0 '()))
    (define (ideque->list d)
      (check "ideque->list" d)
      (if (null? (back d)) (front d) (append (front d) (reverse (back d)))))
    (define (backwards d)
      (append (back (check "ideque->list" d)) (reverse (front d))))
    (define (ideque . elements) (list->ideque elements))
    (define (ideque-tabulate n proc) (list->ideque (list-tabulate n proc)))
    (define (ideque-unfold stop? mapper successor seed)
      (list->ideque (unfold stop? mapper successor seed)))
    (define (ideque-unfold-right stop? mapper successor seed)
      (list->ideque (unfold-right stop? mapper successor seed)))
    (define (ideque-copy d) (check "ideque-copy" d))

    ;;;; As a queue

    (define (ideque-length d) (+ (front-length (check "ideque-length" d)) (back-length d)))
    (define (ideque-empty? d) (= 0 (ideque-length d)))
    (define (check-element who d)
      (if (ideque-empty? (check who d)) (error (string-append who ": the deque is empty")) d))

    (define (ideque-front d)
      (car (if (null? (front (check-element "ideque-front" d))) (back d) (front d))))
    (define (ideque-back d)
      (car (if (null? (back (check-element "ideque-back" d))) (front d) (back d))))
    (define (ideque-add-front d x)
      (check "ideque-add-front" d)
      (deque (+ (front-length d) 1) (cons x (front d)) (back-length d) (back d)))
    (define (ideque-add-back d x)
      (check "ideque-add-back" d)
      (deque (front-length d) (front d) (+ (back-length d) 1) (cons x (back d))))
    (define (ideque-remove-front d)
      (check-element "ideque-remove-front" d)
      (if (null? (front d))
          (make-deque 0 '() 0 '())
          (deque (- (front-length d) 1) (cdr (front d)) (back-length d) (back d))))
    (define (ideque-remove-back d)
      (check-element "ideque-remove-back" d)
      (if (null? (back d))
          (make-deque 0 '() 0 '())
          (deque (front-length d) (front d) (- (back-length d) 1) (cdr (back d)))))
    (define (ideque-reverse d)
      (check "ideque-reverse" d)
      (make-deque (back-length d) (back d) (front-length d) (front d)))

    ;;;; By position

    (define (check-index who d n most)
      (if (not (and (exact-integer? n) (<= 0 n most))) (out-of-range who "not a position in the deque:" n)))

    (define (ideque-ref d n)
      (check-index "ideque-ref" d n (- (ideque-length d) 1))
      (if (< n (front-length d))
          (list-ref (front d) n)
          (list-ref (back d) (- (ideque-length d) n 1))))

    (define (ideque-split-at d n)
      (check-index "ideque-split-at" d n (ideque-length d))
      (if (<= n (front-length d))
          (let-values (((a b) (split-at (front d) n)))
            (values (deque n a 0 '()) (deque (- (front-length d) n) b (back-length d) (back d))))
          (let ((m (- (ideque-length d) n)))
            (let-values (((b a) (split-at (back d) m)))
              (values (deque (front-length d) (front d) (- (back-length d) m) a) (deque 0 '() m b))))))
    (define (ideque-take d n)
      (let-values (((a b) (ideque-split-at d n))) a))
    (define (ideque-drop d n)
      (let-values (((a b) (ideque-split-at d n))) b))
    (define (from-right who d n)
      (check-index who d n (ideque-length d))
      (- (ideque-length d) n))
    (define (ideque-take-right d n) (ideque-drop d (from-right "ideque-take-right" d n)))
    (define (ideque-drop-right d n) (ideque-take d (from-right "ideque-drop-right" d n)))

    ;;;; The whole

    (define (ideque= same? . deques) (apply list= same? (map ideque->list deques)))
    (define (ideque-any pred d . rest) (apply any pred (ideque->list d) (map ideque->list rest)))
    (define (ideque-every pred d . rest) (apply every pred (ideque->list d) (map ideque->list rest)))
    (define (ideque-append . deques) (list->ideque (apply append (map ideque->list deques))))
    (define (ideque-count pred d . rest) (apply count pred (ideque->list d) (map ideque->list rest)))
    (define (ideque-zip d . rest) (list->ideque (apply zip (ideque->list d) (map ideque->list rest))))
    (define (ideque-map proc d . rest) (list->ideque (apply map proc (ideque->list d) (map ideque->list rest))))
    (define (ideque-filter-map proc d . rest)
      (list->ideque (apply filter-map proc (ideque->list d) (map ideque->list rest))))
    (define (ideque-append-map proc d . rest)
      (list->ideque (apply append-map proc (ideque->list d) (map ideque->list rest))))
    (define (ideque-for-each proc d . rest) (apply for-each proc (ideque->list d) (map ideque->list rest)))
    (define (ideque-for-each-right proc d . rest) (apply for-each proc (backwards d) (map backwards rest)))
    (define (ideque-fold proc nil d . rest) (apply fold proc nil (ideque->list d) (map ideque->list rest)))
    (define (ideque-fold-right proc nil d . rest)
      (apply fold-right proc nil (ideque->list d) (map ideque->list rest)))

    ;;;; Some of them

    (define (ideque-filter pred d) (list->ideque (filter pred (ideque->list d))))
    (define (ideque-remove pred d) (list->ideque (remove pred (ideque->list d))))
    (define (ideque-partition pred d)
      (let-values (((in out) (partition pred (ideque->list d))))
        (values (list->ideque in) (list->ideque out))))

    (define (find-in l pred failure)
      (let loop ((l l))
        (cond ((null? l) (failure))
              ((pred (car l)) (car l))
              (else (loop (cdr l))))))
    (define ideque-find
      (case-lambda
        ((pred d) (find-in (ideque->list d) pred (lambda () #f)))
        ((pred d failure) (find-in (ideque->list d) pred failure))))
    (define ideque-find-right
      (case-lambda
        ((pred d) (find-in (backwards d) pred (lambda () #f)))
        ((pred d failure) (find-in (backwards d) pred failure))))

    (define (ideque-span pred d)
      (let-values (((a b) (span pred (ideque->list d))))
        (values (list->ideque a) (list->ideque b))))
    (define (ideque-break pred d) (ideque-span (lambda (x) (not (pred x))) d))
    (define (ideque-take-while pred d)
      (let-values (((a b) (ideque-span pred d))) a))
    (define (ideque-drop-while pred d)
      (let-values (((a b) (ideque-span pred d))) b))
    (define (ideque-take-while-right pred d)
      (ideque-reverse (ideque-take-while pred (ideque-reverse d))))
    (define (ideque-drop-while-right pred d)
      (ideque-reverse (ideque-drop-while pred (ideque-reverse d))))

    ;;;; Generators

    (define (generator->ideque g) (list->ideque (generator->list g)))
    (define (ideque->generator d)
      (check "ideque->generator" d)
      (lambda ()
        (if (ideque-empty? d)
            (eof-object)
            (let ((x (ideque-front d)))
              (set! d (ideque-remove-front d))
              x))))))
