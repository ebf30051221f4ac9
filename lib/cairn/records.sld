;;; (cairn records): record types.
;;;
;;; A record type is a value of its own, a *type word*: the header of its records (cairn-layout's object::record).
;;; `define-record-type` expands to %make-record-type and to the primitives %record, %record-ref, %record-set! and
;;; %record-instance?; nothing here runs when a record is made or used.

(define-library (cairn records)
  (export make-rtd make-rtd-of rtd-field-kinds rtd-field-codes rtd-compact? rtd-sealed? rtd? rtd-name rtd-field-names
          rtd-all-field-names rtd-parent show-fields! unsendable!
          (rename %record? record?)
          (rename %record-rtd record-rtd))
  (import (cairn syntax) (cairn primitives))
  (begin
    ;; NAME is a symbol, FIELDS a list of symbols.
    (define (make-rtd name fields)
      (%make-record-type name fields (%fx* 16 (%length fields))))

    ;; FIELDS is a list of pairs of a name and the name of a kind, PARENT a type or #f, WHO a string for errors.
    (define (make-rtd-of name fields sealed? parent who)
      (%record-define name fields (if sealed? #t #f) parent who))

    (define (about rtd what)
      (%record-type-about rtd what))

    (define (rtd? x)
      (%symbol? (about x 0)))

    (define (rtd-name rtd) (about rtd 0))

    ;; Its own fields, without those of the types that it extends.
    (define (rtd-field-names rtd) (about rtd 1))

    (define (rtd-all-field-names rtd) (about rtd 2))

    ;; Of all fields, what each holds: any, f64 and so on, in the order of names.
    (define (rtd-field-kinds rtd) (about rtd 4))

    ;; Of all fields, where each is, as %record-slot wants it.
    (define (rtd-field-codes rtd) (about rtd 5))

    ;; Are its records compact?
    (define (rtd-compact? rtd) (about rtd 6))

    (define (rtd-sealed? rtd) (about rtd 7))

    ;; The type that it extends, or #f.
    (define (rtd-parent rtd) (about rtd 3))

    ;; Of its records only the first fields are shown, those with these names.
    (define-syntax show-fields!
      (syntax-rules ()
        ((_ rtd '()) (%record-type-show! rtd 0))
        ((_ rtd '(a)) (%record-type-show! rtd 1))
        ((_ rtd '(a b)) (%record-type-show! rtd 2))
        ((_ rtd '(a b c)) (%record-type-show! rtd 3))))

    ;; Its records stand for something of the place they are in: they cannot be sent to another one.
    (define-syntax unsendable!
      (syntax-rules ()
        ((_ rtd) (%record-type-sent! rtd 1))))))
