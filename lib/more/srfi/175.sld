;;; (srfi 175): ASCII: characters, and integers that stand for them, whose properties are those of ASCII alone.
(define-library (srfi 175)
  (export
   ascii-codepoint? ascii-bytevector? ascii-char? ascii-string? ascii-control? ascii-non-control? ascii-whitespace?
   ascii-space-or-tab? ascii-other-graphic? ascii-upper-case? ascii-lower-case? ascii-alphabetic?
   ascii-alphanumeric? ascii-numeric? ascii-digit-value ascii-upper-case-value ascii-lower-case-value
   ascii-nth-digit ascii-nth-upper-case ascii-nth-lower-case ascii-upcase ascii-downcase ascii-control->graphic
   ascii-graphic->control ascii-mirror-bracket ascii-ci=? ascii-ci<? ascii-ci>? ascii-ci<=? ascii-ci>=?
   ascii-string-ci=? ascii-string-ci<? ascii-string-ci>? ascii-string-ci<=? ascii-string-ci>=?)
  (import (scheme base) (only (cairn control) wrong-type))
  (begin

    (define (ascii-codepoint? x) (and (exact-integer? x) (<= 0 x 127)))
    (define (ascii-char? x) (and (char? x) (char<? x #\x80)))
    (define (ascii-bytevector? x)
      (and (bytevector? x)
           (let loop ((i (- (bytevector-length x) 1)))
             (or (< i 0) (and (< (bytevector-u8-ref x i) 128) (loop (- i 1)))))))
    (define (ascii-string? x)
      (and (string? x)
           (let loop ((i (- (string-length x) 1)))
             (or (< i 0) (and (char<? (string-ref x i) #\x80) (loop (- i 1)))))))

    ;; The number of a character, or of what stands for one.
    (define (code who x)
      (cond ((char? x) (char->integer x))
            ((exact-integer? x) x)
            (else (wrong-type who "a character or its number" x))))
    (define (check-integer who n)
      (if (exact-integer? n) n (wrong-type who "an exact integer" n)))
    ;; A number as what x is.
    (define (like x n)
      (and n (if (char? x) (integer->char n) n)))

    (define-syntax define-test
      (syntax-rules ()
        ((_ (name n) test) (define (name x) (let ((n (code (symbol->string 'name) x))) test)))))
    (define-test (ascii-control? n) (or (<= 0 n 31) (= n 127)))
    (define-test (ascii-non-control? n) (<= 32 n 126))
    (define-test (ascii-whitespace? n) (or (<= 9 n 13) (= n 32)))
    (define-test (ascii-space-or-tab? n) (or (= n 9) (= n 32)))
    (define-test (ascii-other-graphic? n)
      (or (<= 33 n 47) (<= 58 n 64) (<= 91 n 96) (<= 123 n 126)))
    (define-test (ascii-upper-case? n) (upper? n))
    (define-test (ascii-lower-case? n) (lower? n))
    (define-test (ascii-alphabetic? n) (or (upper? n) (lower? n)))
    (define-test (ascii-alphanumeric? n) (or (<= 48 n 57) (upper? n) (lower? n)))
    (define-test (ascii-numeric? n) (<= 48 n 57))
    (define (upper? n) (<= 65 n 90))
    (define (lower? n) (<= 97 n 122))

    ;; The value of a digit below a limit, or of one of the first `limit` letters, which begin with `offset`; or #f.
    (define (ascii-digit-value x limit)
      (let ((n (- (code "ascii-digit-value" x) 48)))
        (and (< -1 n (min (check-integer "ascii-digit-value" limit) 10)) n)))
    (define (letter-value who x first offset limit)
      (check-integer who offset)
      (let ((n (- (code who x) first)))
        (and (< -1 n (min (check-integer who limit) 26)) (+ n offset))))
    (define (ascii-upper-case-value x offset limit) (letter-value "ascii-upper-case-value" x 65 offset limit))
    (define (ascii-lower-case-value x offset limit) (letter-value "ascii-lower-case-value" x 97 offset limit))
    (define (ascii-nth-digit n) (and (<= 0 (check-integer "ascii-nth-digit" n) 9) (integer->char (+ 48 n))))
    (define (ascii-nth-upper-case n)
      (integer->char (+ 65 (floor-remainder (check-integer "ascii-nth-upper-case" n) 26))))
    (define (ascii-nth-lower-case n)
      (integer->char (+ 97 (floor-remainder (check-integer "ascii-nth-lower-case" n) 26))))

    (define (ascii-upcase x)
      (let ((n (code "ascii-upcase" x)))
        (if (lower? n) (like x (- n 32)) x)))
    (define (ascii-downcase x)
      (like x (folded "ascii-downcase" x)))
    ;; ^A stands for the control character 1.
    (define (ascii-control->graphic x)
      (let ((n (code "ascii-control->graphic" x)))
        (like x (cond ((<= 0 n 31) (+ n 64))
                      ((= n 127) 63)
                      (else #f)))))
    (define (ascii-graphic->control x)
      (let ((n (code "ascii-graphic->control" x)))
        (like x (cond ((<= 64 n 95) (- n 64))
                      ((= n 63) 127)
                      (else #f)))))
    (define (ascii-mirror-bracket x)
      (let ((pair (assv (code "ascii-mirror-bracket" x)
                        '((40 . 41) (41 . 40) (60 . 62) (62 . 60) (91 . 93) (93 . 91) (123 . 125) (125 . 123)))))
        (like x (and pair (cdr pair)))))

    (define (folded who x)
      (let ((n (code who x)))
        (if (upper? n) (+ n 32) n)))
    (define-syntax define-ci
      (syntax-rules ()
        ((_ (name holds?) ...)
         (begin
           (define (name a b)
             (let ((who (symbol->string 'name))) (holds? (folded who a) (folded who b))))
           ...))))
    (define-ci (ascii-ci=? =) (ascii-ci<? <) (ascii-ci>? >) (ascii-ci<=? <=) (ascii-ci>=? >=))

    ;; Negative, zero or positive.
    (define (compare who a b)
      (for-each (lambda (s) (if (not (string? s)) (wrong-type who "a string" s))) (list a b))
      (let ((n (string-length a)) (m (string-length b)))
        (let loop ((i 0))
          (if (or (= i n) (= i m))
              (- n m)
              (let ((d (- (folded who (string-ref a i)) (folded who (string-ref b i)))))
                (if (= d 0) (loop (+ i 1)) d))))))
    (define (ascii-string-ci=? a b) (= (compare "ascii-string-ci=?" a b) 0))
    (define (ascii-string-ci<? a b) (< (compare "ascii-string-ci<?" a b) 0))
    (define (ascii-string-ci>? a b) (> (compare "ascii-string-ci>?" a b) 0))
    (define (ascii-string-ci<=? a b) (<= (compare "ascii-string-ci<=?" a b) 0))
    (define (ascii-string-ci>=? a b) (>= (compare "ascii-string-ci>=?" a b) 0))))
