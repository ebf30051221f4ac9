;; Loops that count over vectors of all kinds: up, down, by two, to a length, beyond the end, at the ends of the
;; fixnums.
(import (scheme base) (scheme write) (srfi 160 f64) (srfi 160 u16))

(define (show . xs) (for-each display xs) (newline))

;; Says which element was asked for last when it is none.
(define-syntax attempt
  (syntax-rules ()
    ((_ seen e) (guard (c ((error-object? c) (list 'failed-after seen))) e))))

(define (sum-up v n)
  (let ((seen -1))
    (attempt seen
      (let loop ((i 0) (s 0))
        (if (= i n) s
            (begin (set! seen i) (loop (+ i 1) (+ s (vector-ref v i)))))))))

(define (sum-row v from width n)
  (do ((k 0 (+ k 1)) (s 0.0 (+ s (vector-ref v (+ (* from width) k))))) ((>= k n) s)))

(define (product a b n i j)
  (let loop ((k 0) (s 0.0))
    (if (= k n) s
        (loop (+ k 1) (+ s (* (f64vector-ref a (+ (* i n) k)) (f64vector-ref b (+ (* k n) j))))))))

(define (reverse-into! to from)
  (let ((n (vector-length from)))
    (do ((i (- n 1) (- i 1))) ((< i 0) to)
      (vector-set! to (- n 1 i) (vector-ref from i)))))

(define (every-third! v x)
  (do ((i 0 (+ i 3))) ((>= i (vector-length v)) v) (vector-set! v i x)))

(define (differences bytes)
  (let loop ((i 1) (most 0))
    (if (= i (bytevector-length bytes)) most
        (loop (+ i 1)
              (max most (abs (- (bytevector-u8-ref bytes i) (bytevector-u8-ref bytes (- i 1)))))))))

(define (count-char c s)
  (let loop ((i 0) (n 0))
    (cond ((= i (string-length s)) n)
          ((char=? c (string-ref s i)) (loop (+ i 1) (+ n 1)))
          (else (loop (+ i 1) n)))))

(define (shift! v by)
  (do ((i 0 (+ i 1))) ((= i (- (u16vector-length v) by)) v)
    (u16vector-set! v i (u16vector-ref v (+ i by)))))

(define v (vector 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16))
(show (sum-up v 16) " " (sum-up v 0) " " (sum-up v 3) " " (sum-up v 17) " " (sum-up v 12.0) " " (sum-up v -1))
(show (sum-up '#() 9) " " (sum-up (vector 1 2 'three 4 5 6 7 8 9 10 11) 11) " " (sum-up (make-vector 20 (expt 2 59)) 20))
(show (sum-row v 1 4 9) " " (sum-row v 0 0 16) " " (sum-row v 15 1 1) " " (guard (c (#t 'failed)) (sum-row v 3 -1 1)))
(define m (make-f64vector 144 0.5))
(show (product m m 12 3 4) " " (product m m 12 11 11) " " (guard (c (#t 'failed)) (product m m 12 12 0)))
(show (guard (c (#t 'failed)) (product m m 12 0 1.0)) " " (guard (c (#t 'failed)) (product m v 12 0 0)))
(show (reverse-into! (make-vector 16 0) v) (reverse-into! (make-vector 3 0) (vector 1 2 3)))
(show (guard (c (#t 'failed)) (reverse-into! (make-vector 15 0) v)))
(show (every-third! (make-vector 32 0) 1) (every-third! (vector) 1))
(show (differences (bytevector 1 5 2 200 7 7 7 9 10 11 12 255 0)) (differences (bytevector 1)))
(show (guard (c (#t 'failed)) (differences (bytevector 1 2 3))) (guard (c (#t 'failed)) (differences "text")))
(show (count-char #\a "a banana, a panama and a papaya") (count-char #\z "") (guard (c (#t 'failed)) (count-char 1 "abc")))
(show (shift! (u16vector 1 2 3 4 5 6 7 8 9 10 11 12 13) 2) (guard (c (#t 'failed)) (shift! (u16vector 1 2 3 4 5 6 7 8 9 10) -1)))

;; At the ends of the fixnums: the counter goes on as a bignum.
(define big (expt 2 60))
(define (near n from)
  (let loop ((i from) (turns 0) (hits 0))
    (if (= i n) (list turns hits)
        (loop (+ i 1) (+ turns 1) (if (< (- i from) 4) (+ hits (vector-ref v (- i from))) hits)))))
(show (near (+ big 20) (- big 20)) (near (- big 1) (- big 30)) (near (+ (- big) 12) (- (- big) 12)))
(define (scaled v k n)
  (do ((i 0 (+ i 1)) (s 0 (+ s (* i k) (vector-ref v i)))) ((= i n) s)))
(show (scaled v 3 16) " " (scaled v big 16) " " (scaled v 1/2 16) " " (scaled v 0.5 16) " " (scaled v (- big) 10))

;; A literal may not be changed, in a loop either.
(define (zero! s) (do ((i 0 (+ i 1))) ((= i (string-length s)) s) (string-set! s i #\0)))
(show (zero! (make-string 12 #\a)) (guard (c (#t " failed")) (zero! "a literal text")))
(define (zero-bytes! b) (do ((i 0 (+ i 1))) ((= i (bytevector-length b)) b) (bytevector-u8-set! b i 0)))
(show (zero-bytes! (make-bytevector 10 7)) (guard (c (#t 'failed)) (zero-bytes! #u8(1 2 3 4 5 6 7 8 9 10 11))))
(define (fill-bytes! b x) (do ((i 0 (+ i 1))) ((= i (bytevector-length b)) b) (bytevector-u8-set! b i (+ x i))))
(show (fill-bytes! (make-bytevector 10 7) 3) (guard (c (#t 'failed)) (fill-bytes! (make-bytevector 10 7) 250)))
