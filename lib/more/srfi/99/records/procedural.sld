;;; (srfi 99 records procedural): record types that are made at run time, and their procedures.
;;;
;;; A field is found by its name when a procedure is made, and by its place when it is called. Only types all of whose
;;; fields hold anything are taken: the slots of other ones are not all objects.
(define-library (srfi 99 records procedural)
  (export make-rtd rtd? rtd-constructor rtd-predicate rtd-accessor rtd-mutator)
  (import (except (scheme base) error) (only (cairn control) error wrong-type) (only (cairn records) rtd? rtd-name rtd-all-field-names)
          (only (cairn primitives) %make-record %record-instance? %record-slot %record-slot-set! %record-type-about)
          (only (cairn rnrs records) make-record-type-descriptor)
          (only (srfi 99 records inspection) rtd-field-mutable?))
  (begin

    (define (check-rtd who x)
      (if (not (rtd? x)) (wrong-type who "a record-type descriptor" x))
      (for-each (lambda (kind) (if (not (eq? kind 'any)) (wrong-type who "a type whose fields hold anything" x)))
                (%record-type-about x 4)))

    ;;;; Types

    ;; After the parent may come `sealed`, `opaque`, and `uid` with a symbol.
    (define (make-rtd name specs . options)
      (define (specified spec) (if (symbol? spec) (list 'mutable spec) spec))
      (if (not (symbol? name)) (wrong-type "make-rtd" "a symbol" name))
      (if (not (vector? specs)) (wrong-type "make-rtd" "a vector of fields" specs))
      (let* ((fields (vector-map specified specs))
             (parent (and (pair? options) (not (symbol? (car options))) (car options))))
        (if parent (check-rtd "make-rtd" parent))
        (check-fields (vector->list fields))
        (let loop ((l (if (and (pair? options) (not (symbol? (car options)))) (cdr options) options))
                   (sealed? #f) (opaque? #f) (uid #f))
          (cond
            ((null? l) (make-record-type-descriptor name parent uid sealed? opaque? fields))
            ((eq? (car l) 'sealed) (loop (cdr l) #t opaque? uid))
            ((eq? (car l) 'opaque) (loop (cdr l) sealed? #t uid))
            ((and (eq? (car l) 'uid) (pair? (cdr l)) (symbol? (cadr l))) (loop (cddr l) sealed? opaque? (cadr l)))
            (else (wrong-type "make-rtd" "sealed, opaque, or uid and a symbol" (car l)))))))

    (define (check-fields fields)
      (let loop ((l fields) (seen '()))
        (if (pair? l)
            (let ((spec (car l)))
              (if (not (and (list? spec) (= (length spec) 2) (memq (car spec) '(mutable immutable))
                            (symbol? (cadr spec))))
                  (wrong-type "make-rtd" "a field: name, (mutable name) or (immutable name)" spec))
              (if (memq (cadr spec) seen) (error "make-rtd: the field appears twice:" (cadr spec)))
              (loop (cdr l) (cons (cadr spec) seen))))))

    ;;;; Procedures

    ;; The place of a field among all; that of a type hides those of its parents.
    (define (place who rtd field)
      (let ((from (memq field (reverse (rtd-all-field-names rtd)))))
        (if from
            (- (length from) 1)
            (wrong-type who (string-append "a field of " (symbol->string (rtd-name rtd))) field))))

    (define (rtd-constructor rtd . names)
      (check-rtd "rtd-constructor" rtd)
      (let* ((all (length (rtd-all-field-names rtd)))
             (places (and (pair? names)
                          (map (lambda (name) (place "rtd-constructor" rtd name)) (vector->list (car names)))))
             (expected (if places (length places) all)))
        (define (check-count arguments)
          (if (not (= (length arguments) expected))
              (error (string-append "wrong number of fields for " (symbol->string (rtd-name rtd)) ", expected "
                                    (number->string expected) ", got")
                     (length arguments))))
        (if places (check-once (vector->list (car names))))
        (if (or (not places) (in-order? places all))
            (lambda arguments
              (check-count arguments)
              (%make-record rtd arguments))
            (lambda arguments
              (check-count arguments)
              (let ((fields (make-vector all #f)))
                (for-each (lambda (at x) (vector-set! fields at x)) places arguments)
                (%make-record rtd (vector->list fields)))))))
    (define (check-once names)
      (if (pair? names)
          (if (memq (car names) (cdr names))
              (error "rtd-constructor: the field appears twice:" (car names))
              (check-once (cdr names)))))
    (define (in-order? places all)
      (let loop ((l places) (i 0))
        (if (null? l)
            (= i all)
            (and (= (car l) i) (loop (cdr l) (+ i 1))))))

    (define (rtd-predicate rtd)
      (if (not (rtd? rtd)) (wrong-type "rtd-predicate" "a record-type descriptor" rtd))
      (lambda (x) (%record-instance? x rtd)))

    (define (named rtd field end)
      (string-append (symbol->string (rtd-name rtd)) "-" (symbol->string field) end))
    (define (check-record who rtd x)
      (if (not (%record-instance? x rtd))
          (wrong-type who (string-append "a record of type " (symbol->string (rtd-name rtd))) x)))

    (define (rtd-accessor rtd field)
      (check-rtd "rtd-accessor" rtd)
      (let ((at (place "rtd-accessor" rtd field)) (who (named rtd field "")))
        (lambda (x)
          (check-record who rtd x)
          (%record-slot x rtd at))))
    (define (rtd-mutator rtd field)
      (check-rtd "rtd-mutator" rtd)
      (let* ((at (place "rtd-mutator" rtd field)) (who (named rtd field "-set!")) (name (string->symbol who)))
        (if (not (rtd-field-mutable? rtd field)) (error "rtd-mutator: the field cannot be changed:" field rtd))
        (lambda (x value)
          (check-record who rtd x)
          (%record-slot-set! x rtd at value name))))))
