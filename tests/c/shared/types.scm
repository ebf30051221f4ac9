;;; A shared library for crates/cairn/tests/shared.rs: structures, vectors, strings and functions, both ways.
(import (scheme base) (srfi 4) (cairn c))

(define-c-struct point (x int) (y double))
(define-c-struct floats (first-one float) (second-one float))
(define-c-struct rect (from point) (to point) (tag (array char 4)) (name string))

;; Collections come between what C has given and what it gets.
(define (churn)
  (do ((i 0 (+ i 1)) (l '() (cons (make-vector 10 i) l))) ((= i 2000) (length l))))

;;;; Structures by value, in registers and in memory

(define (middle p q)
  (churn)
  (let ((r (make-bytevector (c-sizeof point) 0)))
    (set-point-x! r (quotient (+ (point-x p) (point-x q)) 2))
    (set-point-y! r (/ (+ (point-y p) (point-y q)) 2))
    r))
(c-export point "middle" (point point) middle)
(c-export floats "swapped" (floats)
  (lambda (f)
    (let ((a (floats-first-one f)))
      (set-floats-first-one! f (floats-second-one f))
      (set-floats-second-one! f a)
      f)))
;; More than the registers hold.
(c-export rect "bounds" (int rect double point long rect)
  (lambda (i r d p l s)
    (churn)
    (set-rect-to! r p)
    (set-point-x! r (+ i l))
    (set-rect-tag! r 1 (rect-tag s 2))
    r))
(c-export double "height" (rect) (lambda (r) (- (point-y (rect-to r)) (point-y (rect-from r)))))

;;;; Structures by reference

(c-export void "move_by" (pointer double) (lambda (p d) (set-point-y! p (+ (point-y p) d))))
(define origin (make-point))
(c-export pointer "origin" () (lambda () origin))

;;;; Vectors

(define-syntax sum
  (syntax-rules ()
    ((_ ref length) (lambda (v) (do ((i 0 (+ i 1)) (n 0 (+ n (ref v i)))) ((= i (length v)) (churn) n))))))
(c-export double "sum_u8" (u8vector) (sum u8vector-ref u8vector-length))
(c-export double "sum_s8" (s8vector) (sum s8vector-ref s8vector-length))
(c-export double "sum_u16" (u16vector) (sum u16vector-ref u16vector-length))
(c-export double "sum_s16" (s16vector) (sum s16vector-ref s16vector-length))
(c-export double "sum_u32" (u32vector) (sum u32vector-ref u32vector-length))
(c-export double "sum_s32" (s32vector) (sum s32vector-ref s32vector-length))
(c-export double "sum_u64" (u64vector) (sum u64vector-ref u64vector-length))
(c-export double "sum_s64" (s64vector) (sum s64vector-ref s64vector-length))
(c-export double "sum_f32" (f32vector) (sum f32vector-ref f32vector-length))
(c-export double "sum_f64" (f64vector) (sum f64vector-ref f64vector-length))
;; What is changed, C sees when the call has returned without an error.
(c-export void "scale" (f64vector double)
  (lambda (v d)
    (do ((i 0 (+ i 1))) ((= i (f64vector-length v)))
      (f64vector-set! v i (* d (f64vector-ref v i))))
    (churn)
    (if (= d 0) (error "nothing is left"))))
(c-export bool "is_null" (bytevector) not)
(c-export bytevector "reversed" ((const bytevector))
  (lambda (v) (and v (apply bytevector (reverse (vector->list (vector-map (lambda (x) x) (bytes v))))))))
(define (bytes v)
  (let ((w (make-vector (bytevector-length v))))
    (do ((i 0 (+ i 1))) ((= i (bytevector-length v)) w)
      (vector-set! w i (bytevector-u8-ref v i)))))
(c-export s32vector "squares" (int)
  (lambda (n)
    (let ((v (make-s32vector n)))
      (do ((i 0 (+ i 1))) ((= i n) v)
        (s32vector-set! v i (* i i (if (odd? i) -1 1)))))))
;; C sees no changes of what it lends for reading.
(c-export int "zeroed" ((const s32vector)) (lambda (v) (s32vector-set! v 0 0) (s32vector-ref v 0)))
(c-export f64vector "wrong_kind" () (lambda () (bytevector 1 2)))

;;;; Strings

(c-export string "joined" (string string) (lambda (a b) (churn) (and a b (string-append a " und " b))))

;;;; Functions that C gives

(c-export int "twice" ((function int (int)) int) (lambda (f n) (f (begin (churn) (f n)))))
(c-export point "through" ((function point (point double)) point)
  (lambda (f p) (if f (f (f p 1.5) 2.5) p)))
(c-export size_t "measured" ((function size_t (string)) string) (lambda (f s) (f (string-append s s))))
(define kept #f)
(c-export void "keep" ((function int (int))) (lambda (f) (set! kept f)))
(c-export int "kept" (int) (lambda (n) (kept n)))
;; The vector is C's for the duration of the call.
(c-export void "sort" ((function void (bytevector size_t)) s32vector) (lambda (f v) (f v (s32vector-length v))))

;;;; Errors

(c-export point "no_point" (int) (lambda (n) (if (= n 0) 'point (bytevector 1 2 3))))
(c-export int "asks_wrongly" ((function int (int))) (lambda (f) (f "one")))
