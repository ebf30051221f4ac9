;;; (rnrs bytevectors) of R6RS.  Of (scheme bytevector), but for the order of arguments of `bytevector-copy!`.
(define-library (rnrs bytevectors)
  (export
   endianness native-endianness bytevector? make-bytevector bytevector-length bytevector=? bytevector-fill!
   bytevector-copy! bytevector-copy bytevector-u8-ref bytevector-u8-set! bytevector-s8-ref bytevector-s8-set!
   bytevector->u8-list u8-list->bytevector
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
  (import (only (scheme base) begin car define error-object? guard if lambda let pair? write-char +)
          (only (scheme case-lambda) case-lambda)
          (rename (scheme bytevector) (bytevector-copy! r7:bytevector-copy!) (make-bytevector make-of-bytes)
                  (utf8->string r7:utf8->string))
          (only (cairn control) wrong-type) (cairn rnrs utf-8))
  (begin

    (define (bytevector-copy! from start to at n)
      (r7:bytevector-copy! to at from start (+ start n)))
    ;; Bytes may be given as signed ones.
    (define (make-bytevector n . fill)
      (let ((bv (make-of-bytes n)))
        (if (pair? fill) (bytevector-fill! bv (car fill)))
        bv))

    ;; What is no UTF-8 becomes U+FFFD, as in utf16->string.
    (define utf8->string
      (case-lambda
        ((bv)
         (if (bytevector? bv)
             (guard (e ((error-object? e)
                        (r7:utf8->string (decode-utf-8 bv #t #f (lambda (byte out) (write-char #\xfffd out))))))
               (r7:utf8->string bv))
             (wrong-type "utf8->string" "a bytevector" bv)))
        ((bv start) (utf8->string (bytevector-copy bv start)))
        ((bv start end) (utf8->string (bytevector-copy bv start end)))))))
