;;; (srfi 231 elements): what looks at the elements of arrays: maps, folds, products, conversions and copies.
;;;
;;; What takes elements from procedures of the user makes a list of them first, and the body from the list, so that a
;;; continuation that such a procedure captured can be entered again without a change of the arrays made before.  The
;;; procedures with `!` store each element at once.
(define-library (srfi 231 elements)
  (export array-map array-for-each array-fold-left array-fold-right array-reduce array-any array-every
          array-outer-product array-inner-product
          array->list list->array array->list* list*->array array->vector vector->array array->vector* vector*->array
          array-assign! array-copy array-copy! array-stack array-stack! array-append array-append! array-decurry
          array-decurry! array-block array-block!)
  (import (scheme base) (scheme case-lambda) (only (srfi 1) iota take drop every)
          (srfi 231 intervals) (srfi 231 storage) (srfi 231 arrays))
  (begin

    (define (check-arrays who a others)
      (check-array who a)
      (for-each (lambda (b) (check-array who b)) others)
      (check-same-domain who (domain a) (map domain others)))

    ;;;; Maps and folds

    ;; The procedure of a multi-index that calls f with the elements there.
    (define elements-by
      (case-lambda
        ((f a)
         (let ((get (raw-getter a))) (by-dimension (array-dimension a) () call (f (call get)))))
        ((f a b)
         (let ((get (raw-getter a)) (get2 (raw-getter b)))
           (by-dimension (array-dimension a) () call (f (call get) (call get2)))))
        ((f a b c)
         (let ((get (raw-getter a)) (get2 (raw-getter b)) (get3 (raw-getter c)))
           (by-dimension (array-dimension a) () call (f (call get) (call get2) (call get3)))))
        ((f . as)
         (let ((getters (map raw-getter as)))
           (by-dimension (array-dimension (car as)) () call
             (apply f (map (lambda (get) (call get)) getters)))))))

    (define (array-map f a . as)
      (check-procedures "array-map" f)
      (check-arrays "array-map" a as)
      (make-array (domain a) (apply elements-by f a as)))
    (define (array-for-each f a . as)
      (check-procedures "array-for-each" f)
      (check-arrays "array-for-each" a as)
      (walk (apply elements-by f a as) (domain a)))
    (define (array-any ok? a . as)
      (check-procedures "array-any" ok?)
      (check-arrays "array-any" a as)
      (walk-any (apply elements-by ok? a as) (domain a)))
    (define (array-every ok? a . as)
      (check-procedures "array-every" ok?)
      (check-arrays "array-every" a as)
      (walk-every (apply elements-by ok? a as) (domain a)))

    (define array-fold-left
      (case-lambda
        ((f value a)
         (check-procedures "array-fold-left" f)
         (check-array "array-fold-left" a)
         (let ((get (raw-getter a))) (over (domain a) (acc value) call (f acc (call get)))))
        ((f value a b)
         (check-procedures "array-fold-left" f)
         (check-arrays "array-fold-left" a (list b))
         (let ((get (raw-getter a)) (get2 (raw-getter b)))
           (over (domain a) (acc value) call (f acc (call get) (call get2)))))
        ((f value a . as)
         (check-procedures "array-fold-left" f)
         (check-arrays "array-fold-left" a as)
         (let ((get (apply elements-by list a as)))
           (over (domain a) (acc value) call (apply f acc (call get)))))))
    (define array-fold-right
      (case-lambda
        ((f value a)
         (check-procedures "array-fold-right" f)
         (check-array "array-fold-right" a)
         (interval-fold-right (raw-getter a) f value (domain a)))
        ((f value a . as)
         (check-procedures "array-fold-right" f)
         (check-arrays "array-fold-right" a as)
         (interval-fold-right (apply elements-by list a as)
                              (lambda (elements value) (apply f (append elements (list value))))
                              value (domain a)))))
    (define nothing (list 'nothing))
    (define (array-reduce f a)
      (check-procedures "array-reduce" f)
      (check-array "array-reduce" a)
      (if (interval-empty? (domain a)) (error "array-reduce: the array is empty:" a))
      (let ((get (raw-getter a)))
        (over (domain a) (acc nothing) call (if (eq? acc nothing) (call get) (f acc (call get))))))

    (define (array-outer-product f a b)
      (check-procedures "array-outer-product" f)
      (check-array "array-outer-product" a)
      (check-array "array-outer-product" b)
      (let ((d (array-dimension a)) (e (array-dimension b)) (get (raw-getter a)) (get2 (raw-getter b)))
        (make-array (interval-cartesian-product (domain a) (domain b))
                    (cond
                      ((and (= d 1) (= e 1)) (lambda (i j) (f (get i) (get2 j))))
                      ((and (= d 1) (= e 2)) (lambda (i j k) (f (get i) (get2 j k))))
                      ((and (= d 2) (= e 1)) (lambda (i j k) (f (get i j) (get2 k))))
                      ((and (= d 2) (= e 2)) (lambda (i j k l) (f (get i j) (get2 k l))))
                      (else
                       (lambda index (f (apply get (take index d)) (apply get2 (drop index d)))))))))
    (define (array-inner-product a f g b)
      (check-procedures "array-inner-product" f g)
      (check-array "array-inner-product" a)
      (check-array "array-inner-product" b)
      (let ((d (array-dimension a)) (e (array-dimension b)))
        (if (not (and (> d 0)
                      (> e 0)
                      (= (interval-lower-bound (domain a) (- d 1)) (interval-lower-bound (domain b) 0))
                      (= (interval-upper-bound (domain a) (- d 1)) (interval-upper-bound (domain b) 0))))
            (error "array-inner-product: the last axis of one array is not the first one of the other:" a b))
        (if (= 0 (interval-width (domain b) 0))
            (error "array-inner-product: there is nothing to sum up along an empty axis:" a b))
        (array-outer-product (lambda (row column) (array-reduce f (array-map g row column)))
                             (array-copy (array-curry a 1))
                             (array-copy (array-curry (array-permute b (index-rotate e 1)) 1)))))

    ;;;; Lists and vectors

    (define (elements a)
      (let ((get (raw-getter a)))
        (reverse (over (domain a) (acc '()) call (cons (call get) acc)))))
    (define (array->list a) (elements (check-array "array->list" a)))
    (define (array->vector a) (list->vector (elements (check-array "array->vector" a))))

    ;; The last optional arguments of what makes arrays, checked: (k class mutable? safe?).
    (define (with-options who options class mutable safe k)
      (let* ((given (lambda (n default) (if (> (length options) n) (list-ref options n) default)))
             (class (given 0 class))
             (mutable (given 1 mutable))
             (safe (given 2 safe)))
        (if (> (length options) 3) (error (string-append who ": too many arguments:") options))
        (check-class who class)
        (check-boolean who mutable)
        (check-boolean who safe)
        (k class mutable safe)))
    (define (with-usual-options who options k)
      (with-options who options generic-storage-class (specialized-array-default-mutable?)
        (specialized-array-default-safe?) k))

    (define (fits who class x)
      (if ((storage-class-checker class) x)
          x
          (error (string-append who ": the storage class cannot hold this:") x)))
    ;; The array of as many elements, in the order of the domain.
    (define (from-list who iv l class mutable safe)
      (let ((body (new-body iv class (storage-class-default class))) (set (storage-class-setter class)))
        (let loop ((l l) (at 0))
          (if (pair? l)
              (begin
                (set body at (fits who class (car l)))
                (loop (cdr l) (+ at 1)))))
        (over-body iv class body mutable safe)))
    (define (checked-list who iv l options)
      (check-interval who iv)
      (check who list? "a list" l)
      (with-usual-options
       who options
       (lambda (class mutable safe)
         (if (not (= (length l) (interval-volume iv)))
             (error (string-append who ": not as many elements as the interval has:") (length l) iv))
         (from-list who iv l class mutable safe))))
    (define (list->array iv l . options) (checked-list "list->array" iv l options))
    (define (vector->array iv v . options)
      (checked-list "vector->array" iv (vector->list (check "vector->array" vector? "a vector" v)) options))

    ;; The elements as a list of lists … (or of vectors): `make` is of the lists of each level.
    (define (nested make a)
      (let ((rest (elements a)))
        (let level ((widths (vector->list (interval-widths (domain a)))))
          (if (null? widths)
              (let ((x (car rest)))
                (set! rest (cdr rest))
                x)
              (let loop ((n (car widths)) (parts '()))
                (if (= n 0)
                    (make (reverse parts))
                    (loop (- n 1) (cons (level (cdr widths)) parts))))))))
    (define (array->list* a) (nested values (check-array "array->list*" a)))
    (define (array->vector* a) (nested list->vector (check-array "array->vector*" a)))

    (define (from-nested who d x options)
      (if (not (and (exact-integer? d) (>= d 0))) (error (string-append who ": not a number of axes:") d))
      (with-usual-options
       who options
       (lambda (class mutable safe)
         (let* ((shape (shape who d x)) (zeros (make-list (- d (length shape)) 0)))
           (from-list who (make-interval (list->vector (append shape zeros))) (flat d x '()) class mutable safe)))))
    ;; The lengths of the levels as far as there are elements.
    (define (shape who d x)
      (cond
        ((= d 0) '())
        ((not (list? x)) (error (string-append who ": not nested so deep:") x))
        ((null? x) '(0))
        (else
         (let ((first (shape who (- d 1) (car x))))
           (if (not (every (lambda (y) (equal? first (shape who (- d 1) y))) (cdr x)))
               (error (string-append who ": parts of different shapes:") x))
           (cons (length x) first)))))
    (define (flat d x rest)
      (cond
        ((= d 0) (cons x rest))
        ((null? x) rest)
        (else (flat (- d 1) (car x) (flat d (cdr x) rest)))))
    (define (list*->array d x . options) (from-nested "list*->array" d x options))
    (define (vector*->array d x . options)
      (from-nested "vector*->array" d
                   (let level ((d d) (x x))
                     (if (and (exact-integer? d) (> d 0))
                         (map (lambda (y) (level (- d 1) y))
                              (vector->list (check "vector*->array" vector? "a vector nested so deep" x)))
                         x))
                   options))

    ;;;; Copies

    ;; Stores the elements of one array into the other one, of the same domain.
    (define (assign! to from)
      (let ((class (class-of to)))
        (if (and class (same-places to from) (storage-class-copier class))
            (if (not (interval-empty? (domain to)))
                (let ((start (first-place from)))
                  ((storage-class-copier class) (body-of to) (first-place to) (body-of from) start
                   (+ start (interval-volume (domain from))))))
            (let ((set (raw-setter to)) (get (raw-getter from)))
              (over (domain to) (acc #f) call (begin (call set (call get)) #f))))))
    (define (array-assign! to from)
      (check "array-assign!" mutable-array? "a mutable array" to)
      (check-arrays "array-assign!" to (list from))
      (assign! to from)
      (if #f #f))

    ;; The elements of an array where no procedure of the user gives them: the array itself or a copy.
    (define (settled a)
      (if (standard-array? a)
          a
          (from-list "array-copy" (domain a) (elements a) generic-storage-class #f #f)))
    (define (itself a) a)

    ;; A new array of the domain: `fill!` gets it while it is mutable.
    (define (filled iv class mutable safe fill!)
      (let ((a (over-body iv class (new-body iv class (storage-class-default class)) #t safe)))
        (fill! a)
        (if mutable a (array-freeze! a))))

    (define (copy who settled a options)
      (check-array who a)
      (let ((copied (lambda (class mutable safe)
                      (let ((from (settled a)))
                        (filled (domain a) class mutable safe (lambda (to) (assign! to from)))))))
        (if (class-of a)
            (with-options who options (class-of a) (mutable-array? a) (safe? a) copied)
            (with-usual-options who options copied))))
    (define (array-copy a . options) (copy "array-copy" settled a options))
    (define (array-copy! a . options) (copy "array-copy!" itself a options))

    (define (check-list-of-arrays who as)
      (check who pair? "a nonempty list of arrays" as)
      (check who list? "a nonempty list of arrays" as)
      (for-each (lambda (a) (check-array who a)) as))
    (define (check-axis who k most)
      (if (not (and (exact-integer? k) (<= 0 k most))) (error (string-append who ": no such axis:") k)))
    (define (vector-with v k x)
      (let ((v (vector-copy v)))
        (vector-set! v k x)
        v))

    (define (vector-insert v k x)
      (vector-append (vector-copy v 0 k) (vector x) (vector-copy v k)))
    (define (stack who settled k as options)
      (check-list-of-arrays who as)
      (check-arrays who (car as) (cdr as))
      (let* ((iv (domain (car as))) (d (interval-dimension iv)))
        (check-axis who k d)
        (with-usual-options
         who options
         (lambda (class mutable safe)
           (let ((as (map settled as)))
             (filled (make-interval (vector-insert (lowers iv) k 0) (vector-insert (uppers iv) k (length as)))
                     class mutable safe
                     (lambda (to)
                       ;; the new axis comes first, and is the outer one
                       (let ((slices (array-curry (array-permute to (index-first (+ d 1) k)) d)))
                         (for-each (lambda (i a) (assign! (array-ref slices i) a)) (iota (length as)) as)))))))))
    (define (array-stack k as . options) (stack "array-stack" settled k as options))
    (define (array-stack! k as . options) (stack "array-stack!" itself k as options))

    ;; Moves `from` to begin at the corner, and stores it there into `to`.
    (define (assign-at! to corner from)
      (let ((from (array-translate from (vector-map - corner (lowers (domain from))))))
        (assign! (array-extract to (domain from)) from)))
    (define (append-arrays who settled k as options)
      (check-list-of-arrays who as)
      (let* ((iv (domain (car as))) (d (interval-dimension iv)))
        (check-axis who k (- d 1))
        (for-each (lambda (a)
                    (let ((other (domain a)))
                      (if (not (and (= d (interval-dimension other))
                                    (interval= iv
                                               (make-interval
                                                (vector-with (lowers other) k (vector-ref (lowers iv) k))
                                                (vector-with (uppers other) k (vector-ref (uppers iv) k))))))
                          (error (string-append who ": the domains differ in other axes, too:") iv other))))
                  (cdr as))
        (with-usual-options
         who options
         (lambda (class mutable safe)
           (let* ((as (map settled as))
                  (widths (map (lambda (a) (interval-width (domain a) k)) as)))
             (filled (make-interval (vector-with (lowers iv) k 0) (vector-with (uppers iv) k (apply + widths)))
                     class mutable safe
                     (lambda (to)
                       (let loop ((as as) (widths widths) (at 0))
                         (if (pair? as)
                             (begin
                               (assign-at! to (vector-with (lowers iv) k at) (car as))
                               (loop (cdr as) (cdr widths) (+ at (car widths)))))))))))))
    (define (array-append k as . options) (append-arrays "array-append" settled k as options))
    (define (array-append! k as . options) (append-arrays "array-append!" itself k as options))

    ;; The arrays in an array, taken once: an array of them as they are, or settled.
    (define (arrays-in who aa settled)
      (check-array who aa)
      (if (interval-empty? (domain aa)) (error (string-append who ": the array of arrays is empty:") aa))
      (let ((as (elements aa)))
        (for-each (lambda (a) (check-array who a)) as)
        (from-list who (domain aa) (map settled as) generic-storage-class #f #f)))

    (define (decurry who settled aa options)
      (with-usual-options
       who options
       (lambda (class mutable safe)
         (let* ((aa (arrays-in who aa settled)) (as (elements aa)) (iv (domain (car as))))
           (check-arrays who (car as) (cdr as))
           (filled (interval-cartesian-product (domain aa) iv) class mutable safe
                   (lambda (to) (array-for-each assign! (array-curry to (interval-dimension iv)) aa)))))))
    (define (array-decurry aa . options) (decurry "array-decurry" settled aa options))
    (define (array-decurry! aa . options) (decurry "array-decurry!" itself aa options))

    (define (block who settled aa options)
      (with-usual-options
       who options
       (lambda (class mutable safe)
         (let* ((aa (arrays-in who aa settled))
                (d (array-dimension aa))
                (aa (array-translate aa (vector-map - (lowers (domain aa)))))
                (iv (domain aa))
                (get (array-getter aa)))
           (array-for-each (lambda (a)
                             (if (not (= d (array-dimension a)))
                                 (error (string-append who ": a block has another number of axes:") a)))
                           aa)
           ;; where the blocks begin along an axis, and where the last one ends: as those on the edge have it
           (let* ((cuts-along
                   (lambda (k)
                     (let loop ((i 0) (at 0) (cuts '()))
                       (if (= i (interval-width iv k))
                           (list->vector (reverse (cons at cuts)))
                           (let ((edge (apply get (vector->list (vector-with (make-vector d 0) k i)))))
                             (loop (+ i 1) (+ at (interval-width (domain edge) k)) (cons at cuts)))))))
                  (cuts (list->vector (map cuts-along (iota d)))))
             (interval-for-each
              (lambda index
                (let ((a (apply get index)))
                  (for-each (lambda (i k)
                              (let ((c (vector-ref cuts k)))
                                (if (not (= (interval-width (domain a) k)
                                            (- (vector-ref c (+ i 1)) (vector-ref c i))))
                                    (error (string-append who ": a block is not as wide as its neighbours:") a))))
                            index (iota d))))
              iv)
             (filled (make-interval (vector-map (lambda (c) (vector-ref c (- (vector-length c) 1))) cuts))
                     class mutable safe
                     (lambda (to)
                       (interval-for-each
                        (lambda index
                          (assign-at! to (vector-map vector-ref cuts (list->vector index)) (apply get index)))
                        iv))))))))
    (define (array-block aa . options) (block "array-block" settled aa options))
    (define (array-block! aa . options) (block "array-block!" itself aa options))))
