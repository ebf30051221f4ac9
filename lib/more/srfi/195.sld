;;; (srfi 195): boxes for any number of values.
(define-library (srfi 195)
  (export box box? unbox set-box! box-arity unbox-value set-box-value!)
  (import (scheme base) (only (cairn control) wrong-type))
  (begin

    (define-record-type <box>
      (make-box values)
      box?
      (values values-of set-values!))

    (define (box . values) (make-box (list->vector values)))
    (define (contents who b)
      (if (box? b) (values-of b) (wrong-type who "a box" b)))
    (define (check-index who b i)
      (if (not (and (exact-integer? i) (< -1 i (vector-length (contents who b)))))
          (error (string-append who ": the box has no value of this number:") i)))

    (define (unbox b)
      (let ((v (contents "unbox" b)))
        (if (= 1 (vector-length v)) (vector-ref v 0) (apply values (vector->list v)))))
    ;; As many values as the box was made with.
    (define (set-box! b . new)
      (if (not (= (length new) (vector-length (contents "set-box!" b))))
          (error "set-box!: the box has another number of values:" (vector-length (values-of b)) new))
      (set-values! b (list->vector new)))
    (define (box-arity b) (vector-length (contents "box-arity" b)))
    (define (unbox-value b i)
      (check-index "unbox-value" b i)
      (vector-ref (values-of b) i))
    (define (set-box-value! b i x)
      (check-index "set-box-value!" b i)
      (vector-set! (values-of b) i x))))
