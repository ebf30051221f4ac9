;;; (srfi 171 meta): what transducers are made with: reduced values and reductions that stop at them.
(define-library (srfi 171 meta)
  (export reduced reduced? unreduce ensure-reduced preserving-reduced
          list-reduce vector-reduce string-reduce bytevector-u8-reduce port-reduce generator-reduce)
  (import (scheme base) (only (cairn control) wrong-type))
  (begin

    ;; The result of a step after which there shall be none.
    (define-record-type <reduced>
      (reduced value)
      reduced?
      (value unreduce))

    (define (ensure-reduced x)
      (if (reduced? x) x (reduced x)))

    ;; A reducer whose reduced results come out of one reduction still reduced, for the reduction around it.
    (define (preserving-reduced reducer)
      (lambda (result x)
        (let ((next (reducer result x)))
          (if (reduced? next) (reduced next) next))))

    (define (list-reduce f identity l)
      (let loop ((acc identity) (rest l))
        (cond
          ((pair? rest)
           (let ((next (f acc (car rest))))
             (if (reduced? next) (unreduce next) (loop next (cdr rest)))))
          ((null? rest) acc)
          (else (wrong-type "list-reduce" "a list" l)))))

    (define-syntax define-indexed
      (syntax-rules ()
        ((_ name size ref)
         (define (name f identity v)
           (let ((n (size v)))
             (let loop ((acc identity) (i 0))
               (if (= i n)
                   acc
                   (let ((next (f acc (ref v i))))
                     (if (reduced? next) (unreduce next) (loop next (+ i 1)))))))))))
    (define-indexed vector-reduce vector-length vector-ref)
    (define-indexed string-reduce string-length string-ref)
    (define-indexed bytevector-u8-reduce bytevector-length bytevector-u8-ref)

    (define (generator-reduce f identity gen)
      (let loop ((acc identity))
        (let ((x (gen)))
          (if (eof-object? x)
              acc
              (let ((next (f acc x)))
                (if (reduced? next) (unreduce next) (loop next)))))))

    (define (port-reduce f identity reader port)
      (generator-reduce f identity (lambda () (reader port))))))
