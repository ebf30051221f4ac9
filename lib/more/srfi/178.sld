;;; (srfi 178): vectors of bits.
;;;
;;; A bitvector is a record of a bytevector, each of whose bytes is a bit: eight times as large as it could be, and as
;;; fast as other vectors.  Procedures whose names end in /int deal in 0 and 1, those in /bool in #f and #t; both are
;;; made by one macro.
(define-library (srfi 178)
  (export
   bit->integer bit->boolean
   make-bitvector bitvector bitvector-unfold bitvector-unfold-right bitvector-copy bitvector-reverse-copy
   bitvector-append bitvector-concatenate bitvector-append-subbitvectors
   bitvector? bitvector-empty? bitvector=? bitvector-ref/int bitvector-ref/bool bitvector-length
   bitvector-take bitvector-take-right bitvector-drop bitvector-drop-right bitvector-segment
   bitvector-fold/int bitvector-fold/bool bitvector-fold-right/int bitvector-fold-right/bool bitvector-map/int
   bitvector-map/bool bitvector-map!/int bitvector-map!/bool bitvector-map->list/int bitvector-map->list/bool
   bitvector-for-each/int bitvector-for-each/bool
   bitvector-prefix-length bitvector-suffix-length bitvector-prefix? bitvector-suffix? bitvector-pad
   bitvector-pad-right bitvector-trim bitvector-trim-right bitvector-trim-both
   bitvector-set! bitvector-swap! bitvector-reverse! bitvector-copy! bitvector-reverse-copy!
   bitvector->list/int bitvector->list/bool reverse-bitvector->list/int reverse-bitvector->list/bool list->bitvector
   reverse-list->bitvector bitvector->vector/int bitvector->vector/bool reverse-bitvector->vector/int
   reverse-bitvector->vector/bool vector->bitvector reverse-vector->bitvector bitvector->string string->bitvector
   bitvector->integer integer->bitvector
   make-bitvector/int-generator make-bitvector/bool-generator make-bitvector-accumulator
   bitvector-not bitvector-not! bitvector-and bitvector-and! bitvector-ior bitvector-ior! bitvector-xor
   bitvector-xor! bitvector-eqv bitvector-eqv! bitvector-nand bitvector-nand! bitvector-nor bitvector-nor!
   bitvector-andc1 bitvector-andc1! bitvector-andc2 bitvector-andc2! bitvector-orc1 bitvector-orc1! bitvector-orc2
   bitvector-orc2!
   bitvector-logical-shift bitvector-count bitvector-if bitvector-first-bit bitvector-count-run
   bitvector-field-any? bitvector-field-every? bitvector-field-clear bitvector-field-clear! bitvector-field-set
   bitvector-field-set! bitvector-field-replace bitvector-field-replace! bitvector-field-replace-same
   bitvector-field-replace-same! bitvector-field-rotate bitvector-field-flip bitvector-field-flip!)
  (import (scheme base) (scheme case-lambda) (only (cairn control) wrong-type)
          (only (cairn number) integer-length))
  (begin

    (define-record-type <bitvector>
      (wrap bytes)
      bitvector?
      (bytes bytes-of))

    (define (bytes who x)
      (if (bitvector? x) (bytes-of x) (wrong-type who "a bitvector" x)))
    (define (size x) (bytevector-length (bytes "bitvector" x)))

    (define (bit->integer x)
      (cond ((or (eqv? x 0) (eq? x #f)) 0)
            ((or (eqv? x 1) (eq? x #t)) 1)
            (else (wrong-type "bit->integer" "a bit: 0, 1, #f or #t" x))))
    (define (bit->boolean x) (= 1 (bit->integer x)))

    (define (check-range who start end n)
      (if (not (and (exact-integer? start) (exact-integer? end) (<= 0 start end n)))
          (error (string-append who ": not a range of the bitvector:") start end)))
    ;; (use bytes start end) with the optional range of an argument.
    (define (with-range who x range use)
      (let* ((bv (bytes who x))
             (start (if (pair? range) (car range) 0))
             (end (if (and (pair? range) (pair? (cdr range))) (cadr range) (bytevector-length bv))))
        (check-range who start end (bytevector-length bv))
        (use bv start end)))
    (define (reversed bv)
      (let* ((n (bytevector-length bv)) (new (make-bytevector n)))
        (do ((i 0 (+ i 1))) ((= i n) new)
          (bytevector-u8-set! new i (bytevector-u8-ref bv (- n 1 i))))))

    ;;;; Making

    (define (make-bitvector n . bit)
      (if (not (and (exact-integer? n) (>= n 0))) (wrong-type "make-bitvector" "a length" n))
      (wrap (make-bytevector n (if (pair? bit) (bit->integer (car bit)) 0))))
    (define (bitvector . bits) (list->bitvector bits))
    (define (list->bitvector l) (wrap (apply bytevector (map bit->integer l))))
    (define (reverse-list->bitvector l) (list->bitvector (reverse l)))

    (define (unfold! bv f seeds first step)
      (let loop ((k (bytevector-length bv)) (i first) (seeds seeds))
        (if (= k 0)
            (wrap bv)
            (call-with-values (lambda () (apply f i seeds))
              (lambda (bit . seeds)
                (bytevector-u8-set! bv i (bit->integer bit))
                (loop (- k 1) (+ i step) seeds))))))
    (define (bitvector-unfold f n . seeds) (unfold! (make-bytevector n) f seeds 0 1))
    (define (bitvector-unfold-right f n . seeds) (unfold! (make-bytevector n) f seeds (- n 1) -1))

    (define (bitvector-copy x . range)
      (with-range "bitvector-copy" x range (lambda (bv start end) (wrap (bytevector-copy bv start end)))))
    (define (bitvector-reverse-copy x . range)
      (with-range "bitvector-reverse-copy" x range
                  (lambda (bv start end) (wrap (reversed (bytevector-copy bv start end))))))
    (define (bitvector-concatenate l)
      (wrap (apply bytevector-append (map (lambda (x) (bytes "bitvector-append" x)) l))))
    (define (bitvector-append . l) (bitvector-concatenate l))
    (define (bitvector-append-subbitvectors . parts)
      (let loop ((parts parts) (done '()))
        (cond
          ((null? parts) (bitvector-concatenate (reverse done)))
          ((and (pair? (cdr parts)) (pair? (cddr parts)))
           (loop (cdr (cddr parts)) (cons (bitvector-copy (car parts) (cadr parts) (car (cddr parts))) done)))
          (else (error "bitvector-append-subbitvectors: each bitvector needs a start and an end")))))

    ;;;; Asking

    (define (bitvector-length x) (bytevector-length (bytes "bitvector-length" x)))
    (define (bitvector-empty? x) (= 0 (bytevector-length (bytes "bitvector-empty?" x))))
    (define (bitvector=? . l)
      (or (null? l)
          (let ((a (bytes "bitvector=?" (car l))))
            (let loop ((rest (cdr l)))
              (or (null? rest) (and (equal? a (bytes "bitvector=?" (car rest))) (loop (cdr rest))))))))
    (define (bitvector-ref/int x i) (bytevector-u8-ref (bytes "bitvector-ref/int" x) i))
    (define (bitvector-ref/bool x i) (= 1 (bytevector-u8-ref (bytes "bitvector-ref/bool" x) i)))
    (define (boolean b) (= b 1))
    (define (integer b) b)

    (define (bitvector-take x n) (bitvector-copy x 0 n))
    (define (bitvector-drop x n) (bitvector-copy x n))
    (define (bitvector-take-right x n) (bitvector-copy x (- (bitvector-length x) n)))
    (define (bitvector-drop-right x n) (bitvector-copy x 0 (- (bitvector-length x) n)))
    (define (bitvector-segment x n)
      (if (not (and (exact-integer? n) (> n 0))) (wrong-type "bitvector-segment" "a positive length" n))
      (let ((end (bitvector-length x)))
        (let loop ((i 0))
          (if (>= i end) '() (cons (bitvector-copy x i (min end (+ i n))) (loop (+ i n)))))))

    ;;;; Iteration

    ;; The bytes of bitvectors of one length.
    (define (all-bytes who xs)
      (let ((bvs (map (lambda (x) (bytes who x)) xs)))
        (for-each (lambda (bv)
                    (if (not (= (bytevector-length bv) (bytevector-length (car bvs))))
                        (error (string-append who ": the bitvectors have different lengths:")
                               (bytevector-length (car bvs)) (bytevector-length bv))))
                  bvs)
        bvs))

    (define-syntax define-iteration
      (syntax-rules ()
        ((_ view fold fold-right map-bits map-bits! map->list each)
         (begin
           (define (bits bvs i) (map (lambda (bv) (view (bytevector-u8-ref bv i))) bvs))
           (define (fold kons nil . xs)
             (let* ((bvs (all-bytes (symbol->string 'fold) xs)) (n (bytevector-length (car bvs))))
               (let loop ((i 0) (acc nil))
                 (if (= i n) acc (loop (+ i 1) (apply kons acc (bits bvs i)))))))
           (define (fold-right kons nil . xs)
             (let ((bvs (all-bytes (symbol->string 'fold-right) xs)))
               (let loop ((i (bytevector-length (car bvs))) (acc nil))
                 (if (= i 0) acc (loop (- i 1) (apply kons acc (bits bvs (- i 1))))))))
           (define (map->list proc . xs)
             (reverse (apply fold (lambda (acc . bits) (cons (apply proc bits) acc)) '() xs)))
           (define (map-bits proc . xs) (list->bitvector (apply map->list proc xs)))
           (define (map-bits! proc x . xs)
             (bytevector-copy! (bytes-of x) 0 (bytes-of (apply map-bits proc x xs))))
           (define (each proc . xs)
             (apply fold (lambda (acc . bits) (apply proc bits)) #f xs)
             #t)))))
    (define-iteration integer bitvector-fold/int bitvector-fold-right/int bitvector-map/int bitvector-map!/int
      bitvector-map->list/int bitvector-for-each/int)
    (define-iteration boolean bitvector-fold/bool bitvector-fold-right/bool bitvector-map/bool bitvector-map!/bool
      bitvector-map->list/bool bitvector-for-each/bool)

    ;;;; Ends

    (define (bitvector-prefix-length a b)
      (let* ((a (bytes "bitvector-prefix-length" a)) (b (bytes "bitvector-prefix-length" b))
             (n (min (bytevector-length a) (bytevector-length b))))
        (let loop ((i 0))
          (if (and (< i n) (= (bytevector-u8-ref a i) (bytevector-u8-ref b i))) (loop (+ i 1)) i))))
    (define (bitvector-suffix-length a b)
      (bitvector-prefix-length (bitvector-reverse-copy a) (bitvector-reverse-copy b)))
    (define (bitvector-prefix? a b) (= (size a) (bitvector-prefix-length a b)))
    (define (bitvector-suffix? a b) (= (size a) (bitvector-suffix-length a b)))
    (define (bitvector-pad bit x n)
      (bitvector-append (make-bitvector (max 0 (- n (bitvector-length x))) bit) x))
    (define (bitvector-pad-right bit x n)
      (bitvector-append x (make-bitvector (max 0 (- n (bitvector-length x))) bit)))
    (define (bitvector-trim bit x)
      (bitvector-drop x (run-length bit (bytes "bitvector-trim" x) 0)))
    (define (bitvector-trim-right bit x)
      (bitvector-drop-right x (run-length bit (reversed (bytes "bitvector-trim-right" x)) 0)))
    (define (bitvector-trim-both bit x) (bitvector-trim-right bit (bitvector-trim bit x)))
    ;; How many bits of this kind come from i on.
    (define (run-length bit bv i)
      (let ((b (bit->integer bit)))
        (let loop ((j i))
          (if (and (< j (bytevector-length bv)) (= b (bytevector-u8-ref bv j))) (loop (+ j 1)) (- j i)))))

    ;;;; Changing

    (define (bitvector-set! x i bit) (bytevector-u8-set! (bytes "bitvector-set!" x) i (bit->integer bit)))
    (define (bitvector-swap! x i j)
      (let* ((bv (bytes "bitvector-swap!" x)) (b (bytevector-u8-ref bv i)))
        (bytevector-u8-set! bv i (bytevector-u8-ref bv j))
        (bytevector-u8-set! bv j b)))
    (define (bitvector-reverse! x . range)
      (with-range "bitvector-reverse!" x range
                  (lambda (bv start end) (bytevector-copy! bv start (reversed (bytevector-copy bv start end))))))
    (define (bitvector-copy! to at from . range)
      (with-range "bitvector-copy!" from range
                  (lambda (bv start end) (bytevector-copy! (bytes "bitvector-copy!" to) at bv start end))))
    (define (bitvector-reverse-copy! to at from . range)
      (bitvector-copy! to at (apply bitvector-reverse-copy from range)))

    ;;;; Conversion

    (define (->list view)
      (lambda (x . range)
        (with-range "bitvector->list" x range
                    (lambda (bv start end)
                      (let loop ((i (- end 1)) (acc '()))
                        (if (< i start) acc (loop (- i 1) (cons (view (bytevector-u8-ref bv i)) acc))))))))
    (define bitvector->list/int (->list integer))
    (define bitvector->list/bool (->list boolean))
    (define (reverse-bitvector->list/int x . range) (reverse (apply bitvector->list/int x range)))
    (define (reverse-bitvector->list/bool x . range) (reverse (apply bitvector->list/bool x range)))
    (define (bitvector->vector/int x . range) (list->vector (apply bitvector->list/int x range)))
    (define (bitvector->vector/bool x . range) (list->vector (apply bitvector->list/bool x range)))
    (define (reverse-bitvector->vector/int x . range) (list->vector (apply reverse-bitvector->list/int x range)))
    (define (reverse-bitvector->vector/bool x . range) (list->vector (apply reverse-bitvector->list/bool x range)))
    (define (vector->bitvector v . range) (list->bitvector (apply vector->list v range)))
    (define (reverse-vector->bitvector v . range) (reverse-list->bitvector (apply vector->list v range)))

    (define (bitvector->string x)
      (string-append "#*" (list->string (map (lambda (b) (if (= b 1) #\1 #\0)) (bitvector->list/int x)))))
    (define (string->bitvector s)
      (and (>= (string-length s) 2)
           (string=? "#*" (substring s 0 2))
           (let loop ((l (cddr (string->list s))) (bits '()))
             (cond ((null? l) (reverse-list->bitvector bits))
                   ((memv (car l) '(#\0 #\1)) (loop (cdr l) (cons (if (char=? #\1 (car l)) 1 0) bits)))
                   (else #f)))))
    ;; The first bit is the least.
    (define (bitvector->integer x)
      (bitvector-fold-right/int (lambda (n bit) (+ (* 2 n) bit)) 0 x))
    (define integer->bitvector
      (case-lambda
        ((n) (integer->bitvector n (integer-length n)))
        ((n length) (bitvector-unfold (lambda (i n) (values (floor-remainder n 2) (floor-quotient n 2))) length n))))

    (define (generator ->list)
      (lambda (x . range)
        (let ((l (apply ->list x range)))
          (lambda ()
            (if (null? l)
                (eof-object)
                (let ((b (car l)))
                  (set! l (cdr l))
                  b))))))
    (define make-bitvector/int-generator (generator bitvector->list/int))
    (define make-bitvector/bool-generator (generator bitvector->list/bool))
    (define (make-bitvector-accumulator)
      (let ((bits '()))
        (lambda (x)
          (if (eof-object? x)
              (reverse-list->bitvector bits)
              (set! bits (cons (bit->integer x) bits))))))

    ;;;; Logic

    ;; A procedure of two bitvectors or more, and the one that changes the first of them.
    (define-syntax define-logic
      (syntax-rules ()
        ((_ name name! (a b) bit)
         (begin
           (define (name! x y . more)
             (let ((bvs (all-bytes (symbol->string 'name) (cons x (cons y more)))))
               (do ((i 0 (+ i 1))) ((= i (bytevector-length (car bvs))))
                 (bytevector-u8-set! (car bvs) i
                                     (let loop ((a (bytevector-u8-ref (car bvs) i)) (rest (cdr bvs)))
                                       (if (null? rest)
                                           a
                                           (let ((b (bytevector-u8-ref (car rest) i))) (loop bit (cdr rest)))))))))
           (define (name x . more)
             (let ((new (bitvector-copy x)))
               (apply name! new more)
               new))))))
    (define-logic bitvector-and bitvector-and! (a b) (* a b))
    (define-logic bitvector-ior bitvector-ior! (a b) (max a b))
    (define-logic bitvector-xor bitvector-xor! (a b) (if (= a b) 0 1))
    (define-logic bitvector-eqv bitvector-eqv! (a b) (if (= a b) 1 0))
    (define-logic bitvector-nand bitvector-nand! (a b) (- 1 (* a b)))
    (define-logic bitvector-nor bitvector-nor! (a b) (- 1 (max a b)))
    (define-logic bitvector-andc1 bitvector-andc1! (a b) (* (- 1 a) b))
    (define-logic bitvector-andc2 bitvector-andc2! (a b) (* a (- 1 b)))
    (define-logic bitvector-orc1 bitvector-orc1! (a b) (max (- 1 a) b))
    (define-logic bitvector-orc2 bitvector-orc2! (a b) (max a (- 1 b)))
    (define (bitvector-not x) (bitvector-map/int (lambda (b) (- 1 b)) x))
    (define (bitvector-not! x) (bitvector-map!/int (lambda (b) (- 1 b)) x))

    ;; To the beginning if n is positive, to the end otherwise; `bit` comes in.
    (define (bitvector-logical-shift x n bit)
      (let* ((length (bitvector-length x)) (new (make-bitvector length bit)) (k (min length (abs n))))
        (if (>= n 0)
            (bitvector-copy! new 0 x k)
            (bitvector-copy! new k x 0 (- length k)))
        new))
    (define (bitvector-count bit x)
      (let ((b (bit->integer bit)))
        (bitvector-fold/int (lambda (n c) (if (= b c) (+ n 1) n)) 0 x)))
    (define (bitvector-if mask then else)
      (bitvector-map/int (lambda (m a b) (if (= m 1) a b)) mask then else))
    ;; The index of the first bit of this kind, or -1.
    (define (bitvector-first-bit bit x)
      (let* ((bv (bytes "bitvector-first-bit" x)) (i (run-length (- 1 (bit->integer bit)) bv 0)))
        (if (= i (bytevector-length bv)) -1 i)))
    (define (bitvector-count-run bit x i) (run-length bit (bytes "bitvector-count-run" x) i))

    ;;;; Fields

    (define (field who x start end use) (with-range who x (list start end) use))
    (define (bitvector-field-any? x start end)
      (field "bitvector-field-any?" x start end
             (lambda (bv start end) (< (+ start (run-length 0 bv start)) end))))
    (define (bitvector-field-every? x start end)
      (field "bitvector-field-every?" x start end
             (lambda (bv start end) (>= (+ start (run-length 1 bv start)) end))))
    (define (fill! who x start end bit)
      (field who x start end
             (lambda (bv start end) (bytevector-copy! bv start (make-bytevector (- end start) bit)))))
    (define (bitvector-field-clear! x start end) (fill! "bitvector-field-clear!" x start end 0))
    (define (bitvector-field-set! x start end) (fill! "bitvector-field-set!" x start end 1))
    (define (bitvector-field-replace! to from start end)
      (bitvector-copy! to start from 0 (- end start)))
    (define (bitvector-field-replace-same! to from start end)
      (bitvector-copy! to start from start end))
    (define (bitvector-field-flip! x start end)
      (bitvector-copy! x start (bitvector-not (bitvector-copy x start end))))
    (define-syntax define-copying
      (syntax-rules ()
        ((_ name name! arg ...)
         (define (name x arg ...)
           (let ((new (bitvector-copy x)))
             (name! new arg ...)
             new)))))
    (define-copying bitvector-field-clear bitvector-field-clear! start end)
    (define-copying bitvector-field-set bitvector-field-set! start end)
    (define-copying bitvector-field-replace bitvector-field-replace! from start end)
    (define-copying bitvector-field-replace-same bitvector-field-replace-same! from start end)
    (define-copying bitvector-field-flip bitvector-field-flip! start end)
    ;; To the beginning by n places, round the field.
    (define (bitvector-field-rotate x n start end)
      (let ((part (bitvector-copy x start end)) (new (bitvector-copy x)))
        (if (< start end)
            (let ((k (floor-remainder n (- end start))))
              (bitvector-copy! new start (bitvector-append (bitvector-drop part k) (bitvector-take part k)))))
        new))))
