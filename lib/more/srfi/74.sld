;;; (srfi 74): blobs: integers of any size in bytevectors, with the byte order first.
;;; Each checks its arguments by itself, so that its name is told; the work is that of (scheme bytevector).
(define-library (srfi 74)
  (export
   endianness make-blob (rename bytevector? blob?) (rename bytevector-length blob-length)
   (rename bytevector-u8-ref blob-u8-ref) (rename bytevector-u8-set! blob-u8-set!) blob-s8-ref blob-s8-set!
   blob-uint-ref blob-sint-ref blob-uint-set! blob-sint-set!
   blob-u16-ref blob-s16-ref blob-u16-set! blob-s16-set!
   blob-u16-native-ref blob-s16-native-ref blob-u16-native-set! blob-s16-native-set!
   blob-u32-ref blob-s32-ref blob-u32-set! blob-s32-set!
   blob-u32-native-ref blob-s32-native-ref blob-u32-native-set! blob-s32-native-set!
   blob-u64-ref blob-s64-ref blob-u64-set! blob-s64-set!
   blob-u64-native-ref blob-s64-native-ref blob-u64-native-set! blob-s64-native-set!
   blob=? blob-copy! blob-copy
   blob->u8-list u8-list->blob blob->uint-list blob->sint-list uint-list->blob sint-list->blob)
  (import (scheme base) (except (scheme bytevector) endianness) (only (cairn control) no-byte out-of-range wrong-type)
          (only (cairn primitives) %numeric-writable?))
  (begin

    (define-syntax endianness
      (syntax-rules (big little native)
        ((_ big) 'big)
        ((_ little) 'little)
        ((_ native) 'little)))

    ;;;; Checks

    (define (check-blob who x)
      (if (not (bytevector? x)) (wrong-type who "a bytevector" x)))
    (define (check-writable who x)
      (if (not (and (bytevector? x) (%numeric-writable? x))) (wrong-type who "a mutable bytevector" x)))
    (define (check-count who n what)
      (if (not (and (exact-integer? n) (>= n 0))) (wrong-type who what n)))
    (define (check-order who order)
      (if (not (memq order '(big little))) (wrong-type who "an endianness: big or little" order)))
    (define (check-size who size)
      (if (not (and (exact-integer? size) (> size 0))) (wrong-type who "a number of bytes" size)))
    ;; All of `size` bytes from place k on are there.
    (define (check-place who b k size)
      (check-count who k "an index")
      (if (> (+ k size) (bytevector-length b))
          (no-byte who b (+ k size -1))))
    (define (check-number who n size signed?)
      (let* ((half (expt 2 (- (* 8 size) 1))) (least (if signed? (- half) 0)) (end (+ least half half)))
        (if (not (and (exact-integer? n) (<= least n) (< n end)))
            (wrong-type who (range least (- end 1)) n))))
    (define (range least most)
      (string-append "an integer from " (number->string least) " to " (number->string most)))
    (define (check-list who l)
      (if (not (list? l)) (wrong-type who "a list" l)))

    ;;;; Whole blobs

    (define (make-blob n)
      (check-count "make-blob" n "a length")
      (make-bytevector n 0))
    (define (blob=? a b)
      (check-blob "blob=?" a)
      (check-blob "blob=?" b)
      (equal? a b))
    (define (blob-copy b)
      (check-blob "blob-copy" b)
      (bytevector-copy b))
    ;; From, where there, to, where there, how many.
    (define (blob-copy! source source-start target target-start n)
      (check-blob "blob-copy!" source)
      (check-writable "blob-copy!" target)
      (check-count "blob-copy!" n "a number of bytes")
      (check-place "blob-copy!" source source-start n)
      (check-place "blob-copy!" target target-start n)
      (bytevector-copy! target target-start source source-start (+ source-start n)))

    (define (blob->u8-list b)
      (check-blob "blob->u8-list" b)
      (bytevector->u8-list b))
    (define (u8-list->blob l)
      (check-list "u8-list->blob" l)
      (for-each (lambda (n) (check-number "u8-list->blob" n 1 #f)) l)
      (u8-list->bytevector l))
    (define (to-list who b order size ->list)
      (check-size who size)
      (check-order who order)
      (check-blob who b)
      (if (not (= 0 (remainder (bytevector-length b) size)))
          (out-of-range who (no-multiple size) (bytevector-length b)))
      (->list b order size))
    (define (no-multiple size)
      (string-append "the length is no multiple of " (number->string size) ":"))
    (define (blob->uint-list size order b) (to-list "blob->uint-list" b order size bytevector->uint-list))
    (define (blob->sint-list size order b) (to-list "blob->sint-list" b order size bytevector->sint-list))
    (define (from-list who l order size signed? list->)
      (check-size who size)
      (check-order who order)
      (check-list who l)
      (for-each (lambda (n) (check-number who n size signed?)) l)
      (list-> l order size))
    (define (uint-list->blob size order l) (from-list "uint-list->blob" l order size #f uint-list->bytevector))
    (define (sint-list->blob size order l) (from-list "sint-list->blob" l order size #t sint-list->bytevector))

    ;;;; Numbers in them

    (define (fetch who b k order size ref)
      (check-size who size)
      (check-order who order)
      (check-blob who b)
      (check-place who b k size)
      (ref b k order size))
    (define (store who b k n order size signed? set!)
      (check-size who size)
      (check-order who order)
      (check-writable who b)
      (check-place who b k size)
      (check-number who n size signed?)
      (set! b k n order size))

    (define (blob-s8-ref b k) (fetch "blob-s8-ref" b k 'little 1 bytevector-sint-ref))
    (define (blob-s8-set! b k n) (store "blob-s8-set!" b k n 'little 1 #t bytevector-sint-set!))
    (define (blob-uint-ref size order b k) (fetch "blob-uint-ref" b k order size bytevector-uint-ref))
    (define (blob-sint-ref size order b k) (fetch "blob-sint-ref" b k order size bytevector-sint-ref))
    (define (blob-uint-set! size order b k n) (store "blob-uint-set!" b k n order size #f bytevector-uint-set!))
    (define (blob-sint-set! size order b k n) (store "blob-sint-set!" b k n order size #t bytevector-sint-set!))

    (define-syntax define-blob
      (syntax-rules ()
        ((_ size signed? (ref set native-ref native-set) general-ref general-set)
         (begin
           (define (ref order b k) (fetch (symbol->string 'ref) b k order size general-ref))
           (define (set order b k n) (store (symbol->string 'set) b k n order size signed? general-set))
           (define (native-ref b k) (fetch (symbol->string 'native-ref) b k 'little size general-ref))
           (define (native-set b k n)
             (store (symbol->string 'native-set) b k n 'little size signed? general-set))))))
    (define-blob 2 #f (blob-u16-ref blob-u16-set! blob-u16-native-ref blob-u16-native-set!)
      bytevector-uint-ref bytevector-uint-set!)
    (define-blob 2 #t (blob-s16-ref blob-s16-set! blob-s16-native-ref blob-s16-native-set!)
      bytevector-sint-ref bytevector-sint-set!)
    (define-blob 4 #f (blob-u32-ref blob-u32-set! blob-u32-native-ref blob-u32-native-set!)
      bytevector-uint-ref bytevector-uint-set!)
    (define-blob 4 #t (blob-s32-ref blob-s32-set! blob-s32-native-ref blob-s32-native-set!)
      bytevector-sint-ref bytevector-sint-set!)
    (define-blob 8 #f (blob-u64-ref blob-u64-set! blob-u64-native-ref blob-u64-native-set!)
      bytevector-uint-ref bytevector-uint-set!)
    (define-blob 8 #t (blob-s64-ref blob-s64-set! blob-s64-native-ref blob-s64-native-set!)
      bytevector-sint-ref bytevector-sint-set!)))
