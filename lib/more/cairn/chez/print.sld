;;; (cairn chez print): what `write` leaves out of long and deep objects when `print-length` and `print-level` ask for
;;; it.  A copy is written that has `...` in the place of what is left out; `display` writes everything, as in Chez
;;; Scheme.
(define-library (cairn chez print)
  (export print-length print-level write abbreviated)
  (import (scheme base) (scheme case-lambda) (prefix (only (scheme write) write) r7-) (scheme box)
          (only (srfi 1) circular-list?) (only (cairn control) wrong-type))
  (begin

    (define (limit who)
      (make-parameter #f
                      (lambda (x)
                        (if (or (not x) (and (exact-integer? x) (>= x 0)))
                            x
                            (wrong-type who "#f or an exact non-negative integer" x)))))
    (define print-length (limit "print-length"))
    (define print-level (limit "print-level"))

    (define (abbreviated x)
      (let ((length (print-length)) (level (print-level)))
        (if (and (or length level) (or (pair? x) (vector? x) (box? x)))
            (shorter x length level)
            x)))

    ;; `level`: how many levels may still be opened, or #f; of a list without end all is there if nothing bounds it.
    (define (shorter x length level)
      (define inner (and level (- level 1)))
      (define (part x)
        (if (or (pair? x) (vector? x) (box? x)) (shorter x length inner) x))
      (cond
        ((pair? x)
         (cond
           ((eqv? level 0) '(...))
           ((and (not length) (circular-list? x)) x)
           (else
            (let loop ((x x) (n 0))
              (cond ((not (pair? x)) (part x))
                    ((eqv? n length) '(...))
                    (else (cons (part (car x)) (loop (cdr x) (+ n 1)))))))))
        ((vector? x)
         (let ((n (vector-length x)))
           (cond
             ((= n 0) x)
             ((eqv? level 0) '#(...))
             ((and length (< length n))
              (list->vector (append (map part (vector->list x 0 length)) '(...))))
             (else (vector-map part x)))))
        (else (box (if (eqv? level 0) '... (part (unbox x)))))))

    (define write
      (case-lambda
        ((x) (r7-write (abbreviated x)))
        ((x port) (r7-write (abbreviated x) port))))))
