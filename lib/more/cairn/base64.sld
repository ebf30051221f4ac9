;;; (cairn base64): bytes as text of 64 characters (RFC 4648).
(define-library (cairn base64)
  (export base64-encode base64url-encode base64-decode)
  (import (scheme base) (only (cairn control) wrong-type))
  (begin

    (define (bytes who x)
      (cond ((bytevector? x) x)
            ((string? x) (string->utf8 x))
            (else (wrong-type who "a bytevector or a string" x))))

    (define letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    (define (encode bv alphabet pad?)
      (let* ((n (bytevector-length bv))
             (rest (remainder n 3))
             (whole (- n rest))
             (size (+ (* 4 (quotient n 3)) (cond ((= rest 0) 0)
                                                 (pad? 4)
                                                 (else (+ rest 1)))))
             (text (make-string size #\=)))
        (define (put! i bits)
          (string-set! text i (string-ref alphabet (remainder bits 64))))
        (let loop ((i 0) (j 0))
          (cond
            ((< i whole)
             (let* ((a (bytevector-u8-ref bv i)) (b (bytevector-u8-ref bv (+ i 1))) (c (bytevector-u8-ref bv (+ i 2)))
                    (x (+ (* 65536 a) (* 256 b) c)))
               (put! j (quotient x 262144))
               (put! (+ j 1) (quotient x 4096))
               (put! (+ j 2) (quotient x 64))
               (put! (+ j 3) x)
               (loop (+ i 3) (+ j 4))))
            ((= rest 1)
             (let ((x (* 16 (bytevector-u8-ref bv i))))
               (put! j (quotient x 64))
               (put! (+ j 1) x)))
            ((= rest 2)
             (let ((x (* 4 (+ (* 256 (bytevector-u8-ref bv i)) (bytevector-u8-ref bv (+ i 1))))))
               (put! j (quotient x 4096))
               (put! (+ j 1) (quotient x 64))
               (put! (+ j 2) x)))))
        text))

    ;; Of a bytevector, or of a string as UTF-8.
    (define (base64-encode x)
      (encode (bytes "base64-encode" x) (string-append letters "+/") #t))
    ;; With - and _, which need no quoting in addresses and names of files, and no padding.
    (define (base64url-encode x)
      (encode (bytes "base64url-encode" x) (string-append letters "-_") #f))

    ;; The six bits of a character, or #f.
    (define (value c)
      (cond ((char<=? #\A c #\Z) (- (char->integer c) 65))
            ((char<=? #\a c #\z) (- (char->integer c) 71))
            ((char<=? #\0 c #\9) (+ (char->integer c) 4))
            ((memv c '(#\+ #\-)) 62)
            ((memv c '(#\/ #\_)) 63)
            (else #f)))

    ;; The bytes of either alphabet, with padding or without; white space is skipped.
    (define (base64-decode text)
      (if (not (string? text)) (wrong-type "base64-decode" "a string" text))
      (let* ((n (string-length text)) (out (make-bytevector (+ 3 (* 3 (quotient n 4))))))
        ;; k characters of four are in the accumulator
        (let loop ((i 0) (acc 0) (k 0) (j 0))
          (define (finish)
            (case k
              ((0) (bytevector-copy out 0 j))
              ((1) (error "base64-decode: one character is left at the end:" text))
              ((2)
               (bytevector-u8-set! out j (quotient acc 16))
               (bytevector-copy out 0 (+ j 1)))
              (else
               (bytevector-u8-set! out j (quotient acc 1024))
               (bytevector-u8-set! out (+ j 1) (remainder (quotient acc 4) 256))
               (bytevector-copy out 0 (+ j 2)))))
          (if (= i n)
              (finish)
              (let* ((c (string-ref text i)) (v (value c)))
                (cond
                  (v
                   (let ((acc (+ (* 64 acc) v)))
                     (if (= k 3)
                         (begin
                           (bytevector-u8-set! out j (quotient acc 65536))
                           (bytevector-u8-set! out (+ j 1) (remainder (quotient acc 256) 256))
                           (bytevector-u8-set! out (+ j 2) (remainder acc 256))
                           (loop (+ i 1) 0 0 (+ j 3)))
                         (loop (+ i 1) acc (+ k 1) j))))
                  ((memv c '(#\space #\newline #\return #\tab)) (loop (+ i 1) acc k j))
                  ((char=? c #\=)
                   ;; nothing but padding may follow
                   (let rest ((i i))
                     (cond ((= i n) (finish))
                           ((memv (string-ref text i) '(#\= #\space #\newline #\return #\tab)) (rest (+ i 1)))
                           (else (error "base64-decode: something follows the padding:" (string-ref text i))))))
                  (else (error "base64-decode: not a character of base64:" c))))))))))
