;;; (srfi 231 storage): storage classes, and the getters and setters of arrays over their bodies.
;;;
;;; An element of a specialized array is at the place  base + stride·index + …  of its body.  A class knows how to make
;;; the getter and the setter of such an array: those of the standard classes read and write their vector inline, those
;;; of a user's class call its procedures.  All of them check the indices and the value, in unsafe arrays too: what lies
;;; outside of the domain may well be inside of the body, and would be another element.
(define-library (srfi 231 storage)
  (export make-storage-class storage-class? storage-class-getter storage-class-setter storage-class-checker
          storage-class-maker storage-class-copier storage-class-length storage-class-default storage-class-data?
          storage-class-data->body
          generic-storage-class char-storage-class s8-storage-class s16-storage-class s32-storage-class
          s64-storage-class u1-storage-class u8-storage-class u16-storage-class u32-storage-class u64-storage-class
          f8-storage-class f16-storage-class f32-storage-class f64-storage-class c64-storage-class
          c128-storage-class
          ;; for the other libraries
          class-make-getter class-make-setter class-standard? inside? outside placed)
  (import (scheme base) (scheme case-lambda) (only (cairn number) bitwise-and bitwise-ior arithmetic-shift)
          (rename (only (cairn primitives) %flonum?) (%flonum? flonum?))
          (only (cairn records) show-fields!)
          (srfi 160 base)
          (only (srfi 160 s8) s8vector-copy!) (only (srfi 160 s16) s16vector-copy!)
          (only (srfi 160 s32) s32vector-copy!) (only (srfi 160 s64) s64vector-copy!)
          (only (srfi 160 u16) u16vector-copy!) (only (srfi 160 u32) u32vector-copy!)
          (only (srfi 160 u64) u64vector-copy!) (only (srfi 160 f32) f32vector-copy!)
          (only (srfi 160 f64) f64vector-copy!) (only (srfi 160 c64) c64vector-copy!)
          (only (srfi 160 c128) c128vector-copy!) (srfi 231 intervals))
  (begin

    (define-record-type <storage-class>
      (new-storage-class getter setter checker maker copier length default data? data->body make-getter make-setter
                         standard?)
      storage-class?
      (default storage-class-default)
      (getter storage-class-getter)
      (setter storage-class-setter)
      (checker storage-class-checker)
      (maker storage-class-maker)
      (copier storage-class-copier)
      (length storage-class-length)
      (data? storage-class-data?)
      (data->body storage-class-data->body)
      ;; (make-getter domain body base strides), and so the setter
      (make-getter class-make-getter)
      (make-setter class-make-setter)
      ;; its procedures come back once: no continuation is captured in them
      (standard? class-standard?))
    (show-fields! <storage-class> '(default))

    ;;;; Getters and setters

    (define-syntax inside?
      (syntax-rules ()
        ((_ i low high) (and (exact-integer? i) (<= low i) (< i high)))))
    (define (outside who iv . index)
      (error (string-append who ": not a multi-index of the array's domain:") index iv))

    ;; A procedure of `first ...` and as many indices as the interval has axes, in whose body `at` is the place.
    (define-syntax placed
      (syntax-rules ()
        ((_ who iv base strides (first ...) at body)
         (case (vector-length strides)
           ((1) (axes who iv base strides (first ...) at body (i low high s 0)))
           ((2) (axes who iv base strides (first ...) at body (i low0 high0 s 0) (j low1 high1 t 1)))
           ((3)
            (axes who iv base strides (first ...) at body
                  (i low0 high0 s 0) (j low1 high1 t 1) (k low2 high2 u 2)))
           ((4)
            (axes who iv base strides (first ...) at body
                  (i low0 high0 s 0) (j low1 high1 t 1) (k low2 high2 u 2) (l low3 high3 v 3)))
           ((0)
            (case-lambda
              ((first ...) (let ((at base)) body))
              ((first ... . index) (apply outside who iv index))))
           (else
            (lambda (first ... . index)
              (let ((at (place who iv base strides index))) body)))))))
    (define-syntax axes
      (syntax-rules ()
        ((_ who iv base strides (first ...) at body (i low high stride n) ...)
         (let ((low (vector-ref (lowers iv) n)) ...
               (high (vector-ref (uppers iv) n)) ...
               (stride (vector-ref strides n)) ...)
           (case-lambda
             ((first ... i ...)
              (if (and (inside? i low high) ...)
                  (let ((at (+ base (* stride i) ...))) body)
                  (outside who iv i ...)))
             ((first ... . index) (apply outside who iv index)))))))
    (define (place who iv base strides index)
      (let loop ((k 0) (rest index) (at base))
        (cond
          ((and (null? rest) (= k (vector-length strides))) at)
          ((and (pair? rest)
                (< k (vector-length strides))
                (inside? (car rest) (vector-ref (lowers iv) k) (vector-ref (uppers iv) k)))
           (loop (+ k 1) (cdr rest) (+ at (* (vector-ref strides k) (car rest)))))
          (else (apply outside who iv index)))))

    ;; Inline for one and two axes; for others by a procedure of the class, so that not every class is all of `placed`.
    (define-syntax getters
      (syntax-rules ()
        ((_ ref)
         (lambda (iv body base strides)
           (case (vector-length strides)
             ((1) (axes "array-ref" iv base strides () at (ref body at) (i low high s 0)))
             ((2) (axes "array-ref" iv base strides () at (ref body at) (i low high s 0) (j low1 high1 t 1)))
             (else (getter-far (lambda (body at) (ref body at)) iv body base strides)))))))
    (define (getter-far ref iv body base strides)
      (placed "array-ref" iv base strides () at (ref body at)))
    (define-syntax setters
      (syntax-rules ()
        ((_ set ok?)
         (lambda (iv body base strides)
           (case (vector-length strides)
             ((1)
              (axes "array-set!" iv base strides (x) at (if (ok? x) (set body at x) (unfit x)) (i low high s 0)))
             ((2)
              (axes "array-set!" iv base strides (x) at (if (ok? x) (set body at x) (unfit x))
                    (i low high s 0) (j low1 high1 t 1)))
             (else (setter-far (lambda (body at x) (if (ok? x) (set body at x) (unfit x))) iv body base strides)))))))
    (define (setter-far set iv body base strides)
      (placed "array-set!" iv base strides (x) at (set body at x)))
    (define (unfit x)
      (error "array-set!: the storage class of the array cannot hold this:" x))

    (define (make-storage-class getter setter checker maker copier length default data? data->body)
      (check-procedures "make-storage-class" getter setter checker maker length data? data->body)
      (if copier (check-procedures "make-storage-class" copier))
      (new-storage-class getter setter checker maker copier length default data? data->body
                         (getters getter) (setters setter checker) #f))

    ;;;; The standard classes

    (define-syntax define-class
      (syntax-rules ()
        ((_ name what ref set ok? make copy! length default data?)
         (define name
           (new-storage-class (lambda (body at) (ref body at)) (lambda (body at x) (set body at x)) (lambda (x) (ok? x))
                              (lambda (n x) (make n x)) copy! (lambda (body) (length body)) default
                              (lambda (data) (data? data))
                              (lambda (data) (check "storage-class-data->body" (lambda (x) (data? x)) what data))
                              (getters ref) (setters set ok?) #t)))))

    (define-syntax anything?
      (syntax-rules () ((_ x) #t)))
    (define-class generic-storage-class "a vector" vector-ref vector-set! anything? make-vector vector-copy!
      vector-length #f vector?)
    (define-class char-storage-class "a string" string-ref string-set! char? make-string string-copy! string-length
      #\0 string?)
    (define-class s8-storage-class "an s8vector" s8vector-ref s8vector-set! s8? make-s8vector s8vector-copy!
      s8vector-length 0 s8vector?)
    (define-class s16-storage-class "an s16vector" s16vector-ref s16vector-set! s16? make-s16vector s16vector-copy!
      s16vector-length 0 s16vector?)
    (define-class s32-storage-class "an s32vector" s32vector-ref s32vector-set! s32? make-s32vector s32vector-copy!
      s32vector-length 0 s32vector?)
    (define-class s64-storage-class "an s64vector" s64vector-ref s64vector-set! s64? make-s64vector s64vector-copy!
      s64vector-length 0 s64vector?)
    (define-class u8-storage-class "a u8vector" u8vector-ref u8vector-set! u8? make-u8vector bytevector-copy!
      u8vector-length 0 u8vector?)
    (define-class u16-storage-class "a u16vector" u16vector-ref u16vector-set! u16? make-u16vector u16vector-copy!
      u16vector-length 0 u16vector?)
    (define-class u32-storage-class "a u32vector" u32vector-ref u32vector-set! u32? make-u32vector u32vector-copy!
      u32vector-length 0 u32vector?)
    (define-class u64-storage-class "a u64vector" u64vector-ref u64vector-set! u64? make-u64vector u64vector-copy!
      u64vector-length 0 u64vector?)
    (define-class f32-storage-class "an f32vector" f32vector-ref f32vector-set! flonum? make-f32vector f32vector-copy!
      f32vector-length 0.0 f32vector?)
    (define-class f64-storage-class "an f64vector" f64vector-ref f64vector-set! flonum? make-f64vector f64vector-copy!
      f64vector-length 0.0 f64vector?)
    (define (inexact-complex? x)
      (and (number? x) (inexact? x)))
    (define-class c64-storage-class "a c64vector" c64vector-ref c64vector-set! inexact-complex? make-c64vector
      c64vector-copy! c64vector-length 0.0+0.0i c64vector?)
    (define-class c128-storage-class "a c128vector" c128vector-ref c128vector-set! inexact-complex? make-c128vector
      c128vector-copy! c128vector-length 0.0+0.0i c128vector?)

    ;; Bits: a vector of their number and a u16vector, in each of whose elements the least bit is the first.
    (define (bit-ref body at)
      (bitwise-and 1 (arithmetic-shift (u16vector-ref (vector-ref body 1) (arithmetic-shift at -4))
                                       (- (bitwise-and at 15)))))
    (define (bit-set! body at x)
      (let* ((words (vector-ref body 1))
             (n (arithmetic-shift at -4))
             (bit (arithmetic-shift 1 (bitwise-and at 15)))
             (word (u16vector-ref words n)))
        (u16vector-set! words n (if (eqv? x 0) (bitwise-and word (- 65535 bit)) (bitwise-ior word bit)))))
    (define (bit? x)
      (or (eqv? x 0) (eqv? x 1)))
    (define (make-bits n x)
      (vector n (make-u16vector (quotient (+ n 15) 16) (if (eqv? x 0) 0 65535))))
    (define (bits-length body)
      (vector-ref body 0))
    (define u1-storage-class
      (new-storage-class bit-ref bit-set! bit? make-bits #f bits-length 0 (lambda (data) (u16vector? data))
                         (lambda (data)
                           (check "storage-class-data->body" u16vector? "a u16vector" data)
                           (vector (* 16 (u16vector-length data)) data))
                         (getters bit-ref) (setters bit-set! bit?) #t))

    ;; Floating-point numbers of 16 bits, in a u16vector: a sign, five bits of exponent, ten of the fraction.
    ;;
    ;;     s eeeee ffffffffff    e = 0: f·2⁻²⁴   0 < e < 31: (1024 + f)·2ᵉ⁻²⁵   e = 31: infinite if f = 0, or no number
    (define (half->flonum bits)
      (let* ((e (bitwise-and 31 (arithmetic-shift bits -10)))
             (f (bitwise-and 1023 bits))
             (x (cond
                  ((= e 0) (* (inexact f) (expt 2.0 -24)))
                  ((< e 31) (* (inexact (+ 1024 f)) (expt 2.0 (- e 25))))
                  ((= f 0) +inf.0)
                  (else +nan.0))))
        (if (< bits 32768) x (- x))))
    ;; The nearest one; of two as near, the even one.  A fraction that is rounded up to 2048 makes the exponent greater.
    (define (flonum->half x)
      (let ((sign (if (or (< x 0.0) (eqv? x -0.0)) 32768 0)) (x (abs x)))
        (+ sign
           (cond
             ((not (= x x)) 32256)
             ((>= x 65520.0) 31744)
             ((< x (expt 2.0 -14)) (exact (round (* x (expt 2.0 24)))))
             (else
              (let loop ((e 1) (scale (expt 2.0 24)))
                (let ((f (* x scale)))
                  (if (< f 2048.0)
                      (+ (* 1024 (- e 1)) (exact (round f)))
                      (loop (+ e 1) (/ scale 2.0))))))))))
    (define (half-ref body at)
      (half->flonum (u16vector-ref body at)))
    (define (half-set! body at x)
      (u16vector-set! body at (flonum->half x)))
    (define (make-halves n x)
      (make-u16vector n (flonum->half x)))
    (define-class f16-storage-class "a u16vector" half-ref half-set! flonum? make-halves u16vector-copy!
      u16vector-length 0.0 u16vector?)

    ;; as the text has it where there are no vectors of them
    (define f8-storage-class #f)))
