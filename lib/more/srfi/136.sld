;;; (srfi 136): record types whose names are macros.
;;;
;;; The record type itself is one of Cairn's under a hidden name, so its procedures are compiled where they are called.
;;; The macro of the public name knows that one; a definition that extends the type asks for it, and for the *shape*,
;;; which says of each field its label and what the constructor puts there: the number of an argument, or #f.
;;;
;;;     (define-record-type point (make y) point? (x x) (y y))
;;;       ⟶  (define-plain-record-type hidden all point? (x x) (y y))       1 argument, shape ((x . #f) (y . 0))
;;;           (define (make y) (all #f y))
;;;           (define-type-keyword point hidden #f 1 ((x . #f) (y . 0)) ((x x) (y y)))
;;;
;;; A label is the field's name, which `write` shows. Fields of one type of Cairn have different names, here they need
;;; not: then the label is another one, as it is for a field without a name.
(define-library (srfi 136)
  (export define-record-type make-record-type-descriptor record-type-descriptor? record-type-descriptor
          record-type-predicate record-type-name record-type-parent record-type-fields make-record record?)
  (import (rename (except (scheme base) error) (define-record-type define-plain-record-type)) (cairn syntax-case)
          (only (cairn control) wrong-type) (only (cairn macro) refuse-form)
          (only (cairn hash-table) make-hash-table hash-table-ref/default hash-table-set!)
          (only (cairn rnrs records) note-mutable!)
          (srfi 99 records procedural) (srfi 99 records inspection))
  (begin

    ;;;; What is known of a type: its name with all its characters, and (field accessor mutator-or-#f) of its own fields

    (define notes (make-hash-table eq?))
    (define (note! rtd name fields)
      (hash-table-set! notes rtd (cons name fields)))
    (define (define-note! rtd name fields)
      (note-mutable! rtd (list->vector (map (lambda (f) (and (car (cddr f)) #t)) fields)))
      (note! rtd name fields))

    (define (check-rtd who x)
      (if (rtd? x) x (wrong-type who "a record-type descriptor" x)))

    (define (record-type-name rtd)
      (let ((note (hash-table-ref/default notes (check-rtd "record-type-name" rtd) #f)))
        (if note (car note) (rtd-name rtd))))
    (define (record-type-fields rtd)
      (let ((note (hash-table-ref/default notes (check-rtd "record-type-fields" rtd) #f)))
        (if note (cdr note) (fields-of rtd))))
    (define (fields-of rtd)
      (map (lambda (f)
             (list f (rtd-accessor rtd f) (and (rtd-field-mutable? rtd f) (rtd-mutator rtd f))))
           (vector->list (rtd-field-names rtd))))

    ;;;; Procedures

    (define (record-type-descriptor? x) (rtd? x))
    (define (record-type-descriptor record)
      (if (record? record) (record-rtd record) (wrong-type "record-type-descriptor" "a record" record)))
    (define (record-type-predicate rtd) (rtd-predicate (check-rtd "record-type-predicate" rtd)))
    (define (record-type-parent rtd) (rtd-parent (check-rtd "record-type-parent" rtd)))

    (define (make-record-type-descriptor name specs . parent)
      (if (not (symbol? name)) (wrong-type "make-record-type-descriptor" "a symbol" name))
      (if (not (list? specs)) (wrong-type "make-record-type-descriptor" "a list of fields" specs))
      (let ((rtd (make-rtd (without-brackets name) (list->vector specs) (and (pair? parent) (car parent)))))
        (note! rtd name (fields-of rtd))
        rtd))
    (define (without-brackets name)
      (let* ((s (symbol->string name)) (n (string-length s)))
        (if (and (> n 2) (char=? (string-ref s 0) #\<) (char=? (string-ref s (- n 1)) #\>))
            (string->symbol (substring s 1 (- n 1)))
            name)))

    (define (make-record rtd fields)
      (if (not (vector? fields)) (wrong-type "make-record" "a vector of fields" fields))
      (apply (rtd-constructor (check-rtd "make-record" rtd)) (vector->list fields)))

    ;;;; Syntax

    (define-syntax define-record-type
      (syntax-rules ()
        ((_ (name #f) constructor predicate field ...)
         (define-extended name #f constructor predicate (field ...) #f 0 ()))
        ((_ (name parent) constructor predicate field ...)
         (parent internal (define-extended name parent constructor predicate (field ...))))
        ((_ name constructor predicate field ...)
         (define-extended name #f constructor predicate (field ...) #f 0 ()))))

    ;; The public name. `internal` is known here only.
    (define-syntax internal (syntax-rules ()))
    (define-syntax define-type-keyword
      (syntax-rules ()
        ((_ name rtd parent arguments shape (field ...))
         (define-syntax name
           (syntax-rules (internal)
             ((_) rtd)
             ((_ internal (k datum (... ...))) (k datum (... ...) rtd arguments shape))
             ((_ (k datum (... ...))) (k datum (... ...) parent field ...)))))))

    ;;;; What define-extended uses

    (define (count-from i n) (if (= n 0) '() (cons i (count-from (+ i 1) (- n 1)))))
    (define shape-of-field "a field is (name accessor [mutator]), where the name may be #f")
    (define (check-field field)
      (if (not (and (list? field) (<= 2 (length field) 3)
                    (or (not (car field)) (identifier? (car field)))))
          (refuse-form "not a field of a record" field shape-of-field)))
    ;; The place of an argument of the constructor among the type's own fields: by its name, else by its accessor.
    (define (own-place argument fields)
      (define (search part)
        (let loop ((l fields) (i 0))
          (cond ((null? l) #f)
                ((let ((id (part (car l)))) (and id (bound-identifier=? id argument))) i)
                (else (loop (cdr l) (+ i 1))))))
      (or (search car)
          (search cadr)
          (refuse-form "not a field of this record" argument #f)))
    (define (drop l n) (if (= n 0) l (drop (cdr l) (- n 1))))
    ;; For each of the type's own fields the number of its argument, or #f.
    (define (own-shape arguments inherited fields)
      (if (< (length arguments) inherited)
          (refuse-form "the constructor has fewer arguments than the parent's" arguments #f))
      (let ((shape (make-vector (length fields) #f)))
        (let loop ((l (drop arguments inherited)) (i inherited))
          (if (pair? l)
              (let ((at (own-place (car l) fields)))
                (if (vector-ref shape at) (refuse-form "this field is initialized twice" (car l) #f))
                (vector-set! shape at i)
                (loop (cdr l) (+ i 1)))))
        (vector->list shape)))

    ;; Labels of the type's own fields, as symbols. The accessor's name is that of a field which cannot have its own.
    (define (labels fields taken)
      (if (null? fields)
          '()
          (let* ((field (car fields))
                 (named (map (lambda (f) (and (car f) (syntax->datum (car f)))) (cdr fields)))
                 (label (if (and (car field) (not (memq (syntax->datum (car field)) taken)))
                            (syntax->datum (car field))
                            (unlike (syntax->datum (cadr field)) (append named taken)))))
            (cons label (labels (cdr fields) (cons label taken))))))
    (define (unlike name taken)
      (if (memq name taken)
          (unlike (string->symbol (string-append (symbol->string name) "*")) taken)
          name))

    (define-syntax define-extended
      (lambda (x)
        (syntax-case x ()
          ((_ name parent constructor predicate (field ...) parent-rtd inherited shape)
           (let* ((fields #'(field ...))
                  (inherited (syntax->datum #'inherited))
                  (constructor #'constructor))
             (for-each check-field fields)
             (let* ((arguments (if (pair? constructor) (cdr constructor) '()))
                    (own (cond
                           ((pair? constructor) (own-shape arguments inherited fields))
                           (constructor (count-from inherited (length fields)))
                           (else (map (lambda (f) #f) fields))))
                    (n (cond
                         ((pair? constructor) (length arguments))
                         (constructor (+ inherited (length fields)))
                         (else inherited)))
                    (before (syntax->datum #'shape))
                    (own-labels (labels fields (map car before)))
                    (whole (append before (map cons own-labels own)))
                    (parameters (generate-temporaries (count-from 0 n))))
               (with-syntax ((hidden (datum->syntax #'here (syntax->datum #'name)))
                             ((label ...) (map (lambda (l) (datum->syntax #'here l)) own-labels))
                             (((get . set) ...) (map cdr fields))
                             ((noted ...)
                              (map (lambda (f)
                                     (with-syntax ((name (car f)) (get (cadr f))
                                                   (set (if (pair? (cddr f)) (car (cddr f)) #f)))
                                       #'(list 'name get set)))
                                   fields))
                             (n n)
                             (whole (datum->syntax #'here whole))
                             ((parameter ...) parameters)
                             ((value ...) (map (lambda (f) (and (cdr f) (list-ref parameters (cdr f)))) whole)))
                 (with-syntax ((type (if #'parent-rtd #'(hidden parent-rtd) #'hidden))
                               ((made ...)
                                (if constructor
                                    (with-syntax ((make (if (pair? constructor) (car constructor) constructor)))
                                      (list #'(define (make parameter ...) (all value ...))))
                                    '())))
                   #'(begin
                       (define-plain-record-type type all predicate (label get . set) ...)
                       made ...
                       (define-type-keyword name hidden parent n whole (field ...))
                       (define done (define-note! hidden 'name (list noted ...))))))))))))))
