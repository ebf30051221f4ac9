;;; (cairn chez records): what Chez Scheme has besides R6RS for records: its older procedures, which know fields by
;;; their names, too, and count those of the parents; constructors of types; and tests for types that are records.
(define-library (cairn chez records)
  (export make-record-type csv7:record-field-accessor csv7:record-field-mutator csv7:record-field-accessible?
          csv7:record-field-mutable? csv7:record-type-name csv7:record-type-symbol csv7:record-type-field-names
          csv7:record-type-field-decls csv7:record-type-descriptor (rename constructor record-constructor)
          (rename chez-record? record?) record-constructor-descriptor? enum-set? transcoder?)
  (import (scheme base) (scheme case-lambda) (only (cairn control) wrong-type)
          (only (cairn rnrs records) accessor-at mutator-at make-record-constructor-descriptor
                make-record-type-descriptor record-constructor record-field-mutable? record-predicate
                record-type-descriptor? record-type-name record-type-parent record-type-uid)
          (prefix (only (cairn rnrs records) record?) open-)
          (only (cairn records) rtd-all-field-names rtd-field-names record? record-rtd)
          (only (rnrs enums) make-enumeration) (only (rnrs io ports) native-transcoder))
  (begin

    ;; Names are strings, or symbols; a field is a name, (mutable name) or (immutable name), perhaps with a type.
    (define make-record-type
      (case-lambda
        ((name fields) (make-record-type #f name fields))
        ((parent name fields)
         (if (not (or (string? name) (symbol? name))) (wrong-type "make-record-type" "a name" name))
         (if (not (list? fields)) (wrong-type "make-record-type" "a list of fields" fields))
         (make-record-type-descriptor (if (string? name) (string->symbol name) name) parent #f #f #f
                                      (list->vector (map field fields))))))
    (define (field f)
      (cond ((symbol? f) (list 'mutable f))
            ((and (list? f) (<= 1 (length f) 3))
             (let ((l (reverse f)))
               (for-each (lambda (word)
                           (if (not (memq word '(mutable immutable scheme-object)))
                               (wrong-type "make-record-type" "mutable, immutable or scheme-object" word)))
                         (cdr l))
               (list (if (memq 'immutable (cdr l)) 'immutable 'mutable) (car l))))
            (else (wrong-type "make-record-type" "a field" f))))

    ;; Of any type that is not opaque, or of this one.
    (define chez-record?
      (case-lambda
        ((x) (open-record? x))
        ((x rtd) ((record-predicate (check-type "record?" rtd)) x))))

    ;; Of a type: all fields, whatever protocols say.
    (define (constructor x)
      (record-constructor (if (record-type-descriptor? x) (make-record-constructor-descriptor x #f #f) x)))

    (define (check-type who rtd)
      (if (record-type-descriptor? rtd) rtd (wrong-type who "a record type" rtd)))

    ;; The number of a field among all; of fields of one name that of the youngest type.
    (define (place-of rtd f)
      (let ((names (rtd-all-field-names rtd)))
        (if (exact-integer? f)
            (and (< -1 f (length names)) f)
            (let loop ((l names) (i 0) (found #f))
              (if (null? l)
                  found
                  (loop (cdr l) (+ i 1) (if (eq? (car l) f) i found)))))))
    (define (place who rtd f)
      (or (place-of (check-type who rtd) f)
          (wrong-type who (string-append "a field of " (symbol->string (record-type-name rtd))) f)))
    (define (mutable-at? rtd i)
      (let ((inherited (- (length (rtd-all-field-names rtd)) (length (rtd-field-names rtd)))))
        (if (< i inherited)
            (mutable-at? (record-type-parent rtd) i)
            (record-field-mutable? rtd (- i inherited)))))
    (define (csv7:record-field-accessor rtd f)
      (accessor-at rtd (place "csv7:record-field-accessor" rtd f)))
    (define (csv7:record-field-mutator rtd f)
      (let ((i (place "csv7:record-field-mutator" rtd f)))
        (if (not (mutable-at? rtd i)) (wrong-type "csv7:record-field-mutator" "a field that can be changed" f))
        (mutator-at rtd i)))
    (define (csv7:record-field-accessible? rtd f)
      (place "csv7:record-field-accessible?" rtd f)
      #t)
    (define (csv7:record-field-mutable? rtd f)
      (mutable-at? rtd (place "csv7:record-field-mutable?" rtd f)))
    (define (csv7:record-type-name rtd)
      (symbol->string (record-type-name (check-type "csv7:record-type-name" rtd))))
    (define (csv7:record-type-symbol rtd)
      (or (record-type-uid (check-type "csv7:record-type-symbol" rtd)) (record-type-name rtd)))
    (define (csv7:record-type-field-names rtd)
      (rtd-all-field-names (check-type "csv7:record-type-field-names" rtd)))
    (define (csv7:record-type-field-decls rtd)
      (let loop ((names (rtd-all-field-names (check-type "csv7:record-type-field-decls" rtd))) (i 0))
        (if (null? names)
            '()
            (cons (list (if (mutable-at? rtd i) 'mutable 'immutable) 'scheme-object (car names))
                  (loop (cdr names) (+ i 1))))))
    (define (csv7:record-type-descriptor x)
      (if (record? x) (record-rtd x) (wrong-type "csv7:record-type-descriptor" "a record" x)))

    ;; A test for objects of the type of this one.
    (define (like sample)
      (let ((type (record-rtd sample)))
        (lambda (x) (and (record? x) (eq? (record-rtd x) type)))))
    (define record-constructor-descriptor?
      (like (make-record-constructor-descriptor (make-record-type 'sample '()) #f #f)))
    (define enum-set? (like (make-enumeration '())))
    (define transcoder? (like (native-transcoder)))))
