(import (chezscheme))
;; Integers of two, four and eight bytes at the limits of each size, in both orders: what is stored comes back.
(define-syntax show
  (syntax-rules () ((_ x) (begin (write (guard (e (#t 'error)) x)) (newline)))))
(define-syntax sizes
  (syntax-rules ()
    ((_ (ref set native native-set) ...)
     (begin
       (for-each
         (lambda (n)
           (show (map (lambda (order)
                        (let ((bv (make-bytevector 8 77)))
                          (guard (e (#t 'error))
                            (set bv 0 n order)
                            (list (bytevector->u8-list bv) (ref bv 0 order)
                                  (begin (native-set bv 0 n) (native bv 0))))))
                      '(big little))))
         numbers)
       ...))))
(define numbers
  (apply append
         (map (lambda (k) (let ((n (expt 2 k))) (list (- n 1) n (- n) (- -1 n))))
              '(0 7 8 15 16 31 32 47 48 59 60 61 62 63 64))))
(sizes
  (bytevector-u16-ref bytevector-u16-set! bytevector-u16-native-ref bytevector-u16-native-set!)
  (bytevector-s16-ref bytevector-s16-set! bytevector-s16-native-ref bytevector-s16-native-set!)
  (bytevector-u32-ref bytevector-u32-set! bytevector-u32-native-ref bytevector-u32-native-set!)
  (bytevector-s32-ref bytevector-s32-set! bytevector-s32-native-ref bytevector-s32-native-set!)
  (bytevector-u64-ref bytevector-u64-set! bytevector-u64-native-ref bytevector-u64-native-set!)
  (bytevector-s64-ref bytevector-s64-set! bytevector-s64-native-ref bytevector-s64-native-set!))
(show (let ((bv (make-bytevector 8 0))) (bytevector-s64-native-set! bv 0 'a)))
(show (let ((bv (make-bytevector 16 0)))
        (bytevector-ieee-double-native-set! bv 8 1.5)
        (bytevector-ieee-double-native-set! bv 0 2)
        (list (bytevector-ieee-double-native-ref bv 8) (bytevector-ieee-double-native-ref bv 0))))
(show (bytevector-ieee-double-native-set! (make-bytevector 8 0) 8 1.5))
(show (bytevector-ieee-double-native-set! (make-bytevector 16 0) 4 1.5))
;; bits of numbers beyond fixnums, folds of two lists, and extremes of flonums
(show (list (logbit? 60 -1) (logbit? 61 -1) (logbit? 70 (expt 2 70)) (logbit0 59 -1) (logbit0 60 -1) (logbit1 60 0)
            (fxlogbit1 59 0) (fxlogbit0 59 -1)))
(show (list (fold-left list 0 '(1 2) '(3 4)) (fold-right list 0 '(1 2) '(3 4)) (fold-left + 0 '(1) '(2) '(3))))
(show (list (flmax 1.0 2.0) (flmin 2.0 1.0) (flmax +nan.0 1.0) (flmin 1.0 +nan.0) (flmax 1.0 3.0 2.0) (flmin 4.0)))
(show (flmax 1.0 2))
;; powers and masks of constants
(define (mask n) (list (bitwise-and n (- (expt 2 64) 1)) (bitwise-xor (ash 1 70) n) (bitwise-ior n (expt 3 50))))
(show (map mask (list 0 1 -1 (expt 2 65) (- (expt 2 65)) (- (expt 5 40)) (expt 5 40))))
