;;; (cairn chez print): `write` and `display` with Chez Scheme's settings: what `print-length` and `print-level` leave
;;; out of long and deep objects, numbers in the radix that `print-radix` says, records as their `record-writer` does.
;;;
;;; What is left out is replaced in a copy, which is then written by R7RS's procedures; `display` writes everything, as
;;; in Chez Scheme.  Only when there is a radix or a record writer the printer below is needed: it goes through pairs,
;;; vectors and boxes itself.  Data that come back to themselves are labelled as R7RS's `write` labels them.
(define-library (cairn chez print)
  (export print-length print-level print-radix record-writer write display abbreviated)
  (import (except (scheme base) number->string) (prefix (only (scheme base) number->string) r7-)
          (scheme case-lambda) (prefix (only (scheme write) write display) r7-) (scheme box)
          (only (scheme inexact) finite?)
          (only (cairn chez data) number->string)
          (only (srfi 1) circular-list?) (only (cairn control) wrong-type)
          (only (cairn rnrs records) record? record-rtd record-type-parent record-type-descriptor?)
          (only (cairn hash-table) make-hash-table hash-table-ref/default hash-table-set! hash-table-delete!
                hash-table-size))
  (begin

    (define (limit who)
      (make-parameter #f
                      (lambda (x)
                        (if (or (not x) (and (exact-integer? x) (>= x 0)))
                            x
                            (wrong-type who "#f or an exact non-negative integer" x)))))
    (define print-length (limit "print-length"))
    (define print-level (limit "print-level"))
    (define print-radix
      (make-parameter 10
                      (lambda (x)
                        (if (and (exact-integer? x) (<= 2 x 36))
                            x
                            (wrong-type "print-radix" "a radix from 2 to 36" x)))))

    ;;;; What is left out

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

    ;;;; Writers of records

    (define writers (make-hash-table eq?))
    (define (default-record-writer record port write) (r7-write record port))
    ;; That of the type, or of the nearest parent that has one; or #f.
    (define (writer-of type)
      (and type
           (or (hash-table-ref/default writers type #f) (writer-of (record-type-parent type)))))
    (define record-writer
      (case-lambda
        ((type)
         (check-type type)
         (or (writer-of type) default-record-writer))
        ((type writer)
         (check-type type)
         (cond
           ((not writer) (hash-table-delete! writers type))
           ((procedure? writer) (hash-table-set! writers type writer))
           (else (wrong-type "record-writer" "a procedure or #f" writer))))))
    (define (check-type x)
      (if (not (record-type-descriptor? x)) (wrong-type "record-writer" "a record type" x)))

    ;;;; The printer

    (define (plain?)
      (and (eqv? (print-radix) 10) (= (hash-table-size writers) 0)))
    (define (compound? x) (or (pair? x) (vector? x) (box? x)))

    ;; A table of the objects that contain themselves, each with #t.
    (define (cycles x)
      (define state (make-hash-table eq?)) ; open, or done
      (define found (make-hash-table eq?))
      (define (visit x)
        (if (compound? x)
            (case (hash-table-ref/default state x #f)
              ((open) (hash-table-set! found x #t))
              ((#f)
               (hash-table-set! state x 'open)
               (cond ((pair? x) (visit (car x)) (visit (cdr x)))
                     ((vector? x) (vector-for-each visit x))
                     (else (visit (unbox x))))
               (hash-table-set! state x 'done)))))
      (visit x)
      found)

    (define (number x radix readable?)
      (let ((digits (and (finite? x) (number->string x radix))))
        (cond
          ((not digits) (r7-number->string x))
          ((not readable?) digits)
          (else
           (string-append
            (case radix
              ((2) "#b")
              ((8) "#o")
              ((16) "#x")
              (else (string-append "#" (number->string radix) "r")))
            digits)))))

    (define (print x port readable?)
      (define radix (print-radix))
      (define labels (cycles x))
      (define n 0)
      ;; Writes the label of an object that has one; true if it was there before.
      (define (labelled? x)
        (let ((label (hash-table-ref/default labels x #f)))
          (cond
            ((not label) #f)
            ((eq? label #t)
             (hash-table-set! labels x n)
             (write-string (string-append "#" (number->string n) "=") port)
             (set! n (+ n 1))
             #f)
            (else
             (write-string (string-append "#" (number->string label) "#") port)
             #t))))
      (define (again x port)
        (if readable? (write x port) (display x port)))
      (define (atom x)
        (cond
          ((and (number? x) (not (= radix 10))) (write-string (number x radix readable?) port))
          ((and (record? x) (writer-of (record-rtd x))) => (lambda (writer) (writer x port again)))
          (readable? (r7-write x port))
          (else (r7-display x port))))
      (define (tail x)
        (cond
          ((null? x) (write-char #\) port))
          ((and (pair? x) (not (hash-table-ref/default labels x #f)))
           (write-char #\space port)
           (datum (car x))
           (tail (cdr x)))
          (else
           (write-string " . " port)
           (datum x)
           (write-char #\) port))))
      (define (datum x)
        (cond
          ((not (compound? x)) (atom x))
          ((labelled? x))
          ((pair? x)
           (write-char #\( port)
           (datum (car x))
           (tail (cdr x)))
          ((vector? x)
           (write-string "#(" port)
           (do ((i 0 (+ i 1))) ((= i (vector-length x)))
             (if (> i 0) (write-char #\space port))
             (datum (vector-ref x i)))
           (write-char #\) port))
          (else
           (write-string "#<box value: " port)
           (datum (unbox x))
           (write-char #\> port))))
      (datum x))

    (define write
      (case-lambda
        ((x) (write x (current-output-port)))
        ((x port)
         (let ((x (abbreviated x)))
           (if (or (string? x) (symbol? x) (plain?)) (r7-write x port) (print x port #t))))))
    (define display
      (case-lambda
        ((x) (display x (current-output-port)))
        ((x port)
         (if (or (string? x) (char? x) (symbol? x) (plain?)) (r7-display x port) (print x port #f)))))))
