;;; (srfi 35): conditions as compounds of typed parts.
;;;
;;; A condition is a list of parts, each a type and the values of its fields, its own and inherited ones.  Cairn's own
;;; error objects (those of `error` and of failing checks) are conditions too: of the types &message and &error.
(define-library (srfi 35)
  (export make-condition-type condition-type?
          make-condition condition? condition-has-type? condition-ref make-compound-condition extract-condition
          define-condition-type condition
          &condition &message message-condition? condition-message
          &serious serious-condition? &error error?)
  (import (scheme base) (only (cairn control) wrong-type))
  (begin

    (define-record-type <condition-type>
      (make-type name parent fields all-fields)
      condition-type?
      (name type-name)
      (parent type-parent)
      ;; its own fields; with those of its ancestors
      (fields type-fields)
      (all-fields type-all-fields))

    (define-record-type <condition>
      (compound parts)
      compound?
      ;; list of (type . alist of all fields)
      (parts compound-parts))

    (define &condition (make-type '&condition #f '() '()))

    (define (check-type who x)
      (if (condition-type? x) x (wrong-type who "a condition type" x)))

    (define (make-condition-type name parent fields)
      (check-type "make-condition-type" parent)
      (if (not (symbol? name)) (wrong-type "make-condition-type" "a symbol" name))
      (for-each (lambda (f)
                  (if (memq f (type-all-fields parent))
                      (error "make-condition-type: a supertype has this field already:" f)))
                fields)
      (make-type name parent fields (append (type-all-fields parent) fields)))

    (define (subtype? type ancestor)
      (and type (or (eq? type ancestor) (subtype? (type-parent type) ancestor))))

    (define &message (make-condition-type '&message &condition '(message)))
    (define &serious (make-condition-type '&serious &condition '()))
    (define &error (make-condition-type '&error &serious '()))

    ;;;; Conditions

    (define (condition? x)
      (or (compound? x) (error-object? x)))

    (define (parts-of who x)
      (cond
        ((compound? x) (compound-parts x))
        ((error-object? x)
         (list (list &message (cons 'message (error-object-message x))) (list &error)))
        (else (wrong-type who "a condition" x))))

    ;; The fields in the order of the type, from an alist.
    (define (make-part type values)
      (for-each (lambda (v)
                  (if (not (memq (car v) (type-all-fields type)))
                      (error "make-condition: the type has no such field:" (car v) (type-name type))))
                values)
      (cons type
            (map (lambda (f)
                   (or (assq f values)
                       (error "make-condition: a field has no value:" f (type-name type))))
                 (type-all-fields type))))

    (define (make-condition type . fields-and-values)
      (check-type "make-condition" type)
      (compound
       (list
        (make-part type
                   (let loop ((l fields-and-values))
                     (cond ((null? l) '())
                           ((null? (cdr l)) (error "make-condition: a field has no value:" (car l)))
                           (else (cons (cons (car l) (cadr l)) (loop (cddr l))))))))))

    (define (condition-has-type? c type)
      (check-type "condition-has-type?" type)
      (let loop ((parts (parts-of "condition-has-type?" c)))
        (and (pair? parts)
             (or (subtype? (caar parts) type) (loop (cdr parts))))))

    (define (condition-ref c field)
      (let loop ((parts (parts-of "condition-ref" c)))
        (if (null? parts)
            (error "condition-ref: the condition has no such field:" field)
            (let ((v (assq field (cdar parts))))
              (if v (cdr v) (loop (cdr parts)))))))

    (define (make-compound-condition first . rest)
      (compound
       (apply append (map (lambda (c) (parts-of "make-compound-condition" c)) (cons first rest)))))

    ;; The part of a type, without the fields of its subtypes.
    (define (extract-condition c type)
      (check-type "extract-condition" type)
      (let loop ((parts (parts-of "extract-condition" c)))
        (cond
          ((null? parts) (error "extract-condition: the condition has no part of this type:" (type-name type)))
          ((subtype? (caar parts) type)
           (compound (list (cons type (map (lambda (f) (assq f (cdar parts))) (type-all-fields type))))))
          (else (loop (cdr parts))))))

    ;; A field without a value in its own part is looked for in the parts of the supertypes that share it.
    (define (make-condition-of parts)
      (let ((all (apply append (map cdr parts))))
        (compound
         (map (lambda (part)
                (let ((type (check-type "condition" (car part))))
                  (for-each (lambda (v)
                              (if (not (memq (car v) (type-all-fields type)))
                                  (error "condition: the type has no such field:" (car v) (type-name type))))
                            (cdr part))
                  (cons type
                        (map (lambda (f)
                               (or (assq f (cdr part))
                                   (assq f all)
                                   (error "condition: a field has no value:" f (type-name type))))
                             (type-all-fields type)))))
              parts))))

    (define-syntax condition
      (syntax-rules ()
        ((_ (type (field value) ...) ...)
         (make-condition-of (list (list type (cons 'field value) ...) ...)))))

    (define-syntax define-condition-type
      (syntax-rules ()
        ((_ type parent predicate (field accessor) ...)
         (begin
           (define type (make-condition-type 'type parent '(field ...)))
           (define (predicate x) (and (condition? x) (condition-has-type? x type)))
           (define (accessor c)
             (condition-ref (check-has c type 'accessor 'type) 'field))
           ...))))

    (define (check-has c type who name)
      (if (and (condition? c) (condition-has-type? c type))
          (extract-condition c type)
          (wrong-type (symbol->string who) (string-append "a condition of type " (symbol->string name)) c)))

    (define (message-condition? x) (and (condition? x) (condition-has-type? x &message)))
    (define (serious-condition? x) (and (condition? x) (condition-has-type? x &serious)))
    (define (error? x) (and (condition? x) (condition-has-type? x &error)))
    (define (condition-message c)
      (condition-ref (check-has c &message 'condition-message '&message) 'message))))
