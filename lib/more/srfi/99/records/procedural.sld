;;; (srfi 99 records procedural): record types that are made at run time, and their procedures.
;;;
;;; A field is found by its name when a procedure is made, and by its place when it is called. Fields may have kinds, as
;;; those of Cairn's own form: ((mutable (x f64)) ...).
(define-library (srfi 99 records procedural)
  (export make-rtd rtd? rtd-constructor rtd-predicate rtd-accessor rtd-mutator named-constructor)
  (import (except (scheme base) error) (only (cairn control) error wrong-type)
          (only (cairn records) rtd? rtd-name rtd-all-field-names rtd-field-kinds)
          (only (cairn primitives) %make-record)
          (only (cairn rnrs records) make-record-type-descriptor record-predicate accessor-at mutator-at wrong-count)
          (only (srfi 99 records inspection) rtd-field-mutable?))
  (begin

    (define (check-rtd who x)
      (if (not (rtd? x)) (wrong-type who "a record-type descriptor" x)))

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
                            (field-name (cadr spec))))
                  (wrong-type "make-rtd" "a field: name, (mutable name) or (immutable name)" spec))
              (let ((name (field-name (cadr spec))))
                (if (memq name seen) (error "make-rtd: the field appears twice:" name))
                (loop (cdr l) (cons name seen)))))))
    ;; Of a name, or a name with a kind.
    (define (field-name x)
      (cond ((symbol? x) x)
            ((and (list? x) (= (length x) 2) (symbol? (car x)) (symbol? (cadr x))) (car x))
            (else #f)))

    ;;;; Procedures

    ;; The place of a field among all; that of a type hides those of its parents.
    (define (place who rtd field)
      (let ((from (memq field (reverse (rtd-all-field-names rtd)))))
        (if from
            (- (length from) 1)
            (wrong-type who (string-append "a field of " (symbol->string (rtd-name rtd))) field))))

    (define (rtd-constructor rtd . names)
      (check-rtd "rtd-constructor" rtd)
      (apply named-constructor (string-append "make-" (symbol->string (rtd-name rtd))) rtd names))
    ;; Errors of the constructor have the name `who`.
    (define (named-constructor who rtd . names)
      (let* ((all (length (rtd-all-field-names rtd)))
             (places (and (pair? names)
                          (map (lambda (name) (place "rtd-constructor" rtd name)) (vector->list (car names)))))
             (expected (if places (length places) all))
             (kinds (list->vector (rtd-field-kinds rtd))))
        (define (check-count arguments)
          (if (not (= (length arguments) expected))
              (wrong-count who expected arguments)))
        (if places (check-once (vector->list (car names))))
        (if (or (not places) (in-order? places all))
            (lambda arguments
              (check-count arguments)
              (%make-record rtd arguments))
            (lambda arguments
              (check-count arguments)
              (let ((fields (vector-map initial kinds)))
                (for-each (lambda (at x) (vector-set! fields at x)) places arguments)
                (%make-record rtd (vector->list fields)))))))
    ;; What a field holds that the constructor has no argument for.
    (define (initial kind)
      (case kind
        ((any bool ref) #f)
        ((f64 f32) 0.0)
        ((char) #\null)
        (else 0)))
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
      (check-rtd "rtd-predicate" rtd)
      (record-predicate rtd))
    (define (rtd-accessor rtd field)
      (check-rtd "rtd-accessor" rtd)
      (accessor-at rtd (place "rtd-accessor" rtd field)))
    (define (rtd-mutator rtd field)
      (check-rtd "rtd-mutator" rtd)
      (let ((at (place "rtd-mutator" rtd field)))
        (if (not (rtd-field-mutable? rtd field)) (error "rtd-mutator: the field cannot be changed:" field rtd))
        (mutator-at rtd at)))))
