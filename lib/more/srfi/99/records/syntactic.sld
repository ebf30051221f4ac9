;;; (srfi 99 records syntactic): define-record-type.
;;;
;;; A type without a parent is one of Cairn's own form: its procedures are compiled where they are called. The parent is
;;; an expression, so a type with one is made at run time, and its procedures are closures.
(define-library (srfi 99 records syntactic)
  (export define-record-type)
  (import (rename (except (scheme base) error) (define-record-type define-plain-record-type)) (cairn syntax-case)
          (only (cairn macro) refuse-form) (only (cairn rnrs records) note-mutable!)
          (srfi 99 records procedural))
  (begin

    ;;;; What the macro uses; identifiers are made in the context of another one.

    (define (text id) (symbol->string (syntax->datum id)))
    (define (joined context . parts)
      (let ((texts (map (lambda (p) (if (string? p) p (text p))) parts)))
        (datum->syntax context (string->symbol (apply string-append texts)))))
    ;; The name that people see: without angle brackets.
    (define (plain-name id)
      (let* ((s (text id)) (n (string-length s)))
        (if (and (> n 2) (char=? (string-ref s 0) #\<) (char=? (string-ref s (- n 1)) #\>))
            (datum->syntax id (string->symbol (substring s 1 (- n 1))))
            id)))
    ;; A constructor or predicate as it is given: #t stands for the usual name.
    (define (given type x before after)
      (if (eq? x #t) (joined type before type after) x))
    (define shape-of-field "a field is name, (name) or (name accessor [mutator])")
    ;; (name accessor) or (name accessor mutator)
    (define (full-field type spec)
      (define (accessor field) (joined type type "-" field))
      (define (bad)
        (refuse-form "not a field of a record" spec shape-of-field))
      (cond
        ((identifier? spec) (list spec (accessor spec)))
        ((not (and (pair? spec) (list? spec) (<= (length spec) 3))) (bad))
        ((pair? (cdr spec)) spec)
        ((identifier? (car spec))
         (list (car spec) (accessor (car spec)) (joined type type "-" (car spec) "-set!")))
        (else (bad))))
    (define (mutable? field) (pair? (cddr field)))

    (define-syntax define-record-type
      (lambda (x)
        (syntax-case x ()
          ((_ (type #f) constructor predicate field ...)
           #'(define-record-type type constructor predicate field ...))
          ((_ (type) constructor predicate field ...)
           #'(define-record-type type constructor predicate field ...))
          ((_ type constructor predicate field ...)
           (identifier? #'type)
           (with-syntax ((make (given #'type #'constructor "make-" ""))
                         (test (given #'type #'predicate "" "?"))
                         ((full ...) (map (lambda (f) (full-field #'type f)) #'(field ...))))
             (with-syntax ((flags (list->vector (map mutable? #'(full ...)))))
               #'(begin
                   (define-plain-record-type type make test full ...)
                   (define noted (note-mutable! type 'flags))))))
          ((_ (type parent) constructor predicate field ...)
           (identifier? #'type)
           (let ((fields (map (lambda (f) (full-field #'type f)) #'(field ...)))
                 (make (given #'type #'constructor "make-" ""))
                 (test (given #'type #'predicate "" "?")))
             (with-syntax ((name (plain-name #'type))
                           (specs (list->vector (map (lambda (f) (list (if (mutable? f) #'mutable #'immutable) (car f)))
                                                     fields)))
                           ((make ...)
                            (cond
                              ((identifier? make) (list #`(define #,make (named-constructor #,(text make) type))))
                              ((pair? make)
                               (list #`(define #,(car make)
                                         (named-constructor #,(text (car make)) type '#,(list->vector (cdr make))))))
                              (else '())))
                           ((test ...) (if test (list #`(define #,test (rtd-predicate type))) '()))
                           (((field get) ...) (map (lambda (f) (list (car f) (cadr f))) fields))
                           (((changed set) ...)
                            (map (lambda (f) (list (car f) (car (cddr f))))
                                 (let keep ((l fields))
                                   (cond ((null? l) '())
                                         ((mutable? (car l)) (cons (car l) (keep (cdr l))))
                                         (else (keep (cdr l))))))))
               #'(begin
                   (define type (make-rtd 'name 'specs parent))
                   make ...
                   test ...
                   (define get (rtd-accessor type 'field)) ...
                   (define set (rtd-mutator type 'changed)) ...)))))))))
