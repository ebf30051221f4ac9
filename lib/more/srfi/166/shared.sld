;;; (srfi 166 shared): what (srfi 166) needs of Chibi: labels for shared structure, and `let-optionals*`.
;;;
;;; The labels of a datum are a pair of a table and the next number.  The table maps each pair and vector that needs a
;;; label to a box with its number, or with #f as long as it has not been written.
(define-library (srfi 166 shared)
  (export extract-shared-objects call-with-shared-ref call-with-shared-ref/cdr let-optionals*)
  (import (scheme base) (srfi 69) (srfi 111))
  (begin

    ;; What is met twice needs a label; if only cycles count, what is met again inside of itself.
    (define (extract-shared-objects x cyclic-only?)
      (let ((met (make-hash-table eq?)) (shared (make-hash-table eq?)))
        (let walk ((x x))
          (if (or (pair? x) (vector? x))
              (let ((state (hash-table-ref/default met x #f)))
                (cond
                  ((not state)
                   (hash-table-set! met x 'inside)
                   (if (pair? x)
                       (begin
                         (walk (car x))
                         (walk (cdr x)))
                       (vector-for-each walk x))
                   (hash-table-set! met x 'outside))
                  ((or (eq? state 'inside) (not cyclic-only?))
                   (hash-table-set! shared x (box #f)))))))
        (cons shared 0)))

    ;; `before` stands before a label and `after` behind the number of a new one.
    (define (with-label x shares each before after proc otherwise)
      (let ((label (hash-table-ref/default (car shares) x #f)))
        (cond
          ((not label) (otherwise))
          ((unbox label) (each before "#" (number->string (unbox label)) "#"))
          (else
           (let ((n (cdr shares)))
             (set-box! label n)
             (set-cdr! shares (+ n 1))
             (each before "#" (number->string n) (car after) proc (cdr after)))))))

    (define (call-with-shared-ref x shares each proc)
      (with-label x shares each "" '("=" . "") proc (lambda () (each proc))))

    ;; The rest of a list: behind a dot if it has a label.
    (define (call-with-shared-ref/cdr x shares each proc . separator)
      (let ((separator (if (pair? separator) (car separator) "")))
        (with-label x shares (lambda parts (apply each separator parts)) ". " '("=(" . ")") proc
                    (lambda () (each separator proc)))))

    (define-syntax let-optionals*
      (syntax-rules ()
        ((_ values () . body) (let () . body))
        ((_ values ((name default) . others) . body)
         (let* ((rest values)
                (name (if (pair? rest) (car rest) default))
                (rest (if (pair? rest) (cdr rest) '())))
           (let-optionals* rest others . body)))
        ((_ values name . body)
         (let ((name values)) . body))))))
