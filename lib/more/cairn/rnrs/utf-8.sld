;;; (cairn rnrs utf-8): UTF-8 that may have errors, which R6RS replaces, for its ports and its `utf8->string`.
(define-library (cairn rnrs utf-8)
  (export decode-utf-8)
  (import (scheme base))
  (begin

    ;; What is right in the bytes, as UTF-8.  `bad` is called with a wrong byte and a port for what stands for it.  If
    ;; these are not the last bytes, `keep!` gets the index where a character begins whose rest is still to come.
    (define (decode-utf-8 bytes last? keep! bad)
      (define end (bytevector-length bytes))
      (define (byte k) (if (< k end) (bytevector-u8-ref bytes k) 0))
      (define (more? k) (= 2 (quotient (byte k) 64)))
      (define (size b)
        (cond ((< b #x80) 1) ((< b #xc2) 0) ((< b #xe0) 2) ((< b #xf0) 3) ((< b #xf5) 4) (else 0)))
      ;; Where a character begins of which the rest is still to come.
      (define whole
        (let loop ((k (- end 1)))
          (cond
            ((or last? (< k 0) (< k (- end 3))) end)
            ((more? k) (loop (- k 1)))
            ((> (+ k (size (byte k))) end) k)
            (else end))))
      ;; How many bytes the character at k has, or #f and how many are bad.
      (define (scalar k receive)
        (let* ((b (byte k)) (n (size b)))
          (let loop ((i 1) (code (case n ((1) b) ((2) (- b #xc0)) ((3) (- b #xe0)) (else (- b #xf0)))))
            (cond
              ((= n 0) (receive #f 1))
              ((< i n) (if (more? (+ k i)) (loop (+ i 1) (+ (* 64 code) (- (byte (+ k i)) 128))) (receive #f i)))
              ((or (and (= n 3) (< code #x800)) (and (= n 4) (< code #x10000)) (> code #x10ffff)
                   (<= #xd800 code #xdfff))
               (receive #f 1))
              (else (receive (integer->char code) n))))))
      (if (< whole end) (keep! whole))
      (if (guard (x (#t #f)) (utf8->string bytes 0 whole) #t)
          (if (= whole end) bytes (bytevector-copy bytes 0 whole))
          (let ((out (open-output-string)))
            (let loop ((k 0))
              (if (< k whole)
                  (scalar k
                    (lambda (c n)
                      (if c (write-char c out) (bad (byte k) out))
                      (loop (+ k n))))
                  (string->utf8 (get-output-string out)))))))))
