;;; (cairn records): record type descriptors.
;;;
;;; A record is a type descriptor followed by its fields.  A descriptor is itself a record: its type is
;;; `rtd-of-rtds`, its fields are the type's name and the list of field names.  `rtd-of-rtds` has no type of its own
;;; (`#f`), which ends the regress.  The runtime reads field 0 of a descriptor, the name, when it prints a record.
;;;
;;; `define-record-type` expands to `make-rtd` and to the primitives %record, %record-ref, %record-set! and
;;; %record-instance?; nothing here runs when a record is made or used.

(define-library (cairn records)
  (export make-rtd rtd? rtd-name rtd-field-names show-fields!
          (rename %record? record?)
          (rename %record-rtd record-rtd))
  (import (cairn syntax) (cairn primitives))
  (begin
    (define rtd-of-rtds (%record #f 'record-type '(name field-names)))

    ;; NAME is a symbol, FIELDS a list of symbols.
    (define (make-rtd name fields)
      (%record rtd-of-rtds name fields))

    (define (rtd? x)
      (%record-instance? x rtd-of-rtds))

    (define (rtd-name rtd)
      (%record-ref rtd rtd-of-rtds 0))

    (define (rtd-field-names rtd)
      (%record-ref rtd rtd-of-rtds 1))

    ;; Of its records only the first fields are shown, those with these names.  (The list ends with a symbol: that is
    ;; how the runtime knows.)
    (define (show-fields! rtd names)
      (%record-set! rtd rtd-of-rtds 1
                    (let loop ((l names)) (if (%pair? l) (%cons (%car l) (loop (%cdr l))) 'hidden))))))
