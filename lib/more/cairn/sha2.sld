;;; (cairn sha2): the SHA-2 family of hash functions and their HMAC (FIPS 180-4, RFC 2104).
;;;
;;; SHA-224 and SHA-256 compute with words of 32 bits, which are fixnums; SHA-384 and SHA-512 with words of 64 bits,
;;; each as two halves.  The constants are the first bits of the fractions of roots of primes, so they are computed.
(define-library (cairn sha2)
  (export sha224 sha256 sha384 sha512 hmac-sha256 hmac-sha512 bytevector->hex)
  (import (scheme base) (only (cairn control) wrong-type)
          (only (cairn primitives) %fx+ %fx- %fxand %fxior %fxxor %fxsll %fxsra %vector-ref %vector-set!))
  (begin

    ;;;; Constants

    (define primes
      (let loop ((n 2) (found '()))
        (cond ((= (length found) 80) (reverse found))
              ((let prime? ((ps (reverse found)))
                 (or (null? ps) (and (not (= 0 (remainder n (car ps)))) (prime? (cdr ps)))))
               (loop (+ n 1) (cons n found)))
              (else (loop (+ n 1) found)))))

    (define two^64 (expt 2 64))
    (define two^32 (expt 2 32))

    ;; The first 64 bits behind the point of the square root and of the cube root.
    (define (square-root-bits p)
      (let-values (((root rest) (exact-integer-sqrt (* p (expt 2 128)))))
        (remainder root two^64)))
    (define (cube-root-bits p)
      (let ((n (* p (expt 2 192))))
        ;; Newton's iteration comes down to the root
        (let loop ((x (* 8 two^64)))
          (let ((next (quotient (+ (* 2 x) (quotient n (* x x))) 3)))
            (if (>= next x) (remainder x two^64) (loop next))))))

    (define (high n) (quotient n two^32))
    (define (low n) (remainder n two^32))
    (define (take l n)
      (if (= n 0) '() (cons (car l) (take (cdr l) (- n 1)))))

    (define cubes (map cube-root-bits primes))
    (define k256 (list->vector (take (map high cubes) 64)))
    ;; high and low halves by turns
    (define (halves words)
      (list->vector (apply append (map (lambda (w) (list (high w) (low w))) words))))
    (define k512 (halves cubes))
    (define roots (map square-root-bits (take primes 16)))
    (define start256 (list->vector (map high (take roots 8))))
    (define start224 (list->vector (map low (list-tail roots 8))))
    (define start512 (halves (take roots 8)))
    (define start384 (halves (list-tail roots 8)))

    ;;;; Blocks

    ;; The message with its padding: a one, zeros, and the number of bits in `size` bytes, to whole blocks.
    (define (padded bv block size)
      (let* ((n (bytevector-length bv))
             (whole (* block (quotient (+ n size block) block)))
             (out (make-bytevector whole 0)))
        (bytevector-copy! out 0 bv)
        (bytevector-u8-set! out n 128)
        (let loop ((i (- whole 1)) (bits (* 8 n)))
          (if (> bits 0)
              (begin
                (bytevector-u8-set! out i (remainder bits 256))
                (loop (- i 1) (quotient bits 256)))))
        out))

    ;; Four bytes from i on.
    (define (word bv i)
      (%fxior (%fxsll (bytevector-u8-ref bv i) 24)
              (%fxior (%fxsll (bytevector-u8-ref bv (+ i 1)) 16)
                      (%fxior (%fxsll (bytevector-u8-ref bv (+ i 2)) 8) (bytevector-u8-ref bv (+ i 3))))))

    ;; The first `size` bytes of a vector of words.
    (define (words->bytes words size)
      (let ((out (make-bytevector size)))
        (do ((i 0 (+ i 1))) ((= i size) out)
          (let ((w (vector-ref words (quotient i 4))))
            (bytevector-u8-set! out i (%fxand 255 (%fxsra w (- 24 (* 8 (remainder i 4))))))))))

    (define (bytes who x)
      (cond ((bytevector? x) x)
            ((string? x) (string->utf8 x))
            (else (wrong-type who "a bytevector or a string" x))))

    ;;;; Words of 32 bits

    (define-syntax mask
      (syntax-rules () ((_ x) (%fxand x 4294967295))))
    (define-syntax rotate
      (syntax-rules () ((_ x n) (mask (%fxior (%fxsra x n) (%fxsll x (%fx- 32 n)))))))
    (define-syntax xor3
      (syntax-rules () ((_ a b c) (%fxxor a (%fxxor b c)))))

    (define (hash32 bv start size)
      (let* ((message (padded bv 64 8)) (state (vector-copy start)) (w (make-vector 64 0)))
        (do ((block 0 (+ block 64))) ((= block (bytevector-length message)) (words->bytes state size))
          (do ((i 0 (+ i 1))) ((= i 16))
            (vector-set! w i (word message (+ block (* 4 i)))))
          (do ((i 16 (%fx+ i 1))) ((= i 64))
            (let* ((a (%vector-ref w (%fx- i 15))) (b (%vector-ref w (%fx- i 2)))
                   (s0 (xor3 (rotate a 7) (rotate a 18) (%fxsra a 3)))
                   (s1 (xor3 (rotate b 17) (rotate b 19) (%fxsra b 10))))
              (%vector-set! w i (mask (%fx+ (%fx+ (%vector-ref w (%fx- i 16)) s0)
                                            (%fx+ (%vector-ref w (%fx- i 7)) s1))))))
          (let loop ((i 0) (a (vector-ref state 0)) (b (vector-ref state 1)) (c (vector-ref state 2))
                     (d (vector-ref state 3)) (e (vector-ref state 4)) (f (vector-ref state 5))
                     (g (vector-ref state 6)) (h (vector-ref state 7)))
            (if (= i 64)
                (let add ((i 0) (l (list a b c d e f g h)))
                  (if (pair? l)
                      (begin
                        (vector-set! state i (mask (%fx+ (vector-ref state i) (car l))))
                        (add (+ i 1) (cdr l)))))
                (let* ((s1 (xor3 (rotate e 6) (rotate e 11) (rotate e 25)))
                       (choice (%fxxor (%fxand e f) (%fxand (%fxxor e 4294967295) g)))
                       (t1 (%fx+ (%fx+ (%fx+ h s1) (%fx+ choice (%vector-ref k256 i))) (%vector-ref w i)))
                       (s0 (xor3 (rotate a 2) (rotate a 13) (rotate a 22)))
                       (majority (xor3 (%fxand a b) (%fxand a c) (%fxand b c))))
                  (loop (%fx+ i 1) (mask (%fx+ t1 (%fx+ s0 majority))) a b c (mask (%fx+ d t1)) e f g)))))))

    (define (sha256 x) (hash32 (bytes "sha256" x) start256 32))
    (define (sha224 x) (hash32 (bytes "sha224" x) start224 28))

    ;;;; Words of 64 bits, as halves

    ;; The high half of a word of halves h and l, rotated by n to the right; with l and h, the low half.
    (define-syntax rotate-half
      (syntax-rules ()
        ((_ h l n)
         (if (< n 32)
             (mask (%fxior (%fxsra h n) (%fxsll l (%fx- 32 n))))
             (mask (%fxior (%fxsra l (%fx- n 32)) (%fxsll h (%fx- 64 n))))))))
    (define-syntax shifted-low
      (syntax-rules () ((_ h l n) (mask (%fxior (%fxsra l n) (%fxsll h (%fx- 32 n)))))))
    ;; Binds the halves of a sum of words, whose low halves are given first.
    (define-syntax let-sum
      (syntax-rules ()
        ((_ (h l) (low ...) (high ...) body)
         (let* ((sum (+ low ...)) (l (mask sum)) (h (mask (+ (%fxsra sum 32) high ...)))) body))))

    (define (hash64 bv start size)
      (let* ((message (padded bv 128 16)) (state (vector-copy start)) (w (make-vector 160 0)))
        (define (w-high i) (%vector-ref w (%fxsll i 1)))
        (define (w-low i) (%vector-ref w (%fx+ (%fxsll i 1) 1)))
        (do ((block 0 (+ block 128))) ((= block (bytevector-length message)) (words->bytes state size))
          (do ((i 0 (+ i 1))) ((= i 32))
            (vector-set! w i (word message (+ block (* 4 i)))))
          (do ((i 16 (+ i 1))) ((= i 80))
            (let* ((ah (w-high (- i 15))) (al (w-low (- i 15))) (bh (w-high (- i 2))) (bl (w-low (- i 2))))
              (let-sum (h l)
                       ((w-low (- i 16)) (w-low (- i 7))
                        (xor3 (rotate-half al ah 1) (rotate-half al ah 8) (shifted-low ah al 7))
                        (xor3 (rotate-half bl bh 19) (rotate-half bl bh 61) (shifted-low bh bl 6)))
                       ((w-high (- i 16)) (w-high (- i 7))
                        (xor3 (rotate-half ah al 1) (rotate-half ah al 8) (%fxsra ah 7))
                        (xor3 (rotate-half bh bl 19) (rotate-half bh bl 61) (%fxsra bh 6)))
                       (begin
                         (vector-set! w (* 2 i) h)
                         (vector-set! w (+ (* 2 i) 1) l)))))
          (let ((v (vector-copy state)))
            (define (part i) (%vector-ref v i))
            (do ((i 0 (+ i 1))) ((= i 80))
              (let ((ah (part 0)) (al (part 1)) (bh (part 2)) (bl (part 3)) (ch (part 4)) (cl (part 5))
                    (eh (part 8)) (el (part 9)) (fh (part 10)) (fl (part 11)) (gh (part 12)) (gl (part 13)))
                (let-sum (t1h t1l)
                         ((part 15) (w-low i) (vector-ref k512 (+ (* 2 i) 1))
                          (xor3 (rotate-half el eh 14) (rotate-half el eh 18) (rotate-half el eh 41))
                          (%fxxor (%fxand el fl) (%fxand (%fxxor el 4294967295) gl)))
                         ((part 14) (w-high i) (vector-ref k512 (* 2 i))
                          (xor3 (rotate-half eh el 14) (rotate-half eh el 18) (rotate-half eh el 41))
                          (%fxxor (%fxand eh fh) (%fxand (%fxxor eh 4294967295) gh)))
                         (let-sum (t2h t2l)
                                  ((xor3 (rotate-half al ah 28) (rotate-half al ah 34) (rotate-half al ah 39))
                                   (xor3 (%fxand al bl) (%fxand al cl) (%fxand bl cl)))
                                  ((xor3 (rotate-half ah al 28) (rotate-half ah al 34) (rotate-half ah al 39))
                                   (xor3 (%fxand ah bh) (%fxand ah ch) (%fxand bh ch)))
                                  (begin
                                    (vector-copy! v 2 v 0 14)
                                    (let-sum (h l) ((part 9) t1l) ((part 8) t1h)
                                             (begin
                                               (vector-set! v 8 h)
                                               (vector-set! v 9 l)))
                                    (let-sum (h l) (t1l t2l) (t1h t2h)
                                             (begin
                                               (vector-set! v 0 h)
                                               (vector-set! v 1 l))))))))
            (do ((i 0 (+ i 2))) ((= i 16))
              (let-sum (h l)
                       ((vector-ref state (+ i 1)) (vector-ref v (+ i 1)))
                       ((vector-ref state i) (vector-ref v i))
                       (begin
                         (vector-set! state i h)
                         (vector-set! state (+ i 1) l))))))))

    (define (sha512 x) (hash64 (bytes "sha512" x) start512 64))
    (define (sha384 x) (hash64 (bytes "sha384" x) start384 48))

    ;;;; HMAC

    (define (hmac hash block key message)
      (let* ((key (if (> (bytevector-length key) block) (hash key) key))
             (padded (make-bytevector block 0)))
        (bytevector-copy! padded 0 key)
        (let ((with (lambda (byte)
                      (let ((bv (make-bytevector block)))
                        (do ((i 0 (+ i 1))) ((= i block) bv)
                          (bytevector-u8-set! bv i (%fxxor byte (bytevector-u8-ref padded i))))))))
          (hash (bytevector-append (with #x5c) (hash (bytevector-append (with #x36) message)))))))
    (define (hmac-sha256 key message)
      (hmac sha256 64 (bytes "hmac-sha256" key) (bytes "hmac-sha256" message)))
    (define (hmac-sha512 key message)
      (hmac sha512 128 (bytes "hmac-sha512" key) (bytes "hmac-sha512" message)))

    ;; Two hexadecimal digits for each byte.
    (define (bytevector->hex bv)
      (if (not (bytevector? bv)) (wrong-type "bytevector->hex" "a bytevector" bv))
      (let ((out (open-output-string)) (digits "0123456789abcdef"))
        (do ((i 0 (+ i 1))) ((= i (bytevector-length bv)) (get-output-string out))
          (let ((b (bytevector-u8-ref bv i)))
            (write-char (string-ref digits (quotient b 16)) out)
            (write-char (string-ref digits (remainder b 16)) out)))))))
