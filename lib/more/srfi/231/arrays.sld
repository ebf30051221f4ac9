;;; (srfi 231 arrays): arrays, and what makes arrays of arrays without looking at their elements.
;;;
;;; A generalized array is its domain with the procedures given; a specialized one has a body, and its element is at
;;; the place  base + Σ stride·index  of it.  Every transformation of a specialized array is another base and other
;;; strides, which are found without calling anything:
;;;
;;;     translate by t    base - Σ stride·t       reverse an axis   base + stride·(low + high - 1), -stride
;;;     sample            strides·scales          permute           strides in the other order
;;;     curry             base + Σ stride·index of the outer axes; the strides of the inner ones
;;;
;;; Getters and setters with checks are made when they are first asked for, for most arrays that `array-curry` and
;;; `array-tile` make live shortly.  Those of generalized arrays serve `array-ref` and `array-set!`; `array-getter`
;;; gives the procedure that the array was made of, as the text has it, and all walks over the domain use it.
(define-library (srfi 231 arrays)
  (export specialized-array-default-safe? specialized-array-default-mutable?
          make-array array? array-domain array-getter array-dimension mutable-array? array-setter array-freeze!
          array-empty? make-specialized-array make-specialized-array-from-data specialized-array?
          array-storage-class array-indexer array-body array-safe? array-packed? array-ref array-set!
          specialized-array-share array-curry array-extract array-tile array-translate array-permute array-reverse
          array-sample specialized-array-reshape
          ;; for the other libraries
          check-array raw-getter raw-setter class-of body-of safe? domain packed? first-place same-places new-body
          over-body standard-array? check-class check-boolean)
  (import (scheme base) (scheme case-lambda) (only (srfi 1) iota every)
          (only (cairn records) show-fields!)
          (srfi 231 intervals) (srfi 231 storage))
  (begin

    (define (boolean-parameter start)
      (make-parameter start (lambda (x) (check-boolean "specialized-array-default" x))))
    (define (check-boolean who x)
      (check who boolean? "a boolean" x))
    (define specialized-array-default-safe? (boolean-parameter #f))
    (define specialized-array-default-mutable? (boolean-parameter #t))

    (define-record-type <array>
      (new-array domain getter raw-getter setter raw-setter mutable? class body base strides safe?)
      array?
      (domain domain)
      ;; with checks of the indices; #f: not yet made
      (getter getter set-getter!)
      (raw-getter given-getter)
      (setter setter set-setter!)
      (raw-setter given-setter)
      (mutable? mutable? set-mutable!)
      ;; of specialized arrays, in others #f
      (class class-of)
      (body body-of)
      (base base)
      (strides strides-of)
      (safe? safe?))
    (show-fields! <array> '(domain))

    (define (check-array who x) (check who array? "an array" x))
    (define (check-specialized who x) (check who specialized-array? "a specialized array" x))
    (define (check-class who x) (check who storage-class? "a storage class" x))
    (define (specialized-array? x) (and (array? x) (class-of x) #t))
    (define (standard-array? a) (let ((class (class-of a))) (and class (class-standard? class))))

    (define (generalized iv get set)
      (new-array iv #f get #f set (and set #t) #f #f #f #f #f))
    (define (specialized iv class body base strides mutable safe)
      (new-array iv #f #f #f #f mutable class body base strides safe))
    ;; The specialized array with another domain over the same body.
    (define (shared a iv base strides)
      (specialized iv (class-of a) (body-of a) base strides (mutable? a) (safe? a)))

    (define make-array
      (case-lambda
        ((iv get)
         (check-interval "make-array" iv)
         (check-procedures "make-array" get)
         (generalized iv get #f))
        ((iv get set)
         (check-interval "make-array" iv)
         (check-procedures "make-array" get set)
         (generalized iv get set))))

    (define (array-domain a) (domain (check-array "array-domain" a)))
    (define (dimension a) (vector-length (lowers (domain a))))
    (define (array-dimension a) (dimension (check-array "array-dimension" a)))
    (define (array-empty? a) (interval-empty? (array-domain a)))
    (define (mutable-array? x) (and (array? x) (mutable? x)))
    (define (array-freeze! a)
      (set-mutable! (check-array "array-freeze!" a) #f)
      a)

    ;;;; Getters and setters

    (define-syntax checked
      (syntax-rules ()
        ((_ who iv (first ...) call body)
         (case (vector-length (lowers iv))
           ((1) (axes who iv (first ...) call body (i low high 0)))
           ((2) (axes who iv (first ...) call body (i low0 high0 0) (j low1 high1 1)))
           ((3) (axes who iv (first ...) call body (i low0 high0 0) (j low1 high1 1) (k low2 high2 2)))
           ((4)
            (axes who iv (first ...) call body (i low0 high0 0) (j low1 high1 1) (k low2 high2 2) (l low3 high3 3)))
           ((0) (axes who iv (first ...) call body))
           (else
            (lambda (first ... . index)
              (if (and (= (length index) (vector-length (lowers iv)))
                       (every exact-integer? index)
                       (apply interval-contains-multi-index? iv index))
                  (let-syntax ((call (syntax-rules () ((_ p x (... ...)) (apply p x (... ...) index)))))
                    body)
                  (apply outside who iv index))))))))
    (define-syntax axes
      (syntax-rules ()
        ((_ who iv (first ...) call body (i low high n) ...)
         (let ((low (vector-ref (lowers iv) n)) ...
               (high (vector-ref (uppers iv) n)) ...)
           (case-lambda
             ((first ... i ...)
              (if (and (inside? i low high) ...)
                  (let-syntax ((call (syntax-rules () ((_ p x (... ...)) (p x (... ...) i ...)))))
                    body)
                  (outside who iv i ...)))
             ((first ... . index) (apply outside who iv index)))))))

    (define (getter-of a)
      (or (getter a)
          (let* ((iv (domain a))
                 (get (if (class-of a)
                          ((class-make-getter (class-of a)) iv (body-of a) (base a) (strides-of a))
                          (let ((raw (given-getter a))) (checked "array-ref" iv () call (call raw))))))
            (set-getter! a get)
            get)))
    (define (setter-of a)
      (or (setter a)
          (let* ((iv (domain a))
                 (set (if (class-of a)
                          ((class-make-setter (class-of a)) iv (body-of a) (base a) (strides-of a))
                          (let ((raw (given-setter a))) (checked "array-set!" iv (x) call (call raw x))))))
            (set-setter! a set)
            set)))
    (define (raw-getter a) (or (given-getter a) (getter-of a)))
    (define (raw-setter a) (or (given-setter a) (setter-of a)))
    (define (array-getter a) (raw-getter (check-array "array-getter" a)))
    (define (check-mutable who a) (check who mutable-array? "a mutable array" a))
    (define (array-setter a) (raw-setter (check-mutable "array-setter" a)))

    (define array-ref
      (case-lambda
        ((a i) ((getter-of (check-array "array-ref" a)) i))
        ((a i j) ((getter-of (check-array "array-ref" a)) i j))
        ((a i j k) ((getter-of (check-array "array-ref" a)) i j k))
        ((a . index)
         (check-index "array-ref" (check-array "array-ref" a) index)
         (apply (getter-of a) index))))
    (define array-set!
      (case-lambda
        ((a x i) ((setter-of (check-mutable "array-set!" a)) x i))
        ((a x i j) ((setter-of (check-mutable "array-set!" a)) x i j))
        ((a x i j k) ((setter-of (check-mutable "array-set!" a)) x i j k))
        ((a x . index)
         (check-index "array-set!" (check-mutable "array-set!" a) index)
         (apply (setter-of a) x index))))
    (define (check-index who a index)
      (if (not (= (length index) (dimension a)))
          (apply outside who (domain a) index)))

    ;;;; Specialized arrays

    ;; The strides of a body that has the elements in lexicographical order, and the base that makes the first one 0.
    (define (dense-strides iv)
      (let* ((d (vector-length (lowers iv))) (strides (make-vector d 1)))
        (let loop ((k (- d 1)) (stride 1))
          (if (< k 0)
              strides
              (begin
                (vector-set! strides k stride)
                (loop (- k 1) (* stride (- (vector-ref (uppers iv) k) (vector-ref (lowers iv) k)))))))))
    (define (dot strides index)
      (let loop ((k 0) (sum 0))
        (if (= k (vector-length strides))
            sum
            (loop (+ k 1) (+ sum (* (vector-ref strides k) (vector-ref index k)))))))

    (define (new-body iv class x) ((storage-class-maker class) (interval-volume iv) x))
    (define (over-body iv class body mutable safe)
      (let ((strides (dense-strides iv)))
        (specialized iv class body (- (dot strides (lowers iv))) strides mutable safe)))

    (define make-specialized-array
      (case-lambda
        ((iv) (make-specialized-array iv generic-storage-class))
        ((iv class)
         (make-specialized-array iv class (storage-class-default (check-class "make-specialized-array" class))))
        ((iv class x) (make-specialized-array iv class x (specialized-array-default-safe?)))
        ((iv class x safe)
         (check-interval "make-specialized-array" iv)
         (check-class "make-specialized-array" class)
         (check-boolean "make-specialized-array" safe)
         (if (not ((storage-class-checker class) x))
             (error "make-specialized-array: the storage class cannot hold this:" x))
         (over-body iv class (new-body iv class x) #t safe))))
    (define make-specialized-array-from-data
      (case-lambda
        ((data) (make-specialized-array-from-data data generic-storage-class))
        ((data class) (make-specialized-array-from-data data class (specialized-array-default-mutable?)))
        ((data class mutable)
         (make-specialized-array-from-data data class mutable (specialized-array-default-safe?)))
        ((data class mutable safe)
         (check-class "make-specialized-array-from-data" class)
         (check-boolean "make-specialized-array-from-data" mutable)
         (check-boolean "make-specialized-array-from-data" safe)
         (if (not ((storage-class-data? class) data))
             (error "make-specialized-array-from-data: no body of the storage class can be made of this:" data))
         (let ((body ((storage-class-data->body class) data)))
           (over-body (make-interval (vector ((storage-class-length class) body))) class body mutable safe)))))

    (define (array-storage-class a) (class-of (check-specialized "array-storage-class" a)))
    (define (array-body a) (body-of (check-specialized "array-body" a)))
    (define (array-safe? a) (safe? (check-specialized "array-safe?" a)))
    (define (array-indexer a)
      (check-specialized "array-indexer" a)
      (let ((base (base a)) (strides (strides-of a)))
        (case (vector-length strides)
          ((0) (lambda () base))
          ((1) (let ((s (vector-ref strides 0))) (lambda (i) (+ base (* s i)))))
          ((2)
           (let ((s (vector-ref strides 0)) (t (vector-ref strides 1)))
             (lambda (i j) (+ base (* s i) (* t j)))))
          (else
           (lambda index
             (if (not (= (length index) (vector-length strides))) (apply outside "array-indexer" (domain a) index))
             (+ base (dot strides (list->vector index))))))))

    ;; The place of the first element.
    (define (first-place a)
      (+ (base a) (dot (strides-of a) (lowers (domain a)))))
    ;; A list of the axes that have more than one index: pairs of their width and their stride.
    (define (wide-axes a)
      (let loop ((k (- (dimension a) 1)) (axes '()))
        (if (< k 0)
            axes
            (let ((width (- (vector-ref (uppers (domain a)) k) (vector-ref (lowers (domain a)) k))))
              (loop (- k 1) (if (= width 1) axes (cons (cons width (vector-ref (strides-of a) k)) axes)))))))
    (define (packed? a)
      (or (interval-empty? (domain a))
          (let loop ((axes (reverse (wide-axes a))) (stride 1))
            (or (null? axes)
                (and (= (cdr (car axes)) stride) (loop (cdr axes) (* stride (car (car axes)))))))))
    (define (array-packed? a) (packed? (check-specialized "array-packed?" a)))
    ;; Have the arrays their elements in the same order, side by side?
    (define (same-places a b) (and (eq? (class-of a) (class-of b)) (packed? a) (packed? b)))

    ;; The strides are found by asking for the corner of least indices and for its neighbours.  The opposite corner
    ;; shows whether the map is affine, the sums of the steps up and down whether it stays in the old domain.
    (define (specialized-array-share a iv map-index)
      (check-specialized "specialized-array-share" a)
      (check-interval "specialized-array-share" iv)
      (check-procedures "specialized-array-share" map-index)
      (if (interval-empty? iv)
          (shared a iv 0 (make-vector (vector-length (lowers iv)) 0))
          (let* ((old (domain a))
                 (d (vector-length (lowers iv)))
                 (image (lambda (index)
                          (let ((to (call-with-values (lambda () (apply map-index (vector->list index))) vector)))
                            (if (and (translation? to) (= (vector-length to) (dimension a)))
                                to
                                (error "specialized-array-share: not a multi-index of the array:" to a)))))
                 (corner (lowers iv))
                 (last (vector-map (lambda (u) (- u 1)) (uppers iv)))
                 (start (image corner))
                 (step (lambda (k)
                         (if (= (vector-ref corner k) (vector-ref last k))
                             (vector-map (lambda (x) 0) start)
                             (let ((next (vector-copy corner)))
                               (vector-set! next k (+ 1 (vector-ref corner k)))
                               (vector-map - (image next) start)))))
                 (steps (map step (iota d)))
                 (reach (lambda (steps k)
                          (vector-map (lambda (s) (* s (- (vector-ref last k) (vector-ref corner k)))) steps)))
                 (sum (lambda (choose)
                        (apply vector-map + start
                               (map (lambda (s k) (vector-map choose (reach s k))) steps (iota d)))))
                 (strides (list->vector (map (lambda (s) (dot (strides-of a) s)) steps))))
            (if (not (equal? (image last) (sum values)))
                (error "specialized-array-share: the mapping is not affine:" map-index iv))
            (if (not (and (apply interval-contains-multi-index? old
                                 (vector->list (sum (lambda (x) (min x 0)))))
                          (apply interval-contains-multi-index? old
                                 (vector->list (sum (lambda (x) (max x 0)))))))
                (error "specialized-array-share: the mapping leaves the domain of the array:" iv old))
            (shared a iv (- (+ (base a) (dot (strides-of a) start)) (dot strides corner)) strides))))

    ;;;; Transformations

    (define (check-elements who ok? what a v)
      (check-array who a)
      (check who ok? what v)
      (if (not (= (vector-length v) (dimension a)))
          (error (string-append who ": not as many elements as the array has axes:") v a)))

    (define (array-extract a iv)
      (check-array "array-extract" a)
      (check-interval "array-extract" iv)
      (if (not (and (= (vector-length (lowers iv)) (dimension a)) (interval-subset? iv (domain a))))
          (error "array-extract: the interval is not inside of the array's domain:" iv (domain a)))
      (extract a iv))
    (define (extract a iv)
      (if (class-of a)
          (shared a iv (base a) (strides-of a))
          (generalized iv (given-getter a) (and (mutable? a) (given-setter a)))))

    ;; The generalized array of indices that go, axis by axis, to  shift + scale·index  of the other one.
    (define (reindexed a iv shifts scales)
      (let ((get (given-getter a)) (set (and (mutable? a) (given-setter a))))
        (generalized iv
                     (shifting () get shifts scales)
                     (and set (shifting (x) set shifts scales)))))
    (define-syntax shifting
      (syntax-rules ()
        ((_ (first ...) p shifts scales)
         (case (vector-length shifts)
           ((1)
            (let ((a (vector-ref shifts 0)) (m (vector-ref scales 0)))
              (lambda (first ... i) (p first ... (+ a (* m i))))))
           ((2)
            (let ((a (vector-ref shifts 0)) (m (vector-ref scales 0))
                  (b (vector-ref shifts 1)) (n (vector-ref scales 1)))
              (lambda (first ... i j) (p first ... (+ a (* m i)) (+ b (* n j))))))
           (else
            (let ((shifts (vector->list shifts)) (scales (vector->list scales)))
              (lambda (first ... . index)
                (apply p first ... (map (lambda (shift scale i) (+ shift (* scale i))) shifts scales index)))))))))

    (define (array-translate a by)
      (check-elements "array-translate" translation? "a translation" a by)
      (let ((iv (interval-translate (domain a) by)))
        (if (class-of a)
            (shared a iv (- (base a) (dot (strides-of a) by)) (strides-of a))
            (reindexed a iv (vector-map - by) (make-vector (vector-length by) 1)))))
    (define array-reverse
      (case-lambda
        ((a) (array-reverse a (make-vector (array-dimension a) #t)))
        ((a flip?)
         (check-elements "array-reverse" booleans? "a vector of booleans" a flip?)
         (let* ((iv (domain a))
                (ends (vector-map (lambda (flip? low high) (if flip? (+ low high -1) 0))
                                  flip? (lowers iv) (uppers iv)))
                (signs (vector-map (lambda (flip?) (if flip? -1 1)) flip?)))
           (if (class-of a)
               (shared a iv (+ (base a) (dot (strides-of a) ends)) (vector-map * (strides-of a) signs))
               (reindexed a iv ends signs))))))
    (define (booleans? x)
      (and (vector? x) (each-index (vector-length x) (lambda (k) (boolean? (vector-ref x k))))))
    (define (array-sample a scales)
      (check-elements "array-sample" translation? "a vector of positive integers" a scales)
      (let ((iv (interval-scale (domain a) scales)))
        (if (class-of a)
            (shared a iv (base a) (vector-map * (strides-of a) scales))
            (reindexed a iv (make-vector (vector-length scales) 0) scales))))

    (define (array-permute a permutation)
      (check-elements "array-permute" permutation? "a permutation" a permutation)
      (let ((iv (interval-permute (domain a) permutation)))
        (if (class-of a)
            (shared a iv (base a) (vector-map (lambda (k) (vector-ref (strides-of a) k)) permutation))
            (let ((get (given-getter a)) (set (and (mutable? a) (given-setter a))))
              (generalized iv (permuting () get permutation) (and set (permuting (x) set permutation)))))))
    (define-syntax permuting
      (syntax-rules ()
        ((_ (first ...) p permutation)
         (if (equal? permutation '#(1 0))
             (lambda (first ... i j) (p first ... j i))
             (lambda (first ... . index)
               (let ((old (make-vector (vector-length permutation))))
                 (let loop ((k 0) (index index))
                   (if (pair? index)
                       (begin
                         (vector-set! old (vector-ref permutation k) (car index))
                         (loop (+ k 1) (cdr index)))))
                 (apply p first ... (vector->list old))))))))

    (define (array-curry a inner)
      (check-array "array-curry" a)
      (if (not (and (exact-integer? inner) (<= 0 inner (dimension a))))
          (error "array-curry: the array has not so many axes:" inner a))
      (let-values (((whole part) (interval-projections (domain a) inner)))
        (let ((d (vector-length (lowers whole))))
          (generalized
           whole
           (if (class-of a)
               (let* ((base (base a))
                      (outer (vector-copy (strides-of a) 0 d))
                      (inner (vector-copy (strides-of a) d)))
                 (placed "array-curry" whole base outer () at (shared a part at inner)))
               (lambda index
                 (let ((get (given-getter a)) (set (and (mutable? a) (given-setter a))))
                   (generalized part (currying () get index inner) (and set (currying (x) set index inner))))))
           #f))))
    (define-syntax currying
      (syntax-rules ()
        ((_ (first ...) p outer inner)
         (if (and (= inner 1) (= 1 (length outer)))
             (let ((i (car outer))) (lambda (first ... j) (p first ... i j)))
             (lambda (first ... . index) (apply p first ... (append outer index)))))))

    (define (array-tile a sizes)
      (check-elements "array-tile" vector? "a vector" a sizes)
      (let* ((iv (domain a))
             (cuts (vector-map cuts (lowers iv) (uppers iv) sizes)))
        (generalized (make-interval (vector-map (lambda (c) (- (vector-length c) 1)) cuts))
                     (lambda index
                       (let ((index (list->vector index)))
                         (extract a (make-interval (vector-map vector-ref cuts index)
                                                   (vector-map (lambda (c i) (vector-ref c (+ i 1))) cuts index)))))
                     #f)))
    ;; The vector of the indices where tiles begin, and where the last one ends.
    (define (cuts low high size)
      (cond
        ((and (exact-integer? size) (positive? size) (< low high))
         (let ((n (- (floor-quotient (- low high) size))))
           (list->vector (append (iota n low size) (list high)))))
        ((and (vector? size)
              (each-index (vector-length size)
                          (lambda (k) (and (exact-integer? (vector-ref size k)) (>= (vector-ref size k) 0))))
              (or (< low high) (< 0 (vector-length size)))
              (= (- high low) (apply + (vector->list size))))
         (let loop ((sizes (vector->list size)) (at low) (cuts '()))
           (if (null? sizes)
               (list->vector (reverse (cons at cuts)))
               (loop (cdr sizes) (+ at (car sizes)) (cons at cuts)))))
        (else (error "array-tile: an axis cannot be cut so:" size low high))))

    ;;;; Another shape

    (define specialized-array-reshape
      (case-lambda
        ((a iv) (specialized-array-reshape a iv #f))
        ((a iv copy?)
         (check-specialized "specialized-array-reshape" a)
         (check-interval "specialized-array-reshape" iv)
         (check-boolean "specialized-array-reshape" copy?)
         (if (not (= (interval-volume iv) (interval-volume (domain a))))
             (error "specialized-array-reshape: the interval has another number of elements:" iv (domain a)))
         (let ((strides (reshaped-strides (runs (wide-axes a)) (vector->list (interval-widths iv)))))
           (cond
             ((interval-empty? iv) (shared a iv 0 (make-vector (vector-length (lowers iv)) 0)))
             (strides (shared a iv (- (first-place a) (dot strides (lowers iv))) strides))
             (copy?
              (let* ((class (class-of a))
                     (body (new-body iv class (storage-class-default class)))
                     (set (storage-class-setter class))
                     (get (raw-getter a)))
                (over (domain a) (at 0) call (begin (set body at (call get)) (+ at 1)))
                (over-body iv class body (mutable? a) (safe? a))))
             (else (error "specialized-array-reshape: only a copy can have this shape:" iv a)))))))
    ;; Neighbouring axes that are one: those where the outer stride is the inner one times the inner width.
    (define (runs axes)
      (cond
        ((or (null? axes) (null? (cdr axes))) axes)
        (else
         (let* ((rest (runs (cdr axes))) (outer (car axes)) (inner (car rest)))
           (if (= (cdr outer) (* (car inner) (cdr inner)))
               (cons (cons (* (car outer) (car inner)) (cdr inner)) (cdr rest))
               (cons outer rest))))))
    ;; Each run is cut into the next axes of the new shape, whose widths must make up its own: a vector of strides, or
    ;; #f.
    (define (reshaped-strides runs widths)
      (let next ((runs runs) (widths widths) (strides '()))
        (cond
          ((and (pair? widths) (= 1 (car widths))) (next runs (cdr widths) (cons 0 strides)))
          ((null? runs) (and (null? widths) (list->vector (reverse strides))))
          (else
           (let axis ((left (car (car runs))) (widths widths) (strides strides))
             (cond
               ((= left 1) (next (cdr runs) widths strides))
               ((or (null? widths) (= 0 (car widths)) (not (= 0 (remainder left (car widths))))) #f)
               (else
                (let ((left (quotient left (car widths))))
                  (axis left (cdr widths) (cons (* left (cdr (car runs))) strides))))))))))))
