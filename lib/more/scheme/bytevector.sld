;;; (scheme bytevector): the bytevectors of R6RS: integers, floating-point numbers and text in bytes.
;;;
;;; What (scheme base) has is the same here: so `bytevector-copy!` has the arguments of R7RS.
(define-library (scheme bytevector)
  (export
   endianness native-endianness bytevector? make-bytevector bytevector-length bytevector=? bytevector-fill!
   bytevector-copy! bytevector-copy bytevector bytevector-append bytevector-u8-ref bytevector-u8-set! bytevector-s8-ref
   bytevector-s8-set! bytevector->u8-list u8-list->bytevector
   bytevector-uint-ref bytevector-sint-ref bytevector-uint-set! bytevector-sint-set! bytevector->uint-list
   bytevector->sint-list uint-list->bytevector sint-list->bytevector
   bytevector-u16-ref bytevector-s16-ref bytevector-u16-native-ref bytevector-s16-native-ref
   bytevector-u16-set! bytevector-s16-set! bytevector-u16-native-set! bytevector-s16-native-set!
   bytevector-u32-ref bytevector-s32-ref bytevector-u32-native-ref bytevector-s32-native-ref
   bytevector-u32-set! bytevector-s32-set! bytevector-u32-native-set! bytevector-s32-native-set!
   bytevector-u64-ref bytevector-s64-ref bytevector-u64-native-ref bytevector-s64-native-ref
   bytevector-u64-set! bytevector-s64-set! bytevector-u64-native-set! bytevector-s64-native-set!
   bytevector-ieee-single-native-ref bytevector-ieee-single-ref bytevector-ieee-double-native-ref
   bytevector-ieee-double-ref bytevector-ieee-single-native-set! bytevector-ieee-single-set!
   bytevector-ieee-double-native-set! bytevector-ieee-double-set!
   string->utf8 string->utf16 string->utf32 utf8->string utf16->string utf32->string)
  (import (scheme base) (scheme case-lambda) (only (cairn control) out-of-range wrong-type)
          (rename (only (cairn vector) bytevector-fill!) (bytevector-fill! fill!))
          (only (cairn number) integer-length))
  (begin

    (define-syntax endianness
      (syntax-rules (big little)
        ((_ big) 'big)
        ((_ little) 'little)))
    (define (native-endianness) 'little)

    (define (check-order who x)
      (if (not (memq x '(big little))) (wrong-type who "an endianness: big or little" x)))

    (define (bytevector=? a b)
      (for-each (lambda (x) (if (not (bytevector? x)) (wrong-type "bytevector=?" "a bytevector" x))) (list a b))
      (equal? a b))
    (define (bytevector-fill! bv byte . range)
      (apply fill! bv (if (and (exact-integer? byte) (<= -128 byte -1)) (+ byte 256) byte) range))

    ;;;; Integers

    (define (check-size who size)
      (if (not (and (exact-integer? size) (> size 0))) (wrong-type who "a positive number of bytes" size)))
    (define (check-integer who n least most)
      (let ((what (string-append "an integer from " (number->string least) " to " (number->string most))))
        (if (not (and (exact-integer? n) (<= least n most))) (wrong-type who what n))))

    (define (uint-ref bv k order size)
      (if (eq? order 'big)
          (let loop ((i 0) (n 0))
            (if (= i size) n (loop (+ i 1) (+ (* 256 n) (bytevector-u8-ref bv (+ k i))))))
          (let loop ((i (- size 1)) (n 0))
            (if (< i 0) n (loop (- i 1) (+ (* 256 n) (bytevector-u8-ref bv (+ k i))))))))
    ;; Of numbers that are negative, the complement is stored.
    (define (uint-set! bv k n order size)
      (bytevector-u8-ref bv (+ k size -1))
      (let loop ((i 0) (n n))
        (if (< i size)
            (begin
              (bytevector-u8-set! bv (+ k (if (eq? order 'big) (- size 1 i) i)) (floor-remainder n 256))
              (loop (+ i 1) (floor-quotient n 256))))))
    (define (signed n size)
      (if (>= n (expt 2 (- (* 8 size) 1))) (- n (expt 2 (* 8 size))) n))

    (define (bytevector-uint-ref bv k order size)
      (check-order "bytevector-uint-ref" order)
      (check-size "bytevector-uint-ref" size)
      (uint-ref bv k order size))
    (define (bytevector-sint-ref bv k order size)
      (check-order "bytevector-sint-ref" order)
      (check-size "bytevector-sint-ref" size)
      (signed (uint-ref bv k order size) size))
    (define (bytevector-uint-set! bv k n order size)
      (check-order "bytevector-uint-set!" order)
      (check-size "bytevector-uint-set!" size)
      (check-integer "bytevector-uint-set!" n 0 (- (expt 2 (* 8 size)) 1))
      (uint-set! bv k n order size))
    (define (bytevector-sint-set! bv k n order size)
      (check-order "bytevector-sint-set!" order)
      (check-size "bytevector-sint-set!" size)
      (check-integer "bytevector-sint-set!" n (- (expt 2 (- (* 8 size) 1))) (- (expt 2 (- (* 8 size) 1)) 1))
      (uint-set! bv k n order size))

    (define (->list ref)
      (lambda (bv order size)
        (check-size "bytevector->uint-list" size)
        (if (not (= 0 (remainder (bytevector-length bv) size)))
            (error "bytevector->uint-list: the length is no multiple of the size:" (bytevector-length bv) size))
        (let loop ((k (- (bytevector-length bv) size)) (acc '()))
          (if (< k 0) acc (loop (- k size) (cons (ref bv k order size) acc))))))
    (define bytevector->uint-list (->list bytevector-uint-ref))
    (define bytevector->sint-list (->list bytevector-sint-ref))
    (define (list-> set!)
      (lambda (l order size)
        (check-size "uint-list->bytevector" size)
        (let ((bv (make-bytevector (* size (length l)))))
          (let loop ((k 0) (l l))
            (if (null? l)
                bv
                (begin
                  (set! bv k (car l) order size)
                  (loop (+ k size) (cdr l))))))))
    (define uint-list->bytevector (list-> bytevector-uint-set!))
    (define sint-list->bytevector (list-> bytevector-sint-set!))
    (define (bytevector->u8-list bv) (bytevector->uint-list bv 'big 1))
    (define (u8-list->bytevector l) (apply bytevector l))

    (define (bytevector-s8-ref bv k) (signed (bytevector-u8-ref bv k) 1))
    (define (bytevector-s8-set! bv k n)
      (check-integer "bytevector-s8-set!" n -128 127)
      (bytevector-u8-set! bv k (floor-remainder n 256)))

    ;; References and stores of one size; those of the machine's own order must be aligned.
    (define (check-aligned who k size)
      (if (not (and (exact-integer? k) (= 0 (remainder k size))))
          (out-of-range who "not a multiple of the size:" k)))
    (define-syntax define-integers
      (syntax-rules ()
        ((_ size (uref uset! nuref nuset!) (sref sset! nsref nsset!))
         (begin
           (define (uref bv k order) (bytevector-uint-ref bv k order size))
           (define (sref bv k order) (bytevector-sint-ref bv k order size))
           (define (uset! bv k n order) (bytevector-uint-set! bv k n order size))
           (define (sset! bv k n order) (bytevector-sint-set! bv k n order size))
           (define (nuref bv k)
             (check-aligned (symbol->string 'nuref) k size)
             (uref bv k 'little))
           (define (nsref bv k)
             (check-aligned (symbol->string 'nsref) k size)
             (sref bv k 'little))
           (define (nuset! bv k n)
             (check-aligned (symbol->string 'nuset!) k size)
             (uset! bv k n 'little))
           (define (nsset! bv k n)
             (check-aligned (symbol->string 'nsset!) k size)
             (sset! bv k n 'little))))))
    (define-integers 2
      (bytevector-u16-ref bytevector-u16-set! bytevector-u16-native-ref bytevector-u16-native-set!)
      (bytevector-s16-ref bytevector-s16-set! bytevector-s16-native-ref bytevector-s16-native-set!))
    (define-integers 4
      (bytevector-u32-ref bytevector-u32-set! bytevector-u32-native-ref bytevector-u32-native-set!)
      (bytevector-s32-ref bytevector-s32-set! bytevector-s32-native-ref bytevector-s32-native-set!))
    (define-integers 8
      (bytevector-u64-ref bytevector-u64-set! bytevector-u64-native-ref bytevector-u64-native-set!)
      (bytevector-s64-ref bytevector-s64-set! bytevector-s64-native-ref bytevector-s64-native-set!))

    ;;;; Floating-point numbers: sign, exponent and fraction as an integer

    ;; `digits` of the fraction, and the greatest exponent, which is also what is added to it.
    (define (real->bits x digits bias)
      (let ((sign (* (if (or (< x 0) (eqv? x -0.0)) 1 0) (* 2 (+ bias 1) (expt 2 digits))))
            (infinite (* (+ bias bias 1) (expt 2 digits))))
        (cond
          ((not (= x x)) (+ infinite (expt 2 (- digits 1))))
          ((= x 0) sign)
          ((= (abs x) +inf.0) (+ sign infinite))
          (else
           (let* ((r (exact (abs x)))
                  (guess (- (integer-length (numerator r)) (integer-length (denominator r))))
                  (e (max (if (< r (expt 2 guess)) (- guess 1) guess) (- 1 bias)))
                  (m (round (* r (expt 2 (- digits e))))))
             ;; a fraction that was rounded up to a power of two adds one to the exponent
             (+ sign (min infinite (+ m (* (+ e bias -1) (expt 2 digits))))))))))
    (define (bits->real n digits bias)
      (let* ((whole (expt 2 digits))
             (fraction (remainder n whole))
             (e (remainder (quotient n whole) (* 2 (+ bias 1))))
             (negative? (>= n (* whole 2 (+ bias 1))))
             (x (cond ((= e (+ bias bias 1)) (if (= fraction 0) +inf.0 +nan.0))
                      ((= e 0) (inexact (* fraction (expt 2 (- 1 bias digits)))))
                      (else (inexact (* (+ whole fraction) (expt 2 (- e bias digits))))))))
        (if negative? (- x) x)))

    (define (check-real who x)
      (if (not (real? x)) (wrong-type who "a real number" x)))
    (define (bytevector-ieee-single-ref bv k order) (bits->real (bytevector-u32-ref bv k order) 23 127))
    (define (bytevector-ieee-double-ref bv k order) (bits->real (bytevector-u64-ref bv k order) 52 1023))
    (define (bytevector-ieee-single-set! bv k x order)
      (check-real "bytevector-ieee-single-set!" x)
      (bytevector-u32-set! bv k (real->bits (inexact x) 23 127) order))
    (define (bytevector-ieee-double-set! bv k x order)
      (check-real "bytevector-ieee-double-set!" x)
      (bytevector-u64-set! bv k (real->bits (inexact x) 52 1023) order))
    (define (bytevector-ieee-single-native-ref bv k)
      (check-aligned "bytevector-ieee-single-native-ref" k 4)
      (bytevector-ieee-single-ref bv k 'little))
    (define (bytevector-ieee-double-native-ref bv k)
      (check-aligned "bytevector-ieee-double-native-ref" k 8)
      (bytevector-ieee-double-ref bv k 'little))
    (define (bytevector-ieee-single-native-set! bv k x)
      (check-aligned "bytevector-ieee-single-native-set!" k 4)
      (bytevector-ieee-single-set! bv k x 'little))
    (define (bytevector-ieee-double-native-set! bv k x)
      (check-aligned "bytevector-ieee-double-native-set!" k 8)
      (bytevector-ieee-double-set! bv k x 'little))

    ;;;; Text

    (define string->utf16
      (case-lambda
        ((s) (string->utf16 s 'big))
        ((s order)
         (check-order "string->utf16" order)
         (let ((units '()))
           (string-for-each
            (lambda (c)
              (let ((n (char->integer c)))
                (set! units
                      (if (< n #x10000)
                          (cons n units)
                          (let ((n (- n #x10000)))
                            (cons (+ #xdc00 (remainder n #x400)) (cons (+ #xd800 (quotient n #x400)) units)))))))
            s)
           (uint-list->bytevector (reverse units) order 2)))))
    (define string->utf32
      (case-lambda
        ((s) (string->utf32 s 'big))
        ((s order)
         (check-order "string->utf32" order)
         (uint-list->bytevector (map char->integer (string->list s)) order 4))))

    ;; Calls `use` with the order and where the text begins: a mark at the beginning counts more than `order`, unless
    ;; that is mandatory.
    (define (with-mark bv order mandatory? size use)
      (let ((mark (if (>= (bytevector-length bv) size) (uint-ref bv 0 'big size) 0))
            (swapped (if (= size 2) #xfffe #xfffe0000)))
        (cond (mandatory? (use order 0))
              ((= mark #xfeff) (use 'big size))
              ((= mark swapped) (use 'little size))
              (else (use order 0)))))
    (define (character n)
      (integer->char (if (or (<= #xd800 n #xdfff) (> n #x10ffff)) #xfffd n)))

    (define utf16->string
      (case-lambda
        ((bv order) (utf16->string bv order #f))
        ((bv order mandatory?)
         (check-order "utf16->string" order)
         (with-mark
          bv order mandatory? 2
          (lambda (order start)
            (let ((out (open-output-string)) (end (- (bytevector-length bv) 1)))
              (let loop ((k start))
                (if (< k end)
                    (let ((n (uint-ref bv k order 2)) (m (if (< (+ k 2) end) (uint-ref bv (+ k 2) order 2) 0)))
                      (if (and (<= #xd800 n #xdbff) (<= #xdc00 m #xdfff))
                          (begin
                            (write-char (integer->char (+ #x10000 (* #x400 (- n #xd800)) (- m #xdc00))) out)
                            (loop (+ k 4)))
                          (begin
                            (write-char (character n) out)
                            (loop (+ k 2)))))
                    (get-output-string out)))))))))
    (define utf32->string
      (case-lambda
        ((bv order) (utf32->string bv order #f))
        ((bv order mandatory?)
         (check-order "utf32->string" order)
         (with-mark
          bv order mandatory? 4
          (lambda (order start)
            (let ((out (open-output-string)) (end (- (bytevector-length bv) 3)))
              (let loop ((k start))
                (if (< k end)
                    (begin
                      (write-char (character (uint-ref bv k order 4)) out)
                      (loop (+ k 4)))
                    (get-output-string out)))))))))))
