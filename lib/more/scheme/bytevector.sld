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
  (import (scheme base) (scheme case-lambda) (cairn primitives) (only (cairn control) no-byte out-of-range wrong-type)
          (rename (only (cairn vector) bytevector-fill!) (bytevector-fill! fill!)))
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
      (if (not (and (exact-integer? n) (<= least n most)))
          (let ((what (string-append "an integer from " (number->string least) " to " (number->string most))))
            (wrong-type who what n))))

    (define (check-bytevector who x)
      (if (not (bytevector? x)) (wrong-type who "a bytevector" x)))
    ;; All of `size` bytes from place k on are there.
    (define (check-bytes who bv k size)
      (if (not (and (bytevector? bv) (%fixnum? k) (%fixnum? size) (%fx<= 0 k)
                    (%fx<= size (%fx- (bytevector-length bv) k))))
          (no-place who bv k (- size 1))))

    (define (uint-ref bv k order size)
      (if (eq? order 'big)
          (let loop ((i 0) (n 0))
            (if (= i size) n (loop (+ i 1) (+ (* 256 n) (bytevector-u8-ref bv (+ k i))))))
          (let loop ((i (- size 1)) (n 0))
            (if (< i 0) n (loop (- i 1) (+ (* 256 n) (bytevector-u8-ref bv (+ k i))))))))
    ;; Of numbers that are negative, the complement is stored.
    (define (uint-set! bv k n order size)
      (let loop ((i 0) (n n))
        (if (< i size)
            (begin
              (bytevector-u8-set! bv (+ k (if (eq? order 'big) (- size 1 i) i)) (floor-remainder n 256))
              (loop (+ i 1) (floor-quotient n 256))))))
    (define (check-uint who n size)
      (check-integer who n 0 (- (expt 2 (* 8 size)) 1)))
    (define (check-sint who n size)
      (check-integer who n (- (expt 2 (- (* 8 size) 1))) (- (expt 2 (- (* 8 size) 1)) 1)))
    (define (signed n size)
      (if (>= n (expt 2 (- (* 8 size) 1))) (- n (expt 2 (* 8 size))) n))

    (define (bytevector-uint-ref bv k order size)
      (check-order "bytevector-uint-ref" order)
      (check-size "bytevector-uint-ref" size)
      (check-bytes "bytevector-uint-ref" bv k size)
      (uint-ref bv k order size))
    (define (bytevector-sint-ref bv k order size)
      (check-order "bytevector-sint-ref" order)
      (check-size "bytevector-sint-ref" size)
      (check-bytes "bytevector-sint-ref" bv k size)
      (signed (uint-ref bv k order size) size))
    (define (bytevector-uint-set! bv k n order size)
      (check-order "bytevector-uint-set!" order)
      (check-size "bytevector-uint-set!" size)
      (check-bytes "bytevector-uint-set!" bv k size)
      (check-uint "bytevector-uint-set!" n size)
      (uint-set! bv k n order size))
    (define (bytevector-sint-set! bv k n order size)
      (check-order "bytevector-sint-set!" order)
      (check-size "bytevector-sint-set!" size)
      (check-bytes "bytevector-sint-set!" bv k size)
      (check-sint "bytevector-sint-set!" n size)
      (uint-set! bv k n order size))

    (define (->list who ref)
      (lambda (bv order size)
        (check-bytevector who bv)
        (check-order who order)
        (check-size who size)
        (if (not (= 0 (remainder (bytevector-length bv) size)))
            (wrong-type who (string-append "a bytevector whose length is a multiple of " (number->string size)) bv))
        (let loop ((k (- (bytevector-length bv) size)) (acc '()))
          (if (< k 0) acc (loop (- k size) (cons (ref bv k order size) acc))))))
    (define bytevector->uint-list (->list "bytevector->uint-list" uint-ref))
    (define bytevector->sint-list
      (->list "bytevector->sint-list" (lambda (bv k order size) (signed (uint-ref bv k order size) size))))
    (define (check-list who x)
      (if (not (list? x)) (wrong-type who "a list" x)))
    (define (list-> who check-number)
      (lambda (l order size)
        (check-list who l)
        (check-order who order)
        (check-size who size)
        (let ((bv (make-bytevector (* size (length l)))))
          (let loop ((k 0) (l l))
            (if (null? l)
                bv
                (begin
                  (check-number who (car l) size)
                  (uint-set! bv k (car l) order size)
                  (loop (+ k size) (cdr l))))))))
    (define uint-list->bytevector (list-> "uint-list->bytevector" check-uint))
    (define sint-list->bytevector (list-> "sint-list->bytevector" check-sint))
    (define (bytevector->u8-list bv)
      (check-bytevector "bytevector->u8-list" bv)
      (let loop ((k (%fx- (bytevector-length bv) 1)) (acc '()))
        (if (%fx< k 0) acc (loop (%fx- k 1) (cons (bytevector-u8-ref bv k) acc)))))
    (define (u8-list->bytevector l)
      (check-list "u8-list->bytevector" l)
      (let ((bv (make-bytevector (length l))))
        (let loop ((k 0) (l l))
          (if (null? l)
              bv
              (let ((byte (car l)))
                (if (not (and (%fixnum? byte) (%fx<= 0 byte) (%fx< byte 256)))
                    (wrong-type "u8-list->bytevector" "a byte" byte))
                (bytevector-u8-set! bv k byte)
                (loop (%fx+ k 1) (cdr l)))))))

    (define (bytevector-s8-ref bv k)
      (let ((n (bytevector-u8-ref bv k)))
        (if (%fx< n 128) n (%fx- n 256))))
    (define (bytevector-s8-set! bv k n)
      (check-integer "bytevector-s8-set!" n -128 127)
      (bytevector-u8-set! bv k (%fxand n 255)))

    ;; References and stores of one size; those of the machine's own order must be aligned.
    (define-syntax check-aligned
      (syntax-rules ()
        ((_ who k size)
         (if (not (and (%fixnum? k) (%fx= 0 (%fxand k (%fx- size 1)))))
             (out-of-range who "not a multiple of the size:" k)))))
    ;; The number of the bytes at these places behind k, the first one counting least. Six of them are a fixnum.
    (define-syntax join
      (syntax-rules ()
        ((_ bv k i) (bytevector-u8-ref bv (%fx+ k i)))
        ((_ bv k a b c d e f g h) (with-high (join bv k a b c d e f) (join bv k g h)))
        ((_ bv k i j ...) (%fxior (bytevector-u8-ref bv (%fx+ k i)) (%fxsll (join bv k j ...) 8)))))
    ;; As a signed number.
    (define-syntax join-signed
      (syntax-rules ()
        ((_ bv k a b c d e f g h)
         (let ((high (join bv k g h)))
           (with-high (join bv k a b c d e f) (if (%fx< high #x8000) high (%fx- high #x10000)))))
        ((_ bv k i ... j)
         (let ((n (join bv k i ... j)) (sign (sign-bit i ... j)))
           (if (%fx< n sign) n (%fx- n (%fx+ sign sign)))))))
    (define-syntax sign-bit
      (syntax-rules ()
        ((_ a) #x80) ((_ a b) #x8000) ((_ a b c d) #x80000000)))
    ;; The number with 48 bits below a high part, mostly a fixnum.
    (define (with-high low high)
      (if (and (%fx<= -4096 high) (%fx< high 4096))
          (%fxior low (%fxsll high 48))
          (+ low (* #x1000000000000 high))))
    ;; Stores a fixnum in such bytes, as its complement if it is negative.
    (define-syntax split!
      (syntax-rules ()
        ((_ bv k n i) (bytevector-u8-set! bv (%fx+ k i) (%fxand n 255)))
        ((_ bv k n i j ...)
         (begin
           (bytevector-u8-set! bv (%fx+ k i) (%fxand n 255))
           (let ((rest (%fxsra n 8)))
             (split! bv k rest j ...))))))
    (define (no-place who bv k last)
      (if (not (bytevector? bv)) (wrong-type who "a bytevector" bv))
      (if (not (exact-integer? k)) (wrong-type who "an exact integer" k))
      (no-byte who bv (if (< k 0) k (+ k last))))
    ;; All bytes from place k to the last are there.
    (define-syntax check-place
      (syntax-rules ()
        ((_ who bv k last)
         (if (not (and (bytevector? bv) (%fixnum? k) (%fx<= 0 k) (%fx< k (%fx- (bytevector-length bv) last))))
             (no-place who bv k last)))))
    ;; A reference in both orders.
    (define-syntax ordered
      (syntax-rules ()
        ((_ who bv k order last low-first high-first)
         (begin
           (check-place who bv k last)
           (cond
             ((eq? order 'little) low-first)
             ((eq? order 'big) high-first)
             (else (check-order who order)))))))
    ;; Places behind k come in both orders, the one that counts least first.
    (define-syntax define-references
      (syntax-rules ()
        ((_ (low ...) (high ...) size (uref nuref) (sref nsref))
         (begin
           (define (uref bv k order)
             (ordered (symbol->string 'uref) bv k order (- size 1) (join bv k low ...) (join bv k high ...)))
           (define (sref bv k order)
             (ordered (symbol->string 'sref) bv k order (- size 1)
               (join-signed bv k low ...) (join-signed bv k high ...)))
           (define (nuref bv k)
             (check-aligned (symbol->string 'nuref) k size)
             (check-place (symbol->string 'nuref) bv k (- size 1))
             (join bv k low ...))
           (define (nsref bv k)
             (check-aligned (symbol->string 'nsref) k size)
             (check-place (symbol->string 'nsref) bv k (- size 1))
             (join-signed bv k low ...))))))
    ;; Is `n` a fixnum between limits, which may lie beyond all fixnums?
    (define-syntax fits?
      (syntax-rules ()
        ((_ n #x-8000000000000000 most) (%fixnum? n))
        ((_ n 0 #xffffffffffffffff) (and (%fixnum? n) (%fx<= 0 n)))
        ((_ n least most) (and (%fixnum? n) (%fx<= least n) (%fx<= n most)))))
    (define-syntax define-stores
      (syntax-rules ()
        ((_ (low ...) (high ...) size (store! native-store!) least most)
         (begin
           (define (store! bv k n order)
             (if (not (fits? n least most)) (check-integer (symbol->string 'store!) n least most))
             (ordered (symbol->string 'store!) bv k order (- size 1)
               (if (%fixnum? n) (split! bv k n low ...) (uint-set! bv k n order size))
               (if (%fixnum? n) (split! bv k n high ...) (uint-set! bv k n order size))))
           (define (native-store! bv k n)
             (check-aligned (symbol->string 'native-store!) k size)
             (if (not (fits? n least most)) (check-integer (symbol->string 'native-store!) n least most))
             (check-place (symbol->string 'native-store!) bv k (- size 1))
             (if (%fixnum? n) (split! bv k n low ...) (uint-set! bv k n 'little size)))))))

    (define-references (0 1) (1 0)
      2 (bytevector-u16-ref bytevector-u16-native-ref) (bytevector-s16-ref bytevector-s16-native-ref))
    (define-references (0 1 2 3) (3 2 1 0)
      4 (bytevector-u32-ref bytevector-u32-native-ref) (bytevector-s32-ref bytevector-s32-native-ref))
    (define-references (0 1 2 3 4 5 6 7) (7 6 5 4 3 2 1 0)
      8 (bytevector-u64-ref bytevector-u64-native-ref) (bytevector-s64-ref bytevector-s64-native-ref))
    (define-stores (0 1) (1 0) 2 (bytevector-u16-set! bytevector-u16-native-set!) 0 #xffff)
    (define-stores (0 1) (1 0) 2 (bytevector-s16-set! bytevector-s16-native-set!) #x-8000 #x7fff)
    (define-stores (0 1 2 3) (3 2 1 0) 4 (bytevector-u32-set! bytevector-u32-native-set!) 0 #xffffffff)
    (define-stores (0 1 2 3) (3 2 1 0) 4 (bytevector-s32-set! bytevector-s32-native-set!) #x-80000000 #x7fffffff)
    (define-stores (0 1 2 3 4 5 6 7) (7 6 5 4 3 2 1 0)
      8 (bytevector-u64-set! bytevector-u64-native-set!) 0 #xffffffffffffffff)
    (define-stores (0 1 2 3 4 5 6 7) (7 6 5 4 3 2 1 0)
      8 (bytevector-s64-set! bytevector-s64-native-set!) #x-8000000000000000 #x7fffffffffffffff)

    ;;;; Floating-point numbers

    (define-syntax define-numbers
      (syntax-rules ()
        ((_ size ref store! native-ref native-set!)
         (begin
           (define (ref bv k order)
             (let ((who (symbol->string 'ref)))
               (ordered who bv k order (- size 1) (%bytevector-flonum bv k size) (%bytevector-flonum bv k (- size)))))
           (define (store! bv k x order)
             (if (not (real? x)) (wrong-type (symbol->string 'store!) "a real number" x))
             (let ((x (inexact x)) (who (symbol->string 'store!)))
               (check-order who order)
               (check-place who bv k (- size 1))
               ;; fails if no byte can be stored there
               (bytevector-u8-set! bv k 0)
               (%bytevector-set-flonum! bv k (if (eq? order 'big) (- size) size) x)))
           (define (native-ref bv k)
             (check-aligned (symbol->string 'native-ref) k size)
             (check-place (symbol->string 'native-ref) bv k (- size 1))
             (%bytevector-flonum bv k size))
           (define (native-set! bv k x)
             (check-aligned (symbol->string 'native-set!) k size)
             (if (not (real? x)) (wrong-type (symbol->string 'native-set!) "a real number" x))
             (check-place (symbol->string 'native-set!) bv k (- size 1))
             (bytevector-u8-set! bv k 0)
             (%bytevector-set-flonum! bv k size (inexact x)))))))
    (define-numbers 4 bytevector-ieee-single-ref bytevector-ieee-single-set!
      bytevector-ieee-single-native-ref bytevector-ieee-single-native-set!)
    (define-numbers 8 bytevector-ieee-double-ref bytevector-ieee-double-set!
      bytevector-ieee-double-native-ref bytevector-ieee-double-native-set!)

    ;;;; Text

    (define string->utf16
      (case-lambda
        ((s) (string->utf16 s 'big))
        ((s order)
         (if (not (string? s)) (wrong-type "string->utf16" "a string" s))
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
         (if (not (string? s)) (wrong-type "string->utf32" "a string" s))
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
         (check-bytevector "utf16->string" bv)
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
                    (begin
                      (if (= k end) (write-char #\xfffd out)) ; half of a unit is left
                      (get-output-string out))))))))))
    (define utf32->string
      (case-lambda
        ((bv order) (utf32->string bv order #f))
        ((bv order mandatory?)
         (check-bytevector "utf32->string" bv)
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
                    (begin
                      (if (< k (bytevector-length bv)) (write-char #\xfffd out))
                      (get-output-string out))))))))))))
