;; zeal: not marksweep mcc bdw
;; Numbers in bytevectors (R6RS): at every place, in both orders, against sums of bytes.
(import (scheme base) (scheme write) (scheme bytevector) (only (scheme inexact) nan?))
(include "include/check.scm")

(define size 24)
(define (fresh)
  (let ((bv (make-bytevector size 0)))
    (do ((i 0 (+ i 1))) ((= i size) bv)
      (bytevector-u8-set! bv i (modulo (+ (* i 37) 200) 256)))))

;; The first byte counts least in `little`.
(define (sum bv k bytes order)
  (let loop ((i 0) (n 0))
    (if (= i bytes)
        n
        (loop (+ i 1)
              (+ (* 256 n) (bytevector-u8-ref bv (if (eq? order 'big) (+ k i) (+ k (- bytes 1 i)))))))))
(define (complement n bytes)
  (if (>= n (expt 2 (- (* 8 bytes) 1))) (- n (expt 2 (* 8 bytes))) n))

(define kinds
  (list (list 2 bytevector-u16-ref bytevector-s16-ref bytevector-u16-set! bytevector-s16-set!
              bytevector-u16-native-ref bytevector-s16-native-ref)
        (list 4 bytevector-u32-ref bytevector-s32-ref bytevector-u32-set! bytevector-s32-set!
              bytevector-u32-native-ref bytevector-s32-native-ref)
        (list 8 bytevector-u64-ref bytevector-s64-ref bytevector-u64-set! bytevector-s64-set!
              bytevector-u64-native-ref bytevector-s64-native-ref)))

(define (wrong-in kind)
  (define bytes (car kind))
  (define-values (uref sref uset! sset! native-uref native-sref) (apply values (cdr kind)))
  (define wrong '())
  (define (same what a b)
    (if (not (equal? a b)) (set! wrong (cons (list what a b) wrong))))
  (define least (- (expt 2 (- (* 8 bytes) 1))))
  (do ((k 0 (+ k 1))) ((> (+ k bytes) size))
    (for-each
      (lambda (order)
        (let* ((bv (fresh)) (n (sum bv k bytes order)))
          (same (list 'u k order) (uref bv k order) n)
          (same (list 's k order) (sref bv k order) (complement n bytes))
          (if (and (eq? order 'little) (= 0 (modulo k bytes)))
              (begin
                (same (list 'native k) (native-uref bv k) n)
                (same (list 'native k) (native-sref bv k) (complement n bytes))))
          (for-each
            (lambda (n)
              (let ((bv (fresh)))
                (uset! bv k n order)
                (same (list 'store k order) (sum bv k bytes order) n)
                (if (> k 0) (same 'before (bytevector-u8-ref bv (- k 1)) (bytevector-u8-ref (fresh) (- k 1))))
                (if (< (+ k bytes) size)
                    (same 'behind (bytevector-u8-ref bv (+ k bytes)) (bytevector-u8-ref (fresh) (+ k bytes))))))
            (list 0 1 255 256 (- -1 least) (- least) (- (* -2 least) 1)))
          (for-each
            (lambda (n)
              (let ((bv (fresh)))
                (sset! bv k n order)
                (same (list 'signed k order) (complement (sum bv k bytes order) bytes) n)))
            (list 0 1 -1 -256 255 least (- -1 least)))))
      '(little big)))
  wrong)
;; Integers of 2, 4 and 8 bytes.
(check (map wrong-in kinds) => '(() () ()))

(define (refused thunk)
  (call/cc (lambda (k) (with-exception-handler (lambda (x) (k 'refused)) thunk))))
(define bv (make-bytevector 8 0))
;; Beyond the ends.
(check (map (lambda (kind)
              (map (lambda (k) (refused (lambda () ((cadr kind) bv k 'little))))
                   (list -1 (- 9 (car kind)) 8 0.0 (expt 2 70) 'a)))
            kinds) => (make-list 3 (make-list 6 'refused)))
;; What does not fit.
(check (list (refused (lambda () (bytevector-u16-set! bv 0 65536 'little)))
             (refused (lambda () (bytevector-s16-set! bv 0 32768 'little)))
             (refused (lambda () (bytevector-u64-set! bv 0 (expt 2 64) 'big)))
             (refused (lambda () (bytevector-u32-set! bv 0 -1 'big)))
             (refused (lambda () (bytevector-u32-ref bv 2 'middle)))
             (refused (lambda () (bytevector-u32-native-ref bv 2)))
             (refused (lambda () (bytevector-ieee-double-ref bv 1 'little)))
             (refused (lambda () (bytevector-ieee-double-set! bv 0 'x 'little)))
             (refused (lambda () (bytevector-ieee-single-set! bv -1 1. 'little)))
             (bytevector-u64-ref bv 0 'little)) => '(refused refused refused refused refused refused refused refused refused 0))

;;;; Floating-point numbers

(define doubles '(0. -0. 1. -1.5 .1 1e300 -1e-300 5e-324 1.7976931348623157e308 +inf.0 -inf.0 3.141592653589793))
(define (through set ref place order)
  (lambda (x)
    (let ((bv (fresh)))
      (set bv place x order)
      (ref bv place order))))
;; Doubles at any place.
(check (map (lambda (k)
              (map (lambda (order) (map (through bytevector-ieee-double-set! bytevector-ieee-double-ref k order) doubles))
                   '(little big)))
            '(0 1 3 16)) => (make-list 4 (list doubles doubles)))
;; Their bits.
(check (map (lambda (x)
              (bytevector-ieee-double-set! bv 0 x 'big)
              (bytevector-u64-ref bv 0 'big))
            '(1. -2. .5 5e-324 +inf.0)) => '(#x3ff0000000000000 #xc000000000000000 #x3fe0000000000000 1 #x7ff0000000000000))
;; Singles are rounded to the nearest.
(check (map (through bytevector-ieee-single-set! bytevector-ieee-single-ref 5 'big) '(1/3 16777217 .1 1e39 -1e-50 -2.5)) => '(0.3333333432674408 16777216. 0.10000000149011612 +inf.0 -0. -2.5))
;; No number.
(check (map nan? (list ((through bytevector-ieee-single-set! bytevector-ieee-single-ref 0 'little) +nan.0)
                       ((through bytevector-ieee-double-set! bytevector-ieee-double-ref 7 'little) +nan.0))) => '(#t #t))
;; Bytes with signs.
(check (map (lambda (n) (bytevector-s8-set! bv 0 n) (bytevector-s8-ref bv 0)) '(-128 -1 0 127)) => '(-128 -1 0 127))
(report)
