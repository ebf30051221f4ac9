;;; (srfi 74): blobs: integers of any size in bytevectors, with the byte order first.
(define-library (srfi 74)
  (export
   endianness make-blob (rename bytevector? blob?) (rename bytevector-length blob-length)
   (rename bytevector-u8-ref blob-u8-ref) (rename bytevector-u8-set! blob-u8-set!)
   (rename bytevector-s8-ref blob-s8-ref) (rename bytevector-s8-set! blob-s8-set!)
   blob-uint-ref blob-sint-ref blob-uint-set! blob-sint-set!
   blob-u16-ref blob-s16-ref blob-u16-set! blob-s16-set!
   blob-u16-native-ref blob-s16-native-ref blob-u16-native-set! blob-s16-native-set!
   blob-u32-ref blob-s32-ref blob-u32-set! blob-s32-set!
   blob-u32-native-ref blob-s32-native-ref blob-u32-native-set! blob-s32-native-set!
   blob-u64-ref blob-s64-ref blob-u64-set! blob-s64-set!
   blob-u64-native-ref blob-s64-native-ref blob-u64-native-set! blob-s64-native-set!
   (rename bytevector=? blob=?) blob-copy! blob-copy
   (rename bytevector->u8-list blob->u8-list) (rename u8-list->bytevector u8-list->blob)
   blob->uint-list blob->sint-list uint-list->blob sint-list->blob)
  (import (scheme base) (except (scheme bytevector) endianness))
  (begin

    (define-syntax endianness
      (syntax-rules (big little native)
        ((_ big) 'big)
        ((_ little) 'little)
        ((_ native) 'little)))

    (define (make-blob n) (make-bytevector n 0))
    (define (blob-copy b) (bytevector-copy b))
    ;; From, where there, to, where there, how many.
    (define (blob-copy! source source-start target target-start n)
      (bytevector-copy! target target-start source source-start (+ source-start n)))

    (define (blob-uint-ref size order b k) (bytevector-uint-ref b k order size))
    (define (blob-sint-ref size order b k) (bytevector-sint-ref b k order size))
    (define (blob-uint-set! size order b k n) (bytevector-uint-set! b k n order size))
    (define (blob-sint-set! size order b k n) (bytevector-sint-set! b k n order size))
    (define (blob->uint-list size order b) (bytevector->uint-list b order size))
    (define (blob->sint-list size order b) (bytevector->sint-list b order size))
    (define (uint-list->blob size order l) (uint-list->bytevector l order size))
    (define (sint-list->blob size order l) (sint-list->bytevector l order size))

    (define-syntax define-blob
      (syntax-rules ()
        ((_ size (ref set! native-ref native-set!) general-ref general-set!)
         (begin
           (define (ref order b k) (general-ref b k order size))
           (define (set! order b k n) (general-set! b k n order size))
           (define (native-ref b k) (general-ref b k 'little size))
           (define (native-set! b k n) (general-set! b k n 'little size))))))
    (define-blob 2 (blob-u16-ref blob-u16-set! blob-u16-native-ref blob-u16-native-set!)
      bytevector-uint-ref bytevector-uint-set!)
    (define-blob 2 (blob-s16-ref blob-s16-set! blob-s16-native-ref blob-s16-native-set!)
      bytevector-sint-ref bytevector-sint-set!)
    (define-blob 4 (blob-u32-ref blob-u32-set! blob-u32-native-ref blob-u32-native-set!)
      bytevector-uint-ref bytevector-uint-set!)
    (define-blob 4 (blob-s32-ref blob-s32-set! blob-s32-native-ref blob-s32-native-set!)
      bytevector-sint-ref bytevector-sint-set!)
    (define-blob 8 (blob-u64-ref blob-u64-set! blob-u64-native-ref blob-u64-native-set!)
      bytevector-uint-ref bytevector-uint-set!)
    (define-blob 8 (blob-s64-ref blob-s64-set! blob-s64-native-ref blob-s64-native-set!)
      bytevector-sint-ref bytevector-sint-set!)))
