;; (srfi 151), (srfi 60): compared with definitions by division, for small and large numbers of both signs.
(import (scheme base) (scheme write) (scheme bitwise)
        (only (srfi 158) generator->list gtake)
        (only (srfi 60) logand lognot logtest logbit? ash copy-bit-field integer->list list->integer booleans->integer
              log2-binary-factors))
(include "include/check.scm")

(define (powers n) (let loop ((i 0)) (if (= i n) '() (cons (expt 2 i) (loop (+ i 1))))))
(define numbers (list 0 1 -1 2 -2 5 -6 12 37 255 -256 (expt 2 59) (- (expt 2 60)) (+ (expt 2 70) 5) (- 3 (expt 2 80))))

(define (bit n i) (floor-remainder (floor-quotient n (expt 2 i)) 2))

;; The number whose bits `f` makes of those of a and b.
(define (by-bits f a b)
  (let loop ((i 90) (n 0))
    (if (< i 0)
        (if (= (f (bit a 91) (bit b 91)) 1) (- n (expt 2 91)) n)
        (loop (- i 1) (+ n n (f (bit a i) (bit b i)))))))

(define-syntax check-operations
  (syntax-rules ()
    ((_ (name table) ...)
     (for-each
      (lambda (a)
        (for-each
         (lambda (b)
           (check (list 'name a b (name a b))
                  => (list 'name a b (by-bits (lambda (x y) (vector-ref table (+ x x y))) a b)))
           ...)
         numbers))
      numbers))))
(check-operations (bitwise-and #(0 0 0 1)) (bitwise-ior #(0 1 1 1)) (bitwise-xor #(0 1 1 0)) (bitwise-eqv #(1 0 0 1))
                  (bitwise-nand #(1 1 1 0)) (bitwise-nor #(1 0 0 0)) (bitwise-andc1 #(0 1 0 0))
                  (bitwise-andc2 #(0 0 1 0)) (bitwise-orc1 #(1 1 0 1)) (bitwise-orc2 #(1 0 1 1)))

(for-each
 (lambda (n)
   (check (list n (bitwise-not n)) => (list n (- -1 n)))
   (check (list n (first-set-bit n))
          => (list n (if (= n 0) -1 (let loop ((i 0)) (if (= (bit n i) 1) i (loop (+ i 1)))))))
   (for-each
    (lambda (i)
      (check (list n i (bit-set? i n)) => (list n i (= 1 (bit n i))))
      (check (list n i (copy-bit i n #t)) => (list n i (+ n (* (- 1 (bit n i)) (expt 2 i)))))
      (check (list n i (copy-bit i n #f)) => (list n i (- n (* (bit n i) (expt 2 i)))))
      (check (list n i (arithmetic-shift n i) (arithmetic-shift n (- i)))
             => (list n i (* n (expt 2 i)) (floor-quotient n (expt 2 i))))
      (for-each
       (lambda (width)
         (let* ((end (+ i width))
                (field (floor-remainder (floor-quotient n (expt 2 i)) (expt 2 width)))
                (clear (- n (* field (expt 2 i))))
                (all (- (expt 2 width) 1))
                (bits (let loop ((k 0)) (if (= k width) '() (cons (bit field k) (loop (+ k 1)))))))
           (check (list n i end (bit-field n i end) (bit-field-any? n i end) (bit-field-every? n i end)
                        (bit-field-clear n i end) (bit-field-set n i end)
                        (bit-field-replace n #b1011 i end) (bit-field-reverse n i end)
                        (bit-field-replace-same n -1 i end))
                  => (list n i end field (> field 0) (= field all)
                           clear (+ clear (* all (expt 2 i)))
                           (+ clear (* (floor-remainder 11 (expt 2 width)) (expt 2 i)))
                           (+ clear (* (expt 2 i) (apply + (map * (reverse bits) (powers width)))))
                           (+ clear (* all (expt 2 i)))))
           (for-each
            (lambda (k)
              (check (list n i end k (bit-field-rotate n k i end))
                     => (list n i end k (if (= width 0) n
                                            (bit-field-rotate (bit-field-rotate n 1 i end) (- k 1) i end))))
              (check (list n i end k (bit-field-rotate (bit-field-rotate n k i end) (- k) i end))
                     => (list n i end k n)))
            '(1 2 -3 17))))
       '(0 1 4 61)))
    '(0 1 3 40)))
 numbers)

(check (bit-field-rotate #b0111 1 0 4) => #b1110)
(check (bit-field-rotate #b110 -1 0 3) => #b011)
(check (list (bitwise-eqv) (bitwise-eqv 5) (bitwise-eqv 1 2 4)) => '(-1 5 7))
(check (bitwise-if 3 1 8) => 9)
(check (list (any-bit-set? 3 6) (any-bit-set? 3 12) (every-bit-set? 4 6) (every-bit-set? 7 6)) => '(#t #f #t #f))
(check (list (bit-swap 0 2 4) (bit-swap 0 1 3) (bit-count -1) (bit-count 255)) => '(1 3 0 8))
(check (list (bits->list 53) (bits->list 6 5) (list->bits '(#f #t #t)))
       => '((#t #f #t #f #t #t) (#f #t #t #f #f) 6))
(check (list (bits->vector 6 4) (vector->bits #(#t #f #t)) (bits #t #f #t)) => '(#(#f #t #t #f) 5 5))
(check (bitwise-fold cons '() 10) => '(#t #f #t #f))
(check (let ((n 0)) (bitwise-for-each (lambda (b) (if b (set! n (+ n 1)))) #b1011) n) => 3)
(check (bitwise-unfold (lambda (i) (= i 10)) even? (lambda (i) (+ i 1)) 0) => #b101010101)
(check (generator->list (gtake (make-bitwise-generator -6) 5)) => '(#f #t #f #t #t))
(check-error (bit-set? -1 5))
(check-error (bits->list -1))
(check-error (bit-field 5 3 2))

;; SRFI 60
(check (list (logand 12 10) (lognot 0) (logtest 4 6) (logbit? 1 2) (ash 1 3) (log2-binary-factors 40))
       => '(8 -1 #t #t 8 3))
(check (copy-bit-field #b110100 #b101 1 4) => #b111010)
(check (list (integer->list 10) (integer->list 1 3) (list->integer '(#t #f)) (booleans->integer #t #t #f))
       => '((#t #f #t #f) (#f #f #t) 2 6))
(report)
