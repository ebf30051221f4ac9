;;; (cairn vector): vectors and bytevectors.
;;;
;;; `vector-map` recurs to the end, allocates the result there and fills it on the way back: a continuation captured
;;; in the callback and entered again gets a fresh vector.

(define-library (cairn vector)
  (export
   (rename %vector? vector?) (rename %vector-length vector-length)
   (rename %vector-ref vector-ref) (rename %vector-set! vector-set!)
   make-vector (rename %vector vector) vector->list (rename %list->vector list->vector)
   vector-copy subvector vector-copy! vector-fill! vector-append
   vector-map vector-for-each vector-grow
   (rename %bytevector? bytevector?) (rename %bytevector-length bytevector-length)
   (rename %bytevector-u8-ref bytevector-u8-ref) (rename %bytevector-u8-set! bytevector-u8-set!)
   make-bytevector bytevector bytevector-copy bytevector-copy! bytevector-append bytevector-fill!)
  (import (cairn syntax) (cairn primitives) (cairn control) (cairn list))
  (begin

    ;;;; Vectors

    (define make-vector
      (case-lambda
        ((n) (%make-vector n #f))
        ((n fill) (%make-vector n fill))))

    ;; Long ones in compiled code, where collections and other threads' turns may come in between.
    (define vector->list
      (case-lambda
        ((v) (vector->list v 0 (%vector-length v)))
        ((v start) (vector->list v start (%vector-length v)))
        ((v start end)
         (if (is-range? start end (%vector-length v))
             (let loop ((i end) (l '()))
               (if (%fx< start i)
                   (let ((i (%fx- i 1)))
                     (loop i (%cons (%vector-ref v i) l)))
                   l))
             (%vector->list v start end)))))

    (define-syntax define-copy
      (syntax-rules ()
        ((_ name)
         (define name
           (case-lambda
             ((v) (%subvector v 0 (%vector-length v)))
             ((v start) (%subvector v start (%vector-length v)))
             ((v start end) (%subvector v start end)))))))
    (define-copy vector-copy)
    (define-copy subvector)

    (define vector-copy!
      (case-lambda
        ((to at from) (%vector-copy! to at from 0 (%vector-length from)))
        ((to at from start) (%vector-copy! to at from start (%vector-length from)))
        ((to at from start end) (%vector-copy! to at from start end))))

    (define vector-fill!
      (case-lambda
        ((v x) (%vector-fill! v x 0 (%vector-length v)))
        ((v x start) (%vector-fill! v x start (%vector-length v)))
        ((v x start end) (%vector-fill! v x start end))))

    (define (vector-append . vectors)
      (%vector-append vectors))

    ;; A longer copy; the new elements are unspecified.
    (define (vector-grow v n)
      (let ((new (%make-vector n #f)))
        (%vector-copy! new 0 v 0 (%vector-length v))
        new))

    (define-syntax min-length
      (syntax-rules ()
        ((_ vectors)
         (let loop ((n (%vector-length (%car vectors))) (rest (%cdr vectors)))
           (if (%null? rest)
               n
               (let ((m (%vector-length (%car rest))))
                 (loop (if (%fx< m n) m n) (%cdr rest))))))))

    (define (refs vectors i)
      (if (%null? vectors)
          '()
          (%cons (%vector-ref (%car vectors) i) (refs (%cdr vectors) i))))

    (define vector-map
      (case-lambda
        ((f v)
         (let ((n (%vector-length v)))
           (let loop ((i 0))
             (if (%fx< i n)
                 (let* ((x (f (%vector-ref v i)))
                        (result (loop (%fx+ i 1))))
                   (%vector-set! result i x)
                   result)
                 (%make-vector n #f)))))
        ((f v w)
         (let ((n (min-length (%cons v (%cons w '())))))
           (let loop ((i 0))
             (if (%fx< i n)
                 (let* ((x (f (%vector-ref v i) (%vector-ref w i)))
                        (result (loop (%fx+ i 1))))
                   (%vector-set! result i x)
                   result)
                 (%make-vector n #f)))))
        ((f v . vectors)
         (let* ((vectors (%cons v vectors))
                (n (min-length vectors)))
           (let loop ((i 0))
             (if (%fx< i n)
                 (let* ((x (%apply f (refs vectors i)))
                        (result (loop (%fx+ i 1))))
                   (%vector-set! result i x)
                   result)
                 (%make-vector n #f)))))))

    (define vector-for-each
      (case-lambda
        ((f v)
         (let ((n (%vector-length v)))
           (let loop ((i 0))
             (if (%fx< i n)
                 (begin
                   (f (%vector-ref v i))
                   (loop (%fx+ i 1)))))))
        ((f v w)
         (let ((n (min-length (%cons v (%cons w '())))))
           (let loop ((i 0))
             (if (%fx< i n)
                 (begin
                   (f (%vector-ref v i) (%vector-ref w i))
                   (loop (%fx+ i 1)))))))
        ((f v . vectors)
         (let* ((vectors (%cons v vectors))
                (n (min-length vectors)))
           (let loop ((i 0))
             (if (%fx< i n)
                 (begin
                   (%apply f (refs vectors i))
                   (loop (%fx+ i 1)))))))))

    ;;;; Bytevectors

    (define make-bytevector
      (case-lambda
        ((n) (%make-bytevector n 0))
        ((n fill) (%make-bytevector n fill))))

    (define (bytevector . bytes)
      (let ((b (%make-bytevector (%length bytes) 0)))
        (let loop ((i 0) (rest bytes))
          (if (%null? rest)
              b
              (begin
                (%bytevector-u8-set! b i (%car rest))
                (loop (%fx+ i 1) (%cdr rest)))))))

    (define bytevector-copy
      (case-lambda
        ((b) (%subbytevector b 0 (%bytevector-length b)))
        ((b start) (%subbytevector b start (%bytevector-length b)))
        ((b start end) (%subbytevector b start end))))

    (define bytevector-copy!
      (case-lambda
        ((to at from) (%bytevector-copy! to at from 0 (%bytevector-length from)))
        ((to at from start) (%bytevector-copy! to at from start (%bytevector-length from)))
        ((to at from start end) (%bytevector-copy! to at from start end))))

    (define bytevector-fill!
      (case-lambda
        ((b byte) (%bytevector-fill! b byte 0 (%bytevector-length b)))
        ((b byte start) (%bytevector-fill! b byte start (%bytevector-length b)))
        ((b byte start end) (%bytevector-fill! b byte start end))))

    (define (bytevector-append . bytevectors)
      (%bytevector-append bytevectors))))
