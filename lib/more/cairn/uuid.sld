;;; (cairn uuid): universally unique identifiers (RFC 9562), as strings.
(define-library (cairn uuid)
  (export uuid uuid-v7 uuid? uuid-version uuid->bytevector bytevector->uuid)
  (import (scheme base) (scheme file) (scheme time) (only (cairn control) wrong-type))
  (begin

    (define (random-bytes n)
      (call-with-port (open-binary-input-file "/dev/urandom") (lambda (in) (read-bytevector n in))))

    ;; Bytes as a UUID of the version.
    (define (finish! bv version)
      (bytevector-u8-set! bv 6 (+ (* 16 version) (remainder (bytevector-u8-ref bv 6) 16)))
      (bytevector-u8-set! bv 8 (+ 128 (remainder (bytevector-u8-ref bv 8) 64)))
      (bytevector->uuid bv))

    ;; A new one, of random bits of the system: version 4.
    (define (uuid)
      (finish! (random-bytes 16) 4))

    ;; A new one that begins with the time in milliseconds, so that later ones come later in the alphabet: version 7.
    (define (uuid-v7)
      (let ((bv (random-bytes 16)))
        (let loop ((i 5) (ms (exact (floor (* 1000 (current-second))))))
          (if (>= i 0)
              (begin
                (bytevector-u8-set! bv i (remainder ms 256))
                (loop (- i 1) (quotient ms 256)))))
        (finish! bv 7)))

    (define digits "0123456789abcdef")

    (define (bytevector->uuid bv)
      (if (not (and (bytevector? bv) (= 16 (bytevector-length bv))))
          (wrong-type "bytevector->uuid" "a bytevector of 16 bytes" bv))
      (let ((out (open-output-string)))
        (do ((i 0 (+ i 1))) ((= i 16) (get-output-string out))
          (if (memv i '(4 6 8 10)) (write-char #\- out))
          (let ((b (bytevector-u8-ref bv i)))
            (write-char (string-ref digits (quotient b 16)) out)
            (write-char (string-ref digits (remainder b 16)) out)))))

    (define (digit c)
      (cond ((char<=? #\0 c #\9) (- (char->integer c) 48))
            ((char<=? #\a c #\f) (- (char->integer c) 87))
            ((char<=? #\A c #\F) (- (char->integer c) 55))
            (else #f)))

    (define (uuid? x)
      (and (string? x)
           (= 36 (string-length x))
           (let loop ((i 0))
             (or (= i 36)
                 (and (if (memv i '(8 13 18 23))
                          (char=? #\- (string-ref x i))
                          (digit (string-ref x i)))
                      (loop (+ i 1)))))))

    (define (uuid->bytevector x)
      (if (not (uuid? x)) (wrong-type "uuid->bytevector" "a UUID" x))
      (let ((bv (make-bytevector 16)))
        (let loop ((i 0) (j 0))
          (cond ((= j 16) bv)
                ((char=? #\- (string-ref x i)) (loop (+ i 1) j))
                (else
                 (bytevector-u8-set! bv j (+ (* 16 (digit (string-ref x i))) (digit (string-ref x (+ i 1)))))
                 (loop (+ i 2) (+ j 1)))))))
    (define (uuid-version x)
      (quotient (bytevector-u8-ref (uuid->bytevector x) 6) 16))))
