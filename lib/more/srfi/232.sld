;;; (srfi 232): procedures that take their arguments a few at a time.
(define-library (srfi 232)
  (export curried define-curried)
  (import (scheme base))
  (begin

    ;; `proc` takes n arguments, or more if `rest?`.
    (define (curry n rest? proc)
      (lambda args
        (let ((k (length args)))
          (cond
            ((or (= k n) (and rest? (> k n))) (apply proc args))
            ((< k n) (curry (- n k) rest? (lambda more (apply proc (append args more)))))
            (else
             (let loop ((i 0) (first '()) (others args))
               (if (< i n)
                   (loop (+ i 1) (cons (car others) first) (cdr others))
                   (apply (apply proc (reverse first)) others))))))))

    (define-syntax curried
      (syntax-rules ()
        ((_ () . body) (let () . body))
        ((_ (v ...) . body) (curry (length '(v ...)) #f (lambda (v ...) . body)))
        ((_ (v ... . rest) . body) (%with-rest (v ...) rest . body))))
    (define-syntax %with-rest
      (syntax-rules ()
        ((_ () rest . body) (lambda rest . body))
        ((_ (v ...) rest . body) (curry (length '(v ...)) #t (lambda (v ... . rest) . body)))))

    (define-syntax define-curried
      (syntax-rules ()
        ((_ (name . formals) . body) (define name (curried formals . body)))))))
