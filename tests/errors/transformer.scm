;; Failures of macro transformers that are procedures: each at the use, with the place of the error.
(import (scheme base) (scheme write) (scheme file) (cairn macro))

(define-syntax pick
  (er-macro-transformer
   (lambda (form rename compare)
     (cadr (cdr form)))))
(pick)

(define-syntax checked
  (er-macro-transformer
   (lambda (form rename compare)
     (if (null? (cdr form))
         (error "checked: what is to be checked?" form)
         (cadr form)))))
(checked)

(define-syntax endless
  (er-macro-transformer
   (lambda (form rename compare)
     (let loop ((i 0)) (loop (+ i 1))))))
(endless)

(define-syntax deep
  (er-macro-transformer
   (lambda (form rename compare)
     (let loop ((i 0)) (+ 1 (loop (+ i 1)))))))
(deep)

(define-syntax circular
  (er-macro-transformer
   (lambda (form rename compare)
     (let ((l (list 1 2))) (set-cdr! l l) (list (rename 'quote) l)))))
(circular)

(define-syntax procedure
  (er-macro-transformer
   (lambda (form rename compare) (list (rename 'quote) car))))
(procedure)

(define-syntax reads
  (er-macro-transformer
   (lambda (form rename compare) (open-input-file "no-such-file"))))
(reads)

(define-syntax writes
  (er-macro-transformer
   (lambda (form rename compare) (open-output-file "secret"))))
(writes)

(define-syntax forward
  (er-macro-transformer
   (lambda (form rename compare) (later form))))
(forward 1)
(define (later form) form)

(let ((x 1))
  (let-syntax ((local (er-macro-transformer (lambda (form rename compare) x))))
    (local)))

(define-syntax five (er-macro-transformer 5))
(five)

(define-syntax two (er-macro-transformer (lambda (form rename) 1)))
(two)

(define-syntax renames (er-macro-transformer (lambda (form rename compare) (rename 5))))
(renames)

(define-syntax nothing (er-macro-transformer))
(define-syntax raises (er-macro-transformer (lambda (form rename compare) (raise 'oops))))
(raises)

(define generator #f)
(define-syntax enters
  (er-macro-transformer
   (lambda (form rename compare)
     (let* ((k #f) (n (call/cc (lambda (c) (set! k c) 0)))) (if (< n 1) (k (+ n 1)) n)))))
(enters)
(er-macro-transformer car)
