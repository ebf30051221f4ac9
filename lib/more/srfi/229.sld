;;; (srfi 229): procedures with a tag.
;;;
;;; A tagged procedure is one around the procedure itself, and a table with weak keys knows its tag. The tag is also in
;;; the closure, so that every evaluation makes another one, whatever the optimizer finds out about its variables.
(define-library (srfi 229)
  (export case-lambda/tag lambda/tag procedure/tag? procedure-tag)
  (import (scheme base) (scheme case-lambda) (only (cairn control) wrong-type)
          (only (cairn hash-table) make-hash-table hash-table-ref/default hash-table-set!))
  (begin

    (define tags (make-hash-table eq? 'weak-keys))
    (define none (list 'none))

    (define (tagged tag proc)
      (let ((f (case-lambda
                 (() (proc))
                 ((a) (if (eq? a none) tag (proc a)))
                 ((a b) (proc a b))
                 ((a b c) (proc a b c))
                 (all (apply proc all)))))
        (hash-table-set! tags f tag)
        f))

    (define-syntax lambda/tag
      (syntax-rules ()
        ((_ tag formals body1 body2 ...)
         (tagged tag (lambda formals body1 body2 ...)))))
    (define-syntax case-lambda/tag
      (syntax-rules ()
        ((_ tag (formals body1 body2 ...) ...)
         (tagged tag (case-lambda (formals body1 body2 ...) ...)))))

    (define (procedure/tag? x)
      (not (eq? none (hash-table-ref/default tags x none))))
    (define (procedure-tag f)
      (let ((tag (hash-table-ref/default tags f none)))
        (if (eq? tag none) (wrong-type "procedure-tag" "a procedure with a tag" f) tag)))))
