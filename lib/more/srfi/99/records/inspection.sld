;;; (srfi 99 records inspection): what is known of a record type. Its descriptor is that of R6RS and of (cairn records).
(define-library (srfi 99 records inspection)
  (export record? record-rtd rtd-name rtd-parent rtd-field-names rtd-all-field-names rtd-field-mutable?)
  (import (scheme base) (only (cairn control) wrong-type)
          (only (cairn rnrs records) record? record-rtd record-field-mutable?)
          (prefix (only (cairn records) rtd? rtd-name rtd-parent rtd-field-names rtd-all-field-names) plain:))
  (begin

    (define (check-rtd who x)
      (if (plain:rtd? x) x (wrong-type who "a record-type descriptor" x)))

    (define (rtd-name rtd) (plain:rtd-name (check-rtd "rtd-name" rtd)))
    (define (rtd-parent rtd) (plain:rtd-parent (check-rtd "rtd-parent" rtd)))
    (define (rtd-field-names rtd)
      (list->vector (plain:rtd-field-names (check-rtd "rtd-field-names" rtd))))
    (define (rtd-all-field-names rtd)
      (list->vector (plain:rtd-all-field-names (check-rtd "rtd-all-field-names" rtd))))

    ;; The field may be an inherited one; the type's own come first.
    (define (rtd-field-mutable? rtd field)
      (let look ((type (check-rtd "rtd-field-mutable?" rtd)))
        (if (not type)
            (wrong-type "rtd-field-mutable?" "the name of a field" field)
            (let ((from (memq field (reverse (plain:rtd-field-names type)))))
              (if from
                  (record-field-mutable? type (- (length from) 1))
                  (look (plain:rtd-parent type)))))))))
