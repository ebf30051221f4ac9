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

    (define (bit who x)
      (cond ((or (eqv? x 0) (eq? x #f)) 0)
            ((or (eqv? x 1) (eq? x #t)) 1)
            (else (wrong-type who "a bit: 0, 1, #f or #t" x))))
    (define (bit->integer x) (bit "bit->integer" x))
    (define (bit->boolean x) (= 1 (bit "bit->boolean" x)))

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

    (define (make-bitvector n . fill)
      (if (not (and (exact-integer? n) (>= n 0))) (wrong-type "make-bitvector" "a length" n))
      (wrap (make-bytevector n (if (pair? fill) (bit "make-bitvector" (car fill)) 0))))
    (define (check-list who l) (if (list? l) l (wrong-type who "a list" l)))
    (define (from-list who l) (wrap (apply bytevector (map (lambda (x) (bit who x)) l))))
    (define (bitvector . bits) (from-list "bitvector" bits))
    (define (list->bitvector l) (from-list "list->bitvector" (check-list "list->bitvector" l)))
    (define (reverse-list->bitvector l)
      (from-list "reverse-list->bitvector" (reverse (check-list "reverse-list->bitvector" l))))

    (define (unfold who n f seeds forward?)
      (if (not (and (exact-integer? n) (>= n 0))) (wrong-type who "a length" n))
      (if (not (procedure? f)) (wrong-type who "a procedure" f))
      (unfold! who (make-bytevector n) f seeds (if forward? 0 (- n 1)) (if forward? 1 -1)))
    (define (unfold! who bv f seeds first step)
      (let loop ((k (bytevector-length bv)) (i first) (seeds seeds))
        (if (= k 0)
            (wrap bv)
            (call-with-values (lambda () (apply f i seeds))
              (lambda (b . seeds)
                (bytevector-u8-set! bv i (bit who b))
                (loop (- k 1) (+ i step) seeds))))))
    (define (bitvector-unfold f n . seeds) (unfold "bitvector-unfold" n f seeds #t))
    (define (bitvector-unfold-right f n . seeds) (unfold "bitvector-unfold-right" n f seeds #f))

    (define (copy who x range)
      (with-range who x range (lambda (bv start end) (wrap (bytevector-copy bv start end)))))
    (define (bitvector-copy x . range) (copy "bitvector-copy" x range))
    (define (bitvector-reverse-copy x . range)
      (with-range "bitvector-reverse-copy" x range
                  (lambda (bv start end) (wrap (reversed (bytevector-copy bv start end))))))
    (define (append-all who l)
      (wrap (apply bytevector-append (map (lambda (x) (bytes who x)) l))))
    (define (bitvector-concatenate l)
      (append-all "bitvector-concatenate" (check-list "bitvector-concatenate" l)))
    (define (bitvector-append . l) (append-all "bitvector-append" l))
    (define (bitvector-append-subbitvectors . parts)
      (let loop ((parts parts) (done '()))
        (cond
          ((null? parts) (append-all "bitvector-append-subbitvectors" (reverse done)))
          ((and (pair? (cdr parts)) (pair? (cddr parts)))
           (loop (cdr (cddr parts))
                 (let ((range (list (cadr parts) (car (cddr parts)))))
                   (cons (copy "bitvector-append-subbitvectors" (car parts) range) done))))
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

    ;; The length of x, if n bits of it can be counted.
    (define (length-for who x n)
      (let ((length (bytevector-length (bytes who x))))
        (if (not (and (exact-integer? n) (>= n 0))) (wrong-type who "a number of bits" n))
        (if (> n length) (error (string-append who ": the bitvector is shorter:") n))
        length))
    (define (take who x n)
      (length-for who x n)
      (copy who x (list 0 n)))
    (define (drop who x n)
      (length-for who x n)
      (copy who x (list n)))
    (define (bitvector-take x n) (take "bitvector-take" x n))
    (define (bitvector-drop x n) (drop "bitvector-drop" x n))
    (define (bitvector-take-right x n)
      (let ((length (length-for "bitvector-take-right" x n)))
        (copy "bitvector-take-right" x (list (- length n)))))
    (define (drop-right who x n)
      (let ((length (length-for who x n)))
        (copy who x (list 0 (- length n)))))
    (define (bitvector-drop-right x n) (drop-right "bitvector-drop-right" x n))
    (define (bitvector-segment x n)
      (if (not (and (exact-integer? n) (> n 0))) (wrong-type "bitvector-segment" "a positive length" n))
      (let ((end (bytevector-length (bytes "bitvector-segment" x))))
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

    ;; All of them go over lists of the bits at one place, as `view` shows them.
    (define (bits view bvs i) (map (lambda (bv) (view (bytevector-u8-ref bv i))) bvs))
    (define (fold-bits who view kons nil xs)
      (let ((bvs (all-bytes who xs)))
        (let loop ((i 0) (acc nil))
          (if (= i (bytevector-length (car bvs))) acc (loop (+ i 1) (apply kons acc (bits view bvs i)))))))
    (define (fold-bits-right who view kons nil xs)
      (let ((bvs (all-bytes who xs)))
        (let loop ((i (bytevector-length (car bvs))) (acc nil))
          (if (= i 0) acc (loop (- i 1) (apply kons acc (bits view bvs (- i 1))))))))
    (define (map-to-list who view proc xs)
      (reverse (fold-bits who view (lambda (acc . bits) (cons (apply proc bits) acc)) '() xs)))
    (define (map-bits who view proc xs) (from-list who (map-to-list who view proc xs)))
    (define (map-bits! who view proc x xs)
      (let ((bv (bytes who x)))
        (bytevector-copy! bv 0 (bytes-of (map-bits who view proc (cons x xs))))))

    (define-syntax define-iteration
      (syntax-rules ()
        ((_ view fold fold-right map map! map->list each)
         (begin
           (define (fold kons nil x . xs) (fold-bits (symbol->string 'fold) view kons nil (cons x xs)))
           (define (fold-right kons nil x . xs)
             (fold-bits-right (symbol->string 'fold-right) view kons nil (cons x xs)))
           (define (map->list proc x . xs) (map-to-list (symbol->string 'map->list) view proc (cons x xs)))
           (define (map proc x . xs) (map-bits (symbol->string 'map) view proc (cons x xs)))
           (define (map! proc x . xs) (map-bits! (symbol->string 'map!) view proc x xs))
           (define (each proc x . xs)
             (fold-bits (symbol->string 'each) view (lambda (acc . bits) (apply proc bits)) #f (cons x xs))
             #t)))))
    (define-iteration integer bitvector-fold/int bitvector-fold-right/int bitvector-map/int bitvector-map!/int
      bitvector-map->list/int bitvector-for-each/int)
    (define-iteration boolean bitvector-fold/bool bitvector-fold-right/bool bitvector-map/bool bitvector-map!/bool
      bitvector-map->list/bool bitvector-for-each/bool)

    ;;;; Ends

    (define (common-length a b)
      (let ((n (min (bytevector-length a) (bytevector-length b))))
        (let loop ((i 0))
          (if (and (< i n) (= (bytevector-u8-ref a i) (bytevector-u8-ref b i))) (loop (+ i 1)) i))))
    (define (bitvector-prefix-length a b)
      (common-length (bytes "bitvector-prefix-length" a) (bytes "bitvector-prefix-length" b)))
    (define (bitvector-suffix-length a b)
      (common-length (reversed (bytes "bitvector-suffix-length" a)) (reversed (bytes "bitvector-suffix-length" b))))
    (define (bitvector-prefix? a b)
      (let ((a (bytes "bitvector-prefix?" a)) (b (bytes "bitvector-prefix?" b)))
        (= (bytevector-length a) (common-length a b))))
    (define (bitvector-suffix? a b)
      (let ((a (bytes "bitvector-suffix?" a)) (b (bytes "bitvector-suffix?" b)))
        (= (bytevector-length a) (common-length (reversed a) (reversed b)))))
    ;; What x lacks to be of length n.
    (define (padding who bit x n)
      (let ((length (bytevector-length (bytes who x))))
        (if (not (and (exact-integer? n) (>= n 0))) (wrong-type who "a length" n))
        (make-bitvector (max 0 (- n length)) bit)))
    (define (bitvector-pad bit x n)
      (bitvector-append (padding "bitvector-pad" bit x n) x))
    (define (bitvector-pad-right bit x n)
      (let ((padding (padding "bitvector-pad-right" bit x n)))
        (bitvector-append x padding)))
    (define (trim who bit x) (drop who x (run-length who bit (bytes who x) 0)))
    (define (trim-right who bit x) (drop-right who x (run-length who bit (reversed (bytes who x)) 0)))
    (define (bitvector-trim bit x) (trim "bitvector-trim" bit x))
    (define (bitvector-trim-right bit x) (trim-right "bitvector-trim-right" bit x))
    (define (bitvector-trim-both bit x)
      (trim-right "bitvector-trim-both" bit (trim "bitvector-trim-both" bit x)))
    ;; How many bits of this kind come from i on.
    (define (run-length who wanted bv i)
      (let ((b (bit who wanted)))
        (let loop ((j i))
          (if (and (< j (bytevector-length bv)) (= b (bytevector-u8-ref bv j))) (loop (+ j 1)) (- j i)))))

    ;;;; Changing

    (define (bitvector-set! x i b) (bytevector-u8-set! (bytes "bitvector-set!" x) i (bit "bitvector-set!" b)))
    (define (bitvector-swap! x i j)
      (let* ((bv (bytes "bitvector-swap!" x)) (b (bytevector-u8-ref bv i)))
        (bytevector-u8-set! bv i (bytevector-u8-ref bv j))
        (bytevector-u8-set! bv j b)))
    (define (bitvector-reverse! x . range)
      (with-range "bitvector-reverse!" x range
                  (lambda (bv start end) (bytevector-copy! bv start (reversed (bytevector-copy bv start end))))))
    (define (copy! who to at from range)
      (with-range who from range (lambda (bv start end) (overwrite! who to at (bytevector-copy bv start end)))))
    (define (overwrite! who to at part)
      (let* ((bv (bytes who to)) (last (- (bytevector-length bv) (bytevector-length part))))
        (if (not (exact-integer? at)) (wrong-type who "an index" at))
        (if (not (<= 0 at last)) (error (string-append who ": there is no room from here on:") at))
        (bytevector-copy! bv at part)))
    (define (bitvector-copy! to at from . range) (copy! "bitvector-copy!" to at from range))
    (define (bitvector-reverse-copy! to at from . range)
      (with-range "bitvector-reverse-copy!" from range
                  (lambda (bv start end)
                    (overwrite! "bitvector-reverse-copy!" to at (reversed (bytevector-copy bv start end))))))

    ;;;; Conversion

    (define (->list who view x range)
      (with-range who x range
                  (lambda (bv start end)
                    (let loop ((i (- end 1)) (acc '()))
                      (if (< i start) acc (loop (- i 1) (cons (view (bytevector-u8-ref bv i)) acc)))))))
    (define-syntax define-conversions
      (syntax-rules ()
        ((_ view ->list-of reverse->list ->vector reverse->vector)
         (begin
           (define (->list-of x . range) (->list (symbol->string '->list-of) view x range))
           (define (reverse->list x . range) (reverse (->list (symbol->string 'reverse->list) view x range)))
           (define (->vector x . range) (list->vector (->list (symbol->string '->vector) view x range)))
           (define (reverse->vector x . range)
             (list->vector (reverse (->list (symbol->string 'reverse->vector) view x range))))))))
    (define-conversions integer bitvector->list/int reverse-bitvector->list/int
      bitvector->vector/int reverse-bitvector->vector/int)
    (define-conversions boolean bitvector->list/bool reverse-bitvector->list/bool
      bitvector->vector/bool reverse-bitvector->vector/bool)
    (define (check-vector who v) (if (vector? v) v (wrong-type who "a vector" v)))
    (define (vector->bitvector v . range)
      (from-list "vector->bitvector" (apply vector->list (check-vector "vector->bitvector" v) range)))
    (define (reverse-vector->bitvector v . range)
      (from-list "reverse-vector->bitvector"
                 (reverse (apply vector->list (check-vector "reverse-vector->bitvector" v) range))))

    (define (bitvector->string x)
      (string-append "#*" (list->string (map (lambda (b) (if b #\1 #\0)) (->list "bitvector->string" boolean x '())))))
    (define (string->bitvector s)
      (if (not (string? s)) (wrong-type "string->bitvector" "a string" s))
      (and (>= (string-length s) 2)
           (string=? "#*" (substring s 0 2))
           (let loop ((l (cddr (string->list s))) (bits '()))
             (cond ((null? l) (reverse-list->bitvector bits))
                   ((memv (car l) '(#\0 #\1)) (loop (cdr l) (cons (if (char=? #\1 (car l)) 1 0) bits)))
                   (else #f)))))
    ;; The first bit is the least.
    (define (bitvector->integer x)
      (fold-bits-right "bitvector->integer" integer (lambda (n bit) (+ (* 2 n) bit)) 0 (list x)))
    (define integer->bitvector
      (case-lambda
        ((n) (integer->bitvector n (integer-length n)))
        ((n length)
         (unfold "integer->bitvector" length (lambda (i n) (values (floor-remainder n 2) (floor-quotient n 2)))
                 (list n) #t))))

    (define (generator who view)
      (lambda (x . range)
        (let ((l (->list who view x range)))
          (lambda ()
            (if (null? l)
                (eof-object)
                (let ((b (car l)))
                  (set! l (cdr l))
                  b))))))
    (define make-bitvector/int-generator (generator "make-bitvector/int-generator" integer))
    (define make-bitvector/bool-generator (generator "make-bitvector/bool-generator" boolean))
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
             (combine! (symbol->string 'name!) (lambda (a b) bit) (cons x (cons y more))))
           (define (name x y . more)
             (let ((new (copy (symbol->string 'name) x '())))
               (combine! (symbol->string 'name) (lambda (a b) bit) (cons new (cons y more)))
               new))))))
    (define (combine! who combine xs)
      (let ((bvs (all-bytes who xs)))
        (do ((i 0 (+ i 1))) ((= i (bytevector-length (car bvs))))
          (bytevector-u8-set! (car bvs) i
                              (let loop ((a (bytevector-u8-ref (car bvs) i)) (rest (cdr bvs)))
                                (if (null? rest) a (loop (combine a (bytevector-u8-ref (car rest) i)) (cdr rest))))))))
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
    (define (bitvector-not x) (map-bits "bitvector-not" integer (lambda (b) (- 1 b)) (list x)))
    (define (bitvector-not! x) (map-bits! "bitvector-not!" integer (lambda (b) (- 1 b)) x '()))

    ;; To the beginning if n is positive, to the end otherwise; `bit` comes in.
    (define (bitvector-logical-shift x n bit)
      (if (not (exact-integer? n)) (wrong-type "bitvector-logical-shift" "an exact integer" n))
      (let* ((length (bytevector-length (bytes "bitvector-logical-shift" x))) (new (make-bitvector length bit))
             (k (min length (abs n))))
        (if (>= n 0)
            (bitvector-copy! new 0 x k)
            (bitvector-copy! new k x 0 (- length k)))
        new))
    (define (bitvector-count wanted x)
      (let ((b (bit "bitvector-count" wanted)))
        (fold-bits "bitvector-count" integer (lambda (n c) (if (= b c) (+ n 1) n)) 0 (list x))))
    (define (bitvector-if mask then else)
      (map-bits "bitvector-if" integer (lambda (m a b) (if (= m 1) a b)) (list mask then else)))
    ;; The index of the first bit of this kind, or -1.
    (define (bitvector-first-bit wanted x)
      (let* ((bv (bytes "bitvector-first-bit" x)) (other (- 1 (bit "bitvector-first-bit" wanted)))
             (i (run-length "bitvector-first-bit" other bv 0)))
        (if (= i (bytevector-length bv)) -1 i)))
    (define (bitvector-count-run bit x i)
      (let ((bv (bytes "bitvector-count-run" x)))
        (if (not (and (exact-integer? i) (>= i 0))) (wrong-type "bitvector-count-run" "an index" i))
        (run-length "bitvector-count-run" bit bv i)))

    ;;;; Fields

    (define (field who x start end use) (with-range who x (list start end) use))
    (define (bitvector-field-any? x start end)
      (field "bitvector-field-any?" x start end
             (lambda (bv start end) (< (+ start (run-length "" 0 bv start)) end))))
    (define (bitvector-field-every? x start end)
      (field "bitvector-field-every?" x start end
             (lambda (bv start end) (>= (+ start (run-length "" 1 bv start)) end))))
    (define (fill! who x start end bit)
      (field who x start end
             (lambda (bv start end) (bytevector-copy! bv start (make-bytevector (- end start) bit)))))
    (define (replace! who to from start end)
      (check-range who start end (bytevector-length (bytes who to)))
      (copy! who to start from (list 0 (- end start))))
    (define (replace-same! who to from start end)
      (copy! who to start from (list start end)))
    (define (flip! who x start end)
      (field who x start end
             (lambda (bv start end)
               (do ((i start (+ i 1))) ((= i end))
                 (bytevector-u8-set! bv i (- 1 (bytevector-u8-ref bv i)))))))
    ;; The procedure that makes a new bitvector, and the one that changes its argument.
    (define-syntax define-field
      (syntax-rules ()
        ((_ name name! (argument ...) (do! more ...))
         (begin
           (define (name! x argument ...) (do! (symbol->string 'name!) x argument ... more ...))
           (define (name x argument ...)
             (let ((new (copy (symbol->string 'name) x '())))
               (do! (symbol->string 'name) new argument ... more ...)
               new))))))
    (define-field bitvector-field-clear bitvector-field-clear! (start end) (fill! 0))
    (define-field bitvector-field-set bitvector-field-set! (start end) (fill! 1))
    (define-field bitvector-field-replace bitvector-field-replace! (from start end) (replace!))
    (define-field bitvector-field-replace-same bitvector-field-replace-same! (from start end) (replace-same!))
    (define-field bitvector-field-flip bitvector-field-flip! (start end) (flip!))
    ;; To the beginning by n places, round the field.
    (define (bitvector-field-rotate x n start end)
      (if (not (exact-integer? n)) (wrong-type "bitvector-field-rotate" "an exact integer" n))
      (let ((part (copy "bitvector-field-rotate" x (list start end))) (new (copy "bitvector-field-rotate" x '())))
        (if (< start end)
            (let ((k (floor-remainder n (- end start))))
              (bitvector-copy! new start (bitvector-append (bitvector-drop part k) (bitvector-take part k)))))
        new))))
