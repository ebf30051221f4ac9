;;; (srfi 151): bitwise operations on exact integers, seen as infinite rows of bits; also as (scheme bitwise).
;;;
;;; A field [start, end) is cut out with a mask of end - start ones.  Whole numbers go through the primitives; what
;;; works bit by bit is in the last two parts.
(define-library (srfi 151)
  (export
   bitwise-not bitwise-and bitwise-ior bitwise-xor bitwise-eqv bitwise-nand bitwise-nor
   bitwise-andc1 bitwise-andc2 bitwise-orc1 bitwise-orc2
   arithmetic-shift bit-count integer-length bitwise-if
   bit-set? copy-bit bit-swap any-bit-set? every-bit-set? first-set-bit
   bit-field bit-field-any? bit-field-every? bit-field-clear bit-field-set
   bit-field-replace bit-field-replace-same bit-field-rotate bit-field-reverse
   bits->list list->bits bits->vector vector->bits bits
   bitwise-fold bitwise-for-each bitwise-unfold make-bitwise-generator)
  (import (scheme base) (scheme case-lambda) (only (cairn control) out-of-range wrong-type)
          (only (cairn primitives) %fixnum? %fx<= %fxand %fxsra %fxtrailing %eq?)
          (only (cairn number) bitwise-not bitwise-and bitwise-ior bitwise-xor arithmetic-shift bit-count
                integer-length))
  (begin

    (define (check-integer who x)
      (if (exact-integer? x) x (wrong-type who "an exact integer" x)))

    ;; A procedure of exact integers.
    (define-syntax define-on-integers
      (syntax-rules ()
        ((_ (name n ...) body)
         (define (name n ...)
           (check-integer (symbol->string 'name) n)
           ...
           body))))

    (define bitwise-eqv
      (case-lambda
        ((a b) (bitwise-not (bitwise-xor (check-integer "bitwise-eqv" a) (check-integer "bitwise-eqv" b))))
        ((a) (check-integer "bitwise-eqv" a))
        (() -1)
        ((a b . rest) (apply bitwise-eqv (bitwise-eqv a b) rest))))

    (define-on-integers (bitwise-nand a b) (bitwise-not (bitwise-and a b)))
    (define-on-integers (bitwise-nor a b) (bitwise-not (bitwise-ior a b)))
    (define-on-integers (bitwise-andc1 a b) (bitwise-and (bitwise-not a) b))
    (define-on-integers (bitwise-andc2 a b) (bitwise-and a (bitwise-not b)))
    (define-on-integers (bitwise-orc1 a b) (bitwise-ior (bitwise-not a) b))
    (define-on-integers (bitwise-orc2 a b) (bitwise-ior a (bitwise-not b)))

    ;; The bits of a where the mask has ones, else those of b.
    (define-on-integers (bitwise-if mask a b)
      (bitwise-xor b (bitwise-and mask (bitwise-xor a b))))

    ;;;; Single bits

    (define (check-index who i)
      (if (>= (check-integer who i) 0) i (out-of-range who "not the index of a bit:" i)))

    (define (bit-set? i n)
      (if (and (%fixnum? i) (%fixnum? n) (%fx<= 0 i) (%fx<= i 60))
          (%eq? 1 (%fxand 1 (%fxsra n i)))
          (far-bit-set? i n)))
    (define (far-bit-set? i n)
      (odd? (arithmetic-shift (check-integer "bit-set?" n) (- (check-index "bit-set?" i)))))

    (define (copy-bit i n on?)
      (check-integer "copy-bit" n)
      (let ((bit (arithmetic-shift 1 (check-index "copy-bit" i))))
        (if on? (bitwise-ior n bit) (bitwise-andc2 n bit))))

    (define (bit-swap i j n)
      (let ((a (bit-set? (check-index "bit-swap" i) (check-integer "bit-swap" n)))
            (b (bit-set? (check-index "bit-swap" j) n)))
        (copy-bit j (copy-bit i n b) a)))

    (define-on-integers (any-bit-set? bits n) (not (eqv? (bitwise-and bits n) 0)))
    (define-on-integers (every-bit-set? bits n) (= (bitwise-and bits n) bits))

    (define (first-set-bit n)
      (if (%fixnum? n)
          (if (%eq? n 0) -1 (%fxtrailing n))
          (far-first-set-bit n)))
    (define (far-first-set-bit n)
      (- (integer-length (bitwise-xor (check-integer "first-set-bit" n) (- n 1))) 1))

    ;;;; Fields

    (define (ones n) (- (arithmetic-shift 1 n) 1))

    ;; `body`, if start and end bound a field.
    (define-syntax with-field
      (syntax-rules ()
        ((_ who n start end body)
         (if (and (check-integer who n) (exact-integer? start) (exact-integer? end)
                  (<= 0 start end))
             body
             (out-of-range who "not a field of bits:" (cons start end))))))

    (define (field n start end)
      (bitwise-and (arithmetic-shift n (- start)) (ones (- end start))))

    (define (mask start end)
      (arithmetic-shift (ones (- end start)) start))

    ;; n with the bits of x, from bit 0 of x, in the field.
    (define (replace n x start end)
      (bitwise-if (mask start end) (arithmetic-shift x start) n))

    (define (bit-field n start end)
      (with-field "bit-field" n start end (field n start end)))
    (define (bit-field-any? n start end)
      (with-field "bit-field-any?" n start end (not (eqv? (field n start end) 0))))
    (define (bit-field-every? n start end)
      (with-field "bit-field-every?" n start end (= (field n start end) (ones (- end start)))))
    (define (bit-field-clear n start end)
      (with-field "bit-field-clear" n start end (bitwise-andc2 n (mask start end))))
    (define (bit-field-set n start end)
      (with-field "bit-field-set" n start end (bitwise-ior n (mask start end))))
    (define (bit-field-replace n x start end)
      (with-field "bit-field-replace" n start end (replace n x start end)))
    (define (bit-field-replace-same n x start end)
      (with-field "bit-field-replace-same" n start end (bitwise-if (mask start end) x n)))

    ;; To the left by `count`; to the right if that is negative.
    (define (bit-field-rotate n count start end)
      (with-field "bit-field-rotate" n start end
        (let ((width (- end start)))
          (if (eqv? width 0)
              n
              (let ((k (floor-remainder count width)) (x (field n start end)))
                (replace n
                         (bitwise-ior (arithmetic-shift x k) (arithmetic-shift x (- k width)))
                         start end))))))

    (define (bit-field-reverse n start end)
      (with-field "bit-field-reverse" n start end
        (let loop ((x (field n start end)) (k (- end start)) (reversed 0))
          (if (eqv? k 0)
              (replace n reversed start end)
              (loop (arithmetic-shift x -1)
                    (- k 1)
                    (bitwise-ior (arithmetic-shift reversed 1) (bitwise-and x 1)))))))

    ;;;; Bits as booleans, from bit 0

    (define (length-of who n)
      (if (>= (check-integer who n) 0)
          (integer-length n)
          (out-of-range who "a negative number has infinitely many bits:" n)))

    (define bits->list
      (case-lambda
        ((n) (bits->list n (length-of "bits->list" n)))
        ((n length)
         (check-integer "bits->list" n)
         (let loop ((i (- (check-index "bits->list" length) 1)) (l '()))
           (if (< i 0) l (loop (- i 1) (cons (bit-set? i n) l)))))))

    (define (list->bits l)
      (if (not (list? l)) (wrong-type "list->bits" "a list" l))
      (let loop ((l (reverse l)) (n 0))
        (if (null? l) n (loop (cdr l) (+ n n (if (car l) 1 0))))))

    (define bits->vector
      (case-lambda
        ((n) (bits->vector n (length-of "bits->vector" n)))
        ((n length)
         (check-integer "bits->vector" n)
         (let ((v (make-vector (check-index "bits->vector" length))))
           (do ((i 0 (+ i 1))) ((= i length) v)
             (vector-set! v i (bit-set? i n)))))))

    (define (vector->bits v)
      (let loop ((i (- (vector-length v) 1)) (n 0))
        (if (< i 0) n (loop (- i 1) (+ n n (if (vector-ref v i) 1 0))))))

    (define (bits . booleans) (list->bits booleans))

    ;;;; Loops

    (define (bitwise-fold proc seed n)
      (let ((length (length-of "bitwise-fold" n)))
        (let loop ((i 0) (acc seed))
          (if (= i length) acc (loop (+ i 1) (proc (bit-set? i n) acc))))))

    (define (bitwise-for-each proc n)
      (let ((length (length-of "bitwise-for-each" n)))
        (do ((i 0 (+ i 1))) ((= i length))
          (proc (bit-set? i n)))))

    (define (bitwise-unfold stop? mapper successor seed)
      (let loop ((state seed) (i 0) (n 0))
        (if (stop? state)
            n
            (loop (successor state)
                  (+ i 1)
                  (if (mapper state) (bitwise-ior n (arithmetic-shift 1 i)) n)))))

    ;; Endless, as the row of bits.
    (define (make-bitwise-generator n)
      (lambda ()
        (let ((bit (odd? n)))
          (set! n (arithmetic-shift n -1))
          bit)))))
